/*
 * Blocks of ROWS by COLUMNS elements of arrays of lanes, which stay in registers: for each number that is read there are
 * several multiplications. And products, which are made of them.
 */
#if LANES_BYTES == 64
#define ROWS 4
#define COLUMNS (DAG_COMPLEX ? 2 : 4)
#else
#define ROWS (DAG_COMPLEX ? 2 : 4)
#define COLUMNS 2
#endif

/* Fetches some lines more. In one go they would keep all that reads or writes waiting. Real factorisations wait less for
 * memory than it costs to fetch it: only solves and complex ones do it. */
INLINE void LANES(fetch)(lanes_errand *next)
{
    enum { LINES = 8, LINE = 64 };
    if (next->now == next->parts)
        return;
    const char *at = next->at[next->now];
#pragma GCC unroll 8
    for (int i = 0; i < LINES; i++, at += LINE)
        __builtin_prefetch(at, 0, 2);
    next->at[next->now] = at;
    if (at >= next->end[next->now])
        next->now++;
}

/* How an operand is read: element (i, j) at first + i down + j right. */
typedef struct LANES(operand) {
    const lane *first;
    int down, right;
} LANES(operand);

enum { LANES(PLAIN), LANES(CONJ_A), LANES(CONJ_B) };

/* c, rows by columns, minus a b, whose inner dimension is depth. */
INLINE void LANES(update)(int rows, int columns, int depth, LANES(operand) a, LANES(operand) b, int how,
                          lane *c)
{
    for (int p = 0; p < depth; p++, a.first += a.right, b.first += b.down) {
        lane x[ROWS];
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++)
            x[r] = a.first[r * a.down];
#pragma GCC unroll 4
        for (int s = 0; s < columns; s++) {
            const lane y = b.first[s * b.right];
#pragma GCC unroll 4
            for (int r = 0; r < rows; r++)
                if (how == LANES(CONJ_B))
                    LANES(sub_conj)(&c[r + s * rows], &x[r], &y);
                else if (how == LANES(CONJ_A))
                    LANES(sub_conj)(&c[r + s * rows], &y, &x[r]);
                else
                    LANES(sub)(&c[r + s * rows], &x[r], &y);
        }
    }
}

/* A block of an array whose columns are m apart, to registers and back. */
INLINE void LANES(pick)(int rows, int columns, const lane *X, int down, int right, lane *c)
{
#pragma GCC unroll 4
    for (int s = 0; s < columns; s++)
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++)
            c[r + s * rows] = X[r * down + s * right];
}

INLINE void LANES(put)(int rows, int columns, const lane *c, int down, int right, lane *X)
{
#pragma GCC unroll 4
    for (int s = 0; s < columns; s++)
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++)
            X[r * down + s * right] = c[r + s * rows];
}

/* ---- products ----------------------------------------------------------------------------- */

#if LANES_PRODUCTS && DAG_COMPLEX
/* C, m by n, becomes factor C (nothing where that is NULL) minus `minus` A B; k is the inner dimension. */
INLINE void LANES(product_rows)(int rows, int side, int m, int k, const lane *minus, const lane *a,
                                const lane *b, const lane *factor, lane *C)
{
    lane c[ROWS * COLUMNS] = {{.re = ALL_LANES(0)}};
    LANES(update)(rows, side, k, (LANES(operand)){a, 1, m}, (LANES(operand)){b, 1, k}, LANES(PLAIN), c);
#pragma GCC unroll 4
    for (int s = 0; s < side; s++)
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            lane *at = &C[r + s * m];
            LANES(mul)(&c[r + s * rows], minus);
            if (factor != NULL) {
                LANES(mul)(at, factor);
                c[r + s * rows].re += at->re;
#if DAG_COMPLEX
                c[r + s * rows].im += at->im;
#endif
            }
            *at = c[r + s * rows];
        }
}

INLINE void LANES(product_columns)(int side, int m, int k, const lane *minus, const lane *A, const lane *b,
                                   const lane *factor, lane *C)
{
    int i = 0;
    for (; i + ROWS <= m; i += ROWS)
        LANES(product_rows)(ROWS, side, m, k, minus, A + i, b, factor, C + i);
    for (; i < m; i++)
        LANES(product_rows)(1, side, m, k, minus, A + i, b, factor, C + i);
}

APART void LANES(product)(int m, int n, int k, const lane *minus, const lane *A, const lane *B,
                          const lane *factor, lane *C)
{
    int j = 0;
    for (; j + COLUMNS <= n; j += COLUMNS)
        LANES(product_columns)(COLUMNS, m, k, minus, A, B + j * k, factor, C + j * m);
    for (; j < n; j++)
        LANES(product_columns)(1, m, k, minus, A, B + j * k, factor, C + j * m);
}
#endif
