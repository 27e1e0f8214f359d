/*
 * The protocol of copies: three memories (the host and two devices), two data, tasks that read and
 * write them anywhere, transfers and kernels that run late.
 *
 * What is taken from the sources: every change of state (table.pml, printed from copies.c). What is
 * modelled after them: who waits for which ticket, when memory is free again, when a writer is
 * alone. README.md says what stands for what.
 *
 * A value's content is a number, new with each write. Assertions: whatever reads finds the content
 * that its task is due; the states of a record satisfy dagi_copies_check() after each event; when
 * nothing moves any more all tasks have run, and no memory is held.
 *
 * WRONG selects one mistake that must be found, see README.md.
 */
#include "table.pml"

#ifndef TASKS
#define TASKS 5      /* that run in all */
#endif
#ifndef BLOCKS
#define BLOCKS 2     /* of the memory of a device */
#endif
#ifndef OPS
#define OPS 3        /* transfers and kernels under way at a time */
#endif
#ifndef WRONG
#define WRONG 0
#endif

#if WRONG == 6
#define SERVES false
#else
#define SERVES true
#endif

#define SLOTS 3      /* tasks that exist at a time */
#define NONE 255
#define READ 1
#define UPDATE 2     /* reads and writes */
#define CREATE 3     /* writes what nobody has written before */

#define at(d, s) ((d) * 3 + (s))
#define state(d, s) state_of[code[d] * 3 + (s)]
#define valid(d, s) (state(d, s) != 0)
#define place(v, b) (((v) - 1) * BLOCKS + (b))
#define bit_of(op) (1 << (op))
/* Users of a copy: who reads or writes it, and who writes its content. */
#define tickets(c) (used[c] | (written[c] == NONE -> 0 : bit_of(written[c])))

/* Records. A datum without references whose host memory is in nobody's use is free. */
byte code[2];        /* states */
byte refs[2];
byte content[2];     /* that it has when all is done that was enqueued */
byte block[6];       /* of a copy, on its device */
byte written[6];     /* operation that brings the content */
byte used[6];        /* operations, a set */
bit wanted[2];       /* by a task on the host */

/* Memory. */
byte host[2];
byte device[2 * BLOCKS];
bit held[2 * BLOCKS];
byte retiring[2 * BLOCKS]; /* operations until which it is not free */

/* Operations: kernels and transfers. They read `from`, find `due` there, and write `put` to `to`
 * (places: 0, 1 on the host, then the blocks of the devices; NONE). */
bit on[OPS];
byte waits[OPS];     /* operations, a set */
byte from[OPS], to[OPS], due[OPS], put[OPS];

/* Tasks: 0 none, 1 pending, 2 taken. */
byte task[SLOTS], datum[SLOTS], expects[SLOTS], mode[SLOTS];
byte budget = TASKS;
byte stamp = 1;      /* the last content that was written */

/* Values within one atomic step. */
hidden byte a, b, c, i, j, o, s, x;

/* ---- records -------------------------------------------------------------------------------- */

inline apply(d, event, space)
{
    a = action_of[(code[d] * 5 + event) * 3 + (space)];
    code[d] = next_of[(code[d] * 5 + event) * 3 + (space)];
    assert(legal[code[d]])
}

/* The copy's memory is free when its users have passed. */
inline give_back(d, v)
{
    if
    :: block[at(d, v)] != NONE ->
        x = place(v, block[at(d, v)]);
        held[x] = 0;
        retiring[x] = tickets(at(d, v));
#if WRONG == 1
        retiring[x] = (written[at(d, v)] == NONE -> 0 : bit_of(written[at(d, v)]));
#endif
        block[at(d, v)] = NONE
    :: else
    fi;
    used[at(d, v)] = 0;
    written[at(d, v)] = NONE
}

/* Copies that are not valid any more. */
inline give_back_stale(d)
{
    if :: !valid(d, 1) -> give_back(d, 1) :: else fi;
    if :: !valid(d, 2) -> give_back(d, 2) :: else fi
}

