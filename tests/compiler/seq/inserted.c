/* What --emit=insert made of a nest, for run.c: PROGRAM is the file, INSERTED the function, ARGS are its arguments. */
#include PROGRAM

#include "inserted.h"

dag_status run_inserted(dag_context *ctx, dag_matrix *const *m)
{
    dag_matrix *A = m[0], *B = m[1], *C = m[2];
    (void)A, (void)B, (void)C;
    dag_status status = INSERTED(ctx, ARGS);
    if (status != DAG_SUCCESS)
        fprintf(stderr, "%s: %s\n", dag_strerror(status), dag_message(ctx));
    return status == DAG_SUCCESS && dag_seq_info != 0 ? DAG_ERR_INTERNAL : status;
}
