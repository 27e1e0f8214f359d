/*
 * The life of a pool between ranks, and its end, on which all agree: one reduction up the tree over all
 * ranks and one broadcast down.
 *
 * A rank reports a pool to its parent when its own part has ended and its children have reported
 * theirs; a report may come before the pool has been added here.
 */
#include "remote.h"

#include "../task/door.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t *bytes_of(const void *p)
{
    return p;
}

/* ---- pools ------------------------------------------------------------------------------- */

static dagi_pool_comm **bucket_of(dagi_comm *c, uint32_t id)
{
    return &c->pools.bucket[id % DAGI_POOL_BUCKETS];
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

static void pool_comm_free(dagi_comm *c, dagi_pool_comm *p)
{
    assert(p->sends == 0 && p->flights == 0 && !p->early);
    dagi_pool_comm **link = bucket_of(c, p->id);
    while (*link != p)
        link = &(*link)->next;
    *link = p->next;
    dagi_ahead_free(c, p->ahead);
    free(p->barrier);
    free(p);
}

void dagi_agree_free(dagi_comm *c)
{
    for (int i = 0; i < DAGI_POOL_BUCKETS; i++) {
        while (c->pools.bucket[i]) {
            dagi_pool_comm *p = c->pools.bucket[i];
            c->pools.bucket[i] = p->next;
            while (p->early) {
                dagi_early *early = p->early;
                p->early = early->next;
                free(early);
            }
            free(p->barrier);
            free(p);
        }
    }
    free(c->pools.failed);
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
    if (p->id > c->pools.added)
        c->pools.added = p->id;
    if (dagi_pool(pool)->door)
        p->ahead = dagi_ahead_new(c, p);
    if (p->missing) /* after all, but too late */
        dagi_pool_fail(pool, DAG_ERR_MISMATCH, "%s", p->verdict.message);
    for (dagi_early *early = dagi_early_take(p); early; early = next) {
        next = early->next;
        dagi_early_uncount(c, early);
        dagi_recv_activate(c, early->source, early->data, early->bytes);
        free(early);
    }
    dagi_early_open_gates(c);
}

/* This rank waits for something else, and so does everybody: it will not add these pools. It takes
 * part in the agreement on their end all the same, or nobody would see it. */
void dagi_agree_missing(dagi_comm *c, uint32_t last)
{
    for (uint32_t id = c->pools.added + 1; id <= last; id++) {
        dagi_pool_comm *p = dagi_pool_comm_find(c, id, 1);
        if (p->missing)
            continue;
        dagi_verdict mine = {.status = DAG_ERR_MISMATCH, .origin = c->rank};
        snprintf(mine.message, sizeof mine.message,
                 "rank %d has not added taskpool number %u, and waits for something else. All "
                 "ranks must add the same pools in the same order", c->rank, id);
        p->missing = p->local_done = 1;
        c->pools.given_up = id;
        dagi_early_forget(c, p);
        merge(c, &p->verdict, &mine);
        report_if_complete(c, p);
    }
    dagi_early_open_gates(c);
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

/* Open pools: the first mark that differs, or the end of the shorter one. */
static void say_where(dagi_verdict *mine, const dagi_verdict *other)
{
    int64_t each = mine->mark_each > other->mark_each ? mine->mark_each : other->mark_each;
    int64_t x = each / mine->mark_each, y = each / other->mark_each, same = 0; /* powers of two */
    while ((same + 1) * x <= mine->nmarks && (same + 1) * y <= other->nmarks &&
           mine->mark[(same + 1) * x - 1] == other->mark[(same + 1) * y - 1])
        same++;
    int low = mine->marks_of < other->marks_of ? mine->marks_of : other->marks_of;
    int64_t tasks = mine->tasks > other->tasks ? mine->tasks : other->tasks;
    snprintf(mine->message, sizeof mine->message, DAGI_DOOR_DIFFERS, low, mine->marks_of + other->marks_of - low,
             (long long)(same * each), (long long)dagi_door_bound(same * each, each, tasks));
}

static void copy_marks(dagi_verdict *mine, const void *mark, int n, int64_t each, int64_t tasks, int of)
{
    mine->nmarks = n;
    mine->mark_each = each;
    mine->tasks = tasks;
    mine->marks_of = of;
    if (n > 0)
        memcpy(mine->mark, mark, (size_t)n * sizeof *mine->mark);
}

/* Merge the verdict of other ranks into mine. */
static void merge(dagi_comm *c, dagi_verdict *mine, const dagi_verdict *other)
{
    if (other->info && (!mine->info || other->info < mine->info))
        mine->info = other->info;
    mine->again |= other->again;
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
        if (mine->mark_each && other->mark_each)
            say_where(mine, other);
        else
            snprintf(mine->message, sizeof mine->message,
                     "the ranks do not run the same taskpool: rank %d differs from a rank at or below "
                     "rank %d in the tree of ranks. All ranks must add the same programs in the same "
                     "order, made with the same scalar arguments", c->rank, c->rank);
    }
    if (!mine->hash) {
        mine->hash = other->hash;
        copy_marks(mine, other->mark, other->nmarks, other->mark_each, other->tasks, other->marks_of);
    }
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
        .again = (uint32_t)v->again,
    };
    char behind[sizeof v->message + sizeof v->mark];
    memcpy(behind, v->message, text);
    if (kind == DAGI_WIRE_END_UP) {
        wire.mark_each = v->mark_each;
        wire.tasks = v->tasks;
        wire.nmarks = v->nmarks;
        wire.marks_of = v->marks_of;
        memcpy(behind + text, v->mark, (size_t)v->nmarks * sizeof *v->mark);
    }
    dagi_send_control(c, dest, &wire, sizeof wire, behind, text + (size_t)wire.nmarks * sizeof *v->mark);
}

