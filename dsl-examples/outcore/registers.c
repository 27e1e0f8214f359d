/* Registers of a program's devices, and with them how blocks are cut: as told, or as costs least. */
#include "outcore.h"

/* As much as allowed, and 2 registers for results unless there is but one block. */
static int64_t side_of(const dagi_outcore *o, int64_t items, int64_t m, int64_t n, int64_t k,
                       int *results)
{
    int64_t most = o->options->block > 0 ? o->options->block : INT64_MAX, longest = m > n ? m : n;
    int64_t whole = dagi_block_side(items, 1, m, n, k);
    *results = o->options->registers == DAGI_OUTCORE_FEWEST || (whole >= longest && most >= longest)
                   ? 1
                   : 2;
    int64_t side = *results == 1 ? whole : dagi_block_side(items, 2, m, n, k);
    return side < most ? side : most;
}

/* Squares, as large as allowed; m = 0 with a complaint: there is not even memory for blocks of one row. */
static dagi_block_shape squares(const dagi_outcore *o, const dagi_outcore_device *d, int64_t items,
                                int64_t m, int64_t n, int64_t k)
{
    int results = 1;
    int64_t side = items > 0 ? side_of(o, items, m, n, k, &results) : 0;
    if (side < 1)
        (void)dag_error(o->ctx, DAG_ERR_NOMEM,
                        "device %d has no memory for a block of one row in %d registers", d->number,
                        results + 4);
    return (dagi_block_shape){m < side ? m : side, n < side ? n : side, k < side ? k : side, 0,
                              results};
}

static int one_block(const dagi_block_shape *s, int64_t m, int64_t n)
{
    return s->m >= m && s->n >= n;
}

static void take_results(dagi_outcore *o, dagi_outcore_device *d, const dagi_block_shape *s)
{
    d->results = s->results;
    d->turn = s->results - 1;
    for (int r = 0; r < s->results; r++)
        d->c[r] = dagi_outcore_register(o, d, s->m * s->n);
}

/* ---- products ------------------------------------------------------------------------------ */

dagi_block_shape dagi_outcore_product_shape(const dagi_outcore *o, const dagi_outcore_device *d,
                                            int64_t m, int64_t n, int64_t k,
                                            dagi_outcore_fill *fill, const void *arg)
{
    dagi_block_shape shape = squares(o, d, d->items, m, n, k);
    if (o->options->block > 0 || shape.m == 0 || k == 0 || one_block(&shape, m, n))
        return shape;
    dagi_shapes list = {0};
    dagi_product_shapes(&list, d->items, shape.results, m, n, k);
    return dagi_outcore_fastest(o, d, &list, fill, arg);
}

void dagi_outcore_take_product(dagi_outcore *o, dagi_outcore_device *d, const dagi_block_shape *s)
{
    take_results(o, d, s);
    if (s->k == 0)
        return;
    d->a = dagi_outcore_register(o, d, s->m * s->k);
    d->b = dagi_outcore_register(o, d, s->k * s->n);
    d->pa = dagi_outcore_register(o, d, s->m * s->k);
    d->pb = dagi_outcore_register(o, d, s->k * s->n);
}

/* ---- triangles ----------------------------------------------------------------------------- */

dagi_block_shape dagi_outcore_solve_shape(const dagi_outcore *o, const dagi_outcore_device *d,
                                          int64_t order, int64_t others, dagi_outcore_fill *fill,
                                          const void *arg)
{
    dagi_block_shape shape = squares(o, d, d->items, order, others, order);
    if (shape.m == 0 || one_block(&shape, order, others))
        return shape;
    if (o->options->block > 0) {
        shape.inverted = shape.n < others; /* more than one block has the triangle */
        shape.inverted = shape.inverted && dagi_triangle_items(&shape) <= d->items;
        return shape;
    }
    dagi_shapes list = {0};
    dagi_solve_shapes(&list, d->items, shape.results, order, others);
    return dagi_outcore_fastest(o, d, &list, fill, arg);
}

