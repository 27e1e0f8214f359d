/* The peaks are those of one rank with n = 2000 against n = 1000; tests/integration/la/peaks.py measures
 * them again. */
#include "memory.h"

#include "driver.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Without options on slab storage where the routine works on that in place (else on any); more for a
 * copy of tile storage (the one of least squares is gone before their peak), with --check, with --refine (--mixed takes
 * less), and on several ranks for tiles of others. `slabs`: it works on these. */
static const struct peak {
    const char *routine;
    double plain, tile, check, refine, ranks;
    bool slabs;
} peaks[] = {
    {"potrf", 0.55, 0, 0.5, 0, 0.25, false}, {"posv", 0.55, 0, 0, 0.5, 0.25, false}, {"potri", 1.1, 0, 0.5, 0, 0.4, false},
    {"getrf", 1.1, 1, 0, 0, 0.35, true},     {"gesv", 1.1, 1, 0, 1, 0.35, true},     {"getri", 1.2, 1, 1, 0, 1, true},
    {"geqrf", 1.35, 1, 4, 0, 0.4, true},     {"gelqf", 1.35, 1, 4.7, 0, 0.75, true}, {"gels", 2.2, 0, 0, 0, 0.35, true},
    {"gemm", 3, 0, 1.05, 0, 0.4, false},
};

static const struct peak *find_peak(const char *routine)
{
    for (size_t i = 0; i < sizeof(peaks) / sizeof(peaks[0]); i++)
        if (strcmp(peaks[i].routine, routine) == 0)
            return &peaks[i];
    return NULL;
}

bool memory_wants_slabs(const char *routine)
{
    const struct peak *p = find_peak(routine);
    return p != NULL && p->slabs;
}

/* Words of a run at its peak, per element of its first matrix, as measured. */
static double words_of(const char *routine, const options *o, int ranks)
{
    const struct peak *p = find_peak(routine);
    if (p == NULL || (strcmp(routine, "gemm") == 0 && (o->given & (OPT_BIT(OPT_M) | OPT_BIT(OPT_K)))))
        return 0; /* what is made is counted then */
    return p->plain + (o->layout == DAG_LAYOUT_TILE ? p->tile : 0) + (o->check ? p->check : 0) +
           (o->refine ? p->refine : 0) + (ranks > 1 ? p->ranks : 0);
}

/* The number in a file; infinite if there is none. */
static double number_in(const char *path)
{
    double value = INFINITY;
    FILE *file = fopen(path, "r");
    if (file != NULL && fscanf(file, "%lf", &value) != 1) /* "max" */
        value = INFINITY;
    if (file != NULL)
        fclose(file);
    return value;
}

/* The least limit of a group and those around it. A container may show its own as the root. */
static double limit_of_group(const char *root, const char *base, const char *file, char *group)
{
    double least = INFINITY;
    for (;;) {
        char path[4608];
        snprintf(path, sizeof(path), "%s/sys/fs/cgroup%s%s/%s", root, base, group, file);
        double limit = number_in(path);
        least = limit < least ? limit : least;
        char *slash = strrchr(group, '/');
        if (slash == NULL)
            return least;
        *slash = '\0';
    }
}

double memory_of_node(const char *root)
{
    double least = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    char path[512], line[4096];
    snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "r");
    if (!(least > 0))
        least = INFINITY;
    while (file != NULL &&
           fgets(line, sizeof(line), file) != NULL) { /* number:controllers:/group */
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'),
             *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (group == NULL)
            continue;
        *controllers++ = *group++ = '\0';
        double limit = INFINITY;
        if (*controllers == '\0')
            limit = limit_of_group(root, "", "memory.max", group);
        else if (strcmp(controllers, "memory") == 0)
            limit = limit_of_group(root, "/memory", "memory.limit_in_bytes", group);
        least = limit < least ? limit : least;
    }
    if (file != NULL)
        fclose(file);
    return least;
}

/* Bytes of address space that this process may still take; infinite where there is no limit. */
static double memory_of_process(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return INFINITY;
    double taken = number_in("/proc/self/statm") * (double)sysconf(_SC_PAGESIZE);
    return isfinite(taken) && taken < (double)limit.rlim_cur ? (double)limit.rlim_cur - taken : 0;
}

