/* Part of test_device_rows.c: one precision. */

static elem_t *LOCAL(random)(int ld, int n, uint64_t seed)
{
    elem_t *a = malloc(sizeof(elem_t) * (size_t)ld * (size_t)(n > 0 ? n : 1));
    FN(plrnt)(0, ld, n > 0 ? n : 1, a, ld, ld, 0, 0, seed);
    return a;
}

/* The device's elements are those of the host; both are freed. */
static void LOCAL(same)(elem_t *host, void *at, int ld, int n, const char *what, int number)
{
    size_t bytes = sizeof(elem_t) * (size_t)ld * (size_t)(n > 0 ? n : 1);
    elem_t *back = malloc(bytes);
    from_device(back, at, bytes);
    for (size_t i = 0; i < bytes / sizeof(elem_t); i++)
        if (memcmp(back + i, host + i, sizeof(elem_t)) != 0)
            ck_abort_msg("%s, case %d: element (%zu, %zu) is another one", what, number,
                         i % (size_t)ld, i / (size_t)ld);
    free(back);
    free(host);
    backend->free(device, at);
}

static void LOCAL(laswp)(void)
{
    /* rows, first, count, columns */
    static const int cases[][4] = {{1, 0, 1, 1},      {5, 2, 3, 4},     {40, 0, 40, 3},
                                   {300, 10, 256, 5}, {301, 7, 257, 2}, {600, 0, 512, 4},
                                   {1500, 3, 1400, 9}, {9, 2, 0, 3},    {9, 2, 4, 0}};
    for (int c = 0; c < 4 * COUNT(cases); c++) {
        int m = cases[c / 4][0], first = cases[c / 4][1], count = cases[c / 4][2];
        int n = cases[c / 4][3], ld = m + c % 3, backward = c % 2, host = c / 2 % 2;
        int64_t *pivot = pivots_new(m, first, count, (unsigned)c);
        elem_t *a = LOCAL(random)(ld, n, (uint64_t)c);
        void *A = on_device(a, sizeof(elem_t) * (size_t)ld * (size_t)(n > 0 ? n : 1));
        void *there = on_device(pivot, sizeof *pivot * (size_t)m);
        void *work = bytes_on_device(dag_device_laswp_bytes(count));
        dag_device_exchanges e = {.pivot = host ? pivot : there, .first = first, .count = count,
                                .backward = backward, .pivot_on_host = host};
        FN(laswp)(n, a, ld, first, first + count, pivot, backward);
        FN(dev_laswp)(queue, &e, m, n, A, ld, work);
        ck_assert_int_eq(backend->launched(queue), DAGI_OK);
        LOCAL(same)(a, A, ld, n, "laswp", c);
        backend->free(device, there);
        backend->free(device, work);
        free(pivot);
    }
}

/* Rows dealt out to stacks: on cores by dsl-examples/lu/rows.h. */
static void LOCAL(dealt)(void)
{
    /* rows, rows of a block, exchanges in the last block, stacks, columns */
    static const int cases[][5] = {{10, 4, 2, 1, 3},     {10, 4, 2, 2, 3},    {37, 5, 2, 3, 6},
                                   {900, 300, 300, 2, 5}, {700, 128, 60, 6, 2}, {3, 4, 3, 2, 1},
                                   {64, 8, 8, 4, 0}};
    for (int c = 0; c < COUNT(cases); c++) {
        int m = cases[c][0], nb = cases[c][1], last = cases[c][2], P = cases[c][3], n = cases[c][4];
        int blocks = (m + nb - 1) / nb, K = (blocks - 1) * nb + last, backward = c % 2;
        int64_t *pivot = pivots_new(m, 0, K, (unsigned)c + 100);
        void *there = on_device(pivot, sizeof *pivot * (size_t)m);
        void *work = bytes_on_device(dag_device_exchanges_bytes(nb));
        la_moves *moves = malloc(la_moves_bytes(nb));
        elem_t *w = LOCAL(random)(2 * nb, n, 1), *a[8];
        void *W = on_device(w, sizeof(elem_t) * 2 * (size_t)nb * (size_t)(n > 0 ? n : 1)), *A[8];
        int ld[8], rows[8];
        for (int p = 0; p < P; p++) {
            rows[p] = 0;
            for (int r = 0; r < m; r++)
                rows[p] += la_owner(r, nb, P) == p;
            ld[p] = rows[p] + 1;
            a[p] = LOCAL(random)(ld[p], n, (uint64_t)p + 7);
            A[p] = on_device(a[p], sizeof(elem_t) * (size_t)ld[p] * (size_t)(n > 0 ? n : 1));
        }
        for (int s = 0; s < 2 * blocks * P; s++) {
            int step = s / (2 * P), p = s % P, put = s / P % 2;
            dag_device_exchanges e =
                la_exchanges_of_step(step, blocks, K, nb, P, p, pivot, backward);
            if (step % 2) { /* those of a panel, with pivots on the device */
                e.pivot = there;
                e.pivot_on_host = false;
            }
            la_moves_of_step(moves, step, blocks, K, nb, pivot, backward);
            if (put) {
                la_moves_put(moves, P, p, w, a[p], ld[p], n, sizeof(elem_t));
                FN(dev_put_rows)(queue, &e, rows[p], n, W, A[p], ld[p], work);
            } else {
                la_moves_pick(moves, P, p, a[p], ld[p], n, w, sizeof(elem_t));
                FN(dev_pick_rows)(queue, &e, rows[p], n, A[p], ld[p], W, work);
            }
            ck_assert_int_eq(backend->launched(queue), DAGI_OK);
        }
        for (int p = 0; p < P; p++)
            LOCAL(same)(a[p], A[p], ld[p], n, "stacks", c);
        LOCAL(same)(w, W, 2 * nb, n, "what moves", c);
        backend->free(device, there);
        backend->free(device, work);
        free(moves);
        free(pivot);
    }
}
