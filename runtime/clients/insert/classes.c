/*
 * The program of a pool that is inserted: classes whose functions read records.
 *
 *   Load(tile)     on its owner: what the tile holds before the program
 *   Arrive(v, r)   on rank r: a version that another rank has made, for all its readers here
 *   Send(v, r)     where v was made: to a rank whose first reader comes when its producer has run
 *   Look(tile)     on all ranks: the program waits for its value
 *   Home(tile)     on its owner, at the end: what was written last is stored
 *   Combine(v)     of a reduction: one part of it into another, or into its tile
 *   Join(v)        of a divided tile: the region of one version into another
 *   and one class for each kernel
 *
 * Parameters are two numbers of 64 bits. The first is the id of a version, or of the first output of a
 * task: ranks agree on it. The second is a pointer to the record, good on this rank alone, but of Arrive it
 * is the rank. Behind them is the line that inserted the task, for reports.
 */
#include "insert.h"

#include "../given.h"

#include <stdlib.h>
#include <string.h>

static void *pointer_of(const int32_t *params)
{
    return (void *)(uintptr_t)get_64(params + 2);
}

static int own_rank(const void *globals, const int32_t *locals)
{
    (void)locals;
    return insertion_of(globals)->rank;
}

static int second_number(const void *globals, const int32_t *locals)
{
    (void)globals;
    return (int)get_64(locals + 2);
}

static int64_t two_inputs(const void *globals, const int32_t *locals)
{
    (void)globals, (void)locals;
    return 2;
}

static int64_t record_inputs(const void *globals, const int32_t *locals)
{
    (void)globals;
    return ((const record *)pointer_of(locals))->inputs;
}

static int64_t record_priority(const void *globals, const int32_t *locals)
{
    (void)globals;
    return ((const record *)pointer_of(locals))->priority;
}

static int run_kernel(struct dag_task *task, const void *globals)
{
    const record *r = record_of(task);
    dag_tile_view view[DAG_INSERT_MOST];
    (void)globals;
    for (int a = 0; a < r->kind->n; a++) {
        const dag_value *v = dag_task_flows(task)[a];
        view[a] = (dag_tile_view){v->ptr, v->ld, v->m, v->n};
    }
    return r->kind->kernel->body(task, r->args, view) ? DAG_BODY_ERROR : DAG_BODY_DONE;
}

int dag_insert_count(const struct dag_task *task)
{
    return task->cls->ndata;
}

/* The tiles as the queue's device sees them. */
static int enqueue_kernel(struct dag_task *task, const void *globals)
{
    const record *r = record_of(task);
    const dag_value *v = dag_device_views(task);
    dag_tile_view view[DAG_INSERT_MOST];
    (void)globals;
    for (int a = 0; a < r->kind->n; a++)
        view[a] = (dag_tile_view){v[a].ptr, v[a].ld, v[a].m, v[a].n};
    return r->kind->kernel->device(task, r->args, view, dag_device_queue_of(task)) ? DAG_BODY_ERROR
                                                                              : DAG_BODY_DONE;
}

/* Where the main tile says, anywhere if there is none. */
static int place_of(const record *r)
{
    return r->kind->main >= 0 ? r->arg[r->kind->main].tile->place : -1;
}

/* Whose main tile is bound to the cores. */
static int may_leave_cores(const void *globals, const int32_t *locals)
{
    const record *r = pointer_of(locals);
    (void)globals;
    return place_of(r) != DAG_HOST;
}

static int64_t bound_device(const void *globals, const int32_t *locals)
{
    const record *r = pointer_of(locals);
    int place = place_of(r);
    (void)globals;
    return place > 0 ? place - 1 : -1;
}

