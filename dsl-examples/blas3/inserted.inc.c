/* Bodies of the inserted product for one element type, on cores and on devices. */

/* The terms of each sum. */
static int DAGI_NAME(depth)(const step *s, const dag_tile_view *l)
{
    return (int)(s->transa == DAG_NO_TRANS ? l->n : l->m);
}

/* The columns of op(B) that are taken. */
static elem_t *DAGI_NAME(right)(const step *s, const dag_tile_view *r)
{
    return (elem_t *)r->ptr + (s->transb == DAG_NO_TRANS ? s->skip * r->ld : s->skip);
}

#define DAGI_BODIES "blas3/products.inc.c"
#include "la/both.inc.c"
