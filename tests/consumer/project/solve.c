/* Factors a random matrix with the library of algorithms. */
#include <dag/la.h>

#include <stdio.h>

int main(void)
{
    const dag_matrix_desc desc = {.prec = DAG_D, .m = 50, .n = 50, .nb = 16};
    dag_context *context;
    dag_matrix *a;
    char why[256];
    int64_t info = -1;

    if (dag_init(&context, NULL, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "solve: %s\n", why);
        return 1;
    }
    if (dag_matrix_new(context, &desc, &a) != DAG_SUCCESS ||
        dag_plghe(context, a, 50, 1) != DAG_SUCCESS ||
        dag_potrf(context, DAG_LOWER, a, &info) != DAG_SUCCESS) {
        fprintf(stderr, "solve: %s\n", dag_message(context));
        return 1;
    }
    printf("solve: info %lld\n", (long long)info);
    dag_matrix_free(a);
    return dag_fini(context) != DAG_SUCCESS || info != 0;
}
