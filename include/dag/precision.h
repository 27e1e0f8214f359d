/**
 * @file precision.h
 * Selects the element type of the text that follows. To be included with DAG_PRECISION defined
 * to one of the letters s, d, c, z; has no include guard, because one translation unit includes
 * it once per precision, at file or at function scope. It declares nothing: everything is a
 * macro, and `#include <dag/precision_undef.h>` takes all of it back, DAG_PRECISION included.
 *
 *     #define DAG_PRECISION z
 *     #include <dag/precision.h>
 *     ... code over elem_t ...
 *     #include <dag/precision_undef.h>
 *
 * Defined here, for code that knows no more than "an element":
 *
 * | macro         | meaning                                                        |
 * |---------------|----------------------------------------------------------------|
 * | elem_t        | type of an element                                             |
 * | real_t        | type of its absolute value                                     |
 * | CONJ(x)       | complex conjugate; x itself in s and d                         |
 * | FN(op)        | kernel of this precision: FN(gemm) is dag_tile_zgemm           |
 * | DAG_PREC      | the dag_precision value                                        |
 * | DAG_COMPLEX   | 1 in c and z, else 0; usable in #if                            |
 * | DAG_REAL(x)   | real part, a real_t                                            |
 * | DAG_IMAG(x)   | imaginary part, a real_t                                       |
 * | DAG_ABS(x)    | absolute value, a real_t                                       |
 * | DAG_ELEM(r,i) | an element from its real and imaginary part (ignored in s, d)  |
 * | DAG_SCALAR(z) | an element from a dag_dcomplex; in s and d its real part         |
 * | DAG_EPS       | unit roundoff times two: FLT_EPSILON or DBL_EPSILON            |
 *
 * The compiler's builtins are used because <complex.h> would define the macro I.
 */
#ifndef DAG_TYPES_H
#error "include <dag/types.h>, at file scope, before <dag/precision.h>"
#endif
#ifndef DAG_PRECISION
#error "define DAG_PRECISION to s, d, c or z before including <dag/precision.h>"
#endif
#ifdef DAG_PREC
#error "<dag/precision.h> is active: include <dag/precision_undef.h> before selecting another"
#endif

#define DAG_PRECISION_IS_s 1
#define DAG_PRECISION_IS_d 2
#define DAG_PRECISION_IS_c 3
#define DAG_PRECISION_IS_z 4
#define DAG_PRECISION_CAT2(a, b) a##b
#define DAG_PRECISION_CAT(a, b) DAG_PRECISION_CAT2(a, b)
#define DAG_PRECISION_NUMBER DAG_PRECISION_CAT(DAG_PRECISION_IS_, DAG_PRECISION)

#if DAG_PRECISION_NUMBER == 1
#define elem_t float
#define real_t float
#define FN(op) dag_tile_s##op
#define DAG_PREC DAG_S
#define DAG_COMPLEX 0
#elif DAG_PRECISION_NUMBER == 2
#define elem_t double
#define real_t double
#define FN(op) dag_tile_d##op
#define DAG_PREC DAG_D
#define DAG_COMPLEX 0
#elif DAG_PRECISION_NUMBER == 3
#define elem_t dag_scomplex
#define real_t float
#define FN(op) dag_tile_c##op
#define DAG_PREC DAG_C
#define DAG_COMPLEX 1
#elif DAG_PRECISION_NUMBER == 4
#define elem_t dag_dcomplex
#define real_t double
#define FN(op) dag_tile_z##op
#define DAG_PREC DAG_Z
#define DAG_COMPLEX 1
#else
#error "DAG_PRECISION must be one of the letters s, d, c, z"
#endif

#if DAG_PRECISION_NUMBER == 1 || DAG_PRECISION_NUMBER == 3
#define DAG_EPS __FLT_EPSILON__
#else
#define DAG_EPS __DBL_EPSILON__
#endif

#if DAG_COMPLEX && defined(__cplusplus)
#define CONJ(x) std::conj(x)
#define DAG_REAL(x) std::real(x)
#define DAG_IMAG(x) std::imag(x)
#define DAG_ABS(x) std::abs(x)
#define DAG_ELEM(re, im) elem_t(re, im)
#elif DAG_PRECISION_NUMBER == 3
#define CONJ(x) __builtin_conjf(x)
#define DAG_REAL(x) __builtin_crealf(x)
#define DAG_IMAG(x) __builtin_cimagf(x)
#define DAG_ABS(x) __builtin_cabsf(x)
#define DAG_ELEM(re, im) __builtin_complex((float)(re), (float)(im))
#elif DAG_PRECISION_NUMBER == 4
#define CONJ(x) __builtin_conj(x)
#define DAG_REAL(x) __builtin_creal(x)
#define DAG_IMAG(x) __builtin_cimag(x)
#define DAG_ABS(x) __builtin_cabs(x)
#define DAG_ELEM(re, im) __builtin_complex((double)(re), (double)(im))
#else
#define CONJ(x) (x)
#define DAG_REAL(x) (x)
#define DAG_IMAG(x) ((real_t)0)
#define DAG_ELEM(re, im) ((elem_t)(re))
#if DAG_PRECISION_NUMBER == 1
#define DAG_ABS(x) __builtin_fabsf(x)
#else
#define DAG_ABS(x) __builtin_fabs(x)
#endif
#endif

#ifdef __cplusplus
#define DAG_SCALAR(z) DAG_ELEM((z).real(), (z).imag())
#else
#define DAG_SCALAR(z) DAG_ELEM(__builtin_creal(z), __builtin_cimag(z))
#endif
