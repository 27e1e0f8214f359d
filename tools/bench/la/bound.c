/*
 * What a tile Cholesky factorisation could reach if the runtime cost nothing: bench_bound N NB
 * THREADS [RUNS]
 *
 * The factorisation is done in plain loops on one thread, over a matrix laid out as ours is, and
 * each kernel is timed where it stands, with the data as warm or cold as they are there. A greedy
 * schedule of the same graph with these times, longest path first, gives the rate that is printed.
 * The difference between it and the peak is lost in kernels and in the shape of the graph, that
 * between it and the measured rate in the runtime, and in what workers take from each other.
 */
#include "spd.h"

#include <dag/kernels.h>

#include <string.h>
#include <sys/mman.h>

enum { POTRF, TRSM, HERK, GEMM, CLASSES };
static const char *const names[CLASSES] = {"potrf", "trsm", "herk", "gemm"};

typedef struct task {
    int class;
    int waits;        /* inputs that have not been computed */
    double seconds;   /* of its kernel */
    double path;      /* to the end of the graph, itself included */
} task;

static int n, nb, nt;
static double *storage;
static task *tasks; /* tasks[(m * nt + j) * nt + k]: what happens to tile (m, j) in step k <= j */

static double *tile(int m, int j)
{
    /* by columns of tiles, lower triangle only */
    size_t before = (size_t)j * (size_t)nt - (size_t)j * (size_t)(j - 1) / 2;
    return storage + (before + (size_t)(m - j)) * (size_t)nb * (size_t)nb;
}

static int rows(int m)
{
    return m + 1 < nt ? nb : n - m * nb;
}

static task *at(int m, int j, int k)
{
    return &tasks[((size_t)m * (size_t)nt + (size_t)j) * (size_t)nt + (size_t)k];
}

static void fill(void)
{
    for (int j = 0; j < nt; j++)
        for (int m = j; m < nt; m++)
            for (int c = 0; c < rows(j); c++)
                for (int r = 0; r < rows(m); r++)
                    tile(m, j)[r + (size_t)c * (size_t)rows(m)] =
                        spd((int64_t)m * nb + r, (int64_t)j * nb + c, n);
}

static int class_of(int m, int j, int k)
{
    return m == j ? (j == k ? POTRF : HERK) : j == k ? TRSM : GEMM;
}

static void compute(int m, int j, int k)
{
    double *c = tile(m, j), *l = tile(m, k), *r = tile(j, k);
    switch (class_of(m, j, k)) {
    case POTRF: dag_tile_dpotrf(DAG_LOWER, rows(m), c, rows(m)); break;
    case TRSM:
        dag_tile_dtrsm(DAG_RIGHT, DAG_LOWER, DAG_CONJ_TRANS, DAG_NON_UNIT, rows(m), rows(j), 1,
                       tile(k, k), rows(k), c, rows(m));
        break;
    case HERK:
        dag_tile_dherk(DAG_LOWER, DAG_NO_TRANS, rows(m), rows(k), -1, l, rows(m), 1, c, rows(m));
        break;
    default:
        dag_tile_dgemm(DAG_NO_TRANS, DAG_CONJ_TRANS, rows(m), rows(j), rows(k), -1, l, rows(m), r,
                       rows(j), 1, c, rows(m));
    }
}

static void timed(int m, int j, int k)
{
    double start = seconds(), spent;
    compute(m, j, k);
    spent = seconds() - start;
    task *t = at(m, j, k);
    if (t->seconds == 0 || spent < t->seconds)
        t->seconds = spent; /* the smallest of all runs: an interruption is not the kernel's */
}

static void run(void)
{
    fill();
    for (int k = 0; k < nt; k++) {
        timed(k, k, k);
        for (int m = k + 1; m < nt; m++)
            timed(m, k, k);
        for (int j = k + 1; j < nt; j++)
            for (int m = j; m < nt; m++)
                timed(m, j, k);
    }
}

/* Calls visit(successor) for the tasks that take what this one makes. */
static void successors(int m, int j, int k, void (*visit)(task *, void *), void *arg)
{
    if (k < j) {
        visit(at(m, j, k + 1), arg);
        return;
    }
    for (int i = k + 1; m == j && i < nt; i++) /* the factor of the diagonal, to its column */
        visit(at(i, k, k), arg);
    for (int i = k + 1; m != j && i <= m; i++) /* a solved tile, to its row */
        visit(at(m, i, k), arg);
    for (int i = m + 1; m != j && i < nt; i++) /* and to its column */
        visit(at(i, m, k), arg);
}

static void longest(task *next, void *arg)
{
    double *path = arg;
    if (next->path > *path)
        *path = next->path;
}

