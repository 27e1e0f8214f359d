/* What the files share that write a graph as text: seq_text.c, seq_body.c and seq_put.c. */
#ifndef DAGCC_SEQ_TEXT_H
#define DAGCC_SEQ_TEXT_H

#include "seq_impl.h"

typedef struct seq_writer {
    const seq_file *f;
    const seq_edges_text *edges; /* NULL: flows read and write memory */
    text out;
    src_piece *pieces;
    size_t n_pieces;
    uint32_t anchor; /* what is made here stands for this place */
} seq_writer;

/* seq_put.c */
void seq_put(seq_writer *w, const char *fmt, ...) UTIL_PRINTF(2, 3);
/* What the user wrote, which keeps its place if it stands in the file of the nest. A member of a
 * matrix that is handed over by value is one of a pointer in the graph. */
void seq_put_source(seq_writer *w, src_range r);
void seq_stand_for(seq_writer *w, src_range r);
bool seq_blank(const src_set *s, src_range r);
src_range seq_trimmed(const src_set *s, src_range r); /* without the empty lines around it */

/* seq_body.c: the scalars of a kernel that become locals of the class, and its body. */
void seq_put_scalars(seq_writer *w, const seq_call *c);
void seq_put_body(seq_writer *w, const seq_call *c);
/* seq_serial.c: what stands in front of a body that tells what it makes of its tiles, and behind. */
void seq_put_enter(seq_writer *w, const seq_call *c);
void seq_put_leave(seq_writer *w);
/* No name goes into the class that means something else there. False: one does (reported). */
bool seq_check_scalars(const seq_writer *w, const seq_call *c);

#endif
