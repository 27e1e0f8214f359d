/*
 * Activations between ranks. Every rank completes random tasks whose outputs go to random sets of
 * ranks; every rank can compute what it has to receive, and does. Run over many settings in one
 * launch: eager limits, minimal credit, all shapes of broadcasts, disturbed order of messages.
 *
 * usage: comm_remote [tasks per rank]
 */
#include "mock.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tasks_per_rank = 40;
static uint64_t seed;
static unsigned char *seen; /* [rank * tasks + task] */

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Number `what` of task (rank, i), below n. */
static uint32_t choose(int rank, int i, int what, uint32_t n)
{
    uint64_t x = seed * 1000003 + (uint64_t)rank * 7919 + (uint64_t)i * 31 + (uint64_t)what;
    return (uint32_t)(mix(mix(x * UINT64_C(0x9e3779b97f4a7c15))) >> 16) % n;
}

enum { SHAPE = 1, GROUP, DENSITY, BCAST_DATA = 10, M = 20, N = 30, ELEM = 40, PAD = 50,
       ABSENT = 60, MASK = 100, REGION = 10000, TO = 20000 };

/* The destination `to` of a task, or mask 0. Half of the tasks send the same to all their ranks. */
static mock_dest dest_of(int rank, int i, int to)
{
    static const uint8_t regions[] = {DAG_REGION_FULL, DAG_REGION_LOWER, DAG_REGION_UPPER,
                                      DAG_REGION_LOWER_STRICT, DAG_REGION_UPPER_STRICT,
                                      DAG_REGION_DIAGONAL, 5};
    int same = choose(rank, i, BCAST_DATA, 2);
    mock_dest d = {.rank = to};
    if (to == rank || choose(rank, i, TO + to, 4) < choose(rank, i, DENSITY, 4))
        return d;
    d.mask = 1 + choose(rank, i, MASK + (same ? 0 : to), 15);
    d.region = regions[choose(rank, i, REGION + (same ? 0 : to), 7)];
    return d;
}

static dag_shape shape_of(int rank, int i, int flow)
{
    static const uint32_t most[] = {1, 3, 40, 300};
    uint32_t size = most[choose(rank, i, M + 5 + flow, 4)];
    dag_shape s = {choose(rank, i, M + flow, size + 1), choose(rank, i, N + flow, size + 1),
                   (size_t[]){1, 8, 16, 3}[choose(rank, i, ELEM + flow, 4)]};
    return s;
}

static unsigned char item(int rank, int i, int flow, int64_t row, int64_t column, size_t byte)
{
    return (unsigned char)(rank * 101 + i * 37 + flow * 11 + row * 3 + column * 7 + (int64_t)byte);
}

static int in_region(unsigned region, int64_t row, int64_t column)
{
    unsigned piece = row > column ? DAG_REGION_LOWER_STRICT
                                  : row == column ? DAG_REGION_DIAGONAL : DAG_REGION_UPPER_STRICT;
    return (region & piece) != 0;
}

static dag_value *make_value(mock_pool *p, int rank, int i, int flow)
{
    dag_shape s = shape_of(rank, i, flow);
    int64_t pad = choose(rank, i, PAD + flow, 3);
    if (choose(rank, i, ABSENT + flow, 8) == 0)
        return NULL;
    dag_shape padded = {s.m + pad, s.n, s.elem};
    dag_value *v = dagi_value_new(&mock.worker, &p->pool, &padded);
    v->m = s.m;
    for (int64_t c = 0; c < s.n; c++)
        for (int64_t r = 0; r < s.m; r++)
            for (size_t b = 0; b < s.elem; b++)
                ((unsigned char *)v->ptr)[((size_t)r + (size_t)c * (size_t)v->ld) * s.elem + b] =
                    item(rank, i, flow, r, c, b);
    return v;
}

static void check_value(int rank, int i, int flow, const dag_value *v, unsigned region)
{
    dag_shape s = shape_of(rank, i, flow);
    if (choose(rank, i, ABSENT + flow, 8) == 0) {
        CHECK(!v, "task (%d, %d) flow %d should be absent", rank, i, flow);
        return;
    }
    CHECK(v && v->m == s.m && v->n == s.n && v->elem == s.elem, "task (%d, %d) flow %d: shape",
          rank, i, flow);
    for (int64_t c = 0; c < s.n; c++)
        for (int64_t r = 0; r < s.m; r++)
            for (size_t b = 0; b < s.elem && in_region(region, r, c); b++)
                CHECK(((unsigned char *)v->ptr)[((size_t)r + (size_t)c * (size_t)v->ld) * s.elem +
                                                b] == item(rank, i, flow, r, c, b),
                      "task (%d, %d) flow %d item (%lld, %lld) region %u", rank, i, flow,
                      (long long)r, (long long)c, region);
}

