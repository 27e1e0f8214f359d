/*
 * Kernels whose time is modelled. Each begins with MODELLED(...): while there is a model, it is told of
 * the call, and the kernel returns. What a kernel calls in turn is part of it and tells nothing.
 */
#ifndef DAG_KERNELS_MODEL_H
#define DAG_KERNELS_MODEL_H

#include <dag/kernels.h>

extern dag_kernel_model *dagi_kernels_model; /* NULL = kernels compute */

/* Always 1. m, n, k: as dagi_modelled() says for each operation. */
int dagi_modelled(dag_kernel_op op, dag_precision prec, double m, double n, double k);

#define MODELLED(op, m, n, k)                                                                      \
    (__builtin_expect(dagi_kernels_model != NULL, 0) &&                                            \
     dagi_modelled(DAG_OP_##op, DAG_PREC, (double)(m), (double)(n), (double)(k)))

#endif
