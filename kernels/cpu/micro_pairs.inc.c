/*
 * Part of micro.inc.c: the product and the solve with a small complex tile and one vector, QR of few complex columns, and
 * small complex Cholesky factors. An element is a pair of elem_t, its real part first; a vector holds LANES / 2 of them.
 * The unknowns of a block are solved for one by one; what they take from others, or others from them, goes by vectors:
 * once as it lies, and once with the parts of each pair exchanged.
 */

typedef struct MICRO(pair) {
    elem_t re, im;
} MICRO(pair);

/* Unknowns of a block. */
#define PAIR_COLS 4
/* Columns that are multiplied together at most, and the real and imaginary parts of their products: what MICRO(sums)
 * takes. */
#define PAIR_GROUP (LANES / 2 > PAIR_COLS ? LANES / 2 : PAIR_COLS)
#define PAIR_SUMS (2 * PAIR_GROUP)

INLINE MICRO(pair) MICRO(pair_times)(MICRO(pair) a, MICRO(pair) b)
{
    return (MICRO(pair)){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* 1 / d, as LAPACK divides: by the larger part, so that squares neither overflow nor vanish. */
INLINE MICRO(pair) MICRO(pair_inverse)(MICRO(pair) d)
{
    elem_t re = d.re < 0 ? -d.re : d.re, im = d.im < 0 ? -d.im : d.im;
    if (!(re < im)) {
        elem_t ratio = d.im / d.re, by = 1 / (d.re * (1 + ratio * ratio));
        return (MICRO(pair)){by, -ratio * by};
    }
    elem_t ratio = d.re / d.im, by = 1 / (d.im * (1 + ratio * ratio));
    return (MICRO(pair)){ratio * by, -by};
}

INLINE MICRO(pair) MICRO(pair_at)(const elem_t *A, ptrdiff_t i, bool conj)
{
    return (MICRO(pair)){A[2 * i], conj ? -A[2 * i + 1] : A[2 * i + 1]};
}

/* The parts of each pair exchanged. */
INLINE MICRO(vector) MICRO(crossed)(MICRO(vector) v)
{
#ifdef MICRO_TRANSPOSES
    return __builtin_shufflevector(v, v, MICRO_LANES(OTHER_PART, 1));
#else
    MICRO(vector) r = {0};
    for (int i = 0; i < LANES; i++)
        r[i] = v[i ^ 1];
    return r;
#endif
}

/* `first` in the lanes of real parts, `second` in those of imaginary ones. */
INLINE MICRO(vector) MICRO(parts)(elem_t first, elem_t second)
{
    MICRO(vector) v = {0}; /* GCC takes it for unset where it does not unroll the loop */
    for (int i = 0; i < LANES; i++)
        v[i] = i % 2 == 0 ? first : second;
    return v;
}

/* A vector of pairs, all of it or these lanes. */
INLINE MICRO(vector) MICRO(pairs_at)(bool whole, MICRO_MASK part, const elem_t *at)
{
    return whole ? *(const MICRO(loose) *)at : (MICRO(vector))MICRO_LOAD(part, at);
}

/* `fetch`: the line that lies `ahead` of each is fetched. */
INLINE void MICRO(pairs_spread_at)(bool whole, MICRO_MASK part, int cols, bool fetch, ptrdiff_t ahead, const elem_t *A,
                                   ptrdiff_t lda, const MICRO(pair) *values, elem_t *x)
{
    const MICRO(vector) sign = MICRO(parts)(-1, 1);
    MICRO(vector) straight = MICRO(pairs_at)(whole, part, x), crossed = {0};
    _Pragma("GCC unroll 8") for (int c = 0; c < cols; c++) {
        MICRO(vector) a = MICRO(pairs_at)(whole, part, A + 2 * c * lda);
        if (fetch)
            __builtin_prefetch(A + 2 * c * lda + ahead);
        straight -= values[c].re * a;
        crossed += values[c].im * a;
    }
    straight -= sign * MICRO(crossed)(crossed);
    if (whole)
        *(MICRO(loose) *)x = straight;
    else
        MICRO_STORE(x, part, straight);
}

/* x := x - A values, for m rows of `cols` columns of A. With a mask are only rows behind the last whole vector: a load
 * waits for a store with one. */
INLINE void MICRO(pairs_spread)(bool whole, int m, int cols, bool fetch, ptrdiff_t ahead, const elem_t *A, ptrdiff_t lda,
                                const MICRO(pair) *values, elem_t *x)
{
    int i = 0;
    for (; i + LANES <= 2 * m; i += LANES)
        MICRO(pairs_spread_at)(true, (MICRO_MASK){0}, cols, fetch, ahead, A + i, lda, values, x + i);
    if (i < 2 * m)
        MICRO(pairs_spread_at)(whole, MICRO_FIRST(2 * m - i), cols, fetch, ahead, A + i, lda, values, x + i);
}

/* Adds products with one vector of each column. */
INLINE void MICRO(pairs_gather_at)(bool whole, MICRO_MASK part, int w, bool fetch, ptrdiff_t ahead, const elem_t *A,
                                   ptrdiff_t lda, const elem_t *x, MICRO(vector) *straight, MICRO(vector) *crossed)
{
    MICRO(vector) value = MICRO(pairs_at)(whole, part, x), other = MICRO(crossed)(value);
    _Pragma("GCC unroll 8") for (int c = 0; c < PAIR_GROUP; c++)
        if (c < w) {
            MICRO(vector) a = MICRO(pairs_at)(whole, part, A + 2 * c * lda);
            if (fetch)
                __builtin_prefetch(A + 2 * c * lda + ahead);
            straight[c] += a * value;
            crossed[c] += a * other;
        }
}

/* The scalar products of w columns of A, or of their conjugates, with x. */
INLINE void MICRO(pairs_gather)(bool whole, int m, int w, bool fetch, ptrdiff_t ahead, bool conj, const elem_t *A,
                                ptrdiff_t lda, const elem_t *x, elem_t *sum)
{
    MICRO(vector) straight[PAIR_GROUP] = {{0}}, crossed[PAIR_GROUP] = {{0}}, all[PAIR_SUMS] = {{0}};
    int i = 0;
    for (; i + LANES <= 2 * m; i += LANES)
        MICRO(pairs_gather_at)(true, (MICRO_MASK){0}, w, fetch, ahead, A + i, lda, x + i, straight, crossed);
    if (i < 2 * m)
        MICRO(pairs_gather_at)(whole, MICRO_FIRST(2 * m - i), w, fetch, ahead, A + i, lda, x + i, straight, crossed);
    const MICRO(vector) real = MICRO(parts)(1, conj ? 1 : -1), imaginary = MICRO(parts)(1, conj ? -1 : 1);
    for (int c = 0; c < w; c++) {
        all[2 * c] = straight[c] * real;
        all[2 * c + 1] = crossed[c] * imaginary;
    }
    MICRO(sums)(PAIR_SUMS, all, sum);
}

/* a - b c in as few steps as there are, one after the other. */
INLINE MICRO(pair) MICRO(pair_less)(MICRO(pair) a, MICRO(pair) b, MICRO(pair) c)
{
    return (MICRO(pair)){a.re - b.re * c.re + b.im * c.im, a.im - b.re * c.im - b.im * c.re};
}

/* The unknowns of a block, whose triangle has element (i, k) at A[2 * (i * row + k * col)]; x has their right-hand sides. */
APART void MICRO(pairs_corner)(bool forward, bool conj, bool unit, int w, const elem_t *A, ptrdiff_t row, ptrdiff_t col,
                               const elem_t *x, MICRO(pair) *values)
{
    for (int s = 0; s < w; s++) {
        int c = forward ? s : w - 1 - s;
        MICRO(pair) left = MICRO(pair_at)(x, c, false);
        for (int t = 0; t < s; t++) {
            int k = forward ? t : w - 1 - t;
            left = MICRO(pair_less)(left, MICRO(pair_at)(A, c * row + k * col, conj), values[k]);
        }
        values[c] = unit ? left
                         : MICRO(pair_times)(left, MICRO(pair_inverse)(MICRO(pair_at)(A, c * (row + col), conj)));
    }
}

/* The same. Rows are divided by their diagonal elements first: an unknown then waits for two operations only once the one
 * before it is known. False: there is an infinity or no number, be it that quotients alone
 * are too large. */
INLINE bool MICRO(pairs_corner_fast)(bool forward, bool conj, bool unit, int w, const elem_t *A, ptrdiff_t row,
                                     ptrdiff_t col, const elem_t *x, MICRO(pair) *values)
{
    MICRO(pair) inverse[PAIR_COLS], left[PAIR_COLS];
    _Pragma("GCC unroll 4") for (int c = 0; c < w; c++) {
        inverse[c] = unit ? (MICRO(pair)){1, 0} : MICRO(pair_inverse)(MICRO(pair_at)(A, c * (row + col), conj));
        left[c] = MICRO(pair_times)(MICRO(pair_at)(x, c, false), inverse[c]);
    }
    _Pragma("GCC unroll 4") for (int s = 0; s < w; s++) {
        int c = forward ? s : w - 1 - s;
        values[c] = left[c];
        _Pragma("GCC unroll 4") for (int t = s + 1; t < w; t++) {
            int k = forward ? t : w - 1 - t;
            MICRO(pair) a = MICRO(pair_times)(MICRO(pair_at)(A, k * row + c * col, conj), inverse[k]);
            left[k] = MICRO(pair_less)(left[k], a, left[c]);
        }
    }
    MICRO(pair) last = left[forward ? w - 1 : 0]; /* what is no number before is none here */
    return 0 * last.re + 0 * last.im == 0;
}

/* As MICRO(trsv): the block that is not whole is the last one, and nothing of the other triangle is read. */
static MICRO_TARGET void MICRO(trsv_pairs)(bool lower, bool trans, bool conj, bool unit, int m, const elem_t *A,
                                           int lda, elem_t *x)
{
    bool forward = lower != trans;
    for (int done = 0; done < m; done += PAIR_COLS) {
        int w = m - done < PAIR_COLS ? m - done : PAIR_COLS, j = forward ? done : m - done - w;
        int rest = m - done - w;
        const elem_t *column = A + 2 * (ptrdiff_t)j * lda;
        MICRO(pair) values[PAIR_COLS] = {{0, 0}};
        elem_t sum[PAIR_SUMS];
        if (trans && done > 0) {
            int from = lower ? j + w : 0;
            MICRO(pairs_gather)(false, done, w, false, 0, conj, column + 2 * from, lda, x + 2 * from, sum);
            for (int c = 0; c < 2 * w; c++)
                x[2 * j + c] -= sum[c];
        }
        const elem_t *corner = column + 2 * j;
        ptrdiff_t row = trans ? lda : 1, col = trans ? 1 : lda;
        bool done_fast = w == PAIR_COLS &&
                         (forward ? MICRO(pairs_corner_fast)(true, conj, unit, PAIR_COLS, corner, row, col, x + 2 * j, values)
                                  : MICRO(pairs_corner_fast)(false, conj, unit, PAIR_COLS, corner, row, col, x + 2 * j, values));
        if (!done_fast)
            MICRO(pairs_corner)(forward, conj, unit, w, corner, row, col, x + 2 * j, values);
        for (int c = 0; c < w; c++) {
            x[2 * (j + c)] = values[c].re;
            x[2 * (j + c) + 1] = values[c].im;
        }
        if (!trans && rest > 0) {
            int from = lower ? j + w : 0;
            MICRO(pairs_spread)(false, rest, PAIR_COLS, false, 0, column + 2 * from, lda, values, x + 2 * from);
        }
    }
}

/* y := y + alpha op(A) x, where y has m elements and x has k. Memory counts: A is read once, and the columns that come
 * next are fetched meanwhile. */
static MICRO_TARGET void MICRO(gemv_pairs)(bool trans, bool conj, int m, int k, const elem_t *alpha, const elem_t *A,
                                           int lda, const elem_t *x, elem_t *y)
{
    enum { COLS = 8 };
    const MICRO(pair) by = {alpha[0], alpha[1]};
    elem_t sum[PAIR_SUMS];
    for (int j = 0; trans && j < m; j += PAIR_GROUP) {
        const elem_t *a = A + 2 * (ptrdiff_t)j * lda;
        int w = m - j < PAIR_GROUP ? m - j : PAIR_GROUP;
        if (w == PAIR_GROUP)
            MICRO(pairs_gather)(false, k, PAIR_GROUP, true, j + 2 * PAIR_GROUP <= m ? 2 * PAIR_GROUP * (ptrdiff_t)lda : 0,
                                conj, a, lda, x, sum);
        else
            MICRO(pairs_gather)(false, k, w, false, 0, conj, a, lda, x, sum);
        for (int c = 0; c < w; c++) {
            MICRO(pair) more = MICRO(pair_times)(by, MICRO(pair_at)(sum, c, false));
            y[2 * (j + c)] += more.re;
            y[2 * (j + c) + 1] += more.im;
        }
    }
    for (int p = 0, w; !trans && p < k; p += w) {
        const elem_t *a = A + 2 * (ptrdiff_t)p * lda;
        MICRO(pair) values[COLS];
        w = k - p < COLS ? 1 : COLS;
        for (int c = 0; c < w; c++) {
            MICRO(pair) value = MICRO(pair_times)(by, MICRO(pair_at)(x, p + c, false));
            values[c] = (MICRO(pair)){-value.re, -value.im};
        }
        if (w == COLS)
            MICRO(pairs_spread)(false, m, COLS, true, p + 2 * COLS <= k ? 2 * COLS * (ptrdiff_t)lda : 0, a, lda, values, y);
        else
            MICRO(pairs_spread)(false, m, 1, false, 0, a, lda, values, y);
    }
}

/* ---- QR of few columns -------------------------------------------------------------------- */

#define QR_SIDE (2 * MICRO_QR_COLS / LANES) /* vectors that a row of pairs takes */
/* What a factorisation works on: columns of whole vectors, a multiple of PAIR_GROUP, zeros where nothing is. Vectors are
 * read as they were written: a load of what several stores wrote waits for them. */
typedef struct MICRO(pairs_qr) {
    int rows, side, cols;                       /* pairs of a column of X, and of T; columns */
    MICRO(vector) X[2 * MICRO_QR_ROOM / LANES]; /* V with its ones and zeros, and what is left of the other columns */
    MICRO(vector) T[QR_SIDE * MICRO_QR_COLS];
    MICRO(vector) R[QR_SIDE * MICRO_QR_COLS]; /* columns MICRO_QR_COLS pairs apart */
} MICRO(pairs_qr);

static int MICRO(whole_pairs)(int count)
{
    return (count + LANES / 2 - 1) / (LANES / 2) * (LANES / 2);
}

INLINE void MICRO(pairs_clear)(int count, elem_t *x)
{
    for (int i = 0; i < 2 * count; i += LANES)
        *(MICRO(vector) *)(x + i) = (MICRO(vector)){0};
}

/* Ones in the lanes from `first` on, or before it, zeros in the others. */
INLINE MICRO(vector) MICRO(lanes_from)(bool before, int first)
{
    static const elem_t steps[3 * LANES] = {[LANES ... 2 * LANES - 1] = 1};
    first = first < 0 ? 0 : first < LANES ? first : LANES;
    return *(const MICRO(loose) *)(steps + (before ? 2 * LANES : LANES) - first);
}

/* y := by x, or its conjugate. */
INLINE void MICRO(pairs_scale)(int m, MICRO(pair) by, bool conj, const elem_t *x, elem_t *y)
{
    const MICRO(vector) straight = MICRO(parts)(by.re, conj ? -by.re : by.re);
    const MICRO(vector) crossed = MICRO(parts)(-by.im, conj ? -by.im : by.im);
    for (int i = 0; i < 2 * m; i += LANES) {
        MICRO(vector) v = *(const MICRO(vector) *)(x + i);
        *(MICRO(vector) *)(y + i) = straight * v + crossed * MICRO(crossed)(v);
    }
}

INLINE elem_t MICRO(pairs_squares)(int m, const elem_t *x)
{
    MICRO(vector) sum = {0};
    for (int i = 0; i < 2 * m; i += LANES)
        sum += *(const MICRO(vector) *)(x + i) * *(const MICRO(vector) *)(x + i);
    elem_t part[LANES];
    memcpy(part, &sum, sizeof part);
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++)
            part[l] += part[l + half];
    return part[0];
}

/* Of X with `rows` rows, PAIR_COLS columns at a time from that of `from` on to that of `end`, or beyond it, each less its
 * factor, or the conjugate of that, times v, in the rows from about `top` on. */
INLINE void MICRO(pairs_update)(int rows, int top, int from, int end, bool conj, const elem_t *v,
                                const elem_t *factor, elem_t *X)
{
    const MICRO(vector) sign = MICRO(parts)(conj ? 1 : -1, conj ? -1 : 1);
    for (int c = from; c < end; c += PAIR_COLS) {
        elem_t *x = X + 2 * (ptrdiff_t)c * rows;
        for (int i = 2 * top / LANES * LANES; i < 2 * rows; i += LANES) {
            MICRO(vector) straight = *(const MICRO(vector) *)(v + i), crossed = sign * MICRO(crossed)(straight);
            _Pragma("GCC unroll 4") for (int e = 0; e < PAIR_COLS; e++)
                *(MICRO(vector) *)(x + i + 2 * e * (ptrdiff_t)rows) -=
                    factor[2 * (c + e)] * straight + factor[2 * (c + e) + 1] * crossed;
        }
    }
}

/* H^H (alpha; x) = (beta; 0) for H = I - tau (1; x') (1; x')^H as in qr.inc.c, given the sum of the squares of x, of
 * which there may be none: beta, tau, and what x is multiplied by. False: these squares are out of range. */
INLINE bool MICRO(pairs_reflector)(elem_t squares, bool none, elem_t least, elem_t most, MICRO(pair) alpha,
                                   elem_t *beta, MICRO(pair) *tau, MICRO(pair) *scale)
{
    elem_t all = squares + alpha.re * alpha.re + alpha.im * alpha.im;
    *beta = alpha.re;
    *tau = (MICRO(pair)){0, 0};
    *scale = (MICRO(pair)){1, 0};
    if (none && alpha.im == 0)
        return true;
    if (!((none ? all : squares) > least && all < most))
        return false;
    *beta = alpha.re < 0 ? MICRO_SQRT(all) : -MICRO_SQRT(all);
    elem_t re = alpha.re - *beta, by = 1 / (re * re + alpha.im * alpha.im), size = 1 / *beta;
    *tau = (MICRO(pair)){-re * size, -alpha.im * size};
    *scale = (MICRO(pair)){re * by, -alpha.im * by};
    return true;
}

/* The reflector of column j, those behind it reflected, and column j of T. */
INLINE bool MICRO(pairs_column)(MICRO(pairs_qr) *q, int j, int m, elem_t least, elem_t most)
{
    MICRO(vector) products[QR_SIDE], factors[QR_SIDE], column[QR_SIDE];
    elem_t *X = (elem_t *)q->X, *v = X + 2 * (ptrdiff_t)j * q->rows, *r = (elem_t *)q->R + 2 * j * MICRO_QR_COLS;
    elem_t *T = (elem_t *)q->T, *z = (elem_t *)products, *factor = (elem_t *)factors, *t = (elem_t *)column, beta;
    MICRO(pair) alpha = MICRO(pair_at)(v, j, false), tau, scale;
    for (int i = 0; i < 2 * j + 2; i += LANES) {
        *(MICRO(vector) *)(r + i) = *(MICRO(vector) *)(v + i);
        *(MICRO(vector) *)(v + i) *= MICRO(lanes_from)(false, 2 * j + 2 - i);
    }
    if (!MICRO(pairs_reflector)(MICRO(pairs_squares)(q->rows, v), j + 1 == m, least, most, alpha, &beta, &tau, &scale))
        return false;
    r[2 * j] = beta;
    r[2 * j + 1] = 0;
    MICRO(pairs_scale)(q->rows, scale, false, v, v);
    *(MICRO(vector) *)(v + 2 * j / LANES * LANES) +=
        MICRO(lanes_from)(false, 2 * j % LANES) - MICRO(lanes_from)(false, 2 * j % LANES + 1);
    for (int c = 0; c < q->cols; c += PAIR_GROUP)
        MICRO(pairs_gather)(true, q->rows, PAIR_GROUP, false, 0, true, X + 2 * (ptrdiff_t)c * q->rows, q->rows, v, z + 2 * c);
    MICRO(pairs_scale)(q->cols, tau, true, z, factor);
    for (int i = 0; i < 2 * j + 2; i += LANES)
        *(MICRO(vector) *)(factor + i) *= MICRO(lanes_from)(false, 2 * j + 2 - i);
    MICRO(pairs_update)(q->rows, j, (j + 1) / PAIR_COLS * PAIR_COLS, q->cols, false, v, factor, X);
    /* What T gets: -T V^H v tau */
    MICRO(pairs_scale)(q->cols, tau, false, z, factor);
    MICRO(pairs_clear)(q->side, t);
    for (int i = 2 * j / LANES * LANES; i < 2 * q->cols; i += LANES)
        *(MICRO(vector) *)(factor + i) *= MICRO(lanes_from)(true, 2 * j - i);
    for (int c = 0; c < j; c += PAIR_COLS) {
        MICRO(pair) values[PAIR_COLS];
        memcpy(values, factor + 2 * c, sizeof values);
        MICRO(pairs_spread)(true, q->side, PAIR_COLS, false, 0, T + 2 * c * q->side, q->side, values, t);
    }
    memcpy(T + 2 * j * q->side, t, 2 * (size_t)q->side * sizeof(elem_t));
    T[2 * (j + j * q->side)] = tau.re;
    T[2 * (j + j * q->side) + 1] = tau.im;
    return true;
}

static MICRO_TARGET bool MICRO(geqrt_pairs)(int m, int n, elem_t *A, int lda, elem_t *T, int ldt, elem_t least,
                                            elem_t most)
{
    MICRO(pairs_qr) q;
    if (n > MICRO_QR_COLS || m < n || m > MICRO_QR_ROOM)
        return false;
    q.rows = MICRO(whole_pairs)(m);
    q.side = MICRO(whole_pairs)(n);
    q.cols = (n + PAIR_GROUP - 1) / PAIR_GROUP * PAIR_GROUP;
    if (q.rows * q.cols > MICRO_QR_ROOM)
        return false;
    size_t column = 2 * (size_t)q.rows * sizeof(elem_t), filled = 2 * (size_t)m * sizeof(elem_t);
    for (int j = 0; j < q.cols; j++) {
        char *x = (char *)q.X + (size_t)j * column;
        MICRO(pairs_clear)(q.side, (elem_t *)q.T + 2 * j * q.side);
        memset(x + (j < n ? filled : 0), 0, column - (j < n ? filled : 0));
        if (j < n)
            memcpy(x, A + 2 * (ptrdiff_t)j * lda, filled);
    }
    for (int j = 0; j < n; j++)
        if (!MICRO(pairs_column)(&q, j, m, least, most))
            return false;
    for (int j = 0; j < n; j++) {
        elem_t *a = A + 2 * (ptrdiff_t)j * lda;
        memcpy(a, (elem_t *)q.R + 2 * j * MICRO_QR_COLS, 2 * (size_t)(j + 1) * sizeof(elem_t));
        memcpy(a + 2 * (j + 1), (elem_t *)q.X + 2 * ((ptrdiff_t)j * q.rows + j + 1),
               2 * (size_t)(m - j - 1) * sizeof(elem_t));
        memcpy(T + 2 * (ptrdiff_t)j * ldt, (elem_t *)q.T + 2 * j * q.side, 2 * (size_t)(j + 1) * sizeof(elem_t));
    }
    return true;
}
#undef QR_SIDE

/* ---- Cholesky ---------------------------------------------------------------------------- */

/* A triangle to or from columns of whole vectors; that of U is conjugated, and zeros are above the diagonal there. */
INLINE void MICRO(pairs_triangle)(bool back, bool lower, int n, int rows, elem_t *A, ptrdiff_t lda, elem_t *X)
{
    for (int j = 0; j < n; j++) {
        elem_t *x = X + 2 * j * rows, *a = A + 2 * (lower ? j * lda : j);
        if (!back)
            memset(x, 0, 2 * (size_t)rows * sizeof(elem_t));
        if (lower) {
            memcpy(back ? a + 2 * j : x + 2 * j, back ? x + 2 * j : a + 2 * j, 2 * (size_t)(n - j) * sizeof(elem_t));
            continue;
        }
        for (int i = j; i < n; i++) {
            elem_t *from = back ? x + 2 * i : a + 2 * i * lda, *to = back ? a + 2 * i * lda : x + 2 * i;
            to[0] = from[0];
            to[1] = -from[1];
        }
    }
}

static MICRO_TARGET int MICRO(potrf_pairs)(bool lower, int n, elem_t *A, int lda)
{
    /* Columns behind the last are updated with it, and not looked at. */
    MICRO(vector) columns[2 * MICRO_POTRF_PAIRS * (MICRO_POTRF_PAIRS + PAIR_COLS) / LANES];
    elem_t *X = (elem_t *)columns;
    int rows = MICRO(whole_pairs)(n), info = 0;
    MICRO(pairs_triangle)(false, lower, n, rows, A, lda, X);
    memset(X + 2 * n * rows, 0, 2 * (size_t)(rows * PAIR_COLS) * sizeof(elem_t));
    for (int j = 0; j < n; j++) {
        elem_t *x = X + 2 * j * rows, d = x[2 * j];
        if (!(d > 0)) { /* nor a NaN */
            info = j + 1;
            break;
        }
        d = MICRO_SQRT(d);
        for (int i = 2 * j / LANES * LANES; i < 2 * rows; i += LANES)
            *(MICRO(vector) *)(x + i) *= 1 / d;
        MICRO(pairs_update)(rows, j, j + 1, n, true, x, x, X);
        x[2 * j] = d;
        x[2 * j + 1] = 0;
    }
    MICRO(pairs_triangle)(true, lower, n, rows, A, lda, X);
    return info;
}
