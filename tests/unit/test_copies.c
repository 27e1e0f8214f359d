/* Copies of a value in several memories: every transition, and long runs against a simple model. */
#include "../common/run_suite.h"
#include "../../runtime/data/copies.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SPACES = 4, CODES = 5 * 5 * 5 * 5 };

static int some_memory[SPACES];

static dagi_copies *record(dagi_value *v, uint32_t flags, int nspaces, int fresh)
{
    memset(v, 0, sizeof(*v));
    atomic_store(&v->flags, flags);
    dagi_copies *c = dagi_copies_of(&v->v, nspaces, fresh);
    ck_assert_ptr_nonnull(c);
    ck_assert_ptr_eq(dagi_copies_of(&v->v, nspaces, fresh), c);
    return c;
}

static void check(const dagi_copies *c)
{
    const char *wrong = dagi_copies_check(c);
    ck_assert_msg(wrong == NULL, "%s", wrong);
}

/* The caller's part: valid copies have memory, and others have given it back. */
static void give_memory(dagi_copies *c)
{
    dagi_copy stale;
    int space;
    for (int i = 1; i < c->nspaces; i++) {
        if (c->copy[i].state != DAGI_INVALID)
            c->copy[i].memory = &some_memory[i];
    }
    while (dagi_copies_stale(c, &stale, &space)) {
        ck_assert_ptr_eq(stale.memory, &some_memory[space]);
        ck_assert_ptr_null(c->copy[space].memory);
        ck_assert_int_eq(c->copy[space].state, DAGI_INVALID);
    }
}

/* ---- every transition ----------------------------------------------------------------------- */

static void set_states(dagi_copies *c, int code)
{
    c->version = code != 0 ? 7 : 0; /* 0: nobody has written it yet */
    for (int i = 0; i < SPACES; i++, code /= 5) {
        c->copy[i].state = (uint8_t)(code % 5);
        c->copy[i].version = c->version;
    }
    give_memory(c);
}

static int count_valid(const dagi_copies *c)
{
    int n = 0;
    for (int i = 0; i < c->nspaces; i++)
        n += c->copy[i].state != DAGI_INVALID;
    return n;
}

/* The states that the header says an event leaves, in words other than those of the table. */
static void expect_states(const dagi_copies *was, int space, int event, uint8_t state[SPACES])
{
    int to = event == DAGI_COPY_SAVE ? DAGI_HOST : space, had = was->copy[to].state != DAGI_INVALID;
    int left = 0, last = -1, owner = 0;
    for (int i = 0; i < SPACES; i++)
        state[i] = was->copy[i].state;
    if (event == DAGI_COPY_DROP || event == DAGI_COPY_WRITE) {
        memset(state, DAGI_INVALID, SPACES);
        if (event == DAGI_COPY_WRITE)
            state[to] = DAGI_MODIFIED;
    } else if (event != DAGI_COPY_EVICT && !had && count_valid(was) > 0) {
        for (int i = 0; i < SPACES; i++) {
            if (state[i] == DAGI_EXCLUSIVE || (state[i] != DAGI_INVALID && to == DAGI_HOST))
                state[i] = DAGI_SHARED; /* who has the host's copy answers for nothing */
            else if (state[i] == DAGI_MODIFIED)
                state[i] = DAGI_OWNED;
        }
        state[to] = DAGI_SHARED;
    } else if (event == DAGI_COPY_EVICT && had && count_valid(was) > 1) {
        state[to] = DAGI_INVALID;
        for (int i = SPACES; i-- > 0;) {
            last = state[i] != DAGI_INVALID ? i : last;
            left += state[i] != DAGI_INVALID;
            owner |= state[i] == DAGI_OWNED;
        }
        if (left == 1)
            state[last] = last == DAGI_HOST && state[last] == DAGI_SHARED ? DAGI_EXCLUSIVE : DAGI_MODIFIED;
        else if (last != DAGI_HOST && !owner)
            state[last] = DAGI_OWNED;
    }
}

