/* Part of test_gen.c: the tests of one precision. */

typedef void LOCAL(generator)(real_t, int, int, elem_t *, int, int64_t, int64_t, int64_t,
                              uint64_t);

static LOCAL(generator) *const LOCAL(generators)[] = {FN(plrnt), FN(plghe)};

/* A matrix put together from tiles is the matrix made at once. */
static void LOCAL(any_tiling)(void)
{
    enum { ORDER = 67 };
    static elem_t whole[ORDER * ORDER], tiled[ORDER * ORDER];
    static const int tile_sizes[][2] = {{1, 1}, {7, 13}, {64, 64}, {66, 67}, {100, 5}};
    for (int g = 0; g < 2; g++) {
        LOCAL(generators)[g]((real_t)ORDER, ORDER, ORDER, whole, ORDER, ORDER, 0, 0, 42);
        for (int t = 0; t < 5; t++) {
            int mb = tile_sizes[t][0], nb = tile_sizes[t][1];
            memset(tiled, 0, sizeof tiled);
            for (int j = (ORDER - 1) / nb; j >= 0; j--) /* last tile first */
                for (int i = (ORDER - 1) / mb; i >= 0; i--) {
                    int m = ORDER - i * mb < mb ? ORDER - i * mb : mb;
                    int n = ORDER - j * nb < nb ? ORDER - j * nb : nb;
                    LOCAL(generators)[g]((real_t)ORDER, m, n, &tiled[i * mb + j * nb * ORDER],
                                         ORDER, ORDER, i * mb, j * nb, 42);
                }
            ck_assert_mem_eq(whole, tiled, sizeof whole);
        }
    }
}

static void LOCAL(padding_untouched)(void)
{
    enum { M = 5, N = 3, LD = 8 };
    for (int g = 0; g < 2; g++) {
        elem_t a[LD * (N + 1)];
        for (int k = 0; k < LD * (N + 1); k++)
            a[k] = 77;
        LOCAL(generators)[g](1, M, N, a, LD, 10, 0, 0, 1);
        for (int j = 0; j <= N; j++)
            for (int i = 0; i < LD; i++)
                ck_assert((a[i + j * LD] == 77) == (i >= M || j >= N));
        elem_t b = 77;
        LOCAL(generators)[g](1, 0, 3, &b, 1, 10, 0, 0, 1);
        LOCAL(generators)[g](1, 3, 0, &b, 3, 10, 0, 0, 1);
        ck_assert(b == 77);
    }
}

static void LOCAL(symmetry)(void)
{
    enum { ORDER = 50 };
    static elem_t a[ORDER * ORDER];
    FN(plghe)(3, ORDER, ORDER, a, ORDER, ORDER, 0, 0, 9);
    for (int j = 0; j < ORDER; j++) {
        ck_assert(DAG_IMAG(a[j + j * ORDER]) == 0);
        for (int i = 0; i < j; i++)
            ck_assert(a[i + j * ORDER] == CONJ(a[j + i * ORDER]));
    }
}

/* By Gershgorin's theorem, as the sum of a row off the diagonal is less than its order. */
static void LOCAL(positive_definite)(void)
{
    static const int orders[] = {1, 2, 3, 64, 150};
    for (int k = 0; k < 5; k++)
        for (uint64_t seed = 0; seed < 10; seed++) {
            int n = orders[k];
            elem_t *a = malloc(sizeof(elem_t) * (size_t)n * (size_t)n);
            ck_assert_ptr_nonnull(a);
            FN(plghe)((real_t)n, n, n, a, n, n, 0, 0, seed);
            ck_assert_int_eq(FN(potrf)(DAG_LOWER, n, a, n), 0);
            free(a);
        }
}

/* The bump sits where the global indices are equal, wherever that is in the tile. */
static void LOCAL(bump_on_global_diagonal)(void)
{
    enum { M = 4, N = 6, ROWS = 100 };
    static const int origins[][2] = {{10, 10}, {10, 12}, {12, 10}, {10, 15}, {13, 10}, {10, 20}};
    for (int g = 0; g < 2; g++)
        for (int o = 0; o < 6; o++) {
            int i0 = origins[o][0], j0 = origins[o][1];
            elem_t plain[M * N], bumped[M * N];
            LOCAL(generators)[g](0, M, N, plain, M, ROWS, i0, j0, 3);
            LOCAL(generators)[g](100, M, N, bumped, M, ROWS, i0, j0, 3);
            for (int j = 0; j < N; j++)
                for (int i = 0; i < M; i++) {
                    real_t d = DAG_ABS(bumped[i + j * M] - plain[i + j * M]);
                    if (i0 + i == j0 + j)
                        ck_assert(d > 99 && d < 101);
                    else
                        ck_assert(d == 0);
                }
        }
}

/* Uniform in [-0.5, 0.5): range, mean, variance and the counts in 16 classes. */
static void LOCAL(distribution)(void)
{
    enum { ORDER = 256, PARTS = DAG_COMPLEX ? 2 : 1 };
    static elem_t a[ORDER * ORDER];
    int classes[16] = {0};
    double sum = 0, squares = 0, products = 0, previous = 0, count = (double)ORDER * ORDER * PARTS;
    FN(plrnt)(0, ORDER, ORDER, a, ORDER, ORDER, 0, 0, 1234);
    for (int k = 0; k < ORDER * ORDER * PARTS; k++) {
        elem_t e = a[k / PARTS];
        double x = k % PARTS == 0 ? (double)DAG_REAL(e) : (double)DAG_IMAG(e);
        if (!(x >= -0.5 && x < 0.5))
            ck_abort_msg("element %d is %g", k, x);
        classes[(int)((x + 0.5) * 16)]++;
        sum += x;
        squares += x * x;
        products += x * previous;
        previous = x;
    }
    double chi = 0;
    for (int k = 0; k < 16; k++)
        chi += (classes[k] - count / 16) * (classes[k] - count / 16) / (count / 16);
    /* All limits are five standard deviations or more. */
    ck_assert_double_le(fabs(sum / count), 5 * sqrt(1.0 / 12 / count));
    ck_assert_double_le(fabs(squares / count - 1.0 / 12), 5 * sqrt(1.0 / 180 / count));
    ck_assert_double_le(fabs(products / count), 5 / 12.0 / sqrt(count));
    ck_assert_double_le(chi, 15 + 5 * sqrt(30));
}

static void LOCAL(seeds_differ)(void)
{
    elem_t a[16], b[16];
    for (uint64_t seed = 1; seed < 20; seed++) {
        FN(plrnt)(0, 4, 4, a, 4, 4, 0, 0, seed - 1);
        FN(plrnt)(0, 4, 4, b, 4, 4, 0, 0, seed);
        for (int i = 0; i < 16; i++)
            for (int j = 0; j < 16; j++)
                ck_assert(a[i] != b[j]);
    }
}

/* Tiles far beyond 2^31: all elements differ from each other and are in range. */
static void LOCAL(huge_indices)(void)
{
    enum { M = 6 };
    const int64_t order = INT64_C(3000000000);
    elem_t a[M * M], b[M * M];
    FN(plghe)(0, M, M, a, M, order, order - M, order - 2 * M, 11);
    FN(plghe)(0, M, M, b, M, order, order - 2 * M, order - M, 11);
    for (int j = 0; j < M; j++)
        for (int i = 0; i < M; i++) {
            ck_assert(a[i + j * M] == CONJ(b[j + i * M]));
            ck_assert(DAG_ABS(a[i + j * M]) < (real_t)0.71);
            for (int k = 0; k < i + j * M; k++)
                ck_assert(a[k] != a[i + j * M]);
        }
}
