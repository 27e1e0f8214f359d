/*
 * Matrices are copied into arrays of lanes, with rows and columns in whatever order the algorithm wants, and
 * back: as many numbers of each matrix as there are lanes become vectors of one number of each by a transposition
 * in registers. What is not of the part that is copied is neither read nor written.
 */
enum { LANES(ALL), LANES(LOWER), LANES(STRICT) };
#define ITEM (DAG_COMPLEX + 1) /* numbers of an element */

/* How the elements of a matrix lie in an array of lanes: row r of column c at first + r down + c right. */
typedef struct LANES(spots) {
    int rows, columns;
    int first, down, right;
    bool conj;
    int part;   /* below the diagonal, or above it: */
    bool upper;
} LANES(spots);

/* The array is m by n; `turned`: the matrix is n by m, and its transpose is taken. `back`: from the last
 * row and column on. */
INLINE LANES(spots) LANES(spots_of)(int m, int n, bool turned, bool conj, bool back, int part)
{
    LANES(spots) s = {.rows = turned ? n : m, .columns = turned ? m : n, .part = part,
                      .down = turned ? m : 1, .right = turned ? 1 : m,
                      .conj = conj && DAG_COMPLEX, .upper = turned != back};
    if (back) {
        s.first = m * n - 1;
        s.down = -s.down;
        s.right = -s.right;
    }
    return s;
}

/* The rows [*from, *to) of column c are copied. */
INLINE void LANES(rows_of)(const LANES(spots) *s, int c, int *from, int *to)
{
    int strict = s->part == LANES(STRICT);
    *from = s->part == LANES(ALL) || s->upper ? 0 : c + strict;
    *to = s->part == LANES(ALL) || !s->upper ? s->rows : c + 1 - strict;
}

/* Numbers of a and of b behind it, as `which` says. */
INLINE void LANES(shuffle)(const vec *a, const vec *b, const mask *which, vec *to)
{
#ifdef __clang__ /* which makes shuffles of this */
    vec all;
#pragma GCC unroll 16
    for (int l = 0; l < COUNT; l++)
        all[l] = (*which)[l] < COUNT ? (*a)[(*which)[l]] : (*b)[(*which)[l] - COUNT];
    *to = all;
#else
    *to = __builtin_shuffle(*a, *b, *which);
#endif
}

/* Number l of vector r and number r of vector l change places. */
INLINE void LANES(transpose)(vec *v)
{
#pragma GCC unroll 4
    for (int d = 1; d < COUNT; d *= 2) {
        const mask low = FROM_ZERO + (FROM_ZERO & d) * (COUNT / d - 1), high = low + d;
#pragma GCC unroll 16
        for (int r = 0; r < COUNT; r++)
            if (!(r & d)) {
                vec up = v[r], down = v[r + d];
                LANES(shuffle)(&up, &down, &low, &v[r]);
                LANES(shuffle)(&up, &down, &high, &v[r + d]);
            }
    }
}

/* The columns of the matrices at which the copy is. */
typedef struct LANES(columns) {
    real_t *at[COUNT];
    int64_t ld[COUNT];
} LANES(columns);

INLINE void LANES(columns_of)(const lanes_of *A, LANES(columns) *x)
{
    for (int l = 0, from = 0; l < COUNT; l++) {
        from = l < A->count ? l : from;
        x->at[l] = A->at[from];
        x->ld[l] = ITEM * A->ld[from];
    }
}

INLINE void LANES(next_column)(LANES(columns) *x)
{
    for (int l = 0; l < COUNT; l++)
        x->at[l] += x->ld[l];
}

/* From row r on as many elements as a vector has; X is where the lanes of the first are. */
INLINE void LANES(load_block)(const LANES(columns) *a, const LANES(spots) *s, int r, lane *X)
{
    vec v[COUNT];
#pragma GCC unroll 16
    for (int l = 0; l < COUNT; l++)
        memcpy(&v[l], a->at[l] + ITEM * r, sizeof(vec));
    LANES(transpose)(v);
#pragma GCC unroll 16
    for (int k = 0; k < COUNT; k += ITEM, X += s->down) {
        X->re = v[k];
#if DAG_COMPLEX
        X->im = s->conj ? -v[k + 1] : v[k + 1];
#endif
    }
}

