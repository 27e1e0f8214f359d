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
 * Packs a triangle, n x n, as the second operand of a product, in panels of NR rows: Y(j, l) is item (j, l) of A,
 * `turned`: item (l, j). The depth of a panel is a multiple of NR, what is added is of the identity, and on the diagonal
 * stand inverses. Of each panel only what is on its side of the diagonal is written.
 */
__kernel void pack_triangle(cdata A, long at, int ld, int n, int turned, int upper, int unit, int conj, data to)
{
    int j0 = get_global_id(0) * NR, rows = min(NR, n - j0), forward = upper == turned;
    int depth = (n + NR - 1) / NR * NR;
    long along = (turned ? (long)ld : 1) * PARTS, across = (turned ? 1 : (long)ld) * PARTS;
    to += (long)j0 * depth * PARTS;
    A += at * PARTS;
    for (int l = forward ? 0 : j0 + NR; l < (forward ? j0 : n); l++) {
        cdata a = A + j0 * along + l * across;
        data t = to + (long)l * NR * PARTS;
        for (int j = 0; j < NR; j++) {
            t[j] = j < rows ? a[j * along] : 0;
#if CPLX
            REAL im = j < rows ? a[j * along + 1] : 0;
            t[NR + j] = conj ? -im : im;
#endif
        }
    }
    for (int l = j0; l < j0 + NR; l++)
        for (int j = 0; j < NR; j++) {
            data t = to + (long)l * NR * PARTS + j;
            REAL re = l == j0 + j, im = 0;
            if (l < n && j < rows)
                form_item(A, ld, turned ? l : j0 + j, turned ? j0 + j : l, FORM_TRIANGLE, upper, unit, &re, &im);
            if (l == j0 + j) {
                REAL dr = re, di = im;
                re = 1;
                im = 0;
                divide(&re, &im, dr, di);
            }
            t[0] = re;
#if CPLX
            t[NR] = conj ? -im : im;
#endif
        }
    if (!forward) /* the depth is read to its end */
        for (int l = max(n, j0 + NR); l < depth; l++)
            for (int j = 0; j < NR * PARTS; j++)
                to[(long)l * NR * PARTS + j] = 0;
}

/* Takes the known column s of a block, with its factors in the row `y` of the packed triangle, from column j. */
void take_column(VREAL re[NR][MV], VREAL im[NR][MV], cdata y, int s, int j)
{
    VREAL yr = (VREAL)(y[j]);
#if CPLX
    VREAL yi = (VREAL)(y[NR + j]);
#endif
#pragma unroll
    for (int v = 0; v < MV; v++) {
        re[j][v] -= re[s][v] * yr;
#if CPLX
        re[j][v] += im[s][v] * yi;
        im[j][v] -= re[s][v] * yi;
        im[j][v] -= im[s][v] * yr;
#endif
    }
}

/* Column s of a block times the inverse on the diagonal. */
void scale_column(VREAL re[NR][MV], VREAL im[NR][MV], cdata y, int s)
{
    VREAL yr = (VREAL)(y[s]);
#if CPLX
    VREAL yi = (VREAL)(y[NR + s]);
#endif
#pragma unroll
    for (int v = 0; v < MV; v++) {
        VREAL x = re[s][v];
        re[s][v] = x * yr;
#if CPLX
        re[s][v] -= im[s][v] * yi;
        im[s][v] = im[s][v] * yr + x * yi;
#endif
    }
}

/* A block, NR columns, with the square of the packed triangle on the diagonal. */
void solve_block(VREAL re[NR][MV], VREAL im[NR][MV], cdata y, int forward)
{
    if (forward) {
#pragma unroll
        for (int s = 0; s < NR; s++) {
            scale_column(re, im, y + s * NR * PARTS, s);
#pragma unroll
            for (int j = s + 1; j < NR; j++)
                take_column(re, im, y + s * NR * PARTS, s, j);
        }
    } else {
#pragma unroll
        for (int s = NR - 1; s >= 0; s--) {
            scale_column(re, im, y + s * NR * PARTS, s);
#pragma unroll
            for (int j = 0; j < s; j++)
                take_column(re, im, y + s * NR * PARTS, s, j);
        }
    }
}

/*
 * MR rows of X op(A) = B, of n columns, with the packed triangle Y. `turned`: B is given transposed, so that
 * op(A) X = B is solved. A work item packs its rows, solves in what is packed, and writes them back.
 */
__kernel void solve(cdata Y, int forward, int m, int n, int turned, data B, long bt, int ldb, data X)
{
    int i0 = get_global_id(0) * MR, rows = min(MR, m - i0), depth = (n + NR - 1) / NR * NR;
    long along = (turned ? (long)ldb : 1) * PARTS, across = (turned ? 1 : (long)ldb) * PARTS;
    data b = B + bt * PARTS + i0 * along;
    X += (long)i0 * depth * PARTS;
    pack_panel(b, along, across, rows, 0, n, 0, MR, X);
    for (long l = (long)n * MR * PARTS; l < (long)depth * MR * PARTS; l++)
        X[l] = 0;
    for (int q = 0; q < depth; q += NR) {
        int j0 = forward ? q : depth - NR - q;
        cdata y = Y + (long)j0 * depth * PARTS;
        data x = X + (long)j0 * MR * PARTS;
        VREAL re[NR][MV], im[NR][MV];
        multiply_panels(X, y, forward ? 0 : j0 + NR, forward ? j0 : depth, re, im);
#pragma unroll
        for (int j = 0; j < NR; j++)
#pragma unroll
            for (int v = 0; v < MV; v++) {
                re[j][v] = VLOAD(v, x + j * MR * PARTS) - re[j][v];
#if CPLX
                im[j][v] = VLOAD(v, x + j * MR * PARTS + MR) - im[j][v];
#endif
            }
        solve_block(re, im, y + (long)j0 * NR * PARTS, forward);
#pragma unroll
        for (int j = 0; j < NR; j++)
#pragma unroll
            for (int v = 0; v < MV; v++) {
                VSTORE(re[j][v], v, x + j * MR * PARTS);
#if CPLX
                VSTORE(im[j][v], v, x + j * MR * PARTS + MR);
#endif
            }
    }
    for (int l = 0; l < n; l++, b += across, X += MR * PARTS)
        for (int i = 0; i < rows; i++) {
            b[i * along] = X[i];
#if CPLX
            b[i * along + 1] = X[MR + i];
#endif
        }
}

