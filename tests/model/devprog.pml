/*
 * Programs for devices (runtime/clients/devprog) on machines of two devices whose memory all registers of the program
 * just fill, beside tasks of a graph that want some of it, too: no program waits for ever, and none goes on too early.
 *
 * What is taken from the sources: the edges between commands, of all small programs (table.pml, printed by link.c).
 * What is modelled after them: how a manager issues, makes room and retires (runtime/device), how events order what is
 * enqueued. README.md says what stands for what.
 *
 * A command waits; becomes the head of its manager when what it has data from is issued and what controls it is over; is
 * issued when its registers have memory; is done when what its event is behind is; is over when the manager has seen
 * that. Without a device a core runs it at once. Tasks of the graph are commands, too, with a value of their own
 * that stays until it is evicted.
 *
 * WRONG selects one mistake that must be found, see README.md.
 */
#ifndef COMMANDS
#define COMMANDS 3
#endif
#ifndef GRAPH
#define GRAPH 1   /* tasks of a graph on device 1 */
#endif
#ifndef QUEUES
#define QUEUES 3  /* of a device; 1: LD, ST and EXEC share one */
#endif
#ifndef WRONG
#define WRONG 0
#endif

#define REGISTERS 2
#define TASKS (COMMANDS + GRAPH)
#define VALUES (REGISTERS + GRAPH)
#define ALL ((1 << TASKS) - 1)
#define BIT(c) (1 << (c))
#define IN(set, c) (((set) >> (c)) & 1)

/* Where a value is. */
#define NOWHERE 0
#define DEVICE 1
#define HOST 2

c_decl {
\#include "table.pml"
}

/* The program. */
byte device[TASKS];  /* 0: a core */
byte lane[TASKS];
byte uses[TASKS];    /* values, a set */
byte last[TASKS];    /* those that are gone behind it */
byte data[TASKS];    /* commands, sets */
byte control[TASKS];
byte follows[TASKS];
byte home[VALUES];   /* the device of a value */
byte blocks[3];      /* that a device has, each for one value */

/* The run. */
byte issued, done, over; /* commands, sets */
byte waits[TASKS];   /* commands that its event is behind */
byte place[VALUES];
byte head[3];        /* of a device: 1 + the command that it issues next; 0: none */

/* Values within one atomic step. */
hidden byte c, d, v, held;
hidden short number;

#if WRONG == 1 /* control is told at the issue */
#define TOLD issued
#else
#define TOLD over
#endif
#define WAITING(t) (!IN(issued, t) && (data[t] & ~issued) == 0 && (control[t] & ~TOLD) == 0)

/* ---- memory ------------------------------------------------------------------------------------ */

#define HERE(d, v) (home[v] == (d) && place[v] == DEVICE)
#define LACKS(t, v) (IN(uses[t], v) && place[v] != DEVICE)
#if GRAPH == 0
#define SUM(F, a) (F(a, 0) + F(a, 1))
#elif GRAPH == 1
#define SUM(F, a) (F(a, 0) + F(a, 1) + F(a, 2))
#else
#define SUM(F, a) (F(a, 0) + F(a, 1) + F(a, 2) + F(a, 3))
#endif
#define FITS(t) (SUM(HERE, device[t]) + SUM(LACKS, t) <= blocks[device[t]])

/* A job that is issued and not over has its values pinned, and so has the head those that it found. */
#define PINS(v, t) (IN(uses[t], v) && IN(issued, t) && !IN(over, t))
#if TASKS == 3
#define PINNED(v) (PINS(v, 0) || PINS(v, 1) || PINS(v, 2))
#define EACH_TASK(F) F(0) F(1) F(2)
#elif TASKS == 4
#define PINNED(v) (PINS(v, 0) || PINS(v, 1) || PINS(v, 2) || PINS(v, 3))
#define EACH_TASK(F) F(0) F(1) F(2) F(3)
#elif TASKS == 5
#define PINNED(v) (PINS(v, 0) || PINS(v, 1) || PINS(v, 2) || PINS(v, 3) || PINS(v, 4))
#define EACH_TASK(F) F(0) F(1) F(2) F(3) F(4)
#else
#define PINNED(v) (PINS(v, 0) || PINS(v, 1) || PINS(v, 2) || PINS(v, 3) || PINS(v, 4) || PINS(v, 5))
#define EACH_TASK(F) F(0) F(1) F(2) F(3) F(4) F(5)
#endif

