/*
 * Part of micro.inc.c: products of columns that are contiguous, several at a time, and what is made
 * of them. No operand is packed here.
 */

/* to[i] is the sum of the lanes of v[i]; `count` is a multiple of LANES. */
INLINE void MICRO(sums)(int count, const MICRO(vector) *v, elem_t *to)
{
    for (int g = 0; g < count; g += LANES) {
#ifdef MICRO_TRANSPOSES
        MICRO(vector) turned[LANES], sum;
        MICRO(transpose)((const elem_t *)(v + g), LANES, (elem_t *)turned, LANES);
        sum = turned[0];
        for (int i = 1; i < LANES; i++)
            sum += turned[i];
        *(MICRO(loose) *)(to + g) = sum;
#else
        for (int i = 0; i < LANES; i++) {
            to[g + i] = 0;
            for (int l = 0; l < LANES; l++)
                to[g + i] += v[g + i][l];
        }
#endif
    }
}

/* Columns of B up to which A^T B is made of scalar products. With AVX2 (Zen 3) these make 24 GFlop/s for 24 columns of 2000
 * rows, 29 for 16 of 100, where blocks of transposed panels make 36 and 31; for 8 columns of 200 rows 32 and 25. */
#define MICRO_NARROW (MICRO_COLS == 8 ? 24 : 12)
/* Columns of A and of B in a block of scalar products: a multiple of LANES in all. */
#define DOT_ROWS (MICRO_COLS / 2)
#define DOT_COLS 4

/* C := C + alpha A^T B, `rows` columns of A and `cols` of B at a time, both known where this is inlined. Beyond the
 * last column the last is taken again and its result left. The columns of A that come next are fetched meanwhile: with
 * few columns of B it is memory that counts. */
INLINE void MICRO(dots_by)(int rows, int cols, int m, int n, int k, elem_t alpha, const elem_t *A, ptrdiff_t lda,
                           const elem_t *B, ptrdiff_t ldb, elem_t *C, ptrdiff_t ldc)
{
    enum { MOST = (DOT_ROWS * DOT_COLS > 8 ? DOT_ROWS * DOT_COLS : 8) + LANES };
    const int count = (rows * cols + LANES - 1) / LANES * LANES;
    for (int i = 0; i < m; i += rows) {
        const elem_t *a[8], *b[DOT_COLS];
        MICRO(vector) acc[MOST] = {{0}};
        elem_t sum[MOST];
        ptrdiff_t p = 0, ahead = i + 2 * rows <= m ? rows * lda : 0;
        for (int r = 0; r < rows; r++)
            a[r] = A + (i + r < m ? i + r : m - 1) * lda;
        for (int c = 0; c < cols; c++)
            b[c] = B + (c < n ? c : n - 1) * ldb;
        for (; p + LANES <= k; p += LANES) {
            MICRO(vector) left[8];
            _Pragma("GCC unroll 8") for (int r = 0; r < rows; r++) {
                left[r] = *(const MICRO(loose) *)(a[r] + p);
                __builtin_prefetch(a[r] + p + ahead);
            }
            _Pragma("GCC unroll 4") for (int c = 0; c < cols; c++) {
                MICRO(vector) right = *(const MICRO(loose) *)(b[c] + p);
                _Pragma("GCC unroll 8") for (int r = 0; r < rows; r++)
                    acc[r + c * rows] += left[r] * right;
            }
        }
        MICRO(sums)(count, acc, sum);
        for (int c = 0; c < cols && c < n; c++)
            for (int r = 0; r < rows && i + r < m; r++) {
                elem_t rest = 0;
                for (ptrdiff_t q = p; q < k; q++)
                    rest += a[r][q] * b[c][q];
                C[i + r + c * ldc] += alpha * (sum[r + c * rows] + rest);
            }
    }
}

