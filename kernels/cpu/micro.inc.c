/*
 * One element type (elem_t, s or d) for one instruction set. Besides the macros of precision.h:
 *
 *     MICRO_TARGET  attribute of the functions
 *     MICRO_BYTES   bytes of a vector register
 *     MICRO_COLS    columns of a register block
 *     MICRO(name)   name of a function of this instance
 *     MICRO_LANES(keep, s)  indices of a shuffle, see micro.c
 *     MICRO_MASK    which lanes of a vector; MICRO_FIRST(n) are the first n
 *     MICRO_LOAD(mask, at), MICRO_STORE(at, mask, v)  of these lanes; memory of others is not touched
 *
 * A register block is MICRO_ROWS = 3 vectors by MICRO_COLS columns: 24 accumulators out of 32
 * registers (AVX-512), or 12 out of 16 (AVX2).
 */
#define LANES ((int)(MICRO_BYTES / sizeof(elem_t)))
#define MICRO_ROWS (3 * LANES)
/* Inner dimension of one pass: what packed edges have room for. */
#define MICRO_DEPTH 256
/* Bytes of operands that are neither copied nor fetched: any second-level cache holds them. With AVX2 (Zen 3) products of
 * order 20, 50 and 80 take .8, .86 and .89 of the time with copies where they are in a cache; from memory, whose lines copies
 * fetch, order 40 takes .82, 52 .96 and 64 1.4. Complex ones would else be the library's, which
 * fetches nothing: from memory order 24 takes .82 of its time in z, 48 .99. */
#define MICRO_NEAR ((size_t)(MICRO_COLS == 8 ? 256 : 64) << 10)
#define MICRO_NEAR_PAIRS ((size_t)(MICRO_COLS == 8 ? 256 : 128) << 10)

/* Bytes of copies of B, 0 where it is read as it is. With few registers a block takes so much from the
 * first-level cache that conflicts there and the pages of large leading dimensions are not hidden. Copies of
 * B pay from so many rows of A on, those of A from so many columns of B. */
#define MICRO_COPY_BYTES (MICRO_COLS == 8 ? 0 : 256 << 10)
/* Rows of B ahead in C - A B^T: panels of A pass through the first-level cache, B comes from the second one again for each,
 * and strides above 2 KiB are not foreseen there. 0: B is copied. Operands that the second-level cache has need that from
 * strides of so many bytes on: tiles of 144 make 78 GFlop/s without and 74 with it, of 192 70 and 71, of 264 63 and 69. */
#define MICRO_AHEAD (MICRO_COLS == 8 ? 24 : 0)
#define MICRO_STRIDE 1536
/* Whether products fetch what the next task reads: with AVX-512 there is room for that beside what multiplies. */
#if MICRO_COLS == 8
#define MICRO_FAR 1
#else
#define MICRO_FAR 0
#endif
/* Vectors and columns that a block at an edge has at most: with AVX-512 there are those of 2 by 12 and 4 by 6, too, into
 * which small products are cut. */
#if MICRO_COLS == 8
#define MICRO_TALL 4
#define MICRO_WIDE 12
#else
#define MICRO_TALL 3
#define MICRO_WIDE MICRO_COLS
#endif
#define MICRO_COPY_ROWS 60
#define MICRO_COPY_COLS 24
/* Largest order of a triangle that is not halved; with AVX-512, which does not copy it, none is. */
#define MICRO_SOLVE_LEAF (MICRO_COLS == 8 ? MICRO_MAX : 128)

typedef elem_t MICRO(vector) __attribute__((vector_size(MICRO_BYTES), may_alias));
/* The same at any address. */
typedef elem_t MICRO(loose)
    __attribute__((vector_size(MICRO_BYTES), may_alias, aligned(sizeof(elem_t))));

/* A block of accumulators; lives in registers once the loops over it are unrolled. */
typedef struct MICRO(block) {
    MICRO(vector) v[MICRO_COLS][3];
} MICRO(block);

/* What to fetch while a block is computed: one line of a and b per index of the inner dimension, nothing where `a` is
 * NULL; and one of the next task, from `far` on, at every second index. */
typedef struct MICRO(ahead) {
    const elem_t *a, *b;
    ptrdiff_t a_step, b_step;
    const char *far;
    ptrdiff_t far_step;
} MICRO(ahead);

