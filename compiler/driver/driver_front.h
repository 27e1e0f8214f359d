/* The table of front ends: who reads an input. */
#ifndef DAGCC_DRIVER_FRONT_H
#define DAGCC_DRIVER_FRONT_H

#include "driver.h"

/* The checks of front ends, beyond those that frontend_init() knows. */
void driver_register_fronts(diag *d);

/* Parses a file by the front end of its extension; f->ast is NULL after an error, which was reported. False
 * when the file cannot be read (*error says why). */
bool driver_read(const driver_options *o, frontend *f, const char *path, const char **error);

/* Where the extension begins by which a front end knows its inputs; NULL: none reads such a file. */
const char *driver_extension(const char *path);
/* All of them, for messages. */
const char *driver_extensions(arena *a);

#endif