/* C := C + alpha A^T B, scalar product by scalar product: better than to transpose A where B has few columns. */
static MICRO_TARGET void MICRO(dots)(int m, int n, int k, elem_t alpha, const elem_t *A,
                                     ptrdiff_t lda, const elem_t *B, ptrdiff_t ldb, elem_t *C,
                                     ptrdiff_t ldc)
{
    for (int j = 0; j < n; j += DOT_COLS)
        if (n - j == 1)
            MICRO(dots_by)(8, 1, m, 1, k, alpha, A, lda, B + j * ldb, ldb, C + j * ldc, ldc);
        else
            MICRO(dots_by)(DOT_ROWS, DOT_COLS, m, n - j, k, alpha, A, lda, B + j * ldb, ldb, C + j * ldc, ldc);
}

/* C := C + alpha A B, where C has `n` columns, MICRO_SLIM at most and known where this is inlined, and
 * element (p, j) of B is B[p * b_row + j * b_col]. A is read once, so it is memory that counts: the
 * columns that come next are fetched meanwhile. */
#define MICRO_SLIM 4
INLINE void MICRO(slim_columns)(int n, int m, int k, elem_t alpha, const elem_t *A, ptrdiff_t lda,
                                const elem_t *B, ptrdiff_t b_row, ptrdiff_t b_col, elem_t *C,
                                ptrdiff_t ldc)
{
    enum { COLS = 8 };
    int p = 0;
    for (; p + COLS <= k; p += COLS) {
        const elem_t *a = A + p * lda;
        ptrdiff_t ahead = p + 2 * COLS <= k ? COLS * lda : 0;
        elem_t by[MICRO_SLIM][COLS];
        int i = 0;
        for (int j = 0; j < n; j++)
            for (int c = 0; c < COLS; c++)
                by[j][c] = alpha * B[(p + c) * b_row + j * b_col];
        for (; i + LANES <= m; i += LANES) {
            MICRO(vector) value[COLS];
            _Pragma("GCC unroll 8") for (int c = 0; c < COLS; c++) {
                value[c] = *(const MICRO(loose) *)(a + i + c * lda);
                __builtin_prefetch(a + i + c * lda + ahead);
            }
            _Pragma("GCC unroll 4") for (int j = 0; j < n; j++) {
                MICRO(vector) even = *(MICRO(loose) *)(C + i + j * ldc), odd = {0};
                _Pragma("GCC unroll 4") for (int c = 0; c < COLS; c += 2) {
                    even += value[c] * by[j][c];
                    odd += value[c + 1] * by[j][c + 1];
                }
                *(MICRO(loose) *)(C + i + j * ldc) = even + odd;
            }
        }
        for (; i < m; i++)
            for (int j = 0; j < n; j++)
                for (int c = 0; c < COLS; c++)
                    C[i + j * ldc] += a[i + c * lda] * by[j][c];
    }
    for (; p < k; p++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++)
                C[i + j * ldc] += A[i + p * lda] * (alpha * B[p * b_row + j * b_col]);
}

/* Columns up to which slim() is the better way: it takes MICRO_SLIM of them at a time, and reads A again for the next. A
 * register block reads a few lines of each column of A, which is slow where these come from memory: where A is part of a
 * matrix that a second-level cache does not hold. Its size is that of a large one, and no machine's own, or results would
 * have other last digits there. */
static int MICRO(slim_most)(ptrdiff_t lda)
{
    return (size_t)lda * (size_t)lda * sizeof(elem_t) > (size_t)2 << 20 ? 2 * MICRO_SLIM : MICRO_SLIM;
}

static MICRO_TARGET void MICRO(slim)(int n, int m, int k, elem_t alpha, const elem_t *A,
                                     ptrdiff_t lda, const elem_t *B, ptrdiff_t b_row,
                                     ptrdiff_t b_col, elem_t *C, ptrdiff_t ldc)
{
    for (int j = 0; j < n; j += MICRO_SLIM, B += MICRO_SLIM * b_col, C += MICRO_SLIM * ldc)
        if (n - j == 1)
            MICRO(slim_columns)(1, m, k, alpha, A, lda, B, b_row, b_col, C, ldc);
        else if (n - j == 2)
            MICRO(slim_columns)(2, m, k, alpha, A, lda, B, b_row, b_col, C, ldc);
        else if (n - j == 3)
            MICRO(slim_columns)(3, m, k, alpha, A, lda, B, b_row, b_col, C, ldc);
        else
            MICRO(slim_columns)(4, m, k, alpha, A, lda, B, b_row, b_col, C, ldc);
}

