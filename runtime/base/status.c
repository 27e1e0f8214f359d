/* Status codes, the sentence of the last error, warnings. */
#include "base.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const char *dag_strerror(dag_status status)
{
    switch (status) {
    case DAG_SUCCESS: return "success";
    case DAG_ERR_ARG: return "invalid argument";
    case DAG_ERR_STATE: return "called out of order";
    case DAG_ERR_SETTING: return "unknown setting or invalid value";
    case DAG_ERR_UNSUPPORTED: return "not supported by this build";
    case DAG_ERR_TASK: return "a task failed";
    case DAG_ERR_GRAPH: return "the task graph contradicts itself";
    case DAG_ERR_MISMATCH: return "ranks disagree about the program or its arguments";
    case DAG_ERR_STALL: return "tasks wait for inputs that nobody will send";
    case DAG_ERR_CANCELLED: return "cancelled";
    case DAG_ERR_NOMEM: return "out of memory";
    case DAG_ERR_IO: return "a file could not be read or written";
    case DAG_ERR_COMM: return "communication failed";
    case DAG_ERR_DEVICE: return "a device failed";
    case DAG_ERR_INTERNAL: return "internal error of the runtime";
    }
    return "unknown status";
}

const char *dag_version(void)
{
    return DAG_VERSION_STRING;
}

void dagi_set_message(dag_context *ctx, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    pthread_mutex_lock(&ctx->message_lock);
    vsnprintf(ctx->message, sizeof ctx->message, format, args);
    pthread_mutex_unlock(&ctx->message_lock);
    va_end(args);
}

const char *dag_message(const dag_context *context)
{
    if (!context)
        return "";
    /* The lock and the copy for the caller are no part of the context's visible state. */
    dag_context *ctx = (dag_context *)(uintptr_t)context;
    pthread_mutex_lock(&ctx->message_lock);
    memcpy(ctx->message_out, ctx->message, sizeof ctx->message_out);
    pthread_mutex_unlock(&ctx->message_lock);
    return ctx->message_out;
}

_Atomic int dagi_context_count;

dagi_caption dagi_who(const dag_context *ctx)
{
    dagi_caption name;
    if (atomic_load(&dagi_context_count) > 1)
        snprintf(name.text, sizeof name.text, "context %d: rank %d", ctx->number, ctx->rank);
    else
        snprintf(name.text, sizeof name.text, "rank %d", ctx->rank);
    return name;
}

static void warn(const dag_context *ctx, const char *format, va_list args)
{
    if (!ctx->settings.warnings)
        return;
    char text[4096];
    vsnprintf(text, sizeof text, format, args);
    fprintf(stderr, "dag: %s: warning: %s\n", dagi_who(ctx).text, text);
}

void dagi_warn(const dag_context *ctx, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    warn(ctx, format, args);
    va_end(args);
}

void dag_warn(const dag_context *context, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    warn(context, format, args);
    va_end(args);
}

/* ---- lines that insert tasks ---------------------------------------------------------------- */

const char *const dagi_given_names[] = {"id", "id.high", "at", "at.high", "site"};

enum { SITES = 4096 };
static pthread_mutex_t sites_lock = PTHREAD_MUTEX_INITIALIZER;
static struct site {
    char *file;
    int line;
} sites[SITES];

int32_t dagi_given_site(const char *file, int line)
{
    static int32_t count = 1;
    int32_t at = 1;
    pthread_mutex_lock(&sites_lock);
    while (at < count && (sites[at].line != line || strcmp(sites[at].file, file) != 0))
        at++;
    if (at == count) {
        char *copy = at < SITES ? strdup(file) : NULL; /* its library may go before a report */
        if (copy)
            sites[count++] = (struct site){copy, line};
        else
            at = 0;
    }
    pthread_mutex_unlock(&sites_lock);
    return at;
}

static size_t describe_given(char *text, size_t size, const dag_class *cls, const int32_t *locals)
{
    int64_t id = (int64_t)((uint64_t)(uint32_t)locals[1] << 32 | (uint32_t)locals[0]);
    int32_t site = locals[4];
    char line[256] = "";
    pthread_mutex_lock(&sites_lock);
    if (site > 0 && site < SITES && sites[site].file) /* those of another rank may be unknown here */
        snprintf(line, sizeof line, ", %s:%d", sites[site].file, sites[site].line);
    pthread_mutex_unlock(&sites_lock);
    int n = snprintf(text, size, "%s(#%lld%s)", cls->name, (long long)(id / DAGI_GIVEN_OUTPUTS), line);
    return n > 0 && (size_t)n < size ? (size_t)n : size - 1;
}

size_t dagi_describe(char *text, size_t size, const dag_class *cls, const int32_t *locals)
{
    assert(size > 0);
    if (locals && cls->local_names == dagi_given_names)
        return describe_given(text, size, cls, locals);
    size_t used = 0;
    int n = snprintf(text, size, "%s(", cls->name);
    used += n > 0 ? (size_t)n : 0;
    for (int i = 0; locals && i < cls->nparams && used < size; i++) {
        n = snprintf(text + used, size - used, "%s%d", i ? ", " : "", (int)locals[i]);
        used += n > 0 ? (size_t)n : 0;
    }
    if (used < size) {
        n = snprintf(text + used, size - used, locals ? ")" : "...)");
        used += n > 0 ? (size_t)n : 0;
    }
    return used < size ? used : size - 1;
}

void dagi_insist(const char *wrong, const char *file, int line)
{
    if (!wrong)
        return;
    fprintf(stderr, "dag: %s:%d: check failed: %s\n", file, line, wrong);
    abort();
}
