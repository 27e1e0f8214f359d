/* Memory of a device: blocks, reservation, eviction, and blocks that other threads give back. */
#include "../common/run_suite.h"
#include "../../runtime/device/memory.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { GRAIN = DAGI_BLOCK_GRAIN };

static char piece[1]; /* only its address counts: nobody looks into a device's memory */
static char second[1];
static dag_value some_value;

static void check(const dagi_memory *m)
{
    const char *wrong = dagi_memory_check(m);
    ck_assert_msg(wrong == NULL, "%s", wrong);
}

static dagi_memory_stats stats_of(const dagi_memory *m)
{
    dagi_memory_stats s;
    dagi_memory_stats_get(m, &s);
    return s;
}

/* A block of that many grains that holds a copy and may be evicted. */
static dagi_block *hold(dagi_memory *m, size_t grains)
{
    dagi_block *b;
    size_t bytes = grains * GRAIN;
    ck_assert_int_eq(dagi_memory_reserve(m, &bytes, 1, &b), 0);
    b->value = &some_value;
    dagi_memory_unpin(m, b);
    return b;
}

START_TEST(all_or_nothing)
{
    dagi_memory *m = dagi_memory_new(piece, 10 * GRAIN + 17);
    dagi_block *b[3];
    size_t fits[] = {3 * GRAIN, 1, 6 * GRAIN}, too_much[] = {GRAIN, 9 * GRAIN + 1},
           huge[] = {SIZE_MAX, SIZE_MAX};
    ck_assert_int_eq(dagi_memory_reserve(m, too_much, 2, b), 2);
    ck_assert_int_eq(dagi_memory_reserve(m, huge, 2, b), 2);
    ck_assert_int_eq(dagi_memory_reserve(m, fits, 3, b), 0);
    check(m);
    ck_assert_uint_eq(stats_of(m).held, 10 * GRAIN);
    ck_assert_uint_eq(b[1]->bytes, GRAIN);
    size_t two[] = {GRAIN, GRAIN};
    dagi_memory_release(m, b[1], NULL, 0);
    dagi_block *c[2];
    ck_assert_int_eq(dagi_memory_reserve(m, two, 2, c), 1);
    check(m);
    ck_assert_uint_eq(stats_of(m).largest_free, GRAIN);
    ck_assert_int_eq(dagi_memory_reserve(m, two, 1, c), 0);
    dagi_memory_free(m);
}
END_TEST

/* Two pieces: what goes across is no room, though it is free. */
START_TEST(several_pieces)
{
    dagi_memory *m = dagi_memory_new(piece, 4 * GRAIN);
    dagi_block *b[3], *victims[4];
    size_t whole = 4 * GRAIN, both[] = {4 * GRAIN, 4 * GRAIN}, across = 5 * GRAIN,
           three[] = {3 * GRAIN, 2 * GRAIN, 2 * GRAIN}, small = GRAIN;
    ck_assert_int_eq(dagi_memory_add(m, second, 4 * GRAIN), 0);
    check(m);
    ck_assert_int_eq(dagi_memory_reserve(m, &across, 1, b), 1);
    ck_assert_int_eq(dagi_memory_victims(m, &across, 1, victims, 4), 0);
    ck_assert_int_eq(dagi_memory_reserve(m, three, 3, b), 0);
    check(m);
    for (int i = 0; i < 3; i++)
        dagi_memory_release(m, b[i], NULL, 0);
    ck_assert_int_eq(dagi_memory_reserve(m, both, 2, b), 0);
    ck_assert_ptr_ne(b[0]->at, b[1]->at);
    check(m);
    for (int i = 0; i < 2; i++) {
        b[i]->value = &some_value;
        dagi_memory_unpin(m, b[i]);
    }
    ck_assert_int_eq(dagi_memory_victims(m, &small, 1, victims, 4), 1);
    ck_assert_int_eq(dagi_memory_victims(m, both, 2, victims, 4), 2);
    ck_assert_int_eq(dagi_memory_victims(m, &across, 1, victims, 4), 0);
    ck_assert_uint_eq(stats_of(m).held, 2 * whole);
    check(m);
    dagi_memory_free(m);
}
END_TEST

