/* Kernels on tiles, whatever the precision: how each is put together from those of kernels/opencl. */
#include "opencl.h"

static size_t pieces(int n, int size)
{
    return ((size_t)n + (size_t)size - 1) / (size_t)size;
}

/* Item (i, j) of a matrix. */
static void *item(dag_precision precision, const void *at, int ld, int i, int j)
{
    return (char *)(uintptr_t)at + ((size_t)i + (size_t)j * (size_t)ld) * dag_precision_size(precision);
}

/* ---- products ---------------------------------------------------------------------------------- */

/* X, m x k, in panels of `width` rows, in buffer `number` of the queue. */
static cl_mem pack(dag_device_queue *q, dag_precision precision, const dagi_opencl_operand *x, int m,
                   int k, int width, int number)
{
    size_t size = dag_precision_size(precision), panels = pieces(m, width);
    cl_mem room = dagi_opencl_room(q, number, panels * (size_t)width * (size_t)k * size);
    if (!room || k == 0)
        return room;
    dagi_opencl_call c = dagi_opencl_begin(q, precision, OPENCL_PACK);
    dagi_opencl_place(&c, x->at, size);
    dagi_opencl_int(&c, x->ld);
    dagi_opencl_int(&c, m);
    dagi_opencl_int(&c, k);
    dagi_opencl_int(&c, x->turned);
    dagi_opencl_int(&c, x->form);
    dagi_opencl_int(&c, x->upper);
    dagi_opencl_int(&c, x->unit);
    dagi_opencl_int(&c, x->conj);
    dagi_opencl_int(&c, width);
    dagi_opencl_mem(&c, room);
    dagi_opencl_run(&c, panels, pieces(k, OPENCL_SLAB));
    return room;
}

void dagi_opencl_multiply(dag_device_queue *q, dag_precision precision, const dagi_opencl_product *p)
{
    const dagi_opencl_shape *s = &q->device->shape[precision];
    int rows = s->vector * s->vectors, k = p->alpha == 0 ? 0 : p->k;
    if (p->m <= 0 || p->n <= 0)
        return;
    cl_mem x = pack(q, precision, &p->x, p->m, k, rows, 0);
    cl_mem y = pack(q, precision, &p->y, p->n, k, s->columns, 1);
    if (!x || !y)
        return;
    dagi_opencl_call c = dagi_opencl_begin(q, precision, OPENCL_GEMM);
    dagi_opencl_mem(&c, x);
    dagi_opencl_mem(&c, y);
    dagi_opencl_int(&c, p->m);
    dagi_opencl_int(&c, p->n);
    dagi_opencl_int(&c, k);
    dagi_opencl_int(&c, p->x.zeros);
    dagi_opencl_int(&c, p->y.zeros);
    dagi_opencl_scalar(&c, p->alpha);
    dagi_opencl_scalar(&c, p->beta);
    dagi_opencl_place(&c, p->c, dag_precision_size(precision));
    dagi_opencl_int(&c, p->ldc);
    dagi_opencl_int(&c, p->region);
    dagi_opencl_run(&c, pieces(p->m, rows), pieces(p->n, s->strip));
}

/* ---- triangles --------------------------------------------------------------------------------- */

