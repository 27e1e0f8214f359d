/*
 * Part of micro.inc.c: LU with partial pivoting of a few columns, in place. A step passes once over what is below its
 * pivot: it divides the column, updates those behind it and finds the pivot of the next one.
 */

/* The largest element of a column so far, lane by lane, and in which row; what is no number is not found. */
typedef struct MICRO(search) {
    MICRO(vector) size;
    MICRO(lanes) row;
} MICRO(search);

INLINE void MICRO(search_add)(MICRO(search) *s, MICRO(vector) x, int row)
{
    MICRO(vector) size = MICRO(chosen)(x < 0, -x, x);
    MICRO(lanes) larger = size > s->size;
    s->size = MICRO(chosen)(larger, size, s->size);
    s->row = (larger & ((MICRO(lanes)){0} + row)) | (~larger & s->row);
}

/* The first row with the largest element; `top` where there are but zeros. */
INLINE int MICRO(search_end)(const MICRO(search) *s, int top)
{
    int found = top;
    elem_t size = 0;
    for (int l = 0; l < LANES; l++) {
        int row = (int)s->row[l] + l;
        bool better = s->size[l] > size || (s->size[l] == size && size > 0 && row < found);
        found = better ? row : found;
        size = better ? s->size[l] : size;
    }
    return found;
}

/* From row `top` on, m in all: column x becomes x / value, by the reciprocal where that is a number; and from the `cols`
 * columns behind it, of which u is a row, x u is subtracted. Returns the pivot of the first of these. */
INLINE int MICRO(lu_pass)(int cols, int m, int top, elem_t value, bool reciprocal, elem_t *x, int lda)
{
    MICRO(search) s = {{0}, {0}};
    MICRO(vector) inverse = (MICRO(vector)){0} + (value == 0 ? 0 : 1 / value), all = (MICRO(vector)){0} + value;
    elem_t u[MICRO_LEAF];
    for (int c = 1; c <= cols; c++)
        u[c - 1] = x[c * (ptrdiff_t)lda + top - 1];
    for (int i = top; i < m; i += LANES) {
        MICRO_MASK part = MICRO_FIRST(m - i < LANES ? m - i : LANES);
        bool whole = m - i >= LANES;
        elem_t *at = x + i;
        MICRO(vector) l = whole ? *(const MICRO(loose) *)at : (MICRO(vector))MICRO_LOAD(part, at);
        l = reciprocal ? l * inverse : l / all;
        if (whole)
            *(MICRO(loose) *)at = l;
        else
            MICRO_STORE(at, part, l);
        _Pragma("GCC unroll 8") for (int c = 1; c <= cols; c++) {
            at += lda;
            MICRO(vector) y = whole ? *(const MICRO(loose) *)at : (MICRO(vector))MICRO_LOAD(part, at);
            y -= l * u[c - 1];
            if (c == 1)
                MICRO(search_add)(&s, y, i);
            if (whole)
                *(MICRO(loose) *)at = y;
            else
                MICRO_STORE(at, part, y);
        }
    }
    return MICRO(search_end)(&s, top);
}

/* With the number of columns known to the compiler. */
static MICRO_TARGET int MICRO(lu_step)(int cols, int m, int top, elem_t value, bool reciprocal, elem_t *x, int lda)
{
    switch (cols) {
    case 7: return MICRO(lu_pass)(7, m, top, value, reciprocal, x, lda);
    case 6: return MICRO(lu_pass)(6, m, top, value, reciprocal, x, lda);
    case 5: return MICRO(lu_pass)(5, m, top, value, reciprocal, x, lda);
    case 4: return MICRO(lu_pass)(4, m, top, value, reciprocal, x, lda);
    case 3: return MICRO(lu_pass)(3, m, top, value, reciprocal, x, lda);
    case 2: return MICRO(lu_pass)(2, m, top, value, reciprocal, x, lda);
    case 1: return MICRO(lu_pass)(1, m, top, value, reciprocal, x, lda);
    default: return MICRO(lu_pass)(0, m, top, value, reciprocal, x, lda);
    }
}

static MICRO_TARGET int MICRO(getrf)(int m, int n, elem_t *A, int lda, elem_t least, int64_t *pivot)
{
    int info = 0, next = 0;
    MICRO(search) s = {{0}, {0}};
    for (int i = 0; i < m; i += LANES)
        MICRO(search_add)(&s, (MICRO(vector))MICRO_LOAD(MICRO_FIRST(m - i < LANES ? m - i : LANES), A + i), i);
    next = MICRO(search_end)(&s, 0);
    for (int j = 0; j < n && j < m; j++) {
        elem_t *x = A + j * (ptrdiff_t)lda, value = x[next];
        bool reciprocal = value >= least || value <= -least;
        pivot[j] = next;
        if (value == 0) {
            info = info > 0 ? info : j + 1;
            reciprocal = true; /* by zero, of zeros */
        }
        for (int c = 0; c < n && next != j; c++) {
            elem_t *a = A + c * (ptrdiff_t)lda, t = a[j];
            a[j] = a[next];
            a[next] = t;
        }
        next = MICRO(lu_step)(n - 1 - j, m, j + 1, value, reciprocal, x, lda);
    }
    return info;
}