inline let_go(d)
{
    refs[d] = refs[d] - 1;
    if
    :: refs[d] == 0 -> apply(d, DROP, 0); give_back_stale(d); wanted[d] = 0
    :: else
    fi
}

#define free_datum(d) (refs[d] == 0 && used[at(d, 0)] == 0 && written[at(d, 0)] == NONE)
#define other(d) (1 - (d))
#define free_block(v, n) (!held[place(v, n)] && retiring[place(v, n)] == 0)
#define some_free_block(v) (free_block(v, 0) || free_block(v, BLOCKS - 1))

inline take_block(d, v)
{
    b = (free_block(v, 0) -> 0 : BLOCKS - 1);
    held[place(v, b)] = 1;
    block[at(d, v)] = b
}

/* ---- operations ----------------------------------------------------------------------------- */

#define some_op (!on[0] || !on[1] || !on[OPS - 1])
#define location(d, s) ((s) == 0 -> (d) : 2 + place(s, block[at(d, s)]))

/* Operation o; the caller says what it does. */
inline enqueue()
{
    if
    :: !on[0] -> o = 0
    :: on[0] && !on[1] -> o = 1
    :: on[0] && on[1] -> o = OPS - 1
    fi;
    on[o] = 1
}

#define there(c) (written[c] == NONE -> 0 : bit_of(written[c]))

/* Source of a transfer: any that is valid. */
inline find_source(d)
{
    if
    :: valid(d, 0) -> s = 0
    :: valid(d, 1) -> s = 1
    :: valid(d, 2) -> s = 2
    fi
}

inline fill(d, v)
{
    find_source(d);
    apply(d, FILL, v);
    assert(a == MOVE);
    enqueue();
    from[o] = location(d, s);
    due[o] = content[d];
    to[o] = location(d, v);
    put[o] = content[d];
    waits[o] = there(at(d, s));
#if WRONG == 2
    waits[o] = 0;
#endif
    used[at(d, s)] = used[at(d, s)] | bit_of(o);
    written[at(d, v)] = o
}

inline save(d, v)
{
    apply(d, SAVE, v);
    assert(a == MOVE);
    enqueue();
    from[o] = location(d, v);
    due[o] = content[d];
    to[o] = d;
    put[o] = content[d];
    waits[o] = there(at(d, v)) | tickets(at(d, 0));
#if WRONG == 3
    waits[o] = there(at(d, v));
#endif
    used[at(d, v)] = used[at(d, v)] | bit_of(o);
    used[at(d, 0)] = 0;
    written[at(d, 0)] = o;
    wanted[d] = 0
}

#define content_of(p) ((p) < 2 -> host[(p) & 1] : device[((p) - 2) % (2 * BLOCKS)])

inline execute(n)
{
    if
    :: from[n] != NONE -> assert(content_of(from[n]) == due[n])
    :: else
    fi;
    if
    :: to[n] == NONE
    :: to[n] < 2 -> host[to[n]] = put[n]
    :: else -> device[to[n] - 2] = put[n]
    fi;
    on[n] = 0;
    from[n] = 0; to[n] = 0; due[n] = 0; put[n] = 0;
    for (j : 0 .. OPS - 1) {
        waits[j] = waits[j] & ~bit_of(n)
    }
    for (j : 0 .. 5) {
        used[j] = used[j] & ~bit_of(n);
        if :: written[j] == n -> written[j] = NONE :: else fi
    }
    for (j : 0 .. 2 * BLOCKS - 1) {
        retiring[j] = retiring[j] & ~bit_of(n)
    };
    j = 0
}

active proctype queues()
{
end:
    do
    :: d_step { on[0] && waits[0] == 0 -> execute(0) }
    :: d_step { on[1] && waits[1] == 0 -> execute(1) }
    :: d_step { OPS > 2 && on[OPS - 1] && waits[OPS - 1] == 0 -> execute(OPS - 1) }
    od
}

/* ---- tasks ---------------------------------------------------------------------------------- */

inline new_task(n, d, how)
{
    task[n] = 1;
    datum[n] = d;
    expects[n] = content[d];
    mode[n] = how;
    refs[d] = refs[d] + 1;
    budget = budget - 1
}

