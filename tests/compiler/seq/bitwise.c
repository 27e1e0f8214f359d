/* Random nests, of which bitwise.py makes a list: what their graphs make on all ranks is what the
 * serial program makes and, where THREADS is defined, the program for threads, bit for bit.
 *
 * NESTS(X) says X(name) for each nest. */
#include "bitwise_nests.h"

#include <dag/matrix.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TILE = 3, MOST_TILES = 5, MATRICES = 3 };

#define POOL(name) name##_d_new,
#define NAME(name) #name,
static dag_taskpool *(*const pools[])(dag_context *, dag_matrix *, dag_matrix *, dag_matrix *) = {
    NESTS(POOL)};
static const char *const names[] = {NESTS(NAME)};

/* Three matrices that were filled and worked on, and what they hold, on rank 0. */
typedef struct world {
    dag_matrix *m[MATRICES];
    double *full[MATRICES];
} world;

static world begin(dag_context *ctx, int order, int p, int q)
{
    world w;
    for (int i = 0; i < MATRICES; i++) {
        dag_matrix_desc desc = {
            .prec = DAG_D, .m = order, .n = order, .mb = TILE, .nb = TILE, .p = p, .q = q};
        w.full[i] = dag_rank(ctx) == 0 ? calloc((size_t)(order * order), sizeof(double)) : NULL;
        for (int k = 0; w.full[i] && k < order * order; k++)
            w.full[i][k] = (k * 131 + order * 17 + i * 37) % 1009;
        if (dag_matrix_new(ctx, &desc, &w.m[i]) || dag_matrix_scatter(w.m[i], w.full[i], order))
            abort();
    }
    return w;
}

static void end(world *w, int order)
{
    for (int i = 0; i < MATRICES; i++) {
        if (dag_matrix_gather(w->m[i], w->full[i], order))
            abort();
        dag_matrix_free(w->m[i]);
    }
}

/* How many elements differ. Frees what is not `kept`. */
static int compare(const world *kept, world *w, int order)
{
    int differences = 0;
    for (int i = 0; i < MATRICES; i++) {
        for (int k = 0; w->full[i] && k < order * order; k++)
            differences += memcmp(&w->full[i][k], &kept->full[i][k], sizeof(double)) != 0;
        if (w != kept)
            free(w->full[i]);
    }
    return differences;
}

/* One nest at one size. Does it change anything? */
static bool agrees(dag_context *ctx, int nest, int order, int *changed)
{
    bool here = dag_rank(ctx) == 0;
    world before = begin(ctx, order, 1, 1), serial = begin(ctx, order, 1, 1);
    if (here)
        bitwise_serial(nest, serial.m[0], serial.m[1], serial.m[2]);
    end(&serial, order);
    end(&before, order);
    *changed += compare(&serial, &before, order) > 0;
    /* Every third nest on a grid of one column. */
    bool column = nest % 3 == 0;
    world graph = begin(ctx, order, column ? dag_size(ctx) : 0, column ? 1 : 0);
    dag_status status = dag_run(ctx, pools[nest](ctx, graph.m[0], graph.m[1], graph.m[2]));
    end(&graph, order);
    int differences = compare(&serial, &graph, order), others = 0;
#ifdef THREADS
    world threads = begin(ctx, order, 1, 1);
    if (here)
        bitwise_threads(nest, threads.m[0], threads.m[1], threads.m[2]);
    end(&threads, order);
    others = compare(&serial, &threads, order);
#endif
    if (status || differences || others)
        printf("FAIL %s, order %d, rank %d of %d: status %d, %d elements differ, %d of the program "
               "for threads\n", names[nest], order, dag_rank(ctx), dag_size(ctx), (int)status,
               differences, others);
    for (int i = 0; i < MATRICES; i++)
        free(serial.full[i]);
    return !status && !differences && !others;
}

int main(void)
{
    dag_context *ctx;
    if (dag_init(&ctx, NULL, NULL, 0))
        return 1;
    int n = (int)(sizeof(pools) / sizeof(*pools)), failures = 0, idle = 0;
    for (int nest = 0; nest < n; nest++) {
        int changed = 0;
        for (int tiles = 1; tiles <= MOST_TILES; tiles++)
            failures += !agrees(ctx, nest, tiles * TILE - tiles % 2, &changed);
        idle += changed == 0;
    }
    if (dag_rank(ctx) == 0)
        printf("%d nests on %d ranks: %d of %d runs differ, %d nests change nothing\n", n,
               dag_size(ctx), failures, n * MOST_TILES, idle);
    bool wrong = failures > 0 || (dag_rank(ctx) == 0 && idle > 0);
    dag_fini(ctx);
    return wrong;
}
