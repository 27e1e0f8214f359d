/* A described node, for programs that ask what kernels take there (dag/node.h). */
#include <dag/node.h>

#include "../device/choice.h"
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

/* ---- what tasks are expected to take -------------------------------------------------------- */

struct dag_node_times {
    dagi_choice *choice;
    dagi_choice_class *of[]; /* [kinds] */
};

dag_node_times *dag_node_times_new(int kinds)
{
    const dagi_choice_place places[] = {{"cores"}, {"device"}};
    dag_node_times *t = calloc(1, sizeof *t + (size_t)kinds * sizeof *t->of);
    if (!t)
        return NULL;
    t->choice = dagi_choice_new(places, 2);
    for (int i = 0; t->choice && i < kinds; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        t->of[i] = dagi_choice_class_of(t->choice, "", DAG_D, name);
        if (!t->of[i]) {
            dagi_choice_free(t->choice);
            t->choice = NULL;
        }
    }
    if (t->choice)
        return t;
    free(t);
    return NULL;
}

void dag_node_times_free(dag_node_times *t)
{
    if (!t)
        return;
    dagi_choice_free(t->choice);
    free(t);
}

double dag_node_expect(dag_node_times *t, int kind, int on_device, double bytes, double seconds)
{
    dagi_choice_class *cls = t->of[kind];
    uint64_t size = (uint64_t)bytes;
    int place = on_device != 0; /* as of new() */
    int times = dagi_choice_known(t->choice, cls, place, size) > 0 ? 1 : DAGI_CHOICE_TRIES;
    while (times-- > 0)
        dagi_choice_learn(t->choice, cls, place, size, seconds);
    return dagi_choice_expect(t->choice, cls, place, size);
}
