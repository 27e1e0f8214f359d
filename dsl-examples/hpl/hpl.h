/* dag_hpl: High-Performance Linpack on the library. README.md says which file does what. */
#ifndef HPL_HPL_H
#define HPL_HPL_H

#include "../drivers/driver.h"

#include <dag/progress.h>

#include <stdio.h>
#include <time.h>

/* Values of a line, as many as HPL takes. */
enum { HPL_MOST = 20 };

typedef struct hpl_list {
    int64_t count;
    int64_t value[HPL_MOST];
} hpl_list;

/* A depth of look-ahead that is left to the factorisation. */
#define HPL_AUTO INT64_C(-1)

/* What HPL.dat says, or the options in its place. */
typedef struct hpl_input {
    hpl_list n, nb, p, q, pfact, nbmin, ndiv, rfact, bcast, depth;
    int64_t pmap, swap, swap_from, l1, u, equil, align; /* pmap: 1 = ranks go down the columns */
    double threshold; /* of the scaled residual; negative: none is computed */
    int64_t device;   /* 6 standard output, 7 standard error, else the file `out` */
    char out[256];
} hpl_input;

/* One of the combinations. */
typedef struct hpl_case {
    int64_t n, nb, depth, bcast, rfact, ndiv, pfact, nbmin;
    int p, q;
} hpl_case;

typedef enum hpl_verdict { HPL_PASSED, HPL_FAILED, HPL_UNCHECKED, HPL_SKIPPED, HPL_VERDICTS } hpl_verdict;

/* Seconds that the workers of this rank have spent in parts of the solution so far. */
typedef struct hpl_parts {
    double panel, search, update, rows;
} hpl_parts;

/* What ranks send each other: panels along the rows of the grid, rows that are exchanged and candidates for
 * pivots along its columns, and what the back substitution needs; and behind them all of it. */
enum { HPL_PANEL, HPL_ROWS, HPL_BACK, HPL_PHASES, HPL_TOGETHER = HPL_PHASES };

typedef struct hpl_result {
    hpl_verdict verdict;
    bool simulated;
    int step; /* of a sweep over shares of cores, as drivers/share.h counts; negative: this is none */
    time_t start, end;             /* of the timed part */
    double seconds, back, gflops;  /* back: of these, the substitution */
    double fill, check;            /* seconds beside the timed part */
    hpl_parts most;                /* of the timed part; 0 unless hpl_manner.hosts */
    dag_overlap sent[HPL_PHASES + 1]; /* mean of the ranks; negative: nobody knows */
    double scaled, residual;       /* ||Ax-b||_oo / (eps (||A||_oo ||x||_oo + ||b||_oo) N), ||Ax-b||_oo */
    double a_inf, a_one, x_inf, x_one, b_inf;
} hpl_result;

/* On rank 0, from the begin to the end of a factorisation: a line every `every` seconds (0 = none), and the end of
 * the job when the rate is lower than `least` Gflop/s (0 = it may be). Both need the setting `progress`. */
typedef struct hpl_watch {
    double every, least;
} hpl_watch;

/* How the tests are run, whatever they are. */
typedef struct hpl_manner {
    hpl_watch watch;
    int64_t flip; /* > 0: U(flip, flip) loses a bit after the factorisation */
    bool hosts;   /* each rank's times are listed after a test, and what it sent is looked at */
} hpl_manner;

/* ---- input.c ------------------------------------------------------------------------------------- */

/* What stands in HPL's example, one case of order `n` and with look-ahead left to us. */
void hpl_defaults(hpl_input *in);
/* Reads the file; false with a sentence in `why`: file, line, what the line means, what is wrong. */
bool hpl_read(hpl_input *in, const char *path, char *why, size_t size);
/* Whole numbers with commas between them; false: there are none, or too many, or one out of range. */
bool hpl_numbers(hpl_list *list, const char *text, int64_t least, int64_t most);
/* Case number `at` in HPL's order, the grid turning slowest; false: there is none. */
bool hpl_nth(const hpl_input *in, int64_t at, hpl_case *c);
/* Ranks that the largest grid needs. */
int64_t hpl_ranks(const hpl_input *in);

/* ---- output.c ------------------------------------------------------------------------------------ */

/* HPL's text, on rank 0. */
void hpl_head(FILE *out, const hpl_input *in);
void hpl_row(FILE *out, const hpl_input *in, const hpl_case *c, const hpl_result *r, bool detail);
void hpl_end(FILE *out, const hpl_input *in, const int64_t count[HPL_VERDICTS]);
/* An object of JSON and the end of its line. */
void hpl_json(FILE *out, const hpl_input *in, const hpl_case *c, const hpl_result *r, int ranks,
              bool detail);
