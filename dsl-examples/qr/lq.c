/* LQ factorisation: A = L Q is A^H = Q^H L^H, the QR factorisation of the adjoint. */
#include "la/check.h"
#include "la/slabs.h"

#include <dag/la.h>
#include <dag/qr.h>

#include <inttypes.h>
#include <stdlib.h>

struct dag_lq {
    dag_qr *adjoint; /* of A^H: its Q is Q^H */
    int64_t m, n, nb;
    dag_precision prec;
};

void dag_lq_free(dag_lq *lq)
{
    if (lq == NULL)
        return;
    dag_qr_free(lq->adjoint);
    free(lq);
}

/* A^H on the grid of A. */
static dag_status turn(dag_context *ctx, const char *routine, dag_matrix *A, dag_matrix **adjoint)
{
    return dagi_la_adjoint(ctx, routine, A, (int)A->p, (int)A->q, adjoint);
}

static dag_status do_gelqf(dag_context *ctx, dagi_entry entry, dag_matrix *A, dag_lq **lq)
{
    dag_lq *made = NULL;
    dag_matrix *adjoint = NULL;
    dagi_check c;
    dagi_check_tiled(&c, ctx, entry, A);
    dagi_check_present(&c, "lq", lq);
    if (c.status == DAG_SUCCESS && (made = calloc(1, sizeof(*made))) == NULL)
        c.status = dag_error(ctx, DAG_ERR_NOMEM, "%s: no memory", entry.name);
    dag_status status = dagi_check_agreed(&c) ? DAG_SUCCESS : c.status;
    if (status == DAG_SUCCESS) {
        made->m = A->m;
        made->n = A->n;
        made->nb = A->nb;
        made->prec = A->prec;
        status = turn(ctx, entry.name, A, &adjoint);
    }
    if (status == DAG_SUCCESS)
        status = dag_geqrf(ctx, adjoint, &made->adjoint);
    if (status == DAG_SUCCESS)
        status = dag_geadd(ctx, DAG_GENERAL, DAG_CONJ_TRANS, 1, adjoint, 0, A);
    dag_matrix_free(adjoint);
    if (status == DAG_SUCCESS)
        *lq = made;
    else
        dag_lq_free(made);
    return status;
}

static void check_q(dagi_check *c, dag_context *ctx, dagi_entry entry, const dag_matrix *A,
                          const dag_lq *lq)
{
    dagi_check_tiled(c, ctx, entry, A);
    dagi_check_present(c, "lq", lq);
    if (c->status == DAG_SUCCESS &&
        (lq->m != A->m || lq->n != A->n || lq->nb != A->nb || lq->prec != A->prec))
        dagi_check_fail(c, "A is not the matrix that lq was made with");
}

static dag_status do_unmlq(dag_context *ctx, dagi_entry entry, dag_side side, dag_trans trans,
                           dag_matrix *A, const dag_lq *lq, dag_matrix *B)
{
    dag_matrix *adjoint = NULL;
    dagi_check c;
    check_q(&c, ctx, entry, A, lq);
    dag_trans checked = trans;
    dagi_check_adjoint(&c, A, &checked);
    dagi_check_side(&c, side);
    if (c.status == DAG_SUCCESS)
        dagi_check_whole(&c, "B", (int)A->prec, B);
    dagi_check_distinct(&c, "B", B, "A", A);
    dag_status status = dagi_check_agreed(&c) ? DAG_SUCCESS : c.status;
    if (status == DAG_SUCCESS)
        status = turn(ctx, entry.name, A, &adjoint);
    if (status != DAG_SUCCESS) {
        dag_matrix_free(adjoint);
        return status;
    }
    /* Q is the adjoint of what dag_unmqr() has */
    status = dag_unmqr(ctx, side, trans == DAG_NO_TRANS ? DAG_CONJ_TRANS : DAG_NO_TRANS, adjoint,
                       lq->adjoint, B);
    dag_matrix_free(adjoint);
    return status;
}

static dag_status do_unglq(dag_context *ctx, dagi_entry entry, dag_matrix *A, const dag_lq *lq,
                           dag_matrix *Q)
{
    dag_matrix *adjoint = NULL, *columns = NULL;
    dagi_check c;
    check_q(&c, ctx, entry, A, lq);
    if (c.status == DAG_SUCCESS)
        dagi_check_whole(&c, "Q", (int)A->prec, Q);
    dagi_check_square_tiles(&c, "Q", Q);
    dagi_check_distinct(&c, "Q", Q, "A", A);
    int64_t least = c.status == DAG_SUCCESS ? (A->m < A->n ? A->m : A->n) : 0;
    if (c.status == DAG_SUCCESS && (Q->nb != A->nb || Q->n != A->n || Q->m > A->n || Q->m < least))
        dagi_check_fail(&c, "Q is %" PRId64 " x %" PRId64 " in tiles of %" PRId64
                        "; it must have %" PRId64 " to %" PRId64 " rows and %" PRId64
                        " columns in tiles of %" PRId64, Q->m, Q->n, Q->nb, least, A->n, A->n,
                        A->nb);
    dag_status status = dagi_check_agreed(&c) ? DAG_SUCCESS : c.status;
    if (status == DAG_SUCCESS)
        status = turn(ctx, entry.name, A, &adjoint);
    if (status == DAG_SUCCESS) {
        const dag_matrix_desc desc = {.prec = A->prec, .m = Q->n, .n = Q->m, .mb = A->nb,
                                      .nb = A->nb, .p = (int)A->p, .q = (int)A->q,
                                      .layout = DAG_LAYOUT_SLAB, .name = "Q^H"};
        status = dagi_la_agreed(ctx, entry.name, dag_matrix_new(ctx, &desc, &columns));
    }
    if (status == DAG_SUCCESS)
        status = dag_ungqr(ctx, adjoint, lq->adjoint, columns);
    if (status == DAG_SUCCESS)
        status = dag_geadd(ctx, DAG_GENERAL, DAG_CONJ_TRANS, 1, columns, 0, Q);
    dag_matrix_free(columns);
    dag_matrix_free(adjoint);
    return status;
}

DAGI_ENTRIES(dag_status, gelqf, (dag_context *ctx, dag_matrix *A, dag_lq **lq),
             do_gelqf(ctx, entry, A, lq))
DAGI_UNITARY_ENTRIES(dag_status, ormlq, unmlq,
                     (dag_context *ctx, dag_side side, dag_trans trans, dag_matrix *A,
                      const dag_lq *lq, dag_matrix *B),
                     do_unmlq(ctx, entry, side, trans, A, lq, B))
DAGI_UNITARY_ENTRIES(dag_status, orglq, unglq,
                     (dag_context *ctx, dag_matrix *A, const dag_lq *lq, dag_matrix *Q),
                     do_unglq(ctx, entry, A, lq, Q))
