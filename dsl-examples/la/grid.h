/* The rule behind dag_la_grid(). */
#ifndef LA_GRID_H
#define LA_GRID_H

#include <dag/la.h>

/* What a grid is chosen for: `ranks` in all, `together` of them on the node of rank 0; an m x n matrix, 0 =
 * not known yet, in tiles of nb. */
typedef struct dagi_grid_case {
    const char *routine;
    int ranks, together;
    int64_t m, n, nb;
} dagi_grid_case;

/* A number that differs between hosts. */
double dagi_la_host_number(void);

void dagi_grid_rule(const dagi_grid_case *c, dag_grid_choice *choice);

#endif
