/*
 * Which worker alone runs tasks, runtime/task/alone.h: workers that come and go, each of which may be alone, and the
 * buffers in which processors keep stores of `busy` for a while. README.md says what stands for what.
 */
#ifndef WORKERS
#define WORKERS 3
#endif
#ifndef PERIODS
#define PERIODS 2 /* of work, of each worker */
#endif
#ifndef OPS
#define OPS 2 /* at most, in each period: questions and tasks */
#endif
#ifndef WRONG
#define WRONG 0
#endif

bit word, busy;
byte alone; /* 0, or 1 and the worker */
bit at_work[WORKERS];
byte inside, outside; /* workers at a task, without locks and with */
chan stores[WORKERS] = [2] of { bit };

/* An exchange: behind it no store of its processor is left in the buffer. */
inline lock() { atomic { empty(stores[me]) && word == 0 -> word = 1 } }

inline end_for_others()
{
    alone = 0;
    if
    :: WRONG != 3 -> i = 0; do :: i == WORKERS -> break :: i < WORKERS -> empty(stores[i]); i++ od
    :: WRONG == 3 -> skip
    fi;
    if
    :: WRONG != 4 -> busy == 0
    :: WRONG == 4 -> skip
    fi
}

/* dagi_work_begin() */
inline begin_work()
{
    if
    :: WRONG != 1 -> atomic { empty(stores[me]) -> at_work[me] = 1 }; seen = alone
    :: WRONG == 1 -> seen = alone; at_work[me] = 1
    fi;
    if
    :: seen == me + 1 -> skip
    :: seen == 0 && (WRONG == 2 || word == 0) -> skip
    :: else ->
        lock();
        if
        :: alone != 0 && alone != me + 1 -> end_for_others()
        :: else -> skip
        fi;
        word = 0
    fi
}

/* dagi_alone_seek() */
inline seek()
{
    if
    :: alone != 0 -> skip
    :: alone == 0 ->
        lock(); alone = me + 1; word = 0;
        others = 0;
        i = 0; do :: i == WORKERS -> break :: i < WORKERS -> others = others || (i != me && at_work[i]); i++ od;
        if
        :: others && WRONG != 5 ->
            lock();
            if
            :: alone == me + 1 -> alone = 0
            :: else -> skip
            fi;
            word = 0
        :: else -> direct = 1
        fi
    fi
}

inline with_locks() { outside++; assert(inside == 0); outside-- }

inline task()
{
    if
    :: direct && alone == me + 1 ->
        stores[me] ! 1;
        if
        :: alone == me + 1 -> inside++; assert(inside == 1 && outside == 0); inside--; stores[me] ! 0
        :: else -> stores[me] ! 0; direct = 0; with_locks()
        fi
    :: else -> direct = 0; with_locks()
    fi
}

proctype Worker(byte me)
{
    byte n = 0, ops, seen, i;
    bit direct = 0, others;
    do
    :: n == PERIODS -> break
    :: n < PERIODS ->
        begin_work();
        ops = 0;
        do
        :: ops == OPS -> break
        :: ops < OPS -> ops++; seek()
        :: ops < OPS -> ops++; task()
        od;
        atomic { WRONG == 6 || empty(stores[me]) -> at_work[me] = 0 }; /* release: behind all stores before */
        n++
    od
}

/* A store becomes visible at any time. */
proctype Buffer(byte its)
{
end:
    do
    :: atomic { stores[its] ? busy }
    od
}

init
{
    atomic {
        byte w = 0;
        do
        :: w == WORKERS -> break
        :: w < WORKERS -> run Worker(w); run Buffer(w); w++
        od
    }
}
