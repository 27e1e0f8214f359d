/* The command line: what is asked for, and the tools around the compiler proper. */
#ifndef DAGCC_DRIVER_H
#define DAGCC_DRIVER_H

#include "frontend.h"

/* A list of words; the words belong to the command line or to an arena. */
typedef struct words {
    const char **items;
    size_t n, cap;
} words;

/* driver_words.c */
void words_add(words *w, const char *word);
void words_add_split(words *w, arena *a, const char *line);     /* blank separated */
void words_free(words *w);

typedef enum driver_action {
    ACTION_LINK,                /* a program */
    ACTION_COMPILE,             /* -c: object files */
    ACTION_CHECK,               /* -fsyntax-only */
    ACTION_EMIT_C, ACTION_EMIT_HEADER, ACTION_EMIT_JDF, ACTION_EMIT_AST, ACTION_EMIT_DOT,
    ACTION_EMIT_PLAN, ACTION_EMIT_INSERT,
    ACTION_FORMAT,              /* --format */
    ACTION_FIX,                 /* --fix */
    ACTION_ENUMERATE, ACTION_COUNT, ACTION_EMIT_TASKS,  /* for the parameters in `values` */
    ACTION_COMPLETE,            /* --complete */
    ACTION_SAME,                /* --same: two inputs */
    ACTION_SERIAL,              /* --serial-check: a nest */
    ACTION_HELP, ACTION_VERSION, ACTION_LIST_CHECKS, ACTION_EXPLAIN,
} driver_action;

typedef struct driver_options {
    driver_action action;
    const char *making;         /* the option that chose the action, or NULL */
    diag_dialect dialect;
    words inputs;               /* files that a front end reads */
    words link;                 /* for the linker, in order: other inputs, -l, -L, -Wl,... */
    words cc;                   /* for the C compiler: -I -D -U -O -g -f -m -W -std= ... */
    words assumes;
    words renames;              /* NAME=NAME of --rename */
    bool same_control;          /* --same=control */
    const char *tile;           /* --tile, or NULL */
    const char *kernels;        /* --kernels, or NULL */
    words warnings;             /* -W options of dagcc, in order, without -W */
    words foreign_warnings;     /* those of the C compiler, if it knows them; in cc, too */
    const char *output;         /* -o, or NULL */
    const char *explain;
    const char *values;         /* "N=5,P=2", for the actions that look at one graph; of
                                   --serial-check: maybe empty */
    text *checked;              /* of --serial-check: the serial program; else NULL */
    text *inserted;             /* of --emit=insert: the program; else NULL */
    bool in_place;              /* --format -i */
    bool verbose;
    diag_format format;
    bool werror;
    bool no_proof_cache;
    diag_color color;
    unsigned max_errors;
    unsigned long max_operations;   /* of a proof; 0: the default */
    bool depend;                /* -MD */
    bool depend_phony;          /* -MP */
    const char *depend_file;    /* -MF, or NULL */
    words depend_targets;       /* -MT, -MQ (quoted already) */
    arena *arena;
} driver_options;

/* An error that lies in no file: to be reported through `d`, or on stderr before it is set. */
void driver_complain(const char *fmt, ...) UTIL_PRINTF(1, 2);
void driver_complain_to(diag *d);
diag *driver_reports(void);     /* the d, or NULL */

/* False when the command line is wrong (said on stderr). `d` knows the names of the checks. */
bool driver_parse_options(driver_options *o, const diag *d, int argc, char **argv);
void driver_free_options(driver_options *o);
void driver_print_help(FILE *out);

/* ---- files (driver_files.c) --------------------------------------------------------------- */

/* Writes a temporary beside `path`, or beside the file that a link of this name leads to, and
 * renames it; devices are written directly, "-" is standard output. With only_if_changed an equal
 * file is left alone. False and a message on stderr on failure. */
bool driver_write_file(const char *path, const text *content, bool only_if_changed);
bool driver_copy_file(const char *from, const char *to);        /* the same with a file's content */
/* Appends the content; false when it cannot be read (errno). */
bool driver_read_file(const char *path, text *content);
bool driver_file_exists(const char *path);
/* Do both names lead to one file that exists? */
bool driver_same_file(const char *a, const char *b);
/* Base name, with its extension replaced; without directory, and without characters that C cannot
 * include. */
const char *driver_output_name(arena *a, const char *input, const char *extension);
/* Can a header of this name be included, and its name stand in a rule for make? */
bool driver_can_be_included(const char *name);
/* path with another extension, directory kept; those of inputs may have two dots */
const char *driver_replace_extension(arena *a, const char *path, const char *extension);
const char *driver_base_name(const char *path);
/* The rule of a dependency file: targets: prerequisites. */
void driver_depend_rule(text *out, const words *targets, const words *prerequisites, bool phony);
/* Prerequisites in a file that cc wrote, without those below skip_dir. */
void driver_read_depends(arena *a, const char *path, const char *skip_dir, words *out);
/* Text as a name in a make rule. */
const char *driver_quote_make(arena *a, const char *name);

/* ---- the C compiler (driver_cc.c) --------------------------------------------------------- */

/* Runs a command and waits; prints it first if verbose. Returns its exit status, 1 if it could not
 * be run or was killed, which was said. What it writes to stderr goes there, or to the file `log`
 * unless that is NULL. */
int driver_run(const words *command, bool verbose, const char *log);
/* The same for the C compiler; in the forms for tools its messages become ours. temp_dir: for its
 * log. */
int driver_run_cc(const driver_options *o, const words *command, const char *temp_dir);
/* False and a message for a -W option that neither dagcc nor the C compiler knows. */
bool driver_check_warnings(const driver_options *o);
/* The C compiler and the flags to compile generated code, the user's included. */
void driver_cc_command(const driver_options *o, words *command);
/* Libraries of the runtime; false and a message when they cannot be found. */
bool driver_link_flags(const driver_options *o, words *command);

#endif
