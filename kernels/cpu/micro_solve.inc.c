/*
 * Part of micro.inc.c: solves with a triangle, and the Cholesky factor, which is made of them and of
 * updates.
 */
/* ---- solves ------------------------------------------------------------------------------ */

/* A block of columns of B := B L^-T: what the columns to the left contribute is subtracted, then
 * the columns are solved for one after the other, all in registers. X is the whole panel, L the rows of the
 * block, `inverse` the reciprocals of its diagonal. */
INLINE void MICRO(solve_block)(int vecs, bool fetch, ptrdiff_t done, const elem_t *X, ptrdiff_t ldx,
                               MICRO(operand) L, const elem_t *inverse, MICRO(ahead) next,
                               elem_t *B, ptrdiff_t ldb)
{
    MICRO(block) acc;
    const elem_t *triangle = L.at + done * L.col;
    MICRO(fetch_target)(vecs, B, ldb);
    MICRO(clear)(vecs, &acc);
    MICRO(product)(vecs, fetch, done, X, ldx, L.at, L.row, L.col, next, &acc);
    EACH_COL(j)
        EACH_VEC(i)
            acc.v[j][i] = *(MICRO(loose) *)(B + i * LANES + j * ldb) - acc.v[j][i];
    EACH_COL(p) {
        EACH_VEC(i) {
            acc.v[p][i] *= inverse[p];
            *(MICRO(loose) *)(B + i * LANES + p * ldb) = acc.v[p][i];
        }
        EACH_COL(j)
            if (j > p)
                EACH_VEC(i)
                    acc.v[j][i] -= acc.v[p][i] * triangle[j * L.row + p * L.col];
    }
}

/* Where a group of LANES rows begins in the copy of a triangle: each as far as its diagonal, one after the
 * other. */
#define MICRO_GROUP(g) ((ptrdiff_t)LANES * LANES * (g) * ((g) + 1) / 2)

/* The triangle as the solves take it. */
typedef struct MICRO(factor) {
    MICRO(operand) L;
    int n;
    const elem_t *copy;                         /* of the triangle, in groups of rows, or NULL */
    elem_t inverse[MICRO_SOLVE_LEAF];           /* of the diagonal; 1 beyond the last column */
    elem_t edge[MICRO_SOLVE_LEAF * MICRO_COLS]; /* the last, narrower block of rows, padded */
} MICRO(factor);

/* Copies a group of rows as far as its diagonal, padded with zeros to `width` rows; L begins with them.
 * Nothing beyond the diagonal is read: others may write it meanwhile. */
static MICRO_TARGET void MICRO(copy_rows)(int rows, int width, int done, MICRO(operand) L, elem_t *to)
{
    bool backward = L.row < 0 && rows == width; /* the last row first, as they lie */
    const elem_t *at = backward ? L.at + (width - 1) * L.row : L.at;
    MICRO(pack)(rows, width, done, at, backward ? -L.row : L.row, L.col, to);
    for (int p = 0; p < width; p++)
        for (int r = 0; r < width; r++)
            to[(done + p) * width + (backward ? width - 1 - r : r)] =
                p < r && r < rows ? L.at[r * L.row + (done + p) * L.col] : 0;
}

static void MICRO(prepare)(MICRO(factor) *f, bool unit, int n, MICRO(operand) L)
{
    int whole = n - n % MICRO_COLS;
    f->L = L;
    f->n = n;
    f->copy = NULL;
    for (int j = 0; j < n; j++)
        f->inverse[j] = unit ? 1 : 1 / L.at[j * L.row + j * L.col];
    if (whole == n)
        return;
    for (int j = n; j < whole + MICRO_COLS; j++)
        f->inverse[j] = 1;
    L.at += whole * L.row;
    MICRO(copy_rows)(n - whole, MICRO_COLS, whole, L, f->edge);
}

/* The rows of the block that begins with row j. */
INLINE MICRO(operand) MICRO(factor_rows)(const MICRO(factor) *f, int j)
{
    int within = j % LANES, left = f->n - j;
    if (f->copy != NULL) {
        const elem_t *group = f->copy + MICRO_GROUP(j / LANES);
        return f->L.row < 0 && left + within >= LANES
                   ? (MICRO(operand)){group + LANES - 1 - within, -1, LANES}
                   : (MICRO(operand)){group + within, 1, LANES};
    }
    return left < MICRO_COLS ? (MICRO(operand)){f->edge, 1, MICRO_COLS}
                             : (MICRO(operand)){f->L.at + j * f->L.row, f->L.row, f->L.col};
}

