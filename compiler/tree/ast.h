/* The syntax tree of one .jdf file, exactly as written.
 *
 * The parser builds it and nothing changes it afterwards: what names refer to, types and all
 * other results of analysis live in sema.h, indexed by node id. All nodes of a file come from one
 * arena and go with it. Names are interned (compare with ==). Lists are arrays with a count.
 *
 * Every node begins with an ast_node: its id (0 .. ast_file.node_count - 1, unique in the file)
 * and its source range. The grammar production that a struct stands for is above it.
 */
#ifndef DAGCC_AST_H
#define DAGCC_AST_H

#include "diag/src.h"

/* No expression is nested deeper (a diagnosed error otherwise). */
#define AST_MAX_DEPTH 1000

typedef struct ast_node {
    uint32_t id;
    src_range range;            /* from the first to behind the last byte of the construct */
} ast_node;

/* A name where it is written; text is NULL when the name is absent. */
typedef struct ast_ident {
    const char *text;
    src_range range;
} ast_ident;

typedef struct ast_expr ast_expr;
typedef struct ast_index ast_index;
typedef struct ast_indices ast_indices;
typedef struct ast_value ast_value;
typedef struct ast_prop ast_prop;
typedef struct ast_props ast_props;
typedef struct ast_call ast_call;
typedef struct ast_dep ast_dep;
typedef struct ast_flow ast_flow;
typedef struct ast_local ast_local;
typedef struct ast_body ast_body;
typedef struct ast_class ast_class;
typedef struct ast_global ast_global;
typedef struct ast_option ast_option;
typedef struct ast_precision ast_precision;
typedef struct ast_assume ast_assume;
typedef struct ast_fact ast_fact;
typedef struct ast_import ast_import;
typedef struct ast_code ast_code;
typedef struct ast_file ast_file;

/* %fact name params '=' expr          what a function of the application gives
 * %fact name params '=' lo '..' hi    or between what it lies
 * %fact name params word ['(' name ')']   or what it is like; of which function it is the inverse */
typedef enum ast_fact_kind {
    AST_FACT_VALUE, AST_FACT_RANGE, AST_FACT_PURE, AST_FACT_MONOTONE, AST_FACT_INVERSE,
    AST_FACT_UNKNOWN,           /* another word; was reported */
} ast_fact_kind;

enum { AST_FACT_PARAMS = 4 };   /* most, but of AST_FACT_VALUE */

/* ---- expressions ------------------------------------------------------------------------- */

typedef enum ast_expr_kind {
    AST_INT,            /* u.integer                        42  0x2a */
    AST_BOOL,           /* u.boolean                        on  off  true  no  (inside [...]) */
    AST_STRING,         /* u.string                         "A->mt - 1" */
    AST_NAME,           /* u.name                           k */
    AST_MEMBER,         /* u.member                         A->mt  d.super.mb (nested) */
    AST_UNARY,          /* u.unary                          -x  !x */
    AST_BINARY,         /* u.binary                         a + b */
    AST_COND,           /* u.cond                           c ? a : b */
    AST_INLINE_C,       /* u.code                           %{ return f(k); %} */
    AST_CALL_VALUE,     /* u.call                           min(a, b)  max  ceildiv; as value of a
                           property also                    hier(4) */
    AST_BAD,            /* stands where a syntax error was; diagnosed already */
} ast_expr_kind;

typedef enum ast_op {
    AST_OP_NEG, AST_OP_NOT,                                     /* unary */
    AST_OP_OR, AST_OP_AND, AST_OP_XOR,                          /* ||  &&  ^ (bitwise) */
    AST_OP_EQ, AST_OP_NE, AST_OP_LT, AST_OP_LE, AST_OP_GT, AST_OP_GE,
    AST_OP_SHL, AST_OP_SHR,
    AST_OP_ADD, AST_OP_SUB, AST_OP_MUL, AST_OP_DIV, AST_OP_MOD, /* / and % truncate as in C */
} ast_op;

struct ast_expr {
    ast_node node;              /* range includes enclosing parentheses */
    ast_expr_kind kind;
    uint16_t parens;            /* number of parentheses written around it */
    uint16_t depth;             /* nesting of the tree below, bounded so that walks may recurse */
    union {
        struct {
            int64_t value;      /* never negative: the minus is a unary operator */
        } integer;
        bool boolean;
        struct {
            const char *text;   /* unescaped, NUL-terminated */
            size_t len;
            ast_expr *parsed;   /* the text as an expression where the language reads it as one
                                   (default, size); NULL otherwise or if it is none */
        } string;
        const char *name;
        struct {
            ast_expr *object;
            ast_ident field;
            bool arrow;         /* -> or . */
        } member;
        struct {
            ast_op op;
            ast_expr *operand;
        } unary;
        struct {
            ast_op op;
            src_range op_range;
            ast_expr *left;
            ast_expr *right;
        } binary;
        struct {
            ast_expr *test;
            ast_expr *yes;
            ast_expr *no;
        } cond;
        struct {
            src_range text;     /* between %{ and %} */
            ast_expr *parsed;   /* the expression it returns, where one of the language says it as
                                   well; NULL otherwise. Not among the children */
            bool by_fact;       /* a %fact was needed to see that */
        } code;
        struct {
            ast_ident name;
            ast_expr **args;
            size_t n_args;
        } call;
    } u;
};

