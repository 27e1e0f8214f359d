/*
 * One element type (elem_t, s or d) for one instruction set. Besides the macros of precision.h:
 *
 *     MICRO_TARGET  attribute of the functions
 *     MICRO_BYTES   bytes of a vector register
 *     MICRO_COLS    columns of a register block
 *     MICRO(name)   name of a function of this instance
 *
 * A register block is MICRO_ROWS = 3 vectors by MICRO_COLS columns: 24 accumulators out of 32
 * registers (AVX-512), or 12 out of 16 (AVX2).
 */
#define LANES ((int)(MICRO_BYTES / sizeof(elem_t)))
#define MICRO_ROWS (3 * LANES)
/* Inner dimension of one pass: what packed edges have room for. */
#define MICRO_DEPTH 256

typedef elem_t MICRO(vector) __attribute__((vector_size(MICRO_BYTES), may_alias));
/* The same at any address. */
typedef elem_t MICRO(loose)
    __attribute__((vector_size(MICRO_BYTES), may_alias, aligned(sizeof(elem_t))));

/* A block of accumulators; lives in registers once the loops over it are unrolled. */
typedef struct MICRO(block) {
    MICRO(vector) v[MICRO_COLS][3];
} MICRO(block);

/* What to fetch while a block is computed: one line of each per index of the inner dimension. */
typedef struct MICRO(ahead) {
    const elem_t *a, *b;
    ptrdiff_t a_step, b_step;
} MICRO(ahead);

#define INLINE static inline __attribute__((always_inline)) MICRO_TARGET
#define EACH_COL(j) _Pragma("GCC unroll 8") for (int j = 0; j < MICRO_COLS; j++)
#define EACH_VEC(i) _Pragma("GCC unroll 3") for (int i = 0; i < vecs; i++)

/* acc += A B^T (b_row = 1, b_col = ldb) or A B (b_row = ldb, b_col = 1), where element (j, p) of the
 * right operand is B[j * b_row + p * b_col]. */
INLINE void MICRO(product)(int vecs, ptrdiff_t k, const elem_t *A, ptrdiff_t lda, const elem_t *B,
                           ptrdiff_t b_row, ptrdiff_t b_col, MICRO(ahead) next, MICRO(block) *acc)
{
    for (ptrdiff_t p = 0; p < k; p++) {
        MICRO(vector) a[3];
        EACH_VEC(i)
            a[i] = *(const MICRO(loose) *)(A + i * LANES);
        __builtin_prefetch(next.a);
        __builtin_prefetch(next.b);
        EACH_COL(j) {
            elem_t b = B[j * b_row];
            EACH_VEC(i)
                acc->v[j][i] += a[i] * b;
        }
        A += lda;
        B += b_col;
        next.a += next.a_step;
        next.b += next.b_step;
    }
}

INLINE void MICRO(clear)(int vecs, MICRO(block) *acc)
{
    EACH_COL(j)
        EACH_VEC(i)
            acc->v[j][i] = (MICRO(vector)){0};
}

INLINE void MICRO(fetch_target)(int vecs, const elem_t *C, ptrdiff_t ldc)
{
    EACH_COL(j)
        EACH_VEC(i)
            __builtin_prefetch(C + i * LANES + j * ldc, 1);
}

INLINE void MICRO(add)(int vecs, elem_t alpha, const MICRO(block) *acc, elem_t *C, ptrdiff_t ldc)
{
    EACH_COL(j)
        EACH_VEC(i)
            *(MICRO(loose) *)(C + i * LANES + j * ldc) += alpha * acc->v[j][i];
}

