/*
 * Parts of arrays that lie as ScaLAPACK has them (dag/scalapack.h). One that is cut and dealt as a
 * matrix of the library is such a matrix over the same memory; of another one a copy is made.
 */
#include "aux/fragments.h"
#include "la/check.h"

#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { DTYPE_, CTXT_, M_, N_, MB_, NB_, RSRC_, CSRC_, LLD_, DESC_SIZE };

/* What dag_part_open() was given. */
typedef struct request {
    const dag_blacs_grid *grid;
    dag_precision prec;
    dag_part_access access;
    int64_t m, n, ia, ja;
    void *local;
    const int *desc;
} request;

typedef struct opened {
    dag_part super;
    dag_part_access access;
    dag_context *ctx;
    dagi_place place;
    dag_matrix where; /* its local memory as dagi_la_overlap() wants it, no more of a matrix */
    struct opened *next;
} opened;

static opened *all_open; /* of this process */
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- arguments ------------------------------------------------------------------------------ */

static void check_grid(dagi_check *c, const dag_blacs_grid *g)
{
    int size = c->ctx != NULL ? dag_size(c->ctx) : 1;
    const int64_t same[] = {g->nprow, g->npcol, g->order, g->nb};
    dagi_check_same(c, "grid", same, sizeof same);
    if (g->nprow < 1 || g->npcol < 1 || g->nprow > size / g->npcol)
        dagi_check_fail(c,
                        "grid has %d x %d places (nprow, npcol); it must have at least one, and at "
                        "most the %d of ctx",
                        g->nprow, g->npcol, size);
    if (g->order != DAG_GRID_ROW_MAJOR && g->order != DAG_GRID_COLUMN_MAJOR)
        dagi_check_fail(c,
                        "order of grid is %d; it must be DAG_GRID_ROW_MAJOR or "
                        "DAG_GRID_COLUMN_MAJOR",
                        (int)g->order);
    if (g->nb < 0 || g->nb > INT_MAX)
        dagi_check_fail(c, "nb of grid is %" PRId64 "; it must be 0 or a tile size", g->nb);
}

/* One dimension of desc: how much, in blocks of what, from where of p. */
static void check_line(dagi_check *c, const int *desc, int length, int block, int source, int p)
{
    static const char *const names[DESC_SIZE] = {"DTYPE_", "CTXT_", "M_",    "N_",  "MB_",
                                                 "NB_",    "RSRC_", "CSRC_", "LLD_"};
    if (desc[length] < 0)
        dagi_check_fail(c, "desc[%d] (%s) is %d; it must not be negative", length, names[length],
                        desc[length]);
    if (desc[block] < 1)
        dagi_check_fail(c, "desc[%d] (%s) is %d; a block has at least 1", block, names[block],
                        desc[block]);
    if (desc[source] < 0 || desc[source] >= p)
        dagi_check_fail(c, "desc[%d] (%s) is %d; on this grid it must be between 0 and %d", source,
                        names[source], desc[source], p - 1);
}

static void check_desc(dagi_check *c, const request *r)
{
    dagi_check_present(c, "desc", r->desc);
    if (c->status != DAG_SUCCESS)
        return;
    const int *d = r->desc;
    const int same[] = {d[DTYPE_], d[M_], d[N_], d[MB_], d[NB_], d[RSRC_], d[CSRC_]};
    dagi_check_same(c, "desc", same, sizeof same);
    if (d[DTYPE_] != 1)
        dagi_check_fail(c, "desc[0] (DTYPE_) is %d; it must be 1, a dense matrix dealt in blocks",
                        d[DTYPE_]);
    check_line(c, d, M_, MB_, RSRC_, r->grid->nprow);
    check_line(c, d, N_, NB_, CSRC_, r->grid->npcol);
}

/* The part lies within the whole. */
static void check_reach(dagi_check *c, const char *length, int64_t n, const char *first, int64_t at,
                        int64_t whole)
{
    dagi_check_same(c, length, &n, sizeof n);
    dagi_check_same(c, first, &at, sizeof at);
    if (n < 0)
        dagi_check_fail(c, "%s is %" PRId64 "; it must not be negative", length, n);
    if (at < 1)
        dagi_check_fail(c, "%s is %" PRId64 "; it is counted from 1", first, at);
    if (c->status == DAG_SUCCESS && (at - 1 > whole || n > whole - (at - 1)))
        dagi_check_fail(c,
                        "%s = %" PRId64 " from %s = %" PRId64 " reaches beyond the %" PRId64
                        " that desc says",
                        length, n, first, at, whole);
}

