/*
 * Which grid of ranks suits a routine.
 *
 * LU with partial pivoting searches each column of a panel on all process rows, which wait for one another twice
 * a column: n log p messages of a few bytes, one after the other. QR combines what the rows have of a panel.
 * On one process row the panel is one rank's, and there is nothing to wait for. It then takes that rank n nb^2 a step, in
 * which each of the q ranks updates n^2 nb / q: that is hidden while q nb is well below n.
 *
 * QR of a tall matrix is panels for the most part, which the ranks of a process column share: each factors what it has, and
 * triangles are combined by a tree. Two ranks of a Zen 3 make, on two rows beside one, 1.09 times as much of 8000 x 500 and
 * 1.3 times of 3000 x 300, as much of 4000 x 1000, and .9 of 3000 x 1000. Sixteen ranks, simulated, are fastest on 16 x 1
 * for 20000 x 500, on that and 8 x 2 for 40000 x 2500, and on 4 x 4 for 40000 x 10000, where one row takes 1.05
 * (columns of 48) to 1.7 times (192) as long.
 *
 * Everything else moves the least where the parts of the matrix are as square as the number of ranks allows: in a product a
 * rank gets the other two matrices' tiles of its rows and of its columns. Two ranks of a Zen 3 make, on two rows beside one,
 * 1.13 times as much of C of 4000 x 2000, and twice as much of 8000 x 200, which has no tile for a second column of ranks.
 */
#include "grid.h"

#include <stdio.h>
#include <string.h>

enum {
    HIDDEN = 2, /* Panels take this many times less than updates, or more, where they are hidden. */
    TALL = 2,   /* Rows per column from which on ranks share panels, */
    TREE = 3,   /* where a column weighs as much as so many rows, for there is a tree over each. */
};

/* What is factored or computed. */
typedef struct shape {
    double m, n;
    bool qr, one_row;
} shape;

static bool is_one_of(const char *routine, const char *const *names)
{
    while (*names != NULL && strcmp(routine, *names) != 0)
        names++;
    return *names != NULL;
}

static shape shape_of(const dagi_grid_case *c)
{
    static const char *const qr[] = {"geqrf", "gels", "gelqf", NULL};
    static const char *const crossing[] = {"getrf", "gesv", "getri", "geqrf", "gels", NULL};
    bool adjoint = strcmp(c->routine, "gelqf") == 0 || (strcmp(c->routine, "gels") == 0 && c->m < c->n);
    return (shape){(double)(adjoint ? c->n : c->m), (double)(adjoint ? c->m : c->n), is_one_of(c->routine, qr),
                   is_one_of(c->routine, crossing)};
}

/* Rows of the grid on which a rank's part of an m x n matrix has the least rows and columns in all: of the squarest grid
 * where the matrix is square, or not known. */
static int rows_for(int ranks, double m, double n)
{
    int best = 0, columns = 0;
    dag_matrix_grid(ranks, &best, &columns);
    for (int p = 1; p <= ranks; p++)
        if (ranks % p == 0 && m / p + n * p / ranks < m / best + n * best / ranks)
            best = p;
    return best;
}

static int rows_of_panels(const dagi_grid_case *c)
{
    int most = rows_for(c->ranks, 1, 1), rows = 1;
    while (rows < most && (c->ranks % rows != 0 ||
                           (c->n > 0 && c->n < HIDDEN * c->nb * (c->ranks / rows))))
        rows++;
    return rows;
}

void dagi_grid_rule(const dagi_grid_case *c, dag_grid_choice *choice)
{
    const shape s = shape_of(c);
    bool known = s.m > 0 && s.n > 0, tall = s.qr && known && s.m >= TALL * s.n;
    const char *where = c->together == c->ranks ? "which share a node" : "of several nodes";
    int rows = tall        ? rows_for(c->ranks, s.m, TREE * s.n)
               : s.one_row ? rows_of_panels(c)
               : known     ? rows_for(c->ranks, s.m, s.n)
                           : rows_for(c->ranks, 1, 1);
    choice->p = rows;
    choice->q = c->ranks / rows;
    if (tall)
        snprintf(choice->why, sizeof(choice->why), "as tall as what is factored: %d of %d ranks %s share each panel", rows,
                 c->ranks, where);
    else if (!s.one_row)
        snprintf(choice->why, sizeof(choice->why), "%sas square as %d ranks %s allow: tiles travel least",
                 s.m == s.n ? "" : "parts of the matrix are ", c->ranks, where);
    else if (rows == 1)
        snprintf(choice->why, sizeof(choice->why),
                 "one row: each panel is done by one of %d ranks %s, without messages", c->ranks, where);
    else
        snprintf(choice->why, sizeof(choice->why), "the fewest rows with which panels of %d columns are "
                 "hidden behind updates by %d ranks %s", (int)c->nb, c->ranks, where);
}