/* One whole block of a product. Kept apart per number of vectors, so that each is a plain loop. */
#define MICRO_BLOCK(vecs)                                                                          \
    static MICRO_TARGET void MICRO(block_##vecs)(                                                  \
        ptrdiff_t k, elem_t alpha, const elem_t *A, ptrdiff_t lda, const elem_t *B,                \
        ptrdiff_t b_row, ptrdiff_t b_col, MICRO(ahead) next, elem_t *C, ptrdiff_t ldc)             \
    {                                                                                              \
        MICRO(block) acc;                                                                          \
        MICRO(fetch_target)(vecs, C, ldc);                                                         \
        MICRO(clear)(vecs, &acc);                                                                  \
        MICRO(product)(vecs, k, A, lda, B, b_row, b_col, next, &acc);                              \
        MICRO(add)(vecs, alpha, &acc, C, ldc);                                                     \
    }
MICRO_BLOCK(1)
MICRO_BLOCK(2)
MICRO_BLOCK(3)
#undef MICRO_BLOCK

static MICRO_TARGET void MICRO(multiply)(int vecs, ptrdiff_t k, elem_t alpha, const elem_t *A,
                                         ptrdiff_t lda, const elem_t *B, ptrdiff_t b_row,
                                         ptrdiff_t b_col, MICRO(ahead) next, elem_t *C,
                                         ptrdiff_t ldc)
{
    if (vecs == 3)
        MICRO(block_3)(k, alpha, A, lda, B, b_row, b_col, next, C, ldc);
    else if (vecs == 2)
        MICRO(block_2)(k, alpha, A, lda, B, b_row, b_col, next, C, ldc);
    else
        MICRO(block_1)(k, alpha, A, lda, B, b_row, b_col, next, C, ldc);
}

/* ---- edges ------------------------------------------------------------------------------- */

/* Copies rows x k of A, padded with zeros to `padded` rows: vectors may then be read whole. */
static void MICRO(pack)(int rows, int padded, int k, const elem_t *A, ptrdiff_t row_step,
                        ptrdiff_t col_step, elem_t *to)
{
    for (int p = 0; p < k; p++)
        for (int i = 0; i < padded; i++)
            to[i + p * padded] = i < rows ? A[i * row_step + p * col_step] : 0;
}

/* Adds a block kept aside to C: rows x cols, of these only i + shift >= j. */
static void MICRO(add_part)(int rows, int cols, int shift, const elem_t *block, elem_t *C,
                            ptrdiff_t ldc)
{
    for (int j = 0; j < cols; j++)
        for (int i = j > shift ? j - shift : 0; i < rows; i++)
            C[i + j * ldc] += block[i + j * MICRO_ROWS];
}

/* ---- products ---------------------------------------------------------------------------- */

/* The right operand of an update: see MICRO(product). `edge` has the last, narrower block of
 * columns, padded. */
typedef struct MICRO(right) {
    const elem_t *B;
    ptrdiff_t row, col;
    const elem_t *edge;
} MICRO(right);

/* A panel of up to MICRO_ROWS rows: C += alpha A op(B). `shift` = row of C that the panel begins
 * with, minus column: elements with i + shift < j are left alone; a large one keeps all. */
static MICRO_TARGET void MICRO(panel)(int rows, int n, int k, int shift, elem_t alpha,
                                      const elem_t *A, ptrdiff_t lda, const MICRO(right) *right,
                                      MICRO(ahead) next, elem_t *C, ptrdiff_t ldc)
{
    int vecs = (rows + LANES - 1) / LANES;
    const elem_t *next_a = next.a, *next_b = next.b;
    for (int j = 0; j < n && j < shift + rows; j += MICRO_COLS) {
        int cols = n - j < MICRO_COLS ? n - j : MICRO_COLS;
        /* Vectors above the diagonal are not computed. */
        int skip = j > shift ? (j - shift) / LANES : 0;
        const elem_t *B = cols < MICRO_COLS ? right->edge : right->B + j * right->row;
        ptrdiff_t b_row = cols < MICRO_COLS ? 1 : right->row;
        ptrdiff_t b_col = cols < MICRO_COLS ? MICRO_COLS : right->col;
        const elem_t *a = A + skip * LANES;
        elem_t *c = C + skip * LANES + j * ldc;
        next.a = next_a + j / MICRO_COLS % 3 * LANES;
        next.b = next_b != NULL ? next_b + (j + MICRO_COLS) * right->row : a;
        int below = j + cols - 1 <= shift + skip * LANES;
        if (below && cols == MICRO_COLS && rows % LANES == 0) {
            MICRO(multiply)(vecs - skip, k, alpha, a, lda, B, b_row, b_col, next, c, ldc);
        } else {
            MICRO(vector) aside[MICRO_COLS * 3] = {{0}};
            MICRO(multiply)(vecs - skip, k, alpha, a, lda, B, b_row, b_col, next,
                            (elem_t *)aside, MICRO_ROWS);
            MICRO(add_part)(rows - skip * LANES, cols, shift + skip * LANES - j,
                            (elem_t *)aside, c, ldc);
        }
    }
}

