/* Buffers of events: chunks that are only ever added. */
#include "../base/pages.h"
#include "trace.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void dagi_buffer_init(dagi_buffer *b, _Atomic int64_t *room)
{
    *b = (dagi_buffer){.room = room};
}

/* A chunk of `chunks` times the size of a small one; NULL: the rank may not have as much, or there is none.
 * Room that is not enough is left alone: another track, which is full for good when it is refused, may
 * ask for less of it meanwhile. */
static dagi_chunk *chunk_new(dagi_buffer *b, int chunks)
{
    int64_t room = atomic_load_explicit(b->room, memory_order_relaxed);
    do {
        if (room < chunks)
            return NULL;
    } while (!atomic_compare_exchange_weak_explicit(b->room, &room, room - chunks,
                                                    memory_order_relaxed, memory_order_relaxed));
    dagi_chunk *chunk = dagi_pages_alloc((size_t)chunks * DAGI_CHUNK_BYTES);
    if (!chunk)
        atomic_fetch_add_explicit(b->room, chunks, memory_order_relaxed);
    return chunk;
}

/* The first one is small, as most tracks write little; later ones fill huge pages: on small ones most of
 * what an event costs is the page fault of its first touch. */
static int add_chunk(dagi_buffer *b)
{
    int chunks = b->last ? DAGI_CHUNK_MOST : 1;
    assert(atomic_load_explicit(b->room, memory_order_relaxed) >= 0);
    assert(b->at <= b->end);
    dagi_chunk *chunk = chunk_new(b, chunks);
    if (!chunk && chunks > 1)
        chunk = chunk_new(b, chunks = 1);
    if (!chunk)
        return 0;
    chunk->next = NULL;
    if (b->last) {
        b->last->used = (uint64_t)(b->at - b->last->word);
        b->last->next = chunk;
    } else {
        b->first = chunk;
    }
    b->last = chunk;
    b->at = chunk->word;
    b->end = (uint64_t *)(void *)((char *)chunk + (size_t)chunks * DAGI_CHUNK_BYTES);
    return 1;
}

uint64_t *dagi_buffer_grow(dagi_buffer *b, unsigned words)
{
    if (b->full || !add_chunk(b)) {
        b->full = 1;
        b->dropped++;
        return NULL;
    }
    return dagi_buffer_event(b, words);
}

void dagi_buffer_close(dagi_buffer *b)
{
    if (b->last)
        b->last->used = (uint64_t)(b->at - b->last->word);
    b->at = b->end = NULL;
    b->full = 1;
}

uint64_t dagi_buffer_words(const dagi_buffer *b)
{
    uint64_t words = 0;
    for (const dagi_chunk *c = b->first; c; c = c->next)
        words += c->used;
    return words;
}

void dagi_buffer_move(dagi_buffer *b, uint64_t *out)
{
    while (b->first) {
        dagi_chunk *c = b->first;
        memcpy(out, c->word, c->used * sizeof *out);
        out += c->used;
        b->first = c->next;
        free(c);
    }
    b->last = NULL;
}

void dagi_buffer_free(dagi_buffer *b)
{
    while (b->first) {
        dagi_chunk *next = b->first->next;
        free(b->first);
        b->first = next;
    }
    b->last = NULL;
    b->at = b->end = NULL;
    b->full = 1;
}
