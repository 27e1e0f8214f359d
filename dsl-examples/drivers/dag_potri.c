/* dag_potri: inverse of a positive definite matrix, random or from a file. */
#include "inverse.h"

static dag_status run(dag_context *ctx, const options *o, report *r)
{
    return inverse_run(ctx, o, 1, r);
}

static const driver potri = {
    .name = "potri",
    .residual = INVERSE_RESIDUAL,
    .purpose =
        "Inverse of a symmetric or Hermitian positive definite matrix by Cholesky\n"
        "factorisation: of a random one of order N, or of one from a Matrix Market file.\n\n"
        INVERSE_CHECK,
    .run = run,
};

int main(int argc, char **argv)
{
    return driver_main(&potri, argc, argv);
}
