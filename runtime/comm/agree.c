/*
 * What all ranks agree on: the end of a pool, and barriers. Both are one reduction up the tree over
 * all ranks and one broadcast down.
 *
 * A rank reports a pool to its parent when its own part has ended and both children have reported
 * theirs; a report may come before the pool has been added here.
 */
#include "remote.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t *bytes_of(const void *p)
{
    return p;
}

/* ---- messages along the tree ------------------------------------------------------------- */

void dagi_send_control(dagi_comm *c, int dest, const void *head, size_t head_bytes,
                       const void *text, size_t text_bytes)
{
    char *out = c->engine->ops->am_begin(c->engine, dest, 1, head_bytes + text_bytes, 0);
    memcpy(out, head, head_bytes);
    if (text_bytes)
        memcpy(out + head_bytes, text, text_bytes);
    c->engine->ops->am_send(c->engine);
}

void dagi_tree_send_up(dagi_comm *c, const void *data, size_t bytes)
{
    dagi_send_control(c, (c->rank - 1) / 2, data, bytes, NULL, 0);
}

void dagi_tree_send_down(dagi_comm *c, const void *data, size_t bytes)
{
    for (int i = 1; i <= dagi_tree_nchildren(c); i++)
        dagi_send_control(c, 2 * c->rank + i, data, bytes, NULL, 0);
}

/* ---- pools ------------------------------------------------------------------------------- */

static dagi_pool_comm **bucket_of(dagi_comm *c, uint32_t id)
{
    return &c->bucket[id % DAGI_POOL_BUCKETS];
}

dagi_pool_comm *dagi_pool_comm_find(dagi_comm *c, uint32_t id, int make)
{
    dagi_pool_comm *p = *bucket_of(c, id);
    while (p && p->id != id)
        p = p->next;
    if (p || !make)
        return p;
    p = dagi_comm_alloc(sizeof *p);
    memset(p, 0, sizeof *p);
    p->id = id;
    p->early_end = &p->early;
    p->next = *bucket_of(c, id);
    *bucket_of(c, id) = p;
    return p;
}

/* ---- early messages ---------------------------------------------------------------------- */

static int64_t early_bytes(const dagi_early *early)
{
    return (int64_t)(sizeof *early + early->bytes) + early->bulk;
}

static void send_gate(dagi_comm *c, int dest, uint32_t pool)
{
    dagi_wire_gate wire = {.kind = DAGI_WIRE_GATE, .pool = pool};
    dagi_send_control(c, dest, &wire, sizeof wire, NULL, 0);
}

/* The youngest pool whose messages are taken here whatever they need. */
static uint32_t accepted(const dagi_comm *c)
{
    return c->given_up > c->added ? c->given_up : c->added;
}

/* What is accepted may have changed, or there is room again: tell those who wait for it. */
static void open_gates(dagi_comm *c)
{
    uint32_t pool = c->early_bytes <= c->early_most / 2 ? UINT32_MAX : accepted(c);
    for (int r = 0; r < c->size && c->nshut; r++) {
        if (!c->shut[r])
            continue;
        send_gate(c, r, pool);
        if (pool == UINT32_MAX) {
            c->shut[r] = 0;
            c->nshut--;
        }
    }
}

void dagi_gate_message(dagi_comm *c, int source, const void *data)
{
    dagi_wire_gate wire;
    memcpy(&wire, data, sizeof wire);
    c->gate[source] = wire.pool;
}

void dagi_agree_keep(dagi_comm *c, dagi_pool_comm *p, int source, const void *data, size_t bytes,
                     int transfers, int64_t bulk)
{
    dagi_early *early = dagi_comm_alloc(sizeof *early + bytes);
    *early = (dagi_early){.source = source, .bytes = bytes, .transfers = transfers, .bulk = bulk};
    memcpy(early->data, data, bytes);
    *p->early_end = early;
    p->early_end = &early->next;
    c->nearly++;
    c->kept_transfers += transfers;
    c->early_bytes += early_bytes(early);
    if (c->early_bytes > c->early_most && !c->shut[source] && p->id > accepted(c)) {
        c->shut[source] = 1;
        c->nshut++;
        send_gate(c, source, accepted(c));
    }
}