#define INLINE static inline __attribute__((always_inline)) MICRO_TARGET
/* Never inlined: functions with large buffers, so that recursion does not multiply them, and loops that
 * are to have all registers. */
#define APART static __attribute__((noinline)) MICRO_TARGET
#define EACH_COL(j) _Pragma("GCC unroll 8") for (int j = 0; j < MICRO_COLS; j++)
#define EACH_EDGE_COL(j) _Pragma("GCC unroll 12") for (int j = 0; j < cols; j++)
#define EACH_VEC(i) _Pragma("GCC unroll 4") for (int i = 0; i < vecs; i++)

#include "cpu/micro_block.inc.c"

/* ---- edges ------------------------------------------------------------------------------- */

/* acc += A B for `cols` columns, of the last vector only the lanes in `mask`, or all (`whole`). */
INLINE void MICRO(edge_product)(int vecs, int cols, bool whole, MICRO_MASK mask, ptrdiff_t k, const elem_t *A,
                                ptrdiff_t lda, const elem_t *B, ptrdiff_t b_row, ptrdiff_t b_col,
                                MICRO(vector) acc[MICRO_WIDE][MICRO_TALL])
{
    for (ptrdiff_t p = 0; p < k; p++) {
        MICRO(vector) a[MICRO_TALL];
        EACH_VEC(i)
            a[i] = whole || i < vecs - 1 ? *(const MICRO(loose) *)(A + i * LANES)
                                         : (MICRO(vector))MICRO_LOAD(mask, A + i * LANES);
        EACH_EDGE_COL(j) {
            elem_t b = B[j * b_row];
            EACH_VEC(i)
                acc[j][i] += a[i] * b;
        }
        A += lda;
        B += b_col;
    }
}

/* A block to C, of the last vector only the lanes in `mask`, or all (`whole`). */
INLINE void MICRO(put)(int vecs, int cols, bool whole, MICRO_MASK mask, MICRO(vector) block[][MICRO_TALL], elem_t *C,
                       ptrdiff_t ldc)
{
    EACH_EDGE_COL(j)
        EACH_VEC(i) {
            elem_t *c = C + i * LANES + j * ldc;
            if (whole || i < vecs - 1)
                *(MICRO(loose) *)c = block[j][i];
            else
                MICRO_STORE(c, mask, block[j][i]);
        }
}

/* A block at an edge. A load with a mask takes a port that multiplies: of the first `open` columns of A what follows the
 * rows may be read, too. Nothing is fetched ahead: for a whole block that is near this is the better way. */
INLINE void MICRO(edge)(int vecs, int cols, bool whole, MICRO_MASK mask, ptrdiff_t open, ptrdiff_t k, elem_t alpha,
                        const elem_t *A, ptrdiff_t lda, const elem_t *B, ptrdiff_t b_row,
                        ptrdiff_t b_col, bool fresh, elem_t *C, ptrdiff_t ldc)
{
    MICRO(vector) acc[MICRO_WIDE][MICRO_TALL];
    EACH_EDGE_COL(j)
        EACH_VEC(i)
            acc[j][i] = (MICRO(vector)){0};
    MICRO(edge_product)(vecs, cols, true, mask, whole ? k : open, A, lda, B, b_row, b_col, acc);
    if (!whole)
        MICRO(edge_product)(vecs, cols, false, mask, k - open, A + open * lda, lda, B + open * b_col, b_row, b_col, acc);
    if (fresh && alpha != 1)
        EACH_EDGE_COL(j)
            EACH_VEC(i)
                acc[j][i] *= alpha;
    /* All of C is read before any is written. A load that touches the bytes of a masked store waits for that store, even
     * for bytes that the mask leaves alone, and the next column begins within them. */
    EACH_EDGE_COL(j)
        EACH_VEC(i) {
            const elem_t *c = C + i * LANES + j * ldc;
            if (!fresh)
                acc[j][i] = alpha * acc[j][i] + (whole || i < vecs - 1 ? *(const MICRO(loose) *)c
                                                                       : (MICRO(vector))MICRO_LOAD(mask, c));
        }
    MICRO(put)(vecs, cols, whole, mask, acc, C, ldc);
}

