/*
 * Dependences of a program, of two kinds.
 *
 * A register is one value, which goes from each of its users to the next in the order of the
 * program: an edge of data, told when the first one is issued, so that the device's events order
 * what they enqueue. A queue has such a value as well, which does nothing but pass from command
 * to command. So a register has one holder at a time, and whoever writes it does so in place.
 *
 * What goes by way of the host's memory, MARK and BAR are edges of control, told at the end of a
 * command.
 *
 * All edges lead forward in the program: there is no circle.
 */
#include "devprog.h"

#include <stdlib.h>
#include <string.h>

typedef struct user {
    int32_t command; /* -1: none yet */
    uint8_t flow;
} user;

typedef struct reg_state {
    user last;
    int32_t writer;   /* for the listing; -1: none */
    int32_t *readers; /* since then */
    size_t nreaders, room;
} reg_state;

typedef struct lane_state {
    user last;     /* that passed on the order */
    int32_t bar;   /* BAR that the next ones wait for; -1: none */
    int32_t last_bar; /* that the next BAR waits for, whatever stands between */
    int32_t since; /* first command that no MARK of this queue has waited for */
    int32_t mark;  /* latest MARK; -1: none */
} lane_state;

struct linker {
    dag_devprog *p;
    reg_state *regs;
    dagi_touches *matrices;
    lane_state *lanes; /* LANES of each device, and of the host */
    int32_t *told;  /* [ncommands]: to which command an edge of control leads from there already */
    int32_t *shown; /* the same for causes */
    int32_t at;     /* the command */
    int failed;
};

/* ---- edges --------------------------------------------------------------------------------- */

static const dag_class *class_of(const dag_devprog *p, int32_t number)
{
    return &p->of->classes[p->commands[number].cls];
}

static void add_edge(struct linker *l, int32_t from, int source_flow, int target_flow)
{
    dag_devprog *p = l->p;
    edge *edges = dagi_devprog_grow(p->edges, p->nedges, &p->edges_room, sizeof *edges);
    if (!edges) {
        l->failed = 1;
        return;
    }
    p->edges = edges;
    edges[p->nedges++] = (edge){from,
                                l->at,
                                {.target = class_of(p, l->at),
                                 .source_flow = (uint8_t)source_flow,
                                 .target_flow = (uint8_t)target_flow,
                                 .region = DAG_REGION_FULL}};
    p->commands[l->at].inputs++;
}

/* The command waits for the end of another. */
static void control(struct linker *l, int32_t from)
{
    if (from < 0 || l->told[from] == l->at)
        return;
    l->told[from] = l->at;
    add_edge(l, from, class_of(l->p, from)->ndata, class_of(l->p, l->at)->ndata);
}

static void show(struct linker *l, int32_t from, char what, int number)
{
    dag_devprog *p = l->p;
    if (from < 0 || l->shown[from] == l->at)
        return;
    l->shown[from] = l->at;
    cause *causes = dagi_devprog_grow(p->causes, p->ncauses, &p->causes_room, sizeof *causes);
    if (!causes) {
        l->failed = 1;
        return;
    }
    p->causes = causes;
    causes[p->ncauses++] = (cause){from, what, number};
}

static void pass(struct linker *l, user *value, int flow)
{
    command *c = &l->p->commands[l->at];
    if (value->command >= 0)
        add_edge(l, value->command, value->flow, flow);
    else
        c->fresh |= UINT32_C(1) << flow;
    *value = (user){l->at, (uint8_t)flow};
}

/* ---- registers ----------------------------------------------------------------------------- */

static void use_register(struct linker *l, int number, int flow, int write)
{
    reg_state *r = &l->regs[number];
    pass(l, &r->last, flow);
    show(l, r->writer, 'r', number);
    if (!write) {
        int32_t *readers = dagi_devprog_grow(r->readers, r->nreaders, &r->room, sizeof *readers);
        l->failed |= !readers;
        if (readers) {
            r->readers = readers;
            readers[r->nreaders++] = l->at;
        }
        return;
    }
    for (size_t i = 0; i < r->nreaders; i++)
        show(l, r->readers[i], 'r', number);
    r->nreaders = 0;
    r->writer = l->at;
}

/* ---- memory of the host -------------------------------------------------------------------- */

static void touch_rectangle(struct linker *l, const dag_devprog_part *part, int write)
{
    dagi_touches *h = &l->matrices[part->of];
    l->failed |= dagi_touch(h, l->at, part, write);
    for (int32_t i = 0; i < h->nfound && !l->failed; i++) {
        control(l, h->found[i]);
        show(l, h->found[i], 'm', part->of);
    }
}

/* ---- queues -------------------------------------------------------------------------------- */

/* MARK: what is before it in its queue has ended. */
static void wait_for_lane(struct linker *l, lane_state *lane)
{
    const dag_devprog *p = l->p;
    const command *c = &p->commands[l->at];
    control(l, lane->mark);
    for (int32_t i = lane->since; i < l->at; i++) {
        if (p->commands[i].device == c->device && p->commands[i].queue == c->queue) {
            control(l, i);
            show(l, i, 'h', 0);
        }
    }
    lane->since = l->at + 1;
    lane->mark = l->at;
}

/* One after the other, from the start of one to that of the next; on the host from its end. */
static void line_up(struct linker *l, lane_state *lane, int flow)
{
    if (lane->bar >= 0) {
        control(l, lane->bar);
        show(l, lane->bar, 'h', 0);
    }
    if (flow >= 0) {
        pass(l, &lane->last, flow);
    } else {
        control(l, lane->last.command);
        lane->last.command = l->at;
    }
    lane->bar = -1;
}

/* ---- commands ------------------------------------------------------------------------------ */

