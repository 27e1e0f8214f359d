/* The engine of one process: nobody is there to send to. */
#include "../engine.h"

#include <stdio.h>
#include <stdlib.h>

static dag_status self_agree(dagi_engine *e, dag_status mine, int *origin)
{
    (void)e;
    *origin = 0;
    return mine;
}

static void self_fini(dagi_engine *e)
{
    free(e);
}

/* There is nobody to send to: comm/ never calls these with one rank. */
static _Noreturn void self_unreachable(void)
{
    fputs("dag: internal error: a message in a job of one process\n", stderr);
    abort();
}

static void *self_am_begin(dagi_engine *e, int dest, int control, size_t bytes, int64_t bulk)
{
    (void)e, (void)dest, (void)control, (void)bytes, (void)bulk;
    self_unreachable();
}

static void self_am_send(dagi_engine *e)
{
    (void)e;
    self_unreachable();
}

static size_t self_am_max(const dagi_engine *e)
{
    (void)e;
    return 0;
}

static void self_am_counts(const dagi_engine *e, int64_t *sent, int64_t *received)
{
    (void)e;
    *sent = *received = 0;
}

static uint32_t self_tag_find(dagi_engine *e, int peer, int count)
{
    (void)e, (void)peer, (void)count;
    self_unreachable();
}

static void self_tag_take(dagi_engine *e, int dest, uint32_t first, int count)
{
    (void)e, (void)dest, (void)first, (void)count;
    self_unreachable();
}

static void self_bulk(dagi_engine *e, int peer, uint32_t tag, const dagi_view *v, dagi_done_fn done,
                      void *arg)
{
    (void)e, (void)peer, (void)tag, (void)v, (void)done, (void)arg;
    self_unreachable();
}

static int self_progress(dagi_engine *e)
{
    (void)e;
    return 0;
}

static void self_call(dagi_engine *e)
{
    (void)e;
}

static int self_under_way(const dagi_engine *e)
{
    (void)e;
    return 0;
}

static const dagi_engine_ops self_ops = {
    .name = "self",
    .agree = self_agree,
    .fini = self_fini,
    .am_begin = self_am_begin,
    .am_send = self_am_send,
    .am_max = self_am_max,
    .am_counts = self_am_counts,
    .tag_find = self_tag_find,
    .tag_take = self_tag_take,
    .tag_ask = self_tag_find,
    .send = self_bulk,
    .recv = self_bulk,
    .progress = self_progress,
    .call = self_call,
    .under_way = self_under_way,
};

static int self_offered(const dagi_engine_options *options)
{
    return !options->comm;
}

static int self_is_up(void)
{
    return 0;
}

static dag_status self_new(const dagi_engine_options *options, dagi_engine **out, char *why,
                           size_t why_size)
{
    if (options->comm) {
        snprintf(why, why_size, "a communicator was given, which the engine 'self' has no use for");
        return DAG_ERR_UNSUPPORTED;
    }
    dagi_engine *e = calloc(1, sizeof *e);
    if (!e) {
        snprintf(why, why_size, "out of memory");
        return DAG_ERR_NOMEM;
    }
    e->ops = &self_ops;
    e->size = 1;
    e->sharing = e->device_sharing = 1;
    *out = e;
    return DAG_SUCCESS;
}

const dagi_engine_kind dagi_engine_self = {"self", self_offered, self_is_up, self_new};
