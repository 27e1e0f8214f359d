/*
 * Part of micro.inc.c: small complex products. Elements are pairs of elem_t, see micro_pairs.inc.c.
 *
 * To a block of rows, a complex column of B is two real ones, of its real and of its imaginary parts. Both are multiplied
 * like those of a real product, with as many sums in registers; the parts meet only when a block is done. A that is
 * transposed is copied panel by panel.
 */

/* Vectors of rows of a block, and the complex columns that one of so many has at most. */
#if MICRO_COLS == 8
static const int MICRO(pairs_widest)[MICRO_TALL] = {8, 6, 4, 3};
#define PAIRS_WIDE 8
#else
static const int MICRO(pairs_widest)[MICRO_TALL] = {4, 3, 2};
#define PAIRS_WIDE 4
#endif
#define EACH_PAIR_COL(j) _Pragma("GCC unroll 8") for (int j = 0; j < cols; j++)

/* Adds products of the real and of the imaginary parts of `cols` columns of B, of the last vector of A only the lanes in
 * `mask`, or all (`whole`). */
INLINE void MICRO(pairs_multiply)(int vecs, int cols, bool whole, MICRO_MASK mask, ptrdiff_t k, const elem_t *A,
                                  ptrdiff_t lda, const elem_t *B, ptrdiff_t b_row, ptrdiff_t b_col,
                                  MICRO(vector) real[PAIRS_WIDE][MICRO_TALL], MICRO(vector) other[PAIRS_WIDE][MICRO_TALL])
{
    for (ptrdiff_t p = 0; p < k; p++) {
        MICRO(vector) a[MICRO_TALL];
        EACH_VEC(i)
            a[i] = MICRO(pairs_at)(whole || i < vecs - 1, mask, A + i * LANES);
        EACH_PAIR_COL(j) {
            elem_t re = B[2 * j * b_col], im = B[2 * j * b_col + 1];
            EACH_VEC(i)
                real[j][i] += a[i] * re;
            EACH_VEC(i)
                other[j][i] += a[i] * im;
        }
        A += 2 * lda;
        B += 2 * b_row;
    }
}

/* A block of C; of the first `open` columns of A what follows the rows may be read, too: see MICRO(edge). */
INLINE void MICRO(pairs_block)(int vecs, int cols, bool whole, MICRO_MASK mask, ptrdiff_t open,
                               const MICRO_PRODUCT *job, const elem_t *A, ptrdiff_t lda, const elem_t *B, elem_t *C)
{
    MICRO(vector) real[PAIRS_WIDE][MICRO_TALL], other[PAIRS_WIDE][MICRO_TALL];
    const ptrdiff_t b_row = job->b_row, b_col = job->b_col, ldc = 2 * job->ldc;
    EACH_PAIR_COL(j)
        EACH_VEC(i)
            real[j][i] = other[j][i] = (MICRO(vector)){0};
    MICRO(pairs_multiply)(vecs, cols, true, mask, whole ? job->k : open, A, lda, B, b_row, b_col, real, other);
    if (!whole)
        MICRO(pairs_multiply)(vecs, cols, false, mask, job->k - open, A + 2 * open * lda, lda, B + 2 * open * b_row, b_row,
                              b_col, real, other);
    const MICRO(vector) sign = MICRO(parts)(job->conj_b ? 1 : -1, job->conj_b ? -1 : 1);
    const MICRO(vector) turn = MICRO(parts)(-job->alpha[1], job->alpha[1]);
    EACH_PAIR_COL(j)
        EACH_VEC(i) {
            MICRO(vector) sum = real[j][i] + sign * MICRO(crossed)(other[j][i]);
            real[j][i] = sum * job->alpha[0];
            if (job->alpha[1] != 0)
                real[j][i] += turn * MICRO(crossed)(sum);
            if (!job->fresh)
                real[j][i] += MICRO(pairs_at)(whole || i < vecs - 1, mask, C + i * LANES + j * ldc);
        }
    /* After all of C is read, as in MICRO(edge). */
    MICRO(put)(vecs, cols, whole, mask, real, C, ldc);
}

typedef void MICRO(pairs_blocks)(MICRO_MASK mask, ptrdiff_t open, const MICRO_PRODUCT *job, const elem_t *A,
                                 ptrdiff_t lda, const elem_t *B, elem_t *C);
#define PAIRS_BLOCK(name, vecs, cols, whole)                                                       \
    static MICRO_TARGET void MICRO(name##_##vecs##_##cols)(MICRO_MASK mask, ptrdiff_t open,        \
                                                           const MICRO_PRODUCT *job, const elem_t *A, \
                                                           ptrdiff_t lda, const elem_t *B, elem_t *C) \
    {                                                                                              \
        MICRO(pairs_block)(vecs, cols, whole, mask, open, job, A, lda, B, C);                      \
    }
