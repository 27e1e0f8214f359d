/*
 * Rows of a matrix dealt to P process rows in blocks of NB, and what the exchanges of a panel come
 * to. Row g of the matrix is row la_local_row(g) of the stack of its process row. Included by the
 * prologue of task graphs, once per generated file.
 */
#ifndef LA_ROWS_H
#define LA_ROWS_H

#include <dag/dag.h>
#include <dag/kernels.h>
#include <dag/kernels_device.h>

#include <stdint.h>
#include <string.h>

static inline int la_owner(int64_t g, int nb, int P)
{
    return (int)(g / nb % P);
}

static inline int la_local_row(int64_t g, int nb, int P)
{
    return (int)(g / nb / P * nb + g % nb);
}

static inline int64_t la_global_row(int local, int nb, int P, int p)
{
    return ((int64_t)(local / nb) * P + p) * nb + local % nb;
}

/* The first row of process row p at or below block row k; `rows` where there is none. */
static inline int la_first_row(int64_t k, int nb, int P, int p, int rows)
{
    int64_t first = k > p ? (k - p + P - 1) / P * nb : 0;
    return first < rows ? (int)first : rows;
}

/* Where piece h of H of so many rows begins: kernels like multiples of 48 rows. */
static inline int la_piece(int rows, int h, int H)
{
    return h == H ? rows : (int)((int64_t)rows * h / H / 48 * 48);
}

/*
 * The exchanges pivot[top], ..., pivot[top+count-1], made one after the other, as a permutation.
 * The first `count` rows of a block row at `top` get the old rows source[i]; row to[i] below them
 * gets the old row top + from[i]. No row below comes from another such row: a row that has come up
 * is not touched again.
 */
typedef struct la_moves {
    int64_t top;
    int count; /* rows of the block row that take part */
    int nb;
    int down;  /* rows that go down */
    int64_t *source, *to;
    int *from;
} la_moves;

/* Where kernels are modelled there are no pivots to look at. Nothing moves, and the model is told of what a
 * process row moves of `rows` rows if all of them are as likely to: one in P. Rows of a stack are far apart in memory
 * (PUT_ROWS), those of W are near each other (LACPY). */
static inline int la_moves_modelled(dag_kernel_op op, int rows, int P, int columns, size_t item)
{
    if (!dag_kernels_modelled())
        return 0;
    dag_precision prec = item == sizeof(float) ? DAG_S : item > sizeof(double) ? DAG_Z : DAG_D;
    dag_kernels_tell(op, prec, (double)rows / P * columns * (double)item);
    return 1;
}

/* Memory of the worker for a task that moves rows; NULL: there is none, and the task has failed. */
static inline void *la_workspace(struct dag_task *task, size_t bytes)
{
    void *at = dag_task_workspace(task, bytes);
    if (at == NULL)
        dag_task_fail(task, "no memory for the exchanges of rows");
    return at;
}

/* A block of memory for the moves within nb rows; la_moves_of_panel() lays it out. */
static inline size_t la_moves_bytes(int nb)
{
    return sizeof(la_moves) + (size_t)nb * (2 * sizeof(int64_t) + sizeof(int));
}

static inline void la_moves_layout(la_moves *m, int64_t top, int count, int nb)
{
    m->top = top;
    m->count = count;
    m->nb = nb;
    m->down = 0;
    m->source = (int64_t *)(m + 1);
    m->to = m->source + nb;
    m->from = (int *)(m->to + nb);
    for (int i = 0; i < count; i++)
        m->source[i] = top + i;
}

/* Moves behind the NB x NB elements at T, to be laid out there; and those that lie there. */
static inline size_t la_moves_offset(int nb, size_t item)
{
    return ((size_t)nb * (size_t)nb * item + 15) / 16 * 16;
}

static inline la_moves *la_moves_behind(void *T, int nb, size_t item)
{
    return (la_moves *)(void *)((char *)T + la_moves_offset(nb, item));
}

/* Those of `count` rows from `top` on. Where kernels are modelled all values may lie at one address, so what is there may
 * be another's. */
