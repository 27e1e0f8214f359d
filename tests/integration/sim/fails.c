/*
 * A pool that fails in the midst of a simulated run, while its tasks wait for devices and run there and its messages are
 * on their way: it ends with what failed, nothing of it is left, and another pool runs as if it had not been.
 *
 *     DAG_SIMULATE=4 DAG_MACHINE=FILE sim_fails
 */
#include "fails.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { CHAINS = 24, STEPS = 12, NB = 480, ALL = CHAINS * STEPS + (CHAINS - 1) * STEPS };

static int faults;

static void expect(int holds, const char *what)
{
    if (!holds)
        fprintf(stderr, "sim_fails: %s\n", what);
    faults += !holds;
}

/* Its status, and how many tasks devices have run since. */
static dag_status play(dag_context *ctx, dag_matrix *a, int bad, dag_simulation *after)
{
    dag_taskpool *pool = fails_d_new(ctx, a, STEPS, bad);
    dag_status status = pool ? dag_add(ctx, pool) : DAG_ERR_NOMEM;
    if (status == DAG_SUCCESS)
        status = dag_wait(pool);
    if (pool)
        dag_taskpool_free(pool);
    dag_simulation_get(ctx, after);
    return status;
}

int main(void)
{
    char why[512];
    dag_context *ctx;
    dag_matrix *a;
    dag_simulation one, two, three;
    if (dag_init(&ctx, NULL, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "sim_fails: %s\n", why);
        return 1;
    }
    const dag_matrix_desc desc = {.prec = DAG_D, .m = CHAINS * NB, .n = NB, .mb = NB, .nb = NB,
                                  .p = dag_size(ctx), .q = 1};
    if (!dag_simulated(ctx) || dag_matrix_new(ctx, &desc, &a) != DAG_SUCCESS) {
        fprintf(stderr, "sim_fails: %s\n", dag_simulated(ctx) ? dag_message(ctx) : "set DAG_SIMULATE");
        return 1;
    }
    expect(play(ctx, a, 1, &one) != DAG_SUCCESS, "a pool with a task that fails ends well");
    expect(strstr(dag_message(ctx), "broken on purpose") != NULL, "its message does not say what has failed");
    expect(one.tasks < ALL, "all tasks of a pool that has failed have run");
    expect(play(ctx, a, 0, &two) == DAG_SUCCESS, "the next pool fails, too");
    expect(two.tasks - one.tasks == ALL, "the next pool has other tasks");
    expect(two.device_tasks > one.device_tasks, "the next pool runs nothing on devices");
    expect(play(ctx, a, 0, &three) == DAG_SUCCESS, "the third pool fails");
    expect(three.tasks - two.tasks == two.tasks - one.tasks, "the third pool has other tasks than the second");
    expect(three.device_tasks - two.device_tasks == two.device_tasks - one.device_tasks,
           "devices are left with less than they had before a pool failed");
    dag_matrix_free(a);
    expect(dag_fini(ctx) == DAG_SUCCESS, "it does not end well");
    return faults > 0;
}
