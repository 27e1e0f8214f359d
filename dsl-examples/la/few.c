/* Solves with few right-hand sides: when they go by solve_few.jdf, and what it needs. */
#include "la/few.h"

#include <dag/blas3.h>
#include <dag/vector.h>

#include "solve_few.h"

#include <math.h>
#include <stdlib.h>

/* Columns of B above which blocks of B visit the tiles of A instead: many of them hide latency behind each
 * other's work, and the way by rank 0 is no longer short. */
enum { FEW = 32 };

/* Seconds of a message from which on the messages of a solve cost more than what homes are sent. */
static const double SLOW = 0.5e-3;

int dagi_few_far(const dag_context *ctx)
{
    return dag_latency(ctx) >= SLOW;
}

/* Tiles of a group. Two sweeps wait for about five messages per group, one after the other; against that
 * stands the time in which the homes, at the same time, are sent their groups. Ranks have to come to the
 * same number, so the time of a message is one that is typical of networks that are slow. */
static int group_of(const dag_context *ctx, const dag_matrix *A)
{
    const double message = 10e-3, usual = 1e8, most = 5e6; /* seconds, bytes per second, bytes of a home */
    double item = (double)dag_precision_size(A->prec), rate = dag_rate(ctx) > 0 ? dag_rate(ctx) : usual;
    double width = sqrt(5 * message * (double)(A->p * A->q) * rate / item), bound = sqrt(most / item);
    int64_t least = A->p > A->q ? A->p : A->q;
    int64_t group = (int64_t)((width < bound ? width : bound) / (double)A->nb), count;
    group = group < least ? least : group > A->mt ? A->mt : group;
    count = (A->mt + group - 1) / group;
    return (int)((A->mt + count - 1) / count);
}

/* place[r]: where the exchanges, made one after the other, bring row r. */
static void follow(int64_t n, const int64_t *ipiv, int64_t *at, int64_t *place)
{
    for (int64_t i = 0; i < n; i++)
        at[i] = i;
    for (int64_t i = 0; i < n; i++) {
        int64_t row = at[i];
        at[i] = at[ipiv[i] - 1];
        at[ipiv[i] - 1] = row;
    }
    for (int64_t i = 0; i < n; i++)
        place[at[i]] = i;
}

void dagi_few_prepare(dagi_check *c, dagi_few *f, const dag_matrix *A, const dag_matrix *B, int pivots)
{
    dag_device_stats stats;
    *f = (dagi_few){.wanted = 0};
    if (c->status != DAG_SUCCESS)
        return;
    c->note = dag_reproducible(c->ctx) || !dagi_few_far(c->ctx) ||
              dag_device_stats_get(c->ctx, 0, &stats);
    if (A->p * A->q == 1 || A->m != A->n || A->mb != A->nb || A->mt < 3 || B->m != A->m ||
        B->mb != A->nb || B->n == 0 || B->n > FEW || B->nt != 1)
        return;
    f->wanted = 1;
    f->prec = A->prec;
    f->how = (la_few){.alpha = 1, .n = A->n, .nb = A->nb, .tiles = (int)A->mt,
                       .group = group_of(c->ctx, A)};
    if (pivots)
        f->place = malloc(2 * (size_t)A->n * sizeof *f->place);
    if (pivots && f->place == NULL)
        c->status = dag_error(c->ctx, DAG_ERR_NOMEM, "%s: no memory for the exchanges of rows",
                              c->routine);
    if (c->status == DAG_SUCCESS)
        c->status = dag_vector_new(c->ctx, dag_size(c->ctx), 0, &f->ranks);
}

/* ---- block columns at home ------------------------------------------------------------------- */

static int group_with(const la_few *how, int64_t tile)
{
    return (int)(la_few_groups(how) - 1 - (how->tiles - 1 - tile) / how->group);
}

static int column_rank_of(const dag_collection *c, const int64_t *index)
{
    return group_with(((const dagi_few_columns *)c)->how, index[0]) % c->size;
}

static int column_contains(const dag_collection *c, const int64_t *index)
{
    return index[0] >= 0 && index[0] < ((const dagi_few_columns *)c)->how->tiles;
}

static void column_shape_of(const dag_collection *c, const int64_t *index, dag_shape *shape)
{
    const dagi_few_columns *columns = (const dagi_few_columns *)c;
    (void)index;
    *shape = (dag_shape){columns->how->group * columns->how->nb, columns->how->nb, columns->item};
}

static dag_status column_element(dag_collection *c, const int64_t *index, dag_element *element)
{
    const dagi_few_columns *columns = (const dagi_few_columns *)c;
    int e = group_with(columns->how, index[0]);
    column_shape_of(c, index, &element->shape);
    element->ld = element->shape.m;
    element->ptr = (char *)dag_vector_at(columns->homes, e) +
                   (size_t)(la_few_offset(columns->how, e, (int)index[0]) * element->ld) * columns->item;
    return DAG_SUCCESS;
}

void dagi_few_hold(dagi_check *c, dagi_few *f)
{
    static const dag_collection_ops ops = {column_rank_of, column_contains, column_shape_of,
                                           column_element};
    size_t high = (size_t)f->how.group * (size_t)f->how.nb, item = dag_precision_size(f->prec);
    if (c->status != DAG_SUCCESS || !f->wanted || c->note) /* no rank will need it */
        return;
    c->status = dag_vector_new(c->ctx, la_few_groups(&f->how), high * high * item, &f->homes);
    f->columns = (dagi_few_columns){.how = &f->how, .homes = f->homes, .item = item};
    dag_collection_init(&f->columns.super, c->ctx, &ops, 1, "columns of groups");
}

dag_status dagi_few_run(dag_context *ctx, dagi_few *f, dag_matrix *A, const int64_t *ipiv, dag_matrix *B,
                        int sweeps, int down, int behind)
{
    DAGI_MAKERS(solve_few) make[4] = DAGI_FOUR(solve_few);
    la_few *how = &f->how;
    int64_t high = how->group * how->nb, item = (int64_t)dag_precision_size(A->prec);
    int64_t mine = ((how->group + A->p - 1) / A->p) * ((how->group + A->q - 1) / A->q);
    dag_shape tiles = {how->nb, how->nb * mine, (size_t)item}, group = {high, high, (size_t)item};
    dag_shape rhs = {how->n, B->n, (size_t)item}, rows = {high, B->n, (size_t)item};
    if (ipiv != NULL) {
        follow(how->n, ipiv, f->place + how->n, f->place);
        *(behind ? &how->back : &how->front) = f->place;
    }
    int count = la_few_groups(how);
    return dag_run(ctx, make[A->prec](ctx, A, B, f->ranks, f->homes ? f->homes : f->ranks, how,
                                      (int)(A->p * A->q), count, f->homes ? 0 : count, sweeps, down,
                                      &tiles, &group, &rhs, &rows));
}

dag_status dagi_few_run_stayed(dag_context *ctx, dag_matrix *A, dag_matrix *B, const la_few_sweep sweep[2])
{
    dag_status status = DAG_SUCCESS;
    for (int s = 0; s < 2 && status == DAG_SUCCESS; s++)
        status = dag_run(ctx, dag_trsm_new(ctx, DAG_LEFT, sweep[s].uplo, sweep[s].trans, sweep[s].diag, 1, A, B));
    return status;
}

void dagi_few_free(dagi_few *f)
{
    dag_vector_free(f->ranks);
    dag_vector_free(f->homes);
    free(f->place);
}
