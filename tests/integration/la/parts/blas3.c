/* Products and triangular solves of random parts; parts.h. */
#include "parts.h"

static dag_side pick_side(trial *t)
{
    return pick(t, 0, 1) ? DAG_LEFT : DAG_RIGHT;
}

static dag_diag pick_diag(trial *t)
{
    return pick(t, 0, 1) ? DAG_UNIT : DAG_NON_UNIT;
}

/* A matrix of which op() is m x n. */
static whole op_whole(trial *t, dag_trans trans, int64_t m, int64_t n)
{
    return trans == DAG_NO_TRANS ? random_whole(t, m, n) : random_whole(t, n, m);
}

static void free_three(whole a, whole b, whole c)
{
    free(a.a);
    free(b.a);
    free(c.a);
}

static void gemm(trial *t)
{
    int64_t m = order(t), n = order(t), k = order(t);
    dag_trans ta = pick_trans(t, 1, 1), tb = pick_trans(t, 1, 1);
    whole a = op_whole(t, ta, m, k), b = op_whole(t, tb, k, n), c = random_whole(t, m, n);
    dag_dcomplex alpha = scalar(t), beta = scalar(t);
    part A = open_part(t, a, DAG_PART_READ), B = open_part(t, b, DAG_PART_READ);
    part C = open_part(t, c, DAG_PART_RW);
    must(t, dag_gemm(t->ctx, ta, tb, alpha, A.M, B.M, beta, C.M));
    cblas_zgemm(CblasColMajor, (CBLAS_TRANSPOSE)ta, (CBLAS_TRANSPOSE)tb, (int)m, (int)n, (int)k,
                &alpha, a.a, ld(a), b.a, ld(b), &beta, c.a, ld(c));
    close_read(&A);
    close_read(&B);
    close_as(&C, c, 40);
    free_three(a, b, c);
}

static void symmetric_product(trial *t, int hermitian)
{
    int64_t m = order(t), n = order(t);
    dag_side side = pick_side(t);
    dag_uplo uplo = pick_uplo(t);
    int64_t k = side == DAG_LEFT ? m : n;
    whole a = random_whole(t, k, k), b = random_whole(t, m, n), c = random_whole(t, m, n);
    dag_dcomplex alpha = scalar(t), beta = scalar(t);
    part A = open_part(t, a, DAG_PART_READ), B = open_part(t, b, DAG_PART_READ);
    part C = open_part(t, c, DAG_PART_RW);
    must(t, (hermitian ? dag_hemm : dag_symm)(t->ctx, side, uplo, alpha, A.M, B.M, beta, C.M));
    (hermitian ? cblas_zhemm : cblas_zsymm)(CblasColMajor, (CBLAS_SIDE)side, (CBLAS_UPLO)uplo,
                                            (int)m, (int)n, &alpha, a.a, ld(a), b.a, ld(b), &beta,
                                            c.a, ld(c));
    close_read(&A);
    close_read(&B);
    close_as(&C, c, 40);
    free_three(a, b, c);
}

static void symm(trial *t)
{
    symmetric_product(t, 0);
}

static void hemm(trial *t)
{
    symmetric_product(t, 1);
}

/* What the real types allow beyond the complex ones is the same to the reference in these letters.
 */
static CBLAS_TRANSPOSE plain(dag_trans trans)
{
    return trans == DAG_NO_TRANS ? CblasNoTrans : CblasTrans;
}

static CBLAS_TRANSPOSE adjoint(dag_trans trans)
{
    return trans == DAG_NO_TRANS ? CblasNoTrans : CblasConjTrans;
}

static void syrk(trial *t)
{
    int64_t n = order(t), k = order(t);
    dag_uplo uplo = pick_uplo(t);
    dag_trans trans = pick_trans(t, 1, 0);
    whole a = op_whole(t, trans, n, k), c = random_whole(t, n, n);
    dag_dcomplex alpha = scalar(t), beta = scalar(t);
    part A = open_part(t, a, DAG_PART_READ), C = open_part(t, c, DAG_PART_RW);
    must(t, dag_syrk(t->ctx, uplo, trans, alpha, A.M, beta, C.M));
    cblas_zsyrk(CblasColMajor, (CBLAS_UPLO)uplo, plain(trans), (int)n, (int)k, &alpha, a.a, ld(a),
                &beta, c.a, ld(c));
    close_read(&A);
    close_as(&C, c, 40);
    free_three(a, c, (whole){0});
}

static void herk(trial *t)
{
    int64_t n = order(t), k = pick(t, 1, 30);
    dag_uplo uplo = pick_uplo(t);
    dag_trans trans = pick_trans(t, 0, 1);
    whole a = op_whole(t, trans, n, k), c = random_whole(t, n, n);
    double alpha = (double)pick(t, 1, 9) / 4, beta = (double)pick(t, 1, 9) / 4;
    part A = open_part(t, a, DAG_PART_READ), C = open_part(t, c, DAG_PART_RW);
    must(t, dag_herk(t->ctx, uplo, trans, alpha, A.M, beta, C.M));
    cblas_zherk(CblasColMajor, (CBLAS_UPLO)uplo, adjoint(trans), (int)n, (int)k, alpha, a.a, ld(a),
                beta, c.a, ld(c));
    close_read(&A);
    close_as(&C, c, 40);
    free_three(a, c, (whole){0});
}

