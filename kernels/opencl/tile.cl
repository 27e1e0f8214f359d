/*
 * Kernels on tiles for OpenCL devices, one text for s, d, c and z. The back end defines
 *   REAL, CPLX       float or double, and 1 where items are complex: two REALs, real part first
 *   VW, MV, NR       a block of a product: MV vectors of VW rows, NR columns, kept in registers
 *   JB, SLAB, SMALL  columns of a work item of a product, depth of one of a packing, largest order of a
 *                    factor of one work item, a multiple of 16
 *
 * Offsets and leading dimensions count items. Matrices are column-major. A product packs its operands
 * first, whatever their form, in panels of MR rows or NR columns, one column or row behind the other, real
 * parts before imaginary ones; the rim is filled with zeros. So one kernel multiplies everything.
 */
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define VREAL JOIN(REAL, VW)
#define VLOAD JOIN(vload, VW)
#define VSTORE JOIN(vstore, VW)
#define MR (MV * VW)
#define PARTS (1 + CPLX)

typedef __global REAL *data;
typedef __global const REAL *cdata;

enum { FORM_FULL, FORM_SYMMETRIC, FORM_HERMITIAN, FORM_TRIANGLE };

/* ---- operands ---------------------------------------------------------------------------------- */

/* Item (r, c) of a matrix of which one triangle is there: mirrored, or zero outside. */
void form_item(cdata A, int ld, int r, int c, int form, int upper, int unit, REAL *re, REAL *im)
{
    int outside = upper ? r > c : r < c, row = r, column = c;
    if (form == FORM_TRIANGLE && (outside || (unit && r == c))) {
        *re = !outside;
        *im = 0;
        return;
    }
    if (outside) {
        row = c;
        column = r;
    }
    cdata at = A + ((long)row + (long)column * ld) * PARTS;
    *re = at[0];
    *im = 0;
#if CPLX
    *im = at[1];
    if (form == FORM_HERMITIAN)
        *im = r == c ? 0 : outside ? -*im : *im;
#endif
}

/* Columns `first` ... `end`-1 of a panel of `width` rows, with so many REALs from row to row and from column to column. */
void pack_panel(cdata a, long along, long across, int rows, int first, int end, int conj, int width, data t)
{
    a += first * across;
    for (int l = first; l < end; l++, t += width * PARTS, a += across) {
        if (along == PARTS) /* known distances are loaded in vectors */
            for (int i = 0; i < rows; i++) {
                t[i] = a[i * PARTS];
#if CPLX
                t[width + i] = conj ? -a[2 * i + 1] : a[2 * i + 1];
#endif
            }
        else
            for (int i = 0; i < rows; i++) {
                t[i] = a[i * along];
#if CPLX
                t[width + i] = conj ? -a[i * along + 1] : a[i * along + 1];
#endif
            }
        for (int i = rows; i < width; i++) {
            t[i] = 0;
#if CPLX
            t[width + i] = 0;
#endif
        }
    }
}

/*
 * Packs X, m x k, in panels of `width` rows. X(i, l) is item (i, l) of A, `turned`: item (l, i).
 */
__kernel void pack(cdata A, long at, int ld, int m, int k, int turned, int form, int upper, int unit,
                   int conj, int width, data to)
{
    int panel = get_global_id(0), first = get_global_id(1) * SLAB;
    int end = min(k, first + SLAB), i0 = panel * width, rows = min(width, m - i0);
    data t = to + ((long)panel * k + first) * width * PARTS;
    A += at * PARTS;
    if (form != FORM_FULL) {
        for (int l = first; l < end; l++, t += width * PARTS)
            for (int i = 0; i < width; i++) {
                REAL re = 0, im = 0;
                if (i < rows)
                    form_item(A, ld, turned ? l : i0 + i, turned ? i0 + i : l, form, upper, unit, &re, &im);
                t[i] = re;
#if CPLX
                t[width + i] = conj ? -im : im;
#endif
            }
        return;
    }
    long along = (turned ? (long)ld : 1) * PARTS, across = (turned ? 1 : (long)ld) * PARTS;
    pack_panel(A + i0 * along, along, across, rows, first, end, conj, width, t);
}

/* ---- products ---------------------------------------------------------------------------------- */

enum { REGION_LOWER = 1, REGION_UPPER = 2, REGION_REAL_DIAGONAL = 4 };
enum { BELOW = 1, ABOVE = 2 }; /* operand X(i, l) is zero for l > i, for l < i */

/* Where X(i, l) of a panel of rows i0 ... i0+width-1 may differ from zero. */
void depth_range(int zeros, int i0, int width, int *begin, int *end)
{
    if (zeros == BELOW)
        *end = min(*end, i0 + width);
    else if (zeros == ABOVE)
        *begin = max(*begin, i0);
}

