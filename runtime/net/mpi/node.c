/* The ranks of this node: who shares the processors, and their bells. */
#define _GNU_SOURCE /* sched_getaffinity, RTLD_DEFAULT */
#include "mpi.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* As many processors as topology.h takes: the kernel refuses a set of fewer than it may have. */
enum { CPUS = 4096, CPU_WORDS = CPUS / (8 * sizeof(unsigned long)) };

/* What ranks of a node tell each other. */
typedef struct card {
    unsigned long cpus[CPU_WORDS];
    int pid, rank;
    uint64_t devices; /* which of the node's it may use, as a number */
} card;

/* Who runs on the very same processors? */
static void find_sharing(dagi_mpi *m, const card *cards, int ranks, int index)
{
    m->super.sharing = 0;
    for (int i = 0; i < ranks; i++) {
        if (memcmp(cards[i].cpus, cards[index].cpus, sizeof cards[i].cpus) != 0)
            continue;
        if (i == index)
            m->super.share_index = m->super.sharing;
        m->super.sharing++;
    }
}

/* Who uses the very same devices? Launchers choose them for each rank by these variables. */
static uint64_t visible_devices(void)
{
    static const char *const names[] = {"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"};
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        for (hash = hash * 31 + (value != NULL); value && *value; value++)
            hash = hash * 31 + (unsigned char)*value;
    }
    return hash;
}

static int with_same_devices(const card *cards, int ranks, int index)
{
    int count = 0;
    for (int i = 0; i < ranks; i++)
        count += cards[i].devices == cards[index].devices;
    return count;
}

static int number_in(const char *const names[2])
{
    const char *text = getenv(names[0]);
    if (!text)
        text = getenv(names[1]);
    return text ? atoi(text) : -1;
}

static int is_bound(const card *mine)
{
    int cpus = 0;
    for (int i = 0; i < CPU_WORDS; i++)
        cpus += __builtin_popcountl(mine->cpus[i]);
    return cpus < sysconf(_SC_NPROCESSORS_ONLN);
}

/*
 * Ranks of this node that are not in the communicator, and so were not asked. The launcher tells how many
 * there are. They are taken to be placed like those that are: if all of these share processors or devices
 * these do as well; where this rank is alone, if nobody has bound it or chosen devices for it.
 */
