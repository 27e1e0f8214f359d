/*
 * The lock of runtime/base/owned_lock.h: an owner, two others, and the buffer in which a processor keeps the owner's
 * stores of `busy` for a while. README.md says what stands for what.
 */
#ifndef OPS
#define OPS 4 /* of the owner; each of the others makes two */
#endif
#ifndef WRONG
#define WRONG 0
#endif

bit word, alone, busy;
byte inside;
chan stores = [4] of { bit };

/* An exchange: behind it no store of its processor is left in the buffer. */
inline owner_locks() { atomic { empty(stores) && word == 0 -> word = 1 } }
inline in_and_out() { inside++; assert(inside == 1); inside-- }

active proctype Owner()
{
    byte n = 0;
    do
    :: n == OPS -> break
    :: n < OPS && !alone -> /* dagi_owned_begin() */
        if
        :: WRONG != 3 -> owner_locks(); alone = 1; word = 0
        :: WRONG == 3 -> alone = 1
        fi;
        n++
    :: n < OPS -> /* dagi_owned_lock_own() */
        n++;
        if
        :: !alone -> owner_locks(); in_and_out(); word = 0
        :: alone ->
            stores ! 1;
            if
            :: alone || WRONG == 4 -> in_and_out(); stores ! 0
            :: !alone && WRONG != 4 -> stores ! 0; owner_locks(); in_and_out(); word = 0
            fi
        fi
    od
}

/* A store becomes visible at any time. */
active proctype Buffer()
{
end:
    do
    :: atomic { stores ? busy }
    od
}

/* dagi_owned_try_lock(), and what follows; one that is not free is tried again. */
active [2] proctype Other()
{
    byte n = 0;
    do
    :: n == 2 -> break
    :: n < 2 ->
        atomic { word == 0 -> word = 1 };
        if
        :: alone ->
            alone = 0;
            if
            :: WRONG != 1 -> empty(stores) /* the fence in the owner */
            :: WRONG == 1 -> skip
            fi;
            if
            :: WRONG != 2 -> busy == 0
            :: WRONG == 2 -> skip
            fi
        :: !alone -> skip
        fi;
        in_and_out();
        word = 0;
        n++
    od
}