/* C += alpha A op(B) for up to MICRO_DEPTH of the inner dimension; only the lower triangle when
 * `lower`. */
static MICRO_TARGET void MICRO(slice)(bool lower, bool transb, int m, int n, int k, elem_t alpha,
                                      const elem_t *A, int lda, const elem_t *B, int ldb,
                                      elem_t *C, int ldc)
{
    MICRO(vector) rows_edge[MICRO_DEPTH * 3];
    elem_t cols_edge[MICRO_DEPTH * MICRO_COLS];
    MICRO(right) right = {B, transb ? 1 : ldb, transb ? ldb : 1, cols_edge};
    int whole = n - n % MICRO_COLS;
    if (whole < n)
        MICRO(pack)(n - whole, MICRO_COLS, k, B + whole * right.row, right.row, right.col,
                    cols_edge);
    for (int i = 0; i < m; i += MICRO_ROWS) {
        int rows = m - i < MICRO_ROWS ? m - i : MICRO_ROWS;
        int padded = (rows + LANES - 1) / LANES * LANES;
        const elem_t *a = A + i;
        ptrdiff_t step = lda;
        if (rows < padded) {
            MICRO(pack)(rows, padded, k, a, 1, lda, (elem_t *)rows_edge);
            a = (const elem_t *)rows_edge;
            step = padded;
        }
        MICRO(ahead) next = {.a = a, .a_step = 0, .b = NULL, .b_step = 0};
        if (i + MICRO_ROWS < m) {
            next.a = A + i + MICRO_ROWS;
            next.a_step = lda;
        }
        if (i == 0) {
            next.b = B;
            next.b_step = right.col;
        }
        MICRO(panel)(rows, n, k, lower ? i : m + n, alpha, a, step, &right, next, C + i, ldc);
    }
}

static MICRO_TARGET void MICRO(update)(bool lower, bool transb, int m, int n, int k, elem_t alpha,
                                       const elem_t *A, int lda, const elem_t *B, int ldb,
                                       elem_t *C, int ldc)
{
    int slices = (k + MICRO_DEPTH - 1) / MICRO_DEPTH;
    for (int s = 0, first = 0; s < slices; s++) {
        int end = (int)((int64_t)k * (s + 1) / slices);
        MICRO(slice)(lower, transb, m, n, end - first, alpha, A + (ptrdiff_t)first * lda, lda,
                     transb ? B + (ptrdiff_t)first * ldb : B + first, ldb, C, ldc);
        first = end;
    }
}

static MICRO_TARGET void MICRO(gemm)(bool transb, int m, int n, int k, elem_t alpha,
                                     const elem_t *A, int lda, const elem_t *B, int ldb,
                                     elem_t *C, int ldc)
{
    MICRO(update)(false, transb, m, n, k, alpha, A, lda, B, ldb, C, ldc);
}

static MICRO_TARGET void MICRO(syrk)(int n, int k, elem_t alpha, const elem_t *A, int lda,
                                     elem_t *C, int ldc)
{
    MICRO(update)(true, true, n, n, k, alpha, A, lda, A, lda, C, ldc);
}

