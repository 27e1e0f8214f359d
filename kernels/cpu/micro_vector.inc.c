/*
 * Part of micro.inc.c: solves with a triangle and one vector, which has the lanes that blocks of
 * MICRO(solve) would leave idle. The vector goes through a register, a block of LANES unknowns after
 * the other.
 */

/* The triangle on the diagonal: what unknown c takes from the others is step[c], of which those that
 * are solved before it have zeros; `inverse` are the reciprocals of the diagonal. */
typedef struct MICRO(corner) {
    MICRO(vector) step[LANES];
    elem_t inverse[LANES];
} MICRO(corner);

/* Reads nothing of what lies in the other triangle: others may write it meanwhile. */
INLINE void MICRO(corner_read)(MICRO(corner) *to, bool lower, bool trans, bool unit, int w,
                               const elem_t *A, ptrdiff_t lda)
{
    MICRO(vector) column[LANES];
    for (int c = w; c < LANES; c++)
        column[c] = (MICRO(vector)){0};
    for (int c = 0; c < w; c++) {
        MICRO_MASK part = lower ? (MICRO_MASK)(MICRO_FIRST(w) & ~MICRO_FIRST(c + 1)) : MICRO_FIRST(c);
        to->inverse[c] = unit ? 1 : 1 / A[c + c * lda];
        (trans ? column : to->step)[c] = (MICRO(vector))MICRO_LOAD(part, A + c * lda);
    }
    if (!trans)
        return;
#ifdef MICRO_TRANSPOSES
    MICRO(transpose)((const elem_t *)column, LANES, (elem_t *)to->step, LANES);
#else
    for (int c = 0; c < w; c++)
        for (int i = 0; i < LANES; i++)
            to->step[c][i] = column[i][c];
#endif
}

/* The unknowns of a block: right-hand sides come in, values go out, in a register and one by one.
 * `forward` is known where this is inlined, so each lane is. */
INLINE MICRO(vector) MICRO(corner_solve)(const MICRO(corner) *corner, bool forward, int w,
                                         MICRO(vector) rhs, elem_t *values)
{
    MICRO(vector) solved = {0};
    _Pragma("GCC unroll 16") for (int k = 0; k < LANES; k++) {
        int c = forward ? k : LANES - 1 - k;
        if (c < w) {
            elem_t value = rhs[c] * corner->inverse[c];
            values[c] = solved[c] = value;
            rhs -= value * corner->step[c];
        }
    }
    return solved;
}

/* x := x - A values, for LANES columns of A. */
INLINE void MICRO(spread)(int m, const elem_t *A, ptrdiff_t lda, const elem_t *values, elem_t *x)
{
    for (int i = 0; i < m; i += LANES) {
        MICRO_MASK part = MICRO_FIRST(m - i < LANES ? m - i : LANES);
        MICRO(vector) even = (MICRO(vector))MICRO_LOAD(part, x + i), odd = {0};
        _Pragma("GCC unroll 16") for (int c = 0; c < LANES; c += 2) {
            even -= values[c] * (MICRO(vector))MICRO_LOAD(part, A + i + c * lda);
            odd -= values[c + 1] * (MICRO(vector))MICRO_LOAD(part, A + i + (c + 1) * lda);
        }
        MICRO_STORE(x + i, part, even + odd);
    }
}

/* The scalar products of w columns of A with x. */
INLINE MICRO(vector) MICRO(gather)(int m, int w, const elem_t *A, ptrdiff_t lda, const elem_t *x)
{
    MICRO(vector) sum[LANES] = {{0}}, all;
    for (int i = 0; i < m; i += LANES) {
        MICRO_MASK part = MICRO_FIRST(m - i < LANES ? m - i : LANES);
        MICRO(vector) value = (MICRO(vector))MICRO_LOAD(part, x + i);
        _Pragma("GCC unroll 16") for (int c = 0; c < LANES; c++)
            if (c < w)
                sum[c] += value * (MICRO(vector))MICRO_LOAD(part, A + i + c * lda);
    }
    MICRO(sums)(LANES, sum, (elem_t *)&all);
    return all;
}

/* The block that is not whole is the last one: nothing comes behind it. */
static MICRO_TARGET void MICRO(trsv)(bool lower, bool trans, bool unit, int m, const elem_t *A,
                                     int lda, elem_t *x)
{
    bool forward = lower != trans;
    for (int done = 0; done < m; done += LANES) {
        int w = m - done < LANES ? m - done : LANES, j = forward ? done : m - done - w;
        int rest = m - done - w;
        const elem_t *column = A + (ptrdiff_t)j * lda;
        MICRO_MASK part = MICRO_FIRST(w);
        MICRO(vector) rhs = (MICRO(vector))MICRO_LOAD(part, x + j);
        MICRO(corner) corner;
        elem_t values[LANES] = {0};
        MICRO(corner_read)(&corner, lower, trans, unit, w, column + j, lda);
        if (trans)
            rhs -= lower ? MICRO(gather)(done, w, column + j + w, lda, x + j + w)
                         : MICRO(gather)(done, w, column, lda, x);
        rhs = forward ? MICRO(corner_solve)(&corner, true, w, rhs, values)
                      : MICRO(corner_solve)(&corner, false, w, rhs, values);
        MICRO_STORE(x + j, part, rhs);
        if (!trans && lower)
            MICRO(spread)(rest, column + j + w, lda, values, x + j + w);
        else if (!trans)
            MICRO(spread)(rest, column, lda, values, x);
    }
}