/* ---- reflectors -------------------------------------------------------------------------- */

#define EACH_LEAF(c) _Pragma("GCC unroll 8") for (int c = 0; c < MICRO_LEAF; c++)
/* Scalar products of a pass, and room for MICRO(sums). */
#define LEAF_SUMS (LANES > MICRO_LEAF ? LANES : MICRO_LEAF)

INLINE void MICRO(reflect_by)(int j, ptrdiff_t m, elem_t scale, const elem_t *w, elem_t *X,
                              ptrdiff_t ldx, elem_t *dots)
{
    MICRO(vector) acc[LEAF_SUMS] = {{0}};
    elem_t sum[LEAF_SUMS];
    const int this = j < 0 ? 0 : j, next = (j + 1) % MICRO_LEAF;
    ptrdiff_t i = 0;
    for (; i + LANES <= m; i += LANES) {
        MICRO(vector) x[MICRO_LEAF];
        EACH_LEAF(c)
            x[c] = *(const MICRO(loose) *)(X + i + c * ldx);
        if (j >= 0) {
            x[this] *= scale;
            EACH_LEAF(c) {
                if (c > j)
                    x[c] -= w[c] * x[this];
                if (c >= j)
                    *(MICRO(loose) *)(X + i + c * ldx) = x[c];
            }
        }
        if (j + 1 < MICRO_LEAF)
            EACH_LEAF(c)
                acc[c] += x[next] * x[c];
    }
    MICRO(sums)(LEAF_SUMS, acc, sum);
    for (; i < m; i++) { /* rows that do not fill a vector */
        elem_t *x = X + i;
        if (j >= 0)
            x[this * ldx] *= scale;
        for (int c = this + 1; j >= 0 && c < MICRO_LEAF; c++)
            x[c * ldx] -= w[c] * x[this * ldx];
        for (int c = 0; j + 1 < MICRO_LEAF && c < MICRO_LEAF; c++)
            sum[c] += x[next * ldx] * x[c * ldx];
    }
    for (int c = 0; c < MICRO_LEAF; c++)
        dots[c] = sum[c];
}

/* One instance per column, so that each is a plain loop over registers. */
#define MICRO_REFLECT(name, j)                                                                     \
    static MICRO_TARGET void MICRO(reflect_##name)(ptrdiff_t m, elem_t scale, const elem_t *w,     \
                                                   elem_t *X, ptrdiff_t ldx, elem_t *dots)         \
    {                                                                                              \
        MICRO(reflect_by)(j, m, scale, w, X, ldx, dots);                                           \
    }
MICRO_REFLECT(start, -1)
MICRO_REFLECT(0, 0)
MICRO_REFLECT(1, 1)
MICRO_REFLECT(2, 2)
MICRO_REFLECT(3, 3)
MICRO_REFLECT(4, 4)
MICRO_REFLECT(5, 5)
MICRO_REFLECT(6, 6)
MICRO_REFLECT(7, 7)
#undef MICRO_REFLECT

static MICRO_TARGET void MICRO(reflect)(int m, int j, elem_t scale, const elem_t *w, elem_t *X,
                                        int ldx, elem_t *dots)
{
    static void (*const by[1 + MICRO_LEAF])(ptrdiff_t, elem_t, const elem_t *, elem_t *, ptrdiff_t,
                                            elem_t *) = {
        MICRO(reflect_start), MICRO(reflect_0), MICRO(reflect_1), MICRO(reflect_2),
        MICRO(reflect_3),     MICRO(reflect_4), MICRO(reflect_5), MICRO(reflect_6),
        MICRO(reflect_7)};
    by[j + 1](m, scale, w, X, ldx, dots);
}

#undef DOT_ROWS
#undef DOT_COLS
#undef EACH_LEAF
#undef LEAF_SUMS
