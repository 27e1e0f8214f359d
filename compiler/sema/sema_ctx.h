/* State of one analysis, and what its passes share. Private to sema*.c. */
#ifndef DAGCC_SEMA_CTX_H
#define DAGCC_SEMA_CTX_H

#include "diag/checks.h"
#include "sema.h"

typedef struct sema sema;

/* Interned name -> object; open addressing. */
typedef struct sema_map {
    const char **keys;
    void **values;
    size_t size, used;
} sema_map;

void map_free(sema_map *m);
void *map_get(const sema_map *m, const char *key);
void map_put(sema_map *m, const char *key, void *value);

/* #define of the prologue: who uses it mentions the names in its text. */
typedef struct sema_macro sema_macro;
struct sema_macro {
    const char *begin, *end;        /* parameters and text */
    unsigned scan;                  /* number of the last scan that looked at it */
    sema_macro *next;               /* in the queue of that scan */
};

struct sema {
    sema_info *info;
    const ast_file *ast;
    diag *d;
    arena *arena;
    bool strict;                    /* --std=dag */
    unsigned errors_before[CHECK_COUNT];    /* of files analysed earlier, and of the parser */
    unsigned all_before;            /* their sum */
    sema_derive_fn *derive;
    void *derive_arg;
    sema_map globals, classes;
    sema_map symbols;               /* sema_global, of names that C defines */
    bool *index_used;               /* by node id of an ast_index */
    bool *needed;                   /* by global index: used by more than priorities */
    const ast_index **indices;      /* local indices in scope, innermost last */
    size_t n_indices, cap_indices;
    sema_map macro_names;           /* sema_macro */
    sema_macro *macro_queue;        /* to be looked at in the scan that is going on */
    unsigned scans;
    sema_refusal *refusals;         /* on the heap until the end */
    size_t cap_refusals;
    sema_global **undeclared;       /* in order of first use; --std=parsec */
    size_t n_undeclared;
};

/* Names that an expression may use, beyond the indices in s->indices. */
typedef struct sema_scope {
    sema_class *cls;                /* NULL: globals only */
    size_t n_locals;                /* locals [0, n) of cls are defined */
    size_t n_globals;               /* globals [0, n) are defined */
    bool flows;                     /* inline C may name flows */
    bool priority;                  /* uses do not count as needing the value */
} sema_scope;

sema_scope scope_of_class(const sema *s, sema_class *c);

/* ---- passes, in the order of the table in sema.c --------------------------------------------- */

void sema_read_macros(sema *s);
void sema_build_globals(sema *s);
void sema_build_classes(sema *s);
void sema_build_edges(sema *s);
void sema_check_options(sema *s);
void sema_check_global_uses(sema *s);
void sema_resolve(sema *s);
void sema_check_reserved(sema *s);
void sema_check_calls(sema *s);
void sema_check_flows(sema *s);
void sema_check_edges(sema *s);
void sema_check_missing_sides(sema *s);
void sema_infer_types(sema *s);
void sema_check_buffers(sema *s);
void sema_check_bodies(sema *s);
void sema_check_unused(sema *s);

/* ---- shared helpers -------------------------------------------------------------------------- */

diag_severity sema_report(sema *s, check_id id, src_range where, const char *fmt, ...)
    UTIL_PRINTF(4, 5);
/* Appends "; did you mean 'x'?" and a fix-it to the last report's text when a guess was made. */
const char *sema_did_you_mean(sema *s, const util_guess *g);

/* sema_bcast.c: the value of [bcast = ...], and what it means for an edge. */
void sema_check_bcast(sema *s, const sema_scope *sc, const ast_prop *p);
void sema_read_bcast(sema_edge *e);
void sema_fixit_guess(sema *s, src_range where, const util_guess *g);
void sema_refuse(sema *s, src_range where, const char *fmt, ...) UTIL_PRINTF(3, 4);

/* sema_expr.c: resolves every name below e; want_int: the value is used as an integer. */
void sema_check_expr(sema *s, const sema_scope *sc, const ast_expr *e, bool want_int);
void sema_check_value(sema *s, const sema_scope *sc, const ast_value *v);
/* Brings the items of a list into scope one by one; pop with sema_pop_indices(s, mark). */
size_t sema_push_indices(sema *s, const sema_scope *sc, const ast_indices *list);
void sema_pop_indices(sema *s, size_t mark);
sema_ref sema_find_name(sema *s, const sema_scope *sc, const char *name);
void sema_mark_used(sema *s, const sema_scope *sc, sema_ref r);
/* sema_constants.c: what C defines by this name, as a global; NULL: nothing can. */
const sema_global *sema_find_symbol(sema *s, const ast_expr *e);
/* sema_scan.c: what a piece of C mentions; marks the names of the scope used. */
sema_text sema_scan_c(sema *s, const sema_scope *sc, src_range c_text);

/* sema_props.c: checks a property list and resolves what its values name. */
void sema_check_props(sema *s, const sema_scope *sc, const ast_props *props, sema_place place);

/* Iterate over all edges of the file. */
#define EACH_CLASS(s, c)                                                                        \
    for (sema_class *c = (s)->info->classes; c < (s)->info->classes + (s)->info->n_classes; c++)
#define EACH_FLOW(c, f) for (sema_flow *f = (c)->flows; f < (c)->flows + (c)->n_flows; f++)
#define EACH_EDGE(f, e) for (sema_edge *e = (f)->edges; e < (f)->edges + (f)->n_edges; e++)

#endif
