/*
 * Workers: the loop that finds tasks and runs them, what a worker does that finds none, and how all
 * notice that nothing can happen any more.
 */
#ifndef DAGI_WORKER_H
#define DAGI_WORKER_H

#include "../sched/sched.h"
#include "../task/task.h"
#include "port.h"

/*
 * What a worker is at. A worker that is *active* holds a task or looks for one, or makes tasks ready;
 * it becomes active before it does any of that, and ceases to be when it has found none to pop, steal
 * or start and has flushed its counts. One that *searches* is awake and will see what others push. One
 * that *polls* is the searcher that keeps messages moving. A searcher may be active or not: it stays
 * active for some microseconds. Managing a device is a role beside the state: a manager whose device
 * is busy is OUT when it has run no task for a while, else it RUNS. So is leaving short tasks to
 * others, which is done in RUNS or SEARCHES.
 *
 *   OUT            outside of the library, or awake in it for a device alone
 *   RUNS           active: runs tasks, or gives some to an open pool
 *   SEARCHES       active, searches
 *   SEARCHES_IDLE  searches
 *   POLLS          active, searches, polls
 *   POLLS_IDLE     searches, polls
 *   PARKED         asleep on its condition, on the list of those that can be woken
 *   AT_BELL        polls; asleep where messages wake it, or looking after them there; on the list
 *   AT_BELL_ACTIVE the same when what it has handled there made tasks ready
 *
 * A thread with workers in several contexts is OUT in all but one of them while it RUNS tasks, is the
 * searcher of each while it finds none, and on the list of each while it sleeps.
 *
 * The owner changes its state, with two exceptions: who takes a worker off the list, be it itself,
 * makes it a searcher, and this and all changes of a worker on the list are made under park_lock.
 */
typedef enum dagi_worker_state {
    DAGI_OUT,
    DAGI_RUNS,
    DAGI_SEARCHES,
    DAGI_SEARCHES_IDLE,
    DAGI_POLLS,
    DAGI_POLLS_IDLE,
    DAGI_PARKED,
    DAGI_AT_BELL,
    DAGI_AT_BELL_ACTIVE,
    DAGI_WORKER_STATES
} dagi_worker_state;

/* What is counted of a worker in a state. */
enum { DAGI_IS_ACTIVE = 1, DAGI_IS_SEARCHING = 2, DAGI_IS_POLLING = 4, DAGI_IS_LISTED = 8 };
extern const uint8_t dagi_worker_is[DAGI_WORKER_STATES];

/* Where a thread sleeps. */
typedef struct dagi_bed {
    pthread_mutex_t lock;
    pthread_cond_t cond;
} dagi_bed;

struct dagi_thread {
    struct dagi_runner runner; /* first */
    /* -- fixed */
    int cpu; /* worker whose core it wants to be bound to, -1: none */

    /* -- seat.c: the thread that it is, from dagi_workers_start() to dagi_workers_stop(); NULL else.
     *    Changed while it is neither on the list nor in use. */
    struct dagi_seat *seat;
    dagi_bed *bed;             /* the seat's, else `own` */
    _Atomic int leaving;       /* 1: the context ends, the thread is to give it up */
    struct dagi_worker *coming; /* the bed's lock: the next that is to come to that seat */

    /* -- see dagi_worker_state */
    _Atomic int state;

    /* -- owner */
    struct dag_task *next;    /* the task to run next, kept for its warm data */
    int leaves;               /* 1: sched->leaves() has told it to leave even its own tasks */
    uint64_t last_progress;   /* dagi_ticks() of the last look at messages */
    uint64_t idle_since;      /* dagi_now() when the last task or message was seen; 0 = busy */
    uint64_t alone_since;     /* dagi_now() when no rank that shares the processors was seen to compute */
    uint64_t congested_since; /* dagi_now() since when comm has been congested and still; 0 = not */
    uint64_t last_wave;       /* dagi_now() of the last request for a wave */
    uint64_t waits_since;     /* dagi_now() since when its devices have had no news; 0 = not */
    int (*done)(void *arg);   /* worker 0 in dagi_run_until(), NULL otherwise */
    void *done_arg;
    uint64_t pauses;          /* worker 0 in dagi_run_for() and dagi_run_ticks(): from when on it comes back after
                                 each task, by dagi_ticks(); 1: always, 0: never */
    /* For a thread with workers in several contexts; see seat.c. */
    int shared;               /* 1: it is on such a thread */
    int rested;               /* 1: the last look found nothing */
    uint64_t turn_since;      /* dagi_ticks() when its turn began */
    struct dagi_worker *mate; /* the next worker of the same thread */

