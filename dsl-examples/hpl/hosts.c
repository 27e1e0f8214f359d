/* Where the time of a test went, by what the runtime counts for the classes of the graphs. */
#include "hpl.h"

#include <dag/progress.h>

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PARTS = 4 };
_Static_assert(sizeof(hpl_parts) == PARTS * sizeof(double), "parts are numbers in a row");

/* The classes of getrf_1 and getrf_p. */
static const struct part {
    size_t at;
    const char *class;
} classes[] = {
    {offsetof(hpl_parts, panel), "PANEL"},  {offsetof(hpl_parts, panel), "COL"},
    {offsetof(hpl_parts, panel), "RED"},    {offsetof(hpl_parts, search), "RED"},
    {offsetof(hpl_parts, update), "UPDATE"}, {offsetof(hpl_parts, update), "PICK"},
    {offsetof(hpl_parts, rows), "PICK"},
};

void hpl_parts_so_far(const dag_context *ctx, hpl_parts *parts)
{
    *parts = (hpl_parts){0};
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        double *to = (double *)(void *)((char *)parts + classes[i].at), s = dag_class_seconds(ctx, classes[i].class);
        *to = s < 0 || *to < 0 ? -1 : *to + s;
    }
}

const char *hpl_host(const double *row, char host[HPL_HOST + 1])
{
    for (int i = 0; i < HPL_HOST; i++)
        host[i] = (char)row[i];
    host[HPL_HOST] = '\0';
    return host;
}

dag_status hpl_gather(dag_context *ctx, const double *mine, int count, double **rows)
{
    size_t width = (size_t)(HPL_HOST + count);
    char host[HPL_HOST + 1] = "";
    *rows = calloc((size_t)dag_size(ctx) * width, sizeof(**rows));
    dag_status status = driver_agreed(ctx, *rows != NULL ? DAG_SUCCESS : DAG_ERR_NOMEM);
    if (status == DAG_SUCCESS) {
        double *own = *rows + (size_t)dag_rank(ctx) * width;
        (void)gethostname(host, HPL_HOST);
        for (int i = 0; i < HPL_HOST; i++)
            own[i] = (double)(unsigned char)host[i];
        memcpy(own + HPL_HOST, mine, (size_t)count * sizeof(*mine));
        status = driver_collective(ctx, dag_allreduce(ctx, DAG_SUM, *rows, (int64_t)dag_size(ctx) * (int64_t)width));
    }
    if (status != DAG_SUCCESS) {
        free(*rows);
        *rows = NULL;
    }
    return status;
}

/* Where each rank of the grid stands, and how it did. */
static void print_ranks(const hpl_case *c, const double *rows)
{
    for (int r = 0; r < c->p * c->q; r++) {
        const double *row = rows + r * (HPL_HOST + PARTS);
        char host[HPL_HOST + 1];
        hpl_parts parts;
        memcpy(&parts, row + HPL_HOST, sizeof(parts));
        fprintf(stderr, "dag_hpl: (%d,%d) is rank %d of the job on %s: update %.3f s, panels %.3f s\n",
                r / c->q, r % c->q, hpl_rank_of_job(r), hpl_host(row, host), parts.update, parts.panel);
    }
}

dag_status hpl_parts_since(dag_context *ctx, const hpl_case *c, const hpl_parts *before, bool list, hpl_parts *most)
{
    hpl_parts now;
    double mine[PARTS], then[PARTS], *rows;
    if (!list)
        return DAG_SUCCESS; /* nobody wants to know */
    hpl_parts_so_far(ctx, &now);
    memcpy(mine, &now, sizeof(mine));
    memcpy(then, before, sizeof(then));
    for (int i = 0; i < PARTS; i++)
        mine[i] -= then[i];
    dag_status status = hpl_gather(ctx, mine, PARTS, &rows);
    if (status == DAG_SUCCESS && dag_rank(ctx) == 0)
        print_ranks(c, rows);
    for (int r = 0; status == DAG_SUCCESS && r < dag_size(ctx); r++)
        for (int i = 0; i < PARTS; i++)
            mine[i] = fmax(mine[i], rows[r * (HPL_HOST + PARTS) + HPL_HOST + i]);
    free(rows);
    memcpy(most, mine, sizeof(mine));
    return status;
}
