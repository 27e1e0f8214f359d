#define _GNU_SOURCE /* CPU_ALLOC, pthread_setaffinity_np */
#include "topology.h"

#include "base.h"
#include "even_cores.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if DAG_HAVE_HWLOC
#include <hwloc.h>
#endif

struct core {
    dagi_cpuset pus; /* its processors inside the inherited set */
#if DAG_HAVE_HWLOC
    hwloc_obj_t object;
#endif
};

struct dagi_topology {
    dagi_cpuset inherited;
    struct core *cores;
    int ncores, machine_cores;
    int first, count; /* the share: cores first ... first+count-1 */
#if DAG_HAVE_HWLOC
    hwloc_topology_t hwloc; /* NULL: all cores are equally near, and there is one node */
#endif
};

enum { WORD_BITS = 64, MOST_PUS = DAGI_CPUSET_WORDS * WORD_BITS };

static bool has(const dagi_cpuset *set, int pu)
{
    return set->word[pu / WORD_BITS] >> (pu % WORD_BITS) & 1;
}

static void add(dagi_cpuset *set, int pu)
{
    set->word[pu / WORD_BITS] |= UINT64_C(1) << (pu % WORD_BITS);
}

static int first_of(const dagi_cpuset *set)
{
    for (int pu = 0; pu < MOST_PUS; pu++) {
        if (has(set, pu))
            return pu;
    }
    return -1;
}

/* The cpuset of the calling thread. */
static void read_inherited(dagi_cpuset *set)
{
    memset(set, 0, sizeof *set);
#ifdef __linux__
    cpu_set_t *cpus = CPU_ALLOC(MOST_PUS);
    size_t bytes = CPU_ALLOC_SIZE(MOST_PUS);
    if (cpus && sched_getaffinity(0, bytes, cpus) == 0) {
        for (int pu = 0; pu < MOST_PUS; pu++) {
            if (CPU_ISSET_S((size_t)pu, bytes, cpus))
                add(set, pu);
        }
    }
    if (cpus)
        CPU_FREE(cpus);
#endif
    if (first_of(set) >= 0)
        return;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    for (int pu = 0; pu < (online > 0 ? online : 1) && pu < MOST_PUS; pu++)
        add(set, pu);
}

/* Where all cores are alike they are known without hwloc, which takes 3 ms the first time. Who sets one of its variables
 * wants to hear what it says. */
static bool find_even_cores(dagi_topology *t)
{
    static const char *const variables[] = {"HWLOC_XMLFILE", "HWLOC_SYNTHETIC", "HWLOC_FSROOT"};
    dagi_cpuset *cores = NULL;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        if (getenv(variables[i]))
            return false;
    }
    t->ncores = t->machine_cores = dagi_even_cores("/sys/devices/system", &t->inherited, &cores);
    t->cores = t->ncores > 0 ? calloc((size_t)t->ncores, sizeof *t->cores) : NULL;
    for (int i = 0; t->cores && i < t->ncores; i++)
        t->cores[i].pus = cores[i];
    free(cores);
    if (!t->cores)
        t->ncores = t->machine_cores = 0;
    return t->cores != NULL;
}

#if DAG_HAVE_HWLOC
/* hwloc's own way to look runs on each processor in turn, and waits while that is busy; it is for systems that do not
 * tell. */
static unsigned long ways(void)
{
#if HWLOC_API_VERSION >= 0x00020500 /* 2.5 */
    if (access("/sys/devices/system/cpu/cpu0/topology", R_OK) == 0)
        return HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING;
#endif
    return 0;
}

