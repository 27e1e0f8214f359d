/* Bulk transfers over MPI. */
#include "mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tags of the sender's choice ------------------------------------------------------------ */

static uint64_t busy(const dagi_tags *t, uint32_t word)
{
    return t->unsent[word] | t->unmatched[word];
}

/* First of `count` free tags from `from` on, below `end`. */
static uint32_t find_free(const dagi_tags *t, uint32_t from, uint32_t end, uint32_t count)
{
    uint32_t run = 0;
    for (uint32_t tag = from; tag < end; tag++) {
        uint64_t word = busy(t, tag / 64);
        if (tag % 64 == 0 && word == UINT64_MAX) {
            tag += 63;
            run = 0;
        } else if (word >> tag % 64 & 1) {
            run = 0;
        } else if (++run == count) {
            return tag + 1 - count;
        }
    }
    return DAGI_NO_TAG;
}

uint32_t dagi_mpi_tag_find(dagi_engine *e, int dest, int count)
{
    dagi_mpi *m = dagi_mpi_of(e);
    dagi_peer *p = &m->peers[dest];
    if (!p->tags) {
        p->tags = dagi_mpi_alloc(sizeof *p->tags);
        memset(p->tags, 0, sizeof *p->tags);
    }
    uint32_t first = find_free(p->tags, p->tags->next, m->ntags, (uint32_t)count);
    if (first == DAGI_NO_TAG)
        first = find_free(p->tags, 0, m->ntags, (uint32_t)count);
    return first;
}

void dagi_mpi_tag_take(dagi_engine *e, int dest, uint32_t first, int count)
{
    dagi_tags *t = dagi_mpi_of(e)->peers[dest].tags;
    t->next = first + (uint32_t)count;
    for (uint32_t tag = first; tag < t->next; tag++) {
        t->unsent[tag / 64] |= UINT64_C(1) << tag % 64;
        t->unmatched[tag / 64] |= UINT64_C(1) << tag % 64;
    }
}

/* The receiver has posted receives for these. */
void dagi_mpi_tag_matched(dagi_mpi *m, int dest, const dagi_tag_range *range)
{
    dagi_tags *t = m->peers[dest].tags;
    for (uint32_t tag = range->first; tag < range->first + range->count; tag++)
        t->unmatched[tag / 64] &= ~(UINT64_C(1) << tag % 64);
}

/* A receive has been posted: the sender is told of many at once. What it has not heard of is an
 * eighth of the tags at most, so it never waits for the rest. */
static void note_matched(dagi_mpi *m, int source, uint32_t tag)
{
    dagi_peer *p = &m->peers[source];
    dagi_matched *matched = p->matched;
    if (tag >= m->ntags)
        return;
    if (!matched) {
        p->matched = matched = dagi_mpi_alloc(sizeof *matched);
        memset(matched, 0, sizeof *matched);
    }
    dagi_tag_range *last = matched->nranges ? &matched->range[matched->nranges - 1] : NULL;
    if (last && last->first + last->count == tag)
        last->count++;
    else
        matched->range[matched->nranges++] = (dagi_tag_range){tag, 1};
    matched->ntags++;
    if (matched->nranges == DAGI_TAG_RANGES || matched->ntags >= m->ntags / 8)
        dagi_mpi_am_tell_matched(m, source);
}

/* ---- tags of the receiver's choice ---------------------------------------------------------- */

static int is_posted(const dagi_mpi *m, int source, uint32_t first, int count)
{
    for (int i = 0; i < m->open.count; i++) {
        const dagi_posted *p = &m->open.posted[i];
        if (!p->buffer && p->peer < 0 && p->source == source && p->tag >= first &&
            p->tag - first < (uint32_t)count)
            return 1;
    }
    return 0;
}

uint32_t dagi_mpi_tag_ask(dagi_engine *e, int source, int count)
{
    dagi_mpi *m = dagi_mpi_of(e);
    dagi_peer *p = &m->peers[source];
    for (uint32_t tries = m->tag_limit / (uint32_t)count + 1; tries; tries--) {
        uint32_t first = p->asked;
        if (first < m->ntags || first + (uint32_t)count > m->tag_limit)
            first = m->ntags;
        p->asked = first + (uint32_t)count;
        if (!is_posted(m, source, first, count))
            return first;
    }
    fprintf(stderr, "dag: rank %d: no tag of MPI is left for broadcasts from rank %d\n",
            m->super.rank, source);
    MPI_Abort(MPI_COMM_WORLD, DAG_ERR_NOMEM);
    abort();
}

/* ---- transfers ------------------------------------------------------------------------------ */

static void note(dagi_mpi *m, dagi_posted *posted, const dagi_view *v)
{
    posted->begin = m->super.observer->clock();
    posted->bytes = dagi_view_bytes(v);
}

void dagi_mpi_send(dagi_engine *e, int dest, uint32_t tag, const dagi_view *v, dagi_done_fn done,
                   void *arg)
{
    dagi_mpi *m = dagi_mpi_of(e);
    dagi_posted posted = {.done = done, .arg = arg, .peer = dest, .tag = tag};
    int count = 0;
    if (m->super.observer)
        note(m, &posted, v);
    MPI_Datatype type = dagi_mpi_type(m, v, &count);
    MPI_Isend(v->ptr ? v->ptr : m->sink, count, type, dest, (int)tag, m->bulk,
              dagi_mpi_request(m, &posted));
    if (tag < m->ntags)
        m->peers[dest].tags->unsent[tag / 64] &= ~(UINT64_C(1) << tag % 64);
    dagi_mpi_note_call(m, dest);
}

void dagi_mpi_recv(dagi_engine *e, int source, uint32_t tag, const dagi_view *v, dagi_done_fn done,
                   void *arg)
{
    dagi_mpi *m = dagi_mpi_of(e);
    dagi_posted posted = {.done = done, .arg = arg, .peer = -1, .source = source, .tag = tag};
    int count = 0;
    if (m->super.observer)
        note(m, &posted, v);
    MPI_Datatype type = dagi_mpi_type(m, v, &count);
    MPI_Irecv(v->ptr ? v->ptr : m->sink, count, type, source, (int)tag, m->bulk,
              dagi_mpi_request(m, &posted));
    dagi_mpi_note_call(m, source); /* MPI may answer to what has come already */
    note_matched(m, source, tag);
}
