/* The table of calls, filled by two files. */
#ifndef OPENCL_LAYER_CALLS_H
#define OPENCL_LAYER_CALLS_H

#include "layer.h"

void layer_calls_fill(void);
void layer_enqueue_fill(void);

#endif
