/*
 * Special situations of the protocol, each a function below, over several settings in one launch:
 * pools added late, failed pools, ranks that disagree, memory that runs out, waves, barriers.
 */
#include "mock.h"
#include "../../../runtime/net/mpi/mpi.h"

#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int poisoned, delivered;
static int64_t sent_to_last; /* bytes handed to MPI */

/* In the place of MPI's. */
int MPI_Isend(const void *data, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    int bytes;
    MPI_Type_size(type, &bytes);
    if (dest == mock.ctx.size - 1)
        sent_to_last += (int64_t)count * bytes;
    return PMPI_Isend(data, count, type, dest, tag, comm, request);
}

static void on_deliver(mock_pool *p, const int32_t *params, uint32_t mask, uint64_t dynamic,
                       int poison, dag_value **values)
{
    (void)p, (void)params, (void)mask, (void)dynamic;
    delivered++;
    poisoned += poison;
    for (int f = 0; f < MOCK_DATA; f++) {
        CHECK(!values[f] || !poison || mock.fail_values, "a value in an empty message");
        dagi_value_release(&mock.worker, values[f]);
    }
}

static void begin(int64_t eager, int64_t credit, uint64_t chaos, int bcast)
{
    mock_start(eager, credit, chaos, bcast);
    mock.deliver = on_deliver;
    poisoned = delivered = 0;
}

/* One task of this rank that sends `bytes` bytes to all others. */
static void send_to_all(mock_pool *p, int64_t bytes)
{
    dag_shape shape = {bytes, 1, 1};
    mock_dest dest[64];
    int n = 0;
    dag_value *values[MOCK_DATA] = {dagi_value_new(&mock.worker, &p->pool, &shape)};
    if (!values[0])
        CHECK(0, "no value");
    for (int r = 0; r < mock.ctx.size; r++)
        if (r != mock.ctx.rank)
            dest[n++] = (mock_dest){r, 1, DAG_REGION_FULL};
    mock_complete(p, mock.ctx.rank, 0, 0, values, dest, n, DAG_BCAST_AUTO, 1, 0);
}

static void progress_for(double seconds)
{
    for (double end = mock_now() + seconds; mock_now() < end;)
        if (dagi_comm_progress(&mock.worker) == 0)
            sched_yield();
}

/* ---- cases -------------------------------------------------------------------------------- */

/* Each rank in turn adds its pool late, while the others flood it. */
static void late_pools(int64_t credit, uint64_t chaos)
{
    enum { MESSAGES = 60 };
    begin(512, credit, chaos, DAG_BCAST_AUTO);
    int size = mock.ctx.size, rank = mock.ctx.rank;
    for (int late = 0; late < size; late++) {
        mock_pool *p = mock_pool_new(5, MESSAGES * (size - 1));
        if (rank == late) {
            double end = mock_spent() + 30;
            while (size > 1 && !dagi_comm_of(&mock.ctx)->early.count && mock_spent() < end)
                progress_for(0.001);
            progress_for(0.05);
            int kept = dagi_comm_of(&mock.ctx)->early.count;
            CHECK(size == 1 || kept > 0, "no early message: the test tests nothing");
        }
        mock_pool_add(p);
        for (int i = 0; i < MESSAGES; i++)
            send_to_all(p, i % 2 ? 100 : 3000);
        dagi_pool_drop(&mock.worker, &p->pool);
        CHECK(mock_pool_wait(p, 60), "late rank %d", late);
        CHECK(p->status == DAG_SUCCESS, "status %d", p->status);
        mock_pool_free(p);
    }
    mock_stop();
}

