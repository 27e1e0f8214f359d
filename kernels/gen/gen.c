#include "gen/gen.h"
#include "model.h"

#include <dag/kernels.h>

#include <assert.h>

#define LOCAL(name) DAG_PRECISION_CAT(name##_, DAG_PRECISION)

/* The uniform number in the real type of the active precision. */
#define UNIFORM(bits) DAG_PRECISION_CAT(UNIFORM_, DAG_PRECISION)(bits)
#define UNIFORM_s gen_uniform_float
#define UNIFORM_d gen_uniform_double
#define UNIFORM_c gen_uniform_float
#define UNIFORM_z gen_uniform_double

#define DAG_TEMPLATE "gen/gen.inc.c"
#include <dag/each_precision.h>