static void check(dagi_check *c, const request *r)
{
    dagi_check_start(c, r->grid != NULL ? r->grid->ctx : NULL, "dag_part_open");
    dagi_check_present(c, "grid", r->grid);
    if (r->grid == NULL)
        return;
    check_grid(c, r->grid);
    const int kind[] = {(int)r->prec, (int)r->access};
    dagi_check_same(c, "prec or access", kind, sizeof kind);
    if ((unsigned)r->prec >= DAG_PRECISION_COUNT)
        dagi_check_fail(c, "prec is %d; there is no such type", (int)r->prec);
    if (r->access < DAG_PART_READ || r->access > DAG_PART_RW)
        dagi_check_fail(c, "access is %d; it must be DAG_PART_READ, DAG_PART_WRITE or DAG_PART_RW",
                        (int)r->access);
    check_desc(c, r);
    check_reach(c, "m", r->m, "ia", r->ia, c->status == DAG_SUCCESS ? r->desc[M_] : 0);
    check_reach(c, "n", r->n, "ja", r->ja, c->status == DAG_SUCCESS ? r->desc[N_] : 0);
}

/* ---- where it lies -------------------------------------------------------------------------- */

static dagi_place place_of(const request *r)
{
    const int *d = r->desc;
    return (dagi_place){.name = "part of an array",
                        .prec = r->prec,
                        .m = r->m,
                        .n = r->n,
                        .rows = {r->ia - 1, d[MB_], d[RSRC_], r->grid->nprow},
                        .cols = {r->ja - 1, d[NB_], d[CSRC_], r->grid->npcol},
                        .column_major = r->grid->order == DAG_GRID_COLUMN_MAJOR,
                        .local = r->local,
                        .lld = d[LLD_]};
}

/* The local memory of the part; none outside of the grid. */
static void find_local(dagi_check *c, const dagi_place *p, const int *desc, dag_matrix *where)
{
    int64_t rank = dag_rank(c->ctx), P = p->rows.p, Q = p->cols.p;
    *where = (dag_matrix){.prec = p->prec, .layout = DAG_LAYOUT_SLAB};
    if (rank >= P * Q)
        return;
    int64_t row = p->column_major ? rank % P : rank / Q,
            col = p->column_major ? rank / P : rank % Q;
    int64_t rows = dagi_line_before(&p->rows, desc[M_], row);
    if (p->lld < (rows > 1 ? rows : 1))
        dagi_check_fail(
            c, "desc[8] (LLD_) is %" PRId64 "; of the whole matrix this rank has %" PRId64 " rows",
            p->lld, rows);
    int64_t i = dagi_line_before(&p->rows, p->rows.first, row);
    int64_t j = dagi_line_before(&p->cols, p->cols.first, col);
    where->m_loc = dagi_line_before(&p->rows, p->rows.first + p->m, row) - i;
    where->n_loc = dagi_line_before(&p->cols, p->cols.first + p->n, col) - j;
    where->lld = p->lld;
    if (where->m_loc == 0 || where->n_loc == 0)
        return;
    dagi_check_present(c, "local", p->local);
    if (p->local != NULL)
        where->base = p->local + (size_t)(i + j * p->lld) * dag_precision_size(p->prec);
}

/* Why lines dealt so are not those of a matrix of the library in tiles of `tile`; 0 = they are. */
static int misfit(char *why, size_t size, const char *what, const dagi_line *l, int64_t length,
                  int64_t tile)
{
    if (l->p == 1 || length == 0)
        return 0;
    int64_t from = l->first % l->block, on = dagi_line_coordinate(l, 0);
    if (from + length > l->block || length > tile) { /* more than one block and one tile */
        if (from != 0)
            return snprintf(why, size, "its %ss begin inside of a block", what);
        if (l->block != tile)
            return snprintf(why, size, "its %ss are in blocks of %" PRId64 ", not of %" PRId64,
                            what, l->block, tile);
    }
    if (on != 0)
        return snprintf(why, size, "its first %s is on process %s %" PRId64 ", not on 0", what,
                        what, on);
    return 0;
}

static int is_copy(char *why, size_t size, const dagi_place *p, int64_t mb, int64_t nb)
{
    why[0] = '\0';
    if (p->column_major && p->rows.p > 1 && p->cols.p > 1)
        return snprintf(why, size, "the ranks of the grid are in column-major order");
    return misfit(why, size, "row", &p->rows, p->m, mb) ||
           misfit(why, size, "column", &p->cols, p->n, nb);
}

