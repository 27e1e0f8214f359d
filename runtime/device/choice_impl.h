/* Shared by the files behind choice.h. */
#ifndef DAGI_CHOICE_IMPL_H
#define DAGI_CHOICE_IMPL_H

#include "choice.h"

#include "../data/copies.h"

#include <stdatomic.h>

enum {
    DAGI_SAMPLES = 15,     /* the last times that count; odd */
    DAGI_SIZE_STEPS = 4,   /* sizes that are told apart, per doubling */
    DAGI_SIZES = 48 * DAGI_SIZE_STEPS,
    DAGI_CLASS_LISTS = 256 /* a power of two */
};

/* The last of a series of numbers, none of them a NaN. sorted[0 ... count) are those of last[0 ... count), least
 * first: each task adds one and asks for the median, so these are kept in order, not sorted each time. */
typedef struct dagi_series {
    double last[DAGI_SAMPLES], sorted[DAGI_SAMPLES];
    int count, next; /* next: where the oldest is once there are DAGI_SAMPLES */
} dagi_series;

void dagi_series_add(dagi_series *s, double x);

/* Times of one class at one model and size; guarded by the lock of the class but for the atomics. */
typedef struct dagi_times {
    dagi_series seconds;
    _Atomic double estimate; /* what follows from them; 0 = nothing yet */
    _Atomic int known;       /* samples, up to DAGI_SAMPLES */
    _Atomic int tried;       /* given there on trial */
} dagi_times;

/* How a class was shared between cores and devices; guarded by the lock of the class. */
typedef struct dagi_portions {
    int64_t tasks;
    double cores, all; /* operations given to them */
    double owed;       /* operations that cores have not got of their share as it was for each task */
    double rates;      /* the cores' part by rates, of the last of its large tasks; < 0 = not known */
    double most;       /* operations of the largest */
} dagi_portions;

/* What cores had to do for a program of late, weighted with how late; guarded by the lock of its class. */
typedef struct dagi_load {
    double alone;  /* seconds in what no device takes */
    double shared; /* seconds that all of what was shared would take them */
} dagi_load;

struct dagi_choice_class {
    dagi_choice_class *next; /* of its list; does not change once it is in there */
    uint64_t hash;
    char *program, *name;
    dag_precision prec;
    _Atomic int lock;
    /* [model * DAGI_SIZES + size]; each is made once, under the lock, and stays. */
    _Atomic(dagi_times *) *times;
    _Atomic uint64_t measured; /* a bit for each model (those 64 apart share one): there are times of some size */
    dagi_portions shares;
    dagi_load load; /* of the class without a name, which stands for its program */
};

/* Transfers between two models; guarded by the lock of the choice but for the atomics. */
typedef struct dagi_link {
    dagi_series small, large;     /* seconds; bytes per second */
    _Atomic double latency, rate; /* what follows, or the guess */
} dagi_link;

typedef struct dagi_model {
    char *name;
    dagi_series correction;    /* logarithms of measured / guessed */
    _Atomic double factor;     /* that the guess is multiplied with */
} dagi_model;

struct dagi_choice {
    int nplaces, nmodels;
    dagi_portion share; /* fixed while tasks are under way, as is */
    int workers;
    double slower; /* fixed likewise: the clock's factor */
    int model_of[DAGI_MAX_SPACES]; /* place -> model; 0: the cores */
    dagi_model model[DAGI_MAX_SPACES];
    dagi_link *link; /* [from * nmodels + to] */
    _Atomic int lock; /* of links and of models' corrections */
    _Atomic int64_t trials;
    _Atomic uint32_t turn; /* of the policy of that name: devices given out so far */
    _Atomic(dagi_choice_class *) classes[DAGI_CLASS_LISTS];
};

#endif
