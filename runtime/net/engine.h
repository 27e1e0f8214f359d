/*
 * The door to a network: active messages with bounded eager credit, bulk transfers of 2D views,
 * progress. It knows nothing of tasks. An engine is a folder here and a row of the table in engine.c.
 */
#ifndef DAGI_ENGINE_H
#define DAGI_ENGINE_H

#include <dag/jdf.h>

#include <pthread.h>
#include <stdbool.h>

/* A 2D column-major view with the region of it that travels. */
typedef struct dagi_view {
    void *ptr;
    int64_t m, n, ld;
    size_t elem;
    dag_region region;
} dagi_view;

/* Bytes of a view when packed: the region's items alone. */
size_t dagi_view_bytes(const dagi_view *view);
void dagi_view_pack(const dagi_view *view, void *out);
void dagi_view_unpack(const dagi_view *view, const void *in);

/* Completed exactly once, by the engine, under the progress lock. */
typedef void (*dagi_done_fn)(void *arg, dag_status status);
/* `data` is valid during the call only, 8-byte aligned. */
typedef void (*dagi_am_fn)(void *arg, int source, const void *data, size_t bytes);

/* A rank's part of the question whether MPI can send from memory of devices. */
typedef struct dagi_direct_question {
    int wish;     /* enum dagi_gpu_mpi */
    int ndevices; /* of this rank */
    int handles;  /* 1: one of them has memory without addresses, of which MPI knows nothing */
    size_t room;  /* bytes that each of them has for the test at least; SIZE_MAX = there is none */
    /* Bytes of a pattern in the memory of a device: where; NULL = it cannot be done. */
    void *(*put)(void *arg, int device, const void *pattern, size_t bytes);
    void *arg;
} dagi_direct_question;

typedef struct dagi_engine dagi_engine;
/*
 * All functions but am_max() are called under the progress lock. Nothing blocks but agree(), wait() and
 * fini().
 *
 * Credit: every message that is not control is charged to the window (setting credit_bytes) of its
 * (sender, receiver) pair, by its bytes, a fixed amount for what MPI keeps per message, and a part
 * of the weight of its transfers (dagi_bulk_weight()), at most half a window. The receiver gives the
 * charge back after the message has been handled.
 *
 * Tags: a transfer that a message announces has a tag of the sender's choice. It is given out again
 * when the transfer has been sent and the receiver has told, now and then, that it has posted the
 * receive: until then a younger one of the same tag could be taken for it. The receiver of pieces
 * that it has asked for chooses tags itself, from others, and knows when they are free.
 */
typedef struct dagi_engine_ops {
    const char *name;
    /* Collective, and it blocks: the worst (largest) of the statuses that the ranks give, and the
     * lowest rank that gives it; if none gives one and the ranks have different settings where these
     * must agree, DAG_ERR_SETTING, and `differ` says which. It is called before anything is sent. */
    dag_status (*agree)(dagi_engine *e, dag_status mine, int *origin);
    void (*fini)(dagi_engine *e); /* collective; frees e */
    /* Begin an active message: where to write its `bytes` (8-byte aligned), or NULL when it would
     * exceed the credit towards dest: try again after progress. Control messages are always
     * accepted. `bulk`: weight of the transfers that it announces. am_send() sends the message
     * begun; only tag_take() is called in between. */
    void *(*am_begin)(dagi_engine *e, int dest, int control, size_t bytes, int64_t bulk);
    void (*am_send)(dagi_engine *e);
    size_t (*am_max)(const dagi_engine *e); /* most bytes of one active message */
    /* Messages handed to am_send() and messages handled, control included, CREDIT too. Messages
     * whose first byte is DAGI_AM_UNCOUNTED are left out. */
    void (*am_counts)(const dagi_engine *e, int64_t *sent, int64_t *received);
    /* First of `count` consecutive tags towards dest that are free, or DAGI_NO_TAG: try again after
     * progress. They are given out by tag_take(), and each is then to be used. */
    uint32_t (*tag_find)(dagi_engine *e, int dest, int count);
    void (*tag_take)(dagi_engine *e, int dest, uint32_t first, int count);
    /* The same of a receiver that is going to ask `source` for what it has posted receives for. */
    uint32_t (*tag_ask)(dagi_engine *e, int source, int count);
    /* Bulk transfers of a view that stays valid and (send) unchanged until `done`. */
    void (*send)(dagi_engine *e, int dest, uint32_t tag, const dagi_view *v, dagi_done_fn, void *);
    void (*recv)(dagi_engine *e, int src, uint32_t tag, const dagi_view *v, dagi_done_fn, void *);
    /* Handle arrivals and completions; number of events handled. */
    int (*progress)(dagi_engine *e);
    /* Wake those near ranks that sleep and have been sent something since. */
    void (*call)(dagi_engine *e);
    /* Collective, and it blocks; once, before anything is sent: may send() read memory of devices?
     * All ranks get the same answer. 0: `why` is a sentence; where a test has shown it the lowest
     * rank that has seen it gets *shown = 1. NULL: there are no other ranks. */
    int (*direct)(dagi_engine *e, const dagi_direct_question *q, char *why, size_t why_size,
                  int *shown);
    /* Sends and transfers under way, which may need progress() of this rank. */
    int (*under_way)(const dagi_engine *e);
    /* Block until an event has come, and handle it; on rank 0 for moments at most. NULL: it cannot. Where it can,
     * time is simulated, and to look again and again takes none. */
    void (*wait)(dagi_engine *e);
} dagi_engine_ops;

