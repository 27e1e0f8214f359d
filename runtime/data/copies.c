/* Copies of a value in several memories: the protocol, see copies.h and docs/design/devices.md. */
#include "copies.h"

#include "../base/lock.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATES = DAGI_MODIFIED + 1, EVENTS = DAGI_COPY_DROP + 1 };

/*
 * What an event does, by the state of the copy that it is about (of the space that it names, of the
 * host for SAVE): the next state of that one, what is to be done, and what becomes of each other
 * copy, by the state that this one has. FILL and SAVE from INVALID need a valid copy elsewhere.
 * What EVICT leaves behind is settled by bereaved().
 */
typedef struct rule {
    uint8_t next;
    uint8_t action;
    uint8_t others[STATES];
} rule;

/* clang-format off */
#define I DAGI_INVALID
#define S DAGI_SHARED
#define E DAGI_EXCLUSIVE
#define O DAGI_OWNED
#define M DAGI_MODIFIED
#define DONE DAGI_COPY_DONE
#define MOVE DAGI_COPY_MOVE
#define SAVE DAGI_COPY_SAVE_FIRST
/*                    others that are  I  S  E  O  M */
#define STAY                          {I, S, E, O, M}
#define SHARE                         {I, S, S, O, O}
#define SAVED                         {I, S, S, S, S}
#define GONE                          {I, I, I, I, I}
static const rule rules[EVENTS][STATES] = {
    [DAGI_COPY_FILL]  = {[I] = {S, MOVE, SHARE}, [S] = {S, DONE, STAY}, [E] = {E, DONE, STAY},
                         [O] = {O, DONE, STAY},  [M] = {M, DONE, STAY}},
    [DAGI_COPY_WRITE] = {[I] = {M, DONE, GONE},  [S] = {M, DONE, GONE}, [E] = {M, DONE, GONE},
                         [O] = {M, DONE, GONE},  [M] = {M, DONE, GONE}},
    [DAGI_COPY_SAVE]  = {[I] = {S, MOVE, SAVED}, [S] = {S, DONE, STAY}, [E] = {E, DONE, STAY},
                         [O] = {O, DONE, STAY},  [M] = {M, DONE, STAY}},
    [DAGI_COPY_EVICT] = {[I] = {I, DONE, STAY},  [S] = {I, DONE, STAY}, [E] = {E, SAVE, STAY},
                         [O] = {I, DONE, STAY},  [M] = {M, SAVE, STAY}},
    [DAGI_COPY_DROP]  = {[I] = {I, DONE, GONE},  [S] = {I, DONE, GONE}, [E] = {I, DONE, GONE},
                         [O] = {I, DONE, GONE},  [M] = {I, DONE, GONE}},
};
/* A copy that is left alone, on the host and on a device. */
static const uint8_t alone[2][STATES] = {{I, E, E, M, M}, {I, M, M, M, M}};
#undef I
#undef S
#undef E
#undef O
#undef M
#undef DONE
#undef MOVE
#undef SAVE
#undef STAY
#undef SHARE
#undef SAVED
#undef GONE
/* clang-format on */

static int valid(const dagi_copies *c, int space)
{
    return c->copy[space].state != DAGI_INVALID;
}

/* Where FILL and SAVE of `space` take the content from; -1 = there is no valid copy. */
static int find_source(const dagi_copies *c, int prefer)
{
    if (valid(c, DAGI_HOST))
        return DAGI_HOST;
    if (prefer >= 0 && prefer < c->nspaces && valid(c, prefer))
        return prefer;
    for (int i = 1; i < c->nspaces; i++) {
        if (valid(c, i))
            return i;
    }
    return -1;
}

/* A copy has gone: the last one is not shared any more, and where neither the host nor an owner is
 * left among several the first of them answers for the content. */
static void bereaved(dagi_copies *c)
{
    int count = 0, first = -1, owned = 0;
    for (int i = 0; i < c->nspaces; i++) {
        if (valid(c, i)) {
            count++;
            first = first < 0 ? i : first;
            owned |= c->copy[i].state == DAGI_OWNED;
        }
    }
    if (count == 1)
        c->copy[first].state = alone[first != DAGI_HOST][c->copy[first].state];
    else if (count > 1 && first != DAGI_HOST && !owned)
        c->copy[first].state = DAGI_OWNED;
}

