/* Memory of values, for value.c alone: see depot.c. */
#ifndef DAGI_DEPOT_H
#define DAGI_DEPOT_H

#include "data.h"

/* A block whose v.ptr is a 64-byte aligned buffer of at least `bytes` bytes and whose capacity is
 * set; the rest of the header is undefined. NULL = out of memory. */
dagi_value *dagi_block_get(dagi_value_cache *cache, size_t bytes);
/* Give back a block of dagi_block_get(), of any worker; capacity must be as it was. */
void dagi_block_put(dagi_value_cache *cache, dagi_value *v);

#endif
