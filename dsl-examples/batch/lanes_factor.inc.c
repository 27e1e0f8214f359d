/* Factorisations and solves of arrays of lanes. What is done n^3 times is done by the blocks of lanes_block.inc.c. */

/* ---- Cholesky ----------------------------------------------------------------------------- */

/* The block on the diagonal at j, and what the rows below multiply with instead of dividing. */
INLINE void LANES(cholesky_corner)(int side, int n, int j, lane *X, vec *inverse, mask *info)
{
    LANES(operand) before = {X + j, 1, n}, turned = {X + j, n, 1};
    lane c[COLUMNS * COLUMNS], *corner = X + j * (n + 1);
#pragma GCC unroll 4
    for (int s = 0; s < side; s++)
#pragma GCC unroll 4
        for (int r = 0; r < side; r++) /* what is above the diagonal is any number */
            c[r + s * side] = corner[r >= s ? r + s * n : s + r * n];
    LANES(update)(side, side, j, before, turned, LANES(CONJ_B), c);
#pragma GCC unroll 4
    for (int s = 0; s < side; s++) {
        vec d = c[s + s * side].re;
        mask good = (mask)(d > ALL_LANES(0)), first = ~good & (mask)(*info == ALL_INTS(0));
        *info |= first & ALL_INTS(j + s + 1);
        d = CHOOSE(good, d, ALL_LANES(1));
        LANES(root)(&d);
        inverse[s] = ALL_LANES(1) / d;
        corner[s + s * n] = (lane){.re = d};
#pragma GCC unroll 4
        for (int r = s + 1; r < side; r++) {
            LANES(scale)(&c[r + s * side], &inverse[s]);
            corner[r + s * n] = c[r + s * side];
        }
#pragma GCC unroll 4
        for (int k = s + 1; k < side; k++)
#pragma GCC unroll 4
            for (int r = k; r < side; r++)
                LANES(sub_conj)(&c[r + k * side], &c[r + s * side], &c[k + s * side]);
    }
}

/* Rows i and after of the columns from j on. */
INLINE void LANES(cholesky_rows)(int rows, int side, int n, int i, int j, lane *X, const vec *inverse,
                                 lanes_errand *next)
{
    LANES(operand) before = {X + i, 1, n}, turned = {X + j, n, 1};
    lane c[ROWS * COLUMNS], *corner = X + j * (n + 1);
    LANES(pick)(rows, side, X + i + j * n, 1, n, c);
    if (DAG_COMPLEX)
        LANES(fetch)(next);
    LANES(update)(rows, side, j, before, turned, LANES(CONJ_B), c);
#pragma GCC unroll 4
    for (int s = 0; s < side; s++) {
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++)
            LANES(scale)(&c[r + s * rows], &inverse[s]);
#pragma GCC unroll 4
        for (int k = s + 1; k < side; k++)
#pragma GCC unroll 4
            for (int r = 0; r < rows; r++)
                LANES(sub_conj)(&c[r + k * rows], &c[r + s * rows], &corner[k + s * n]);
    }
    LANES(put)(rows, side, c, 1, n, X + i + j * n);
}

INLINE void LANES(cholesky_columns)(int side, int n, int j, lane *X, mask *info, lanes_errand *next)
{
    vec inverse[COLUMNS];
    int i = j + side;
    LANES(cholesky_corner)(side, n, j, X, inverse, info);
    for (; i + ROWS <= n; i += ROWS)
        LANES(cholesky_rows)(ROWS, side, n, i, j, X, inverse, next);
    for (; i < n; i++)
        LANES(cholesky_rows)(1, side, n, i, j, X, inverse, next);
}

/* Factors the lower triangle of X; info of the lanes. Those that fail go on with something. */
APART void LANES(cholesky)(int n, lane *X, mask *info, lanes_errand *next)
{
    int j = 0;
    *info = ALL_INTS(0);
    for (; j + COLUMNS <= n; j += COLUMNS)
        LANES(cholesky_columns)(COLUMNS, n, j, X, info, next);
    for (; j < n; j++)
        LANES(cholesky_columns)(1, n, j, X, info, next);
}

/* ---- LU ----------------------------------------------------------------------------------- */

/* What step j of pivoting exchanges: each row of its pivots once, and the lanes that take it. Numbers are not written
 * one by one: a vector that is read soon after would wait for them. */
typedef struct LANES(moves) {
    int j, count;
    int row[COUNT];
    mask here[COUNT];
} LANES(moves);

