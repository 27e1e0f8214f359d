/* The frame of this floor: start and end, the progress lock, the inbox, dispatch of messages. */
#include "../net/bell.h"
#include "remote.h"

#include "../base/lock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dagi_comm_short(size_t bytes)
{
    fprintf(stderr, "dag: out of memory: %zu bytes for a message between ranks\n", bytes);
    abort();
}

void *dagi_comm_realloc(void *old, size_t bytes)
{
    void *p = realloc(old, bytes ? bytes : 1);
    if (!p)
        dagi_comm_short(bytes);
    return p;
}

void *dagi_comm_alloc(size_t bytes)
{
    return dagi_comm_realloc(NULL, bytes);
}

/* ---- lock and inbox --------------------------------------------------------------------- */

int dagi_comm_enter(dagi_comm *c, struct dagi_worker *w)
{
    if (atomic_load(&c->lock))
        return 0;
    if (dagi_tasks(c->ctx)
            ->single) { /* no other thread: the lock only keeps us from entering twice */
        atomic_store_explicit(&c->lock, 1, memory_order_relaxed);
    } else if ((c->engine->main_only && w->index != 0) ||
               atomic_exchange_explicit(&c->lock, 1, memory_order_acquire)) {
        return 0;
    }
    dagi_engine_take_turn(c->engine);
    c->w = w;
    if (c->direct.possible)
        dagi_device_choose(w);
    return 1;
}

void dagi_comm_post(dagi_comm *c, dagi_item *item)
{
    dagi_item *head = atomic_load_explicit(&c->inbox, memory_order_relaxed);
    do
        item->next = head;
    while (!atomic_compare_exchange_weak(&c->inbox, &head, item));
    atomic_fetch_add_explicit(&c->inbox_count, 1, memory_order_relaxed);
    if (c->engine->main_only && c->engine->bell) { /* the one who may handle it may be asleep */
        dagi_full_fence(); /* pairs with the one in dagi_bell_listen() */
        dagi_bell_call(c->engine->bell);
    }
}

static void handle_item(dagi_comm *c, dagi_item *item)
{
    switch (item->kind) {
    case DAGI_ITEM_SEND:
        dagi_send_launch(c, (dagi_send *)item);
        break;
    case DAGI_ITEM_POOL:
        dagi_agree_pool(c, ((dagi_pool_item *)item)->pool);
        free(item);
        break;
    case DAGI_ITEM_END:
        dagi_agree_local(c, (dagi_end_item *)item);
        free(item);
        break;
    }
}

/* Handle what others have left, in the order in which they did. Handling may leave more. */
int dagi_comm_drain(dagi_comm *c)
{
    int events = 0;
    while (atomic_load_explicit(&c->inbox, memory_order_relaxed)) {
        dagi_item *latest = atomic_exchange_explicit(&c->inbox, NULL, memory_order_acquire);
        dagi_item *first = NULL;
        int count = 0;
        for (; latest; count++) {
            dagi_item *next = latest->next;
            latest->next = first;
            first = latest;
            latest = next;
        }
        atomic_fetch_sub_explicit(&c->inbox_count, count, memory_order_relaxed);
        events += count;
        while (first) {
            dagi_item *next = first->next;
            handle_item(c, first);
            first = next;
        }
    }
    return events;
}

/* Where there are other threads, the store that releases and the look behind it are sequentially
 * consistent, and so are the post of an item and the look at the lock behind it (dagi_comm_enter()). So either
 * the poster finds the lock free, or the look finds its item. */
void dagi_comm_leave(dagi_comm *c)
{
    struct dagi_worker *w = c->w;
    if (c->engine->observer)
        dagi_observe_outlook(c);
    if (dagi_tasks(c->ctx)->single) {
        dagi_comm_drain(c);
        c->engine->ops->call(c->engine);
        dagi_engine_pass_turn(c->engine);
        atomic_store_explicit(&c->lock, 0, memory_order_relaxed);
        return;
    }
    do {
        dagi_comm_drain(c);
        c->engine->ops->call(c->engine);
        c->w = NULL;
        dagi_engine_pass_turn(c->engine);
        atomic_store(&c->lock, 0);
    } while (atomic_load(&c->inbox) && dagi_comm_enter(c, w));
}

