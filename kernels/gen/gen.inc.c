/* Random tiles. Template over the element type. */

/*
 * Element (i, j) of the general matrix. A complex element uses two numbers of the sequence and a
 * real one the first of them, so the real parts agree in all precisions up to their accuracy.
 */
static inline elem_t LOCAL(element)(uint64_t key, int64_t gM, int64_t i, int64_t j)
{
    uint64_t counter = 2 * ((uint64_t)i + (uint64_t)j * (uint64_t)gM);
#if DAG_COMPLEX
    return DAG_ELEM(UNIFORM(gen_bits(key, counter)), UNIFORM(gen_bits(key, counter + 1)));
#else
    return UNIFORM(gen_bits(key, counter));
#endif
}

void FN(plrnt)(real_t bump, int m, int n, elem_t *A, int lda, int64_t gM, int64_t i0,
               int64_t j0, uint64_t seed)
{
    if (MODELLED(PLRNT, m, n, 0))
        return;
    assert(m >= 0 && n >= 0 && lda >= 1 && lda >= m);
    assert(i0 >= 0 && j0 >= 0 && i0 + m <= gM);
    uint64_t key = gen_mix(seed);
    for (int j = 0; j < n; j++) {
        elem_t *a = A + (size_t)j * (size_t)lda;
        for (int i = 0; i < m; i++)
            a[i] = LOCAL(element)(key, gM, i0 + i, j0 + j);
        int64_t diagonal = j0 + j - i0;
        if (diagonal >= 0 && diagonal < m)
            a[diagonal] += bump;
    }
}

void FN(plghe)(real_t bump, int m, int n, elem_t *A, int lda, int64_t gM, int64_t i0,
               int64_t j0, uint64_t seed)
{
    if (MODELLED(PLGHE, m, n, 0))
        return;
    assert(m >= 0 && n >= 0 && lda >= 1 && lda >= m);
    assert(i0 >= 0 && j0 >= 0 && i0 + m <= gM && j0 + n <= gM);
    uint64_t key = gen_mix(seed);
    for (int j = 0; j < n; j++) {
        elem_t *a = A + (size_t)j * (size_t)lda;
        for (int i = 0; i < m; i++) {
            int64_t gi = i0 + i, gj = j0 + j;
            if (gi > gj)
                a[i] = LOCAL(element)(key, gM, gi, gj);
            else if (gi < gj)
                a[i] = CONJ(LOCAL(element)(key, gM, gj, gi));
            else
                a[i] = DAG_REAL(LOCAL(element)(key, gM, gi, gj)) + bump;
        }
    }
}
