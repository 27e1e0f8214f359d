/* @name@: say what it computes. */
#include "la/check.h"

#include "@name@.h"

static dag_status do_@name@(dag_context *ctx, dagi_entry entry, dag_matrix *A)
{
    DAGI_MAKERS(@name@) make[4] = DAGI_FOUR(@name@);
    dagi_check c;
    dagi_check_start(&c, ctx, entry.name);
    /* check the arguments here, by the functions of la/check.h */
    if (!dagi_check_agreed(&c))
        return c.status;
    return dag_run(ctx, make[A->prec](ctx, A));
}

DAGI_ENTRIES(dag_status, @name@, (dag_context *ctx, dag_matrix *A), do_@name@(ctx, entry, A))
