/* Shared by the files of this folder.
 *
 *   text --seq_lex--> tokens --seq_read, seq_nest--> seq_file --seq_text--> a .jdf whose flows name
 *   memory only --sema, verify--> relations --seq_flow--> edges --seq_edges--> lines
 *   --seq_text--> .jdf
 *
 * A seq_file points into the text that was read; all of it lives in one arena and does not change
 * once it was read. Both texts of the graph are views of that text: places in them are places
 * there.
 */
#ifndef DAGCC_SEQ_IMPL_H
#define DAGCC_SEQ_IMPL_H

#include "seq.h"

#include "verify/model.h"

/* ---- words (seq_lex.c) ----------------------------------------------------------------------- */

typedef enum seq_kind {
    SEQ_END,
    SEQ_WORD,
    SEQ_NUMBER,
    SEQ_STRING,
    SEQ_PUNCT,
    SEQ_DIRECTIVE,
} seq_kind;

typedef struct seq_token {
    seq_kind kind;
    src_range range;
} seq_token;

typedef struct seq_tokens {
    seq_token *items; /* the last one is SEQ_END */
    size_t n;
} seq_tokens;

/* Comments are left out; a directive is one token up to the end of its last line. */
seq_tokens seq_lex(const src_set *sources, src_range range, arena *a);
bool seq_is(const src_set *sources, const seq_token *t, const char *word);
/* Does the name occur as a word in the range? */
bool seq_mentions(const src_set *sources, src_range range, const char *name);
bool seq_says(const char *words, const char *name);
bool seq_same_text(const src_set *sources, src_range r, const char *word);

/* ---- what was read --------------------------------------------------------------------------- */

typedef enum seq_access { SEQ_IN, SEQ_INOUT, SEQ_OUT } seq_access;

typedef struct seq_param {
    const char *name;
    src_range where;
    bool tile;
    bool shape;        /* rows, columns or leading dimension of a tile, which the graph knows */
    seq_access access; /* of a tile */
    unsigned region;   /* of a tile: the bits of dag_region that it reads or changes */
    bool waits;        /* of a tile: for those that read the value that it overwrites */
    src_range type;    /* of a scalar */
} seq_param;

/* Another body of a kernel, for a kind of devices. */
typedef struct seq_variant {
    src_range kind, body;
} seq_variant;

typedef struct seq_kernel {
    const char *name;
    src_range where; /* the name */
    src_range pragma;
    seq_param *params;
    size_t n_params;
    int at;                    /* the parameter it runs at, or -1 */
    src_range priority, flops; /* none: not given */
    src_range body;            /* between the braces; none: it is declared only */
    src_range signature;       /* between the parentheses */
    seq_variant *variants;
    size_t n_variants;
    src_range device, implements; /* none: it is a kernel of its own, not a variant */
    bool nothing;                 /* a call of it is no task */
    size_t n_calls;
} seq_kernel;

typedef enum seq_item_kind { SEQ_LOOP, SEQ_IF, SEQ_DEF, SEQ_TEMP } seq_item_kind;

/* A construct around a call: a loop, a condition, an integer that was defined; a scalar that only
 * bodies use. */
typedef struct seq_item {
    seq_item_kind kind;
    const char *name;
    src_range where;    /* the name; the condition */
    src_range from, to; /* of a loop; from: the value of a definition */
    bool strict;        /* the loop ends before `to` */
    long step;          /* negative: downwards */
    bool negate;        /* else */
    src_range type;     /* of such a scalar */
} seq_item;

typedef struct seq_argument {
    src_range text;
    const char *array;     /* of a tile */
    src_range where;       /* its name */
    src_range row, column; /* its subscripts */
    const char *subscripts; /* both as the graph has them */
} seq_argument;

typedef struct seq_call {
    seq_kernel *kernel;
    const char *name; /* of the class */
    src_range where;  /* NAME(...) */
    seq_item **items; /* from the outermost on */
    size_t n_items;
    seq_item **temps; /* scalars that bodies may use, in order */
    size_t n_temps;
    long *position; /* number among its neighbours, for each depth: 0 .. n_loops */
    size_t n_loops;
    seq_argument *args; /* one for each parameter of the kernel */
} seq_call;

typedef struct seq_global {
    const char *name;
    src_range where;
    const char *type;
    bool matrix, integer;
    bool by_value;       /* a matrix whose members the nest reaches with '.' */
    const char *aligned; /* NULL: not said */
    const char *like;    /* an array of tiles inside the nest, as this matrix; NULL: a parameter */
} seq_global;

