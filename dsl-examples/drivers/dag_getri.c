/* dag_getri: inverse of a general matrix, random or from a file. */
#include "inverse.h"

static dag_status run(dag_context *ctx, const options *o, report *r)
{
    return inverse_run(ctx, o, 0, r);
}

static const driver getri = {
    .name = "getri",
    .residual = INVERSE_RESIDUAL,
    .purpose =
        "Inverse of a general matrix by LU factorisation with partial pivoting: of a\n"
        "random one of order N, or of a square one from a Matrix Market file.\n\n"
        INVERSE_CHECK,
    .run = run,
};

int main(int argc, char **argv)
{
    return driver_main(&getri, argc, argv);
}
