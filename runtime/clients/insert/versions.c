/* Versions of tiles, who waits for them, and the records of tasks. */
#include "insert.h"

void version_free_remotes(insertion *s, version *v)
{
    for (reader_rank *r = v->remotes, *next; r; r = next) {
        next = r->next;
        stock_give_back(s, r, sizeof *r);
    }
}

reader_rank *version_read_there(insertion *s, version *v, int rank, int64_t position, dag_value **value)
{
    reader_rank *r = v->remotes;
    *value = NULL;
    while (r && r->rank != rank)
        r = r->next;
    if (r)
        return NULL;
    r = stock_take(s, sizeof *r);
    if (!r) {
        dagi_pool_fail(s->pool, DAG_ERR_NOMEM, "no memory to insert a task");
        return NULL;
    }
    *r = (reader_rank){.version = v, .rank = rank, .reader = position};
    hold(s);
    r->next = v->remotes;
    v->remotes = r;
    int here = v->here;
    if (here) {
        *value = v->value;
        dagi_value_retain(*value, 1);
        v->refs++; /* for who sends it */
    }
    let_go(s);
    return here ? r : NULL;
}

void version_let_go(insertion *s, version *v)
{
    if (!v)
        return;
    hold(s);
    dag_value *value = v->shared ? NULL : version_supersede(v);
    v->shared -= v->shared > 0;
    version_drop(s, v);
    let_go(s);
    dagi_value_release(dagi_tasks(s->pool->ctx)->workers[0], value);
}

/* ---- versions that come from other ranks -------------------------------------------------------- */

void version_await(insertion *s, version *v)
{
    hold(s);
    v->refs++;
    v->next = s->arrivals[v->id % ARRIVALS];
    s->arrivals[v->id % ARRIVALS] = v;
    let_go(s);
}

version *version_arrived(insertion *s, int64_t id)
{
    hold(s);
    version *v = s->arrivals[id % ARRIVALS];
    while (v && v->id != id)
        v = v->next;
    let_go(s);
    return v;
}

void version_unawait(insertion *s, version *v)
{
    hold(s);
    version **link = &s->arrivals[v->id % ARRIVALS];
    while (*link != v)
        link = &(*link)->next;
    *link = v->next;
    version_drop(s, v);
    let_go(s);
}
