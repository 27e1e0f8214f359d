/*
 * Ports: what workers ask of floors above them between tasks. NULL where nobody listens.
 *
 *   messages  whoever is idle keeps communication moving, and sleeps where messages wake it
 *   manager   a worker that hands a task to a device looks after that device
 *   causes    what is known of why tasks wait in vain, for the report of a stall
 */
#ifndef DAGI_WORKER_PORT_H
#define DAGI_WORKER_PORT_H

#include "../base/base.h"

#include <stdio.h>

/* What the network holds in store. */
enum { DAGI_COMM_INCOMING = 1, DAGI_COMM_OUTGOING = 2 };

/* comm/; NULL with one rank. comm/comm.h says what each does. */
typedef struct dagi_messages_port {
    int (*progress)(struct dagi_worker *w);
    int (*congested)(const dag_context *ctx);
    int (*can_sleep)(const struct dagi_worker *w);
    int (*sleep)(struct dagi_worker *w, uint64_t idle, bool (*stay)(struct dagi_worker *w));
    void (*rouse)(dag_context *ctx);
    void (*wave)(struct dagi_worker *w);
    int (*outlook)(const dag_context *ctx);
} dagi_messages_port;

/* device/; NULL without devices. */
typedef struct dagi_manager_port {
    int (*wants)(struct dagi_worker *w);
    int (*progress)(struct dagi_worker *w);
    void (*leave)(struct dagi_worker *w);
    int (*manages)(const struct dagi_worker *w);
    int (*busy)(const dag_context *ctx);
} dagi_manager_port;

/* watch/: what it can say of the `waiting` tasks of a pool. */
typedef void (*dagi_causes_port)(dag_taskpool *pool, int64_t waiting, FILE *out);

#endif
