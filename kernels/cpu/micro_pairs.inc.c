/*
 * Part of micro.inc.c: the solve with a small complex triangle and one vector. An element is a pair of elem_t, its real
 * part first; a vector holds LANES / 2 of them. The unknowns of a block are solved for one by one; what they take from
 * others, or others from them, goes by vectors: once as it lies, and once with the parts of each pair exchanged.
 */

typedef struct MICRO(pair) {
    elem_t re, im;
} MICRO(pair);

/* Unknowns of a block. */
#define PAIR_COLS 4
/* Their real and imaginary parts, and room for MICRO(sums). */
#define PAIR_SUMS (LANES > 2 * PAIR_COLS ? LANES : 2 * PAIR_COLS)

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

/* x := x - A values, for m rows of PAIR_COLS columns of A. */
INLINE void MICRO(pairs_spread)(int m, const elem_t *A, ptrdiff_t lda, const MICRO(pair) *values, elem_t *x)
{
    const MICRO(vector) sign = MICRO(parts)(-1, 1);
    for (int i = 0; i < 2 * m; i += LANES) {
        MICRO_MASK part = MICRO_FIRST(2 * m - i < LANES ? 2 * m - i : LANES);
        MICRO(vector) straight = (MICRO(vector))MICRO_LOAD(part, x + i), crossed = {0};
        _Pragma("GCC unroll 4") for (int c = 0; c < PAIR_COLS; c++) {
            MICRO(vector) a = (MICRO(vector))MICRO_LOAD(part, A + i + 2 * c * lda);
            straight -= values[c].re * a;
            crossed += values[c].im * a;
        }
        MICRO_STORE(x + i, part, straight - sign * MICRO(crossed)(crossed));
    }
}

/* The scalar products of w columns of A, or of their conjugates, with x. */
INLINE void MICRO(pairs_gather)(int m, int w, bool conj, const elem_t *A, ptrdiff_t lda, const elem_t *x,
                                elem_t *sum)
{
    MICRO(vector) straight[PAIR_COLS] = {{0}}, crossed[PAIR_COLS] = {{0}}, all[PAIR_SUMS] = {{0}};
    for (int i = 0; i < 2 * m; i += LANES) {
        MICRO_MASK part = MICRO_FIRST(2 * m - i < LANES ? 2 * m - i : LANES);
        MICRO(vector) value = (MICRO(vector))MICRO_LOAD(part, x + i), other = MICRO(crossed)(value);
        _Pragma("GCC unroll 4") for (int c = 0; c < PAIR_COLS; c++)
            if (c < w) {
                MICRO(vector) a = (MICRO(vector))MICRO_LOAD(part, A + i + 2 * c * lda);
                straight[c] += a * value;
                crossed[c] += a * other;
            }
    }
    const MICRO(vector) real = MICRO(parts)(1, conj ? 1 : -1), imaginary = MICRO(parts)(1, conj ? -1 : 1);
    for (int c = 0; c < w; c++) {
        all[2 * c] = straight[c] * real;
        all[2 * c + 1] = crossed[c] * imaginary;
    }
    MICRO(sums)(PAIR_SUMS, all, sum);
}

/* The unknowns of a block, whose triangle lies at A; x has their right-hand sides, and gets them. */
INLINE void MICRO(pairs_corner)(bool forward, bool trans, bool conj, bool unit, int w, const elem_t *A,
                                ptrdiff_t lda, elem_t *x, MICRO(pair) *values)
{
    MICRO(pair) inverse[PAIR_COLS];
    for (int c = 0; c < w && !unit; c++)
        inverse[c] = MICRO(pair_inverse)(MICRO(pair_at)(A, c + c * lda, conj));
    for (int s = 0; s < w; s++) {
        int c = forward ? s : w - 1 - s;
        MICRO(pair) value = MICRO(pair_at)(x, c, false);
        for (int t = 0; t < s; t++) {
            int k = forward ? t : w - 1 - t;
            MICRO(pair) a = MICRO(pair_at)(A, trans ? k + c * lda : c + k * lda, conj);
            MICRO(pair) taken = MICRO(pair_times)(a, values[k]);
            value.re -= taken.re;
            value.im -= taken.im;
        }
        values[c] = unit ? value : MICRO(pair_times)(value, inverse[c]);
        x[2 * c] = values[c].re;
        x[2 * c + 1] = values[c].im;
    }
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
            MICRO(pairs_gather)(done, w, conj, column + 2 * from, lda, x + 2 * from, sum);
            for (int c = 0; c < 2 * w; c++)
                x[2 * j + c] -= sum[c];
        }
        MICRO(pairs_corner)(forward, trans, conj, unit, w, column + 2 * j, lda, x + 2 * j, values);
        if (!trans && rest > 0) {
            int from = lower ? j + w : 0;
            MICRO(pairs_spread)(rest, column + 2 * from, lda, values, x + 2 * from);
        }
    }
}
#undef PAIR_COLS
#undef PAIR_SUMS
