/* Handles of streams and events: what their two files know of each other. */
#ifndef FAKE_CUDA_STREAM_H
#define FAKE_CUDA_STREAM_H

#include "fake.h"

#include <pthread.h>

#define FAKE_STREAM_MAGIC 0x5354u
#define FAKE_EVENT_MAGIC 0x4556u

struct CUstream_st {
    unsigned magic; /* 0: destroyed; the struct stays, so that a late use is seen */
    int device;
    pthread_mutex_t lock;      /* all below */
    pthread_cond_t work, idle; /* something was enqueued or closed; nothing is left */
    fake_op *head, **tail;
    fake_op *running;
    bool started, closed; /* its thread; cudaStreamDestroy: the thread ends when nothing is left */
    uint64_t random;      /* of the thread that runs an operation */
    double ready;         /* modelled: when what ran has ended; likewise */
    _Atomic(struct CUstream_st *) next; /* in the list, an older one; stays when it has left */
    struct CUstream_st *next_dead;
};

/* Checks the handle, says what is wrong with it. */
bool fake_bad_stream(const char *call, cudaStream_t stream);

uint64_t fake_random(uint64_t *state);

/* With ZERO_TIME: nothing is in the stream, so what takes no time is done by being called. */
bool fake_stream_at_once(cudaStream_t stream);

#endif
