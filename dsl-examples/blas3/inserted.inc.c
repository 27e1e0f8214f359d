/* Bodies of the inserted product for one element type. */

static void DAG_PRECISION_CAT(mul_, DAG_PRECISION)(const step *s, const dag_tile_view *l,
                                                   const dag_tile_view *r, const dag_tile_view *x)
{
    FN(gemm)(s->transa, s->transb, (int)x->m, (int)x->n,
             (int)(s->transa == DAG_NO_TRANS ? l->n : l->m), DAG_SCALAR(s->alpha), l->ptr,
             (int)l->ld, r->ptr, (int)r->ld, DAG_SCALAR(s->beta), x->ptr, (int)x->ld);
}

static int DAG_PRECISION_CAT(product_, DAG_PRECISION)(struct dag_task *task, const void *args,
                                                      const dag_tile_view *t)
{
    (void)task;
    DAG_PRECISION_CAT(mul_, DAG_PRECISION)(args, t, &t[1], &t[2]);
    return 0;
}

/* Both factors are one tile. */
static int DAG_PRECISION_CAT(square_, DAG_PRECISION)(struct dag_task *task, const void *args,
                                                     const dag_tile_view *t)
{
    (void)task;
    DAG_PRECISION_CAT(mul_, DAG_PRECISION)(args, t, t, &t[1]);
    return 0;
}
