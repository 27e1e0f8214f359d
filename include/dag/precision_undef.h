/**
 * @file precision_undef.h
 * Takes back everything <dag/precision.h> defined, and DAG_PRECISION itself.
 */
#undef elem_t
#undef real_t
#undef CONJ
#undef FN
#undef DAG_PREC
#undef DAG_COMPLEX
#undef DAG_REAL
#undef DAG_IMAG
#undef DAG_ABS
#undef DAG_ELEM
#undef DAG_SCALAR
#undef DAG_EPS
#undef DAG_PRECISION_IS_s
#undef DAG_PRECISION_IS_d
#undef DAG_PRECISION_IS_c
#undef DAG_PRECISION_IS_z
#undef DAG_PRECISION_CAT2
#undef DAG_PRECISION_CAT
#undef DAG_PRECISION_NUMBER
#undef DAG_PRECISION
