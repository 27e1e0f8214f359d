/* Batches: how they are divided, and what is done with each matrix. */
#include "batch/batch.h"
#include "batch/lanes.h"
#include "la/numbers.h"

#include <dag/kernels.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

double batch_work(const batch_call *call, int64_t i)
{
    dagi_array a = batch_matrix(call->A[0], i), b = {0};
    double m = a.m, n = a.n, k = m < n ? m : n, lu = k * (m * n - (m + n) * k / 2 + k * k / 3);
    if (call->A[1] != NULL)
        b = batch_matrix(call->A[1], i);
    switch (call->what) {
    case BATCH_POTRF: return n * n * n / 6;
    case BATCH_GETRF: return lu;
    case BATCH_GEQRF: return k * (m * n - k * k / 3);
    case BATCH_GEMM: return m * n * (call->transb == DAG_NO_TRANS ? b.n : b.m);
    case BATCH_TRSM: return n * b.m * b.n / 2;
    case BATCH_GESV: return lu + n * n * b.n;
    default: return n * n * n / 6 + n * n * b.n;
    }
}

/* ---- division ----------------------------------------------------------------------------- */

/* What is sorted: matrices by the sizes of all arguments, the largest first. */
typedef struct item {
    double work;
    int shape[2 * BATCH_MATRICES];
    int64_t which;
} item;

static int by_size(const void *a, const void *b)
{
    const item *x = a, *y = b;
    if (x->work != y->work)
        return x->work < y->work ? 1 : -1;
    int order = memcmp(x->shape, y->shape, sizeof(x->shape));
    return order != 0 ? order : (x->which > y->which) - (x->which < y->which);
}

static dag_status sort(batch_call *call)
{
    item *items = malloc((size_t)call->count * sizeof(*items));
    call->order = malloc((size_t)call->count * sizeof(*call->order));
    if (items == NULL || call->order == NULL) {
        free(items);
        return DAG_ERR_NOMEM;
    }
    for (int64_t i = 0; i < call->count; i++) {
        items[i] = (item){.work = batch_work(call, i), .which = i};
        for (int x = 0; x < BATCH_MATRICES && call->A[x] != NULL; x++) {
            dagi_array a = batch_matrix(call->A[x], i);
            items[i].shape[2 * x] = a.m;
            items[i].shape[2 * x + 1] = a.n;
        }
    }
    qsort(items, (size_t)call->count, sizeof(*items), by_size);
    for (int64_t i = 0; i < call->count; i++)
        call->order[i] = items[i].which;
    free(items);
    return DAG_SUCCESS;
}

static int64_t matrix_at(const batch_call *call, int64_t place)
{
    return call->order != NULL ? call->order[place] : place;
}

/* Rows and columns of what lanes take. */
static int side_of(const batch_call *call, const lanes_table *t)
{
    return call->what == BATCH_GEMM ? t->products : t->order;
}

static bool fits(const dagi_array *a, int order)
{
    return a->m > 0 && a->n > 0 && a->m <= order && a->n <= order;
}

/* Bytes of workspace that matrix i takes: lanes of its arguments, or for QR T and what its kernel wants. */
static size_t room_of(const batch_call *call, int64_t i)
{
    size_t size = dag_precision_size(call->prec), elements = 0;
    dagi_array a = batch_matrix(call->A[0], i);
    int block = a.m > a.n ? a.m : a.n, order = side_of(call, dagi_lanes(call->prec));
    size_t alone = call->what != BATCH_GEQRF
                       ? 0
                       : ((size_t)DAG_QR_INNER * (size_t)a.n + dagi_direct_qr_work(a.n, a.n, block)) * size;
    for (int x = 0; x < BATCH_MATRICES && call->A[x] != NULL; x++) {
        a = batch_matrix(call->A[x], i);
        if (!fits(&a, order))
            return alone;
        elements += (size_t)(x == 0 ? a.m + 1 : a.m) * (size_t)a.n;
    }
    size_t lanes = elements * (dag_precision_is_complex(call->prec) ? 2 : 1) * LANES_LONGEST;
    return alone > lanes ? alone : lanes;
}