INLINE void LANES(moves_of)(int j, const mask *pivot, LANES(moves) *to)
{
    to->j = j;
    to->count = 0;
    for (int l = 0; l < COUNT; l++) {
        int row = (int)pivot[j][l] - 1, q = 0;
        while (q < to->count && to->row[q] != row)
            q++;
        if (row == j || q < to->count)
            continue;
        to->row[q] = row;
        to->here[q] = (mask)(pivot[j] == ALL_INTS(row + 1));
        to->count++;
    }
}

/* In a column. */
INLINE void LANES(move)(const LANES(moves) *s, lane *x)
{
    const lane up = x[s->j];
    lane fresh = up;
    for (int q = 0; q < s->count; q++) {
        lane *at = x + s->row[q], down = *at;
        LANES(choose)(&fresh, &s->here[q], &down, &fresh);
        LANES(choose)(at, &s->here[q], &up, &down);
    }
    x[s->j] = fresh;
}

/* Rows of X, of `n` columns ld apart, are exchanged as steps [from, to) of the lanes of pivot say. */
INLINE void LANES(exchange)(int ld, int n, int from, int to, const mask *pivot, lane *X)
{
    for (int j = from; j < to; j++) {
        LANES(moves) step;
        LANES(moves_of)(j, pivot, &step);
        for (int c = 0; c < n; c++)
            LANES(move)(&step, X + c * ld);
    }
}

/* The pivots of column j of X, m rows, among rows j and after; info where there is none. */
INLINE void LANES(choose_pivot)(int m, int j, const lane *x, mask *pivot, mask *info)
{
    vec most, size;
    mask at = ALL_INTS(j);
    LANES(size)(&x[j], &most);
    for (int i = j + 1; i < m; i++) {
        LANES(size)(&x[i], &size);
        mask larger = (mask)(size > most);
        most = CHOOSE(larger, size, most);
        at = (larger & ALL_INTS(i)) | (~larger & at);
    }
    *pivot = at + 1;
    *info |= (mask)(most == ALL_LANES(0)) & (mask)(*info == ALL_INTS(0)) & ALL_INTS(j + 1);
}

/* Columns [j, to) from row j on, which the columns before have been taken from, and the rows of all n. */
INLINE bool LANES(lu_panel)(int m, int n, int j, int to, int ld, lane *X, mask *pivot, mask *info)
{
    for (; j < to; j++) {
        lane *x = X + j * ld, inverse;
        LANES(choose_pivot)(m, j, x, &pivot[j], info);
        LANES(exchange)(ld, n, j, j + 1, pivot, X);
        if (!LANES(invert)(&x[j], true, &inverse))
            return false;
        for (int i = j + 1; i < m; i++)
            LANES(mul)(&x[i], &inverse);
        for (int k = j + 1; k < to; k++)
            for (int i = j + 1; i < m; i++)
                LANES(sub)(&X[i + k * ld], &x[i], &X[j + k * ld]);
    }
    return true;
}

/* Rows i and after of the columns from j on: what the first `depth` columns take from them, and, where these
 * are rows of U, what those above them in the block do. */
INLINE void LANES(lu_rows)(int rows, int side, int ld, int i, int j, int depth, bool upper, lane *X,
                            lanes_errand *next)
{
    LANES(operand) l = {X + i, 1, ld}, u = {X + j * ld, 1, ld};
    lane c[ROWS * COLUMNS];
    LANES(pick)(rows, side, X + i + j * ld, 1, ld, c);
    if (DAG_COMPLEX)
        LANES(fetch)(next);
    LANES(update)(rows, side, depth, l, u, LANES(PLAIN), c);
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (int k = upper ? r + 1 : rows; k < rows; k++)
#pragma GCC unroll 4
            for (int s = 0; s < side; s++)
                LANES(sub)(&c[k + s * rows], &X[i + k + (i + r) * ld], &c[r + s * rows]);
    LANES(put)(rows, side, c, 1, ld, X + i + j * ld);
}

INLINE void LANES(lu_columns)(int side, int m, int j, int rank, int ld, lane *X, lanes_errand *next)
{
    int i = 0, top = j < rank ? j : rank;
    for (; i + ROWS <= top; i += ROWS)
        LANES(lu_rows)(ROWS, side, ld, i, j, i, true, X, next);
    for (; i < top; i++)
        LANES(lu_rows)(1, side, ld, i, j, i, true, X, next);
    for (; i + ROWS <= m; i += ROWS)
        LANES(lu_rows)(ROWS, side, ld, i, j, top, false, X, next);
    for (; i < m; i++)
        LANES(lu_rows)(1, side, ld, i, j, top, false, X, next);
}

