/* dag_hpl: the command line, and the tests one after the other. */
#include "hpl.h"

#include "../drivers/share.h"

#include <dag/kernels.h>

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct settings {
    hpl_input in;
    options driver; /* threads, devices, report */
    const char *file, *json;
    hpl_manner how;
    double memory; /* part of it for --plan */
    bool plan, screen;
    bool given; /* an option that stands in place of the file */
    bool detail, sweep;
} settings;

/* ---- the tests ----------------------------------------------------------------------------------- */

/* The files of rank 0. */
typedef struct outputs {
    FILE *text, *json;
} outputs;

static FILE *open_file(dag_context *ctx, const char *name, dag_status *status)
{
    FILE *file = fopen(name, "w");
    if (file == NULL)
        *status = dag_error(ctx, DAG_ERR_IO, "%s: %s", name, strerror(errno));
    return file;
}

static dag_status open_outputs(dag_context *ctx, const settings *s, outputs *out)
{
    dag_status status = DAG_SUCCESS;
    if (dag_rank(ctx) == 0) {
        out->text = s->in.device == 6   ? stdout
                    : s->in.device == 7 ? stderr
                                        : open_file(ctx, s->in.out, &status);
        if (status == DAG_SUCCESS && s->json != NULL)
            out->json = open_file(ctx, s->json, &status);
    }
    return driver_agreed(ctx, status);
}

/* What did not arrive is said; false then. */
static bool close_file(FILE *file)
{
    if (file == NULL)
        return true;
    bool lost = fflush(file) != 0 || ferror(file) != 0;
    if (file != stdout && file != stderr)
        lost |= fclose(file) != 0;
    if (lost)
        fprintf(stderr, "dag_hpl: a part of the output is lost: %s\n", strerror(errno));
    return !lost;
}

/* Ranks have read one file each; are they the same? */
static dag_status compare_inputs(dag_context *ctx, const hpl_input *in)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < sizeof(*in); i++)
        hash = (hash ^ ((const unsigned char *)in)[i]) * UINT64_C(1099511628211);
    double mine = (double)(hash >> 12), both[2] = {mine, -mine};
    dag_status status = driver_collective(ctx, dag_least(ctx, both, 2));
    if (status == DAG_SUCCESS && both[0] != -both[1])
        status = driver_collective(ctx, dag_error(ctx, DAG_ERR_ARG, "ranks have read different input"));
    return status;
}

/* Where it is known what messages take. */
static void grid_by_network(const dag_context *ctx, int64_t n, int64_t nb, dag_grid_choice *grid)
{
    const hpl_costs *costs = hpl_costs_known();
    hpl_choice choice = hpl_choose(costs, n, nb, 0, 0);
    *grid = (dag_grid_choice){.p = choice.p, .q = choice.q};
    if (dag_rank(ctx) == 0)
        fprintf(stderr, "dag_hpl: grid %dx%d for N %" PRId64 ": the least by the model of panels, with messages of %.3g "
                "us and %.3g GB/s, ranks of %.3g Gflop/s: %.4g s, with DEPTH %" PRId64 "\n", choice.p, choice.q, n,
                1e6 * costs->latency, 1e-9 * costs->rate, 1e-9 * costs->flops, choice.seconds, choice.depth);
}

/* What was left open: the tile size and the grid. */
static dag_status complete(dag_context *ctx, hpl_input *in)
{
    int64_t n = 0;
    for (int i = 0; i < in->n.count; i++)
        n = in->n.value[i] > n ? in->n.value[i] : n;
    dag_status status = DAG_SUCCESS;
    if (in->nb.value[0] == 0) {
        dag_tile_choice choice = {.nb = 1};
        status = driver_collective(ctx, dag_la_slab(ctx, DAG_D, n, n, &choice));
        in->nb = (hpl_list){1, {choice.nb}};
    }
    bool depths = in->depth.count == 1 && in->depth.value[0] == HPL_AUTO;
    if (status == DAG_SUCCESS && dag_size(ctx) > 1 && n > 0 && (depths || in->p.value[0] == 0))
        status = hpl_costs_ask(ctx, n, in->nb.value[0]);
    if (status == DAG_SUCCESS && in->p.value[0] == 0) {
        dag_grid_choice grid = {.p = 1, .q = 1};
        if (hpl_costs_known() != NULL && n > 0)
            grid_by_network(ctx, n, in->nb.value[0], &grid);
        else if (dag_size(ctx) > 1)
            status = driver_collective(ctx, dag_la_grid(ctx, "getrf", n, n, in->nb.value[0], &grid));
        in->p = (hpl_list){1, {grid.p}};
        in->q = (hpl_list){1, {grid.q}};
    }
    return status;
}

