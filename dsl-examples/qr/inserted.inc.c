/* Bodies of the inserted QR factorisation for one element type, on cores and on devices: those of geqrf.jdf and
 * split_geqrf.jdf, a child of the tree at a time. */

/* Row `row` of a stack. */
static elem_t *DAGI_NAME(from)(const dag_tile_view *c, int row)
{
    return (elem_t *)c->ptr + row;
}

/* C, T; X with a tree, which gets what these columns have of the triangle */
DAGI_BODY(geqrt)
{
    const step *s = args;
    const dag_tile_view *c = t, *x = &t[2];
    int rows = (int)c->m - s->at, n = (int)c->n, above = s->at - s->first;
    elem_t *work = dag_task_workspace(task, (dag_qr_stack_work(n, s->block) + 1) * sizeof(elem_t));
    if (work == NULL) {
        dag_task_fail(task, "no memory for the factorisation of a stack");
        return 1;
    }
    FN(geqrt_stack)(rows, n, s->block, DAGI_NAME(from)(c, s->at), (int)c->ld, t[1].ptr, (int)t[1].ld, work);
    if (!s->tree)
        return 0;
    elem_t *top = (elem_t *)x->ptr + s->before * x->ld;
    if (s->before == 0)
        FN(laset)(DAG_REGION_FULL, (int)x->m, (int)x->n, 0, 0, x->ptr, (int)x->ld);
    FN(lacpy)(DAG_REGION_FULL, above, n, DAGI_NAME(from)(c, s->first), (int)c->ld, top, (int)x->ld);
    FN(lacpy)(DAG_REGION_UPPER, qr_min(rows, n), n, DAGI_NAME(from)(c, s->at), (int)c->ld, top + above, (int)x->ld);
    return 0;
}

/* Columns, their T, Y, T: these columns and their T join those before them */
DAGI_BODY(pack)
{
    const step *s = args;
    const dag_tile_view *l = t, *r = &t[1], *whole = &t[2], *of = &t[3];
    int before = (int)s->before, rows = (int)l->m - s->at, rank = qr_min(rows, (int)l->n), ld = (int)of->ld;
    const elem_t *v = DAGI_NAME(from)(l, s->at), *y = DAGI_NAME(from)(whole, s->at);
    elem_t *right = (elem_t *)of->ptr + s->before * of->ld; /* columns of T above those of this one */
    if (before == 0)
        FN(laset)(DAG_REGION_FULL, (int)of->m, (int)of->n, 0, 0, of->ptr, ld);
    FN(lacpy)(DAG_REGION_FULL, (int)l->m, (int)l->n, l->ptr, (int)l->ld, (elem_t *)whole->ptr + s->before * whole->ld,
              (int)whole->ld);
    FN(lacpy)(DAG_REGION_UPPER, rank, rank, r->ptr, (int)r->ld, right + before, ld);
    if (before == 0 || rank == 0)
        return 0;
    /* T12 = -T11 (V1^H V2) T22 */
    FN(geadd)(DAG_REGION_FULL, DAG_CONJ_TRANS, before, rank, 1, y, (int)whole->ld, 0, right, ld);
    FN(trmm)(DAG_RIGHT, DAG_LOWER, DAG_NO_TRANS, DAG_UNIT, before, rank, 1, v, (int)l->ld, right, ld);
    FN(gemm)(DAG_CONJ_TRANS, DAG_NO_TRANS, before, rank, rows - rank, 1, y + rank, (int)whole->ld, v + rank,
             (int)l->ld, 1, right, ld);
    FN(trmm)(DAG_LEFT, DAG_UPPER, DAG_NO_TRANS, DAG_NON_UNIT, before, rank, -1, of->ptr, ld, right, ld);
    FN(trmm)(DAG_RIGHT, DAG_UPPER, DAG_NO_TRANS, DAG_NON_UNIT, before, rank, 1, r->ptr, (int)r->ld, right, ld);
    return 0;
}

/* child, X, Z */
DAGI_BODY(reduce)
{
    const step *s = args;
    const dag_tile_view *x = &t[1], *z = &t[2];
    int nb = s->nb, kb = (int)z->n, ld = (int)z->ld;
    elem_t *v = (elem_t *)z->ptr + (size_t)(2 * s->slot) * (size_t)nb;
    FN(lacpy)(DAG_REGION_FULL, kb, kb, t->ptr, (int)t->ld, v, ld);
    FN(tpqrt)(kb, kb, x->ptr, (int)x->ld, v, ld, v + nb, ld);
    return 0;
}