inline end_task(n)
{
    task[n] = 0; datum[n] = 0; expects[n] = 0; mode[n] = 0
}

/* The writer's reference goes to up to two successors. */
inline hand_on(n, d)
{
    end_task(n);
    if
    :: budget > 0 -> new_task(n, d, UPDATE)
    :: budget > 0 -> new_task(n, d, READ)
    :: true
    fi;
    if
    :: budget > 0 && refs[d] > 1 && task[0] == 0 -> new_task(0, d, READ)
    :: budget > 0 && refs[d] > 1 && task[0] != 0 && task[1] == 0 -> new_task(1, d, UPDATE)
    :: true
    fi;
    let_go(d)
}

inline pick(t)
{
    if
    :: task[0] == 1 -> t = 0
    :: task[1] == 1 -> t = 1
    :: task[2] == 1 -> t = 2
    fi;
    task[t] = 2
}

#ifdef EARLY /* evict at any time */
#define may_evict true
#else
#define may_evict (t != NONE && !ready && !some_free_block(v))
#endif
#define some_task (task[0] == 1 || task[1] == 1 || task[2] == 1)
#define alone(t) (mode[t] != UPDATE || refs[datum[t]] == 1)

/* ---- a manager ------------------------------------------------------------------------------ */

inline evict(d, v)
{
    apply(d, EVICT, v);
    if
    :: a == SAVE_FIRST ->
        save(d, v);
        apply(d, EVICT, v);
        assert(a == DONE)
    :: else
    fi;
    give_back(d, v)
}

/* The manager of device v; `ready`: the task's data are on the device, or on their way. */
proctype manager(byte v)
{
    byte t = NONE;
    bit ready = 0;
end:
    do
    :: atomic { t == NONE && some_task -> pick(t) }

    /* read, or write in place */
    :: atomic { t != NONE && !ready && alone(t) && valid(datum[t], v) -> ready = 1 }
    :: atomic { t != NONE && !ready && alone(t) && !valid(datum[t], v) && some_op &&
                some_free_block(v) && block[at(datum[t], v)] == NONE ->
        take_block(datum[t], v);
        if
        :: mode[t] != CREATE -> fill(datum[t], v)
        :: else
        fi;
        ready = 1
       }

    /* rename: a new value gets the content */
    :: atomic { t != NONE && !ready && !alone(t) && some_op && some_free_block(v) &&
                free_datum(other(datum[t])) ->
        i = datum[t];
        c = other(i);
        take_block(c, v);
        find_source(i);
        enqueue();
        from[o] = location(i, s);
        due[o] = content[i];
        to[o] = location(c, v);
        put[o] = content[i];
        waits[o] = there(at(i, s));
        used[at(i, s)] = used[at(i, s)] | bit_of(o);
        written[at(c, v)] = o;
        refs[c] = 1;
        code[c] = 0;
        content[c] = content[i];
        datum[t] = c;
        let_go(i);
        ready = 1
       }

    /* issue */
    :: atomic { t != NONE && ready && mode[t] == READ && some_op ->
        i = datum[t];
        enqueue();
        from[o] = location(i, v);
        due[o] = expects[t];
        to[o] = NONE;
        waits[o] = there(at(i, v));
        used[at(i, v)] = used[at(i, v)] | bit_of(o);
        end_task(t);
        let_go(i);
        ready = 0;
        t = NONE
       }
    :: atomic { t != NONE && ready && mode[t] != READ && some_op ->
        i = datum[t];
        assert(refs[i] == 1);
        stamp = stamp + 1;
        enqueue();
        from[o] = location(i, v);
        if :: mode[t] == CREATE -> from[o] = NONE :: else fi;
        due[o] = expects[t];
        to[o] = location(i, v);
        put[o] = stamp;
        waits[o] = tickets(at(i, v));
#if WRONG == 4
        waits[o] = there(at(i, v));
#endif
        content[i] = stamp;
        apply(i, WRITE, v);
        used[at(i, v)] = 0;
        written[at(i, v)] = o;
        give_back_stale(i);
        hand_on(t, i);
        ready = 0;
        t = NONE
       }

    /* evict anything that is not this task's */
    :: atomic { may_evict && block[at(0, v)] != NONE && valid(0, v) && some_op &&
                (t == NONE || !ready || datum[t] != 0) -> evict(0, v) }
    :: atomic { may_evict && block[at(1, v)] != NONE && valid(1, v) && some_op &&
                (t == NONE || !ready || datum[t] != 1) -> evict(1, v) }

    /* what a task on the host waits for */
    :: atomic { SERVES && wanted[0] && valid(0, v) && !valid(0, 0) && some_op -> save(0, v) }
    :: atomic { SERVES && wanted[1] && valid(1, v) && !valid(1, 0) && some_op -> save(1, v) }
    od
}

