/* Imports, as they are bound and as they are written out. Private to expand. */
#ifndef DAGCC_IMPORT_H
#define DAGCC_IMPORT_H

#include "diag/diag.h"
#include "tree/build.h"

/* What a name of the imported file is called in the other one. */
typedef struct import_name {
    const char *from;
    const char *to;             /* a name, or an expression in parentheses */
} import_name;

typedef struct importing {
    ast_file *file;             /* the second tree, which takes the classes */
    src_set *sources;
    diag *d;
    const ast_import *import;
    const ast_file *from;       /* the imported file */
    import_name *globals;       /* those that have another name or value; on the heap */
    size_t n_globals;
    import_name *classes;       /* of the file, and those that it names and has not */
    size_t n_classes;
    const char *at_class;       /* name of the class being written, NULL outside */
    bool failed;
} importing;

/* import_text.c. Reports what is wrong with the import. */
void import_wrong(importing *x, src_range where, const char *fmt, ...) UTIL_PRINTF(3, 4);
/* Hidden globals, assumptions and classes of the file under their new names, as a text of
 * its own whose places are those of the file; 0 if that cannot be. */
uint32_t import_text(importing *x);

#endif
