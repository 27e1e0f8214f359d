/* Bodies of the inserted product for one element type, on cores and on devices. */
#define NAME(name) DAG_PRECISION_CAT(name##_, DAG_PRECISION)
#define BODY(name) static int NAME(name)(struct dag_task *task, const void *args, const dag_tile_view *t)
#define ENQUEUE(name)                                                                              \
    static int NAME(name##_device)(struct dag_task *task, const void *args, const dag_tile_view *t, \
                                   dag_device_queue *queue)

/* The terms of each sum. */
static int NAME(depth)(const step *s, const dag_tile_view *l)
{
    return (int)(s->transa == DAG_NO_TRANS ? l->n : l->m);
}

/* The columns of op(B) that are taken. */
static elem_t *NAME(right)(const step *s, const dag_tile_view *r)
{
    return (elem_t *)r->ptr + (s->transb == DAG_NO_TRANS ? s->skip * r->ld : s->skip);
}

static void NAME(mul)(const step *s, const dag_tile_view *l, const dag_tile_view *r, const dag_tile_view *x)
{
    FN(gemm)(s->transa, s->transb, (int)x->m, (int)x->n, NAME(depth)(s, l), DAG_SCALAR(s->alpha), l->ptr,
             (int)l->ld, NAME(right)(s, r), (int)r->ld, DAG_SCALAR(s->beta), x->ptr, (int)x->ld);
}

static void NAME(mul_device)(dag_device_queue *queue, const step *s, const dag_tile_view *l, const dag_tile_view *r,
                             const dag_tile_view *x)
{
    FN(dev_gemm)(queue, s->transa, s->transb, (int)x->m, (int)x->n, NAME(depth)(s, l), DAG_SCALAR(s->alpha),
                 l->ptr, (int)l->ld, NAME(right)(s, r), (int)r->ld, DAG_SCALAR(s->beta), x->ptr, (int)x->ld);
}

BODY(product)
{
    (void)task;
    NAME(mul)(args, t, &t[1], &t[2]);
    return 0;
}

ENQUEUE(product)
{
    (void)task;
    NAME(mul_device)(queue, args, t, &t[1], &t[2]);
    return 0;
}

/* Both factors are one tile. */
BODY(square)
{
    (void)task;
    NAME(mul)(args, t, t, &t[1]);
    return 0;
}

ENQUEUE(square)
{
    (void)task;
    NAME(mul_device)(queue, args, t, t, &t[1]);
    return 0;
}
#undef ENQUEUE
#undef BODY
#undef NAME
