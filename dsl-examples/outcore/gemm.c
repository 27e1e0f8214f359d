/* The product, out of core. */
#include "gemm.h"

struct product {
    dagi_outcore *o;
    const dagi_outcore_gemm *g;
    int a, b, c; /* numbers of matrices */
    int64_t k;   /* 0: C is only scaled */
};

/* Rows [i, i+m) and columns [j, j+n) of op(X), as X is stored. */
static dag_devprog_part stored(int of, dag_trans trans, int64_t i, int64_t j, int64_t m, int64_t n)
{
    return trans == DAG_NO_TRANS ? (dag_devprog_part){of, i, j, m, n}
                                 : (dag_devprog_part){of, j, i, n, m};
}

static void add_block(const struct product *p, dagi_outcore *o, dagi_outcore_device *d,
                      const dagi_blocks *steps, dag_devprog_part c)
{
    const dagi_outcore_gemm *g = p->g;
    dagi_outcore_open(o, d, c, g->beta != 0);
    if (steps->count == 0)
        dagi_outcore_scale(o, d, g->beta, c);
    for (int64_t s = 0; s < steps->count; s++) {
        const dagi_outcore_product how = {g->transa, g->transb, g->alpha, s == 0 ? g->beta : 1};
        int64_t from = dagi_block_at(steps, s), k = dagi_block_at(steps, s + 1) - from;
        dagi_outcore_add(o, d, &how, c, stored(p->a, g->transa, c.i, from, c.m, k),
                         stored(p->b, g->transb, from, c.j, k, c.n));
    }
    dagi_outcore_close(o, d, c);
}

/* Rows of C that a device has. */
struct rows {
    const struct product *p;
    int64_t first, count;
};

/* One block row after the other. */
static void add_rows(dagi_outcore *o, dagi_outcore_device *d, const dagi_block_shape *shape,
                     const void *arg)
{
    const struct rows *r = arg;
    const struct product *p = r->p;
    const dagi_blocks down = dagi_blocks_of(r->count, shape->m),
                      across = dagi_blocks_of(p->g->C->n, shape->n),
                      steps = p->k > 0 ? dagi_blocks_of(p->k, shape->k) : (dagi_blocks){0, 1, 0};
    dagi_outcore_take_product(o, d, shape);
    for (int64_t i = 0; i < down.count; i++) {
        int64_t at = dagi_block_at(&down, i), m = dagi_block_at(&down, i + 1) - at;
        for (int64_t j = 0; j < across.count; j++) {
            int64_t left = dagi_block_at(&across, j);
            add_block(p, o, d, &steps,
                      (dag_devprog_part){p->c, r->first + at, left, m,
                                         dagi_block_at(&across, j + 1) - left});
        }
    }
}

/* Rows of C are divided over the devices. */
static dag_status divide(struct product *p)
{
    int count = p->o->ndevices;
    int64_t part[DAGI_OUTCORE_DEVICES + 1];
    dagi_outcore_parts(p->o, p->g->C->m, part);
    for (int i = 0; i < count; i++) {
        dagi_outcore_device *d = &p->o->devices[i];
        const struct rows rows = {p, part[i], part[i + 1] - part[i]};
        if (rows.count == 0)
            continue;
        const dagi_block_shape shape =
            dagi_outcore_product_shape(p->o, d, rows.count, p->g->C->n, p->k, add_rows, &rows);
        if (shape.m == 0)
            return DAG_ERR_NOMEM;
        add_rows(p->o, d, &shape, &rows);
    }
    return DAG_SUCCESS;
}

dag_status dagi_outcore_gemm_program(dag_context *ctx, const dagi_outcore_gemm *g,
                                     const dag_outcore_options *options, dag_devprog **program)
{
    dag_matrix *const matrices[] = {g->C, g->A, g->B};
    int number[3];
    dagi_outcore o;
    dag_status status = dagi_outcore_begin(&o, ctx, "gemm", matrices, 3, options, number);
    if (status != DAG_SUCCESS)
        return status;
    int64_t k = g->transa == DAG_NO_TRANS ? g->A->n : g->A->m;
    struct product p = {&o, g, number[1], number[2], number[0], g->alpha == 0 ? 0 : k};
    if (o.here && g->C->n > 0 && (g->beta != 1 || p.k > 0))
        status = divide(&p);
    return dagi_outcore_end(&o, status, program);
}
