/* Products of matrices: checks the arguments, picks the graph and the grid. */
#include "la/cut.h"
#include "la/direct.h"
#include "la/numbers.h"
#include "la/tile.h"
#include "gemm_impl.h"
#include "outcore/gemm.h"
#include "plan.h"

#include <dag/inserted.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is taken for a network and a core of which nothing is known. */
#define USUAL_LATENCY 3e-6
#define USUAL_RATE 1e9
#define USUAL_FLOPS 1e10

static void check_gemm(dagi_check *c, dagi_entry entry, const struct gemm *g)
{
    dagi_check_start(c, g->ctx, entry.name);
    dagi_check_trans(c, "transa", g->transa);
    dagi_check_trans(c, "transb", g->transb);
    dagi_check_typed(c, "A", entry.prec, g->A);
    dagi_check_matrix(c, "B", g->B);
    dagi_check_matrix(c, "C", g->C);
    dagi_check_same_type(c, "A", g->A, "B", g->B);
    dagi_check_same_type(c, "A", g->A, "C", g->C);
    dagi_check_general(c, "A", g->A);
    dagi_check_general(c, "B", g->B);
    dagi_check_general(c, "C", g->C);
    dagi_check_scalar(c, "alpha", g->alpha, g->C);
    dagi_check_scalar(c, "beta", g->beta, g->C);
    dagi_check_distinct(c, "C", g->C, "A", g->A);
    dagi_check_distinct(c, "C", g->C, "B", g->B);
    if (c->status != DAG_SUCCESS)
        return;
    struct op a = op_of(g->transa, g->A), b = op_of(g->transb, g->B);
    dagi_check_cut(c, "the rows of C", g->C->m, g->C->mb, "those of op(A)", a.m, a.mb);
    dagi_check_cut(c, "the columns of C", g->C->n, g->C->nb, "those of op(B)", b.n, b.nb);
    dagi_check_cut(c, "the columns of op(A)", a.n, a.nb, "the rows of op(B)", b.m, b.mb);
    if (c->status == DAG_SUCCESS && !g->whole) {
        const dagi_cut_of of = dagi_gemm_cut_of(g);
        dagi_check_tiles_cut(c, &of, 0, g->C);
    }
}

enum { PLANS = 256 }; /* that are looked at */
enum { USUAL_WORKERS = 4 }; /* of a rank, where sums may not depend on them */

/* Workers of a rank, as far as a plan may depend on them. */
static int workers_of(const struct gemm *g)
{
    return dag_reproducible(g->ctx) ? USUAL_WORKERS : dag_workers(g->ctx);
}

/* How many partial sums each tile of C has where A stays in place. */
static int64_t sums_in_a(const struct gemm *g, int64_t kt)
{
    const dag_matrix *A = g->A, *C = g->C;
    int64_t across = op_of(g->transa, A).turned ? A->p : A->q, tiles = C->mt * C->nt;
    int64_t workers = (int64_t)workers_of(g) * A->p * A->q;
    int64_t parts = across * dagi_ceil_div(workers, across * tiles);
    return parts < kt ? parts : kt;
}

/*
 * The same, or 0 where C had better stay.
 *
 * C in place sends A along the process rows and B along the process columns; A in place sends B
 * along its columns and partial sums of C along its rows. What is sent less decides, in elements;
 * with C in place there must also be tiles enough for all workers.
 */
static int64_t partial_sums(const struct gemm *g, int64_t kt)
{
    const dag_matrix *A = g->A, *C = g->C;
    struct op a = op_of(g->transa, A);
    double m = (double)C->m, n = (double)C->n, k = (double)a.n;
    int64_t down = a.turned ? A->q : A->p, across = a.turned ? A->p : A->q;
    double with_c =
        m * k * (double)(C->q > 1 ? C->q - 1 : A->p * A->q > 1) + k * n * (double)(C->p - 1);
    double with_a = k * n * (double)down + m * n * (double)across;
    int64_t workers = (int64_t)workers_of(g) * A->p * A->q;
    if (!(A->p * A->q > 1 && with_a < with_c) &&
        !(C->mt * C->nt < workers && kt >= 2 * across))
        return 0;
    return sums_in_a(g, kt);
}