/* All of them, as a list; each is to be uncounted and freed, or linked again. */
static dagi_early *take_early(dagi_pool_comm *p)
{
    dagi_early *early = p->early;
    p->early = NULL;
    p->early_end = &p->early;
    return early;
}

static void uncount_early(dagi_comm *c, const dagi_early *early)
{
    c->nearly--;
    c->kept_transfers -= early->transfers;
    c->early_bytes -= early_bytes(early);
}

/* Receive and forget what was kept of a pool that is not wanted, as far as that may be now. */
static void forget_early(dagi_comm *c, dagi_pool_comm *p)
{
    dagi_early *next;
    for (dagi_early *early = take_early(p); early; early = next) {
        next = early->next;
        if (dagi_recv_must_wait(p, early->data)) {
            early->next = NULL;
            *p->early_end = early;
            p->early_end = &early->next;
            continue;
        }
        uncount_early(c, early);
        dagi_recv_unwanted(c, early->source, early->data, early->bytes);
        free(early);
    }
}

/* ---- pools ------------------------------------------------------------------------------- */

static void pool_comm_free(dagi_comm *c, dagi_pool_comm *p)
{
    assert(p->sends == 0 && p->flights == 0 && !p->early);
    dagi_pool_comm **link = bucket_of(c, p->id);
    while (*link != p)
        link = &(*link)->next;
    *link = p->next;
    free(p);
}

void dagi_agree_free(dagi_comm *c)
{
    for (int i = 0; i < DAGI_POOL_BUCKETS; i++) {
        while (c->bucket[i]) {
            dagi_pool_comm *p = c->bucket[i];
            c->bucket[i] = p->next;
            while (p->early) {
                dagi_early *early = p->early;
                p->early = early->next;
                free(early);
            }
            free(p);
        }
    }
    free(c->failed);
}

static void merge(dagi_comm *c, dagi_verdict *mine, const dagi_verdict *other);
static void report_if_complete(dagi_comm *c, dagi_pool_comm *p);

/* The pool is known from now on: what came early is delivered. */
void dagi_agree_pool(dagi_comm *c, dag_taskpool *pool)
{
    dagi_pool_comm *p = dagi_pool_comm_find(c, dagi_pool_id(pool), 1);
    dagi_early *next;
    p->pool = pool;
    dagi_pool(pool)->comm = p;
    if (p->id > c->added)
        c->added = p->id;
    if (p->missing) /* after all, but too late */
        dagi_pool_fail(pool, DAG_ERR_MISMATCH, "%s", p->verdict.message);
    for (dagi_early *early = take_early(p); early; early = next) {
        next = early->next;
        uncount_early(c, early);
        dagi_recv_activate(c, early->source, early->data, early->bytes);
        free(early);
    }
    open_gates(c);
}

/* This rank waits for something else, and so does everybody: it will not add these pools. It takes
 * part in the agreement on their end all the same, or nobody would see it. */
void dagi_agree_missing(dagi_comm *c, uint32_t last)
{
    for (uint32_t id = c->added + 1; id <= last; id++) {
        dagi_pool_comm *p = dagi_pool_comm_find(c, id, 1);
        if (p->missing)
            continue;
        dagi_verdict mine = {.status = DAG_ERR_MISMATCH, .origin = c->rank};
        snprintf(mine.message, sizeof mine.message,
                 "rank %d has not added taskpool number %u, and waits for something else. All "
                 "ranks must add the same pools in the same order", c->rank, id);
        p->missing = p->local_done = 1;
        c->given_up = id;
        forget_early(c, p);
        merge(c, &p->verdict, &mine);
        report_if_complete(c, p);
    }
    open_gates(c);
}

