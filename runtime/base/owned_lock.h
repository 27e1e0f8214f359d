/*
 * A lock that one thread, its owner, takes nearly always: while nobody else comes, without an exchange,
 * which is most of what an empty task pays for a lock.
 *
 * Two states. `alone` = 0: everybody takes `word`. Else the owner takes nothing, it says `busy`
 * while it is inside; anybody else takes `word`, and ends this state before it goes on. Owners have numbers,
 * for in task/alone.h they change; at any time there is one at most.
 *
 * Invariants
 *   1. `alone` becomes an owner's number by that owner and 0 by anybody, both while `word` is held. So an owner that
 *      reads 0 outside may rely on it, and one that reads its number may not.
 *   2. Inside are the holder of `word` while `alone` is 0, or the owner with `busy` = 1 and its number read in `alone`
 *      after that was written; nobody else.
 *
 * Why 2 excludes: the owner writes `busy` and then reads `alone`; who ends the state writes `alone` and then
 * reads `busy`. With a full fence between the two of both, one of them sees the other. The owner has none:
 * dagi_owned_end() has the kernel put one into all running threads of the process (membarrier), which costs
 * it 1 to 12 us, and after that waits for `busy` = 0. What the owner did inside is visible by the release
 * of `busy`, what others did by that of `word`, which the owner takes before it is alone again. tests/model looks
 * at all interleavings.
 */
#ifndef DAGI_OWNED_LOCK_H
#define DAGI_OWNED_LOCK_H

#include "base.h"
#include "lock.h"

/* All 0: free, not alone. */
typedef struct dagi_owned_lock {
    _Atomic int word;
    _Atomic int alone; /* the owner's number, not 0 */
    _Atomic int busy;  /* the owner's */
} dagi_owned_lock;

/* Asks the kernel for fences of this process; once it has said yes owners may be alone. Cheap where the process has
 * one thread yet; where it has more the kernel takes 10 ms, so then it is not asked, unless `patient`. */
void dagi_owned_prepare(bool patient);
/* The owner, of this number, is alone from now on, if it can be. It is not inside. */
void dagi_owned_begin(dagi_owned_lock *l, int owner);
/* The same owner, which is not inside, is alone no more. */
void dagi_owned_give_up(dagi_owned_lock *l, int owner);
/* The holder of `word` ends that. */
void dagi_owned_end(dagi_owned_lock *l);

static inline bool dagi_owned_is_alone(const dagi_owned_lock *l)
{
    return atomic_load_explicit(&l->alone, memory_order_relaxed);
}

/* The owner goes inside if it is alone; false: it is not inside. */
static inline bool dagi_owned_try_own(dagi_owned_lock *l, int owner)
{
    if (atomic_load_explicit(&l->alone, memory_order_relaxed) != owner)
        return false;
    atomic_store_explicit(&l->busy, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* the compiler keeps the order, see above */
    if (DAGI_LIKELY(atomic_load_explicit(&l->alone, memory_order_acquire) == owner))
        return true;
    atomic_store_explicit(&l->busy, 0, memory_order_relaxed);
    return false;
}

/* It goes out again. */
static inline void dagi_owned_leave_own(dagi_owned_lock *l)
{
    atomic_store_explicit(&l->busy, 0, memory_order_release);
}

/* The only owner that there is, of number 1, goes inside, alone or not. */
static inline void dagi_owned_lock_own(dagi_owned_lock *l)
{
    if (!dagi_owned_try_own(l, 1))
        dagi_lock(&l->word);
}

static inline void dagi_owned_unlock_own(dagi_owned_lock *l)
{
    if (atomic_load_explicit(&l->busy, memory_order_relaxed))
        dagi_owned_leave_own(l);
    else
        dagi_unlock(&l->word);
}

/* Anybody else goes inside, if nobody holds it but perhaps the owner that is alone; dagi_unlock() of `word` ends it. */
static inline bool dagi_owned_try_lock(dagi_owned_lock *l)
{
    if (!dagi_try_lock(&l->word))
        return false;
    if (DAGI_UNLIKELY(dagi_owned_is_alone(l)))
        dagi_owned_end(l);
    return true;
}

#endif
