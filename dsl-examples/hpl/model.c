/*
 * How long a factorisation takes on a grid, by a model of its panels, and the grid and depth that are best by it.
 *
 * Panels follow each other in a chain: a panel is factored, on several process rows with a message for each
 * column; it goes to the next process column, whose first block column is updated, on several process rows
 * after an exchange of rows; that is the next panel. Updates follow each other too, each behind its panel, and
 * share the network with the exchanges of rows and the ranks with the panels. `depth` says how many panels
 * the chain may be ahead of the updates.
 */
#include "hpl.h"

#include <math.h>
#include <stdlib.h>

/* One panel. */
typedef struct hpl_step {
    double panel; /* seconds until it is factored */
    double hop;   /* until the next process column has it */
    double first; /* until that one has the next panel's column: rows exchanged, updated */
    double work;  /* of a rank in the other updates, and on the wire */
} hpl_step;

static hpl_step step_of(const hpl_costs *h, double m, double nb, double p, double q)
{
    enum { PANEL = 4 }; /* columns one by one run at that part of the rate of products */
    double jb = fmin(nb, m), rows = (m - jb) / p, worker = h->flops / h->workers;
    double word = 8 / h->rate, columns = fmax(m - jb, 0);
    hpl_step s = {.panel = PANEL * (m / p) * jb * jb / worker, .hop = 0, .first = 2 * rows * jb * jb / worker};
    if (p > 1) {
        double messages = p <= 4 ? 1 : 2 * ceil(log2(p));
        s.panel += jb * (messages * h->latency + fmin(p - 1, 3) * (2 * jb + 4) * word);
        s.first += 2 * h->latency + ((p - 1) / p + 1 / p) * jb * jb * word;
    }
    if (q > 1)
        s.hop = h->latency + rows * jb * word;
    double exchanged = p > 1 ? ((p - 1) + (p - 1) / p) * jb * (columns / q) / p * word : 0;
    double computed = 2 * rows * jb * (columns / q) / h->flops + s.panel / (p > 1 ? 1 : q * h->workers);
    double wire = exchanged + (q > 2 ? s.hop : s.hop / 2); /* of two process columns one sends at a time */
    /* As in simulated runs: on one process row about half is hidden, on several little, since messages for each
     * column, exchanges and panels wait for each other. */
    s.work = fmax(computed, wire) + fmin(computed, wire) / (p > 1 ? 1 : 2);
    return s;
}

double hpl_predict(const hpl_costs *h, int64_t n, int64_t nb, int p, int q, int64_t depth)
{
    int64_t steps = (n + nb - 1) / nb, window = (depth < steps ? depth : steps) + 1;
    double *done = calloc((size_t)window, sizeof(*done)); /* when the updates of the last panels are */
    double panel = 0, updated = 0;
    for (int64_t k = 0; done != NULL && k < steps; k++) {
        hpl_step s = step_of(h, (double)(n - k * nb), (double)nb, p, q);
        panel = fmax(panel, done[k % window]) + s.panel; /* of panel k - 1 - depth */
        updated = fmax(updated, panel + s.hop) + s.work;
        done[k % window] = updated;
        panel += s.hop + s.first;
    }
    free(done);
    return fmax(updated, panel);
}

/*
 * A multiple of the process columns: with others panel and updates that wait for each other lie on different ranks,
 * and simulated runs take up to twice as long. Of these the largest: panels that are ahead lie on all ranks,
 * and may take a fifth of what a rank has of the matrix, or 64 MB.
 */
static int64_t deepest(int64_t n, int64_t nb, int p, int q)
{
    double panels = (double)n / (double)nb, small = 64e6 / (8.0 * (double)nb * (double)n / p);
    int64_t most = (int64_t)fmin(fmax(panels / q * 2 / 5, small), panels);
    return q == 1 ? 1 : most > q ? most - most % q : q;
}

hpl_choice hpl_choose(const hpl_costs *h, int64_t n, int64_t nb, int p, int q)
{
    hpl_choice best = {0};
    for (int rows = 1; rows <= h->ranks; rows++) {
        int columns = h->ranks / rows;
        if (h->ranks % rows != 0 || (p > 0 && rows != p) || (q > 0 && columns != q))
            continue;
        int64_t depth = deepest(n, nb, rows, columns);
        double seconds = hpl_predict(h, n, nb, rows, columns, depth);
        if (best.p == 0 || seconds < .99 * best.seconds) /* the model is no better than that */
            best = (hpl_choice){rows, columns, depth, seconds};
    }
    return best;
}
