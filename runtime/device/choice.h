/*
 * Where a task runs best: what kernels and transfers took so far, and the choice that follows.
 *
 * Estimated completion = backlog of the place, or the time until devices have made the inputs if that is
 * longer, + bytes to move there / bandwidth + kernel time. So a
 * core takes a task whose inputs have to come from a device only where it wins with that counted.
 *
 * Places are the memories of copies.h: 0 are the cores of the host, 1.. the devices. Times are kept
 * per class of tasks (program, precision, name), per model of place (all devices with one name
 * learn together) and per size, in steps of a quarter of an octave; the median of the last times
 * counts, so that a few runs that were held up do not. A size without times of its own is
 * estimated from its neighbours, a place without any from a rate for its kind, corrected by what
 * its other kernels took. A place that may be better than it is known to be gets up to
 * DAGI_CHOICE_TRIES tasks of a class and size on trial, when with a quarter of its estimate it
 * would win.
 *
 * Threads: all but new, free, load and save may be called by any thread. Invariants: a class, once
 * made, stays at its address until dagi_choice_free(); the list of classes only grows, by
 * compare-and-swap; samples are guarded by the lock of their class (links: by that of the choice),
 * and the estimate that follows from them is one atomic number that readers take without a lock.
 * Locks are held for some dozens of instructions, and nothing is called under them.
 */
#ifndef DAGI_CHOICE_H
#define DAGI_CHOICE_H

#include <dag/types.h>

#include <stddef.h>
#include <stdint.h>

enum { DAGI_CHOICE_TRIES = 3 };
#define DAGI_CHOICE_UNKNOWN (-1.0)

typedef struct dagi_choice dagi_choice;
typedef struct dagi_choice_class dagi_choice_class;

typedef struct dagi_choice_place {
    const char *model; /* what the cores are, or the name of the product; copied */
} dagi_choice_place;

/* places[0] are the cores. NULL = out of memory. */
dagi_choice *dagi_choice_new(const dagi_choice_place *places, int nplaces);
void dagi_choice_free(dagi_choice *choice); /* NULL is allowed */
/* Before all else: the clock by which it is told times runs so many times slower than the node's, so guesses do. */
void dagi_choice_slower(dagi_choice *choice, double factor);

/* The class of that name, made when there is none; some 30 ns, so there is no need to keep it.
 * NULL = out of memory, and taken everywhere below as a class of which nothing is known. */
dagi_choice_class *dagi_choice_class_of(dagi_choice *choice, const char *program,
                                        dag_precision prec, const char *name);

/* Seconds of one task. `size`: bytes of its flows, or any other number that grows with its work;
 * the same measure whenever the class is named. UNKNOWN: it has not run there, nor at a size
 * near. */
double dagi_choice_kernel(const dagi_choice *choice, const dagi_choice_class *cls, int place,
                          uint64_t size);
/* The same, and a guess where it is not known: always > 0. */
double dagi_choice_expect(const dagi_choice *choice, const dagi_choice_class *cls, int place,
                          uint64_t size);
/* How many times of that very step of sizes its estimate stands on, some of the last ones. */
int dagi_choice_known(const dagi_choice *choice, const dagi_choice_class *cls, int place, uint64_t size);
/* One task took so long at that place: from the start of its kernels to their end, without waiting
 * and transfers. */
void dagi_choice_learn(dagi_choice *choice, dagi_choice_class *cls, int place, uint64_t size,
                       double seconds);

/* Seconds to move that many bytes, 0 for none and where from == to; and what one transfer took. */
double dagi_choice_move(const dagi_choice *choice, int from, int to, uint64_t bytes);
void dagi_choice_learn_move(dagi_choice *choice, int from, int to, uint64_t bytes, double seconds);

/* A place where a task could run. */
typedef struct dagi_candidate {
    int place;
    double backlog; /* seconds until it could start there: what is queued and under way, and inputs that are still made */
    double move;    /* seconds for its inputs: the sum of dagi_choice_move() */
    double kernel;  /* set by dagi_choice_best(): its kernel time as estimated */
} dagi_candidate;

