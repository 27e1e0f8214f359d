/* What the files share that read the nest: seq_nest.c and seq_values.c. */
#ifndef DAGCC_SEQ_NEST_H
#define DAGCC_SEQ_NEST_H

#include "seq_impl.h"

enum { SEQ_MAX_DEPTH = 64 };

/* A scalar that was declared without a value. */
typedef struct seq_declared {
    const char *name;
    src_range type;
    bool integer;
} seq_declared;

typedef struct seq_nest {
    seq_file *f;
    const seq_token *t, *end;
    seq_item *items[SEQ_MAX_DEPTH]; /* what stands around t */
    size_t n_items;
    long position[SEQ_MAX_DEPTH]; /* of the next statement, by the number of loops around it */
    size_t n_loops;
    seq_declared *counters; /* int i, j; */
    size_t n_counters;
    seq_item **temps; /* scalars for bodies that are known at t */
    size_t n_temps;
} seq_nest;

/* seq_values.c; false, where that is no answer, after an error. */
bool seq_nest_is(const seq_nest *n, const seq_token *t, const char *word);
const char *seq_nest_word(const seq_nest *n, const seq_token *t);
bool seq_not_understood(const seq_nest *n, const seq_token *t, const char *what); /* false */
/* A construct that surrounds what follows. False: its name is taken (reported). */
bool seq_push(seq_nest *n, seq_item item);
bool seq_is_integer(const seq_nest *n, const seq_token *t); /* a type */
bool seq_is_temp(const seq_nest *n, const char *name);      /* a scalar that bodies alone use */
const seq_declared *seq_find_declared(const seq_nest *n, const char *name);
/* A bound, a condition, a subscript: an expression of the language. */
bool seq_plain(const seq_nest *n, const seq_token *begin, const seq_token *end);
/* Has every name that was declared without a value one here? */
bool seq_has_values(const seq_nest *n, const seq_token *begin, const seq_token *end);
/* Where the first name of a definition of scalars stands, behind its type; NULL: it is none. */
const seq_token *seq_definition_at(const seq_nest *n, bool *integer);
bool seq_read_definition(seq_nest *n, const seq_token *first, bool integer);
bool seq_read_assignment(seq_nest *n);
/* seq_local.c: DAG_TILES(W, A); */
bool seq_read_tiles(seq_nest *n);

#endif
