/* Parts of an element. */
#include "checks.h"

dag_region verify_region(const sema_edge *e, bool most)
{
    const sema_shape *s = e->type_data.kind != SEMA_SHAPE_NONE ? &e->type_data : &e->type;
    switch (s->kind) {
    case SEMA_SHAPE_NONE:
    case SEMA_SHAPE_FULL:
        return DAG_REGION_FULL;
    case SEMA_SHAPE_LOWER:
        return DAG_REGION_LOWER;
    case SEMA_SHAPE_UPPER:
        return DAG_REGION_UPPER;
    case SEMA_SHAPE_LOWER_STRICT:
        return DAG_REGION_LOWER_STRICT;
    case SEMA_SHAPE_UPPER_STRICT:
        return DAG_REGION_UPPER_STRICT;
    case SEMA_SHAPE_GLOBAL:
    case SEMA_SHAPE_NAME:
    case SEMA_SHAPE_C:
        break;
    }
    return most ? DAG_REGION_FULL : DAG_REGION_NONE;
}

bool verify_is_fresh(const sema_flow *flow, const sema_edge *e)
{
    bool named = flow->type.kind == SEMA_TYPE_NAMED && flow->type.shape;
    if (e)
        return e->end == SEMA_END_NEW && e->type.kind < SEMA_SHAPE_GLOBAL && !named;
    for (size_t i = 0; i < flow->n_edges; i++)
        if (flow->edges[i].dir == AST_IN)
            return false;
    return flow->ast->kind == AST_WRITE && !named;
}

bool verify_gives_shape(const sema_edge *e)
{
    return e->dir == AST_OUT && e->end == SEMA_END_MEMORY && !e->has_range && !e->dynamic;
}
