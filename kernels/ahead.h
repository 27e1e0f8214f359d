/*
 * What the next task reads, fetched into the second-level cache by the products of this one (micro.inc.c). A
 * product that begins calls dagi_ahead_begin(), and takes a stretch of what is to be fetched for each block of its
 * result. Where nobody says what comes next (dag_kernels_ahead()), it gets none.
 *
 * Prefetches never fault, so nothing need hold the memory of a task that another thread has taken meanwhile.
 */
#ifndef DAG_KERNELS_AHEAD_H
#define DAG_KERNELS_AHEAD_H

#include <stdbool.h>
#include <stddef.h>

/* A line is asked for at every second inner index. */
enum { DAGI_AHEAD_EVERY = 2, DAGI_AHEAD_LINE = 64 };

typedef struct dagi_ahead_piece {
    const char *at;
    ptrdiff_t left;
} dagi_ahead_piece;

/* Of one thread. */
typedef struct dagi_ahead {
    ptrdiff_t step;          /* bytes from one request to the next */
    int next, count;         /* pieces from `next` on are not fetched yet */
    dagi_ahead_piece piece[4];
    int known;               /* operands that lie in the cache when this task begins */
    const void *near[8];
} dagi_ahead;

/* Operands of a product, and how often it may ask for a line. */
typedef struct dagi_ahead_use {
    const void *A, *B, *C;
    size_t read;  /* bytes of A and B */
    size_t again; /* of B, which it reads again and again */
    double slots;
} dagi_ahead_use;

/* Bytes of the second-level cache; 1: not known, and nothing fits. */
size_t dagi_second_cache(void);

/* NULL: nobody says what comes next. *near: A and B were fetched before. */
dagi_ahead *dagi_ahead_begin(const dagi_ahead_use *use, bool *near);

/* Where to begin and how far apart to ask for `slots` lines; the step is 0 when there is nothing left. */
static inline const char *dagi_ahead_take(dagi_ahead *s, ptrdiff_t slots, ptrdiff_t *step)
{
    if (s->next == s->count) {
        *step = 0;
        return NULL;
    }
    dagi_ahead_piece *p = &s->piece[s->next];
    const char *at = p->at;
    *step = s->step;
    p->at += slots * s->step;
    p->left -= slots * s->step;
    if (p->left <= 0)
        s->next++;
    return at;
}

#endif
