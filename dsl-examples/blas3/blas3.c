/* Level 3 of BLAS but for gemm.c: checks the arguments, picks the graph. */
#include "la/direct.h"
#include "la/few.h"
#include "op.h"
#include "outcore/trsm.h"

#include "symm_L.h"
#include "symm_R.h"
#include "syr2k.h"
#include "syrk.h"
#include "trmm_L.h"
#include "trmm_R.h"
#include "trsm_A.h"
#include "trsm_L.h"
#include "trsm_R.h"

/* ---- symm, hemm -------------------------------------------------------------------------- */

struct symm {
    dag_context *ctx;
    dag_side side;
    dag_uplo uplo;
    int herm;
    dag_dcomplex alpha, beta;
    dag_matrix *A, *B, *C;
};

static void check_symm(dagi_check *c, dagi_entry entry, const struct symm *s)
{
    dagi_check_start(c, s->ctx, entry.name);
    dagi_check_side(c, s->side);
    dagi_check_typed(c, "A", entry.prec, s->A);
    dagi_check_matrix(c, "B", s->B);
    dagi_check_matrix(c, "C", s->C);
    dagi_check_square(c, "A", s->uplo, s->A);
    dagi_check_same_type(c, "A", s->A, "B", s->B);
    dagi_check_same_type(c, "A", s->A, "C", s->C);
    dagi_check_general(c, "B", s->B);
    dagi_check_general(c, "C", s->C);
    dagi_check_scalar(c, "alpha", s->alpha, s->C);
    dagi_check_scalar(c, "beta", s->beta, s->C);
    dagi_check_distinct(c, "C", s->C, "A", s->A);
    dagi_check_distinct(c, "C", s->C, "B", s->B);
    if (c->status != DAG_SUCCESS)
        return;
    const dag_matrix *B = s->B, *C = s->C;
    dagi_check_cut(c, "the rows of C", C->m, C->mb, "those of B", B->m, B->mb);
    dagi_check_cut(c, "the columns of C", C->n, C->nb, "those of B", B->n, B->nb);
    if (s->side == DAG_LEFT)
        dagi_check_rhs(c, s->A, B);
    else
        dagi_check_cut(c, "the columns of A", s->A->n, s->A->nb, "those of B", B->n, B->nb);
}

static dag_taskpool *symm_pool(void *call)
{
    DAGI_MAKERS(symm_L) make[2][4] = {DAGI_FOUR(symm_L), DAGI_FOUR(symm_R)};
    const struct symm *s = call;
    if (s->C->m == 0 || s->C->n == 0 || s->alpha == 0)
        return dagi_scale_pool(s->ctx, DAG_GENERAL, 0, s->beta, s->C);
    return make[s->side == DAG_RIGHT][s->C->prec](s->ctx, s->A, s->B, s->C, s->uplo == DAG_LOWER,
                                                  s->herm, s->alpha, s->beta);
}

static dag_taskpool *new_symm(const char *routine, struct symm s)
{
    dagi_check c;
    check_symm(&c, (dagi_entry){routine, DAGI_ANY}, &s);
    return if_good(&c, symm_pool, &s);
}

static dag_status do_symm(dagi_entry entry, struct symm s)
{
    dagi_check c;
    check_symm(&c, entry, &s);
    return run_if_good(&c, symm_pool, &s);
}

dag_taskpool *dag_symm_new(dag_context *ctx, dag_side side, dag_uplo uplo, dag_dcomplex alpha,
                           dag_matrix *A, dag_matrix *B, dag_dcomplex beta, dag_matrix *C)
{
    return new_symm("dag_symm_new", (struct symm){ctx, side, uplo, 0, alpha, beta, A, B, C});
}

dag_taskpool *dag_hemm_new(dag_context *ctx, dag_side side, dag_uplo uplo, dag_dcomplex alpha,
                           dag_matrix *A, dag_matrix *B, dag_dcomplex beta, dag_matrix *C)
{
    return new_symm("dag_hemm_new", (struct symm){ctx, side, uplo, 1, alpha, beta, A, B, C});
}