/* X, C: R comes to its place */
DAGI_BODY(finish)
{
    const step *s = args;
    const dag_tile_view *c = &t[1];
    const elem_t *x = (const elem_t *)t->ptr + s->before * t->ld;
    int n = (int)c->n, above = s->at - s->first;
    FN(lacpy)(DAG_REGION_FULL, above, n, x, (int)t->ld, DAGI_NAME(from)(c, s->first), (int)c->ld);
    FN(lacpy)(DAG_REGION_UPPER, qr_min((int)c->m - s->at, n), n, x + above, (int)t->ld, DAGI_NAME(from)(c, s->at),
              (int)c->ld);
    return 0;
}

/* V, T, C; X with a tree */
DAGI_BODY(update)
{
    const step *s = args;
    const dag_tile_view *v = t, *c = &t[2], *x = &t[3];
    int rows = (int)c->m - s->at, rank = qr_min(rows, (int)v->n);
    int deep = s->block > 0 ? 2 * DAG_QR_INNER : rank;
    elem_t *work = dag_task_workspace(task, ((size_t)deep * (size_t)c->n + 1) * sizeof(elem_t));
    if (work == NULL) {
        dag_task_fail(task, "no memory for the update of a block column");
        return 1;
    }
    FN(gemqrt_stack)(DAG_CONJ_TRANS, rows, (int)c->n, rank, s->block, DAGI_NAME(from)(v, s->at), (int)v->ld, t[1].ptr,
                     (int)t[1].ld, DAGI_NAME(from)(c, s->at), (int)c->ld, work);
    if (s->tree) {
        FN(laset)(DAG_REGION_FULL, (int)x->m, (int)x->n, 0, 0, x->ptr, (int)x->ld);
        FN(lacpy)(DAG_REGION_FULL, qr_min((int)c->m - s->first, s->nb), (int)c->n, DAGI_NAME(from)(c, s->first),
                  (int)c->ld, x->ptr, (int)x->ld);
    }
    return 0;
}

/* Stacks are not cut into blocks. */
DAGI_ENQUEUE(update)
{
    const step *s = args;
    const dag_tile_view *v = t, *c = &t[2], *x = &t[3];
    int rows = (int)c->m - s->at;
    FN(dev_gemqrt)(queue, DAG_CONJ_TRANS, rows, (int)c->n, qr_min(rows, (int)v->n), DAGI_NAME(from)(v, s->at),
                   (int)v->ld, t[1].ptr, (int)t[1].ld, DAGI_NAME(from)(c, s->at), (int)c->ld, dag_device_workspace(task),
                   (int)v->n);
    if (s->tree) {
        FN(dev_geadd)(queue, DAG_NO_TRANS, (int)x->m, (int)x->n, 0, x->ptr, (int)x->ld, 0, x->ptr, (int)x->ld);
        FN(dev_geadd)(queue, DAG_NO_TRANS, qr_min((int)c->m - s->first, s->nb), (int)c->n, 1,
                      DAGI_NAME(from)(c, s->first), (int)c->ld, 0, x->ptr, (int)x->ld);
    }
    return 0;
}

static size_t DAGI_NAME(update_room)(const void *args, const dag_tile_view *t)
{
    (void)args;
    return (size_t)t->n * (size_t)t[2].n * sizeof(elem_t);
}

/* Z, child, X */
DAGI_BODY(combine)
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

DAGI_ENQUEUE(combine)
{
    const step *s = args;
    const dag_tile_view *z = t, *child = &t[1], *x = &t[2];
    int nb = s->nb, kb = (int)z->n, ld = (int)z->ld;
    const elem_t *v = (const elem_t *)z->ptr + (size_t)(2 * s->slot) * (size_t)nb;
    FN(dev_tpmqrt)(queue, DAG_CONJ_TRANS, kb, s->columns, kb, v, ld, v + nb, ld, x->ptr, (int)x->ld, child->ptr,
                   (int)child->ld, dag_device_workspace(task), kb);
    return 0;
}

static size_t DAGI_NAME(combine_room)(const void *args, const dag_tile_view *t)
{
    const step *s = args;
    return (size_t)t->n * (size_t)s->columns * sizeof(elem_t);
}

/* X, C: the top block comes home */
DAGI_BODY(put)
{
    const step *s = args;
    const dag_tile_view *c = &t[1];
    FN(lacpy)(DAG_REGION_FULL, qr_min((int)c->m - s->first, s->nb), (int)c->n, t->ptr, (int)t->ld,
              DAGI_NAME(from)(c, s->first), (int)c->ld);
    return 0;
}

DAGI_ENQUEUE(put)
{
    const step *s = args;
    const dag_tile_view *c = &t[1];
    FN(dev_geadd)(queue, DAG_NO_TRANS, qr_min((int)c->m - s->first, s->nb), (int)c->n, 1, t->ptr, (int)t->ld, 0,
                  DAGI_NAME(from)(c, s->first), (int)c->ld);
    return 0;
}
