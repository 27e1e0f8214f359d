/*
 * Tiles of which tasks write regions: what is below, on and above the diagonal. Such a tile is divided: what it holds
 * is several versions, each of a region, which have no element in common. A *group* is an ordinary tile of the lists
 * for one of them. Each version is a whole tile where only its region counts; whoever reads what lies in several
 * has them joined first, by tasks that are inserted as others are. Then the tile is as before.
 */
#include "enter.h"

#include <stdlib.h>
#include <string.h>

enum { GROUPS = 3 };

struct division {
    tile *of;
    uint8_t region[GROUPS]; /* 0 = there is no such group */
    tile group[GROUPS];
};

static const dag_insert_kernel join_kernel = {.name = "Join"};
const task_kind join_kind = {
    .kernel = &join_kernel, .cls = JOIN, .n = 2, .access = {DAG_TILE_READ, DAG_TILE_RW}, .main = 1,
    .region = {DAG_REGION_FULL, DAG_REGION_FULL}, .reads = 3, .writes = 2};

int join_body(struct dag_task *task, const void *globals)
{
    const record *r = record_of(task);
    dag_value **flows = dag_task_flows(task);
    (void)globals;
    dagi_copy_region(flows[1], flows[0], *(const dag_region *)r->args);
    return DAG_BODY_DONE;
}

/* ---- groups ------------------------------------------------------------------------------------ */

/* What tasks look at when they run is set once: they may be running when the tile is divided again. */
static void make_group(tile *g, const tile *of)
{
    g->slot = of->slot;
    g->hash = of->hash;
    g->index[0] = of->index[0];
    g->index[1] = of->index[1];
    g->owner = of->owner;
    g->place = of->place;
    g->known = g->named = 1; /* nothing of it is in memory that no version has */
}

/* NULL = no memory. */
static division *division_at(insertion *s, block *b, tile *t)
{
    if (!b->divisions)
        b->divisions = calloc(BLOCK, sizeof(division *));
    division **at = b->divisions ? &b->divisions[t - b->tile] : NULL;
    if (at && !*at && (*at = calloc(1, sizeof **at)) != NULL) {
        (*at)->of = t;
        for (int g = 0; g < GROUPS; g++)
            make_group(&(*at)->group[g], t);
    }
    if (!at || !*at)
        dagi_pool_fail(s->pool, DAG_ERR_NOMEM, "no memory for regions of a tile");
    return at ? *at : NULL;
}

static void clear_group(division *d, int g, uint8_t region)
{
    tile *t = &d->group[g];
    d->region[g] = region;
    t->now = NULL;
    t->id = 0; /* of no version in memory */
    t->rank = t->owner;
}

/* The tile is one group; `id`, of the present version if nobody has named it. Nonzero = no memory. */
static int divide(insertion *s, division *d, int64_t id)
{
    tile *t = d->of;
    insertion_touch(t, id);
    if (!insertion_present(s, t))
        return 1;
    clear_group(d, 0, DAG_REGION_FULL);
    d->group[0].now = t->now;
    d->group[0].id = t->id;
    d->group[0].rank = t->rank;
    t->now = NULL;
    t->known = 0;
    t->divided = t->written = 1;
    return 0;
}

/* Where a group waits to have memory read, the tile does. */
static void keep_first(division *d, int g)
{
    if (d->group[g].first)
        d->of->first = d->group[g].first;
    d->group[g].first = NULL;
}

/* Nobody names its version any more. */
static void leave(insertion *s, division *d, int g)
{
    keep_first(d, g);
    version_let_go(s, d->group[g].now);
    clear_group(d, g, 0);
}

/* The group is all of the tile. */
static tile *undivide(division *d, int g)
{
    tile *t = d->of;
    keep_first(d, g);
    t->now = d->group[g].now;
    t->id = d->group[g].id;
    t->rank = d->group[g].rank;
    clear_group(d, g, 0);
    t->divided = 0;
    t->known = 1;
    return t;
}

/* ---- what a task names ---------------------------------------------------------------------------- */

