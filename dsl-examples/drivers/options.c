/* The options that all drivers share: one table, one parser. */
#include "options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct option_row {
    const char *name, *value, *meaning; /* value: NULL = takes none */
} option_row;

static const char routines[] = "one of"
#define PRODUCT(name, NAME) " " #name
#include "../routines.def"
                               " (gemm)";

static const option_row table[OPT_COUNT] = {
#define OPTION(id, name, value, meaning) [OPT_##id] = {name, value, meaning},
#include "option_table.h"
};

const char *options_name(int id)
{
    return table[id].name;
}

bool options_speaks(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                        "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *rank = getenv(names[i]);
        if (rank != NULL)
            return strcmp(rank, "0") == 0;
    }
    return true;
}

int options_refused(void)
{
    if (!options_speaks())
        nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
    return DRIVER_USAGE;
}

__attribute__((format(printf, 2, 3)))
static int usage_error(const option_scope *scope, const char *format, ...)
{
    if (options_speaks()) {
        va_list args;
        va_start(args, format);
        fprintf(stderr, "%s: ", scope->program);
        vfprintf(stderr, format, args);
        fprintf(stderr, "\n%s: --help lists the options\n", scope->program);
        va_end(args);
    }
    return options_refused();
}

bool options_flush(const char *program)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    fprintf(stderr, "%s: cannot write to standard output: %s\n", program,
            errno != 0 ? strerror(errno) : "earlier output was lost");
    return false;
}

static void print_help(const option_scope *scope)
{
    printf("usage: %s [option...]\n\n%s\n\noptions\n", scope->program, scope->purpose);
    for (int id = 0; id < OPT_COUNT; id++) {
        char left[64];
        if (!(scope->used & OPT_BIT(id)))
            continue;
        snprintf(left, sizeof(left), "--%s %s", table[id].name,
                 table[id].value != NULL ? table[id].value : "");
        printf("  %-22s %s\n", left, table[id].meaning);
    }
    printf("\nexit status\n"
           "  %d  all went well\n"
           "  %d  an error, or with --check a backward error beyond its bound\n"
           "  %d  the matrix is not positive definite, or singular; info says where; or with\n"
           "     --check no digit of the result is sure\n"
           "  %d  the command line makes no sense\n",
           DRIVER_OK, DRIVER_FAILED, DRIVER_NOT_POSITIVE, DRIVER_USAGE);
}

/* ---- names ------------------------------------------------------------------------------- */

