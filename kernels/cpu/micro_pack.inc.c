/*
 * Part of micro.inc.c: copies of parts of a matrix, transposed in registers where rows lie apart.
 */

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define MICRO_TRANSPOSES 1
#endif
#endif

#ifdef MICRO_TRANSPOSES
/* Row i exchanges lanes with row i + s. */
#define EXCHANGE(row, i, s)                                                                        \
    do {                                                                                           \
        MICRO(vector) low_ = (row)[i], high_ = (row)[(i) + (s)];                                   \
        (row)[i] = __builtin_shufflevector(low_, high_, MICRO_LANES(KEEP_LOW, s));                 \
        (row)[(i) + (s)] = __builtin_shufflevector(low_, high_, MICRO_LANES(KEEP_HIGH, s));        \
    } while (0)

/* A square of LANES x LANES, one bit of the lane number after the other; of `from` that has `rows` rows, of which the last
 * is taken again, to `to` that has `columns`, what is beyond being left. */
INLINE void MICRO(transpose_part)(const elem_t *from, ptrdiff_t from_step, int rows, elem_t *to, ptrdiff_t to_step,
                                  int columns)
{
    MICRO(vector) row[LANES];
    _Pragma("GCC unroll 16") for (int i = 0; i < LANES; i++)
        row[i] = *(const MICRO(loose) *)(from + (i < rows ? i : rows - 1) * from_step);
    _Pragma("GCC unroll 16") for (int i = 0; i < LANES; i++)
        if ((i & 1) == 0)
            EXCHANGE(row, i, 1);
    _Pragma("GCC unroll 16") for (int i = 0; i < LANES; i++)
        if ((i & 2) == 0)
            EXCHANGE(row, i, 2);
    _Pragma("GCC unroll 16") for (int i = 0; i < LANES; i++)
        if (LANES > 4 && (i & 4) == 0)
            EXCHANGE(row, i, (LANES > 4 ? 4 : 0));
    _Pragma("GCC unroll 16") for (int i = 0; i < LANES; i++)
        if (LANES > 8 && (i & 8) == 0)
            EXCHANGE(row, i, (LANES > 8 ? 8 : 0));
    _Pragma("GCC unroll 16") for (int i = 0; i < LANES; i++)
        if (i < columns)
            *(MICRO(loose) *)(to + i * to_step) = row[i];
}
#undef EXCHANGE

INLINE void MICRO(transpose)(const elem_t *from, ptrdiff_t from_step, elem_t *to, ptrdiff_t to_step)
{
    MICRO(transpose_part)(from, from_step, LANES, to, to_step, LANES);
}
#endif

/* Whether rows are transposed square by square: also what is less than a square, with AVX2. */
static bool MICRO(in_squares)(int rows, int padded, ptrdiff_t col_step)
{
#ifdef MICRO_TRANSPOSES
    return (col_step == 1 || col_step == -1) && padded % LANES == 0 && (rows == padded || MICRO_COLS < 8);
#else
    (void)rows, (void)padded, (void)col_step;
    return false;
#endif
}

/* From column `at` on, of k, squares; the next column to begin with, or k. The last columns, if fewer than LANES, are taken
 * with some before them. */
static int MICRO(next_square)(int at, int k)
{
    return at + 2 * LANES <= k || at + LANES == k || MICRO_COLS == 8 ? at + LANES : k - LANES;
}

#ifdef MICRO_TRANSPOSES
INLINE void MICRO(pack_squares)(int rows, int padded, int at, const elem_t *A, ptrdiff_t row_step, ptrdiff_t col_step,
                                elem_t *to)
{
    enum { AHEAD = 64 }; /* elements; rows are streams, and there are too many for the hardware */
    int last = at + (col_step < 0 ? LANES - 1 : 0); /* which column has the lowest address */
    const elem_t *from = A + last * col_step;
    for (int i = 0; i < padded; i += LANES) {
        elem_t *square = to + i + last * padded;
        for (int l = i; l < i + LANES; l++)
            __builtin_prefetch(from + l * row_step + col_step * AHEAD);
        if (MICRO_COLS == 8 || i + LANES <= rows)
            MICRO(transpose)(from + i * row_step, row_step, square, col_step * padded);
        else
            MICRO(transpose_part)(from + i * row_step, row_step, rows - i, square, col_step * padded, LANES);
    }
}

INLINE void MICRO(unpack_squares)(int rows, int padded, int at, const elem_t *packed, elem_t *A, ptrdiff_t row_step,
                                  ptrdiff_t col_step)
{
    int last = at + (col_step < 0 ? LANES - 1 : 0);
    for (int i = 0; i < rows; i += LANES) {
        const elem_t *square = packed + i + last * padded;
        elem_t *to = A + i * row_step + last * col_step;
        if (MICRO_COLS == 8 || i + LANES <= rows)
            MICRO(transpose)(square, col_step * padded, to, row_step);
        else
            MICRO(transpose_part)(square, col_step * padded, LANES, to, row_step, rows - i);
    }
}
#endif

/* Copies rows x k of A to `padded` rows, by whole vectors: those that A does not have are zero, or one that it has. */
static MICRO_TARGET void MICRO(pack)(int rows, int padded, int k, const elem_t *A,
                                     ptrdiff_t row_step, ptrdiff_t col_step, elem_t *to)
{
    int done = 0; /* columns */
#ifdef MICRO_TRANSPOSES
    for (bool squares = MICRO(in_squares)(rows, padded, col_step); squares && done + LANES <= k;
         done = MICRO(next_square)(done, k))
        MICRO(pack_squares)(rows, padded, done, A, row_step, col_step, to);
#endif
    if (row_step == 1 && rows == MICRO_ROWS && padded == rows)
        for (; done < k; done++) {
            const MICRO(loose) *a = (const MICRO(loose) *)(A + done * col_step);
            MICRO(loose) *b = (MICRO(loose) *)(to + done * MICRO_ROWS);
            b[0] = a[0];
            b[1] = a[1];
            b[2] = a[2];
        }
    if (row_step == 1 && padded % LANES == 0 && rows > padded - LANES) {
        MICRO_MASK last = MICRO_FIRST(rows - padded + LANES);
        for (; done < k; done++) {
            const elem_t *a = A + done * col_step;
            for (int i = 0; i < padded; i += LANES)
                *(MICRO(loose) *)(to + i + done * padded) =
                    i + LANES <= rows ? *(const MICRO(loose) *)(a + i)
                                      : (MICRO(vector))MICRO_LOAD(last, a + i);
        }
    }
    for (int p = done; p < k; p++)
        for (int i = 0; i < padded; i++)
            to[i + p * padded] = i < rows ? A[i * row_step + p * col_step] : 0;
}

/* The way back. */
static MICRO_TARGET void MICRO(unpack)(int rows, int padded, int k, const elem_t *from, elem_t *A,
                                       ptrdiff_t row_step, ptrdiff_t col_step)
{
    int done = 0;
#ifdef MICRO_TRANSPOSES
    for (bool squares = MICRO(in_squares)(rows, padded, col_step); squares && done + LANES <= k;
         done = MICRO(next_square)(done, k))
        MICRO(unpack_squares)(rows, padded, done, from, A, row_step, col_step);
#endif
    for (int p = done; p < k; p++)
        for (int i = 0; i < rows; i++)
            A[i * row_step + p * col_step] = from[i + p * padded];
}