static bool ranks_suffice(const dag_context *ctx, const hpl_input *in)
{
    int64_t needed = hpl_ranks(in);
    if (needed <= dag_size(ctx))
        return true;
    if (dag_rank(ctx) == 0)
        fprintf(stderr, "dag_hpl: the largest grid needs %" PRId64 " ranks, but the job has %d; start it with "
                "as many (mpirun -np %" PRId64 ")\n", needed, dag_size(ctx), needed);
    return false;
}

/* With the share of cores that stands there in a sweep; negative: there is none. */
static dag_status run_case(const settings *s, const hpl_case *c, int step, const outputs *out,
                           int64_t count[HPL_VERDICTS])
{
    hpl_result r;
    dag_context *ctx;
    int ranks = 0;
    bool simulated = false;
    dag_status status = s->detail ? hpl_leave() : DAG_SUCCESS;
    if (status == DAG_SUCCESS)
        status = hpl_context(c->p, c->q, &ctx);
    if (status == DAG_SUCCESS) {
        hpl_overlap_begin(ctx, c);
        ranks = dag_size(ctx);
        simulated = dag_simulated(ctx); /* with --detail the context ends before its result is printed */
        status = step >= 0 ? share_set(ctx, step) : DAG_SUCCESS;
    }
    if (status == DAG_SUCCESS)
        status = hpl_solve(ctx, &s->in, c, &s->how, &r);
    if (status == DAG_SUCCESS)
        share_keep(ctx);
    if (status == DAG_SUCCESS && s->detail)
        status = hpl_overlap(&r);
    if (status != DAG_SUCCESS)
        return status;
    count[r.verdict]++;
    r.simulated = simulated;
    r.step = step;
    if (step >= 0 && step < SHARE_AUTO && r.verdict != HPL_SKIPPED)
        share_took(step, r.seconds, hpl_operations((double)c->n));
    if (out->text != NULL)
        hpl_row(out->text, &s->in, c, &r, s->detail);
    if (out->json != NULL)
        hpl_json(out->json, &s->in, c, &r, ranks, s->detail);
    return DAG_SUCCESS;
}

/* A combination of the lists, as one test, or one for each share of a sweep. */
static dag_status run_shares(const settings *s, const hpl_case *c, const outputs *out, int64_t count[HPL_VERDICTS])
{
    dag_status status = DAG_SUCCESS;
    share_begin();
    for (int step = s->sweep ? 0 : -1; status == DAG_SUCCESS && step <= (s->sweep ? SHARE_AUTO : -1); step++)
        status = run_case(s, c, step, out, count);
    return status;
}

/* All of them; the exit status. */
static int run_tests(dag_context *ctx, const settings *s)
{
    outputs out = {0};
    int64_t count[HPL_VERDICTS] = {0};
    hpl_case c;
    dag_status status = open_outputs(ctx, s, &out);
    if (status == DAG_SUCCESS && out.text != NULL) {
        hpl_notes(&s->in);
        hpl_head(out.text, &s->in);
    }
    for (int64_t i = 0; status == DAG_SUCCESS && hpl_nth(&s->in, i, &c); i++)
        status = run_shares(s, &c, &out, count);
    if (status == DAG_SUCCESS && out.text != NULL)
        hpl_end(out.text, &s->in, count);
    bool text = close_file(out.text), json = close_file(out.json);
    return status == DAG_SUCCESS && text && json && count[HPL_FAILED] == 0 && count[HPL_SKIPPED] == 0
               ? DRIVER_OK : DRIVER_FAILED;
}

static int work(settings *s)
{
    dag_context *ctx;
    const char *how;
    int end = DRIVER_FAILED;
    bool one_thread = dag_kernels_init(&how);
    if (hpl_begin(&s->driver, &s->in) != DAG_SUCCESS || hpl_context(1, 1, &ctx) != DAG_SUCCESS)
        return end;
    if (dag_rank(ctx) == 0 && !one_thread)
        fprintf(stderr, "dag_hpl: warning: %s\n", how);
    dag_status screened = s->screen ? hpl_screen(ctx) : DAG_SUCCESS;
    if (!ranks_suffice(ctx, &s->in))
        end = DRIVER_USAGE;
    else if (s->plan)
        end = screened == DAG_SUCCESS && hpl_plan(ctx, s->memory) == DAG_SUCCESS && options_flush("dag_hpl")
                  ? DRIVER_OK : DRIVER_FAILED;
    else if (screened == DAG_SUCCESS && compare_inputs(ctx, &s->in) == DAG_SUCCESS &&
             complete(ctx, &s->in) == DAG_SUCCESS)
        end = run_tests(ctx, s);
    return hpl_finish() == DAG_SUCCESS || end != DRIVER_OK ? end : DRIVER_FAILED;
}

/* ---- command line -------------------------------------------------------------------------------- */