/* With a triangle that is packed, panels of B beside each other. */
static void solve_at_once(dag_device_queue *q, dag_precision precision, dag_side side, const dagi_opencl_triangle *a,
                          int m, int n, void *b, int ldb)
{
    const dagi_opencl_shape *s = &q->device->shape[precision];
    size_t size = dag_precision_size(precision);
    int left = side == DAG_LEFT, turned = left ? a->turned : !a->turned, rows = s->vector * s->vectors;
    int order = left ? m : n, others = left ? n : m;
    size_t depth = pieces(order, s->columns) * (size_t)s->columns, panels = pieces(others, rows);
    cl_mem y = dagi_opencl_room(q, 0, depth * depth * size);
    cl_mem x = dagi_opencl_room(q, 1, panels * (size_t)rows * depth * size);
    if (!x || !y)
        return;
    dagi_opencl_call c = dagi_opencl_begin(q, precision, OPENCL_PACK_TRIANGLE);
    dagi_opencl_place(&c, a->at, size);
    dagi_opencl_int(&c, a->ld);
    dagi_opencl_int(&c, order);
    dagi_opencl_int(&c, turned);
    dagi_opencl_int(&c, a->upper);
    dagi_opencl_int(&c, a->unit);
    dagi_opencl_int(&c, a->conj);
    dagi_opencl_mem(&c, y);
    dagi_opencl_run(&c, pieces(order, s->columns), 1);
    c = dagi_opencl_begin(q, precision, OPENCL_SOLVE);
    dagi_opencl_mem(&c, y);
    dagi_opencl_int(&c, a->upper == turned);
    dagi_opencl_int(&c, others);
    dagi_opencl_int(&c, order);
    dagi_opencl_int(&c, left);
    dagi_opencl_place(&c, b, size);
    dagi_opencl_int(&c, ldb);
    dagi_opencl_mem(&c, x);
    dagi_opencl_run(&c, panels, 1);
}

/* The first half of an order: whole blocks. */
static int half(int n, int block)
{
    return (int)pieces(n / 2, block) * block;
}

/* What is known of X is taken from the rest of B, through the block of A beside the diagonal. */
static void take_known(dag_device_queue *q, dag_precision precision, dag_side side,
                       const dagi_opencl_triangle *a, int first, int m, int n, void *b, int ldb,
                       int from_first)
{
    const void *beside = a->upper ? item(precision, a->at, a->ld, 0, first)
                                  : item(precision, a->at, a->ld, first, 0);
    int left = side == DAG_LEFT, order = left ? m : n, rest = order - first;
    void *second = left ? item(precision, b, ldb, first, 0) : item(precision, b, ldb, 0, first);
    void *known = from_first ? b : second, *other = from_first ? second : b;
    int depth = from_first ? first : rest, size = from_first ? rest : first;
    dagi_opencl_operand block = {.at = beside, .ld = a->ld, .turned = left ? a->turned : !a->turned,
                                 .conj = a->conj};
    dagi_opencl_operand x = {.at = known, .ld = ldb, .turned = left};
    dagi_opencl_product p = {.m = left ? size : m, .n = left ? n : size, .k = depth, .alpha = -1,
                             .beta = 1, .c = other, .ldc = ldb};
    p.x = left ? block : x;
    p.y = left ? x : block;
    dagi_opencl_multiply(q, precision, &p);
}

void dagi_opencl_solve(dag_device_queue *q, dag_precision precision, dag_side side,
                       dagi_opencl_triangle a, int m, int n, void *b, int ldb)
{
    int left = side == DAG_LEFT, order = left ? m : n, first = half(order, OPENCL_AT_ONCE);
    int forward = left ? a.upper == a.turned : a.upper != a.turned;
    if (m <= 0 || n <= 0)
        return;
    if (order <= OPENCL_AT_ONCE) {
        solve_at_once(q, precision, side, &a, m, n, b, ldb);
        return;
    }
    dagi_opencl_triangle last = a;
    last.at = item(precision, a.at, a.ld, first, first);
    void *second = left ? item(precision, b, ldb, first, 0) : item(precision, b, ldb, 0, first);
    int m2 = left ? m - first : m, n2 = left ? n : n - first;
    if (!forward)
        dagi_opencl_solve(q, precision, side, last, m2, n2, second, ldb);
    else
        dagi_opencl_solve(q, precision, side, a, left ? first : m, left ? n : first, b, ldb);
    take_known(q, precision, side, &a, first, m, n, b, ldb, forward);
    if (forward)
        dagi_opencl_solve(q, precision, side, last, m2, n2, second, ldb);
    else
        dagi_opencl_solve(q, precision, side, a, left ? first : m, left ? n : first, b, ldb);
}

