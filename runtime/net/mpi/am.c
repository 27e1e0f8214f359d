/*
 * Active messages over MPI, with credit.
 *
 * Chaos (DAG_CHAOS): a message out or in is put off for some looks at the network, so messages
 * overtake one another, which the protocol above must not notice.
 */
#include "mpi.h"

#include <stdlib.h>
#include <string.h>

enum { AM_TAG = 1 };

/* ---- buffers ------------------------------------------------------------------------------ */

static dagi_am_buffer *buffer_get(dagi_mpi *m, size_t bytes)
{
    size_t capacity = bytes <= DAGI_MPI_SMALL ? DAGI_MPI_SMALL : sizeof(dagi_am_head) + m->am_max;
    dagi_am_buffer **list = bytes <= DAGI_MPI_SMALL ? &m->buffers.small : &m->buffers.large;
    dagi_am_buffer *b = *list;
    if (b) {
        *list = b->next;
    } else {
        b = dagi_mpi_alloc(sizeof *b + capacity);
        b->capacity = (uint32_t)capacity;
    }
    b->bytes = (uint32_t)bytes;
    return b;
}

void dagi_mpi_am_recycle(dagi_mpi *m, dagi_am_buffer *b)
{
    dagi_am_buffer **list = b->capacity == DAGI_MPI_SMALL ? &m->buffers.small : &m->buffers.large;
    b->next = *list;
    *list = b;
}

static void buffers_free(dagi_am_buffer *b)
{
    while (b) {
        dagi_am_buffer *next = b->next;
        free(b);
        b = next;
    }
}

/* ---- credit ------------------------------------------------------------------------------- */

/* Never more than half a window: what is not yet given back is always less than half, so the other
 * half can be had. */
static int32_t charge_of(const dagi_mpi *m, size_t bytes, uint32_t bulk)
{
    size_t charge = bytes + DAGI_AM_CHARGE + bulk, most = (size_t)m->window / 2;
    return (int32_t)(charge < most ? charge : most);
}

/* What transfers add to it: 16 times a window may be under way, but of transfers, and so of tags, in
 * no case more than 4096. */
static uint32_t bulk_charge(const dagi_mpi *m, int64_t weight)
{
    int64_t charge = weight / 16, scale = m->window / (4096 * (DAGI_BULK_LEAST / 16));
    int64_t most = m->window / 2;
    if (scale > 1)
        charge = charge < most / scale ? charge * scale : most;
    return (uint32_t)(charge < most ? charge : most);
}

static void owe(dagi_mpi *m, int source, int32_t charge)
{
    dagi_peer *p = &m->peers[source];
    p->owed += charge;
    if (p->owed >= m->window / 2 && !p->listed) {
        p->listed = 1;
        m->returns[m->nreturns++] = source;
    }
}

/* What may travel back with a message to this peer. */
static uint32_t take_owed(dagi_mpi *m, int dest)
{
    dagi_peer *p = &m->peers[dest];
    int32_t owed = p->owed;
    if (m->super.hold_credit)
        return 0;
    p->owed = 0;
    return (uint32_t)owed;
}

/* ---- out ---------------------------------------------------------------------------------- */

static void start_send(dagi_mpi *m, dagi_am_buffer *b)
{
    dagi_posted posted = {.buffer = b, .peer = b->peer};
    MPI_Request *r = dagi_mpi_request(m, &posted);
    int done = 0;
    MPI_Isend(b->data, (int)b->bytes, MPI_BYTE, b->peer, AM_TAG, m->am, r);
    m->counts.given++;
    dagi_mpi_note_call(m, b->peer);
    MPI_Test(r, &done, MPI_STATUS_IGNORE);
    if (done) { /* as good as always, for short messages */
        m->open.count--;
        dagi_mpi_am_recycle(m, b);
    }
}

/* `*r` above is the last request, so it can be taken back; nothing comes between. */

void *dagi_mpi_am_begin(dagi_engine *e, int dest, int control, size_t bytes, int64_t bulk)
{
    dagi_mpi *m = dagi_mpi_of(e);
    dagi_peer *p = &m->peers[dest];
    uint32_t more = bulk ? bulk_charge(m, bulk) : 0;
    if (!control) {
        int32_t charge = charge_of(m, bytes, more);
        if (charge > p->avail)
            return NULL;
        p->avail -= charge;
    }
    dagi_am_buffer *b = buffer_get(m, sizeof(dagi_am_head) + bytes);
    b->peer = dest;
    m->buffers.begun = b;
    dagi_am_head *head = (dagi_am_head *)(void *)b->data;
    head->credit = take_owed(m, dest);
    head->flags = (control ? DAGI_AM_CONTROL : 0) | more << DAGI_AM_FLAG_BITS;
    return head + 1;
}