/* X has columns ld apart. Pivots, counted from 1, per step and lane; false where a reciprocal would overflow. */
APART bool LANES(lu)(int m, int n, int ld, lane *X, mask *pivot, mask *info, lanes_errand *next)
{
    int rank = m < n ? m : n;
    *info = ALL_INTS(0);
    for (int j = 0, side; j < n; j += side) {
        side = j + COLUMNS <= (j < rank ? rank : n) ? COLUMNS : 1;
        if (side > 1)
            LANES(lu_columns)(COLUMNS, m, j, rank, ld, X, next);
        else
            LANES(lu_columns)(1, m, j, rank, ld, X, next);
        if (j < rank && !LANES(lu_panel)(m, n, j, j + side, ld, X, pivot, info))
            return false;
    }
    return true;
}

/* ---- solves ------------------------------------------------------------------------------- */

/* How a triangle of lanes is read: element (i, j) at first + i down + j right. */
typedef struct LANES(triangle) {
    const lane *first;
    int down, right;
    bool unit, conj;
    bool zeros; /* on the diagonal: of matrices whose solution is not wanted */
    lanes_errand *next;
} LANES(triangle);

/* Rows i and after of `side` columns of B, whose first row is B and whose next is `step` after it. */
INLINE void LANES(solve_rows)(int rows, int side, int i, const LANES(triangle) *t, bool conj,
                              const lane *inverse, lane *B, int step, int ldb)
{
    LANES(operand) a = {t->first + i * t->down, t->down, t->right}, b = {B, step, ldb};
    lane c[ROWS * COLUMNS];
    LANES(pick)(rows, side, B + i * step, step, ldb, c);
    LANES(fetch)(t->next);
    LANES(update)(rows, side, i, a, b, conj ? LANES(CONJ_A) : LANES(PLAIN), c);
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++) {
#pragma GCC unroll 4
        for (int s = 0; s < side; s++)
            if (!t->unit)
                LANES(mul)(&c[r + s * rows], &inverse[i + r]);
#pragma GCC unroll 4
        for (int k = r + 1; k < rows; k++) {
            const lane *x = &a.first[k * a.down + (i + r) * a.right];
#pragma GCC unroll 4
            for (int s = 0; s < side; s++)
                if (conj)
                    LANES(sub_conj)(&c[k + s * rows], &c[r + s * rows], x);
                else
                    LANES(sub)(&c[k + s * rows], x, &c[r + s * rows]);
        }
    }
    LANES(put)(rows, side, c, step, ldb, B + i * step);
}

INLINE void LANES(solve_columns)(int side, int order, const LANES(triangle) *t, bool conj,
                                 const lane *inverse, lane *B, int step, int ldb)
{
    int i = 0;
    for (; i + ROWS <= order; i += ROWS)
        LANES(solve_rows)(ROWS, side, i, t, conj, inverse, B, step, ldb);
    for (; i < order; i++)
        LANES(solve_rows)(1, side, i, t, conj, inverse, B, step, ldb);
}

INLINE void LANES(solve_all)(const LANES(triangle) *t, bool conj, const lane *inverse, int order, int n,
                             lane *B, int step, int ldb)
{
    int c = 0;
    for (; c + COLUMNS <= n; c += COLUMNS)
        LANES(solve_columns)(COLUMNS, order, t, conj, inverse, B + c * ldb, step, ldb);
    for (; c < n; c++)
        LANES(solve_columns)(1, order, t, conj, inverse, B + c * ldb, step, ldb);
}

/* B, order by n with ldb, becomes the solution for a lower triangle; with `back` B, too, is read from its
 * last row on. False where a reciprocal would overflow. */
APART bool LANES(solve)(const LANES(triangle) *t, int order, int n, bool back, lane *B, int ldb)
{
    lane inverse[LANES_ORDER];
    for (int j = 0; j < order && !t->unit; j++) {
        if (!LANES(invert)(&t->first[j * (t->down + t->right)], t->zeros, &inverse[j]))
            return false;
#if DAG_COMPLEX
        if (t->conj)
            inverse[j].im = -inverse[j].im;
#endif
    }
    B += back ? order - 1 : 0;
    if (DAG_COMPLEX && t->conj)
        LANES(solve_all)(t, true, inverse, order, n, B, back ? -1 : 1, ldb);
    else
        LANES(solve_all)(t, false, inverse, order, n, B, back ? -1 : 1, ldb);
    return true;
}