#define MICRO_EDGE(name, vecs, cols, whole, fresh)                                                 \
    static MICRO_TARGET void MICRO(name##_##vecs##_##cols)(                                        \
        MICRO_MASK mask, ptrdiff_t open, ptrdiff_t k, elem_t alpha, const elem_t *A, ptrdiff_t lda, \
        const elem_t *B, ptrdiff_t b_row, ptrdiff_t b_col, elem_t *C, ptrdiff_t ldc)               \
    {                                                                                              \
        MICRO(edge)(vecs, cols, whole, mask, open, k, alpha, A, lda, B, b_row, b_col, fresh, C, ldc);    \
    }
#define MICRO_EDGES(vecs, cols)                                                                    \
    MICRO_EDGE(edge, vecs, cols, false, false) MICRO_EDGE(whole, vecs, cols, true, false)          \
    MICRO_EDGE(fresh_edge, vecs, cols, false, true) MICRO_EDGE(fresh_whole, vecs, cols, true, true)
#define EDGES(vecs, cols)                                                                          \
    [vecs - 1][cols - 1] = {{MICRO(edge_##vecs##_##cols), MICRO(whole_##vecs##_##cols)},           \
                            {MICRO(fresh_edge_##vecs##_##cols), MICRO(fresh_whole_##vecs##_##cols)}},
#if MICRO_COLS == 8
#define MICRO_EDGES_MADE(edges)                                                                    \
    edges(1, 1) edges(1, 2) edges(1, 3) edges(1, 4) edges(1, 5) edges(1, 6) edges(1, 7) edges(1, 8) \
    edges(2, 1) edges(2, 2) edges(2, 3) edges(2, 4) edges(2, 5) edges(2, 6) edges(2, 7) edges(2, 8) \
    edges(2, 9) edges(2, 10) edges(2, 11) edges(2, 12)                                             \
    edges(3, 1) edges(3, 2) edges(3, 3) edges(3, 4) edges(3, 5) edges(3, 6) edges(3, 7) edges(3, 8) \
    edges(4, 1) edges(4, 2) edges(4, 3) edges(4, 4) edges(4, 5) edges(4, 6)
#else
#define MICRO_EDGES_MADE(edges)                                                                    \
    edges(1, 1) edges(1, 2) edges(1, 3) edges(1, 4) edges(2, 1) edges(2, 2) edges(2, 3) edges(2, 4) \
    edges(3, 1) edges(3, 2) edges(3, 3) edges(3, 4)
#endif
MICRO_EDGES_MADE(MICRO_EDGES)

typedef void MICRO(edge_block)(MICRO_MASK mask, ptrdiff_t open, ptrdiff_t k, elem_t alpha, const elem_t *A, ptrdiff_t lda,
                               const elem_t *B, ptrdiff_t b_row, ptrdiff_t b_col, elem_t *C, ptrdiff_t ldc);
/* By vectors, columns, each less one, whether C is not read, and whether all vectors are whole: what is asked within a
 * small block costs it up to 5 %. */
static MICRO(edge_block) *const MICRO(edges)[MICRO_TALL][MICRO_WIDE][2][2] = {MICRO_EDGES_MADE(EDGES)};
#undef MICRO_EDGE
#undef MICRO_EDGES
#undef MICRO_EDGES_MADE
#undef EDGES

#include "cpu/micro_pack.inc.c"

/* Adds a block kept aside to C: of rows x cols, what lies in the region when the block begins
 * `shift` rows below the column it begins with. */
static void MICRO(add_part)(dag_region region, int rows, int cols, int shift, const elem_t *block,
                            elem_t *C, ptrdiff_t ldc)
{
    for (int j = 0; j < cols; j++) {
        int first = region == DAG_REGION_LOWER && j > shift ? j - shift : 0;
        int end = region == DAG_REGION_UPPER && j - shift + 1 < rows ? j - shift + 1 : rows;
        for (int i = first; i < end; i++)
            C[i + j * ldc] += block[i + j * MICRO_ROWS];
    }
}

#include "cpu/micro_columns.inc.c"

/* ---- products ---------------------------------------------------------------------------- */

/* Element (i, p) of an operand of an update is at[i * row + p * col], p being the inner index. */
typedef struct MICRO(operand) {
    const elem_t *at;
    ptrdiff_t row, col;
} MICRO(operand);

/* An update C += alpha A B^T, only in a region of C; up to MICRO_DEPTH of the inner dimension. */
typedef struct MICRO(job) {
    dag_region region; /* FULL, LOWER or UPPER */
    bool fresh;        /* C is what is added, all of it: what was there is not read */
    bool copies;       /* rows of A are packed even where they are contiguous */
    bool near;         /* all fits in a second-level cache: nothing is fetched ahead */
    bool fetched;      /* A and B were fetched into that by the task before: no more of them is */
    dagi_ahead *ahead; /* what to fetch for the next task, or NULL */
    int m, n, k;
    elem_t alpha;
    MICRO(operand) A, B;
    elem_t *copy; /* of the columns of B^T from `from` to `end`, LANES side by side, or NULL */
    int from, end, taken; /* those before `taken` are there */
    elem_t *a_copy;       /* of the rows of the panel, or where it will be, or NULL */
    int a_wait;           /* vectors of rows whose first block is yet to leave that copy; 0 when it is there */
    elem_t *C;
    ptrdiff_t ldc;
} MICRO(job);

/* Columns of the next block. One of few columns has too few sums to hide how long each takes: with AVX-512, where
 * columns are not copied in groups, the last two then share what there is. */
static int MICRO(width)(int left)
{
    if (MICRO_COPY_BYTES == 0 && left > MICRO_COLS && left < MICRO_COLS + MICRO_COLS / 2)
        return (left + 1) / 2;
    return left < MICRO_COLS ? left : MICRO_COLS;
}

#if MICRO_COPY_BYTES > 0
#include "cpu/micro_copied.inc.c"
#endif

/* A block at row i and column j: `rows` of the rows of A, and `cols` columns; to C, or aside. */
static MICRO_TARGET void MICRO(part)(MICRO(job) *job, int i, int j, int rows, int cols, const elem_t *A, ptrdiff_t lda,
                                     MICRO(ahead) next, elem_t *C, ptrdiff_t ldc)
{
    int vecs = (rows + LANES - 1) / LANES;
    bool whole = cols == MICRO_COLS && rows % LANES == 0 && !job->near;
    MICRO(operand) B = {job->B.at + j * job->B.row, job->B.row, job->B.col};
#if MICRO_COPY_BYTES > 0
    if (MICRO(copies_made)(job, j, vecs, whole, A, lda, &B, C, ldc))
        return;
#endif
    next.far = NULL;
    next.far_step = 0;
    if (job->ahead != NULL)
        next.far = dagi_ahead_take(job->ahead, job->k / DAGI_AHEAD_EVERY, &next.far_step);
    /* In the first panel B may be far, and the next columns are fetched. */
    bool is_near = MICRO_AHEAD > 0 && job->B.row == 1 && (i > 0 || job->fetched);
    next.b = next.b_step == 0 ? A : is_near ? B.at + MICRO_AHEAD * B.col : B.at + MICRO_COLS * B.row;
    if (whole)
        MICRO(multiply)(vecs, job->k, job->alpha, A, lda, B.at, B.row, B.col, next, job->fresh, C, ldc);
    else
        MICRO(edges)[vecs - 1][cols - 1][job->fresh][rows % LANES == 0](
            MICRO_FIRST(rows - (vecs - 1) * LANES), 0, job->k, job->alpha, A, lda, B.at, B.row, B.col, C, ldc);
}

/* Up to MICRO_ROWS rows of C from row i on; A is where they are read from, by columns. */
static MICRO_TARGET void MICRO(panel)(MICRO(job) *job, int i, int rows, const elem_t *A,
                                      ptrdiff_t lda, MICRO(ahead) next)
{
    int first = job->region == DAG_REGION_UPPER && i > job->from ? i - i % MICRO_COLS : job->from;
    int end = job->region == DAG_REGION_LOWER && i + rows < job->end ? i + rows : job->end;
    const elem_t *next_a = next.a;
    for (int j = first, cols; j < end; j += cols) {
#if MICRO_COPY_BYTES > 0
        cols = MICRO(run)(job, i, rows, j, &A, &lda);
        if (cols > 0)
            continue;
#endif
        cols = MICRO(width)(job->end - j);
        /* Vectors above the diagonal of a lower triangle are not computed. */
        int skip = job->region == DAG_REGION_LOWER && j > i ? (j - i) / LANES : 0;
        int top = i + skip * LANES;
        bool inside = job->region == DAG_REGION_FULL ||
                      (job->region == DAG_REGION_LOWER ? j + cols - 1 <= top : i + rows - 1 <= j);
        elem_t *c = job->C + top + j * job->ldc;
        MICRO(vector) aside[MICRO_COLS * 3];
        if (!inside)
            memset(aside, 0, sizeof(aside));
        next.a = next_a == NULL ? NULL : next_a + j / MICRO_COLS % 3 * LANES;
        MICRO(part)(job, i, j, rows - skip * LANES, cols, A + skip * LANES, lda, next, inside ? c : (elem_t *)aside,
                    inside ? job->ldc : MICRO_ROWS);
        if (!inside)
            MICRO(add_part)(job->region, rows - skip * LANES, cols, top - j, (elem_t *)aside, c,
                            job->ldc);
    }
}

/* Rows of the next panel. One of a single vector, of few columns, has too few sums to hide how long each takes:
 * the last two then share what there is. With AVX-512 that costs more than it gains where rows do not lie side by side
 * and are transposed. */
static int MICRO(height)(int left, bool lies)
{
    if ((MICRO_COLS < 8 || lies) && left > MICRO_ROWS && left <= MICRO_ROWS + LANES)
        return 2 * LANES;
    return left < MICRO_ROWS ? left : MICRO_ROWS;
}

/* Whether a panel at row i has anything in the columns of the job. */
static bool MICRO(meets)(const MICRO(job) *job, int i, int rows)
{
    return job->region == DAG_REGION_FULL ||
           (job->region == DAG_REGION_LOWER ? i + rows > job->from : i < job->end);
}

/* Rows of A that are not contiguous are packed, panel by panel, and so are others where that pays. */
APART void MICRO(slice)(MICRO(job) *job)
{
    MICRO(vector) packed[MICRO_DEPTH * 3];
    for (int i = 0, rows; i < job->m; i += rows) {
        const elem_t *a = job->A.at + i * job->A.row;
        ptrdiff_t step = job->A.col;
        rows = MICRO(height)(job->m - i, job->A.row == 1);
        if (!MICRO(meets)(job, i, rows))
            continue;
        bool rows_of_B = MICRO_AHEAD > 0 && job->B.row == 1;
        MICRO(ahead) next = {.a = a, .b_step = (i == 0 || rows_of_B) && job->copy == NULL ? job->B.col : 0};
        if (i + rows < job->m && job->A.row == 1) {
            next.a = a + rows;
            next.a_step = step;
        }
        bool lies = job->A.row == 1, taken = lies && job->copies && rows % LANES == 0; /* by the first block */
        job->a_copy = job->copies ? (elem_t *)packed : NULL;
        job->a_wait = taken ? rows / LANES : 0;
        if (job->copies)
            next.a = NULL;
        if (!taken && (!lies || job->copies)) {
            int padded = (rows + LANES - 1) / LANES * LANES;
            MICRO(pack)(rows, padded, job->k, a, job->A.row, job->A.col, (elem_t *)packed);
            a = (const elem_t *)packed;
            step = padded;
        }
        if (job->fetched && !(rows_of_B && job->B.col * (ptrdiff_t)sizeof(elem_t) >= MICRO_STRIDE))
            next.a = NULL;
        MICRO(panel)(job, i, rows, a, step, next);
    }
}

/* Asks what comes next. */
static void MICRO(look_ahead)(MICRO(job) *job)
{
    size_t m = (size_t)job->m, n = (size_t)job->n, k = (size_t)job->k;
    if (!MICRO_FAR || m * n * k < DAG_AHEAD_LEAST)
        return;
    double slots = (double)(m * n * k) / (MICRO_ROWS * MICRO_COLS * DAGI_AHEAD_EVERY);
    if (job->region != DAG_REGION_FULL)
        slots /= 2;
    dagi_ahead_use use = {job->A.at, job->B.at, job->C, (m + n) * k * sizeof(elem_t), n * k * sizeof(elem_t), slots};
    job->ahead = dagi_ahead_begin(&use, &job->fetched);
}

#include "cpu/micro_small.inc.c"

static MICRO_TARGET void MICRO(update)(MICRO(job) job)
{
    int k = job.k, slices = (k + MICRO_DEPTH - 1) / MICRO_DEPTH;
    job.near = MICRO(bytes)(job.m, job.n, k) <= MICRO_NEAR;
    job.copies = MICRO_COPY_BYTES > 0 && !job.near && job.n >= MICRO_COPY_COLS;
    MICRO(look_ahead)(&job);
    for (int s = 0, first = 0; s < slices; s++) {
        int end = (int)((int64_t)k * (s + 1) / slices);
        job.k = end - first;
        job.from = 0;
        job.end = job.n;
#if MICRO_COPY_BYTES > 0
        if (!job.near && job.m >= MICRO_COPY_ROWS)
            MICRO(chunks)(&job);
        else
#endif
            MICRO(slice)(&job);
        job.fresh = false;
        job.A.at += job.k * job.A.col;
        job.B.at += job.k * job.B.col;
        first = end;
    }
}

static MICRO_TARGET void MICRO(gemm)(bool transa, bool transb, int m, int n, int k, elem_t alpha,
                                     const elem_t *A, int lda, const elem_t *B, int ldb, bool fresh,
                                     elem_t *C, int ldc)
{
    bool dots = transa && !transb && n <= MICRO_NARROW && k >= 4 * LANES;
    bool slim = !transa && (n == 1 || (n <= MICRO(slim_most)(lda) && k >= 4 * LANES));
    for (int j = 0; fresh && (dots || slim || k == 0) && j < n; j++)
        memset(C + j * (ptrdiff_t)ldc, 0, (size_t)m * sizeof(elem_t));
    if (dots) {
        MICRO(dots)(m, n, k, alpha, A, lda, B, ldb, C, ldc);
        return;
    }
    if (slim) {
        MICRO(slim)(n, m, k, alpha, A, lda, B, transb ? ldb : 1, transb ? 1 : ldb, C, ldc);
        return;
    }
    MICRO(job) job = {.region = DAG_REGION_FULL, .fresh = fresh, .m = m, .n = n, .k = k, .alpha = alpha,
                      .A = {A, transa ? lda : 1, transa ? 1 : lda}, .B = {B, transb ? 1 : ldb, transb ? ldb : 1},
                      .C = C, .ldc = ldc};
    /* Not with more than one slice: columns that are multiplied in other company must round alike. */
    if (!transa && k > 0 && k <= MICRO_DEPTH && MICRO(bytes)(m, n, k) <= MICRO_NEAR) {
        MICRO(small)(&job);
        return;
    }
    MICRO(update)(job);
}

static MICRO_TARGET void MICRO(syrk)(bool lower, bool trans, int n, int k, elem_t alpha,
                                     const elem_t *A, int lda, elem_t *C, int ldc)
{
    MICRO(operand) both = {A, trans ? lda : 1, trans ? 1 : lda};
    MICRO(update)((MICRO(job)){.region = lower ? DAG_REGION_LOWER : DAG_REGION_UPPER, .m = n,
                               .n = n, .k = k, .alpha = alpha, .A = both, .B = both, .C = C,
                               .ldc = ldc});
}

#include "cpu/micro_solve.inc.c"
#include "cpu/micro_vector.inc.c"
#include "cpu/micro_pairs.inc.c"
#include "cpu/micro_pairs_product.inc.c"
#include "cpu/micro_pairs_lu.inc.c"
#include "cpu/micro_lu.inc.c"

static const MICRO_TYPE MICRO(table) = {MICRO(gemm),        MICRO(syrk),       MICRO(trsm),
                                        MICRO(trsv),        MICRO(trsv_pairs), MICRO(gemv_pairs), MICRO(gemm_pairs),
                                        MICRO(geqrt_pairs), MICRO(potrf_pairs), MICRO(getrf_pairs),
                                        MICRO(potrf),       MICRO(getrf),      MICRO(reflect)};

#undef LANES
#undef MICRO_ROWS
#undef MICRO_DEPTH
#undef MICRO_NEAR
#undef MICRO_NEAR_PAIRS
#undef MICRO_FAR
#undef MICRO_TALL
#undef MICRO_WIDE
#undef MICRO_SOLVE_LEAF
#undef MICRO_GROUP
#undef MICRO_NARROW
#undef MICRO_SLIM
#undef PAIR_COLS
#undef PAIR_GROUP
#undef PAIR_SUMS
#undef INLINE
#undef APART
#undef EACH_COL
#undef EACH_EDGE_COL
#undef EACH_VEC