dagi_copy_action dagi_copies_apply(dagi_copies *c, int space, dagi_copy_event event, int prefer,
                                   int *source)
{
    assert(space >= 0 && space < c->nspaces && !c->dropped);
    if (event == DAGI_COPY_SAVE) {
        prefer = space;
        space = DAGI_HOST;
    } else if (event == DAGI_COPY_FILL && space == DAGI_HOST) {
        event = DAGI_COPY_SAVE;
    }
    dagi_copy *own = &c->copy[space];
    const rule *r = &rules[event][own->state];
    if (r->action == DAGI_COPY_MOVE) {
        int from = find_source(c, prefer);
        if (from < 0)
            return DAGI_COPY_NONE;
        *source = from;
    }
    if (r->action == DAGI_COPY_SAVE_FIRST)
        return DAGI_COPY_SAVE_FIRST;
    for (int i = 0; i < c->nspaces; i++)
        c->copy[i].state = i == space ? r->next : r->others[c->copy[i].state];
    if (event == DAGI_COPY_WRITE)
        c->version++;
    if (r->next != DAGI_INVALID)
        own->version = c->version;
    if (event == DAGI_COPY_EVICT)
        bereaved(c);
    c->dropped = event == DAGI_COPY_DROP;
    return (dagi_copy_action)r->action;
}

dagi_copies *dagi_copies_of(dag_value *value, int nspaces, int fresh)
{
    dagi_value *v = (dagi_value *)value;
    /* Acquire pairs with the release of whoever made the record. */
    dagi_copies *c = atomic_load_explicit(&v->copies, memory_order_acquire);
    if (c != NULL)
        return c;
    assert(nspaces >= 1 && nspaces <= DAGI_MAX_SPACES);
    dagi_copies *made = calloc(1, sizeof(*made) + (size_t)nspaces * sizeof(made->copy[0]));
    if (made == NULL)
        return NULL;
    made->nspaces = nspaces;
    made->home = (atomic_load_explicit(&v->flags, memory_order_relaxed) & DAGI_VALUE_HOME) != 0;
    if (!fresh) {
        made->version = made->copy[DAGI_HOST].version = 1;
        made->copy[DAGI_HOST].state = made->home ? DAGI_EXCLUSIVE : DAGI_MODIFIED;
    }
    if (atomic_compare_exchange_strong_explicit(&v->copies, &c, made, memory_order_acq_rel,
                                                memory_order_acquire)) {
        atomic_fetch_or_explicit(&v->flags, DAGI_VALUE_COPIED, memory_order_relaxed);
        return made;
    }
    free(made);
    return c;
}

int dagi_copies_stale(dagi_copies *c, dagi_copy *copy, int *space)
{
    for (int i = 1; i < c->nspaces; i++) {
        dagi_copy *stale = &c->copy[i];
        if (stale->state != DAGI_INVALID || stale->memory == NULL)
            continue;
        *copy = *stale;
        *space = i;
        stale->memory = NULL;
        stale->nused = 0;
        stale->written = (dagi_ticket){NULL, 0};
        return 1;
    }
    return 0;
}

/* Users that have passed are forgotten; an order that is known already is raised. */
int dagi_copies_use(dagi_copies *c, int space, dagi_ticket t)
{
    dagi_copy *copy = &c->copy[space];
    int kept = 0, known = dagi_ticket_passed(t);
    for (int i = 0; i < copy->nused; i++) {
        dagi_ticket u = copy->used[i];
        if (dagi_ticket_passed(u))
            continue;
        if (u.queue == t.queue) {
            u.count = u.count > t.count ? u.count : t.count;
            known = 1;
        }
        copy->used[kept++] = u;
    }
    copy->nused = (uint8_t)kept;
    if (known)
        return 0;
    if (kept == DAGI_COPY_TICKETS)
        return 1;
    copy->used[copy->nused++] = t;
    return 0;
}

int dagi_copies_join(dagi_copies *c, int space, dagi_ticket waited_for, dagi_ticket t)
{
    dagi_copy *copy = &c->copy[space];
    for (int i = 0; i < copy->nused; i++) {
        /* Raised by somebody since: then it has not been waited for. */
        if (copy->used[i].queue == waited_for.queue && copy->used[i].count <= waited_for.count) {
            copy->used[i] = copy->used[--copy->nused];
            break;
        }
    }
    return dagi_copies_use(c, space, t);
}

