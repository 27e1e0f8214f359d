/* Where a task runs, of the list schedule of a node, by the rules of the runtime (runtime/device/choice.c). */
#include "node_play.h"

#include <stdlib.h>

enum { SAMPLES = 15, TRIES = 3, STEPS = 48 * 4 };

/* What tasks of a kind and a size, in quarters of an octave, took last. */
typedef struct series {
    int64_t last[SAMPLES];
    int count, next;
} series;

struct times {
    series of[DAGI_NODE_KINDS][STEPS][2]; /* on cores, on devices */
};

struct times *dagi_node_times_new(void)
{
    return calloc(1, sizeof(struct times));
}

static int step_of(double bytes)
{
    uint64_t size = bytes < 1 ? 1 : (uint64_t)bytes;
    int log = 63 - __builtin_clzll(size);
    int step = log * 4 + (int)((log >= 2 ? size >> (log - 2) : size << (2 - log)) & 3);
    return step < STEPS ? step : STEPS - 1;
}

static int64_t median(const series *s)
{
    int64_t sorted[SAMPLES];
    for (int i = 0; i < s->count; i++) {
        int j = i;
        for (; j > 0 && sorted[j - 1] > s->last[i]; j--)
            sorted[j] = sorted[j - 1];
        sorted[j] = s->last[i];
    }
    return sorted[s->count / 2];
}

/* What the runtime expects of a task: it does not see its shape, and remembers tasks of the same bytes. */
static int64_t expect(series *s, int64_t time)
{
    for (int times = s->count > 0 ? 1 : TRIES; times > 0; times--) {
        s->last[s->next] = time;
        s->next = (s->next + 1) % SAMPLES;
        s->count += s->count < SAMPLES;
    }
    return median(s);
}

static int64_t moving(play *p, int x, int place)
{
    int of[3], n = dagi_node_operands(p, x, of);
    int64_t all = 0;
    for (int i = 0; i < n; i++)
        if (!(p->all[of[i]].valid >> place & 1))
            all += p->node->latency + dagi_node_crossing(p->node, place == 0, bytes_of(p, of[i]));
    return all;
}

int dagi_node_choose(play *p, int x)
{
    const dagi_node_task *t = &p->all[x].task;
    int of[3], n = dagi_node_operands(p, x, of), best = HOST;
    int64_t least = INT64_MAX;
    double bytes = 0;
    for (int i = 0; i < n; i++)
        bytes += bytes_of(p, of[i]);
    if (t->home == HOST || t->alone < 0 || bytes > p->node->memory)
        return HOST;
    if (t->home >= 0)
        return t->home;
    series *known = p->times->of[t->kind][step_of(bytes)];
    int64_t core = expect(&known[0], t->core), kernel = expect(&known[1], p->all[x].estimate);
    for (int g = 0; g < p->node->devices; g++) {
        int64_t end = p->device[g].backlog + moving(p, x, 1 + g) + kernel;
        if (end < least) {
            least = end;
            best = g;
        }
    }
    int64_t queued = (int64_t)((double)p->ready.count * (double)t->core / p->node->workers);
    return queued + moving(p, x, 0) + core < least ? HOST : best;
}