static dag_taskpool *gemm_pool(void *call)
{
    const struct gemm *g = call;
    if (dagi_gemm_only_scales(g))
        return dagi_scale_pool(g->ctx, DAG_GENERAL, 0, g->beta, g->C);
    dag_split_desc cut;
    int64_t parts = dagi_gemm_cut(g, &cut) ? 0 : partial_sums(g, op_of(g->transa, g->A).nt);
    return parts > 0 ? dagi_gemm_in_a(g, parts) : dagi_gemm_in_c(g);
}

dag_taskpool *dag_gemm_new(dag_context *ctx, dag_trans transa, dag_trans transb, dag_dcomplex alpha,
                           dag_matrix *A, dag_matrix *B, dag_dcomplex beta, dag_matrix *C)
{
    struct gemm g = {ctx, transa, transb, alpha, beta, A, B, C, 0};
    dagi_check c;
    check_gemm(&c, (dagi_entry){"dag_gemm_new", DAGI_ANY}, &g);
    return if_good(&c, gemm_pool, &g);
}

dag_status dag_gemm_inserted(dag_context *ctx, dag_trans transa, dag_trans transb,
                             dag_dcomplex alpha, dag_matrix *A, dag_matrix *B, dag_dcomplex beta,
                             dag_matrix *C)
{
    struct gemm g = {ctx, transa, transb, alpha, beta, A, B, C, 0};
    dagi_check c;
    check_gemm(&c, (dagi_entry){"dag_gemm_inserted", DAGI_ANY}, &g);
    if (!dagi_check_agreed(&c))
        return c.status;
    if (dagi_gemm_only_scales(&g))
        return dag_run(ctx, gemm_pool(&g));
    return dagi_gemm_inserted(&g, op_of(transa, A).nt);
}

/* ---- on a grid of its own ---------------------------------------------------------------- */

static product_owner owner_of(const dag_matrix *X, int turned)
{
    return turned ? (product_owner){X->q, X->p, 1} : (product_owner){X->p, X->q, 0};
}

/* Operations of a worker in a second: as the simulated machine or measured kernels have it, or as is usual. */
static double flops_of(const struct gemm *g, int64_t kb)
{
    dag_precision prec = g->C->prec;
    const dag_matrix *C = g->C;
    double work = 2.0 * (double)C->mb * (double)C->nb * (double)kb * (dag_precision_is_complex(prec) ? 4 : 1);
    double seconds = dag_reproducible(g->ctx) ? 0 : dag_simulated_gemm(g->ctx, dag_precision_letter(prec), C->mb, C->nb, kb);
    if (seconds <= 0 && !dag_reproducible(g->ctx) && !dag_simulated(g->ctx))
        seconds = work * dagi_tile_pace(prec, cbrt((double)C->mb * (double)C->nb * (double)kb));
    return seconds > 0 ? work / seconds : USUAL_FLOPS * (dag_precision_real(prec) == DAG_S ? 2 : 1);
}