/* One group with all of the region, made on that rank where there are several. */
static int gather(insertion *s, division *d, dag_region region, int rank, dag_status *status)
{
    int into = -1;
    for (int g = 0; g < GROUPS; g++) {
        bool better = into < 0 || (d->group[g].rank == rank && d->group[into].rank != rank);
        if ((d->region[g] & region) && better)
            into = g;
    }
    for (int g = 0; g < GROUPS && *status == DAG_SUCCESS; g++) {
        const dag_region its = (dag_region)d->region[g];
        tile *tiles[] = {&d->group[g], &d->group[into]};
        if (g == into || !(its & region))
            continue;
        *status = insertion_enter(s, &join_kind, rank, &its, sizeof its, tiles);
        leave(s, d, g);
        d->region[into] |= (uint8_t)its;
        if (d->group[into].now) /* it is made here */
            d->group[into].now->region = d->region[into];
    }
    return into;
}

/* A group of just the region, to be written, which holds what group `from` does, nothing if that is negative.
 * NULL = no memory. */
static tile *carve(insertion *s, division *d, dag_region region, int from)
{
    int free_group = 0;
    if (from >= 0 && d->region[from] == region)
        return &d->group[from];
    version *v = from >= 0 ? insertion_present(s, &d->group[from]) : NULL;
    if (from >= 0 && !v)
        return NULL;
    for (int g = 0; g < GROUPS; g++) {
        if (d->region[g] && !(d->region[g] & ~(unsigned)region))
            leave(s, d, g);
        d->region[g] &= (uint8_t)~(unsigned)region;
    }
    while (d->region[free_group])
        free_group++; /* there are as many as parts */
    tile *t = &d->group[free_group];
    clear_group(d, free_group, (uint8_t)region);
    if (v) {
        version_share(s, v);
        t->now = v;
        t->id = v->id;
        t->rank = v->rank;
    }
    return t;
}

static tile *overwrite(insertion *s, division *d)
{
    for (int g = 0; g < GROUPS; g++)
        leave(s, d, g);
    return undivide(d, 0);
}

static tile *named_part(insertion *s, division *d, int access, dag_region region, int rank, dag_status *status)
{
    tile *t;
    if (access == DAG_TILE_WRITE && region == DAG_REGION_FULL)
        return overwrite(s, d);
    int g = access & DAG_TILE_READ ? gather(s, d, region, rank, status) : -1;
    if ((access & DAG_TILE_WRITE) && region != DAG_REGION_FULL)
        t = carve(s, d, region, g);
    else
        t = d->region[g] == DAG_REGION_FULL ? undivide(d, g) : &d->group[g];
    if (!t)
        *status = DAG_ERR_NOMEM;
    return t;
}

/* What the task has of the tile: one that is named twice is read, all of it from one group. */
static dag_region region_of(const task_kind *k, tile *const *named, int a)
{
    unsigned region = k->region[a];
    for (int b = 0; b < k->n; b++)
        region |= named[b] == named[a] ? k->region[b] : 0;
    return (dag_region)region;
}

dag_status regions_resolve(insertion *s, const task_kind *k, int rank, tile **tiles)
{
    dag_status status = DAG_SUCCESS;
    tile *named[DAG_INSERT_MOST];
    memcpy(named, tiles, (size_t)k->n * sizeof *tiles);
    s->unusual = s->kinds != NULL;
    for (int a = 0; a < k->n && status == DAG_SUCCESS; a++) {
        tile *t = named[a];
        const dag_region region = region_of(k, named, a);
        bool divides = t->known && (k->access[a] & DAG_TILE_WRITE) && region != DAG_REGION_FULL;
        if (!t->divided && !divides)
            continue;
        division *d = division_at(s, s->recent[a], t);
        if (!d || (!t->divided && divide(s, d, s->position * OUTPUTS + a) != 0))
            return DAG_ERR_NOMEM;
        if (k->access[a] == DAG_TILE_REDUCE)
            status = region_whole(s, s->recent[a], t);
        else
            tiles[a] = named_part(s, d, k->access[a], region, rank, &status);
    }
    return status;
}

dag_status region_whole(insertion *s, const block *b, tile *t)
{
    dag_status status = DAG_SUCCESS;
    if (t->divided) {
        division *d = b->divisions[t - b->tile];
        undivide(d, gather(s, d, DAG_REGION_FULL, t->owner, &status));
    }
    return status;
}

void region_forget(insertion *s, const block *b, tile *t)
{
    if (t->divided)
        overwrite(s, b->divisions[t - b->tile]);
}

void divisions_clear(block *b)
{
    for (int k = 0; b->divisions && k < BLOCK; k++)
        free(b->divisions[k]);
    free(b->divisions);
}
