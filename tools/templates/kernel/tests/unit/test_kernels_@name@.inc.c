/* Part of test_kernels_@name@.c. Template over the element type. */

/* What the kernel makes of element (i, j), by plain loops; 0 = not written. */
static int LOCAL(@name@_expected)(const elem_t *a, int ld, int i, int j, elem_t *b)
{
    *b = a[i + (size_t)j * (size_t)ld];
    return 0;
}

static void LOCAL(@name@)(int m, int n, int ld)
{
    size_t count = (size_t)ld * (size_t)(n > 0 ? n : 1);
    elem_t *a = malloc(count * sizeof *a), *b = calloc(count, sizeof *b);
    int changed = 0;
    ck_assert(a != NULL && b != NULL);
    for (size_t i = 0; i < count; i++)
        a[i] = (elem_t)(1 + i % 7);
    FN(@name@)(m, n, a, ld, b, ld);
    for (size_t i = 0; i < count; i++)
        changed |= b[i] != 0;
    if (m > 0 && n > 0 && !changed)
        ck_abort_msg("kernels/cpu/@name@.inc.c: write the kernel: B is as it was");
    for (int j = 0; j < n; j++)
        for (int i = 0; i < ld; i++) {
            elem_t wanted = 0; /* padding is left alone */
            if (i < m && !LOCAL(@name@_expected)(a, ld, i, j, &wanted))
                ck_abort_msg("tests/unit/test_kernels_@name@.inc.c: write @name@_expected()");
            ck_assert(b[i + (size_t)j * (size_t)ld] == wanted);
        }
    free(a);
    free(b);
}