/* The last rank fails; everybody hears of it, and of the smallest info. */
static void failure(int bcast)
{
    begin(512, 1 << 20, 0, bcast);
    int size = mock.ctx.size, rank = mock.ctx.rank;
    mock_pool *p = mock_pool_new(5, size - 1);
    mock_pool_add(p);
    p->info = 10 + rank;
    if (rank == size - 1)
        dagi_pool_fail(&p->pool, DAG_ERR_TASK, "task Foo(%d) failed", rank);
    send_to_all(p, 5000);
    dagi_pool_drop(&mock.worker, &p->pool);
    CHECK(mock_pool_wait(p, 60), "pool does not end");
    char expected[64];
    snprintf(expected, sizeof expected, "task Foo(%d) failed", size - 1);
    CHECK(p->status == DAG_ERR_TASK && p->agreed_info == 10, "status %d info %lld", p->status,
          (long long)p->agreed_info);
    CHECK(strcmp(p->message, expected) == 0, "message '%s'", p->message);
    CHECK(size == 1 || rank == size - 1 || poisoned > 0, "not poisoned");
    mock_pool_free(p);
    mock_stop();
}

/* What workers do at the verdict of a stall. */
static void wait_for_quiet(mock_pool *p)
{
    double end = mock_spent() + 60;
    mock.idle = 1;
    while (!mock.quiet) {
        dagi_comm_progress(&mock.worker);
        if (mock.ctx.rank == 0 && !mock.quiet)
            dagi_comm_wave(&mock.worker);
        sched_yield();
        CHECK(mock_spent() < end, "no verdict");
    }
    p->expected = 0;
    p->forced = 1;
    dagi_pool_fail(&p->pool, DAG_ERR_STALL, "nothing more will come");
    mock_pool_check(p);
}

/* The last rank waits for a pool, while the others flood it with messages of the next one that it
 * has not added yet: it keeps no more of them than it has room for, nor does MPI of their data if
 * these come beside them (`bulk`: 16 times a window may be under way), and it still gets what it
 * waits for. */
static void early_flood(uint64_t chaos, int bulk)
{
    enum { MESSAGES = 1500, MOST = 200000, CREDIT = 32768 };
    int bytes = bulk ? 3000 : 900; /* so few that MPI sends them at once */
    begin(1024, CREDIT, chaos, 0);
    sent_to_last = 0;
    int size = mock.ctx.size, rank = mock.ctx.rank, late = rank == size - 1;
    dagi_comm *c = dagi_comm_of(&mock.ctx);
    c->early.most = MOST;
    mock_pool *older = mock_pool_new(5, late ? 2 * (size - 1) : 2 * (size - 2));
    mock_pool *younger = mock_pool_new(6, MESSAGES * (late ? size - 1 : size - 2));
    mock_pool_add(older);
    if (!late) {
        mock_pool_add(younger);
        send_to_all(older, 100);
        for (int i = 0; i < MESSAGES; i++)
            send_to_all(younger, bytes);
        progress_for(0.05);
        send_to_all(older, 100);
        dagi_pool_drop(&mock.worker, &younger->pool);
    } else {
        double end = mock_spent() + 30;
        while (size > 1 && !c->early.nshut && mock_spent() < end)
            progress_for(0.001);
        CHECK(size == 1 || c->early.nshut, "no flood: the test tests nothing");
    }
    dagi_pool_drop(&mock.worker, &older->pool);
    CHECK(mock_pool_wait(older, 60), "the older pool does not end");
    /* What was under way when the sender was told; a message takes less here than is charged. */
    int64_t window = bulk || chaos ? 16 * CREDIT : CREDIT, most = MOST + (size - 1) * window;
    CHECK(c->early.bytes <= most, "%lld bytes, at most %lld", (long long)c->early.bytes,
          (long long)most);
    most = MOST + window + 65536; /* the older pool's, and what is not of pools */
    CHECK(late || sent_to_last <= most, "%lld bytes to the last rank, at most %lld",
          (long long)sent_to_last, (long long)most);
    if (late) {
        mock_pool_add(younger);
        dagi_pool_drop(&mock.worker, &younger->pool);
    }
    CHECK(mock_pool_wait(younger, 60), "the younger pool does not end");
    CHECK(!c->early.bytes && !c->early.count && !c->early.nshut && !c->early.transfers,
          "%lld bytes and %lld transfers are left", (long long)c->early.bytes,
          (long long)c->early.transfers);
    mock_pool_free(older);
    mock_pool_free(younger);
    mock_stop();
}