/* On stderr: values that are accepted and change nothing, a line for each kind. */
void hpl_notes(const hpl_input *in);

/* ---- matrix.c ------------------------------------------------------------------------------------ */

/* Elements (i0, j0) to (i0+m-1, j0+n-1) of HPL's matrix of `rows` rows. */
void hpl_fill_tile(double *tile, int64_t ld, int64_t m, int64_t n, int64_t rows, int64_t i0, int64_t j0);
/* Fills A with the columns from `first` on, in parallel; collective. */
dag_status hpl_fill(dag_context *ctx, dag_matrix *A, int64_t first);

/* ---- solve.c ------------------------------------------------------------------------------------- */

/* One case. An error has been said; one that is due to the case alone is HPL_SKIPPED. */
dag_status hpl_solve(dag_context *ctx, const hpl_input *in, const hpl_case *c, const hpl_manner *how,
                     hpl_result *r);

/* ---- watch.c ------------------------------------------------------------------------------------- */

void hpl_watch_begin(dag_context *ctx, const hpl_watch *how, const hpl_case *c);
void hpl_watch_end(void);

/* Operations of a test, as HPL counts them. */
double hpl_operations(double n);

/* ---- hosts.c ------------------------------------------------------------------------------------- */

/* The host of each rank as HPL_HOST numbers, and behind them its own: a row of *rows, which the caller frees,
 * on all ranks. Collective. */
enum { HPL_HOST = 48 };
dag_status hpl_gather(dag_context *ctx, const double *mine, int count, double **rows);
const char *hpl_host(const double *row, char host[HPL_HOST + 1]);

void hpl_parts_so_far(const dag_context *ctx, hpl_parts *parts);
/* With `list`, what came since `before`: the largest of all ranks in *most, and a line for each rank on
 * standard error. Collective. */
dag_status hpl_parts_since(dag_context *ctx, const hpl_case *c, const hpl_parts *before, bool list,
                           hpl_parts *most);

/* ---- overlap.c ----------------------------------------------------------------------------------- */

/* After the test the context ends by hpl_overlap(), and so does the recording of what ranks sent. */
void hpl_overlap_begin(dag_context *ctx, const hpl_case *c);
dag_status hpl_overlap(hpl_result *r);

/* ---- model.c ------------------------------------------------------------------------------------- */

/* What ranks can do. */
typedef struct hpl_costs {
    int ranks, workers;   /* workers of a rank */
    double flops;         /* of a rank in a second */
    double latency, rate; /* of messages: seconds, bytes per second */
} hpl_costs;

/* A grid and a depth, and what they are predicted to take. */
typedef struct hpl_choice {
    int p, q;
    int64_t depth;
    double seconds;
} hpl_choice;

/* Asks what ranks can do in a test of that order; messages, as rank 0 knows them (dag_network_get()). Collective. */
dag_status hpl_costs_ask(dag_context *ctx, int64_t n, int64_t nb);
/* The answer; NULL: nobody has asked, or nothing is known of messages. */
const hpl_costs *hpl_costs_known(void);

double hpl_predict(const hpl_costs *costs, int64_t n, int64_t nb, int p, int q, int64_t depth);

/* The best of all grids of all ranks, or of p x q where they are not 0. */
hpl_choice hpl_choose(const hpl_costs *costs, int64_t n, int64_t nb, int p, int q);

/* ---- plan.c, screen.c ---------------------------------------------------------------------------- */

/* Prints what to run on these ranks when that part of their memory may be taken. Collective. */
dag_status hpl_plan(dag_context *ctx, double fraction);
/* Measures every rank, and names those that are slow. Collective. */
dag_status hpl_screen(dag_context *ctx);

/* ---- place.c ------------------------------------------------------------------------------------- */

/* Before the first context, with the options that it will have. */
dag_status hpl_begin(const options *o, const hpl_input *in);
/* A context in which rank p q' + q is at (p, q') of the grid that is asked for; it may be that of the
 * grid before. What is wrong has been said. */
dag_status hpl_context(int p, int q, dag_context **ctx);
/* Ends it, so that the next test has another one. */
dag_status hpl_leave(void);
/* The rank of the job that is that rank of the context. */
int hpl_rank_of_job(int rank);
/* After the last one. */
dag_status hpl_finish(void);

#endif