static void syr2k(trial *t)
{
    int64_t n = order(t), k = order(t);
    dag_uplo uplo = pick_uplo(t);
    dag_trans trans = pick_trans(t, 1, 0);
    whole a = op_whole(t, trans, n, k), b = op_whole(t, trans, n, k), c = random_whole(t, n, n);
    dag_dcomplex alpha = scalar(t), beta = scalar(t);
    part A = open_part(t, a, DAG_PART_READ), B = open_part(t, b, DAG_PART_READ);
    part C = open_part(t, c, DAG_PART_RW);
    must(t, dag_syr2k(t->ctx, uplo, trans, alpha, A.M, B.M, beta, C.M));
    cblas_zsyr2k(CblasColMajor, (CBLAS_UPLO)uplo, plain(trans), (int)n, (int)k, &alpha, a.a, ld(a),
                 b.a, ld(b), &beta, c.a, ld(c));
    close_read(&A);
    close_read(&B);
    close_as(&C, c, 40);
    free_three(a, b, c);
}

static void her2k(trial *t)
{
    int64_t n = order(t), k = pick(t, 1, 30);
    dag_uplo uplo = pick_uplo(t);
    dag_trans trans = pick_trans(t, 0, 1);
    whole a = op_whole(t, trans, n, k), b = op_whole(t, trans, n, k), c = random_whole(t, n, n);
    dag_dcomplex alpha = scalar(t);
    double beta = (double)pick(t, 1, 9) / 4;
    part A = open_part(t, a, DAG_PART_READ), B = open_part(t, b, DAG_PART_READ);
    part C = open_part(t, c, DAG_PART_RW);
    must(t, dag_her2k(t->ctx, uplo, trans, alpha, A.M, B.M, beta, C.M));
    cblas_zher2k(CblasColMajor, (CBLAS_UPLO)uplo, adjoint(trans), (int)n, (int)k, &alpha, a.a,
                 ld(a), b.a, ld(b), beta, c.a, ld(c));
    close_read(&A);
    close_read(&B);
    close_as(&C, c, 40);
    free_three(a, b, c);
}

static void triangle(trial *t, int solve)
{
    int64_t m = order(t), n = order(t);
    dag_side side = pick_side(t);
    dag_uplo uplo = pick_uplo(t);
    dag_trans trans = pick_trans(t, 1, 1);
    dag_diag diag = pick_diag(t);
    int64_t k = side == DAG_LEFT ? m : n;
    whole a = dominant(t, k, k), b = random_whole(t, m, n);
    dag_dcomplex alpha = scalar(t);
    part A = open_part(t, a, DAG_PART_READ), B = open_part(t, b, DAG_PART_RW);
    must(t, (solve ? dag_trsm : dag_trmm)(t->ctx, side, uplo, trans, diag, alpha, A.M, B.M));
    (solve ? cblas_ztrsm : cblas_ztrmm)(CblasColMajor, (CBLAS_SIDE)side, (CBLAS_UPLO)uplo,
                                        (CBLAS_TRANSPOSE)trans, (CBLAS_DIAG)diag, (int)m, (int)n,
                                        &alpha, a.a, ld(a), b.a, ld(b));
    close_read(&A);
    close_as(&B, b, 40);
    free_three(a, b, (whole){0});
}

static void trmm(trial *t)
{
    triangle(t, 0);
}

static void trsm(trial *t)
{
    triangle(t, 1);
}

static void trtrs(trial *t)
{
    int64_t n = order(t), nrhs = order(t), info = -1;
    dag_uplo uplo = pick_uplo(t);
    dag_trans trans = pick_trans(t, 1, 1);
    dag_diag diag = pick_diag(t);
    whole a = dominant(t, n, n), b = random_whole(t, n, nrhs);
    part A = open_part(t, a, DAG_PART_READ), B = open_part(t, b, DAG_PART_RW);
    must(t, dag_trtrs(t->ctx, uplo, trans, diag, A.M, B.M, &info));
    if (info != LAPACKE_ztrtrs(LAPACK_COL_MAJOR, letter(uplo), letter(trans), letter(diag), (int)n,
                               (int)nrhs, a.a, ld(a), b.a, ld(b)))
        wrong(t, "info", (double)info);
    close_read(&A);
    close_as(&B, b, 40);
    free_three(a, b, (whole){0});
}

const routine_row blas3_rows[] = {
    {"gemm", gemm}, {"symm", symm},   {"hemm", hemm},   {"syrk", syrk},
    {"herk", herk}, {"syr2k", syr2k}, {"her2k", her2k}, {"trmm", trmm},
    {"trsm", trsm}, {"trtrs", trtrs}, {NULL, NULL},
};