void dagi_mpi_am_send(dagi_engine *e)
{
    dagi_mpi *m = dagi_mpi_of(e);
    dagi_am_buffer *b = m->buffers.begun;
    uint8_t kind = (uint8_t)b->data[sizeof(dagi_am_head)];
    m->counts.sent += kind != DAGI_AM_UNCOUNTED;
    if (m->super.observer)
        m->super.observer->message(m->super.observer_arg, 1, b->peer,
                                   b->data + sizeof(dagi_am_head), b->bytes - sizeof(dagi_am_head));
    const dagi_am_head *head = (const dagi_am_head *)(const void *)b->data;
    /* Not control messages: who has been told the end of a pool may leave the library for long, and
     * must have passed it on by then. */
    if (m->random && !(head->flags & DAGI_AM_CONTROL) && dagi_mpi_random(m, 3) == 0) {
        b->delay = 1 + (int)dagi_mpi_random(m, 20);
        b->next = m->buffers.late_out;
        m->buffers.late_out = b;
        return;
    }
    start_send(m, b);
}

/* Only the engine sees these. */
static void send_credit(dagi_mpi *m, int dest, const dagi_tag_range *range, uint32_t nranges)
{
    dagi_am_head head = {take_owed(m, dest), DAGI_AM_CONTROL | DAGI_AM_CREDIT_ONLY};
    size_t bytes = nranges * sizeof *range;
    dagi_am_buffer *b = buffer_get(m, sizeof head + bytes);
    memcpy(b->data, &head, sizeof head);
    if (bytes)
        memcpy(b->data + sizeof head, range, bytes);
    b->peer = dest;
    m->counts.sent++;
    start_send(m, b);
}

void dagi_mpi_am_tell_matched(dagi_mpi *m, int dest)
{
    dagi_matched *matched = m->peers[dest].matched;
    send_credit(m, dest, matched->range, matched->nranges);
    matched->ntags = matched->nranges = 0;
}

static void return_credit(dagi_mpi *m)
{
    while (m->nreturns && !m->super.hold_credit) {
        int dest = m->returns[--m->nreturns];
        m->peers[dest].listed = 0;
        if (m->peers[dest].owed < m->window / 2)
            continue; /* a message has taken it along */
        send_credit(m, dest, NULL, 0);
    }
}

/* ---- in ----------------------------------------------------------------------------------- */

static void handle(dagi_mpi *m, int source, const char *data, size_t bytes)
{
    dagi_am_head head;
    memcpy(&head, data, sizeof head);
    m->peers[source].avail += (int32_t)head.credit;
    if (head.flags & DAGI_AM_CREDIT_ONLY) {
        m->counts.received++;
        for (size_t at = sizeof head; at < bytes; at += sizeof(dagi_tag_range))
            dagi_mpi_tag_matched(m, source, (const void *)(data + at));
        return;
    }
    const char *message = data + sizeof head;
    size_t size = bytes - sizeof head;
    m->counts.received += (uint8_t)*message != DAGI_AM_UNCOUNTED;
    if (m->super.observer)
        m->super.observer->message(m->super.observer_arg, 0, source, message, size);
    m->super.on_message(m->super.on_message_arg, source, message, size);
    if (!(head.flags & DAGI_AM_CONTROL))
        owe(m, source, charge_of(m, size, head.flags >> DAGI_AM_FLAG_BITS));
}

static void put_off(dagi_mpi *m, int source, const char *data, size_t bytes)
{
    dagi_am_buffer *b = buffer_get(m, bytes);
    memcpy(b->data, data, bytes);
    b->peer = source;
    b->delay = 1 + (int)dagi_mpi_random(m, 20);
    b->next = m->buffers.late_in;
    m->buffers.late_in = b;
}

static void post_receive(dagi_mpi *m, int i)
{
    size_t size = sizeof(dagi_am_head) + m->am_max;
    MPI_Irecv(m->ring.data + (size_t)i * size, (int)size, MPI_BYTE, MPI_ANY_SOURCE, AM_TAG, m->am,
              &m->ring.request[i]);
}

