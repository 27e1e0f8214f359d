/* Memory of records and versions: small, of a few sizes, made and gone with every task. */
#include "insert.h"

#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define HIDE(p, n) __asan_poison_memory_region(p, n)
#define SHOW(p, n) __asan_unpoison_memory_region(p, n)
#else
#define HIDE(p, n) ((void)(p), (void)(n))
#define SHOW(p, n) ((void)(p), (void)(n))
#endif

enum { PIECE = 1 << 16 };

static int grains_of(size_t bytes)
{
    assert(bytes > 0 && bytes <= (size_t)GRAIN * GRAINS);
    return (int)((bytes + GRAIN - 1) / GRAIN);
}

static void *carve(stock *k, size_t bytes)
{
    if ((size_t)(k->end - k->at) < bytes) { /* what is left of the piece is lost: it is little */
        char *piece = aligned_alloc(GRAIN, PIECE);
        if (!piece)
            return NULL;
        *(void **)(void *)piece = k->pieces;
        k->pieces = piece;
        k->at = piece + GRAIN;
        k->end = piece + PIECE;
    }
    k->at += bytes;
    return k->at - bytes;
}

void *stock_take(insertion *s, size_t bytes)
{
    int grains = grains_of(bytes);
    void **list = &s->stock.own[grains - 1], **freed = &s->stock.freed[grains - 1];
    if (!*list && !s->single) {
        dagi_lock(&s->lock);
        *list = *freed;
        *freed = NULL;
        dagi_unlock(&s->lock);
    }
    void *memory = *list;
    if (!memory)
        return carve(&s->stock, (size_t)grains * GRAIN);
    *list = *(void **)memory;
    SHOW(memory, (size_t)grains * GRAIN);
    return memory;
}

void stock_give_back(insertion *s, void *memory, size_t bytes)
{
    int grains = grains_of(bytes);
    void **list = s->single ? &s->stock.own[grains - 1] : &s->stock.freed[grains - 1];
    *(void **)memory = *list;
    *list = memory;
    HIDE((char *)memory + sizeof(void *), (size_t)grains * GRAIN - sizeof(void *));
}

void stock_clear(insertion *s)
{
    for (void *piece = s->stock.pieces, *next; piece; piece = next) {
        next = *(void **)piece;
        SHOW(piece, PIECE);
        free(piece);
    }
}
