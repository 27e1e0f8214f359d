/**
 * @file sequential_check_main.h
 * The program of `dagcc --serial-check`: inputs are chosen, nest and graph run on them, and what
 * they made is compared, in the order of the nest. What differs goes to a file that dagcc reads.
 */
#ifndef DAG_SEQUENTIAL_CHECK_MAIN_H
#define DAG_SEQUENTIAL_CHECK_MAIN_H

#ifdef DAG_CHECK_MAIN /* the one file that has the nest */

#include <dag/sequential_check.h>

/* ---- what dagcc makes ------------------------------------------------------------------------ */

/** A matrix among the parameters of the nest; what is not given is -1. */
typedef struct dag_check_matrix {
    const char *name;
    int64_t m, n, mb, nb, mt, nt;
} dag_check_matrix;

/** An integer among them. */
typedef struct dag_check_number {
    const char *name;
    bool given;
    int64_t value;
} dag_check_number;

extern const dag_check_matrix dag_check_matrices[];
extern const dag_check_number dag_check_numbers[];
extern const int dag_check_n_matrices, dag_check_n_numbers;
/** Do the assumptions hold? Of the matrices the sizes alone are set. */
static bool dag_check_assumed(dag_matrix *const *matrices, const int64_t *numbers);
static dag_taskpool *dag_check_graph(dag_context *context, dag_matrix *const *matrices,
                                     const int64_t *numbers);
static void dag_check_nest(dag_matrix *const *matrices, const int64_t *numbers);

enum { DAG_CHECK_RUNS = 4, DAG_CHECK_TILE = 6, DAG_CHECK_DRAWS = 2000000 };

/* ---- words ----------------------------------------------------------------------------------- */

static FILE *dag_check_report; /* lines of "LINE TAB message", which dagcc prints */

static void dag_check_say_element(FILE *out, elem_t x)
{
    fprintf(out, sizeof(real_t) == sizeof(float) ? "%.9g" : "%.17g", (double)DAG_REAL(x));
    if (DAG_COMPLEX)
        fprintf(out, "%+.17gi", (double)DAG_IMAG(x));
}

static void dag_check_say_task(FILE *out, const dag_check_task *t)
{
    fprintf(out, "%d\t%s(", t->call->line, t->call->name);
    for (int i = 0; i < t->call->n_counters; i++)
        fprintf(out, "%s%s = %lld", i ? ", " : "", t->call->counters[i], (long long)t->counters[i]);
    fprintf(out, ")");
}

static void dag_check_say_values(FILE *out, dag_matrix *const *m, const int64_t *numbers)
{
    const char *comma = "";
    for (int i = 0; i < dag_check_n_matrices; i++, comma = ",") {
        const dag_check_matrix *g = &dag_check_matrices[i];
        fprintf(out, "%s%s->mt=%lld,%s->nt=%lld", comma, g->name, (long long)m[i]->mt, g->name,
                (long long)m[i]->nt);
        if (m[i]->mb != DAG_CHECK_TILE || m[i]->nb != DAG_CHECK_TILE)
            fprintf(out, ",%s->mb=%lld,%s->nb=%lld", g->name, (long long)m[i]->mb, g->name,
                    (long long)m[i]->nb);
        if (g->m >= 0)
            fprintf(out, ",%s->m=%lld", g->name, (long long)g->m);
        if (g->n >= 0)
            fprintf(out, ",%s->n=%lld", g->name, (long long)g->n);
    }
    for (int i = 0; i < dag_check_n_numbers; i++, comma = ",")
        fprintf(out, "%s%s=%lld", comma, dag_check_numbers[i].name, (long long)numbers[i]);
}

/* ---- comparison ------------------------------------------------------------------------------ */

static int dag_check_order(const void *x, const void *y)
{
    const dag_check_task *a = *(dag_check_task *const *)x, *b = *(dag_check_task *const *)y;
    if (a->call != b->call)
        return a->call < b->call ? -1 : 1;
    for (int i = 0; i < a->call->n_counters; i++)
        if (a->counters[i] != b->counters[i])
            return a->counters[i] < b->counters[i] ? -1 : 1;
    return 0;
}

