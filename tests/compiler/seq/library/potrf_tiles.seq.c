#include "tiles.h"

#define A(m, n) tl_addr(A, m, n)

#pragma dag graph precision(d) assume(A.mt == A.nt)
static void potrf_tiles(tl_desc A, tl_handle *h)
{
    int k, m, n;
    int tempkm, ldak, ldam, ldan;
    double one = 1.0, minus = -one;

    for (k = 0; k < A.mt; k++) {
        tempkm = k == A.mt - 1 ? A.m - k * A.mb : A.mb;
        ldak = tl_ld(A, k);
        tl_potrf(TlLower, tempkm, A(k, k), ldak, A.nb * k, h);
        for (m = k + 1; m < A.mt; m++) {
            int tempmm = m == A.mt - 1 ? A.m - m * A.mb : A.mb;
            ldam = tl_ld(A, m);
            tl_trsm(TlRight, TlLower, TlTrans, tempmm, A.mb, one, A(k, k), ldak, A(m, k), ldam, h);
        }
        for (m = k + 1; m < A.mt; m++) {
            int tempmm = m == A.mt - 1 ? A.m - m * A.mb : A.mb;
            ldam = tl_ld(A, m);
            tl_syrk(TlLower, TlNoTrans, tempmm, A.mb, minus, A(m, k), ldam, one, A(m, m), ldam, h);
            for (n = k + 1; n < m; n++) {
                ldan = tl_ld(A, n);
                tl_gemm(TlNoTrans, TlTrans, tempmm, A.mb, A.mb, minus, A(m, k), ldam,
                        (double *)tl_addr(A, n, k), ldan, one, A(m, n), ldam, h);
            }
        }
        tl_progress(k);
    }
}
