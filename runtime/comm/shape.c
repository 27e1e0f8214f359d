/* The shape of a send's broadcast, and in how many segments its data travel: settled once, at its producer. */
#include "../base/settings.h"
#include "remote.h"

#include <string.h>

/* Pieces into which each flow can be cut: lines at most, and tags for the rings of a scatter. */
static int64_t cuts_of(const dagi_send *s)
{
    int64_t cuts = s->bulk ? DAGI_RING_TAGS / s->ncargo : 0;
    for (int i = 0; i < s->ncargo; i++) {
        if (s->cargo[i].how != DAGI_HOW_BULK)
            continue;
        dagi_view v = dagi_cargo_view(s, i);
        int64_t lines = dagi_view_max_segments(&v);
        cuts = lines < cuts ? lines : cuts;
    }
    return cuts;
}

/* Any shape within any other, groups of any size. */
static dag_bcast_tree random_tree(dagi_comm *c)
{
    static const uint8_t shapes[] = {DAG_BCAST_BINOMIAL, DAG_BCAST_CHAIN, DAG_BCAST_RING, DAG_BCAST_FLAT,
                                     DAG_BCAST_TREES, DAG_BCAST_SCATTER};
    dag_bcast_tree tree = {.shapes = shapes[dagi_comm_random(c, 6)]};
    for (int level = 1; level < DAG_BCAST_LEVELS && tree.shapes != DAG_BCAST_SCATTER; level++) {
        if (dagi_comm_random(c, 3) > 0)
            break;
        tree.group[level - 1] = (int32_t)dagi_comm_random(c, 5);
        if (tree.group[level - 1] == 0)
            tree.group[level - 1] = DAG_BCAST_NODE;
        tree.shapes |= (uint32_t)DAG_BCAST_WITHIN(level, shapes[dagi_comm_random(c, 5)]);
    }
    return tree;
}

/* Returns the least of a flow. */
static int settle_segments(dagi_comm *c, dagi_send *s, const dagi_tree_way *way)
{
    int chaos = c->ctx->settings.chaos && dagi_tree_pipelined(&way->tree), least = DAGI_SEGMENTS_MAX;
    for (int i = 0; i < s->ncargo; i++) {
        dagi_cargo *cargo = &s->cargo[i];
        if (cargo->how != DAGI_HOW_BULK)
            continue;
        dagi_view v = dagi_cargo_view(s, i);
        size_t bytes = dagi_view_bytes(&v);
        if (chaos)
            bytes = way->part * (1 + (size_t)dagi_comm_random(c, 7));
        cargo->segments =
            (uint16_t)dagi_tree_segments(way, bytes, dagi_view_max_segments(&v), s->to.ndest);
        least = cargo->segments < least ? cargo->segments : least;
    }
    return s->bulk ? least : 0;
}

/* The lists of two trees, which have no room where that of one is. */
static void plan_pair(dagi_comm *c, dagi_send *s, const dag_bcast_tree *tree)
{
    size_t n = (size_t)s->to.ndest;
    int32_t *dests = dagi_comm_alloc(n * 2 * (sizeof *s->to.dests + sizeof *s->to.count));
    uint16_t *count = (uint16_t *)(dests + 2 * n);
    for (int half = 0; half < 2; half++) {
        memcpy(dests + half * s->to.ndest, s->to.dests, n * sizeof *dests);
        dagi_tree_plan(tree, half ? DAGI_TREE_SECOND : DAGI_TREE_FIRST, &c->trees.nodes, c->rank,
                       dests + half * s->to.ndest, count + half * s->to.ndest, s->to.ndest);
    }
    s->to.dests = dests;
    s->to.count = count;
    s->to.pair = 1;
}

dag_status dagi_comm_know_link(const dagi_settings *settings, dagi_tree_link *link, char *why, size_t size)
{
    if (settings->link_rate)
        link->within = link->between =
            (dagi_tree_wire){.busy = settings->link_latency, .beta = 1.0 / (double)settings->link_rate};
    else if (*settings->network)
        return dagi_network_read(settings->network, link, why, size);
    return DAG_SUCCESS;
}

int dagi_link_tell(const dagi_tree_link *link, int apart, dag_network *network)
{
    const dagi_tree_wire *far = &link->between, *near = &link->within;
    if (far->beta <= 0 || near->beta <= 0)
        return 0;
    *network = (dag_network){far->busy + far->late, 1 / far->beta, near->busy + near->late, 1 / near->beta, apart};
    return 1;
}

