/*
 * What is under way at a time in a pool that a program inserts: so many tasks as the setting insert_window says, or the
 * description, and the memory that they take. Exit status 1 when a check fails.
 *   core_insert_window [tiles]    of a row of the matrix; default: 182, a million tasks
 */
#include <dag/config.h>
#include <dag/insert.h>
#include <dag/matrix.h>

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
enum { MEASURED = 0 };
#else
enum { MEASURED = 1 };
#endif

enum { SETTING = 37, ALONE = 256 /* most of a worker that is alone */, WINDOW = 8192, FIRST = 20 };

static dag_context *ctx;
static int failures, rank;

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: rank %d: %s fails: ", __FILE__, __LINE__, rank, #condition);   \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fprintf(stderr, "\n");                                                                 \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

static dag_taskpool *begin(dag_matrix *m, int64_t window, const dag_insert_kernel *const *all, int n)
{
    dag_collection *c = &m->super;
    const dag_insert_desc desc = {.name = "window", .collections = &c, .ncollections = 1,
                                  .kernels = all, .nkernels = n, .window = window};
    dag_taskpool *pool = NULL;
    CHECK(dag_insert_begin(ctx, &desc, &pool) == DAG_SUCCESS, "%s", dag_message(ctx));
    return pool;
}

static void end(dag_taskpool *pool)
{
    CHECK(dag_insert_end(pool) == DAG_SUCCESS, "%s", dag_message(ctx));
    CHECK(dag_wait(pool) == DAG_SUCCESS, "%s", dag_message(ctx));
    dag_taskpool_free(pool);
}

/* ---- tasks that are under way ------------------------------------------------------------------ */

typedef struct nothing {
    int none;
} nothing;

static _Atomic int64_t ran;

