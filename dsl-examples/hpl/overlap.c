/* How much of what ranks sent was hidden under the update, by phase: from what the runtime has recorded. */
#include "hpl.h"

#include <string.h>

/* The test under way; for the application thread alone. */
static struct sending {
    int p, q;
    dag_overlap sums[HPL_PHASES + 1];
} sending;

/* Tasks of the factorisation send along the rows and columns of the grid only. */
static int phase_of(void *unused, const char *program, int rank, int peer)
{
    int ranks = sending.p * sending.q;
    (void)unused;
    if (rank >= ranks || peer >= ranks)
        return -1;
    if (strncmp(program, "trsm_", 5) == 0)
        return HPL_BACK;
    if (strncmp(program, "getrf_", 6) != 0)
        return -1;
    return rank / sending.q == peer / sending.q ? HPL_PANEL : HPL_ROWS;
}

void hpl_overlap_begin(dag_context *ctx, const hpl_case *c)
{
    sending.p = c->p;
    sending.q = c->q;
    for (int i = 0; i <= HPL_PHASES; i++)
        sending.sums[i] = (dag_overlap){-1, -1};
    dag_overlap_at_end(ctx, HPL_PHASES, phase_of, NULL, sending.sums);
}

dag_status hpl_overlap(hpl_result *r)
{
    dag_status status = hpl_leave();
    for (int i = 0; i <= HPL_PHASES; i++) {
        double ranks = sending.sums[i].all < 0 ? 1 : sending.p * sending.q;
        r->sent[i] = (dag_overlap){sending.sums[i].all / ranks, sending.sums[i].exposed / ranks};
    }
    return status;
}
