/*
 * Includes DAG_TEMPLATE, a quoted file name relative to kernels/, once per precision.
 * No include guard: one use per instantiation. Takes DAG_TEMPLATE back at the end.
 */
#ifndef DAG_TEMPLATE
#error "define DAG_TEMPLATE to the file to instantiate"
#endif

#define DAG_PRECISION s
#include <dag/precision.h>
#include DAG_TEMPLATE
#include <dag/precision_undef.h>

#define DAG_PRECISION d
#include <dag/precision.h>
#include DAG_TEMPLATE
#include <dag/precision_undef.h>

#define DAG_PRECISION c
#include <dag/precision.h>
#include DAG_TEMPLATE
#include <dag/precision_undef.h>

#define DAG_PRECISION z
#include <dag/precision.h>
#include DAG_TEMPLATE
#include <dag/precision_undef.h>

#undef DAG_TEMPLATE