static inline la_moves la_moves_kept(const void *T, int64_t top, int count, int nb, size_t item)
{
    if (dag_kernels_modelled())
        return (la_moves){.top = top, .count = count, .nb = nb};
    const union { /* READ flows are const; nothing is written by way of this */
        const void *in;
        char *at;
    } u = {T};
    la_moves *kept = la_moves_behind(u.at, nb, item), m = *kept;
    m.source = (int64_t *)(kept + 1); /* another rank may have made it */
    m.to = m.source + nb;
    m.from = (int *)(m.to + nb);
    return m;
}

/* One exchange, of row top + i with row r >= top. */
static inline void la_moves_exchange(la_moves *m, int i, int64_t r)
{
    if (r < m->top + m->count) { /* both take part */
        int64_t t = m->source[i];
        m->source[i] = m->source[r - m->top];
        m->source[r - m->top] = t;
        return;
    }
    int d = 0;
    while (d < m->down && m->to[d] != r)
        d++;
    int64_t up = r;
    if (d < m->down)
        up = m->top + m->from[d];
    else
        m->to[m->down++] = r;
    m->from[d] = (int)(m->source[i] - m->top);
    m->source[i] = up;
}

/* In the order of the factorisation. `pivot` is indexed by rows of the matrix. */
static inline void la_moves_of_panel(la_moves *m, int64_t top, int count, int nb,
                                     const int64_t *pivot)
{
    la_moves_layout(m, top, count, nb);
    for (int i = 0; i < count && !dag_kernels_modelled(); i++)
        la_moves_exchange(m, i, pivot[top + i]);
}

/* Step s of the exchanges of the first K rows in KT block rows, from the end when undone. The
 * inverse of a permutation that takes `source` up and `from` down takes them the other way. */
static inline void la_moves_of_step(la_moves *m, int s, int KT, int64_t K, int nb,
                                    const int64_t *pivot, int backward)
{
    int64_t top = (int64_t)(backward ? KT - 1 - s : s) * nb;
    int count = K - top < nb ? (int)(K - top) : nb;
    la_moves_layout(m, top, count, nb);
    for (int i = 0; i < count && !dag_kernels_modelled(); i++)
        la_moves_exchange(m, backward ? count - 1 - i : i, pivot[top + (backward ? count - 1 - i : i)]);
}

/* The same in a task's workspace, with *row behind it; NULL: the task has failed. */
static inline la_moves *la_moves_for_step(struct dag_task *task, int s, int KT, int64_t K, int nb,
                                          const int64_t *pivot, int backward, int **row)
{
    la_moves *m = (la_moves *)la_workspace(task, la_moves_bytes(nb) + (size_t)nb * sizeof(**row));
    if (m != NULL) {
        la_moves_of_step(m, s, KT, K, nb, pivot, backward);
        *row = m->from + nb;
    }
    return m;
}

/* Those of a panel, for devices; `pivot` is there. */
static inline dag_device_exchanges la_exchanges_of_panel(int k, int count, int nb, int P, int p,
                                                       const int64_t *pivot)
{
    return (dag_device_exchanges){.pivot = pivot, .first = (int64_t)k * nb, .count = count, .nb = nb,
                                .parts = P, .part = p};
}

/* Those of step s, for devices; `pivot` is on the host. */
static inline dag_device_exchanges la_exchanges_of_step(int s, int KT, int64_t K, int nb, int P, int p,
                                                      const int64_t *pivot, int backward)
{
    int64_t top = (int64_t)(backward ? KT - 1 - s : s) * nb;
    return (dag_device_exchanges){.pivot = pivot, .first = top,
                                .count = K - top < nb ? (int)(K - top) : nb, .nb = nb, .parts = P,
                                .part = p, .backward = backward != 0, .pivot_on_host = true};
}

/* Where a row lies: in the stack of its process row, and in W. */
typedef struct la_spot {
    int stack, buffer;
} la_spot;
enum { LA_SPOTS = 256 };

/* Finds those of rows[*next], ..., rows[count - 1] on process row p, as many as there is room for; row i is row i
 * of W, or row nb + from[i]. Found once, since to divide for each element takes longer than to move it. */
