/* Memory of records and versions: small, of a few sizes, made and gone with every task. */
#include "insert.h"

#include <stdlib.h>

enum { PIECE = 1 << 16 };

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

void *stock_refill(insertion *s, int grains)
{
    assert(grains > 0 && grains <= GRAINS);
    if (s->door->unlocked)
        return carve(&s->stock, (size_t)grains * GRAIN);
    hold(s);
    void *memory = s->stock.freed[grains - 1];
    s->stock.freed[grains - 1] = NULL;
    let_go(s);
    if (!memory)
        return carve(&s->stock, (size_t)grains * GRAIN);
    s->stock.own[grains - 1] = *(void **)memory;
    dagi_show(memory, (size_t)grains * GRAIN);
    return memory;
}

void stock_clear(insertion *s)
{
    for (void *piece = s->stock.pieces, *next; piece; piece = next) {
        next = *(void **)piece;
        dagi_show(piece, PIECE);
        free(piece);
    }
}