static void remember_failed(dagi_comm *c, uint32_t id)
{
    if (c->pools.nfailed == c->pools.failed_capacity) {
        c->pools.failed_capacity = c->pools.failed_capacity ? 2 * c->pools.failed_capacity : 16;
        c->pools.failed =
            dagi_comm_realloc(c->pools.failed, c->pools.failed_capacity * sizeof *c->pools.failed);
    }
    c->pools.failed[c->pools.nfailed++] = id;
}

int dagi_agree_failed(const dagi_comm *c, uint32_t id)
{
    size_t i = c->pools.nfailed;
    while (i > 0 && c->pools.failed[i - 1] != id)
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
    atomic_store(&dagi_pool(pool)->rounds.again, v.again);
    pool_comm_free(c, p);
    dagi_pool_end(pool, (dag_status)v.status, v.info, v.message);
}

static void end_pool(dagi_comm *c, dagi_pool_comm *p)
{
    for (int i = 0; i < dagi_tree_nchildren(c); i++)
        send_verdict(c, dagi_tree_member(c, i), DAGI_WIRE_END_DOWN, p->id, &p->verdict);
    dagi_pair_forget(c, p->id);
    p->agreed = 1;
    dagi_ahead_end(c, p->ahead);
    dagi_early_forget(c, p);
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
        send_verdict(c, dagi_tree_parent(c), DAGI_WIRE_END_UP, p->id, &p->verdict);
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
                    .again = atomic_load(&dagi_pool(pool)->rounds.again),
                    .hash = dagi_pool_hash(pool) ^ dagi_door_hash(pool)},
    };
    const struct dagi_door *door = dagi_pool(pool)->door;
    if (door)
        copy_marks(&item->verdict, door->marks.hash, door->marks.n, door->marks.each, door->marks.tasks, c->rank);
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
        .again = wire.again != 0,
    };
    size_t text = wire.text_bytes;
    if (text > bytes - sizeof wire)
        text = bytes - sizeof wire;
    if (text >= sizeof v.message)
        text = sizeof v.message - 1;
    memcpy(v.message, bytes_of(data) + sizeof wire, text);
    if (wire.nmarks >= 0 && wire.nmarks <= DAGI_DOOR_MARKS &&
        bytes >= sizeof wire + text + (size_t)wire.nmarks * sizeof *v.mark)
        copy_marks(&v, bytes_of(data) + sizeof wire + text, wire.nmarks, wire.mark_each, wire.tasks, wire.marks_of);
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
