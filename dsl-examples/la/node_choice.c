/* Where a task runs, of the list schedule of a node, by the rules of the runtime (runtime/device/choice.c). */
#include "node_play.h"

#include <math.h>

/* What the runtime expects of a task that takes so long. */
static int64_t expect(play *p, int kind, bool on_device, double bytes, int64_t time)
{
    return llround(1e12 * dag_node_expect(p->times, kind, on_device, bytes, 1e-12 * (double)time));
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

/* Some place has what x is now. */
static bool is_there(play *p, int x)
{
    bool there = (p->all[x].valid & 1) && has_passed(p, p->all[x].home);
    for (int g = 0; g < p->node->devices && !there; g++)
        there = (p->all[x].valid >> (1 + g) & 1) && has_passed(p, copy_of(p, g, x)->written);
    return there;
}

/* How long devices will still make what the task uses: it is ready when they are told to. */
static int64_t coming(play *p, int x)
{
    int of[3], n = dagi_node_operands(p, x, of);
    int64_t most = 0;
    for (int i = 0; i < n; i++)
        if (p->all[of[i]].due - p->now > most && !is_there(p, of[i]))
            most = p->all[of[i]].due - p->now;
    return most;
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
    int64_t core = expect(p, t->kind, false, bytes, t->core);
    int64_t kernel = expect(p, t->kind, true, bytes, p->all[x].estimate);
    int64_t inputs = coming(p, x);
    for (int g = 0; g < p->node->devices; g++) {
        int64_t end = later(p->device[g].backlog, inputs) + moving(p, x, 1 + g) + kernel;
        if (end < least) {
            least = end;
            best = g;
        }
    }
    int64_t queued = (int64_t)((double)p->ready.count * (double)t->core / p->node->workers);
    return later(queued, inputs) + moving(p, x, 0) + core < least ? HOST : best;
}
