/* dag_gemm: product of random matrices. */
#include "products.h"

static const driver gemm = {
    .name = "gemm",
    .residual = PRODUCTS_RESIDUAL,
    .purpose =
        "Product C := op(A) op(B) / 2 - C of random matrices; op(A) is M x K, op(B) is\n"
        "K x N, and M and K are N if they are not given.\n\n" PRODUCTS_CHECK,
    .run = products_run,
};

int main(int argc, char **argv)
{
    return driver_main(&gemm, argc, argv);
}
