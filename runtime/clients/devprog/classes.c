/*
 * Programs as graphs: a class for LD, ST, MARK and BAR, and two for each kernel, on devices and
 * on the host. The parameter of a task is the number of its command; their functions read the
 * commands.
 */
#include "devprog.h"

#include "../given.h"
#include "../../device/device.h"

#include <stdlib.h>
#include <string.h>

static const command *command_at(const void *globals, int32_t number)
{
    return &program_of(globals)->commands[number];
}

static const command *command_of(struct dag_task *task, const void *globals)
{
    return command_at(globals, dagi_task_locals(task)[0]);
}

/* ---- the space: commands of this rank ------------------------------------------------------ */

static int own_rank(const void *globals, const int32_t *locals)
{
    (void)locals;
    return program_of(globals)->ctx->rank;
}

static int64_t first_first(const void *globals, const int32_t *locals)
{
    (void)globals;
    return -(int64_t)locals[0];
}

static int64_t arrivals(const void *globals, const int32_t *locals)
{
    return command_at(globals, locals[0])->inputs;
}

/* All classes are counted together, by the first one: a count does not say of which class it is. */
static int64_t count_all(const void *globals)
{
    const dag_devprog *p = program_of(globals);
    return p->linked ? (int64_t)p->ncommands : 0;
}

static int start(dag_cursor *cursor, const void *globals)
{
    const dag_devprog *p = program_of(globals);
    size_t c = cursor->resume ? (size_t)cursor->at[0] + 1 : 0;
    for (; p->linked && c < p->ncommands; c++) {
        if (p->commands[c].cls != cursor->cls->id || p->commands[c].inputs > 0)
            continue;
        if (dag_start_task(cursor, (const int32_t[1]){(int32_t)c})) {
            cursor->at[0] = (int64_t)c;
            cursor->resume = 1;
            return 1;
        }
    }
    return 0;
}

static void successors(dag_visit *v, const void *globals, const int32_t *locals)
{
    const dag_devprog *p = program_of(globals);
    if (v->mode == DAG_VISIT_RANKS)
        return; /* all are on this rank */
    for (size_t e = (size_t)p->commands[locals[0]].edges;
         e < p->nedges && p->edges[e].from == locals[0]; e++) {
        if (v->mask >> p->edges[e].edge.source_flow & 1)
            dag_visit_edge(v, &p->edges[e].edge, (const int32_t[1]){p->edges[e].to});
    }
}

/* Values that begin here: of registers, and of the order of a queue, which is the last flow. */
static void bind(struct dag_task *task, const void *globals)
{
    const dag_devprog *p = program_of(globals);
    const command *c = command_of(task, globals);
    for (int f = 0; f < task->cls->ndata; f++) {
        int order = f + 1 == task->cls->ndata;
        if (c->same >> f & 1)
            dag_bind_null(task, f);
        else if (c->fresh >> f & 1)
            dag_bind_new(task, f,
                         &(dag_shape){order ? 1 : p->regs[c->args[f].of].items, 1,
                                      order ? 1 : item_bytes(p)});
    }
}

/* ---- bodies -------------------------------------------------------------------------------- */

/* LD and ST: what is refused half way is done again from the beginning. */
static int transfer(struct dag_task *task, const void *globals)
{
    const dag_devprog *p = program_of(globals);
    const command *c = command_of(task, globals);
    const dag_devprog_part *part = &c->args[1];
    char *at = dag_device_views(task)[0].ptr;
    pieces walk = dagi_devprog_pieces(p->matrices[part->of], *part);
    size_t elem = item_bytes(p);
    for (piece x; dagi_devprog_piece(&walk, &x) == 1;) {
        char *own = at + (size_t)(x.i + x.j * part->m) * elem;
        int in = c->op == LD;
        const dagi_copy_job job = {.to = in ? own : x.ptr,
                                   .from = in ? x.ptr : own,
                                   .to_ld = in ? part->m : x.ld,
                                   .from_ld = in ? x.ld : part->m,
                                   .m = x.m,
                                   .n = x.n,
                                   .elem = elem};
        if (dagi_device_copy(task, in, &job) != DAGI_OK)
            return DAG_BODY_ERROR;
    }
    return DAG_BODY_DONE;
}

