/* A described node, for programs that ask what kernels take there (dag/node.h). */
#include <dag/node.h>

#include "machine.h"

#include <stdlib.h>

typedef struct node {
    dag_node head; /* first: what programs have */
    dagi_sim_machine machine;
} node;

/* The head of a node: that of rank 0, which has the most devices. */
static dag_node head_of(const dagi_sim_machine *m)
{
    dag_node n = {.workers = (int)m->workers, .devices = dagi_sim_devices_of(m, 0),
                  .streams = (int)m->devices.streams, .memory = m->devices.memory,
                  .latency = dagi_sim_in_seconds(m->devices.link.latency), .in = m->devices.link.bandwidth,
                  .out = m->devices.back, .task = dagi_sim_in_seconds(m->task)};
    n.links = m->devices.links > 0 && m->devices.links < n.devices ? (int)m->devices.links : n.devices;
    snprintf(n.name, sizeof n.name, "%s", m->name);
    return n;
}

dag_node *dag_node_new(dag_context *context)
{
    char why[512] = "";
    const char *path = context->settings.machine;
    node *n = calloc(1, sizeof *n);
    if (!n) {
        (void)dag_error(context, DAG_ERR_NOMEM, "dag_node_new: out of memory");
        return NULL;
    }
    dag_status status = dagi_sim_machine_read(&n->machine, path, why, sizeof why);
    if (status == DAG_SUCCESS) {
        n->head = head_of(&n->machine);
        return &n->head;
    }
    (void)dag_error(context, status, "dag_node_new: %s", why);
    dag_node_free(&n->head);
    return NULL;
}

void dag_node_free(dag_node *n)
{
    node *own = (node *)(void *)n;
    if (!own)
        return;
    dagi_sim_machine_fini(&own->machine);
    free(own);
}

double dag_node_kernel(dag_node *n, int on_device, const dag_kernel_call *call, double *filled)
{
    dagi_sim_machine *m = &((node *)(void *)n)->machine;
    dagi_sim_time alone = 0, full = 0;
    int lacks = 0;
    if (on_device)
        lacks = dagi_sim_device_time(m, call, &alone, &full);
    else
        alone = full = dagi_sim_kernel_time(m, call);
    if (filled)
        *filled = dagi_sim_in_seconds(full);
    return lacks ? -1 : dagi_sim_in_seconds(alone);
}