static inline int la_spots(const la_moves *m, int P, int p, const int64_t *rows, const int *from, int count,
                           int *next, la_spot *spot)
{
    int found = 0;
    for (; *next < count && found < LA_SPOTS; ++*next)
        if (la_owner(rows[*next], m->nb, P) == p)
            spot[found++] = (la_spot){la_local_row(rows[*next], m->nb, P),
                                      from != NULL ? m->nb + from[*next] : *next};
    return found;
}

/* Columns of `item` bytes: what of the stack of process row p goes into W. */
static inline void la_moves_pick(const la_moves *m, int P, int p, const void *stack, int64_t ld,
                                 int columns, void *W, size_t item)
{
    size_t height = 2 * (size_t)m->nb * item, pitch = (size_t)ld * item;
    int mine = la_owner(m->top, m->nb, P) == p;
    const char *block = (const char *)stack + (size_t)la_local_row(m->top, m->nb, P) * item;
    la_spot spot[LA_SPOTS];
    if (la_moves_modelled(DAG_OP_PUT_ROWS, m->count * (mine ? P + 1 : 1), P, columns, item))
        return;
    for (int next = 0; next < m->count;) {
        int found = la_spots(m, P, p, m->source, NULL, m->count, &next, spot);
        for (int j = 0; j < columns; j++) {
            const char *from = (const char *)stack + (size_t)j * pitch;
            const char *next_column = from + (j + 1 < columns ? pitch : 0);
            char *to = (char *)W + (size_t)j * height;
            for (int i = 0; i < found; i++) {
                __builtin_prefetch(next_column + (size_t)spot[i].stack * item);
                memcpy(to + (size_t)spot[i].buffer * item, from + (size_t)spot[i].stack * item, item);
            }
        }
    }
    for (int j = 0; j < columns && mine; j++)
        memcpy((char *)W + (size_t)j * height + height / 2, block + (size_t)j * pitch, (size_t)m->count * item);
}

/* Puts the rows of W that belong into the stack of process row p there. */
static inline void la_moves_put(const la_moves *m, int P, int p, const void *W, void *stack,
                                int64_t ld, int columns, size_t item)
{
    size_t height = 2 * (size_t)m->nb * item, pitch = (size_t)ld * item;
    int mine = la_owner(m->top, m->nb, P) == p;
    char *block = (char *)stack + (size_t)la_local_row(m->top, m->nb, P) * item;
    la_spot spot[LA_SPOTS];
    if (la_moves_modelled(DAG_OP_PUT_ROWS, m->count * (mine ? P + 1 : 1), P, columns, item))
        return;
    for (int j = 0; j < columns && mine; j++)
        memcpy(block + (size_t)j * pitch, (const char *)W + (size_t)j * height, (size_t)m->count * item);
    for (int next = 0; next < m->down;) {
        int found = la_spots(m, P, p, m->to, m->from, m->down, &next, spot);
        for (int j = 0; j < columns; j++) {
            char *to = (char *)stack + (size_t)j * pitch;
            const char *next_column = to + (j + 1 < columns ? pitch : 0);
            const char *from = (const char *)W + (size_t)j * height;
            for (int i = 0; i < found; i++) {
                __builtin_prefetch(next_column + (size_t)spot[i].stack * item, 1);
                memcpy(to + (size_t)spot[i].stack * item, from + (size_t)spot[i].buffer * item, item);
            }
        }
    }
}

/* The rows of W that travel: those that process row p gives to all for the top, or gets from there. */
typedef enum la_way { LA_UP, LA_DOWN } la_way;

/* Rows in order, as many as it returns. */
static inline int la_moves_rows(const la_moves *m, int P, int p, la_way way, int *row)
{
    int count = 0;
    if (dag_kernels_modelled())
        return m->count * (p + 1) / P - m->count * p / P; /* in all m->count */
    for (int i = 0; i < m->count && way == LA_UP; i++)
        if (la_owner(m->source[i], m->nb, P) == p)
            row[count++] = i;
    for (int i = 0; i < m->down && way == LA_DOWN; i++)
        if (la_owner(m->to[i], m->nb, P) == p)
            row[count++] = m->nb + m->from[i];
    return count;
}

