/*
 * Which grid of ranks suits a routine.
 *
 * LU with partial pivoting searches each column of a panel on all process rows, which wait for one another twice
 * a column: n log p messages of a few bytes, one after the other. QR combines what the rows have of a panel.
 * On one process row the panel is one rank's, and there is nothing to wait for. It then takes that rank n nb^2 a step, in which each of the q ranks
 * updates n^2 nb / q: that is hidden while q nb is well below n. Everything else moves the least on a grid
 * that is as square as the number of ranks allows.
 */
#include "grid.h"

#include <stdio.h>
#include <string.h>

/* Panels take this many times less than updates, or more, where they are hidden. */
enum { HIDDEN = 2 };

static bool crosses_rows(const char *routine)
{
    static const char *const names[] = {"getrf", "gesv", "getri", "geqrf", "gels"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(routine, names[i]) == 0)
            return true;
    return false;
}

void dagi_grid_rule(const dagi_grid_case *c, dag_grid_choice *choice)
{
    int most = 0, columns = 0, rows = 1;
    dag_matrix_grid(c->ranks, &most, &columns); /* rows of the squarest */
    const char *where = c->together == c->ranks ? "which share a node" : "of several nodes";
    if (!crosses_rows(c->routine)) {
        choice->p = most;
        choice->q = columns;
        snprintf(choice->why, sizeof(choice->why), "as square as %d ranks %s allow: tiles travel least",
                 c->ranks, where);
        return;
    }
    while (rows < most && (c->ranks % rows != 0 ||
                           (c->n > 0 && c->n < HIDDEN * c->nb * (c->ranks / rows))))
        rows++;
    choice->p = rows;
    choice->q = c->ranks / rows;
    if (rows == 1)
        snprintf(choice->why, sizeof(choice->why),
                 "one row: each panel is done by one of %d ranks %s, without messages", c->ranks, where);
    else
        snprintf(choice->why, sizeof(choice->why), "the fewest rows with which panels of %d columns are "
                 "hidden behind updates by %d ranks %s", (int)c->nb, c->ranks, where);
}