/* One rank runs another program: a stall for some, but told as what it is to all. */
static void mismatch(int bcast)
{
    begin(512, 1 << 20, 0, bcast);
    int size = mock.ctx.size, rank = mock.ctx.rank;
    mock_pool *p = mock_pool_new(rank == size - 1 ? 6 : 5, size - 1);
    mock_pool_add(p);
    send_to_all(p, 300000);
    dagi_pool_drop(&mock.worker, &p->pool);
    if (size > 1)
        wait_for_quiet(p);
    CHECK(mock_pool_wait(p, 60), "pool does not end");
    CHECK(size == 1 || p->status == DAG_ERR_MISMATCH, "status %d %s", p->status, p->message);
    CHECK(size == 1 || strstr(p->message, "other"), "message '%s'", p->message);
    mock_pool_free(p);
    mock_stop();
}

/* One rank never adds the pool that the others run, but waits for something else. */
static void missing(int bcast, int64_t credit, int late, int64_t bytes)
{
    begin(512, credit, 0, bcast);
    int size = mock.ctx.size, rank = mock.ctx.rank;
    int absent = rank == size / 2;
    mock_pool *p = mock_pool_new(5, absent ? 0 : size - 1);
    mock.blocked = 1;
    if (!absent) {
        mock_pool_add(p);
        send_to_all(p, bytes);
        for (int i = 0; i < 20; i++)
            send_to_all(p, 100);
        p->expected = 21 * (size - 1);
        dagi_pool_drop(&mock.worker, &p->pool);
        if (size > 1)
            wait_for_quiet(p);
        CHECK(mock_pool_wait(p, 60), "pool does not end: %d holds", p->holds);
        CHECK(size == 1 || (p->status == DAG_ERR_MISMATCH && strstr(p->message, "has not added")),
              "status %d, %s", p->status, p->message);
        mock_pool_free(p);
    } else {
        mock.idle = 1;
        double end = mock_spent() + 60;
        while (!dagi_comm_of(&mock.ctx)->pools.bucket[1] ||
               !dagi_comm_of(&mock.ctx)->pools.bucket[1]->agreed) {
            dagi_comm_progress(&mock.worker);
            if (rank == 0)
                dagi_comm_wave(&mock.worker);
            sched_yield();
            CHECK(mock_spent() < end, "nothing agreed");
        }
        if (late) {
            mock_pool_add(p);
            CHECK(atomic_load(&p->pool.poisoned), "not failed");
            dagi_pool_drop(&mock.worker, &p->pool);
            CHECK(p->ended && p->status == DAG_ERR_MISMATCH, "status %d", p->status);
            mock_pool_free(p);
        } else {
            free(p);
        }
    }
    mock_stop();
}

/* Programs differ, but all messages fit: seen at the end. */
static void silent_mismatch(void)
{
    begin(512, 1 << 20, 0, 0);
    mock_pool *p = mock_pool_new(mock.ctx.rank == 0 ? 5 : 6, 0);
    mock_pool_add(p);
    dagi_pool_drop(&mock.worker, &p->pool);
    CHECK(mock_pool_wait(p, 60), "pool does not end");
    CHECK(mock.ctx.size == 1 || p->status == DAG_ERR_MISMATCH, "status %d", p->status);
    mock_pool_free(p);
    mock_stop();
}

