/*
 * What inserted programs send, against a count that knows the program and the distribution alone: a version goes
 * once to each rank that reads it and did not make it, the tile's home among them at the end, and nothing else is
 * sent; and each rank that contributes to a tile sends one sum. Cholesky, tile QR and sums of rows with bodies that
 * do nothing, on all grids that the ranks make. Exit status 1 when a check fails.
 */
#include <dag/insert.h>
#include <dag/la.h>
#include <dag/matrix.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MT = 7, NT = 5, NB = 4, MOST_RANKS = 16 };
enum { A, TF, TT, COLLECTIONS }; /* TF has memory, TT none */

static dag_context *ctx;
static int failures;

/* ---- the count -------------------------------------------------------------------------------- */

/* The present version of a tile. */
typedef struct state {
    int maker, written;
    char reads[MOST_RANKS], adds[MOST_RANKS];
} state;

typedef struct tally {
    state tile[COLLECTIONS][MT][MT];
    int p, q;
    int64_t versions; /* that arrive somewhere, one by one */
} tally;

static int home_of(const tally *t, const dag_tile *tile)
{
    return (int)(tile->i % t->p * t->q + tile->j % t->q);
}

static void reads(tally *t, state *s, int rank)
{
    t->versions += rank != s->maker && !s->reads[rank];
    s->reads[rank] = 1;
}

/* What ranks have contributed is sent once by each of them. */
static void end_sum(tally *t, state *s, int home)
{
    for (int r = 0; r < MOST_RANKS; r++) {
        t->versions += s->adds[r] && r != home;
        s->adds[r] = 0;
    }
}

static void count_task(tally *t, const dag_insert_kernel *k, const dag_tile *tiles, const int *of)
{
    int rank = home_of(t, &tiles[k->main]);
    for (int a = 0; a < k->ntiles; a++) {
        state *s = &t->tile[of[a]][tiles[a].i][tiles[a].j];
        if (k->access[a] == DAG_TILE_REDUCE)
            s->adds[rank] = 1;
        else
            end_sum(t, s, home_of(t, &tiles[a]));
    }
    for (int a = 0; a < k->ntiles; a++)
        if (k->access[a] & DAG_TILE_READ)
            reads(t, &t->tile[of[a]][tiles[a].i][tiles[a].j], rank);
    for (int a = 0; a < k->ntiles; a++)
        if (k->access[a] == DAG_TILE_WRITE || k->access[a] == DAG_TILE_RW)
            t->tile[of[a]][tiles[a].i][tiles[a].j] = (state){.maker = rank, .written = 1};
}

/* What has memory goes home. */
static void count_end(tally *t)
{
    for (int c = 0; c < TT; c++)
        for (int i = 0; i < MT; i++)
            for (int j = 0; j < MT; j++) {
                end_sum(t, &t->tile[c][i][j], home_of(t, &(dag_tile){NULL, i, j}));
                if (t->tile[c][i][j].written)
                    reads(t, &t->tile[c][i][j], home_of(t, &(dag_tile){NULL, i, j}));
            }
}

static void count_begin(tally *t, int p, int q)
{
    memset(t, 0, sizeof *t);
    t->p = p;
    t->q = q;
    for (int c = 0; c < COLLECTIONS; c++)
        for (int i = 0; i < MT; i++)
            for (int j = 0; j < MT; j++)
                t->tile[c][i][j].maker = home_of(t, &(dag_tile){NULL, i, j});
}

/* ---- programs ---------------------------------------------------------------------------------- */

static int nothing(struct dag_task *task, const void *args, const dag_tile_view *tiles)
{
    (void)task, (void)args, (void)tiles;
    return 0;
}

static void nothing_more(void *into, const void *from, size_t bytes)
{
    (void)into, (void)from, (void)bytes;
}

#define KERNEL(NAME, N, MAIN, ...)                                                                 \
    static const dag_insert_kernel NAME = {                                                        \
        .name = #NAME, .ntiles = N, .main = MAIN, .access = {__VA_ARGS__}, .body = nothing,      \
        .reduce = nothing_more};