/* ---- syrk, herk, syr2k, her2k ------------------------------------------------------------ */

struct rank_k {
    dag_context *ctx;
    dag_uplo uplo;
    dag_trans trans;
    int herm;
    dag_dcomplex alpha, beta;
    dag_matrix *A, *B, *C; /* B: NULL for a rank-k update */
    int two;               /* a rank-2k update */
};

static void check_rank_k_trans(dagi_check *c, const struct rank_k *r)
{
    dag_trans wrong = r->herm ? DAG_TRANS : DAG_CONJ_TRANS;
    dagi_check_trans(c, "trans", r->trans);
    if (c->status == DAG_SUCCESS && dag_precision_is_complex(r->C->prec) && r->trans == wrong)
        dagi_check_fail(c, "trans is %s; it must be DAG_NO_TRANS or %s",
                        r->herm ? "DAG_TRANS" : "DAG_CONJ_TRANS",
                        r->herm ? "DAG_CONJ_TRANS" : "DAG_TRANS");
}

static void check_rank_k(dagi_check *c, dagi_entry entry, const struct rank_k *r)
{
    dagi_check_start(c, r->ctx, entry.name);
    dagi_check_typed(c, "A", entry.prec, r->A);
    dagi_check_matrix(c, "C", r->C);
    dagi_check_same_type(c, "A", r->A, "C", r->C);
    check_rank_k_trans(c, r);
    dagi_check_square(c, "C", r->uplo, r->C);
    dagi_check_general(c, "A", r->A);
    dagi_check_scalar(c, "alpha", r->alpha, r->C);
    dagi_check_scalar(c, "beta", r->beta, r->C);
    dagi_check_distinct(c, "C", r->C, "A", r->A);
    if (c->status == DAG_SUCCESS) {
        struct op a = op_of(r->trans, r->A);
        dagi_check_cut(c, "the rows of C", r->C->m, r->C->mb, "those of op(A)", a.m, a.mb);
    }
    if (!r->two)
        return;
    dagi_check_matrix(c, "B", r->B);
    dagi_check_same_type(c, "A", r->A, "B", r->B);
    dagi_check_general(c, "B", r->B);
    dagi_check_distinct(c, "C", r->C, "B", r->B);
    if (c->status == DAG_SUCCESS) {
        dagi_check_rhs(c, r->A, r->B);
        dagi_check_cut(c, "the columns of A", r->A->n, r->A->nb, "those of B", r->B->n, r->B->nb);
    }
}

static dag_taskpool *rank_k_pool(void *call)
{
    DAGI_MAKERS(syrk) one[4] = DAGI_FOUR(syrk);
    DAGI_MAKERS(syr2k) two[4] = DAGI_FOUR(syr2k);
    const struct rank_k *r = call;
    dag_precision p = r->C->prec;
    int64_t kt = op_of(r->trans, r->A).nt;
    int ta = r->trans != DAG_NO_TRANS, lower = r->uplo == DAG_LOWER;
    int herm = r->herm && dag_precision_is_complex(p);
    if (kt == 0 || r->C->n == 0 || r->alpha == 0)
        return dagi_scale_pool(r->ctx, r->uplo, herm && r->beta != 1, r->beta, r->C);
    if (r->two)
        return two[p](r->ctx, r->A, r->B, r->C, kt, ta, lower, herm, r->alpha, r->beta);
    return one[p](r->ctx, r->A, r->C, kt, ta, lower, herm, r->alpha, r->beta);
}

static dag_taskpool *new_rank_k(const char *routine, struct rank_k r)
{
    dagi_check c;
    check_rank_k(&c, (dagi_entry){routine, DAGI_ANY}, &r);
    return if_good(&c, rank_k_pool, &r);
}

