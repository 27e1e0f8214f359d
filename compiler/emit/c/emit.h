/* Printing a plan as C. Nothing is decided here but the look of the text. */
#ifndef DAGCC_EMIT_H
#define DAGCC_EMIT_H

#include "plan/plan.h"

typedef struct emit_options {
    const char *c_path;         /* path of the .c file as #line shall name it: "gen/potrf.c". Its
                                   base name must be the one the file really gets: a file with
                                   %precision includes itself */
    const char *h_base;         /* base name of the header that the .c includes: "potrf.h"; NULL:
                                   prototypes are printed into the .c file itself */
    uint64_t hash;              /* of the canonical source: ranks compare it */
} emit_options;

/* NAME.c */
void emit_c(const plan *p, const emit_options *o, text *out);
/* NAME.h */
void emit_header(const plan *p, text *out);
#endif
