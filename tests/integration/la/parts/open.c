/* Which parts are copies and why, and which are refused with what words; parts.h. */
#include "parts.h"

#include <string.h>

enum { N = 24, LLD = 40, BLOCK = 4 };
static double array[LLD * N];

/* What is given to dag_part_open(); good as it stands. */
typedef struct call {
    dag_blacs_grid grid;
    dag_precision prec;
    dag_part_access access;
    int64_t m, n, ia, ja;
    void *local;
    int desc[9];
    int without; /* 1: no grid, 2: no desc, 3: no place for the part */
} call;

static call good(dag_context *ctx)
{
    int size = dag_size(ctx), p = size % 2 == 0 && size > 2 ? 2 : 1; /* 1x1, 1x2, 2x2, 2x3 */
    call c = {.grid = {ctx, p, size / p, DAG_GRID_ROW_MAJOR, 0},
              .prec = DAG_D,
              .access = DAG_PART_RW,
              .m = 8,
              .n = 8,
              .ia = 1,
              .ja = 1,
              .local = array,
              .desc = {1, 0, N, N, BLOCK, BLOCK, 0, 0, LLD}};
    return c;
}

static dag_status open_call(const call *c, dag_part **made)
{
    return dag_part_open(c->without == 1 ? NULL : &c->grid, c->prec, c->access, c->m, c->n,
                         c->local, c->ia, c->ja, c->without == 2 ? NULL : c->desc,
                         c->without == 3 ? NULL : made);
}

static void complain(dag_context *ctx, const char *what, const char *text)
{
    failures++;
    fprintf(stderr, "rank %d: %s: '%s'\n", dag_rank(ctx), what, text);
}

/* ---- copies --------------------------------------------------------------------------------- */

/* `why`: words of the reason, NULL for a part in place. */
static void expect(const call *c, const char *what, const char *why)
{
    dag_context *ctx = c->grid.ctx;
    dag_part *made = NULL;
    if (open_call(c, &made) != DAG_SUCCESS) {
        complain(ctx, what, dag_message(ctx));
        return;
    }
    if (made->copied != (why != NULL) || strstr(made->why, why != NULL ? why : "") == NULL)
        complain(ctx, what, made->why);
    double bytes = (double)made->bytes;
    if (dag_allreduce(ctx, DAG_SUM, &bytes, 1) != DAG_SUCCESS ||
        bytes != (made->copied ? (double)(c->m * c->n) * sizeof(double) : 0))
        complain(ctx, what, "memory");
    if (dag_part_close(made) != DAG_SUCCESS)
        complain(ctx, what, dag_message(ctx));
}

void known_parts(dag_context *ctx)
{
    call c = good(ctx);
    int P = c.grid.nprow, Q = c.grid.npcol;
    expect(&c, "the first blocks", NULL);
    c.grid.nb = BLOCK;
    expect(&c, "blocks of the size of tiles", NULL);
    c.grid.nb = 3;
    expect(&c, "tiles of another size", Q > 1 ? "blocks of 4, not of 3" : NULL);
    c = good(ctx);
    c.ja += BLOCK;
    c.desc[7] = Q - 1; /* the second block column is on process column 0 */
    expect(&c, "from process column 0", NULL);
    c.ja += BLOCK;
    expect(&c, "from process column 1", Q > 1 ? "first column is on process column 1" : NULL);
    c = good(ctx);
    c.ja += 1;
    expect(&c, "an offset", Q > 1 ? "columns begin inside of a block" : NULL);
    c.n = BLOCK - 1;
    c.ia += 2;
    c.m = 2;
    expect(&c, "within a block", NULL);
    c = good(ctx);
    c.ia += 3;
    expect(&c, "an offset of rows", P > 1 ? "rows begin inside of a block" : NULL);
    c = good(ctx);
    c.desc[6] = P - 1;
    expect(&c, "a source row", P > 1 ? "first row is on process row 1" : NULL);
    c = good(ctx);
    c.grid.order = DAG_GRID_COLUMN_MAJOR;
    expect(&c, "column-major", P > 1 && Q > 1 ? "column-major" : NULL);
    c.m = 0;
    expect(&c, "nothing", P > 1 && Q > 1 ? "column-major" : NULL);
}

/* ---- refusals ------------------------------------------------------------------------------- */

static void refuses(dag_context *ctx, const call *c, const char *word)
{
    dag_part *made = NULL;
    dag_status status = open_call(c, &made);
    if (status != DAG_ERR_ARG || made != NULL)
        complain(ctx, word, "not refused");
    else if (c->without != 1 && strstr(dag_message(ctx), word) == NULL)
        complain(ctx, word, dag_message(ctx));
}

#define REFUSES(field, value, word)                                                                \
    do {                                                                                           \
        call bad = good(ctx);                                                                      \
        bad.field = value;                                                                         \
        refuses(ctx, &bad, word);                                                                  \
    } while (0)

