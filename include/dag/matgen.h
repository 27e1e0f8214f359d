/**
 * @file matgen.h
 * Test matrices whose elements are functions of their place: any rank makes any tile of any layout,
 * and a check can make the matrix again. Part of dag/la.h, which has the two plain random ones,
 * dag_plrnt() and dag_plghe().
 *
 * | kind       | order  | what                                                                    |
 * |------------|--------|-------------------------------------------------------------------------|
 * | random     | any    | uniform in [-0.5, 0.5), as dag_plrnt()                                  |
 * | svd        | any    | given singular values, between two random reflections                   |
 * | spd        | square | Hermitian, given eigenvalues, one random reflection on both sides       |
 * | hilbert    | any    | 1/(i+j-1): condition exp(3.5 n)                                         |
 * | lotkin     | any    | Hilbert with a first row of ones                                        |
 * | cauchy     | any    | 1/(i+j)                                                                 |
 * | parter     | any    | 1/(i-j+1/2): singular values near pi                                    |
 * | ris        | square | 0.5/(n-i-j+3/2): eigenvalues near +-pi/2                                |
 * | lehmer     | any    | min(i,j)/max(i,j), positive definite                                    |
 * | minij      | any    | min(i,j), positive definite                                             |
 * | moler      | any    | min(i,j)-2, i on the diagonal: positive definite, one tiny eigenvalue   |
 * | kms        | any    | 0.5^abs(i-j)                                                            |
 * | prolate    | any    | sin(pi (i-j)/2)/(pi (i-j)): a Toeplitz matrix, condition exp(2 n)       |
 * | fiedler    | any    | abs(i-j)                                                                |
 * | circulant  | square | 1 + (j-i mod n)                                                         |
 * | frank      | square | n+1-max(i,j) for j >= i-1: ill-conditioned eigenvalues                  |
 * | invhess    | any    | j for i >= j, else -i: the inverse is a Hessenberg matrix               |
 * | kahan      | any    | upper triangular, sin^(i-1) times 1 or -cos, of 1.2: rank out of sight  |
 * | triw       | any    | 1 on the diagonal, -1 above it: smallest singular value about 2^-n      |
 * | hadamard   | any    | (-1)^(bits that i-1 and j-1 have in common)                             |
 * | orthogonal | square | sqrt(2/(n+1)) sin(i j pi/(n+1))                                         |
 * | house      | square | one random Householder reflection                                       |
 * | demmel     | square | rows of 10^(14 (i-1)/n) times a perturbed identity                      |
 * | langou     | any    | random, columns n/4 .. n/2 scaled by 2^-53                              |
 * | wilkinson  | square | partial pivoting grows by 2^(n-1) (Wilkinson 1961)                      |
 * | gfpp       | square | the same with a growth of `cond` (Higham and Higham 1989)               |
 * | foster     | square | a Volterra equation on which partial pivoting grows exponentially (1994)|
 * | wright     | square | a two-point boundary value problem with that property (1993)            |
 *
 * i and j count from 1 in this table. Definitions: Higham, Accuracy and Stability of Numerical
 * Algorithms, chapters 9 and 28.
 */
#ifndef DAG_MATGEN_H
#define DAG_MATGEN_H

#include <dag/matrix.h>

DAG_C_BEGIN

/** How the singular values (eigenvalues) of svd and spd lie between 1 and 1/cond. */
typedef enum dag_spectrum {
    DAG_SPECTRUM_GEOMETRIC = 0,  /**< cond^(-k/(n-1)) */
    DAG_SPECTRUM_ARITHMETIC = 1, /**< equal distances */
    DAG_SPECTRUM_ONE_LARGE = 2,  /**< 1, and all others 1/cond */
    DAG_SPECTRUM_ONE_SMALL = 3   /**< all 1 but for the last, 1/cond */
} dag_spectrum;

/** The matrix to be made; zero the fields that do not matter. */
typedef struct dag_maker_desc {
    const char *kind; /**< a name of the table above */
    int64_t m, n;     /**< size of the matrix */
    int is_complex;   /**< 1: random numbers are complex; so must be the matrix */
    double cond;      /**< condition of svd and spd, growth of gfpp; 0 = 1e6; else >= 1 */
    dag_spectrum spectrum;
    int64_t seed;
} dag_maker_desc;

/** A maker of elements; opaque. */
typedef struct dag_maker dag_maker;

/**
 * Make a maker; not collective. Takes memory for some vectors of m + n numbers.
 * @param[out] maker  owned by the caller, dag_maker_free(); set only on success.
 * @return DAG_ERR_ARG for an unknown kind (dag_message() lists them), a size that is not square
 * where
 *         it has to be, cond < 1; DAG_ERR_NOMEM.
 */
dag_status dag_maker_new(dag_context *ctx, const dag_maker_desc *desc, dag_maker **maker);
/** NULL is allowed. */
void dag_maker_free(dag_maker *maker);

/** Element (i, j), counted from 0: its real and imaginary part. From any thread. */
void dag_maker_element(const dag_maker *maker, int64_t i, int64_t j, double part[2]);

/** Name of kind number `index`, counted from 0; NULL behind the last. */
const char *dag_maker_kind(int index);

/** Fill A, of the maker's size; of a matrix with uplo its tiles. Collective. */
dag_status dag_maker_fill(dag_context *ctx, const dag_maker *maker, dag_matrix *A);

/** dag_maker_new() for the size and type of A, dag_maker_fill() and dag_maker_free() in one; cond
 *  is that of the description, the spectrum geometric. Collective. */
dag_status dag_matgen(dag_context *ctx, const char *kind, double cond, int64_t seed,
                      dag_matrix *A);

/** The matrix of a maker as a dag_element_source (dag/la.h): each rank gives the elements of its
 *  tiles of `like`, whose content does not matter; `each` is dag_maker_each(), `arg` one of these.
 *  */
typedef struct dag_maker_source {
    const dag_maker *maker;
    dag_matrix *like; /**< of the maker's size, DAG_GENERAL */
} dag_maker_source;
dag_status dag_maker_each(void *arg,
                          void (*add)(void *to, int64_t i, int64_t j, double re, double im),
                          void *to);

DAG_C_END
#endif
