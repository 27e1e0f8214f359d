/* What the calls that arguments.py writes share; arguments.c has it. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include <dag/la.h>

#include <math.h>
#include <stdbool.h>

enum { N = 20, NB = 8 };

extern dag_context *ctx;
extern dag_matrix *M[4][4];   /* of each element type: N x N, positive definite */
extern dag_matrix *small[4];  /* of another size */
extern dag_qr *qr[4], *made_qr;
extern dag_lq *lq[4], *made_lq;
extern int64_t pivots[N], info;
extern dag_blacs_grid grid; /* one row of all ranks, */
extern double array[N * N]; /* and what is dealt to it */
extern int desc[9];
extern dag_part *made_part;
extern int iter;
extern double real[N];

/* A pool that was made is a failure of the test: it is run, so that the rest can go on. */
dag_status pool(dag_taskpool *made);
/* Refused, with the routine's name and `word` in the message; without a context there is none. */
void refuses(const char *routine, const char *what, dag_status status, const char *word);
/* The same where another rank has the bad argument: here some status will do. */
void refuses_somewhere(const char *routine, const char *what, dag_status status);
void succeeds(const char *routine, dag_status status);
dag_status run(dag_taskpool *made);
/* Fills the matrices again, frees what the good call has made. */
void clean(void);

void test_all(void);

#endif