/* ---- solves ------------------------------------------------------------------------------ */

/* A block of columns of B := B L^-T: what the columns to the left contribute is subtracted, then
 * the columns are solved for one after the other, all in registers. X is the whole panel, L the
 * rows of the block, `inverse` the reciprocals of its diagonal. */
INLINE void MICRO(solve_block)(int vecs, ptrdiff_t done, const elem_t *X, ptrdiff_t ldx,
                               const elem_t *L, ptrdiff_t ldl, const elem_t *inverse,
                               MICRO(ahead) next, elem_t *B, ptrdiff_t ldb)
{
    MICRO(block) acc;
    const elem_t *triangle = L + done * ldl;
    MICRO(fetch_target)(vecs, B, ldb);
    MICRO(clear)(vecs, &acc);
    MICRO(product)(vecs, done, X, ldx, L, 1, ldl, next, &acc);
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
                    acc.v[j][i] -= acc.v[p][i] * triangle[j + p * ldl];
    }
}

#define MICRO_SOLVE(vecs)                                                                          \
    static MICRO_TARGET void MICRO(solve_##vecs)(                                                  \
        ptrdiff_t done, const elem_t *X, ptrdiff_t ldx, const elem_t *L, ptrdiff_t ldl,            \
        const elem_t *inverse, MICRO(ahead) next, elem_t *B, ptrdiff_t ldb)                        \
    {                                                                                              \
        MICRO(solve_block)(vecs, done, X, ldx, L, ldl, inverse, next, B, ldb);                     \
    }
MICRO_SOLVE(1)
MICRO_SOLVE(2)
MICRO_SOLVE(3)
#undef MICRO_SOLVE

/* The triangle as the solves take it. */
typedef struct MICRO(factor) {
    const elem_t *L;
    int n, ld;
    elem_t inverse[MICRO_MAX];                /* of the diagonal; 1 beyond the last column */
    elem_t edge[MICRO_MAX * MICRO_COLS];      /* the last, narrower block of rows, padded */
} MICRO(factor);

/* A panel of whole vectors; columns beyond n do not exist. */
static MICRO_TARGET void MICRO(solve_panel)(int vecs, const MICRO(factor) *f, MICRO(ahead) next,
                                            bool first, elem_t *X, ptrdiff_t ldx)
{
    const elem_t *next_a = next.a;
    for (int j = 0; j < f->n; j += MICRO_COLS) {
        MICRO(vector) aside[MICRO_COLS * 3] = {{0}};
        bool whole = f->n - j >= MICRO_COLS;
        const elem_t *L = whole ? f->L + j : f->edge;
        ptrdiff_t ldl = whole ? f->ld : MICRO_COLS, ldb = whole ? ldx : MICRO_ROWS;
        elem_t *B = whole ? X + j * ldx : (elem_t *)aside;
        next.a = next_a + j / MICRO_COLS % 3 * LANES;
        next.b = first && whole ? L + MICRO_COLS : X;
        next.b_step = first && whole ? ldl : 0;
        for (int c = 0; !whole && c < f->n - j; c++)
            memcpy(B + c * ldb, X + (j + c) * ldx, (size_t)(vecs * LANES) * sizeof(elem_t));
        if (vecs == 3)
            MICRO(solve_3)(j, X, ldx, L, ldl, f->inverse + j, next, B, ldb);
        else if (vecs == 2)
            MICRO(solve_2)(j, X, ldx, L, ldl, f->inverse + j, next, B, ldb);
        else
            MICRO(solve_1)(j, X, ldx, L, ldl, f->inverse + j, next, B, ldb);
        for (int c = 0; !whole && c < f->n - j; c++)
            memcpy(X + (j + c) * ldx, B + c * ldb, (size_t)(vecs * LANES) * sizeof(elem_t));
    }
}

