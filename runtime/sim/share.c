/*
 * Wires that transfers share: each gets as much of its wires as leaves none of them with less than another on the wire
 * that holds it back (max-min). Whenever a transfer begins or is over all are told anew, once for all that
 * happens at one time. The end of a transfer is posted for the earliest time that has been found for it; one that has
 * become slower is posted again when that comes.
 */
#include "sim_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct flow {
    double left, rate;  /* bytes, and per second */
    dagi_sim_time seen; /* when so much was left */
    dagi_sim_time end, posted;
    dagi_sim_time after; /* latency: between its end and its arrival */
    uint32_t generation; /* of what is posted for it: it grows, also from one transfer to the next one here */
    int nlinks, begun, fixed;
    int64_t *link;
    int capacity;      /* of link[], which stays here for the next transfer */
    size_t at; /* in dagi_sim_shares.flow */
    struct flow *spare;
    dagi_sim_event arrives;
} flow;

typedef struct wire {
    double all, room;   /* bytes per second: of the wire, and of it not given away */
    int32_t count, open; /* flows, and those whose rate is not known */
    int32_t at;         /* in dagi_sim_shares.used */
} wire;

struct dagi_sim_shares {
    wire *wire; /* [nlinks] */
    int64_t *used; /* wires with flows */
    size_t nused;
    flow **flow; /* under way, or to begin */
    size_t count, capacity;
    flow *spare;
    int pending; /* 1: a SHARE is posted */
};

int dagi_sim_shares_init(struct dagi_sim *s)
{
    if (!s->machine.fair)
        return 0;
    struct dagi_sim_shares *h = s->shares = calloc(1, sizeof *h);
    if (!h)
        return 1;
    h->wire = calloc((size_t)s->wires.nlinks, sizeof *h->wire);
    h->used = calloc((size_t)s->wires.nlinks, sizeof *h->used);
    return !h->wire || !h->used;
}

static void free_flow(flow *f)
{
    free(f->link);
    free(f);
}

void dagi_sim_shares_fini(struct dagi_sim *s)
{
    struct dagi_sim_shares *h = s->shares;
    if (!h)
        return;
    for (size_t i = 0; i < h->count; i++)
        free_flow(h->flow[i]);
    for (flow *f = h->spare, *next; f; f = next) {
        next = f->spare;
        free_flow(f);
    }
    free(h->flow);
    free(h->wire);
    free(h->used);
    free(h);
    s->shares = NULL;
}

/* ---- flows come and go ---------------------------------------------------------------------- */

static flow *new_flow(struct dagi_sim *s)
{
    struct dagi_sim_shares *h = s->shares;
    if (h->count == h->capacity) {
        size_t capacity = h->capacity ? 2 * h->capacity : 64;
        flow **grown = realloc(h->flow, capacity * sizeof *grown);
        if (!grown)
            return NULL;
        h->flow = grown;
        h->capacity = capacity;
    }
    flow *f = h->spare;
    if (f)
        h->spare = f->spare;
    else if (!(f = calloc(1, sizeof *f)))
        return NULL;
    *f = (flow){.at = h->count, .generation = f->generation, .link = f->link, .capacity = f->capacity};
    h->flow[h->count++] = f;
    return f;
}

/* The wires of its way, and what each carries. Nonzero = out of memory. */
static int lay_way(struct dagi_sim *s, flow *f, int from, int to)
{
    const dagi_sim_machine *m = &s->machine;
    const int64_t *link;
    const double *share;
    int hops, count = dagi_sim_route(&s->wires, from, to, &link, &share, &hops);
    if (count > f->capacity) {
        int64_t *grown = realloc(f->link, (size_t)count * sizeof *grown);
        if (!grown)
            return 1;
        f->link = grown;
        f->capacity = count;
    }
    memcpy(f->link, link, (size_t)count * sizeof *link);
    for (int i = 0; i < count; i++)
        s->shares->wire[link[i]].all = m->between.bandwidth / share[i];
    f->nlinks = count;
    f->after = m->between.latency + hops * m->hop;
    return 0;
}

void dagi_sim_carry(struct dagi_sim *s, int from, int to, double bytes, dagi_sim_time at,
                    const dagi_sim_event *event)
{
    if (!s->shares || dagi_sim_same_node(&s->machine, from, to)) {
        at = dagi_sim_transfer(&s->wires, from, to, bytes, at);
        dagi_sim_post(s, at, (enum dagi_sim_kind)event->kind, to, event->what, event->extra);
        return;
    }
    flow *f = new_flow(s);
    if (f) {
        f->left = bytes;
        f->arrives = *event;
    }
    if (!f || lay_way(s, f, from, to) != 0) {
        dagi_sim_short(s);
        return;
    }
    dagi_sim_post(s, at, DAGI_SIM_FLOW, from, f, ++f->generation);
}

