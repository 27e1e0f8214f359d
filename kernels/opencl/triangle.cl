/*
 * Solves with triangles and Cholesky factors. This text follows tile.cl and uses its names. A solve keeps blocks in
 * registers as a product does. A triangle is packed once, and each work item solves with it for rows of its own.
 */

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