dag_status batch_plan(batch_call *call, int workers)
{
    enum { EACH = 8, LEAST = 20000 }; /* tasks of a worker at most, multiplications of a task at least */
    int mixed = 0;
    double all = 0, done = 0;
    size_t room;
    for (int x = 0; x < BATCH_MATRICES && call->A[x] != NULL; x++)
        mixed = mixed || call->A[x]->each != NULL;
    if (mixed && call->count > 0 && sort(call) != DAG_SUCCESS)
        return DAG_ERR_NOMEM;
    for (int64_t i = 0; i < call->count && mixed; i++) {
        all += batch_work(call, i);
        room = room_of(call, i);
        call->room = room > call->room ? room : call->room;
    }
    if (!mixed && call->count > 0) {
        all = (double)call->count * batch_work(call, 0);
        call->room = room_of(call, 0);
    }
    int64_t most = workers > 1 ? (int64_t)workers * EACH : 1;
    call->tasks = dagi_least(dagi_least(most, (int64_t)(all / LEAST) + 1), call->count);
    call->first = malloc((size_t)(call->tasks + 1) * sizeof(*call->first));
    if (call->first == NULL)
        return DAG_ERR_NOMEM;
    call->first[0] = 0;
    for (int64_t t = 1, i = 0; t < call->tasks; t++) {
        int64_t even = call->count * t / call->tasks / LANES_MOST * LANES_MOST;
        for (; mixed && i < call->count && done < all * (double)t / (double)call->tasks; i++)
            done += batch_work(call, call->order[i]);
        call->first[t] = mixed ? i : even;
    }
    call->first[call->tasks] = call->count;
    return DAG_SUCCESS;
}

void batch_free(batch_call *call)
{
    free(call->order);
    free(call->first);
}

/* ---- one matrix --------------------------------------------------------------------------- */

static bool empty(const dagi_array *a)
{
    return a->m == 0 || a->n == 0;
}

/* The factors of reflections are the diagonals of T. */
static void geqrf(const batch_call *call, const dagi_array *a, char *tau, void *room)
{
    size_t size = dag_precision_size(call->prec);
    int block = a->m > a->n ? a->m : a->n;
    char *T = room, *work = T + (size_t)DAG_QR_INNER * (size_t)a->n * size;
    dagi_direct_of[call->prec].geqrf(a, a->n, block, T, DAG_QR_INNER, work);
    for (int j = 0; j < a->m && j < a->n; j++)
        memcpy(tau + (size_t)j * size,
               T + ((size_t)(j % DAG_QR_INNER) + (size_t)j * DAG_QR_INNER) * size, size);
}

static void one(const batch_call *call, int64_t i, void *room)
{
    const dagi_direct_table *t = &dagi_direct_of[call->prec];
    dagi_array a[BATCH_MATRICES] = {{0}};
    for (int x = 0; x < BATCH_MATRICES && call->A[x] != NULL; x++)
        a[x] = batch_matrix(call->A[x], i);
    int64_t *ipiv = call->ipiv != NULL ? call->ipiv + i * call->stride : NULL;
    int64_t info = 0;
    switch (call->what) {
    case BATCH_POTRF:
        info = empty(&a[0]) ? 0 : t->potrf(call->uplo, &a[0]);
        break;
    case BATCH_GETRF:
        info = empty(&a[0]) ? 0 : t->getrf(&a[0], ipiv);
        break;
    case BATCH_GEQRF:
        if (!empty(&a[0]))
            geqrf(call, &a[0], call->tau + (size_t)(i * call->stride) * dag_precision_size(call->prec),
                  room);
        return;
    case BATCH_GEMM:
        if (!empty(&a[2]))
            t->gemm(call->transa, call->transb, call->alpha, &a[0], &a[1], call->beta, &a[2]);
        return;
    case BATCH_TRSM:
        if (!empty(&a[1]))
            t->trsm(call->side, call->uplo, call->transa, call->diag, call->alpha, &a[0], &a[1]);
        return;
    case BATCH_GESV:
        info = empty(&a[0]) ? 0 : t->getrf(&a[0], ipiv);
        if (info == 0 && !empty(&a[1]))
            dagi_direct_getrs(call->prec, DAG_NO_TRANS, &a[0], ipiv, &a[1]);
        break;
    case BATCH_POSV:
        info = empty(&a[0]) ? 0 : t->potrf(call->uplo, &a[0]);
        if (info == 0 && !empty(&a[1]))
            dagi_direct_potrs(call->prec, call->uplo, &a[0], &a[1]);
        break;
    }
    call->info[i] = info;
}