/* A panel of whole vectors; columns beyond n do not exist. */
INLINE void MICRO(solve_panel)(int vecs, bool fetch, const MICRO(factor) *f, MICRO(ahead) next, bool first,
                               elem_t *X, ptrdiff_t ldx)
{
    const elem_t *next_a = next.a;
    for (int j = 0; j < f->n; j += MICRO_COLS) {
        MICRO(vector) aside[MICRO_COLS * 3];
        bool whole = f->n - j >= MICRO_COLS;
        MICRO(operand) L = MICRO(factor_rows)(f, j);
        ptrdiff_t ldb = whole ? ldx : MICRO_ROWS;
        elem_t *B = whole ? X + j * ldx : (elem_t *)aside;
        if (!whole)
            memset(aside, 0, sizeof(aside));
        next.a = next_a + j / MICRO_COLS % 3 * LANES;
        next.b = first && whole ? L.at + MICRO_COLS * L.row : X;
        next.b_step = first && whole ? L.col : 0;
        for (int c = 0; !whole && c < f->n - j; c++)
            memcpy(B + c * ldb, X + (j + c) * ldx, (size_t)(vecs * LANES) * sizeof(elem_t));
        MICRO(solve_block)(vecs, fetch, j, X, ldx, L, f->inverse + j, next, B, ldb);
        for (int c = 0; !whole && c < f->n - j; c++)
            memcpy(X + (j + c) * ldx, B + c * ldb, (size_t)(vecs * LANES) * sizeof(elem_t));
    }
}

#define MICRO_SOLVE(name, vecs, fetch)                                                             \
    APART void MICRO(solve_##name)(const MICRO(factor) *f, MICRO(ahead) next, bool first,          \
                                   elem_t *X, ptrdiff_t ldx)                                       \
    {                                                                                              \
        MICRO(solve_panel)(vecs, fetch, f, next, first, X, ldx);                                   \
    }
MICRO_SOLVE(1, 1, true)
MICRO_SOLVE(2, 2, true)
MICRO_SOLVE(3, 3, true)
MICRO_SOLVE(near_1, 1, false)
MICRO_SOLVE(near_2, 2, false)
MICRO_SOLVE(near_3, 3, false)
#undef MICRO_SOLVE

/* By whether all is near, so that nothing is fetched (a small or copied triangle, and no panel to come or one
 * that is copied), and vectors, less one. */
static void (*const MICRO(solves)[2][3])(const MICRO(factor) *, MICRO(ahead), bool, elem_t *, ptrdiff_t) = {
    {MICRO(solve_1), MICRO(solve_2), MICRO(solve_3)},
    {MICRO(solve_near_1), MICRO(solve_near_2), MICRO(solve_near_3)},
};

/* Panel by panel; those that are not whole vectors or not by columns (b_row != 1) are copied. With AVX2 the
 * triangle is, too, for so many rows that it pays. */
APART void MICRO(solve_panels)(bool unit, int m, int n, MICRO(operand) L, elem_t *B, ptrdiff_t b_row,
                               ptrdiff_t b_col)
{
    MICRO(factor) factor;
    MICRO(prepare)(&factor, unit, n, L);
#if MICRO_COPY_BYTES > 0
    MICRO(vector) triangle[MICRO_GROUP(MICRO_SOLVE_LEAF / LANES) / LANES];
    if (m >= MICRO_COPY_ROWS) {
        factor.copy = (const elem_t *)triangle;
        for (int j = 0; j < n; j += LANES, L.at += LANES * L.row)
            MICRO(copy_rows)(n - j < LANES ? n - j : LANES, LANES, j, L,
                             (elem_t *)triangle + MICRO_GROUP(j / LANES));
    }
#endif
    for (int i = 0, rows; i < m; i += rows) {
        rows = MICRO(height)(m - i, b_row == 1);
        int padded = (rows + LANES - 1) / LANES * LANES;
        elem_t *b = B + i * b_row;
        MICRO(ahead) next = {.a = b};
        MICRO(vector) copy[MICRO_SOLVE_LEAF * 3];
        elem_t *X = (elem_t *)copy;
        bool lies = rows == padded && b_row == 1;
        if (lies && i + rows < m) {
            next.a = b + rows;
            next.a_step = b_col;
        }
        bool near = MICRO_COPY_BYTES > 0 && next.a_step == 0 && (factor.copy != NULL || n < MICRO_COPY_ROWS);
        if (!lies)
            MICRO(pack)(rows, padded, n, b, b_row, b_col, X);
        MICRO(solves)[near][padded / LANES - 1](
            &factor, next, i == 0, lies ? b : X, lies ? b_col : padded);
        if (!lies)
            MICRO(unpack)(rows, padded, n, X, b, b_row, b_col);
    }
}

/* B := B - X L^T, where X has k columns and L n rows. All of it may lie backwards, and B^T be what is stored. */
static MICRO_TARGET void MICRO(solve_update)(int m, int n, int k, MICRO(operand) L, const elem_t *X, elem_t *B,
                                             ptrdiff_t b_row, ptrdiff_t b_col)
{
    if (b_col < 0) {
        L.at += (n - 1) * L.row + (k - 1) * L.col;
        L.row = -L.row;
        L.col = -L.col;
        X += (k - 1) * b_col;
        B += (n - 1) * b_col;
        b_col = -b_col;
    }
    MICRO(operand) from = {X, b_row, b_col};
    bool plain = b_row == 1;
    MICRO(update)((MICRO(job)){.region = DAG_REGION_FULL, .m = plain ? m : n, .n = plain ? n : m, .k = k,
                               .alpha = -1, .A = plain ? from : L, .B = plain ? L : from, .C = B,
                               .ldc = plain ? b_col : b_row});
}

