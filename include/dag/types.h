/**
 * @file types.h
 * Element types, precisions and the small enumerations shared by matrices, kernels and
 * generated code. Usable from C11 and C++17. Declares no function of the library, and does not
 * include <complex.h>, so that the name `I` stays free for algorithms.
 */
#ifndef DAG_TYPES_H
#define DAG_TYPES_H

#include <dag/device_kinds.h>
#include <dag/linkage.h>

#ifdef __cplusplus
#include <complex>
#include <cstddef>
#include <cstdint>
/** Single precision complex: two floats, real part first, in C and in C++. */
typedef std::complex<float> dag_scomplex;
/** Double precision complex: two doubles, real part first, in C and in C++. */
typedef std::complex<double> dag_dcomplex;
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
/** Single precision complex: two floats, real part first, in C and in C++. */
typedef float _Complex dag_scomplex;
/** Double precision complex: two doubles, real part first, in C and in C++. */
typedef double _Complex dag_dcomplex;
#endif

/** The four element types, named as in LAPACK. The values index tables: 0 to 3. */
typedef enum dag_precision {
    DAG_S = 0, /**< float */
    DAG_D = 1, /**< double */
    DAG_C = 2, /**< dag_scomplex */
    DAG_Z = 3  /**< dag_dcomplex */
} dag_precision;

/** Number of precisions: the size of a table indexed by dag_precision. */
#define DAG_PRECISION_COUNT 4

/** Which triangle of a symmetric, Hermitian or triangular matrix is stored (values of CBLAS);
 *  GENERAL: all of it, where a whole matrix is meant. */
typedef enum dag_uplo { DAG_UPPER = 121, DAG_LOWER = 122, DAG_GENERAL = 123 } dag_uplo;

/** Operation applied to a matrix argument (values of CBLAS). */
typedef enum dag_trans { DAG_NO_TRANS = 111, DAG_TRANS = 112, DAG_CONJ_TRANS = 113 } dag_trans;

/** Side from which a triangular or Hermitian matrix is applied (values of CBLAS). */
typedef enum dag_side { DAG_LEFT = 141, DAG_RIGHT = 142 } dag_side;

/** Whether the diagonal of a triangular matrix is one and not referenced (values of CBLAS). */
typedef enum dag_diag { DAG_NON_UNIT = 131, DAG_UNIT = 132 } dag_diag;

/** Norms of a matrix. */
typedef enum dag_norm {
    DAG_NORM_MAX = 0, /**< largest absolute value of an element (not a consistent norm) */
    DAG_NORM_ONE = 1, /**< largest column sum of absolute values */
    DAG_NORM_INF = 2, /**< largest row sum of absolute values */
    DAG_NORM_FRO = 3  /**< square root of the sum of squares */
} dag_norm;

/**
 * Part of a tile, as a set of three disjoint pieces: below the diagonal (1), the diagonal (2),
 * above it (4). The diagonal is that of the tile: element (i, i). Two regions are disjoint
 * exactly if `(a & b) == 0`; `a | b` is their union.
 */
typedef enum dag_region {
    DAG_REGION_NONE = 0,
    DAG_REGION_LOWER_STRICT = 1,
    DAG_REGION_DIAGONAL = 2,
    DAG_REGION_LOWER = 3,
    DAG_REGION_UPPER_STRICT = 4,
    DAG_REGION_UPPER = 6,
    DAG_REGION_FULL = 7
} dag_region;

#define DAG_DEVICE_KIND_(NAME, number, name, file, kernels) DAG_DEVICE_##NAME = number,
/** What kind of device executes a codelet (dag/device_kinds.h). The values index tables. */
typedef enum dag_device_kind {
    DAG_DEVICE_KINDS(DAG_DEVICE_KIND_)
    /** Number of device kinds: the size of a table indexed by dag_device_kind. */
    DAG_DEVICE_KIND_COUNT,
    DAG_HOST = DAG_DEVICE_CPU
} dag_device_kind;
#undef DAG_DEVICE_KIND_

/** True for DAG_C and DAG_Z. */
static inline bool dag_precision_is_complex(dag_precision p)
{
    return p == DAG_C || p == DAG_Z;
}

/** The precision of the absolute values: DAG_S for DAG_S and DAG_C, DAG_D for the others. */
static inline dag_precision dag_precision_real(dag_precision p)
{
    return p == DAG_S || p == DAG_C ? DAG_S : DAG_D;
}

/** Bytes of one element. */
static inline size_t dag_precision_size(dag_precision p)
{
    size_t real = dag_precision_real(p) == DAG_S ? sizeof(float) : sizeof(double);
    return dag_precision_is_complex(p) ? 2 * real : real;
}

/** The letter of a precision: 's', 'd', 'c' or 'z'. */
static inline char dag_precision_letter(dag_precision p)
{
    return "sdcz"[p];
}

/** The precision of letter `c` (lower or upper case) into `*p`; false if there is none. */
static inline bool dag_precision_parse(char c, dag_precision *p)
{
    switch (c) {
    case 's': case 'S': *p = DAG_S; return true;
    case 'd': case 'D': *p = DAG_D; return true;
    case 'c': case 'C': *p = DAG_C; return true;
    case 'z': case 'Z': *p = DAG_Z; return true;
    default: return false;
    }
}

/** The region that holds the stored triangle of a symmetric or Hermitian tile. */
static inline dag_region dag_uplo_region(dag_uplo uplo)
{
    return uplo == DAG_LOWER ? DAG_REGION_LOWER : DAG_REGION_UPPER;
}

/** True if the regions have no element in common, for every shape of the tile. */
static inline bool dag_region_disjoint(dag_region a, dag_region b)
{
    return ((unsigned)a & (unsigned)b) == 0;
}

/** X(letter, element type, type of real parts) for each dag_precision. */
#define DAG_EACH_PRECISION(X)                                                                      \
    X(s, float, float)                                                                             \
    X(d, double, double)                                                                           \
    X(c, dag_scomplex, float)                                                                      \
    X(z, dag_dcomplex, double)

#endif /* DAG_TYPES_H */