KERNEL(potrf, 1, 0, DAG_TILE_RW)
KERNEL(trsm, 2, 1, DAG_TILE_READ, DAG_TILE_RW)
KERNEL(gemm, 3, 2, DAG_TILE_READ, DAG_TILE_READ, DAG_TILE_RW)
KERNEL(geqrt, 2, 0, DAG_TILE_RW, DAG_TILE_WRITE)
KERNEL(unmqr, 3, 2, DAG_TILE_READ, DAG_TILE_READ, DAG_TILE_RW)
KERNEL(tsqrt, 3, 1, DAG_TILE_RW, DAG_TILE_RW, DAG_TILE_WRITE) /* R is a minor output, and goes from row to row */
KERNEL(tsmqr, 4, 3, DAG_TILE_READ, DAG_TILE_READ, DAG_TILE_RW, DAG_TILE_RW)
KERNEL(add, 2, 0, DAG_TILE_READ, DAG_TILE_REDUCE) /* where the first one is */
static const dag_insert_kernel *const kernels[] = {&potrf, &trsm, &gemm, &geqrt, &unmqr, &tsqrt, &tsmqr, &add};

/* The program under way, and its count. */
typedef struct program {
    dag_taskpool *pool;
    dag_collection *collection[COLLECTIONS];
    tally *tally;
    int release; /* columns that are done, at once */
} program;

typedef struct named {
    int of;
    int64_t i, j;
} named;

static void insert(program *p, const dag_insert_kernel *k, const named *names)
{
    dag_tile tiles[DAG_INSERT_TILES];
    int of[DAG_INSERT_TILES];
    for (int a = 0; a < k->ntiles; a++) {
        tiles[a] = (dag_tile){p->collection[names[a].of], names[a].i, names[a].j};
        of[a] = names[a].of;
    }
    count_task(p->tally, k, tiles, of);
    failures += dag_insert(p->pool, k, NULL, 0, tiles, k->ntiles) != DAG_SUCCESS;
}
#define INSERT(p, k, ...) insert(p, &k, (const named[]){__VA_ARGS__})

static void release(program *p, int64_t k, int last)
{
    for (int c = 0; p->release && c <= last; c++)
        for (int64_t m = k; m < MT; m++)
            failures += dag_insert_release(p->pool, &(dag_tile){p->collection[c], m, k}) != DAG_SUCCESS;
}

static void cholesky(program *p)
{
    for (int64_t k = 0; k < MT; k++) {
        INSERT(p, potrf, {A, k, k});
        for (int64_t m = k + 1; m < MT; m++)
            INSERT(p, trsm, {A, k, k}, {A, m, k});
        for (int64_t n = k + 1; n < MT; n++) {
            INSERT(p, trsm, {A, n, k}, {A, n, n});
            for (int64_t m = n + 1; m < MT; m++)
                INSERT(p, gemm, {A, m, k}, {A, n, k}, {A, m, n});
        }
        release(p, k, A);
    }
}

static void qr(program *p)
{
    for (int64_t k = 0; k < NT; k++) {
        INSERT(p, geqrt, {A, k, k}, {TF, k, k});
        for (int64_t n = k + 1; n < NT; n++)
            INSERT(p, unmqr, {A, k, k}, {TF, k, k}, {A, k, n});
        for (int64_t m = k + 1; m < MT; m++) {
            INSERT(p, tsqrt, {A, k, k}, {A, m, k}, {TT, m, k});
            for (int64_t n = k + 1; n < NT; n++)
                INSERT(p, tsmqr, {A, m, k}, {TT, m, k}, {A, k, n}, {A, m, n});
        }
        release(p, k, TT);
    }
}

