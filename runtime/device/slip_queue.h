/*
 * What a device has to issue, best first: by priority, then first come, first.
 *
 * Three parts, so that tasks of one priority, or in order of priority, cost next to nothing, and so
 * that the next few are known before their turn (their data are brought to the cache meanwhile):
 *   next  the best of all
 *   run   a ring of those that came in order, none before the one in front of it
 *   heap  the others
 *
 * Invariants (dagi_slip_queue_check): next is in order, and so is run; none of run or heap is
 * before any of next; run and heap are empty unless next is full.
 *
 * Not synchronised: it is the manager's.
 */
#ifndef DAGI_SLIP_QUEUE_H
#define DAGI_SLIP_QUEUE_H

#include "../base/heap.h"

enum { DAGI_SLIP_NEXT = 5 };

typedef struct dagi_slip_queue {
    dagi_ready_entry next[DAGI_SLIP_NEXT];
    int nnext;
    uint32_t first, end; /* run[first & mask] ... run[(end - 1) & mask] */
    uint32_t mask;       /* capacity of the ring - 1 */
    dagi_ready_entry *run;
    dagi_ready_heap heap;
    uint64_t arrivals; /* so far: the rank of the next one */
} dagi_slip_queue;     /* all zero: empty */

struct dagi_slip;

void dagi_slip_queue_fini(dagi_slip_queue *q);
/* Nonzero = out of memory, and nothing has changed. */
int dagi_slip_queue_push(dagi_slip_queue *q, int64_t priority, struct dagi_slip *slip);
/* Number i of the next ones, whatever is before it; NULL = there are not so many. */
struct dagi_slip *dagi_slip_queue_take(dagi_slip_queue *q, int i);
/* The best; NULL = none. */
static inline struct dagi_slip *dagi_slip_queue_pop(dagi_slip_queue *q)
{
    return dagi_slip_queue_take(q, 0);
}
/* Up to `most` of the best, by and large, in no order; how many. */
int dagi_slip_queue_best(const dagi_slip_queue *q, struct dagi_slip **slips, int most);
/* For tests: the text of the first violation of the invariants, or NULL. */
const char *dagi_slip_queue_check(const dagi_slip_queue *q);

#endif
