/* Bodies of the inserted Cholesky factorisation for one element type. */
#define BODY(name) static int DAG_PRECISION_CAT(name##_, DAG_PRECISION)(                           \
    struct dag_task *task, const void *args, const dag_tile_view *t)

BODY(potrf)
{
    const step *s = args;
    int info = FN(potrf)(s->uplo, (int)t->m, t->ptr, (int)t->ld);
    if (info != 0)
        dag_task_info(task, s->first + info);
    return 0;
}

BODY(trsm)
{
    const step *s = args;
    const dag_tile_view *c = &t[1];
    (void)task;
    FN(trsm)(s->uplo == DAG_LOWER ? DAG_RIGHT : DAG_LEFT, s->uplo, DAG_CONJ_TRANS, DAG_NON_UNIT,
             (int)c->m, (int)c->n, 1, t->ptr, (int)t->ld, c->ptr, (int)c->ld);
    return 0;
}

BODY(herk)
{
    const step *s = args;
    const dag_tile_view *c = &t[1];
    int lower = s->uplo == DAG_LOWER;
    (void)task;
    FN(herk)(s->uplo, lower ? DAG_NO_TRANS : DAG_CONJ_TRANS, (int)c->n, (int)(lower ? t->n : t->m),
             -1, t->ptr, (int)t->ld, 1, c->ptr, (int)c->ld);
    return 0;
}

BODY(gemm)
{
    const step *s = args;
    const dag_tile_view *l = t, *r = &t[1], *c = &t[2];
    int lower = s->uplo == DAG_LOWER;
    (void)task;
    FN(gemm)(lower ? DAG_NO_TRANS : DAG_CONJ_TRANS, lower ? DAG_CONJ_TRANS : DAG_NO_TRANS,
             (int)c->m, (int)c->n, (int)(lower ? l->n : l->m), -1, l->ptr, (int)l->ld, r->ptr,
             (int)r->ld, 1, c->ptr, (int)c->ld);
    return 0;
}
#undef BODY
