/* The options that all drivers share. */
#ifndef DRIVERS_OPTIONS_H
#define DRIVERS_OPTIONS_H

#include <dag/blas3.h>

#include <stdbool.h>

/* How a driver ends. */
enum driver_exit {
    DRIVER_OK = 0,
    DRIVER_FAILED = 1,       /* an error, or a check that was not passed */
    DRIVER_NOT_POSITIVE = 2, /* the matrix is not positive definite: info > 0 */
    DRIVER_USAGE = 3         /* the command line makes no sense */
};

enum option_id {
#define OPTION(id, name, value, meaning) OPT_##id,
#include "option_table.h"
    OPT_COUNT
};
_Static_assert(OPT_COUNT <= 64, "the options of a driver are the bits of 64");
#define OPT_BIT(id) (UINT64_C(1) << (id))
/* What every driver understands. */
#define OPT_COMMON                                                                                 \
    (OPT_BIT(OPT_N) | OPT_BIT(OPT_NB) | OPT_BIT(OPT_PREC) | OPT_BIT(OPT_GRID) |                    \
     OPT_BIT(OPT_THREADS) | OPT_BIT(OPT_GPUS) | OPT_BIT(OPT_RUNS) | OPT_BIT(OPT_CHECK) |           \
     OPT_BIT(OPT_JSON) | OPT_BIT(OPT_TRACE) | OPT_BIT(OPT_REPORT) | OPT_BIT(OPT_PROGRESS) |         \
     OPT_BIT(OPT_PREDICT) | OPT_BIT(OPT_REPRODUCIBLE) | OPT_BIT(OPT_SWEEP_SHARE) |                 \
     OPT_BIT(OPT_SEED) | OPT_BIT(OPT_LAYOUT) | OPT_BIT(OPT_HELP) | OPT_BIT(OPT_VERSION))

/* What a driver understands that reads files, where it makes matrices of the gallery as well, and one that
 * writes its result. */
#define OPT_FILES (OPT_BIT(OPT_MATRIX) | OPT_BIT(OPT_CHECK_FINITE) | OPT_BIT(OPT_MATGEN))
#define OPT_RESULT (OPT_BIT(OPT_OUT) | OPT_BIT(OPT_KEEP))

/* What a driver understands that solves systems, and one that multiplies. */
#define OPT_SOLUTION (OPT_BIT(OPT_NRHS) | OPT_BIT(OPT_RHS) | OPT_RESULT)
#define OPT_PRODUCT                                                                                \
    (OPT_BIT(OPT_M) | OPT_BIT(OPT_K) | OPT_BIT(OPT_TRANSA) | OPT_BIT(OPT_TRANSB))

/* What the driver of gemm understands besides. */
#define OPT_GEMM                                                                                   \
    (OPT_BIT(OPT_METHOD) | OPT_BIT(OPT_PRODUCT_GRID) | OPT_BIT(OPT_LOOKAHEAD) | OPT_BIT(OPT_PLAN) | \
     OPT_BIT(OPT_GROUPS) | OPT_BIT(OPT_INNER) | OPT_BIT(OPT_BCAST) | OPT_BIT(OPT_TUNE) | \
     OPT_BIT(OPT_OUT_OF_CORE))

/* What a driver says of itself. */
typedef struct option_scope {
    const char *program; /* "dag_potrf" */
    const char *purpose; /* for --help: what is computed, what the check means */
    uint64_t used;       /* OPT_BIT of the options that mean something to it */
} option_scope;

/* Values of --pivoting. */
typedef enum driver_pivoting {
    DRIVER_PIVOT_PARTIAL,
    DRIVER_PIVOT_TOURNAMENT,
    DRIVER_PIVOT_NONE
} driver_pivoting;

typedef struct options {
    uint64_t given; /* OPT_BIT of the options on the command line */
    int64_t m, n, k, nrhs, runs, seed;
    int64_t nb;  /* 0 = dag_la_tile(), on slabs dag_la_slab() */
    int p, q;    /* 0 = as square as possible */
    int threads; /* 0 = the runtime's default */
    int gpus;    /* -1 = all that are there */
    int check, json, report, overlap, progress, mixed, refine, check_finite, rcond, keep, reproducible;
    driver_pivoting pivoting;
    dag_precision prec;
    dag_layout layout;
    bool by_tiles; /* nb = 0 is dag_la_tile() on slabs, too */
    bool by_adjoint; /* wide matrices are factored by their adjoint */
    dag_uplo uplo;
    dag_side side;
    dag_trans transa, transb;
    dag_diag diag;
    dag_gemm_options product; /* of gemm: method, grid, steps */
    int plan, insert, sweep_share;
    int64_t predict;     /* ranks of a simulated run; 0 = this is none */
    int64_t sample[2];   /* lengths from which it is extrapolated, growing; 0 = it is played whole */
    const char *machine; /* of it; NULL = the one that is built in */
    const char *routine;                    /* NULL when not given */
    const char *split;                      /* as the setting takes it; NULL when not given */
    const char *out_of_core;                /* likewise */
    const char *bcast;                      /* likewise */
    const char *matgen;                     /* a kind of the gallery, or NULL */
    const char *matrix, *rhs, *out, *pivots, *triangle, *trace; /* point into argv */
} options;

/* Takes the value of an option that has one; NULL, or in words what it should have been. */
const char *options_value(options *o, int id, const char *text);

/*
 * Reads the command line into *o, which gets the defaults first. Returns -1 to go on, or the exit
 * status: after --help and --version, or after an error, which is printed to stderr. Under a
 * launcher only the first rank prints.
 */
int options_parse(options *o, const option_scope *scope, int argc, char **argv);

/* The name of an option_id, without its dashes. */
const char *options_name(int id);

/* Whether this is the rank that speaks of what all ranks know, as far as the launcher tells:
 * for use before MPI has started. */
bool options_speaks(void);
/* DRIVER_USAGE. A launcher ends all ranks when the first one fails: those that are silent wait a moment for
 * the one that speaks. */
int options_refused(void);

/* Flushes standard output; false, with a message, when any of it was lost. */
bool options_flush(const char *program);

#endif
