/* Buffers of events: chunks that are only ever added. */
#include "trace.h"

#include <stdlib.h>
#include <string.h>

void dagi_buffer_init(dagi_buffer *b, _Atomic int64_t *room)
{
    *b = (dagi_buffer){.room = room};
}

/* A further chunk, if the rank may have one. */
static int add_chunk(dagi_buffer *b)
{
    dagi_chunk *chunk = NULL;
    if (atomic_fetch_sub_explicit(b->room, 1, memory_order_relaxed) > 0)
        chunk = malloc(sizeof *chunk);
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
    b->end = chunk->word + DAGI_CHUNK_WORDS;
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