/* ---- progress --------------------------------------------------------------------------- */

static void on_message(void *arg, int source, const void *data, size_t bytes)
{
    dagi_comm *c = arg;
    const uint8_t *first = data;
    switch (*first) {
    case DAGI_WIRE_ACTIVATE: dagi_recv_activate(c, source, data, bytes); break;
    case DAGI_WIRE_PIECES: dagi_recv_pieces(c, source, data); break;
    case DAGI_WIRE_READY: dagi_recv_ready(c, data); break;
    case DAGI_WIRE_GATE: dagi_gate_message(c, source, data); break;
    case DAGI_WIRE_END_UP:
    case DAGI_WIRE_END_DOWN: dagi_agree_message(c, *first, data, bytes); break;
    case DAGI_WIRE_BARRIER_UP:
    case DAGI_WIRE_BARRIER_DOWN: dagi_barrier_message(c, data); break;
    case DAGI_WIRE_WAVE: dagi_wave_message(c, data); break;
    case DAGI_AM_TRACE:
        if (c->engine->observer)
            c->engine->observer->trace(c->engine->observer_arg, source, data, bytes);
        break;
    default:
        fprintf(stderr, "dag: rank %d: message of unknown kind %d from rank %d: are all ranks of "
                "the same version?\n", c->rank, *first, source);
        abort();
    }
}

/* Look at the network until it gives nothing more, but come back now and then. */
static int progress_locked(dagi_comm *c)
{
    enum { ROUNDS = 16 };
    int events = dagi_comm_drain(c);
    if (c->size == 1)
        return events;
    c->engine->hold_credit = !atomic_load_explicit(&c->congested, memory_order_relaxed) &&
                             dagi_ready_many(c->ctx);
    for (int i = 0; i < ROUNDS; i++) {
        int now = c->engine->ops->progress(c->engine);
        now += dagi_recv_admit(c);
        if (DAGI_UNLIKELY(c->ahead.list != NULL))
            now += dagi_ahead_look(c);
        now += dagi_send_flush(c);
        now += dagi_comm_drain(c);
        if (!now)
            break;
        events += now;
    }
    return events;
}

int dagi_comm_progress(struct dagi_worker *w)
{
    dagi_comm *c = dagi_comm_of(w->ctx);
    if (!dagi_comm_enter(c, w))
        return -1;
    int events = progress_locked(c);
    dagi_comm_leave(c);
    return events;
}

/* ---- sleep -------------------------------------------------------------------------------- */

/* Nanoseconds. The longest sleep of a rank that is called whatever comes, and of rank 0 while it
 * has to ask whether a pool is over; and bounds of the sleep of one that is not always called: it
 * has transfers under way, which MPI may move in steps; chaos puts messages off; or there are ranks
 * on other nodes. */
enum { LONGEST_SLEEP = 2000000, LONGEST_OF_ASKER = 200000 };
enum { SHORTEST_IN_TRANSFER = 50000, LONGEST_IN_TRANSFER = 500000 };
enum { SHORTEST_UNCALLED = 5000, LONGEST_UNCALLED = 50000 };
/* Where there is no pool, and nobody waits in the library, others can wait as well. */
enum { SLEEP_WITHOUT_POOLS = 1000000 };

static uint64_t clamp(uint64_t x, uint64_t least, uint64_t most)
{
    return x < least ? least : x < most ? x : most;
}

