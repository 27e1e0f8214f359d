/* The report at the end of a run, made from its trace. */
#include "trace.h"

#include "../base/settings.h"
#include "file/model.h"

#include <stdlib.h>
#include <string.h>

/* All workers together, and what lies between the first task and the last. */
typedef struct sums {
    dagt_times all;
    int workers;
    size_t tasks;
    int64_t begin, end;     /* first and last body */
    int64_t bodies;
    double least, most;     /* busiest and idlest rank: share of its workers' time in bodies */
    int busiest;
    uint64_t renames, bytes;
} sums;

static double share(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

static void add_worker(sums *s, const dagt_rank *rank, const dagt_track *track, int64_t *busy)
{
    dagt_times w;
    dagt_worker_times(rank, track, &w);
    dagt_times_add(&s->all, &w);
    s->workers++;
    *busy += w.bodies;
}

/* Adds the tasks of a worker or a stream. */
static void add_tasks(sums *s, const dagt_track *track)
{
    s->tasks += track->ntasks;
    if (!track->ntasks)
        return;
    if (track->tasks[0].begin < s->begin)
        s->begin = track->tasks[0].begin;
    if (track->tasks[track->ntasks - 1].end > s->end)
        s->end = track->tasks[track->ntasks - 1].end;
}

static sums sum_up(const dagt_trace *t)
{
    sums s = {.begin = INT64_MAX, .end = INT64_MIN, .least = 1e300, .most = -1};
    for (int r = 0; r < t->nranks; r++) {
        const dagt_rank *rank = &t->ranks[r];
        int64_t busy = 0;
        for (int k = 0; k < rank->ntracks; k++) {
            if (rank->tracks[k].kind == DAGT_TRACK_WORKER)
                add_worker(&s, rank, &rank->tracks[k], &busy);
            if (dagt_runs_tasks(&rank->tracks[k]))
                add_tasks(&s, &rank->tracks[k]);
        }
        for (int i = 0; i < rank->npools; i++) {
            s.renames += rank->pools[i].renames;
            s.bytes += rank->pools[i].bytes;
        }
        double mine = (double)busy / (double)(rank->head.workers ? rank->head.workers : 1);
        if (mine < s.least)
            s.least = mine;
        if (mine > s.most) {
            s.most = mine;
            s.busiest = r;
        }
    }
    return s;
}

/* ---- parts -------------------------------------------------------------------------------- */

static void print_speed(const dagt_trace *t, const sums *s, FILE *out)
{
    const dagt_rank_head *work = &t->ranks[0].head;
    double wall = (double)(t->end - t->begin) * 1e-9;
    fprintf(out, "dag: report: %zu tasks in %.4g s on %d rank%s with %d workers in all\n", s->tasks,
            wall, t->nranks, t->nranks > 1 ? "s" : "", s->workers);
    if (!(work->flops > 0) || !(work->seconds > 0))
        return;
    double rate = work->flops / work->seconds;
    fprintf(out, "dag:   speed: %.4g GFlop/s in %.4g s", rate * 1e-9, work->seconds);
    if (work->peak > 0)
        fprintf(out, ", %.1f %% of the kernel peak of %d x %.4g GFlop/s",
                share(rate, work->peak * s->workers), s->workers, work->peak * 1e-9);
    fputc('\n', out);
}

static void print_paths(const dagt_path *paths, size_t n, FILE *out)
{
    enum { LISTED = 8 };
    for (size_t i = 0; i < n && i < LISTED; i++) {
        const dagt_path *p = &paths[i];
        if (p->tasks == 0)
            continue;
        fprintf(out, "dag:   pool %u (%s): %llu tasks, %.4g s; critical path %.4g s (%.0f %%), %zu "
                "tasks", p->pool, p->program, (unsigned long long)p->tasks,
                (double)(p->end - p->begin) * 1e-9, (double)p->length * 1e-9,
                share((double)p->length, (double)(p->end - p->begin)), p->steps);
        if (p->copies)
            fprintf(out, " and %zu copies", p->copies);
        fputs(" long\n", out);
    }
    if (n > LISTED)
        fprintf(out, "dag:   ... and %zu more pools\n", n - LISTED);
}

static void print_times(const char *name, const dagt_times *w, FILE *out)
{
    double wall = (double)w->wall;
    fprintf(out, "dag:   %-18s %6.1f %7.1f %8.1f %7.1f %8.1f %8.1f %6.1f %6.1f %7.1f %9.1f %6.1f %8zu %7zu\n",
            name,
            share((double)w->bodies, wall), share((double)w->runtime, wall),
            share((double)w->comm, wall), share((double)w->drive, wall),
            share((double)w->outside, wall),
            share((double)w->idle[DAGT_NO_TASK], wall), share((double)w->idle[DAGT_DATA], wall),
            share((double)w->idle[DAGT_SEND], wall), share((double)w->idle[DAGT_DEVICE], wall),
            share((double)w->idle[DAGT_SLEEPING], wall),
            share((double)w->idle[DAGT_CORE], wall), w->tasks, w->steals);
}

static void print_workers(const dagt_trace *t, const sums *s, FILE *out)
{
    enum { LISTED = 64 };
    int listed = 0;
    fprintf(out, "dag:   %-18s %6s %7s %8s %7s %8s %8s %6s %6s %7s %9s %6s %8s %7s\n", "percent of time",
            "bodies", "runtime", "messages", "devices", "outside", "no task", "data", "send", "device",
            "sleeping", "core", "tasks", "stolen");
    for (int r = 0; r < t->nranks; r++) {
        for (int k = 0; k < t->ranks[r].ntracks; k++) {
            const dagt_track *track = &t->ranks[r].tracks[k];
            char name[64];
            dagt_times w;
            if (track->kind != DAGT_TRACK_WORKER || listed++ >= LISTED)
                continue;
            dagt_worker_times(&t->ranks[r], track, &w);
            print_times(dagt_label(name, sizeof name, r, track), &w, out);
        }
    }
    dagt_times all = s->all;
    all.tasks = s->tasks;
    if (listed > 1)
        print_times("all", &all, out);
}

static void print_streams(const dagt_trace *t, FILE *out)
{
    enum { LISTED = 64 };
    int listed = 0;
    for (int r = 0; r < t->nranks; r++) {
        for (int k = 0; k < t->ranks[r].ntracks; k++) {
            const dagt_track *track = &t->ranks[r].tracks[k];
            char name[64];
            dagt_busy busy;
            if (track->kind != DAGT_TRACK_STREAM || listed++ >= LISTED)
                continue;
            dagt_device_busy(track, &busy);
            fprintf(out, "dag:   %s: %zu tasks, busy for %.4g s, %.1f %% of the time\n",
                    dagt_label(name, sizeof name, r, track), busy.count, (double)busy.time * 1e-9,
                    share((double)busy.time, (double)(t->ranks[r].end - t->ranks[r].begin)));
        }
    }
}

static void print_overlap(const dagt_trace *t, int r, FILE *out)
{
    dagt_overlap o;
    if (dagt_overlap_of(&t->ranks[r], &o) != 0)
        return;
    if (o.comm > 0)
        fprintf(out, "dag:   rank %d: communication for %.4g s, %.0f %% of it while bodies ran\n", r,
                (double)o.comm * 1e-9, share((double)o.both, (double)o.comm));
    if (o.copy > 0)
        fprintf(out, "dag:   rank %d: copies for %.4g s, %.0f %% of it while bodies ran\n", r,
                (double)o.copy * 1e-9, share((double)o.copy_both, (double)o.copy));
}

static void print_link(const dagt_link *l, FILE *out)
{
    char from[40], to[40];
    fprintf(out, "dag:   link %s -> %s: %llu %s, %.4g MB",
            dagt_link_end(from, sizeof from, l->from, l->from_device),
            dagt_link_end(to, sizeof to, l->to, l->to_device), (unsigned long long)l->sent,
            l->busy ? "copies" : "messages and transfers", (double)l->bytes * 1e-6);
    if (l->busy)
        fprintf(out, ", %.3g GB/s", (double)l->bytes / (double)l->busy);
    fputc('\n', out);
}

static void print_links(const dagt_trace *t, FILE *out)
{
    enum { LISTED = 16 };
    size_t n;
    dagt_link *links = dagt_links(t, &n);
    for (size_t i = 0; links && i < n && i < LISTED; i++)
        print_link(&links[i], out);
    if (n > LISTED)
        fprintf(out, "dag:   ... and %zu more links\n", n - LISTED);
    free(links);
    for (int r = 0; n > 0 && r < t->nranks && r < LISTED; r++)
        print_overlap(t, r, out);
}

static void print_broadcast(const dagt_broadcasts *b, FILE *out)
{
    char shape[128];
    dag_bcast_tree tree;
    memcpy(&tree, b->tree, sizeof tree);
    double count = (double)b->count;
    fprintf(out, "dag:   broadcasts of %s %s: %zu by %s, to %.3g ranks, %.4g kB each; ", b->program, b->cls, b->count,
            dagi_bcast_name(&tree, shape, sizeof shape), (double)b->ranks / count, (double)b->bytes / count * 1e-3);
    if (b->predicted > 0)
        fprintf(out, "predicted %.3g s", b->predicted / count);
    else
        fputs("not predicted", out);
    if (b->whole > 0)
        fprintf(out, ", measured %.3g s, at most %.3g s", b->measured / (double)b->whole * 1e-9,
                (double)b->most * 1e-9);
    if (b->whole < b->count)
        fprintf(out, "; %zu not seen to their end", b->count - b->whole);
    fputc('\n', out);
}

static void print_broadcasts(const dagt_trace *t, FILE *out)
{
    enum { LISTED = 32 };
    size_t n;
    dagt_broadcasts *all = dagt_broadcasts_of(t, &n);
    for (size_t i = 0; i < n && i < LISTED; i++)
        print_broadcast(&all[i], out);
    if (n > LISTED)
        fprintf(out, "dag:   ... and %zu more classes and shapes of broadcasts\n", n - LISTED);
    free(all);
}

/* ---- advice ------------------------------------------------------------------------------- */

/* A tile size near `wanted`, a multiple of 16. */
static long long round_nb(double wanted)
{
    long long nb = (long long)(wanted / 16 + 0.5) * 16;
    return nb < 16 ? 16 : nb;
}

/* What the figures support, and nothing else. Times are of the interval in which tasks ran. */
static void print_advice(const dagt_trace *t, const sums *s, const dagt_path *paths, size_t n,
                         FILE *out)
{
    const dagt_rank_head *work = &t->ranks[0].head;
    double nb = (double)work->nb, span = (double)(s->end - s->begin) * s->workers;
    int64_t path = 0, run = 0;
    if (s->tasks < 10 || span <= 0)
        return;
    for (size_t i = 0; i < n; i++) {
        path += paths[i].length;
        run += paths[i].end - paths[i].begin;
    }
    double mean = (double)s->all.bodies / (double)s->tasks;
    double busy = (double)s->all.bodies / span;
    double overhead = (double)s->all.runtime / (double)(s->all.runtime + s->all.bodies + 1);
    if (overhead > 0.1 && mean < 50e3) {
        fprintf(out, "dag:   advice: bodies take %.3g us on average and the runtime %.0f %% of the "
                "time between: larger tiles", mean * 1e-3, 100 * overhead);
        if (nb > 0) /* work grows with the cube of nb */
            fprintf(out, "; try nb = %lld", round_nb(nb * (overhead > 0.4 ? 2 : 1.5)));
        fputc('\n', out);
    } else if (s->workers > 1 && busy < 0.7 && (double)path > 0.6 * (double)run) {
        fprintf(out, "dag:   advice: the critical path takes %.0f %% of the run and bodies only "
                "%.0f %% of the workers' time: smaller tiles give more to do at once",
                share((double)path, (double)run), 100 * busy);
        if (nb >= 64)
            fprintf(out, "; try nb = %lld", round_nb(nb * 0.6));
        fputs(", or fewer workers\n", out);
    }
    if (t->nranks > 1 && s->least > 0 && s->most > 1.25 * s->least) {
        fprintf(out, "dag:   advice: bodies take %.2f times as long on rank %d as on the rank with "
                "least to do", s->most / s->least, s->busiest);
        if (work->p > 0 && (work->p > 2 * work->q || work->q > 2 * work->p))
            fprintf(out, "; a grid more square than %llux%llu would balance them",
                    (unsigned long long)work->p, (unsigned long long)work->q);
        else
            fprintf(out, "; %ssmaller tiles would balance them", nb > 0 ? "" : "another grid or ");
        fputc('\n', out);
    }
    double data = (double)(s->all.idle[DAGT_DATA] + s->all.idle[DAGT_SEND]) / span;
    if (t->nranks > 1 && data > 0.25)
        fprintf(out, "dag:   advice: %.0f %% of the workers' time is waiting for other ranks: %s"
                "larger tiles send fewer messages, fewer ranks fewer bytes\n", 100 * data,
                work->p > 2 * work->q || work->q > 2 * work->p ? "a more square grid, " : "");
}

void dagi_report_print(dagt_trace *t, FILE *out)
{
    size_t n = 0;
    sums s = sum_up(t);
    dagt_path *paths = dagt_critical(t, &n);
    flockfile(out);
    print_speed(t, &s, out);
    if (paths)
        print_paths(paths, n, out);
    print_workers(t, &s, out);
    print_streams(t, out);
    print_links(t, out);
    print_broadcasts(t, out);
    fprintf(out, "dag:   %zu tasks stolen, %llu values copied because others still read them, "
            "%.4g MB of data sent\n", s.all.steals, (unsigned long long)s.renames,
            (double)s.bytes * 1e-6);
    if (paths)
        print_advice(t, &s, paths, n, out);
    funlockfile(out);
    free(paths);
}
