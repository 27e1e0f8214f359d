/* Which grid of ranks suits a routine: the case that this job is; grid_rule.c has the rule. */
#include "grid.h"

#include <unistd.h>

double dagi_la_host_number(void)
{
    char host[256] = "";
    uint32_t hash = 1;
    (void)gethostname(host, sizeof(host) - 1);
    for (const char *c = host; *c != '\0'; c++)
        hash = hash * 257 + (unsigned char)*c;
    return hash;
}

/* How many ranks are on the node of rank 0. Where ranks are played the machine's description says it: to
 * count them would count one. */
static dag_status count_together(dag_context *ctx, int *together)
{
    dag_simulation played;
    if (dag_simulation_get(ctx, &played)) {
        *together = played.node_ranks < dag_size(ctx) ? played.node_ranks : dag_size(ctx);
        return DAG_SUCCESS;
    }
    double host = dagi_la_host_number(), first = dag_rank(ctx) == 0 ? host : 0;
    dag_status status = dag_allreduce(ctx, DAG_SUM, &first, 1);
    double here = first == host;
    if (status == DAG_SUCCESS)
        status = dag_allreduce(ctx, DAG_SUM, &here, 1);
    *together = (int)here;
    return status;
}

dag_status dag_la_grid(dag_context *ctx, const char *routine, int64_t m, int64_t n, int64_t nb,
                       dag_grid_choice *choice)
{
    int together = 0;
    dag_status status = count_together(ctx, &together);
    const dagi_grid_case c = {routine, dag_size(ctx), together, m, n, nb > 0 ? nb : 128};
    if (status == DAG_SUCCESS)
        dagi_grid_rule(&c, choice);
    return status;
}
