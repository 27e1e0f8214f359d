/*
 * Access REDUCE: tasks contribute to a tile, and whoever names it otherwise ends that. Contributions are
 * written to tiles without memory, parts: one on each rank that contributes. They, and then the tile, are
 * combined by tasks that are inserted as others are.
 */
#include "enter.h"

#include "../../base/room.h"

#include <stdlib.h>

/* A part is an ordinary tile of the lists, but none of a collection; shape and index are the real one's. */
typedef struct part {
    struct part *next;
    int open;
    tile total; /* of a rank, which is its owner */
} part;

struct reduction {
    reduction *next;
    tile *of;
    dag_insert_reduce *combine;
    part *parts;  /* all that there ever were */
    part **ranks; /* those that contribute now, in the order in which they began */
    int nranks, room;
    tile more; /* a contribution on its way to a total */
};

static const dag_insert_kernel combine_kernel = {.name = "Combine"};
const task_kind combine_kind = {
    .kernel = &combine_kernel, .cls = COMBINE, .n = 2, .access = {DAG_TILE_READ, DAG_TILE_RW}, .main = 1,
    .region = {DAG_REGION_FULL, DAG_REGION_FULL}, .reads = 3, .writes = 2};

int combine_body(struct dag_task *dag_task, const void *globals)
{
    struct {
        dag_value *from, *into;
    } *dag_t = (void *)dag_task_flows(dag_task);
    const record *r = record_of(dag_task);
    dag_insert_reduce *f = *(dag_insert_reduce *const *)r->args;
    (void)globals;
    DAG_COMBINE(f, into, from);
    return DAG_BODY_DONE;
}

/* What tasks look at when they run is set once: they may be running when the next part begins. */
static void make_part(tile *t, const tile *of)
{
    t->slot = of->slot;
    t->index[0] = of->index[0];
    t->index[1] = of->index[1];
    t->place = of->place;
}

static void begin_part(tile *t, int rank)
{
    t->owner = t->rank = rank;
    t->known = t->named = t->fresh = 1;
}

/* What is in it is read no more; it may be written anew. */
static void drop_part(insertion *s, tile *t)
{
    version_let_go(s, t->now);
    t->now = NULL;
}

static dag_status combine(insertion *s, const reduction *d, tile *from, tile *into)
{
    tile *tiles[] = {from, into};
    dag_status status = insertion_enter(s, &combine_kind, into->owner, &d->combine,
                                        sizeof d->combine, tiles);
    drop_part(s, from);
    return status;
}

/* Room for the reductions of a block, and one for the tile; NULL = no memory. */
static reduction *reduction_at(insertion *s, block *b, tile *t)
{
    if (!b->reductions)
        b->reductions = calloc(BLOCK, sizeof(reduction *));
    if (!b->reductions)
        return NULL;
    reduction **at = &b->reductions[t - b->tile];
    if (*at || !(*at = calloc(1, sizeof **at)))
        return *at;
    (*at)->of = t;
    make_part(&(*at)->more, t);
    (*at)->next = s->reductions;
    s->reductions = *at;
    return *at;
}

static part *part_of(reduction *d, int rank)
{
    part *p = d->parts;
    while (p && p->total.owner != rank)
        p = p->next;
    if (p || !(p = calloc(1, sizeof *p)))
        return p;
    make_part(&p->total, d->of);
    begin_part(&p->total, rank);
    p->next = d->parts;
    d->parts = p;
    return p;
}

/* One more rank contributes. Nonzero = no memory. */
static int open_part(reduction *d, part *p)
{
    if (!DAGI_ROOM(d->ranks, d->nranks, d->room, 4))
        return 1;
    p->open = 1;
    d->ranks[d->nranks++] = p;
    return 0;
}

/* One message for each rank but the tile's, in a binary tree. */
dag_status reduction_end(insertion *s, reduction *d)
{
    dag_status status = DAG_SUCCESS;
    int root = 0;
    while (root < d->nranks && d->ranks[root]->total.owner != d->of->owner)
        root++;
    if (root < d->nranks) { /* the owner's is combined with the tile where that lives */
        part *p = d->ranks[root];
        d->ranks[root] = d->ranks[0];
        d->ranks[0] = p;
    }
    d->of->reducing = 0;
    d->of->known = 1;
    for (int i = d->nranks - 1; i >= 0 && status == DAG_SUCCESS; i--) {
        tile *into = i > 0 ? &d->ranks[(i - 1) / 2]->total : d->of;
        status = combine(s, d, &d->ranks[i]->total, into);
        d->ranks[i]->open = 0;
    }
    d->nranks = 0;
    return status;
}

void reductions_end(insertion *s)
{
    for (reduction *d = s->reductions; d; d = d->next) {
        if (d->of->reducing)
            (void)reduction_end(s, d); /* without memory the pool has failed */
    }
}

/* A task on this rank contributes to the tile by this function: the tile that it writes instead. NULL: *status. */
static tile *enter(insertion *s, block *b, tile *t, dag_insert_reduce *f, int rank, dag_status *status)
{
    reduction *d = reduction_at(s, b, t);
    if (d && t->reducing && d->combine != f)
        *status = reduction_end(s, d);
    if (*status != DAG_SUCCESS)
        return NULL;
    part *p = d ? part_of(d, rank) : NULL;
    int fresh = p && !p->open;
    if (!p || (fresh && open_part(d, p) != 0)) {
        dagi_pool_fail(s->pool, DAG_ERR_NOMEM, "no memory for a reduction");
        *status = DAG_ERR_NOMEM;
        return NULL;
    }
    d->combine = f;
    t->reducing = 1;
    t->known = 0;
    if (fresh)
        return &p->total;
    begin_part(&d->more, rank);
    return &d->more;
}

/* It was inserted. */
static dag_status entered(insertion *s, const block *b, const tile *t, const tile *in)
{
    reduction *d = b->reductions[t - b->tile];
    return in == &d->more ? combine(s, d, &d->more, &part_of(d, in->owner)->total) : DAG_SUCCESS;
}

/* The tiles are those that were last found for each argument. */
dag_status reduction_insert(insertion *s, const task_kind *k, int rank, const void *args, size_t size,
                            tile *const *named)
{
    tile *tiles[DAG_INSERT_MOST];
    dag_status status = DAG_SUCCESS;
    for (int a = 0; a < k->n; a++) {
        tiles[a] = named[a];
        if (k->access[a] == DAG_TILE_REDUCE)
            tiles[a] = enter(s, s->recent[a], named[a], k->kernel->reduce, rank, &status);
        if (!tiles[a])
            return status;
    }
    status = insertion_enter(s, k, rank, args, size, tiles);
    for (int a = 0; a < k->n && status == DAG_SUCCESS; a++) {
        if (k->access[a] == DAG_TILE_REDUCE)
            status = entered(s, s->recent[a], named[a], tiles[a]);
    }
    return status;
}

void reductions_clear(insertion *s)
{
    for (reduction *d = s->reductions, *next; d; d = next) {
        next = d->next;
        for (part *p = d->parts, *behind; p; p = behind) {
            behind = p->next;
            free(p);
        }
        free(d->ranks);
        free(d);
    }
}