void dagi_comm_pool_added(struct dagi_worker *w, dag_taskpool *pool)
{
    dagi_comm *c = dagi_comm_of(w->ctx);
    if (dagi_comm_enter(c, w)) {
        dagi_agree_pool(c, pool);
        dagi_comm_leave(c);
        return;
    }
    dagi_pool_item *item = dagi_comm_alloc(sizeof *item);
    *item = (dagi_pool_item){.item.kind = DAGI_ITEM_POOL, .pool = pool};
    dagi_comm_post(c, &item->item);
    if (dagi_comm_enter(c, w))
        dagi_comm_leave(c);
}

/* ---- the agreed end ---------------------------------------------------------------------- */

/* Which of two errors is told: the one that explains the other. Ranks that run different programs
 * also stall; a cancelled or stalled rank may be so because of another's error. */
static int gravity(int status)
{
    switch (status) {
    case DAG_SUCCESS: return 0;
    case DAG_ERR_STALL: return 1;
    case DAG_ERR_CANCELLED: return 2;
    case DAG_ERR_MISMATCH: return 4;
    default: return 3;
    }
}

static int worse(const dagi_verdict *a, const dagi_verdict *b)
{
    int x = gravity(a->status), y = gravity(b->status);
    return x != y ? x > y : a->status && a->origin < b->origin;
}

/* What several ranks wait for in vain is one report, lower ranks first. */
static void join_reports(dagi_verdict *mine, const dagi_verdict *other)
{
    const dagi_verdict *part[2] = {other, mine};
    dagi_verdict sum = *mine;
    size_t used = 0, most = sizeof sum.message - 1;
    if (mine->origin < other->origin) {
        part[0] = mine;
        part[1] = other;
    }
    for (int i = 0; i < 2; i++) {
        size_t bytes = strnlen(part[i]->message, most);
        if (i > 0 && used < most)
            sum.message[used++] = '\n';
        if (bytes > most - used)
            bytes = most - used;
        memcpy(sum.message + used, part[i]->message, bytes);
        used += bytes;
    }
    sum.message[used] = '\0';
    sum.origin = part[0]->origin;
    *mine = sum;
}

/* Merge the verdict of other ranks into mine. */
static void merge(dagi_comm *c, dagi_verdict *mine, const dagi_verdict *other)
{
    if (other->info && (!mine->info || other->info < mine->info))
        mine->info = other->info;
    if (mine->status == DAG_ERR_STALL && other->status == DAG_ERR_STALL) {
        join_reports(mine, other);
    } else if (worse(other, mine)) {
        mine->status = other->status;
        mine->origin = other->origin;
        memcpy(mine->message, other->message, sizeof mine->message);
    }
    if (mine->hash && other->hash && mine->hash != other->hash &&
        mine->status != DAG_ERR_MISMATCH) {
        mine->status = DAG_ERR_MISMATCH;
        mine->origin = c->rank;
        snprintf(mine->message, sizeof mine->message,
                 "the ranks do not run the same taskpool: rank %d differs from a rank at or below "
                 "rank %d in the tree of ranks. All ranks must add the same programs in the same "
                 "order, made with the same scalar arguments", c->rank, c->rank);
    }
    if (!mine->hash)
        mine->hash = other->hash;
}

static void send_verdict(dagi_comm *c, int dest, int kind, uint32_t id, const dagi_verdict *v)
{
    size_t text = strnlen(v->message, sizeof v->message - 1);
    dagi_wire_end wire = {
        .kind = (uint8_t)kind,
        .pool = id,
        .status = v->status,
        .origin = v->origin,
        .info = v->info,
        .hash = v->hash,
        .text_bytes = (uint32_t)text,
    };
    dagi_send_control(c, dest, &wire, sizeof wire, v->message, text);
}

