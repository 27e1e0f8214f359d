/* The launch of calls of one form in one precision. */
static void FN(launch_gathered)(dag_device_queue *queue, const dagi_gathered *const *calls, int count)
{
    const dagi_form *f = &calls[0]->form;
    const elem_t *A[TASKS], *B[TASKS];
    elem_t *C[TASKS], alpha, beta;
    for (int i = 0; i < count; i++) {
        A[i] = calls[i]->A;
        B[i] = calls[i]->B;
        C[i] = calls[i]->C;
    }
    memcpy(&alpha, f->alpha, sizeof alpha);
    memcpy(&beta, f->beta, sizeof beta);
    if (f->op == DAG_OP_GEMM)
        FN(dev_gemm_batch)(queue, (dag_trans)f->how[0], (dag_trans)f->how[1], f->m, f->n, f->k, alpha, A, f->lda,
                            B, f->ldb, beta, C, f->ldc, count);
    else
        FN(dev_trsm_batch)(queue, (dag_side)f->how[0], (dag_uplo)f->how[1], (dag_trans)f->how[2],
                            (dag_diag)f->how[3], f->m, f->n, alpha, A, f->lda, C, f->ldc, count);
}
