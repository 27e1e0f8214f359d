#include "data.h"

#include "../../runtime/layout/grid.h"

#include <stdlib.h>
#include <string.h>

/* ---- elements without a closed form ----------------------------------------------------- */

static int cells_rank_of(const dag_collection *c, const int64_t *index)
{
    return (int)(prop_mix(7, (uint64_t)index[0]) % (uint64_t)c->size);
}

static int cells_contains(const dag_collection *c, const int64_t *index)
{
    return index[0] >= 0 && index[0] < ((const prop_cells *)c)->count;
}

static void cells_shape(const dag_collection *c, const int64_t *index, dag_shape *shape)
{
    (void)index;
    *shape = (dag_shape){(int64_t)((const prop_cells *)c)->bytes, 1, 1};
}

static dag_status cells_element(dag_collection *c, const int64_t *index, dag_element *element)
{
    prop_cells *u = (prop_cells *)c;
    cells_shape(c, index, &element->shape);
    element->ptr = u->data + (size_t)index[0] * u->bytes;
    element->ld = (int64_t)u->bytes;
    return DAG_SUCCESS;
}

static const dag_collection_ops cells_ops = {cells_rank_of, cells_contains, cells_shape,
                                             cells_element};

static prop_cells *cells_new(dag_context *context, int64_t count, size_t bytes)
{
    prop_cells *u = calloc(1, sizeof *u);
    if (!u)
        return NULL;
    dag_collection_init(&u->super, context, &cells_ops, 1, "U");
    u->count = count;
    u->bytes = bytes;
    u->data = calloc((size_t)count, bytes);
    return u;
}

#ifdef PROP_IS_ORACLE
/* The oracle has no vectors of its own. Here is one that is dealt like the runtime's. */
static dag_status vector_element(dag_collection *c, const int64_t *index, dag_element *element)
{
    dag_vector *v = (dag_vector *)c;
    element->shape = dagi_grid_vector_shape(v);
    element->ptr = v->data + (size_t)index[0] * v->bytes;
    element->ld = (int64_t)v->bytes;
    return DAG_SUCCESS;
}

static const dag_collection_ops vector_ops = {
    .rank_of = dagi_grid_vector_rank_of,
    .contains = dagi_grid_vector_contains,
    .shape_of = dagi_grid_vector_shape_of,
    .element = vector_element,
};

dag_status dag_vector_new(dag_context *context, int64_t count, size_t bytes, dag_vector **vector)
{
    dag_vector *v = calloc(1, sizeof *v);
    if (!v)
        return DAG_ERR_NOMEM;
    dagi_grid_vector(v, count, bytes, dag_rank(context), dag_size(context), &vector_ops);
    v->local = count; /* all of them are here */
    v->data = calloc((size_t)count, bytes);
    *vector = v;
    return DAG_SUCCESS;
}

void dag_vector_free(dag_vector *vector)
{
    if (vector)
        free(vector->data);
    free(vector);
}
#endif

/* ---- all of them ------------------------------------------------------------------------ */

static dag_status matrix_new(dag_context *context, const prop_spec *s, int which, dag_matrix **a)
{
    dag_matrix_desc desc = {
        .prec = s->prec,
        .m = (int64_t)s->K * s->mb - s->short_m,
        .n = (int64_t)s->K * s->nb - s->short_n,
        .mb = s->mb,
        .nb = s->nb,
        .p = s->p,
        .q = s->q,
        .layout = s->layout[which],
        .name = which ? "B" : "A",
    };
    return dag_matrix_new(context, &desc, a);
}

static dag_status make_all(prop_data *d, dag_context *context)
{
    const prop_spec *s = &d->spec;
    int64_t count = 4 * (int64_t)s->K * s->K;
    dag_status status = dag_vector_new(context, count, s->bytes, &d->V);
    if (status == DAG_SUCCESS && !s->alias)
        status = dag_vector_new(context, count, s->bytes, &d->W);
    if (status == DAG_SUCCESS)
        status = matrix_new(context, s, 0, &d->A);
    if (status == DAG_SUCCESS && !s->alias)
        status = matrix_new(context, s, 1, &d->B);
    d->U = cells_new(context, count, s->bytes);
    return status;
}

static void fill(prop_data *d)
{
    const char *names = d->spec.alias ? "VUA" : "VWUAB";
    for (const char *name = names; *name; name++) {
        dag_element e;
        int here;
        for (int64_t x = 0; (here = prop_data_element(d, *name, x, &e)) >= 0; x++) {
            uint64_t h = prop_mix(prop_mix(d->spec.seed, (uint64_t)*name), (uint64_t)x);
            for (int64_t j = 0; here && j < e.shape.n; j++) {
                char *column = (char *)e.ptr + (size_t)(j * e.ld) * e.shape.elem;
                for (size_t i = 0; i < (size_t)e.shape.m * e.shape.elem; i++)
                    column[i] = (char)prop_mix(h, (uint64_t)j * 100000 + i);
            }
        }
    }
}

prop_data *prop_data_new(dag_context *context, const prop_spec *spec)
{
    prop_data *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->spec = *spec;
    d->shape = (dag_shape){(int64_t)spec->bytes, 1, 1};
    if (make_all(d, context) != DAG_SUCCESS || !d->U || !d->U->data) {
        prop_data_free(d);
        return NULL;
    }
    if (spec->alias) {
        d->W = d->V;
        d->B = d->A;
    }
    fill(d);
    return d;
}

void prop_data_free(prop_data *d)
{
    if (!d)
        return;
    if (!d->spec.alias) {
        dag_vector_free(d->W);
        dag_matrix_free(d->B);
    }
    dag_vector_free(d->V);
    dag_matrix_free(d->A);
    if (d->U)
        free(d->U->data);
    free(d->U);
    free(d);
}

int prop_data_element(const prop_data *d, char name, int64_t x, dag_element *element)
{
    dag_collection *c = NULL;
    int64_t index[2] = {x, 0};
    switch (name) {
    case 'V': c = &d->V->super; break;
    case 'W': c = &d->W->super; break;
    case 'U': c = &d->U->super; break;
    case 'A': c = &d->A->super; break;
    default: c = &d->B->super; break;
    }
    if (c->nindex == 2) {
        index[0] = x % d->spec.K;
        index[1] = x / d->spec.K;
    }
    if (!c->ops->contains(c, index))
        return -1;
#ifndef PROP_IS_ORACLE
    if (dag_rank_of(c, index) != c->rank)
        return 0;
#endif
    return c->ops->element(c, index, element) == DAG_SUCCESS ? 1 : -1;
}

void prop_data_args(prop_data *d, prop_args *args)
{
    args->V = d->V;
    args->W = d->W;
    args->U = d->U;
    args->A = d->A;
    args->B = d->B;
    args->K = d->spec.K;
    args->S = &d->shape;
    args->prec = d->spec.prec;
}
