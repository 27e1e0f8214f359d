/* From one block-cyclic layout to another, by fragments.h. */
#include "aux/fragments.h"
#include "la/check.h"

#include <inttypes.h>

dag_status dag_redistribute(dag_context *ctx, dag_matrix *A, dag_matrix *B)
{
    dagi_check c;
    dagi_check_start(&c, ctx, "dag_redistribute");
    dagi_check_matrix(&c, "A", A);
    dagi_check_matrix(&c, "B", B);
    dagi_check_same_type(&c, "A", A, "B", B);
    dagi_check_distinct(&c, "B", B, "A", A);
    if (c.status == DAG_SUCCESS && (A->m != B->m || A->n != B->n))
        dagi_check_fail(&c,
                        "A is %" PRId64 " x %" PRId64 ", B is %" PRId64 " x %" PRId64
                        "; they must be the same",
                        A->m, A->n, B->m, B->n);
    if (!dagi_check_agreed(&c))
        return c.status;
    const dagi_place from = dagi_place_of(A), to = dagi_place_of(B);
    return dagi_copy_fragments(ctx, c.routine, &from, &to);
}
