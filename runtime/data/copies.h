/*
 * Copies of a value in several memories, and which of them are valid: MOESI.
 *
 * The unit is a value (a datum in one version). Space 0 is the host, 1.. are devices. Every value
 * has its place on the host (home memory or a buffer of its own), so the host is where a device's
 * copy can always be saved to. A value that has only ever been on the host has no record at all
 * (dagi_value.copies == NULL): what follows costs programs without devices one look at a pointer.
 *
 * Value semantics does most of the work: whoever writes holds the only reference (a reader that
 * was issued on a device has given its own back and left a ticket instead), so no copy is ever
 * written while a task that may still be started reads it. What remains is to know which copies
 * hold the present version, and until when the memory of the others is still being read.
 *
 * States:
 *   M  the only valid copy, written where it is
 *   O  like M, but others share it; on a device it answers for the host's copy
 *   E  the only valid copy, on the host, nothing of it newer than home (the host's first state)
 *   S  one of several equal copies, another of which is O, or the host's
 *   I  not valid
 * Invariants (dagi_copies_check): at most one of M, O, E over all spaces; M or E anywhere => all
 * others I; O or S anywhere => another that is valid; a device has O or M exactly where the host's
 * copy is not valid, so a device's copy in state S can always be given up; at least one is valid,
 * unless the value is NEW and nobody has written it yet (version 0) or it was dropped; every valid
 * copy has the version of the value, and memory; versions only grow.
 *
 * Transitions, see the table in copies.c: dagi_copies_apply() is the only function that writes
 * state and version. The protocol with managers, transfers and evictions is checked in tests/model.
 */
#ifndef DAGI_COPIES_H
#define DAGI_COPIES_H

#include "data.h"

#include <stddef.h>
#include <stdint.h>

enum { DAGI_MAX_DEVICES = 16, DAGI_HOST = 0, DAGI_MAX_SPACES = DAGI_MAX_DEVICES + 1 };
/* Users of one copy that are remembered apart. */
enum { DAGI_COPY_TICKETS = 8 };

typedef enum dagi_copy_state {
    DAGI_INVALID = 0,
    DAGI_SHARED,
    DAGI_EXCLUSIVE,
    DAGI_OWNED,
    DAGI_MODIFIED
} dagi_copy_state;

/* What others see of a queue of a device (device/device_impl.h): how much of it is done. */
typedef struct dagi_queue_order {
    _Atomic uint64_t passed; /* only grows; release, so that what was done is visible */
} dagi_queue_order;

/* A point in the order of a queue: all that was enqueued up to `count`. queue NULL: the past. */
typedef struct dagi_ticket {
    dagi_queue_order *queue;
    uint64_t count;
} dagi_ticket;

static inline int dagi_ticket_passed(dagi_ticket t)
{
    return t.queue == NULL ||
           atomic_load_explicit(&t.queue->passed, memory_order_acquire) >= t.count;
}

/* One copy. `written`: its content is there when this has passed. `used`: until all of these have
 * passed its memory is read or written by what is under way. */
typedef struct dagi_copy {
    uint8_t state; /* dagi_copy_state */
    uint8_t nused;
    uint32_t version;  /* of the content, when valid */
    void *memory;      /* block of the device's memory (memory.h); NULL on the host and when none */
    uint64_t cause;    /* for traces: the copy or the task on a device that brought the content; 0 = who
                          made the value */
    dagi_ticket written;
    dagi_ticket used[DAGI_COPY_TICKETS];
} dagi_copy;

/*
 * The record. All of it is guarded by `lock`, which is held for a few instructions and is the
 * innermost lock of all. Allocated with the first copy on a device, freed with the value: whoever
 * takes it over (dagi_device_forget) gives it to free().
 */
typedef struct dagi_copies {
    _Atomic int lock;
    uint32_t version; /* 0: nobody has written it yet */
    int nspaces;
    int home;    /* 1: the host's place is home memory */
    uint64_t due; /* when a device is expected to have made the content, by the clock of who issues to it; a guess, for
                     placement, and the past where the host made it */
    int dropped; /* 1: after DROP; nothing may be asked of it but dagi_copies_stale() */
    uint8_t save; /* of a value that a manager has: bring it to the host; counts what was refused */
    struct dagi_value *value;  /* of a value that dies: itself, and the next one */
    struct dagi_copies *dying;
    dagi_copy copy[]; /* [nspaces] */
} dagi_copies;

