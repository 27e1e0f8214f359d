/* What the files share that read a file: seq_read.c and seq_kernel.c. */
#ifndef DAGCC_SEQ_READER_H
#define DAGCC_SEQ_READER_H

#include "seq_impl.h"

typedef struct seq_reader {
    seq_file *f;
    const seq_token *begin, *t, *end; /* end: the token SEQ_END */
    uint32_t free_from;               /* where the C begins that is to be copied */
    bool elsewhere;                   /* kernels beside the nest: nothing is copied */
} seq_reader;

/* TYPE NAME ( params ) { body } */
typedef struct seq_function {
    const seq_token *name, *open, *close, *body, *end;
} seq_function;

bool seq_reads(const seq_reader *r, const seq_token *t, const char *word);
/* The function from `first` on, which `pragma` is about. False: there is none (reported). */
bool seq_read_function(const seq_reader *r, const seq_token *pragma, const seq_token *first,
                       seq_function *fn);
/* The next parameter: [*t, stop), and its name, the last word. */
bool seq_next_param(const seq_reader *r, const seq_token **t, const seq_function *fn,
                    const seq_token **stop, const seq_token **name);
/* seq_kernel.c: what `pragma` says from t on of the function that begins with `first`. */
bool seq_read_kernel(seq_reader *r, const seq_token *pragma, const seq_token *t,
                     const seq_token *end, const seq_token *first);
/* False: there is one of this name (reported). */
bool seq_add_kernel(seq_file *f, seq_kernel *k);

#endif