void dagi_outcore_take_triangle(dagi_outcore *o, dagi_outcore_device *d, dag_side on,
                                const dagi_block_shape *s)
{
    const int64_t factor = s->m * (s->k > s->m ? s->k : s->m), other = s->k * s->n;
    int *of[] = {&d->a, &d->b, &d->pa, &d->pb};
    take_results(o, d, s);
    for (int r = 0; r < 4; r++)
        *of[r] = dagi_outcore_register(o, d, (r % 2 == 0) == (on == DAG_LEFT) ? factor : other);
    d->inverse = s->inverted ? dagi_outcore_register(o, d, s->m * s->m) : 0;
}

/* ---- Cholesky factors ---------------------------------------------------------------------- */

static int64_t work_of(const dagi_outcore *o, dag_uplo uplo, int64_t n)
{
    const size_t elem = dag_precision_size(o->prec);
    return (int64_t)((dagi_outcore_factor_bytes(o->prec, uplo, (int)n) + elem - 1) / elem);
}

/* Up to twice as many blocks a side as are needed, and some. */
static void factor_shapes(dagi_shapes *list, const dagi_outcore *o, dag_uplo uplo, int64_t items,
                          int64_t n, int64_t side)
{
    const int64_t most = 2 * ((n + side - 1) / side) + 4;
    for (int64_t count = 1; count <= most && count <= n; count++) {
        const int64_t own = (n + count - 1) / count;
        dagi_block_shape s = {own, own, 0, 0,
                              count == 1 || o->options->registers == DAGI_OUTCORE_FEWEST ? 1 : 2};
        if (own > DAGI_LONGEST)
            continue;
        const int64_t longest = dagi_triangle_steps(items - work_of(o, uplo, own), &s, n);
        /* short steps hide behind each other */
        for (int64_t parts = 1; parts <= 4 && parts <= longest; parts++) {
            s.k = (longest + parts - 1) / parts;
            dagi_shapes_add(list, s, dagi_factor_cost(n, own, s.k, o->ndevices));
        }
    }
}

dagi_block_shape dagi_outcore_factor_shape(const dagi_outcore *o, dag_uplo uplo, int64_t n,
                                           dagi_outcore_fill *fill, const void *arg)
{
    const dagi_outcore_device *d = o->devices;
    for (int i = 1; i < o->ndevices; i++)
        d = o->devices[i].items < d->items ? &o->devices[i] : d;
    dagi_block_shape shape = squares(o, d, d->items, n, n, n);
    if (shape.m > 0) /* the kernel needs memory, too */
        shape = squares(o, d, d->items - work_of(o, uplo, shape.m), n, n, n);
    if (shape.m == 0 || o->options->block > 0)
        return shape;
    dagi_shapes list = {0};
    factor_shapes(&list, o, uplo, d->items, n, shape.m);
    return list.count > 0 ? dagi_outcore_fastest(o, d, &list, fill, arg) : shape;
}

void dagi_outcore_take_work(dagi_outcore *o, dagi_outcore_device *d, dag_uplo uplo,
                            const dagi_blocks *cut)
{
    d->work_items = 1;
    for (int64_t i = 0; i < cut->count; i++) {
        int64_t items = work_of(o, uplo, dagi_block_at(cut, i + 1) - dagi_block_at(cut, i));
        d->work_items = items > d->work_items ? items : d->work_items;
    }
    d->work = dagi_outcore_register(o, d, d->work_items);
}

/* ---- LU factors ---------------------------------------------------------------------------- */

dagi_block_shape dagi_outcore_panel_shape(const dagi_outcore *o, const dagi_outcore_device *d,
                                          int64_t m, int64_t n, int64_t k, int64_t columns)
{
    dagi_block_shape s = squares(o, d, d->items, m, n, k);
    /* where there are several block columns the next one is loaded early, even if each is one block */
    if (s.m == 0 || s.results == 2 || o->options->registers == DAGI_OUTCORE_FEWEST || n >= columns)
        return s;
    const int64_t most = o->options->block > 0 ? o->options->block : INT64_MAX;
    const int64_t both = dagi_block_side(d->items, 2, m, n, k), side = both < most ? both : most;
    return side < 1 ? s
                    : (dagi_block_shape){m < side ? m : side, n < side ? n : side,
                                         k < side ? k : side, 0, 2};
}
