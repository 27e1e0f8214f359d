/* The collections of a run. Compiled twice like the graphs: for the runtime, where a rank has its own
 * elements, and for the oracle, where every element exists. */
#ifndef PROP_DATA_H
#define PROP_DATA_H

#include "prop.h"

typedef struct prop_spec {
    int K;           /* tiles in each direction; vectors have 4 K^2 elements */
    size_t bytes;    /* of an element of V, W, U */
    int mb, nb;      /* of a tile of A, B */
    int short_m, short_n; /* what the last tiles lack */
    int p, q;
    dag_layout layout[2];
    dag_precision prec;
    bool alias;      /* W is V, B is A */
    uint64_t seed;   /* of the contents */
} prop_spec;

typedef struct prop_data {
    dag_vector *V, *W;
    prop_cells *U;
    dag_matrix *A, *B;
    prop_spec spec;
    dag_shape shape;
} prop_data;

/* Makes all collections and fills them. NULL with dag_message() when that fails. */
prop_data *prop_data_new(dag_context *context, const prop_spec *spec);
void prop_data_free(prop_data *data);

/* Element number `index` of collection `name` (V W U A B) when it lies here: 1; it lies elsewhere:
 * 0; there are fewer elements: -1. */
int prop_data_element(const prop_data *data, char name, int64_t index, dag_element *element);

void prop_data_args(prop_data *data, prop_args *args);

#endif
