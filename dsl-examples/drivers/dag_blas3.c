/* dag_blas3: any routine of level 3 of BLAS on random matrices. */
#include "products.h"

static const driver blas3 = {
    .name = "blas3",
    .residual = PRODUCTS_RESIDUAL,
    .purpose =
        "A routine of level 3 of BLAS on random matrices, with alpha = 1/2, beta = -1:\n"
        "  gemm          C := alpha op(A) op(B) + beta C, op(A) M x K, op(B) K x N\n"
        "  symm, hemm    C := alpha A B + beta C, or B A with --side right; C is M x N\n"
        "  syrk, herk    C := alpha op(A) op(A)^T + beta C (or ^H), op(A) N x K\n"
        "  syr2k, her2k  likewise with op(A) op(B)^T and op(B) op(A)^T\n"
        "  trmm, trsm    B := alpha op(A) B, or B op(A); op(A)^-1; B is M x N\n"
        "M and K are N if they are not given.\n\n" PRODUCTS_CHECK,
    .run = products_run,
};

int main(int argc, char **argv)
{
    return driver_main(&blas3, argc, argv);
}
