/* Bells in shared memory; bell.h says how no ring is lost. */
#define _GNU_SOURCE /* memfd_create, syscall */
#include "bell.h"

#include "../base/lock.h"
#include "../base/slack.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>

#ifdef __linux__
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Below this, the end of a sleep matters more than two system calls. */
enum { EXACT_BELOW = 1000000 };

static size_t bytes_of(uint32_t count)
{
    return sizeof(dagi_bells) + count * sizeof(dagi_bell);
}

static dagi_bells *map(int fd, uint32_t count)
{
    void *p = mmap(NULL, bytes_of(count), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return p == MAP_FAILED ? NULL : p;
}

dagi_bells *dagi_bells_new(uint32_t count, uint64_t mark, int *fd)
{
    *fd = memfd_create("dag-bells", MFD_CLOEXEC);
    if (*fd < 0)
        return NULL;
    dagi_bells *bells = ftruncate(*fd, (off_t)bytes_of(count)) == 0 ? map(*fd, count) : NULL;
    if (!bells) {
        int why = errno;
        close(*fd);
        *fd = -1;
        errno = why;
        return NULL;
    }
    bells->count = count;
    bells->mark = mark;
    return bells;
}

/* Where `pid` is a number of another name space, this may be any file of any process. */
static int is_ours(const dagi_bells *bells, uint32_t count, uint64_t mark)
{
    return bells->mark == mark && bells->count == count;
}

dagi_bells *dagi_bells_join(int pid, int fd, uint32_t count, uint64_t mark)
{
    char path[64];
    struct stat file;
    dagi_bells *bells = NULL;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
    int mine = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (mine < 0)
        return NULL;
    if (fstat(mine, &file) == 0 && S_ISREG(file.st_mode) &&
        file.st_size == (off_t)bytes_of(count))
        bells = map(mine, count);
    close(mine);
    if (bells && is_ours(bells, count, mark))
        return bells;
    if (bells)
        munmap(bells, bytes_of(count)); /* what it says of itself may be anything */
    errno = ESRCH;
    return NULL;
}

void dagi_bells_free(dagi_bells *bells)
{
    if (!bells)
        return;
    assert(msync(bells, bytes_of(bells->count), MS_ASYNC) == 0); /* all of it is mapped */
    munmap(bells, bytes_of(bells->count));
}

static void futex(_Atomic uint32_t *word, int op, uint32_t value, const struct timespec *limit)
{
    syscall(SYS_futex, word, op, value, limit, NULL, 0);
}

void dagi_bell_ring(dagi_bell *bell)
{
    atomic_fetch_add(&bell->rings, 1);
    futex(&bell->rings, FUTEX_WAKE, INT_MAX, NULL);
}

void dagi_bell_sleep(dagi_bell *bell, uint32_t heard, uint64_t nanoseconds)
{
    enum { SECOND = 1000000000 };
    struct timespec limit = {(time_t)(nanoseconds / SECOND), (long)(nanoseconds % SECOND)};
    int slack = nanoseconds < EXACT_BELOW ? dagi_slack_off() : 0;
    futex(&bell->rings, FUTEX_WAIT, heard, &limit);
    dagi_slack_restore(slack);
}

#else
dagi_bells *dagi_bells_new(uint32_t count, uint64_t mark, int *fd)
{
    (void)count, (void)mark;
    *fd = -1;
    errno = ENOSYS;
    return NULL;
}

dagi_bells *dagi_bells_join(int pid, int fd, uint32_t count, uint64_t mark)
{
    (void)pid, (void)fd, (void)count, (void)mark;
    errno = ENOSYS;
    return NULL;
}

void dagi_bells_free(dagi_bells *bells)
{
    (void)bells;
}

void dagi_bell_ring(dagi_bell *bell)
{
    atomic_fetch_add(&bell->rings, 1);
}

/* Never called: there are no bells. */
void dagi_bell_sleep(dagi_bell *bell, uint32_t heard, uint64_t nanoseconds)
{
    (void)bell, (void)heard, (void)nanoseconds;
}
#endif

uint32_t dagi_bell_listen(dagi_bell *bell)
{
    atomic_fetch_add(&bell->listeners, 1);
    uint32_t heard = atomic_load(&bell->rings);
    dagi_full_fence(); /* pairs with the ringers' */
    return heard;
}

void dagi_bell_leave(dagi_bell *bell)
{
    atomic_fetch_sub(&bell->listeners, 1);
}