static void bad_arguments(dag_context *ctx)
{
    int size = dag_size(ctx);
    REFUSES(without, 1, "grid");
    REFUSES(without, 2, "desc is NULL");
    REFUSES(without, 3, "part is NULL");
    REFUSES(grid.nprow, 0, "grid has 0 x");
    REFUSES(grid.npcol, size + 1, "places");
    REFUSES(grid.order, (dag_grid_order)'X', "order of grid");
    REFUSES(grid.nb, -1, "nb of grid");
    REFUSES(prec, (dag_precision)7, "prec is 7");
    REFUSES(access, (dag_part_access)0, "access is 0");
    REFUSES(access, (dag_part_access)4, "access is 4");
    REFUSES(m, -1, "m is -1");
    REFUSES(n, -1, "n is -1");
    REFUSES(ia, 0, "ia is 0");
    REFUSES(ja, 0, "ja is 0");
    REFUSES(m, N + 1, "m = 25 from ia = 1");
    REFUSES(ja, N - 6, "n = 8 from ja = 18");
    REFUSES(ia, INT64_MAX, "reaches beyond");
    REFUSES(desc[0], 501, "desc[0] (DTYPE_) is 501");
    REFUSES(desc[2], -1, "desc[2] (M_)");
    REFUSES(desc[3], -1, "desc[3] (N_)");
    REFUSES(desc[4], 0, "desc[4] (MB_)");
    REFUSES(desc[5], 0, "desc[5] (NB_)");
    REFUSES(desc[6], size, "desc[6] (RSRC_)");
    REFUSES(desc[7], -1, "desc[7] (CSRC_)");
    REFUSES(desc[8], 0, "desc[8] (LLD_)");
}

/* One rank has something else, or nothing. */
static void bad_on_one(dag_context *ctx)
{
    dag_part *made = NULL;
    call c = good(ctx);
    int last = dag_rank(ctx) == dag_size(ctx) - 1;
    if (last)
        c.local = NULL;
    c.m = c.n = N;
    if (open_call(&c, &made) != DAG_ERR_ARG ||
        strstr(dag_message(ctx), last ? "local is NULL" : "has refused its arguments") == NULL)
        complain(ctx, "no array on one rank", dag_message(ctx));
    c = good(ctx);
    c.ia += last;
    if (dag_size(ctx) > 1 && (open_call(&c, &made) != DAG_ERR_MISMATCH ||
                              strstr(dag_message(ctx), "ia is not the same on all ranks") == NULL))
        complain(ctx, "another ia on one rank", dag_message(ctx));
}

/* Two parts of one array at a time. */
static void overlaps(dag_context *ctx)
{
    call c = good(ctx);
    int Q = c.grid.npcol;
    dag_part *first = NULL, *second = NULL;
    if (open_call(&c, &first) != DAG_SUCCESS)
        complain(ctx, "the first of two", dag_message(ctx));
    c.ja += 9;
    if (open_call(&c, &second) != DAG_SUCCESS) /* a copy where there are columns, apart */
        complain(ctx, "the second of two", dag_message(ctx));
    if (dag_part_close(second) != DAG_SUCCESS)
        complain(ctx, "closing", dag_message(ctx));
    c.ja -= 4;
    if (Q > 1)
        refuses(ctx, &c, "");
    c.access = DAG_PART_READ;
    if (Q > 1)
        refuses(ctx, &c, "");
    if (dag_part_close(first) != DAG_SUCCESS)
        complain(ctx, "closing", dag_message(ctx));
    refuses(ctx, &(call){.grid = c.grid, .without = 2}, "");
}

/* In place, one right of and above the other: the routines see that they meet. */
static void meet_in_place(dag_context *ctx)
{
    call c = good(ctx);
    dag_part *low = NULL, *high = NULL;
    c.m = c.n = 4 * BLOCK;
    c.grid.nprow = c.grid.npcol = 1;
    c.ia = 5;
    if (open_call(&c, &low) != DAG_SUCCESS)
        complain(ctx, "in place", dag_message(ctx));
    c.ia = 1;
    c.ja = 3;
    if (open_call(&c, &high) != DAG_SUCCESS || high->copied)
        complain(ctx, "in place", dag_message(ctx));
    else if (dag_lacpy(ctx, DAG_GENERAL, high->matrix, low->matrix) != DAG_ERR_ARG ||
             (dag_rank(ctx) == 0 && strstr(dag_message(ctx), "share storage") == NULL))
        complain(ctx, "parts that meet", dag_message(ctx));
    if (dag_part_close(high) != DAG_SUCCESS || dag_part_close(low) != DAG_SUCCESS)
        complain(ctx, "closing", dag_message(ctx));
}

void refused_parts(dag_context *ctx)
{
    bad_arguments(ctx);
    bad_on_one(ctx);
    overlaps(ctx);
    meet_in_place(ctx);
    if (dag_part_close(NULL) != DAG_SUCCESS)
        complain(ctx, "closing nothing", "");
}