static void tell_all(struct dagi_sim *s)
{
    if (!s->shares->pending)
        dagi_sim_post(s, s->now, DAGI_SIM_SHARE, 0, s->shares, 0);
    s->shares->pending = 1;
}

static void begin(struct dagi_sim *s, flow *f)
{
    struct dagi_sim_shares *h = s->shares;
    f->begun = 1;
    f->seen = s->now;
    f->end = f->posted = INT64_MAX;
    for (int i = 0; i < f->nlinks; i++) {
        wire *w = &h->wire[f->link[i]];
        if (w->count++ == 0) {
            w->at = (int32_t)h->nused;
            h->used[h->nused++] = f->link[i];
        }
    }
    tell_all(s);
}

/* It holds no wire any more. */
static void leave_wires(struct dagi_sim_shares *h, const flow *f)
{
    for (int i = 0; i < f->nlinks && f->begun; i++) {
        wire *w = &h->wire[f->link[i]];
        if (--w->count > 0)
            continue;
        h->used[w->at] = h->used[--h->nused];
        h->wire[h->used[w->at]].at = w->at;
    }
}

static void take_off(struct dagi_sim_shares *h, flow *f)
{
    leave_wires(h, f);
    h->flow[f->at] = h->flow[--h->count];
    h->flow[f->at]->at = f->at;
    f->generation++; /* what is posted for it comes to nothing */
    f->spare = h->spare;
    h->spare = f;
}

void dagi_sim_flow_event(struct dagi_sim *s, void *what, uint32_t generation)
{
    flow *f = what;
    if (generation != f->generation)
        return;
    if (!f->begun) {
        begin(s, f);
        return;
    }
    if (f->end > s->now) {
        f->posted = f->end;
        dagi_sim_post(s, f->end, DAGI_SIM_FLOW, 0, f, ++f->generation);
        return;
    }
    dagi_sim_post(s, s->now + f->after, (enum dagi_sim_kind)f->arrives.kind, (int)f->arrives.rank,
                  f->arrives.what, f->arrives.extra);
    take_off(s->shares, f);
    tell_all(s);
}

/* ---- rates ---------------------------------------------------------------------------------- */

static void fix(struct dagi_sim_shares *h, flow *f, double rate)
{
    f->fixed = 1;
    f->rate = rate;
    for (int i = 0; i < f->nlinks; i++) {
        wire *w = &h->wire[f->link[i]];
        w->room -= rate;
        w->open--;
    }
}

/* The least that a flow whose rate is not known can get. */
static double least_share(const struct dagi_sim_shares *h)
{
    double least = INFINITY;
    for (size_t i = 0; i < h->nused; i++) {
        const wire *w = &h->wire[h->used[i]];
        if (w->open > 0)
            least = fmin(least, w->room / w->open);
    }
    return least;
}

static int is_held(const struct dagi_sim_shares *h, const flow *f, double least)
{
    for (int i = 0; i < f->nlinks; i++) {
        const wire *w = &h->wire[f->link[i]];
        if (w->room <= least * w->open * (1 + 1e-9))
            return 1;
    }
    return 0;
}

static void find_rates(struct dagi_sim_shares *h, dagi_sim_time now)
{
    size_t left = 0;
    for (size_t i = 0; i < h->nused; i++) {
        wire *w = &h->wire[h->used[i]];
        w->room = w->all;
        w->open = w->count;
    }
    for (size_t i = 0; i < h->count; i++) {
        flow *f = h->flow[i];
        f->fixed = !f->begun;
        left += !f->fixed;
        f->left = fmax(0, f->left - f->rate * 1e-12 * (double)(now - f->seen));
        f->seen = now;
    }
    while (left > 0) {
        double least = least_share(h);
        for (size_t i = 0; i < h->count; i++)
            if (!h->flow[i]->fixed && is_held(h, h->flow[i], least)) {
                fix(h, h->flow[i], least);
                left--;
            }
    }
}

void dagi_sim_share_out(struct dagi_sim *s)
{
    struct dagi_sim_shares *h = s->shares;
    h->pending = 0;
    find_rates(h, s->now);
    for (size_t i = 0; i < h->count; i++) {
        flow *f = h->flow[i];
        if (!f->begun)
            continue;
        f->end = s->now + (dagi_sim_time)ceil(f->left / f->rate * 1e12);
        if (f->end >= f->posted)
            continue;
        f->posted = f->end;
        dagi_sim_post(s, f->end, DAGI_SIM_FLOW, 0, f, ++f->generation);
    }
}

/* ---- what is forgotten ---------------------------------------------------------------------- */

int dagi_sim_flow_next(const struct dagi_sim *s, size_t *at, dagi_sim_event *event)
{
    if (!s->shares || *at >= s->shares->count)
        return 0;
    *event = s->shares->flow[*at]->arrives;
    return 1;
}

void dagi_sim_flow_drop(struct dagi_sim *s, size_t at)
{
    take_off(s->shares, s->shares->flow[at]);
}
