/*
 * One element type (elem_t) for one instruction set. Besides the macros of precision.h:
 *
 *     LANES_BYTES   bytes of a vector
 *     LANES_SIDE    rows and columns at most
 *     LANES_SOLVES  rows and columns of B, from and to, of solves that are faster matrix by matrix
 *     LANES_PRODUCTS  rows and columns of complex products at most, 0: none; real ones wait for memory or are faster alone
 *     LANES_TARGET  attribute of the functions
 *     LANES(name)   name of a function of this instance
 *
 * Lanes that no matrix fills hold the last one once more.
 */
#define COUNT (LANES_BYTES / 8 * (DAG_PRECISION_NUMBER % 2 + 1)) /* numbers of a vector */
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

/* 0, 1, ... */
#if COUNT == 2
#define FROM_ZERO ((mask){0, 1})
#elif COUNT == 4
#define FROM_ZERO ((mask){0, 1, 2, 3})
#elif COUNT == 8
#define FROM_ZERO ((mask){0, 1, 2, 3, 4, 5, 6, 7})
#else
#define FROM_ZERO ((mask){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
#endif

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
