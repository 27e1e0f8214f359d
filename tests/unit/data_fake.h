/*
 * A context, workers and a pool without the rest of the runtime, for the tests of runtime/data:
 * what data calls in core is defined here, and errors are kept instead of reported.
 */
#ifndef DATA_FAKE_H
#define DATA_FAKE_H

#include "../../runtime/comm/comm.h"
#include "../../runtime/core/core.h"
#include "../../runtime/data/data.h"
#include "../../runtime/watch/race.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char fake_error[512]; /* the last graph error, failure or message */
static dag_status fake_failure;

static void fake_keep(const char *format, va_list args)
{
    vsnprintf(fake_error, sizeof(fake_error), format, args);
}

#define KEEP(format)                                                                               \
    do {                                                                                           \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        fake_keep(format, args);                                                                   \
        va_end(args);                                                                              \
    } while (0)

void dagi_set_message(dag_context *ctx, const char *format, ...)
{
    (void)ctx;
    KEEP(format);
}

void dagi_pool_fail(dag_taskpool *pool, dag_status status, const char *format, ...)
{
    atomic_store(&pool->poisoned, 1);
    fake_failure = status;
    KEEP(format);
}

void dag_graph_error(const void *globals, const dag_class *cls, const int32_t *locals, int line,
                     const char *format, ...)
{
    (void)globals;
    (void)cls;
    (void)locals;
    (void)line;
    fake_failure = DAG_ERR_GRAPH;
    KEEP(format);
}

size_t dagi_describe(char *text, size_t size, const dag_class *cls, const int32_t *locals)
{
    (void)locals;
    return (size_t)snprintf(text, size, "%s(...)", cls->name);
}

const char *dag_strerror(dag_status status)
{
    (void)status;
    return "some error";
}

/* The check for races is off in a fake context. */
void dagi_race_store(struct dag_task *t, int flow, const dag_collection *collection,
                     const dag_element *e, int region)
{
    (void)t;
    (void)flow;
    (void)collection;
    (void)e;
    (void)region;
    abort();
}

#include "../../runtime/device/device.h"

/* There are no devices. */
int dagi_device_forget(dag_value *v)
{
    (void)v;
    abort();
}

#include "../../runtime/device/resident.h"

dag_value *dagi_resident_bind(dag_taskpool *p, struct dagi_residence *home,
                              const dag_element *e, uint32_t flags)
{
    (void)p;
    (void)home;
    (void)e;
    (void)flags;
    abort();
}

void dagi_resident_rest(struct dagi_worker *w, dag_value *value)
{
    (void)w;
    (void)value;
    abort();
}

int dagi_resident_store(dag_taskpool *p, struct dagi_residence *home, const dag_element *e,
                        dag_value *value, dag_region region)
{
    (void)p;
    (void)home;
    (void)e;
    (void)value;
    (void)region;
    abort();
}

void dagi_pool_drop(struct dagi_worker *w, dag_taskpool *p)
{
    (void)w;
    (void)p;
    abort();
}

struct dagi_residence *dagi_residence_of(const dag_collection *c)
{
    (void)c;
    return NULL;
}

int dagi_resident_stays(const struct dagi_residence *home)
{
    return home != NULL;
}

dag_status dag_resident_drop(dag_context *context, dag_collection *c)
{
    (void)context;
    (void)c;
    abort();
}

void dagi_residence_leave(dag_collection *c, int content)
{
    (void)content;
    if (c->residence != 0)
        abort();
}

/* Pinned memory, when tests want some. */
static int fake_pinning, fake_pins;
static size_t fake_pinned_bytes;

int dagi_device_pin(dag_context *context, void *at, size_t bytes)
{
    (void)context;
    (void)at;
    fake_pins += fake_pinning;
    fake_pinned_bytes = bytes;
    return fake_pinning;
}

void dagi_device_unpin(void *at)
{
    (void)at;
    fake_pins--;
}

int dag_rank(const dag_context *context)
{
    return context->rank;
}

int dag_size(const dag_context *context)
{
    return context->size;
}

static void fake_context(dag_context *ctx, int rank, int size)
{
    memset(ctx, 0, sizeof(*ctx));
    ctx->rank = rank;
    ctx->size = size;
    ctx->values = dagi_value_depot_new();
    fake_error[0] = '\0';
    fake_failure = DAG_SUCCESS;
}

static void fake_context_end(dag_context *ctx)
{
    dagi_value_depot_free(ctx->values);
}

__attribute__((unused)) static void fake_worker(dag_context *ctx, struct dagi_worker *w)
{
    memset(w, 0, sizeof(*w));
    w->ctx = ctx;
    w->values = dagi_value_cache_new(ctx->values);
}

__attribute__((unused)) static void fake_worker_end(struct dagi_worker *w)
{
    dagi_value_cache_free(w->values);
}

#endif