static void factor_small(dag_device_queue *q, dag_precision precision, int upper, int n, void *a, int lda,
                         int *info, int before)
{
    size_t size = dag_precision_size(precision);
    cl_mem room = dagi_opencl_room(q, 0, (size_t)OPENCL_SMALL * OPENCL_SMALL * size);
    if (!room)
        return;
    dagi_opencl_call c = dagi_opencl_begin(q, precision, OPENCL_FACTOR);
    cl_long step = upper ? lda : 1, next = upper ? 1 : lda;
    dagi_opencl_place(&c, a, size);
    dagi_opencl_bytes(&c, &step, sizeof step);
    dagi_opencl_bytes(&c, &next, sizeof next);
    dagi_opencl_int(&c, n);
    dagi_opencl_place(&c, info, sizeof *info);
    dagi_opencl_int(&c, before);
    dagi_opencl_mem(&c, room);
    dagi_opencl_run(&c, 1, 1);
}

void dagi_opencl_factor(dag_device_queue *q, dag_precision precision, int upper, int n, void *a, int lda,
                        int *info, int before)
{
    int first = half(n, OPENCL_SMALL), rest = n - first;
    if (n <= OPENCL_SMALL) {
        if (n > 0)
            factor_small(q, precision, upper, n, a, lda, info, before);
        return;
    }
    void *beside = upper ? item(precision, a, lda, 0, first) : item(precision, a, lda, first, 0);
    void *last = item(precision, a, lda, first, first);
    dagi_opencl_factor(q, precision, upper, first, a, lda, info, before);
    dagi_opencl_solve(q, precision, upper ? DAG_LEFT : DAG_RIGHT,
                      (dagi_opencl_triangle){a, lda, upper, 1, 1, 0}, upper ? first : rest,
                      upper ? rest : first, beside, lda);
    dagi_opencl_product p = {.m = rest, .n = rest, .k = first, .alpha = -1, .beta = 1, .c = last,
                             .ldc = lda,
                             .region = (upper ? OPENCL_UPPER : OPENCL_LOWER) | OPENCL_REAL_DIAGONAL};
    p.x = (dagi_opencl_operand){.at = beside, .ld = lda, .turned = upper, .conj = upper};
    p.y = (dagi_opencl_operand){.at = beside, .ld = lda, .turned = upper, .conj = !upper};
    dagi_opencl_multiply(q, precision, &p);
    dagi_opencl_factor(q, precision, upper, rest, last, lda, info, before + first);
}

/* ---- items ------------------------------------------------------------------------------------- */

void dagi_opencl_add(dag_device_queue *q, dag_precision precision, dag_trans trans, int m, int n,
                     dag_dcomplex alpha, const void *a, int lda, dag_dcomplex beta, void *b, int ldb)
{
    size_t size = dag_precision_size(precision);
    if (m <= 0 || n <= 0)
        return;
    dagi_opencl_call c = dagi_opencl_begin(q, precision, OPENCL_GEADD);
    dagi_opencl_place(&c, alpha == 0 ? b : a, size);
    dagi_opencl_int(&c, lda);
    dagi_opencl_int(&c, trans != DAG_NO_TRANS);
    dagi_opencl_int(&c, trans == DAG_CONJ_TRANS);
    dagi_opencl_int(&c, m);
    dagi_opencl_scalar(&c, alpha);
    dagi_opencl_scalar(&c, beta);
    dagi_opencl_place(&c, b, size);
    dagi_opencl_int(&c, ldb);
    dagi_opencl_run(&c, (size_t)n, 1);
}

void dagi_opencl_identity(dag_device_queue *q, dag_precision precision, int n, void *b, int ldb)
{
    dagi_opencl_call c = dagi_opencl_begin(q, precision, OPENCL_IDENTITY);
    dagi_opencl_int(&c, n);
    dagi_opencl_place(&c, b, dag_precision_size(precision));
    dagi_opencl_int(&c, ldb);
    dagi_opencl_run(&c, (size_t)n, 1);
}