#define PAIRS_BLOCKS(vecs, cols) PAIRS_BLOCK(pairs_edge, vecs, cols, false) PAIRS_BLOCK(pairs_whole, vecs, cols, true)
#define PAIRS_ENTRY(vecs, cols)                                                                    \
    [vecs - 1][cols - 1] = {MICRO(pairs_edge_##vecs##_##cols), MICRO(pairs_whole_##vecs##_##cols)},
#if MICRO_COLS == 8
#define PAIRS_MADE(each)                                                                           \
    each(1, 1) each(1, 2) each(1, 3) each(1, 4) each(1, 5) each(1, 6) each(1, 7) each(1, 8)        \
    each(2, 1) each(2, 2) each(2, 3) each(2, 4) each(2, 5) each(2, 6)                              \
    each(3, 1) each(3, 2) each(3, 3) each(3, 4) each(4, 1) each(4, 2) each(4, 3)
#else
#define PAIRS_MADE(each)                                                                           \
    each(1, 1) each(1, 2) each(1, 3) each(1, 4) each(2, 1) each(2, 2) each(2, 3) each(3, 1) each(3, 2)
#endif
PAIRS_MADE(PAIRS_BLOCKS)

/* By vectors, columns, each less one, and whether all vectors are whole. */
static MICRO(pairs_blocks) *const MICRO(pairs_made)[MICRO_TALL][PAIRS_WIDE][2] = {PAIRS_MADE(PAIRS_ENTRY)};
#undef PAIRS_BLOCK
#undef PAIRS_BLOCKS
#undef PAIRS_ENTRY
#undef PAIRS_MADE

/* `rows` parts of rows of C, from part i on, in as few blocks as hold the columns; A is where they are read from, and
 * `open` as above. */
static MICRO_TARGET void MICRO(pairs_panel)(const MICRO_PRODUCT *job, int i, int rows, const elem_t *A, ptrdiff_t lda,
                                            ptrdiff_t open)
{
    int vecs = (rows + LANES - 1) / LANES, widest = MICRO(pairs_widest)[vecs - 1];
    int blocks = (job->n + widest - 1) / widest, cols = job->n / blocks, wider = job->n % blocks;
    bool whole = rows % LANES == 0;
    MICRO_MASK last = MICRO_FIRST(rows - (vecs - 1) * LANES);
    MICRO(pairs_blocks) *narrow = MICRO(pairs_made)[vecs - 1][cols - 1][whole];
    MICRO(pairs_blocks) *wide = wider > 0 ? MICRO(pairs_made)[vecs - 1][cols][whole] : narrow;
    const elem_t *B = job->B;
    elem_t *C = job->C + i;
    for (int j = 0; j < blocks; j++) {
        int width = j < wider ? cols + 1 : cols;
        (j < wider ? wide : narrow)(last, open, job, A, lda, B, C);
        B += 2 * width * job->b_col;
        C += 2 * width * job->ldc;
    }
}

/* Rows of A^T or A^H, zeros behind them, side by side. */
static MICRO_TARGET void MICRO(pairs_turn)(const MICRO_PRODUCT *job, int i, int rows, int padded, elem_t *to)
{
    const elem_t sign = job->conj ? -1 : 1;
    for (int r = 0; r < padded; r += 2) {
        const elem_t *a = job->A + (i + r) * job->lda;
        for (int p = 0; p < job->k; p++) {
            to[r + p * padded] = r < rows ? a[2 * p] : 0;
            to[r + 1 + p * padded] = r < rows ? sign * a[2 * p + 1] : 0;
        }
    }
}

APART void MICRO(pairs_turned)(const MICRO_PRODUCT *job, int i, int rows)
{
    MICRO(vector) turned[MICRO_DEPTH * MICRO_TALL];
    int padded = (rows + LANES - 1) / LANES * LANES;
    MICRO(pairs_turn)(job, i, rows, padded, (elem_t *)turned);
    MICRO(pairs_panel)(job, i, rows, (const elem_t *)turned, padded / 2, job->k);
}

/* By panels as in MICRO(small). */
static MICRO_TARGET bool MICRO(gemm_pairs)(const MICRO_PRODUCT *job)
{
    if (job->k > MICRO_DEPTH || 2 * MICRO(bytes)(job->m, job->n, job->k) > MICRO_NEAR_PAIRS)
        return false;
    bool follows = job->lda == job->m && 2 * job->m >= LANES; /* columns of A have no gap between them */
    for (int i = 0, rows; i < 2 * job->m; i += rows) {
        rows = MICRO(small_height)(2 * job->m - i);
        if (job->trans)
            MICRO(pairs_turned)(job, i, rows);
        else
            MICRO(pairs_panel)(job, i, rows, job->A + i, job->lda, follows ? job->k - 1 : 0);
    }
    return true;
}
#undef EACH_PAIR_COL
#undef PAIRS_WIDE
