/* Part of micro.inc.c: LU with partial pivoting of few complex columns, pairs as in micro_pairs.inc.c. */

/* As many integers as a vector has lanes, and as wide: what a comparison makes, and places of elements. */
typedef DAG_PRECISION_CAT(MICRO_INT_, DAG_PRECISION) MICRO(lanes) __attribute__((vector_size(MICRO_BYTES), may_alias));

/* What a factorisation works on: columns of whole vectors, zeros where nothing is. PAIR_COLS columns behind the last one
 * are updated with it, and not looked at. */
typedef struct MICRO(pairs_lu) {
    int rows, cols;                                               /* pairs of a column, and columns in use */
    MICRO(vector) X[2 * MICRO_LU_ROOM / LANES];
    MICRO(vector) below[2 * (MICRO_LU_ROOM / PAIR_COLS) / LANES]; /* the multipliers of a step */
    MICRO(vector) above[2 * (MICRO_LU_COLS + LANES) / LANES];     /* the row of its pivot */
} MICRO(pairs_lu);

/* `a` in the lanes where `which` is all ones, `b` where it is zero. */
INLINE MICRO(vector) MICRO(chosen)(MICRO(lanes) which, MICRO(vector) a, MICRO(vector) b)
{
    return (MICRO(vector))((which & (MICRO(lanes))a) | (~which & (MICRO(lanes))b));
}

/* All ones in the lanes from `first` on. */
INLINE MICRO(lanes) MICRO(lanes_behind)(int first)
{
    return MICRO(lanes_from)(false, first) > (MICRO(vector)){0};
}

/* The first row from `top` on with the largest element of x, by the sum of the sizes of its parts, and this sum. What is
 * no number is not found; if nothing else is there but zeros, the sum is zero. */
INLINE int MICRO(pairs_largest)(int top, int rows, const elem_t *x, elem_t *size)
{
    int begin = 2 * top / LANES * LANES, found = top;
    MICRO(vector) best = {0};
    MICRO(lanes) where = {0};
    for (int i = begin; i < 2 * rows; i += LANES) {
        MICRO(vector) v = *(const MICRO(vector) *)(x + i);
        v = MICRO(chosen)(v < 0, -v, v);
        v += MICRO(crossed)(v);
        MICRO(lanes) larger = v > best;
        if (i == begin)
            larger &= MICRO(lanes_behind)(2 * top - i);
        best = MICRO(chosen)(larger, v, best);
        where = (MICRO(lanes))MICRO(chosen)(larger, (MICRO(vector))((MICRO(lanes)){0} + i), (MICRO(vector))where);
    }
    *size = 0;
    for (int l = 0; l < LANES; l += 2) {
        int row = ((int)where[l] + l) / 2;
        bool better = best[l] > *size || (best[l] == *size && *size > 0 && row < found);
        found = better ? row : found;
        *size = better ? best[l] : *size;
    }
    return found;
}

/* Rows j and `pivot` of all columns but j are exchanged; the new row j is kept aside. */
INLINE void MICRO(pairs_exchange)(MICRO(pairs_lu) *f, int j, int pivot)
{
    MICRO(pair) *x = (MICRO(pair) *)f->X, *above = (MICRO(pair) *)f->above;
    for (int c = 0; c < f->cols; c++, x += f->rows) {
        MICRO(pair) upper = x[j], lower = x[pivot];
        above[c] = lower;
        if (c != j) {
            x[j] = lower;
            x[pivot] = upper;
        }
    }
}

/* Step j. False: no element of the column is large enough to be divided by. */
INLINE bool MICRO(pairs_step)(MICRO(pairs_lu) *f, int j, elem_t least, int64_t *pivot)
{
    int begin = 2 * j / LANES * LANES;
    elem_t *X = (elem_t *)f->X, *x = X + 2 * (ptrdiff_t)j * f->rows, *l = (elem_t *)f->below, size;
    int best = MICRO(pairs_largest)(j, f->rows, x, &size);
    if (!(size >= least))
        return false;
    MICRO(pair) value = MICRO(pair_at)(x, best, false), upper = MICRO(pair_at)(x, j, false);
    MICRO(pair) inverse = MICRO(pair_inverse)(value), multiplier = MICRO(pair_times)(upper, inverse);
    MICRO(pairs_exchange)(f, j, best);
    MICRO(vector) first = *(const MICRO(vector) *)(x + begin);
    MICRO(lanes) behind = MICRO(lanes_behind)(2 * j + 2 - begin);
    MICRO(pairs_scale)(f->rows - begin / 2, inverse, false, x + begin, l + begin);
    MICRO(vector) scaled = *(const MICRO(vector) *)(l + begin);
    *(MICRO(vector) *)(l + begin) = MICRO(chosen)(behind, scaled, (MICRO(vector)){0});
    *(MICRO(vector) *)(x + begin) = MICRO(chosen)(behind, scaled, first);
    for (int i = begin + LANES; i < 2 * f->rows; i += LANES)
        *(MICRO(vector) *)(x + i) = *(const MICRO(vector) *)(l + i);
    if (best != j) {
        ((MICRO(pair) *)l)[best] = multiplier;
        ((MICRO(pair) *)x)[best] = multiplier;
    }
    ((MICRO(pair) *)x)[j] = value;
    MICRO(pairs_update)(f->rows, j, j + 1, f->cols, false, l, (elem_t *)f->above, X);
    *pivot = best;
    return true;
}

static MICRO_TARGET bool MICRO(getrf_pairs)(int m, int n, elem_t *A, int lda, elem_t least, int64_t *pivot)
{
    MICRO(pairs_lu) f;
    if (n > MICRO_LU_COLS || m > MICRO_LU_ROOM)
        return false;
    f.rows = MICRO(whole_pairs)(m);
    f.cols = n;
    if (f.rows * (n + PAIR_COLS) > MICRO_LU_ROOM)
        return false;
    size_t column = 2 * (size_t)f.rows * sizeof(elem_t), filled = 2 * (size_t)m * sizeof(elem_t);
    char *X = (char *)f.X;
    for (int j = 0; j < n; j++) {
        memset(X + (size_t)j * column + column - sizeof(MICRO(vector)), 0, sizeof(MICRO(vector)));
        memcpy(X + (size_t)j * column, A + 2 * (ptrdiff_t)j * lda, filled);
    }
    memset(X + (size_t)n * column, 0, PAIR_COLS * column);
    memset(f.above, 0, sizeof f.above);
    for (int j = 0; j < m && j < n; j++)
        if (!MICRO(pairs_step)(&f, j, least, pivot + j))
            return false;
    for (int j = 0; j < n; j++)
        memcpy(A + 2 * (ptrdiff_t)j * lda, X + (size_t)j * column, filled);
    return true;
}