static dag_status do_rank_k(dagi_entry entry, struct rank_k r)
{
    dagi_check c;
    check_rank_k(&c, entry, &r);
    return run_if_good(&c, rank_k_pool, &r);
}

dag_taskpool *dag_syrk_new(dag_context *ctx, dag_uplo uplo, dag_trans trans, dag_dcomplex alpha,
                           dag_matrix *A, dag_dcomplex beta, dag_matrix *C)
{
    return new_rank_k("dag_syrk_new",
                      (struct rank_k){ctx, uplo, trans, 0, alpha, beta, A, NULL, C, 0});
}

dag_taskpool *dag_herk_new(dag_context *ctx, dag_uplo uplo, dag_trans trans, double alpha,
                           dag_matrix *A, double beta, dag_matrix *C)
{
    return new_rank_k("dag_herk_new",
                      (struct rank_k){ctx, uplo, trans, 1, alpha, beta, A, NULL, C, 0});
}

dag_taskpool *dag_syr2k_new(dag_context *ctx, dag_uplo uplo, dag_trans trans, dag_dcomplex alpha,
                            dag_matrix *A, dag_matrix *B, dag_dcomplex beta, dag_matrix *C)
{
    return new_rank_k("dag_syr2k_new",
                      (struct rank_k){ctx, uplo, trans, 0, alpha, beta, A, B, C, 1});
}

dag_taskpool *dag_her2k_new(dag_context *ctx, dag_uplo uplo, dag_trans trans, dag_dcomplex alpha,
                            dag_matrix *A, dag_matrix *B, double beta, dag_matrix *C)
{
    return new_rank_k("dag_her2k_new",
                      (struct rank_k){ctx, uplo, trans, 1, alpha, beta, A, B, C, 1});
}

/* ---- trmm, trsm -------------------------------------------------------------------------- */

struct triangular {
    dag_context *ctx;
    dag_side side;
    dag_uplo uplo;
    dag_trans trans;
    dag_diag diag;
    dag_dcomplex alpha;
    dag_matrix *A, *B;
    int solve;
};

static void check_triangular(dagi_check *c, dagi_entry entry, const struct triangular *t)
{
    dagi_check_start(c, t->ctx, entry.name);
    dagi_check_side(c, t->side);
    dagi_check_trans(c, "trans", t->trans);
    dagi_check_diag(c, t->diag);
    dagi_check_typed(c, "A", entry.prec, t->A);
    dagi_check_matrix(c, "B", t->B);
    dagi_check_square(c, "A", t->uplo, t->A);
    dagi_check_same_type(c, "A", t->A, "B", t->B);
    dagi_check_general(c, "B", t->B);
    dagi_check_scalar(c, "alpha", t->alpha, t->B);
    dagi_check_distinct(c, "B", t->B, "A", t->A);
    if (c->status == DAG_SUCCESS && t->side == DAG_LEFT)
        dagi_check_rhs(c, t->A, t->B);
    else if (c->status == DAG_SUCCESS)
        dagi_check_cut(c, "the columns of A", t->A->n, t->A->nb, "those of B", t->B->n, t->B->nb);
}

/*
 * Whether a solve leaves A in place. B in place sends half of A once along its rows; A in place sends
 * a tile of B from tile to tile of A, so that a B narrower than half a tile travels less.
 */
static int solves_in_a(const struct triangular *t)
{
    return t->solve && t->side == DAG_LEFT && t->A->p * t->A->q > 1 && 2 * t->B->n <= t->A->nb;
}