/* They lie side by side in U, column by column; the bytes that this takes. `row` is workspace, nb items. */
static inline int64_t la_moves_pack(const la_moves *m, int P, int p, la_way way, int *row, const void *W,
                                    int columns, void *U, size_t item)
{
    int count = la_moves_rows(m, P, p, way, row);
    char *to = (char *)U;
    const char *column = (const char *)W;
    int moved = la_moves_modelled(DAG_OP_LACPY, count, 1, columns, item) ? 0 : columns;
    for (int j = 0; j < moved; j++, column += 2 * (size_t)m->nb * item)
        for (int i = 0; i < count; i++, to += item)
            memcpy(to, column + (size_t)row[i] * item, item);
    return (int64_t)((size_t)count * (size_t)columns * item);
}

/* Back from there. */
static inline void la_moves_unpack(const la_moves *m, int P, int p, la_way way, int *row, const void *U,
                                   int columns, void *W, size_t item)
{
    int count = la_moves_rows(m, P, p, way, row);
    const char *from = (const char *)U;
    char *column = (char *)W;
    int moved = la_moves_modelled(DAG_OP_LACPY, count, 1, columns, item) ? 0 : columns;
    for (int j = 0; j < moved; j++, column += 2 * (size_t)m->nb * item)
        for (int i = 0; i < count; i++, from += item)
            memcpy(column + (size_t)row[i] * item, from, item);
}

/* pivot[top+i], i < count: the exchanges, made one after the other, that bring row chosen[i] of the
 * matrix to row top+i. `at` and `here` are workspace for `count` items. */
static inline void la_exchanges(int64_t top, int count, const int64_t *chosen, int64_t *pivot,
                                int64_t *at, int64_t *here)
{
    if (dag_kernels_modelled())
        return;
    for (int i = 0; i < count; i++) {
        at[i] = chosen[i];   /* where the chosen rows are now */
        here[i] = top + i;   /* which rows the first ones are now */
    }
    for (int i = 0; i < count; i++) {
        int64_t from = at[i], displaced = here[i];
        pivot[top + i] = from;
        if (from < top + count)
            here[from - top] = displaced;
        for (int later = i + 1; later < count; later++)
            if (chosen[later] == displaced)
                at[later] = from;
    }
}

/* ---- candidates of a tournament ---------------------------------------------------------- */

/* Rows of a panel, the best first: the header, the numbers of nb rows of the matrix, and the rows
 * themselves, nb by nb. */
typedef struct lu_set {
    int64_t count;
    int64_t unused; /* what is behind this is aligned for every element type */
} lu_set;

static inline int64_t *lu_set_rows(lu_set *s)
{
    return (int64_t *)(s + 1);
}

static inline const int64_t *lu_set_rows_of(const lu_set *s)
{
    return (const int64_t *)(s + 1);
}

static inline size_t lu_set_offset(int nb) /* of the elements */
{
    return sizeof(lu_set) + ((size_t)nb + 1) / 2 * 2 * sizeof(int64_t);
}

static inline void *lu_set_elements(lu_set *s, int nb)
{
    return (char *)s + lu_set_offset(nb);
}

static inline const void *lu_set_elements_of(const lu_set *s, int nb)
{
    return (const char *)s + lu_set_offset(nb);
}

/* Workspace to choose `pivots` of `count` rows: their order (with what FN(getrf_choose) needs), their
 * numbers, and behind that elements. */
static inline size_t lu_order_bytes(int count, int pivots)
{
    return (2 * (size_t)count + (size_t)pivots + 1) / 2 * 2 * sizeof(int64_t);
}

static inline void *lu_behind_order(int64_t *order, int count, int pivots)
{
    return (char *)order + lu_order_bytes(count, pivots);
}

/* Rows of a set; where kernels are modelled, as many as there may be. */
static inline int lu_set_count(const lu_set *s, int most)
{
    return dag_kernels_modelled() ? most : (int)s->count;
}

/* Row order[i] of A, `count` rows, becomes row i of the set; names[] has the numbers of all rows. */
static inline void lu_set_take(lu_set *s, int nb, int count, const int64_t *order,
                               const int64_t *names, const void *A, int64_t lda, int columns,
                               size_t item)
{
    s->count = count;
    if (la_moves_modelled(DAG_OP_PUT_ROWS, count, 1, columns, item))
        return;
    for (int i = 0; i < count; i++)
        lu_set_rows(s)[i] = names[order[i]];
    for (int j = 0; j < columns; j++) {
        const char *a = (const char *)A + (size_t)j * (size_t)lda * item;
        char *to = (char *)lu_set_elements(s, nb) + (size_t)j * (size_t)nb * item;
        for (int i = 0; i < count; i++)
            memcpy(to + (size_t)i * item, a + (size_t)order[i] * item, item);
    }
}