/* Triangles are halved until they are small, and products do the rest. */
static MICRO_TARGET void MICRO(solve)(bool unit, int m, int n, MICRO(operand) L, elem_t *B, ptrdiff_t b_row,
                                      ptrdiff_t b_col)
{
    if (n <= MICRO_SOLVE_LEAF) {
        MICRO(solve_panels)(unit, m, n, L, B, b_row, b_col);
        return;
    }
    int l = split(n, MICRO_ROWS), r = n - l;
    MICRO(operand) square = {L.at + l * L.row, L.row, L.col}, last = {square.at + l * L.col, L.row, L.col};
    elem_t *right = B + l * b_col;
    MICRO(solve)(unit, m, l, L, B, b_row, b_col);
    MICRO(solve_update)(m, r, l, square, B, right, b_row, b_col);
    MICRO(solve)(unit, m, r, last, right, b_row, b_col);
}

/* All cases are B := B L^-T: from the left B and A are transposed, and what is solved from the last
 * unknown to the first is read backwards. */
static MICRO_TARGET void MICRO(trsm)(bool left, bool lower, bool trans, bool unit, int m, int n,
                                     const elem_t *A, int lda, elem_t *B, int ldb)
{
    int order = left ? m : n, others = left ? n : m;
    ptrdiff_t b_row = left ? ldb : 1, b_col = left ? 1 : ldb;
    MICRO(operand) L = {A, left == trans ? lda : 1, left == trans ? 1 : lda};
    if (lower == (left == trans)) { /* it is an upper triangle */
        L.at += (order - 1) * (L.row + L.col);
        L.row = -L.row;
        L.col = -L.col;
        B += (order - 1) * b_col;
        b_col = -b_col;
    }
    MICRO(solve)(unit, others, order, L, B, b_row, b_col);
}

/* ---- Cholesky ---------------------------------------------------------------------------- */

/* Columns that are factored one by one, in a copy, and how many are updated together. */
#define POTRF_LEAF 32
#define POTRF_COLS 4

/* Column by column, by vectors, which begin above the diagonal; what lies there does not count. Element
 * (i, j) of the lower triangle, or of the transpose of the upper one, is A[i * row + j * col]. */
APART int MICRO(potrf_leaf)(int n, elem_t *A, ptrdiff_t row, ptrdiff_t col)
{
    /* Columns behind the last are updated with it, and not looked at. */
    MICRO(vector) copy[POTRF_LEAF + POTRF_COLS][POTRF_LEAF / LANES];
    int info = 0, vecs = (n + LANES - 1) / LANES;
    memset(copy, 0, (size_t)(n + POTRF_COLS) * sizeof(copy[0]));
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++)
            ((elem_t *)copy[j])[i] = A[i * row + j * col];
    for (int j = 0; j < n && info == 0; j++) {
        elem_t *column = (elem_t *)copy[j], d = column[j];
        if (!(d > 0)) { /* nor a NaN */
            info = j + 1;
            break;
        }
        d = MICRO_SQRT(d);
        for (int v = j / LANES; v < vecs; v++)
            copy[j][v] *= 1 / d;
        for (int c = j + 1; c < n; c += POTRF_COLS)
            for (int v = c / LANES; v < vecs; v++) {
                MICRO(vector) left = copy[j][v];
                _Pragma("GCC unroll 4") for (int e = 0; e < POTRF_COLS; e++)
                    copy[c + e][v] -= left * column[c + e];
            }
        column[j] = d;
    }
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++)
            A[i * row + j * col] = ((elem_t *)copy[j])[i];
    return info;
}

static MICRO_TARGET int MICRO(potrf)(bool lower, int n, elem_t *A, int lda)
{
    if (n <= POTRF_LEAF)
        return MICRO(potrf_leaf)(n, A, lower ? 1 : lda, lower ? lda : 1);
    /* Near the middle, at a multiple of what the blocks like. */
    int unit = n > 2 * MICRO_ROWS ? MICRO_ROWS : MICRO_COLS, n1 = split(n, unit), n2 = n - n1;
    elem_t *square = A + (lower ? n1 : (ptrdiff_t)n1 * lda);
    elem_t *A22 = A + n1 + (ptrdiff_t)n1 * lda;
    int info = MICRO(potrf)(lower, n1, A, lda);
    if (info != 0)
        return info;
    if (lower)
        MICRO(trsm)(false, true, true, false, n2, n1, A, lda, square, lda);
    else
        MICRO(trsm)(true, false, true, false, n1, n2, A, lda, square, lda);
    MICRO(syrk)(lower, !lower, n2, n1, -1, square, lda, A22, lda);
    info = MICRO(potrf)(lower, n2, A22, lda);
    return info == 0 ? 0 : n1 + info;
}
#undef POTRF_LEAF
#undef POTRF_COLS
