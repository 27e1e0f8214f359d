/* Start and end of a trace on all ranks: what becomes of what was recorded. */
#include "trace.h"

#include "../sim/sim.h"
#include "../trace/file/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

void dagi_trace_start(dag_context *ctx)
{
    struct dagi_trace *trace = ctx->trace;
    dagi_gather_begin(trace->gather);
    if (ctx->size == 1) /* otherwise worker 0 has been inside, and left */
        trace->tracks[0]->left = trace->head.begin;
}

void dag_overlap_at_end(dag_context *context, int phases, dag_overlap_phase *phase, void *arg, dag_overlap *sums)
{
    if (!context || context->rank != 0 || phases < 1 || !phase || !sums)
        return;
    if (context->simulated)
        dagi_sim_overlap_wish(context, phases, phase, arg, sums);
    else if (context->trace)
        context->trace->overlap = (dagi_overlap_wish){phases, phase, arg, sums};
}

void dag_pool_times_at_end(dag_context *context, const char *program, dag_pool_times *times)
{
    if (context && context->rank == 0 && context->trace && program && times)
        context->trace->pool = (dagi_pool_wish){program, times};
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcasecmp(text + n - m, end) == 0;
}

static dag_status copy_file(FILE *from, FILE *to)
{
    char buffer[1 << 16];
    size_t n;
    rewind(from);
    while ((n = fread(buffer, 1, sizeof buffer, from)) > 0)
        if (fwrite(buffer, 1, n, to) != n)
            return DAG_ERR_IO;
    return ferror(from) ? DAG_ERR_IO : DAG_SUCCESS;
}

/* Rank 0: `store` holds all sections; make of it what was asked for. */
static dag_status deliver(struct dagi_trace *trace, FILE *store, char *why, size_t why_size)
{
    const char *path = trace->ctx->settings.trace;
    bool html = trace->file && ends_with(path, ".html"), json = trace->file &&
                                                                ends_with(path, ".json");
    dag_status status = DAG_SUCCESS;
    if (html || json || (trace->wanted & DAGI_TRACE_REPORT) || trace->overlap.phases > 0 || trace->pool.program) {
        rewind(store);
        dagt_trace *t = dagt_read(store, why, why_size);
        if (!t)
            return DAG_ERR_NOMEM;
        if (html || json)
            status = (html ? dagt_write_html : dagt_write_json)(t, trace->file) ? DAG_ERR_IO
                                                                                : DAG_SUCCESS;
        if (trace->wanted & DAGI_TRACE_REPORT)
            dagi_report_print(t, stderr);
        if (dagi_overlap_tell(&trace->overlap, t) != 0 || dagi_pool_tell(&trace->pool, t) != 0)
            status = DAG_ERR_NOMEM;
        dagt_free(t);
    }
    if (trace->file && !html && !json && store != trace->file)
        status = copy_file(store, trace->file);
    return status;
}

/* Rank 0: gather and deliver. */
static dag_status write_all(struct dagi_trace *trace, char *why, size_t why_size)
{
    const char *path = trace->ctx->settings.trace;
    bool direct = trace->regular && !ends_with(path, ".html") && !ends_with(path, ".json");
    FILE *store = direct ? trace->file : tmpfile();
    dag_status status = store ? DAG_SUCCESS : DAG_ERR_IO;
    const char *where = direct ? path : "a temporary file";
    errno = 0;
    if (status == DAG_SUCCESS)
        status = dagi_gather_lead(trace->gather, store);
    if (status == DAG_SUCCESS) {
        where = path;
        errno = 0;
        status = deliver(trace, store, why, why_size);
    }
    if (status == DAG_SUCCESS && trace->file && fflush(trace->file) != 0)
        status = DAG_ERR_IO;
    if (status == DAG_ERR_IO)
        snprintf(why, why_size, "cannot write the trace to %.200s: %s", where,
                 errno ? strerror(errno) : "unknown error");
    else if (status != DAG_SUCCESS && !why[0])
        snprintf(why, why_size, "no memory to gather the trace");
    if (store && store != trace->file)
        fclose(store);
    return status;
}

static void warn_of_loss(const struct dagi_trace *trace)
{
    if (trace->head.dropped)
        dagi_warn(trace->ctx,
                  "the trace lacks the last %llu events of this rank: there was no room "
                  "for more in %lld bytes; raise the setting trace_bytes",
                  (unsigned long long)trace->head.dropped,
                  (long long)trace->ctx->settings.trace_bytes);
}

dag_status dagi_trace_finish(dag_context *ctx)
{
    struct dagi_trace *trace = ctx->trace;
    char why[512] = "";
    dagi_trace_close(trace);
    if (!(trace->wanted & (DAGI_TRACE_FILE | DAGI_TRACE_REPORT | DAGI_TRACE_OVERLAP)))
        return DAG_SUCCESS;
    warn_of_loss(trace);
    if (ctx->rank > 0)
        return dagi_gather_follow(trace->gather);
    dagi_gather_clocks(trace->gather);
    dag_status status = write_all(trace, why, sizeof why);
    dagi_gather_conclude(trace->gather, status);
    if (status != DAG_SUCCESS) {
        dagi_warn(ctx, "%s%s", why, trace->regular ? "; the incomplete file has been removed" : "");
        if (trace->regular)
            unlink(ctx->settings.trace);
    }
    return status;
}
