/* --std=parsec --emit=jdf: the file in the words of --std=dag. */
#ifndef DAGCC_DRIVER_MIGRATE_H
#define DAGCC_DRIVER_MIGRATE_H

#include "frontend.h"

/* A front end with all checks, for a text that is made on the way: what it reports is not shown. */
typedef void driver_begin(void *arg, frontend *f, diag_dialect dialect);

/* The file in f, in which no error was found. False where a text that was made of it has errors. */
bool driver_migrate(const frontend *f, driver_begin *begin, void *arg, text *out);

#endif