static product_case case_of(const struct gemm *g, const dag_gemm_options *o)
{
    struct op a = op_of(g->transa, g->A);
    dag_precision prec = g->C->prec;
    dag_network net = {.latency = USUAL_LATENCY, .rate = USUAL_RATE, .apart = 1};
    bool known = !dag_reproducible(g->ctx) && dag_network_get(g->ctx, &net);
    double flops = o->flops > 0 ? o->flops : flops_of(g, a.nb);
    product_case c = {
        .m = g->C->m, .n = g->C->n, .k = a.n, .mb = g->C->mb, .nb = g->C->nb, .kb = a.nb,
        .mt = g->C->mt, .nt = g->C->nt, .kt = a.nt,
        .a = owner_of(g->A, a.turned), .b = owner_of(g->B, g->transb != DAG_NO_TRANS),
        .c = owner_of(g->C, 0), .ranks = dag_size(g->ctx),
        .workers = workers_of(g),
        .elem = (int)dag_precision_size(prec), .complex = dag_precision_is_complex(prec),
        .parts = dagi_gemm_only_scales(g) ? 0 : sums_in_a(g, a.nt),
        .a_stays = !dagi_gemm_only_scales(g) && partial_sums(g, a.nt) > 0,
        .latency = o->latency > 0 ? o->latency : net.apart ? net.latency : net.near_latency,
        .rate = o->rate > 0 ? o->rate : net.apart ? net.rate : net.near_rate,
        .flops = flops, .known = (o->rate > 0 || known) && dag_devices(g->ctx) == 0};
    return c;
}

const char *dag_gemm_method_name(dag_gemm_method method)
{
    static const char *const names[] = {[DAG_GEMM_AUTO] = "auto",
                                        [DAG_GEMM_STATIONARY_C] = "stationary-c",
                                        [DAG_GEMM_STATIONARY_A] = "stationary-a",
                                        [DAG_GEMM_SUMMA] = "summa",
                                        [DAG_GEMM_HSUMMA] = "hsumma"};
    return method >= DAG_GEMM_AUTO && method <= DAG_GEMM_HSUMMA ? names[method] : NULL;
}

static void check_options(dagi_check *c, const dag_gemm_options *o)
{
    if (c->status != DAG_SUCCESS)
        return;
    if (o->method < DAG_GEMM_AUTO || o->method > DAG_GEMM_HSUMMA)
        dagi_check_fail(c, "the method is %d; dag_gemm_method has the values", (int)o->method);
    else if (o->p < 0 || o->q < 0 || o->layers < 0 ||
             (o->p == 0 || o->q == 0 || o->layers == 0) != (o->p + o->q + o->layers == 0))
        dagi_check_fail(c,
                        "the grid of the product is %dx%dx%d; its numbers are at least 1, or all 0",
                        o->p, o->q, o->layers);
    else if (o->p > 0 && (double)o->p * o->q * o->layers > dag_size(c->ctx))
        dagi_check_fail(c, "the grid of the product, %dx%dx%d, has more places than the %d ranks",
                        o->p, o->q, o->layers, dag_size(c->ctx));
    else if (o->steps < 0 || o->memory < 0)
        dagi_check_fail(c, "the number of steps or the limit of memory is negative");
    else if (o->tune && dag_reproducible(c->ctx))
        dagi_check_fail(c, "plans are tried by their times, which the setting reproducible excludes: leave out "
                        "one of both");
    else if ((o->method == DAG_GEMM_STATIONARY_A || o->method == DAG_GEMM_STATIONARY_C) &&
             (o->p > 0 || o->steps > 0))
        dagi_check_fail(c, "where A or C stays, the product has neither a grid of its own nor a number "
                           "of steps");
}

/* The same of what groups take. */
static void check_groups(dagi_check *c, const struct gemm *g, const dag_gemm_options *o)
{
    if (c->status != DAG_SUCCESS)
        return;
    int64_t kb = op_of(g->transa, g->A).nb;
    int p = o->p > 0 ? o->p : g->C->p, q = o->p > 0 ? o->q : g->C->q;
    if (o->groups_p < 0 || o->groups_q < 0 || (o->groups_p == 0) != (o->groups_q == 0) || o->inner < 0)
        dagi_check_fail(c,
                        "groups are %dx%d, and pieces %" PRId64 " wide; these numbers are at least 1, "
                        "or 0", o->groups_p, o->groups_q, o->inner);
    else if (o->method != DAG_GEMM_HSUMMA && (o->groups_p > 0 || o->inner > 0))
        dagi_check_fail(c, "groups and pieces of tiles are those of DAG_GEMM_HSUMMA");
    else if (o->method == DAG_GEMM_HSUMMA && o->layers > 1)
        dagi_check_fail(c, "hierarchical SUMMA has one layer, not %d", o->layers);
    else if (o->method == DAG_GEMM_HSUMMA && o->steps > 2)
        dagi_check_fail(c, "hierarchical SUMMA looks at most one step ahead, not %" PRId64,
                        o->steps - 1);
    else if (o->method == DAG_GEMM_HSUMMA && o->groups_p > 0 &&
             (p % o->groups_p != 0 || q % o->groups_q != 0))
        dagi_check_fail(c, "%dx%d groups do not divide the grid of the product, %dx%d",
                        o->groups_p, o->groups_q, p, q);
    else if (o->inner > 0 && kb % o->inner != 0)
        dagi_check_fail(c, "pieces of %" PRId64 " columns do not divide tiles of %" PRId64, o->inner,
                        kb);
}

