/* Part of micro.inc.c: products whose operands any second-level cache holds, which read them as they lie and fetch nothing. */

static size_t MICRO(bytes)(int m, int n, int k)
{
    size_t rows = (size_t)m, cols = (size_t)n, depth = (size_t)k;
    return (rows * cols + rows * depth + cols * depth) * sizeof(elem_t);
}

/* Up to MICRO_TALL vectors of rows of a small product, in as few blocks as hold the columns. */
static MICRO_TARGET void MICRO(small_panel)(const MICRO(job) *job, int i, int rows)
{
#if MICRO_COLS == 8
    static const int most[MICRO_TALL] = {8, 12, 8, 6};
#else
    static const int most[MICRO_TALL] = {4, 4, 4};
#endif
    int vecs = (rows + LANES - 1) / LANES, blocks = 1, cols = job->n, wider = 0;
    if (job->n > most[vecs - 1]) { /* or products of order 8 would feel the divisions */
        blocks = (job->n + most[vecs - 1] - 1) / most[vecs - 1];
        cols = job->n / blocks;
        wider = job->n % blocks;
    }
    bool whole = rows % LANES == 0;
    MICRO_MASK last = MICRO_FIRST(rows - (vecs - 1) * LANES);
    MICRO(edge_block) *narrow = MICRO(edges)[vecs - 1][cols - 1][job->fresh][whole];
    MICRO(edge_block) *wide = wider > 0 ? MICRO(edges)[vecs - 1][cols][job->fresh][whole] : narrow;
    ptrdiff_t lda = job->A.col;
    /* Where columns of A follow each other without a gap, the next one is read, too, and what comes of it dropped. */
    ptrdiff_t open = lda == job->m && job->m >= LANES ? job->k - 1 : 0;
    const elem_t *A = job->A.at + i, *B = job->B.at;
    elem_t *C = job->C + i;
    for (int j = 0; j < blocks; j++) {
        int width = j < wider ? cols + 1 : cols;
        (j < wider ? wide : narrow)(last, open, job->k, job->alpha, A, lda, B, job->B.row, job->B.col, C, job->ldc);
        B += width * job->B.row;
        C += width * job->ldc;
    }
}

/* Rows of the next panel of a small product: as many vectors as a block has at most, or one less where a single vector
 * would be left. */
static int MICRO(small_height)(int left)
{
    int vecs = (left + LANES - 1) / LANES;
#if MICRO_COLS == 8
    int most = vecs == 5 || vecs % 3 == 0 ? 3 : 4;
#else
    int most = vecs == 4 ? 2 : 3;
#endif
    return left < most * LANES ? left : most * LANES;
}

static MICRO_TARGET void MICRO(small)(const MICRO(job) *job)
{
    for (int i = 0, rows; i < job->m; i += rows) {
        rows = MICRO(small_height)(job->m - i);
        MICRO(small_panel)(job, i, rows);
    }
}
