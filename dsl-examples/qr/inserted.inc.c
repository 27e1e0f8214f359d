/* Bodies of the inserted QR factorisation for one element type: those of geqrf.jdf, a child of the tree at a
 * time. */
#define BODY(name) static int DAG_PRECISION_CAT(name##_, DAG_PRECISION)(                           \
    struct dag_task *task, const void *args, const dag_tile_view *t)

/* `rows` of a stack become the top of a tile of zeros. */
static void DAG_PRECISION_CAT(top_, DAG_PRECISION)(int region, int rows, int first, const dag_tile_view *c,
                                                   const dag_tile_view *x)
{
    FN(laset)(DAG_REGION_FULL, (int)x->m, (int)x->n, 0, 0, x->ptr, (int)x->ld);
    FN(lacpy)(region, rows, (int)c->n, (elem_t *)c->ptr + first, (int)c->ld, x->ptr, (int)x->ld);
}

/* C, T; X with a tree */
BODY(geqrt)
{
    const step *s = args;
    const dag_tile_view *c = t, *x = &t[2];
    int rows = (int)c->m - s->first;
    elem_t *work = dag_task_workspace(task, (dag_qr_stack_work((int)c->n, s->block) + 1) * sizeof(elem_t));
    if (work == NULL) {
        dag_task_fail(task, "no memory for the factorisation of a stack");
        return 1;
    }
    FN(geqrt_stack)(rows, (int)c->n, s->block, (elem_t *)c->ptr + s->first, (int)c->ld, t[1].ptr,
                    (int)t[1].ld, work);
    if (s->tree)
        DAG_PRECISION_CAT(top_, DAG_PRECISION)(DAG_REGION_UPPER, qr_min(rows, (int)c->n), s->first, c, x);
    return 0;
}

/* child, X, Z */
BODY(reduce)
{
    const step *s = args;
    const dag_tile_view *x = &t[1], *z = &t[2];
    int nb = s->nb, kb = (int)z->n, ld = (int)z->ld;
    elem_t *v = (elem_t *)z->ptr + (size_t)(2 * s->slot) * (size_t)nb;
    (void)task;
    FN(lacpy)(DAG_REGION_FULL, kb, kb, t->ptr, (int)t->ld, v, ld);
    FN(tpqrt)(kb, kb, x->ptr, (int)x->ld, v, ld, v + nb, ld);
    return 0;
}

/* X, C: R comes to its place */
BODY(finish)
{
    const step *s = args;
    const dag_tile_view *c = &t[1];
    (void)task;
    FN(lacpy)(DAG_REGION_UPPER, qr_min((int)c->m - s->first, (int)c->n), (int)c->n, t->ptr, (int)t->ld,
              (elem_t *)c->ptr + s->first, (int)c->ld);
    return 0;
}

/* V, T, C; X with a tree */
BODY(update)
{
    const step *s = args;
    const dag_tile_view *v = t, *c = &t[2], *x = &t[3];
    int rows = (int)c->m - s->first, rank = qr_min(rows, (int)v->n);
    int deep = s->block > 0 ? 2 * DAG_QR_INNER : rank;
    elem_t *work = dag_task_workspace(task, ((size_t)deep * (size_t)c->n + 1) * sizeof(elem_t));
    if (work == NULL) {
        dag_task_fail(task, "no memory for the update of a block column");
        return 1;
    }
    FN(gemqrt_stack)(DAG_CONJ_TRANS, rows, (int)c->n, rank, s->block, (elem_t *)v->ptr + s->first,
                     (int)v->ld, t[1].ptr, (int)t[1].ld, (elem_t *)c->ptr + s->first, (int)c->ld, work);
    if (s->tree)
        DAG_PRECISION_CAT(top_, DAG_PRECISION)(DAG_REGION_FULL, rank, s->first, c, x);
    return 0;
}

/* Z, child, X */
BODY(combine)
{
    const step *s = args;
    const dag_tile_view *z = t, *child = &t[1], *x = &t[2];
    int nb = s->nb, kb = (int)z->n, ld = (int)z->ld;
    const elem_t *v = (const elem_t *)z->ptr + (size_t)(2 * s->slot) * (size_t)nb;
    elem_t *work = dag_task_workspace(task, (size_t)kb * (size_t)s->columns * sizeof(elem_t));
    if (work == NULL) {
        dag_task_fail(task, "no memory for the update of a block column");
        return 1;
    }
    FN(tpmqrt)(DAG_CONJ_TRANS, kb, s->columns, kb, v, ld, v + nb, ld, x->ptr, (int)x->ld, child->ptr,
               (int)child->ld, work, kb);
    return 0;
}

/* X, C: the top block comes home */
BODY(put)
{
    const step *s = args;
    const dag_tile_view *c = &t[1];
    (void)task;
    FN(lacpy)(DAG_REGION_FULL, qr_min((int)c->m - s->first, s->columns), (int)c->n, t->ptr, (int)t->ld,
              (elem_t *)c->ptr + s->first, (int)c->ld);
    return 0;
}
#undef BODY
