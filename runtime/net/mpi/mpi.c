/* MPI's engine: start, end, completion of requests. */
#include "mpi.h"

#include "../../base/clock.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

void *dagi_mpi_alloc(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    if (!p) {
        fprintf(stderr, "dag: out of memory: %zu bytes of the communication layer\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, DAG_ERR_NOMEM);
        abort();
    }
    return p;
}

/* ---- requests ---------------------------------------------------------------------------- */

static void grow(dagi_mpi *m)
{
    int capacity = m->open.capacity ? 2 * m->open.capacity : 256;
    MPI_Request *requests = dagi_mpi_alloc((size_t)capacity * sizeof *requests);
    dagi_posted *posted = dagi_mpi_alloc((size_t)capacity * sizeof *posted);
    int *indices = dagi_mpi_alloc((size_t)capacity * sizeof *indices);
    if (m->open.count) {
        memcpy(requests, m->open.request, (size_t)m->open.count * sizeof *requests);
        memcpy(posted, m->open.posted, (size_t)m->open.count * sizeof *posted);
    }
    free(m->open.request);
    free(m->open.posted);
    free(m->open.indices);
    m->open.request = requests;
    m->open.posted = posted;
    m->open.indices = indices;
    m->open.capacity = capacity;
}

MPI_Request *dagi_mpi_request(dagi_mpi *m, const dagi_posted *posted)
{
    if (m->open.count == m->open.capacity)
        grow(m);
    m->open.posted[m->open.count] = *posted;
    return &m->open.request[m->open.count++];
}

static void tell_observer(const dagi_mpi *m, const dagi_posted *p)
{
    int out = p->peer >= 0;
    m->super.observer->transfer(m->super.observer_arg, out, out ? p->peer : p->source, p->tag,
                                p->bytes, p->begin);
}

static void report(dagi_mpi *m, const dagi_posted *p)
{
    if (p->buffer) { /* MPI may have kept it until now */
        dagi_mpi_note_call(m, p->peer);
        dagi_mpi_am_recycle(m, p->buffer);
        return;
    }
    if (m->super.observer)
        tell_observer(m, p);
    dagi_mpi_note_call(m, p->peer >= 0 ? p->peer : p->source);
    p->done(p->arg, DAG_SUCCESS);
}

/* A completion may start new requests: they are added behind, the completed ones leave first. */
static int complete_some(dagi_mpi *m)
{
    enum { BATCH = 64 };
    dagi_posted finished[BATCH];
    int n = 0;
    if (m->open.count == 0)
        return 0;
    MPI_Testsome(m->open.count, m->open.request, &n, m->open.indices, MPI_STATUSES_IGNORE);
    if (n == MPI_UNDEFINED || n == 0)
        return 0;
    /* All n are null requests now: take them out, then report in portions. */
    dagi_posted *all = n <= BATCH ? finished : dagi_mpi_alloc((size_t)n * sizeof *all);
    for (int i = 0; i < n; i++)
        all[i] = m->open.posted[m->open.indices[i]];
    int kept = 0;
    for (int i = 0; i < m->open.count; i++) {
        if (m->open.request[i] == MPI_REQUEST_NULL)
            continue;
        m->open.request[kept] = m->open.request[i];
        m->open.posted[kept++] = m->open.posted[i];
    }
    m->open.count = kept;
    for (int i = 0; i < n; i++)
        report(m, &all[i]);
    if (all != finished)
        free(all);
    return n;
}

static int mpi_progress(dagi_engine *e)
{
    dagi_mpi *m = dagi_mpi_of(e);
    dagi_mpi_yields(m, false);
    int events = dagi_mpi_am_progress(m) + complete_some(m);
    dagi_mpi_yields(m, true);
    dagi_mpi_call(m);
    return events;
}

#ifdef DAG_SIMGRID
/* Addresses whose pages are all the same few, and from and to which SimGrid copies nothing. Ranks share them, to the end
 * of the process. */
static void *map_nowhere(size_t bytes)
{
    return SMPI_SHARED_MALLOC(bytes);
}

/* Rank 0 is the one that asks whether all wait in vain, so it does not wait for ever: a message to itself takes the
 * time of its bytes. */
static MPI_Request alarm_of(dagi_mpi *m)
{
    struct dagi_mpi_alarm *a = &m->alarm;
    int bytes = (int)m->super.nowhere_bytes;
    if (a->set)
        return a->rings;
    MPI_Irecv(m->super.nowhere, bytes, MPI_BYTE, 0, 0, MPI_COMM_SELF, &a->rings);
    MPI_Isend(m->super.nowhere, bytes, MPI_BYTE, 0, 0, MPI_COMM_SELF, &a->sent);
    a->set = 1;
    return a->rings;
}

/* Behind the open requests stand the receive that is next to be matched, and the alarm. */
static void mpi_wait(dagi_engine *e)
{
    dagi_mpi *m = dagi_mpi_of(e);
    MPI_Status status;
    int index, next = m->ring.next, count = m->open.count;
    const dagi_posted none = {0};
    *dagi_mpi_request(m, &none) = m->ring.request[next];
    if (e->rank == 0)
        *dagi_mpi_request(m, &none) = alarm_of(m);
    MPI_Waitany(m->open.count, m->open.request, &index, &status);
    m->open.count = count;
    m->ring.request[next] = m->open.request[count];
    if (index == count) {
        dagi_mpi_am_received(m, &status);
        return;
    }
    if (index > count) {
        MPI_Wait(&m->alarm.sent, MPI_STATUS_IGNORE); /* sent when it was received */
        m->alarm.set = 0;
        return;
    }
    const dagi_posted done = m->open.posted[index];
    int behind = --m->open.count - index;
    memmove(&m->open.request[index], &m->open.request[index + 1], (size_t)behind * sizeof(MPI_Request));
    memmove(&m->open.posted[index], &m->open.posted[index + 1], (size_t)behind * sizeof done);
    report(m, &done);
}
#endif

/* While others get on. */
static void give_way(void)
{
#ifdef DAG_SIMGRID
    dagi_clock_pass(1000); /* to look takes no time there */
#else
    sched_yield();
#endif
}

static void mpi_call(dagi_engine *e)
{
    dagi_mpi_call(dagi_mpi_of(e));
}

static int mpi_under_way(const dagi_engine *e)
{
    return ((const dagi_mpi *)e)->open.count || ((const dagi_mpi *)e)->nreturns;
}

static size_t mpi_am_max(const dagi_engine *e)
{
    return ((const dagi_mpi *)e)->am_max;
}

static void mpi_am_counts(const dagi_engine *e, int64_t *sent, int64_t *received)
{
    const dagi_mpi *m = (const dagi_mpi *)e;
    *sent = m->counts.sent;
    *received = m->counts.received;
}

/* ---- start -------------------------------------------------------------------------------- */

/*
 * What the engines of this process have in common. `turn` is held by whoever calls MPI where MPI does not
 * allow several threads at a time, but for the start and the end of MPI itself, which `lock` guards.
 */
static struct {
    pthread_mutex_t turn, lock;
    int ours;    /* lock; 1: MPI was started here, and the last engine ends it */
    int engines; /* lock */
} process = {.turn = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER};

/* Open MPI maps its plug-ins and their threads' stacks when it starts, 216 MiB, and where a limit does not
 * leave that much it ends in many ways, some of which say nothing. */
static dag_status room_for_mpi(char *why, size_t why_size)
{
    const size_t wanted = (size_t)256 << 20;
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return DAG_SUCCESS;
    void *at = mmap(NULL, wanted, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at != MAP_FAILED) {
        munmap(at, wanted);
        return DAG_SUCCESS;
    }
    snprintf(why, why_size, "MPI takes up to %zu MiB of address space when it starts, which the limit of "
             "%llu KiB does not leave: raise it (ulimit -v)", wanted >> 20,
             (unsigned long long)limit.rlim_cur >> 10);
    return DAG_ERR_NOMEM;
}

/* Who may call MPI. Where the program has started it at less than MPI_THREAD_MULTIPLE, nobody may
 * while the program does, and it cannot know when a background worker would. */
static dag_status init_mpi(dagi_mpi *m, int workers, char *why, size_t why_size)
{
    int initialised = 0, finalised = 0, level = MPI_THREAD_SINGLE;
    MPI_Initialized(&initialised);
    MPI_Finalized(&finalised);
    if (finalised) {
        snprintf(why, why_size, "MPI has been finalised and cannot be started twice; initialise "
                 "MPI in the program itself to make several contexts one after the other");
        return DAG_ERR_STATE;
    }
    if (initialised) {
        MPI_Query_thread(&level);
    } else {
        dag_status status = room_for_mpi(why, why_size);
        if (status)
            return status;
        MPI_Init_thread(NULL, NULL, workers == 1 ? MPI_THREAD_SINGLE : MPI_THREAD_SERIALIZED,
                        &level);
        process.ours = 1;
    }
    process.engines++;
    m->super.one_thread = workers != 1 && level == MPI_THREAD_SINGLE;
    m->super.main_only = workers != 1 && level < (process.ours ? MPI_THREAD_SERIALIZED
                                                               : MPI_THREAD_MULTIPLE);
    m->super.turn = level < MPI_THREAD_MULTIPLE ? &process.turn : NULL;
    return DAG_SUCCESS;
}

/* All ranks are about to start. Those that are wait without the turn, for the others may need messages of
 * other contexts to get here; what follows blocks, for moments. */
static void meet(dagi_mpi *m, MPI_Comm user)
{
#ifdef DAG_SIMGRID /* one thread: nobody has to get the turn, and to test costs much more than to wait */
    (void)m;
    MPI_Barrier(user);
#else
    MPI_Request all;
    int here = 0;
    MPI_Ibarrier(user, &all);
    for (MPI_Test(&all, &here, MPI_STATUS_IGNORE); !here; MPI_Test(&all, &here, MPI_STATUS_IGNORE)) {
        dagi_engine_pass_turn(&m->super);
        give_way();
        dagi_engine_take_turn(&m->super);
    }
#endif
}

static void find_tag_limit(dagi_mpi *m)
{
    void *value = NULL;
    int found = 0;
    MPI_Comm_get_attr(m->bulk, MPI_TAG_UB, &value, &found);
    m->tag_limit = (found ? (uint32_t)*(int *)value : 32767) + 1;
    m->ntags = m->tag_limit / 2 < DAGI_TAGS ? m->tag_limit / 2 : DAGI_TAGS;
}

/* One reduction finds the worst status, and the largest and the least value of each setting. */
static dag_status mpi_agree(dagi_engine *e, dag_status mine, int *origin)
{
    static const char *const names[DAGI_MPI_AGREED] = {"credit_bytes", "eager_bytes", "link_latency in ns",
                                                       "link_rate"};
    enum { SETTINGS = DAGI_MPI_AGREED };
    dagi_mpi *m = dagi_mpi_of(e);
    struct {
        long value;
        int rank;
    } in[2 + 2 * SETTINGS] = {{mine, e->rank}}, out[2 + 2 * SETTINGS];
    for (int i = 0; i < 2 * SETTINGS; i++) {
        in[1 + i].value = (long)(i % 2 ? -m->must_agree[i / 2] : m->must_agree[i / 2]);
        in[1 + i].rank = e->rank;
    }
    in[1 + 2 * SETTINGS].value = (long)(1e9 * e->took);
    in[1 + 2 * SETTINGS].rank = e->rank;
    e->took = -MPI_Wtime();
    MPI_Allreduce(in, out, 2 + 2 * SETTINGS, MPI_LONG_INT, MPI_MAXLOC, m->am);
    e->took += MPI_Wtime();
    e->agreed_in = 1e-9 * (double)out[1 + 2 * SETTINGS].value;
    *origin = out[0].rank;
    for (int i = 0; i < SETTINGS && !out[0].value; i++) {
        long most = out[1 + 2 * i].value, least = -out[2 + 2 * i].value;
        if (most == least)
            continue;
        snprintf(e->differ, sizeof e->differ, "%s is %ld on rank %d and %ld on rank %d: it must be "
                 "the same on all ranks", names[i], most, out[1 + 2 * i].rank, least,
                 out[2 + 2 * i].rank);
        return DAG_ERR_SETTING;
    }
    return (dag_status)out[0].value;
}

/* ---- end ---------------------------------------------------------------------------------- */

static void finish_requests(dagi_mpi *m)
{
    while (m->open.count || m->buffers.late_out || m->buffers.late_in) {
        if (!mpi_progress(&m->super))
            give_way();
    }
}

/* Messages are handled meanwhile. */
static void sum_of_all(dagi_mpi *m, const int64_t *mine, int64_t *all)
{
#ifdef DAG_SIMGRID /* which has each rank send to each other for it; small messages wait for nobody there */
    MPI_Allreduce(mine, all, 2, MPI_INT64_T, MPI_SUM, m->am);
    (void)mpi_progress(&m->super);
#else
    MPI_Request sum;
    int done = 0;
    MPI_Iallreduce(mine, all, 2, MPI_INT64_T, MPI_SUM, m->am, &sum);
    while (!done) {
        MPI_Test(&sum, &done, MPI_STATUS_IGNORE);
        if (!m->ring.count || !mpi_progress(&m->super)) /* none: the start has failed here */
            give_way(); /* others may need the processor to get here */
    }
#endif
}

/*
 * Nobody waits for a message any more, but some (CREDIT, waves) may still be under way, and be answered
 * by ranks that have come here. One that arrived when its communicator is gone would be taken for
 * a message of the next one, which may get the same number, and that would wait for ever for its own.
 * So: two sums over all ranks, the second begun when the first is known, which both say that as many
 * messages were given to MPI as were taken from it, and that none was in between.
 */
static void settle(dagi_mpi *m)
{
    int64_t all[2] = {-1, -1}, before[2];
    do {
        memcpy(before, all, sizeof before);
        finish_requests(m);
        int64_t mine[2] = {m->counts.given, m->counts.taken};
        sum_of_all(m, mine, all);
    } while (all[0] != all[1] || all[0] != before[0] || all[1] != before[1]);
    finish_requests(m);
}

static void mpi_fini(dagi_engine *e)
{
    dagi_mpi *m = dagi_mpi_of(e);
    settle(m);
#ifdef DAG_SIMGRID
    if (m->alarm.set) { /* it rings once more */
        MPI_Wait(&m->alarm.rings, MPI_STATUS_IGNORE);
        MPI_Wait(&m->alarm.sent, MPI_STATUS_IGNORE);
    }
#endif
    dagi_mpi_am_fini(m);
    dagi_mpi_type_fini(m);
    dagi_mpi_node_fini(m);
    MPI_Comm_free(&m->am);
    MPI_Comm_free(&m->bulk);
    pthread_mutex_lock(&process.lock);
    if (--process.engines == 0 && process.ours)
        MPI_Finalize();
    pthread_mutex_unlock(&process.lock);
    free(m->open.request);
    free(m->open.posted);
    free(m->open.indices);
    for (int i = 0; m->peers && i < m->super.size; i++) {
        free(m->peers[i].tags);
        free(m->peers[i].matched);
    }
    free(m->peers);
    free(m->returns);
    free(m);
}

static const dagi_engine_ops mpi_ops = {
    .name = "mpi",
    .agree = mpi_agree,
    .fini = mpi_fini,
    .am_begin = dagi_mpi_am_begin,
    .am_send = dagi_mpi_am_send,
    .am_max = mpi_am_max,
    .am_counts = mpi_am_counts,
    .tag_find = dagi_mpi_tag_find,
    .tag_take = dagi_mpi_tag_take,
    .tag_ask = dagi_mpi_tag_ask,
    .send = dagi_mpi_send,
    .recv = dagi_mpi_recv,
    .progress = mpi_progress,
    .call = mpi_call,
    .direct = dagi_mpi_direct,
    .under_way = mpi_under_way,
#ifdef DAG_SIMGRID
    .wait = mpi_wait,
#endif
};

/* MPI is there, and it is our turn. */
static dag_status set_up(dagi_mpi *m, dagi_engine_options *options, char *why, size_t why_size)
{
    MPI_Comm user = options->comm ? *(MPI_Comm *)options->comm : MPI_COMM_WORLD;
    int origin;
    meet(m, user);
    MPI_Comm_dup(user, &m->am);
    MPI_Comm_dup(user, &m->bulk);
    /* A rank that is gone or a message that cannot be sent ends the job, by the launcher. */
    MPI_Comm_set_errhandler(m->am, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(m->bulk, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_rank(m->am, &m->super.rank);
    MPI_Comm_size(m->am, &m->super.size);
#ifdef DAG_SIMGRID /* now: where computing is timed, to map so many pages would count as that */
    m->super.nowhere_bytes = (size_t)1 << 30;
    m->super.nowhere = SMPI_SHARED_CALL(map_nowhere, "", m->super.nowhere_bytes);
#endif
    if (options->told) {
        MPI_Bcast(options->told, (int)options->told_bytes, MPI_BYTE, 0, m->am);
        options->hear(options, options->arg);
    }
    m->must_agree[0] = options->credit_bytes;
    m->must_agree[1] = options->eager_bytes;
    m->must_agree[2] = (int64_t)(1e9 * options->link_latency + 0.5);
    m->must_agree[3] = options->link_rate;
    if (options->chaos)
        m->random = (options->chaos + (uint64_t)m->super.rank) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    dagi_mpi_node_init(m, options);
    find_tag_limit(m);
    dag_status status = dagi_mpi_am_init(m, options);
    if (status != DAG_SUCCESS) { /* the others are on their way to an agreement, and to fini */
        snprintf(why, why_size, "out of memory for the buffers of messages");
        mpi_agree(&m->super, status, &origin);
        mpi_fini(&m->super);
    }
    return status;
}

dag_status dagi_engine_mpi_new(const dagi_engine_options *options, dagi_engine **out, char *why,
                               size_t why_size)
{
    dagi_mpi *m = calloc(1, sizeof *m);
    if (!m) {
        snprintf(why, why_size, "out of memory");
        return DAG_ERR_NOMEM;
    }
    m->super.ops = &mpi_ops;
    pthread_mutex_lock(&process.lock);
    dag_status status = init_mpi(m, options->workers, why, why_size);
    pthread_mutex_unlock(&process.lock);
    if (status != DAG_SUCCESS) {
        free(m);
        return status;
    }
    pthread_mutex_t *turn = m->super.turn;
    dagi_engine_take_turn(&m->super);
    dagi_engine_options heard = *options;
    status = set_up(m, &heard, why, why_size);
    if (status == DAG_SUCCESS)
        *out = &m->super;
    if (turn)
        pthread_mutex_unlock(turn);
    return status;
}
