/*
 * One element type (elem_t) for one instruction set. Besides the macros of precision.h:
 *
 *     LANES_BYTES   bytes of a vector
 *     LANES_TARGET  attribute of the functions
 *     LANES(name)   name of a function of this instance
 *
 * Matrices are copied into arrays of lanes, with rows and columns in whatever order the algorithm wants
 * (spots), and back. Lanes that no matrix fills hold the last one once more.
 */
#define COUNT ((int)(LANES_BYTES / sizeof(real_t)))
#define INLINE static inline __attribute__((always_inline)) LANES_TARGET
#define APART static __attribute__((noinline)) LANES_TARGET

typedef real_t LANES(vec) __attribute__((vector_size(LANES_BYTES), may_alias));
/* What comparisons give, and whole numbers beside them. */
typedef DAG_PRECISION_CAT(LANES_INT_, DAG_PRECISION) LANES(mask)
    __attribute__((vector_size(LANES_BYTES), may_alias));

typedef struct LANES(lane) {
    LANES(vec) re;
#if DAG_COMPLEX
    LANES(vec) im;
#endif
} LANES(lane);

#define vec LANES(vec)
#define mask LANES(mask)
#define lane LANES(lane)
#define CHOOSE(m, a, b) ((vec)(((m) & (mask)(a)) | (~(m) & (mask)(b))))
#define ABS(x) ((vec)((mask)(x) & ~(mask)(-(vec){0})))
#define ALL_INTS(number) ((mask){0} + (DAG_PRECISION_CAT(LANES_INT_, DAG_PRECISION))(number))
#define ALL_LANES(number) ((vec){0} + (real_t)(number))

/* How the elements of an array of lanes lie in a matrix: element (i, j) at first + i down + j right. */
typedef struct LANES(spots) {
    int64_t first, down, right;
    bool conj;
} LANES(spots);

INLINE LANES(spots) LANES(spots_of)(int64_t ld, bool turned, bool conj)
{
    return (LANES(spots)){0, turned ? ld : 1, turned ? 1 : ld, conj && DAG_COMPLEX};
}

/* From the last row and column on. */
INLINE void LANES(backward)(LANES(spots) *s, int m, int n)
{
    s->first += (m - 1) * s->down + (n - 1) * s->right;
    s->down = -s->down;
    s->right = -s->right;
}

enum { LANES(ALL), LANES(LOWER), LANES(STRICT) };

/* Rows from which column j of the part is there. */
INLINE int LANES(from)(int part, int j)
{
    return part == LANES(ALL) ? 0 : part == LANES(LOWER) ? j : j + 1;
}

INLINE void LANES(take)(lane *x, int l, elem_t e, bool conj)
{
    ((real_t *)&x->re)[l] = DAG_REAL(e);
#if DAG_COMPLEX
    ((real_t *)&x->im)[l] = conj ? -DAG_IMAG(e) : DAG_IMAG(e);
#else
    (void)conj;
#endif
}

/* Matrix l of A becomes lane l of X, m by n; `turned`: A is n by m, and its transpose is taken. `back`:
 * from the last row and column on. */
APART void LANES(load)(const lanes_of *A, int m, int n, bool turned, bool conj, bool back, int part,
                       lane *X)
{
    for (int l = 0; l < COUNT; l++) {
        int from = l < A->count ? l : A->count - 1;
        LANES(spots) s = LANES(spots_of)(A->ld[from], turned, conj);
        if (back)
            LANES(backward)(&s, m, n);
        const elem_t *a = (const elem_t *)A->at[from] + s.first;
        for (int j = 0; j < n; j++)
            for (int i = LANES(from)(part, j); i < m; i++)
                LANES(take)(&X[i + j * m], l, a[i * s.down + j * s.right], s.conj);
    }
}

/* And back, into the matrices whose info is 0 (`info` may be NULL). */
APART void LANES(store)(const lanes_of *A, int m, int n, bool turned, bool conj, bool back, int part,
                        const lane *X, int64_t *const *info)
{
    for (int l = 0; l < A->count; l++) {
        LANES(spots) s = LANES(spots_of)(A->ld[l], turned, conj);
        if (back)
            LANES(backward)(&s, m, n);
        elem_t *a = (elem_t *)A->at[l] + s.first;
        for (int j = 0; j < n && (info == NULL || *info[l] == 0); j++)
            for (int i = LANES(from)(part, j); i < m; i++) {
                const real_t *re = (const real_t *)&X[i + j * m].re;
#if DAG_COMPLEX
                real_t im = ((const real_t *)&X[i + j * m].im)[l];
                a[i * s.down + j * s.right] = DAG_ELEM(re[l], s.conj ? -im : im);
#else
                a[i * s.down + j * s.right] = re[l];
#endif
            }
    }
}

