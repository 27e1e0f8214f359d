/* Programs, each compared with a serial computation: all of them, or those named. */
#include "programs.h"

typedef struct row {
    const char *name;
    program *check;
} row;

#define ROW(name) {#name, check_##name},
static const row rows[] = {PROGRAMS(ROW)};

static int is_wanted(const char *name, int n, char **names)
{
    for (int i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0)
            return 1;
    return n == 0;
}

int main(int argc, char **argv)
{
    dag_context *ctx;
    char why[512];
    int mistakes = 0, ran = 0;
    if (dag_init(&ctx, NULL, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!is_wanted(rows[i].name, argc - 1, argv + 1))
            continue;
        int wrong = rows[i].check(ctx);
        if (wrong)
            fprintf(stderr, "rank %d: %s: %d wrong\n", dag_rank(ctx), rows[i].name, wrong);
        mistakes += wrong;
        ran++;
    }
    if (dag_rank(ctx) == 0)
        printf("%d programs ran\n", ran);
    dag_fini(ctx);
    return mistakes != 0 || ran == 0;
}
