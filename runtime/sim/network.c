/*
 * The wires between nodes. A transfer takes the wires of its way one after the other, each as soon as it
 * is free and the transfer has got there, for as long as its bytes take on it; who comes later waits. What
 * waits for a wire holds none of those behind it. Ways are fixed: the first dimension of a torus first, the
 * direct wire between two groups of a dragonfly. Wires that transfers share at one time: share.c.
 */
#include "machine.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_LINKS = 1 << 26 };

/* What lies behind the adapters, numbered from 2 * nodes * adapters on:
 *   FAT_TREE   up and down of each switch
 *   TORUS      six of each node: each way along each side
 *   DRAGONFLY  between each two routers of a group, then between each two groups */
static int64_t links_behind(const dagi_sim_wires *w)
{
    const dagi_sim_machine *m = w->machine;
    int64_t routers = m->extent[0], group = routers * m->extent[1];
    switch (m->network) {
    case DAGI_SIM_FAT_TREE: return 2 * ((w->nodes + m->extent[0] - 1) / m->extent[0]);
    case DAGI_SIM_TORUS: return 6 * m->extent[0] * m->extent[1] * m->extent[2];
    case DAGI_SIM_DRAGONFLY: {
        int64_t groups = (w->nodes + group - 1) / group;
        return groups * routers * routers + groups * groups;
    }
    default: return 0;
    }
}

int dagi_sim_wires_init(dagi_sim_wires *w, const dagi_sim_machine *m, int64_t ranks)
{
    w->machine = m;
    w->nodes = (ranks + m->ranks - 1) / m->ranks;
    w->nlinks = 2 * w->nodes * m->adapters + links_behind(w);
    if (w->nlinks > MOST_LINKS)
        return 1;
    w->taken = calloc((size_t)w->nlinks, sizeof *w->taken);
    return w->taken == NULL;
}

void dagi_sim_wires_fini(dagi_sim_wires *w)
{
    free(w->taken);
    w->taken = NULL;
}

/* A way: the wires, the least bandwidth of one, and how many routers are passed beyond the first. */
enum { LONGEST = 4096 };
typedef struct way {
    int64_t link[LONGEST];
    double share[LONGEST]; /* of the time that the bytes take at an adapter */
    int count, hops;
} way;

static void pass(way *y, int64_t link, double share)
{
    if (y->count < LONGEST) {
        y->link[y->count] = link;
        y->share[y->count++] = share;
    }
}

static void torus(const dagi_sim_machine *m, int64_t base, int64_t a, int64_t b, way *y)
{
    int64_t at[3] = {a % m->extent[0], a / m->extent[0] % m->extent[1],
                     a / (m->extent[0] * m->extent[1])};
    int64_t to[3] = {b % m->extent[0], b / m->extent[0] % m->extent[1],
                     b / (m->extent[0] * m->extent[1])};
    for (int d = 0; d < 3; d++) {
        int64_t side = m->extent[d], ahead = (to[d] - at[d] + side) % side;
        int forward = ahead <= side - ahead;
        while (at[d] != to[d]) {
            int64_t node = at[0] + m->extent[0] * (at[1] + m->extent[1] * at[2]);
            pass(y, base + 6 * node + 2 * d + forward, 1);
            at[d] = (at[d] + (forward ? 1 : side - 1)) % side;
            y->hops++;
        }
    }
}

static void dragonfly(const dagi_sim_wires *w, int64_t base, int64_t a, int64_t b, way *y)
{
    const dagi_sim_machine *m = w->machine;
    int64_t routers = m->extent[0], group = routers * m->extent[1];
    int64_t ga = a / group, gb = b / group, groups = (w->nodes + group - 1) / group;
    int64_t ra = a % group / m->extent[1], rb = b % group / m->extent[1];
    if (ga == gb) {
        if (ra != rb)
            pass(y, base + (ga * routers + ra) * routers + rb, 1), y->hops++;
        return;
    }
    int64_t out = gb % routers, in = ga % routers; /* the routers that the wire of the two groups joins */
    if (ra != out)
        pass(y, base + (ga * routers + ra) * routers + out, 1), y->hops++;
    pass(y, base + groups * routers * routers + ga * groups + gb, 1);
    y->hops++;
    if (in != rb)
        pass(y, base + (gb * routers + in) * routers + rb, 1), y->hops++;
}

static void find_way(const dagi_sim_wires *w, int64_t from, int64_t to, way *y)
{
    const dagi_sim_machine *m = w->machine;
    int64_t a = from / m->ranks, b = to / m->ranks, base = 2 * w->nodes * m->adapters;
    y->count = y->hops = 0;
    pass(y, 2 * (a * m->adapters + from % m->ranks % m->adapters), 1);
    if (m->network == DAGI_SIM_TORUS)
        torus(m, base, a, b, y);
    else if (m->network == DAGI_SIM_DRAGONFLY)
        dragonfly(w, base, a, b, y);
    else if (m->network == DAGI_SIM_FAT_TREE && a / m->extent[0] != b / m->extent[0]) {
        double share = m->taper / (double)(m->extent[0] * m->adapters);
        pass(y, base + 2 * (a / m->extent[0]), share);
        pass(y, base + 2 * (b / m->extent[0]) + 1, share);
        y->hops = 2;
    }
    pass(y, 2 * (b * m->adapters + to % m->ranks % m->adapters) + 1, 1);
}

int dagi_sim_route(const dagi_sim_wires *w, int64_t from, int64_t to, const int64_t **link, const double **share,
                   int *hops)
{
    static _Thread_local way y; /* the caller looks into it */
    find_way(w, from, to, &y);
    *link = y.link;
    *share = y.share;
    *hops = y.hops;
    return y.count;
}

dagi_sim_time dagi_sim_transfer(dagi_sim_wires *w, int64_t from, int64_t to, double bytes,
                                dagi_sim_time now)
{
    const dagi_sim_machine *m = w->machine;
    if (dagi_sim_same_node(m, from, to))
        return now + m->within.latency + llround(1e12 * bytes / m->within.bandwidth);
    static _Thread_local way y; /* too large for a stack, and the simulation has one thread */
    find_way(w, from, to, &y);
    double whole = 1e12 * bytes / m->between.bandwidth, longest = whole;
    dagi_sim_time start = now;
    for (int i = 0; i < y.count; i++) {
        dagi_sim_time *taken = &w->taken[y.link[i]];
        start = *taken > start ? *taken : start;
        *taken = start + llround(y.share[i] * whole);
        longest = y.share[i] * whole > longest ? y.share[i] * whole : longest;
    }
    return start + m->between.latency + y.hops * m->hop + llround(longest);
}

dagi_sim_time dagi_sim_latency(const dagi_sim_wires *w, int64_t from, int64_t to)
{
    const dagi_sim_machine *m = w->machine;
    return dagi_sim_same_node(m, from, to) ? m->within.latency : m->between.latency;
}
