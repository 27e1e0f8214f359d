#include "summary.h"

#include <stdlib.h>
#include <string.h>

static const char *const causes[DAGT_CAUSES] = {"no ready task", "waiting for data",
                                                "waiting for send", "sleeping",
                                                "waiting for a core", "waiting for a device"};

static double percent(int64_t part, int64_t whole)
{
    return whole > 0 ? 100 * (double)part / (double)whole : 0;
}

static double seconds(int64_t ns)
{
    return (double)ns * 1e-9;
}

/* "12.3 us", always 9 columns. */
static const char *duration(char text[16], double ns)
{
    static const struct { double from; const char *unit; } units[] = {
        {1e9, "s "}, {1e6, "ms"}, {1e3, "us"}, {0, "ns"}};
    size_t u = 0;
    while (ns < units[u].from)
        u++;
    double x = units[u].from > 0 ? ns / units[u].from : ns;
    snprintf(text, 16, "%6.*f %s", x >= 100 ? 1 : 2, x, units[u].unit);
    return text;
}

/* ---- summary ------------------------------------------------------------------------------ */

static int sum_workers(const dagt_trace *t, dagt_times *sum)
{
    int workers = 0;
    *sum = (dagt_times){0};
    for (int r = 0; r < t->nranks; r++) {
        for (int k = 0; k < t->ranks[r].ntracks; k++) {
            dagt_times w;
            if (t->ranks[r].tracks[k].kind != DAGT_TRACK_WORKER)
                continue;
            dagt_worker_times(&t->ranks[r], &t->ranks[r].tracks[k], &w);
            dagt_times_add(sum, &w);
            workers++;
        }
    }
    return workers;
}

static void print_row(const char *name, const dagt_times *w, FILE *out)
{
    fprintf(out, "  %-20s %7.2f %8.2f %9.2f %8.2f %12.2f %8.2f %7.2f %7.2f %7.2f %9.2f %7.2f %9zu %7zu\n",
            name,
            percent(w->bodies, w->wall), percent(w->runtime, w->wall), percent(w->comm, w->wall),
            percent(w->drive, w->wall), percent(w->outside, w->wall), percent(w->idle[0], w->wall),
            percent(w->idle[1], w->wall), percent(w->idle[2], w->wall), percent(w->idle[5], w->wall),
            percent(w->idle[3], w->wall), percent(w->idle[4], w->wall), w->tasks, w->steals);
}

static void print_workers(const dagt_trace *t, int each, FILE *out)
{
    dagt_times sum;
    int workers = sum_workers(t, &sum);
    fprintf(out, "\nwhere the time of the workers went, percent\n"
            "  %-20s %7s %8s %9s %8s %12s %8s %7s %7s %7s %9s %7s %9s %7s\n", "", "bodies", "runtime",
            "messages", "devices", "application", "no task", "data", "send", "device", "sleeping", "core",
            "tasks", "stolen");
    for (int r = 0; each && r < t->nranks; r++) {
        for (int k = 0; k < t->ranks[r].ntracks; k++) {
            const dagt_track *track = &t->ranks[r].tracks[k];
            char name[64];
            dagt_times w;
            if (track->kind != DAGT_TRACK_WORKER)
                continue;
            dagt_worker_times(&t->ranks[r], track, &w);
            print_row(dagt_label(name, sizeof name, r, track), &w, out);
        }
    }
    if (!each || workers > 1)
        print_row("all", &sum, out);
}

static void print_classes(const dagt_trace *t, FILE *out)
{
    size_t n;
    char a[16], b[16], c[16], d[16], e[16];
    dagt_class_times *list = dagt_classes(t, &n);
    fprintf(out, "\ntask classes\n  %-20s %9s %10s %10s %10s %10s %10s\n", "", "tasks", "total",
            "mean", "least", "most", "mean wait");
    for (size_t i = 0; list && i < n; i++)
        fprintf(out, "  %-20s %9zu  %s  %s  %s  %s  %s\n", list[i].name, list[i].count,
                duration(a, (double)list[i].total),
                duration(b, (double)list[i].total / (double)list[i].count),
                duration(c, (double)list[i].least), duration(d, (double)list[i].most),
                duration(e, (double)list[i].wait / (double)list[i].count));
    free(list);
}

