/* Parts of an element. */
#include "checks.h"

int verify_region(const sema_edge *e, bool most)
{
    const sema_shape *s = e->type_data.kind != SEMA_SHAPE_NONE ? &e->type_data : &e->type;
    switch (s->kind) {
    case SEMA_SHAPE_NONE:
    case SEMA_SHAPE_FULL:
        return VERIFY_WHOLE;
    case SEMA_SHAPE_LOWER:
        return VERIFY_STRICT_LOWER | VERIFY_DIAGONAL;
    case SEMA_SHAPE_UPPER:
        return VERIFY_STRICT_UPPER | VERIFY_DIAGONAL;
    case SEMA_SHAPE_LOWER_STRICT:
        return VERIFY_STRICT_LOWER;
    case SEMA_SHAPE_UPPER_STRICT:
        return VERIFY_STRICT_UPPER;
    case SEMA_SHAPE_GLOBAL:
    case SEMA_SHAPE_NAME:
    case SEMA_SHAPE_C:
        break;
    }
    return most ? VERIFY_WHOLE : 0;
}
