/*
 * Part of micro.inc.c: solves with a triangle, and the Cholesky factor, which is made of them and of
 * updates.
 */
/* ---- solves ------------------------------------------------------------------------------ */

/* A block of columns of B := B L^-T: what the columns to the left contribute is subtracted, then
 * the columns are solved for one after the other, all in registers. X is the whole panel, or a copy of it,
 * L the rows of the block, `inverse` the reciprocals of its diagonal. */
INLINE void MICRO(solve_block)(int vecs, ptrdiff_t done, elem_t *X, ptrdiff_t ldx, bool copies,
                               MICRO(operand) L, const elem_t *inverse, MICRO(ahead) next,
                               elem_t *B, ptrdiff_t ldb)
{
    MICRO(block) acc;
    const elem_t *triangle = L.at + done * L.col;
    MICRO(fetch_target)(vecs, B, ldb);
    MICRO(clear)(vecs, &acc);
    MICRO(product)(vecs, true, done, X, ldx, L.at, L.row, L.col, next, &acc);
    EACH_COL(j)
        EACH_VEC(i)
            acc.v[j][i] = *(MICRO(loose) *)(B + i * LANES + j * ldb) - acc.v[j][i];
    EACH_COL(p) {
        EACH_VEC(i) {
            acc.v[p][i] *= inverse[p];
            *(MICRO(loose) *)(B + i * LANES + p * ldb) = acc.v[p][i];
            if (copies)
                *(MICRO(loose) *)(X + i * LANES + (done + p) * ldx) = acc.v[p][i];
        }
        EACH_COL(j)
            if (j > p)
                EACH_VEC(i)
                    acc.v[j][i] -= acc.v[p][i] * triangle[j * L.row + p * L.col];
    }
}

#define MICRO_SOLVE(vecs)                                                                          \
    static MICRO_TARGET void MICRO(solve_##vecs)(                                                  \
        ptrdiff_t done, elem_t *X, ptrdiff_t ldx, bool copies, MICRO(operand) L,                   \
        const elem_t *inverse, MICRO(ahead) next, elem_t *B, ptrdiff_t ldb)                        \
    {                                                                                              \
        MICRO(solve_block)(vecs, done, X, ldx, copies, L, inverse, next, B, ldb);                  \
    }
MICRO_SOLVE(1)
MICRO_SOLVE(2)
MICRO_SOLVE(3)
#undef MICRO_SOLVE

/* The triangle as the solves take it. */
typedef struct MICRO(factor) {
    MICRO(operand) L;
    int n;
    elem_t inverse[MICRO_MAX];           /* of the diagonal; 1 beyond the last column */
    elem_t edge[MICRO_MAX * MICRO_COLS]; /* the last, narrower block of rows, padded */
} MICRO(factor);

static void MICRO(prepare)(MICRO(factor) *f, bool unit, int n, MICRO(operand) L)
{
    int whole = n - n % MICRO_COLS;
    f->L = L;
    f->n = n;
    for (int j = 0; j < n; j++)
        f->inverse[j] = unit ? 1 : 1 / L.at[j * L.row + j * L.col];
    if (whole == n)
        return;
    for (int j = n; j < whole + MICRO_COLS; j++)
        f->inverse[j] = 1;
    MICRO(pack)(n - whole, MICRO_COLS, n, L.at + whole * L.row, L.row, L.col, f->edge);
    for (int p = n; p < whole + MICRO_COLS; p++)
        for (int i = 0; i < MICRO_COLS; i++)
            f->edge[i + p * MICRO_COLS] = 0;
}

/* A panel of whole vectors; columns beyond n do not exist. What is solved is also kept in `copy`, if there is
 * one, where it lies together. */
