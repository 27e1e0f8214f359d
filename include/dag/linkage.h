/**
 * @file linkage.h
 * What the public headers declare has C linkage, in C++ too: it stands between these two.
 */
#ifndef DAG_LINKAGE_H
#define DAG_LINKAGE_H

/** @def DAG_C_BEGIN Declarations from here on are C's. */
/** @def DAG_C_END Up to here. */
#ifdef __cplusplus
#define DAG_C_BEGIN extern "C" {
#define DAG_C_END }
#else
#define DAG_C_BEGIN
#define DAG_C_END
#endif

#endif
