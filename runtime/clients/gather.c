/*
 * dag_matrix_gather() and dag_matrix_scatter(): two small task graphs, written by hand in the form
 * that dagcc generates, so that they need nothing of the communication layer but what every graph
 * has.
 *
 *   Take(i, j)  gives tile (i, j): from the matrix (gather) or from the full array (scatter)
 *   Put(i, j)   takes it:          to the full array         or to the matrix
 *
 * The full array is on rank 0.
 */
#include <dag/matrix.h>

#include "given.h"

#include <inttypes.h>

struct globals {
    dag_matrix *a;
    char *full; /* rank 0 */
    int64_t ld;
};

static const dag_matrix *matrix_of(const void *globals)
{
    return ((const struct globals *)globals)->a;
}

/* ---- the space: existing tiles ----------------------------------------------------------- */

static int tile_exists(const void *globals, int32_t *locals)
{
    const dag_matrix *a = matrix_of(globals);
    const int64_t index[2] = {locals[0], locals[1]};
    return a->super.ops->contains(&a->super, index);
}

static int tile_rank(const void *globals, const int32_t *locals)
{
    const dag_matrix *a = matrix_of(globals);
    const int64_t index[2] = {locals[0], locals[1]};
    return dag_rank_of(&a->super, index);
}

static int root_rank(const void *globals, const int32_t *locals)
{
    (void)globals;
    (void)locals;
    return 0;
}

/* Calls name() for each existing tile of rows first, first+step, ... and columns likewise. */
struct walk {
    int64_t row, row_step, col, col_step;
};

static struct walk walk_local(const dag_matrix *a)
{
    return (struct walk){a->prow, a->p, a->prow < 0 ? a->nt : a->pcol, a->q};
}

static struct walk walk_root(const dag_matrix *a)
{
    return (struct walk){0, 1, a->super.rank == 0 ? 0 : a->nt, 1};
}

static int64_t count_walk(const dag_matrix *a, struct walk w)
{
    int64_t count = 0;
    for (int64_t j = w.col; j < a->nt; j += w.col_step)
        for (int64_t i = w.row; i < a->mt; i += w.row_step)
            count += a->super.ops->contains(&a->super, (const int64_t[2]){i, j});
    return count;
}

static int64_t count_local(const void *globals)
{
    return count_walk(matrix_of(globals), walk_local(matrix_of(globals)));
}

static int64_t count_root(const void *globals)
{
    return count_walk(matrix_of(globals), walk_root(matrix_of(globals)));
}

static int start_walk(dag_cursor *cursor, const dag_matrix *a, struct walk w)
{
    int64_t i = cursor->resume ? cursor->at[0] + w.row_step : w.row;
    int64_t j = cursor->resume ? cursor->at[1] : w.col;
    for (; j < a->nt; j += w.col_step, i = w.row)
        for (; i < a->mt; i += w.row_step) {
            if (!a->super.ops->contains(&a->super, (const int64_t[2]){i, j}))
                continue;
            if (dag_start_task(cursor, (const int32_t[2]){(int32_t)i, (int32_t)j})) {
                cursor->at[0] = i;
                cursor->at[1] = j;
                cursor->resume = 1;
                return 1;
            }
        }
    return 0;
}

static int start_local(dag_cursor *cursor, const void *globals)
{
    return start_walk(cursor, matrix_of(globals), walk_local(matrix_of(globals)));
}

static int start_root(dag_cursor *cursor, const void *globals)
{
    return start_walk(cursor, matrix_of(globals), walk_root(matrix_of(globals)));
}

static int64_t one_input(const void *globals, const int32_t *locals)
{
    (void)globals;
    (void)locals;
    return 1;
}

/* ---- tasks ------------------------------------------------------------------------------- */

static void bind_tile(struct dag_task *task, const void *globals)
{
    const int32_t *t = dagi_task_locals(task);
    (void)globals;
    dag_bind_memory(task, 0, 0, (const int64_t[2]){t[0], t[1]});
}

static void bind_fresh(struct dag_task *task, const void *globals)
{
    const int32_t *t = dagi_task_locals(task);
    (void)globals;
    dag_bind_new_like(task, 0, 0, (const int64_t[2]){t[0], t[1]}, 0);
}

static void store_tile(struct dag_task *task, const void *globals)
{
    const int32_t *t = dagi_task_locals(task);
    (void)globals;
    dag_store(task, 0, 0, (const int64_t[2]){t[0], t[1]}, DAG_REGION_FULL);
}

static dag_value full_view(const struct globals *g, const int32_t *t)
{
    const dag_matrix *a = g->a;
    size_t elem = dag_precision_size(a->prec);
    size_t at = (size_t)t[0] * (size_t)a->mb + (size_t)t[1] * (size_t)a->nb * (size_t)g->ld;
    return (dag_value){g->full + at * elem, g->ld, dag_matrix_tile_rows(a, t[0]),
                       dag_matrix_tile_cols(a, t[1]), elem};
}

static int body_to_full(struct dag_task *task, const void *globals)
{
    dag_value view = full_view(globals, dagi_task_locals(task));
    dagi_copy_region(&view, dag_task_flows(task)[0], DAG_REGION_FULL);
    return DAG_BODY_DONE;
}

static int body_from_full(struct dag_task *task, const void *globals)
{
    const dag_value view = full_view(globals, dagi_task_locals(task));
    dagi_copy_region(dag_task_flows(task)[0], &view, DAG_REGION_FULL);
    return DAG_BODY_DONE;
}

