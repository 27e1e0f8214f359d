/* dag_gemm: product of random matrices. */
#include "products.h"

static dag_status run(dag_context *ctx, const options *o, report *r)
{
    return products_run(ctx, "gemm", o, r);
}

static const driver gemm = {
    .name = "gemm",
    .residual = PRODUCTS_RESIDUAL,
    .purpose =
        "Product C := op(A) op(B) / 2 - C of random matrices; op(A) is M x K, op(B) is\n"
        "K x N, and M and K are N if they are not given.\n\n" PRODUCTS_CHECK,
    .run = run,
};

int main(int argc, char **argv)
{
    return driver_main(&gemm, argc, argv);
}