/* ---- arithmetic of lanes ------------------------------------------------------------------ */

/* c -= a b */
INLINE void LANES(sub)(lane *c, const lane *a, const lane *b)
{
#if DAG_COMPLEX
    c->re = c->re - a->re * b->re + a->im * b->im;
    c->im = c->im - a->re * b->im - a->im * b->re;
#else
    c->re -= a->re * b->re;
#endif
}

/* c -= a conj(b) */
INLINE void LANES(sub_conj)(lane *c, const lane *a, const lane *b)
{
#if DAG_COMPLEX
    c->re = c->re - a->re * b->re - a->im * b->im;
    c->im = c->im + a->re * b->im - a->im * b->re;
#else
    c->re -= a->re * b->re;
#endif
}

/* a := a b */
INLINE void LANES(mul)(lane *a, const lane *b)
{
#if DAG_COMPLEX
    vec re = a->re * b->re - a->im * b->im;
    a->im = a->re * b->im + a->im * b->re;
    a->re = re;
#else
    a->re *= b->re;
#endif
}

INLINE void LANES(scale)(lane *a, const vec *factor)
{
    a->re *= *factor;
#if DAG_COMPLEX
    a->im *= *factor;
#endif
}

INLINE void LANES(choose)(lane *x, const mask *m, const lane *a, const lane *b)
{
    x->re = CHOOSE(*m, a->re, b->re);
#if DAG_COMPLEX
    x->im = CHOOSE(*m, a->im, b->im);
#endif
}

/* |re| + |im|, as LAPACK measures pivots */
INLINE void LANES(size)(const lane *a, vec *size)
{
    *size = ABS(a->re);
#if DAG_COMPLEX
    *size += ABS(a->im);
#endif
}

INLINE bool LANES(any)(const mask *m)
{
    bool found = false;
    for (int l = 0; l < COUNT; l++)
        found = found || (*m)[l] != 0;
    return found;
}

INLINE void LANES(root)(vec *x)
{
    real_t *r = (real_t *)x;
    for (int l = 0; l < COUNT; l++)
        r[l] = (real_t)sqrt((double)r[l]);
}

/* 1 / a; false where that would overflow, or a is no number. Where `zeros` may be, theirs is some number. */
INLINE bool LANES(invert)(const lane *a, bool zeros, lane *inverse)
{
    vec size, one = ALL_LANES(1);
    LANES(size)(a, &size);
    mask none = (mask)(size == ALL_LANES(0));
    mask good = (mask)(size >= ALL_LANES(LANES_LEAST)) & (mask)(size <= ALL_LANES(1 / LANES_LEAST));
    mask bad = ~(good | (none & ALL_INTS(zeros ? -1 : 0)));
    if (LANES(any)(&bad))
        return false;
    size = CHOOSE(none, one, size);
#if DAG_COMPLEX
    vec re = a->re / size, im = a->im / size, square = re * re + im * im;
    square = CHOOSE(none, one, square);
    inverse->re = re / square / size;
    inverse->im = -im / square / size;
#else
    inverse->re = one / CHOOSE(none, size, a->re);
#endif
    return true;
}

/* ---- factorisations ----------------------------------------------------------------------- */

/* Factors the lower triangle of X; info of the lanes. Those that fail go on with something. */
APART void LANES(cholesky)(int n, lane *X, mask *info)
{
    *info = ALL_INTS(0);
    for (int j = 0; j < n; j++) {
        vec d = X[j + j * n].re;
        mask good = (mask)(d > ALL_LANES(0)), first = ~good & (mask)(*info == ALL_INTS(0));
        *info |= first & ALL_INTS(j + 1);
        d = CHOOSE(good, d, ALL_LANES(1));
        LANES(root)(&d);
        vec inverse = ALL_LANES(1) / d;
        X[j + j * n] = (lane){.re = d};
        for (int i = j + 1; i < n; i++)
            LANES(scale)(&X[i + j * n], &inverse);
        for (int k = j + 1; k < n; k++)
            for (int i = k; i < n; i++)
                LANES(sub_conj)(&X[i + k * n], &X[i + j * n], &X[k + j * n]);
    }
}

