/* The kernels of out-of-core programs for one element type. */

/* Copies what was loaded, so that the register is free for the next LD. */
BODY(pad)
{
    (void)scalars;
    FN(dev_geadd)(dag_device_queue_of(task), DAG_NO_TRANS, (int)t[0].m, (int)t[0].n, 1, t[0].ptr,
                  (int)t[0].ld, 0, t[1].ptr, (int)t[1].ld);
    return 0;
}

BODY(gemm)
{
    const dagi_outcore_product *p = scalars;
    FN(dev_gemm)(dag_device_queue_of(task), p->transa, p->transb, (int)t[2].m, (int)t[2].n,
                 (int)(p->transa == DAG_NO_TRANS ? t[0].n : t[0].m), DAG_SCALAR(p->alpha), t[0].ptr,
                 (int)t[0].ld, t[1].ptr, (int)t[1].ld, DAG_SCALAR(p->beta), t[2].ptr, (int)t[2].ld);
    return 0;
}

BODY(scale)
{
    const dag_dcomplex *beta = scalars;
    FN(dev_geadd)(dag_device_queue_of(task), DAG_NO_TRANS, (int)t->m, (int)t->n, 0, t->ptr,
                  (int)t->ld, DAG_SCALAR(*beta), t->ptr, (int)t->ld);
    return 0;
}

BODY(trsm)
{
    const dagi_outcore_solve *s = scalars;
    FN(dev_trsm)(dag_device_queue_of(task), s->side, s->uplo, s->trans, s->diag, (int)t[1].m,
                 (int)t[1].n, DAG_SCALAR(s->alpha), t[0].ptr, (int)t[0].ld, t[1].ptr, (int)t[1].ld);
    return 0;
}

/* A copy of a triangle whose squares on the diagonal are inverted. */
BODY(trtri)
{
    const dagi_outcore_solve *s = scalars;
    const int n = (int)t->n, lda = (int)t[0].ld, ldb = (int)t[1].ld;
    const int left = (s->side == DAG_LEFT) == (s->trans == DAG_NO_TRANS);
    dag_device_queue *queue = dag_device_queue_of(task);
    FN(dev_geadd)(queue, DAG_NO_TRANS, n, n, 1, t[0].ptr, lda, 0, t[1].ptr, ldb);
    for (int i = 0; i < n; i += INVERTED)
        FN(dev_trtri)(queue, left ? DAG_LEFT : DAG_RIGHT, s->uplo, s->diag, n - i < INVERTED ? n - i : INVERTED,
                      (const elem_t *)t[0].ptr + i + (size_t)i * (size_t)lda, lda,
                      (elem_t *)t[1].ptr + i + (size_t)i * (size_t)ldb, ldb);
    return 0;
}

static void OWN(by_inverse)(dag_device_queue *queue, const dagi_outcore_solve *s, int m, int n, const elem_t *A,
                            int lda, elem_t *B, int ldb)
{
    const int left = s->side == DAG_LEFT, order = left ? m : n, half = half_of(order), rest = order - half;
    const elem_t *corner = A + half + (size_t)half * (size_t)lda;
    const elem_t *beside = A + (s->uplo == DAG_LOWER ? (size_t)half : (size_t)half * (size_t)lda);
    elem_t *second = B + (left ? (size_t)half : (size_t)half * (size_t)ldb);
    if (order <= INVERTED) {
        FN(dev_trmm)(queue, s->side, s->uplo, s->trans, DAG_NON_UNIT, m, n, 1, A, lda, B, ldb);
        return;
    }
    for (int turn = 0; turn < 2; turn++) {
        const int at_first = (turn == 0) == begins(s), own = at_first ? half : rest;
        elem_t *x = at_first ? B : second, *known = at_first ? second : B;
        if (turn == 1 && left)
            FN(dev_gemm)(queue, s->trans, DAG_NO_TRANS, own, n, order - own, -1, beside, lda, known, ldb, 1, x, ldb);
        else if (turn == 1)
            FN(dev_gemm)(queue, DAG_NO_TRANS, s->trans, m, own, order - own, -1, known, ldb, beside, lda, 1, x, ldb);
        OWN(by_inverse)(queue, s, left ? own : m, left ? n : own, at_first ? A : corner, lda, x, ldb);
    }
}

BODY(solve)
{
    const dagi_outcore_solve *s = scalars;
    dag_device_queue *queue = dag_device_queue_of(task);
    const int m = (int)t[1].m, n = (int)t[1].n, ldb = (int)t[1].ld;
    if (s->alpha != 1)
        FN(dev_geadd)(queue, DAG_NO_TRANS, m, n, 0, t[1].ptr, ldb, DAG_SCALAR(s->alpha), t[1].ptr, ldb);
    OWN(by_inverse)(queue, s, m, n, t[0].ptr, (int)t[0].ld, t[1].ptr, ldb);
    return 0;
}