START_TEST(empty_piece)
{
    dagi_memory *m = dagi_memory_new(piece, GRAIN - 1);
    dagi_block *b;
    size_t nothing = 0;
    ck_assert_int_eq(dagi_memory_reserve(m, &nothing, 1, &b), 2);
    ck_assert_int_eq(dagi_memory_reserve(m, NULL, 0, NULL), 0);
    ck_assert_int_eq(dagi_memory_victims(m, &nothing, 1, &b, 1), 0);
    check(m);
    dagi_memory_free(m);
}
END_TEST

START_TEST(retires_behind_its_users)
{
    dagi_memory *m = dagi_memory_new(piece, 4 * GRAIN);
    dagi_queue_order q[2] = {{0}, {0}};
    dagi_block *b;
    size_t all = 4 * GRAIN;
    ck_assert_int_eq(dagi_memory_reserve(m, &all, 1, &b), 0);
    b->value = &some_value;
    dagi_ticket used[] = {{&q[0], 5}, {&q[1], 2}};
    dagi_memory_release(m, b, used, 2); /* the task that pinned it has not retired */
    for (int step = 0; step < 3; step++) {
        dagi_block *none;
        check(m);
        ck_assert_uint_eq(stats_of(m).retiring, all);
        ck_assert_int_eq(dagi_memory_reserve(m, &all, 1, &none), 1);
        ck_assert_int_eq(dagi_memory_victims(m, &all, 1, &none, 1), 0);
        if (step == 0)
            atomic_store(&q[0].passed, 5);
        else if (step == 1)
            atomic_store(&q[1].passed, 3);
        else
            dagi_memory_unpin(m, b);
    }
    ck_assert_int_eq(dagi_memory_reserve(m, &all, 1, &b), 0);
    check(m);
    dagi_memory_free(m);
}
END_TEST

/* Four blocks of two grains fill the piece; what goes first is said by use and dirtiness. */
START_TEST(evicts_what_is_used_last)
{
    dagi_memory *m = dagi_memory_new(piece, 8 * GRAIN);
    dagi_block *b[4], *victim[4];
    size_t two = 2 * GRAIN;
    for (int i = 0; i < 4; i++)
        b[i] = hold(m, 2);
    ck_assert_int_eq(dagi_memory_victims(m, &two, 1, victim, 4), 1);
    ck_assert_ptr_eq(victim[0], b[0]); /* least recently used */
    dagi_memory_pin(m, b[0]);
    dagi_memory_unpin(m, b[0]);
    ck_assert_int_eq(dagi_memory_victims(m, &two, 1, victim, 4), 1);
    ck_assert_ptr_eq(victim[0], b[1]);
    dagi_memory_dirty(m, b[1], 1);
    ck_assert_int_eq(dagi_memory_victims(m, &two, 1, victim, 4), 1);
    ck_assert_ptr_eq(victim[0], b[2]); /* a clean one first */
    dagi_memory_next_use(m, b[0], 7);
    dagi_memory_next_use(m, b[2], 5);
    dagi_memory_next_use(m, b[3], 6);
    check(m);
    ck_assert_int_eq(dagi_memory_victims(m, &two, 1, victim, 4), 1);
    ck_assert_ptr_eq(victim[0], b[1]); /* better save than lose what will be used */
    dagi_memory_pin(m, b[1]);
    ck_assert_int_eq(dagi_memory_victims(m, &two, 1, victim, 4), 1);
    ck_assert_ptr_eq(victim[0], b[2]); /* lowest priority */
    dagi_memory_next_use(m, b[2], INT64_MIN);
    dagi_memory_dirty(m, b[2], 1);
    ck_assert_int_eq(dagi_memory_victims(m, &two, 1, victim, 4), 1);
    ck_assert_ptr_eq(victim[0], b[2]);
    check(m);
    dagi_memory_release(m, victim[0], NULL, 0);
    ck_assert_int_eq(stats_of(m).evictions, 1);
    ck_assert_int_eq(dagi_memory_victims(m, &two, 1, victim, 4), 0); /* it fits */
    dagi_memory_free(m);
}
END_TEST

