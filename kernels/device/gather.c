/* Products and solves of several tasks in one launch, see gather.h. */
#include "gather.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { TASKS = 64, CALLS = 4 /* of a task, about */ };

typedef struct gathering {
    dag_device_queue *queue;
    int step;   /* of the next call of this task */
    int alone;  /* 1: nothing more of this task is kept */
    int before; /* 1: something of the tasks before this one was enqueued */
    int passed; /* 1: something of this one */
    int first;  /* of its calls */
    int count, room;
    dagi_gathered call[];
} gathering;

/* NULL: nothing is gathered, and while what was gathered is launched. */
static _Thread_local gathering *now;
_Atomic int dagi_gathering;

bool dagi_gathers(const dag_device_queue *queue)
{
    return now && now->queue == queue && !now->alone;
}

/* ---- launches ------------------------------------------------------------------------------------ */

#define DAG_TEMPLATE "device/gather.inc.c"
#include <dag/each_precision.h>

static void launch(dag_device_queue *queue, const dagi_gathered *const *calls, int count)
{
    switch (calls[0]->form.precision) {
    case DAG_S:
        dag_tile_slaunch_gathered(queue, calls, count);
        break;
    case DAG_D:
        dag_tile_dlaunch_gathered(queue, calls, count);
        break;
    case DAG_C:
        dag_tile_claunch_gathered(queue, calls, count);
        break;
    case DAG_Z:
        dag_tile_zlaunch_gathered(queue, calls, count);
        break;
    }
}

/* Launch all calls of this step, and say how many there were. Those of a form are from different tasks. */
static int launch_step(dag_device_queue *queue, const gathering *g, int step)
{
    const dagi_gathered *alike[TASKS];
    bool taken[TASKS * CALLS] = {false};
    int launched = 0;
    for (int i = 0; i < g->count; i++) {
        int count = 0;
        if (taken[i] || g->call[i].form.step != step)
            continue;
        for (int k = i; k < g->count; k++) {
            if (taken[k] || memcmp(&g->call[k].form, &g->call[i].form, sizeof g->call[i].form) != 0)
                continue;
            alike[count++] = &g->call[k];
            taken[k] = true;
        }
        launch(queue, alike, count);
        launched += count;
    }
    return launched;
}

/* What is kept is launched, as if nothing were gathered. */
static void launch_all(gathering *g)
{
    double flops = dag_kernels_launched_flops();
    now = NULL;
    for (int step = 0, left = g->count; left > 0; step++)
        left -= launch_step(g->queue, g, step);
    now = g;
    g->before |= g->first > 0;
    g->passed |= g->count > g->first;
    g->count = g->first = 0;
    dagi_launched_before(flops);
}

void dagi_gather(const dagi_gathered *call)
{
    if (now->count == now->room) {
        launch_all(now);
        now->step = 0;
    }
    now->call[now->count] = *call;
    now->call[now->count++].form.step = now->step++;
}

/* ---- for the runtime ----------------------------------------------------------------------------- */

int dag_kernels_gather_begin(dag_device_queue *queue, int tasks)
{
    assert(!now);
    gathering *g = tasks > TASKS ? NULL : malloc(sizeof *g + (size_t)tasks * CALLS * sizeof *g->call);
    if (!g)
        return 0;
    *g = (gathering){.queue = queue, .room = tasks * CALLS};
    now = g;
    atomic_fetch_add_explicit(&dagi_gathering, 1, memory_order_relaxed);
    return 1;
}

void dag_kernels_gather_task(void)
{
    now->before |= now->passed;
    now->first = now->count;
    now->step = now->alone = now->passed = 0;
}

void dag_kernels_gather_pass(int rest)
{
    gathering *g = now;
    if (!g)
        return;
    if (g->step > 0)
        launch_all(g);
    g->step = 0;
    g->alone |= rest;
    g->passed = 1;
}

int dag_kernels_gather_end(int launch)
{
    gathering *g = now;
    int before = g->before;
    if (launch)
        launch_all(g);
    now = NULL;
    atomic_fetch_sub_explicit(&dagi_gathering, 1, memory_order_relaxed);
    free(g);
    return before;
}
