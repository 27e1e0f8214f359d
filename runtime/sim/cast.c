/*
 * What a task that has run sends: the port of tasks for other ranks. Who needs what is gathered by
 * comm/fanout.c, by which tree it goes and in how many pieces is decided as comm/send.c does.
 */
#include "sim_impl.h"

#include <stdlib.h>
#include <string.h>

static dagi_view view_of(const dagi_sim_cargo *c)
{
    return (dagi_view){NULL, c->shape.m, c->shape.n, c->shape.m, c->shape.elem, (dag_region)c->region};
}

/* ---- how it travels ------------------------------------------------------------------------- */

/* Small flows travel inside of the message as long as there is room. Returns the bytes of the rest. */
static size_t settle_how(const struct dagi_sim *s, dagi_sim_cast *c)
{
    int64_t room = s->most.inline_max;
    size_t bulk = 0;
    for (int i = 0; i < c->ncargo; i++) {
        dagi_sim_cargo *cargo = &c->cargo[i];
        cargo->segments = 0;
        cargo->how = DAGI_HOW_ABSENT;
        if (!c->value[i])
            continue;
        dagi_view v = view_of(cargo);
        cargo->bytes = (int64_t)dagi_view_bytes(&v);
        cargo->how = (uint8_t)dagi_wire_how(cargo->bytes, room);
        if (cargo->how == DAGI_HOW_INLINE) {
            room -= cargo->bytes;
            c->inline_bytes += (int64_t)dagi_wire_align((size_t)cargo->bytes);
            continue;
        }
        cargo->segments = 1;
        bulk += (size_t)cargo->bytes;
    }
    return bulk;
}

static int64_t cuts_of(const dagi_sim_cast *c, size_t bulk)
{
    int64_t cuts = bulk ? DAGI_RING_TAGS / c->ncargo : 0;
    for (int i = 0; i < c->ncargo; i++) {
        dagi_view v = view_of(&c->cargo[i]);
        int64_t lines = dagi_view_max_segments(&v);
        cuts = c->cargo[i].how == DAGI_HOW_BULK && lines < cuts ? lines : cuts;
    }
    return cuts;
}

/* As in comm/shape.c, and what tells when both halves are at a rank. */
static void plan_pair(struct dagi_sim *s, dagi_sim_cast *c, const dag_bcast_tree *tree)
{
    size_t n = (size_t)c->count;
    dagi_sim_pair_of_trees *pair = malloc(sizeof *pair + n * (3 * sizeof *c->ranks + 2 * sizeof *c->serves + 1));
    if (!pair) {
        dagi_sim_short(s);
        return;
    }
    int32_t *ranks = (int32_t *)(pair + 1);
    uint16_t *serves = (uint16_t *)(ranks + 3 * n);
    pair->ranks = ranks + 2 * n;
    pair->one = (uint8_t *)(serves + 2 * n);
    memset(pair->one, 0, n);
    for (int half = 0; half < 2; half++) {
        memcpy(ranks + half * c->count, c->ranks, n * sizeof *ranks);
        dagi_tree_plan(tree, half ? DAGI_TREE_SECOND : DAGI_TREE_FIRST, &s->trees.nodes, c->root,
                       ranks + half * c->count, serves + half * c->count, c->count);
    }
    memcpy(pair->ranks, c->ranks, n * sizeof *ranks);
    qsort(pair->ranks, n, sizeof *ranks, dagi_tree_by_rank);
    c->ranks = ranks;
    c->serves = serves;
    c->pair = pair;
}

int dagi_sim_pair_has_both(const dagi_sim_cast *c, int32_t rank)
{
    const int32_t *at = bsearch(&rank, c->pair->ranks, (size_t)c->count, sizeof rank, dagi_tree_by_rank);
    return c->pair->one[at - c->pair->ranks]++;
}

static void settle_shape(struct dagi_sim *s, dagi_sim_cast *c, size_t bulk)
{
    dagi_tree_census census = dagi_tree_count(&s->trees.nodes, c->root, c->ranks, c->count);
    const dagi_tree_way *way = dagi_tree_settled(&s->trees.ways, &c->asked, &s->ctx->settings.bcast, bulk, &census,
                                                 cuts_of(c, bulk), &s->trees.link);
    int least = bulk ? DAGI_SEGMENTS_MAX : 0;
    c->shape = way->tree.shapes & 15;
    for (int i = 0; i < c->ncargo; i++) {
        dagi_sim_cargo *cargo = &c->cargo[i];
        if (cargo->how != DAGI_HOW_BULK)
            continue;
        dagi_view v = view_of(cargo);
        cargo->segments = (uint16_t)dagi_tree_segments(way, (size_t)cargo->bytes,
                                                       dagi_view_max_segments(&v), c->count);
        least = cargo->segments < least ? cargo->segments : least;
    }
    if (dagi_tree_is_pair(&way->tree, least))
        plan_pair(s, c, &way->tree);
    else
        dagi_tree_plan(&way->tree, DAGI_TREE_ALONE, &s->trees.nodes, c->root, c->ranks, c->serves, c->count);
}

