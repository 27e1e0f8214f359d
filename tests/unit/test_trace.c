/* Buffers of events, clocks of several ranks, and the reading of files that may be damaged. */
#include "../common/run_suite.h"
#include "trace/file/model.h"
#include "trace/trace.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- buffers ------------------------------------------------------------------------------ */

START_TEST(buffers_keep_all_in_order)
{
    _Atomic int64_t room = 100;
    dagi_buffer b;
    uint64_t next = 0, count = 0, wrong = 0; /* an assertion per word would take most of the time */
    dagi_buffer_init(&b, &room);
    for (int i = 0; i < 30000; i++) {
        unsigned words = 2 + (unsigned)(i * 7 + _i) % 9;
        uint64_t *e = dagi_buffer_event(&b, words);
        if (!e)
            ck_abort_msg("event %d was dropped", i);
        e[0] = words;
        for (unsigned k = 1; k < words; k++)
            e[k] = next++;
        count++;
    }
    dagi_buffer_close(&b);
    ck_assert_uint_eq(b.events, count);
    ck_assert_uint_eq(b.dropped, 0);
    uint64_t words = dagi_buffer_words(&b), at = 0, seen = 0;
    ck_assert_uint_eq(words, next + count);
    uint64_t *out = malloc(words * sizeof *out);
    dagi_buffer_move(&b, out);
    for (next = 0; at < words; seen++) {
        uint64_t n = out[at];
        if (n < 2 || n > words - at)
            ck_abort_msg("event %d has %d words", (int)seen, (int)n);
        for (uint64_t k = 1; k < n; k++)
            wrong += out[at + k] != next++;
        at += n;
    }
    ck_assert_uint_eq(wrong, 0);
    ck_assert_uint_eq(seen, count);
    free(out);
    dagi_buffer_free(&b);
}
END_TEST

START_TEST(buffers_drop_what_exceeds_their_room)
{
    _Atomic int64_t room = 3;
    dagi_buffer a, b;
    uint64_t kept = 0, dropped = 0;
    dagi_buffer_init(&a, &room);
    dagi_buffer_init(&b, &room);
    for (int i = 0; i < 20000; i++) {
        dagi_buffer *to = i % 2 ? &a : &b;
        uint64_t *e = dagi_buffer_event(to, 4);
        if (e)
            memset(e, 0, 4 * sizeof *e), kept++;
        else
            dropped++;
    }
    ck_assert_uint_eq(a.events + b.events, kept);
    ck_assert_uint_eq(a.dropped + b.dropped, dropped);
    ck_assert_uint_gt(dropped, 0);
    ck_assert_uint_ge(kept, 3 * (DAGI_CHUNK_WORDS / 4) - 2);
    ck_assert_uint_le(kept, 3 * (DAGI_CHUNK_WORDS / 4));
    dagi_buffer_close(&a);
    dagi_buffer_close(&b);
    ck_assert_uint_eq(dagi_buffer_words(&a) + dagi_buffer_words(&b), 4 * kept);
    dagi_buffer_free(&a);
    dagi_buffer_free(&b);
}
END_TEST

/* A small chunk, a large one, and small ones where there is no room for another large one. */
START_TEST(buffers_grow_in_large_steps)
{
    enum { SMALL = 3, LARGE_WORDS = DAGI_CHUNK_MOST * (DAGI_CHUNK_BYTES / 8) - 2 };
    _Atomic int64_t room = SMALL + DAGI_CHUNK_MOST;
    uint64_t kept = 0;
    dagi_buffer b;
    dagi_buffer_init(&b, &room);
    for (uint64_t *e; (e = dagi_buffer_event(&b, 2)) != NULL; kept++) {
        if (b.last == b.first->next)
            ck_assert(b.end - b.last->word == LARGE_WORDS);
        e[0] = e[1] = kept;
    }
    ck_assert_uint_eq(kept, (SMALL * DAGI_CHUNK_WORDS + LARGE_WORDS) / 2);
    ck_assert_uint_eq(b.dropped, 1);
    ck_assert_int_eq(atomic_load(&room), 0);
    dagi_buffer_close(&b);
    ck_assert_uint_eq(dagi_buffer_words(&b), 2 * kept);
    dagi_buffer_free(&b);
}
END_TEST

