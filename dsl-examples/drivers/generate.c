/* Matrices of the gallery, by --matgen: made, and given again to judge results. */
#include "generate.h"

#include <string.h>

/* A process has one matrix, however often it makes it. */
static struct made {
    dag_maker *maker;
    int64_t m, n;
    dag_precision prec;
    dag_uplo uplo;
    int rank, size;
} made;

bool generate_knows(const char *kind)
{
    const char *known;
    for (int i = 0; (known = dag_maker_kind(i)) != NULL; i++)
        if (strcmp(known, kind) == 0)
            return true;
    return false;
}

/* As it is in the matrix: rounded, and of a triangle the mirror image in the other one. */
static void element(int64_t i, int64_t j, double part[2])
{
    bool mirrored = made.uplo != DAG_GENERAL && i != j && (i > j) != (made.uplo == DAG_LOWER);
    dag_maker_element(made.maker, mirrored ? j : i, mirrored ? i : j, part);
    if (mirrored)
        part[1] = -part[1];
    if (made.uplo != DAG_GENERAL && i == j)
        part[1] = 0;
    if (dag_precision_real(made.prec) == DAG_S)
        for (int k = 0; k < 2; k++)
            part[k] = (double)(float)part[k];
}

/* Column by column, in turn. */
static dag_status each(void *arg, dag_element_fn add, void *to)
{
    (void)arg;
    for (int64_t j = made.rank; j < made.n; j += made.size)
        for (int64_t i = 0; i < made.m; i++) {
            double part[2];
            element(i, j, part);
            add(to, i, j, part[0], part[1]);
        }
    return DAG_SUCCESS;
}

dag_status generate(dag_context *ctx, const options *o, dag_matrix *A, dag_element_source *source)
{
    const dag_maker_desc desc = {.kind = o->matgen, .m = A->m, .n = A->n, .seed = o->seed,
                                 .is_complex = dag_precision_is_complex(o->prec)};
    dag_maker *maker = NULL;
    dag_status status = driver_agreed(ctx, dag_maker_new(ctx, &desc, &maker));
    if (status != DAG_SUCCESS) {
        dag_maker_free(maker);
        return status;
    }
    dag_maker_free(made.maker);
    made = (struct made){maker, A->m, A->n, A->prec, A->uplo, dag_rank(ctx), dag_size(ctx)};
    *source = (dag_element_source){each, NULL};
    return driver_collective(ctx, dag_maker_fill(ctx, maker, A));
}

void generate_end(void)
{
    dag_maker_free(made.maker);
    made.maker = NULL;
}
