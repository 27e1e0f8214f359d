/* What graphs with tiles of two sizes take on a node: node_model.h with the graphs of dsl-examples/split. */
#ifndef LA_SPLIT_MODEL_H
#define LA_SPLIT_MODEL_H

#include "node_model.h"

#include <dag/kernels.h>
#include <dag/split.h>

/* How long a kernel takes; adds to core, alone and filled of a task (dagi_node_task), and sets alone < 0
 * where devices do not have it. */
typedef void dagi_split_kernel(void *arg, const dag_kernel_call *call, dagi_node_task *task);

typedef struct dagi_split_machine {
    dagi_node node;
    dagi_split_kernel *kernel;
    void *arg;
} dagi_split_machine;

enum { DAGI_SPLIT_POTRF, DAGI_SPLIT_GEMM, DAGI_SPLIT_GEQRF };

typedef struct dagi_split_problem {
    int routine;
    dag_precision prec;
    dag_split_placement placement;
    dag_split_update update; /* of Cholesky and QR; to be played neither is open */
    int64_t m, n, k;    /* of op(A) op(B); of Cholesky all its order; of QR its rows and columns */
} dagi_split_problem;

/* Tiles of mb x nb; of a product kb is the depth of one. s = 0: whole. The tiles of a column make one stack of QR. */
typedef struct dagi_split_cut {
    int64_t mb, nb, kb;
    int64_t s, b;
} dagi_split_cut;

/* Tasks of the graph: what playing it costs; and its operations. */
double dagi_split_tasks(const dagi_split_problem *p, const dagi_split_cut *cut);
double dagi_split_flops(const dagi_split_problem *p);

dagi_node_run dagi_split_play(const dagi_split_machine *machine, const dagi_split_problem *p,
                              const dagi_split_cut *cut);

#endif
