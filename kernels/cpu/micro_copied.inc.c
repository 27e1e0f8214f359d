/*
 * Part of micro.inc.c: products whose operands are copied, with AVX2.
 *
 * The first block that needs rows of A, or columns of B^T, reads them as they lie and leaves the copy that all later
 * ones read, so that copying hides behind multiplications; what does not lie side by side is transposed before. What is
 * to be copied next is fetched into the second-level cache meanwhile, since the hardware does not foresee strides of
 * whole columns. On Zen 3 tiles of 192 from memory make 45 GFlop/s by that instead of 39, of 96 41 instead of 33, where
 * OpenBLAS makes 42 and 36.
 */

/* Lines to fetch, one for each inner index: for p that of at[p % 4 * step + p / 4 * turn]. */
typedef struct MICRO(lines) {
    const elem_t *at;
    ptrdiff_t step, turn;
} MICRO(lines);

/* Inner indices ahead of the multiplications at which a block fetches what it copies. */
#define MICRO_SOON 12
#define MICRO_LINE ((int)(64 / sizeof(elem_t)))

/* What blocks fetch while they multiply: so many of them, each `jump` elements on. */
typedef struct MICRO(errand) {
    MICRO(lines) lines;
    int blocks;
    ptrdiff_t jump;
} MICRO(errand);

/* `rows` rows of an operand, or none: in lines of them where they lie side by side, else by fours. */
INLINE MICRO(errand) MICRO(errand_for)(MICRO(operand) from, int rows)
{
    if (from.row == 1)
        return (MICRO(errand)){{from.at, from.col, 4 * from.col}, rows > 0 ? (rows - 1) / MICRO_LINE + 1 : 0, MICRO_LINE};
    return (MICRO(errand)){{from.at, from.row, 4}, rows / 4, 4 * from.row};
}

INLINE void MICRO(fetch_line)(const MICRO(lines) *lines, ptrdiff_t p)
{
    __builtin_prefetch(lines->at + (p & 3) * lines->step + (p >> 2) * lines->turn, 0, 2);
}

/* acc += A B^T as they lie, rows of each side by side; copies of A, by whole vectors, and of B are left, and lines of B
 * for later blocks fetched. */
