/* Bells: no ring is lost, whoever comes first; and who may have them. */
#include "../common/run_suite.h"
#include "../../runtime/net/bell.h"

#include "../../runtime/base/lock.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 3000, MARK = 4711 };
#define LONG UINT64_C(100000000000) /* nobody who is rung for sleeps half of it */

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* A side of a game of ping-pong: it waits for its mail, by sleeping, and answers. */
typedef struct side {
    dagi_bell *mine, *other;
    _Atomic int *my_mail, *other_mail;
    int ahead; /* 1: its answer begins the next round */
    uint64_t longest;
} side;

static void *play(void *arg)
{
    side *s = arg;
    for (int round = 1; round <= ROUNDS; round++) {
        for (;;) {
            uint32_t heard = dagi_bell_listen(s->mine);
            int here = atomic_load_explicit(s->my_mail, memory_order_acquire) >= round;
            uint64_t begin = now();
            if (!here)
                dagi_bell_sleep(s->mine, heard, LONG);
            uint64_t took = now() - begin;
            dagi_bell_leave(s->mine);
            s->longest = took > s->longest ? took : s->longest;
            if (here)
                break;
        }
        atomic_store_explicit(s->other_mail, round + s->ahead, memory_order_release);
        dagi_full_fence();
        dagi_bell_call(s->other);
    }
    return NULL;
}

START_TEST(no_ring_is_lost)
{
    int fd;
    dagi_bells *bells = dagi_bells_new(2, MARK, &fd);
    ck_assert_ptr_nonnull(bells);
    close(fd);
    static _Atomic int mail[2];
    atomic_store(&mail[0], 0);
    atomic_store(&mail[1], 0);
    side sides[2] = {{&bells->bell[0], &bells->bell[1], &mail[0], &mail[1], 0, 0},
                     {&bells->bell[1], &bells->bell[0], &mail[1], &mail[0], 1, 0}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, play, &sides[i]), 0);
    atomic_store(&mail[0], 1);
    dagi_full_fence();
    for (int round = 1; round <= ROUNDS; round++) /* for nothing, but for the first */
        dagi_bell_call(&bells->bell[0]);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < 2; i++) {
        ck_assert_uint_lt(sides[i].longest, LONG / 2);
        ck_assert_uint_eq(atomic_load(&bells->bell[i].listeners), 0);
    }
    dagi_bells_free(bells);
}
END_TEST

/* A ring between listen and sleep keeps from sleeping. */
START_TEST(early_ring)
{
    int fd;
    dagi_bells *bells = dagi_bells_new(1, MARK, &fd);
    ck_assert_ptr_nonnull(bells);
    close(fd);
    uint32_t heard = dagi_bell_listen(bells->bell);
    dagi_bell_call(bells->bell);
    uint64_t begin = now();
    dagi_bell_sleep(bells->bell, heard, LONG);
    ck_assert_uint_lt(now() - begin, LONG / 2);
    dagi_bell_leave(bells->bell);
    dagi_bell_call(bells->bell); /* nobody listens: not counted */
    ck_assert_uint_eq(atomic_load(&bells->bell->rings), heard + 1);
    dagi_bells_free(bells);
}
END_TEST

START_TEST(sleep_ends)
{
    int fd;
    dagi_bells *bells = dagi_bells_new(1, MARK, &fd);
    ck_assert_ptr_nonnull(bells);
    close(fd);
    uint64_t begin = now();
    dagi_bell_sleep(bells->bell, dagi_bell_listen(bells->bell), 3000000);
    ck_assert_uint_ge(now() - begin, 2900000);
    dagi_bells_free(bells);
}
END_TEST

/* Another process has them by number; not those that are something else. */
START_TEST(other_processes)
{
    int fd;
    dagi_bells *bells = dagi_bells_new(3, MARK, &fd);
    ck_assert_ptr_nonnull(bells);
    int maker = (int)getpid();
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        if (dagi_bells_join(maker, fd, 3, MARK + 1) || dagi_bells_join(maker, fd, 2, MARK) ||
            dagi_bells_join(maker, fd + 1, 3, MARK) || dagi_bells_join(maker, 0, 3, MARK))
            _exit(1);
        dagi_bells *same = dagi_bells_join(maker, fd, 3, MARK);
        if (!same)
            _exit(2);
        atomic_store(&same->bell[2].rings, 5);
        same->count = 1 << 20; /* something else of the same size: it alone is unmapped again */
        dagi_bells *other = dagi_bells_join(maker, fd, 3, MARK);
        same->count = 3;
        if (other)
            _exit(3);
        dagi_bells_free(same);
        _exit(0);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(atomic_load(&bells->bell[2].rings), 5);
    close(fd);
    dagi_bells_free(bells);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bell");
    TCase *c = tcase_create("bell");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, no_ring_is_lost);
    tcase_add_test(c, early_ring);
    tcase_add_test(c, sleep_ends);
    tcase_add_test(c, other_processes);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