/** The first element that differs; -1: none. */
static int64_t dag_check_difference(const dag_check_param *p, const dag_check_value *nest,
                                    const dag_check_value *graph)
{
    if (graph->beyond >= 0)
        return graph->beyond;
    for (int64_t k = 0; k < (int64_t)nest->m * nest->n; k++)
        if ((p->access != DAG_CHECK_IN || dag_check_inside(p->region, k % nest->m, k / nest->m)) &&
            memcmp(&nest->data[k], &graph->data[k], sizeof(elem_t)) != 0)
            return k;
    return -1;
}

static void dag_check_say_difference(const dag_check_task *nest, const dag_check_task *graph,
                                     int param, int64_t k)
{
    FILE *out = dag_check_report;
    const dag_check_param *p = &nest->call->params[param];
    const dag_check_value *a = &nest->values[param], *b = &graph->values[param];
    dag_check_say_task(out, nest);
    fprintf(out, ": element (%lld, %lld) of %s, tile %s, is ", (long long)(k % a->m),
            (long long)(k / a->m), p->name, p->element);
    dag_check_say_element(out, a->data[k]);
    fprintf(out, " in the nest and ");
    dag_check_say_element(out, b->data[k]);
    fprintf(out, " in the graph\n");
    if (b->beyond < 0)
        return;
    fprintf(out, "%d\tthe body of %s writes this element, but its pragma says ", nest->call->line,
            nest->call->name);
    fprintf(out, p->access == DAG_CHECK_IN ? "in(%s%s%s)\n" : "inout(%s%s%s)\n", p->name,
            p->region == DAG_REGION_FULL ? "" : ": ",
            p->region == DAG_REGION_FULL ? "" : p->region_name);
}

/** Is the task the same in the graph? What differs is said. */
static bool dag_check_same(dag_check_task *const *nest)
{
    const dag_check_tasks *all = &dag_check_parallel;
    dag_check_task *const *found = (dag_check_task *const *)bsearch(
        nest, all->items, all->n, sizeof(*all->items), dag_check_order);
    if (found == NULL) {
        dag_check_say_task(dag_check_report, *nest);
        fprintf(dag_check_report, " runs in the nest, and not in the graph\n");
        return false;
    }
    /* What was not to be written says more than what came of it. */
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < (*nest)->call->n_params; k++) {
            const dag_check_value *graph = &(*found)->values[k];
            int64_t e = pass == 0 ? graph->beyond
                                  : dag_check_difference(&(*nest)->call->params[k],
                                                         &(*nest)->values[k], graph);
            if (e >= 0) {
                dag_check_say_difference(*nest, *found, k, e);
                return false;
            }
        }
    return true;
}

/** Is memory the same at the end? Tasks that agree in all else may store at the wrong place. */
static bool dag_check_same_memory(dag_matrix *nest, dag_matrix *graph, const char *name)
{
    for (int64_t j = 0; j < nest->n; j++)
        for (int64_t i = 0; i < nest->m; i++) {
            int64_t ld = 0, at = i % nest->mb, col = j % nest->nb;
            const elem_t *a = (const elem_t *)dag_matrix_at(nest, i / nest->mb, j / nest->nb, &ld);
            const elem_t *b = (const elem_t *)dag_matrix_at(graph, i / nest->mb, j / nest->nb, &ld);
            a += at + col * ld;
            b += at + col * ld;
            if (memcmp(a, b, sizeof(elem_t)) == 0)
                continue;
            FILE *out = dag_check_report;
            fprintf(out, "0\telement (%lld, %lld) of %s is ", (long long)i, (long long)j, name);
            dag_check_say_element(out, *a);
            fprintf(out, " at the end of the nest and ");
            dag_check_say_element(out, *b);
            fprintf(out, " at the end of the graph, though all tasks agree\n");
            return false;
        }
    return true;
}

