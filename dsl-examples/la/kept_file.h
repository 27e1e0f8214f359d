/*
 * What was measured, in a file of one line for each thing, from one run to the next:
 *   dag <what> 1
 *   <key>\t<value>
 *   end <lines between>
 * Readers see the old or the new file, never a part.
 */
#ifndef LA_KEPT_FILE_H
#define LA_KEPT_FILE_H

#include <stddef.h>

enum {
    DAGI_KEPT_FOUND,
    DAGI_KEPT_ABSENT,  /* no file, or no line of this key in it */
    DAGI_KEPT_DAMAGED, /* may be replaced */
    DAGI_KEPT_FOREIGN  /* not to be touched */
};

typedef struct dagi_kept_kind {
    const char *header;  /* "dag tile times 1\n" */
    const char *what;    /* "tile times", in the header as well */
    const char *things;  /* "times of tile kernels" */
    const char *instead; /* what is done where a file is damaged: "tile kernels are measured anew" */
    /* Reads a line, which ends at `end`, into *value unless that is NULL. Where its key ends, or NULL when
     * it is not as it should be. */
    const char *(*read)(const char *line, const char *end, void *value);
} dagi_kept_kind;

/* Looks for a key. Anything but FOUND and ABSENT leaves a sentence in `why`. */
int dagi_kept_load(const dagi_kept_kind *kind, const char *path, const char *key, void *value, char *why,
                   size_t size);

/* Puts a line into the file beside those of other keys. 0, or 1 with a sentence in `why`. */
int dagi_kept_save(const dagi_kept_kind *kind, const char *path, const char *key, const char *value,
                   char *why, size_t size);

/* A file of this name in the user's directory for caches, which is made; NULL when there is none. To be
 * freed. */
char *dagi_kept_path(const char *name);

#endif