/* What a process has written of its own by now, and what it will besides matrices. */
static double own_memory(int ranks)
{
    const double besides = ranks > 1 ? 12 << 20 : 4 << 20; /* MPI's segments, the launcher's share */
    double pages = 0, shared = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file != NULL && fscanf(file, "%*f %lf %lf", &pages, &shared) != 2)
        pages = shared = 0;
    if (file != NULL)
        fclose(file);
    return besides + (pages - shared) * (double)sysconf(_SC_PAGESIZE);
}

bool memory_begins(const char *program)
{
    const double least = 8 << 20;
    double there = memory_of_node("");
    if (there >= least)
        return true;
    fprintf(stderr, "%s: the control group of this process allows it %.0f bytes of memory, and %.0f are needed "
            "to begin with: allow it more\n", program, there, least);
    return false;
}

/* Words of the run that goes on; 0 once its first matrix has been admitted. */
static double run_words;

void memory_expect(const char *routine, const options *o, int ranks)
{
    run_words = words_of(routine, o, ranks);
}

/* Says what would fit instead; `needed` is of all ranks that share `there`. */
static dag_status refuse(dag_context *ctx, const dag_matrix *a, double needed, double there,
                         const char *where)
{
    double share = sqrt(there / needed);
    return dag_error(ctx, DAG_ERR_NOMEM,
                     "a matrix of %" PRId64 " x %" PRId64 " needs %.0f bytes at its peak %s, "
                     "which has %.0f; %.0f x %.0f would fit: use more nodes or a smaller matrix",
                     a->m, a->n, needed, where, there, floor(share * (double)a->m),
                     floor(share * (double)a->n));
}

/* Nothing is touched in a simulated run; a node that it is about has the memory that its description says. */
static dag_status check_simulated(dag_context *ctx, const dag_simulation *s, const dag_matrix *a,
                                  double bytes)
{
    char where[300];
    int ranks = dag_size(ctx) < s->node_ranks ? dag_size(ctx) : s->node_ranks;
    snprintf(where, sizeof(where), "on a node of machine '%s'", s->machine);
    if (s->node_memory > 0 && bytes * ranks > s->node_memory)
        return driver_collective(ctx, refuse(ctx, a, bytes * ranks, s->node_memory, where));
    return DAG_SUCCESS;
}

/* What a matrix and all that comes with it take on this rank. */
static double peak_bytes(const dag_matrix *a)
{
    double bytes = (double)dag_matrix_bytes(a);
    double half = a->uplo != DAG_GENERAL ? 0.5 : 1; /* the other triangle is never touched */
    if (a->layout == DAG_LAYOUT_SLAB)
        bytes *= half;
    if (run_words > half)
        bytes *= run_words / half;
    run_words = 0;
    return bytes;
}

/*
 * Storage is provided when it is touched, so a run that is too large would be found out by the system
 * ending processes. Refuses it while it takes nothing: what the ranks on one node will take at the peak
 * has to fit its memory, and what each takes the limits of its process.
 */
dag_status memory_check(dag_context *ctx, const dag_matrix *a)
{
    char host[256] = "", where[300];
    dag_simulation simulation;
    double bytes = peak_bytes(a);
    if (dag_simulation_get(ctx, &simulation))
        return check_simulated(ctx, &simulation, a, bytes);
    double *nodes = calloc(2 * (size_t)dag_size(ctx), sizeof(*nodes)); /* name and bytes of each */
    dag_status status = driver_agreed(ctx, nodes != NULL ? DAG_SUCCESS : DAG_ERR_NOMEM);
    if (status != DAG_SUCCESS) {
        free(nodes);
        return status;
    }
    double name = 0, needed = 0;
    (void)gethostname(host, sizeof(host) - 1);
    for (const char *c = host; *c != '\0'; c++)
        name = fmod(name * 257 + (unsigned char)*c, 0x1p40);
    nodes[2 * dag_rank(ctx)] = name;
    nodes[2 * dag_rank(ctx) + 1] = bytes + own_memory(dag_size(ctx));
    status = driver_collective(ctx, dag_allreduce(ctx, DAG_SUM, nodes, 2 * dag_size(ctx)));
    for (int r = 0; r < dag_size(ctx); r++)
        if (nodes[2 * r] == name)
            needed += nodes[2 * r + 1];
    free(nodes);
    if (status != DAG_SUCCESS)
        return status;
    double node = memory_of_node(""), process = memory_of_process();
    snprintf(where, sizeof(where), "on %s", host);
    if (needed > node)
        status = refuse(ctx, a, needed, node, where);
    else if (bytes > process)
        status = refuse(ctx, a, bytes, process, "within the limit of the process (ulimit -v)");
    return driver_agreed(ctx, status);
}