static uint64_t longest_sleep(const dagi_comm *c, uint64_t idle)
{
    if (c->engine->near < c->size || c->ctx->settings.chaos) {
        if (!dagi_thread(c->w)->done && idle > SLEEP_WITHOUT_POOLS &&
            atomic_load(&dagi_tasks(c->ctx)->open.pools) == 0)
            return SLEEP_WITHOUT_POOLS;
        return clamp(idle / 8, SHORTEST_UNCALLED, LONGEST_UNCALLED);
    }
    if (c->engine->ops->under_way(c->engine))
        return clamp(idle / 4, SHORTEST_IN_TRANSFER, LONGEST_IN_TRANSFER);
    if (c->rank == 0 && atomic_load(&dagi_tasks(c->ctx)->open.uncounted) > 0)
        return LONGEST_OF_ASKER;
    return LONGEST_SLEEP;
}

int dagi_comm_can_sleep(const struct dagi_worker *w)
{
    const dagi_engine *e = dagi_comm_of(w->ctx)->engine;
    if (e->ops->wait)
        return dagi_tasks(w->ctx)->single;
    return e->bells && (w->index == 0 || !e->main_only);
}

/* There is one worker: what it waits for comes as a message. To handle that takes no time, so all of it was idle: no
 * events are told. */
static int sleep_blocked(dagi_comm *c, struct dagi_worker *w, bool (*stay)(struct dagi_worker *w))
{
    if (!dagi_comm_enter(c, w))
        return -1;
    int events = progress_locked(c);
    if (events <= 0 && !stay(w))
        c->engine->ops->wait(c->engine);
    dagi_comm_leave(c);
    return events;
}

int dagi_comm_blocks(const dag_context *ctx)
{
    return dagi_comm_of(ctx)->engine->ops->wait != NULL;
}

char *dagi_comm_nowhere(const dag_context *ctx, size_t *bytes)
{
    const dagi_engine *e = dagi_comm_of(ctx)->engine;
    *bytes = e->nowhere_bytes;
    return e->nowhere;
}

int dagi_comm_sleep(struct dagi_worker *w, uint64_t idle, bool (*stay)(struct dagi_worker *w))
{
    dagi_comm *c = dagi_comm_of(w->ctx);
    dagi_bell *bell = c->engine->bell;
    if (c->engine->ops->wait)
        return sleep_blocked(c, w, stay);
    int events = -1;
    uint64_t longest = 0;
    uint32_t heard = dagi_bell_listen(bell);
    if (dagi_comm_enter(c, w)) {
        events = progress_locked(c);
        longest = longest_sleep(c, idle);
        dagi_comm_leave(c);
    }
    if (events <= 0 && !stay(w)) /* where another worker is at it, it may have looked before us */
        dagi_bell_sleep(bell, heard, events < 0 ? SHORTEST_IN_TRANSFER : longest);
    dagi_bell_leave(bell);
    return events;
}

void dagi_comm_rouse(dag_context *ctx)
{
    dagi_bell_ring(dagi_comm_of(ctx)->engine->bell);
}

_Atomic int32_t *dagi_comm_computing(const dag_context *ctx)
{
    const dagi_comm *c = dagi_comm_of(ctx);
    dagi_bells *bells = c ? c->engine->bells : NULL;
    return bells ? &bells->computing : NULL;
}

const char *dagi_comm_no_bells(const dag_context *ctx)
{
    return dagi_comm_of(ctx)->engine->no_bells;
}

/* ---- back-pressure ------------------------------------------------------------------------ */

int dagi_comm_congested(const dag_context *ctx)
{
    const dagi_comm *c = dagi_comm_of(ctx);
    return atomic_load_explicit(&c->congested, memory_order_relaxed) ||
           atomic_load_explicit(&c->inbox_count, memory_order_relaxed) > DAGI_INBOX_MANY;
}

void dagi_comm_counts(dag_context *ctx, int64_t *sent, int64_t *received)
{
    dagi_engine *e = dagi_comm_of(ctx)->engine;
    e->ops->am_counts(e, sent, received);
}