/* ---- parts that are open -------------------------------------------------------------------- */

/* Writes to one would be lost, or not be seen, in the other. */
static void check_overlap(dagi_check *c, const opened *part)
{
    pthread_mutex_lock(&open_lock);
    for (const opened *o = all_open; o != NULL && c->status == DAG_SUCCESS; o = o->next)
        if ((o->super.copied || part->super.copied) &&
            ((o->access | part->access) & DAG_PART_WRITE) &&
            dagi_la_overlap(&o->where, &part->where))
            dagi_check_fail(
                c, "the part overlaps another one that is open, and one of them is a copy: "
                   "close that one first");
    pthread_mutex_unlock(&open_lock);
}

static void enlist(opened *part)
{
    pthread_mutex_lock(&open_lock);
    part->next = all_open;
    all_open = part;
    pthread_mutex_unlock(&open_lock);
}

static void strike_off(const opened *part)
{
    pthread_mutex_lock(&open_lock);
    opened **at = &all_open;
    while (*at != NULL && *at != part)
        at = &(*at)->next;
    if (*at != NULL)
        *at = part->next;
    pthread_mutex_unlock(&open_lock);
}

static dag_status make_matrix(opened *part, const dag_blacs_grid *grid, int64_t mb, int64_t nb)
{
    const dagi_place *p = &part->place;
    dag_matrix_desc desc = {.prec = p->prec,
                            .m = p->m,
                            .n = p->n,
                            .mb = mb,
                            .nb = nb,
                            .p = grid->nprow,
                            .q = grid->npcol,
                            .layout = DAG_LAYOUT_SLAB,
                            .name = part->super.copied ? "copy of a part of an array" : p->name};
    if (!part->super.copied) {
        desc.local = part->where.base;
        desc.lld = part->where.base != NULL ? p->lld : 0;
    }
    dag_status status = dag_matrix_new(part->ctx, &desc, &part->super.matrix);
    if (status == DAG_SUCCESS)
        part->super.bytes = dag_matrix_bytes(part->super.matrix);
    return status;
}

/* What a rank does alone. */
static opened *prepare(dagi_check *c, const request *r)
{
    if (c->status != DAG_SUCCESS)
        return NULL;
    opened *part = calloc(1, sizeof *part);
    if (part == NULL) {
        c->status = dag_error(c->ctx, DAG_ERR_NOMEM, "%s: out of memory", c->routine);
        return NULL;
    }
    int64_t mb = r->grid->nb > 0 ? r->grid->nb : r->desc[MB_];
    int64_t nb = r->grid->nb > 0 ? r->grid->nb : r->desc[NB_];
    part->ctx = c->ctx;
    part->access = r->access;
    part->place = place_of(r);
    find_local(c, &part->place, r->desc, &part->where);
    part->super.copied =
        is_copy(part->super.why, sizeof part->super.why, &part->place, mb, nb) != 0;
    check_overlap(c, part);
    if (c->status == DAG_SUCCESS)
        c->status = make_matrix(part, r->grid, mb, nb);
    return part;
}

static void discard(opened *part)
{
    if (part != NULL)
        dag_matrix_free(part->super.matrix);
    free(part);
}

dag_status dag_part_open(const dag_blacs_grid *grid, dag_precision prec, dag_part_access access,
                         int64_t m, int64_t n, void *local, int64_t ia, int64_t ja,
                         const int desc[9], dag_part **part)
{
    const request r = {grid, prec, access, m, n, ia, ja, local, desc};
    dagi_check c;
    check(&c, &r);
    dagi_check_present(&c, "part", part);
    opened *made = prepare(&c, &r);
    if (dagi_check_agreed(&c) && made->super.copied && (access & DAG_PART_READ)) {
        const dagi_place to = dagi_place_of(made->super.matrix);
        c.status = dagi_copy_fragments(c.ctx, c.routine, &made->place, &to);
    }
    if (c.status != DAG_SUCCESS) {
        discard(made);
        return c.status;
    }
    enlist(made);
    *part = &made->super;
    return DAG_SUCCESS;
}

dag_status dag_part_close(dag_part *part)
{
    if (part == NULL)
        return DAG_SUCCESS;
    opened *o = (opened *)part; /* it comes first */
    dag_status status = DAG_SUCCESS;
    if (part->copied && (o->access & DAG_PART_WRITE)) {
        const dagi_place from = dagi_place_of(part->matrix);
        status = dagi_copy_fragments(o->ctx, "dag_part_close", &from, &o->place);
    }
    strike_off(o);
    discard(o);
    return status;
}