static void count_strangers(dagi_mpi *m, const card *mine)
{
    static const char *const sizes[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"};
    static const char *const ranks[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"};
    dagi_engine *e = &m->super;
    int here = number_in(sizes), index = number_in(ranks);
    if (here <= e->near || index < 0 || index >= here)
        return;
    if (e->near > 1 ? e->sharing == e->near : !is_bound(mine)) {
        e->sharing = here;
        e->share_index = index;
    }
    if (e->near > 1 ? e->device_sharing == e->near : mine->devices == 0)
        e->device_sharing = here;
}

/* Under a simulator of MPI all ranks are in one process, of one thread: none may sleep. */
static int in_own_processes(const card *cards, int ranks)
{
    for (int i = 1; i < ranks; i++) {
        if (cards[i].pid == cards[0].pid)
            return 0;
    }
    return 1;
}

static int keep_indices(dagi_mpi *m, const card *cards, int ranks)
{
    m->bells.bell_of = malloc((size_t)m->super.size * sizeof *m->bells.bell_of);
    m->bells.calls = malloc((size_t)m->super.size * sizeof *m->bells.calls);
    if (!m->bells.bell_of || !m->bells.calls)
        return 0;
    for (int r = 0; r < m->super.size; r++)
        m->bells.bell_of[r] = -1;
    for (int i = 0; i < ranks; i++)
        m->bells.bell_of[cards[i].rank] = i;
    return 1;
}

/* The first rank makes the memory and holds it open until all have it. */
static void hang_bells(dagi_mpi *m, MPI_Comm node, const card *cards, int ranks, int index,
                       int wanted)
{
    struct {
        uint64_t mark;
        int fd, error;
    } offer = {.fd = -1};
    dagi_bells *bells = NULL;
    if (index == 0) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        offer.mark = ((uint64_t)now.tv_sec * 1000000007 + (uint64_t)now.tv_nsec) ^
                     ((uint64_t)cards[0].pid << 40);
        bells = dagi_bells_new((uint32_t)ranks, offer.mark, &offer.fd);
        offer.error = bells ? 0 : errno;
    }
    MPI_Bcast(&offer, (int)sizeof offer, MPI_BYTE, 0, node);
    if (index > 0 && !offer.error) {
        bells = dagi_bells_join(cards[0].pid, offer.fd, (uint32_t)ranks, offer.mark);
        offer.error = bells ? 0 : errno;
    }
    if (bells && !keep_indices(m, cards, ranks))
        offer.error = ENOMEM;
    if (!wanted)
        offer.error = ECANCELED;
    int worst = 0;
    MPI_Allreduce(&offer.error, &worst, 1, MPI_INT, MPI_MAX, node);
    if (index == 0 && offer.fd >= 0)
        close(offer.fd);
    if (worst) {
        dagi_bells_free(bells);
        free(m->bells.bell_of);
        free(m->bells.calls);
        m->bells.bell_of = m->bells.calls = NULL;
        snprintf(m->super.no_bells, sizeof m->super.no_bells, "%s",
                 worst == ECANCELED ? "turned off by the setting bells" : strerror(worst));
        return;
    }
    m->super.bells = bells;
    m->super.bell = &bells->bell[index];
}

/* The switch, if there is one and it is on. */
static void find_yield(dagi_mpi *m)
{
    *(void **)&m->set_yield = dlsym(RTLD_DEFAULT, "opal_progress_set_yield_when_idle");
    if (!m->set_yield)
        return;
    if (m->set_yield(false))
        m->set_yield(true);
    else
        m->set_yield = NULL;
}

/* Finds the lowest rank on the node of each rank, where there are several nodes with several ranks. */
static void map_nodes(dagi_mpi *m, const card *cards, int ranks)
{
    int size = m->super.size, first = m->super.rank, most = ranks, least = ranks;
    for (int i = 0; i < ranks; i++)
        first = cards[i].rank < first ? cards[i].rank : first;
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, m->am);
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, m->am);
    if (least == size || most == 1)
        return;
    m->super.node_of = dagi_mpi_alloc((size_t)size * sizeof *m->super.node_of);
    MPI_Allgather(&first, 1, MPI_INT32_T, m->super.node_of, 1, MPI_INT32_T, m->am);
}

void dagi_mpi_node_init(dagi_mpi *m, const dagi_engine_options *options)
{
    MPI_Comm node = MPI_COMM_NULL;
    card mine = {.pid = (int)getpid(), .rank = m->super.rank, .devices = visible_devices()};
    int ranks = 1, index = 0;
    if (sched_getaffinity(0, sizeof mine.cpus, (cpu_set_t *)(void *)mine.cpus) != 0)
        memset(mine.cpus, 0, sizeof mine.cpus);
    MPI_Comm_split_type(m->am, MPI_COMM_TYPE_SHARED, m->super.rank, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &ranks);
    MPI_Comm_rank(node, &index);
    card *cards = dagi_mpi_alloc((size_t)ranks * sizeof *cards);
    MPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, cards, (int)sizeof mine, MPI_BYTE, node);
    find_sharing(m, cards, ranks, index);
    m->super.near = ranks;
    m->super.device_sharing = with_same_devices(cards, ranks, index);
    count_strangers(m, &mine);
    map_nodes(m, cards, ranks);
    if (ranks > 1 && in_own_processes(cards, ranks))
        hang_bells(m, node, cards, ranks, index, options->bells);
    else if (ranks > 1)
        snprintf(m->super.no_bells, sizeof m->super.no_bells,
                 "they are in one process, or in containers that number processes each by itself");
    free(cards);
    MPI_Comm_free(&node);
    if (m->super.bells)
        find_yield(m);
}

void dagi_mpi_node_fini(dagi_mpi *m)
{
    dagi_bells_free(m->super.bells);
    m->super.bells = NULL;
    m->super.bell = NULL;
    free(m->super.node_of);
    free(m->bells.bell_of);
    free(m->bells.calls);
}

void dagi_mpi_call(dagi_mpi *m)
{
    if (!m->bells.ncalls)
        return;
    dagi_full_fence(); /* pairs with the one in dagi_bell_listen() */
    while (m->bells.ncalls) {
        int32_t peer = m->bells.calls[--m->bells.ncalls];
        m->peers[peer].called = 0;
        dagi_bell_call(&m->super.bells->bell[m->bells.bell_of[peer]]);
    }
}