static void print_pools(dagt_trace *t, FILE *out)
{
    size_t n;
    char a[16], b[16];
    dagt_path *paths = dagt_critical(t, &n);
    fprintf(out, "\ntaskpools\n  %4s  %-20s %9s %10s  %-26s %s\n", "", "", "tasks", "time",
            "critical path", "tasks and copies on it");
    for (size_t i = 0; paths && i < n; i++)
        fprintf(out, "  %4u  %-20s %9llu  %s  %s  (%5.1f %%)  %11zu %6zu\n", paths[i].pool,
                paths[i].program, (unsigned long long)paths[i].tasks,
                duration(a, (double)(paths[i].end - paths[i].begin)),
                duration(b, (double)paths[i].length),
                percent(paths[i].length, paths[i].end - paths[i].begin), paths[i].steps,
                paths[i].copies);
    free(paths);
}

static void print_streams(const dagt_trace *t, FILE *out)
{
    char name[64];
    const char *title = "\nstreams of devices\n";
    for (int r = 0; r < t->nranks; r++) {
        for (int k = 0; k < t->ranks[r].ntracks; k++) {
            const dagt_track *track = &t->ranks[r].tracks[k];
            dagt_busy busy;
            if (track->kind != DAGT_TRACK_STREAM)
                continue;
            dagt_device_busy(track, &busy);
            fprintf(out, "%s  %-28s %9zu tasks, busy for %.4g s, %.1f %% of the time\n", title,
                    dagt_label(name, sizeof name, r, track), busy.count, seconds(busy.time),
                    percent(busy.time, t->ranks[r].end - t->ranks[r].begin));
            title = "";
        }
    }
}

static void print_network(const dagt_trace *t, FILE *out)
{
    size_t n;
    char from[40], to[40];
    dagt_link *links = dagt_links(t, &n);
    if (n)
        fprintf(out, "\nlinks\n  %12s    %12s %12s %14s\n", "from", "to", "sent", "bytes");
    for (size_t i = 0; links && i < n; i++) {
        fprintf(out, "  %12s -> %12s %12llu %14llu",
                dagt_link_end(from, sizeof from, links[i].from, links[i].from_device),
                dagt_link_end(to, sizeof to, links[i].to, links[i].to_device),
                (unsigned long long)links[i].sent, (unsigned long long)links[i].bytes);
        if (links[i].busy)
            fprintf(out, "  %.3g GB/s", (double)links[i].bytes / (double)links[i].busy);
        if (links[i].received != links[i].sent || links[i].bytes_received != links[i].bytes)
            fprintf(out, "  (received: %llu, %llu bytes)", (unsigned long long)links[i].received,
                    (unsigned long long)links[i].bytes_received);
        fputc('\n', out);
    }
    free(links);
    for (int r = 0; n && r < t->nranks; r++) {
        dagt_overlap o;
        if (dagt_overlap_of(&t->ranks[r], &o) != 0)
            continue;
        if (o.comm > 0)
            fprintf(out, "  rank %d: communication for %.4g s, %.1f %% of it while bodies ran\n", r,
                    seconds(o.comm), percent(o.both, o.comm));
        if (o.copy > 0)
            fprintf(out, "  rank %d: copies for %.4g s, %.1f %% of it while bodies ran\n", r,
                    seconds(o.copy), percent(o.copy_both, o.copy));
    }
}

void print_summary(dagt_trace *t, int workers, FILE *out)
{
    double error = 0;
    uint64_t dropped = 0;
    dagt_times sum;
    int n = sum_workers(t, &sum);
    for (int r = 0; r < t->nranks; r++) {
        dropped += t->ranks[r].head.dropped;
        if (t->ranks[r].head.clock_error > error)
            error = t->ranks[r].head.clock_error;
    }
    fprintf(out, "%d rank%s, %d worker%s, %zu tasks, %.6g s\n", t->nranks, t->nranks > 1 ? "s" : "",
            n, n > 1 ? "s" : "", t->ntasks, seconds(t->end - t->begin));
    if (t->nranks > 1)
        fprintf(out, "clocks of ranks agree within %.3g us\n", error * 1e-3);
    if (dropped)
        fprintf(out, "%llu events were dropped for lack of room (setting trace_bytes)\n",
                (unsigned long long)dropped);
    print_workers(t, workers, out);
    print_classes(t, out);
    print_pools(t, out);
    print_streams(t, out);
    print_network(t, out);
}

/* ---- comparison --------------------------------------------------------------------------- */

static void compare(FILE *out, const char *what, double a, double b)
{
    char x[16], y[16];
    fprintf(out, "  %-26s %s   %s", what, duration(x, a), duration(y, b));
    if (a > 0)
        fprintf(out, "   %+7.1f %%", 100 * (b - a) / a);
    fputc('\n', out);
}

static const dagt_class_times *named(const dagt_class_times *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].name, name) == 0)
            return &list[i];
    return NULL;
}