static int run_on_device(struct dag_task *task, const void *globals)
{
    const dag_devprog *p = program_of(globals);
    const command *c = command_of(task, globals);
    const dag_value *views = dag_device_views(task);
    dag_tile_view args[DAG_DEVPROG_ARGS];
    for (int a = 0; a < c->nargs; a++) {
        int f = 0;
        while (c->args[f].of != c->args[a].of)
            f++;
        args[a] = (dag_tile_view){views[f].ptr, c->args[a].m, c->args[a].m, c->args[a].n};
    }
    return p->kernels[c->kernel]->device(task, c->scalars, args) ? DAG_BODY_ERROR : DAG_BODY_DONE;
}

static int run_on_host(struct dag_task *task, const void *globals)
{
    const dag_devprog *p = program_of(globals);
    const command *c = command_of(task, globals);
    dag_tile_view args[DAG_DEVPROG_ARGS];
    for (int a = 0; a < c->nargs; a++) {
        pieces walk = dagi_devprog_pieces(p->matrices[c->args[a].of], c->args[a]);
        piece x = {0};
        int found = dagi_devprog_piece(&walk, &x);
        assert(found == 1 && x.m == c->args[a].m && x.n == c->args[a].n);
        (void)found;
        args[a] = (dag_tile_view){x.ptr, x.ld, x.m, x.n};
    }
    return p->kernels[c->kernel]->host(task, c->scalars, args) ? DAG_BODY_ERROR : DAG_BODY_DONE;
}

static int64_t own_device(const void *globals, const int32_t *locals)
{
    return command_at(globals, locals[0])->device - 1;
}

static size_t workspace(struct dag_task *task, const void *globals)
{
    const command *c = command_of(task, globals);
    const dag_devprog_kernel *kernel = program_of(globals)->kernels[c->kernel];
    return kernel->workspace ? kernel->workspace(c->scalars) : 0;
}

/* ---- the description ----------------------------------------------------------------------- */

#define ALL_FOUR(FN)                                                                               \
    {                                                                                              \
        FN, FN, FN, FN                                                                             \
    }
static const dag_body empty_body = {.fn = ALL_FOUR(dagi_nothing)};
static const dag_body host_body = {.fn = ALL_FOUR(run_on_host)};
static const dag_body transfer_body = {
    .fn = ALL_FOUR(transfer), .device = DAG_DEVICE_ANY, .device_index = own_device};
static const dag_body device_body = {.fn = ALL_FOUR(run_on_device),
                                     .device = DAG_DEVICE_ANY,
                                     .device_index = own_device,
                                     .workspace = ALL_FOUR(workspace)};

static const char *const names[] = {"command"};

/* Registers, the order of the queue, and control: `access` of as many registers; < 0: control
 * alone. */
static void make_class(described *d, int id, const char *name, int nregs,
                       const dag_tile_access *access, const dag_body *body)
{
    dag_flow *flows = &d->flows[id * FLOWS];
    int ndata = nregs < 0 ? 0 : nregs + 1;
    for (int f = 0; f < nregs; f++)
        flows[f] = (dag_flow){"register", access[f] & DAG_TILE_WRITE ? DAG_RW : DAG_READ, 0};
    if (ndata)
        flows[nregs] = (dag_flow){"order", DAG_RW, 0};
    flows[ndata] = (dag_flow){"control", DAG_CTL, 0};
    d->classes[id] = (dag_class){.name = name,
                                 .id = id,
                                 .nparams = 1,
                                 .nlocals = 1,
                                 .ndata = (uint8_t)ndata,
                                 .nflows = (uint8_t)(ndata + 1),
                                 .nbodies = 1,
                                 .copies = id == CLASS_LD || id == CLASS_ST,
                                 .local_names = names,
                                 .flows = flows,
                                 .bodies = body,
                                 .locals = dagi_always,
                                 .rank = own_rank,
                                 .priority = first_first,
                                 .inputs = arrivals,
                                 .bind = ndata ? bind : NULL,
                                 .successors = successors,
                                 .count = id == 0 ? count_all : dagi_none_beforehand,
                                 .start = start};
    d->classes[id].task_bytes =
        (uint32_t)(sizeof(struct dag_task) + (size_t)ndata * sizeof(dag_value *) +
                   2 * sizeof(int32_t));
    d->table[id] = &d->classes[id];
}

