/* The text of kernels/cuda/own.cu, run by threads of the host: exchanges of rows against exchanges one
 * after the other, diagonals against what is in them. */
#include "../../common/run_suite.h"
#include "own.h"
#include "rows.h" /* of dsl-examples/lu */

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const dagi_cuda_own *dagi_cuda_own_get(void);

static const dagi_cuda_own *own;
static const int sizes[] = {4, 8, 16};
#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

static void *random_new(size_t bytes, unsigned seed)
{
    unsigned char *a = aligned_alloc(16, bytes / 16 * 16 + 16);
    for (size_t i = 0; i < bytes; i++) {
        seed = seed * 1103515245u + 12345u;
        a[i] = (unsigned char)(seed >> 16);
    }
    return a;
}

/* A device's copy of it. */
static void *copy_of(const void *a, size_t bytes)
{
    void *copy = aligned_alloc(16, bytes / 16 * 16 + 16);
    memcpy(copy, a, bytes);
    return copy;
}

static int64_t *pivots_new(int64_t rows, int64_t first, int count, unsigned seed)
{
    int64_t *pivot = calloc((size_t)rows + 1, sizeof *pivot);
    for (int i = 0; i < count; i++) {
        int64_t row = first + i, left = rows - row;
        seed = seed * 1103515245u + 12345u;
        pivot[row] = row + (int64_t)(seed >> 8) % (seed >> 4 & 1 && left > 7 ? 7 : left);
        if (seed >> 17 & 1) /* the last rows meet again and again */
            pivot[row] = rows - 1 - (int64_t)(seed >> 8) % (left < 5 ? left : 5);
    }
    return pivot;
}

static int *moves_new(const dagi_cuda_exchanges *e, const int64_t *pivot)
{
    int *moves = malloc(DAGI_CUDA_MOVES * (size_t)e->count * sizeof *moves);
    ck_assert_int_eq(own->moves(NULL, e, pivot + e->first, moves), 0);
    return moves;
}

/* As FN(laswp), for items of any size. */
static void exchange(char *a, int n, int ld, int size, const dagi_cuda_exchanges *e,
                     const int64_t *pivot)
{
    for (int j = 0; j < n; j++)
        for (int s = 0; s < e->count; s++) {
            int64_t row = e->first + (e->backward ? e->count - 1 - s : s);
            char t[16], *x = a + (row + (int64_t)j * ld) * size;
            char *y = a + (pivot[row] + (int64_t)j * ld) * size;
            memcpy(t, x, (size_t)size);
            memmove(x, y, (size_t)size);
            memcpy(y, t, (size_t)size);
        }
}

START_TEST(test_swap)
{
    static const int cases[][4] = {{1, 0, 1, 1}, {9, 2, 5, 5}, {300, 10, 257, 3}, {700, 0, 512, 5}};
    const int *c = cases[_i / 2];
    int m = c[0], n = c[3], ld = m + 1, size = sizes[_i % 3];
    dagi_cuda_exchanges e = {.first = c[1], .count = c[2], .backward = _i % 2, .nb = 1, .parts = 1};
    int64_t *pivot = pivots_new(m, e.first, e.count, (unsigned)_i);
    size_t bytes = (size_t)size * (size_t)ld * (size_t)n;
    char *a = random_new(bytes, (unsigned)_i), *b = copy_of(a, bytes);
    dagi_cuda_rows A = {b, m, n, ld, size};
    int *moves = moves_new(&e, pivot);
    exchange(a, n, ld, size, &e, pivot);
    ck_assert_int_eq(own->swap(NULL, &e, moves, &A), 0);
    ck_assert(memcmp(a, b, bytes) == 0);
    free(pivot);
    free(moves);
    free(a);
    free(b);
}
END_TEST

