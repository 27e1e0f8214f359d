/*
 * Every routine of the library with random parts of arrays laid out for ScaLAPACK, beside LAPACK.
 *
 *     parts [COUNT [ROUTINE [SEED]]]      COUNT parts of each routine, 1 without
 *
 * The ranks form grids of all shapes in both orders, with and without ranks left over. With them go
 * what is refused, and parts of which is known whether they are copies.
 */
#include "parts.h"

#include <inttypes.h>
#include <string.h>

/* A trial on a grid that has at least half of the ranks. */
static trial new_trial(dag_context *ctx, const char *routine, uint64_t seed)
{
    trial t = {.ctx = ctx, .routine = routine, .seed = seed, .random = seed * 0x9e3779b97f4a7c15u};
    int size = dag_size(ctx);
    t.prec = (dag_precision)pick(&t, DAG_S, DAG_Z);
    t.grid.ctx = ctx;
    do {
        t.grid.nprow = (int)pick(&t, 1, size);
        t.grid.npcol = (int)pick(&t, 1, size / t.grid.nprow);
    } while (2 * t.grid.nprow * t.grid.npcol < size);
    t.grid.order = pick(&t, 0, 1) ? DAG_GRID_ROW_MAJOR : DAG_GRID_COLUMN_MAJOR;
    t.grid.nb = pick(&t, 3, 14);
    return t;
}

static int run_rows(dag_context *ctx, const routine_row *rows, const char *only, int count,
                    uint64_t seed)
{
    int done = 0;
    for (; rows->name != NULL; rows++) {
        if (only != NULL && strcmp(only, rows->name) != 0)
            continue;
        for (int i = 0; i < count; i++) {
            trial t = new_trial(ctx, rows->name,
                                seed + 1000 * (uint64_t)i + strlen(rows->name) +
                                    (uint64_t)rows->name[0] * 31);
            rows->test(&t);
            done++;
        }
    }
    return done;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 1;
    const char *only = argc > 2 ? argv[2] : NULL;
    const routine_row *const tables[] = {blas3_rows, factor_rows, qr_rows, auxiliary_rows};
    dag_context *ctx;
    if (dag_init(&ctx, NULL, NULL, 0) != DAG_SUCCESS)
        return 1;
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : (uint64_t)dag_size(ctx);
    int calls = 0;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        calls += run_rows(ctx, tables[i], only, count, seed);
    known_parts(ctx);
    refused_parts(ctx);
    if (calls == 0) {
        fprintf(stderr, "there is no routine '%s'\n", only != NULL ? only : "");
        failures++;
    }
    if (dag_rank(ctx) == 0)
        printf("%d calls, %d parts, %d of them copies, %d failures\n", calls, opened, copies,
               failures);
    dag_fini(ctx);
    return failures != 0;
}