/* ---- QR ----------------------------------------------------------------------------------- */

/* Householder's reflection of column x from row j on, as LAPACK's larfg; false where squares leave their
 * range. */
INLINE bool LANES(reflector)(int m, int j, lane *x, lane *tau)
{
    vec squares = ALL_LANES(0), alpha = x[j].re, size, sizes = ALL_LANES(0);
    for (int i = j + 1; i < m; i++) {
        LANES(size)(&x[i], &size);
        sizes += size; /* of which squares may vanish */
        squares += x[i].re * x[i].re;
#if DAG_COMPLEX
        squares += x[i].im * x[i].im;
#endif
    }
    vec all = squares + alpha * alpha;
    lane scale = {.re = alpha};
#if DAG_COMPLEX
    all += x[j].im * x[j].im;
    sizes += ABS(x[j].im);
    scale.im = x[j].im;
#endif
    mask idle = (mask)(sizes == ALL_LANES(0)); /* there is nothing to do */
    mask bad = ~(idle | ((mask)(all > ALL_LANES(LANES_SMALL)) & (mask)(all < ALL_LANES(LANES_LARGE))));
    if (LANES(any)(&bad))
        return false;
    vec norm = CHOOSE(idle, ALL_LANES(1), all);
    LANES(root)(&norm);
    vec beta = CHOOSE((mask)(alpha < ALL_LANES(0)), norm, -norm);
    tau->re = CHOOSE(idle, ALL_LANES(0), (beta - alpha) / beta);
    scale.re = CHOOSE(idle, ALL_LANES(1), alpha - beta);
    x[j].re = CHOOSE(idle, alpha, beta);
#if DAG_COMPLEX
    tau->im = CHOOSE(idle, ALL_LANES(0), -x[j].im / beta);
    x[j].im = ALL_LANES(0);
#endif
    if (!LANES(invert)(&scale, false, &scale))
        return false;
    for (int i = j + 1; i < m; i++)
        LANES(mul)(&x[i], &scale); /* zeros where lanes are idle */
    return true;
}

/* y := y - conj(tau) v (v^H y) from row j on, for columns of y that are m apart; v has 1 in row j and is x
 * below. */
INLINE void LANES(reflect)(int columns, int m, int j, const lane *x, const lane *tau, lane *y)
{
    lane c[COLUMNS];
    LANES(operand) v = {x + j + 1, 1, 1}, below = {y + j + 1, 1, m};
#pragma GCC unroll 4
    for (int s = 0; s < columns; s++) {
        c[s].re = -y[j + s * m].re;
#if DAG_COMPLEX
        c[s].im = -y[j + s * m].im;
#endif
    }
    LANES(update)(1, columns, m - j - 1, v, below, LANES(CONJ_A), c);
#pragma GCC unroll 4
    for (int s = 0; s < columns; s++) {
        lane sum = c[s];
        c[s] = (lane){.re = ALL_LANES(0)};
#if DAG_COMPLEX
        c[s].im = ALL_LANES(0);
#endif
        LANES(sub_conj)(&c[s], &sum, tau); /* conj(tau) v^H y */
        y[j + s * m].re -= c[s].re;
#if DAG_COMPLEX
        y[j + s * m].im -= c[s].im;
#endif
    }
    for (int i = j + 1; i < m; i++)
#pragma GCC unroll 4
        for (int s = 0; s < columns; s++)
            LANES(sub)(&y[i + s * m], &c[s], &x[i]);
}

/* As LAPACK's geqr2. */
APART bool LANES(qr)(int m, int n, lane *X, lane *tau, lanes_errand *next)
{
    for (int j = 0; j < m && j < n; j++) {
        int k = j + 1;
        if (!LANES(reflector)(m, j, X + j * m, &tau[j]))
            return false;
        for (; k + COLUMNS <= n; k += COLUMNS) {
            if (DAG_COMPLEX)
                LANES(fetch)(next);
            LANES(reflect)(COLUMNS, m, j, X + j * m, &tau[j], X + k * m);
        }
        for (; k < n; k++)
            LANES(reflect)(1, m, j, X + j * m, &tau[j], X + k * m);
    }
    return true;
}

#undef ROWS
#undef COLUMNS
