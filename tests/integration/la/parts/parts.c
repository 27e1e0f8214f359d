/* Random parts: made, opened, closed and looked at; parts.h. */
#include "parts.h"

#include <float.h>
#include <inttypes.h>
#include <string.h>

int failures, opened, copies;

/* ---- verdicts ------------------------------------------------------------------------------- */

void wrong(const trial *t, const char *what, double x)
{
    failures++;
    fprintf(stderr,
            "rank %d: %s, %c, seed %" PRIu64 ", grid %dx%d%c, tiles of %" PRId64 ": %s (%g)\n",
            dag_rank(t->ctx), t->routine, dag_precision_letter(t->prec), t->seed, t->grid.nprow,
            t->grid.npcol, t->grid.order, t->grid.nb, what, x);
}

void must(const trial *t, dag_status status)
{
    if (status == DAG_SUCCESS)
        return;
    wrong(t, dag_message(t->ctx), status);
    abort();
}

static double eps_of(const trial *t)
{
    return dag_precision_real(t->prec) == DAG_S ? FLT_EPSILON : DBL_EPSILON;
}

void same(const trial *t, const char *what, whole got, whole want, double tolerance)
{
    double most = 0, off = 0;
    for (int64_t j = 0; j < want.n; j++)
        for (int64_t i = 0; i < want.m; i++) {
            double difference = __builtin_cabs(whole_get(got, i, j) - whole_get(want, i, j));
            most = fmax(most, __builtin_cabs(whole_get(want, i, j)));
            if (difference > off || isnan(difference))
                off = isnan(difference) ? INFINITY : difference;
        }
    if (!(off <= tolerance * (1 + most) * eps_of(t)))
        wrong(t, what, off);
}

void same_number(const trial *t, const char *what, double got, double want)
{
    if (!(fabs(got - want) <= 100 * (1 + fabs(want)) * eps_of(t)))
        wrong(t, what, got - want);
}

/* ---- choices -------------------------------------------------------------------------------- */

static double uniform(trial *t)
{
    t->random = t->random * 6364136223846793005u + 1442695040888963407u;
    return (double)(t->random >> 11) * 0x1p-53;
}

int64_t pick(trial *t, int64_t from, int64_t to)
{
    return from + (int64_t)(uniform(t) * (double)(to - from + 1));
}

int64_t order(trial *t)
{
    return pick(t, 0, 15) == 0 ? 0 : pick(t, 1, 30);
}

dag_uplo pick_uplo(trial *t)
{
    return pick(t, 0, 1) ? DAG_LOWER : DAG_UPPER;
}

dag_trans pick_trans(trial *t, int plain, int adjoint)
{
    int64_t choice = pick(t, 0, 2);
    if (choice == 1 && (plain || !dag_precision_is_complex(t->prec)))
        return DAG_TRANS;
    return choice == 2 && (adjoint || !dag_precision_is_complex(t->prec)) ? DAG_CONJ_TRANS
                                                                          : DAG_NO_TRANS;
}

/* What is left of a number in the type of the trial. */
static dag_dcomplex rounded(const trial *t, dag_dcomplex x)
{
    double re = __builtin_creal(x), im = dag_precision_is_complex(t->prec) ? __builtin_cimag(x) : 0;
    if (dag_precision_real(t->prec) == DAG_D)
        return __builtin_complex(re, im);
    /* gcc 12 vectorises the pair and drops the conversions there and back */
    volatile float less_re = (float)re, less_im = (float)im;
    return __builtin_complex((double)less_re, (double)less_im);
}

dag_dcomplex scalar(trial *t)
{
    double re = (double)pick(t, 1, 16) / 8, im = (double)pick(t, -8, 8) / 8;
    return rounded(t, __builtin_complex(re, im));
}

whole random_whole(trial *t, int64_t m, int64_t n)
{
    whole w = whole_new(DAG_Z, m, n);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            double re = uniform(t) - 0.5, im = uniform(t) - 0.5;
            whole_put(w, i, j, rounded(t, __builtin_complex(re, im)));
        }
    return w;
}

whole dominant(trial *t, int64_t m, int64_t n)
{
    whole w = random_whole(t, m, n);
    double most = (double)(m > n ? m : n);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++)
            whole_put(w, i, j, rounded(t, whole_get(w, i, j) / most + (i == j ? 2 : 0)));
    return w;
}

whole shuffled(trial *t, int64_t m, int64_t n)
{
    whole w = dominant(t, m, n);
    for (int64_t i = 0; i < m; i++) {
        int64_t other = pick(t, i, m - 1);
        for (int64_t j = 0; j < n; j++) {
            dag_dcomplex x = whole_get(w, i, j);
            whole_put(w, i, j, whole_get(w, other, j));
            whole_put(w, other, j, x);
        }
    }
    return w;
}

whole positive(trial *t, int64_t n)
{
    whole w = dominant(t, n, n);
    for (int64_t j = 0; j < n; j++) {
        whole_put(w, j, j, __builtin_creal(whole_get(w, j, j)));
        for (int64_t i = 0; i < j; i++)
            whole_put(w, i, j, __builtin_conj(whole_get(w, j, i)));
    }
    return w;
}

whole copy_of(whole w)
{
    whole c = whole_new(w.prec, w.m, w.n);
    memcpy(c.a, w.a, (size_t)(w.m * w.n) * dag_precision_size(w.prec));
    return c;
}

/* ---- where elements lie, as ScaLAPACK's INDXG2P, INDXG2L and NUMROC say ------------------------
 */