static size_t kernel_workspace(struct dag_task *task, const void *globals)
{
    const record *r = record_of(task);
    dag_tile_view view[DAG_INSERT_MOST];
    (void)globals;
    for (int a = 0; a < r->kind->n; a++) {
        const dag_value *v = dag_task_flows(task)[a];
        view[a] = (dag_tile_view){NULL, v->m, v->m, v->n};
    }
    return r->kind->kernel->workspace(r->args, view);
}

static void bind_kernel(struct dag_task *task, const void *globals)
{
    const record *r = record_of(task);
    if (!r->binds)
        return;
    const bool alone = insertion_of(globals)->alone;
    for (int a = 0; a < r->nargs; a++) {
        const tile *t = r->arg[a].tile;
        bool reads = r->kind->access[a] & DAG_TILE_READ;
        if (r->arg[a].home && alone && !reads)
            dagi_bind_made(task, a, t->slot, t->index); /* until it has run nobody else can have it */
        else if (r->arg[a].home)
            dag_bind_memory(task, a, t->slot, t->index);
        else if (!reads)
            dag_bind_new_like(task, a, t->slot, t->index, 0);
    }
}

static void bind_load(struct dag_task *task, const void *globals)
{
    const tile *t = record_of(task)->arg[0].tile;
    if (t->owner == insertion_of(globals)->rank)
        dag_bind_memory(task, 0, t->slot, t->index);
    else /* it is played */
        dag_bind_new_like(task, 0, t->slot, t->index, 0);
}

/* The value for the program, which waits. */
static int look(struct dag_task *task, const void *globals)
{
    const record *r = record_of(task);
    const insertion_look *l = *(insertion_look *const *)r->args;
    const dag_value *v = dag_task_flows(task)[0];
    (void)globals;
    assert(v->m == l->shape.m && v->n == l->shape.n && v->elem == l->shape.elem);
    size_t column = (size_t)v->m * v->elem;
    for (int64_t j = 0; l->buffer && j < v->n; j++)
        memcpy((char *)l->buffer + (size_t)j * column,
               (const char *)v->ptr + (size_t)(j * v->ld) * v->elem, column);
    return DAG_BODY_DONE;
}

static void store_home(struct dag_task *task, const void *globals)
{
    const tile *t = record_of(task)->arg[0].tile;
    (void)globals;
    dag_store(task, 0, t->slot, t->index, DAG_REGION_FULL);
}

/* ---- edges to other ranks: those on this one are complete.c's --------------------------------------- */

/* An edge from that flow of any class to Arrive, which brings that region of it. */
static const dag_edge *edge_to_arrive(const insertion *s, int from, dag_region region)
{
    return &s->of->edges[region - 1][from];
}

/* A version has come in that flow. */
static void name_arrival(dag_visit *visit, const insertion *s, int flow, int64_t id)
{
    int32_t params[DAGI_GIVEN_PARAMS];
    put_params(params, id, (const void *)(uintptr_t)s->rank, 0);
    dag_visit_edge(visit, edge_to_arrive(s, flow, DAG_REGION_FULL), params);
}

/* A version that is here goes to who reads it elsewhere. */
static void name_reader(dag_visit *visit, const insertion *s, int flow, const version *v, const reader_rank *to)
{
    int32_t params[DAGI_GIVEN_PARAMS];
    put_params(params, v->id, (const void *)(uintptr_t)to->rank, 0);
    dagi_door_edge(visit, edge_to_arrive(s, flow, (dag_region)v->region), params, to->reader);
}

/* Kernels and Load: a message has come with some of the outputs, or it has run here. */
static void record_successors(dag_visit *visit, const void *globals, const int32_t *locals)
{
    insertion *s = insertion_of(globals);
    for (int a = 0; !visit->task && a < DAG_INSERT_MOST; a++) {
        if (visit->mask >> a & 1)
            name_arrival(visit, s, a, (int64_t)get_64(locals) + a);
    }
    if (!visit->task)
        return;
    const record *r = pointer_of(locals);
    assert(visit->mode == DAG_VISIT_RANKS);
    hold(s);
    for (int a = 0; a < r->nargs; a++) {
        version *v = r->arg[a].out;
        if (!v)
            continue;
        version_close(v, dag_task_flows(visit->task)[a]);
        for (const reader_rank *to = v->named; to; to = to->next)
            name_reader(visit, s, a, v, to);
    }
    let_go(s);
}

