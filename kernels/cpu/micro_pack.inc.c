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

/* A square of LANES x LANES, one bit of the lane number after the other. */
INLINE void MICRO(transpose)(const elem_t *from, ptrdiff_t from_step, elem_t *to, ptrdiff_t to_step)
{
    MICRO(vector) row[LANES];
    _Pragma("GCC unroll 16") for (int i = 0; i < LANES; i++)
        row[i] = *(const MICRO(loose) *)(from + i * from_step);
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
        *(MICRO(loose) *)(to + i * to_step) = row[i];
}
#undef EXCHANGE
#endif

/* Copies rows x k of A, padded with zeros to `padded` rows: vectors may then be read whole. */
static MICRO_TARGET void MICRO(pack)(int rows, int padded, int k, const elem_t *A,
                                     ptrdiff_t row_step, ptrdiff_t col_step, elem_t *to)
{
    int done = 0; /* columns */
#ifdef MICRO_TRANSPOSES
    enum { AHEAD = 64 }; /* elements; rows are streams, and there are too many for the hardware */
    bool along = (col_step == 1 || col_step == -1) && rows == padded && rows % LANES == 0;
    for (; along && done + LANES <= k; done += LANES) {
        int last = col_step < 0 ? LANES - 1 : 0; /* which column has the lowest address */
        const elem_t *from = A + (done + last) * col_step;
        for (int i = 0; i < rows; i += LANES) {
            for (int l = i; l < i + LANES; l++)
                __builtin_prefetch(from + l * row_step + col_step * AHEAD);
            MICRO(transpose)(from + i * row_step, row_step, to + i + (done + last) * padded,
                             col_step * padded);
        }
    }
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
    bool along = (col_step == 1 || col_step == -1) && rows == padded && rows % LANES == 0;
    for (; along && done + LANES <= k; done += LANES) {
        int last = col_step < 0 ? LANES - 1 : 0;
        for (int i = 0; i < rows; i += LANES)
            MICRO(transpose)(from + i + (done + last) * padded, col_step * padded,
                             A + i * row_step + (done + last) * col_step, row_step);
    }
#endif
    for (int p = done; p < k; p++)
        for (int i = 0; i < rows; i++)
            A[i * row_step + p * col_step] = from[i + p * padded];
}