static dag_taskpool *triangular_pool(void *call)
{
    /* [trmm, trsm, trsm with A in place][side]; the first int: 1 for the direction that is natural
     * to the graph */
    DAGI_MAKERS(trmm_L) make[3][2][4] = {
        {DAGI_FOUR(trmm_L), DAGI_FOUR(trmm_R)}, {DAGI_FOUR(trsm_L), DAGI_FOUR(trsm_R)}, {DAGI_FOUR(trsm_A), {NULL}}};
    const struct triangular *t = call;
    int right = t->side == DAG_RIGHT, turned = t->trans != DAG_NO_TRANS;
    int lower = (t->uplo == DAG_LOWER) != turned; /* op(A) */
    int natural = t->solve && right ? !lower : lower;
    if (t->B->m == 0 || t->B->n == 0 || t->alpha == 0)
        return dagi_scale_pool(t->ctx, DAG_GENERAL, 0, 0, t->B);
    int graph = t->solve + solves_in_a(t);
    return make[graph][right][t->B->prec](t->ctx, t->A, t->B, natural, turned, t->trans, t->diag,
                                          t->alpha);
}

static dag_taskpool *new_triangular(const char *routine, struct triangular t)
{
    dagi_check c;
    check_triangular(&c, (dagi_entry){routine, DAGI_ANY}, &t);
    return if_good(&c, triangular_pool, &t);
}

static dag_status run_few(const struct triangular *t, dagi_few *few)
{
    few->how.sweep[0] = (la_few_sweep){t->uplo, t->trans, t->diag};
    few->how.alpha = t->alpha;
    (void)dag_kernels_init(NULL);
    return dagi_few_run(t->ctx, few, t->A, NULL, t->B, 1,
                        (t->uplo == DAG_LOWER) == (t->trans == DAG_NO_TRANS), 0);
}

static dag_status run_program(const struct triangular *t)
{
    const dagi_outcore_trsm solve = {{t->side, t->uplo, t->trans, t->diag, t->alpha}, t->A, t->B};
    dag_devprog *program = NULL;
    (void)dag_kernels_init(NULL);
    dag_status status = dagi_outcore_trsm_program(t->ctx, &solve, NULL, &program);
    return dagi_outcore_run(t->ctx, program, status, NULL);
}

dag_status dag_trsm_program(dag_context *ctx, dag_side side, dag_uplo uplo, dag_trans trans,
                            dag_diag diag, dag_dcomplex alpha, dag_matrix *A, dag_matrix *B,
                            const dag_outcore_options *options, dag_devprog **program)
{
    const struct triangular t = {ctx, side, uplo, trans, diag, alpha, A, B, 1};
    const dagi_outcore_trsm solve = {{side, uplo, trans, diag, alpha}, A, B};
    dag_matrix *const matrices[] = {B, A};
    dagi_check c;
    check_triangular(&c, (dagi_entry){"dag_trsm_program", DAGI_ANY}, &t);
    dagi_check_present(&c, "program", program);
    dagi_outcore_check(&c, matrices, 2, options);
    (void)dag_kernels_init(NULL);
    if (c.status != DAG_SUCCESS)
        return c.status;
    return dagi_outcore_trsm_program(ctx, &solve, options, program);
}

static dag_status do_triangular(dagi_entry entry, struct triangular t)
{
    dagi_check c;
    check_triangular(&c, entry, &t);
    dagi_few few = {.wanted = 0};
    dag_matrix *const matrices[] = {t.B, t.A};
    int program = t.solve && dagi_outcore_wanted(&c, matrices, 2, 10);
    if (c.status == DAG_SUCCESS && t.solve && !program &&
        dagi_direct_trsm(t.ctx, t.side, t.uplo, t.trans, t.diag, t.alpha, t.A, t.B))
        return DAG_SUCCESS;
    if (t.solve && t.side == DAG_LEFT && t.alpha != 0 && !program)
        dagi_few_prepare(&c, &few, t.A, t.B, 0);
    dagi_check_same(&c, "out_of_core", &program, sizeof(program));
    if (dagi_check_agreed(&c) && program)
        c.status = run_program(&t);
    else if (c.status == DAG_SUCCESS)
        c.status = dagi_few_agreed(&few, &c) ? run_few(&t, &few)
                                             : dag_run(c.ctx, if_good(&c, triangular_pool, &t));
    dagi_few_free(&few);
    return c.status;
}

