/*
 * Kernels on tiles for OpenCL devices, one text for s, d, c and z. The back end defines
 *   REAL, CPLX       float or double, and 1 where items are complex: two REALs, real part first
 *   VW, MV, NR       a block of a product: MV vectors of VW rows, NR columns, kept in registers
 *   JB, SLAB, SMALL  columns of a work item of a product, depth of one of a packing, largest triangle of
 *                    the kernels that solve and factor
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
    if (outside && form != FORM_TRIANGLE) {
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
    if (form == FORM_TRIANGLE && (outside || (unit && r == c))) {
        *re = !outside;
        *im = 0;
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
    cdata a = A + (turned ? (long)first + (long)i0 * ld : (long)i0 + (long)first * ld) * PARTS;
    long along = (turned ? (long)ld : 1) * PARTS, across = (turned ? 1 : (long)ld) * PARTS;
#if !CPLX
    if (!turned && rows == width) {
        for (int l = first; l < end; l++, t += width, a += across)
            for (int i = 0; i < width; i++)
                t[i] = a[i];
        return;
    }
#endif
    for (int l = first; l < end; l++, t += width * PARTS, a += across)
        for (int i = 0; i < width; i++) {
            t[i] = i < rows ? a[i * along] : 0;
#if CPLX
            REAL im = i < rows ? a[i * along + 1] : 0;
            t[width + i] = conj ? -im : im;
#endif
        }
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
        cdata x = x0 + (long)begin * MR * PARTS, y = Y + ((long)j0 * k + (long)begin * NR) * PARTS;
        VREAL re[NR][MV];
#if CPLX
        VREAL im[NR][MV];
#endif
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

/* ---- triangles --------------------------------------------------------------------------------- */

/* (xr, xi) := (xr, xi) / (dr, di), without overflow on the way. */
void divide(REAL *xr, REAL *xi, REAL dr, REAL di)
{
#if CPLX
    REAL ratio, norm, re = *xr, im = *xi;
    if (fabs(dr) >= fabs(di)) {
        ratio = di / dr;
        norm = dr + di * ratio;
        *xr = (re + im * ratio) / norm;
        *xi = (im - re * ratio) / norm;
    } else {
        ratio = dr / di;
        norm = di + dr * ratio;
        *xr = (re * ratio + im) / norm;
        *xi = (im * ratio - re) / norm;
    }
#else
    *xr /= dr;
#endif
}

/*
 * One column of op(A) X = B, m <= SMALL. What is known of X is taken from all that is not yet: by columns
 * of A. `turned`: op(A)(i, l) = A(l, i), and sums are taken along the columns of A instead.
 */
__kernel void solve_left(cdata A, long at, int lda, int upper, int turned, int conj, int unit, int m,
                         data B, long bt, int ldb)
{
    REAL x[SMALL * PARTS], sign = conj ? -1 : 1;
    data b = B + (bt + (long)get_global_id(0) * ldb) * PARTS;
    int forward = upper == turned;
    A += at * PARTS;
    for (int i = 0; i < m * PARTS; i++)
        x[i] = b[i];
    for (int s = 0; s < m; s++) {
        int i = forward ? s : m - 1 - s;
        cdata a = A + (long)i * lda * PARTS;
        int begin = forward ? (turned ? 0 : i + 1) : turned ? i + 1 : 0;
        int end = forward ? (turned ? i : m) : turned ? m : i;
        REAL zero = 0, *re = x + i * PARTS, *im = CPLX ? re + 1 : &zero;
        if (turned) {
            REAL sr = 0, si = 0;
            for (int l = begin; l < end; l++) {
#if CPLX
                sr += a[2 * l] * x[2 * l] - sign * a[2 * l + 1] * x[2 * l + 1];
                si += a[2 * l] * x[2 * l + 1] + sign * a[2 * l + 1] * x[2 * l];
#else
                sr += a[l] * x[l];
#endif
            }
            *re -= sr;
            *im -= si;
        }
        if (!unit)
            divide(re, im, a[i * PARTS], CPLX ? sign * a[i * PARTS + CPLX] : 0);
        if (!turned) {
            REAL xr = *re, xi = *im;
            for (int l = begin; l < end; l++) {
#if CPLX
                x[2 * l] -= a[2 * l] * xr - a[2 * l + 1] * xi;
                x[2 * l + 1] -= a[2 * l] * xi + a[2 * l + 1] * xr;
#else
                x[l] -= a[l] * xr;
#endif
            }
        }
    }
    for (int i = 0; i < m * PARTS; i++)
        b[i] = x[i];
}