/* The functions of the language. NONE: other words before a parenthesis, values of properties. */
typedef enum ast_function { AST_FUNCTION_NONE, AST_MIN, AST_MAX, AST_CEILDIV } ast_function;
ast_function ast_function_of(const ast_expr *e);
/* The kind of fact that a word says, which another name follows or not. */
ast_fact_kind ast_fact_called(const char *word, bool other);
/* The first fact about a function, of this kind (AST_FACT_UNKNOWN: of any kind); NULL: there is none. */
const ast_fact *ast_find_fact(const ast_file *file, const char *function, ast_fact_kind kind);
/* ceildiv(a, b), b > 0: the least integer that is not below a / b. */
int64_t ast_ceildiv(int64_t a, int64_t b);

/* i = lo .. hi [.. step]   |   i = expr        (one item of a local index list) */
struct ast_index {
    ast_node node;
    ast_ident name;
    ast_expr *lo;
    ast_expr *hi;               /* NULL: a single value */
    ast_expr *step;             /* NULL: 1 */
};

/* '[' index { ',' index } ']'  ; later items may use earlier ones */
struct ast_indices {
    ast_node node;
    ast_index **items;
    size_t n;
};

/* expr  |  lo .. hi [.. step]  |  indices expr        (a definition or an argument) */
struct ast_value {
    ast_node node;
    ast_indices *indices;       /* NULL: none; then hi is NULL too */
    ast_expr *lo;               /* the expression when hi is NULL */
    ast_expr *hi;
    ast_expr *step;             /* NULL: 1 */
};

/* ---- properties -------------------------------------------------------------------------- */

/* [owner '.'] name [ '=' value ]      a name alone is a flag: [dynamic] */
struct ast_prop {
    ast_node node;
    ast_ident owner;            /* X in X.size; .text NULL if absent */
    ast_ident name;
    ast_expr *value;            /* NULL: flag */
};

/* '[' prop ... ']' */
struct ast_props {
    ast_node node;
    ast_prop **items;
    size_t n;
};

/* ---- task classes ------------------------------------------------------------------------ */

typedef enum ast_call_kind {
    AST_CALL_TASK,              /* [indices] flow target ( args ) */
    AST_CALL_MEMORY,            /* [indices] target ( args ) */
    AST_CALL_NEW,
    AST_CALL_NULL,
} ast_call_kind;

struct ast_call {
    ast_node node;
    ast_call_kind kind;
    ast_indices *indices;       /* list written at the call; NULL if none */
    ast_ident flow;             /* AST_CALL_TASK only */
    ast_ident target;           /* class or collection; the keyword for NEW and NULL */
    ast_value **args;
    size_t n_args;
    src_range args_range;       /* with the parentheses */
    ast_props *props;           /* those of NEW before a ':'; NULL: none */
};

typedef enum ast_dir { AST_IN, AST_OUT } ast_dir;

/* arrow [indices] [cond '?'] call [[props] ':' call] [props] */
struct ast_dep {
    ast_node node;              /* from the arrow on */
    ast_dir dir;
    src_range arrow;
    ast_indices *indices;       /* list written before the guard (or before an unguarded call) */
    ast_expr *cond;             /* NULL: always */
    ast_call *yes;
    ast_call *no;               /* NULL: no alternative */
    ast_props *props;           /* NULL: none */
    bool derived;               /* not written so: it replaces what is (expand/) */
};

typedef enum ast_flow_kind { AST_RW, AST_READ, AST_WRITE, AST_CTL } ast_flow_kind;

/* [kind] name { dep } */
struct ast_flow {
    ast_node node;
    ast_flow_kind kind;
    ast_ident kind_word;        /* as written; .text NULL: no kind (then AST_RW) */
    ast_ident name;
    ast_dep **deps;             /* in textual order, inputs and outputs mixed as written */
    size_t n_deps;
};

/* name '=' value [props]       a parameter's range or a derived value */
struct ast_local {
    ast_node node;
    ast_ident name;
    ast_value *value;
    ast_props *props;
};

/* BODY [props] newline text END */
struct ast_body {
    ast_node node;
    src_range keyword;
    ast_props *props;
    src_range text;             /* whole lines between BODY and END, newline of the last included */
};

/* name '(' params ')' [props] locals [SIMCOST expr] ':' placement flows [';' priority] bodies */
struct ast_class {
    ast_node node;
    ast_ident name;
    src_range head;             /* name and parameter list */
    ast_ident *params;
    size_t n_params;
    ast_props *props;
    ast_local **locals;         /* in textual order = nesting order of the space */
    size_t n_locals;
    ast_expr *simcost;          /* NULL: none */
    src_range simcost_range;
    ast_call *placement;        /* AST_CALL_MEMORY; NULL only after a syntax error */
    ast_flow **flows;
    size_t n_flows;
    ast_expr *priority;         /* NULL: none */
    ast_body **bodies;
    size_t n_bodies;
    const ast_class *stands_for;    /* not written: it combines what goes into flow */
    const ast_flow *stands_into;    /* `stands_into` of that class, which has one parameter less;
                                       NULL: it was written */
};