/* What a message is charged beyond its bytes: about what MPI keeps for one that nobody has received
 * yet. */
#define DAGI_AM_CHARGE 1024

#define DAGI_NO_TAG UINT32_MAX
/*
 * What `count` of `parts` transfers weigh, all of which have `bytes`, where memory is bounded: what MPI may keep of
 * those that nobody has received yet. Those above DAGI_BULK_MOST stay at the sender until they are
 * asked for. The least bounds how many tags they hold.
 */
#define DAGI_BULK_LEAST (INT64_C(16) << 10)
#define DAGI_BULK_MOST (INT64_C(256) << 10)
static inline int64_t dagi_bulk_weight(size_t bytes, int64_t parts, int64_t count)
{
    int64_t each = (int64_t)bytes / parts + 1;
    return count * (each < DAGI_BULK_LEAST || each > DAGI_BULK_MOST ? DAGI_BULK_LEAST : each);
}

/* First byte of messages that the waves themselves travel in. */
#define DAGI_AM_UNCOUNTED 0xff
/* First byte of messages of the trace; whoever observes handles them. */
#define DAGI_AM_TRACE 0xfe

/* A broadcast at its root. */
typedef struct dagi_broadcast {
    uint32_t pool;   /* id */
    uint16_t cls;    /* of the task whose data it has */
    uint32_t serial; /* of this root */
    uint32_t ranks;  /* that it goes to */
    uint64_t bytes;
    double seconds;  /* that it is predicted to take; 0 = not known */
    dag_bcast_tree tree;
} dagi_broadcast;

/* Who watches what goes over the network. All are called under the progress lock. */
typedef struct dagi_observer {
    /* A message is sent (out) or handled. */
    void (*message)(void *arg, int out, int peer, const void *data, size_t bytes);
    /* A bulk transfer that clock() saw begin is complete. */
    void (*transfer)(void *arg, int out, int peer, uint32_t tag, size_t bytes, uint64_t begin);
    uint64_t (*clock)(void);
    /* A broadcast sets out. */
    void (*broadcast)(void *arg, const dagi_broadcast *b);
    /* All of number `serial` of rank `root` is here. */
    void (*received)(void *arg, int32_t root, uint32_t serial);
    /* A message of the trace has come. */
    void (*trace)(void *arg, int source, const void *data, size_t bytes);
} dagi_observer;