/* Of the rows above the diagonal, and of all of them later; each sum lives with the next row. */
static void sums(program *p)
{
    for (int64_t m = 0; m < MT; m++) {
        for (int64_t n = m; n < MT; n++)
            INSERT(p, add, {A, m, n}, {TF, (m + 1) % MT, 0});
    }
    for (int64_t m = 0; m < MT; m += 2)
        INSERT(p, trsm, {TF, m, 0}, {A, m, m});
    for (int64_t n = 0; n < MT; n++) {
        for (int64_t m = 0; m < MT; m++)
            INSERT(p, add, {A, m, n}, {TF, (m + 1) % MT, 0});
    }
}

/* ---- one run ------------------------------------------------------------------------------------ */

static void expect(int good, const char *what, int p, int q, double got, double due)
{
    failures += !good;
    if (!good && dag_rank(ctx) == 0)
        fprintf(stderr, "%s on a grid %dx%d: %g, expected %g (%s)\n", what, p, q, got, due, dag_message(ctx));
}

static dag_matrix *make(int p, int q)
{
    const dag_matrix_desc desc = {.prec = DAG_D, .m = MT * NB, .n = MT * NB, .mb = NB, .nb = NB, .p = p, .q = q};
    dag_matrix *m = NULL;
    expect(dag_matrix_new(ctx, &desc, &m) == DAG_SUCCESS, "a matrix", p, q, 0, 0);
    return m;
}

/* Tasks with several outputs may send them together: their bytes are counted, messages where each has one. Drawn
 * shapes of broadcasts (chaos) send some values in two halves. */
static void check(void (*go)(program *p), int p, int q, int64_t window, int early)
{
    static tally count;
    dag_matrix *m[2] = {make(p, q), make(p, q)};
    dag_insert_scratch scratch;
    dag_insert_scratch_init(&scratch, &m[0]->super, NULL, "TT");
    program run = {.collection = {&m[0]->super, &m[1]->super, &scratch.super}, .tally = &count,
                       .release = early};
    const dag_insert_desc desc = {.name = "counts", .collections = run.collection,
                                  .ncollections = COLLECTIONS, .kernels = kernels,
                                  .nkernels = sizeof kernels / sizeof kernels[0], .window = window};
    count_begin(&count, p, q);
    expect(dag_insert_begin(ctx, &desc, &run.pool) == DAG_SUCCESS, "begin", p, q, 0, 0);
    go(&run);
    count_end(&count);
    expect(dag_insert_end(run.pool) == DAG_SUCCESS, "end", p, q, 0, 0);
    expect(dag_wait(run.pool) == DAG_SUCCESS, "wait", p, q, 0, 0);
    dag_pool_stats stats;
    dag_taskpool_stats(run.pool, &stats);
    double sum[] = {(double)stats.messages, (double)stats.bytes_sent};
    expect(dag_allreduce(ctx, DAG_SUM, sum, 2) == DAG_SUCCESS, "sum", p, q, 0, 0);
    double due = (double)count.versions, bytes = due * NB * NB * sizeof(double);
    expect(sum[1] == bytes, go == qr ? "bytes of QR" : go == sums ? "bytes of sums" : "bytes of Cholesky", p, q, sum[1], bytes);
    double most = getenv("DAG_CHAOS") != NULL ? 2 * due : due;
    expect((go == qr || sum[0] >= due) && sum[0] <= most, "messages", p, q, sum[0], due);
    expect(dag_size(ctx) == 1 || due > 0, "nothing was to be sent", p, q, due, 1);
    dag_taskpool_free(run.pool);
    dag_matrix_free(m[0]);
    dag_matrix_free(m[1]);
}

int main(void)
{
    char why[256] = "";
    if (dag_init(&ctx, NULL, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "dag_init: %s\n", why);
        return 1;
    }
    int size = dag_size(ctx);
    for (int p = 1; p <= size; p++) {
        for (int turn = 0; size % p == 0 && turn < 4; turn++) {
            check(cholesky, p, size / p, turn < 2 ? 0 : 5, turn % 2);
            check(qr, p, size / p, turn < 2 ? 0 : 5, turn % 2);
            check(sums, p, size / p, turn < 2 ? 0 : 5, 0);
        }
    }
    return dag_fini(ctx) != DAG_SUCCESS || failures > 0;
}