/* The candidate to take, its index; count >= 1. The first of equals. */
int dagi_choice_best(dagi_choice *choice, dagi_choice_class *cls, uint64_t size,
                     dagi_candidate *candidates, int count);
/*
 * A way to choose, by the setting device_policy. `place`: the candidate to take, its index, with `kernel`
 * of that one set; count >= 1, the host's stands last where it is one. `learn`: as dagi_choice_learn(),
 * for what a task took.
 */
typedef struct dagi_policy {
    const char *name;
    int (*place)(dagi_choice *choice, dagi_choice_class *cls, uint64_t size,
                 dagi_candidate *candidates, int count);
    void (*learn)(dagi_choice *choice, dagi_choice_class *cls, int place, uint64_t size,
                  double seconds);
    int learns; /* 0: it keeps no times */
} dagi_policy;

/* policy.c: the row of that name; NULL, and the names that there are. */
const dagi_policy *dagi_policy_named(const char *name, char *names, size_t size);

/* The part of the operations of each class that cores get, by the setting core_share. */
typedef enum dagi_portion_how {
    DAGI_PORTION_COST, /* whatever the policy says */
    DAGI_PORTION_AUTO, /* by rates, by what cores do alone, and by who has more to do */
    DAGI_PORTION_FIXED
} dagi_portion_how;
typedef struct dagi_portion {
    dagi_portion_how how;
    double fixed; /* 0 ... 1 */
} dagi_portion;

/* portion.c. 0: the text makes no sense, beside that policy; `why` is a sentence. */
int dagi_portion_read(const char *text, const dagi_policy *policy, dagi_portion *share, char *why, size_t size);
/* Before the first task; without it: COST. `workers`: cores that run tasks while others look after
 * devices. */
void dagi_choice_portion(dagi_choice *choice, const dagi_portion *share, int workers);
/* Another share, while no task is under way: what classes were given so far is forgotten, times are kept. */
void dagi_choice_share_anew(dagi_choice *choice, const dagi_portion *share);
/* Choose by the share where that is set and both cores and devices are candidates, and among devices by the
 * policy; else by the policy alone. As dagi_policy.place. */
int dagi_choice_take(dagi_choice *choice, const dagi_policy *policy, dagi_choice_class *cls, uint64_t size,
                      dagi_candidate *candidates, int count);
/* A core has run a task of that program for so long. `cls`: its class, NULL: one without a body for devices. */
void dagi_choice_core_ran(dagi_choice *choice, const char *program, dag_precision prec, dagi_choice_class *cls,
                          double seconds);
/* How a class was shared. */
typedef struct dagi_portioned {
    const char *program, *name; /* live as long as the choice */
    int64_t tasks;
    double used;  /* the part of its operations that cores got */
    double rates; /* the cores' part of all rates as measured; < 0: not known */
} dagi_portioned;
/* The class of that index, in any order; 0: there are no more. */
int dagi_choice_portions(dagi_choice *choice, int index, dagi_portioned *shared);

/* Tasks that were given to a place on trial. */
int64_t dagi_choice_trials(const dagi_choice *choice);

/*
 * Keep what was learned in a file (setting perf_model; none by default: a library leaves no files
 * behind unasked, and a run does not depend on those before it). Load before the first task. The
 * file is text, written to a name beside it and renamed, so readers find the old or the new one.
 * 0: done, or there is no such file yet. 1: nothing was read or written; `why` is a sentence. A
 * file that is damaged is read not at all, and replaced when saving; one that is something else is
 * left alone. What the file knows and this process does not is kept when saving.
 */
int dagi_choice_load(dagi_choice *choice, const char *path, char *why, size_t size);
int dagi_choice_save(dagi_choice *choice, const char *path, char *why, size_t size);

#endif
