/* The shape of a send's broadcast, and in how many segments its data travel: settled once, at its producer. */
#include "../base/settings.h"
#include "remote.h"

/* A scatter needs at least one line of each flow for each destination, and tags for its rings. */
static int can_scatter(const dagi_send *s)
{
    if (!s->bulk || s->to.ndest < 2 || s->to.ndest * s->ncargo > DAGI_RING_TAGS)
        return 0;
    for (int i = 0; i < s->ncargo; i++) {
        if (s->cargo[i].how != DAGI_HOW_BULK)
            continue;
        dagi_view v = dagi_cargo_view(s, i);
        if (dagi_view_max_segments(&v) < s->to.ndest)
            return 0;
    }
    return 1;
}

/* Any shape within any other, groups of any size. */
static dag_bcast_tree random_tree(dagi_comm *c)
{
    static const uint8_t shapes[] = {DAG_BCAST_BINOMIAL, DAG_BCAST_CHAIN, DAG_BCAST_RING, DAG_BCAST_FLAT,
                                     DAG_BCAST_SCATTER};
    dag_bcast_tree tree = {.shapes = shapes[dagi_comm_random(c, 5)]};
    for (int level = 1; level < DAG_BCAST_LEVELS && tree.shapes != DAG_BCAST_SCATTER; level++) {
        if (dagi_comm_random(c, 3) > 0)
            break;
        tree.group[level - 1] = (int32_t)dagi_comm_random(c, 5);
        if (tree.group[level - 1] == 0)
            tree.group[level - 1] = DAG_BCAST_NODE;
        tree.shapes |= (uint32_t)DAG_BCAST_WITHIN(level, shapes[dagi_comm_random(c, 4)]);
    }
    return tree;
}

static void settle_segments(dagi_comm *c, dagi_send *s, const dagi_tree_way *way)
{
    int chaos = c->ctx->settings.chaos && dagi_tree_has(&way->tree, DAG_BCAST_CHAIN);
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
    }
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
    dagi_tree_way way = dagi_tree_settle(&nobody, &ctx->settings.bcast, bytes, &census, true, link);
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

void dagi_shape_settle(dagi_comm *c, dagi_send *s, size_t bulk)
{
    if (c->ctx->settings.chaos && s->to.ndest > 1)
        s->to.asked = random_tree(c);
    dagi_tree_census census = dagi_tree_count(&c->trees.nodes, c->rank, s->to.dests, s->to.ndest);
    const dagi_tree_way *way = dagi_tree_settled(&c->trees.ways, &s->to.asked, &c->ctx->settings.bcast, bulk, &census,
                                                 can_scatter(s), &c->trees.link);
    s->shape = way->tree.shapes & 15;
    settle_segments(c, s, way);
    dagi_tree_plan(&way->tree, &c->trees.nodes, c->rank, s->to.dests, s->to.count, s->to.ndest);
}