INLINE void LANES(load_one)(const LANES(columns) *a, const LANES(spots) *s, int r, lane *X)
{
    for (int l = 0; l < COUNT; l++) {
        ((real_t *)&X->re)[l] = a->at[l][ITEM * r];
#if DAG_COMPLEX
        real_t im = a->at[l][ITEM * r + 1];
        ((real_t *)&X->im)[l] = s->conj ? -im : im;
#endif
    }
    (void)s;
}

/* Into those that are wanted. */
INLINE void LANES(store_block)(const LANES(columns) *a, const LANES(spots) *s, int r, const lane *X,
                               const bool *wanted)
{
    vec v[COUNT];
#pragma GCC unroll 16
    for (int k = 0; k < COUNT; k += ITEM, X += s->down) {
        v[k] = X->re;
#if DAG_COMPLEX
        v[k + 1] = s->conj ? -X->im : X->im;
#endif
    }
    LANES(transpose)(v);
#pragma GCC unroll 16
    for (int l = 0; l < COUNT; l++)
        if (wanted[l])
            memcpy(a->at[l] + ITEM * r, &v[l], sizeof(vec));
}

INLINE void LANES(store_one)(const LANES(columns) *a, const LANES(spots) *s, int r, const lane *X,
                             const bool *wanted)
{
    for (int l = 0; l < COUNT; l++)
        if (wanted[l]) {
            a->at[l][ITEM * r] = ((const real_t *)&X->re)[l];
#if DAG_COMPLEX
            real_t im = ((const real_t *)&X->im)[l];
            a->at[l][ITEM * r + 1] = s->conj ? -im : im;
#endif
        }
    (void)s;
}

/* Matrix l of A becomes lane l of X. */
APART void LANES(load)(const lanes_of *A, LANES(spots) s, lane *X)
{
    enum { EACH = COUNT / ITEM };
    LANES(columns) a;
    LANES(columns_of)(A, &a);
    X += s.first;
    for (int c = 0, r, from, to; c < s.columns; c++, X += s.right) {
        LANES(rows_of)(&s, c, &from, &to);
        for (r = from; r + EACH <= to; r += EACH)
            LANES(load_block)(&a, &s, r, X + r * s.down);
        if (r < to && from + EACH <= to) { /* some of them once more */
            r = to;
            LANES(load_block)(&a, &s, r - EACH, X + (r - EACH) * s.down);
        }
        for (; r < to; r++)
            LANES(load_one)(&a, &s, r, X + r * s.down);
        LANES(next_column)(&a);
    }
}

/* And back, into the matrices whose info is 0 (`info` may be NULL). */
APART void LANES(store)(const lanes_of *A, LANES(spots) s, const lane *X, int64_t *const *info)
{
    enum { EACH = COUNT / ITEM };
    LANES(columns) a;
    bool wanted[COUNT] = {false};
    LANES(columns_of)(A, &a);
    for (int l = 0; l < A->count; l++)
        wanted[l] = info == NULL || *info[l] == 0;
    X += s.first;
    for (int c = 0, r, from, to; c < s.columns; c++, X += s.right) {
        LANES(rows_of)(&s, c, &from, &to);
        for (r = from; r + EACH <= to; r += EACH)
            LANES(store_block)(&a, &s, r, X + r * s.down, wanted);
        if (r < to && from + EACH <= to) {
            r = to;
            LANES(store_block)(&a, &s, r - EACH, X + (r - EACH) * s.down, wanted);
        }
        for (; r < to; r++)
            LANES(store_one)(&a, &s, r, X + r * s.down, wanted);
        LANES(next_column)(&a);
    }
}
