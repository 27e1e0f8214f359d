/* Products of matrices: checks the arguments, picks the graph and the grid. */
#include "la/cut.h"
#include "la/direct.h"
#include "gemm_impl.h"
#include "outcore/gemm.h"
#include "plan.h"

#include <dag/array.h>
#include <dag/inserted.h>

#include "gemm_A.h"
#include "gemm_C.h"
#include "gemm_S.h"
#include "split_gemm.h"

#include <inttypes.h>
#include <stdlib.h>

/* What is taken for a network and a core of which nothing is known. */
#define USUAL_LATENCY 3e-6
#define USUAL_RATE 1e9
#define USUAL_FLOPS 1e10

static dagi_check check_gemm(dagi_entry entry, const struct gemm *g)
{
    dagi_check c = dagi_check_start(g->ctx, entry.name);
    dagi_check_trans(&c, "transa", g->transa);
    dagi_check_trans(&c, "transb", g->transb);
    dagi_check_typed(&c, "A", entry.prec, g->A);
    dagi_check_matrix(&c, "B", g->B);
    dagi_check_matrix(&c, "C", g->C);
    dagi_check_same_type(&c, "A", g->A, "B", g->B);
    dagi_check_same_type(&c, "A", g->A, "C", g->C);
    dagi_check_general(&c, "A", g->A);
    dagi_check_general(&c, "B", g->B);
    dagi_check_general(&c, "C", g->C);
    dagi_check_scalar(&c, "alpha", g->alpha, g->C);
    dagi_check_scalar(&c, "beta", g->beta, g->C);
    dagi_check_distinct(&c, "C", g->C, "A", g->A);
    dagi_check_distinct(&c, "C", g->C, "B", g->B);
    if (c.status != DAG_SUCCESS)
        return c;
    struct op a = op_of(g->transa, g->A), b = op_of(g->transb, g->B);
    dagi_check_cut(&c, "the rows of C", g->C->m, g->C->mb, "those of op(A)", a.m, a.mb);
    dagi_check_cut(&c, "the columns of C", g->C->n, g->C->nb, "those of op(B)", b.n, b.nb);
    dagi_check_cut(&c, "the columns of op(A)", a.n, a.nb, "the rows of op(B)", b.m, b.mb);
    if (!g->whole)
        dagi_check_tiles_cut(&c, 0, g->C);
    return c;
}

/* Does the setting `split` want C by tiles of two sizes? They have one where C is only scaled. */
static bool is_cut(const struct gemm *g, dag_split_desc *desc)
{
    return !g->whole && dagi_cut(g->ctx, 0, desc);
}

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

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
    int64_t parts = across * ceil_div(workers, across * tiles);
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

/* C is scaled, and nothing is read of A and B. */
static int only_scales(const struct gemm *g)
{
    return op_of(g->transa, g->A).nt == 0 || g->C->m == 0 || g->C->n == 0 || g->alpha == 0;
}

static dag_taskpool *pool_in_a(const struct gemm *g, int64_t parts)
{
    static dag_taskpool *(*const make[4])(dag_context *, dag_matrix *, dag_matrix *, dag_matrix *,
                                          int64_t, int64_t, int, int, dag_trans, dag_trans,
                                          dag_dcomplex, dag_dcomplex) = DAGI_FOUR(gemm_A);
    return make[g->C->prec](g->ctx, g->A, g->B, g->C, op_of(g->transa, g->A).nt, parts,
                            g->transa != DAG_NO_TRANS, g->transb != DAG_NO_TRANS, g->transa,
                            g->transb, g->alpha, g->beta);
}