    /* -- shared: sleeping; park_lock of the context, and the pair below for the sleep itself */
    _Alignas(DAGI_LINE) struct dagi_worker *park_next;
    int sleeping; /* the bed's lock */
    dagi_bed own;
};

static inline struct dagi_thread *dagi_thread(const struct dagi_worker *w)
{
    return (struct dagi_thread *)(uintptr_t)w;
}

/*
 * `activity` counts in its low 16 bits the workers that are active and above them how often one became
 * so. The one that makes tasks ready while idle (a message handler) becomes active first. Hence: two
 * reads of equal activity with zero active workers, and in between every pool seen without ready tasks
 * and without instances to start, prove that no task ran in between.
 */
#define DAGI_ACTIVE_MASK UINT64_C(0xffff)
#define DAGI_ACTIVE_ONE (UINT64_C(0x10000) + 1)

/* Messages; devices; that other contexts use the same threads. */
enum { DAGI_ATTEND_MESSAGES = 1, DAGI_ATTEND_DEVICES = 2, DAGI_ATTEND_OTHERS = 4 };

/* Nanoseconds per unit of work, the shortest of late, 0: not known; and calls until the other way is tried, of
 * how many. */
struct dagi_habit {
    double alone, shared;
    int left, span;
};

enum { DAGI_LEAST_WORK = 12, DAGI_WORK_CLASSES = 24 }; /* powers of two */

/* Work of the application's thread of which workers may take some; see offer.c. */
struct dagi_offer {
    /* -- the application's thread; part and arg are read by who has taken units */
    void (*part)(void *arg, int first, int end);
    void *arg;
    double missed; /* nanoseconds that one more would have saved since the last one was called */
    int vain;      /* doublings of that */
    struct dagi_habit habits[DAG_WORK_KINDS][DAGI_WORK_CLASSES];

    /* -- shared */
    _Alignas(DAGI_LINE) _Atomic uint64_t left; /* units that nobody has taken */
    _Atomic int least;                         /* as many or more are taken at once */
    _Alignas(DAGI_LINE) _Atomic int done;      /* units that workers have done */
    _Alignas(DAGI_LINE) _Atomic uint64_t called; /* dagi_now() when somebody was; 0: who was has come */
    _Atomic uint64_t waking; /* nanoseconds that took; 0: not known */
    _Atomic int expected;    /* 1: who searches does so for a while, since more may be offered */
};

/* The workers of a context. */
struct dagi_crew {
    struct dagi_tasks tasks; /* first */
    /* -- fixed after dag_init() */
    const dagi_sched_ops *sched;
    const dagi_messages_port *messages;
    const dagi_manager_port *manager;
    dagi_causes_port causes;
    /* The ranks that share the processors are as many as these or more. Nobody wakes a background
     * worker for tasks or messages: it looks by itself whether help is needed. */
    int helpers;
    /* 1: a worker without a task blocks until a message comes, at once; it is the only one. */
    int blocks;
    /* Ranks of this node that have active workers, counted by those that share processors; NULL: not here. */
    _Atomic int32_t *computing;
    _Atomic int attend; /* DAGI_ATTEND_...: what is to be looked after between tasks */
    dag_context *next_context; /* seat.c's, guarded there: in dagi_contexts */
    int seated; /* the same: its workers have threads */

    /* -- shared */
    _Alignas(DAGI_LINE) _Atomic uint64_t activity; /* see above */
    _Alignas(DAGI_LINE) _Atomic int searching; /* workers that search; not counted when single */
    _Atomic int parked;    /* length of park_list */
    _Atomic int polling;   /* 1: a background worker polls, others may sleep */
    _Atomic int app_polls; /* 1: worker 0 polls */
    _Atomic int news;      /* 1: worker 0 should ask its done() */
    /* Odd: the application thread is inside dagi_run_until() and has found nothing to return for.
     * Half of it: how often it was. */
    _Atomic uint64_t blocked;
    pthread_mutex_t park_lock;
    struct dagi_worker *park_list; /* park_lock; linked by park_next */
    struct dagi_offer offer;
};

static inline struct dagi_crew *dagi_crew(const dag_context *ctx)
{
    return (struct dagi_crew *)(uintptr_t)ctx;
}

/* ---- state.c ---------------------------------------------------------------------------- */

/* The one function that changes a state and what is counted of it. */
void dagi_worker_become(struct dagi_worker *w, dagi_worker_state from, dagi_worker_state to);
/* Become active before making or taking a task. */
void dagi_activate(struct dagi_worker *w);
/* The same if `activity` is still what it was, that is, if nobody has become active since; false: not. */
bool dagi_activate_alone(struct dagi_worker *w, uint64_t activity);
/* Cease to be active; w is awake. */
void dagi_deactivate(struct dagi_worker *w);
static inline dagi_worker_state dagi_worker_at(const struct dagi_worker *w)
{
    return (dagi_worker_state)atomic_load_explicit(&dagi_thread(w)->state, memory_order_relaxed);
}
static inline bool dagi_worker_is_active(const struct dagi_worker *w)
{
    return dagi_worker_is[dagi_worker_at(w)] & DAGI_IS_ACTIVE;
}
/* NULL, or what is wrong with the states and counts of a context at rest: no other thread runs, or all
 * sleep. For tests. */