/* VW rows of X op(A) = B, n <= SMALL columns. */
__kernel void solve_right(cdata A, long at, int lda, int upper, int turned, int conj, int unit, int m,
                          int n, data B, long bt, int ldb)
{
    int row = get_global_id(0) * VW, rows = min(VW, m - row), forward = upper != turned;
    REAL sign = conj ? -1 : 1;
    A += at * PARTS;
    B += (bt + row) * PARTS;
    for (int s = 0; s < n; s++) {
        int j = forward ? s : n - 1 - s;
        REAL x[VW * PARTS], zero = 0;
        cdata d = A + ((long)j + (long)j * lda) * PARTS;
        data b = B + (long)j * ldb * PARTS;
        for (int i = 0; i < VW * PARTS; i++)
            x[i] = i < rows * PARTS ? b[i] : 0;
        for (int q = forward ? 0 : j + 1; q < (forward ? j : n); q++) {
            cdata a = A + (turned ? (long)j + (long)q * lda : (long)q + (long)j * lda) * PARTS;
            cdata y = B + (long)q * ldb * PARTS;
#if CPLX
            for (int i = 0; i < rows; i++) {
                x[2 * i] -= y[2 * i] * a[0] - y[2 * i + 1] * sign * a[1];
                x[2 * i + 1] -= y[2 * i] * sign * a[1] + y[2 * i + 1] * a[0];
            }
#else
            if (rows == VW)
                for (int i = 0; i < VW; i++)
                    x[i] -= y[i] * a[0];
            else
                for (int i = 0; i < rows; i++)
                    x[i] -= y[i] * a[0];
#endif
        }
        for (int i = 0; i < rows; i++) {
            REAL *re = x + i * PARTS, *im = CPLX ? re + 1 : &zero;
            if (!unit)
                divide(re, im, d[0], CPLX ? sign * d[CPLX] : 0);
            b[i * PARTS] = *re;
#if CPLX
            b[2 * i + 1] = *im;
#endif
        }
    }
}

/*
 * Cholesky factor of n <= SMALL rows by one work item, which has `step` items from row to row and `next`
 * from column to column: of an upper triangle the other way round. *info, if it is 0, becomes `before` +
 * the number of the first pivot that is not positive; behind one nothing is done.
 */
__kernel void factor(data A, long at, long step, long next, int n, __global int *info, long it, int before)
{
    A += at * PARTS;
    info += it;
    if (*info != 0)
        return;
    for (int j = 0; j < n; j++) {
        data row = A + j * step * PARTS, diagonal = row + j * next * PARTS;
        REAL d = diagonal[0];
        for (int q = 0; q < j * PARTS; q++) {
            REAL a = row[q / PARTS * next * PARTS + q % PARTS];
            d -= a * a;
        }
        if (!(d > 0)) {
            *info = before + j + 1;
            return;
        }
        d = sqrt(d);
        diagonal[0] = d;
#if CPLX
        diagonal[1] = 0;
#endif
        for (int i = j + 1; i < n; i++) {
            data other = A + i * step * PARTS, c = other + j * next * PARTS;
            REAL re = c[0], im = CPLX ? c[CPLX] : 0;
            for (int q = 0; q < j; q++) {
                data a = other + q * next * PARTS, b = row + q * next * PARTS;
#if CPLX
                re -= a[0] * b[0] + a[1] * b[1];
                im -= a[1] * b[0] - a[0] * b[1];
#else
                re -= a[0] * b[0];
#endif
            }
            c[0] = re / d;
#if CPLX
            c[1] = im / d;
#endif
        }
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
