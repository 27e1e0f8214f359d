/* Shared by the files of the C printer only. */
#ifndef DAGCC_EMIT_IMPL_H
#define DAGCC_EMIT_IMPL_H

#include "emit.h"

#include "diag/src.h"
#include "tree/ast.h"

#include <dag/jdf.h>

/* One generated function is printed into `body` first, so that its head declares exactly what the
 * body turned out to use. */
typedef struct emitter {
    const plan *p;
    const emit_options *o;
    const char *name;           /* p->name */
    text *out;                  /* the file */
    text body;                  /* the function being printed */
    int indent;                 /* of the body, in levels */
    const char *lead;           /* behind the next indentation, once */
    unsigned stamp;             /* marks variables used by this function */
    bool uses_globals;          /* this function uses g */
    bool uses_locals;           /* this function uses the array l */
    const plan_class *cls;      /* class it belongs to; NULL in the constructor */
    const char *locals;         /* C text for the instance in error messages: "l" or "NULL" */
    const char *task;           /* C text for the task that inline C may read */
    bool resumes;               /* loops start where the cursor says */
    bool whole;                 /* loops walk everything, not the own part */
    int number;                 /* of the case, where n_loops counts it as outermost */
    int n_loops;                /* loops around the current place that resume */
    const plan_var *loop_vars[64];
    size_t counted, lines;      /* newlines in out->data[0..counted) */
} emitter;

/* ---- emit_expr.c ------------------------------------------------------------------------- */

/* What stands around an expression decides about its parentheses. */
typedef enum emit_prec {
    EMIT_PREC_COND = 1, EMIT_PREC_OR, EMIT_PREC_AND, EMIT_PREC_XOR, EMIT_PREC_COMPARE,
    EMIT_PREC_SUM, EMIT_PREC_PRODUCT, EMIT_PREC_UNARY, EMIT_PREC_ATOM,
} emit_prec;

void emit_expr(emitter *e, const plan_expr *x, emit_prec around);
void emit_var(emitter *e, plan_var *var);
/* A bound that has to fit in 32 bits, checked by the generated code if `check`. */
void emit_bound(emitter *e, const plan_expr *x, bool check, int line, emit_prec around);

/* ---- emit_nest.c ------------------------------------------------------------------------- */

typedef void (*emit_leaf)(emitter *e, const void *arg);

void emit_line(emitter *e, const char *fmt, ...) UTIL_PRINTF(2, 3);     /* indented, with newline */
void emit_begin(emitter *e);                                            /* the indentation alone */
void emit_open(emitter *e, const char *fmt, ...) UTIL_PRINTF(2, 3);     /* indented, the line goes on */
void emit_add(emitter *e, const char *fmt, ...) UTIL_PRINTF(2, 3);
/* Levels [from, to) of a nest, then the leaf. `block`: the leaf is more than one statement. */
void emit_nest(emitter *e, const plan_nest *nest, size_t to, bool block, emit_leaf leaf,
               const void *arg);
/* A dag_range of a loop level, restricted as the plan says. */
void emit_range(emitter *e, const plan_level *level);
/* The same without bounds: all values of a loop of unit step that this process owns. */
void emit_everywhere(emitter *e, const plan_level *level);
/* The step of a loop level; 0 is an error of the graph. */
void emit_step(emitter *e, const plan_level *level);
/* The collection of a global as a `const dag_collection *`. */
void emit_collection(emitter *e, const plan_global *g);
/* {a, b, c} */
void emit_index(emitter *e, const plan_expr *const *index, size_t n);

/* Functions: begin, print into the body, end. The format makes everything up to the opening brace;
 * parameters that turned out to be unused are marked. n_locals: how many of the class's locals may be
 * read from the array `l` or the task `t`. */
typedef enum emit_source { EMIT_FROM_NONE, EMIT_FROM_ARRAY, EMIT_FROM_TASK } emit_source;
void emit_fn_begin(emitter *e, const plan_class *cls);
void emit_fn_end(emitter *e, emit_source source, size_t n_locals, const char *fmt, ...)
    UTIL_PRINTF(4, 5);

/* ---- emit_body.c ------------------------------------------------------------------------- */

void emit_free_code(emitter *e, src_range range);       /* prologue, epilogue; or none */
void emit_code(emitter *e, const plan_code *code);
void emit_class_bodies(emitter *e, const plan_class *cls);
bool emit_has_precisions(const emitter *e);
void emit_out(emitter *e, const char *fmt, ...) UTIL_PRINTF(2, 3);
/* The same for an item of a list: behind the one before, or on a line of its own, indented, where it
 * does not fit. */
void emit_item(emitter *e, const char *fmt, ...) UTIL_PRINTF(2, 3);

/* ---- emit_facts.c ------------------------------------------------------------------------- */

/* Stand-ins for the functions that facts are about; between begin and end their names mean these. */
void emit_stand_ins(emitter *e);
void emit_stand_in_names(emitter *e, bool begin);

/* ---- emit_class.c, emit_walk.c, emit_tables.c -------------------------------------------- */

void emit_class_functions(emitter *e, const plan_class *cls);
void emit_count(emitter *e, const plan_class *cls);
void emit_start(emitter *e, const plan_class *cls);
void emit_successors(emitter *e, const plan_class *cls);
void emit_sources(emitter *e, const plan_class *cls);
void emit_each(emitter *e, const plan_class *cls);
void emit_class_tables(emitter *e, const plan_class *cls);
void emit_edge_tables(emitter *e);
void emit_program(emitter *e);
void emit_constructors(emitter *e);

/* ---- emit_header.c ----------------------------------------------------------------------- */

/* The prototype of the constructor for precision letter `prec` (0: without), no semicolon. */
void emit_prototype(const plan *p, char prec, text *out);

#endif
