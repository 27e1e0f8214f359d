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
