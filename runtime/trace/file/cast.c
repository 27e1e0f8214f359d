/* Broadcasts: what each class sent in which shape, and how long that took. */
#include "model.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A broadcast at its root, and what the others tell of it. */
typedef struct cast {
    const dagt_cast *at;
    const dagt_rank *rank; /* of the root */
    int64_t last;          /* when the last so far had it */
    uint32_t here;         /* ranks that have told */
} cast;

static int by_number(const void *a, const void *b)
{
    const dagt_cast *x = ((const cast *)a)->at, *y = ((const cast *)b)->at;
    if (x->root != y->root)
        return x->root < y->root ? -1 : 1;
    return (x->serial > y->serial) - (x->serial < y->serial);
}

static int by_time(const void *a, const void *b)
{
    const dagt_cast *x = ((const cast *)a)->at, *y = ((const cast *)b)->at;
    return x->time != y->time ? (x->time > y->time) - (x->time < y->time) : by_number(a, b);
}

/* Call `each` for all that tell of broadcasts. */
static void walk(const dagt_trace *t, void (*each)(void *arg, const dagt_rank *rank, const dagt_cast *c), void *arg)
{
    for (int r = 0; r < t->nranks; r++)
        for (int k = 0; k < t->ranks[r].ntracks; k++)
            for (size_t i = 0; i < t->ranks[r].tracks[k].ncasts; i++)
                each(arg, &t->ranks[r], &t->ranks[r].tracks[k].casts[i]);
}

typedef struct list {
    cast *of;
    size_t n;
} list;

static void count(void *arg, const dagt_rank *rank, const dagt_cast *c)
{
    (void)rank;
    *(size_t *)arg += c->ranks > 0;
}

static void gather(void *arg, const dagt_rank *rank, const dagt_cast *c)
{
    list *l = arg;
    if (c->ranks > 0)
        l->of[l->n++] = (cast){c, rank, c->time, 0};
}

static void receive(void *arg, const dagt_rank *rank, const dagt_cast *c)
{
    const list *l = arg;
    const cast key = {.at = c};
    (void)rank;
    cast *found = c->ranks > 0 ? NULL : bsearch(&key, l->of, l->n, sizeof key, by_number);
    if (!found)
        return;
    found->here++;
    if (c->time > found->last) /* clocks are not exact */
        found->last = c->time;
}

static const char *class_of(const cast *c, const char **program)
{
    const dagt_pool *pool = dagt_pool_of(c->rank, c->at->pool);
    const dagt_program *p = pool && pool->program >= 0 ? &c->rank->programs[pool->program] : NULL;
    *program = p ? p->name : "?";
    return p && c->at->cls < p->nclasses ? p->classes[c->at->cls].name : "?";
}

static bool is_of(const dagt_broadcasts *b, const char *program, const char *cls, const dagt_cast *c)
{
    return memcmp(b->tree, c->tree, sizeof b->tree) == 0 && strcmp(b->cls, cls) == 0 &&
           strcmp(b->program, program) == 0;
}

/* Its group, a new one where there is none; NULL = out of memory. */
static dagt_broadcasts *group_of(dagt_broadcasts **groups, size_t *n, const cast *c)
{
    const char *program, *cls = class_of(c, &program);
    for (size_t i = 0; i < *n; i++)
        if (is_of(&(*groups)[i], program, cls, c->at))
            return &(*groups)[i];
    if ((*n & (*n - 1)) == 0) { /* full: it has room for a power of two */
        dagt_broadcasts *more = realloc(*groups, (*n ? 2 * *n : 1) * sizeof *more);
        if (!more)
            return NULL;
        *groups = more;
    }
    dagt_broadcasts *b = &(*groups)[(*n)++];
    *b = (dagt_broadcasts){.program = program, .cls = cls};
    memcpy(b->tree, c->at->tree, sizeof b->tree);
    return b;
}

static void add(dagt_broadcasts *b, const cast *c)
{
    b->count++;
    b->ranks += c->at->ranks;
    b->bytes += c->at->bytes;
    b->predicted += c->at->predicted;
    if (c->here < c->at->ranks)
        return;
    int64_t took = c->last - c->at->time;
    b->whole++;
    b->measured += (double)took;
    b->most = took > b->most ? took : b->most;
}

dagt_broadcasts *dagt_broadcasts_of(const dagt_trace *t, size_t *n)
{
    size_t all = 0;
    dagt_broadcasts *groups = NULL;
    *n = 0;
    walk(t, count, &all);
    list l = {.of = all ? malloc(all * sizeof *l.of) : NULL};
    if (!l.of)
        return NULL;
    walk(t, gather, &l);
    qsort(l.of, l.n, sizeof *l.of, by_number);
    walk(t, receive, &l);
    qsort(l.of, l.n, sizeof *l.of, by_time);
    bool good = true;
    for (size_t i = 0; i < l.n && good; i++) {
        dagt_broadcasts *b = group_of(&groups, n, &l.of[i]);
        good = b != NULL;
        if (good)
            add(b, &l.of[i]);
    }
    free(l.of);
    if (good)
        return groups;
    free(groups);
    *n = 0;
    return NULL;
}
