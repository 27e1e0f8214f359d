/*
 * 200,000 small messages from one rank to a busy one: neither may grow by more than 20 MiB. The
 * receiver looks at the network now and then only, between tasks that take longer than the sender
 * needs for a message. Then a tenth of them with the smallest window. With more ranks all others
 * send.
 */
#include "mock.h"

#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGES = 200000, BYTES = 1024, MANY = 4096 };

/* Tasks ready at the receiver, with their values. */
static dag_value **ready;
static int head, count;

static void on_deliver(mock_pool *p, const int32_t *params, uint32_t mask, uint64_t dynamic,
                       int poison, dag_value **values)
{
    (void)p, (void)params, (void)mask, (void)dynamic, (void)poison;
    CHECK(count < MESSAGES * 64, "too many");
    ready[(head + count++) % MESSAGES] = values[0];
    mock.ready_many = count > MANY;
}

static void run_some(void)
{
    for (int i = 0; i < 200 && count; i++, count--) {
        for (double end = mock_now() + 4e-6; mock_now() < end;)
            ;
        dagi_value_release(&mock.worker, ready[head]);
        head = (head + 1) % MESSAGES;
    }
    mock.ready_many = count > MANY;
}

static void produce(mock_pool *p, int n)
{
    mock_dest dest = {0, 1, DAG_REGION_FULL};
    for (int i = 0; i < n; i++) {
        dag_shape shape = {BYTES, 1, 1};
        while (dagi_comm_congested(&mock.ctx))
            if (dagi_comm_progress(&mock.worker) == 0)
                sched_yield();
        dag_value *values[MOCK_DATA] = {dagi_value_new(&mock.worker, &p->pool, &shape)};
        mock_complete(p, mock.ctx.rank, i, i, values, &dest, 1, 0, 1, 0);
    }
}

static void run(int64_t credit, int messages)
{
    mock_start(4096, credit, 0, 0);
    mock.deliver = on_deliver;
    int rank = mock.ctx.rank, senders = mock.ctx.size - 1;
    int each = senders ? messages / senders : 0;
    mock_pool *p = mock_pool_new(1, rank == 0 ? each * senders : 0);
    mock_pool_add(p);
    mock_barrier();
    long before = mock_rss(), most = 0;
    double start = mock_now();
    if (rank)
        produce(p, each);
    dagi_pool_drop(&mock.worker, &p->pool);
    while (!p->ended || count) {
        dagi_comm_progress(&mock.worker);
        run_some();
        long now = mock_rss();
        most = now > most ? now : most;
        if (rank)
            sched_yield();
    }
    fprintf(stderr, "rank %d: credit %lld: grew by %ld KiB, %.2f us per message\n", rank,
            (long long)credit, most - before, (mock_now() - start) * 1e6 / (each ? each : 1));
    CHECK(most - before < 20 * 1024, "grew by %ld KiB", most - before);
    mock_pool_free(p);
    mock_stop();
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    ready = malloc(MESSAGES * sizeof *ready);
    memset(ready, 0, MESSAGES * sizeof *ready);
    run(1 << 20, MESSAGES);
    run(4096, MESSAGES / 10);
    free(ready);
    MPI_Finalize();
    return 0;
}