static char *joined(const char *name, const char *more)
{
    size_t bytes = strlen(name) + strlen(more) + 1;
    char *text = malloc(bytes);
    if (text)
        snprintf(text, bytes, "%s%s", name, more);
    return text;
}

/* Nonzero: out of memory; what there is stays where it is. */
static int fill(described *d, const dag_devprog_desc *desc)
{
    static const dag_tile_access writes = DAG_TILE_RW, reads = DAG_TILE_READ;
    int n = class_of_kernel(desc->nkernels, 0);
    d->classes = calloc((size_t)n, sizeof *d->classes);
    d->table = calloc((size_t)n, sizeof(const dag_class *));
    d->flows = calloc((size_t)n * FLOWS, sizeof *d->flows);
    d->slots = calloc((size_t)desc->nmatrices + 1, sizeof *d->slots);
    char *name = strdup(desc->name);
    if (!d->classes || !d->table || !d->flows || !d->slots || !name)
        return 1;
    uint64_t hash = dagi_mix_text(UINT64_C(0x64657670726f67), name);
    make_class(d, CLASS_LD, "LD", 1, &writes, &transfer_body);
    make_class(d, CLASS_ST, "ST", 1, &reads, &transfer_body);
    make_class(d, CLASS_MARK, "MARK", -1, NULL, &empty_body);
    make_class(d, CLASS_BAR, "BAR", -1, NULL, &empty_body);
    for (int k = 0; k < desc->nkernels; k++) {
        const dag_devprog_kernel *kernel = desc->kernels[k];
        const char *own = strdup(kernel->name), *host = joined(kernel->name, "_host");
        if (!own || !host)
            return 1;
        make_class(d, class_of_kernel(k, 0), own, kernel->nargs, kernel->access, &device_body);
        make_class(d, class_of_kernel(k, 1), host, -1, NULL, &host_body);
        hash = dagi_mix_text(hash, own);
    }
    for (int m = 0; m < desc->nmatrices; m++) {
        d->slots[m] = (dag_slot){strdup(desc->matrices[m]->super.name), DAG_MEM_INPLACE};
        if (!d->slots[m].name)
            return 1;
    }
    d->nkernels = desc->nkernels;
    d->program = (dag_program){.abi = DAG_JDF_ABI,
                               .name = name,
                               .file = name,
                               .hash = hash,
                               .globals_bytes = sizeof(const dag_devprog *),
                               .nclasses = n,
                               .classes = d->table,
                               .nslots = desc->nmatrices,
                               .slots = d->slots};
    return 0;
}

static int is_for(const described *d, const dag_devprog_desc *desc)
{
    if (d->nkernels != desc->nkernels || d->program.nslots != desc->nmatrices ||
        strcmp(d->program.name, desc->name) != 0)
        return 0;
    for (int k = 0; k < desc->nkernels; k++) {
        const dag_class *c = &d->classes[class_of_kernel(k, 0)];
        if (strcmp(c->name, desc->kernels[k]->name) != 0 || c->ndata != desc->kernels[k]->nargs + 1)
            return 0;
        for (int a = 0; a + 1 < c->ndata; a++) {
            int write = (desc->kernels[k]->access[a] & DAG_TILE_WRITE) != 0;
            if (write != ((c->flows[a].access & DAG_WRITE) != 0))
                return 0;
        }
    }
    for (int m = 0; m < desc->nmatrices; m++) {
        if (strcmp(d->slots[m].name, desc->matrices[m]->super.name) != 0)
            return 0;
    }
    return 1;
}

const described *dagi_devprog_describe(const dag_devprog_desc *desc)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static described *all;
    pthread_mutex_lock(&lock);
    described *d = all;
    while (d && !is_for(d, desc))
        d = d->next;
    if (!d && (d = calloc(1, sizeof *d)) != NULL) {
        if (fill(d, desc) == 0) {
            d->next = all;
            all = d;
        } else {
            d = NULL; /* as little as there was */
        }
    }
    pthread_mutex_unlock(&lock);
    return d;
}