/* What the header says of an event. */
static void check_event(const dagi_copies *was, const dagi_copies *c, int space, int event,
                        dagi_copy_action action, int source)
{
    int had = was->copy[space].state != DAGI_INVALID, nwas = count_valid(was);
    int changed = action == DAGI_COPY_DONE || action == DAGI_COPY_MOVE;
    if (!changed)
        ck_assert(memcmp(c, was, sizeof(*c) + SPACES * sizeof(c->copy[0])) == 0);
    int to = event == DAGI_COPY_SAVE ? DAGI_HOST : space;
    uint8_t state[SPACES];
    expect_states(was, space, event, state);
    for (int i = 0; i < SPACES; i++) {
        ck_assert_msg(c->copy[i].state == state[i], "event %d of %d: copy %d is %d, expected %d", event,
                      space, i, c->copy[i].state, state[i]);
        ck_assert(state[i] == DAGI_INVALID || c->copy[i].version == c->version);
    }
    if (action == DAGI_COPY_MOVE)
        ck_assert(source != to && was->copy[source].state != DAGI_INVALID);
    switch (event) {
    case DAGI_COPY_FILL:
    case DAGI_COPY_SAVE:
        ck_assert_int_eq(action, was->copy[to].state ? DAGI_COPY_DONE
                                 : nwas > 0         ? DAGI_COPY_MOVE
                                                    : DAGI_COPY_NONE);
        ck_assert(c->version == was->version);
        ck_assert_int_eq(count_valid(c), nwas + (action == DAGI_COPY_MOVE));
        break;
    case DAGI_COPY_WRITE:
        ck_assert(action == DAGI_COPY_DONE && c->version == was->version + 1);
        ck_assert_int_eq(c->copy[space].state, DAGI_MODIFIED);
        ck_assert_int_eq(count_valid(c), 1);
        break;
    case DAGI_COPY_EVICT:
        ck_assert_int_eq(action, had && nwas == 1 ? DAGI_COPY_SAVE_FIRST : DAGI_COPY_DONE);
        ck_assert(c->version == was->version && count_valid(c) == nwas - (had && nwas > 1));
        break;
    default:
        ck_assert(action == DAGI_COPY_DONE && count_valid(c) == 0 && c->dropped);
    }
}

START_TEST(every_transition)
{
    dagi_value v;
    dagi_copies *c = record(&v, 0, SPACES, 0);
    size_t bytes = sizeof(*c) + SPACES * sizeof(c->copy[0]);
    dagi_copies *was = calloc(1, bytes);
    int legal = 0;
    for (int code = 0; code < CODES; code++) {
        for (int what = 0; what < SPACES * 5 * SPACES; what++) {
            int space = what % SPACES, event = what / SPACES % 5, prefer = what / SPACES / 5;
            int source = -1;
            set_states(c, code);
            if (dagi_copies_check(c) != NULL)
                break;
            legal += what == 0;
            memcpy(was, c, bytes);
            dagi_copy_action action =
                dagi_copies_apply(c, space, (dagi_copy_event)event, prefer, &source);
            check_event(was, c, space, event, action, source);
            give_memory(c);
            check(c);
            if (action == DAGI_COPY_MOVE && was->copy[DAGI_HOST].state)
                ck_assert_int_eq(source, DAGI_HOST);
            else if (action == DAGI_COPY_MOVE && event == DAGI_COPY_FILL &&
                     was->copy[prefer].state)
                ck_assert_int_eq(source, prefer);
            else if (action == DAGI_COPY_MOVE && event == DAGI_COPY_SAVE &&
                     was->copy[space].state)
                ck_assert_int_eq(source, space);
            c->dropped = 0;
        }
    }
    /* None at all: 1. One valid copy: 5. The host S or O with 1 to 3 of the devices: 14. Without the host 2 or 3 of
     * the devices, one of which is O: 3 * 2 + 3. */
    ck_assert_int_eq(legal, 1 + 5 + 14 + 9);
    free(was);
    free(c);
}
END_TEST

