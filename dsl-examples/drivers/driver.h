/* What the drivers have in common: start and end, errors, results. */
#ifndef DRIVERS_DRIVER_H
#define DRIVERS_DRIVER_H

#include "options.h"

#include <dag/la.h>

/* One result; NaN = not computed. */
typedef struct report {
    int64_t m, n, nb;
    int p, q;
    double seconds, flops;
    double expected; /* seconds, where the tile size was chosen for them; 0 = not known */
    double residual;
    int judged; /* 1: the residual is NaN because the result is, not because nobody asked */
    double normwise, componentwise; /* solvers */
    double anorm, rcond;    /* of the matrix: its one-norm, and the reciprocal of its condition */
    double ferr;            /* bound of the forward error, the largest of all right-hand sides */
    double rcond_seconds, ferr_seconds; /* that these took; no part of `seconds` */
    int64_t info;
    int mixed, iter; /* solved in mixed precision, with iter as dag/refine.h says */
    const char *routine; /* what ran: the driver's name unless run() says otherwise */
    const char *grid_why; /* NULL: the grid was given, or there is one rank */
    double bound;   /* of residual */
    dag_gemm_plan plan; /* gemm: by this, unless it says auto */
    int incomplete; /* something else failed after the computation, and has been said */
} report;

/* What the table of routines says of a driver. */
typedef struct driver_row {
    const char *name; /* "potrf" */
    enum { INFO_NOTHING, INFO_NOT_POSITIVE, INFO_SINGULAR } info;
    uint64_t options; /* besides OPT_COMMON */
} driver_row;

typedef struct driver {
    const char *name;      /* "potrf": that of its row; the program is dag_potrf */
    const driver_row *row; /* NULL: that of routines.def */
    const char *purpose;   /* for --help: what is computed, what the check means */
    const char *residual;  /* of what: a formula for JSON */
    int solves;            /* 1: reports normwise and componentwise errors */
    /* One run; fills *r. Returns DAG_SUCCESS when there is a result; else the error has been
     * printed. The same on all ranks. */
    dag_status (*run)(dag_context *ctx, const options *o, report *r);
} driver;

/* With --check: the result is not as good as it has to be. */
bool driver_check_fails(const options *o, const report *r);

/* main() of a driver: returns the exit status. */
int driver_main(const driver *d, int argc, char **argv);

/* The status of a collective call, printing dag_message() on rank 0 when it is an error. */
dag_status driver_collective(dag_context *ctx, dag_status status);
/* The next collective call, where all has gone well so far. */
#define DRIVER_STEP(ctx, status, call)                                                             \
    do {                                                                                           \
        if ((status) == DAG_SUCCESS)                                                               \
            (status) = driver_collective(ctx, call);                                               \
    } while (0)
/* The agreed status of work that each rank did alone; the first rank that failed prints why. */
dag_status driver_agreed(dag_context *ctx, dag_status mine);

/* The options' tile size, or with --nb 0 one that suits a factorisation of an m x n matrix. */
dag_status driver_tile(dag_context *ctx, const options *o, int64_t m, int64_t n, int64_t *nb);
/* A new matrix with the options' tiles, grid, storage and element type. */
dag_status driver_matrix(dag_context *ctx, const options *o, int64_t m, int64_t n, dag_uplo uplo,
                         dag_matrix **matrix);
/* Those that are random give way to --matgen.
 *
 * Fills A with a random Hermitian matrix whose diagonal is its order larger: it is positive definite
 * and LU needs no pivots. The source gives it again; `random` is its own. */
typedef union driver_random {
    dag_plghe_source hermitian;
    dag_plrnt_source general;
} driver_random;
dag_status driver_random_positive(dag_context *ctx, const options *o, dag_matrix *A,
                                  driver_random *random, dag_element_source *source);
/* The same for a matrix without structure; with --pivoting none for one as above. */
dag_status driver_random_general(dag_context *ctx, const options *o, dag_matrix *A,
                                 driver_random *random, dag_element_source *source);
/* The options' M, or N. */
int64_t driver_rows(const options *o);
/* driver_tile() for what this program does with an m x n matrix, whose adjoint it may factor. */
dag_status driver_first_tile(dag_context *ctx, const options *o, int64_t m, int64_t n, int64_t *nb);
/* driver_matrix() with tiles that suit its shape, for the matrix that others get their tiles from. */
dag_status driver_first(dag_context *ctx, const options *o, int64_t m, int64_t n, dag_matrix **A);
/* A new matrix of any shape: from options.matrix, or a random M x N one, M = N unless given. */
dag_status driver_rectangular(dag_context *ctx, const options *o, dag_matrix **A);
/* Copies the rows that both have, which are cut and lie alike. */
dag_status driver_copy(dag_matrix *to, dag_matrix *from);
/* Element `at` of a tile: its real and imaginary part. */
static inline void driver_item(dag_precision prec, const void *tile, size_t at, double part[2])
{
    const float *f = tile;
    const double *d = tile;
    part[1] = 0;
    switch (prec) {
    case DAG_S: part[0] = f[at]; break;
    case DAG_D: part[0] = d[at]; break;
    case DAG_C: part[0] = f[2 * at]; part[1] = f[2 * at + 1]; break;
    case DAG_Z: part[0] = d[2 * at]; part[1] = d[2 * at + 1]; break;
    }
}
/* The report is about this matrix: its size, tiles and grid. */
void driver_shape(report *r, const dag_matrix *A);
/* Floating point operations, complex ones counted as four multiplications or additions each way:
 * `muls` and `adds` in the element type. */
double driver_flops(dag_precision prec, double muls, double adds);
/* Those of a QR or LQ factorisation of A, to leading order. */
double driver_qr_flops(const dag_matrix *A);
/* Operations a second of a worker in the multiplication of tiles of that size; 0 = not to be had. */
double driver_peak(const options *o, int64_t nb);
/* Seconds of the run's clock, after all ranks have arrived. */
double driver_time(dag_context *ctx);
/* A context with the settings that the options stand for; what is wrong has been said. */
dag_status driver_start(const options *o, dag_context **ctx);
/* The same by another function than dag_init(). */
typedef dag_status driver_init(dag_context **ctx, const dag_config *config, char *why, size_t why_size);
dag_status driver_start_by(const options *o, driver_init *init, dag_context **ctx);
/* The first call of main(), where that is no driver_main(): messages are in this name. May begin the process
 * anew, with an environment that suits the BLAS library. */
void driver_named(const char *name, char **argv);
/* Where nobody asked for a grid, one that suits the routine, and why; `choice` is untouched elsewhere. */
dag_status driver_grid(dag_context *ctx, const driver *d, options *o, dag_grid_choice *choice);

#endif
