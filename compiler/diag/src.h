/* Source texts and places in them.
 *
 * A place is a range of byte offsets into one text; line and column are computed only when
 * something is printed. Every text that can carry a diagnostic (the .jdf file, an --assume
 * argument) is added to one src_set and known by a small number from then on.
 */
#ifndef DAGCC_SRC_H
#define DAGCC_SRC_H

#include "util.h"

/* Bytes [begin, end) of text number `file`. An empty range (begin == end) is a point. Range
 * {0,0,0}, file 0, means "no place": files are numbered from 1. */
typedef struct src_range {
    uint32_t file;
    uint32_t begin;
    uint32_t end;
} src_range;

/* 1-based; columns count bytes. */
typedef struct src_pos {
    uint32_t line;
    uint32_t col;
} src_pos;

typedef struct src_set src_set;

/* Texts are limited so that offsets fit in 32 bits and in flex's int. */
#define SRC_MAX_BYTES ((size_t)1 << 30)

src_set *src_set_new(void);
void src_set_free(src_set *set);

/* Copies len bytes (NUL bytes allowed) under the given display name; returns the file number, or
 * 0 when len exceeds SRC_MAX_BYTES. */
uint32_t src_add(src_set *set, const char *name, const char *bytes, size_t len);
/* Reads a file ("-" is standard input). Returns 0 and sets *error (a static string or strerror
 * text) when that fails. */
uint32_t src_add_file(src_set *set, const char *path, const char **error);

/* A piece of a text that was made from another one, up to the next piece. */
typedef struct src_piece {
    uint32_t at;                /* first byte of the piece */
    uint32_t from;              /* its place in the origin */
    bool verbatim;              /* the bytes are those of the origin; else all stand for the place
                                   */
} src_piece;

/* Adds a text that was made from text number `origin`. It has the name of the origin, and its lines
 * and columns are those of the origin: what is said about it is said about what the user wrote.
 * `pieces` are in order and the first begins at 0. Returns 0 when len exceeds SRC_MAX_BYTES. */
uint32_t src_add_view(src_set *set, uint32_t origin, const char *bytes, size_t len,
                      const src_piece *pieces, size_t n);
bool src_is_view(const src_set *set, uint32_t file);

bool src_knows(const src_set *set, uint32_t file);
const char *src_name(const src_set *set, uint32_t file);
const char *src_bytes(const src_set *set, uint32_t file);     /* NUL-terminated */
size_t src_len(const src_set *set, uint32_t file);

/* Text of a range: not NUL-terminated, length range.end - range.begin. */
const char *src_text(const src_set *set, src_range range);
size_t src_range_len(src_range range);
bool src_range_is_none(src_range range);

src_pos src_pos_of(const src_set *set, uint32_t file, uint32_t offset);
src_pos src_begin(const src_set *set, src_range range);
/* The position of the last byte of the range (of begin when the range is empty). */
src_pos src_last(const src_set *set, src_range range);
/* Line number `line` (1-based) without its newline; sets *len. */
const char *src_line(const src_set *set, uint32_t file, uint32_t line, size_t *len);

/* Smallest range that covers both; a none range is neutral. */
src_range src_join(src_range a, src_range b);
src_range src_point(uint32_t file, uint32_t offset);

#endif