static void send_successors(dag_visit *visit, const void *globals, const int32_t *locals)
{
    const insertion *s = insertion_of(globals);
    const reader_rank *r = pointer_of(locals);
    if (!visit->task)
        name_arrival(visit, s, 0, (int64_t)get_64(locals));
    else
        name_reader(visit, s, 0, r->version, r);
}

/* ---- the program ------------------------------------------------------------------------------ */

static const dag_body empty_body = {.fn = {dagi_nothing, dagi_nothing, dagi_nothing, dagi_nothing}};
static const dag_body look_body = {.fn = {look, look, look, look}};
static const dag_body combining_body = {.fn = {combine_body, combine_body, combine_body, combine_body}};
static const dag_body joining_body = {.fn = {join_body, join_body, join_body, join_body}};
static const dag_body kernel_body = {.fn = {run_kernel, run_kernel, run_kernel, run_kernel}};

static void make_class(inserted_program *s, int id, const char *name, int ndata)
{
    dag_class *c = &s->classes[id];
    *c = (dag_class){.name = name, .id = id, .nparams = DAGI_GIVEN_PARAMS, .nlocals = DAGI_GIVEN_PARAMS,
                     .ndata = (uint8_t)ndata, .nflows = (uint8_t)(ndata + 1), .nbodies = 1,
                     .local_names = dagi_given_names,
                     .flows = &s->flows[id * (DAG_INSERT_MOST + 1)], .bodies = &empty_body,
                     .locals = dagi_always, .rank = own_rank, .inputs = two_inputs,
                     .count = dagi_none_beforehand, .ctl_blind = DAGI_GIVEN};
    c->task_bytes = (uint32_t)(sizeof(struct dag_task) + (size_t)ndata * sizeof(dag_value *) +
                               DAGI_GIVEN_PARAMS * sizeof(int32_t));
    for (int f = 0; f <= ndata; f++)
        s->flows[id * (DAG_INSERT_MOST + 1) + f] =
            (dag_flow){f < ndata ? "tile" : "given", f < ndata ? DAG_READ : DAG_CTL, 0};
    s->table[id] = c;
}

/* Tasks that read and write tiles. */
static void make_writer(inserted_program *s, const task_kind *k)
{
    int id = k->cls;
    make_class(s, id, k->kernel->name, k->n);
    dag_class *c = &s->classes[id];
    c->inputs = record_inputs;
    c->bind = bind_kernel;
    c->successors = record_successors;
    for (int a = 0; a < k->n; a++)
        s->flows[id * (DAG_INSERT_MOST + 1) + a].access = (dag_access)(k->access[a] & DAG_TILE_RW);
}

/* The first one whose device there is runs. */
static void make_bodies(dag_class *c, dag_body *bodies, const dag_insert_kernel *k)
{
    c->bodies = bodies;
    c->nbodies = 0;
    if (k->device) {
        dag_body *b = &bodies[c->nbodies++];
        b->evaluate = may_leave_cores;
        b->device = (uint8_t)(k->device_kind ? k->device_kind : DAG_DEVICE_ANY);
        b->device_index = bound_device;
        for (int prec = 0; prec < 4; prec++) {
            b->fn[prec] = enqueue_kernel;
            b->workspace[prec] = k->workspace ? kernel_workspace : NULL;
        }
    }
    if (k->body)
        bodies[c->nbodies++] = kernel_body;
}