const char *dagi_crew_check(const dag_context *ctx);

/* ---- worker.c --------------------------------------------------------------------------- */

extern const dagi_crew_port dagi_crew_tasks;
/* What a worker sleeps on. */
void dagi_thread_init(struct dagi_thread *t);
void dagi_thread_fini(struct dagi_thread *t);

/*
 * Compute and make progress until done(arg) is nonzero; the way to wait for anything. Worker 0 on
 * the application thread only. done() is called without a lock, at least once per round.
 */
void dagi_run_until(struct dagi_worker *w, int (*done)(void *arg), void *arg);
/* Run something or make progress for about that long, at least one round; never parked. */
void dagi_run_for(struct dagi_worker *w, uint64_t nanoseconds, int (*done)(void *arg), void *arg);
/* The same by dagi_ticks(), for tasks so short that done() is not asked after each. */
void dagi_run_ticks(struct dagi_worker *w, uint64_t ticks, int (*done)(void *arg), void *arg);
/* Tasks are ready: give the list (linked by next) to the scheduler and wake who can run them. */
void dagi_ready(struct dagi_worker *w, struct dag_task *list);
/* Start some instances; false = there were none. */
bool dagi_start_some(struct dagi_worker *w);
/* 1: so many tasks are ready here (some thousands) that peers should not send more work for now.
 * Cheap, may be stale. Comm then keeps back the credit of the messages it handles, so what a flood
 * of messages can pile up is bounded; critical messages under way are delivered all the same. */
int dagi_ready_many(const dag_context *ctx);
/* Tasks for a while, or a little rest. */
void dagi_work(struct dagi_worker *w);
/* The application thread leaves the library: it keeps no task and is idle. */
void dagi_leave(struct dagi_worker *w);

/* ---- ahead.c ---------------------------------------------------------------------------- */

/* From now on kernels are told what their worker's next task reads. */
void dagi_ahead_open(void);

/* ---- seat.c ----------------------------------------------------------------------------- */

/*
 * A thread of the process. All contexts share these: worker i of each is thread i, and worker 0 the
 * application's thread that made the context. There are as many background threads as the largest
 * context needs, however many contexts there are.
 */
struct dagi_seat {
    /* -- fixed */
    int index; /* of its workers */
    pthread_t thread;
    dagi_bed bed;
    pthread_cond_t left; /* a worker has left, or all */

    /* -- owner */
    struct dagi_worker *first; /* linked by mate */
    int count;
    /* Where dagi_make_way() saw an application's thread last; -1: nowhere yet. That thread reads it without
     * the lock, under which it is written. */
    atomic_int pu;

    /* -- shared */
    int core; /* seat.c's lock: the worker to whose core it is bound; -1: to none */
    _Atomic int called;         /* 1: who is to come or to leave has changed */
    struct dagi_worker *coming; /* the bed's lock */
    int ends;                   /* the bed's lock: nobody will come any more */
    int users;                  /* seat.c's lock: workers that have come or will, and have not left */
    struct dagi_seat *next;     /* the same: of the application's threads */
};

/* The application's thread w, which is bound to nothing, is about to work: where it runs on the core of a
 * background thread both have half of that while another core idles, for up to seconds until the system
 * finds out. They change places. */
void dagi_make_way(const struct dagi_worker *w);

/* All contexts of this process, the youngest first: tools/gdb/dag.py begins there. */
extern dag_context *dagi_contexts;
void dagi_context_enter(dag_context *ctx); /* and it gets its number */
void dagi_context_leave(dag_context *ctx);
/* The first context of this process finds which part of the processors it has: the others cut theirs from
 * it. Returns the number of ranks that share them. */
int dagi_seats_share(dag_context *ctx);

/* Its workers get threads. */
dag_status dagi_workers_start(dag_context *ctx);
/* Its workers give their threads up, and keep no task. */
void dagi_workers_stop(dag_context *ctx);

