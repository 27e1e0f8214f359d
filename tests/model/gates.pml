/*
 * Open pools whose ranks run one program and not in step (runtime/comm/ahead.c): what is sent for tasks that a rank has
 * not come to waits, there or at the sender, and no rank waits for ever. README.md says what stands for what. The
 * program is any: which rank runs each task, and which earlier ones it reads, is chosen first.
 */
#ifndef RANKS
#define RANKS 2
#endif
#ifndef TASKS
#define TASKS 4
#endif
#ifndef WINDOW
#define WINDOW 1 /* unfinished tasks of a rank: its own, and those that take what comes */
#endif
#ifndef KEEP
#define KEEP 0 /* messages that a rank keeps for later before it tells senders to hold theirs back */
#endif
#ifndef HELD
#define HELD 0 /* messages that a rank holds back before it gives no task */
#endif
#ifndef STEP
#define STEP 2 /* positions before a program that goes on tells where it is */
#endif
#ifndef WRONG
#define WRONG 0
#endif
#define NONE 255
#define ALL 254 /* as a limit: no message is beyond */

/* Of what task t makes, on its way to rank d. */
#define NOTHING 0
#define QUEUED 1
#define SENT 2 /* it has the credit of its way */
#define KEPT 3
#define DELIVERED 4

byte owner[TASKS];
bool reads[TASKS * TASKS]; /* [t * TASKS + p] */
byte first[TASKS * RANKS]; /* position of the first reader on a rank; NONE */
byte via[TASKS * RANKS];   /* who sends it there: the owner, or a rank that passes it on */
byte place[TASKS];         /* position that its messages bear: the first reader on another rank */

byte pos[RANKS];   /* the program has come there */
bool given[TASKS]; /* the task has got into the window */
bool done[TASKS];
byte state[TASKS * RANKS];
byte limit[RANKS * RANKS]; /* [s * RANKS + d]: d takes from s what is before it */
bool shut[RANKS * RANKS];

#define MSG(t, d) ((t) * RANKS + (d))
#define WAY(s, d) ((s) * RANKS + (d))
#define BEYOND(t, d) (place[t] >= limit[WAY(via[MSG(t, d)], d)])

#if RANKS == 2
#define SUM_RANKS(F, a) (F(a, 0) + F(a, 1))
#define EACH_RANK(F, a) F(a, 0) F(a, 1)
#else
#define SUM_RANKS(F, a) (F(a, 0) + F(a, 1) + F(a, 2))
#define EACH_RANK(F, a) F(a, 0) F(a, 1) F(a, 2)
#endif
#if TASKS == 3
#define SUM_TASKS(F, a) (F(a, 0) + F(a, 1) + F(a, 2))
#define EACH_TASK(F, a) F(a, 0) F(a, 1) F(a, 2)
#elif TASKS == 4
#define SUM_TASKS(F, a) (F(a, 0) + F(a, 1) + F(a, 2) + F(a, 3))
#define EACH_TASK(F, a) F(a, 0) F(a, 1) F(a, 2) F(a, 3)
#else
#define SUM_TASKS(F, a) (F(a, 0) + F(a, 1) + F(a, 2) + F(a, 3) + F(a, 4))
#define EACH_TASK(F, a) F(a, 0) F(a, 1) F(a, 2) F(a, 3) F(a, 4)
#endif

/* Unfinished on rank r: tasks, and what takes messages for readers that the program has come to. */
#define UNFINISHED_OF(r, t)                                                                        \
    ((owner[t] == r && given[t] && !done[t]) +                                                     \
     (owner[t] != r && first[MSG(t, r)] < pos[r] && state[MSG(t, r)] != DELIVERED))
