#include "la/cut.h"

#include "la/split_choice.h"

/* As the settings say, or the list schedule where they leave it to that. */
static dag_status wanted_cut(dag_context *ctx, const dagi_cut_of *of, int *wanted, dag_split_desc *desc)
{
    dag_split_choice choice;
    dag_status status = dag_split_settings(ctx, wanted, desc);
    if (status != DAG_SUCCESS || *wanted != DAG_SPLIT_AUTO)
        return status;
    status = dagi_split_choose(ctx, of, &choice);
    if (status == DAG_SUCCESS) {
        *wanted = dag_devices(ctx) > 0; /* also whole ones, as they were predicted */
        desc->s = choice.s;
        desc->b = choice.b;
        desc->placement = choice.placement;
        desc->update = choice.update;
    }
    return status;
}

bool dagi_cut_wanted(dag_context *ctx, const dagi_cut_of *of, int by_rows, dag_split_desc *desc)
{
    int wanted = 0;
    dag_status status = wanted_cut(ctx, of, &wanted, desc);
    desc->by_rows = by_rows;
    desc->devices = dag_devices(ctx);
    return status == DAG_SUCCESS && wanted;
}

void dagi_judge_tiles_cut(dagi_check *c, const dagi_cut_of *of, int by_rows, const dag_matrix *A)
{
    dag_split_desc desc = {0};
    dag_split unused;
    int wanted = 0;
    if (c->status == DAG_SUCCESS && wanted_cut(c->ctx, of, &wanted, &desc) != DAG_SUCCESS)
        dagi_check_fail(c, "%s", dag_message(c->ctx));
    const int64_t cut[] = {wanted, desc.s, desc.b, desc.update};
    dagi_check_same(c, "split", cut, sizeof cut);
    if (c->status == DAG_SUCCESS && wanted && dagi_cut(c->ctx, of, by_rows, &desc) &&
        dag_split_view(A, &desc, &unused) != DAG_SUCCESS)
        dagi_check_fail(c, "%s", dag_message(c->ctx));
}