INLINE void MICRO(product_copying)(int vecs, bool copies_a, bool copies_b, ptrdiff_t k, const elem_t *A, ptrdiff_t lda,
                                   const elem_t *B, ptrdiff_t b_row, ptrdiff_t b_col, elem_t *a_copy, elem_t *b_copy,
                                   MICRO(block) *acc)
{
    for (ptrdiff_t p = 0; p < k; p++) {
        MICRO(vector) a[3];
        EACH_VEC(i)
            a[i] = *(const MICRO(loose) *)(A + i * LANES);
        if (copies_a) {
            __builtin_prefetch(A + MICRO_SOON * lda);
            if (vecs > 2)
                __builtin_prefetch(A + MICRO_SOON * lda + MICRO_LINE);
            EACH_VEC(i)
                *(MICRO(loose) *)(a_copy + i * LANES) = a[i];
            a_copy += vecs * LANES;
        }
        if (copies_b) {
            __builtin_prefetch(B + MICRO_SOON * b_col);
            __builtin_prefetch(B + MICRO_LINE, 0, 2);
            memcpy(b_copy, B, MICRO_COLS * sizeof(elem_t)); /* one by one they take as long as the multiplications */
            b_copy += LANES;
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

typedef void MICRO(copying_block)(ptrdiff_t k, elem_t alpha, const elem_t *A, ptrdiff_t lda, MICRO(operand) B,
                                  elem_t *a_copy, elem_t *b_copy, bool fresh, elem_t *C, ptrdiff_t ldc);
#define MICRO_COPYING(name, vecs, copies_a, copies_b)                                              \
    APART void MICRO(copying_##name##_##vecs)(ptrdiff_t k, elem_t alpha, const elem_t *A, ptrdiff_t lda, \
                                              MICRO(operand) B, elem_t *a_copy, elem_t *b_copy, bool fresh, \
                                              elem_t *C, ptrdiff_t ldc)                            \
    {                                                                                              \
        MICRO(block) acc;                                                                          \
        MICRO(fetch_target)(vecs, C, ldc);                                                         \
        MICRO(clear)(vecs, &acc);                                                                  \
        MICRO(product_copying)(vecs, copies_a, copies_b, k, A, lda, B.at, copies_b ? 1 : B.row, B.col, a_copy, b_copy, \
                               &acc);                                                              \
        MICRO(add)(vecs, alpha, &acc, fresh, C, ldc);                                              \
    }
#define MICRO_COPYINGS(name, copies_a, copies_b)                                                   \
    MICRO_COPYING(name, 1, copies_a, copies_b) MICRO_COPYING(name, 2, copies_a, copies_b)          \
    MICRO_COPYING(name, 3, copies_a, copies_b)
#define COPYINGS(name) {MICRO(copying_##name##_1), MICRO(copying_##name##_2), MICRO(copying_##name##_3)}
MICRO_COPYINGS(a, true, false)
MICRO_COPYINGS(b, false, true)
MICRO_COPYINGS(both, true, true)

/* By what is copied: A, B, or both; and vectors, less one. */
static MICRO(copying_block) *const MICRO(copying)[][3] = {COPYINGS(a), COPYINGS(b), COPYINGS(both)};
#undef MICRO_COPYING
#undef MICRO_COPYINGS
#undef COPYINGS

/* Copies columns of B^T, LANES of them if there are as many, from j on, where a group begins. */
static MICRO_TARGET void MICRO(copy_group)(MICRO(job) *job, int j)
{
    int left = job->end - j;
    MICRO(pack)(left < LANES ? left : LANES, LANES, job->k, job->B.at + j * job->B.row, job->B.row, job->B.col,
                job->copy + (ptrdiff_t)(j - job->from) * job->k);
    job->taken = j + LANES;
}

/* Columns of B^T from j on become those of their copy, if it is there or made here; else where a block of whole vectors
 * (`whole`) is to leave it, which must begin next. */
static MICRO_TARGET elem_t *MICRO(copied)(MICRO(job) *job, int j, bool whole, MICRO(operand) *B)
{
    int within = (j - job->from) % LANES, group = job->end - (j - within);
    elem_t *copy = job->copy + (ptrdiff_t)(j - job->from - within) * job->k + within;
    /* All of a group is copied by blocks, or none. */
    if (j >= job->taken && whole && B->row == 1 && (group >= LANES || group % MICRO_COLS == 0)) {
        job->taken = j + MICRO_COLS;
        return copy;
    }
    if (j >= job->taken)
        MICRO(copy_group)(job, j);
    *B = (MICRO(operand)){copy, 1, LANES};
    return NULL;
}

/* A block that leaves copies, if it is the first to read the rows or the columns and has whole vectors; else false, and
 * B is their copy. */
static MICRO_TARGET bool MICRO(copies_made)(MICRO(job) *job, int j, int vecs, bool whole, const elem_t *A, ptrdiff_t lda,
                                            MICRO(operand) *B, elem_t *C, ptrdiff_t ldc)
{
    elem_t *b_copy = job->copy != NULL ? MICRO(copied)(job, j, whole, B) : NULL;
    elem_t *a_copy = whole && job->a_wait == vecs ? job->a_copy : NULL;
    if (a_copy == NULL && b_copy == NULL)
        return false;
    if (a_copy != NULL)
        job->a_wait = 0;
    MICRO(copying)[(a_copy != NULL) + 2 * (b_copy != NULL) - 1][vecs - 1](job->k, job->alpha, A, lda, *B, a_copy, b_copy,
                                                                          job->fresh, C, ldc);
    return true;
}

/* `count` blocks of columns, all of whose operands are copied; the last ones go on an errand. */
INLINE void MICRO(run_blocks)(int vecs, const MICRO(job) *job, int count, int first, const elem_t *A,
                              const MICRO(errand) *errand, elem_t *C)
{
    enum { EACH = LANES / MICRO_COLS }; /* blocks of a group of columns */
    MICRO(lines) lines = errand->lines;
    for (int n = 0; n < count; n++) {
        MICRO(block) acc;
        const elem_t *a = A;
        const elem_t *b = job->copy + (first + n) / EACH * LANES * (ptrdiff_t)job->k + (first + n) % EACH * MICRO_COLS;
        bool fetches = n + errand->blocks >= count;
        MICRO(fetch_target)(vecs, C, job->ldc);
        MICRO(clear)(vecs, &acc);
        for (ptrdiff_t p = 0; fetches && p < job->k; p++, a += vecs * LANES, b += LANES) {
            MICRO(fetch_line)(&lines, p);
            MICRO(product)(vecs, false, 1, a, 0, b, 1, 0, (MICRO(ahead)){0}, &acc);
        }
        if (!fetches)
            MICRO(product)(vecs, false, job->k, a, vecs * LANES, b, 1, LANES, (MICRO(ahead)){0}, &acc);
        lines.at += fetches ? errand->jump : 0;
        MICRO(add)(vecs, job->alpha, &acc, job->fresh, C, job->ldc);
        C += MICRO_COLS * job->ldc;
    }
}

typedef void MICRO(runs)(const MICRO(job) *job, int count, int first, const elem_t *A, const MICRO(errand) *errand,
                         elem_t *C);
#define MICRO_RUN(vecs)                                                                            \
    APART void MICRO(run_##vecs)(const MICRO(job) *job, int count, int first, const elem_t *A,     \
                                 const MICRO(errand) *errand, elem_t *C)                           \
    {                                                                                              \
        MICRO(run_blocks)(vecs, job, count, first, A, errand, C);                                  \
    }
MICRO_RUN(1)
MICRO_RUN(2)
MICRO_RUN(3)
#undef MICRO_RUN

/* From column j on of a panel of rows from i on, as many blocks as lie in the region, have whole vectors and find their
 * operands copied: how many columns these were. If A is where the rows were read from it becomes their copy. */
static MICRO_TARGET int MICRO(run)(MICRO(job) *job, int i, int rows, int j, const elem_t **A, ptrdiff_t *lda)
{
    static MICRO(runs) *const runs[] = {MICRO(run_1), MICRO(run_2), MICRO(run_3)};
    if (job->a_copy == NULL || job->a_wait > 0)
        return 0;
    *A = job->a_copy;
    *lda = (rows + LANES - 1) / LANES * LANES;
    if (job->copy == NULL || rows % LANES != 0)
        return 0;
    bool first = j >= job->taken && job->B.row != 1; /* those columns are to be transposed, and the next fetched */
    if (first)
        MICRO(copy_group)(job, j);
    int end = job->taken < job->end ? job->taken : job->end, below = i + rows;
    if (job->region == DAG_REGION_LOWER && end > i + 1)
        end = i + 1;
    if (end - j < MICRO_COLS || (job->region == DAG_REGION_UPPER && j < below - 1))
        return 0;
    int count = (end - j) / MICRO_COLS, left = job->end - job->taken, more = job->m - below;
    MICRO(operand) next_a = {job->A.at + below * job->A.row, job->A.row, job->A.col};
    MICRO(operand) next_b = {job->B.at + job->taken * job->B.row, job->B.row, job->B.col};
    MICRO(errand) errand = first && left > 0 ? MICRO(errand_for)(next_b, left < LANES ? left : LANES)
                                             : MICRO(errand_for)(next_a, more < MICRO_ROWS ? more : MICRO_ROWS);
    runs[rows / LANES - 1](job, count, (j - job->from) / MICRO_COLS, *A, &errand, job->C + i + j * job->ldc);
    return count * MICRO_COLS;
}

APART void MICRO(slice)(MICRO(job) *job);

/* Columns of B^T are copied, so many at a time that they stay in the second-level cache, half of it, with what passes. */
APART void MICRO(chunks)(MICRO(job) *job)
{
    MICRO(vector) copy[MICRO_COPY_BYTES / sizeof(MICRO(vector))];
    size_t half = dagi_second_cache() / 2, bytes = half > 0 && half < sizeof(copy) ? half : sizeof(copy);
    int most = (int)(bytes / sizeof(elem_t)) / job->k / LANES * LANES;
    most = most > LANES ? most : LANES;
    int parts = (job->n + most - 1) / most, n = job->n;
    int width = ((n + parts - 1) / parts + LANES - 1) / LANES * LANES;
    job->copy = (elem_t *)copy;
    for (job->from = 0; job->from < n; job->from = job->end) {
        job->end = n - job->from < width ? n : job->from + width;
        job->taken = job->from;
        MICRO(slice)(job);
    }
}
#undef MICRO_SOON
#undef MICRO_LINE