/* A turn for each worker of w's thread, which has several, and rest if none has found anything. */
void dagi_seat_round(struct dagi_worker *w);
/* The workers of w's thread as far as it looks after them: w alone, or all. */
static inline struct dagi_worker *dagi_mates(struct dagi_worker *w)
{
    return dagi_thread(w)->shared ? dagi_thread(w)->seat->first : w;
}
static inline struct dagi_worker *dagi_next_mate(const struct dagi_worker *w)
{
    return dagi_thread(w)->shared ? dagi_thread(w)->mate : NULL;
}
/* The thread of w is to see who comes and who leaves. */
static inline bool dagi_is_called(const struct dagi_worker *w)
{
    const struct dagi_seat *seat = dagi_thread(w)->seat;
    return seat && atomic_load(&seat->called);
}
/* w has worked for this context for long enough, since its thread has others, too. */
static inline bool dagi_turn_is_over(const struct dagi_worker *w)
{
    enum { TURN_TICKS = 1000000 };
    return dagi_thread(w)->shared && dagi_ticks() - dagi_thread(w)->turn_since > TURN_TICKS;
}

/* ---- idle.c ----------------------------------------------------------------------------- */

/* Among helpers, worker 0 looks after messages as long as it is in the library. */
static inline bool dagi_app_attends(const dag_context *ctx)
{
    return dagi_crew(ctx)->helpers && (atomic_load(&dagi_crew(ctx)->blocked) & 1);
}
/* There seems to be something to take or to start. */
bool dagi_something(struct dagi_worker *w);
/* For how long, at the time `now`, an idle worker that looks after messages has been in the way of other ranks;
 * crew->computing is set. */
uint64_t dagi_in_the_way(struct dagi_worker *w, uint64_t now);
/* Look after messages; number of events. */
int dagi_make_progress(struct dagi_worker *w);
/* w is busy again, or leaves. */
void dagi_end_search(struct dagi_worker *w);
/* Found nothing to run. */
void dagi_rest(struct dagi_worker *w);
/* No worker of the thread has found anything for so many nanoseconds. */
void dagi_rest_all(struct dagi_worker *w, uint64_t idle);
/* The worker has left tasks alone, since others get more done without it (sched/thief.h). */
void dagi_stay_away(struct dagi_worker *w, bool searches);
/* Wait for a moment, which is longer the longer nothing has happened (nanoseconds). */
void dagi_wait_a_moment(struct dagi_worker *w, uint64_t idle);
/* The trace learns why w does nothing. */
void dagi_note_idle(struct dagi_worker *w, bool congested, bool asleep);

/* ---- offer.c ---------------------------------------------------------------------------- */

/* There are units to take, or the worker was called to come. */
bool dagi_offered(const struct dagi_worker *w);
/* Take units of what is offered until none is left; false: there was none. */
bool dagi_offer_join(struct dagi_worker *w);
/* Look for such for about a microsecond, or until there is something else to do. */
bool dagi_offer_watch(struct dagi_worker *w);

/* ---- sleep.c ---------------------------------------------------------------------------- */

/* There is something to start or to run: wake a sleeping worker, unless one is awake and searches,
 * or they look by themselves. */
void dagi_wake_one(dag_context *ctx);
/* Wake `who`, or any (NULL), if it is parked. The woken one is searching from now on. */
void dagi_unpark(dag_context *ctx, const struct dagi_worker *who);
/* Wake worker 0 if it sleeps in dagi_run_until(): something it may wait for has happened. */
void dagi_wake_application(dag_context *ctx);
/* w, which is searching and has been idle for so many nanoseconds, sleeps until it is woken, unless
 * there is a reason to stay awake; all workers of its thread do. A helper comes back by itself as well,
 * then it has been idle all the time. */
void dagi_park(struct dagi_worker *w, uint64_t idle);
/* The worker that looks after messages, idle for so many nanoseconds, sleeps until one comes, or a
 * reason to run tasks. It comes back by itself now and then, then it has been idle all the time. */
void dagi_park_at_bell(struct dagi_worker *w, uint64_t idle);

/* ---- stall.c ---------------------------------------------------------------------------- */

/* Called by an idle worker of a context with one rank: have all come to rest in vain? Then the
 * first pool concerned is ended; nonzero. */
int dagi_stall_check(struct dagi_worker *w);
/* Called by an idle worker of rank 0 of several: ask for a wave when it is time. */
void dagi_stall_wave(struct dagi_worker *w);

/* What this rank brings to a counting wave; comm/comm.h says what waves are, and calls both under its
 * progress lock. */
typedef struct dagi_look {
    int idle;            /* and: no ready or running task, nothing to start, no hold */
    uint32_t first_open; /* lowest id of a pool whose part here is not over; UINT32_MAX none */
    uint32_t added;      /* pools added so far */
    int blocked;         /* the application thread is inside dagi_run_until() */
    uint64_t activity;   /* how often a worker ceased to be idle */
} dagi_look;
dagi_look dagi_wave_look(dag_context *ctx);
void dagi_wave_quiet(struct dagi_worker *w, uint32_t first_open);

#endif