/* ---- several in lanes --------------------------------------------------------------------- */

/* The matrices at these places are of equal sizes. */
static bool alike(const batch_call *call, int64_t place, int64_t other)
{
    for (int x = 0; x < BATCH_MATRICES && call->A[x] != NULL; x++) {
        dagi_array a = batch_matrix(call->A[x], matrix_at(call, place));
        dagi_array b = batch_matrix(call->A[x], matrix_at(call, other));
        if (a.m != b.m || a.n != b.n)
            return false;
    }
    return true;
}

/* The call has as many matrices of the size of that at `place` as lanes hold. Which task they are of does not
 * matter, so that results do not depend on the number of workers. */
static bool fill(const batch_call *call, const lanes_table *t, int64_t place)
{
    int64_t from = place, to = place + 1;
    if (call->order == NULL)
        return call->count >= t->lanes;
    while (to - from < t->lanes && from > 0 && alike(call, place, from - 1))
        from--;
    while (to - from < t->lanes && to < call->count && alike(call, place, to))
        to++;
    return to - from >= t->lanes;
}

static bool faster_alone(const dagi_array *b, const lanes_table *t)
{
    int least = b->m < b->n ? b->m : b->n, most = b->m > b->n ? b->m : b->n;
    return least >= t->alone[0] && most <= t->alone[1];
}

/* As many matrices from `place` on as share their sizes with the first, up to `end` and what lanes hold;
 * 0 where they are no matter for lanes. */
static int gather(const batch_call *call, const lanes_table *t, int64_t place, int64_t end, lanes_of *l)
{
    const int side = side_of(call, t);
    bool small = true;
    for (int x = 0; x < BATCH_MATRICES && call->A[x] != NULL; x++) {
        dagi_array a = batch_matrix(call->A[x], matrix_at(call, place));
        if (!fits(&a, side))
            return 0;
        if (call->what == BATCH_TRSM && x == 1 && faster_alone(&a, t))
            return 0;
        small = small && fits(&a, LANES_ALONE);
        l[x] = (lanes_of){.m = a.m, .n = a.n};
    }
    if ((!small || call->what == BATCH_GEMM) && !fill(call, t, place))
        return 0;
    int count = 0;
    for (; count < t->lanes && place + count < end; count++) {
        int64_t i = matrix_at(call, place + count);
        if (!alike(call, place, place + count))
            break;
        for (int x = 0; x < BATCH_MATRICES && call->A[x] != NULL; x++) {
            dagi_array a = batch_matrix(call->A[x], i);
            l[x].at[count] = a.at;
            l[x].ld[count] = a.ld;
            l[x].count = count + 1;
        }
    }
    return count;
}

/* What lanes will read from `place` on, before `end`; nothing for routines that do not fetch, see lanes_block.inc.c. */
static void errand_for(const batch_call *call, const lanes_table *t, int64_t place, int64_t end, lanes_errand *e)
{
    e->parts = e->now = 0;
    if (call->what == BATCH_GEMM || (call->what != BATCH_TRSM && !dag_precision_is_complex(call->prec)))
        return;
    for (int k = 0; k < t->lanes && place + k < end; k++)
        for (int x = 0; x < BATCH_MATRICES && call->A[x] != NULL && e->parts < LANES_PARTS; x++) {
            dagi_array a = batch_matrix(call->A[x], matrix_at(call, place + k));
            e->at[e->parts] = a.at;
            e->end[e->parts] = e->at[e->parts] + (size_t)a.ld * (size_t)a.n * dag_precision_size(call->prec);
            e->parts++;
        }
}

