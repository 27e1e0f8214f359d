/* How one collected diagnostic is printed. Private to diag.c and diag_print.c. */
#ifndef DAGCC_DIAG_PRINT_H
#define DAGCC_DIAG_PRINT_H

#include "diag.h"

typedef struct diag_extra diag_extra;
struct diag_extra {                 /* a note or a fix-it */
    src_range where;
    const char *text;
    diag_extra *next;
};

typedef struct diag_message {
    const diag_check *check;
    diag_severity severity;
    src_range where;
    const char *message;
    size_t seq;                     /* order of report, to keep sorting stable */
    diag_extra *notes;
    diag_extra *fixits;
} diag_message;

bool diag_terminal(FILE *out);
void diag_print_text(const src_set *sources, const diag_message *m, bool color, FILE *out);
void diag_print_json(const src_set *sources, const diag_message *m, FILE *out);

#endif
