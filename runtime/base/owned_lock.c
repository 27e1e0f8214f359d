/* Fences in other threads, by the kernel. */
#define _GNU_SOURCE /* syscall() */
#include "owned_lock.h"

#ifdef __linux__
#include <linux/membarrier.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

/* 1: this process is registered with the kernel. */
static _Atomic int prepared;
/* So often the kernel may refuse a fence. */
enum { REFUSALS = 100 };

#if defined(__linux__) && defined(SYS_membarrier)

static bool fence_all(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

static void register_process(void)
{
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0)
        atomic_store(&prepared, 1);
}

/* A thread is a folder in /proc/self/task. */
static bool one_thread(void)
{
    struct stat tasks;
    return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3;
}

void dagi_owned_prepare(bool patient)
{
    if (!atomic_load(&prepared) && (patient || one_thread()))
        register_process();
}

#else

static bool fence_all(void)
{
    return false;
}

static void register_process(void)
{
}

void dagi_owned_prepare(bool patient)
{
    (void)patient;
}

#endif

void dagi_owned_begin(dagi_owned_lock *l, int owner)
{
    if (!atomic_load_explicit(&prepared, memory_order_relaxed))
        return;
    dagi_lock(&l->word);
    atomic_store_explicit(&l->alone, owner, memory_order_relaxed);
    dagi_unlock(&l->word);
}

void dagi_owned_give_up(dagi_owned_lock *l, int owner)
{
    dagi_lock(&l->word);
    if (atomic_load_explicit(&l->alone, memory_order_relaxed) == owner)
        atomic_store_explicit(&l->alone, 0, memory_order_release);
    dagi_unlock(&l->word);
}

void dagi_owned_end(dagi_owned_lock *l)
{
    atomic_store_explicit(&l->alone, 0, memory_order_release); /* whoever sees that sees `word` held, too */
    /* A kernel may be short of memory for a moment, or have forgotten this process when it was moved. That it
     * refuses from now on, as a filter of system calls would that came late, nobody can mend. */
    for (int tries = 0; !fence_all(); tries++) {
        atomic_store(&prepared, 0);
        if (tries == REFUSALS)
            dagi_insist("the kernel refuses the fence that it has granted (membarrier)", __FILE__, __LINE__);
        register_process();
        sched_yield();
    }
    for (int tries = 0; atomic_load_explicit(&l->busy, memory_order_acquire); tries++) {
        if (tries < 100)
            dagi_pause();
        else
            sched_yield();
    }
}