/* ---- life ----------------------------------------------------------------------------------- */

static void link_cast(dagi_sim_pool *p, dagi_sim_cast *c)
{
    c->next = p->casts;
    c->link = &p->casts;
    if (c->next)
        c->next->link = &c->next;
    p->casts = c;
}

static void release_values(struct dagi_sim *s, dagi_sim_cast *c)
{
    for (int i = 0; i < c->ncargo; i++) {
        dagi_value_release(dagi_sim_worker(s), c->value[i]);
        c->value[i] = NULL;
    }
}

void dagi_sim_cast_drop(struct dagi_sim *s, dagi_sim_cast *c)
{
    if (--c->refs > 0)
        return;
    release_values(s, c);
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    free(c->pair);
    free(c);
}

void dagi_sim_cast_sent(struct dagi_sim *s, dagi_sim_cast *c)
{
    if (--c->sends == 0)
        release_values(s, c);
}

/* ---- sending -------------------------------------------------------------------------------- */

static dagi_sim_cast *new_cast(struct dagi_sim *s, struct dag_task *t, struct dagi_fanout *f, int index)
{
    dagi_fanout_part part = dagi_fanout_part_at(f, index, NULL);
    dagi_sim_cast *c = calloc(1, sizeof *c + (size_t)part.count * (sizeof *c->ranks + sizeof *c->serves));
    if (!c)
        return NULL;
    c->of = dagi_sim_pool_of(s, t->pool);
    c->cls = t->cls;
    c->mask = part.mask;
    c->asked = part.tree;
    c->ranks = (int32_t *)(c + 1);
    c->serves = (uint16_t *)(c->ranks + part.count);
    c->root = s->at;
    c->count = part.count;
    c->refs = c->sends = 1;
    c->priority = t->priority;
    dagi_fanout_part_at(f, index, c->ranks);
    memcpy(c->params, dagi_task_locals(t), t->cls->nparams * sizeof *c->params);
    for (int flow = 0; flow < t->cls->ndata; flow++) {
        dag_value *v = dag_task_flows(t)[flow];
        if (!(part.mask >> flow & 1))
            continue;
        dagi_sim_cargo *cargo = &c->cargo[c->ncargo];
        *cargo = (dagi_sim_cargo){.flow = (uint8_t)flow, .region = part.region[flow]};
        if (v)
            cargo->shape = (dag_shape){dagi_value_sent(v).m, v->n, v->elem};
        c->value[c->ncargo++] = v; /* dagi_share() has added a reference for this part */
    }
    link_cast(c->of, c);
    return c;
}

void dagi_sim_tell_child(struct dagi_sim *s, dagi_sim_cast *c, dagi_sim_arrival *from, int32_t self,
                         int32_t first, int32_t count)
{
    dagi_sim_message *m = s->messages;
    if (m)
        s->messages = m->next;
    else if (!(m = malloc(sizeof *m))) {
        dagi_sim_short(s);
        return;
    }
    *m = (dagi_sim_message){.cast = c, .from = from, .first = first, .count = count, .source = self};
    c->refs++;
    c->sends += from == NULL;
    s->spent += s->machine.send;
    dagi_sim_message_send(s, m);
}

static void launch(struct dagi_sim *s, dagi_sim_cast *c)
{
    settle_shape(s, c, settle_how(s, c));
    for (int32_t i = 0; i < (c->pair ? 2 * c->count : c->count); i += c->serves[i])
        dagi_sim_tell_child(s, c, NULL, c->root, i, c->serves[i]);
    dagi_sim_cast_sent(s, c);
    dagi_sim_cast_drop(s, c);
}

static void send_all(struct dagi_worker *w, struct dag_task *t, struct dagi_fanout *f, uint64_t dynamic,
                     const struct dagi_job *job)
{
    struct dagi_sim *s = dagi_sim_of(w->ctx);
    int parts = dagi_fanout_parts(f);
    (void)dynamic;
    (void)job;
    for (int i = 0; i < parts; i++) {
        dagi_sim_cast *c = new_cast(s, t, f, i);
        if (c)
            launch(s, c);
        else
            dagi_sim_short(s);
    }
    dagi_fanout_clear(f);
}

static void pool_over(struct dagi_worker *w, dag_taskpool *pool, dag_status status, int64_t info,
                      const char *message)
{
    (void)w;
    dagi_pool_end(pool, status, info, message); /* never: parts end in ranks.c */
}

const dagi_remote_port dagi_sim_remote = {
    .name = dagi_fanout_add,
    .none = dagi_fanout_empty,
    .forget = dagi_fanout_clear,
    .refs = dagi_fanout_refs,
    .send = send_all,
    .pool_over = pool_over,
};