/* ---- file level -------------------------------------------------------------------------- */

/* name [props]  |  name '=' expr [props] */
struct ast_global {
    ast_node node;
    ast_ident name;
    ast_expr *value;            /* NULL if not written with '=' */
    ast_props *props;
};

/* %option prop */
struct ast_option {
    ast_node node;
    ast_prop *prop;
};

/* %precision s d c z */
struct ast_precision {
    ast_node node;
    ast_ident *items;
    size_t n;
};

/* %assume expr */
struct ast_assume {
    ast_node node;
    ast_expr *expr;
};

struct ast_fact {
    ast_node node;
    ast_fact_kind kind;
    ast_ident name;
    ast_ident *params;
    size_t n_params;
    ast_expr *expr;             /* value, or lo */
    ast_expr *hi;
    ast_ident word, other;      /* name NULL: none */
};

/* %import prefix "path" [props]       a property: what a name of that file is here */
struct ast_import {
    ast_node node;
    ast_ident prefix;
    ast_expr *path;             /* AST_STRING */
    ast_props *props;           /* NULL: none */
};

/* extern "C" %{ newline text %} */
struct ast_code {
    ast_node node;
    src_range text;
};

typedef enum ast_item_kind {
    AST_ITEM_GLOBAL, AST_ITEM_OPTION, AST_ITEM_PRECISION, AST_ITEM_ASSUME, AST_ITEM_CLASS,
    AST_ITEM_IMPORT, AST_ITEM_FACT, AST_ITEM_CODE,
} ast_item_kind;

/* The top level in textual order (for printing the file as written). */
typedef struct ast_item {
    ast_item_kind kind;
    union {
        ast_global *global;
        ast_option *option;
        ast_precision *precision;
        ast_assume *assume;
        ast_class *cls;
        ast_import *import;
        ast_fact *fact;
        ast_code *code;
    } u;
} ast_item;

typedef struct ast_facts {
    ast_fact **items;
    size_t n;
} ast_facts;

typedef struct ast_imports {
    ast_import **items;
    size_t n;
    uint32_t *inlined;          /* texts whose classes are among those of the file (expand/), each once */
    size_t n_inlined;
} ast_imports;

struct ast_file {
    ast_node node;
    const src_set *sources;
    uint32_t file;              /* number in sources */
    ast_item *items;
    size_t n_items;

    /* the same, by kind */
    ast_code *prologue;         /* NULL if absent */
    ast_code *epilogue;
    ast_global **globals;
    size_t n_globals;
    ast_option **options;
    size_t n_options;
    ast_precision *precision;   /* NULL if absent; the first one written */
    ast_assume **assumes;       /* those of the file, then those of --assume */
    size_t n_assumes;
    ast_facts facts;
    ast_class **classes;
    size_t n_classes;
    ast_imports imports;

    src_range *comments;        /* every comment outside bodies and inline C, in order */
    size_t n_comments;
    uint32_t node_count;
    bool has_errors;            /* a syntax error was reported: the tree may have holes */
    src_range too_deep;         /* the first expression that was cut for its depth, or none */
    arena *arena;               /* holds the tree; freed by ast_free */
    names *names;               /* the interned names of the tree */
};

void ast_free(ast_file *file);
/* Frees the tree of ast_share(). */
void ast_free_shared(ast_file *file);

/* ---- helpers ----------------------------------------------------------------------------- */

const char *ast_op_text(ast_op op);                     /* "+" */
const char *ast_flow_kind_text(ast_flow_kind kind);     /* "RW" */
/* The property called `name` (without owner), or NULL; props may be NULL. */
const ast_prop *ast_find_prop(const ast_props *props, const char *name);
const ast_local *ast_find_local(const ast_class *cls, const char *name);
const ast_flow *ast_find_flow(const ast_class *cls, const char *name);
const ast_global *ast_find_global(const ast_file *file, const char *name);
const ast_class *ast_find_class(const ast_file *file, const char *name);

/* Calls fn for each direct subexpression. */
typedef void ast_expr_fn(const ast_expr *e, void *arg);
void ast_each_child(const ast_expr *e, ast_expr_fn *fn, void *arg);
/* For each expression of an index list, a value, a call; NULL has none. */
void ast_each_in_indices(const ast_indices *list, ast_expr_fn *fn, void *arg);
void ast_each_in_value(const ast_value *v, ast_expr_fn *fn, void *arg);
void ast_each_in_call(const ast_call *call, ast_expr_fn *fn, void *arg);
/* True when e or a subexpression is inline C. */
bool ast_has_inline_c(const ast_expr *e);

/* ast_print.c: the tree as an indented listing (--emit=ast), with line:col ranges if asked. */
void ast_dump(const ast_file *file, text *out, bool with_ranges);

#endif