/* C and op(B) by columns of tiles. */
static dag_taskpool *pool_cut(const struct gemm *g, dag_split_desc *desc)
{
    static dag_taskpool *(*const make[4])(dag_context *, dag_matrix *, dag_split *, dag_split *, int64_t,
                                          int, int, dag_trans, dag_trans, dag_dcomplex,
                                          dag_dcomplex) = DAGI_FOUR(split_gemm);
    struct { dag_split b, c; } *cut = malloc(sizeof *cut);
    dag_taskpool *pool = NULL;
    if (cut == NULL) {
        (void)dag_error(g->ctx, DAG_ERR_NOMEM, "dag_gemm: out of memory");
        return NULL;
    }
    dag_status status = dag_split_view(g->C, desc, &cut->c);
    desc->by_rows = g->transb != DAG_NO_TRANS;
    if (status == DAG_SUCCESS && dag_split_view(g->B, desc, &cut->b) == DAG_SUCCESS)
        pool = make[g->C->prec](g->ctx, g->A, &cut->b, &cut->c, op_of(g->transa, g->A).nt,
                                g->transa != DAG_NO_TRANS, g->transb != DAG_NO_TRANS, g->transa,
                                g->transb, g->alpha, g->beta);
    if (pool != NULL)
        dag_taskpool_keep(pool, cut);
    else
        free(cut);
    return pool;
}

static dag_taskpool *pool_in_c(const struct gemm *g)
{
    dag_split_desc cut;
    if (is_cut(g, &cut))
        return pool_cut(g, &cut);
    static dag_taskpool *(*const make[4])(dag_context *, dag_matrix *, dag_matrix *, dag_matrix *,
                                          int64_t, int, int, dag_trans, dag_trans, dag_dcomplex,
                                          dag_dcomplex) = DAGI_FOUR(gemm_C);
    return make[g->C->prec](g->ctx, g->A, g->B, g->C, op_of(g->transa, g->A).nt,
                            g->transa != DAG_NO_TRANS, g->transb != DAG_NO_TRANS, g->transa,
                            g->transb, g->alpha, g->beta);
}

static dag_taskpool *gemm_pool(void *call)
{
    const struct gemm *g = call;
    if (only_scales(g))
        return dagi_scale_pool(g->ctx, DAG_GENERAL, 0, g->beta, g->C);
    dag_split_desc cut;
    int64_t parts = is_cut(g, &cut) ? 0 : partial_sums(g, op_of(g->transa, g->A).nt);
    return parts > 0 ? pool_in_a(g, parts) : pool_in_c(g);
}

dag_taskpool *dag_gemm_new(dag_context *ctx, dag_trans transa, dag_trans transb, dag_dcomplex alpha,
                           dag_matrix *A, dag_matrix *B, dag_dcomplex beta, dag_matrix *C)
{
    struct gemm g = {ctx, transa, transb, alpha, beta, A, B, C, 0};
    dagi_check c = check_gemm((dagi_entry){"dag_gemm_new", DAGI_ANY}, &g);
    return if_good(&c, gemm_pool, &g);
}

dag_status dag_gemm_inserted(dag_context *ctx, dag_trans transa, dag_trans transb,
                             dag_dcomplex alpha, dag_matrix *A, dag_matrix *B, dag_dcomplex beta,
                             dag_matrix *C)
{
    struct gemm g = {ctx, transa, transb, alpha, beta, A, B, C, 1};
    dagi_check c = check_gemm((dagi_entry){"dag_gemm_inserted", DAGI_ANY}, &g);
    if (!dagi_check_agreed(&c))
        return c.status;
    if (only_scales(&g))
        return dag_run(ctx, gemm_pool(&g));
    return dagi_gemm_inserted(&g, op_of(transa, A).nt);
}

/* ---- on a grid of its own ---------------------------------------------------------------- */

static product_owner owner_of(const dag_matrix *X, int turned)
{
    return turned ? (product_owner){X->q, X->p, 1} : (product_owner){X->p, X->q, 0};
}