static void on_deliver(mock_pool *p, const int32_t *params, uint32_t mask, uint64_t dynamic,
                       int poison, dag_value **values)
{
    int rank = params[0], i = params[1];
    mock_dest d = dest_of(rank, i, mock.ctx.rank);
    (void)p;
    CHECK(!poison, "poisoned");
    const uint32_t data = (1 << MOCK_DATA) - 1; /* control may be for others that get the same data */
    CHECK((mask & data) == (d.mask & data) && (mask & d.mask) == d.mask && (d.mask & data || mask == d.mask),
          "task (%d, %d): mask %x, not %x", rank, i, mask, d.mask);
    CHECK(dynamic == mix((uint64_t)i), "dynamic bits");
    CHECK(!seen[rank * tasks_per_rank + i]++, "task (%d, %d) comes twice", rank, i);
    for (int flow = 0; flow < MOCK_DATA; flow++) {
        if (!(mask >> flow & 1)) {
            CHECK(!values[flow], "flow not in the mask");
            continue;
        }
        check_value(rank, i, flow, values[flow], d.region);
        dagi_value_release(&mock.worker, values[flow]);
    }
}

/* Of the setting, and of tasks. */
static const int shapes[] = {
    DAG_BCAST_AUTO, DAG_BCAST_BINOMIAL, DAG_BCAST_CHAIN, DAG_BCAST_RING, DAG_BCAST_SCATTER, DAG_BCAST_FLAT,
    DAG_BCAST_CHAIN | DAG_BCAST_WITHIN(1, DAG_BCAST_CHAIN),
    DAG_BCAST_FLAT | DAG_BCAST_WITHIN(1, DAG_BCAST_RING) | DAG_BCAST_WITHIN(2, DAG_BCAST_BINOMIAL),
};
enum { NSHAPES = sizeof shapes / sizeof *shapes };

static void run(int64_t eager, int64_t credit, uint64_t chaos, int bcast)
{
    mock_start(eager, credit, chaos, bcast);
    mock.deliver = on_deliver;
    int rank = mock.ctx.rank, size = mock.ctx.size, expected = 0;
    seed++;
    seen = calloc((size_t)(size * tasks_per_rank), 1);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < tasks_per_rank; i++)
            expected += dest_of(r, i, rank).mask != 0;
    mock_pool *p = mock_pool_new(77, expected);
    p->info = rank == size - 1 ? 40 : 50 + rank;
    mock_pool_add(p);
    for (int i = 0; i < tasks_per_rank; i++) {
        dag_value *values[MOCK_DATA];
        mock_dest dest[64];
        int ndest = 0;
        for (int flow = 0; flow < MOCK_DATA; flow++)
            values[flow] = make_value(p, rank, i, flow);
        for (int to = size - 1; to >= 0; to--) {
            dest[ndest] = dest_of(rank, i, to);
            ndest += dest[ndest].mask != 0;
        }
        mock_complete(p, rank, i, (int64_t)choose(rank, i, 3, 100), values, dest, ndest,
                      shapes[choose(rank, i, SHAPE, NSHAPES)],
                      (int)choose(rank, i, GROUP, 4), mix((uint64_t)i));
        if (i % 3 == 0)
            dagi_comm_progress(&mock.worker);
    }
    dagi_pool_drop(&mock.worker, &p->pool);
    CHECK(mock_pool_wait(p, 60), "eager %lld credit %lld chaos %llu bcast %d: %d holds, %d missing",
          (long long)eager, (long long)credit, (unsigned long long)chaos, bcast, p->holds,
          p->expected);
    CHECK(p->status == DAG_SUCCESS && p->agreed_info == 40, "status %d info %lld", p->status,
          (long long)p->agreed_info);
    mock_pool_free(p);
    if (getenv("COMM_VERBOSE"))
        fprintf(stderr, "rank %d: %lld messages sent, %d received\n", rank,
                (long long)mock.messages, expected);
    free(seen);
    mock_stop();
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc > 1)
        tasks_per_rank = atoi(argv[1]);
    for (int i = 0; i < NSHAPES; i++) {
        run(4096, 1 << 20, 0, shapes[i]);
        run(0, 1 << 20, 0, shapes[i]);
        run(8192, 4096, 0, shapes[i]);
    }
    for (uint64_t chaos = 1; chaos <= 6; chaos++)
        run(2048, chaos % 2 ? 4096 : 1 << 20, chaos, DAG_BCAST_AUTO);
    MPI_Finalize();
    return 0;
}
