/* Arithmetic whose result depends on every input and on the order: out = mix(out, a, b), item by
 * item, on bits. The same function serves cores and, enqueued, the loop. */
#ifndef MIX_H
#define MIX_H

#include "loop_backend.h"

#include <stdint.h>

typedef struct mix_args {
    void *out;
    const void *a, *b; /* may be NULL */
    int64_t out_ld, a_ld, b_ld, m, n;
    int64_t salt;
    int fresh; /* 1: what is in out does not matter */
    int *info; /* set to `report` unless that is 0 */
    int report;
} mix_args;

void mix(void *args);
/* Where an instance may run: 0 anywhere, 1 on cores, 2 on devices only. A function of its number. */
int mix_where(int64_t policy, int64_t number);

#endif
