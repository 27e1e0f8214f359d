/**
 * @file replace.h
 * Replace a file as a whole: whoever reads it meanwhile, or after a failure, finds the old one.
 */
#ifndef DAG_REPLACE_H
#define DAG_REPLACE_H

#include <dag/linkage.h>

#include <stdbool.h>
#include <stdio.h>

DAG_C_BEGIN

/** What will take the place of a file. */
typedef struct dag_replacement {
    FILE *stream;    /**< to write to; NULL = there is no replacement */
    char *target;    /**< the file, links followed */
    char *temporary; /**< a name beside it that nobody else has */
    int slot;        /**< where dag_replace_remove_all() finds that; -1 = nowhere */
} dag_replacement;

/**
 * Begin a file that is to replace `path`. A link stays, what it leads to is replaced; a link to nothing
 * is an error. Whoever may read the old file may read the new one; a file that is not there yet gets
 * the permissions that the user wants for new ones.
 * @return false with errno; then there is nothing to end.
 */
bool dag_replace_begin(dag_replacement *r, const char *path);

/**
 * End it, in any case: with `good` what was written takes the place of the file once all of it is on
 * disk, else it is forgotten. Does nothing when there is none.
 * @return false with errno when it was good and could not be done; the old file is as it was.
 */
bool dag_replace_end(dag_replacement *r, bool good);

/**
 * Read a file that is replaced as a whole.
 * @param most bytes that it may have
 * @return its text, ended by a NUL, to be freed; NULL with errno, EFBIG for what is larger or no regular file.
 */
char *dag_replace_read(const char *path, size_t most);

/**
 * Remove the temporaries of replacements that have not been ended, of the first 8 at a time. For the handler
 * of a signal that ends the process, and from any thread: ending one of them afterwards fails.
 */
void dag_replace_remove_all(void);

DAG_C_END
#endif