static const char help[] =
    "usage: dag_hpl [option...] [HPL.dat]\n\n"
    "High-Performance Linpack by the rules of HPL: its random system [A b], LU factorisation with partial\n"
    "pivoting in 64 bits and back substitution, timed; its count of operations, its residual, its output.\n"
    "Reads HPL.dat, each combination of whose lists is a test, or takes the tests from options.\n\n"
    "  --n LIST            orders, with commas between them (1000)\n"
    "  --nb LIST           block sizes; 0: what suits the largest order (0)\n"
    "  --grid LIST         process grids PxQ; without it one that suits the ranks\n"
    "  --depth LIST        depths of look-ahead; without it the factorisation chooses\n"
    "  --pmap row|column   how ranks are numbered in the grid (row)\n"
    "  --threshold T       of the scaled residual; negative: nothing is checked (16)\n"
    "  --pivoting partial  what the rules ask for; --pivoting tournament and --mixed are refused\n"
    "  --threads T         worker threads of each rank\n"
    "  --gpus G            devices of each rank\n"
    "  --plan              print an input file for these ranks, and why; run nothing\n"
    "  --memory F          the part of the memory that N of --plan may take (0.8)\n"
    "  --screen            first measure dgemm, memory and links of every rank, and name slow ones\n"
    "  --sweep-share       each test with every fixed core_share in steps of .05, then with auto\n"
    "  --detail            where the time went, and each rank's part of it\n"
    "  --progress S        seconds between lines that say how far a test is, 0: none (60)\n"
    "  --abort-below G     end the job when a test runs at less than G Gflop/s; looked at with each line\n"
    "  --json FILE         an object for each test besides\n"
    "  --report            the runtime's report at the end\n"
    "  --flip-bit K        for tests: U(K,K) loses a bit when the factors are there\n"
    "  --help, --version\n\n"
    "exit status: 0 all tests passed; 1 a test failed or was skipped, or an error; 3 the command line or\n"
    "HPL.dat makes no sense\n";

/* DRIVER_USAGE, after a complaint by the rank that speaks. */
__attribute__((format(printf, 1, 2))) static int refuse(const char *format, ...)
{
    va_list more;
    if (options_speaks()) {
        fputs("dag_hpl: ", stderr);
        va_start(more, format);
        (void)vfprintf(stderr, format, more);
        va_end(more);
        fputs("\n", stderr);
    }
    return options_refused();
}

static bool parse_grids(hpl_input *in, const char *text)
{
    in->p.count = in->q.count = 0;
    for (;; text++) {
        char *x, *end;
        long p = strtol(text, &x, 10), q = *x == 'x' ? strtol(x + 1, &end, 10) : 0;
        if (p < 1 || q < 1 || p > 1 << 15 || q > 1 << 15 || in->p.count == HPL_MOST)
            return false;
        in->p.value[in->p.count++] = p;
        in->q.value[in->q.count++] = q;
        text = end;
        if (*text != ',')
            return *text == '\0';
    }
}

static bool parse_real(const char *text, double *to)
{
    char *end;
    *to = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*to);
}

static bool parse_one(const char *text, int64_t least, int64_t most, int64_t *to)
{
    hpl_list list;
    bool good = hpl_numbers(&list, text, least, most) && list.count == 1;
    if (good)
        *to = list.value[0];
    return good;
}

enum { N = 1, NB, GRID, DEPTH, PMAP, THRESHOLD, PIVOTING, MIXED, THREADS, GPUS, DETAIL, JSON, REPORT, FLIP,
       PROGRESS, ABORT, PLAN, MEMORY, SCREEN, SWEEP, HELP, VERSION };
static const struct option known[] = {
    {"n", 1, NULL, N},             {"nb", 1, NULL, NB},         {"grid", 1, NULL, GRID},
    {"depth", 1, NULL, DEPTH},     {"pmap", 1, NULL, PMAP},     {"threshold", 1, NULL, THRESHOLD},
    {"pivoting", 1, NULL, PIVOTING}, {"mixed", 0, NULL, MIXED}, {"threads", 1, NULL, THREADS},
    {"gpus", 1, NULL, GPUS},       {"detail", 0, NULL, DETAIL}, {"json", 1, NULL, JSON},
    {"report", 0, NULL, REPORT},   {"flip-bit", 1, NULL, FLIP}, {"help", 0, NULL, HELP},
    {"progress", 1, NULL, PROGRESS}, {"abort-below", 1, NULL, ABORT},
    {"plan", 0, NULL, PLAN},       {"memory", 1, NULL, MEMORY}, {"screen", 0, NULL, SCREEN},
    {"sweep-share", 0, NULL, SWEEP}, {"version", 0, NULL, VERSION}, {NULL, 0, NULL, 0}};