/* How the nest names a tile: addr(A, i, j), whose first word is maybe a type of matrices. */
typedef struct seq_tile_form {
    const char *call, *type;
    size_t n, array, row, column; /* its arguments, and the numbers of these among them */
} seq_tile_form;

typedef struct seq_file {
    src_set *sources;
    uint32_t file;
    uint32_t kernels_file; /* 0: none */
    bool checked;          /* bodies tell what they make of their tiles */
    bool inserting;        /* no graph is made: values in the nest may be any expression */
    seq_tile_form tile;    /* call NULL: none was given */
    bool by_value;         /* some matrix is handed over by value */
    diag *d;
    arena *arena;
    names *names;
    src_range *free_code; /* before the graph, then behind it: prologue and epilogue */
    size_t n_free_code, n_before;
    seq_kernel **kernels;
    size_t n_kernels;
    src_range graph; /* its pragma; none: there is none */
    src_range graph_name;
    const char *precisions; /* "s d c z" */
    struct { /* lookahead(of, steps) */
        src_range said; /* none: it is not */
        const char *of;
        long steps;
    } ahead;
    src_range *assumes;
    size_t n_assumes;
    seq_global *globals;
    size_t n_globals;
    seq_call **calls;
    size_t n_calls;
} seq_file;

/* seq_read.c, seq_nest.c: false after an error. */
bool seq_read(seq_file *f);
bool seq_read_nest(seq_file *f, const seq_token *begin, const seq_token *end);

/* seq_clauses.c: name ( ... ) in a pragma. */
typedef struct seq_clause {
    const seq_token *name, *open, *close;
} seq_clause;

const char *seq_word_of(const seq_file *f, const seq_token *t);
/* The next clause at *t; false at the end of the pragma, or after an error (then *bad). */
bool seq_next_clause(const seq_file *f, const seq_token **t, const seq_token *end, seq_clause *c,
                     bool *bad);
/* What stands behind '#pragma WHOSE WORD'; NULL: it is another directive. */
const seq_token *seq_pragma_of(const seq_file *f, const seq_token *t, const char *whose,
                               const char **word, const seq_token **end);
seq_param *seq_find_tile(seq_kernel *k, const char *name);
bool seq_is_omp_task(const seq_file *f, const seq_token *t);
/* Where the function begins at whose head the directive stands; NULL: it stands elsewhere. */
const seq_token *seq_omp_function(const seq_file *f, const seq_token *begin,
                                  const seq_token *pragma);
/* Adds tiles and a priority to those of a '#pragma dag task', if there is one. */
bool seq_read_omp_task(seq_file *f, seq_kernel *k, const seq_token *pragma);

/* seq_tile.c: reads the form of --tile; false: it is wrong (reported). */
bool seq_read_tile_form(seq_file *f, const char *form);
/* A tile as the argument of a call, a cast before it or not: A(i, j), DAG_AT(A, i, j), or of the
 * form; false: it is none of these. */
typedef struct seq_tile_parts {
    const seq_token *array, *row, *row_end, *column, *column_end;
} seq_tile_parts;
bool seq_tile_parts_of(const seq_file *f, const seq_token *t, const seq_token *stop,
                       seq_tile_parts *p);

typedef struct seq_end seq_end;

bool seq_is_conditional(const seq_call *c);
const seq_global *seq_find_global(const seq_file *f, const char *name);
/* The matrix whose tiles those of an array inside the nest are like; NULL: it is a
 * parameter. */
const char *seq_like(const seq_file *f, const char *array);
/* The matrix whose shape the new tiles have that a flow writes; NULL: it writes no such. */
const char *seq_begins_like(const seq_file *f, const seq_end *end);
/* Reports; always false. */
bool seq_error(const seq_file *f, const char *check, src_range where, const char *fmt, ...)
    UTIL_PRINTF(4, 5);
/* `items` (n of them) with room for one more. */
void *seq_grow(const seq_file *f, void *items, size_t n, size_t size);
/* The matching end of what a '(' or '{' opens; NULL: none before `end`. */
const seq_token *seq_match(const src_set *sources, const seq_token *open, const seq_token *end);
src_range seq_between(const seq_token *open, const seq_token *close);
/* The first `word` at the depth of `t`, before `end`; NULL: none. */
const seq_token *seq_seek(const src_set *sources, const seq_token *t, const seq_token *end,
                          const char *word);
src_range seq_span(const seq_token *begin, const seq_token *end); /* without `end` */

/* ---- the graph as text (seq_text.c) ---------------------------------------------------------- */