#if WRONG == 2 /* registers are not evicted */
#define LEAVES(v) ((v) >= REGISTERS)
#else
#define LEAVES(v) true
#endif
#define EVICT(v)                                                                                   \
    :: atomic { head[home[v]] != 0 && place[v] == DEVICE && LEAVES(v) && !PINNED(v) &&             \
                !IN(uses[head[home[v]] - 1], v) && !FITS(head[home[v]] - 1) -> place[v] = HOST }

/* ---- commands ---------------------------------------------------------------------------------- */

/* Its event comes behind all in its queue, and behind all users of its registers. */
#if WRONG == 3 /* nobody asks for the events of other queues */
#define BEHIND(t) (device[t] == device[c] && lane[t] == lane[c])
#else
#define BEHIND(t) ((device[t] == device[c] && lane[t] == lane[c]) || (uses[t] & uses[c]) != 0)
#endif

inline issue()
{
    waits[c] = 0;
    d = 0;
    do
    :: d < TASKS ->
        if
        :: IN(issued, d) && !IN(done, d) && BEHIND(d) -> waits[c] = waits[c] | BIT(d)
        :: else
        fi;
        d++
    :: else -> break
    od;
    v = 0;
    do
    :: v < VALUES ->
        if
        :: IN(uses[c], v) ->
            /* A value that somebody has had before is somewhere. */
            d = 0;
            do
            :: d < TASKS ->
                assert(!(IN(issued, d) && IN(uses[d], v)) || place[v] != NOWHERE);
                d++
            :: else -> break
            od;
            place[v] = DEVICE
        :: else
        fi;
        v++
    :: else -> break
    od;
    issued = issued | BIT(c)
}

inline retire()
{
    over = over | BIT(c);
    v = 0;
    do
    :: v < VALUES ->
        if
        :: IN(last[c], v) -> place[v] = NOWHERE
        :: else
        fi;
        v++
    :: else -> break
    od
}

#define COMMAND(t)                                                                                 \
    :: atomic { device[t] == 0 && WAITING(t) ->                                                    \
                assert((follows[t] & ~done) == 0);                                                 \
                issued = issued | BIT(t); done = done | BIT(t); over = over | BIT(t) }             \
    :: atomic { device[t] != 0 && head[device[t]] == 0 && WAITING(t) -> head[device[t]] = t + 1 }  \
    :: atomic { device[t] != 0 && head[device[t]] == t + 1 && FITS(t) ->                           \
                head[device[t]] = 0; c = t; issue() }                                              \
    :: atomic { IN(issued, t) && !IN(done, t) && (waits[t] & ~done) == 0 ->                        \
                assert((follows[t] & ~done) == 0);                                                 \
                done = done | BIT(t) }                                                             \
    :: atomic { IN(done, t) && !IN(over, t) -> c = t; retire() }

/* ---- start and end ----------------------------------------------------------------------------- */

/* The program of that number, and the graph's tasks behind it, each with a value of its own. */
inline take_program()
{
    c_code {
        int i;
        for (i = 0; i < COMMANDS; i++) {
            now.device[i] = programs[number].of[i].device;
            now.lane[i] = QUEUES == 1 ? 0 : programs[number].of[i].lane;
            now.uses[i] = programs[number].of[i].uses;
            now.last[i] = programs[number].of[i].last;
            now.data[i] = programs[number].of[i].data;
            now.control[i] = programs[number].of[i].control;
            now.follows[i] = programs[number].of[i].follows;
        }
        for (i = 0; i < REGISTERS; i++) {
            now.home[i] = programs[number].home[i];
            now.blocks[now.home[i]]++;
        }
        for (i = 0; i < GRAPH; i++) {
            now.device[COMMANDS + i] = now.home[REGISTERS + i] = 1;
            now.lane[COMMANDS + i] = QUEUES == 1 ? 0 : 2; /* that of EXEC */
            now.uses[COMMANDS + i] = 1 << (REGISTERS + i);
        }
    };
    blocks[0] = 0
#if WRONG == 4 /* nobody checks that registers fit */
    ;
    blocks[1]--
#endif
}

init {
    atomic {
        number = 0;
        do
        :: c_expr { number + 1 < PROGRAMS } -> number++
        :: break
        od;
        take_program();
        number = 0
    }
    do
    EACH_TASK(COMMAND)
    EVICT(0)
    EVICT(1)
#if GRAPH > 0
    EVICT(2)
#endif
#if GRAPH > 1
    EVICT(3)
#endif
    :: else -> break
    od;
    /* Nothing can happen any more. */
    assert(over == ALL && head[1] == 0 && head[2] == 0 && place[0] == NOWHERE && place[1] == NOWHERE)
}