int dagi_comm_one_thread(const dag_context *ctx)
{
    return dagi_comm_of(ctx)->engine->one_thread;
}

/* ---- ports -------------------------------------------------------------------------------- */

static const dagi_remote_port task_port = {
    .name = dagi_fanout_add,
    .none = dagi_fanout_empty,
    .forget = dagi_fanout_clear,
    .refs = dagi_fanout_refs,
    .send = dagi_comm_activate,
    .reader = dagi_fanout_reader,
    .pressed = dagi_comm_pressed,
    .pool_over = dagi_comm_pool_local_end,
};

static const dagi_messages_port worker_port = {
    .progress = dagi_comm_progress,
    .congested = dagi_comm_congested,
    .can_sleep = dagi_comm_can_sleep,
    .sleep = dagi_comm_sleep,
    .rouse = dagi_comm_rouse,
    .wave = dagi_comm_wave,
    .outlook = dagi_comm_outlook,
};

/* ---- start and end ---------------------------------------------------------------------- */

static dag_status give_up(dagi_engine *engine, char *why, size_t why_size)
{
    int origin;
    dagi_engine_take_turn(engine);
    engine->ops->agree(engine, DAG_ERR_NOMEM, &origin); /* the others wait for this */
    dagi_engine_pass_turn(engine);
    dagi_engine_end(engine);
    snprintf(why, why_size, "out of memory");
    return DAG_ERR_NOMEM;
}

static void free_tables(dagi_comm *c)
{
    free(c->out.heap);
    free(c->out.blocked);
    free(c->out.gate);
    free(c->early.shut);
}

static void follow_settings(const dag_context *ctx, dagi_engine_options *options)
{
    options->credit_bytes = ctx->settings.credit_bytes;
    options->eager_bytes = ctx->settings.eager_bytes;
    options->link_latency = ctx->settings.link_latency;
    options->link_rate = ctx->settings.link_rate;
    options->am_max = dagi_wire_max_bytes((size_t)ctx->settings.eager_bytes);
    options->chaos = ctx->settings.chaos;
    options->bells = ctx->settings.bells;
}

typedef struct listener {
    dag_context *ctx;
    const dagi_comm_told *told;
} listener;

static void hear(dagi_engine_options *options, void *arg)
{
    const listener *l = arg;
    l->told->heard(l->ctx, l->told->data);
    follow_settings(l->ctx, options);
}

/* Where ranks are, and what messages between them take, as far as settings and the engine say. */
static dag_status know_network(dagi_comm *c, char *why, size_t size)
{
    c->trees.nodes = (dagi_nodes){c->engine->node_of, c->engine->near == c->size ? c->size : 1};
    if (c->ctx->settings.node_ranks)
        c->trees.nodes = (dagi_nodes){NULL, c->ctx->settings.node_ranks};
    return dagi_comm_know_link(&c->ctx->settings, &c->trees.link, why, size);
}