static int count(struct dag_task *task, const nothing *args, const dag_tile_view *t)
{
    (void)task, (void)args, (void)t;
    ran++;
    return 0;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Too long for the inserting worker to run it at once. */
static int count_slowly(struct dag_task *task, const nothing *args, const dag_tile_view *t)
{
    for (double end = seconds() + 2e-6; seconds() < end;)
        continue;
    return count(task, args, t);
}
DAG_KERNEL(COUNT_BRIEFLY, nothing, count, NULL, 0, DAG_TILE_WRITE)
DAG_KERNEL(COUNT, nothing, count_slowly, NULL, 0, DAG_TILE_WRITE)

/* What takes little time runs long before the window is full. */
static void eager(dag_matrix *m)
{
    static const dag_insert_kernel *const all[] = {&COUNT_BRIEFLY};
    dag_taskpool *pool = begin(m, 4096, all, 1);
    ran = 0;
    for (int64_t j = 0; j < m->nt; j++)
        for (int64_t i = 0; i < m->mt; i++)
            CHECK(DAG_INSERT(pool, COUNT_BRIEFLY, {0}, {&m->super, i, j}) == DAG_SUCCESS, "%s", dag_message(ctx));
    CHECK(ran > 0, "none of %ld tasks has run", (long)(m->mt * m->nt));
    end(pool);
}

/* Every task is ready at once, so a worker that also inserts fills the window with those it has not run. */
static void bounded(dag_matrix *m, int64_t window, int64_t expected)
{
    static const dag_insert_kernel *const all[] = {&COUNT};
    dag_taskpool *pool = begin(m, window, all, 1);
    int64_t here = 0, most = 0;
    ran = 0;
    for (int64_t j = 0; j < m->nt; j++) {
        for (int64_t i = 0; i < m->mt; i++) {
            CHECK(DAG_INSERT(pool, COUNT, {0}, {&m->super, i, j}) == DAG_SUCCESS, "%s", dag_message(ctx));
            here += dag_rank_of(&m->super, (int64_t[]){i, j}) == rank;
            most = here - ran > most ? here - ran : most;
        }
    }
    end(pool);
    CHECK(most <= expected, "%ld unfinished tasks, window %ld", (long)most, (long)window);
    CHECK(ran == here, "%ld of %ld tasks", (long)ran, (long)here);
    CHECK(dag_workers(ctx) > 1 || most == expected, "never more than %ld unfinished tasks, window %ld",
          (long)most, (long)window);
}

/* ---- memory ----------------------------------------------------------------------------------- */

/* A Cholesky factorisation by tiles of one number: A(i,j) = min(i,j) + 1, so all of L is 1. */
static int fill(struct dag_task *task, const double *value, const dag_tile_view *t)
{
    (void)task;
    *(double *)t[0].ptr = *value;
    return 0;
}

static int factor(struct dag_task *task, const nothing *args, const dag_tile_view *t)
{
    (void)task, (void)args;
    *(double *)t[0].ptr = sqrt(*(const double *)t[0].ptr);
    return 0;
}

static int solve(struct dag_task *task, const nothing *args, const dag_tile_view *t)
{
    (void)task, (void)args;
    *(double *)t[1].ptr /= *(const double *)t[0].ptr;
    return 0;
}

static int update(struct dag_task *task, const nothing *args, const dag_tile_view *t)
{
    (void)task, (void)args;
    *(double *)t[2].ptr -= *(const double *)t[0].ptr * *(const double *)t[1].ptr;
    return 0;
}

static int square(struct dag_task *task, const nothing *args, const dag_tile_view *t)
{
    (void)task, (void)args;
    *(double *)t[1].ptr -= *(const double *)t[0].ptr * *(const double *)t[0].ptr;
    return 0;
}

DAG_KERNEL(FILL, double, fill, NULL, 0, DAG_TILE_WRITE)
DAG_KERNEL(FACTOR, nothing, factor, NULL, 0, DAG_TILE_RW)
DAG_KERNEL(SOLVE, nothing, solve, NULL, 1, DAG_TILE_READ, DAG_TILE_RW)
DAG_KERNEL(UPDATE, nothing, update, NULL, 2, DAG_TILE_READ, DAG_TILE_READ, DAG_TILE_RW)
DAG_KERNEL(SQUARE, nothing, square, NULL, 1, DAG_TILE_READ, DAG_TILE_RW)
static const dag_insert_kernel *const kernels[] = {&FILL, &FACTOR, &SOLVE, &UPDATE, &SQUARE};

/* Returns how many tasks that were. */
static long cholesky(dag_taskpool *pool, dag_matrix *m, int64_t nt)
{
    dag_collection *A = &m->super;
    dag_status s = DAG_SUCCESS;
    long tasks = 0;
    for (int64_t j = 0; j < nt; j++)
        for (int64_t i = j; i < nt; i++, tasks++)
            s |= DAG_INSERT(pool, FILL, {(double)j + 1}, {A, i, j});
    for (int64_t k = 0; k < nt; k++, tasks++) {
        s |= DAG_INSERT(pool, FACTOR, {0}, {A, k, k});
        for (int64_t i = k + 1; i < nt; i++, tasks++)
            s |= DAG_INSERT(pool, SOLVE, {0}, {A, k, k}, {A, i, k});
        for (int64_t j = k + 1; j < nt; j++, tasks++) {
            s |= DAG_INSERT(pool, SQUARE, {0}, {A, j, k}, {A, j, j});
            for (int64_t i = j + 1; i < nt; i++, tasks++)
                s |= DAG_INSERT(pool, UPDATE, {0}, {A, i, k}, {A, j, k}, {A, i, j});
        }
        for (int64_t i = k; i < nt; i++) /* copies on other ranks may go */
            s |= dag_insert_release(pool, &(dag_tile){A, i, k});
    }
    CHECK(s == DAG_SUCCESS, "%s", dag_message(ctx));
    return tasks;
}

static dag_status look(dag_matrix *m, int64_t i, int64_t j, const dag_element *e, void *arg)
{
    (void)m, (void)arg;
    CHECK(i < j || *(const double *)e->ptr == 1, "tile %ld, %ld is %g", (long)i, (long)j,
          *(const double *)e->ptr);
    return DAG_SUCCESS;
}

/* Resident bytes: now, or at most so far. */
static double memory_now(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f && fscanf(f, "%*d %ld", &pages) == 1, "/proc/self/statm");
    if (f)
        fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static double memory_peak(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024;
}

static void modest(dag_matrix *m)
{
    dag_taskpool *pool = begin(m, 64, kernels, 5);
    cholesky(pool, m, m->nt < FIRST ? m->nt : FIRST); /* what the first messages and tasks need */
    end(pool);
    double before = memory_now(), allowed = 16 * 1048576.0 + 64.0 * (double)(m->mt * m->nt);
    pool = begin(m, WINDOW, kernels, 5);
    long tasks = cholesky(pool, m, m->nt);
    end(pool);
    double grown = memory_peak() - before;
    dag_matrix_each_local(m, look, NULL);
    printf("rank %d: %ld tasks of all ranks, %.1f MiB\n", rank, tasks, grown / 1048576);
    CHECK(!MEASURED || grown <= allowed, "memory grows by %.0f bytes, allowed are %.0f", grown, allowed);
}

static dag_matrix *matrix(int64_t n)
{
    const dag_matrix_desc desc = {.prec = DAG_D, .m = n, .n = n, .mb = 1, .nb = 1};
    dag_matrix *m = NULL;
    CHECK(dag_matrix_new(ctx, &desc, &m) == DAG_SUCCESS, "%s", dag_message(ctx));
    return m;
}

int main(int argc, char **argv)
{
    char why[256] = "";
    dag_config *config = dag_config_new();
    if (dag_config_set(config, "insert_window", "37", why, sizeof why) != DAG_SUCCESS ||
        dag_init(&ctx, config, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    dag_config_free(config);
    rank = dag_rank(ctx);
    dag_matrix *m = matrix(60);
    bounded(m, 0, SETTING);
    bounded(m, 5, 5);
    eager(m);
    bounded(m, 300, dag_workers(ctx) == 1 && dag_size(ctx) == 1 ? ALONE : 300);
    dag_matrix_free(m);
    m = matrix(argc > 1 ? atoi(argv[1]) : 182);
    modest(m);
    dag_matrix_free(m);
    CHECK(dag_fini(ctx) == DAG_SUCCESS, "dag_fini");
    return failures > 0;
}