/* Cores with a processor in the inherited set; processors count as cores where hwloc knows none. */
static int find_cores(dagi_topology *t)
{
    if (hwloc_topology_init(&t->hwloc) != 0)
        return -1;
    hwloc_topology_set_all_types_filter(t->hwloc, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
    hwloc_topology_set_flags(t->hwloc, ways());
    if (hwloc_topology_load(t->hwloc) != 0)
        return -1;
    hwloc_obj_type_t type = hwloc_get_nbobjs_by_type(t->hwloc, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE
                                                                                  : HWLOC_OBJ_PU;
    t->machine_cores = hwloc_get_nbobjs_by_type(t->hwloc, type);
    if (t->machine_cores <= 0)
        return -1;
    t->cores = calloc((size_t)t->machine_cores, sizeof *t->cores);
    if (!t->cores)
        return -1;
    for (int i = 0; i < t->machine_cores; i++) {
        hwloc_obj_t object = hwloc_get_obj_by_type(t->hwloc, type, (unsigned)i);
        struct core *core = &t->cores[t->ncores];
        int pu = hwloc_bitmap_first(object->cpuset);
        for (; pu >= 0 && pu < MOST_PUS; pu = hwloc_bitmap_next(object->cpuset, pu)) {
            if (has(&t->inherited, pu))
                add(&core->pus, pu);
        }
        if (first_of(&core->pus) >= 0) {
            core->object = object;
            t->ncores++;
        }
    }
    return t->ncores > 0 ? 0 : -1;
}

/* The one node that an object is in; -1 = in several, or in all there are. */
static int node_of(hwloc_topology_t topology, hwloc_obj_t object)
{
    if (!topology || !object || !object->nodeset || hwloc_bitmap_weight(object->nodeset) != 1 ||
        hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE) < 2)
        return -1;
    return hwloc_bitmap_first(object->nodeset);
}

int dagi_topology_worker_node(const dagi_topology *t, int worker)
{
    return node_of(t->hwloc, t->cores[t->first + worker % t->count].object);
}

void dagi_topology_bus_nodes(const dagi_topology *t, int count, const char *const *bus, int *node)
{
    hwloc_topology_t topology;
    for (int i = 0; i < count; i++)
        node[i] = -1;
    if (count == 0 || !t->hwloc || hwloc_get_nbobjs_by_type(t->hwloc, HWLOC_OBJ_NUMANODE) < 2 ||
        hwloc_topology_init(&topology) != 0)
        return;
    hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
    hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL);
    int loaded = hwloc_topology_load(topology) == 0;
    for (int i = 0; i < count && loaded; i++) {
        hwloc_obj_t device = *bus[i] ? hwloc_get_pcidev_by_busidstring(topology, bus[i]) : NULL;
        if (device)
            node[i] = node_of(topology, hwloc_get_non_io_ancestor_obj(topology, device));
    }
    hwloc_topology_destroy(topology);
}