static void remember_failed(dagi_comm *c, uint32_t id)
{
    if (c->nfailed == c->failed_capacity) {
        c->failed_capacity = c->failed_capacity ? 2 * c->failed_capacity : 16;
        c->failed = dagi_comm_realloc(c->failed, c->failed_capacity * sizeof *c->failed);
    }
    c->failed[c->nfailed++] = id;
}

int dagi_agree_failed(const dagi_comm *c, uint32_t id)
{
    size_t i = c->nfailed;
    while (i > 0 && c->failed[i - 1] != id)
        i--;
    return i > 0;
}

/* End the pool when all is over: agreed by all, ended here, nothing of ours on its way. */
static void tell_core_if_over(dagi_comm *c, dagi_pool_comm *p)
{
    if (!p->agreed || p->sends || (p->missing && !p->late))
        return;
    dagi_verdict v = p->verdict; /* p goes first: the pool may be freed as soon as it has ended */
    dag_taskpool *pool = p->pool;
    if (v.status || v.info)
        remember_failed(c, p->id);
    dagi_pool(pool)->comm = NULL;
    pool_comm_free(c, p);
    dagi_pool_end(pool, (dag_status)v.status, v.info, v.message);
}

static void end_pool(dagi_comm *c, dagi_pool_comm *p)
{
    for (int i = 1; i <= dagi_tree_nchildren(c); i++)
        send_verdict(c, 2 * c->rank + i, DAGI_WIRE_END_DOWN, p->id, &p->verdict);
    p->agreed = 1;
    forget_early(c, p);
    tell_core_if_over(c, p);
}

void dagi_agree_hold(dag_taskpool *pool)
{
    ((dagi_pool_comm *)dagi_pool(pool)->comm)->sends++;
}

void dagi_agree_drop(dagi_comm *c, dag_taskpool *pool)
{
    dagi_pool_comm *p = dagi_pool(pool)->comm;
    assert(p && p->pool == pool && p->sends > 0);
    dagi_pool_drop(c->w, pool);
    p->sends--;
    tell_core_if_over(c, p);
}

static void report_if_complete(dagi_comm *c, dagi_pool_comm *p)
{
    if (!p->local_done || p->ups < dagi_tree_nchildren(c))
        return;
    if (c->rank == 0)
        end_pool(c, p);
    else
        send_verdict(c, (c->rank - 1) / 2, DAGI_WIRE_END_UP, p->id, &p->verdict);
}

void dagi_agree_local(dagi_comm *c, const dagi_end_item *item)
{
    dagi_pool_comm *p = dagi_pool_comm_find(c, dagi_pool_id(item->pool), 1);
    p->pool = item->pool;
    if (p->missing) { /* it was, for too long */
        p->late = 1;
        tell_core_if_over(c, p);
        return;
    }
    p->local_done = 1;
    merge(c, &p->verdict, &item->verdict);
    report_if_complete(c, p);
}

void dagi_comm_pool_local_end(struct dagi_worker *w, dag_taskpool *pool, dag_status status,
                              int64_t info, const char *message)
{
    dagi_comm *c = dagi_comm_of(w->ctx);
    dagi_end_item *item = dagi_comm_alloc(sizeof *item);
    *item = (dagi_end_item){
        .item.kind = DAGI_ITEM_END,
        .pool = pool,
        .verdict = {.status = status, .origin = c->rank, .info = info,
                    .hash = dagi_pool_hash(pool)},
    };
    snprintf(item->verdict.message, sizeof item->verdict.message, "%s", message ? message : "");
    dagi_comm_post(c, &item->item);
    if (dagi_comm_enter(c, w))
        dagi_comm_leave(c);
}