/* One stack of several, whose W others have filled. */
START_TEST(test_pick_and_put)
{
    enum { NB = 260, PARTS = 3, N = 5, M = 8 * NB + 11, LD = 3 * NB };
    int size = sizes[_i], part = _i;
    dagi_cuda_exchanges e = {.first = (PARTS + 1) * NB, .count = NB - part, .backward = part == 1,
                             .nb = NB, .parts = PARTS, .part = part}; /* the block is of part 1 */
    int64_t *pivot = pivots_new(M, e.first, e.count, (unsigned)_i);
    size_t in_C = (size_t)size * LD * N, in_W = (size_t)size * 2 * NB * N;
    char *c = random_new(in_C, 1), *w = random_new(in_W, 2);
    dagi_cuda_rows C = {copy_of(c, in_C), LD, N, LD, size};
    dagi_cuda_rows W = {copy_of(w, in_W), 2 * NB, N, 2 * NB, size};
    int *moves = moves_new(&e, pivot);
    la_moves *expected = malloc(la_moves_bytes(NB));
    la_moves_layout(expected, e.first, e.count, NB);
    for (int i = 0; i < e.count; i++) {
        int at = e.backward ? e.count - 1 - i : i;
        la_moves_exchange(expected, at, pivot[e.first + at]);
    }
    la_moves_pick(expected, PARTS, part, c, LD, N, w, (size_t)size);
    ck_assert_int_eq(own->pick(NULL, &e, moves, &C, &W), 0);
    ck_assert(memcmp(w, W.at, in_W) == 0);
    la_moves_put(expected, PARTS, part, w, c, LD, N, (size_t)size);
    ck_assert_int_eq(own->put(NULL, &e, moves, &W, &C), 0);
    ck_assert(memcmp(c, C.at, in_C) == 0);
    void *all[] = {c, w, C.at, W.at, moves, expected, pivot};
    for (int i = 0; i < COUNT(all); i++)
        free(all[i]);
}
END_TEST

START_TEST(test_store)
{
    int64_t from[DAGI_CUDA_STORE_MOST], to[DAGI_CUDA_STORE_MOST] = {0};
    for (int i = 0; i < DAGI_CUDA_STORE_MOST; i++)
        from[i] = i - 7;
    ck_assert_int_eq(own->store(NULL, to, from, 3), 0);
    ck_assert(memcmp(to, from, 3 * sizeof *to) == 0 && to[3] == 0);
    ck_assert_int_eq(own->store(NULL, to, from, DAGI_CUDA_STORE_MOST), 0);
    ck_assert(memcmp(to, from, sizeof to) == 0);
    ck_assert_int_ne(own->store(NULL, to, from, DAGI_CUDA_STORE_MOST + 1), 0);
}
END_TEST

/* The first of several; what is said already stays. */
START_TEST(test_positive)
{
    enum { N = 600, LD = N + 3 };
    double *a = calloc((size_t)LD * N, sizeof *a);
    float *b = calloc(2 * (size_t)LD * N, sizeof *b); /* complex */
    dagi_cuda_rows A = {a, N, N, LD, sizeof *a}, B = {b, N, N, LD, 2 * sizeof *b};
    int info[4] = {0, 0, 0, 7};
    for (size_t i = 0; i < N; i++) {
        a[i * (LD + 1)] = 1e-300;
        b[2 * i * (LD + 1)] = 1;
    }
    ck_assert_int_eq(own->positive(NULL, &A, sizeof *a, &info[0]), 0);
    a[599 * (LD + 1)] = 0;
    ck_assert_int_eq(own->positive(NULL, &A, sizeof *a, &info[1]), 0);
    ck_assert_int_eq(own->positive(NULL, &A, sizeof *a, &info[3]), 0);
    b[2 * 300 * (LD + 1)] = -1;
    b[2 * 290 * (LD + 1)] = nanf("");
    ck_assert_int_eq(own->positive(NULL, &B, sizeof *b, &info[2]), 0);
    ck_assert_int_eq(info[0], 0);
    ck_assert_int_eq(info[1], 600);
    ck_assert_int_eq(info[2], 291);
    ck_assert_int_eq(info[3], 7);
    free(a);
    free(b);
}
END_TEST

int main(void)
{
    own = dagi_cuda_own_get();
    Suite *suite = suite_create("emulated kernels");
    TCase *tc = tcase_create("kernels");
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, test_swap, 0, 8);
    tcase_add_loop_test(tc, test_pick_and_put, 0, 3);
    tcase_add_test(tc, test_store);
    tcase_add_test(tc, test_positive);
    suite_add_tcase(suite, tc);
    return run_suite(suite) || own->abi != DAGI_CUDA_OWN_ABI;
}
