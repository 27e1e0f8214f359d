/* dag_insert_begin(): what it is given makes sense, and becomes a pool. */
#include "../../layout/layout.h"
#include "insert.h"

#include <stdlib.h>

enum { WARM = 256, MOST = 1024 /* kernels, collections */ };

/* Contributions have no regions. */
static bool is_access(const dag_insert_kernel *k, dag_tile_access access)
{
    int plain = access & ~DAG_TILE_REGIONS;
    return (plain >= DAG_TILE_READ && plain <= DAG_TILE_RW) || (access == DAG_TILE_REDUCE && k->reduce);
}

static bool writes_none(const dag_insert_kernel *k)
{
    bool none = !(k->rest & DAG_TILE_WRITE);
    for (int a = 0; a < k->ntiles; a++)
        none = none && !(k->access[a] & DAG_TILE_WRITE);
    return none;
}

static bool fits(const dag_insert_kernel *k)
{
    bool good = k && k->name && (k->body || k->device) &&
                k->ntiles >= (k->rest || k->main == DAG_INSERT_WHERE ? 0 : 1) && k->ntiles <= DAG_INSERT_TILES && k->device_kind >= DAG_HOST &&
                k->device_kind < DAG_DEVICE_KIND_COUNT && (!k->rest || is_access(k, k->rest));
    for (int a = 0; good && a < k->ntiles; a++)
        good = is_access(k, k->access[a]);
    return good && (k->main == DAG_INSERT_WHERE ? writes_none(k)
                                                : k->main >= 0 && k->main < fewest_tiles(k));
}

static dag_status check_desc(dag_context *ctx, const dag_insert_desc *d)
{
    if (d->nkernels < 1 || d->nkernels > MOST || d->ncollections < 1 || d->ncollections > MOST ||
        d->window < 0)
        return dag_error(ctx, DAG_ERR_ARG, "dag_insert_begin: a pool has 1 to %d kernels and "
                         "collections, and a window", MOST);
    for (int k = 0; k < d->nkernels; k++) {
        if (!fits(d->kernels[k]))
            return dag_error(ctx, DAG_ERR_ARG, "dag_insert_begin: kernel %d needs a name, a body, 1 to "
                             "%d tiles with their access (or a list), one of them the main one unless it reads "
                             "alone, and a function where one is reduced", k, DAG_INSERT_TILES);
    }
    for (int c = 0; c < d->ncollections; c++) {
        if (!d->collections[c] || d->collections[c]->nindex > 2)
            return dag_error(ctx, DAG_ERR_ARG, "dag_insert_begin: collection %d is NULL or has more "
                             "than two indices", c);
        for (int b = 0; b < c; b++) {
            if (d->collections[b] == d->collections[c])
                return dag_error(ctx, DAG_ERR_ARG, "dag_insert_begin: collection %d is there twice", c);
        }
    }
    return DAG_SUCCESS;
}

static void insertion_free(void *client)
{
    insertion *s = client;
    reductions_clear(s);
    tiles_clear(s);
    stock_clear(s);
    free(s->marks.of);
    free(s);
}

/* What kernels compute in, as far as matrices say: some devices have no doubles, and times are kept by it. Where
 * precisions meet, one with doubles counts. */
static dag_precision precision_of(const dag_insert_desc *desc)
{
    dag_precision found = DAG_S;
    bool doubles = false;
    for (int c = desc->ncollections - 1; c >= 0; c--) {
        dag_precision prec = dagi_matrix_precision(desc->collections[c], found);
        if (doubles && (prec == DAG_S || prec == DAG_C))
            continue;
        found = prec;
        doubles = prec == DAG_D || prec == DAG_Z;
    }
    return found;
}

static dag_status make_pool(dag_context *ctx, insertion *s, const dag_insert_desc *desc)
{
    s->of = inserted_program_for(desc);
    if (!s->of)
        return dag_error(ctx, DAG_ERR_NOMEM, "dag_insert_begin: out of memory");
    dag_taskpool *pool = dag_pool_new(ctx, &s->of->program, precision_of(desc));
    if (!pool)
        return DAG_ERR_NOMEM;
    *(insertion **)dag_pool_globals(pool) = s;
    for (int c = 0; c < desc->ncollections; c++)
        dag_pool_collection(pool, c, desc->collections[c]);
    s->last = s->of->kinds;
    s->pool = dag_pool_ready(pool);
    return s->pool ? DAG_SUCCESS : DAG_ERR_ARG;
}

/* What a program has inserted waits for what it has inserted before. So a worker that is alone can run all of
 * it, and does while it is in its cache. */
static int64_t window_of(const dag_context *ctx, const dag_insert_desc *desc)
{
    int64_t window = desc->window ? desc->window : ctx->settings.insert_window;
    bool alone = dagi_tasks(ctx)->nworkers == 1 && ctx->size == 1 && !dagi_tasks(ctx)->device;
    return alone && window > WARM ? WARM : window;
}

dag_status dag_insert_begin(dag_context *ctx, const dag_insert_desc *desc, dag_taskpool **pool)
{
    if (!ctx || !desc || !pool || !desc->name)
        return DAG_ERR_ARG;
    dag_status status = check_desc(ctx, desc);
    insertion *s = status == DAG_SUCCESS ? calloc(1, sizeof *s) : NULL;
    if (!s)
        return status != DAG_SUCCESS ? status : DAG_ERR_NOMEM;
    s->rank = ctx->rank;
    s->place = desc->place;
    s->apart = ctx->size > 1;
    s->blocks.end = &s->blocks.first;
    for (int a = 0; a < DAG_INSERT_MOST; a++)
        s->recent[a] = &tiles_nowhere;
    status = make_pool(ctx, s, desc);
    if (status == DAG_SUCCESS) {
        status = dagi_open_add(ctx, s->pool, window_of(ctx, desc));
        if (status != DAG_SUCCESS)
            dag_taskpool_free(s->pool);
    }
    if (status != DAG_SUCCESS) {
        insertion_free(s);
        return status;
    }
    s->door = dagi_pool(s->pool)->door;
    s->hash = ~dagi_pool_hash(s->pool); /* ranks compare the two combined, which 0 is not */
    s->alone = s->door->unlocked && ctx->size == 1 && !dagi_tasks(ctx)->device && !dagi_tasks(ctx)->observer;
    s->door->client = (struct dagi_door_client){.own = s, .end = dag_insert_end, .free = insertion_free,
                                                .complete = insertion_complete, .release = insertion_release,
                                                .retire = insertion_retire,
                                                .name_missing = insertion_name_missing};
    *pool = s->pool;
    return DAG_SUCCESS;
}

void insertion_play(dag_taskpool *pool)
{
    insertion *s = dagi_pool(pool)->door->client.own;
    assert(pool->ctx->size == 1 && s->position == 0);
    s->played = 1;
}
