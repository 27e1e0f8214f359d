/* Bodies of the inserted product, on cores and on devices: of two factors, and of one tile that is both. */
EITHER(product)
{
    const step *s = args;
    const dag_tile_view *l = t, *r = &t[1], *x = &t[2];
    CALL(gemm, s->transa, s->transb, (int)x->m, (int)x->n, DAGI_NAME(depth)(s, l), DAG_SCALAR(s->alpha), l->ptr,
         (int)l->ld, DAGI_NAME(right)(s, r), (int)r->ld, DAG_SCALAR(s->beta), x->ptr, (int)x->ld);
    return 0;
}

EITHER(square)
{
    const step *s = args;
    const dag_tile_view *x = &t[1];
    CALL(gemm, s->transa, s->transb, (int)x->m, (int)x->n, DAGI_NAME(depth)(s, t), DAG_SCALAR(s->alpha), t->ptr,
         (int)t->ld, DAGI_NAME(right)(s, t), (int)t->ld, DAG_SCALAR(s->beta), x->ptr, (int)x->ld);
    return 0;
}