/* What a block has been multiplied to, into C. With a factor 0 C is not read. */
void add_block(const REAL *sum, int rows, int columns, int i0, int j0, REAL ar, REAL ai, REAL br,
               REAL bi, data C, int ldc, int region)
{
    for (int j = 0; j < columns; j++) {
        int begin = region & REGION_LOWER ? max(0, j0 + j - i0) : 0;
        int end = region & REGION_UPPER ? min(rows, j0 + j - i0 + 1) : rows;
        data c = C + (long)j * ldc * PARTS;
        const REAL *x = sum + j * MR * PARTS;
#if CPLX
        for (int i = begin; i < end; i++) {
            REAL re = ar * x[i] - ai * x[MR + i], im = ar * x[MR + i] + ai * x[i];
            if (br != 0 || bi != 0) {
                REAL cr = c[2 * i], ci = i0 + i == j0 + j && region & REGION_REAL_DIAGONAL ? 0 : c[2 * i + 1];
                re += br * cr - bi * ci;
                im += br * ci + bi * cr;
            }
            c[2 * i] = re;
            c[2 * i + 1] = i0 + i == j0 + j && region & REGION_REAL_DIAGONAL ? 0 : im;
        }
#else
        if (br == 0)
            for (int i = begin; i < end; i++)
                c[i] = ar * x[i];
        else
            for (int i = begin; i < end; i++)
                c[i] = ar * x[i] + br * c[i];
#endif
    }
}

/* The sum over `begin` ... `end`-1 of a panel of X times one of Y, in registers. Of real items `im` is not used. */
void multiply_panels(cdata x, cdata y, int begin, int end, VREAL re[NR][MV], VREAL im[NR][MV])
{
    x += (long)begin * MR * PARTS;
    y += (long)begin * NR * PARTS;
#pragma unroll
    for (int j = 0; j < NR; j++)
#pragma unroll
        for (int v = 0; v < MV; v++) {
            re[j][v] = (VREAL)(0);
#if CPLX
            im[j][v] = (VREAL)(0);
#endif
        }
    for (int l = begin; l < end; l++, x += MR * PARTS, y += NR * PARTS) {
        VREAL xr[MV];
#pragma unroll
        for (int v = 0; v < MV; v++)
            xr[v] = VLOAD(v, x);
#if CPLX
        VREAL xi[MV];
#pragma unroll
        for (int v = 0; v < MV; v++)
            xi[v] = VLOAD(v, x + MR);
#endif
#pragma unroll
        for (int j = 0; j < NR; j++) {
            VREAL yr = (VREAL)(y[j]);
#if CPLX
            VREAL yi = (VREAL)(y[NR + j]);
#endif
#pragma unroll
            for (int v = 0; v < MV; v++) {
                re[j][v] += xr[v] * yr;
#if CPLX
                re[j][v] -= xi[v] * yi;
                im[j][v] += xr[v] * yi;
                im[j][v] += xi[v] * yr;
#endif
            }
        }
    }
}

/* C := alpha X Y^T + beta C, of packed X, m x k, and Y, n x k. A work item has MR rows, JB columns. */
__kernel void gemm(cdata X, cdata Y, int m, int n, int k, int xzeros, int yzeros, REAL ar, REAL ai,
                   REAL br, REAL bi, data C, long at, int ldc, int region)
{
    int i0 = get_global_id(0) * MR, first = get_global_id(1) * JB, last = min(n, first + JB);
    cdata x0 = X + (long)i0 * k * PARTS;
    C += at * PARTS;
    for (int j0 = first; j0 < last; j0 += NR) {
        int begin = 0, end = k;
        REAL sum[NR * MR * PARTS];
        if ((region & REGION_LOWER && i0 + MR <= j0) || (region & REGION_UPPER && i0 >= j0 + NR))
            continue;
        depth_range(xzeros, i0, MR, &begin, &end);
        depth_range(yzeros, j0, NR, &begin, &end);
        VREAL re[NR][MV], im[NR][MV];
        multiply_panels(x0, Y + (long)j0 * k * PARTS, begin, end, re, im);
#pragma unroll
        for (int j = 0; j < NR; j++)
#pragma unroll
            for (int v = 0; v < MV; v++) {
                VSTORE(re[j][v], v, sum + j * MR * PARTS);
#if CPLX
                VSTORE(im[j][v], v, sum + j * MR * PARTS + MR);
#endif
            }
        add_block(sum, min(MR, m - i0), min(NR, n - j0), i0, j0, ar, ai, br, bi,
                  C + ((long)i0 + (long)j0 * ldc) * PARTS, ldc, region);
    }
}

/* ---- items ------------------------------------------------------------------------------------- */