static product_case case_of(const struct gemm *g, const dag_gemm_options *o)
{
    struct op a = op_of(g->transa, g->A);
    dag_precision prec = g->C->prec;
    double usual_flops = USUAL_FLOPS * (dag_precision_real(prec) == DAG_S ? 2 : 1);
    product_case c = {
        .m = g->C->m, .n = g->C->n, .k = a.n, .mb = g->C->mb, .nb = g->C->nb, .kb = a.nb,
        .a = owner_of(g->A, a.turned), .b = owner_of(g->B, g->transb != DAG_NO_TRANS),
        .c = owner_of(g->C, 0), .ranks = dag_size(g->ctx),
        .workers = workers_of(g),
        .elem = (int)dag_precision_size(prec), .complex = dag_precision_is_complex(prec),
        .parts = only_scales(g) ? 0 : sums_in_a(g, a.nt),
        .a_stays = !only_scales(g) && partial_sums(g, a.nt) > 0,
        .latency = o->latency > 0 ? o->latency : USUAL_LATENCY,
        .rate = o->rate > 0 ? o->rate : dag_rate(g->ctx) > 0 ? dag_rate(g->ctx) : USUAL_RATE,
        .flops = o->flops > 0 ? o->flops : usual_flops};
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

/* The pool of a plan, and what is to be freed behind it. */
static dag_taskpool *pool_of(const struct gemm *g, const dag_gemm_plan *plan, dag_array **where,
                             struct dagi_hsumma **groups)
{
    static dag_taskpool *(*const make[4])(dag_context *, dag_matrix *, dag_matrix *, dag_matrix *,
                                          dag_array *, int64_t, int64_t, int64_t, int64_t, int64_t,
                                          int, int, dag_trans, dag_trans, dag_dcomplex,
                                          dag_dcomplex) = DAGI_FOUR(gemm_S);
    int64_t kt = op_of(g->transa, g->A).nt;
    *where = NULL;
    (void)dag_kernels_init(NULL);
    if (only_scales(g))
        return dagi_scale_pool(g->ctx, DAG_GENERAL, 0, g->beta, g->C);
    if (plan->method == DAG_GEMM_STATIONARY_C)
        return pool_in_c(g);
    if (plan->method == DAG_GEMM_STATIONARY_A)
        return pool_in_a(g, sums_in_a(g, kt));
    if (plan->method == DAG_GEMM_HSUMMA)
        return dagi_hsumma_pool(g, plan, groups);
    const int64_t count[] = {g->C->mt, g->C->nt, kt};
    const int grid[] = {plan->p, plan->q, plan->layers};
    const dag_shape none = {0, 0, 1};
    if (dag_array_new(g->ctx, 3, count, grid, &none, where) != DAG_SUCCESS)
        return NULL;
    int64_t layers = plan->layers < kt ? plan->layers : kt;
    int64_t most = kt / layers + 1, steps = plan->steps < most ? plan->steps : most;
    int64_t ahead = dag_size(g->ctx) == 1 ? kt : steps * layers; /* a rank alone gets no tiles */
    return make[g->C->prec](g->ctx, g->A, g->B, g->C, *where, plan->p, plan->q, layers, kt, ahead,
                            g->transa != DAG_NO_TRANS, g->transb != DAG_NO_TRANS, g->transa,
                            g->transb, g->alpha, g->beta);
}

int dag_gemm_plans(dag_context *ctx, dag_trans transa, dag_trans transb, dag_matrix *A,
                   dag_matrix *B, dag_matrix *C, const dag_gemm_options *options,
                   dag_gemm_plan *plans, int room)
{
    static const dag_gemm_options none;
    struct gemm g = {ctx, transa, transb, 1, 0, A, B, C, 1};
    dagi_check c = check_gemm((dagi_entry){"dag_gemm_plans", DAGI_ANY}, &g);
    options = options ? options : &none;
    check_options(&c, options);
    check_groups(&c, &g, options);
    if (c.status == DAG_SUCCESS && (plans == NULL || room < 1))
        dagi_check_fail(&c, "there is no room for a plan");
    if (c.status != DAG_SUCCESS)
        return -1;
    product_case of = case_of(&g, options);
    return dagi_product_plans(&of, options, plans, room);
}

/* The best plan; a complaint where there is none. */
static dag_gemm_plan plan_of(dagi_check *c, const struct gemm *g, const dag_gemm_options *options)
{
    enum { ROOM = 256 };
    dag_gemm_plan plans[ROOM];
    product_case of = case_of(g, options);
    if (dagi_product_plans(&of, options, plans, ROOM) > 0)
        return plans[0];
    dagi_check_fail(c, "no grid of the %d ranks gives each of them tiles within the limit of memory; name "
                    "one", dag_size(g->ctx));
    return (dag_gemm_plan){.method = DAG_GEMM_STATIONARY_C};
}

/* ---- out of core -------------------------------------------------------------------------- */

/* Is it to be made by a program for devices? What only graphs have is refused where one is demanded. */
static bool by_program(dagi_check *c, const struct gemm *g, const dag_gemm_options *o)
{
    dag_matrix *const matrices[] = {g->C, g->A, g->B};
    dag_split_desc unused;
    if (c->status != DAG_SUCCESS || g->whole || dag_out_of_core_wanted(g->ctx) == DAG_OUT_OF_CORE_GRAPH)
        return false;
    bool graph = is_cut(g, &unused) ||
                 (o != NULL && (o->method != DAG_GEMM_AUTO || o->p > 0 || o->steps > 0 || o->groups_p > 0 ||
                                o->inner > 0));
    if (graph && dag_out_of_core_wanted(g->ctx) == DAG_OUT_OF_CORE_PROGRAM)
        dagi_check_fail(c, "a program for devices has neither methods and grids nor tiles of two sizes: set "
                        "out_of_core = graph, or give none of these");
    return !graph && dagi_outcore_wanted(c, matrices, 3, 4) && !only_scales(g);
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
    dagi_check c = check_gemm((dagi_entry){"dag_gemm_program", DAGI_ANY}, &g);
    dagi_check_present(&c, "program", program);
    dagi_outcore_check(&c, matrices, 3, options);
    (void)dag_kernels_init(NULL);
    return c.status == DAG_SUCCESS ? dagi_outcore_gemm_program(ctx, &how, options, program) : c.status;
}

/* ---- run to the end ------------------------------------------------------------------------ */

static dag_status do_gemm_with(dagi_entry entry, struct gemm g, const dag_gemm_options *options)
{
    static const dag_gemm_options none;
    dag_gemm_plan plan = {.method = DAG_GEMM_STATIONARY_C};
    dag_array *where = NULL;
    struct dagi_hsumma *groups = NULL;
    dag_split_desc unused;
    dagi_check c = check_gemm(entry, &g);
    bool cut = c.status == DAG_SUCCESS && is_cut(&g, &unused), program = by_program(&c, &g, options);
    if (c.status == DAG_SUCCESS && options == NULL && !cut && !program &&
        dagi_direct_gemm(g.ctx, g.transa, g.transb, g.alpha, g.A, g.B, g.beta, g.C))
        return DAG_SUCCESS;
    options = options ? options : &none;
    check_options(&c, options);
    check_groups(&c, &g, options);
    if (cut && (options->p > 0 || options->steps > 0 || options->method == DAG_GEMM_STATIONARY_A ||
                options->method == DAG_GEMM_SUMMA || options->method == DAG_GEMM_HSUMMA))
        dagi_check_fail(&c, "tiles of two sizes are for products where C stays: set split = none, or give "
                        "neither another method nor a grid");
    if (c.status == DAG_SUCCESS && !only_scales(&g) && !cut && !program)
        plan = plan_of(&c, &g, options);
    const int64_t key[] = {plan.method, plan.p, plan.q, plan.layers, plan.steps,
                           plan.groups_p, plan.groups_q, plan.inner, program};
    dagi_check_same(&c, "the plan of the product", key, sizeof(key));
    if (!dagi_check_agreed(&c))
        return c.status;
    if (program)
        return run_program(&g);
    dag_status status = dag_run(g.ctx, pool_of(&g, &plan, &where, &groups));
    dag_array_free(where);
    dagi_hsumma_free(groups);
    return status;
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