int dag_gemm_plans(dag_context *ctx, dag_trans transa, dag_trans transb, dag_matrix *A,
                   dag_matrix *B, dag_matrix *C, const dag_gemm_options *options,
                   dag_gemm_plan *plans, int room)
{
    static const dag_gemm_options none;
    struct gemm g = {ctx, transa, transb, 1, 0, A, B, C, 1};
    dagi_check c;
    check_gemm(&c, (dagi_entry){"dag_gemm_plans", DAGI_ANY}, &g);
    options = options ? options : &none;
    check_options(&c, options);
    check_groups(&c, &g, options);
    if (c.status == DAG_SUCCESS && (plans == NULL || room < 1))
        dagi_check_fail(&c, "there is no room for a plan");
    if (c.status != DAG_SUCCESS)
        return -1;
    product_case of = case_of(&g, options);
    dag_gemm_plan all[PLANS], best;
    int count = dagi_product_plans(&of, options, all, PLANS);
    product_key key = dagi_plan_key(&of, options);
    if (options->tune && dagi_plan_recall(&key, &best))
        dagi_plan_first(all, count, &best);
    count = count < room ? count : room;
    memcpy(plans, all, (size_t)count * sizeof(*plans));
    return count;
}

/* A plan of gemm on the way to its pool. */
static dag_status run_plan(const struct gemm *g, const dag_gemm_plan *plan)
{
    dag_array *where = NULL;
    struct dagi_hsumma *groups = NULL;
    dag_status status = dag_run(g->ctx, dagi_gemm_planned(g, plan, &where, &groups));
    dag_array_free(where);
    dagi_hsumma_free(groups);
    return status;
}

static dag_status try_plan(void *call, const dag_gemm_plan *plan)
{
    return run_plan(call, plan);
}

/* Plans on all ranks, which have none for this key. A complaint where there is none. */
static void make_plan(dagi_check *c, const struct gemm *g, const dag_gemm_options *options,
                      const product_case *of, const product_key *key, dag_gemm_plan *plan)
{
    dag_gemm_plan plans[PLANS];
    int tries = options->tune, first = dag_rank(g->ctx) == 0;
    int count = tries || first ? dagi_product_plans(of, options, plans, PLANS) : 0;
    dag_matrix *other = NULL;
    const dag_matrix_desc desc = {.prec = g->C->prec, .m = g->C->m, .n = g->C->n, .mb = g->C->mb, .nb = g->C->nb,
                                  .p = g->C->p, .q = g->C->q, .name = "a C to try plans with"};
    *plan = count > 0 ? plans[0] : (dag_gemm_plan){.method = DAG_GEMM_AUTO};
    if (tries && count > 1) {
        struct gemm trial = *g;
        c->status = dagi_la_agreed(g->ctx, c->routine, dag_matrix_new(g->ctx, &desc, &other));
        trial.C = other, trial.beta = 0;
        if (c->status == DAG_SUCCESS)
            c->status = dagi_plan_tune(g->ctx, key, plans, count, try_plan, &trial, plan);
        dag_matrix_free(other);
    } else {
        c->status = dagi_plan_share(g->ctx, plan);
    }
    if (c->status == DAG_SUCCESS && plan->method == DAG_GEMM_AUTO)
        dagi_check_fail(c, "no grid of the %d ranks gives each of them tiles within the limit of memory; name "
                        "one", dag_size(g->ctx));
    if (c->status == DAG_SUCCESS)
        dagi_plan_remember(key, plan);
}