static MICRO_TARGET void MICRO(solve_panel)(int vecs, const MICRO(factor) *f, MICRO(ahead) next, bool first,
                                            elem_t *X, ptrdiff_t ldx, elem_t *copy)
{
    const elem_t *next_a = next.a;
    elem_t *solved = copy != NULL ? copy : X;
    ptrdiff_t step = copy != NULL ? vecs * LANES : ldx;
    for (int j = 0; j < f->n; j += MICRO_COLS) {
        MICRO(vector) aside[MICRO_COLS * 3] = {{0}};
        bool whole = f->n - j >= MICRO_COLS;
        MICRO(operand) L = {f->L.at + j * f->L.row, f->L.row, f->L.col};
        ptrdiff_t ldb = whole ? ldx : MICRO_ROWS;
        elem_t *B = whole ? X + j * ldx : (elem_t *)aside;
        if (!whole)
            L = (MICRO(operand)){f->edge, 1, MICRO_COLS};
        next.a = next_a + j / MICRO_COLS % 3 * LANES;
        next.b = first && whole ? L.at + MICRO_COLS * L.row : X;
        next.b_step = first && whole ? L.col : 0;
        for (int c = 0; !whole && c < f->n - j; c++)
            memcpy(B + c * ldb, X + (j + c) * ldx, (size_t)(vecs * LANES) * sizeof(elem_t));
        if (vecs == 3)
            MICRO(solve_3)(j, solved, step, copy != NULL && whole, L, f->inverse + j, next, B, ldb);
        else if (vecs == 2)
            MICRO(solve_2)(j, solved, step, copy != NULL && whole, L, f->inverse + j, next, B, ldb);
        else
            MICRO(solve_1)(j, solved, step, copy != NULL && whole, L, f->inverse + j, next, B, ldb);
        for (int c = 0; !whole && c < f->n - j; c++)
            memcpy(X + (j + c) * ldx, B + c * ldb, (size_t)(vecs * LANES) * sizeof(elem_t));
    }
}

/* Panel by panel; those that are not whole vectors or not by columns (b_row != 1) are copied. */
APART void MICRO(solve)(bool unit, int m, int n, MICRO(operand) L, elem_t *B, ptrdiff_t b_row,
                        ptrdiff_t b_col)
{
    MICRO(factor) factor;
    MICRO(prepare)(&factor, unit, n, L);
    for (int i = 0; i < m; i += MICRO_ROWS) {
        int rows = m - i < MICRO_ROWS ? m - i : MICRO_ROWS;
        int padded = (rows + LANES - 1) / LANES * LANES;
        elem_t *b = B + i * b_row;
        MICRO(ahead) next = {.a = b};
        MICRO(vector) copy[MICRO_MAX * 3];
        elem_t *X = (elem_t *)copy;
        if (rows == padded && b_row == 1) {
            if (i + MICRO_ROWS < m) {
                next.a = b + MICRO_ROWS;
                next.a_step = b_col;
            }
            MICRO(solve_panel)(padded / LANES, &factor, next, i == 0, b, b_col,
                               n >= MICRO_COPY_ORDER ? X : NULL);
            continue;
        }
        MICRO(pack)(rows, padded, n, b, b_row, b_col, X);
        MICRO(solve_panel)(padded / LANES, &factor, next, i == 0, X, padded, NULL);
        MICRO(unpack)(rows, padded, n, X, b, b_row, b_col);
    }
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

/* Columns that are factored one by one, in a copy. */
#define POTRF_LEAF 32

/* Column by column, by vectors, which begin above the diagonal; what lies there does not count. Element
 * (i, j) of the lower triangle, or of the transpose of the upper one, is A[i * row + j * col]. */
APART int MICRO(potrf_leaf)(int n, elem_t *A, ptrdiff_t row, ptrdiff_t col)
{
    MICRO(vector) copy[POTRF_LEAF][POTRF_LEAF / LANES];
    int info = 0, vecs = (n + LANES - 1) / LANES;
    memset(copy, 0, (size_t)n * sizeof(copy[0]));
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
        column[j] = d;
        for (int c = j + 1; c < n; c++)
            for (int v = c / LANES; v < vecs; v++)
                copy[c][v] -= copy[j][v] * column[c];
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