dag_status dagi_comm_init(dag_context *ctx, void *mpi_comm, const dagi_comm_told *told, char *why,
                          size_t why_size)
{
    listener listening = {ctx, told};
    dagi_engine_options options = {
        .engine = ctx->settings.engine,
        .comm = mpi_comm,
        .workers = dagi_tasks(ctx)->nworkers,
        .told = told ? told->data : NULL,
        .told_bytes = told ? told->bytes : 0,
        .hear = hear,
        .arg = &listening,
    };
    follow_settings(ctx, &options);
    dagi_engine *engine = NULL;
    dag_status status = dagi_engine_new(&options, &engine, why, why_size);
    if (status)
        return status;
    dagi_comm *c = aligned_alloc(DAGI_LINE, (sizeof *c + DAGI_LINE - 1) / DAGI_LINE * DAGI_LINE);
    if (!c)
        return give_up(engine, why, why_size);
    memset(c, 0, sizeof *c);
    c->ctx = ctx;
    c->engine = engine;
    c->rank = ctx->rank = engine->rank;
    c->size = ctx->size = engine->size;
    c->inline_max = dagi_wire_inline_max(ctx->settings.credit_bytes, ctx->settings.eager_bytes);
    c->bulk.wait_end = &c->bulk.wait;
    c->chaos.random =
        ctx->settings.chaos * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)c->rank * 7919 + 1;
    c->out.heap = calloc((size_t)c->size, sizeof *c->out.heap);
    c->out.blocked = calloc((size_t)c->size, sizeof(int32_t));
    c->out.gate = malloc((size_t)c->size * sizeof *c->out.gate);
    c->early.shut = calloc((size_t)c->size, sizeof *c->early.shut);
    if (!c->out.heap || !c->out.blocked || !c->out.gate || !c->early.shut) {
        free_tables(c);
        free(c);
        return give_up(engine, why, why_size);
    }
    memset(c->out.gate, 0xff, (size_t)c->size * sizeof *c->out.gate); /* all pools */
    c->early.most = DAGI_EARLY_BYTES;
    dagi_barrier_empty(&c->barrier);
    atomic_store(&c->lock, 1);
    engine->on_message = on_message;
    engine->on_message_arg = c;
    dagi_tasks(ctx)->comm = c;
    ctx->sharing = engine->sharing;
    ctx->share_index = engine->share_index;
    ctx->device_sharing = engine->device_sharing;
    if (c->size > 1) {
        dagi_tasks(ctx)->remote = &task_port;
        dagi_crew(ctx)->messages = &worker_port;
    }
    return DAG_SUCCESS;
}

/* From the agreement before the last one, which all ranks began within a message of each other. A rank that comes
 * last may wait for nobody, so the one that waited longest counts. */
static void measure_latency(dagi_comm *c)
{
    int hops = 0;
    while (1 << hops < c->size)
        hops++;
    c->latency = c->ctx->settings.link_latency;
    if (c->latency == 0 && c->engine->near < c->size)
        c->latency = c->engine->agreed_in / hops;
    c->trees.link.latency = c->latency;
}

double dagi_comm_latency(const dag_context *ctx)
{
    return dagi_comm_of(ctx) ? dagi_comm_of(ctx)->latency : 0;
}

dag_status dagi_comm_open(dag_context *ctx, dag_status mine, char *why, size_t why_size)
{
    dagi_comm *c = dagi_comm_of(ctx);
    int origin;
    if (!mine)
        mine = know_network(c, why, why_size);
    dagi_engine_take_turn(c->engine);
    dag_status agreed = c->engine->ops->agree(c->engine, mine, &origin);
    if (!agreed) { /* not all ranks need have the same settings */
        if (c->engine->near < c->size)
            (void)c->engine->ops->agree(c->engine, DAG_SUCCESS, &origin); /* measure_latency() */
        mine = dagi_direct_settle(c, why, why_size);
        agreed = c->engine->ops->agree(c->engine, mine, &origin);
        measure_latency(c);
    }
    dagi_engine_pass_turn(c->engine);
    atomic_store(&c->lock, 0);
    if (mine || !agreed)
        return mine;
    if (c->engine->differ[0])
        snprintf(why, why_size, "%s", c->engine->differ);
    else
        snprintf(why, why_size, "rank %d could not start: %s", origin, dag_strerror(agreed));
    return agreed;
}

void dagi_comm_fini(dag_context *ctx)
{
    dagi_comm *c = dagi_comm_of(ctx);
    if (!c)
        return;
    c->w = dagi_tasks(ctx)->workers ? dagi_tasks(ctx)->workers[0] : NULL;
    dagi_engine_end(c->engine);
    dagi_agree_free(c);
    dagi_scatter_free(c);
    dagi_send_free(c);
    free_tables(c);
    free(c);
    dagi_tasks(ctx)->comm = NULL;
}