enum { RIVALS = 3 };
static pthread_barrier_t rivals;

/* Returns NULL, or the buffer if it was refused a chunk while there was room. */
static void *fill_chunks(void *arg)
{
    dagi_buffer *b = arg;
    pthread_barrier_wait(&rivals);
    while (dagi_buffer_event(b, DAGI_CHUNK_WORDS) != NULL)
        continue;
    return atomic_load(b->room) > 0 ? b : NULL;
}

/* No track is refused a small chunk because another one asks for a large one, which there is not. */
START_TEST(buffers_share_all_of_their_room)
{
    enum { ROUNDS = 1000, SMALL = DAGI_CHUNK_MOST - 1 };
    pthread_barrier_init(&rivals, NULL, RIVALS);
    for (int round = 0; round < ROUNDS; round++) {
        _Atomic int64_t room = SMALL;
        dagi_buffer b[RIVALS];
        pthread_t thread[RIVALS];
        for (int i = 0; i < RIVALS; i++) {
            dagi_buffer_init(&b[i], &room);
            ck_assert_int_eq(pthread_create(&thread[i], NULL, fill_chunks, &b[i]), 0);
        }
        for (int i = 0; i < RIVALS; i++) {
            void *refused;
            pthread_join(thread[i], &refused);
            ck_assert_ptr_null(refused);
            dagi_buffer_free(&b[i]);
        }
    }
    pthread_barrier_destroy(&rivals);
}
END_TEST

/* ---- clocks ------------------------------------------------------------------------------- */

/* What an exchange finds when the other clock shows offset + rate * ours. */
static dagi_clock_sample exchange(double now, double there, double back, double offset, double rate)
{
    return (dagi_clock_sample){(uint64_t)now, (uint64_t)(offset + rate * (now + there)),
                               (uint64_t)(now + there + back)};
}

START_TEST(clocks_are_aligned_within_their_error)
{
    const double offset = 5e12, rate = 1 + 3e-5 * (_i - 2);
    dagi_clock_point point[2];
    srand((unsigned)_i);
    for (int p = 0; p < 2; p++) {
        dagi_clock_sample sample[12];
        for (int i = 0; i < 12; i++) /* one way takes much longer than the other, now and then */
            sample[i] = exchange(1e9 + p * 3e10 + i * 1e6, 2000 + rand() % 3000 * (i % 3),
                                 2000 + rand() % 90000 * (i % 2), offset, rate);
        point[p] = dagi_clock_best(sample, 12);
        double truth = offset + rate * point[p].here;
        ck_assert_double_ge(point[p].error, 0);
        ck_assert_double_le(point[p].error, 2100);
        ck_assert_double_le(truth - point[p].there, point[p].error + 2);
        ck_assert_double_le(point[p].there - truth, point[p].error + 2);
    }
    double found = dagi_clock_rate(&point[0], &point[1]);
    ck_assert_double_eq_tol(found, 1 / rate, 5000 / 3e10);
}
END_TEST

START_TEST(clocks_too_near_each_other_tell_no_rate)
{
    dagi_clock_point a = {1000, 500, 100}, b = {3000, 2500, 100};
    ck_assert_double_eq(dagi_clock_rate(&a, &b), 0);
    ck_assert_double_eq(dagi_clock_rate(&b, &a), 0);
}
END_TEST

START_TEST(the_clock_goes_on)
{
    dagi_clock_init();
    uint64_t ticks[2] = {0}, ns[2] = {0}, last = dagi_clock();
    dagi_clock_pair(&ticks[0], &ns[0]);
    for (int i = 0; i < 100000; i++) {
        uint64_t now = dagi_clock();
        if (now < last)
            ck_abort_msg("the clock went back");
        last = now;
    }
    dagi_clock_pair(&ticks[1], &ns[1]);
    ck_assert_uint_gt(ticks[1], ticks[0]);
    ck_assert_uint_gt(ns[1], ns[0]);
}
END_TEST

/* ---- files -------------------------------------------------------------------------------- */

