/* Bodies of the inserted Cholesky factorisation for one element type, on cores and on devices. Columns of a tile begin in
 * row `top` of it; for upper triangles rows and columns change places. */
#define NAME(name) DAG_PRECISION_CAT(name##_, DAG_PRECISION)
#define BODY(name) static int NAME(name)(struct dag_task *task, const void *args, const dag_tile_view *t)
#define ENQUEUE(name)                                                                              \
    static int NAME(name##_device)(struct dag_task *task, const void *args, const dag_tile_view *t, \
                                   dag_device_queue *queue)

/* What is `along` the triangle's panels from there on. */
static elem_t *NAME(from)(const step *s, const dag_tile_view *t, int64_t along)
{
    return (elem_t *)t->ptr + (s->uplo == DAG_LOWER ? along : along * t->ld);
}

/* And in the other direction. */
static elem_t *NAME(across)(const step *s, const dag_tile_view *t, int64_t along)
{
    return (elem_t *)t->ptr + (s->uplo == DAG_LOWER ? along * t->ld : along);
}

BODY(potrf)
{
    const step *s = args;
    const extent e = extent_of(s, t);
    elem_t *x = NAME(from)(s, t, s->top);
    int info = FN(potrf)(s->uplo, e.width, x, (int)t->ld);
    if (info != 0)
        dag_task_info(task, s->first + info);
    else if (e.below > 0)
        FN(trsm)(side_of(s), s->uplo, DAG_CONJ_TRANS, DAG_NON_UNIT, e.m, e.n, 1, x, (int)t->ld,
                 NAME(from)(s, t, s->top + e.width), (int)t->ld);
    return 0;
}

ENQUEUE(potrf)
{
    const step *s = args;
    const extent e = extent_of(s, t);
    elem_t *x = NAME(from)(s, t, s->top);
    FN(dev_potrf)(queue, s->uplo, e.width, x, (int)t->ld, dag_device_workspace(task), dag_device_info(task, s->first));
    if (e.below > 0)
        FN(dev_trsm)(queue, side_of(s), s->uplo, DAG_CONJ_TRANS, DAG_NON_UNIT, e.m, e.n, 1, x, (int)t->ld,
                     NAME(from)(s, t, s->top + e.width), (int)t->ld);
    return 0;
}

static size_t NAME(potrf_room)(const void *args, const dag_tile_view *t)
{
    const step *s = args;
    return FN(dev_potrf_workspace)(s->uplo, extent_of(s, t).width);
}

/* Columns, W. */
BODY(pack)
{
    const step *s = args;
    const dag_tile_view *w = &t[1];
    (void)task;
    FN(lacpy)(DAG_REGION_FULL, (int)t->m, (int)t->n, t->ptr, (int)t->ld, NAME(across)(s, w, s->top), (int)w->ld);
    return 0;
}

ENQUEUE(pack)
{
    const step *s = args;
    const dag_tile_view *w = &t[1];
    (void)task;
    FN(dev_geadd)(queue, DAG_NO_TRANS, (int)t->m, (int)t->n, 1, t->ptr, (int)t->ld, 0, NAME(across)(s, w, s->top),
                  (int)w->ld);
    return 0;
}

BODY(trsm)
{
    const step *s = args;
    const dag_tile_view *c = &t[1];
    (void)task;
    FN(trsm)(side_of(s), s->uplo, DAG_CONJ_TRANS, DAG_NON_UNIT, (int)c->m, (int)c->n, 1, NAME(from)(s, t, s->top),
             (int)t->ld, c->ptr, (int)c->ld);
    return 0;
}

ENQUEUE(trsm)
{
    const step *s = args;
    const dag_tile_view *c = &t[1];
    (void)task;
    FN(dev_trsm)(queue, side_of(s), s->uplo, DAG_CONJ_TRANS, DAG_NON_UNIT, (int)c->m, (int)c->n, 1,
                 NAME(from)(s, t, s->top), (int)t->ld, c->ptr, (int)c->ld);
    return 0;
}

BODY(herk)
{
    const step *s = args;
    const dag_tile_view *c = &t[1];
    const extent e = extent_of(s, c);
    int lower = s->uplo == DAG_LOWER, deep = (int)(lower ? t->n : t->m), ld = (int)t->ld;
    elem_t *first = NAME(from)(s, t, s->top), *rest = NAME(from)(s, t, s->top + e.width);
    (void)task;
    FN(herk)(s->uplo, lower ? DAG_NO_TRANS : DAG_CONJ_TRANS, e.width, deep, -1, first, ld, 1,
             NAME(from)(s, c, s->top), (int)c->ld);
    if (e.below > 0)
        FN(gemm)(lower ? DAG_NO_TRANS : DAG_CONJ_TRANS, lower ? DAG_CONJ_TRANS : DAG_NO_TRANS, e.m, e.n, deep, -1,
                 lower ? rest : first, ld, lower ? first : rest, ld, 1, NAME(from)(s, c, s->top + e.width),
                 (int)c->ld);
    return 0;
}

ENQUEUE(herk)
{
    const step *s = args;
    const dag_tile_view *c = &t[1];
    const extent e = extent_of(s, c);
    int lower = s->uplo == DAG_LOWER, deep = (int)(lower ? t->n : t->m), ld = (int)t->ld;
    elem_t *first = NAME(from)(s, t, s->top), *rest = NAME(from)(s, t, s->top + e.width);
    (void)task;
    FN(dev_herk)(queue, s->uplo, lower ? DAG_NO_TRANS : DAG_CONJ_TRANS, e.width, deep, -1, first, ld, 1,
                 NAME(from)(s, c, s->top), (int)c->ld);
    if (e.below > 0)
        FN(dev_gemm)(queue, lower ? DAG_NO_TRANS : DAG_CONJ_TRANS, lower ? DAG_CONJ_TRANS : DAG_NO_TRANS, e.m, e.n,
                     deep, -1, lower ? rest : first, ld, lower ? first : rest, ld, 1,
                     NAME(from)(s, c, s->top + e.width), (int)c->ld);
    return 0;
}

BODY(gemm)
{
    const step *s = args;
    const dag_tile_view *l = t, *r = &t[1], *c = &t[2];
    int lower = s->uplo == DAG_LOWER;
    (void)task;
    FN(gemm)(lower ? DAG_NO_TRANS : DAG_CONJ_TRANS, lower ? DAG_CONJ_TRANS : DAG_NO_TRANS, (int)c->m, (int)c->n,
             (int)(lower ? l->n : l->m), -1, NAME(from)(s, l, lower ? 0 : s->top), (int)l->ld,
             NAME(from)(s, r, lower ? s->top : 0), (int)r->ld, 1, c->ptr, (int)c->ld);
    return 0;
}

ENQUEUE(gemm)
{
    const step *s = args;
    const dag_tile_view *l = t, *r = &t[1], *c = &t[2];
    int lower = s->uplo == DAG_LOWER;
    (void)task;
    FN(dev_gemm)(queue, lower ? DAG_NO_TRANS : DAG_CONJ_TRANS, lower ? DAG_CONJ_TRANS : DAG_NO_TRANS, (int)c->m,
                 (int)c->n, (int)(lower ? l->n : l->m), -1, NAME(from)(s, l, lower ? 0 : s->top), (int)l->ld,
                 NAME(from)(s, r, lower ? s->top : 0), (int)r->ld, 1, c->ptr, (int)c->ld);
    return 0;
}
#undef ENQUEUE
#undef BODY
#undef NAME