/* One column of B := alpha op(A) + beta B; what has the factor 0 is not read. */
__kernel void geadd(cdata A, long at, int lda, int turned, int conj, int m, REAL ar, REAL ai, REAL br,
                    REAL bi, data B, long bt, int ldb)
{
    long j = get_global_id(0), along = (turned ? (long)lda : 1) * PARTS;
    data b = B + (bt + j * ldb) * PARTS;
    cdata a = A + (at + (turned ? j : j * lda)) * PARTS;
    int reads_a = ar != 0 || ai != 0, reads_b = br != 0 || bi != 0;
    for (int i = 0; i < m; i++) {
        REAL re = 0, im = 0;
        if (reads_a) {
            REAL xr = a[i * along];
#if CPLX
            REAL xi = conj ? -a[i * along + 1] : a[i * along + 1];
            re = ar * xr - ai * xi;
            im = ar * xi + ai * xr;
#else
            re = ar * xr;
#endif
        }
#if CPLX
        if (reads_b) {
            re += br * b[2 * i] - bi * b[2 * i + 1];
            im += br * b[2 * i + 1] + bi * b[2 * i];
        }
        b[2 * i] = re;
        b[2 * i + 1] = im;
#else
        b[i] = reads_b ? re + br * b[i] : re;
#endif
    }
}

/* One column of the identity. */
__kernel void identity(int n, data B, long bt, int ldb)
{
    long j = get_global_id(0);
    data b = B + (bt + j * ldb) * PARTS;
    for (int i = 0; i < n * PARTS; i++)
        b[i] = i == j * PARTS;
}

/* ---- exchanges of rows: what they come to is said in kernels/cuda/own.h -------------------------- */

typedef struct {
    long row[PIVOTS];
} pivots;

__kernel void store(pivots p, int count, __global long *to, long at)
{
    for (int i = 0; i < count; i++)
        to[at + i] = p.row[i];
}

typedef struct {
    long first;
    int count, backward, nb, parts, part, unused;
} exchanges;

int mine(const exchanges *e, long row)
{
    return row / e->nb % e->parts == e->part;
}

int local_row(const exchanges *e, long row)
{
    return (int)(row / e->nb / e->parts * e->nb + row % e->nb);
}

void exchange(data a, data b)
{
    for (int p = 0; p < PARTS; p++) {
        REAL x = a[p];
        a[p] = b[p];
        b[p] = x;
    }
}

/* All exchanges of one stack, in one column. */
__kernel void swap_rows(exchanges e, __global const long *pivot, long pt, data C, long ct, int ldc)
{
    data c = C + (ct + (long)get_global_id(0) * ldc) * PARTS;
    for (int s = 0; s < e.count; s++) {
        int i = e.backward ? e.count - 1 - s : s;
        exchange(c + (e.first + i) * PARTS, c + pivot[pt + i] * PARTS);
    }
}

/* Row `number` is followed back through the exchanges, the last one first, to where it comes from. */
__kernel void follow(exchanges e, __global const long *pivot, long pt, __global int *moves, long mt)
{
    int number = get_global_id(0), own = number - e.count;
    long start, now;
    pivot += pt;
    moves += mt;
    start = own < 0 ? e.first + number : pivot[own];
    now = start;
    int idle = own >= 0 && start < e.first + e.count;
    for (int s = 0; s < e.count; s++) {
        int i = e.backward ? s : e.count - 1 - s;
        long other = pivot[i];
        if (start == other && i > own && own >= 0)
            idle = 1;
        if (now == e.first + i)
            now = other;
        else if (now == other)
            now = e.first + i;
    }
    if (own < 0) {
        moves[number] = mine(&e, now) ? local_row(&e, now) : -1;
        return;
    }
    moves[e.count + own] = !idle && mine(&e, start) ? local_row(&e, start) : -1;
    moves[2 * e.count + own] = idle ? 0 : (int)(now - e.first);
}

void copy_item(data to, cdata from)
{
    for (int p = 0; p < PARTS; p++)
        to[p] = from[p];
}

/* One column: rows that come up from this stack, and behind nb rows those that it has to give. */
__kernel void pick_rows(exchanges e, __global const int *moves, long mt, cdata C, long ct, int ldc,
                        data W, long wt)
{
    int top = mine(&e, e.first) ? local_row(&e, e.first) : -1;
    cdata c = C + (ct + (long)get_global_id(0) * ldc) * PARTS;
    data w = W + (wt + (long)get_global_id(0) * 2 * e.nb) * PARTS;
    for (int i = 0; i < e.count; i++) {
        int up = moves[mt + i];
        if (up >= 0)
            copy_item(w + i * PARTS, c + (long)up * PARTS);
        if (top >= 0)
            copy_item(w + ((long)e.nb + i) * PARTS, c + ((long)top + i) * PARTS);
    }
}

__kernel void put_rows(exchanges e, __global const int *moves, long mt, cdata W, long wt, data C, long ct,
                       int ldc)
{
    int top = mine(&e, e.first) ? local_row(&e, e.first) : -1;
    data c = C + (ct + (long)get_global_id(0) * ldc) * PARTS;
    cdata w = W + (wt + (long)get_global_id(0) * 2 * e.nb) * PARTS;
    for (int i = 0; i < e.count; i++) {
        int down = moves[mt + e.count + i], from = moves[mt + 2 * e.count + i];
        if (top >= 0)
            copy_item(c + ((long)top + i) * PARTS, w + (long)i * PARTS);
        if (down >= 0)
            copy_item(c + (long)down * PARTS, w + ((long)e.nb + from) * PARTS);
    }
}
