/* State of one migration; private to this folder. */
#ifndef DAGCC_MIGRATE_MOVE_H
#define DAGCC_MIGRATE_MOVE_H

#include "migrate.h"

#include "diag/util.h"
#include "tree/ast.h"

typedef struct move_edit {
    uint32_t begin, end;
    size_t order;               /* among edits of one place */
    char *with;
} move_edit;

/* Names, once each. */
typedef struct move_names {
    const char **items;
    size_t n;
} move_names;

/* The edits of a text. One that begins within another is dropped: what it was about is gone. */
typedef struct mover {
    const sema_info *info;
    const ast_file *ast;
    move_edit *edits;
    size_t n_edits;
    src_range at;               /* the construct that is looked at: marks stand above it */
    bool classes;               /* its edits come behind those of globals at the same place */
    move_names slots;           /* shapes that have to be declared */
    move_names datatypes;       /* of which something was said */
} mover;

/* move.c */
void move_replace(mover *m, src_range r, const char *fmt, ...) UTIL_PRINTF(3, 4);
/* A comment on a line of its own above m->at. */
void move_mark(mover *m, const char *fmt, ...) UTIL_PRINTF(2, 3);
/* The same in C: above the line of byte `at`. */
void move_mark_c(mover *m, uint32_t at, const char *what);
void move_line_out(mover *m, src_range r);
/* The text with the edits, which end here. */
void move_apply(mover *m, text *out);

/* move_code.c: free C, bodies, inline C. */
void move_code(mover *m, src_range r);
/* Does C compute where elements of a tile lie? */
bool move_counts_tiles(const mover *m, src_range r);

/* move_globals.c */
void move_globals(mover *m);
/* Is this a member of a dag_matrix? */
bool move_matrix_member(const char *name);
/* Does the global become a dag_matrix, or is it one? */
bool move_is_matrix(const sema_global *g);

#endif