/* How much two cores share: the depth of what contains both. */
static int nearness(const dagi_topology *t, int a, int b)
{
    if (a == b || !t->hwloc)
        return a == b ? 1 << 20 : 0;
    return hwloc_get_common_ancestor_obj(t->hwloc, t->cores[a].object, t->cores[b].object)->depth;
}
#else
static int find_cores(dagi_topology *t)
{
    t->cores = calloc(MOST_PUS, sizeof *t->cores);
    if (!t->cores)
        return -1;
    for (int pu = 0; pu < MOST_PUS; pu++) {
        if (has(&t->inherited, pu))
            add(&t->cores[t->ncores++].pus, pu);
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    t->machine_cores = online > t->ncores ? (int)online : t->ncores;
    return 0;
}

static int nearness(const dagi_topology *t, int a, int b)
{
    (void)t;
    return a == b;
}

int dagi_topology_worker_node(const dagi_topology *t, int worker)
{
    (void)t;
    (void)worker;
    return -1;
}

void dagi_topology_bus_nodes(const dagi_topology *t, int count, const char *const *bus, int *node)
{
    (void)t;
    (void)bus;
    for (int i = 0; i < count; i++)
        node[i] = -1;
}
#endif

dag_status dagi_topology_new(dagi_topology **out, char *why, size_t why_size)
{
    dagi_topology *t = calloc(1, sizeof *t);
    if (!t)
        return DAG_ERR_NOMEM;
    read_inherited(&t->inherited);
    if (!find_even_cores(t) && find_cores(t) != 0) {
        snprintf(why, why_size, "the processors of this machine cannot be read");
        dagi_topology_free(t);
        return DAG_ERR_UNSUPPORTED;
    }
    t->count = t->ncores;
    *out = t;
    return DAG_SUCCESS;
}

void dagi_topology_free(dagi_topology *t)
{
    if (!t)
        return;
#if DAG_HAVE_HWLOC
    if (t->hwloc)
        hwloc_topology_destroy(t->hwloc);
#endif
    free(t->cores);
    free(t);
}

const dagi_cpuset *dagi_topology_cpuset(const dagi_topology *t)
{
    return &t->inherited;
}

int dagi_topology_cores(const dagi_topology *t)
{
    return t->ncores;
}

int dagi_topology_share_cores(const dagi_topology *t)
{
    return t->count;
}

int dagi_topology_machine_cores(const dagi_topology *t)
{
    return t->machine_cores;
}

void dagi_topology_share(dagi_topology *t, int index, int count)
{
    if (count > t->ncores) {
        t->first = index % t->ncores;
        t->count = 1;
        return;
    }
    t->first = (int)((int64_t)index * t->ncores / count);
    t->count = (int)((int64_t)(index + 1) * t->ncores / count) - t->first;
}

static int core_of(const dagi_topology *t, int worker)
{
    return t->first + worker % t->count;
}

int dagi_topology_core(const dagi_topology *t, int pu)
{
    for (int i = 0; i < t->count; i++) {
        if (pu >= 0 && pu < MOST_PUS && has(&t->cores[t->first + i].pus, pu))
            return i;
    }
    return -1;
}

int dagi_topology_bind(const dagi_topology *t, int worker, pthread_t thread)
{
#ifdef __linux__
    const dagi_cpuset *pus = &t->cores[core_of(t, worker)].pus;
    cpu_set_t *cpus = CPU_ALLOC(MOST_PUS);
    if (!cpus)
        return -1;
    size_t bytes = CPU_ALLOC_SIZE(MOST_PUS);
    CPU_ZERO_S(bytes, cpus);
    for (int pu = 0; pu < MOST_PUS; pu++) {
        if (has(pus, pu))
            CPU_SET_S((size_t)pu, bytes, cpus);
    }
    int failed = pthread_setaffinity_np(thread, bytes, cpus);
    CPU_FREE(cpus);
    return failed ? -1 : first_of(pus);
#else
    (void)t;
    (void)worker;
    (void)thread;
    return -1;
#endif
}

void dagi_topology_neighbours(const dagi_topology *t, int worker, int n, int *order)
{
    int near[DAGI_MAX_WORKERS], mine = core_of(t, worker), count = 0;
    /* Equals keep the order of a walk that starts behind the worker, so that thieves spread. */
    for (int k = 1; k < n; k++) {
        int other = (worker + k) % n, at = count++;
        near[other] = nearness(t, mine, core_of(t, other));
        for (; at > 0 && near[order[at - 1]] < near[other]; at--)
            order[at] = order[at - 1];
        order[at] = other;
    }
}

void dagi_topology_describe(const dagi_topology *t, char *text, size_t size)
{
    dagi_cpuset all = {{0}};
    for (int i = t->first; i < t->first + t->count; i++) {
        for (int w = 0; w < DAGI_CPUSET_WORDS; w++)
            all.word[w] |= t->cores[i].pus.word[w];
    }
    size_t used = 0;
    text[0] = '\0';
    for (int pu = 0; pu < MOST_PUS && used + 1 < size; pu++) {
        if (!has(&all, pu))
            continue;
        int last = pu;
        while (last + 1 < MOST_PUS && has(&all, last + 1))
            last++;
        int n = last > pu ? snprintf(text + used, size - used, "%s%d-%d", used ? "," : "", pu, last)
                          : snprintf(text + used, size - used, "%s%d", used ? "," : "", pu);
        used += n > 0 ? (size_t)n : 0;
        pu = last;
    }
}