/* ---- the two programs -------------------------------------------------------------------- */

static void send_gather(dag_visit *v, const void *globals, const int32_t *locals);
static void send_scatter(dag_visit *v, const void *globals, const int32_t *locals);

static const char *const names[] = {"i", "j"};
static const dag_flow read_flow[] = {{"X", DAG_READ, __LINE__}};
static const dag_flow write_flow[] = {{"X", DAG_WRITE, __LINE__}};
static const dag_body to_full = {.fn = {body_to_full}};
static const dag_body from_full = {.fn = {body_from_full}};
static const dag_body nothing = {.fn = {dagi_nothing}};

#define TILE_CLASS(NAME, ID)                                                                       \
    .name = NAME, .id = ID, .line = __LINE__, .nparams = 2, .nlocals = 2, .ndata = 1, .nflows = 1, \
    .nbodies = 1, .local_names = names, .locals = tile_exists,                                     \
    .task_bytes = sizeof(struct dag_task) + sizeof(dag_value *) + 2 * sizeof(int32_t)

static const dag_class gather_take = {
    TILE_CLASS("Take", 0), .flows = read_flow, .bodies = &nothing, .rank = tile_rank,
    .bind = bind_tile, .successors = send_gather, .count = count_local, .start = start_local,
};
static const dag_class gather_put = {
    TILE_CLASS("Put", 1), .flows = read_flow, .bodies = &to_full, .rank = root_rank,
    .inputs = one_input, .count = count_root,
};
static const dag_class scatter_take = {
    TILE_CLASS("Take", 0), .flows = write_flow, .bodies = &from_full, .rank = root_rank,
    .bind = bind_fresh, .successors = send_scatter, .count = count_root, .start = start_root,
};
static const dag_class scatter_put = {
    TILE_CLASS("Put", 1), .flows = read_flow, .bodies = &nothing, .rank = tile_rank,
    .inputs = one_input, .stores = store_tile, .count = count_local,
};

static void send(dag_visit *v, const dag_edge *edge, const dag_matrix *a, int rank,
                 const int32_t *locals)
{
    if ((v->mask & 1) && (v->mode == DAG_VISIT_RANKS || rank == a->super.rank))
        dag_visit_edge(v, edge, locals);
}

static void send_gather(dag_visit *v, const void *globals, const int32_t *locals)
{
    static const dag_edge edge = {.target = &gather_put, .region = DAG_REGION_FULL,
                                  .line = __LINE__};
    send(v, &edge, matrix_of(globals), 0, locals);
}

static void send_scatter(dag_visit *v, const void *globals, const int32_t *locals)
{
    static const dag_edge edge = {.target = &scatter_put, .region = DAG_REGION_FULL,
                                  .line = __LINE__};
    send(v, &edge, matrix_of(globals), tile_rank(globals, locals), locals);
}

#define TILE_PROGRAM(NAME, HASH, CLASSES, SLOTS)                                                   \
    .abi = DAG_JDF_ABI, .name = NAME, .file = __FILE__, .hash = UINT64_C(HASH),                    \
    .globals_bytes = sizeof(struct globals), .nclasses = 2, .classes = CLASSES, .nslots = 1,       \
    .slots = SLOTS

static const dag_class *const gather_classes[] = {&gather_take, &gather_put};
static const dag_slot gather_slots[] = {{"A", DAG_MEM_READ}};
static const dag_program gather = {
    TILE_PROGRAM("matrix_gather", 0x6461672d67617468, gather_classes, gather_slots)};

static const dag_class *const scatter_classes[] = {&scatter_take, &scatter_put};
static const dag_slot scatter_slots[] = {{"A", DAG_MEM_WRITE}};
static const dag_program scatter = {
    TILE_PROGRAM("matrix_scatter", 0x6461672d73636174, scatter_classes, scatter_slots)};

static dag_status run(const dag_program *program, dag_matrix *a, char *full, int64_t ld)
{
    dag_context *ctx = a->context;
    dag_taskpool *pool = dag_pool_new(ctx, program, DAG_S);
    if (pool == NULL)
        return DAG_ERR_NOMEM;
    *(struct globals *)dag_pool_globals(pool) = (struct globals){a, full, ld};
    dag_pool_collection(pool, 0, &a->super);
    dag_pool_scalar(pool, a->m);
    dag_pool_scalar(pool, a->n);
    pool = dag_pool_ready(pool);
    if (pool == NULL)
        return DAG_ERR_NOMEM;
    /* Only rank 0 can tell, but all ranks have to hear of it. */
    if (a->super.rank == 0 && (ld < a->m || ld < 1))
        dagi_pool_fail(pool, DAG_ERR_ARG, "%s: the leading dimension is %" PRId64
                       "; the array has %" PRId64 " rows", program->name, ld, a->m);
    dag_status status = dag_add(ctx, pool);
    if (status == DAG_SUCCESS)
        status = dag_wait(pool);
    dag_taskpool_free(pool);
    return status;
}

dag_status dag_matrix_gather(dag_matrix *a, void *full, int64_t ld)
{
    return run(&gather, a, full, ld);
}

dag_status dag_matrix_scatter(dag_matrix *a, const void *full, int64_t ld)
{
    union { /* body_from_full() only reads it */
        const void *read_only;
        char *bytes;
    } array = {.read_only = full};
    return run(&scatter, a, array.bytes, ld);
}
