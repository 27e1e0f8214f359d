/*
 * May MPI be given addresses in the memory of devices? A library that does not know them dies of
 * one, so none is tried unless MPI says that it does (MPIX_Query_cuda_support(), where there is
 * that), or the user insists. And what it says is not believed: each device's memory is really sent
 * from, to the next rank and to this one, in a short message that MPI keeps and in a long one that
 * the receiver fetches. They are received on the host, as results are (../device/departure.c), and
 * compared.
 *
 * All ranks get one answer: the one that sends need not know who is behind a rank.
 */
#include "mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_include)
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#endif

#include "../../base/base.h" /* enum dagi_gpu_mpi */

enum { SHORT = 256, LONG = 1 << 20 };

/* 1: it says that it can; 0: that it cannot; -1: it says nothing. */
static int query(void)
{
#ifdef MPIX_CUDA_AWARE_SUPPORT
    return MPIX_Query_cuda_support() != 0;
#else
    return -1;
#endif
}

/* ---- what all ranks bring ------------------------------------------------------------------- */

/* What the ranks are asked for together: the largest of each. */
enum { REQUIRED, UNASKED, OFF, DEVICES, HANDLES, DENIED, SILENT, NO_ROOM, FACTS };

static void gather(dagi_mpi *m, const dagi_direct_question *q, int64_t *fact)
{
    int says = q->ndevices > 0 && q->wish != DAGI_GPU_MPI_OFF ? query() : 1;
    int64_t room = q->room < LONG ? (int64_t)q->room : LONG;
    int64_t mine[FACTS] = {[REQUIRED] = q->wish == DAGI_GPU_MPI_ON || q->wish == DAGI_GPU_MPI_FORCE,
                           [UNASKED] = q->wish == DAGI_GPU_MPI_FORCE,
                           [OFF] = q->wish == DAGI_GPU_MPI_OFF,
                           [DEVICES] = q->ndevices,
                           [HANDLES] = q->handles,
                           [DENIED] = says == 0,
                           [SILENT] = says < 0,
                           [NO_ROOM] = -room};
    MPI_Allreduce(mine, fact, FACTS, MPI_INT64_T, MPI_MAX, m->am);
}

/* Why it is not even tried; NULL = it is. */
static const char *excluded(const int64_t *fact)
{
    if (fact[DEVICES] == 0)
        return "no rank has a device";
    if (fact[OFF])
        return "the setting gpu_mpi is off";
    if (fact[HANDLES])
        return "a rank has a device whose memory has no addresses (OpenCL)";
    if (fact[UNASKED])
        return NULL;
    if (fact[DENIED])
        return "MPI says that it cannot read memory of devices (MPIX_Query_cuda_support); if it "
               "can all the same, gpu_mpi = force tries it";
    if (fact[SILENT] && !fact[REQUIRED])
        return "this MPI does not say whether it can read memory of devices; gpu_mpi = on tries it";
    return NULL;
}

/* ---- the test ------------------------------------------------------------------------------- */

static void fill(unsigned char *at, size_t bytes, int rank, int device)
{
    uint32_t x = (uint32_t)rank * 2654435761u + (uint32_t)device * 40503u + (uint32_t)bytes;
    for (size_t i = 0; i < bytes; i++) {
        x = x * 1664525u + 1013904223u;
        at[i] = (unsigned char)(x >> 24);
    }
}

/* What one rank sends to the next and to itself, and gets from the one before and from itself. */
typedef struct trial {
    unsigned char *sent, *expected, *next, *self; /* [LONG] each */
} trial;

/* Nobody may stay away: who has no such device, or cannot fill its memory, sends from the host. */
static int exchange(dagi_mpi *m, const dagi_direct_question *q, const trial *t, int device,
                    size_t bytes, char *why, size_t why_size)
{
    int rank = m->super.rank, size = m->super.size, before = (rank + size - 1) % size;
    MPI_Request requests[4];
    const void *from = t->sent;
    int sound = 1;
    fill(t->sent, bytes, rank, device);
    fill(t->expected, bytes, before, device);
    memset(t->next, 0, bytes);
    memset(t->self, 0, bytes);
    if (device < q->ndevices && !(from = q->put(q->arg, device, t->sent, bytes))) {
        snprintf(why, why_size, "rank %d cannot copy %zu bytes to its device %d", rank, bytes,
                 device);
        from = t->sent;
        sound = 0;
    }
    MPI_Irecv(t->next, (int)bytes, MPI_BYTE, before, 0, m->bulk, &requests[0]);
    MPI_Irecv(t->self, (int)bytes, MPI_BYTE, rank, 1, m->bulk, &requests[1]);
    MPI_Isend(from, (int)bytes, MPI_BYTE, (rank + 1) % size, 0, m->bulk, &requests[2]);
    MPI_Isend(from, (int)bytes, MPI_BYTE, rank, 1, m->bulk, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    int next = memcmp(t->next, t->expected, bytes) == 0;
    int self = memcmp(t->self, t->sent, bytes) == 0;
    if (sound && !(next && self)) {
        snprintf(why, why_size, "of %zu bytes that rank %d sent from its device %d, rank %d got "
                 "wrong ones", bytes, next ? rank : before, device, rank);
        sound = 0;
    }
    return sound;
}

static int try_all(dagi_mpi *m, const dagi_direct_question *q, const int64_t *fact, char *why,
                   size_t why_size)
{
    size_t longest = (size_t)-fact[NO_ROOM];
    const size_t sizes[2] = {longest < SHORT ? longest : SHORT, longest};
    unsigned char *all = dagi_mpi_alloc(4 * (size_t)LONG);
    const trial t = {all, all + LONG, all + 2 * (size_t)LONG, all + 3 * (size_t)LONG};
    int sound = 1;
    for (int device = 0; device < fact[DEVICES]; device++) {
        for (int i = 0; i < 2; i++) {
            char text[256];
            if (exchange(m, q, &t, device, sizes[i], text, sizeof text))
                continue;
            if (sound)
                snprintf(why, why_size, "%s", text);
            sound = 0;
        }
    }
    free(all);
    return sound;
}

int dagi_mpi_direct(dagi_engine *e, const dagi_direct_question *q, char *why, size_t why_size,
                    int *shown)
{
    dagi_mpi *m = dagi_mpi_of(e);
    int64_t fact[FACTS];
    *shown = 0;
    gather(m, q, fact);
    const char *reason = excluded(fact);
    if (reason) {
        snprintf(why, why_size, "%s", reason);
        return 0;
    }
    struct {
        int sound, rank;
    } mine = {1, e->rank}, worst;
    mine.sound = try_all(m, q, fact, why, why_size);
    MPI_Allreduce(&mine, &worst, 1, MPI_2INT, MPI_MINLOC, m->am);
    MPI_Bcast(why, (int)why_size, MPI_CHAR, worst.rank, m->am);
    *shown = !worst.sound && worst.rank == e->rank;
    return worst.sound;
}