typedef struct axis {
    int64_t block, source, p, mine; /* mine: this rank's coordinate, -1 outside of the grid */
} axis;

static axis axis_of(const part *p, int column)
{
    const dag_blacs_grid *g = &p->t->grid;
    int64_t rank = dag_rank(p->t->ctx), P = g->nprow, Q = g->npcol;
    int64_t row = g->order == DAG_GRID_ROW_MAJOR ? rank / Q : rank % P;
    int64_t col = g->order == DAG_GRID_ROW_MAJOR ? rank % Q : rank / P;
    if (rank >= P * Q)
        row = col = -1;
    return column ? (axis){p->desc[5], p->desc[7], Q, col} : (axis){p->desc[4], p->desc[6], P, row};
}

static int is_mine(axis x, int64_t global)
{
    return (global / x.block + x.source) % x.p == x.mine;
}

static int64_t local_index(axis x, int64_t global)
{
    return global / (x.block * x.p) * x.block + global % x.block;
}

static int64_t count_local(axis x, int64_t length)
{
    int64_t count = 0;
    for (int64_t i = 0; i < length; i++)
        count += is_mine(x, i);
    return count;
}

/* Byte of the local array that element (i, j) of the part begins with, -1 where it is not here. */
static int64_t byte_of(const part *p, int64_t i, int64_t j)
{
    axis rows = axis_of(p, 0), cols = axis_of(p, 1);
    int64_t gi = p->ia - 1 + i, gj = p->ja - 1 + j;
    if (!is_mine(rows, gi) || !is_mine(cols, gj))
        return -1;
    return (local_index(rows, gi) + local_index(cols, gj) * p->desc[8]) *
           (int64_t)dag_precision_size(p->t->prec);
}

/* ---- parts ---------------------------------------------------------------------------------- */

/* One dimension: how long the whole is, in which blocks, from where; where the part begins. Every
 * third time as the library's own matrices. */
static int64_t lay_out(trial *t, int *desc, int column, int64_t length, int p, int as_ours)
{
    int64_t block = as_ours ? t->grid.nb : pick(t, 1, 12);
    int64_t before = as_ours ? block * pick(t, 0, 3) : pick(t, 0, 15);
    desc[2 + column] = (int)(before + length + pick(t, 0, 7));
    desc[4 + column] = (int)block;
    desc[6 + column] = (int)(as_ours ? (p - before / block % p) % p : pick(t, 0, p - 1));
    return before + 1;
}

part open_part(trial *t, whole content, dag_part_access access)
{
    part p = {.t = t, .access = access, .m = content.m, .n = content.n, .desc = {1, -1}};
    int as_ours = pick(t, 0, 2) == 0;
    p.ia = lay_out(t, p.desc, 0, p.m, t->grid.nprow, as_ours);
    p.ja = lay_out(t, p.desc, 1, p.n, t->grid.npcol, as_ours);
    p.rows = count_local(axis_of(&p, 0), p.desc[2]);
    p.cols = count_local(axis_of(&p, 1), p.desc[3]);
    p.desc[8] = (int)((p.rows > 1 ? p.rows : 1) + pick(t, 0, 3));
    size_t item = dag_precision_size(t->prec), bytes = (size_t)(p.desc[8] * p.cols) * item;
    p.local = allocate(bytes);
    p.before = allocate(bytes);
    const uint64_t common = t->random; /* how much is drawn now differs between ranks */
    for (int64_t at = 0; at < p.desc[8] * p.cols; at++)
        put(t->prec, p.local, (size_t)at, uniform(t));
    t->random = common;
    for (int64_t j = 0; j < p.n; j++)
        for (int64_t i = 0; i < p.m; i++)
            if (byte_of(&p, i, j) >= 0)
                put(t->prec, p.local + byte_of(&p, i, j), 0, whole_get(content, i, j));
    memcpy(p.before, p.local, bytes);
    must(t,
         dag_part_open(&t->grid, t->prec, access, p.m, p.n, p.local, p.ia, p.ja, p.desc, &p.open));
    p.M = p.open->matrix;
    opened++;
    copies += p.open->copied;
    if ((p.open->why[0] != '\0') != p.open->copied || (p.open->bytes > 0 && !p.open->copied))
        wrong(t, "a copy without a reason, or memory without a copy", (double)p.open->bytes);
    return p;
}

whole close_part(part *p)
{
    size_t item = dag_precision_size(p->t->prec), bytes = (size_t)(p->desc[8] * p->cols) * item;
    must(p->t, dag_part_close(p->open));
    whole w = whole_new(DAG_Z, p->m, p->n);
    for (int64_t j = 0; j < p->n; j++)
        for (int64_t i = 0; i < p->m; i++) {
            int64_t at = byte_of(p, i, j);
            if (at < 0)
                continue;
            whole_put(w, i, j, get(p->t->prec, p->local + at, 0));
            if (p->access & DAG_PART_WRITE) /* the rest is compared below */
                memcpy(p->before + at, p->local + at, item);
        }
    if (memcmp(p->before, p->local, bytes) != 0)
        wrong(p->t, "an element was written that is not the routine's", 0);
    must(p->t, dag_allreduce(p->t->ctx, DAG_SUM, w.a, 2 * p->m * p->n));
    free(p->local);
    free(p->before);
    return w;
}

void close_read(part *p)
{
    whole w = close_part(p);
    free(w.a);
}

void close_as(part *p, whole want, double tolerance)
{
    whole got = close_part(p);
    same(p->t, "the result", got, want, tolerance);
    free(got.a);
}
