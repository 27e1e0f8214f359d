/*
 * What %fact says of functions of the application, held against the values that inline C sees (setting
 * check = race). Generated code compares with what a fact says about one value; here are those about two.
 */
#include "door.h"

#include <inttypes.h>
#include <string.h>

int dag_facts_checked(const void *globals)
{
    return dag_globals_pool(globals)->ctx->settings.check;
}

/* "f(1, 2) is 3" */
static void describe(char *text, size_t size, const char *function, int n, const int64_t *args,
                     int64_t value)
{
    size_t at = (size_t)snprintf(text, size, "%s(", function);
    for (int i = 0; i < n && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%" PRId64, i ? ", " : "", args[i]);
    if (at < size)
        snprintf(text + at, size - at, ") is %" PRId64, value);
}

/* Does a value contradict one that was seen? 1: one of them is not pure, 2: not monotone. */
static int contradicts(const int64_t *old, int64_t old_value, int n, const int64_t *args,
                       int64_t value, int monotone)
{
    if (memcmp(old + 1, args + 1, (size_t)(n - 1) * sizeof *args) != 0)
        return 0;
    if (old[0] == args[0])
        return old_value != value;
    int falls = old[0] < args[0] ? old_value > value : old_value < value;
    return monotone && falls ? 2 : 0;
}

void dag_fact_value(const void *globals, dag_fact_seen *seen, int line, const char *function,
                    int monotone, int n, const int64_t *args, int64_t value)
{
    char first[256], second[256];
    int wrong = 0, known = 0;
    uint32_t pool = dagi_pool_id(dag_globals_pool(globals));
    while (__atomic_exchange_n(&seen->lock, 1, __ATOMIC_ACQUIRE))
        ;                       /* held for a few comparisons, in runs that are checked */
    if (seen->pool != pool) {
        seen->pool = pool;
        seen->n = 0;
    }
    uint32_t kept = seen->n < DAG_FACT_KEPT ? seen->n : DAG_FACT_KEPT;
    for (uint32_t i = 0; i < kept && !wrong; i++) {
        wrong = contradicts(seen->args[i], seen->value[i], n, args, value, monotone);
        known |= memcmp(seen->args[i], args, (size_t)n * sizeof *args) == 0;
        if (wrong)
            describe(first, sizeof first, function, n, seen->args[i], seen->value[i]);
    }
    if (!wrong && !known) {
        uint32_t at = seen->n++ % DAG_FACT_KEPT;
        memcpy(seen->args[at], args, (size_t)n * sizeof *args);
        seen->value[at] = value;
    }
    __atomic_store_n(&seen->lock, 0, __ATOMIC_RELEASE);
    if (!wrong)
        return;
    describe(second, sizeof second, function, n, args, value);
    dag_graph_error(globals, NULL, NULL, line, "%s and %s, and a fact says that the function is %s",
                    first, second, wrong == 1 ? "pure" : "monotone");
}