dag_taskpool *dag_trmm_new(dag_context *ctx, dag_side side, dag_uplo uplo, dag_trans trans,
                           dag_diag diag, dag_dcomplex alpha, dag_matrix *A, dag_matrix *B)
{
    return new_triangular("dag_trmm_new",
                          (struct triangular){ctx, side, uplo, trans, diag, alpha, A, B, 0});
}

dag_taskpool *dag_trsm_new(dag_context *ctx, dag_side side, dag_uplo uplo, dag_trans trans,
                           dag_diag diag, dag_dcomplex alpha, dag_matrix *A, dag_matrix *B)
{
    return new_triangular("dag_trsm_new",
                          (struct triangular){ctx, side, uplo, trans, diag, alpha, A, B, 1});
}

/* ---- run to the end: without a letter, and for each type --------------------------------- */

#define SYMM(p, PREC, elem, real, name, herm)                                                      \
    dag_status dag_##p##name(dag_context *ctx, dag_side side, dag_uplo uplo, elem alpha,           \
                             dag_matrix *A, dag_matrix *B, elem beta, dag_matrix *C)               \
    {                                                                                              \
        return do_symm((dagi_entry){"dag_" #p #name, PREC},                                        \
                       (struct symm){ctx, side, uplo, herm, alpha, beta, A, B, C});                \
    }
/* `type`: that of elements, or of their real parts. */
#define RANK_K(p, PREC, name, type, herm)                                                          \
    dag_status dag_##p##name(dag_context *ctx, dag_uplo uplo, dag_trans trans, type alpha,         \
                             dag_matrix *A, type beta, dag_matrix *C)                              \
    {                                                                                              \
        return do_rank_k((dagi_entry){"dag_" #p #name, PREC},                                      \
                         (struct rank_k){ctx, uplo, trans, herm, alpha, beta, A, NULL, C, 0});     \
    }
#define RANK_2K(p, PREC, name, elem, type, herm)                                                   \
    dag_status dag_##p##name(dag_context *ctx, dag_uplo uplo, dag_trans trans, elem alpha,         \
                             dag_matrix *A, dag_matrix *B, type beta, dag_matrix *C)               \
    {                                                                                              \
        return do_rank_k((dagi_entry){"dag_" #p #name, PREC},                                      \
                         (struct rank_k){ctx, uplo, trans, herm, alpha, beta, A, B, C, 1});        \
    }
#define SYMMETRIC(p, PREC, elem, real, update, update2)                                            \
    RANK_K(p, PREC, update, elem, 0) RANK_2K(p, PREC, update2, elem, elem, 0)
#define HERMITIAN(p, PREC, elem, real, update, update2)                                            \
    RANK_K(p, PREC, update, real, 1) RANK_2K(p, PREC, update2, elem, real, 1)
#define TRIANGULAR(p, PREC, elem, real, name, solve)                                               \
    dag_status dag_##p##name(dag_context *ctx, dag_side side, dag_uplo uplo, dag_trans trans,      \
                             dag_diag diag, elem alpha, dag_matrix *A, dag_matrix *B)              \
    {                                                                                              \
        return do_triangular(                                                                      \
            (dagi_entry){"dag_" #p #name, PREC},                                                   \
            (struct triangular){ctx, side, uplo, trans, diag, alpha, A, B, solve});                \
    }
DAGI_ALL_TYPES(SYMM, symm, 0)
DAGI_ALL_TYPES(SYMMETRIC, syrk, syr2k)
DAGI_ALL_TYPES(TRIANGULAR, trmm, 0)
DAGI_ALL_TYPES(TRIANGULAR, trsm, 1)
DAGI_ANY_TYPE(SYMM, hemm, 1)
DAGI_COMPLEX_TYPES(SYMM, hemm, 1)
DAGI_ANY_TYPE(HERMITIAN, herk, her2k)
DAGI_COMPLEX_TYPES(HERMITIAN, herk, her2k)
