/* How one collected diagnostic is printed. Private to diag.c and diag_print.c. */
#ifndef DAGCC_DIAG_PRINT_H
#define DAGCC_DIAG_PRINT_H

#include "diag.h"

typedef struct diag_extra diag_extra;
struct diag_extra {                 /* a note or a fix-it */
    src_range where;
    diag_place place;               /* in place of `where`, unless its line is 0 */
    const char *text;
    diag_extra *fixits;             /* of a note */
    diag_extra *next;
};

typedef struct diag_message {
    const diag_check *check;
    diag_severity severity;
    src_range where;
    diag_place place;
    const char *option;             /* of another tool, NULL */
    const char *message;
    size_t seq;                     /* order of report, to keep sorting stable */
    diag_extra *notes;
    diag_extra *fixits;
} diag_message;

/* For diag_keep.c. NULL: there is none, or some were dropped. */
const diag_message *diag_message_at(const diag *d, size_t i);
const src_set *diag_sources(const diag *d);
void diag_report_again(diag *d, const diag_check *check, diag_severity severity, src_range where,
                       const char *message);

/* diag_mend.c */
void diag_mend_messages(const src_set *sources, diag_message *const *messages, size_t n_messages,
                        uint32_t file, text *out);

bool diag_terminal(FILE *out);
void diag_print_text(const src_set *sources, const diag_message *m, bool color, FILE *out);
void diag_print_json(const src_set *sources, const diag_message *m, FILE *out);
void diag_json_string(const char *str, FILE *out);

/* diag_sarif.c */
void diag_sarif_begin(FILE *out);
void diag_print_sarif(const src_set *sources, const diag_message *m, bool first, FILE *out);
void diag_sarif_end(FILE *out);

/* Lines and columns of a message or of a part of it; columns count characters, tabs are one. */
typedef struct diag_region {
    const char *file;               /* NULL: no place */
    unsigned line, col, end_line, end_col;  /* the end lies behind; col 0: the whole line */
} diag_region;

#endif