#define UNFINISHED(r) SUM_TASKS(UNFINISHED_OF, r)
#define KEPT_OF(r, t) (state[MSG(t, r)] == KEPT)
#define KEPT_BY(r) SUM_TASKS(KEPT_OF, r)
#define HELD_TO(rt, d) (state[MSG((rt) % 8, d)] == QUEUED && via[MSG((rt) % 8, d)] == (rt) / 8 && BEYOND((rt) % 8, d))
#define HELD_OF(r, t) SUM_RANKS(HELD_TO, ((r) * 8 + t))
#define HELD_BY(r) SUM_TASKS(HELD_OF, r)
#define MISSES_OF(t, p)                                                                            \
    (reads[t * TASKS + p] && !(owner[p] == owner[t] -> done[p] : state[MSG(p, owner[t])] == DELIVERED))
#define MISSES(t) SUM_TASKS(MISSES_OF, t)
#define UNOVER_OF(r, t)                                                                            \
    ((owner[t] == r && !done[t]) + (first[MSG(t, r)] != NONE && owner[t] != r && state[MSG(t, r)] != DELIVERED) + \
     SUM_RANKS(UNSENT_TO, ((r) * 8 + t)))
#define UNSENT_TO(rt, d) (via[MSG((rt) % 8, d)] == (rt) / 8 && state[MSG((rt) % 8, d)] <= QUEUED && first[MSG((rt) % 8, d)] != NONE)
#define OVER(r) (pos[r] == TASKS && SUM_TASKS(UNOVER_OF, r) == 0)

/* The task of the last position that the program has come to has still to get into the window. */
#define ENTERS(r) (pos[r] > 0 && owner[pos[r] - 1] == r && !given[pos[r] - 1])
#if WRONG == 5 /* who keeps much gives nothing, either */
#define MAY_GIVE(r) (UNFINISHED(r) < WINDOW && HELD_BY(r) <= HELD && KEPT_BY(r) <= KEEP)
#else
#define MAY_GIVE(r) (UNFINISHED(r) < WINDOW && HELD_BY(r) <= HELD)
#endif
#define WAITS(r) (pos[r] < TASKS && !MAY_GIVE(r))

/* Credit: one message at a time between two ranks. */
#if WRONG == 1 /* what is kept holds it */
#define TAKES(t, sd) (via[MSG(t, (sd) % 8)] == (sd) / 8 && (state[MSG(t, (sd) % 8)] == SENT || state[MSG(t, (sd) % 8)] == KEPT))
#else
#define TAKES(t, sd) (via[MSG(t, (sd) % 8)] == (sd) / 8 && state[MSG(t, (sd) % 8)] == SENT)
#endif
#define TAKES_OF(sd, t) TAKES(t, sd)
#define HAS_CREDIT(s, d) (SUM_TASKS(TAKES_OF, (s * 8 + d)) == 0)

#define PASS_TO(rt, d)                                                                             \
    if                                                                                             \
    :: d != (rt) / 8 && via[MSG((rt) % 8, d)] == (rt) / 8 && first[MSG((rt) % 8, d)] != NONE &&    \
       state[MSG((rt) % 8, d)] == NOTHING -> state[MSG((rt) % 8, d)] = QUEUED                      \
    :: else                                                                                        \
    fi;
#define PASS_ON(t, r) EACH_RANK(PASS_TO, ((r) * 8 + t))

#define TELL(s, r) shut[WAY(s, r)] = true; limit[WAY(s, r)] = pos[r];
/* It is kept, or a relay holds back what it got: who sends that is to stop. */
#define RECEIVE(t, r)                                                                              \
    if                                                                                             \
    :: pos[r] > place[t] -> state[MSG(t, r)] = DELIVERED                                           \
    :: else -> state[MSG(t, r)] = KEPT                                                             \
    fi;                                                                                            \
    PASS_ON(t, r)                                                                                  \
    if                                                                                             \
    :: (KEPT_BY(r) > KEEP || HELD_BY(r) > HELD) && !shut[WAY(via[MSG(t, r)], r)] ->                \
        TELL(via[MSG(t, r)], r)                                                                    \
    :: else                                                                                        \
    fi;