BODY(herk)
{
    const square *s = scalars;
    const int lower = s->uplo == DAG_LOWER;
    FN(dev_herk)(dag_device_queue_of(task), s->uplo, lower ? DAG_NO_TRANS : DAG_CONJ_TRANS,
                 (int)t[1].n, (int)(lower ? t[0].n : t[0].m), -1, t[0].ptr, (int)t[0].ld, 1,
                 t[1].ptr, (int)t[1].ld);
    return 0;
}

BODY(potrf)
{
    const square *s = scalars;
    FN(dev_potrf)(dag_device_queue_of(task), s->uplo, (int)t->n, t->ptr, (int)t->ld,
                  t[1].ptr, dag_device_info(task, s->at));
    return 0;
}

/* ---- on the host, from row `first` of the matrix on ----------------------------------------- */

BODY(panel)
{
    const dagi_outcore_pivots *p = scalars;
    const int found = FN(getrf)((int)t->m, (int)t->n, t->ptr, (int)t->ld, p->first + 1,
                                p->ipiv + p->first);
    (void)task;
    if (p->first == 0)
        *p->info = 0;
    if (found > 0 && *p->info == 0)
        *p->info = p->first + found;
    return 0;
}

BODY(panel_nopiv)
{
    const dagi_outcore_pivots *p = scalars;
    const int found = FN(getrf_nopiv)((int)t->m, (int)t->n, t->ptr, (int)t->ld);
    if (found > 0)
        dag_task_info(task, p->first + found);
    return 0;
}

BODY(swap)
{
    enum { SOME = 128 };
    const dagi_outcore_pivots *p = scalars;
    (void)task;
    for (int64_t at = p->first; at < p->last; at += SOME) {
        int64_t pivot[SOME], count = p->last - at < SOME ? p->last - at : SOME;
        for (int64_t i = 0; i < count; i++)
            pivot[i] = p->ipiv[at + i] - 1 - at;
        FN(laswp)((int)t->n, (elem_t *)t->ptr + (at - p->first), (int)t->ld, 0, count, pivot, false);
    }
    return 0;
}

static const dag_devprog_kernel OWN(kernels)[DAGI_OUTCORE_KERNELS] = {
    [DAGI_OUTCORE_PAD] = {"pad", 2, {DAG_TILE_READ, DAG_TILE_WRITE}, .device = OWN(pad)},
    [DAGI_OUTCORE_GEMM] = {"gemm", 3, {DAG_TILE_READ, DAG_TILE_READ, DAG_TILE_RW},
                           .device = OWN(gemm)},
    [DAGI_OUTCORE_SET] = {"gemm_set", 3, {DAG_TILE_READ, DAG_TILE_READ, DAG_TILE_WRITE},
                          .device = OWN(gemm)},
    [DAGI_OUTCORE_SCALE] = {"scale", 1, {DAG_TILE_RW}, .device = OWN(scale)},
    [DAGI_OUTCORE_ZERO] = {"zero", 1, {DAG_TILE_WRITE}, .device = OWN(scale)},
    [DAGI_OUTCORE_TRSM] = {"trsm", 2, {DAG_TILE_READ, DAG_TILE_RW}, .device = OWN(trsm)},
    [DAGI_OUTCORE_TRTRI] = {"trtri", 2, {DAG_TILE_READ, DAG_TILE_WRITE}, .device = OWN(trtri)},
    [DAGI_OUTCORE_SOLVE] = {"solve", 2, {DAG_TILE_READ, DAG_TILE_RW}, .device = OWN(solve)},
    [DAGI_OUTCORE_HERK] = {"herk", 2, {DAG_TILE_READ, DAG_TILE_RW}, .device = OWN(herk)},
    [DAGI_OUTCORE_POTRF] = {"potrf", 2, {DAG_TILE_RW, DAG_TILE_WRITE}, .device = OWN(potrf)},
    [DAGI_OUTCORE_PANEL] = {"panel", 1, {DAG_TILE_RW}, .host = OWN(panel)},
    [DAGI_OUTCORE_PANEL_NOPIV] = {"panel_nopiv", 1, {DAG_TILE_RW}, .host = OWN(panel_nopiv)},
    [DAGI_OUTCORE_SWAP] = {"swap", 1, {DAG_TILE_RW}, .host = OWN(swap)}};
