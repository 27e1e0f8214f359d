/* The pool of hierarchical SUMMA, and what it goes by: places of relays, operands whose indices are
 * turned. */
#include "gemm_impl.h"
#include "la/numbers.h"

#include "hsumma.h"

#include <stdlib.h>

/* A transpose: element (i,j) is (j,i) of another matrix, and looks as it does there. */
typedef struct turned {
    dag_collection as; /* first: this is what the graph names */
    dag_collection *of;
} turned;

static dag_collection *behind(const dag_collection *c, const int64_t *index, int64_t swapped[2])
{
    swapped[0] = index[1], swapped[1] = index[0];
    return ((const turned *)(const void *)c)->of;
}

static int turned_rank_of(const dag_collection *c, const int64_t *index)
{
    int64_t swapped[2];
    const dag_collection *of = behind(c, index, swapped);
    return of->ops->rank_of(of, swapped);
}

static int turned_contains(const dag_collection *c, const int64_t *index)
{
    int64_t swapped[2];
    const dag_collection *of = behind(c, index, swapped);
    return of->ops->contains(of, swapped);
}

static void turned_shape_of(const dag_collection *c, const int64_t *index, dag_shape *shape)
{
    int64_t swapped[2];
    const dag_collection *of = behind(c, index, swapped);
    of->ops->shape_of(of, swapped, shape);
}

static dag_status turned_element(dag_collection *c, const int64_t *index, dag_element *element)
{
    int64_t swapped[2];
    dag_collection *of = behind(c, index, swapped);
    return of->ops->element(of, swapped, element);
}

static const dag_collection_ops turned_ops = {
    .rank_of = turned_rank_of,
    .contains = turned_contains,
    .shape_of = turned_shape_of,
    .element = turned_element,
};

static void exchange(int64_t *a, int64_t *b)
{
    int64_t kept = *a;
    *a = *b, *b = kept;
}

/* The transpose of x; NULL when out of memory. */
static dag_collection *turn(dag_collection *x)
{
    turned *t = malloc(sizeof(*t));
    if (t == NULL)
        return NULL;
    *t = (turned){.as = *x, .of = x};
    dag_collection *c = &t->as;
    c->ops = &turned_ops;
    c->whole = dag_collection_whole(x);
    c->last_pool = NULL;
    c->residence = 0;
    exchange(&c->period[0], &c->period[1]);
    exchange(&c->offset[0], &c->offset[1]);
    exchange(&c->mine[0], &c->mine[1]);
    exchange(&c->stride[0], &c->stride[1]);
    return c;
}

struct dagi_hsumma {
    dag_array *tiles, *left, *right; /* where tiles of C are made, and relays are */
    dag_collection *turned_a, *turned_b;
    dag_shape a, b; /* pieces */
};

void dagi_hsumma_free(struct dagi_hsumma *h)
{
    if (h == NULL)
        return;
    dag_array_free(h->tiles);
    dag_array_free(h->left);
    dag_array_free(h->right);
    free(h->turned_a);
    free(h->turned_b);
    free(h);
}

/* Where things are; P x Q processes make a group. */
static dag_status place(const struct gemm *g, const dag_gemm_plan *plan, int64_t kt, int P, int Q,
                        struct dagi_hsumma *h)
{
    const dag_shape none = {0, 0, 1};
    int64_t mt = g->C->mt, nt = g->C->nt, down = dagi_ceil_div(dagi_least(plan->p, mt), P),
            across = dagi_ceil_div(dagi_least(plan->q, nt), Q);
    dag_status status = dag_array_new(g->ctx, 2, (int64_t[]){mt, nt}, (int[]){plan->p, plan->q}, &none,
                                      &h->tiles);
    if (status == DAG_SUCCESS)
        status = dag_array_new(g->ctx, 3, (int64_t[]){mt, across, kt},
                               (int[]){plan->p, plan->groups_q, Q}, &none, &h->left);
    if (status == DAG_SUCCESS)
        status = dag_array_new(g->ctx, 3, (int64_t[]){down, kt, nt},
                               (int[]){plan->groups_p, P, plan->q}, &none, &h->right);
    return status;
}

dag_taskpool *dagi_hsumma_pool(const struct gemm *g, const dag_gemm_plan *plan,
                               struct dagi_hsumma **rest)
{
    DAGI_MAKERS(hsumma) make[4] = DAGI_FOUR(hsumma);
    struct op a = op_of(g->transa, g->A);
    int ta = g->transa != DAG_NO_TRANS, tb = g->transb != DAG_NO_TRANS;
    int P = plan->p / plan->groups_p, Q = plan->q / plan->groups_q;
    int64_t rows = dagi_least(plan->p, g->C->mt), cols = dagi_least(plan->q, g->C->nt);
    int64_t width = plan->inner, slices = dagi_ceil_div(a.nb, width);
    size_t elem = dag_precision_size(g->C->prec);
    struct dagi_hsumma *h = *rest = calloc(1, sizeof(*h));
    if (h == NULL || (ta && (h->turned_a = turn(&g->A->super)) == NULL) ||
        (tb && (h->turned_b = turn(&g->B->super)) == NULL)) {
        dag_error(g->ctx, DAG_ERR_NOMEM, "dag_gemm: no memory for a product in groups");
        return NULL;
    }
    h->a = (dag_shape){g->C->mb * width, 1, elem};
    h->b = (dag_shape){g->C->nb * width, 1, elem};
    if (place(g, plan, a.nt, P, Q, h) != DAG_SUCCESS)
        return NULL;
    int64_t hold = slices > 1, gone = hold ? 0 : plan->steps;
    return make[g->C->prec](g->ctx, ta ? h->turned_a : &g->A->super,
                            tb ? h->turned_b : &g->B->super, g->C, h->tiles, h->left, h->right,
                            rows, cols, dagi_ceil_div(rows, P), dagi_ceil_div(cols, Q), P, Q, a.nt, a.n, a.nb,
                            width, slices, plan->steps, hold, gone, &h->a, &h->b, ta, tb,
                            g->transa, g->transb, g->alpha, g->beta);
}
