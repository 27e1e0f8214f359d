/* The eight kinds of instances of Song and Dongarra: which of them an argument is, docs/design/insertion.md. */
#include "insert.h"

/* Two tiles of a rank; where one may be on any device, a rank is one place. */
static bool are_apart(const tile *a, const tile *b)
{
    return a && a->place >= 0 && b->place >= 0 && a->place != b->place;
}

static void count_input(int64_t *kinds, int here, int rank, const tile *main, const tile *t)
{
    if (t->owner == rank)
        kinds[are_apart(main, t) ? KIND_INTRANODE_INPUT : KIND_NATIVE_INPUT] += here == rank;
    else
        kinds[KIND_INTERNODE_INPUT] += here == t->owner;
}

static void count_minor(int64_t *kinds, int here, int rank, const tile *main, const tile *t)
{
    bool elsewhere = t->owner != rank;
    if (!elsewhere && !are_apart(main, t)) {
        kinds[KIND_NATIVE_MINOR] += here == rank;
        return;
    }
    kinds[KIND_SINK_MINOR] += here == t->owner;
    kinds[elsewhere ? KIND_INTERNODE_SOURCE : KIND_INTRANODE_SOURCE] += here == rank;
}

void insertion_count_kinds(const insertion *s, const task_kind *k, int rank, tile *const *tiles)
{
    const tile *main = k->main >= 0 ? tiles[k->main] : NULL;
    s->kinds[KIND_OWNER] += s->rank == rank;
    for (int a = 0; a < k->n; a++) {
        if (k->access[a] & DAG_TILE_READ)
            count_input(s->kinds, s->rank, rank, main, tiles[a]);
        if ((k->access[a] & DAG_TILE_WRITE) && a != k->main)
            count_minor(s->kinds, s->rank, rank, main, tiles[a]);
    }
}

void insertion_count(dag_taskpool *pool, int64_t *kinds)
{
    insertion *s = dagi_pool(pool)->door->client.own;
    assert(s->position == 0);
    s->kinds = kinds;
    s->unusual = 1;
}
