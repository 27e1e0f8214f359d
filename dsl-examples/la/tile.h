/*
 * The choice of a tile size: kernel times (tile_times.c), what a factorisation takes with them
 * (tile_model.c), the file that keeps them (tile_file.c), and all of it put together (tile.c).
 */
#ifndef LA_TILE_H
#define LA_TILE_H

#include "kept_file.h"

#include <dag/types.h>

#include <stddef.h>
#include <stdint.h>

/* The kernels of a Cholesky factorisation. */
enum { DAGI_TILE_GEMM, DAGI_TILE_HERK, DAGI_TILE_TRSM, DAGI_TILE_POTRF, DAGI_TILE_KERNELS };

/* Orders of tiles at which they are timed, ascending; the last is the largest matrix that may be
 * one tile. */
enum { DAGI_TILE_SIZES = 9 };
extern const int dagi_tile_sizes[DAGI_TILE_SIZES];

/* Nanoseconds of one call on square tiles that have to come from memory or a large cache. */
typedef struct dagi_tile_times {
    double ns[DAGI_TILE_KERNELS][DAGI_TILE_SIZES];
} dagi_tile_times;

/* Those of the machine of docs/performance/cpu.md. */
extern const dagi_tile_times dagi_tile_builtin[4];

/* Times the kernels of this process, in some 0.2 s. All 0 when out of memory. */
void dagi_tile_measure(dag_precision prec, dagi_tile_times *times);

/* ---- the model ---------------------------------------------------------------------------- */

typedef struct dagi_tile_workers {
    int p, q;       /* grid of ranks */
    int each;       /* workers of a rank */
    double sharing; /* workers per core, >= 1 */
    size_t element; /* bytes */
} dagi_tile_workers;

/* Seconds of a Cholesky factorisation of order n >= 1 in tiles of nb. */
double dagi_tile_seconds(const dagi_tile_times *times, const dagi_tile_workers *workers, int64_t n,
                         int64_t nb);

/* The tile with which it is fastest, on several ranks it and a product (1 for n < 1); *seconds is how long the factorisation
 * takes. */
int64_t dagi_tile_best(const dagi_tile_times *times, const dagi_tile_workers *workers, int64_t n,
                       double *seconds);

/* tile.c: seconds of an operation of a product of square tiles, where this process knows what kernels take; 0
 * where it does not. */
double dagi_tile_pace(dag_precision prec, double order);

/* ---- the file ----------------------------------------------------------------------------- */

enum {
    DAGI_TILE_FOUND = DAGI_KEPT_FOUND,
    DAGI_TILE_ABSENT = DAGI_KEPT_ABSENT, /* no file, or no times of this machine in it */
    DAGI_TILE_DAMAGED = DAGI_KEPT_DAMAGED,
    DAGI_TILE_FOREIGN = DAGI_KEPT_FOREIGN
};

/*
 * Look for the times of `machine`, a text without tabs and ends of lines. Anything but FOUND and
 * ABSENT leaves a sentence in `why`.
 */
int dagi_tile_load(const char *path, dag_precision prec, const char *machine,
                   dagi_tile_times *times, char *why, size_t size);

/* Put times into the file beside those that it has of other machines and precisions. Readers see
 * the old or the new file, never a part. 0, or 1 with a sentence in `why`. */
int dagi_tile_save(const char *path, dag_precision prec, const char *machine,
                   const dagi_tile_times *times, char *why, size_t size);

/* tile.c: what times depend on: processor, kernels and their library, this version. Without tabs and ends of
 * lines. */
void dagi_tile_machine(char *text, size_t size);

#endif
