/* Bodies of the inserted Cholesky factorisation that are the same on cores and on devices. */
EITHER(trsm)
{
    const step *s = args;
    const dag_tile_view *c = &t[1];
    CALL(trsm, side_of(s), s->uplo, DAG_CONJ_TRANS, DAG_NON_UNIT, (int)c->m, (int)c->n, 1,
         DAGI_NAME(from)(s, t, s->top), (int)t->ld, c->ptr, (int)c->ld);
    return 0;
}

EITHER(herk)
{
    const step *s = args;
    const dag_tile_view *c = &t[1];
    const extent e = extent_of(s, c);
    int lower = s->uplo == DAG_LOWER, deep = (int)(lower ? t->n : t->m), ld = (int)t->ld;
    elem_t *first = DAGI_NAME(from)(s, t, s->top), *rest = DAGI_NAME(from)(s, t, s->top + e.width);
    CALL(herk, s->uplo, lower ? DAG_NO_TRANS : DAG_CONJ_TRANS, e.width, deep, -1, first, ld, 1,
         DAGI_NAME(from)(s, c, s->top), (int)c->ld);
    if (e.below > 0)
        CALL(gemm, lower ? DAG_NO_TRANS : DAG_CONJ_TRANS, lower ? DAG_CONJ_TRANS : DAG_NO_TRANS, e.m, e.n, deep, -1,
             lower ? rest : first, ld, lower ? first : rest, ld, 1, DAGI_NAME(from)(s, c, s->top + e.width),
             (int)c->ld);
    return 0;
}

EITHER(gemm)
{
    const step *s = args;
    const dag_tile_view *l = t, *r = &t[1], *c = &t[2];
    int lower = s->uplo == DAG_LOWER;
    CALL(gemm, lower ? DAG_NO_TRANS : DAG_CONJ_TRANS, lower ? DAG_CONJ_TRANS : DAG_NO_TRANS, (int)c->m, (int)c->n,
         (int)(lower ? l->n : l->m), -1, DAGI_NAME(from)(s, l, lower ? 0 : s->top), (int)l->ld,
         DAGI_NAME(from)(s, r, lower ? s->top : 0), (int)r->ld, 1, c->ptr, (int)c->ld);
    return 0;
}
