/*
 * Register-blocked products, solves and factorisations that read tiles where they lie.
 *
 * A library packs its operands at every call, which costs a tile kernel 5 to 15 % on warm data and
 * up to a third on cold. With AVX-512 nothing is packed here: in C - A B^T and C - A B the kernel needs,
 * for each index of the inner dimension, consecutive elements of a column of A and single elements of
 * B, and both are there as they are. What comes next is prefetched while this is multiplied, also what the next
 * task reads (ahead.h).
 * Only where A is transposed, panels of it are copied, by transposing squares in registers; where B
 * is narrow, columns of both are multiplied as they are, and the lanes added up at the end.
 * With AVX2 a block has a quarter of the elements, and needs twice the bytes from the first-level cache per
 * operation: there panels of A and columns of B are copied but in the smallest products, by the blocks that read
 * them first (micro_copied.inc.c), which takes products of order 192 on Zen 3 from .59 of OpenBLAS's rate to 1.04.
 *
 * There is a table per element type (s, d) and instruction set; dagi_micro_d() is the one for this
 * processor, NULL where there is none (other processors, c and z): then the library is called.
 *
 * But for copies of B and of triangles with AVX2, and for solves there, which halve triangles above order 128, nothing
 * is blocked for the second-level cache: MICRO_MAX is the
 * largest dimension for which these are meant. One that only the rows of C, or the inner index, run
 * through may be any, as in panels.
 */
#ifndef DAG_KERNELS_MICRO_H
#define DAG_KERNELS_MICRO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MICRO_MAX = 512 };

/* Columns that are reduced together by reflectors, or by pivots. */
enum { MICRO_LEAF = 8 };

/* Complex columns that are factored together, and elements, in columns of whole vectors. */
enum { MICRO_QR_COLS = 24, MICRO_QR_ROOM = 64 * MICRO_QR_COLS };
/* Order of a complex triangle that is factored as one. */
enum { MICRO_POTRF_PAIRS = 32 };
/* Complex columns that LU takes together, and elements, in columns of whole vectors and four more of these. */
enum { MICRO_LU_COLS = 32, MICRO_LU_ROOM = 64 * (MICRO_LU_COLS + 4) };

#define MICRO_TABLE(p, elem)                                                                       \
    /* C := C + alpha op(A) op(B), or without C (fresh), of complex elements, pairs of `elem`; C is \
     * m by n, k the inner dimension. op(A) is A, A^T (trans), or A^H (conj, too); element (i, j) of \
     * op(B) is B[2 * (i * b_row + j * b_col)], or its conjugate (conj_b). */                      \
    typedef struct dagi_pairs_##p {                                                                \
        int m, n, k;                                                                               \
        bool trans, conj, conj_b, fresh;                                                           \
        elem alpha[2];                                                                             \
        const elem *A, *B;                                                                         \
        ptrdiff_t lda, b_row, b_col;                                                               \
        elem *C;                                                                                   \
        ptrdiff_t ldc;                                                                             \
    } dagi_pairs_##p;                                                                              \
    typedef struct dagi_micro_##p##_table {                                                        \
        /* C := C + alpha op(A) op(B), or without C (fresh); C is m by n, k the inner dimension. */ \
        void (*gemm)(bool transa, bool transb, int m, int n, int k, elem alpha, const elem *A,     \
                     int lda, const elem *B, int ldb, bool fresh, elem *C, int ldc);               \
        /* A triangle of C := C + alpha A A^T, or A^T A when trans; C is n by n. */                \
        void (*syrk)(bool lower, bool trans, int n, int k, elem alpha, const elem *A, int lda,     \
                     elem *C, int ldc);                                                            \
        /* B := op(A)^-1 B (left) or B op(A)^-1 of order MICRO_MAX or less; B is m by n. */        \
        void (*trsm)(bool left, bool lower, bool trans, bool unit, int m, int n, const elem *A,    \
                     int lda, elem *B, int ldb);                                                   \
        /* x := op(A)^-1 x of order MICRO_MAX or less. */                                          \
        void (*trsv)(bool lower, bool trans, bool unit, int m, const elem *A, int lda, elem *x);   \
        /* The same of complex elements, pairs of `elem`; op(A) is A, A^T (trans), or A^H (conj, too). */ \
        void (*trsv_pairs)(bool lower, bool trans, bool conj, bool unit, int m, const elem *A,     \
                           int lda, elem *x);                                                      \
        /* y := y + alpha op(A) x of such elements; y has m of them, x has k, alpha is one. */      \
        void (*gemv_pairs)(bool trans, bool conj, int m, int k, const elem *alpha, const elem *A,  \
                           int lda, const elem *x, elem *y);                                       \
        /* A product that a second-level cache holds; false, and nothing done: it is larger. */    \
        bool (*gemm_pairs)(const dagi_pairs_##p *product);                                         \
        /* QR of m by n complex elements, pairs of `elem`, and the upper triangle of T, as geqrt   \
         * has them. False, and nothing changed: there are more columns than MICRO_QR_COLS or more \
         * elements than MICRO_QR_ROOM, or squares of a column are not between the last two. */    \
        bool (*geqrt_pairs)(int m, int n, elem *A, int lda, elem *T, int ldt, elem least,          \
                            elem most);                                                            \
        /* Cholesky factor of n by n such elements, n <= MICRO_POTRF_PAIRS, in place; LAPACK's info. */ \
        int (*potrf_pairs)(bool lower, int n, elem *A, int lda);                                   \
        /* LU of m by n such elements with row exchanges, in place, pivots counted from 0. False,  \
         * and A is as it was: there are more columns than MICRO_LU_COLS or more elements than     \
         * MICRO_LU_ROOM, or a pivot is smaller than `least`, by the sizes of its parts, or no number. */ \
        bool (*getrf_pairs)(int m, int n, elem *A, int lda, elem least, int64_t *pivot);           \
        /* Cholesky factor in place; LAPACK's info. */                                             \
        int (*potrf)(bool lower, int n, elem *A, int lda);                                         \
        /* LU of m by n elements, n <= MICRO_LEAF, with row exchanges, in place, pivots counted     \
         * from 0; LAPACK's info. A pivot smaller than `least` has no reciprocal. */               \
        int (*getrf)(int m, int n, elem *A, int lda, elem least, int64_t *pivot);                  \
        /* One pass over the columns x of X, m by MICRO_LEAF. For j >= 0 column j becomes           \
         * v = scale x, and w[c] v is subtracted from the columns c > j. Then, for j + 1 <          \
         * MICRO_LEAF, dots[c] is the scalar product of columns j + 1 and c, for all c. */          \
        void (*reflect)(int m, int j, elem scale, const elem *w, elem *X, int ldx, elem *dots);    \
    } dagi_micro_##p##_table;                                                                      \
    const dagi_micro_##p##_table *dagi_micro_##p(void);
MICRO_TABLE(s, float)
MICRO_TABLE(d, double)
#undef MICRO_TABLE

/* Keeps to instruction sets up to a level: 0 none, so that the library is called, 1 AVX2, 2
 * AVX-512. Returns the level then used. For tests and benchmarks, before any kernel runs. */
int dagi_micro_limit(int level);
/* The level in use. */
int dagi_micro_level(void);

#endif
