/**
 * @file jdf_ops.h
 * Small operations that generated code is written in: arithmetic that cannot trap, loops over the
 * part of a range that matters, resumable enumeration, access to values. Included by jdf.h only;
 * not for programs.
 */
#ifndef DAG_JDF_OPS_H
#define DAG_JDF_OPS_H

#include <dag/jdf.h>

/** Block-scope names that a body need not use. */
#define DAG_UNUSED __attribute__((unused))

/** Name of a function that exists once per precision, where <dag/precision.h> is active. */
#define DAG_PER_PRECISION(name) DAG_PRECISION_CAT(name, DAG_PRECISION)

/** The layout of a generated task struct that the runtime counts on. */
#define DAG_TASK_LAYOUT(type, first_local, ndata)                                                  \
    _Static_assert(offsetof(type, first_local)                                                     \
                       == sizeof(struct dag_task) + (ndata) * sizeof(dag_value *),                 \
                   "layout of a task")

/* ---- arithmetic: C's operators, but an error of the graph instead of undefined behaviour -- */

static inline int64_t dag_div(const void *globals, int64_t a, int64_t b)
{
    if (b == 0)
        dag_graph_error(globals, NULL, NULL, 0, "division by zero");
    if (b == 0)
        return 0;
    return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

static inline int64_t dag_mod(const void *globals, int64_t a, int64_t b)
{
    if (b == 0)
        dag_graph_error(globals, NULL, NULL, 0, "division by zero");
    return b == 0 || b == -1 ? 0 : a % b;
}

/** min, max and ceildiv of facts; a and b have no effects. */
static inline int64_t dag_least_of(const void *globals, int64_t a, int64_t b)
{
    (void)globals;
    return b < a ? b : a;
}

static inline int64_t dag_most_of(const void *globals, int64_t a, int64_t b)
{
    (void)globals;
    return b > a ? b : a;
}

static inline int64_t dag_ceildiv(const void *globals, int64_t a, int64_t b)
{
    return a > 0 ? dag_div(globals, a - 1, b) + 1 : dag_div(globals, a, b);
}

/** Shifts by less than 0 or more than 63 shift everything out. */
static inline int64_t dag_shl(int64_t a, int64_t b)
{
    return b < 0 || b > 63 ? 0 : (int64_t)((uint64_t)a << b);
}

static inline int64_t dag_shr(int64_t a, int64_t b)
{
    return a >> (b < 0 || b > 63 ? 63 : b);
}

/* ---- parameters are 32 bits wide --------------------------------------------------------- */

/**
 * An argument of an edge as a parameter. What does not fit becomes INT32_MIN or INT32_MAX, which no
 * space contains (dag_bound, dag_fits), so that the target is reported as outside of its space.
 */
static inline int32_t dag_narrow(int64_t x)
{
    return x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : (int32_t)x;
}

/** 1 when a bound of a parameter's range is usable. */
static inline int dag_fits(int64_t x)
{
    return x > INT32_MIN && x < INT32_MAX;
}

/** A bound of a parameter's range that could not be checked in the constructor. */
static inline int64_t dag_bound(const void *globals, const dag_class *cls, int line, int64_t x)
{
    if (dag_fits(x))
        return x;
    dag_graph_error(globals, cls, NULL, line, "the range of a parameter ends at %lld, which does "
                    "not fit in 32 bits", (long long)x);
    return 0;
}

/** The value of derived local `at`. */
static inline int32_t dag_derived(const void *globals, const dag_class *cls, const int32_t *locals,
                                  int line, int at, int64_t x)
{
    if (x != (int32_t)x)
        dag_graph_error(globals, cls, locals, line, "the value of %s is %lld, which does not fit "
                        "in 32 bits", cls->local_names[at], (long long)x);
    return (int32_t)x;
}

/** The step of a range, which must not be 0. `locals` may be NULL. */
static inline int64_t dag_step(const void *globals, const dag_class *cls, const int32_t *locals,
                               int line, int64_t step)
{
    if (step != 0)
        return step;
    dag_graph_error(globals, cls, locals, line, "the step of a range is 0");
    return 1;
}

/** 1 when x is one of lo..hi..step. */
static inline int dag_range_has(int64_t lo, int64_t hi, int64_t step, int64_t x)
{
    if (step > 0)
        return lo <= x && x <= hi && (x - lo) % step == 0;
    return step < 0 && hi <= x && x <= lo && (lo - x) % -step == 0;
}

/* ---- walking the own part ---------------------------------------------------------------- */

/** 1 when this process has a place in the closed form of the distribution. */
static inline int dag_in_grid(const dag_collection *c)
{
    int64_t rank = 0;
    for (int d = 0; d < c->nindex; d++) {
        if (c->mine[d] < 0 || c->mine[d] >= c->period[d])
            return 0;
        rank += c->mine[d] * c->stride[d];
    }
    return c->cyclic && rank == c->rank;
}

/**
 * As dag_visit_range(), where one period of the range would not show every rank: the owned values
 * for LOCAL, all for RANKS.
 */
static inline dag_range dag_visit_owned(const dag_visit *v, const dag_collection *c, int d,
                                        int64_t shift, int64_t lo, int64_t hi)
{
    if (v->mode == DAG_VISIT_LOCAL)
        return dag_range_owned(c, d, shift, lo, hi);
    dag_range all = {lo, hi, 1};
    return all;
}

/** 1 when the instance with these parameters is in the space and on this rank; fills the derived
 *  locals. */
static inline int dag_is_local(const void *globals, const dag_class *cls, const dag_collection *c,
                               int32_t *locals)
{
    return cls->locals(globals, locals) && cls->rank(globals, locals) == c->rank;
}

/**
 * Local instances of a class in its innermost loops, which do not depend on one another: local
 * at[i] takes the values of r[i], i < n. All loops together have restricted every dimension of the
 * placement to what this process owns, so that with a closed form nothing need be walked.
 */
static inline int64_t dag_count_local(const void *globals, const dag_class *cls,
                                      const dag_collection *c, int32_t *locals, int n,
                                      const int *at, const dag_range *r)
{
    int64_t product = c->cyclic && !dag_in_grid(c) ? 0 : 1, count = 0;
    for (int i = 0; i < n; i++) {
        product *= dag_range_count(r[i].first, r[i].last, r[i].step);
        locals[at[i]] = (int32_t)r[i].first;
    }
    if (c->cyclic || product == 0)
        return product;
    for (;;) {
        count += dag_is_local(globals, cls, c, locals);
        int i = n - 1;
        while (i >= 0 && locals[at[i]] + r[i].step > r[i].last) {
            locals[at[i]] = (int32_t)r[i].first;
            i--;
        }
        if (i < 0)
            return count;
        locals[at[i]] += (int32_t)r[i].step;
    }
}

/** base + slope * x */
typedef struct dag_affine {
    int64_t base, slope;
} dag_affine;

/** Largest value of a range without bounds: far beyond 32 bits, and sums of two do not overflow. */
#define DAG_EVERYWHERE (INT64_MAX / 4)

static inline int64_t dag_floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/**
 * Sum of floor((a * i + b) / m) over 0 <= i < n, m >= 1, in the time of Euclid's algorithm for a
 * and m: the sum counts points of the grid under a line, and with whole multiples taken off,
 * exchanging the axes turns (a, m) into (m, a).
 */
static inline int64_t dag_floor_sum(int64_t n, int64_t m, int64_t a, int64_t b)
{
    uint64_t sum = 0;           /* wraps round in between, not in the end */
    if (a < 0) {                /* last term first, so that nothing grows beyond the terms */
        b += a * (n - 1);
        a = -a;
    }
    for (;;) {
        int64_t whole_a = a / m, whole_b = dag_floor_div(b, m);
        sum += (uint64_t)n * (uint64_t)(n - 1) / 2 * (uint64_t)whole_a
               + (uint64_t)n * (uint64_t)whole_b;
        a -= whole_a * m;
        b -= whole_b * m;
        int64_t top = a * n + b, width = m;
        if (top < m)
            return (int64_t)sum;
        n = top / m;
        b = top % m;
        m = a;
        a = width;
    }
}

/**
 * Local instances of a class in its two innermost loops: local at[0] takes the values x of r, and
 * local at[1] those values of `inner` that lie in lo(x)..hi(x); `inner` has no bounds of its own.
 * With a closed form of the distribution neither loop is walked. With a `line`, lo and hi have to
 * fit in 32 bits.
 */
static inline int64_t dag_count_pair(const void *globals, const dag_class *cls,
                                     const dag_collection *c, int32_t *locals, const int *at,
                                     dag_range r, dag_affine lo, dag_affine hi, dag_range inner,
                                     int line)
{
    int64_t count = 0, n = dag_range_count(r.first, r.last, r.step), from = 0;
    if (!c->cyclic) {
        for (int64_t x = r.first; x <= r.last; x += r.step) {
            dag_range all = {lo.base + lo.slope * x, hi.base + hi.slope * x, 1};
            locals[at[0]] = (int32_t)x;
            count += dag_count_local(globals, cls, c, locals, 1, at + 1, &all);
        }
        return count;
    }
    for (int i = 0; line && n > 0 && i < 2; i++) {      /* the extremes are at the ends */
        int64_t x = r.first + i * (n - 1) * r.step;
        int64_t a = lo.base + lo.slope * x, b = hi.base + hi.slope * x;
        if (!dag_fits(a) || !dag_fits(b))
            return dag_bound(globals, cls, line, dag_fits(a) ? b : a);
    }
    if (n == 0 || inner.first > inner.last || !dag_in_grid(c))
        return 0;
    /* The inner loop runs for those x for which last + growth * i >= first - 1. */
    int64_t first = lo.base + lo.slope * r.first, last = hi.base + hi.slope * r.first;
    int64_t growth = (hi.slope - lo.slope) * r.step, room = last - first + 1;
    if (growth > 0 && room < 0)
        from = -dag_floor_div(room, growth);
    else if (growth < 0)
        n = room < 0 ? 0 : (room / -growth < n - 1 ? room / -growth + 1 : n);
    else if (room < 0)
        n = 0;
    n -= from;
    if (n <= 0)
        return 0;
    first += lo.slope * r.step * from;
    last += hi.slope * r.step * from;
    return dag_floor_sum(n, inner.step, hi.slope * r.step, last - inner.first)
           - dag_floor_sum(n, inner.step, lo.slope * r.step, first - 1 - inner.first);
}

/** Name an instance, on whatever rank, if it is in the space; nonzero = no more are wanted. */
static inline int dag_each_instance(dag_each *v, const void *globals, const dag_class *cls,
                                    int32_t *locals)
{
    return cls->locals(globals, locals) && v->instance(v, cls, locals);
}

/** for every x of a dag_range */
#define DAG_EACH(x, range)                                                                         \
    for (dag_range x##_range = (range); x##_range.first <= x##_range.last;                         \
         x##_range.first += x##_range.step)                                                        \
        for (int64_t x = x##_range.first, x##_once = 1; x##_once; x##_once = 0)

/* ---- combining arrivals: see docs/design/reductions.md ----------------------------------- */

/** Are two values views of as many bytes in as many columns? */
static inline int dag_alike(const dag_value *a, const dag_value *b)
{
    return (uint64_t)a->m * a->elem == (uint64_t)b->m * b->elem && a->n == b->n;
}

/**
 * In a body: combine flow `from` into flow `into` by f(into, from, bytes), a call for each run of
 * bytes that both have in one piece; nothing where `from` is NULL. f may take any types of pointers.
 */
#define DAG_COMBINE(f, into, from)                                                                 \
    do {                                                                                           \
        const dag_value *dag_to = dag_t->into, *dag_of = dag_t->from;                              \
        if (dag_of == NULL)                                                                        \
            break;                                                                                 \
        if (!dag_alike(dag_to, dag_of)) {                                                          \
            dag_task_fail(dag_task, "arrivals of a reduction have different shapes");              \
            return DAG_BODY_ERROR;                                                                 \
        }                                                                                          \
        int dag_whole = dag_to->ld == dag_to->m && dag_of->ld == dag_of->m;                        \
        size_t dag_run = (size_t)dag_to->m * dag_to->elem;                                         \
        for (int64_t dag_j = 0; dag_j < (dag_whole ? 1 : dag_to->n); dag_j++)                      \
            f((void *)((char *)dag_to->ptr + (size_t)(dag_j * dag_to->ld) * dag_to->elem),         \
              (const void *)((const char *)dag_of->ptr                                             \
                             + (size_t)(dag_j * dag_of->ld) * dag_of->elem),                       \
              dag_whole ? dag_run * (size_t)dag_to->n : dag_run);                                  \
    } while (0)

/* ---- resuming an enumeration: see dag_cursor --------------------------------------------- */

/** First value of loop `at`: where the enumeration stopped, when it goes on. */
static inline int64_t dag_resume(const dag_cursor *cursor, int at, int64_t first)
{
    return cursor->resume ? cursor->at[at] : first;
}

static inline dag_range dag_resume_range(const dag_cursor *cursor, int at, dag_range r)
{
    r.first = dag_resume(cursor, at, r.first);
    return r;
}

/**
 * Name an instance if it is local; with `ask`, and if its `inputs` say that it waits for nothing.
 * Returns nonzero when the chunk is full. The instance at which the enumeration stopped is passed
 * over.
 */
static inline int dag_start_local(dag_cursor *cursor, const void *globals, const dag_class *cls,
                                  const dag_collection *c, int32_t *locals, int ask)
{
    int resumed = cursor->resume;
    cursor->resume = 0;
    if (resumed || !dag_is_local(globals, cls, c, locals))
        return 0;
    if (ask && cls->inputs(globals, locals) > 0)
        return 0;
    return dag_start_task(cursor, locals);
}

/** Keep the loop variables; the value that `start` returns. */
static inline int dag_pause(dag_cursor *cursor, int count, const int64_t *at)
{
    for (int i = 0; i < count; i++)
        cursor->at[i] = at[i];
    cursor->resume = 1;
    return 1;
}

/* ---- flows ------------------------------------------------------------------------------- */

/** Reports that not exactly one input of a flow is active; the value that `inputs` returns. */
static inline int64_t dag_inputs_error(const void *globals, const dag_class *cls,
                                       const int32_t *locals, int flow, int64_t active)
{
    dag_graph_error(globals, cls, locals, cls->flows[flow].line,
                    "flow %s has %lld active inputs, exactly one is needed", cls->flows[flow].name,
                    (long long)active);
    return -1;
}

/** Parameters and derived locals of a task. */
static inline int32_t *dag_task_locals(struct dag_task *task)
{
    return (int32_t *)(dag_task_flows(task) + task->cls->ndata);
}

/** Parts of a flow that may be NULL. */
static inline void *dag_value_ptr(const dag_value *value)
{
    return value ? value->ptr : NULL;
}
static inline int dag_value_ld(const dag_value *value)
{
    return value ? (int)value->ld : 0;
}
static inline int dag_value_m(const dag_value *value)
{
    return value ? (int)value->m : 0;
}
static inline int dag_value_n(const dag_value *value)
{
    return value ? (int)value->n : 0;
}
/** Leading dimension of a copy on a device: copies there are contiguous. */
static inline int dag_device_ld(const dag_value *value)
{
    return value && value->m > 1 ? (int)value->m : 1;
}
/** Bytes of an untyped value. */
static inline size_t dag_value_size(const dag_value *value)
{
    return value ? (size_t)value->m * (size_t)value->n * value->elem : 0;
}

/* ---- constructors ------------------------------------------------------------------------ */

/** An argument of type elem_t or real_t: member DAG_PRECISION is the one in use. */
typedef union dag_any_elem {
    float s;
    double d;
    dag_scomplex c;
    dag_dcomplex z;
} dag_any_elem;
typedef union dag_any_real {
    float s, c;
    double d, z;
} dag_any_real;

/** dag_pool_scalar() for a value of any type without padding. */
static inline void dag_pool_bytes(dag_taskpool *pool, const void *value, size_t size)
{
    for (size_t i = 0; i < size; i += sizeof(int64_t)) {
        int64_t word = 0;
        __builtin_memcpy(&word, (const char *)value + i,
                         size - i < sizeof word ? size - i : sizeof word);
        dag_pool_scalar(pool, word);
    }
}

#endif