static void compare_classes(const dagt_trace *a, const dagt_trace *b, FILE *out)
{
    size_t na, nb;
    char x[16], y[16];
    dagt_class_times *la = dagt_classes(a, &na), *lb = dagt_classes(b, &nb);
    fprintf(out, "\ntask classes: mean duration, and tasks\n");
    for (size_t i = 0; la && i < na; i++) {
        const dagt_class_times *other = named(lb, nb, la[i].name);
        double mean = (double)la[i].total / (double)la[i].count;
        double mean_b = other ? (double)other->total / (double)other->count : 0;
        fprintf(out, "  %-26s %s   %s", la[i].name, duration(x, mean),
                other ? duration(y, mean_b) : "        -");
        if (other && mean > 0)
            fprintf(out, "   %+7.1f %%   %zu and %zu", 100 * (mean_b - mean) / mean, la[i].count,
                    other->count);
        fputc('\n', out);
    }
    for (size_t i = 0; lb && i < nb; i++)
        if (!named(la, na, lb[i].name))
            fprintf(out, "  %-26s         -   %s\n", lb[i].name,
                    duration(y, (double)lb[i].total / (double)lb[i].count));
    free(la);
    free(lb);
}

void print_comparison(dagt_trace *a, dagt_trace *b, const char *name_a, const char *name_b,
                      FILE *out)
{
    dagt_times x, y;
    int na = sum_workers(a, &x), nb = sum_workers(b, &y);
    size_t pa, pb;
    fprintf(out, "  first:  %s: %d ranks, %d workers, %zu tasks\n", name_a, a->nranks, na,
            a->ntasks);
    fprintf(out, "  second: %s: %d ranks, %d workers, %zu tasks\n\n", name_b, b->nranks, nb,
            b->ntasks);
    compare(out, "wall time", (double)(a->end - a->begin), (double)(b->end - b->begin));
    fprintf(out, "\nmean per worker\n");
    compare(out, "bodies", (double)x.bodies / na, (double)y.bodies / nb);
    compare(out, "runtime", (double)x.runtime / na, (double)y.runtime / nb);
    compare(out, "messages", (double)x.comm / na, (double)y.comm / nb);
    compare(out, "devices", (double)x.drive / na, (double)y.drive / nb);
    compare(out, "application", (double)x.outside / na, (double)y.outside / nb);
    for (int c = 0; c < DAGT_CAUSES; c++)
        compare(out, causes[c], (double)x.idle[c] / na, (double)y.idle[c] / nb);
    compare_classes(a, b, out);
    dagt_path *la = dagt_critical(a, &pa), *lb = dagt_critical(b, &pb);
    fprintf(out, "\ntaskpools: time, and critical path\n");
    for (size_t i = 0; la && lb && i < pa && i < pb; i++) {
        if (strcmp(la[i].program, lb[i].program) != 0)
            continue;
        compare(out, la[i].program, (double)(la[i].end - la[i].begin),
                (double)(lb[i].end - lb[i].begin));
        compare(out, "  critical path", (double)la[i].length, (double)lb[i].length);
    }
    free(la);
    free(lb);
}

/* ---- critical path ------------------------------------------------------------------------ */

static void print_step(const dagt_trace *t, const dagt_path *path, const dagt_step *step,
                       int64_t before, FILE *out)
{
    char a[16], b[16], c[16], name[256], where[64];
    const dagt_rank *rank = &t->ranks[step->rank];
    const dagt_track *track = &rank->tracks[step->track];
    const dagt_task *task = step->task;
    int64_t begin = task ? task->begin : step->copy->begin, end = task ? task->end : step->copy->end;
    int64_t ready = task ? task->ready : before;
    if (task)
        dagt_name(name, sizeof name, rank, track, task);
    else
        snprintf(name, sizeof name, "copy of %.4g MB", (double)step->copy->bytes * 1e-6);
    fprintf(out, "%5u %-28s  %s  %s  %s  %s\n", path->pool, name, duration(a, (double)begin),
            duration(b, (double)(end - begin)), duration(c, begin > ready ? (double)(begin - ready) : 0),
            dagt_label(where, sizeof where, step->rank, track));
}

void print_path(dagt_trace *t, FILE *out)
{
    size_t n;
    dagt_path *paths = dagt_critical(t, &n);
    fprintf(out, "%5s %-28s %10s %10s %10s  where\n", "pool", "task", "begin", "took", "waited");
    for (size_t i = 0; paths && i < n; i++) {
        dagt_step *steps = dagt_path_steps(t, &paths[i]);
        int64_t before = paths[i].begin;
        for (size_t k = 0; steps && k < paths[i].steps + paths[i].copies; k++) {
            print_step(t, &paths[i], &steps[k], before, out);
            before = steps[k].task ? steps[k].task->end : steps[k].copy->end;
        }
        free(steps);
    }
    free(paths);
}
