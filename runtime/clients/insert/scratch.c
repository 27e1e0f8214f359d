/* Tiles without memory: a collection that says where they are and of what shape, and no more. */
#include "insert.h"

static const dag_insert_scratch *scratch_of(const dag_collection *c)
{
    return (const dag_insert_scratch *)(const void *)c;
}

static int rank_of(const dag_collection *c, const int64_t *index)
{
    return dag_rank_of(scratch_of(c)->like, index);
}

static int contains(const dag_collection *c, const int64_t *index)
{
    const dag_collection *like = scratch_of(c)->like;
    return like->ops->contains(like, index);
}

static void shape_of(const dag_collection *c, const int64_t *index, dag_shape *shape)
{
    const dag_insert_scratch *s = scratch_of(c);
    if (s->shape.elem > 0)
        *shape = s->shape;
    else
        s->like->ops->shape_of(s->like, index, shape);
}

/* Whoever asks for memory has taken it for another collection. */
static dag_status element(dag_collection *c, const int64_t *index, dag_element *e)
{
    (void)c, (void)index, (void)e;
    return DAG_ERR_ARG;
}

static const dag_collection_ops ops = {rank_of, contains, shape_of, element};

bool is_scratch(const dag_collection *c)
{
    return c->ops == &ops;
}

const dag_collection *dag_insert_scratch_like(const dag_collection *collection)
{
    return is_scratch(collection) ? scratch_of(collection)->like : collection;
}

void dag_insert_scratch_init(dag_insert_scratch *scratch, const dag_collection *like,
                             const dag_shape *shape, const char *name)
{
    *scratch = (dag_insert_scratch){.super = *like, .like = like};
    if (shape)
        scratch->shape = *shape;
    dag_collection *c = &scratch->super;
    c->ops = &ops;
    c->name = name;
    c->whole = NULL;
    c->last_pool = NULL;
    c->residence = 0;
    const dag_shape *s = &scratch->shape;
    const uint64_t number[] = {(uint64_t)s->m, (uint64_t)s->n, s->elem};
    for (int i = 0; i < 3; i++)
        c->fingerprint = (c->fingerprint ^ number[i]) * UINT64_C(0x100000001b3) + 1;
}