/* A class that stands for no call: tiles of an array set out (gives), or come home. */
typedef struct seq_relay {
    bool gives;
    const char *name, *array;
    src_range where; /* what needs it */
    const seq_end *end;
    isl_map *element_of; /* [params] -> [element] */
    const char *params;  /* "i, j" */
    const char *locals;  /* lines */
    const char *element; /* "i, j" */
    const char *lines;   /* of its flow */
    const seq_end *like; /* it has counters and the element of this flow; NULL: its own */
    unsigned region;     /* what of its element it fetches or stores */
} seq_relay;

/* The lines of one flow behind its name, one for each edge; an `out` that had to become an
 * `inout`. */
typedef struct seq_flow_text {
    const char *lines;
    bool carried;
} seq_flow_text;

/* The lines of a flow that carries nothing. */
typedef struct seq_control {
    const seq_end *end;
    const char *lines;
} seq_control;

typedef struct seq_edges_text {
    seq_flow_text **flows; /* by call, by parameter of its kernel */
    bool *never;           /* by call: it is made for no values of the parameters: no class */
    const char **ranges;   /* by call, of its loops, where they are not those of the nest */
    seq_relay *relays;
    size_t n_relays;
    seq_control *controls;
    size_t n_controls;
} seq_edges_text;

/* The graph; edges NULL: flows read and write memory. Returns the number of a new text, 0: too
 * large. */
uint32_t seq_write(const seq_file *f, const seq_edges_text *edges);

/* seq_serial.c: the nest as a program whose calls tell what became of their tiles, a table of these
 * calls, and DAG_CHECK_NEST, the name of the function. */
void seq_put_serial(const seq_file *f, text *out);
/* The letter of the one precision in which nest and graph are compared. */
char seq_checked_precision(const seq_file *f);

/* seq_insert.c: the nest as a program that inserts its tasks. Reports what cannot be. */
enum { SEQ_INSERT_TILES = 8 }; /* DAG_INSERT_TILES of dag/insert.h */
void seq_put_inserting(const seq_file *f, text *out);

/* seq_util.c: does a body of the kernel mention the name, or its priority or its work? */
bool seq_kernel_mentions(const seq_file *f, const seq_kernel *k, const char *name);
/* What the user wrote, as it is; and all that from `at` on, with other text for each call of a kernel. */
void seq_put_plain(text *out, const seq_file *f, src_range r);
typedef void seq_call_writer(text *out, const seq_file *f, const seq_call *c);
void seq_put_calls(text *out, const seq_file *f, uint32_t at, seq_call_writer *put_call);

/* seq_put.c: an expression as the graph has it. */
const char *seq_text_of(const seq_file *f, src_range r);

/* ---- edges (seq_flow.c, seq_edges.c) --------------------------------------------------------- */

/* One end of edges: a flow of a class or of a relay, and the tasks that have it. */
struct seq_end {
    size_t call, param;
    int relay; /* number of the relay, -1: a call */
    bool control; /* the flow carries nothing */
    const char *flow, *cls;
    const char **dims; /* names of the parameters of the class */
    size_t n_dims;
    isl_set *space; /* [params] */
};

/* from[params] -> to[params]; `from` NULL: tasks of `to` read their element, `to` NULL: tasks of
 * `from` store it; `rel` is then the identity on those tasks. `region` is what of the tile goes to
 * or from memory, or from one rank to another. */
typedef struct seq_edge {
    const seq_end *from, *to;
    isl_map *rel;
    unsigned region;
} seq_edge;

typedef struct seq_graph {
    seq_edge *edges;
    size_t n_edges;
    seq_end **ends;
    size_t n_ends;
} seq_graph;

/* seq_flow.c: what each tile that is read was written by. The graph lives in the model's context;
 * false after an error. Fills the relays and `carried` of all. */
bool seq_flow(const seq_file *f, verify_model *m, seq_graph *g, seq_edges_text *all);
void seq_graph_free(seq_graph *g, seq_edges_text *all);
/* seq_edges.c: the lines of all edges. False when one cannot be written (reported). */
bool seq_put_edges(const seq_file *f, verify_model *m, const seq_graph *g, seq_edges_text *all);

/* seq_regions.c: " LOWER" and so on; NULL: this region has no name. */
const char *seq_region_name(unsigned region);

/* seq_edges.c: the definitions that the subscripts of a flow use, as locals of a class. */
void seq_put_definitions(const seq_file *f, const seq_end *like, text *out);

/* seq_print.c: isl objects over dimensions that have names, as expressions of the language. They
 * append to out and are false when that cannot be done. They keep what they get. */
bool seq_put_value(text *out, isl_pw_aff *pa);
bool seq_put_condition(text *out, isl_set *set);

/* seq_calls.c: what isl has to know of each call: it is affine, and no call writes a tile that it
 * has under another name, too. */
bool seq_check_calls(const seq_file *f, verify_model *m);

#endif
