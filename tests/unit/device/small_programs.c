/* All programs of a length, of small sets of commands. */
#include "small_programs.h"
#include "loop_backend.h"

#include <stdlib.h>

enum { N = SMALL_SIDE };
enum { COPY, UPDATE, KERNELS };

static int nothing(struct dag_task *task, const void *scalars, const dag_tile_view *args)
{
    (void)task, (void)scalars, (void)args;
    return 0;
}

static const dag_devprog_kernel copy = {"copy",  2,    {DAG_TILE_READ, DAG_TILE_WRITE},
                                        nothing, NULL, NULL},
                                update = {"update", 1, {DAG_TILE_RW}, nothing, nothing, NULL};
static const dag_devprog_kernel *const kernels[KERNELS] = {&copy, &update};

/* ---- small sets of commands ---------------------------------------------------------------- */

static const dag_devprog_part parts[] = {{0, 0, 0, 2, N}, {0, 0, 0, N, N}, {0, 1, 0, 2, N}};

static const set sets[] = {
    {"one device", 2, 1, 2, 1}, {"two devices", 2, 2, 2, 1}, {"rectangles", 1, 1, 3, 0}};

int small_device_of(const set *s, int r)
{
    return 1 + r % s->devices;
}

static void put(step *list, int *n, step what)
{
    list[(*n)++] = what;
}

/* All that may stand in place `at`. */
static int steps_at(const set *s, int at, step *list)
{
    int n = 0;
    for (int r = 0; r < s->registers; r++) {
        for (int p = 0; p < s->parts; p++) {
            put(list, &n, (step){.op = LD, .device = small_device_of(s, r), .reg = r, .part = p});
            put(list, &n, (step){.op = ST, .device = small_device_of(s, r), .reg = r, .part = p});
        }
        put(list, &n,
            (step){.op = EXEC, .device = small_device_of(s, r), .reg = r, .kernel = UPDATE});
        for (int o = 0; o < s->registers; o++)
            if (o != r && small_device_of(s, o) == small_device_of(s, r))
                put(list, &n,
                    (step){.op = EXEC, .device = small_device_of(s, r), .reg = r, .other = o});
    }
    for (int p = 0; p < s->parts; p++)
        put(list, &n, (step){.op = EXEC, .device = DAG_HOST, .part = p, .kernel = UPDATE});
    for (int q = 0; q < LANES && s->by_hand; q++) {
        const int device = s->devices == 1 ? 1 : 1 + q % 2;
        put(list, &n, (step){.op = MARK, .device = device, .queue = q});
        for (int o = 0; o < at; o++)
            put(list, &n, (step){.op = BAR, .device = device, .queue = q, .other = o});
    }
    return n;
}

int small_queue_of(const step *a)
{
    return a->op == LD     ? DAG_DEVPROG_LD
           : a->op == ST   ? DAG_DEVPROG_ST
           : a->op == EXEC ? DAG_DEVPROG_EXEC
                           : a->queue;
}

int small_reads_register(const step *a, int r)
{
    return a->device != DAG_HOST && a->reg == r && (a->op == ST || a->op == EXEC);
}

int small_writes_register(const step *a, int r)
{
    if (a->device == DAG_HOST)
        return 0;
    return (a->op == LD && a->reg == r) ||
           (a->op == EXEC && (a->kernel == UPDATE ? a->reg : a->other) == r);
}

static int touches(const step *a)
{
    return a->op == LD || a->op == ST || a->device == DAG_HOST;
}

int small_same_queue(const step *a, const step *b)
{
    return a->device == b->device && small_queue_of(a) == small_queue_of(b);
}

int small_follows(const set *s, const step *list, int a, int b)
{
    const step *x = &list[a], *y = &list[b];
    for (int r = 0; r < s->registers; r++) {
        int xw = small_writes_register(x, r), yw = small_writes_register(y, r);
        if ((xw && (yw || small_reads_register(y, r))) || (yw && small_reads_register(x, r)))
            return 1;
    }
    if (touches(x) && touches(y) && (x->op != LD || y->op != LD) &&
        parts_overlap(&parts[x->part], &parts[y->part]))
        return 1;
    if (y->op == BAR && y->other == a)
        return 1;
    return small_same_queue(x, y) &&
           (y->op == MARK || x->op == BAR || (x->op == EXEC && y->op == EXEC));
}