/* ---- the search for a pivot -------------------------------------------------------------- */

/* What process rows send each other about one column of a panel; behind it lie two rows of the
 * panel: the row itself and, where `diagonal` is set, the row whose place it would take. */
typedef struct lu_candidate {
    double size;  /* of the element: |re| + |im|, as LAPACK measures it */
    int64_t row;  /* of the matrix; -1: none */
    int64_t diagonal;
    int64_t unused; /* rows behind this are aligned for every element type */
} lu_candidate;

static inline void *lu_row(const lu_candidate *c, int which, int nb, size_t item)
{
    union { /* READ flows are const, and the same layout is written by the owner */
        const lu_candidate *in;
        char *out;
    } u = {c + 1};
    return u.out + (size_t)which * (size_t)nb * item;
}

static inline int64_t lu_candidate_bytes(int rows, int nb, size_t item)
{
    return (int64_t)(sizeof(lu_candidate) + (size_t)rows * (size_t)nb * item);
}

/* The upper one of equal elements wins, as in LAPACK. Sizes are no NaN (getrf_search()), so the order in which
 * candidates meet does not matter: each process row may combine them in its own. */
static inline void lu_combine(lu_candidate *best, const lu_candidate *other, int nb, size_t item)
{
    if (dag_kernels_modelled())
        return;
    size_t bytes = (size_t)nb * item;
    if (other->row >= 0 && (best->row < 0 || other->size > best->size ||
                            (other->size == best->size && other->row < best->row))) {
        best->size = other->size;
        best->row = other->row;
        memcpy(lu_row(best, 0, nb, item), lu_row(other, 0, nb, item), bytes);
    }
    if (other->diagonal) {
        best->diagonal = 1;
        memcpy(lu_row(best, 1, nb, item), lu_row(other, 1, nb, item), bytes);
    }
}

/* The row of the matrix that has won the search from row `first` on; drawn where kernels are modelled. */
static inline int64_t lu_chosen(const lu_candidate *best, int64_t first, int64_t rows)
{
    return dag_kernels_modelled() ? dag_kernels_pivot(first, rows) : best->row;
}

/* ---- groups of the diagonal that a solve will want ------------------------------------------- */

/* Rows first, ..., end - 1 of the n columns of C to T, as they are once rows done, ..., end - 1 have been
 * exchanged with those that `pivot` says; NULL = as they are now. */
static inline void lu_group_rows(const int64_t *pivot, int64_t done, int64_t first, int64_t end,
                                 const void *C, int64_t ldc, void *T, int64_t ldt, int n, size_t item)
{
    for (int64_t i = first; i < end && !dag_kernels_modelled(); i++) {
        int64_t from = i;
        for (int64_t r = end - 1; pivot != NULL && r >= done; r--) /* the last exchange first */
            from = from == r ? pivot[r] : from == pivot[r] ? r : from;
        for (int j = 0; j < n; j++)
            memcpy((char *)T + (size_t)(j * ldt + i - first) * item,
                   (const char *)C + (size_t)(j * ldc + from) * item, item);
    }
}

/* Exchanges rows done, ..., end - 1 with those that `pivot` says, in n columns that begin with row `first`. */
static inline void lu_group_exchange(const int64_t *pivot, int64_t done, int64_t first, int64_t end,
                                     void *W, int64_t ld, int n, size_t item)
{
    char kept[sizeof(dag_dcomplex)];
    for (int j = 0; j < n && !dag_kernels_modelled(); j++)
        for (int64_t r = done; r < end; r++) {
            char *a = (char *)W + (size_t)(j * ld + r - first) * item;
            char *b = (char *)W + (size_t)(j * ld + pivot[r] - first) * item;
            memcpy(kept, a, item);
            memmove(a, b, item);
            memcpy(b, kept, item);
        }
}

#endif