/* Options in place of the file; what it should have been, or NULL. */
static const char *set_test(settings *s, int c, const char *text)
{
    hpl_input *in = &s->in;
    s->given = true;
    switch (c) {
    case N: return hpl_numbers(&in->n, text, 0, INT32_MAX) ? NULL : "orders, such as 1000,2000";
    case NB:
        return hpl_numbers(&in->nb, text, in->nb.count > 0 && strcmp(text, "0") == 0 ? 0 : 1, 1 << 20)
                   ? NULL : "block sizes, such as 128,192, or 0";
    case GRID: return parse_grids(in, text) ? NULL : "grids, such as 1x4,2x2";
    case DEPTH: return hpl_numbers(&in->depth, text, 0, 1 << 20) ? NULL : "depths, such as 0,1";
    case PMAP:
        in->pmap = strcmp(text, "column") == 0;
        return in->pmap || strcmp(text, "row") == 0 ? NULL : "row or column";
    default: return parse_real(text, &in->threshold) ? NULL : "a number";
    }
}

static const char *set_other(settings *s, int c, const char *text)
{
    int64_t number = 0;
    switch (c) {
    case THREADS:
        if (!parse_one(text, 1, 1024, &number))
            return "a number from 1 to 1024";
        s->driver.threads = (int)number;
        return NULL;
    case GPUS:
        if (!parse_one(text, 0, 16, &number))
            return "a number from 0 to 16";
        s->driver.gpus = (int)number;
        return NULL;
    case FLIP: return parse_one(text, 1, INT32_MAX, &s->how.flip) ? NULL : "a number >= 1";
    case PROGRESS: return parse_real(text, &s->how.watch.every) && s->how.watch.every >= 0
                              ? NULL : "seconds, or 0 for no lines";
    case PLAN: s->plan = true; return NULL;
    case SCREEN: s->screen = true; return NULL;
    case SWEEP: s->sweep = true; return NULL;
    case MEMORY: return parse_real(text, &s->memory) && s->memory > 0 && s->memory <= 1
                            ? NULL : "a part of the memory, such as 0.8";
    case ABORT: return parse_real(text, &s->how.watch.least) && s->how.watch.least > 0 ? NULL : "Gflop/s";
    case JSON: s->json = text; return text[0] != '\0' ? NULL : "the name of a file";
    case DETAIL:
        s->detail = s->how.hosts = true;
        s->driver.overlap = 1;
        return NULL;
    default: s->driver.report = 1; return NULL;
    }
}

/* -1 to go on, or the exit status. */
static int parse(settings *s, int argc, char **argv)
{
    opterr = options_speaks();
    for (int c, at = 0; (c = getopt_long(argc, argv, "h", known, &at)) != -1;) {
        const char *wanted = NULL;
        if (c == '?')
            return refuse("--help lists the options");
        if (c == HELP || c == 'h' || c == VERSION) {
            if (options_speaks() && c == VERSION)
                printf("dag_hpl %s\n", dag_version());
            else if (options_speaks())
                fputs(help, stdout);
            return options_flush("dag_hpl") ? DRIVER_OK : DRIVER_FAILED;
        }
        if (c == MIXED || (c == PIVOTING && strcmp(optarg, "partial") != 0))
            return refuse("--%s%s%s: the rules of HPL ask for LU with partial pivoting in 64 bits; dag_gesv has "
                          "other ways", known[at].name, c == MIXED ? "" : " ", c == MIXED ? "" : optarg);
        if (c <= THRESHOLD)
            wanted = set_test(s, c, optarg);
        else if (c != PIVOTING)
            wanted = set_other(s, c, optarg);
        if (wanted != NULL)
            return refuse("--%s takes %s, not '%s'", known[at].name, wanted, optarg);
    }
    if (optind + 1 < argc)
        return refuse("unexpected argument '%s'; --help lists the options", argv[optind + 1]);
    s->file = optind < argc ? argv[optind] : s->given || s->plan ? NULL : "HPL.dat";
    if (s->plan && (s->file != NULL || s->given))
        return refuse("--plan says what to run: it goes with neither a file nor options in its place");
    if (s->file != NULL && s->given)
        return refuse("%s and options that stand in its place do not go together", s->file);
    return -1;
}

int main(int argc, char **argv)
{
    settings s = {.driver = {.gpus = -1, .prec = DAG_D}, .how = {.watch = {.every = 60}}, .memory = 0.8};
    char why[512];
    driver_named("dag_hpl", argv);
    hpl_defaults(&s.in);
    int end = parse(&s, argc, argv);
    if (end >= 0)
        return end;
    if (s.file != NULL && !hpl_read(&s.in, s.file, why, sizeof(why)))
        return refuse("%s%s", why, optind < argc ? "" : "; --n N stands in place of the file, --help lists all");
    if (s.how.watch.least > 0 && s.how.watch.every == 0)
        return refuse("--abort-below looks when a line of --progress is due, and there are none");
    s.driver.progress = s.detail || s.how.watch.every > 0;
    return work(&s);
}