typedef enum dagi_copy_event {
    DAGI_COPY_FILL,  /* space gets the content of a valid copy elsewhere */
    DAGI_COPY_WRITE, /* a task on space makes the next version */
    DAGI_COPY_SAVE,  /* the host gets the content of the copy in space, which answers for it */
    DAGI_COPY_EVICT, /* space gives its memory up */
    DAGI_COPY_DROP   /* nobody needs the value any more */
} dagi_copy_event;

typedef enum dagi_copy_action {
    DAGI_COPY_DONE = 0,  /* the state has changed, nothing is to be moved */
    DAGI_COPY_MOVE,      /* the state has changed; the caller moves the bytes, see below */
    DAGI_COPY_SAVE_FIRST,/* nothing has changed: the only copy would be lost; SAVE it first */
    DAGI_COPY_NONE       /* nothing has changed: there is no valid copy to take it from */
} dagi_copy_action;

/*
 * The one place where state and version change; the caller holds the lock.
 *   FILL   I -> S, and the source M -> O, E -> S. Action MOVE with *source set: the caller enqueues
 *          the copy behind source.written, enters it in `used` of the source, and as `written` of
 *          the space. If valid already: DONE (its `written` may still be to come). The source is
 *          the host where it is valid, else `prefer` where that is, else any.
 *   WRITE  -> M, all others -> I; version + 1. The caller has seen that the writer is alone, and
 *          has FILLed before unless nothing is read. Memory of the others stays with them until the
 *          caller has taken it (dagi_copies_stale()).
 *   SAVE   the host I -> S; all others that are valid -> S. MOVE with *source set (`space` where
 *          that is valid, else any); DONE if the host is valid. FILL of the host means the same.
 *   EVICT  S, O -> I: what it shared with stays. One that is left alone becomes M (E on the host
 *          if it was S); where neither the host nor an owner is left one becomes O. M, E:
 *          SAVE_FIRST. dagi_copies_stale() then yields the memory. It also undoes a FILL, and of
 *          the host a SAVE, whose transfer could not be enqueued.
 *   DROP   all -> I. The record's last event.
 * State and version change, memory and tickets do not. The caller sets the memory of a space before
 * it lets go of the lock.
 */
dagi_copy_action dagi_copies_apply(dagi_copies *c, int space, dagi_copy_event event, int prefer,
                                   int *source);

/* The record of a value, made when there is none: the host has the only copy, E at home and M
 * elsewhere; with `fresh` nobody has written it yet and no copy is valid. NULL = out of memory.
 * Several managers may ask at the same time. */
dagi_copies *dagi_copies_of(dag_value *v, int nspaces, int fresh);
/* The copy in a space that is not valid any more but has memory: takes it off the record into
 * *copy. 0 = none left. The caller holds the lock. */
int dagi_copies_stale(dagi_copies *c, dagi_copy *copy, int *space);
/* Remember a user of a copy; the caller holds the lock. When all places are taken by users that
 * have not passed, 1: the caller must wait for c->copy[space].used[0] in its queue first, and call
 * again with that one removed (dagi_copies_join()), which says 1 again when others have come. */
int dagi_copies_use(dagi_copies *c, int space, dagi_ticket t) __attribute__((warn_unused_result));
int dagi_copies_join(dagi_copies *c, int space, dagi_ticket waited_for, dagi_ticket t)
    __attribute__((warn_unused_result));

/* Whether the value is valid on the host and its content there. Any thread that holds it. */
int dagi_copies_on_host(const dag_value *v);

/* For tests and debug builds: NULL, or what is wrong, with all states (text of this thread). The
 * caller holds the lock. */
const char *dagi_copies_check(const dagi_copies *c);

/* How long after `now` the content is expected anywhere; 0 = it is there. The caller holds the lock. */
uint64_t dagi_copies_due(const dagi_copies *c, uint64_t now);

#endif
