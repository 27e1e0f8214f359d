/* Bulk transfers over MPI. */
#include "mpi.h"

/* True when a tag towards dest is still in flight; looked at only after the tags have wrapped. */
static int in_flight(const dagi_mpi *m, int dest, uint32_t first, int count)
{
    for (int i = 0; i < m->nrequests; i++) {
        const dagi_pending *p = &m->pending[i];
        if (!p->buffer && p->peer == dest && p->tag >= first && p->tag - first < (uint32_t)count)
            return 1;
    }
    return 0;
}

uint32_t dagi_mpi_tag_next(dagi_engine *e, int dest, int count)
{
    dagi_mpi *m = dagi_mpi_of(e);
    dagi_peer *p = &m->peers[dest];
    uint32_t first = p->tag;
    for (;;) {
        if (first + (uint32_t)count > m->tag_limit) {
            first = 0;
            p->wrapped = 1;
        }
        if (!p->wrapped || !in_flight(m, dest, first, count))
            break;
        first += (uint32_t)count;
    }
    p->tag = first + (uint32_t)count;
    return first;
}

static void note(dagi_mpi *m, dagi_pending *pending, const dagi_view *v)
{
    pending->begin = m->super.observer->clock();
    pending->bytes = dagi_view_bytes(v);
}

void dagi_mpi_send(dagi_engine *e, int dest, uint32_t tag, const dagi_view *v, dagi_done_fn done,
                   void *arg)
{
    dagi_mpi *m = dagi_mpi_of(e);
    dagi_pending pending = {.done = done, .arg = arg, .peer = dest, .tag = tag};
    int count = 0;
    if (m->super.observer)
        note(m, &pending, v);
    MPI_Datatype type = dagi_mpi_type(m, v, &count);
    MPI_Isend(v->ptr ? v->ptr : m->sink, count, type, dest, (int)tag, m->bulk,
              dagi_mpi_request(m, &pending));
    dagi_mpi_note_call(m, dest);
}

void dagi_mpi_recv(dagi_engine *e, int source, uint32_t tag, const dagi_view *v, dagi_done_fn done,
                   void *arg)
{
    dagi_mpi *m = dagi_mpi_of(e);
    dagi_pending pending = {.done = done, .arg = arg, .peer = -1, .source = source,
                            .tag = tag};
    int count = 0;
    if (m->super.observer)
        note(m, &pending, v);
    MPI_Datatype type = dagi_mpi_type(m, v, &count);
    MPI_Irecv(v->ptr ? v->ptr : m->sink, count, type, source, (int)tag, m->bulk,
              dagi_mpi_request(m, &pending));
    dagi_mpi_note_call(m, source); /* MPI may answer to what has come already */
}