struct dagi_engine {
    const dagi_engine_ops *ops;
    int rank, size;
    /* Ranks of this job on this node that run on the same set of processors, and which of them this
     * one is. */
    int sharing, share_index;
    int near; /* ranks of this job on this node */
    int32_t *node_of; /* [size]: of each rank the lowest on its node; NULL = one node, or a rank in each */
    int device_sharing; /* of these, those that use the same devices, wherever they are bound */
    struct dagi_bells *bells; /* bell.h; NULL = there are none, no_bells says why if they lack */
    struct dagi_bell *bell;   /* of this rank */
    char no_bells[128];
    double took;      /* seconds of the last agree() on this rank */
    double agreed_in; /* the same of the one before, on the rank where it took longest: what all know alike */
    char differ[160]; /* the settings of which ranks have different values; "" = none */
    int main_only;   /* 1: MPI may be called by the application's thread alone */
    int one_thread;  /* 1: and no other thread may exist */
    /* The engines of a process that may not use the network at the same time share a lock: whoever calls
     * one of the functions holds it, and waits for it. NULL = they may. */
    pthread_mutex_t *turn;
    int hold_credit; /* set by comm/: 1 = do not return credit for now */
    /* Addresses, the same on all ranks, of which nothing is sent but its size: what lies there is whatever it is. NULL:
     * there are none. */
    char *nowhere;
    size_t nowhere_bytes;
    dagi_am_fn on_message;
    void *on_message_arg;
    const dagi_observer *observer; /* NULL = nobody */
    void *observer_arg;
};

/* Options of an engine, filled from the settings of the context. */
typedef struct dagi_engine_options {
    const char *engine; /* a name, or "auto"; NULL and "" as that */
    void *comm;  /* MPI_Comm * or NULL for MPI_COMM_WORLD */
    int workers; /* 1: MPI_THREAD_SINGLE suffices; more, or 0 = not known yet: SERIALIZED. MPI that
                    a context has started keeps the level that it was started at. */
    size_t am_max; /* most bytes of an active message */
    int64_t credit_bytes, eager_bytes;
    double link_latency; /* seconds; this and link_rate are only compared */
    int64_t link_rate;
    uint64_t chaos;
    int bells; /* 1: have some, if possible */
    /* What rank 0 tells the others before anything but the level of MPI follows from these options: its
     * `told`, of the same size everywhere, overwrites theirs, and hear() is called, which may change am_max
     * and what stands between it and this line. NULL: nothing. */
    void *told;
    size_t told_bytes;
    void (*hear)(struct dagi_engine_options *options, void *arg);
    void *arg;
} dagi_engine_options;

/* An engine as the table in engine.c names it. */
typedef struct dagi_engine_kind {
    const char *name; /* in the setting `engine` */
    /* 1: it is there to be used: a launcher has set it up, the program has started it, or `options` ask
     * for what it alone has. */
    int (*offered)(const dagi_engine_options *options);
    /* 1: the program has started it, so other ranks may be waiting for this one in dagi_comm_init(). */
    int (*is_up)(void);
    dag_status (*make)(const dagi_engine_options *options, dagi_engine **out, char *why,
                       size_t why_size);
} dagi_engine_kind;
extern const dagi_engine_kind dagi_engine_self;
extern const dagi_engine_kind dagi_engine_mpi; /* in builds with MPI */

static inline void dagi_engine_take_turn(const dagi_engine *e)
{
    if (e->turn)
        pthread_mutex_lock(e->turn);
}
static inline void dagi_engine_pass_turn(const dagi_engine *e)
{
    if (e->turn)
        pthread_mutex_unlock(e->turn);
}

/* Start the engine that options->engine names, else the first of the table that is offered. */
dag_status dagi_engine_new(const dagi_engine_options *options, dagi_engine **out, char *why,
                           size_t why_size);
/* Ends an engine, with its turn: nobody else passes it on. Collective. */
static inline void dagi_engine_end(dagi_engine *e)
{
    pthread_mutex_t *turn = e->turn;
    dagi_engine_take_turn(e);
    e->ops->fini(e);
    if (turn)
        pthread_mutex_unlock(turn);
}
/* 1: the program has started what is below one of the engines. */
int dagi_engine_is_up(void);

#endif
