#include "la/cut.h"

bool dagi_cut(dag_context *ctx, int by_rows, dag_split_desc *desc)
{
    int wanted = 0;
    dag_status status = dag_split_settings(ctx, &wanted, desc);
    desc->by_rows = by_rows;
    desc->devices = dag_devices(ctx);
    return status == DAG_SUCCESS && wanted;
}

void dagi_check_tiles_cut(dagi_check *c, int by_rows, const dag_matrix *A)
{
    dag_split_desc desc = {0};
    dag_split unused;
    int wanted = 0;
    if (c->status == DAG_SUCCESS && dag_split_settings(c->ctx, &wanted, &desc) != DAG_SUCCESS)
        dagi_check_fail(c, "%s", dag_message(c->ctx));
    const int64_t cut[] = {wanted, desc.s, desc.b};
    dagi_check_same(c, "split", cut, sizeof cut);
    if (c->status == DAG_SUCCESS && wanted && dagi_cut(c->ctx, by_rows, &desc) &&
        dag_split_view(A, &desc, &unused) != DAG_SUCCESS)
        dagi_check_fail(c, "%s", dag_message(c->ctx));
}
