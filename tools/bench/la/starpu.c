/* Tile Cholesky, and tile LU without pivots, as StarPU's users write them: starpu potrf|getrf N NB
 * RUNS. The scheduler and the number of workers come from STARPU_SCHED and STARPU_NCPU; the priorities
 * are ours. The matrix of both has a large diagonal, so that LU needs no pivots.
 * Compiled with RANKS it is a program of MPI, whose tiles are block cyclic on a grid: ... RUNS P Q. */
#include "spd.h"

#include <cblas.h>
#include <lapacke.h>
#include <stdbool.h>
#include <unistd.h>
#ifdef RANKS
#include <starpu_mpi.h>
#define insert(...) starpu_mpi_task_insert(MPI_COMM_WORLD, __VA_ARGS__)
#else
#include <starpu.h>
#define insert(...) starpu_task_insert(__VA_ARGS__)
#endif

static double *tile(void *buffer)
{
    return (double *)STARPU_MATRIX_GET_PTR(buffer);
}

static int rows(void *buffer)
{
    return (int)STARPU_MATRIX_GET_NX(buffer);
}

static int columns(void *buffer)
{
    return (int)STARPU_MATRIX_GET_NY(buffer);
}

static int leading(void *buffer)
{
    return (int)STARPU_MATRIX_GET_LD(buffer);
}

static void potrf(void *b[], void *unused)
{
    (void)unused;
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', rows(b[0]), tile(b[0]), leading(b[0])) != 0)
        exit(1);
}

static void trsm(void *b[], void *unused)
{
    (void)unused;
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, rows(b[1]),
                columns(b[1]), 1, tile(b[0]), leading(b[0]), tile(b[1]), leading(b[1]));
}

static void syrk(void *b[], void *unused)
{
    (void)unused;
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, rows(b[1]), columns(b[0]), -1, tile(b[0]),
                leading(b[0]), 1, tile(b[1]), leading(b[1]));
}

static void gemm(void *b[], void *unused)
{
    (void)unused;
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, rows(b[2]), columns(b[2]), columns(b[0]),
                -1, tile(b[0]), leading(b[0]), tile(b[1]), leading(b[1]), 1, tile(b[2]),
                leading(b[2]));
}

/* LU of a tile without pivots: of the left half, of what it leaves of the right one. */
static void factor(int m, int n, double *a, int ld)
{
    int left = n / 2, right = n - left;
    double *b = a + (size_t)left * (size_t)ld, *rest = b + left;
    if (n == 1) {
        cblas_dscal(m - 1, 1 / a[0], a + 1, 1);
        return;
    }
    factor(m, left, a, ld);
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, left, right, 1, a, ld,
                b, ld);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m - left, right, left, -1, a + left, ld,
                b, ld, 1, rest, ld);
    factor(m - left, right, rest, ld);
}

static void getrf(void *b[], void *unused)
{
    (void)unused;
    factor(rows(b[0]), columns(b[0]), tile(b[0]), leading(b[0]));
}

static void solve_row(void *b[], void *unused)
{
    (void)unused;
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, rows(b[1]),
                columns(b[1]), 1, tile(b[0]), leading(b[0]), tile(b[1]), leading(b[1]));
}

static void solve_column(void *b[], void *unused)
{
    (void)unused;
    cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, rows(b[1]),
                columns(b[1]), 1, tile(b[0]), leading(b[0]), tile(b[1]), leading(b[1]));
}

static void update(void *b[], void *unused)
{
    (void)unused;
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, rows(b[2]), columns(b[2]), columns(b[0]),
                -1, tile(b[0]), leading(b[0]), tile(b[1]), leading(b[1]), 1, tile(b[2]),
                leading(b[2]));
}

static struct starpu_codelet cl_getrf = {.cpu_funcs = {getrf}, .nbuffers = 1, .modes = {STARPU_RW}};
static struct starpu_codelet cl_row = {.cpu_funcs = {solve_row}, .nbuffers = 2,
                                       .modes = {STARPU_R, STARPU_RW}};
static struct starpu_codelet cl_column = {.cpu_funcs = {solve_column}, .nbuffers = 2,
                                          .modes = {STARPU_R, STARPU_RW}};
static struct starpu_codelet cl_update = {.cpu_funcs = {update}, .nbuffers = 3,
                                          .modes = {STARPU_R, STARPU_R, STARPU_RW}};
static struct starpu_codelet cl_potrf = {.cpu_funcs = {potrf}, .nbuffers = 1, .modes = {STARPU_RW}};
static struct starpu_codelet cl_trsm = {.cpu_funcs = {trsm}, .nbuffers = 2,
                                        .modes = {STARPU_R, STARPU_RW}};
static struct starpu_codelet cl_syrk = {.cpu_funcs = {syrk}, .nbuffers = 2,
                                        .modes = {STARPU_R, STARPU_RW}};
static struct starpu_codelet cl_gemm = {.cpu_funcs = {gemm}, .nbuffers = 3,
                                        .modes = {STARPU_R, STARPU_R, STARPU_RW}};

static void insert_lu(starpu_data_handle_t *h, int nt)
{
    for (int k = 0; k < nt; k++) {
        insert(&cl_getrf, STARPU_PRIORITY, 3 * (nt - k) - 2, STARPU_RW, h[k + k * nt], 0);
        for (int i = k + 1; i < nt; i++) {
            int priority = 3 * nt - 2 * i - k - 1;
            insert(&cl_column, STARPU_PRIORITY, priority, STARPU_R, h[k + k * nt], STARPU_RW,
                   h[i + k * nt], 0);
            insert(&cl_row, STARPU_PRIORITY, priority, STARPU_R, h[k + k * nt], STARPU_RW,
                   h[k + i * nt], 0);
        }
        for (int n = k + 1; n < nt; n++)
            for (int m = k + 1; m < nt; m++)
                insert(&cl_update, STARPU_PRIORITY, 3 * nt - 2 * (m < n ? m : n) - k - 2, STARPU_R,
                       h[m + k * nt], STARPU_R, h[k + n * nt], STARPU_RW, h[m + n * nt], 0);
    }
}