/* What is to be the same on all ranks; the rest is rank 0's. */
static void check_same_options(dagi_check *c, const dag_gemm_options *o, bool program)
{
    const int64_t same[] = {o->method, o->p, o->q, o->layers, o->steps, o->groups_p, o->groups_q, o->inner,
                            o->memory, o->tune != 0, program};
    dagi_check_same(c, "the plan of the product", same, sizeof(same));
}

/* Behind the check of the arguments: finds the plan where one is needed. The outcome is that of all ranks. */
static dag_status find_plan(dagi_check *c, const struct gemm *g, const dag_gemm_options *options,
                            bool program, dag_gemm_plan *plan)
{
    dag_split_desc unused;
    product_case of;
    product_key key;
    int64_t numbers[DAGI_PLAN_NUMBERS] = {0};
    *plan = (dag_gemm_plan){.method = DAG_GEMM_STATIONARY_C};
    check_options(c, options);
    check_groups(c, g, options);
    bool cut = c->status == DAG_SUCCESS && dagi_gemm_cut(g, &unused);
    if (cut && (options->p > 0 || options->steps > 0 || options->method == DAG_GEMM_STATIONARY_A || options->tune ||
                options->method == DAG_GEMM_SUMMA || options->method == DAG_GEMM_HSUMMA))
        dagi_check_fail(c, "tiles of two sizes are for products where C stays: set split = none, or give "
                        "neither another method nor a grid, and try no plans");
    bool wanted = c->status == DAG_SUCCESS && !dagi_gemm_only_scales(g) && !cut && !program;
    if (wanted) {
        of = case_of(g, options);
        key = dagi_plan_key(&of, options);
        c->note = !dagi_plan_recall(&key, plan);
        dagi_plan_numbers(plan, numbers);
    }
    check_same_options(c, options, program);
    dagi_check_hint(c, numbers, sizeof(numbers));
    if (dagi_check_agreed(c) && wanted && c->note)
        make_plan(c, g, options, &of, &key, plan);
    return c->status;
}

/* ---- out of core -------------------------------------------------------------------------- */

/* Is it to be made by a program for devices? What only graphs have is refused where one is demanded. */
static bool by_program(dagi_check *c, const struct gemm *g, const dag_gemm_options *o)
{
    dag_matrix *const matrices[] = {g->C, g->A, g->B};
    dag_split_desc unused;
    if (c->status != DAG_SUCCESS || g->whole || dag_out_of_core_wanted(g->ctx) == DAG_OUT_OF_CORE_GRAPH)
        return false;
    bool graph = dagi_gemm_cut(g, &unused) ||
                 (o != NULL && (o->method != DAG_GEMM_AUTO || o->p > 0 || o->steps > 0 || o->groups_p > 0 ||
                                o->inner > 0 || o->tune));
    if (graph && dag_out_of_core_wanted(g->ctx) == DAG_OUT_OF_CORE_PROGRAM)
        dagi_check_fail(c, "a program for devices has neither methods and grids nor tiles of two sizes: set "
                        "out_of_core = graph, or give none of these");
    return !graph && dagi_outcore_wanted(c, matrices, 3, 4) && !dagi_gemm_only_scales(g);
}

static dag_status run_program(const struct gemm *g)
{
    const dagi_outcore_gemm how = {g->transa, g->transb, g->alpha, g->beta, g->A, g->B, g->C};
    dag_devprog *program = NULL;
    (void)dag_kernels_init(NULL);
    dag_status status = dagi_outcore_gemm_program(g->ctx, &how, NULL, &program);
    return dagi_outcore_run(g->ctx, program, status, NULL);
}

