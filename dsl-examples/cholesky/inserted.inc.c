/* Bodies of the inserted Cholesky factorisation for one element type, on cores and on devices. Columns of a tile begin in
 * row `top` of it; for upper triangles rows and columns change places. */

/* What is `along` the triangle's panels from there on. */
static elem_t *DAGI_NAME(from)(const step *s, const dag_tile_view *t, int64_t along)
{
    return (elem_t *)t->ptr + (s->uplo == DAG_LOWER ? along : along * t->ld);
}

/* And in the other direction. */
static elem_t *DAGI_NAME(across)(const step *s, const dag_tile_view *t, int64_t along)
{
    return (elem_t *)t->ptr + (s->uplo == DAG_LOWER ? along * t->ld : along);
}

DAGI_BODY(potrf)
{
    const step *s = args;
    const extent e = extent_of(s, t);
    elem_t *x = DAGI_NAME(from)(s, t, s->top);
    int info = FN(potrf)(s->uplo, e.width, x, (int)t->ld);
    if (info != 0)
        dag_task_info(task, s->first + info);
    else if (e.below > 0)
        FN(trsm)(side_of(s), s->uplo, DAG_CONJ_TRANS, DAG_NON_UNIT, e.m, e.n, 1, x, (int)t->ld,
                 DAGI_NAME(from)(s, t, s->top + e.width), (int)t->ld);
    return 0;
}

DAGI_ENQUEUE(potrf)
{
    const step *s = args;
    const extent e = extent_of(s, t);
    elem_t *x = DAGI_NAME(from)(s, t, s->top);
    FN(dev_potrf)(queue, s->uplo, e.width, x, (int)t->ld, dag_device_workspace(task), dag_device_info(task, s->first));
    if (e.below > 0)
        FN(dev_trsm)(queue, side_of(s), s->uplo, DAG_CONJ_TRANS, DAG_NON_UNIT, e.m, e.n, 1, x, (int)t->ld,
                     DAGI_NAME(from)(s, t, s->top + e.width), (int)t->ld);
    return 0;
}

static size_t DAGI_NAME(potrf_room)(const void *args, const dag_tile_view *t)
{
    const step *s = args;
    return FN(dev_potrf_workspace)(s->uplo, extent_of(s, t).width);
}

/* Columns, W. */
DAGI_BODY(pack)
{
    const step *s = args;
    const dag_tile_view *w = &t[1];
    FN(lacpy)(DAG_REGION_FULL, (int)t->m, (int)t->n, t->ptr, (int)t->ld, DAGI_NAME(across)(s, w, s->top), (int)w->ld);
    return 0;
}

DAGI_ENQUEUE(pack)
{
    const step *s = args;
    const dag_tile_view *w = &t[1];
    FN(dev_geadd)(queue, DAG_NO_TRANS, (int)t->m, (int)t->n, 1, t->ptr, (int)t->ld, 0, DAGI_NAME(across)(s, w, s->top),
                  (int)w->ld);
    return 0;
}

#define DAGI_BODIES "cholesky/updates.inc.c"
#include "la/both.inc.c"