/* ---- Cholesky factors ------------------------------------------------------------------------------ */

enum { FACTORS = 8 }; /* columns that are caught up together; a part of SMALL */

/* Columns j0 ... j0+FACTORS-1 of a factor, real parts before imaginary ones, catch up on those before. */
void catch_up(data L, int j0, int n)
{
    for (int i = j0 / VW * VW; i < n; i += VW) {
        VREAL re[FACTORS];
#if CPLX
        VREAL im[FACTORS];
#endif
#pragma unroll
        for (int c = 0; c < FACTORS; c++) {
            re[c] = VLOAD(0, L + (j0 + c) * SMALL * PARTS + i);
#if CPLX
            im[c] = VLOAD(0, L + (j0 + c) * SMALL * PARTS + SMALL + i);
#endif
        }
        for (int q = 0; q < j0; q++) {
            cdata l = L + q * SMALL * PARTS;
            VREAL xr = VLOAD(0, l + i);
#if CPLX
            VREAL xi = VLOAD(0, l + SMALL + i);
#endif
#pragma unroll
            for (int c = 0; c < FACTORS; c++) {
                re[c] -= xr * (VREAL)(l[j0 + c]);
#if CPLX
                re[c] -= xi * (VREAL)(l[SMALL + j0 + c]);
                im[c] -= xi * (VREAL)(l[j0 + c]);
                im[c] += xr * (VREAL)(l[SMALL + j0 + c]);
#endif
            }
        }
#pragma unroll
        for (int c = 0; c < FACTORS; c++) {
            VSTORE(re[c], 0, L + (j0 + c) * SMALL * PARTS + i);
#if CPLX
            VSTORE(im[c], 0, L + (j0 + c) * SMALL * PARTS + SMALL + i);
#endif
        }
    }
}

/* Factors FACTORS columns that have caught up. Returns the first whose pivot is not positive, or -1. */
int factor_columns(data L, int j0, int n)
{
    for (int j = j0; j < min(n, j0 + FACTORS); j++) {
        data l = L + j * SMALL * PARTS;
        REAL d = l[j];
        if (!(d > 0))
            return j;
        d = sqrt(d);
        VREAL inverse = (VREAL)(1 / d);
        for (int i = j0 / VW * VW; i < n; i += VW) {
            VREAL xr = VLOAD(0, l + i) * inverse;
            VSTORE(xr, 0, l + i);
#if CPLX
            VREAL xi = VLOAD(0, l + SMALL + i) * inverse;
            VSTORE(xi, 0, l + SMALL + i);
#endif
        }
        l[j] = d;
#if CPLX
        l[SMALL + j] = 0;
#endif
        for (int c = j + 1; c < j0 + FACTORS; c++) {
            data other = L + c * SMALL * PARTS;
            for (int i = j0 / VW * VW; i < n; i += VW) {
                VREAL xr = VLOAD(0, l + i), re = VLOAD(0, other + i);
                re -= xr * (VREAL)(l[c]);
#if CPLX
                VREAL xi = VLOAD(0, l + SMALL + i), im = VLOAD(0, other + SMALL + i);
                re -= xi * (VREAL)(l[SMALL + c]);
                im -= xi * (VREAL)(l[c]);
                im += xr * (VREAL)(l[SMALL + c]);
                VSTORE(im, 0, other + SMALL + i);
#endif
                VSTORE(re, 0, other + i);
            }
        }
    }
    return -1;
}

/*
 * Cholesky factor of n <= SMALL rows by one work item, which has `step` items from row to row and `next`
 * from column to column: of an upper triangle the other way round. It works in L, SMALL x SMALL items. *info, if it
 * is 0, becomes `before` + the number of the first pivot that is not positive; behind one nothing is done.
 */
__kernel void factor(data A, long at, long step, long next, int n, __global int *info, long it, int before,
                     data L)
{
    int failed = -1, rows = (n + VW - 1) / VW * VW;
    A += at * PARTS;
    info += it;
    if (*info != 0)
        return;
    for (int j = 0; j < (n + FACTORS - 1) / FACTORS * FACTORS; j++)
        for (int i = j / FACTORS * FACTORS / VW * VW; i < rows; i++) {
            data l = L + j * SMALL * PARTS + i;
            cdata a = A + (i * step + j * next) * PARTS;
            int there = j <= i && i < n;
            l[0] = there ? a[0] : 0;
#if CPLX
            l[SMALL] = there ? a[1] : 0;
#endif
        }
    for (int j0 = 0; j0 < n && failed < 0; j0 += FACTORS) {
        catch_up(L, j0, n);
        failed = factor_columns(L, j0, n);
    }
    for (int j = 0; j < (failed < 0 ? n : failed); j++)
        for (int i = j; i < n; i++) {
            data a = A + (i * step + j * next) * PARTS;
            a[0] = L[j * SMALL * PARTS + i];
#if CPLX
            a[1] = L[j * SMALL * PARTS + SMALL + i];
#endif
        }
    if (failed >= 0)
        *info = before + failed + 1;
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