static bool in_lanes(const batch_call *call, const lanes_table *t, int64_t place, const lanes_of *l,
                     void *room, lanes_errand *next)
{
    int64_t *ipiv[LANES_MOST], *info[LANES_MOST];
    void *tau[LANES_MOST];
    size_t size = dag_precision_size(call->prec);
    for (int k = 0; k < l[0].count; k++) {
        int64_t i = matrix_at(call, place + k);
        ipiv[k] = call->ipiv != NULL ? call->ipiv + i * call->stride : NULL;
        info[k] = call->info != NULL ? call->info + i : NULL;
        tau[k] = call->tau != NULL ? call->tau + (size_t)(i * call->stride) * size : NULL;
    }
    switch (call->what) {
    case BATCH_POTRF: return t->potrf(call->uplo, &l[0], info, room, next);
    case BATCH_GETRF: return t->getrf(&l[0], ipiv, info, room, next);
    case BATCH_GEQRF: return t->geqrf(&l[0], tau, room, next);
    case BATCH_GEMM:
        return call->alpha != 0 && t->gemm(call->transa, call->transb, call->alpha, &l[0], &l[1], call->beta,
                                           &l[2], room);
    case BATCH_TRSM:
        return call->alpha != 0 && t->trsm(call->side, call->uplo, call->transa, call->diag, call->alpha,
                                           &l[0], &l[1], room, next);
    case BATCH_GESV: return t->gesv(&l[0], ipiv, &l[1], info, room, next);
    default: return t->posv(call->uplo, &l[0], &l[1], info, room, next);
    }
}

/* Matrices side by side or, where one of them asks for care, one by one: so none depends on the others. */
static void several(const batch_call *call, const lanes_table *t, int64_t place, const lanes_of *l,
                    void *room, lanes_errand *next)
{
    if (in_lanes(call, t, place, l, room, next))
        return;
    for (int k = 0; k < l[0].count; k++) {
        lanes_of alone[BATCH_MATRICES];
        int count = gather(call, t, place + k, place + k + 1, alone);
        if (l[0].count == 1 || count == 0 || !in_lanes(call, t, place + k, alone, room, next))
            one(call, matrix_at(call, place + k), room);
    }
}

/* The next product of this task, if there is one. */
static void tell_next(const batch_call *call, int64_t place, int64_t end)
{
    static const int order[] = {1, 0, 2}; /* B is read again and again */
    dag_ahead_block block[BATCH_MATRICES];
    int count = 0;
    for (int x = 0; x < 3 && place < end; x++) {
        dagi_array a = batch_matrix(call->A[order[x]], matrix_at(call, place));
        block[count++] = (dag_ahead_block){a.at, (size_t)a.ld * (size_t)a.n * dag_precision_size(call->prec)};
    }
    dag_kernels_next(block, count);
}

static bool asks(const batch_call *call, int64_t place)
{
    return call->what == BATCH_GEMM && !dag_precision_is_complex(call->prec) &&
           batch_work(call, matrix_at(call, place)) >= DAG_AHEAD_LEAST;
}

void batch_run(batch_call *call, int64_t t)
{
    const lanes_table *table = dagi_lanes(call->prec);
    lanes_of l[BATCH_MATRICES] = {{0}};
    lanes_errand next;
    if (t >= call->tasks)
        return;
    _Alignas(LANES_LONGEST) char near[1 << 15]; /* stays in the cache from call to call */
    size_t whole = (call->room + LANES_LONGEST - 1) / LANES_LONGEST * LANES_LONGEST;
    void *far = whole > sizeof(near) ? aligned_alloc(LANES_LONGEST, whole) : NULL;
    void *room = far != NULL ? far : near;
    if (whole > sizeof(near) && far == NULL) {
        atomic_store(&call->failed, 1);
        return;
    }
    int64_t place = call->first[t], end = call->first[t + 1];
    for (bool ask = place < end && asks(call, place); place < end;) {
        int count = gather(call, table, place, end, l);
        if (call->order != NULL)
            ask = asks(call, place); /* the sizes differ */
        if (ask)
            tell_next(call, place + 1, end);
        if (count > 0) {
            errand_for(call, table, place + count, end, &next);
            several(call, table, place, l, room, &next);
        } else
            one(call, matrix_at(call, place), room);
        place += count > 0 ? count : 1;
    }
    free(far);
}