/* Among those that will be used equally soon a clean one goes first, though it was used later. */
START_TEST(evicts_clean_ones_first)
{
    dagi_memory *m = dagi_memory_new(piece, 4 * GRAIN);
    dagi_block *a = hold(m, 2), *b = hold(m, 2), *victim[2];
    size_t two = 2 * GRAIN;
    dagi_memory_next_use(m, a, 3);
    dagi_memory_next_use(m, b, 3);
    dagi_memory_dirty(m, a, 1);
    ck_assert_int_eq(dagi_memory_victims(m, &two, 1, victim, 2), 1);
    ck_assert_ptr_eq(victim[0], b);
    dagi_memory_dirty(m, a, 0);
    ck_assert_int_eq(dagi_memory_victims(m, &two, 1, victim, 2), 1);
    ck_assert_ptr_eq(victim[0], a);
    dagi_memory_free(m);
}
END_TEST

/* Holes of four and three grains take 2, 3 and 2 when the largest is placed first. */
START_TEST(largest_first)
{
    dagi_memory *m = dagi_memory_new(piece, 9 * GRAIN);
    dagi_block *b[4], *got[3];
    size_t first[] = {4 * GRAIN, GRAIN, 3 * GRAIN, GRAIN};
    size_t then[] = {2 * GRAIN, 3 * GRAIN, 2 * GRAIN};
    for (int i = 0; i < 4; i++)
        b[i] = hold(m, first[i] / GRAIN);
    dagi_memory_release(m, b[0], NULL, 0);
    dagi_memory_release(m, b[2], NULL, 0);
    ck_assert_int_eq(dagi_memory_victims(m, then, 3, got, 3), 0);
    ck_assert_int_eq(dagi_memory_reserve(m, then, 3, got), 0);
    check(m);
    dagi_memory_free(m);
}
END_TEST

/* Rather two neighbours than three blocks apart, and not across a pinned one. */
START_TEST(evicts_neighbours)
{
    dagi_memory *m = dagi_memory_new(piece, 8 * GRAIN);
    dagi_block *b[8], *victim[8];
    for (int i = 0; i < 8; i++)
        b[i] = hold(m, 1);
    dagi_memory_pin(m, b[1]);
    dagi_memory_release(m, b[4], NULL, 0); /* a hole */
    size_t three = 3 * GRAIN, four = 4 * GRAIN, seven = 7 * GRAIN;
    ck_assert_int_eq(dagi_memory_victims(m, &three, 1, victim, 8), 2);
    ck_assert_ptr_eq(victim[0], b[2]);
    ck_assert_ptr_eq(victim[1], b[3]);
    dagi_memory_pin(m, b[3]);
    ck_assert_int_eq(dagi_memory_victims(m, &four, 1, victim, 8), 3);
    ck_assert_ptr_eq(victim[0], b[5]);
    ck_assert_int_eq(dagi_memory_victims(m, &four, 1, victim, 2), 2); /* the rest next time */
    ck_assert_int_eq(dagi_memory_victims(m, &seven, 1, victim, 8), 0);
    dagi_memory_free(m);
}
END_TEST

/* What will be used is kept while waiting for what retires helps as well. */
START_TEST(waits_rather_than_evict_what_is_wanted)
{
    dagi_memory *m = dagi_memory_new(piece, 4 * GRAIN);
    dagi_queue_order q = {0};
    dagi_block *a = hold(m, 2), *b = hold(m, 2), *victim[2];
    size_t two = 2 * GRAIN, four = 4 * GRAIN;
    dagi_ticket used = {&q, 1};
    dagi_memory_release(m, a, &used, 1);
    ck_assert_int_eq(dagi_memory_victims(m, &two, 1, victim, 2), 1); /* nobody wants b */
    ck_assert_ptr_eq(victim[0], b);
    dagi_memory_next_use(m, b, 3);
    ck_assert_int_eq(dagi_memory_victims(m, &two, 1, victim, 2), 0);
    ck_assert_int_eq(dagi_memory_victims(m, &four, 1, victim, 2), 1);
    ck_assert_ptr_eq(victim[0], b);
    dagi_memory_free(m);
}
END_TEST

/* ---- at random ------------------------------------------------------------------------------ */

enum { TASKS = 24, FLOWS = 4 };

typedef struct job {
    int count;
    dagi_block *block[FLOWS];
} job;

