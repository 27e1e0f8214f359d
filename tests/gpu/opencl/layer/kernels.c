/*
 * What the kernels of kernels/opencl read and write, from their arguments. Of a triangle all of its
 * square is taken. Kernels that are not in this table use what nobody knows, and are counted.
 */
#include "layer.h"

#include <string.h>

enum { NONE = -1, WIDE = -2, TURNED = 1, WRITES = 2, PIVOTS = 4, MOVES = 8 };

/* Numbers of arguments: buffer, offset and leading dimension in items, rows and columns; WIDE: work items. */
typedef struct use {
    int buffer, at, ld, rows, columns, flags, turned;
} use;

typedef struct row {
    const char *kernel;
    use uses[3];
} row;

/* Packed operands are buffers of their own, and so are pivots and moves, as long as they are. */
static const row rows[] = {
    {"pack", {{0, 1, 2, 3, 4, TURNED, 5}, {11, NONE, NONE, NONE, NONE, WRITES, 0}}},
    {"gemm",
     {{0, NONE, NONE, NONE, NONE, 0, 0},
      {1, NONE, NONE, NONE, NONE, 0, 0},
      {11, 12, 13, 2, 3, WRITES, 0}}},
    {"pack_triangle", {{0, 1, 2, 3, 3, 0, 0}, {8, NONE, NONE, NONE, NONE, WRITES, 0}}},
    {"solve",
     {{0, NONE, NONE, NONE, NONE, 0, 0},
      {5, 6, 7, 2, 3, TURNED | WRITES, 4},
      {8, NONE, NONE, NONE, NONE, WRITES, 0}}},
    {"factor", {{0, 1, 2, 4, 4, WRITES, 3}, {8, NONE, NONE, NONE, NONE, WRITES, 0}}},
    {"geadd", {{0, 1, 2, 5, WIDE, TURNED, 3}, {10, 11, 12, 5, WIDE, WRITES, 0}}},
    {"store", {{2, 3, NONE, 1, NONE, WRITES | PIVOTS, 0}}},
    {"swap_rows", {{3, 4, 5, 5, WIDE, WRITES, 0}}},
    {"follow", {{3, 4, NONE, WIDE, NONE, WRITES | MOVES, 0}}},
    {"pick_rows", {{3, 4, 5, 5, WIDE, 0, 0}}},
    {"put_rows", {{5, 6, 7, 7, WIDE, WRITES, 0}}},
};

static size_t number(const layer_object *kernel, int argument, const size_t *global)
{
    return argument == WIDE   ? global[0]
           : argument == NONE ? 1
                              : (size_t)kernel->arguments[argument].value;
}

static layer_range range_of(const layer_object *k, const use *u, const size_t *global)
{
    layer_range r = {
        .buffer = k->arguments[u->buffer].buffer, .writes = (u->flags & WRITES) != 0, .rows = 1};
    size_t item = u->flags & PIVOTS  ? sizeof(cl_long)
                  : u->flags & MOVES ? sizeof(cl_int)
                                     : k->bytes;
    if (u->at == NONE) { /* all of it */
        const layer_object *o = layer_look(LAYER_BUFFER, r.buffer);
        r.width = r.pitch = o ? o->bytes : 0;
        return r;
    }
    size_t m = number(k, u->rows, global), n = number(k, u->columns, global),
           ld = number(k, u->ld, global);
    int turned = u->flags & TURNED && k->arguments[u->turned].value;
    if (strcmp(k->name, "factor") == 0 && number(k, u->turned, global) > ld)
        ld = number(k, u->turned, global);
    r.begin = (size_t)k->arguments[u->at].value * item;
    r.width = (turned ? n : m) * item;
    r.rows = turned ? m : n;
    r.pitch = ld * item < r.width ? r.width : ld * item;
    return r;
}

int layer_kernel_ranges(const layer_object *kernel, const size_t *global, layer_range *ranges,
                        int most)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].kernel, kernel->name) != 0)
            continue;
        int n = 0;
        for (int u = 0; u < 3 && n < most; u++) {
            const use *used = &rows[i].uses[u];
            if (u > 0 && used->buffer == 0 && used->at == 0 && used->ld == 0)
                break;
            if (kernel->arguments[used->buffer].buffer)
                ranges[n++] = range_of(kernel, used, global);
        }
        return n;
    }
    return -1;
}
