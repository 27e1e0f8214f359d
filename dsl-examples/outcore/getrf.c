/*
 * LU factors, out of core, one block column after the other. A block column catches up on those
 * before it, on the devices; then it is a panel, which the host factors in place. The next one
 * meanwhile catches up on all but this panel, so panels and updates overlap.
 *
 * Exchanges of rows are made on the host, in place: in the next block column when it needs them,
 * in those before the panel when that has all it needs.
 */
#include "getrf.h"

/* Where it is left open: columns of a panel. What is left of wide ones is loaded less often; but a
 * panel is one core's work, that of all panels grows with their width, and only the first of them
 * is not behind an update. */
enum { LEAST = 64, MOST = 512, PANELS = 8 };

typedef struct range {
    int64_t from, to;
} range;

struct factor {
    dagi_outcore *o;
    const dagi_outcore_getrf *g;
    dagi_blocks panels, rest; /* columns up to the last pivot, and behind it */
    int64_t side[DAGI_OUTCORE_DEVICES];
};

static range block(const dagi_blocks *b, int64_t i)
{
    return (range){dagi_block_at(b, i), dagi_block_at(b, i + 1)};
}

static range behind(range r, int64_t at)
{
    return (range){at + r.from, at + r.to};
}

static dag_devprog_part part_of(range rows, range cols)
{
    return (dag_devprog_part){0, rows.from, cols.from, rows.to - rows.from, cols.to - cols.from};
}

/* ---- on the devices ------------------------------------------------------------------------ */

/* U in rows `steps`, of columns that have caught up on those before. */
static void solve(const struct factor *f, dagi_outcore_device *d, int64_t side, range steps,
                  range cols)
{
    const dagi_outcore_product minus = {DAG_NO_TRANS, DAG_NO_TRANS, -1, 1};
    const dagi_outcore_solve last = {DAG_LEFT, DAG_LOWER, DAG_NO_TRANS, DAG_UNIT, 1};
    const dagi_blocks cut = dagi_blocks_of(steps.to - steps.from, side);
    for (int64_t i = 0; i < cut.count; i++) {
        range own = behind(block(&cut, i), steps.from);
        dag_devprog_part x = part_of(own, cols);
        dagi_outcore_open(f->o, d, x, 1);
        for (int64_t k = 0; k < i; k++) {
            range before = behind(block(&cut, k), steps.from);
            dagi_outcore_add(f->o, d, &minus, x, part_of(own, before), part_of(before, cols));
        }
        dagi_outcore_solve_with(f->o, d, &last, x, part_of(own, own));
        dagi_outcore_close(f->o, d, x);
    }
}

/* The rows below: minus L in columns `steps` times U in these rows. */
static void subtract(const struct factor *f, dagi_outcore_device *d, int64_t side, range rows,
                     range steps, range cols)
{
    const dagi_outcore_product minus = {DAG_NO_TRANS, DAG_NO_TRANS, -1, 1};
    const dagi_blocks down = dagi_blocks_of(rows.to - rows.from, side),
                      along = dagi_blocks_of(steps.to - steps.from, side);
    for (int64_t i = 0; i < down.count; i++) {
        range own = behind(block(&down, i), rows.from);
        dag_devprog_part c = part_of(own, cols);
        dagi_outcore_open(f->o, d, c, 1);
        for (int64_t k = 0; k < along.count; k++) {
            range step = behind(block(&along, k), steps.from);
            dagi_outcore_add(f->o, d, &minus, c, part_of(own, step), part_of(step, cols));
        }
        dagi_outcore_close(f->o, d, c);
    }
}

/* Columns catch up on the factors in `steps`: the solves are divided over the devices by columns,
 * what is below by rows. */
static void catch_up(const struct factor *f, range cols, range steps)
{
    dagi_outcore *o = f->o;
    int64_t part[DAGI_OUTCORE_DEVICES + 1], m = f->g->A->m;
    if (steps.to == steps.from)
        return;
    dagi_outcore_parts(o, cols.to - cols.from, part);
    for (int d = 0; d < o->ndevices; d++)
        if (part[d + 1] > part[d])
            solve(f, &o->devices[d], f->side[d], steps,
                  behind((range){part[d], part[d + 1]}, cols.from));
    dagi_outcore_parts(o, m - steps.to, part);
    for (int d = 0; d < o->ndevices; d++)
        if (part[d + 1] > part[d])
            subtract(f, &o->devices[d], f->side[d], behind((range){part[d], part[d + 1]}, steps.to),
                     steps, cols);
}

