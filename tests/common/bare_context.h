/* A context that is a rank of a job, and nothing besides: for what needs no runtime. */
#ifndef TESTS_BARE_CONTEXT_H
#define TESTS_BARE_CONTEXT_H

#include "../../runtime/base/base.h"

#include <check.h>
#include <stdlib.h>

static dag_context *context_of(int rank, int size)
{
    dag_context *ctx = calloc(1, sizeof *ctx);
    ck_assert_ptr_nonnull(ctx);
    ctx->rank = rank;
    ctx->size = size;
    pthread_mutex_init(&ctx->message_lock, NULL);
    return ctx;
}

static void context_end(dag_context *ctx)
{
    pthread_mutex_destroy(&ctx->message_lock);
    free(ctx);
}

#endif
