/**
 * @file mtx.h
 * Reading and writing Matrix Market files as streams, in constant memory.
 *
 * Reading: dag_mtx_open parses the header, dag_mtx_each calls a function for every stored entry in
 * the order of the file, as often as wanted. A caller keeps what it owns and drops the rest, so
 * that every process of a parallel job can read the same file. Accepted is the format as
 * published by NIST: `coordinate` and `array`; `real`, `integer`, `complex` and `pattern`; `general`,
 * `symmetric`, `skew-symmetric` and `hermitian`; header words in either case; blank lines
 * anywhere, comments (%) before the size line; one entry per line; LF or CR LF.
 * An entry of a `pattern` file stores no value and is read as 1.
 *
 * Every error is a text "file:line: what is wrong and what to do" in a buffer of the caller.
 * Numbers are read and written in the C locale whatever the program's locale is.
 *
 * Writing: dense `array` `general` files, column by column, 17 significant digits. The file gets
 * its name only when it is complete.
 *
 * A dag_mtx or dag_mtx_writer may be used by one thread at a time.
 */
#ifndef DAG_MTX_H
#define DAG_MTX_H

#include <dag/types.h>

DAG_C_BEGIN

/** Bytes of a buffer for an error text, terminator included; longer texts are cut. */
#define DAG_MTX_ERRLEN 1024

/** Result of the functions below; everything but DAG_MTX_OK comes with an error text. */
typedef enum dag_mtx_result {
    DAG_MTX_OK = 0,
    DAG_MTX_IO,          /**< the operating system refused: no such file, disk full, ... */
    DAG_MTX_FORMAT,      /**< the file is not what its format says */
    DAG_MTX_UNSUPPORTED, /**< a valid file of a kind that is refused */
    DAG_MTX_NO_MEMORY,   /**< out of memory */
    DAG_MTX_STOPPED,     /**< the caller's function asked to stop */
    DAG_MTX_MISUSE       /**< the writer was given too many or too few elements */
} dag_mtx_result;

typedef enum dag_mtx_format { DAG_MTX_COORDINATE, DAG_MTX_ARRAY } dag_mtx_format;

typedef enum dag_mtx_field {
    DAG_MTX_REAL,
    DAG_MTX_INTEGER,
    DAG_MTX_COMPLEX,
    DAG_MTX_PATTERN /**< places of entries without values: each is 1 */
} dag_mtx_field;

typedef enum dag_mtx_symmetry {
    DAG_MTX_GENERAL,
    DAG_MTX_SYMMETRIC,
    DAG_MTX_SKEW_SYMMETRIC,
    DAG_MTX_HERMITIAN
} dag_mtx_symmetry;

/** The content of a file's header. */
typedef struct dag_mtx_info {
    dag_mtx_format format;
    dag_mtx_field field;
    dag_mtx_symmetry symmetry; /**< if not general, rows == cols and only i >= j is stored */
    int64_t rows;
    int64_t cols;
    int64_t entries; /**< number of stored entries, that is, of calls by dag_mtx_each */
} dag_mtx_info;

/** An open file. */
typedef struct dag_mtx dag_mtx;

/**
 * Receives one stored entry. Indices start at 0. `im` is 0 unless the field is complex.
 *
 * Entries are delivered as stored: for a symmetric, skew-symmetric or Hermitian file those with
 * i >= j only, and it is up to the receiver to mirror them. An element of a `coordinate` file
 * may be delivered several times; its value is the sum, so receivers add and do not assign.
 *
 * @return true to go on, false to stop.
 */
typedef bool (*dag_mtx_entry_fn)(void *user, int64_t i, int64_t j, double re, double im);

/**
 * Opens a file and reads its header up to the size line.
 * @param[out] file   receives the open file, to be closed with dag_mtx_close; NULL on error.
 * @param[out] error  at least DAG_MTX_ERRLEN bytes; the text, or "" on success.
 */
dag_mtx_result dag_mtx_open(const char *path, dag_mtx **file, char *error);

/** The header of an open file; valid until the file is closed. */
const dag_mtx_info *dag_mtx_get_info(const dag_mtx *file);

/**
 * Calls `fn(user, ...)` for every entry, in the order of the file, and checks all of it: indices,
 * numbers, the number of entries, that symmetric files store the lower triangle only, that
 * nothing follows. Entries before an error were already delivered. May be called again for
 * another pass, if the file is seekable.
 * @param[out] error  at least DAG_MTX_ERRLEN bytes; the text, or "" on success.
 */
dag_mtx_result dag_mtx_each(dag_mtx *file, dag_mtx_entry_fn fn, void *user, char *error);

/**
 * Number of entries with an infinity or NaN, which are legal in a file, among those the last pass
 * delivered.
 * @param[out] line  if not NULL, receives the line of the first one; 0 if there is none.
 */
int64_t dag_mtx_nonfinite(const dag_mtx *file, int64_t *line);

/** Closes the file and frees it. NULL is allowed. */
void dag_mtx_close(dag_mtx *file);

/** A file being written. */
typedef struct dag_mtx_writer dag_mtx_writer;

/**
 * Starts an `array` `general` file of rows by cols elements, all sizes >= 0.
 *
 * The elements go to a temporary file beside `path`, which dag_mtx_writer_close renames; an
 * existing file stays untouched until then. A path that exists and is no regular file (a pipe, a
 * terminal, /dev/null) is written to directly.
 *
 * @param field    DAG_MTX_REAL or DAG_MTX_COMPLEX (the others are DAG_MTX_MISUSE).
 * @param comment  lines of comment for the header, without the leading %; NULL for none.
 * @param[out] writer  to be ended with dag_mtx_writer_close or dag_mtx_writer_abort; NULL on error.
 * @param[out] error   at least DAG_MTX_ERRLEN bytes; the text, or "" on success.
 */
dag_mtx_result dag_mtx_writer_open(const char *path, dag_mtx_field field, int64_t rows,
                                   int64_t cols, const char *comment, dag_mtx_writer **writer,
                                   char *error);

/**
 * Appends `count` elements in column-major order. `values` holds count doubles, or 2 count of
 * them (real and imaginary part alternating) if the field is complex.
 * After an error the only useful call is dag_mtx_writer_abort.
 */
dag_mtx_result dag_mtx_writer_put(dag_mtx_writer *writer, const double *values, int64_t count,
                                  char *error);

/**
 * Ends the file: checks that it is complete, forces it to disk and gives it its name. Frees the
 * writer in any case; on error the temporary file is removed and `path` is as before.
 */
dag_mtx_result dag_mtx_writer_close(dag_mtx_writer *writer, char *error);

/** True if elements go to `path` at once, so that giving up cannot take them back. */
bool dag_mtx_writer_is_direct(const dag_mtx_writer *writer);

/** Gives up: removes the temporary file and frees the writer. NULL is allowed. */
void dag_mtx_writer_abort(dag_mtx_writer *writer);

DAG_C_END

#endif /* DAG_MTX_H */