void dagi_mpi_am_received(dagi_mpi *m, const MPI_Status *status)
{
    int i = m->ring.next, bytes = 0;
    m->counts.taken++;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    const char *data = m->ring.data + (size_t)i * (sizeof(dagi_am_head) + m->am_max);
    if (m->random && dagi_mpi_random(m, 3) == 0)
        put_off(m, status->MPI_SOURCE, data, (size_t)bytes);
    else
        handle(m, status->MPI_SOURCE, data, (size_t)bytes);
    post_receive(m, i);
    m->ring.next = (i + 1) % m->ring.count;
}

/* The receive posted first is the first to be matched, so it alone is looked at. */
static int receive_one(dagi_mpi *m)
{
    int done = 0;
    MPI_Status status;
    MPI_Test(&m->ring.request[m->ring.next], &done, &status);
    if (done)
        dagi_mpi_am_received(m, &status);
    return done;
}

/* ---- chaos -------------------------------------------------------------------------------- */

/* Take out of the list what has waited long enough. */
static dagi_am_buffer *due(dagi_am_buffer **list)
{
    dagi_am_buffer *out = NULL;
    while (*list) {
        dagi_am_buffer *b = *list;
        if (--b->delay > 0) {
            list = &b->next;
            continue;
        }
        *list = b->next;
        b->next = out;
        out = b;
    }
    return out;
}

static int chaos_progress(dagi_mpi *m)
{
    int events = 0;
    dagi_am_buffer *next;
    for (dagi_am_buffer *b = due(&m->buffers.late_out); b; b = next, events++) {
        next = b->next;
        start_send(m, b);
    }
    for (dagi_am_buffer *b = due(&m->buffers.late_in); b; b = next, events++) {
        next = b->next;
        handle(m, b->peer, b->data, b->bytes);
        dagi_mpi_am_recycle(m, b);
    }
    /* What is put off is an event to come: do not let the caller think that all is quiet. */
    return events + (m->buffers.late_out || m->buffers.late_in);
}

int dagi_mpi_am_progress(dagi_mpi *m)
{
    enum { BATCH = 16 };
    int events = 0;
    while (events < BATCH && receive_one(m))
        events++;
    if (m->random)
        events += chaos_progress(m);
    if (m->nreturns)
        return_credit(m);
    return events;
}

/* ---- start and end ------------------------------------------------------------------------ */

dag_status dagi_mpi_am_init(dagi_mpi *m, const dagi_engine_options *options)
{
    int size = m->super.size;
    m->window = (int32_t)(options->credit_bytes < INT32_MAX / 2 ? options->credit_bytes
                                                                : INT32_MAX / 2);
    m->am_max = (options->am_max + 7) & ~(size_t)7;
    size_t slot = sizeof(dagi_am_head) + m->am_max;
    m->ring.count = DAGI_MPI_RECEIVES;
    while (m->ring.count > 4 && (size_t)m->ring.count * slot > DAGI_MPI_RECEIVE_BYTES)
        m->ring.count /= 2;
    m->peers = calloc((size_t)size, sizeof *m->peers);
    m->returns = calloc((size_t)size, sizeof *m->returns);
    m->ring.request = calloc((size_t)m->ring.count, sizeof(MPI_Request));
    m->ring.data = malloc((size_t)m->ring.count * slot);
    if (!m->peers || !m->returns || !m->ring.request || !m->ring.data) {
        m->ring.count = 0;
        return DAG_ERR_NOMEM;
    }
    for (int i = 0; i < size; i++)
        m->peers[i].avail = m->window;
    for (int i = 0; i < m->ring.count; i++)
        post_receive(m, i);
    return DAG_SUCCESS;
}

void dagi_mpi_am_fini(dagi_mpi *m)
{
    for (int i = 0; i < m->ring.count; i++) {
        MPI_Cancel(&m->ring.request[i]);
        MPI_Wait(&m->ring.request[i], MPI_STATUS_IGNORE);
    }
    free(m->ring.request);
    free(m->ring.data);
    buffers_free(m->buffers.small);
    buffers_free(m->buffers.large);
    buffers_free(m->buffers.late_out);
    buffers_free(m->buffers.late_in);
}