/* ---- on the host --------------------------------------------------------------------------- */

static void on_host(const struct factor *f, int kernel, range cols, range pivots)
{
    const dagi_outcore_pivots how = {f->g->ipiv, f->g->info, pivots.from, pivots.to};
    const dag_devprog_part part = part_of((range){pivots.from, f->g->A->m}, cols);
    if (part.n > 0 && pivots.to > pivots.from)
        (void)dag_devprog_exec(f->o->program, DAG_HOST, kernel, &how, sizeof how, &part);
}

static void exchange(const struct factor *f, range cols, range pivots)
{
    if (f->g->pivoting)
        on_host(f, DAGI_OUTCORE_SWAP, cols, pivots);
}

/* ---- all of it ----------------------------------------------------------------------------- */

/* Panel `own`, and the block column that comes next, which may have no columns. */
static void add_panel(const struct factor *f, range own, range next)
{
    const range before = {0, own.from};
    exchange(f, next, before);
    on_host(f, f->g->pivoting ? DAGI_OUTCORE_PANEL : DAGI_OUTCORE_PANEL_NOPIV, own, own);
    if (next.to > next.from) {
        catch_up(f, next, before);
        exchange(f, next, own);
        catch_up(f, next, own);
    }
    exchange(f, before, own);
}

static void add_all(const struct factor *f)
{
    int64_t rank = f->panels.length;
    for (int64_t j = 0; j < f->panels.count; j++) {
        range own = block(&f->panels, j), next = {rank, rank};
        if (j + 1 < f->panels.count)
            next = block(&f->panels, j + 1);
        else if (f->rest.count > 0)
            next = behind(block(&f->rest, 0), rank);
        add_panel(f, own, next);
    }
    for (int64_t j = 1; j < f->rest.count; j++) {
        range cols = behind(block(&f->rest, j), rank);
        exchange(f, cols, (range){0, rank});
        catch_up(f, cols, (range){0, rank});
    }
}

/* Registers on all devices for panels of the same width. */
static dag_status cut(struct factor *f)
{
    dagi_outcore *o = f->o;
    const dag_matrix *A = f->g->A;
    int64_t rank = A->m < A->n ? A->m : A->n, width = A->n;
    if (o->options->block == 0) {
        width = (rank + PANELS - 1) / PANELS;
        width = width < LEAST ? LEAST : width > MOST ? MOST : width;
        width = width < A->n ? width : A->n;
    }
    /* where one device has less room, those before it may have another shape */
    for (int64_t before = 0; before != width;) {
        before = width;
        for (int d = 0; d < o->ndevices; d++) {
            const dagi_block_shape shape =
                dagi_outcore_panel_shape(o, &o->devices[d], A->m, width, rank, A->n);
            width = shape.n;
            if (width == 0)
                return DAG_ERR_NOMEM;
        }
    }
    for (int d = 0; d < o->ndevices; d++) {
        const dagi_block_shape shape =
            dagi_outcore_panel_shape(o, &o->devices[d], A->m, width, rank, A->n);
        const int64_t longest = shape.m > shape.k ? shape.m : shape.k;
        f->side[d] = longest > shape.n ? longest : shape.n;
        dagi_outcore_take_product(o, &o->devices[d], &shape);
    }
    f->panels = dagi_blocks_of(rank, width);
    f->rest = dagi_blocks_of(A->n - rank, width);
    return DAG_SUCCESS;
}

void dagi_outcore_getrf_check(dagi_check *c, const dag_matrix *A)
{
    if (c->status == DAG_SUCCESS && A->layout != DAG_LAYOUT_SLAB)
        c->status = dag_error(c->ctx, DAG_ERR_UNSUPPORTED,
                              "%s: there is no program for devices: %s consists of tiles; the host "
                              "factors panels in place, so it has to be an array (slab layout)",
                              c->routine, A->super.name);
}

dag_status dagi_outcore_getrf_program(dag_context *ctx, const dagi_outcore_getrf *g,
                                      const dag_outcore_options *options, dag_devprog **program)
{
    int number;
    dagi_outcore o;
    dag_status status = dagi_outcore_begin(&o, ctx, g->pivoting ? "getrf" : "getrf_nopiv", &g->A, 1,
                                           options, &number);
    if (status != DAG_SUCCESS)
        return status;
    struct factor f = {.o = &o, .g = g};
    if (o.here && g->A->m > 0 && g->A->n > 0) {
        status = cut(&f);
        if (status == DAG_SUCCESS)
            add_all(&f);
    }
    return dagi_outcore_end(&o, status, program);
}
