/* Whole blocks of a product, by what is fetched meanwhile. Part of micro.inc.c. */

/* acc += A B^T (b_row = 1, b_col = ldb) or A B (b_row = ldb, b_col = 1), where element (j, p) of
 * the right operand is B[j * b_row + p * b_col]. */
INLINE void MICRO(product)(int vecs, bool fetch, ptrdiff_t k, const elem_t *A, ptrdiff_t lda,
                           const elem_t *B, ptrdiff_t b_row, ptrdiff_t b_col, MICRO(ahead) next,
                           MICRO(block) *acc)
{
    for (ptrdiff_t p = 0; p < k; p++) {
        MICRO(vector) a[3];
        EACH_VEC(i)
            a[i] = *(const MICRO(loose) *)(A + i * LANES);
        if (fetch) {
            __builtin_prefetch(next.a);
            __builtin_prefetch(next.b);
            next.a += next.a_step;
            next.b += next.b_step;
        }
        EACH_COL(j) {
            elem_t b = B[j * b_row];
            EACH_VEC(i)
                acc->v[j][i] += a[i] * b;
        }
        A += lda;
        B += b_col;
    }
}

/* The same, two indices at a time, of whose first lines of the next task are fetched. */
INLINE void MICRO(product_far)(int vecs, bool fetch, ptrdiff_t k, const elem_t *A, ptrdiff_t lda,
                               const elem_t *B, ptrdiff_t b_row, ptrdiff_t b_col, MICRO(ahead) next,
                               MICRO(block) *acc)
{
    ptrdiff_t p = 0;
    for (; p + DAGI_AHEAD_EVERY <= k; p += DAGI_AHEAD_EVERY) {
        __builtin_prefetch(next.far, 0, 2);
        next.far += next.far_step;
        _Pragma("GCC unroll 2") for (int i = 0; i < DAGI_AHEAD_EVERY; i++) {
            MICRO(product)(vecs, fetch, 1, A + i * lda, lda, B + i * b_col, b_row, b_col, next, acc);
            if (fetch) {
                next.a += next.a_step;
                next.b += next.b_step;
            }
        }
        A += DAGI_AHEAD_EVERY * lda;
        B += DAGI_AHEAD_EVERY * b_col;
    }
    if (p < k)
        MICRO(product)(vecs, fetch, 1, A, lda, B, b_row, b_col, next, acc);
}

INLINE void MICRO(clear)(int vecs, MICRO(block) *acc)
{
    EACH_COL(j)
        EACH_VEC(i)
            acc->v[j][i] = (MICRO(vector)){0};
}

INLINE void MICRO(fetch_target)(int vecs, const elem_t *C, ptrdiff_t ldc)
{
    EACH_COL(j)
        EACH_VEC(i)
            __builtin_prefetch(C + i * LANES + j * ldc, 1);
}

INLINE void MICRO(add)(int vecs, elem_t alpha, const MICRO(block) *acc, bool fresh, elem_t *C, ptrdiff_t ldc)
{
    if (fresh)
        EACH_COL(j)
            EACH_VEC(i)
                *(MICRO(loose) *)(C + i * LANES + j * ldc) = alpha * acc->v[j][i];
    else
        EACH_COL(j)
            EACH_VEC(i)
                *(MICRO(loose) *)(C + i * LANES + j * ldc) += alpha * acc->v[j][i];
}

/* One whole block of a product. Kept apart per number of vectors and by what is fetched, so that each is a plain loop. */
typedef void MICRO(whole_block)(ptrdiff_t k, elem_t alpha, const elem_t *A, ptrdiff_t lda, const elem_t *B,
                                ptrdiff_t b_row, ptrdiff_t b_col, MICRO(ahead) next, bool fresh, elem_t *C,
                                ptrdiff_t ldc);
#define MICRO_BLOCK(name, kind, vecs, fetch)                                                       \
    APART void MICRO(block_##name##_##vecs)(                                                       \
        ptrdiff_t k, elem_t alpha, const elem_t *A, ptrdiff_t lda, const elem_t *B,                \
        ptrdiff_t b_row, ptrdiff_t b_col, MICRO(ahead) next, bool fresh, elem_t *C,                \
        ptrdiff_t ldc)                                                                             \
    {                                                                                              \
        MICRO(block) acc;                                                                          \
        MICRO(fetch_target)(vecs, C, ldc);                                                         \
        MICRO(clear)(vecs, &acc);                                                                  \
        MICRO(kind)(vecs, fetch, k, A, lda, B, b_row, b_col, next, &acc);                          \
        MICRO(add)(vecs, alpha, &acc, fresh, C, ldc);                                              \
    }
#define MICRO_BLOCKS(name, kind, fetch)                                                            \
    MICRO_BLOCK(name, kind, 1, fetch) MICRO_BLOCK(name, kind, 2, fetch) MICRO_BLOCK(name, kind, 3, fetch)
#define BLOCKS(name) {MICRO(block_##name##_1), MICRO(block_##name##_2), MICRO(block_##name##_3)}
MICRO_BLOCKS(none, product, false)
MICRO_BLOCKS(here, product, true)
#if MICRO_FAR
MICRO_BLOCKS(far, product_far, false)
MICRO_BLOCKS(both, product_far, true)
#endif

/* By what is fetched: 1 of A and B, 2 of the next task; and vectors, less one. */
static MICRO(whole_block) *const MICRO(blocks)[][3] = {
    BLOCKS(none), BLOCKS(here),
#if MICRO_FAR
    BLOCKS(far), BLOCKS(both),
#endif
};
#undef MICRO_BLOCK
#undef MICRO_BLOCKS
#undef BLOCKS

static MICRO_TARGET void MICRO(multiply)(int vecs, ptrdiff_t k, elem_t alpha, const elem_t *A,
                                         ptrdiff_t lda, const elem_t *B, ptrdiff_t b_row,
                                         ptrdiff_t b_col, MICRO(ahead) next, bool fresh,
                                         elem_t *C, ptrdiff_t ldc)
{
    int fetched = (next.a != NULL) + 2 * (next.far != NULL);
    MICRO(blocks)[fetched][vecs - 1](k, alpha, A, lda, B, b_row, b_col, next, fresh, C, ldc);
}