/* Edit distance, for short words; longer ones count as far away. */
static size_t distance(const char *a, const char *b)
{
    enum { MOST = 32 };
    size_t la = strlen(a), lb = strlen(b), row[MOST + 1];
    if (la > MOST || lb > MOST)
        return MOST;
    for (size_t j = 0; j <= lb; j++)
        row[j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[lb];
}

/* The option called `name`, or -1 with an error message. */
static int find(const option_scope *scope, const char *name)
{
    int nearest = -1;
    size_t best = 3;
    for (int id = 0; id < OPT_COUNT; id++) {
        if (strcmp(name, table[id].name) == 0) {
            if (scope->used & OPT_BIT(id))
                return id;
            usage_error(scope, "option --%s means nothing to this program", name);
            return -1;
        }
        size_t d = distance(name, table[id].name);
        if ((scope->used & OPT_BIT(id)) && d < best && d < strlen(name)) {
            best = d;
            nearest = id;
        }
    }
    if (nearest >= 0)
        usage_error(scope, "unknown option --%s; did you mean --%s?", name, table[nearest].name);
    else
        usage_error(scope, "unknown option --%s", name);
    return -1;
}

/* ---- options and their values ---------------------------------------------------------------- */

static int set(options *o, const option_scope *scope, int id, const char *text)
{
    const char *wanted = NULL;
    switch (id) {
    case OPT_CHECK: o->check = 1; break;
    case OPT_JSON: o->json = 1; break;
    case OPT_HELP:
        if (options_speaks())
            print_help(scope);
        return options_flush(scope->program) ? DRIVER_OK : DRIVER_FAILED;
    case OPT_VERSION:
        if (options_speaks())
            printf("%s %s\n", scope->program, dag_version());
        return options_flush(scope->program) ? DRIVER_OK : DRIVER_FAILED;
    case OPT_REPORT: o->report = 1; break;
    case OPT_PROGRESS: o->progress = 1; break;
    case OPT_KEEP: o->keep = 1; break;
    case OPT_REPRODUCIBLE: o->reproducible = 1; break;
    case OPT_MIXED: o->mixed = 1; break;
    case OPT_PLAN: o->plan = 1; break;
    case OPT_TUNE: o->product.tune = 1; break;
    case OPT_INSERT: o->insert = 1; break;
    case OPT_SWEEP_SHARE: o->sweep_share = 1; break;
    case OPT_REFINE: o->refine = 1; break;
    default: wanted = options_value(o, id, text);
    }
    if (wanted != NULL)
        return usage_error(scope, "--%s takes %s, not '%s'", table[id].name, wanted, text);
    return -1;
}

/* Factors of LU and their pivots belong together. */
static int check_pivots(const options *o, const option_scope *scope)
{
    int factors = (scope->used & OPT_BIT(OPT_PIVOTS)) && (scope->used & OPT_BIT(OPT_PIVOTING));
    if (factors && o->out != NULL && o->pivots == NULL && o->pivoting != DRIVER_PIVOT_NONE)
        return usage_error(scope, "--out writes factors, which without their pivots solve nothing: it needs "
                           "--pivots FILE.mtx or --pivoting none");
    if (factors && o->pivots != NULL && o->pivoting == DRIVER_PIVOT_NONE)
        return usage_error(scope, "--pivots has nothing to write with --pivoting none");
    if (!factors && o->pivots != NULL && (o->rhs == NULL || o->transa != DAG_NO_TRANS || o->uplo != DAG_LOWER))
        return usage_error(scope, "--pivots exchanges rows of B before a system with L: it needs --rhs, "
                           "--transa n and --uplo lower");
    return -1;
}

/* What the methods of a product leave to say. */
static int check_product(const options *o, const option_scope *scope)
{
    int fixed = o->product.method == DAG_GEMM_STATIONARY_A || o->product.method == DAG_GEMM_STATIONARY_C;
    if (fixed && (o->given & (OPT_BIT(OPT_PRODUCT_GRID) | OPT_BIT(OPT_LOOKAHEAD))))
        return usage_error(scope, "--method %s: stationary matrices go by --grid: --product-grid and --lookahead are summa's",
                           dag_gemm_method_name(o->product.method));
    if ((o->given & (OPT_BIT(OPT_GROUPS) | OPT_BIT(OPT_INNER))) && o->product.method != DAG_GEMM_AUTO &&
        o->product.method != DAG_GEMM_HSUMMA)
        return usage_error(scope, "--method %s: --groups and --inner are hsumma's",
                           dag_gemm_method_name(o->product.method));
    return -1;
}

/* A simulated run that is extrapolated from two. */
static int check_sample(const options *o, const option_scope *scope)
{
    int inner = (scope->used & OPT_BIT(OPT_K)) != 0;
    int64_t length = inner && (o->given & OPT_BIT(OPT_K)) ? o->k : o->n;
    if (!(o->given & OPT_BIT(OPT_SAMPLE)))
        return -1;
    if (o->sample[1] > length)
        return usage_error(scope, "--sample %" PRId64 ",%" PRId64 ": the whole, %" PRId64 ", is shorter", o->sample[0],
                           o->sample[1], length);
    if (inner && o->product.method == DAG_GEMM_AUTO)
        return usage_error(scope, "--sample needs --method: the one that suits samples need not suit the whole");
    if (!inner && (o->given & OPT_BIT(OPT_M)))
        return usage_error(scope, "--sample and --m do not go together: the order of a square matrix is sampled");
    return -1;
}

/* Options that exclude each other. */
static const struct { int a, b; const char *why; } pairs[] = {
    {OPT_MATRIX, OPT_N, "the order is that of the file"},
    {OPT_MATRIX, OPT_M, "the rows are those of the file"},
    {OPT_MATRIX, OPT_SEED, "the matrix is not random"},
    {OPT_MATRIX, OPT_MATGEN, "there is one matrix"},
    {OPT_PREDICT, OPT_MATGEN, "a simulated run has no elements"},
    {OPT_MIXED, OPT_REFINE, "--mixed refines by itself"},
    {OPT_MIXED, OPT_PIVOTING, "--mixed factors with partial pivoting"},
    {OPT_PREDICT, OPT_CHECK, "a simulated run computes nothing"},
    {OPT_PREDICT, OPT_TRACE, "a simulated run leaves no trace"},
    {OPT_PREDICT, OPT_MATRIX, "a simulated run has no elements"},
    {OPT_PREDICT, OPT_RHS, "a simulated run has no elements"},
    {OPT_PREDICT, OPT_OUT, "a simulated run has no solution"},
    {OPT_PREDICT, OPT_PIVOTS, "a simulated run has no solution"},
    {OPT_PREDICT, OPT_TRIANGLE, "a simulated run has no solution"},
    {OPT_PREDICT, OPT_SPLIT, "a prediction tries tile sizes into which S narrow ones need not fit"},
    {OPT_SAMPLE, OPT_RUNS, "simulated runs are all alike"},
    {OPT_SAMPLE, OPT_SPLIT, "tiles of two sizes are cut for one order"},
    {OPT_SAMPLE, OPT_TUNE, "what suits samples need not suit the whole"},
    {OPT_SAMPLE, OPT_PLAN, "the plans would be those of the samples"},
    {OPT_REPRODUCIBLE, OPT_GPUS, "what runs on a device depends on times"},
    {OPT_REPRODUCIBLE, OPT_SWEEP_SHARE, "what runs on a device depends on times"},
    {OPT_SAMPLE, OPT_SWEEP_SHARE, "shares are those of the runs that are played"},
    {OPT_PLAN, OPT_SWEEP_SHARE, "there is nothing to share in a plan"},
    {OPT_PLAN, OPT_JSON, "the plans are a table for people"},
    {OPT_TUNE, OPT_REPRODUCIBLE, "what is tried depends on times"},
    {OPT_TUNE, OPT_SPLIT, "tiles of two sizes are for products where C stays"},
    {OPT_TUNE, OPT_INSERT, "in the inserted product C stays where it is"},
    {OPT_INSERT, OPT_PREDICT, "a simulated run has no program that inserts"},
    {OPT_PLAN, OPT_SPLIT, "tiles of two sizes are for products where C stays"},
    {OPT_PRODUCT_GRID, OPT_SPLIT, "tiles of two sizes are for products where C stays"},
    {OPT_LOOKAHEAD, OPT_SPLIT, "tiles of two sizes are for products where C stays"},
    {OPT_INSERT, OPT_METHOD, "in the inserted product C stays where it is"},
    {OPT_INSERT, OPT_PRODUCT_GRID, "in the inserted product C stays where it is"},
    {OPT_INSERT, OPT_LOOKAHEAD, "in the inserted product C stays where it is"},
    {OPT_INSERT, OPT_GROUPS, "in the inserted product C stays where it is"},
    {OPT_INSERT, OPT_INNER, "in the inserted product C stays where it is"},
    {OPT_INSERT, OPT_PLAN, "in the inserted product C stays where it is"},
    {OPT_OUT_OF_CORE, OPT_PREDICT, "programs for devices are not simulated"},
    {OPT_OUT_OF_CORE, OPT_SWEEP_SHARE, "programs for devices leave cores nothing to share"},
    {OPT_OUT_OF_CORE, OPT_INSERT, "what is inserted is a graph"},
    {OPT_OUT_OF_CORE, OPT_SPLIT, "tiles of two sizes are those of graphs"},
    {OPT_OUT_OF_CORE, OPT_METHOD, "methods are those of graphs"},
    {OPT_OUT_OF_CORE, OPT_PRODUCT_GRID, "grids are those of graphs"},
    {OPT_OUT_OF_CORE, OPT_LOOKAHEAD, "steps ahead are those of graphs"},
    {OPT_OUT_OF_CORE, OPT_GROUPS, "groups are those of graphs"},
    {OPT_OUT_OF_CORE, OPT_INNER, "groups are those of graphs"},
    {OPT_OUT_OF_CORE, OPT_PLAN, "the plans are those of graphs"},
    {OPT_OUT_OF_CORE, OPT_TUNE, "the plans are those of graphs"},
    {OPT_RHS, OPT_NRHS, "their number is that of the columns in the file"},
};

static int check_together(const options *o, const option_scope *scope)
{
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if ((o->given & OPT_BIT(pairs[i].a)) && (o->given & OPT_BIT(pairs[i].b)))
            return usage_error(scope, "--%s and --%s do not go together: %s",
                               table[pairs[i].a].name, table[pairs[i].b].name, pairs[i].why);
    if (o->mixed && dag_precision_real(o->prec) != DAG_D)
        return usage_error(scope, "--mixed solves in double precision with factors in single "
                           "precision: it needs --prec d or z");
    int refused = check_product(o, scope);
    if (refused < 0)
        refused = check_sample(o, scope);
    return refused >= 0 ? refused : check_pivots(o, scope);
}

int options_parse(options *o, const option_scope *scope, int argc, char **argv)
{
    *o = (options){.n = 1000, .nrhs = 1, .runs = 1, .gpus = -1, .seed = 1, .prec = DAG_D,
                   .check_finite = 1, .rcond = 1,
                   .layout = DAG_LAYOUT_TILE, .uplo = DAG_LOWER, .side = DAG_LEFT,
                   .transa = DAG_NO_TRANS, .transb = DAG_NO_TRANS, .diag = DAG_NON_UNIT};
    for (int i = 1; i < argc; i++) {
        char name[32];
        if (strcmp(argv[i], "-h") == 0)
            return set(o, scope, OPT_HELP, NULL);
        if (strncmp(argv[i], "--", 2) != 0)
            return usage_error(scope, "unexpected argument '%s'; options begin with --", argv[i]);
        size_t length = strcspn(argv[i] + 2, "=");
        if (length >= sizeof(name))
            return usage_error(scope, "unknown option %s", argv[i]);
        memcpy(name, argv[i] + 2, length);
        name[length] = '\0';
        int id = find(scope, name);
        if (id < 0)
            return options_refused();
        const char *value = argv[i][2 + length] == '=' ? argv[i] + 3 + length : NULL;
        if (table[id].value == NULL && value != NULL)
            return usage_error(scope, "--%s takes no value", name);
        if (table[id].value != NULL && value == NULL) {
            if (i + 1 == argc)
                return usage_error(scope, "--%s needs a value: %s", name, table[id].value);
            value = argv[++i];
        }
        o->given |= OPT_BIT(id);
        int end = set(o, scope, id, value);
        if (end >= 0)
            return end;
    }
    return check_together(o, scope);
}