/* Pivots, counted from 1, per step and lane; false where a reciprocal would overflow. */
APART bool LANES(lu)(int m, int n, lane *X, mask *pivot, mask *info)
{
    int rank = m < n ? m : n;
    *info = ALL_INTS(0);
    for (int j = 0; j < rank; j++) {
        lane *x = X + j * m, inverse;
        vec most, size;
        mask at = ALL_INTS(j);
        LANES(size)(&x[j], &most);
        for (int i = j + 1; i < m; i++) {
            LANES(size)(&x[i], &size);
            mask larger = (mask)(size > most);
            most = CHOOSE(larger, size, most);
            at = (larger & ALL_INTS(i)) | (~larger & at);
        }
        pivot[j] = at + 1;
        mask none = (mask)(most == ALL_LANES(0)), moves = (mask)(at != ALL_INTS(j));
        *info |= none & (mask)(*info == ALL_INTS(0)) & ALL_INTS(j + 1);
        for (int i = j + 1; i < m && LANES(any)(&moves); i++) {
            mask here = (mask)(at == ALL_INTS(i));
            for (int k = 0; k < n && LANES(any)(&here); k++) {
                lane up = X[j + k * m], down = X[i + k * m];
                LANES(choose)(&X[j + k * m], &here, &down, &up);
                LANES(choose)(&X[i + k * m], &here, &up, &down);
            }
        }
        if (!LANES(invert)(&x[j], true, &inverse))
            return false;
        for (int i = j + 1; i < m; i++)
            LANES(mul)(&x[i], &inverse);
        for (int k = j + 1; k < n; k++)
            for (int i = j + 1; i < m; i++)
                LANES(sub)(&X[i + k * m], &x[i], &X[j + k * m]);
    }
    return true;
}

/* Rows of X, m by n, are exchanged as the lanes of pivot say. */
INLINE void LANES(exchange)(int m, int n, int k, const mask *pivot, lane *X)
{
    for (int j = 0; j < k; j++)
        for (int l = 0; l < COUNT; l++) {
            int row = (int)pivot[j][l] - 1;
            for (int c = 0; c < n && row != j; c++) {
                real_t *up = (real_t *)&X[j + c * m] + l, *down = (real_t *)&X[row + c * m] + l, t = *up;
                *up = *down;
                *down = t;
#if DAG_COMPLEX
                t = up[COUNT];
                up[COUNT] = down[COUNT];
                down[COUNT] = t;
#endif
            }
        }
}

/* How a triangle of lanes is read: element (i, j) at first + i down + j right. */
typedef struct LANES(triangle) {
    const lane *first;
    int down, right;
    bool unit, conj;
    bool zeros; /* on the diagonal: of matrices whose solution is not wanted */
} LANES(triangle);

/* B, order by n with ldb, becomes the solution for a lower triangle; with `back` B, too, is read from its
 * last row on. False where a reciprocal would overflow. */
APART bool LANES(solve)(const LANES(triangle) *t, int order, int n, bool back, lane *B, int ldb)
{
    int step = back ? -1 : 1;
    lane *first = back ? B + order - 1 : B, inverse = {.re = ALL_LANES(1)};
    for (int j = 0; j < order; j++) {
        const lane *a = t->first + j * t->right;
        if (!t->unit && !LANES(invert)(&a[j * t->down], t->zeros, &inverse))
            return false;
#if DAG_COMPLEX
        if (!t->unit && t->conj)
            inverse.im = (vec){0} - inverse.im;
#endif
        for (int c = 0; c < n; c++) {
            lane *b = first + c * ldb;
            if (!t->unit)
                LANES(mul)(&b[j * step], &inverse);
            for (int i = j + 1; i < order; i++)
                if (t->conj)
                    LANES(sub_conj)(&b[i * step], &b[j * step], &a[i * t->down]);
                else
                    LANES(sub)(&b[i * step], &b[j * step], &a[i * t->down]);
        }
    }
    return true;
}

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

/* y := y - conj(tau) v (v^H y) from row j on, where v has 1 in row j and is x below. */
INLINE void LANES(reflect)(int m, int j, const lane *x, const lane *tau, lane *y)
{
    lane minus = {.re = ALL_LANES(0)}, sum = {.re = -y[j].re};
#if DAG_COMPLEX
    minus.im = ALL_LANES(0);
    sum.im = -y[j].im;
#endif
    for (int i = j + 1; i < m; i++)
        LANES(sub_conj)(&sum, &y[i], &x[i]);
    LANES(sub_conj)(&minus, &sum, tau); /* conj(tau) v^H y */
    y[j].re -= minus.re;
#if DAG_COMPLEX
    y[j].im -= minus.im;
#endif
    for (int i = j + 1; i < m; i++)
        LANES(sub)(&y[i], &minus, &x[i]);
}

/* As LAPACK's geqr2. */
APART bool LANES(qr)(int m, int n, lane *X, lane *tau)
{
    for (int j = 0; j < m && j < n; j++) {
        if (!LANES(reflector)(m, j, X + j * m, &tau[j]))
            return false;
        for (int k = j + 1; k < n; k++)
            LANES(reflect)(m, j, X + j * m, &tau[j], X + k * m);
    }
    return true;
}