typedef struct world {
    dagi_memory *m;
    dagi_queue_order queue[3];
    uint64_t enqueued[3];
    job running[TASKS];
    dagi_block *kept[1024]; /* unpinned copies */
    int nkept;
    size_t grains;
} world;

static dagi_ticket some_ticket(world *w)
{
    int i = rand() % 3;
    return (dagi_ticket){&w->queue[i], w->enqueued[i] += 1};
}

static void time_passes(world *w)
{
    int i = rand() % 3;
    uint64_t passed = atomic_load(&w->queue[i].passed);
    if (passed < w->enqueued[i])
        atomic_store(&w->queue[i].passed, passed + 1 + (uint64_t)rand() %
                                                           (w->enqueued[i] - passed));
}

static void forget(world *w, dagi_block *b)
{
    for (int i = 0; i < w->nkept; i++) {
        if (w->kept[i] == b) {
            w->kept[i] = w->kept[--w->nkept];
            return;
        }
    }
    ck_abort_msg("a victim that was not evictable");
}

static void retire_job(world *w, job *j)
{
    for (int i = 0; i < j->count; i++) {
        dagi_block *b = j->block[i];
        dagi_ticket t = some_ticket(w);
        int what = rand() % 8;
        if (what == 0 && b->value == NULL) {
            dagi_memory_release(w->m, b, &t, 1); /* workspace */
        } else if (what == 1 && b->value != NULL) { /* dead before its task has retired */
            dagi_memory_return(w->m, b, &t, 1);
            dagi_memory_collect(w->m);
            dagi_memory_unpin(w->m, b);
        } else {
            b->value = &some_value;
            dagi_memory_dirty(w->m, b, rand() % 2);
            dagi_memory_unpin(w->m, b);
            w->kept[w->nkept++] = b;
        }
    }
    j->count = 0;
}

/* Like the manager: reserve, else evict and try again, else let others end. */
static void start_job(world *w, job *j)
{
    size_t bytes[FLOWS], sum = 0;
    int count = 1 + rand() % FLOWS, result, rounds = 0;
    for (int i = 0; i < count; i++) {
        bytes[i] = (size_t)rand() % (rand() % 10 == 0 ? w->grains * GRAIN / 2 : 6 * GRAIN);
        sum += dagi_memory_rounded(bytes[i]);
    }
    while ((result = dagi_memory_reserve(w->m, bytes, count, j->block)) == 1) {
        dagi_block *victims[16];
        int n = dagi_memory_victims(w->m, bytes, count, victims, 1 + rand() % 16);
        check(w->m);
        for (int i = 0; i < n; i++) {
            dagi_ticket t = some_ticket(w);
            forget(w, victims[i]);
            dagi_memory_release(w->m, victims[i], &t, rand() % 2);
        }
        if (n > 0)
            continue;
        int others = 0;
        for (int i = 0; i < TASKS; i++)
            others += w->running[i].count;
        if (others > 0 && rand() % 2)
            return;
        for (int i = 0; i < TASKS; i++)
            retire_job(w, &w->running[i]);
        for (int i = 0; i < 3; i++)
            atomic_store(&w->queue[i].passed, w->enqueued[i]);
        ck_assert_msg(rounds++ < 1000, "never fits, though nothing is under way");
    }
    ck_assert_int_eq(result, sum > w->grains * GRAIN ? 2 : 0);
    if (result != 0)
        return;
    j->count = count;
    for (int i = 0; i < count; i++) {
        ck_assert_uint_ge(j->block[i]->bytes, bytes[i]);
        if (rand() % 4)
            j->block[i]->value = &some_value;
    }
}