START_TEST(check_finds)
{
    dagi_value v;
    dagi_copies *c = record(&v, DAGI_VALUE_HOME, SPACES, 0);
    ck_assert_int_eq(c->copy[0].state, DAGI_EXCLUSIVE);
    check(c);
    c->copy[1].memory = &some_memory[1];
    c->copy[1].state = DAGI_SHARED;
    c->copy[1].version = c->version;
    ck_assert_ptr_nonnull(strstr(dagi_copies_check(c), "alone"));
    c->copy[0].state = DAGI_SHARED;
    check(c);
    c->copy[1].version--;
    ck_assert_ptr_nonnull(strstr(dagi_copies_check(c), "version"));
    c->copy[1].version++;
    c->copy[1].memory = NULL;
    ck_assert_ptr_nonnull(strstr(dagi_copies_check(c), "memory"));
    c->copy[1].memory = &some_memory[1];
    c->copy[1].state = DAGI_OWNED;
    ck_assert_ptr_nonnull(strstr(dagi_copies_check(c), "host"));
    c->copy[0].state = DAGI_OWNED;
    ck_assert_ptr_nonnull(strstr(dagi_copies_check(c), "more than one"));
    c->copy[0].state = c->copy[1].state = DAGI_INVALID;
    ck_assert_ptr_nonnull(strstr(dagi_copies_check(c), "no copy"));
    free(c);
}
END_TEST

/* ---- at random, against a model ------------------------------------------------------------- */

/* What each memory holds, 0 = nothing of use, and the latest content. */
typedef struct model {
    uint32_t content[SPACES], latest;
} model;

static int pick(int below)
{
    return rand() % below;
}

static void step(dagi_copies *c, model *m)
{
    int space = pick(SPACES), prefer = pick(SPACES), source = -1;
    dagi_copy_event event = (dagi_copy_event)pick(DAGI_COPY_DROP);
    if (event == DAGI_COPY_EVICT && space == DAGI_HOST)
        return; /* the host's copy goes by a WRITE elsewhere, and see undone() */
    int target = event == DAGI_COPY_SAVE ? DAGI_HOST : space;
    dagi_copy_action action = dagi_copies_apply(c, space, event, prefer, &source);
    if (action == DAGI_COPY_NONE) {
        ck_assert_uint_eq(m->latest, 0);
    } else if (action == DAGI_COPY_MOVE) {
        m->content[target] = m->content[source];
    } else if (event == DAGI_COPY_WRITE) {
        m->content[space] = ++m->latest;
    } else if (event == DAGI_COPY_EVICT && action == DAGI_COPY_DONE) {
        m->content[space] = 0;
    }
    give_memory(c);
}

/* A transfer that could not be enqueued leaves things as if it had not been decided. */
static void undone(dagi_copies *c)
{
    int source = -1, space = pick(SPACES), n = count_valid(c);
    dagi_copy_event event = space == DAGI_HOST ? DAGI_COPY_SAVE : DAGI_COPY_FILL;
    int fails = dagi_copies_apply(c, space, event, 0, &source) == DAGI_COPY_MOVE;
    if (fails)
        ck_assert_int_eq(dagi_copies_apply(c, space, DAGI_COPY_EVICT, 0, &source), DAGI_COPY_DONE);
    ck_assert_int_eq(count_valid(c), n);
    give_memory(c);
}

START_TEST(at_random)
{
    dagi_value v;
    model m = {{0}, 0};
    srand((unsigned)_i);
    dagi_copies *c = record(&v, _i % 2 ? DAGI_VALUE_HOME : 0, SPACES, _i % 3 == 0);
    if (_i % 3 != 0)
        m.content[DAGI_HOST] = m.latest = 1;
    for (int i = 0; i < 5000; i++) {
        uint32_t version = c->version;
        if (pick(8) == 0)
            undone(c);
        else
            step(c, &m);
        check(c);
        ck_assert(c->version >= version);
        ck_assert_int_eq(count_valid(c) > 0, m.latest > 0);
        for (int k = 0; k < SPACES; k++) {
            if (c->copy[k].state != DAGI_INVALID)
                ck_assert_uint_eq(m.content[k], m.latest);
        }
    }
    free(c);
}
END_TEST

/* ---- users ---------------------------------------------------------------------------------- */

