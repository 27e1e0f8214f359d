/* Inside of the library of algorithms: what is written once and exists for each element type. */
#ifndef LA_PRECISIONS_H
#define LA_PRECISIONS_H

#include <dag/types.h>

/* Stands for any element type, where a routine with a letter wants one. */
enum { DAGI_ANY = -1 };

/* What the caller called: the name, for messages, and the element type that it promises. */
typedef struct dagi_entry {
    const char *name; /* "dag_zunmqr" */
    int prec;         /* or DAGI_ANY */
} dagi_entry;

/* The constructors of a graph, for a table indexed by dag_precision. */
#define DAGI_FOUR(graph)                                                                           \
    {                                                                                              \
        graph##_s_new, graph##_d_new, graph##_c_new, graph##_z_new                                 \
    }
/* DAGI_MAKERS(graph) make[4] = DAGI_FOUR(graph): that table; their parameters are the same. */
#define DAGI_MAKERS(graph) static __typeof__(graph##_d_new) *const

/* X(letter, element type, type of its elements, of their real parts, ...) for the types named. */
#define DAGI_ANY_TYPE(X, ...) X(, DAGI_ANY, dag_dcomplex, double, __VA_ARGS__)
#define DAGI_REAL_TYPES(X, ...)                                                                    \
    X(s, DAG_S, float, float, __VA_ARGS__) X(d, DAG_D, double, double, __VA_ARGS__)
#define DAGI_COMPLEX_TYPES(X, ...)                                                                 \
    X(c, DAG_C, dag_scomplex, float, __VA_ARGS__) X(z, DAG_Z, dag_dcomplex, double, __VA_ARGS__)
#define DAGI_ALL_TYPES(X, ...)                                                                     \
    DAGI_ANY_TYPE(X, __VA_ARGS__)                                                                  \
    DAGI_REAL_TYPES(X, __VA_ARGS__) DAGI_COMPLEX_TYPES(X, __VA_ARGS__)

/* dag_##name without a letter and with each of the four: `call` may use the parameters, and
 * `entry` for what was called. */
#define DAGI_ENTRIES(type, name, params, call)                                                     \
    DAGI_ALL_TYPES(DAGI_ENTRY, type, name, params, call)
#define DAGI_ENTRY(p, PREC, elem, real, type, name, params, call)                                  \
    type dag_##p##name params                                                                      \
    {                                                                                              \
        const dagi_entry entry = {"dag_" #p #name, PREC};                                          \
        return call;                                                                               \
    }
/* The same where those of real matrices have another name, as dag_dormqr beside dag_zunmqr. */
#define DAGI_UNITARY_ENTRIES(type, real_name, name, params, call)                                  \
    DAGI_ANY_TYPE(DAGI_ENTRY, type, name, params, call)                                            \
    DAGI_REAL_TYPES(DAGI_ENTRY, type, real_name, params, call)                                     \
    DAGI_COMPLEX_TYPES(DAGI_ENTRY, type, name, params, call)

#endif
