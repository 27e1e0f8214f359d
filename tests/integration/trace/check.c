#include "check.h"

#include "model.h"

#include <stdlib.h>
#include <string.h>

static int failures;

#define EXPECT(what, ...)                                                                          \
    do {                                                                                           \
        if (!(what) && failures++ < 20) {                                                          \
            fprintf(stderr, "check: %s: ", #what);                                                 \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fputc('\n', stderr);                                                                   \
        }                                                                                          \
    } while (0)

/* Where a task ran. */
typedef struct place {
    const dagt_task *task;
    int rank;
} place;

/* Each task of each pool once, on the rank of its item, for as long as its body takes. */
static void check_tasks(const dagt_trace *t, const check_known *k, place *seen)
{
    for (int r = 0; r < t->nranks; r++) {
        for (int w = 0; w < t->ranks[r].ntracks; w++) {
            const dagt_track *track = &t->ranks[r].tracks[w];
            for (size_t i = 0; i < track->ntasks; i++) {
                const dagt_task *task = &track->tasks[i];
                const dagt_class *cls = dagt_class_of(&t->ranks[r], task);
                const int32_t *p = track->params + task->params;
                EXPECT(cls && strcmp(cls->name, "T") == 0 && cls->nparams == 2, "task %zu", i);
                EXPECT(task->begin + k->work_ns * 9 / 10 <= task->end, "T(%d, %d) took %lld ns",
                       p[0], p[1], (long long)(task->end - task->begin));
                EXPECT(task->ready <= task->begin, "T(%d, %d) was ready %lld ns late", p[0], p[1],
                       (long long)(task->ready - task->begin));
                EXPECT(p[1] % k->ranks == r, "T(%d, %d) on rank %d", p[0], p[1], r);
                EXPECT(task->priority == k->steps - p[0], "priority %lld",
                       (long long)task->priority);
                int pool = (int)task->pool - 1;
                if (pool < 0 || pool >= k->pools || p[0] < 0 || p[0] >= k->steps || p[1] < 0 ||
                    p[1] >= k->n) {
                    EXPECT(0, "T(%d, %d) of pool %d does not exist", p[0], p[1], pool + 1);
                    continue;
                }
                place *s = &seen[(pool * k->steps + p[0]) * k->n + p[1]];
                EXPECT(!s->task, "T(%d, %d) ran twice", p[0], p[1]);
                *s = (place){task, r};
            }
        }
    }
    for (int i = 0; i < k->pools * k->steps * k->n; i++)
        EXPECT(seen[i].task, "task %d is missing", i);
}

/* On one clock no task begins before its inputs were made, give or take the error of the clocks. */
static void check_order(const dagt_trace *t, const check_known *k, const place *seen)
{
    for (int i = k->n; i < k->pools * k->steps * k->n; i++) {
        int step = i / k->n % k->steps;
        for (int back = 0; back <= (i % k->n > 0) && step > 0; back++) {
            const place *to = &seen[i], *from = &seen[i - k->n - back];
            if (!to->task || !from->task)
                continue;
            double slack = t->ranks[to->rank].head.clock_error +
                           t->ranks[from->rank].head.clock_error + 1000;
            EXPECT(to->task->begin + (int64_t)slack >= from->task->end,
                   "task %d began %lld ns before its input from rank %d was made", i,
                   (long long)(from->task->end - to->task->begin), from->rank);
        }
    }
}

/* A worker is in one state at each moment, and the times in all states are its wall time, exactly:
 * whatever else the cores do, since what it waited for one is a state, too. */
static void check_worker(const dagt_rank *r, const dagt_track *w)
{
    dagt_times times;
    int rank = (int)r->head.rank;
    dagt_worker_times(r, w, &times);
    EXPECT(times.overlap == 0, "rank %d worker %d: %lld ns are in two states or outside of the run", rank,
           w->index, (long long)times.overlap);
    EXPECT(dagt_times_sum(&times) == times.wall, "rank %d worker %d: %lld of %lld ns are in a state", rank,
           w->index, (long long)dagt_times_sum(&times), (long long)times.wall);
    EXPECT(times.runtime >= 0 && times.bodies > 0, "rank %d worker %d: bodies %lld, runtime %lld ns", rank,
           w->index, (long long)times.bodies, (long long)times.runtime);
    for (size_t i = 0; i < w->ntasks; i++)
        EXPECT(w->tasks[i].begin <= w->tasks[i].end, "task %zu ends before it begins", i);
    for (size_t i = 0; i < w->nspans; i++)
        EXPECT(w->spans[i].begin <= w->spans[i].end, "span %zu ends before it begins", i);
}

static void check_links(const dagt_trace *t)
{
    size_t n;
    dagt_link *links = dagt_links(t, &n);
    EXPECT(t->nranks == 1 ? n == 0 : n >= (size_t)t->nranks, "%zu links", n);
    for (size_t i = 0; links && i < n; i++) {
        EXPECT(links[i].sent == links[i].received, "%u -> %u: %llu sent, %llu received",
               links[i].from, links[i].to, (unsigned long long)links[i].sent,
               (unsigned long long)links[i].received);
        EXPECT(links[i].bytes == links[i].bytes_received, "%u -> %u: %llu and %llu bytes",
               links[i].from, links[i].to, (unsigned long long)links[i].bytes,
               (unsigned long long)links[i].bytes_received);
    }
    free(links);
}

/* The longest chain has a task of every step, each of which takes its time. */
static void check_paths(dagt_trace *t, const check_known *k)
{
    size_t n;
    dagt_path *paths = dagt_critical(t, &n);
    EXPECT(paths && n == (size_t)k->pools, "%zu pools", n);
    for (size_t i = 0; paths && i < n; i++) {
        EXPECT(paths[i].steps == (size_t)k->steps, "the path has %zu tasks", paths[i].steps);
        EXPECT((double)paths[i].length >= 0.9 * (double)k->steps * (double)k->work_ns,
               "the path takes %lld ns", (long long)paths[i].length);
        EXPECT((double)paths[i].length <= 1.02 * (double)(paths[i].end - paths[i].begin),
               "the path takes %lld of %lld ns", (long long)paths[i].length,
               (long long)(paths[i].end - paths[i].begin));
        EXPECT(paths[i].tasks == (uint64_t)(k->steps * k->n), "%llu tasks",
               (unsigned long long)paths[i].tasks);
    }
    free(paths);
}

int check_trace(const char *path, const check_known *known)
{
    char why[256] = "";
    FILE *in = fopen(path, "rb");
    dagt_trace *t = in ? dagt_read(in, why, sizeof why) : NULL;
    place *seen = calloc((size_t)(known->pools * known->n * known->steps), sizeof *seen);
    if (in)
        fclose(in);
    if (!t || !seen) {
        fprintf(stderr, "check: %s: %s\n", path, why);
        return 0;
    }
    EXPECT(t->nranks == known->ranks, "%d ranks", t->nranks);
    EXPECT((int)t->ranks[0].head.workers == known->workers, "workers");
    check_tasks(t, known, seen);
    check_order(t, known, seen);
    check_links(t);
    check_paths(t, known);
    for (int r = 0; r < t->nranks; r++) {
        EXPECT(t->ranks[r].head.dropped == 0, "rank %d dropped events", r);
        for (int k = 0; k < t->ranks[r].ntracks; k++)
            if (t->ranks[r].tracks[k].kind == DAGT_TRACK_WORKER)
                check_worker(&t->ranks[r], &t->ranks[r].tracks[k]);
    }
    dagt_free(t);
    free(seen);
    if (failures)
        fprintf(stderr, "check: %d failures\n", failures);
    return failures == 0;
}