static void MICRO(prepare)(MICRO(factor) *f, bool unit, int n, const elem_t *L, int ldl)
{
    int whole = n - n % MICRO_COLS;
    f->L = L;
    f->n = n;
    f->ld = ldl;
    for (int j = 0; j < n; j++)
        f->inverse[j] = unit ? 1 : 1 / L[j + (ptrdiff_t)j * ldl];
    if (whole == n)
        return;
    for (int j = n; j < whole + MICRO_COLS; j++)
        f->inverse[j] = 1;
    MICRO(pack)(n - whole, MICRO_COLS, n, L + whole, 1, ldl, f->edge);
    for (int p = n; p < whole + MICRO_COLS; p++)
        for (int i = 0; i < MICRO_COLS; i++)
            f->edge[i + p * MICRO_COLS] = 0;
}

static MICRO_TARGET void MICRO(trsm)(bool unit, int m, int n, const elem_t *L, int ldl, elem_t *B,
                                     int ldb)
{
    MICRO(factor) factor;
    MICRO(prepare)(&factor, unit, n, L, ldl);
    for (int i = 0; i < m; i += MICRO_ROWS) {
        int rows = m - i < MICRO_ROWS ? m - i : MICRO_ROWS;
        int padded = (rows + LANES - 1) / LANES * LANES;
        MICRO(ahead) next = {.a = B + i, .a_step = 0};
        if (i + MICRO_ROWS < m) {
            next.a = B + i + MICRO_ROWS;
            next.a_step = ldb;
        }
        if (rows == padded) {
            MICRO(solve_panel)(padded / LANES, &factor, next, i == 0, B + i, ldb);
            continue;
        }
        MICRO(vector) X[MICRO_MAX * 3];
        MICRO(pack)(rows, padded, n, B + i, 1, ldb, (elem_t *)X);
        MICRO(solve_panel)(padded / LANES, &factor, next, i == 0, (elem_t *)X, padded);
        for (int j = 0; j < n; j++)
            memcpy(B + i + (ptrdiff_t)j * ldb, (elem_t *)X + j * padded,
                   (size_t)rows * sizeof(elem_t));
    }
}

/* ---- Cholesky ---------------------------------------------------------------------------- */

/* Column by column; for a few columns. */
static int MICRO(potrf_leaf)(int n, elem_t *A, ptrdiff_t lda)
{
    for (int j = 0; j < n; j++) {
        elem_t *column = A + j * lda, d = column[j];
        if (!(d > 0)) /* nor a NaN */
            return j + 1;
        d = MICRO_SQRT(d);
        elem_t inverse = 1 / d;
        column[j] = d;
        for (int i = j + 1; i < n; i++)
            column[i] *= inverse;
        for (int c = j + 1; c < n; c++)
            for (int i = c; i < n; i++)
                A[i + c * lda] -= column[i] * column[c];
    }
    return 0;
}

static MICRO_TARGET int MICRO(potrf)(int n, elem_t *A, int lda)
{
    if (n <= MICRO_COLS)
        return MICRO(potrf_leaf)(n, A, lda);
    /* Near the middle, at a multiple of what the blocks like. */
    int unit = n > 2 * MICRO_ROWS ? MICRO_ROWS : MICRO_COLS, n1 = split(n, unit), n2 = n - n1;
    elem_t *A21 = A + n1, *A22 = A21 + (ptrdiff_t)n1 * lda;
    int info = MICRO(potrf)(n1, A, lda);
    if (info != 0)
        return info;
    MICRO(trsm)(false, n2, n1, A, lda, A21, lda);
    MICRO(syrk)(n2, n1, -1, A21, lda, A22, lda);
    info = MICRO(potrf)(n2, A22, lda);
    return info == 0 ? 0 : n1 + info;
}

static const MICRO_TYPE MICRO(table) = {MICRO(gemm), MICRO(syrk), MICRO(trsm), MICRO(potrf)};

#undef LANES
#undef MICRO_ROWS
#undef MICRO_DEPTH
#undef INLINE
#undef EACH_COL
#undef EACH_VEC