static void prepare(void)
{
    for (int k = nt - 1; k >= 0; k--)
        for (int j = nt - 1; j >= k; j--)
            for (int m = nt - 1; m >= j; m--) {
                /* Backwards in the order of run(), but the diagonal of a step comes last. */
                task *t = at(m, j, k);
                double path = 0;
                successors(m, j, k, longest, &path);
                t->class = class_of(m, j, k);
                t->path = path + t->seconds;
                t->waits = (k > 0) + (t->class == TRSM || t->class == HERK) +
                           2 * (t->class == GEMM);
            }
}

/* ---- the schedule ------------------------------------------------------------------------ */

/* A binary heap of tasks by length of path. */
static task **ready;
static size_t ready_count;

static void push(task *t)
{
    size_t i = ready_count++;
    for (; i > 0 && ready[(i - 1) / 2]->path < t->path; i = (i - 1) / 2)
        ready[i] = ready[(i - 1) / 2];
    ready[i] = t;
}

static task *pop(void)
{
    task *top = ready[0], *last = ready[--ready_count];
    size_t i = 0;
    for (size_t c; (c = 2 * i + 1) < ready_count; i = c) {
        if (c + 1 < ready_count && ready[c + 1]->path > ready[c]->path)
            c++;
        if (ready[c]->path <= last->path)
            break;
        ready[i] = ready[c];
    }
    ready[i] = last;
    return top;
}

static void arrive(task *t, void *arg)
{
    (void)arg;
    if (--t->waits == 0)
        push(t);
}

/* Length of the greedy schedule on `workers` workers. */
static double schedule(int workers)
{
    task *running[workers];
    double end[workers], now = 0;
    memset(running, 0, sizeof(running));
    push(at(0, 0, 0));
    for (;;) {
        int first = -1;
        for (int w = 0; w < workers; w++) {
            if (running[w] == NULL && ready_count > 0) {
                running[w] = pop();
                end[w] = now + running[w]->seconds;
            }
            if (running[w] != NULL && (first < 0 || end[w] < end[first]))
                first = w;
        }
        if (first < 0)
            return now;
        task *done = running[first];
        size_t index = (size_t)(done - tasks), order = (size_t)nt;
        now = end[first];
        running[first] = NULL;
        successors((int)(index / order / order), (int)(index / order % order),
                   (int)(index % order), arrive, NULL);
    }
}

static void print(int workers)
{
    double spent[CLASSES] = {0}, flops[CLASSES] = {0}, length, total = 0;
    for (int k = 0; k < nt; k++)
        for (int j = k; j < nt; j++)
            for (int m = j; m < nt; m++) {
                task *t = at(m, j, k);
                double volume = (double)rows(m) * rows(j) * rows(k);
                double each = t->class == GEMM ? 2 : t->class == POTRF ? 1.0 / 3 : 1;
                spent[t->class] += t->seconds;
                total += t->seconds;
                flops[t->class] += volume * each;
            }
    length = schedule(workers);
    printf("{\"gflops\": %.4f, \"idle\": %.4f", 1.0 / 3 * n * n * n / length * 1e-9,
           1 - total / (length * workers));
    for (int c = 0; c < CLASSES; c++)
        if (spent[c] > 0)
            printf(", \"%s\": %.4f, \"%s_share\": %.4f", names[c], flops[c] / spent[c] * 1e-9,
                   names[c], spent[c] / total);
    printf("}\n");
}

int main(int argc, char **argv)
{
    const size_t page = (size_t)2 << 20;
    n = argument(argc, argv, 1, "N");
    nb = argument(argc, argv, 2, "NB");
    int workers = argument(argc, argv, 3, "THREADS");
    int runs = argc > 4 ? argument(argc, argv, 4, "RUNS") : 3;
    nt = (n + nb - 1) / nb;
    size_t count = (size_t)nt * (size_t)nt * (size_t)nt;
    size_t tiles = (size_t)nt * (size_t)(nt + 1) / 2;
    size_t bytes = tiles * (size_t)nb * (size_t)nb * sizeof(double);
    bytes = (bytes + page - 1) / page * page;
    storage = aligned_alloc(page, bytes);
    tasks = calloc(count, sizeof(*tasks));
    ready = malloc(count * sizeof(task *));
    if (storage == NULL || tasks == NULL || ready == NULL) {
        fprintf(stderr, "%s: no memory\n", argv[0]);
        return 1;
    }
    (void)madvise(storage, bytes, MADV_HUGEPAGE);
    (void)dag_kernels_init(NULL);
    for (int r = 0; r < runs; r++)
        run();
    prepare();
    print(workers);
    free(ready);
    free(tasks);
    free(storage);
    return 0;
}
