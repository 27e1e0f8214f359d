/*
 * Bells: how a rank that sleeps learns at once that another rank of its node has sent it something.
 *
 * MPI has no portable way to sleep until a message comes. So the ranks of a node share a page of
 * memory with a bell for each of them. Who sends rings the bell of the receiver, if that listens:
 * a system call per message for sleepers alone.
 *
 * No ring is lost: a listener first says that it listens, then looks for messages, and sleeps if
 * there are none and the bell has not been rung since. A sender first sends, then looks for
 * listeners. Between the two steps each has a full fence, so either the listener's look finds the
 * message, or the sender finds the listener. What is not rung for (MPI's own messages of a transfer
 * that it moves in steps) makes the sleep last until its end: every sleep has one.
 *
 * The memory has no name (memfd), so nothing stays behind when ranks are killed.
 */
#ifndef DAGI_COMM_BELL_H
#define DAGI_COMM_BELL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { DAGI_BELL_LINE = 128 };

/* Written by all ranks of the node. */
typedef struct dagi_bell {
    _Alignas(DAGI_BELL_LINE) _Atomic uint32_t rings; /* so far; the word that listeners sleep on */
    _Atomic uint32_t listeners; /* threads between dagi_bell_listen() and dagi_bell_leave() */
} dagi_bell;

/* The shared memory. */
typedef struct dagi_bells {
    uint64_t mark; /* fixed: a random number, by which it is known */
    uint32_t count; /* fixed */
    /* Ranks with a task to run, of those that share processors: the others are in their way. */
    _Alignas(DAGI_BELL_LINE) _Atomic int32_t computing;
    dagi_bell bell[];
} dagi_bells;

/* Make memory for `count` bells: the address, and in *fd the file, for dagi_bells_join() by others
 * and close() here. NULL where the system cannot; errno says why. */
dagi_bells *dagi_bells_new(uint32_t count, uint64_t mark, int *fd);
/* Map what process `pid` has made and still has open. NULL: not possible; errno says why. */
dagi_bells *dagi_bells_join(int pid, int fd, uint32_t count, uint64_t mark);
void dagi_bells_free(dagi_bells *bells); /* NULL is allowed */

/* Wake whoever listens to this bell; call it after what they are woken for, and a full fence behind that. */
void dagi_bell_ring(dagi_bell *bell);
/* The same if somebody listens. */
static inline void dagi_bell_call(dagi_bell *bell)
{
    if (atomic_load_explicit(&bell->listeners, memory_order_relaxed))
        dagi_bell_ring(bell);
}

/* Begin to listen; what has been rung so far, for dagi_bell_sleep(). Look for messages next. */
uint32_t dagi_bell_listen(dagi_bell *bell);
/* Sleep until the bell has been rung more often than `heard`, at most so long. */
void dagi_bell_sleep(dagi_bell *bell, uint32_t heard, uint64_t nanoseconds);
void dagi_bell_leave(dagi_bell *bell);

#endif
