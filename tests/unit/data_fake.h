/*
 * A context, a worker and a pool on the floors up to task/, without a runtime that runs: ports are
 * empty, but for what a test fills in.
 */
#ifndef DATA_FAKE_H
#define DATA_FAKE_H

#include "../../runtime/task/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pinned memory, when tests want some. */
static int fake_pinning, fake_pins;
static size_t fake_pinned_bytes;

static int fake_pin(dag_context *context, void *at, size_t bytes)
{
    (void)context;
    (void)at;
    fake_pins += fake_pinning;
    fake_pinned_bytes = bytes;
    return fake_pinning;
}

static void fake_unpin(void *at)
{
    (void)at;
    fake_pins--;
}

static void fake_leave(dag_collection *c, int content)
{
    (void)content;
    if (c->residence != 0)
        abort();
}

static dag_status fake_come_home(dag_context *context, dag_collection *c)
{
    (void)context;
    return c->residence != 0 ? DAG_ERR_INTERNAL : DAG_SUCCESS;
}

static const dagi_layout_port fake_layout_port = {fake_pin, fake_unpin, fake_leave, fake_come_home};

static void fake_context(struct dagi_tasks *tasks, int rank, int size)
{
    memset((void *)tasks, 0, sizeof(*tasks));
    tasks->context.rank = rank;
    tasks->context.size = size;
    tasks->context.values = dagi_value_depot_new();
    pthread_mutex_init(&tasks->context.message_lock, NULL);
    pthread_mutex_init(&tasks->pools_lock, NULL);
    atomic_store(&dagi_layout_port_used, &fake_layout_port);
}

static void fake_context_end(struct dagi_tasks *tasks)
{
    dagi_value_depot_free(tasks->context.values);
    pthread_mutex_destroy(&tasks->context.message_lock);
    pthread_mutex_destroy(&tasks->pools_lock);
}

__attribute__((unused)) static void fake_worker(dag_context *ctx, struct dagi_worker *w)
{
    memset((void *)w, 0, sizeof(*w));
    w->ctx = ctx;
    w->values = dagi_value_cache_new(ctx->values);
}

__attribute__((unused)) static void fake_worker_end(struct dagi_worker *w)
{
    dagi_value_cache_free(w->values);
}

#endif
