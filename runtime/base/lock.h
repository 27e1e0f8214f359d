/*
 * A lock for a few instructions: test and set, with a bounded wait before the processor is given
 * away, since its holder may have been preempted on an oversubscribed machine. Release of the
 * holder pairs with acquire of the next one, so all that was done under the lock is visible.
 */
#ifndef DAGI_LOCK_H
#define DAGI_LOCK_H

#include <assert.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

static inline void dagi_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static inline bool dagi_try_lock(_Atomic int *lock)
{
    return atomic_load_explicit(lock, memory_order_relaxed) == 0 &&
           atomic_exchange_explicit(lock, 1, memory_order_acquire) == 0;
}

static inline void dagi_lock(_Atomic int *lock)
{
    enum { TRIES = 100 };
    while (atomic_exchange_explicit(lock, 1, memory_order_acquire) != 0) {
        int tries = 0;
        while (atomic_load_explicit(lock, memory_order_relaxed) != 0) {
            if (++tries < TRIES)
                dagi_pause();
            else
                sched_yield();
        }
    }
}

static inline void dagi_unlock(_Atomic int *lock)
{
    assert(atomic_load_explicit(lock, memory_order_relaxed) == 1);
    atomic_store_explicit(lock, 0, memory_order_release);
}

/* Orders all accesses before it before all after it, for every thread that has one too. */
static inline void dagi_full_fence(void)
{
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan" /* it is about waking sleepers, no data depend on it */
    atomic_thread_fence(memory_order_seq_cst);
#pragma GCC diagnostic pop
#else
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

#endif