static void link_exec(struct linker *l, lane_state *lane)
{
    const dag_devprog *p = l->p;
    command *c = &p->commands[l->at];
    const dag_devprog_kernel *kernel = p->kernels[c->kernel];
    for (int a = 0; a < c->nargs; a++) {
        int write = kernel->access[a] & DAG_TILE_WRITE, again = 0;
        for (int b = 0; b < a && c->device != DAG_HOST; b++)
            again |= c->args[b].of == c->args[a].of;
        if (c->device == DAG_HOST)
            touch_rectangle(l, &c->args[a], write);
        else if (again)
            c->same |= UINT32_C(1) << a;
        else
            use_register(l, c->args[a].of, a, write);
    }
    line_up(l, lane, c->device == DAG_HOST ? -1 : c->nargs);
}

static void link_command(struct linker *l)
{
    command *c = &l->p->commands[l->at];
    lane_state *lane = &l->lanes[c->device * LANES + c->queue];
    switch ((enum op)c->op) {
    case LD:
    case ST:
        use_register(l, c->args[0].of, 0, c->op == LD);
        touch_rectangle(l, &c->args[1], c->op == ST);
        line_up(l, lane, 1);
        break;
    case EXEC:
        link_exec(l, lane);
        break;
    case MARK:
        if (lane->bar >= 0)
            control(l, lane->bar);
        wait_for_lane(l, lane);
        break;
    case BAR:
        control(l, lane->last_bar);
        for (int i = 0; i < c->non; i++) {
            control(l, (int32_t)c->on[i]);
            show(l, (int32_t)c->on[i], 'h', 0);
        }
        lane->bar = lane->last_bar = l->at;
        break;
    }
}

static int class_number(const command *c)
{
    static const int classes[] = {
        [LD] = CLASS_LD, [ST] = CLASS_ST, [MARK] = CLASS_MARK, [BAR] = CLASS_BAR};
    return c->op == EXEC ? class_of_kernel(c->kernel, c->device == DAG_HOST) : classes[c->op];
}

static int by_source(const void *a, const void *b)
{
    const edge *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

/* The rectangles of a command. */
static int rectangles_of(const command *c, const dag_devprog_part **first)
{
    *first = c->op == EXEC ? c->args : c->args + 1;
    return c->op == LD || c->op == ST ? 1 : c->op == EXEC && c->device == DAG_HOST ? c->nargs : 0;
}

/* Nonzero: out of memory. */
static int begin_matrices(struct linker *l)
{
    const dag_devprog *p = l->p;
    dagi_touch_sizes *sizes = calloc((size_t)p->nmatrices + 1, sizeof *sizes);
    l->matrices = calloc((size_t)p->nmatrices + 1, sizeof *l->matrices);
    int failed = !sizes || !l->matrices;
    for (size_t c = 0; c < p->ncommands && !failed; c++) {
        const dag_devprog_part *part;
        for (int n = rectangles_of(&p->commands[c], &part); n > 0; n--, part++) {
            sizes[part->of].m += (double)part->m;
            sizes[part->of].n += (double)part->n;
            sizes[part->of].count++;
        }
    }
    for (int m = 0; m < p->nmatrices && !failed; m++)
        failed = dagi_touches_begin(&l->matrices[m], p->matrices[m]->m, p->matrices[m]->n, &sizes[m]);
    free(sizes);
    return failed;
}

static int begin(struct linker *l)
{
    const dag_devprog *p = l->p;
    size_t lanes = LANES * ((size_t)dag_devices(p->ctx) + 1);
    l->regs = calloc(p->nregs + 1, sizeof *l->regs);
    l->lanes = calloc(lanes, sizeof *l->lanes);
    l->told = malloc((p->ncommands + 1) * sizeof *l->told);
    l->shown = malloc((p->ncommands + 1) * sizeof *l->shown);
    if (!l->regs || !l->lanes || !l->told || !l->shown || begin_matrices(l) != 0)
        return 1;
    for (size_t r = 0; r < p->nregs; r++)
        l->regs[r] = (reg_state){.last = {-1, 0}, .writer = -1};
    for (size_t i = 0; i < lanes; i++)
        l->lanes[i] = (lane_state){{-1, 0}, -1, -1, 0, -1};
    memset(l->told, 0xff, (p->ncommands + 1) * sizeof *l->told);
    memset(l->shown, 0xff, (p->ncommands + 1) * sizeof *l->shown);
    return 0;
}

static void end(struct linker *l)
{
    for (size_t r = 0; l->regs && r < l->p->nregs; r++)
        free(l->regs[r].readers);
    for (int i = 0; l->matrices && i < l->p->nmatrices; i++)
        dagi_touches_end(&l->matrices[i]);
    free(l->regs);
    free(l->matrices);
    free(l->lanes);
    free(l->told);
    free(l->shown);
}

int dagi_devprog_link(dag_devprog *p)
{
    struct linker l = {.p = p};
    p->nedges = p->ncauses = 0;
    l.failed = begin(&l);
    for (size_t c = 0; c < p->ncommands; c++) {
        p->commands[c].cls = class_number(&p->commands[c]);
        p->commands[c].inputs = 0;
        p->commands[c].fresh = p->commands[c].same = 0;
    }
    for (; !l.failed && (size_t)l.at < p->ncommands; l.at++) {
        p->commands[l.at].after = (int64_t)p->ncauses;
        link_command(&l);
    }
    end(&l);
    if (l.failed)
        return 1;
    if (p->nedges)
        qsort(p->edges, p->nedges, sizeof *p->edges, by_source);
    size_t at = 0;
    for (size_t c = 0; c < p->ncommands; c++) {
        while (at < p->nedges && (size_t)p->edges[at].from < c)
            at++;
        p->commands[c].edges = (int64_t)at;
    }
    p->linked = 1;
    return 0;
}