static void append(dag_devprog *p, const step *a)
{
    const int64_t on = a->other;
    const dag_devprog_part own = {a->reg, 0, 0, 1, 1}, to = {a->other, 0, 0, 1, 1};
    if (a->op == LD)
        dag_devprog_ld(p, a->reg, parts[a->part]);
    else if (a->op == ST)
        dag_devprog_st(p, a->reg, parts[a->part]);
    else if (a->op == MARK)
        dag_devprog_mark(p, a->device, (dag_devprog_queue)a->queue);
    else if (a->op == BAR)
        dag_devprog_bar(p, a->device, (dag_devprog_queue)a->queue, &on, 1);
    else
        dag_devprog_exec(p, a->device, a->kernel, NULL, 0,
                         a->device == DAG_HOST ? &parts[a->part] : (dag_devprog_part[]){own, to});
}

/* ---- all programs -------------------------------------------------------------------------- */

typedef struct walk {
    dag_context *ctx;
    dag_matrix *matrix;
    const set *set;
    int length, stopped;
    small_visit *visit;
    step list[SMALL_MOST];
} walk;

static void visit_one(walk *w)
{
    const dag_devprog_desc desc = {"small", DAG_D, &w->matrix, 1, kernels, KERNELS};
    dag_devprog *p = NULL;
    if (dag_devprog_new(w->ctx, &desc, &p) != DAG_SUCCESS)
        abort();
    for (int r = 0; r < w->set->registers; r++)
        dag_devprog_register(p, small_device_of(w->set, r), N * N);
    for (int c = 0; c < w->length; c++)
        append(p, &w->list[c]);
    w->stopped = w->visit(w->ctx, w->set, w->list, w->length, p);
    dag_devprog_free(p);
}

/* Items that a command wants of a register. */
static int items_of(const step *a)
{
    return a->op == EXEC ? 1 : (int)(parts[a->part].m * parts[a->part].n);
}

/* Each register is written before it is read; r0 is the first to be used. items[]: of which so many
 * were written. */
static void extend(walk *w, int at, const int *items)
{
    const set *s = w->set;
    step next[64];
    if (at == w->length) {
        visit_one(w);
        return;
    }
    int count = steps_at(s, at, next);
    for (int i = 0; i < count && !w->stopped; i++) {
        const step *a = &next[i];
        int now[SMALL_REGISTERS] = {items[0], items[1]}, good = 1;
        for (int r = 0; r < s->registers; r++) {
            good = good && (!small_reads_register(a, r) || items[r] >= items_of(a));
            if (small_writes_register(a, r) && items[r] < items_of(a))
                now[r] = items_of(a);
        }
        if (!good || (now[1] > 0 && now[0] == 0))
            continue;
        w->list[at] = *a;
        extend(w, at + 1, now);
    }
}

void small_programs(dag_context *ctx, dag_matrix *matrix, int length, small_visit *visit)
{
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
        const int none[SMALL_REGISTERS] = {0};
        walk w = {.ctx = ctx, .matrix = matrix, .set = &sets[s], .length = length, .visit = visit};
        extend(&w, 0, none);
    }
}

dag_context *small_start(dag_matrix **matrix)
{
    const loop_options options = {.devices = 2, .memory = (size_t)1 << 16};
    const dag_matrix_desc desc = {.prec = DAG_D,
                                  .m = N,
                                  .n = N,
                                  .mb = N,
                                  .nb = N,
                                  .p = 1,
                                  .q = 1,
                                  .layout = DAG_LAYOUT_SLAB,
                                  .name = "A"};
    dag_context *ctx = NULL;
    char why[512] = "";
    dag_config *config = dag_config_new();
    dag_config_set(config, "gpus", "2", NULL, 0);
    dag_config_set(config, "threads", "1", NULL, 0);
    dag_config_set(config, "warnings", "off", NULL, 0);
    dagi_devices_use(loop_backend(&options));
    if (dag_init(&ctx, config, why, sizeof why) != DAG_SUCCESS ||
        dag_matrix_new(ctx, &desc, matrix) != DAG_SUCCESS) {
        fprintf(stderr, "a context: %s\n", why);
        exit(99);
    }
    dag_config_free(config);
    return ctx;
}