static bool dag_check_compare(dag_matrix *const *nest, dag_matrix *const *graph)
{
    dag_check_tasks *all = &dag_check_parallel;
    bool same = true;
    if (all->n)
        qsort(all->items, all->n, sizeof(*all->items), dag_check_order);
    for (size_t i = 0; same && i < dag_check_serial.n; i++)
        same = dag_check_same(&dag_check_serial.items[i]);
    if (same && all->n > dag_check_serial.n) {
        fprintf(dag_check_report, "0\tthe graph has %zu tasks, the nest %zu\n", all->n,
                dag_check_serial.n);
        same = false;
    }
    for (int i = 0; same && i < dag_check_n_matrices; i++)
        same = dag_check_same_memory(nest[i], graph[i], dag_check_matrices[i].name);
    return same;
}

/* ---- one input ------------------------------------------------------------------------------- */

/** Symmetric, with a large diagonal: what is factored or solved has an answer. */
static void dag_check_fill(dag_matrix *a, int shift)
{
    int64_t order = a->m > a->n ? a->m : a->n;
    for (int64_t j = 0; j < a->n; j++)
        for (int64_t i = 0; i < a->m; i++) {
            int64_t ld = 0, great = i > j ? i : j, less = i + j - great;
            elem_t *tile = (elem_t *)dag_matrix_at(a, i / a->mb, j / a->nb, &ld);
            tile[i % a->mb + j % a->nb * ld] =
                (elem_t)((double)((great * 31 + less * 17 + shift) % 101) / 101.0 +
                         (i == j ? 2.0 * (double)order : 0.0));
        }
}

static dag_matrix *dag_check_new(dag_context *ctx, const dag_matrix *shape, int shift)
{
    dag_matrix_desc desc = {.prec = DAG_PREC, .m = shape->m, .n = shape->n, .mb = shape->mb,
                            .nb = shape->nb, .p = 1, .q = 1};
    dag_matrix *a = NULL;
    if (dag_matrix_new(ctx, &desc, &a)) {
        fprintf(stderr, "%s\n", dag_message(ctx));
        exit(2);
    }
    dag_check_fill(a, shift);
    return a;
}