enum { WORDS = 400 };

typedef struct file {
    uint64_t word[WORDS];
    size_t n;
} file;

static void add(file *f, uint64_t word)
{
    ck_assert_uint_lt(f->n, WORDS);
    f->word[f->n++] = word;
}

static void add_text(file *f, const char *text)
{
    size_t n = strlen(text);
    add(f, n);
    memcpy(f->word + f->n, text, n);
    f->n += (n + 7) / 8;
}

/* Words one behind the other. */
#define ADD(f, ...)                                                                                \
    add_words(f, (const uint64_t[]){__VA_ARGS__},                                                  \
              sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void add_words(file *f, const uint64_t *word, size_t n)
{
    for (size_t i = 0; i < n; i++)
        add(f, word[i]);
}

static void add_head(file *f)
{
    dagt_rank_head head = {.workers = 1, .begin = 1000, .end = 9000, .ns_per_tick = 2,
                           .programs = 1, .pools = 1, .tracks = 4};
    memcpy(f->word + f->n, &head, sizeof head);
    f->n += sizeof head / 8;
    add_text(f, "prog");
    add_text(f, "prog.jdf");
    add(f, 1);
    add_text(f, "Task");
    add(f, 7 | UINT64_C(1) << 32);
    add_text(f, "k");
    dagt_pool_head pool = {.id = 1, .begin = 1000, .end = 8000, .tasks = 2};
    memcpy(f->word + f->n, &pool, sizeof pool);
    f->n += sizeof pool / 8;
}

static void add_worker(file *f)
{
    ADD(f, DAGT_TRACK, DAGT_TRACK_WORKER, 4, 7 + 4 + 3 + 3);
    ADD(f, DAGT_TASK | 7 << 8 | UINT64_C(1) << 32, 2000, 3000, 1900, 0, 5, 0);
    /* 1000 after that before, of 1000, ready for 100, priority 5, parameter 1 */
    ADD(f, DAGT_BRIEF | 4 << 8 | UINT64_C(1000) << 32, 1000 | UINT64_C(100) << 32,
        DAGT_TASK_ID(0, 0, 1), 5 | UINT64_C(1) << 32);
    ADD(f, DAGT_IDLE | 3 << 8 | (uint64_t)(DAGT_SLEEPING | DAGT_ASLEEP) << 16, 5000, 9000);
    ADD(f, DAGT_JOIN | 3 << 8, DAGT_TASK_ID(0, 2, 3), DAGT_TASK_ID(0, 0, 2));
}

static void add_device(file *f)
{
    ADD(f, DAGT_TRACK, DAGT_TRACK_STREAM, 1, 7);
    ADD(f, DAGT_TASK | 7 << 8 | UINT64_C(1) << 32, 4500, 7000, 4000,
        DAGT_TASK_ID(0, 0, 1) | DAGT_IS_JOIN, 5, 2);
    ADD(f, DAGT_TRACK, DAGT_TRACK_COPIES | UINT64_C(1) << 32, 1, 5);
    ADD(f, DAGT_COPY | 5 << 8 | UINT64_C(4096) << 32, 2500, 6000, 3, DAGT_TASK_ID(0, 0, 1));
}

/* The rank sends two broadcasts of 100 bytes in a shape of two levels, to two ranks (which are told of as if they
 * were here) and to one of which nothing is heard; what comes last is of nobody's broadcast. */
static void add_links(file *f)
{
    const double half = .5;
    uint64_t seconds;
    memcpy(&seconds, &half, sizeof seconds);
    ADD(f, DAGT_TRACK, DAGT_TRACK_LINKS, 5, 2 * 7 + 3 * 3);
    ADD(f, DAGT_BROADCAST | 7 << 8 | UINT64_C(1) << 32, 2000, 6 | UINT64_C(1) << 32, 100, seconds, 0x21 | UINT64_C(4) << 32,
        0);
    ADD(f, DAGT_BROADCAST | 7 << 8 | UINT64_C(1) << 32, 2100, 5 | UINT64_C(2) << 32, 100, seconds, 0x21 | UINT64_C(4) << 32,
        0);
    ADD(f, DAGT_RECEIVED | 3 << 8, 2600, 5);
    ADD(f, DAGT_RECEIVED | 3 << 8, 2500, 5);
    ADD(f, DAGT_RECEIVED | 3 << 8, 7000, 7);
}

/* One rank with a worker: two tasks, the second of which follows the first, and it slept; a stream with
 * a third one, which follows both a copy of what the first has made and the second, and was told as if
 * it did not. */
static file example(void)
{
    file f = {.n = 0};
    ADD(&f, DAGT_MAGIC, DAGT_VERSION | UINT64_C(1) << 32, DAGT_SECTION, 0);
    size_t start = f.n;
    add_head(&f);
    add_worker(&f);
    add_device(&f);
    add_links(&f);
    f.word[start - 1] = f.n - start;
    return f;
}

static dagt_trace *read_bytes(const file *f, size_t bytes, char *why, size_t why_size)
{
    char copy[sizeof f->word + 1];
    memcpy(copy, f->word, bytes);
    FILE *in = bytes ? fmemopen(copy, bytes, "rb") : tmpfile();
    dagt_trace *t = dagt_read(in, why, why_size);
    fclose(in);
    return t;
}

START_TEST(files_are_read_as_written)
{
    file f = example();
    char why[256] = "", name[64];
    size_t n;
    dagt_trace *t = read_bytes(&f, f.n * 8, why, sizeof why);
    ck_assert_msg(t != NULL, "%s", why);
    const dagt_rank *r = &t->ranks[0];
    const dagt_track *w = &r->tracks[0];
    ck_assert_uint_eq(t->ntasks, 3);
    ck_assert_int_eq(w->tasks[1].begin, 6000);
    ck_assert_int_eq(w->tasks[1].end, 8000);
    ck_assert_str_eq(dagt_name(name, sizeof name, r, w, &w->tasks[1]), "Task(1)");
    dagt_times times;
    dagt_worker_times(r, w, &times);
    ck_assert_int_eq(times.wall, 16000);
    ck_assert_int_eq(times.bodies, 4000);
    ck_assert_int_eq(times.idle[DAGT_SLEEPING], 8000);
    ck_assert_int_eq(times.asleep, 8000);
    ck_assert_int_eq(times.runtime, 4000);
    ck_assert_int_eq(times.overlap, 0);
    ck_assert_int_eq(dagt_times_sum(&times), times.wall);
    dagt_path *paths = dagt_critical(t, &n);
    ck_assert_uint_eq(n, 1);
    dagt_step *steps = dagt_path_steps(t, &paths[0]);
    const dagt_task *kernel = &r->tracks[1].tasks[0];
    dagt_flight *copy = &r->tracks[2].flights[0];
    /* 1st task 2000..4000, copy 3000..10000, of which the part behind the task counts; kernel behind */
    ck_assert_int_eq(copy->begin, 4000);
    ck_assert_int_eq(kernel->begin, 10000);
    ck_assert_int_eq(kernel->ready, 10000);
    ck_assert_int_eq(paths[0].length, 2000 + 6000 + 2000);
    ck_assert_uint_eq(paths[0].steps, 2);
    ck_assert_uint_eq(paths[0].copies, 1);
    ck_assert(steps[0].task == &w->tasks[0] && steps[1].copy == copy && steps[2].task == kernel);
    ck_assert_uint_eq(copy->critical, 1);
    free(steps);
    free(paths);
    dagt_free(t);
}
END_TEST

START_TEST(broadcasts_end_with_the_last_rank)
{
    file f = example();
    char why[256] = "";
    size_t n;
    dagt_trace *t = read_bytes(&f, f.n * 8, why, sizeof why);
    ck_assert_msg(t != NULL, "%s", why);
    dagt_broadcasts *b = dagt_broadcasts_of(t, &n);
    ck_assert_uint_eq(n, 1);
    ck_assert_str_eq(b->program, "prog");
    ck_assert_str_eq(b->cls, "Task");
    ck_assert_uint_eq(b->tree[0], 0x21);
    ck_assert_uint_eq(b->tree[1], 4);
    ck_assert_uint_eq(b->count, 2);
    ck_assert_uint_eq(b->whole, 1);
    ck_assert_uint_eq(b->ranks, 3);
    ck_assert_uint_eq(b->bytes, 200);
    ck_assert_double_eq(b->predicted, 1);
    ck_assert_double_eq(b->measured, 1000); /* 2100..2600, ticks of 2 ns */
    ck_assert_int_eq(b->most, 1000);
    free(b);
    dagt_free(t);
}
END_TEST

/* States that overlap are found: the sum is no proof by itself. */
START_TEST(overlaps_are_found)
{
    file f = example();
    char why[256] = "";
    dagt_times times;
    for (size_t i = 0; i < f.n; i++)
        if (f.word[i] == 5000)
            f.word[i] = 4900; /* it sleeps before the second task has ended */
    dagt_trace *t = read_bytes(&f, f.n * 8, why, sizeof why);
    ck_assert_msg(t != NULL, "%s", why);
    dagt_worker_times(&t->ranks[0], &t->ranks[0].tracks[0], &times);
    ck_assert_int_eq(times.overlap, 200);
    ck_assert_int_ne(dagt_times_sum(&times), times.wall);
    dagt_free(t);
}
END_TEST

START_TEST(shorter_files_are_refused)
{
    file f = example();
    for (size_t bytes = 0; bytes < f.n * 8; bytes++) {
        char why[256] = "";
        ck_assert_ptr_null(read_bytes(&f, bytes, why, sizeof why));
        ck_assert_str_ne(why, "");
    }
}
END_TEST

/* Any word may be anything: refused, or read without harm (sanitizers look on). */
START_TEST(damaged_files_do_no_harm)
{
    srand((unsigned)_i);
    for (int round = 0; round < 2000; round++) {
        file f = example();
        for (int k = rand() % 3; k >= 0; k--) {
            size_t at = (size_t)rand() % f.n;
            switch (rand() % 4) {
            case 0: f.word[at] = (uint64_t)rand() << 32 ^ (uint64_t)rand(); break;
            case 1: f.word[at] ^= UINT64_C(1) << rand() % 64; break;
            case 2: f.word[at] = UINT64_MAX; break;
            default: f.word[at] = (uint64_t)(rand() % 300); break;
            }
        }
        char why[256] = "";
        size_t n;
        dagt_trace *t = read_bytes(&f, f.n * 8, why, sizeof why);
        if (!t) {
            ck_assert_str_ne(why, "");
            continue;
        }
        FILE *sink = fopen("/dev/null", "w");
        dagt_path *paths = dagt_critical(t, &n);
        for (size_t i = 0; paths && i < n; i++)
            free(dagt_path_steps(t, &paths[i]));
        free(paths);
        free(dagt_classes(t, &n));
        free(dagt_links(t, &n));
        free(dagt_broadcasts_of(t, &n));
        dagt_write_json(t, sink);
        dagt_write_html(t, sink);
        fclose(sink);
        dagt_free(t);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("trace");
    TCase *buffers = tcase_create("buffers"), *clocks = tcase_create("clocks"),
          *files = tcase_create("files");
    tcase_add_loop_test(buffers, buffers_keep_all_in_order, 0, 3);
    tcase_add_test(buffers, buffers_drop_what_exceeds_their_room);
    tcase_add_test(buffers, buffers_grow_in_large_steps);
    tcase_add_test(buffers, buffers_share_all_of_their_room);
    tcase_add_loop_test(clocks, clocks_are_aligned_within_their_error, 0, 5);
    tcase_add_test(clocks, clocks_too_near_each_other_tell_no_rate);
    tcase_add_test(clocks, the_clock_goes_on);
    tcase_add_test(files, files_are_read_as_written);
    tcase_add_test(files, broadcasts_end_with_the_last_rank);
    tcase_add_test(files, overlaps_are_found);
    tcase_add_test(files, shorter_files_are_refused);
    tcase_add_loop_test(files, damaged_files_do_no_harm, 0, 3);
    suite_add_tcase(suite, buffers);
    suite_add_tcase(suite, clocks);
    suite_add_tcase(suite, files);
    return run_suite(suite);
}
