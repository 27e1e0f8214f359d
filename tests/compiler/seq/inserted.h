/* inserted.c for run.c */
#ifndef INSERTED_H
#define INSERTED_H

#include <dag/matrix.h>

dag_status run_inserted(dag_context *ctx, dag_matrix *const *m);

#endif