/* ---- a core --------------------------------------------------------------------------------- */

#if WRONG == 5
#define host_unread(d) true
#elif WRONG == 7
#define host_unread(d) looked
#else
#define host_unread(d) (used[at(d, 0)] == 0)
#endif
#define on_host(d) (valid(d, 0) && written[at(d, 0)] == NONE)

proctype core()
{
    byte t = NONE;
    bit reading = 0;
#if WRONG == 7
    bit looked = 0;
#endif
end:
    do
    :: atomic { t == NONE && some_task -> pick(t) }
    :: atomic { t != NONE && mode[t] != CREATE && !valid(datum[t], 0) && !wanted[datum[t]] ->
        wanted[datum[t]] = 1 }

    /* a body takes its time */
    :: atomic { t != NONE && mode[t] == READ && !reading && on_host(datum[t]) ->
        assert(host[datum[t]] == expects[t]);
        reading = 1 }
    :: atomic { reading ->
        i = datum[t];
        assert(host[i] == expects[t]);
        end_task(t);
        let_go(i);
        reading = 0;
        t = NONE
       }

#if WRONG == 7
    :: atomic { t != NONE && !looked && used[at(datum[t], 0)] == 0 -> looked = 1 }
    :: atomic { t == NONE && looked -> looked = 0 }
#endif
    /* in place, when nothing reads the host's memory any more */
    :: atomic { t != NONE && mode[t] != READ && alone(t) &&
                (mode[t] == CREATE || on_host(datum[t])) &&
                host_unread(datum[t]) && written[at(datum[t], 0)] == NONE ->
        i = datum[t];
        assert(mode[t] == CREATE || host[i] == expects[t]);
        stamp = stamp + 1;
        host[i] = stamp;
        content[i] = stamp;
        apply(i, WRITE, 0);
        give_back_stale(i);
        hand_on(t, i);
        t = NONE
       }
    :: atomic { t != NONE && mode[t] == UPDATE && !alone(t) && on_host(datum[t]) &&
                free_datum(other(datum[t])) ->
        i = datum[t];
        assert(host[i] == expects[t]);
        stamp = stamp + 1;
        c = other(i);
        host[c] = stamp;
        content[c] = stamp;
        refs[c] = 1;
        code[c] = 0;
        apply(c, WRITE, 0);
        let_go(i);
        hand_on(t, c);
        t = NONE
       }
    od
}

/* ---- start and end -------------------------------------------------------------------------- */

init
{
    atomic {
        for (i : 0 .. 5) {
            block[i] = NONE;
            written[i] = NONE
        }
        host[0] = 1;
        content[0] = 1;
        if
        :: code[0] = HOST_E
        :: code[0] = HOST_M
        fi;
        new_task(0, 0, UPDATE);
        if
        :: new_task(1, 0, UPDATE)
        :: new_task(1, 0, READ)
        fi;
        new_task(2, 1, CREATE);
        run manager(1);
        run manager(2);
        run core()
    }
    /* Nothing can happen any more. */
    atomic {
        timeout ->
        assert(task[0] == 0 && task[1] == 0 && task[2] == 0);
        assert(!on[0] && !on[1] && !on[OPS - 1]);
        for (i : 0 .. 2 * BLOCKS - 1) {
            assert(!held[i] && retiring[i] == 0)
        }
    }
}