START_TEST(at_random)
{
    world w = {.grains = 40 + (size_t)_i % 3 * 60};
    srand((unsigned)_i);
    w.m = dagi_memory_new(piece, w.grains * GRAIN);
    for (int step = 0; step < 3000; step++) {
        job *j = &w.running[rand() % TASKS];
        switch (rand() % 4) {
        case 0: time_passes(&w); break;
        case 1: retire_job(&w, j); break;
        case 2:
            if (w.nkept > 0) {
                dagi_block *b = w.kept[rand() % w.nkept];
                dagi_memory_next_use(w.m, b, rand() % 2 ? rand() % 5 : INT64_MIN);
            }
            break;
        default:
            if (j->count == 0)
                start_job(&w, j);
        }
        check(w.m);
    }
    for (int i = 0; i < TASKS; i++)
        retire_job(&w, &w.running[i]);
    while (w.nkept > 0)
        dagi_memory_return(w.m, w.kept[--w.nkept], NULL, 0);
    for (int i = 0; i < 3; i++)
        atomic_store(&w.queue[i].passed, w.enqueued[i]);
    dagi_memory_collect(w.m);
    check(w.m);
    dagi_memory_stats s = stats_of(w.m);
    ck_assert_uint_eq(s.held + s.retiring, 0);
    ck_assert_uint_eq(s.largest_free, w.grains * GRAIN);
    ck_assert_uint_le(s.high_water, w.grains * GRAIN);
    ck_assert_int_gt(s.evictions, 0);
    dagi_memory_free(w.m);
}
END_TEST

/* ---- two threads that return blocks --------------------------------------------------------- */

enum { THREADS = 2, ROUNDS = 3000, SLOTS = 8 };

typedef struct returner {
    dagi_memory *m;
    _Atomic(dagi_block *) slot[SLOTS]; /* the manager puts blocks in, the thread takes them out */
    dagi_queue_order *queue;
    _Atomic int stop;
    int64_t count;
} returner;

static void *return_blocks(void *arg)
{
    returner *r = arg;
    for (int last = 0; !last;) {
        last = atomic_load(&r->stop); /* read first: what was put in before is still taken */
        for (int i = 0; i < SLOTS; i++) {
            dagi_block *b = atomic_exchange(&r->slot[i], NULL);
            if (b == NULL)
                continue;
            dagi_ticket t = {r->queue, atomic_load(&r->queue->passed) + 1};
            dagi_memory_return(r->m, b, &t, 1);
            r->count++;
        }
    }
    return NULL;
}

START_TEST(other_threads_return)
{
    dagi_queue_order queue = {0};
    dagi_memory *m = dagi_memory_new(piece, 12 * GRAIN);
    static returner r[THREADS];
    pthread_t thread[THREADS];
    int64_t handed = 0;
    for (int i = 0; i < THREADS; i++) {
        r[i].m = m;
        r[i].queue = &queue;
        ck_assert_int_eq(pthread_create(&thread[i], NULL, return_blocks, &r[i]), 0);
    }
    for (int round = 0; round < ROUNDS; round++) {
        returner *to = &r[round % THREADS];
        dagi_block *b, *none = NULL;
        size_t bytes = (size_t)(1 + round % 3) * GRAIN;
        atomic_fetch_add(&queue.passed, 1);
        if (dagi_memory_reserve(m, &bytes, 1, &b) != 0)
            continue;
        b->value = &some_value;
        dagi_memory_unpin(m, b);
        _Atomic(dagi_block *) *slot = &to->slot[round / THREADS % SLOTS];
        while (!atomic_compare_exchange_weak(slot, &none, b))
            none = NULL;
        handed++;
        if (round % 16 == 0)
            check(m);
    }
    for (int i = 0; i < THREADS; i++)
        atomic_store(&r[i].stop, 1);
    int64_t returned = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        returned += r[i].count;
    }
    atomic_fetch_add(&queue.passed, 1);
    dagi_memory_collect(m);
    check(m);
    dagi_memory_stats s = stats_of(m);
    ck_assert_int_gt(handed, 0);
    ck_assert_int_eq(returned, handed);
    ck_assert_int_eq(s.returned, handed);
    ck_assert_uint_eq(s.largest_free, 12 * GRAIN);
    dagi_memory_free(m);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory");
    TCase *c = tcase_create("memory");
    tcase_add_test(c, all_or_nothing);
    tcase_add_test(c, several_pieces);
    tcase_add_test(c, empty_piece);
    tcase_add_test(c, retires_behind_its_users);
    tcase_add_test(c, evicts_what_is_used_last);
    tcase_add_test(c, evicts_clean_ones_first);
    tcase_add_test(c, largest_first);
    tcase_add_test(c, evicts_neighbours);
    tcase_add_test(c, waits_rather_than_evict_what_is_wanted);
    tcase_add_loop_test(c, at_random, 0, 12);
    tcase_add_test(c, other_threads_return);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