int dagi_comm_network(const dag_context *ctx, dag_network *network)
{
    const dagi_comm *c = dagi_comm_of(ctx);
    int apart = 0;
    for (int r = 1; c && r < c->size && !apart; r++)
        apart = dagi_node_of(&c->trees.nodes, r) != dagi_node_of(&c->trees.nodes, 0);
    return c && dagi_link_tell(&c->trees.link, apart, network);
}

void dagi_shape_tell(const dag_context *ctx, const dagi_nodes *nodes, const dagi_tree_link *link, int64_t near,
                     size_t bytes, int ranks, dag_bcast_way *out)
{
    static const dag_bcast_tree nobody;
    int64_t with = 0, more = ranks > ctx->size ? ranks - ctx->size : 0;
    for (int r = 0; r < ranks && r < ctx->size; r++)
        with += dagi_node_of(nodes, r) == dagi_node_of(nodes, 0);
    dagi_tree_census census = {.ndest = ranks - 1, .nodes = 1, .largest = (int32_t)with, .with = (int32_t)with};
    int64_t rest = ranks - more - with;
    census.nodes += (int32_t)((rest + near - 1) / near + (more + near - 1) / near);
    if (rest + more > 0 && with < near)
        census.largest = (int32_t)(near < rest + more ? near : rest + more);
    dagi_tree_way way = dagi_tree_settle(&nobody, &ctx->settings.bcast, bytes, &census, INT32_MAX, link);
    dagi_bcast_name(&way.tree, out->shape, sizeof out->shape);
    out->segment = (int64_t)(way.part < bytes ? way.part : bytes);
    out->seconds = way.last;
}

void dagi_comm_way(const dag_context *ctx, size_t bytes, int ranks, dag_bcast_way *way)
{
    const dagi_comm *c = dagi_comm_of(ctx);
    int64_t near = ctx->settings.node_ranks ? ctx->settings.node_ranks : c->engine->near ? c->engine->near : 1;
    dagi_nodes nodes = c->trees.nodes;
    if (!nodes.of && nodes.ranks == c->size)
        nodes.ranks = near;
    dagi_shape_tell(ctx, &nodes, &c->trees.link, near, bytes, ranks, way);
}

/* Tell who watches that it begins now. What it is predicted to take counts the bytes inside of its messages, too. */
static void tell(dagi_comm *c, const dagi_send *s, size_t bulk, const dagi_tree_census *census,
                 const dag_bcast_tree *tree, double seconds)
{
    size_t bytes = 0;
    for (int i = 0; i < s->ncargo; i++) {
        dagi_view v = dagi_cargo_view(s, i);
        bytes += s->cargo[i].how == DAGI_HOW_ABSENT ? 0 : dagi_view_bytes(&v);
    }
    if (bytes != bulk)
        seconds = dagi_tree_settled(&c->trees.ways, tree, tree, bytes, census, cuts_of(s), &c->trees.link)->last;
    const dagi_broadcast b = {.pool = s->pool_id, .cls = s->class_id, .serial = s->number.serial,
                              .ranks = (uint32_t)s->to.ndest, .bytes = bytes, .seconds = seconds, .tree = *tree};
    c->engine->observer->broadcast(c->engine->observer_arg, &b);
}

void dagi_shape_settle(dagi_comm *c, dagi_send *s, size_t bulk)
{
    if (c->ctx->settings.chaos && s->to.ndest > 1)
        s->to.asked = random_tree(c);
    dagi_tree_census census = dagi_tree_count(&c->trees.nodes, c->rank, s->to.dests, s->to.ndest);
    const dagi_tree_way *way = dagi_tree_settled(&c->trees.ways, &s->to.asked, &c->ctx->settings.bcast, bulk, &census,
                                                 cuts_of(s), &c->trees.link);
    s->shape = way->tree.shapes & 15;
    if (dagi_tree_is_pair(&way->tree, settle_segments(c, s, way)))
        plan_pair(c, s, &way->tree);
    else
        dagi_tree_plan(&way->tree, DAGI_TREE_ALONE, &c->trees.nodes, c->rank, s->to.dests, s->to.count,
                       s->to.ndest);
    if (c->engine->observer && s->ncargo > 0) {
        const dag_bcast_tree tree = way->tree; /* which may give place to another */
        tell(c, s, bulk, &census, &tree, way->last);
    }
}