START_TEST(users)
{
    dagi_value v;
    dagi_queue_order q[DAGI_COPY_TICKETS + 1] = {{0}};
    dagi_copies *c = record(&v, 0, 2, 0);
    const dagi_copy *host = &c->copy[DAGI_HOST];
    ck_assert_int_eq(dagi_copies_use(c, 0, (dagi_ticket){NULL, 0}), 0); /* the past */
    ck_assert_int_eq(host->nused, 0);
    for (int i = 0; i < DAGI_COPY_TICKETS; i++)
        ck_assert_int_eq(dagi_copies_use(c, 0, (dagi_ticket){&q[i], 2}), 0);
    ck_assert_int_eq(dagi_copies_use(c, 0, (dagi_ticket){&q[3], 5}), 0); /* raises */
    ck_assert_int_eq(dagi_copies_use(c, 0, (dagi_ticket){&q[3], 4}), 0);
    ck_assert_int_eq(host->nused, DAGI_COPY_TICKETS);
    ck_assert_uint_eq(host->used[3].count, 5);
    check(c);
    dagi_ticket late = {&q[DAGI_COPY_TICKETS], 1};
    ck_assert_int_eq(dagi_copies_use(c, 0, late), 1); /* no place left */
    dagi_ticket old = host->used[3];
    old.count = 4; /* was raised meanwhile: waiting for this is not enough */
    ck_assert_int_eq(dagi_copies_join(c, 0, old, late), 1);
    ck_assert_int_eq(dagi_copies_join(c, 0, host->used[3], late), 0);
    ck_assert_int_eq(host->nused, DAGI_COPY_TICKETS);
    for (int i = 0; i < host->nused; i++)
        ck_assert_ptr_ne(host->used[i].queue, &q[3]);
    atomic_store(&q[1].passed, 2);
    ck_assert_int_eq(dagi_copies_use(c, 0, (dagi_ticket){&q[3], 9}), 0); /* in the place of q[1] */
    check(c);
    free(c);
}
END_TEST

START_TEST(on_host)
{
    dagi_value v = {.copies = NULL};
    int source;
    dagi_queue_order q = {0};
    ck_assert(dagi_copies_on_host(&v.v));
    dagi_copies *c = record(&v, 0, 2, 0);
    ck_assert(dagi_copies_on_host(&v.v));
    dagi_copies_apply(c, 1, DAGI_COPY_WRITE, 0, &source);
    ck_assert(!dagi_copies_on_host(&v.v));
    dagi_copies_apply(c, 1, DAGI_COPY_SAVE, 0, &source);
    c->copy[DAGI_HOST].written = (dagi_ticket){&q, 1};
    ck_assert(!dagi_copies_on_host(&v.v)); /* under way */
    atomic_store(&q.passed, 1);
    ck_assert(dagi_copies_on_host(&v.v));
    free(c);
    ck_assert_int_eq(record(&v, 0, 2, 1)->version, 0);
    ck_assert(!dagi_copies_on_host(&v.v)); /* nobody has written it */
    free(atomic_load(&v.copies));
}
END_TEST

/* ---- several managers ask for the record at once ----------------------------------------------- */

enum { THREADS = 3, VALUES = 500 };
static dagi_value asked[VALUES];

static void *ask(void *result)
{
    for (int i = 0; i < VALUES; i++)
        ((dagi_copies **)result)[i] = dagi_copies_of(&asked[i].v, 3, 0);
    return NULL;
}

START_TEST(one_record)
{
    static dagi_copies *got[THREADS][VALUES];
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, ask, got[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (int k = 0; k < VALUES; k++) {
        for (int i = 0; i < THREADS; i++)
            ck_assert_ptr_eq(got[i][k], atomic_load(&asked[k].copies));
        check(got[0][k]);
        free(got[0][k]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("copies");
    TCase *c = tcase_create("copies");
    tcase_add_test(c, every_transition);
    tcase_add_test(c, check_finds);
    tcase_add_loop_test(c, at_random, 0, 12);
    tcase_add_test(c, users);
    tcase_add_test(c, on_host);
    tcase_add_test(c, one_record);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