static void set_access(task_kind *kind, int a, dag_tile_access access)
{
    int region = (access & DAG_TILE_REGIONS) >> DAG_TILE_REGION_AT;
    kind->access[a] = (uint8_t)(access & ~DAG_TILE_REGIONS);
    kind->region[a] = (uint8_t)(region ? region : DAG_REGION_FULL);
    kind->reads |= (kind->access[a] & DAG_TILE_READ) ? UINT32_C(1) << a : 0;
    kind->writes |= (kind->access[a] & DAG_TILE_WRITE) ? UINT32_C(1) << a : 0;
    if ((kind->access[a] & DAG_TILE_WRITE) && kind->region[a] != DAG_REGION_FULL)
        kind->divides = 1;
}

/* Calls of few tiles are compiled apart. */
static uint8_t form_of(const task_kind *k)
{
    bool plain = k->n > 0 && k->main == k->n - 1 && k->writes == UINT32_C(1) << k->main && k->placed;
    if (plain && k->n <= PLAIN_MOST)
        return (uint8_t)(PLAIN_1 + k->n - 1);
    return k->n == 2 ? TWO_TILES : k->n == 0 ? NO_TILES : MANY_TILES;
}

/* A class for each number of tiles that its tasks may have. */
static void make_kernel(inserted_program *s, const dag_insert_kernel *k, const dag_insert_kernel *named, int first)
{
    for (int i = 0; i < kinds_of(k); i++) {
        task_kind *kind = &s->kinds[first + i];
        kind->kernel = k;
        kind->named = named;
        kind->cls = KERNELS + first + i;
        kind->n = fewest_tiles(k) + i;
        kind->main = k->main;
        for (int a = 0; a < kind->n; a++)
            set_access(kind, a, a < k->ntiles ? k->access[a] : k->rest);
        kind->placed = k->main >= 0 && k->body;
        kind->unusual = kind->divides || k->reduce;
        kind->form = form_of(kind);
        make_writer(s, kind);
        dag_class *c = &s->classes[kind->cls];
        make_bodies(c, &s->bodies[2 * (first + i)], k);
        c->priority = k->priority ? record_priority : NULL;
    }
}

/* Room for the classes of all kinds. Nonzero = no memory. */
static int make_room(inserted_program *s, const dag_insert_desc *desc)
{
    size_t kernels = (size_t)desc->nkernels, kinds = 0;
    for (int k = 0; k < desc->nkernels; k++)
        kinds += (size_t)kinds_of(desc->kernels[k]);
    size_t n = KERNELS + kinds;
    s->nkernels = desc->nkernels;
    s->classes = calloc(n, sizeof *s->classes);
    s->table = calloc(n, sizeof *s->table);
    s->flows = calloc(n * (DAG_INSERT_MOST + 1), sizeof *s->flows);
    s->kernels = calloc(kernels, sizeof(const dag_insert_kernel *));
    s->copies = calloc(kernels, sizeof *s->copies);
    s->first = calloc(kernels + 1, sizeof *s->first);
    s->kinds = calloc(kinds, sizeof *s->kinds);
    s->slots = calloc((size_t)desc->ncollections + 1, sizeof *s->slots);
    s->bodies = calloc(2 * kinds, sizeof *s->bodies);
    return !s->classes || !s->table || !s->flows || !s->kernels || !s->copies || !s->first || !s->kinds ||
           !s->slots || !s->bodies;
}

