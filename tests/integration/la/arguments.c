/* Each routine of dag/la.h refuses each bad argument: the calls are written by arguments.py. */
#include "arguments.h"

#include <dag/kernels.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

dag_context *ctx;
dag_matrix *M[4][4], *small[4];
dag_qr *qr[4], *made_qr;
dag_lq *lq[4], *made_lq;
int64_t pivots[N], info;
dag_blacs_grid grid;
double array[N * N];
int desc[9] = {1, 0, N, N, NB, NB, 0, 0, N};
dag_part *made_part;
int iter;
double real[N];

static int calls, failures;

static void complain(const char *routine, const char *what, const char *how, dag_status status)
{
    failures++;
    fprintf(stderr, "arguments: rank %d: %s, %s: %s (status %d: %s)\n", dag_rank(ctx), routine, what, how,
            (int)status, dag_message(ctx));
}

dag_status run(dag_taskpool *made)
{
    return made == NULL ? DAG_ERR_ARG : dag_run(ctx, made);
}

dag_status pool(dag_taskpool *made)
{
    return run(made);
}

void refuses(const char *routine, const char *what, dag_status status, const char *word)
{
    char start[64];
    calls++;
    snprintf(start, sizeof start, "%s: ", routine);
    if (status == DAG_SUCCESS)
        complain(routine, what, "was taken", status);
    else if (word != NULL && strncmp(dag_message(ctx), start, strlen(start)) != 0)
        complain(routine, what, "the message does not begin with the routine", status);
    else if (word != NULL && strstr(dag_message(ctx), word) == NULL)
        complain(routine, what, "the message does not name the argument", status);
}

void refuses_somewhere(const char *routine, const char *what, dag_status status)
{
    refuses(routine, what, status, "");
}

void succeeds(const char *routine, dag_status status)
{
    calls++;
    if (status != DAG_SUCCESS)
        complain(routine, "good arguments", "were refused", status);
}

static void must(dag_status status)
{
    if (status != DAG_SUCCESS) {
        fprintf(stderr, "arguments: %s\n", dag_message(ctx));
        exit(2);
    }
}

void clean(void)
{
    dag_qr_free(made_qr);
    dag_lq_free(made_lq);
    must(dag_part_close(made_part));
    made_part = NULL;
    made_qr = NULL;
    made_lq = NULL;
    for (int i = 0; i < N; i++)
        pivots[i] = i + 1;
    for (int p = 0; p < 4; p++)
        for (int k = 0; k < 4; k++)
            must(dag_plghe(ctx, M[p][k], N, 5 + k));
}

static void fixtures(void)
{
    grid = (dag_blacs_grid){ctx, 1, dag_size(ctx), DAG_GRID_ROW_MAJOR, 0};
    for (int p = 0; p < 4; p++) {
        dag_matrix_desc d = {.prec = (dag_precision)p, .m = N, .n = N, .nb = NB};
        for (int k = 0; k < 4; k++)
            must(dag_matrix_new(ctx, &d, &M[p][k]));
        d.m = d.n = N / 2;
        must(dag_matrix_new(ctx, &d, &small[p]));
    }
    clean();
    for (int p = 0; p < 4; p++) {
        must(dag_geqrf(ctx, M[p][0], &qr[p]));
        must(dag_gelqf(ctx, M[p][1], &lq[p]));
    }
    clean();
}

int main(void)
{
    char why[256];
    if (dag_init(&ctx, NULL, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "arguments: %s\n", why);
        return 2;
    }
    fixtures();
    test_all();
    for (int p = 0; p < 4; p++) {
        dag_qr_free(qr[p]);
        dag_lq_free(lq[p]);
        dag_matrix_free(small[p]);
        for (int k = 0; k < 4; k++)
            dag_matrix_free(M[p][k]);
    }
    if (dag_rank(ctx) == 0)
        printf("arguments: %d calls, %d failures\n", calls, failures);
    dag_status status = dag_fini(ctx);
    return failures > 0 || status != DAG_SUCCESS;
}
