/*
 * Counts how sleeps on a futex that processes share end: by a ring, or because their time is over.
 * Loaded before a program (LD_PRELOAD), it says so at its end: `sleeps: R by a ring, T by time`.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_long by_ring, by_time;

/* In the place of the C library's. */
long syscall(long number, ...)
{
    static long (*_Atomic real)(long, ...);
    long a[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (!real) {
        void *found = dlsym(RTLD_NEXT, "syscall");
        long (*function)(long, ...);
        memcpy(&function, &found, sizeof function);
        real = function;
    }
    long result = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    int why = errno;
    if (number == SYS_futex && a[1] == FUTEX_WAIT && a[3] != 0) {
        if (result == 0 || why == EAGAIN)
            atomic_fetch_add(&by_ring, 1);
        else if (why == ETIMEDOUT)
            atomic_fetch_add(&by_time, 1);
    }
    errno = why;
    return result;
}

__attribute__((destructor)) static void tell(void)
{
    if (by_ring + by_time > 0)
        fprintf(stderr, "sleeps: %ld by a ring, %ld by time\n", by_ring, by_time);
}