/** Runs both; the exit status. */
static int dag_check_run(dag_context *ctx, dag_matrix *const *shapes, const int64_t *numbers)
{
    size_t n = (size_t)dag_check_n_matrices;
    dag_matrix **nest = (dag_matrix **)dag_check_memory(n * sizeof(*nest));
    dag_matrix **graph = (dag_matrix **)dag_check_memory(n * sizeof(*graph));
    for (size_t i = 0; i < n; i++) {
        nest[i] = dag_check_new(ctx, shapes[i], (int)i);
        graph[i] = dag_check_new(ctx, shapes[i], (int)i);
    }
    int status = 0;
    dag_check_nest(nest, numbers);
    if (dag_run(ctx, dag_check_graph(ctx, graph, numbers))) {
        fprintf(dag_check_report, "0\tthe graph ends with an error: %s\n", dag_message(ctx));
        status = 1;
    } else {
        status = dag_check_compare(nest, graph) ? 0 : 1;
    }
    fprintf(status ? dag_check_report : stdout, status ? "0\twith " : "%zu tasks agree with ",
            dag_check_serial.n);
    dag_check_say_values(status ? dag_check_report : stdout, shapes, numbers);
    fprintf(status ? dag_check_report : stdout, "\n");
    for (size_t i = 0; i < n; i++) {
        dag_matrix_free(nest[i]);
        dag_matrix_free(graph[i]);
    }
    free(nest);
    free(graph);
    dag_check_forget(&dag_check_serial);
    dag_check_forget(&dag_check_parallel);
    return status;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static unsigned dag_check_random(unsigned below)
{
    static uint64_t state = 20;
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (unsigned)(state >> 33) % below;
}

/** A size: mostly what others are, so that those that have to be equal are. */
static int64_t dag_check_size(int64_t common)
{
    return dag_check_random(4) ? common : 1 + (int64_t)dag_check_random(4);
}

static void dag_check_extent(int64_t given, int64_t tiles, int64_t size, int64_t common,
                             int64_t *extent, int64_t *count)
{
    int64_t all = tiles >= 0 ? tiles : dag_check_size(common);
    *extent = given >= 0 ? given : all * size;
    *count = (*extent + size - 1) / size;
}

static void dag_check_draw(dag_matrix *const *shapes, int64_t *numbers)
{
    int64_t common = 2 + (int64_t)dag_check_random(3);
    for (int i = 0; i < dag_check_n_matrices; i++) {
        const dag_check_matrix *g = &dag_check_matrices[i];
        dag_matrix *a = shapes[i];
        a->mb = g->mb > 0 ? g->mb : DAG_CHECK_TILE;
        a->nb = g->nb > 0 ? g->nb : DAG_CHECK_TILE;
        dag_check_extent(g->m, g->mt, a->mb, common, &a->m, &a->mt);
        dag_check_extent(g->n, g->nt, a->nb, common, &a->n, &a->nt);
        a->p = a->q = 1;
    }
    for (int i = 0; i < dag_check_n_numbers; i++) {
        const dag_check_number *g = &dag_check_numbers[i];
        numbers[i] = g->given ? g->value
                     : dag_check_random(2) ? (int64_t)dag_check_random(2) : dag_check_size(common);
    }
}

/** Sums up what was drawn, so that no input comes twice. */
static uint64_t dag_check_mark(dag_matrix *const *shapes, const int64_t *numbers)
{
    uint64_t mark = 7;
    for (int i = 0; i < dag_check_n_matrices; i++)
        mark = (mark * 1000003U + (uint64_t)shapes[i]->mt) * 1000003U + (uint64_t)shapes[i]->nt;
    for (int i = 0; i < dag_check_n_numbers; i++)
        mark = mark * 1000003U + (uint64_t)numbers[i];
    return mark;
}

/** One worker, so that a difference comes again. */
static dag_context *dag_check_context(void)
{
    char why[512] = "no memory";
    dag_context *ctx = NULL;
    dag_config *config = dag_config_new();
    if (config == NULL || dag_config_set(config, "threads", "1", why, sizeof(why)) ||
        dag_init(&ctx, config, why, sizeof(why))) {
        fprintf(stderr, "%s\n", why);
        exit(2);
    }
    dag_config_free(config);
    return ctx;
}

/** The program: argv[1] is the file for what is to be reported. */
static int dag_check_main(int argc, char **argv)
{
    size_t n = (size_t)dag_check_n_matrices;
    dag_matrix *sizes = (dag_matrix *)dag_check_memory(n * sizeof(*sizes));
    dag_matrix **shapes = (dag_matrix **)dag_check_memory(n * sizeof(*shapes));
    int64_t *numbers =
        (int64_t *)dag_check_memory((size_t)dag_check_n_numbers * sizeof(int64_t));
    uint64_t marks[DAG_CHECK_RUNS];
    int runs = 0, status = 0;
    for (size_t i = 0; i < n; i++)
        shapes[i] = &sizes[i];
    dag_check_report = argc == 2 ? fopen(argv[1], "w") : NULL;
    if (dag_check_report == NULL) {
        fprintf(stderr, "no file for what differs\n");
        return 2;
    }
    dag_context *ctx = dag_check_context();
    for (int draw = 0; draw < DAG_CHECK_DRAWS && runs < DAG_CHECK_RUNS && status == 0; draw++) {
        dag_check_draw(shapes, numbers);
        uint64_t mark = dag_check_mark(shapes, numbers);
        bool fresh = dag_check_assumed(shapes, numbers);
        for (int i = 0; fresh && i < runs; i++)
            fresh = marks[i] != mark;
        if (!fresh)
            continue;
        marks[runs++] = mark;
        status = dag_check_run(ctx, shapes, numbers);
    }
    if (runs == 0) {
        fprintf(dag_check_report, "0\tno small values of the parameters satisfy all assumptions; "
                                  "--serial-check=NAME=VALUE,... gives some\n");
        status = 2;
    }
    dag_fini(ctx);
    free(sizes);
    free(shapes);
    free(numbers);
    fclose(dag_check_report);
    return status;
}

#endif /* DAG_CHECK_MAIN */
#endif