/* Those that every program has. */
static void make_own(inserted_program *s)
{
    make_class(s, LOAD, "Load", 1);
    make_class(s, ARRIVE, "Arrive", 1);
    make_class(s, SEND, "Send", 1);
    make_class(s, LOOK, "Look", 1);
    make_class(s, HOME, "Home", 1);
    s->classes[LOAD].inputs = record_inputs;
    s->classes[LOAD].bind = bind_load;
    s->classes[LOAD].successors = record_successors;
    s->classes[ARRIVE].rank = second_number;
    s->classes[SEND].successors = send_successors;
    s->classes[LOOK].inputs = s->classes[HOME].inputs = record_inputs;
    s->classes[LOOK].bodies = &look_body;
    s->classes[HOME].stores = store_home;
    make_writer(s, &combine_kind);
    s->classes[COMBINE].bodies = &combining_body;
    make_writer(s, &join_kind);
    s->classes[JOIN].bodies = &joining_body;
    for (int c = 0; c < KERNELS; c++)
        s->classes[c].high_priority = c != HOME; /* others wait for what they bring */
    for (int region = 1; region <= DAG_REGION_FULL; region++)
        for (int from = 0; from < DAG_INSERT_MOST; from++)
            s->edges[region - 1][from] = (dag_edge){
                .target = &s->classes[ARRIVE], .source_flow = (uint8_t)from, .region = (uint8_t)region};
}

static int fill(inserted_program *s, const dag_insert_desc *desc)
{
    uint64_t hash = dagi_mix_text(UINT64_C(0x696e73657274), desc->name);
    if (make_room(s, desc) != 0)
        return 1;
    make_own(s);
    for (int k = 0; k < desc->nkernels; k++) {
        s->kernels[k] = desc->kernels[k];
        s->copies[k] = *desc->kernels[k];
        s->copies[k].name = strdup(desc->kernels[k]->name);
        if (!s->copies[k].name)
            return 1;
        make_kernel(s, &s->copies[k], s->kernels[k], s->first[k]);
        s->first[k + 1] = s->first[k] + kinds_of(&s->copies[k]);
        hash = dagi_mix_text(hash, s->copies[k].name);
    }
    char *name = strdup(desc->name);
    for (int c = 0; c < desc->ncollections; c++)
        s->slots[c] = (dag_slot){strdup(desc->collections[c]->name), DAG_MEM_INPLACE};
    s->program = (dag_program){.abi = DAG_JDF_ABI, .name = name, .file = name,
                               .hash = hash, .globals_bytes = sizeof(insertion *),
                               .nclasses = KERNELS + s->first[s->nkernels],
                               .classes = s->table, .nslots = desc->ncollections,
                               .slots = s->slots};
    for (int c = 0; c < desc->ncollections; c++)
        name = s->slots[c].name ? name : NULL;
    return name == NULL;
}

static int is_kernel(const dag_insert_kernel *a, const dag_insert_kernel *b)
{
    int same = strcmp(a->name, b->name) == 0 && a->ntiles == b->ntiles && a->main == b->main &&
               a->body == b->body && a->priority == b->priority && a->device == b->device &&
               a->device_kind == b->device_kind && a->workspace == b->workspace &&
               a->reduce == b->reduce && a->rest == b->rest;
    for (int t = 0; same && t < a->ntiles; t++)
        same = a->access[t] == b->access[t];
    return same;
}

/* What ran short of memory half way is in no list, and stays where it is. */
static int is_for(const inserted_program *s, const dag_insert_desc *desc)
{
    if (s->nkernels != desc->nkernels || s->program.nslots != desc->ncollections ||
        strcmp(s->program.name, desc->name) != 0)
        return 0;
    for (int k = 0; k < desc->nkernels; k++) {
        if (s->kernels[k] != desc->kernels[k] || !is_kernel(&s->copies[k], desc->kernels[k]))
            return 0;
    }
    for (int c = 0; c < desc->ncollections; c++) {
        if (strcmp(s->slots[c].name, desc->collections[c]->name) != 0)
            return 0;
    }
    return 1;
}

const inserted_program *inserted_program_for(const dag_insert_desc *desc)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static inserted_program *programs;
    pthread_mutex_lock(&lock);
    inserted_program *s = programs;
    while (s && !is_for(s, desc))
        s = s->next;
    if (!s && (s = calloc(1, sizeof *s)) != NULL) {
        if (fill(s, desc) == 0) {
            s->next = programs;
            programs = s;
        } else {
            s = NULL;
        }
    }
    pthread_mutex_unlock(&lock);
    return s;
}