dag_status dag_gemm_program(dag_context *ctx, dag_trans transa, dag_trans transb, dag_dcomplex alpha,
                            dag_matrix *A, dag_matrix *B, dag_dcomplex beta, dag_matrix *C,
                            const dag_outcore_options *options, dag_devprog **program)
{
    struct gemm g = {ctx, transa, transb, alpha, beta, A, B, C, 1};
    const dagi_outcore_gemm how = {transa, transb, alpha, beta, A, B, C};
    dag_matrix *const matrices[] = {C, A, B};
    dagi_check c;
    check_gemm(&c, (dagi_entry){"dag_gemm_program", DAGI_ANY}, &g);
    dagi_check_present(&c, "program", program);
    dagi_outcore_check(&c, matrices, 3, options);
    (void)dag_kernels_init(NULL);
    return c.status == DAG_SUCCESS ? dagi_outcore_gemm_program(ctx, &how, options, program) : c.status;
}

/* ---- run to the end ------------------------------------------------------------------------ */

static dag_status do_gemm_with(dagi_entry entry, struct gemm g, const dag_gemm_options *options)
{
    static const dag_gemm_options none;
    dag_split_desc unused;
    dag_gemm_plan plan;
    dagi_check c;
    check_gemm(&c, entry, &g);
    bool program = by_program(&c, &g, options);
    if (c.status == DAG_SUCCESS && options == NULL && !program && !dagi_gemm_cut(&g, &unused) &&
        dagi_direct_gemm(g.ctx, g.transa, g.transb, g.alpha, g.A, g.B, g.beta, g.C))
        return DAG_SUCCESS;
    dag_status status = find_plan(&c, &g, options ? options : &none, program, &plan);
    if (status != DAG_SUCCESS)
        return status;
    return program ? run_program(&g) : run_plan(&g, &plan);
}

dag_status dag_gemm_tune(dag_context *ctx, dag_trans transa, dag_trans transb, dag_matrix *A,
                         dag_matrix *B, dag_matrix *C, const dag_gemm_options *options,
                         dag_gemm_plan *plan)
{
    static const dag_gemm_options none;
    struct gemm g = {ctx, transa, transb, 1, 0, A, B, C, 0};
    dag_gemm_options o = options ? *options : none;
    dag_gemm_plan unused;
    o.tune = 1;
    dagi_check c;
    check_gemm(&c, (dagi_entry){"dag_gemm_tune", DAGI_ANY}, &g);
    return find_plan(&c, &g, &o, false, plan ? plan : &unused);
}

dag_status dag_gemm_with(dag_context *ctx, dag_trans transa, dag_trans transb, dag_dcomplex alpha,
                         dag_matrix *A, dag_matrix *B, dag_dcomplex beta, dag_matrix *C,
                         const dag_gemm_options *options)
{
    return do_gemm_with((dagi_entry){"dag_gemm_with", DAGI_ANY},
                        (struct gemm){ctx, transa, transb, alpha, beta, A, B, C, 0}, options);
}

dag_status dagi_la_gemm(dag_context *ctx, dag_trans transa, dag_trans transb, dag_dcomplex alpha,
                        dag_matrix *A, dag_matrix *B, dag_dcomplex beta, dag_matrix *C)
{
    return do_gemm_with((dagi_entry){"dag_gemm", DAGI_ANY},
                        (struct gemm){ctx, transa, transb, alpha, beta, A, B, C, 1}, NULL);
}

#define GEMM(p, PREC, elem, real, name)                                                            \
    dag_status dag_##p##name(dag_context *ctx, dag_trans transa, dag_trans transb, elem alpha,     \
                             dag_matrix *A, dag_matrix *B, elem beta, dag_matrix *C)               \
    {                                                                                              \
        return do_gemm_with((dagi_entry){"dag_" #p #name, PREC},                                   \
                       (struct gemm){ctx, transa, transb, alpha, beta, A, B, C, 0}, NULL);      \
    }
DAGI_ALL_TYPES(GEMM, gemm)