int dagi_copies_on_host(const dag_value *value)
{
    const dagi_value *v = (const dagi_value *)value;
    dagi_copies *c = atomic_load_explicit(&v->copies, memory_order_acquire);
    if (c == NULL)
        return 1;
    dagi_lock(&c->lock);
    int there = valid(c, DAGI_HOST) && dagi_ticket_passed(c->copy[DAGI_HOST].written);
    dagi_unlock(&c->lock);
    return there;
}

uint64_t dagi_copies_due(const dagi_copies *c, uint64_t now)
{
    for (int i = 0; i < c->nspaces && now < c->due; i++) {
        if (valid(c, i) && dagi_ticket_passed(c->copy[i].written))
            return 0;
    }
    return now < c->due ? c->due - now : 0;
}

/* ---- check ---------------------------------------------------------------------------------- */

static const char *complain(const dagi_copies *c, const char *what, int space)
{
    static _Thread_local char text[512];
    static const char letter[] = "ISEOM";
    size_t used = (size_t)snprintf(text, sizeof(text), "%s (space %d); version %u:", what, space,
                                   (unsigned)c->version);
    for (int i = 0; i < c->nspaces && used < sizeof(text); i++) {
        uint8_t state = c->copy[i].state;
        used += (size_t)snprintf(text + used, sizeof(text) - used, " %c%u",
                                 state < STATES ? letter[state] : '?',
                                 (unsigned)c->copy[i].version);
    }
    return text;
}

static const char *check_copy(const dagi_copies *c, int space)
{
    const dagi_copy *copy = &c->copy[space];
    if (copy->state >= STATES)
        return complain(c, "no such state", space);
    if (copy->version > c->version)
        return complain(c, "a copy is newer than its value", space);
    if (copy->nused > DAGI_COPY_TICKETS)
        return complain(c, "more users than places", space);
    if (space == DAGI_HOST && copy->memory != NULL)
        return complain(c, "the host has no block", space);
    for (int i = 0; i < copy->nused; i++) {
        for (int j = 0; j < i; j++) {
            if (copy->used[i].queue == copy->used[j].queue)
                return complain(c, "a queue is twice among the users", space);
        }
    }
    if (copy->state == DAGI_INVALID)
        return NULL;
    if (copy->version != c->version)
        return complain(c, "a valid copy is not of the value's version", space);
    if (space != DAGI_HOST && copy->memory == NULL)
        return complain(c, "a valid copy without memory", space);
    if (space != DAGI_HOST && copy->state == DAGI_EXCLUSIVE)
        return complain(c, "a device's copy is E", space);
    return NULL;
}

const char *dagi_copies_check(const dagi_copies *c)
{
    int count[STATES] = {0};
    if (c->nspaces < 1 || c->nspaces > DAGI_MAX_SPACES)
        return "a record with an impossible number of spaces";
    for (int i = 0; i < c->nspaces; i++) {
        const char *wrong = check_copy(c, i);
        if (wrong != NULL)
            return wrong;
        count[c->copy[i].state]++;
    }
    int sole = count[DAGI_EXCLUSIVE] + count[DAGI_MODIFIED], owned = count[DAGI_OWNED];
    int all = sole + owned + count[DAGI_SHARED];
    if (sole + owned > 1)
        return complain(c, "more than one copy is M, O or E", -1);
    if (sole == 1 && all > 1)
        return complain(c, "M or E is not alone", -1);
    if (sole == 0 && all == 1)
        return complain(c, "O or S is alone", -1);
    if (all > 0 && c->dropped)
        return complain(c, "dropped, and still valid somewhere", -1);
    if (all == 0 && c->version != 0 && !c->dropped)
        return complain(c, "no copy is valid", -1);
    if (all > 0 && c->version == 0)
        return complain(c, "nobody has written it, and it is valid somewhere", -1);
    int device_answers = 0;
    for (int i = 1; i < c->nspaces; i++)
        device_answers |= c->copy[i].state >= DAGI_OWNED;
    if (all > 0 && device_answers == valid(c, DAGI_HOST))
        return complain(c, "a device must be O or M exactly where the host is not valid", -1);
    return NULL;
}