#define RUN(r, t) :: atomic { owner[t] == r && given[t] && !done[t] && MISSES(t) == 0 -> done[t] = true; PASS_ON(t, r) }
#define SEND(rt, d)                                                                                \
    :: atomic { via[MSG((rt) % 8, d)] == (rt) / 8 && state[MSG((rt) % 8, d)] == QUEUED &&          \
                !BEYOND((rt) % 8, d) && HAS_CREDIT((rt) / 8, d) ->                                     \
                state[MSG((rt) % 8, d)] = SENT }
#define SENDS(r, t) EACH_RANK(SEND, ((r) * 8 + t))
#define RECV(r, t) :: atomic { state[MSG(t, r)] == SENT -> RECEIVE(t, r) }
#define DELIVER(r, t)                                                                              \
    :: atomic { state[MSG(t, r)] == KEPT && pos[r] > place[t] -> state[MSG(t, r)] = DELIVERED }
#define ROOM(r) (pos[r] == TASKS || 2 * (KEPT_BY(r) + HELD_BY(r)) <= KEEP)
#if WRONG == 4 /* who waits does not tell where he is */
#define HAS_NEWS(r, s) (pos[r] >= limit[WAY(s, r)] + STEP)
#else
#define HAS_NEWS(r, s) (pos[r] >= limit[WAY(s, r)] + (WAITS(r) -> 1 : STEP))
#endif
#define MOVE(r, s)                                                                                 \
    :: atomic { shut[WAY(s, r)] && ROOM(r) -> shut[WAY(s, r)] = false; limit[WAY(s, r)] = ALL }    \
    :: atomic { shut[WAY(s, r)] && !ROOM(r) && HAS_NEWS(r, s) -> limit[WAY(s, r)] = pos[r] }

proctype rank(byte r)
{
    do
    :: atomic { pos[r] < TASKS && !ENTERS(r) && MAY_GIVE(r) -> pos[r]++ }
    :: atomic { ENTERS(r) && UNFINISHED(r) < WINDOW -> given[pos[r] - 1] = true }
    EACH_TASK(RUN, r)
    EACH_TASK(SENDS, r)
    EACH_TASK(RECV, r)
    EACH_TASK(DELIVER, r)
    EACH_RANK(MOVE, r)
    :: OVER(r) && !ENTERS(r) -> break
    od
}

/* Readers on other ranks, and the way there: one relays for the next where there are two, or all are served. */
inline facts()
{
    t = 0;
    do
    :: t < TASKS ->
        d = 0;
        place[t] = NONE;
        relay = owner[t];
        do
        :: d < RANKS ->
            first[MSG(t, d)] = NONE;
            p = t + 1;
            do
            :: p < TASKS ->
                if
                :: reads[p * TASKS + t] && owner[p] == d && d != owner[t] && first[MSG(t, d)] == NONE ->
                    first[MSG(t, d)] = p;
                    place[t] = (p < place[t] -> p : place[t])
                :: else
                fi;
                p++
            :: else -> break
            od;
            via[MSG(t, d)] = relay;
            if
            :: first[MSG(t, d)] != NONE && chained -> relay = d
            :: else
            fi;
            d++
        :: else -> break
        od;
        t++
    :: else -> break
    od
}

init {
    byte t, p, d, relay;
    bool chained;
    atomic {
        t = 1; /* the first task is rank 0's: any other is that by another name */
        do
        :: t < TASKS ->
            d = 0;
            do
            :: d < RANKS - 1 -> d++
            :: break
            od;
            owner[t] = d;
            p = 0;
            do
            :: p < t ->
                if
                :: reads[t * TASKS + p] = true
                :: skip
                fi;
                p++
            :: else -> break
            od;
            t++
        :: else -> break
        od;
        if
        :: chained = false
        :: RANKS > 2 -> chained = true
        fi;
        t = 0;
        do
        :: t < RANKS * RANKS -> limit[t] = ALL; t++
        :: else -> break
        od;
        facts();
        t = 0; p = 0; relay = 0;
        d = 0;
        do
        :: d < RANKS -> run rank(d); d++
        :: else -> break
        od
    }
}