/* A relay has no memory for what it receives. */
static void no_memory(int64_t eager, int bcast)
{
    begin(eager, 1 << 20, 0, bcast);
    int size = mock.ctx.size, rank = mock.ctx.rank;
    int poor = size / 2;
    mock_pool *p = mock_pool_new(5, rank == 0 ? 0 : 3);
    mock_pool_add(p);
    for (int i = 0; i < 3 && rank == 0; i++)
        send_to_all(p, i == 1 ? 1000 : 300000);
    if (rank == poor && rank != 0)
        mock.fail_values = 1;
    dagi_pool_drop(&mock.worker, &p->pool);
    CHECK(mock_pool_wait(p, 60), "pool does not end");
    CHECK(size == 1 || p->status == DAG_ERR_NOMEM, "status %d", p->status);
    CHECK(rank == 0 || delivered == 3, "%d deliveries", delivered);
    mock.fail_values = 0;
    mock_pool_free(p);
    mock_stop();
}

/* No verdict while a rank is at work or a message waits; then one, on all ranks. */
static void waves(uint64_t chaos)
{
    begin(512, 1 << 20, chaos, 0);
    int size = mock.ctx.size, rank = mock.ctx.rank;
    mock_pool *p = mock_pool_new(5, size); /* one more than will come */
    mock_pool_add(p);
    mock.idle = rank != size - 1;
    for (double end = mock_now() + 0.05; mock_now() < end;) {
        dagi_comm_progress(&mock.worker);
        dagi_comm_wave(&mock.worker);
    }
    CHECK(!mock.quiet, "a verdict while rank %d is at work", size - 1);
    MPI_Barrier(MPI_COMM_WORLD);
    send_to_all(p, rank % 2 ? 100 : 100000);
    dagi_pool_drop(&mock.worker, &p->pool);
    wait_for_quiet(p);
    CHECK(delivered == size - 1, "%d deliveries before the verdict", delivered);
    CHECK(mock_pool_wait(p, 60), "pool does not end");
    CHECK(p->status == DAG_ERR_STALL, "status %d", p->status);
    mock_pool_free(p);
    mock_stop();
}

/* Until rank 0 has had six more waves; none of them may be a verdict. */
static void no_verdict(const char *why)
{
    const dagi_comm *c = dagi_comm_of(&mock.ctx);
    uint32_t until = c->wave.number + 6;
    MPI_Request through;
    int asked = 0, done = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    while (!done) {
        dagi_comm_progress(&mock.worker);
        if (mock.ctx.rank == 0)
            dagi_comm_wave(&mock.worker);
        CHECK(!mock.quiet, "a verdict in spite of %s", why);
        if (!asked && (mock.ctx.rank != 0 || c->wave.number >= until)) {
            MPI_Ibarrier(MPI_COMM_WORLD, &through);
            asked = 1;
        }
        if (asked)
            MPI_Test(&through, &done, MPI_STATUS_IGNORE);
        sched_yield();
    }
    MPI_Barrier(MPI_COMM_WORLD); /* what comes next may bring one */
}

/* Each thing that a wave counts stands in the way of a verdict by itself. */
static void wave_counts(void)
{
    begin(512, 1 << 20, 0, 0);
    dagi_comm *c = dagi_comm_of(&mock.ctx);
    int last = mock.ctx.rank == mock.ctx.size - 1;
    mock_pool *p = mock_pool_new(6, 2);
    mock_pool_add(p);
    dagi_pool_drop(&mock.worker, &p->pool);
    mock.idle = 1;
    c->bulk.out += last;
    no_verdict("a transfer in flight");
    c->bulk.out -= last;
    dagi_mpi_of(c->engine)->counts.sent += last;
    no_verdict("a message under way");
    dagi_mpi_of(c->engine)->counts.sent -= last;
    mock.idle = !last;
    no_verdict("a rank at work");
    mock.idle = 1;
    mock.restless = last;
    no_verdict("activity between waves");
    mock.restless = 0;
    for (int r = 0; r < mock.ctx.size && last; r++)
        c->out.gate[r] = 0; /* as if the others wanted no message of this pool yet */
    if (last)
        send_to_all(p, 100);
    no_verdict("a message that waits to leave");
    for (int r = 0; r < mock.ctx.size && last; r++)
        c->out.gate[r] = UINT32_MAX;
    wait_for_quiet(p);
    CHECK(delivered == !last, "%d deliveries before the verdict", delivered);
    CHECK(mock_pool_wait(p, 60), "pool does not end");
    mock_pool_free(p);
    mock_stop();
}