void dagi_agree_message(dagi_comm *c, int kind, const void *data, size_t bytes)
{
    dagi_wire_end wire;
    memcpy(&wire, data, sizeof wire);
    dagi_verdict v = {
        .status = wire.status,
        .origin = wire.origin,
        .info = wire.info,
        .hash = wire.hash,
    };
    size_t text = wire.text_bytes;
    if (text > bytes - sizeof wire)
        text = bytes - sizeof wire;
    if (text >= sizeof v.message)
        text = sizeof v.message - 1;
    memcpy(v.message, bytes_of(data) + sizeof wire, text);
    dagi_pool_comm *p = dagi_pool_comm_find(c, wire.pool, 1);
    if (kind == DAGI_WIRE_END_DOWN) {
        p->verdict = v;
        end_pool(c, p);
        return;
    }
    p->ups++;
    merge(c, &p->verdict, &v);
    report_if_complete(c, p);
}

/* ---- barrier ----------------------------------------------------------------------------- */

static int32_t lower(int32_t a, int32_t b)
{
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

static void barrier_merge(dagi_comm *c, const int32_t *first)
{
    for (int i = 0; i < 2; i++)
        c->barrier_first[i] = lower(c->barrier_first[i], first[i]);
}

static void barrier_complete(dagi_comm *c, const dagi_wire_barrier *wire)
{
    dagi_wire_barrier down = *wire;
    down.kind = DAGI_WIRE_BARRIER_DOWN;
    dagi_tree_send_down(c, &down, sizeof down);
    c->barrier_last = down;
    atomic_fetch_add(&c->barriers_done, 1);
    dagi_wake_application(c->ctx);
}

static void barrier_report_if_complete(dagi_comm *c)
{
    if (!c->barrier_here || c->barrier_ups < dagi_tree_nchildren(c))
        return;
    dagi_wire_barrier up = {.kind = DAGI_WIRE_BARRIER_UP,
                            .first = {c->barrier_first[0], c->barrier_first[1]}};
    c->barrier_here = 0;
    c->barrier_ups = 0;
    c->barrier_first[0] = c->barrier_first[1] = -1;
    if (c->rank == 0)
        barrier_complete(c, &up);
    else
        dagi_tree_send_up(c, &up, sizeof up);
}

void dagi_barrier_message(dagi_comm *c, const void *data)
{
    dagi_wire_barrier wire;
    memcpy(&wire, data, sizeof wire);
    if (wire.kind == DAGI_WIRE_BARRIER_DOWN) {
        barrier_complete(c, &wire);
        return;
    }
    c->barrier_ups++;
    barrier_merge(c, wire.first);
    barrier_report_if_complete(c);
}

/* The way into the barrier is itself something to wait for: the lock may be taken. */
typedef struct barrier_wait {
    dagi_comm *c;
    struct dagi_worker *w;
    enum dagi_barrier which;
    int entered;
} barrier_wait;

static int barrier_over(void *arg)
{
    barrier_wait *b = arg;
    if (!b->entered && dagi_comm_enter(b->c, b->w)) {
        int32_t mine[2] = {-1, -1};
        mine[b->which] = b->c->rank;
        b->entered = 1;
        b->c->barrier_here = 1;
        barrier_merge(b->c, mine);
        barrier_report_if_complete(b->c);
        dagi_comm_leave(b->c);
    }
    return b->entered && atomic_load(&b->c->barriers_done) >= b->c->barriers_begun;
}

dag_status dagi_comm_barrier(struct dagi_worker *w, enum dagi_barrier which)
{
    barrier_wait b = {.c = dagi_comm_of(w->ctx), .w = w, .which = which};
    b.c->barriers_begun++;
    dagi_run_until(w, barrier_over, &b);
    const int32_t *first = b.c->barrier_last.first;
    if (first[DAGI_BARRIER] < 0 || first[DAGI_BARRIER_FINI] < 0)
        return DAG_SUCCESS;
    dagi_set_message(w->ctx, "rank %d has called dag_fini, while rank %d is in dag_barrier. All "
                     "ranks must make the same calls in the same order",
                     first[DAGI_BARRIER_FINI], first[DAGI_BARRIER]);
    return DAG_ERR_MISMATCH;
}