static void insert_cholesky(starpu_data_handle_t *h, int nt)
{
    for (int k = 0; k < nt; k++) {
        insert(&cl_potrf, STARPU_PRIORITY, 3 * (nt - k) - 2, STARPU_RW, h[k + k * nt], 0);
        for (int m = k + 1; m < nt; m++)
            insert(&cl_trsm, STARPU_PRIORITY, 3 * nt - 2 * m - k - 1, STARPU_R, h[k + k * nt],
                   STARPU_RW, h[m + k * nt], 0);
        for (int m = k + 1; m < nt; m++) {
            int priority = 3 * nt - 2 * m - k - 2;
            for (int n = k + 1; n < m; n++)
                insert(&cl_gemm, STARPU_PRIORITY, priority, STARPU_R, h[m + k * nt], STARPU_R,
                       h[n + k * nt], STARPU_RW, h[m + n * nt], 0);
            insert(&cl_syrk, STARPU_PRIORITY, priority, STARPU_R, h[m + k * nt], STARPU_RW,
                   h[m + m * nt], 0);
        }
    }
}

static void fill(double *a, int64_t m, int64_t n, int64_t i0, int64_t j0, int64_t order)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++)
            a[i + j * m] = spd(i0 + i, j0 + j, order);
}

/* Who computes what is in the matrix, and when. */
#ifdef RANKS
static int rank, grid_rows, grid_columns;

static int begin(int argc, char **argv)
{
    struct starpu_conf conf;
    grid_rows = argument(argc, argv, 5, "P");
    grid_columns = argument(argc, argv, 6, "Q");
    if (starpu_conf_init(&conf) != 0 ||
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &(int){0}) != MPI_SUCCESS)
        return 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    conf.use_explicit_workers_bindid = 1; /* else the worker of each rank is on the first core */
    conf.workers_bindid[0] = (unsigned)(rank % sysconf(_SC_NPROCESSORS_ONLN));
    return starpu_mpi_init_conf(&argc, &argv, 0, MPI_COMM_WORLD, &conf);
}

static bool mine(int i, int j)
{
    return i % grid_rows * grid_columns + j % grid_columns == rank;
}

static void own(starpu_data_handle_t tile, int i, int j, int nt)
{
    starpu_mpi_data_register(tile, i + (starpu_mpi_tag_t)j * nt,
                             i % grid_rows * grid_columns + j % grid_columns);
}

static void wait_for_all(void)
{
    starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    starpu_mpi_barrier(MPI_COMM_WORLD);
}

static void end(void)
{
    starpu_mpi_shutdown();
    MPI_Finalize();
}
#else
static const int rank = 0;

static int begin(int argc, char **argv)
{
    (void)argc, (void)argv;
    return starpu_init(NULL);
}

static bool mine(int i, int j)
{
    return (void)i, (void)j, true;
}

static void own(starpu_data_handle_t tile, int i, int j, int nt)
{
    (void)tile, (void)i, (void)j, (void)nt;
}

static void wait_for_all(void)
{
    starpu_task_wait_for_all();
}

static void end(void)
{
    starpu_shutdown();
}
#endif

int main(int argc, char **argv)
{
    enum routine what = routine(argc, argv, 1);
    int n = argument(argc, argv, 2, "N"), nb = argument(argc, argv, 3, "NB"),
        lu = what == RUN_GETRF;
    int runs = argument(argc, argv, 4, "RUNS"), nt = (n + nb - 1) / nb;
    if (!lu && what != RUN_POTRF) {
        fprintf(stderr, "%s: argument 1 has to be potrf or getrf\n", argv[0]);
        return 2;
    }
    if (begin(argc, argv) != 0)
        return 1;
    double **a = calloc((size_t)nt * (size_t)nt, sizeof(*a));
    starpu_data_handle_t *h = calloc((size_t)nt * (size_t)nt, sizeof(*h));
    double *times = malloc((size_t)runs * sizeof(*times));
    for (int r = 0; r < runs; r++) {
        for (int j = 0; j < nt; j++)
            for (int i = lu ? 0 : j; i < nt; i++) {
                int64_t m = i + 1 < nt ? nb : n - i * nb, w = j + 1 < nt ? nb : n - j * nb;
                double **t = &a[i + j * nt];
                if (mine(i, j)) {
                    if (*t == NULL)
                        *t = aligned_alloc(64, ((size_t)nb * (size_t)nb + 7) / 8 * 64);
                    fill(*t, m, w, (int64_t)i * nb, (int64_t)j * nb, n);
                }
                starpu_matrix_data_register(&h[i + j * nt], mine(i, j) ? STARPU_MAIN_RAM : -1,
                                            (uintptr_t)*t, (uint32_t)m, (uint32_t)m, (uint32_t)w,
                                            sizeof(double));
                own(h[i + j * nt], i, j, nt);
            }
        wait_for_all();
        double start = seconds();
        (lu ? insert_lu : insert_cholesky)(h, nt);
        wait_for_all();
        times[r] = seconds() - start;
        for (int j = 0; j < nt; j++)
            for (int i = lu ? 0 : j; i < nt; i++)
                starpu_data_unregister(h[i + j * nt]);
    }
    if (rank == 0)
        report(flops(what, n), times, runs);
    end();
    return 0;
}