/* Nobody leaves a barrier before the last has come. */
static void barriers(uint64_t chaos)
{
    begin(512, 1 << 20, chaos, 0);
    for (int i = 0; i < 2 * mock.ctx.size; i++) {
        if (i % mock.ctx.size == mock.ctx.rank)
            for (double end = mock_now() + 0.005; mock_now() < end;)
                sched_yield();
        double in = mock_now(), last_in, out, first_out;
        mock_barrier();
        out = mock_now();
        MPI_Allreduce(&in, &last_in, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        MPI_Allreduce(&out, &first_out, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
        CHECK(first_out >= last_in, "left %g s before the last came", last_in - first_out);
    }
    mock_stop();
}

/* A message for a pool on whose end all have agreed: of no matter if that has failed, the end of
 * the job if it went well. */
static void message_after_the_end(void)
{
    begin(512, 1 << 20, 0, DAG_BCAST_AUTO);
    for (uint32_t id = 1; id <= 2; id++) {
        mock_pool *p = mock_pool_new(5, 0);
        mock_pool_add(p);
        if (id == 1 && mock.ctx.rank == 1)
            dagi_pool_fail(&p->pool, DAG_ERR_TASK, "it failed");
        dagi_pool_drop(&mock.worker, &p->pool);
        CHECK(mock_pool_wait(p, 60), "pool does not end");
        mock_pool_free(p);
        mock_barrier();
        dagi_wire_activate head = {.kind = DAGI_WIRE_ACTIVATE, .nparams = MOCK_PARAMS, .pool = id,
                                   .hash = dagi_wire_hash(5)};
        const int32_t params[MOCK_PARAMS] = {7, 8};
        if (mock.ctx.rank == 0)
            dagi_send_control(dagi_comm_of(&mock.ctx), mock.ctx.size - 1, &head, sizeof head,
                              params, sizeof params);
        progress_for(0.3);
        mock_barrier();
        fprintf(stderr, "the message for pool %u is forgotten\n", id);
    }
    mock_stop();
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc > 1 && strcmp(argv[1], "late") == 0) {
        message_after_the_end();
        MPI_Finalize();
        return 0;
    }
    late_pools(4096, 0);
    late_pools(1 << 20, 0);
    late_pools(4096, 3);
    for (int bcast = DAG_BCAST_AUTO; bcast <= DAG_BCAST_FLAT; bcast++) {
        failure(bcast);
        mismatch(bcast);
        no_memory(4096, bcast);
        no_memory(0, bcast);
    }
    silent_mismatch();
    early_flood(0, 0);
    early_flood(0, 1);
    early_flood(5, 0);
    early_flood(6, 1);
    static const int shapes[] = {DAG_BCAST_BINOMIAL, DAG_BCAST_CHAIN, DAG_BCAST_RING,
                                 DAG_BCAST_SCATTER};
    for (int i = 0, size; i < 4; i++) {
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        if (size > 1) {
            missing(shapes[i], 1 << 20, 0, 300000);
            missing(shapes[i], 4096, 1, 300000);
            missing(shapes[i], 1 << 20, 1, 600); /* MPI sends so little at once */
        }
    }
    if (mock.ctx.size > 1)
        wave_counts();
    for (uint64_t chaos = 0; chaos < 4; chaos++) {
        waves(chaos);
        barriers(chaos);
    }
    MPI_Finalize();
    return 0;
}
