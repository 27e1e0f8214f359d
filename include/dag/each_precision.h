/**
 * @file each_precision.h
 * Includes DAG_TEMPLATE, a file in quotation marks or angle brackets that stands on the path for headers, once
 * for each element type, with <dag/precision.h>. It has no include guard, and takes DAG_TEMPLATE back.
 *
 *     #define DAG_TEMPLATE "bodies.inc.c"
 *     #include <dag/each_precision.h>
 */
#ifndef DAG_TEMPLATE
#error "define DAG_TEMPLATE to the file to include before <dag/each_precision.h>"
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
