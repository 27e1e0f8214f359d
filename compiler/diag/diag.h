/* Diagnostics: named checks, their severities, and what is printed.
 *
 *   file:line:col: error: what [-Wname]
 *      12 |   k = 0 .. Q
 *         |            ^
 *   file:3:1: note: ...
 *
 * Every diagnostic about a text carries the name of a check. A module that reports describes its checks in a
 * static table of diag_check and registers it once per engine; --list-checks, --explain, -W...
 * and -Werror=... work on what is registered. Syntax and file errors are checks too.
 *
 * Diagnostics are collected and printed by diag_flush in source order, so that the order in which
 * checks run does not show. Notes and fix-its belong to the diagnostic reported last and vanish
 * with it when it is disabled.
 */
#ifndef DAGCC_DIAG_H
#define DAGCC_DIAG_H

#include "src.h"

typedef enum diag_severity {
    DIAG_OFF,           /* not reported unless asked for with -Wname */
    DIAG_NOTE,          /* information: counts neither as a warning nor as an error */
    DIAG_WARNING,
    DIAG_ERROR,
    DIAG_FATAL,         /* an error that no option can turn into something less */
} diag_severity;

/* The two dialects of the language. */
typedef enum diag_dialect { DIALECT_DAG, DIALECT_PARSEC } diag_dialect;

/* One named check. Tables are static and const; the address identifies the check. */
typedef struct diag_check {
    const char *name;           /* lower case with dashes, as in -Wname */
    diag_severity dag;          /* default under --std=dag */
    diag_severity parsec;       /* default under --std=parsec */
    const char *brief;          /* one line for --list-checks, no full stop */
    const char *page;           /* text for --explain: why, an example, what to do; may be NULL */
} diag_check;

/* JSON in the form of gcc, or SARIF 2.1.0. */
typedef enum diag_format { DIAG_TEXT, DIAG_JSON, DIAG_SARIF } diag_format;
typedef enum diag_color { DIAG_COLOR_AUTO, DIAG_COLOR_NEVER, DIAG_COLOR_ALWAYS } diag_color;

typedef struct diag diag;

diag *diag_new(const src_set *sources, diag_dialect dialect);
void diag_free(diag *d);

void diag_register(diag *d, const diag_check *checks, size_t count);
size_t diag_check_count(const diag *d);
const diag_check *diag_check_at(const diag *d, size_t i);
const diag_check *diag_find(const diag *d, const char *name);   /* NULL if unknown */

diag_dialect diag_get_dialect(const diag *d);
void diag_set_dialect(diag *d, diag_dialect dialect);
void diag_set_format(diag *d, diag_format format);
void diag_set_color(diag *d, diag_color color);
void diag_set_max_errors(diag *d, unsigned max);        /* 0 = no limit; default 20 */
void diag_set_werror(diag *d, bool on);

typedef enum diag_option { DIAG_OPT_ENABLE, DIAG_OPT_DISABLE, DIAG_OPT_ERROR,
                           DIAG_OPT_NO_ERROR } diag_option;
/* -Wname, -Wno-name, -Werror=name, -Wno-error=name. False when the check is unknown. Disabling a
 * check that is an error by default makes it a warning only through -Wno-error=name; -Wno-name of
 * such a check silences it only when it is not DIAG_FATAL. */
bool diag_apply(diag *d, diag_option option, const char *name);

/* The severity the check has now, after options and dialect. */
diag_severity diag_severity_of(const diag *d, const diag_check *check);

/* Reports; returns the severity it got (DIAG_OFF: nothing was recorded). `check` must have been
 * registered. A none range prints without line and source text. */
diag_severity diag_report(diag *d, const diag_check *check, src_range where,
                          const char *fmt, ...) UTIL_PRINTF(4, 5);
diag_severity diag_vreport(diag *d, const diag_check *check, src_range where,
                           const char *fmt, va_list ap);
/* The same with `base` in place of the check's default severity, for a finding that is less grave
 * than what the check usually reports. Options apply as ever. */
diag_severity diag_vreport_as(diag *d, const diag_check *check, diag_severity base,
                              src_range where, const char *fmt, va_list ap);
/* A place that another tool named, such as a header that the C compiler read. line 0: none. */
typedef struct diag_place {
    const char *file;
    unsigned line, col;         /* col 0: the whole line */
} diag_place;

/* Pass on what another tool reported; `option` ("-Wshadow") may be NULL. */
void diag_report_foreign(diag *d, diag_severity severity, diag_place at, const char *option,
                         const char *message);
void diag_note_foreign(diag *d, diag_place at, const char *message);
/* Report what concerns no text and no check, such as a file that cannot be read. Nothing hides it. */
void diag_report_plain(diag *d, diag_severity severity, const char *fmt, ...) UTIL_PRINTF(3, 4);
/* A note on the last report: the other end of the problem, or advice (none range). */
void diag_note(diag *d, src_range where, const char *fmt, ...) UTIL_PRINTF(3, 4);
/* A machine-applicable correction of the last report: replace `where` by `replacement`. Printed
 * under the caret in text form. All of a report belong together. */
void diag_fixit(diag *d, src_range where, const char *replacement);
/* The same for the last note: one of several ways to mend the report. */
void diag_note_fixit(diag *d, src_range where, const char *replacement);

/* The source of a file with the corrections of all messages since the last flush: those of a
 * report, or the first that one of its notes offers; of two that overlap the earlier report's. */
void diag_mend(const diag *d, uint32_t file, text *out);

/* Counts of what was reported since diag_new. */
unsigned diag_errors(const diag *d);
unsigned diag_warnings(const diag *d);
/* How often this check was reported as an error: checks that depend on it consult this. */
unsigned diag_errors_of(const diag *d, const diag_check *check);
/* How often this check was reported, in whatever severity. */
unsigned diag_reports_of(const diag *d, const diag_check *check);

/* The number of messages collected so far, for diag_save. */
size_t diag_mark(const diag *d);
/* Forgets the messages since `mark`, none of which is an error. */
void diag_forget(diag *d, size_t mark);
/* Appends the messages since `mark` as text for diag_load; places are counted from `file`. False when
 * one of them is about something else. */
bool diag_save(const diag *d, uint32_t file, size_t mark, text *out);
/* Reports what diag_save wrote. False, and nothing is reported, when it is not in this form. */
bool diag_load(diag *d, uint32_t file, const char *kept);

/* Prints what was collected since the last flush; diag_finish() prints the
 * end of the forms for tools. */
void diag_flush(diag *d, FILE *out);
void diag_finish(diag *d, FILE *out);

/* "warning" / "error" as printed. */
const char *diag_severity_name(diag_severity s);

#endif
