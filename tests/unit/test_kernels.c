/*
 * Every CPU tile kernel against plain loops in double precision (reference.h), in four
 * precisions, with awkward sizes and leading dimensions. Each tile is surrounded by padding that
 * a kernel must leave alone, and what a kernel must not read is NaN.
 */
#include "../common/run_suite.h"
#include "precisions.h"
#include "reference.h"

#include "instances.h"

#include <dag/kernels.h>

#include <dlfcn.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const int sizes[] = {0, 1, 2, 3, 7, 40, 63, 64, 65, 100, 192};
enum { SIZE_COUNT = sizeof sizes / sizeof sizes[0], SMALL_COUNT = 5 };

/* Shapes of products: all of the small sizes are combined, these come on top. */
static const int large_shapes[][3] = {
    {63, 64, 65}, {64, 64, 64}, {65, 100, 63}, {100, 7, 192}, {192, 1, 100}, {1, 192, 64},
    {192, 100, 65}, {192, 192, 192},
    {70, 65, 290}, {513, 8, 24}, {25, 12, 513}, {300, 65, 70}, {61, 203, 250}, {74, 98, 250},
    {101, 2, 70}, {64, 3, 101}, {33, 4, 131}, /* few columns */
    {520, 7, 70}, {730, 6, 70}, {731, 8, 67}, /* of matrices that are large, too */
};
enum { LARGE_COUNT = sizeof large_shapes / sizeof large_shapes[0] };
enum { SHAPE_COUNT = SMALL_COUNT * SMALL_COUNT * SMALL_COUNT + LARGE_COUNT };

typedef struct shape {
    int m, n, k;
} shape;

static shape shape_number(int s)
{
    if (s >= SMALL_COUNT * SMALL_COUNT * SMALL_COUNT) {
        const int *l = large_shapes[s - SMALL_COUNT * SMALL_COUNT * SMALL_COUNT];
        return (shape){l[0], l[1], l[2]};
    }
    return (shape){sizes[s % SMALL_COUNT], sizes[s / SMALL_COUNT % SMALL_COUNT],
                   sizes[s / SMALL_COUNT / SMALL_COUNT]};
}

static const dag_trans transes[] = {DAG_NO_TRANS, DAG_TRANS, DAG_CONJ_TRANS};
static const dag_uplo uplos[] = {DAG_LOWER, DAG_UPPER};
static const dag_side sides[] = {DAG_LEFT, DAG_RIGHT};
static const dag_diag diags[] = {DAG_NON_UNIT, DAG_UNIT};
static const dag_region regions[] = {
    DAG_REGION_NONE, DAG_REGION_LOWER_STRICT, DAG_REGION_DIAGONAL, DAG_REGION_LOWER,
    DAG_REGION_UPPER_STRICT, DAG_REGION_UPPER, DAG_REGION_FULL,
};
enum { REGION_COUNT = sizeof regions / sizeof regions[0] };

/* Scalars, used in turn: real part, imaginary part (dropped in s and d). */
static const double scalars[][2] = {{1, 0}, {-1, 0}, {0, 0}, {0.75, -0.5}, {-0.25, 1}};
enum { SCALAR_COUNT = sizeof scalars / sizeof scalars[0] };

/* Distance of leading dimension and number of rows, used in turn. */
static const int paddings[] = {0, 1, 5};
static unsigned padding_turn;

static int leading_dimension(int m)
{
    int ld = m + paddings[padding_turn++ % 3];
    return ld > 0 ? ld : 1;
}

#define DAG_TEMPLATE "test_kernels.inc.c"
#include <dag/each_precision.h>

FOUR_TESTS(gemm)
FOUR_TESTS(gemm_small)
FOUR_TESTS(gemm_vector)
FOUR_TESTS(hemm)
FOUR_TESTS(symm)
FOUR_TESTS(syr2k)
FOUR_TESTS(her2k)
FOUR_TESTS(herk)
FOUR_TESTS(syrk)
FOUR_TESTS(trmm)
FOUR_TESTS(trsm)
FOUR_TESTS(trsm_zero)
FOUR_TESTS(trsm_extreme)
FOUR_TESTS(potrf)
FOUR_TESTS(potrf_info)
FOUR_TESTS(trtri)
FOUR_TESTS(lauum)
FOUR_TESTS(lacpy)
FOUR_TESTS(laset)
FOUR_TESTS(geadd)
FOUR_TESTS(geadd_in_place)
FOUR_TESTS(lange)
FOUR_TESTS(lange_special)
FOUR_TESTS(absgemm)

/* Times that are kept by it must not be those of other sources. */
START_TEST(test_variant_names_sources)
{
    const char *text = strstr(dag_kernels_variant(), ", kernels ");
    ck_assert_ptr_nonnull(text);
    ck_assert_int_eq(strspn(text + strlen(", kernels "), "0123456789abcdef"), 8);
}
END_TEST

START_TEST(test_registry_is_complete)
{
    for (int op = 0; op < DAG_OP_COUNT; op++) {
        if (op == DAG_OP_POTRF_WORKSPACE || op == DAG_OP_PICK_ROWS || op == DAG_OP_PUT_ROWS ||
            op == DAG_OP_GEMM_BATCH || op == DAG_OP_TRSM_BATCH)
            continue; /* of devices only */
        const char *op_name = dag_kernel_op_name((dag_kernel_op)op);
        ck_assert_ptr_nonnull(op_name);
        for (int p = 0; p < DAG_PRECISION_COUNT; p++) {
            const dag_kernel *k = dag_kernel_find((dag_kernel_op)op, (dag_precision)p,
                                                  DAG_DEVICE_CPU);
            ck_assert_ptr_nonnull(k);
            ck_assert_int_eq(k->op, op);
            ck_assert_int_eq(k->precision, p);
            ck_assert_int_eq(k->device, DAG_DEVICE_CPU);
            ck_assert(k->fn != NULL);
            char name[64];
            snprintf(name, sizeof name, "dag_tile_%c%s",
                     dag_precision_letter((dag_precision)p), op_name);
            ck_assert_str_eq(k->name, name);
        }
    }
    ck_assert(dag_kernel_find(DAG_OP_GEMM, DAG_D, DAG_DEVICE_CPU)->fn ==
              (dag_kernel_fn)dag_tile_dgemm);
    ck_assert(dag_kernel_find(DAG_OP_PLGHE, DAG_Z, DAG_DEVICE_CPU)->fn ==
              (dag_kernel_fn)dag_tile_zplghe);
    ck_assert_ptr_null(dag_kernel_op_name(DAG_OP_COUNT));
}
END_TEST

static void some_kernel(void)
{
}

START_TEST(test_registry_register)
{
    dag_kernel k = {DAG_OP_GEMM, DAG_D, DAG_DEVICE_CUDA, some_kernel, "some_kernel"};
    ck_assert_ptr_null(dag_kernel_find(k.op, k.precision, k.device));
    ck_assert(dag_kernel_register(&k));
    ck_assert(dag_kernel_register(&k)); /* again the same: harmless */
    ck_assert_str_eq(dag_kernel_find(k.op, k.precision, k.device)->name, "some_kernel");

    dag_kernel taken = {DAG_OP_GEMM, DAG_D, DAG_DEVICE_CPU, some_kernel, "some_kernel"};
    ck_assert(!dag_kernel_register(&taken));
    ck_assert_str_eq(dag_kernel_find(DAG_OP_GEMM, DAG_D, DAG_DEVICE_CPU)->name,
                     "dag_tile_dgemm");
    dag_kernel no_function = {DAG_OP_TRSM, DAG_D, DAG_DEVICE_CUDA, NULL, "x"};
    ck_assert(!dag_kernel_register(&no_function));
    dag_kernel no_name = {DAG_OP_TRSM, DAG_D, DAG_DEVICE_CUDA, some_kernel, NULL};
    ck_assert(!dag_kernel_register(&no_name));
    dag_kernel no_op = {DAG_OP_COUNT, DAG_D, DAG_DEVICE_CUDA, some_kernel, "x"};
    ck_assert(!dag_kernel_register(&no_op));
    ck_assert_ptr_null(dag_kernel_find(DAG_OP_GEMM, (dag_precision)4, DAG_DEVICE_CPU));
    ck_assert_ptr_null(dag_kernel_find(DAG_OP_GEMM, DAG_D, (dag_device_kind)3));
}
END_TEST

static void *init_thread(void *result)
{
    *(bool *)result = dag_kernels_init(NULL);
    return NULL;
}

START_TEST(test_one_blas_thread)
{
    pthread_t threads[4];
    bool results[4];
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, init_thread, &results[i]), 0);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    const char *how = NULL;
    bool ok = dag_kernels_init(&how);
    ck_assert_ptr_nonnull(how);
    for (int i = 0; i < 4; i++)
        ck_assert(results[i] == ok);

    void *symbol = dlsym(RTLD_DEFAULT, "openblas_get_num_threads");
    if (symbol != NULL) {
        int (*get)(void);
        memcpy(&get, &symbol, sizeof get);
        ck_assert_int_eq(get(), 1);
        ck_assert_msg(ok, "%s", how);
        ck_assert_ptr_nonnull(strstr(how, "OpenBLAS: 1 thread by openblas_set_num_threads"));
    }
}
END_TEST

#ifndef __SANITIZE_THREAD__ /* its threads need a megabyte */
/* The first call on a stack that is smaller than what kernels may use touches nothing below it. */
START_TEST(test_small_stack)
{
    enum { STACK = 128 << 10, FORBIDDEN = 512 << 10 };
    char *all = mmap(NULL, FORBIDDEN + STACK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(all != MAP_FAILED);
    ck_assert_int_eq(mprotect(all + FORBIDDEN, STACK, PROT_READ | PROT_WRITE), 0);
    pthread_attr_t small;
    pthread_t thread;
    bool result = false;
    ck_assert_int_eq(pthread_attr_init(&small), 0);
    ck_assert_int_eq(pthread_attr_setstack(&small, all + FORBIDDEN, STACK), 0);
    ck_assert_int_eq(pthread_create(&thread, &small, init_thread, &result), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert(result == dag_kernels_init(NULL));
    pthread_attr_destroy(&small);
    munmap(all, FORBIDDEN + STACK);
}
END_TEST
#endif

/*
 * A child process with OpenBLAS's oldest kernels is told what to do about it. Skipped where
 * OpenBLAS cannot choose, or the processor has nothing newer.
 */
START_TEST(test_advice)
{
    char self[4096], command[4200], line[1024] = "";
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    ck_assert_int_gt(length, 0);
    self[length] = '\0';
    snprintf(command, sizeof command, "OPENBLAS_CORETYPE=PRESCOTT '%s' --advice", self);
    FILE *child = popen(command, "r");
    ck_assert_ptr_nonnull(child);
    ck_assert_ptr_nonnull(fgets(line, sizeof line, child));
    ck_assert_int_eq(pclose(child), 0);
    bool old_core = strncmp(line, "Prescott:", 9) == 0;
#if defined(__x86_64__)
    bool new_processor = __builtin_cpu_supports("avx2");
#else
    bool new_processor = false;
#endif
    if (old_core && new_processor)
        ck_assert_msg(strstr(line, "set OPENBLAS_CORETYPE=") != NULL, "%s", line);
    else
        ck_assert_msg(strstr(line, "OPENBLAS_CORETYPE") == NULL, "%s", line);
}
END_TEST

static void one_blas_thread(void)
{
    dag_kernels_init(NULL);
}

/* The kernels that have instances for several instruction sets, in s and d, some of them in c and z, too. */
static void add_instances(Suite *suite, const char *name, SFun set_up)
{
    TCase *tc = tcase_create(name);
    tcase_add_checked_fixture(tc, set_up, with_all);
    tcase_add_loop_test(tc, test_gemm, 0, 2);
    tcase_add_loop_test(tc, test_gemm_small, 0, 2);
    tcase_add_loop_test(tc, test_gemm_vector, 0, 4);
    tcase_add_loop_test(tc, test_herk, 0, 2);
    tcase_add_loop_test(tc, test_syrk, 0, 2);
    tcase_add_loop_test(tc, test_trsm, 0, 4); /* also the solves for one complex vector */
    tcase_add_loop_test(tc, test_trsm_extreme, 0, 4);
    tcase_add_loop_test(tc, test_potrf, 0, 4);
    tcase_add_loop_test(tc, test_potrf_info, 0, 4);
    tcase_add_loop_test(tc, test_trtri, 0, 4);
    tcase_add_loop_test(tc, test_lauum, 0, 4);
    tcase_set_timeout(tc, 60);
    suite_add_tcase(suite, tc);
}

static int print_advice(void)
{
    const char *core = "unknown";
    void *symbol = dlsym(RTLD_DEFAULT, "openblas_get_corename");
    if (symbol != NULL) {
        char *(*get)(void);
        memcpy(&get, &symbol, sizeof get);
        core = get();
    }
    const char *advice = dag_kernels_advice();
    printf("%s: %s\n", core, advice != NULL ? advice : "nothing to say");
    return 0;
}

START_TEST(test_precisions)
{
    static const struct {
        dag_precision p, real;
        char letter;
        size_t size;
        bool complex;
    } want[] = {
        {DAG_S, DAG_S, 's', sizeof(float), false},
        {DAG_D, DAG_D, 'd', sizeof(double), false},
        {DAG_C, DAG_S, 'c', sizeof(dag_scomplex), true},
        {DAG_Z, DAG_D, 'z', sizeof(dag_dcomplex), true},
    };
    for (int i = 0; i < 4; i++) {
        dag_precision p = DAG_S;
        ck_assert(dag_precision_parse(want[i].letter, &p));
        ck_assert_int_eq(p, want[i].p);
        ck_assert_int_eq(dag_precision_real(p), want[i].real);
        ck_assert_int_eq(dag_precision_letter(p), want[i].letter);
        ck_assert_uint_eq(dag_precision_size(p), want[i].size);
        ck_assert(dag_precision_is_complex(p) == want[i].complex);
    }
    dag_precision p = DAG_C;
    ck_assert(!dag_precision_parse('x', &p));
    ck_assert_int_eq(p, DAG_C);
    ck_assert(dag_region_disjoint(DAG_REGION_LOWER, DAG_REGION_UPPER_STRICT));
    ck_assert(!dag_region_disjoint(DAG_REGION_LOWER, DAG_REGION_UPPER));
    ck_assert_int_eq(DAG_REGION_LOWER | DAG_REGION_UPPER, DAG_REGION_FULL);
}
END_TEST

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--advice") == 0)
        return print_advice();
    /* Keep freed memory: most of the time of these tests would be page faults. */
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    Suite *suite = suite_create("kernels");
    TCase *tc = tcase_create("kernels");
    tcase_add_checked_fixture(tc, one_blas_thread, NULL);
    tcase_set_timeout(tc, 60); /* on a machine with much else to do */
    tcase_add_loop_test(tc, test_gemm, 0, 4);
    tcase_add_loop_test(tc, test_gemm_small, 0, 4);
    tcase_add_loop_test(tc, test_gemm_vector, 0, 4);
    tcase_add_loop_test(tc, test_hemm, 0, 4);
    tcase_add_loop_test(tc, test_symm, 0, 4);
    tcase_add_loop_test(tc, test_syr2k, 0, 4);
    tcase_add_loop_test(tc, test_her2k, 0, 4);
    tcase_add_loop_test(tc, test_herk, 0, 4);
    tcase_add_loop_test(tc, test_syrk, 0, 4);
    tcase_add_loop_test(tc, test_trmm, 0, 4);
    tcase_add_loop_test(tc, test_trsm, 0, 4);
    tcase_add_loop_test(tc, test_trsm_zero, 0, 4);
    tcase_add_loop_test(tc, test_trsm_extreme, 0, 4);
    tcase_add_loop_test(tc, test_potrf, 0, 4);
    tcase_add_loop_test(tc, test_potrf_info, 0, 4);
    tcase_add_loop_test(tc, test_trtri, 0, 4);
    tcase_add_loop_test(tc, test_lauum, 0, 4);
    tcase_add_loop_test(tc, test_lacpy, 0, 4);
    tcase_add_loop_test(tc, test_laset, 0, 4);
    tcase_add_loop_test(tc, test_geadd, 0, 4);
    tcase_add_loop_test(tc, test_geadd_in_place, 0, 4);
    tcase_add_loop_test(tc, test_lange, 0, 4);
    tcase_add_loop_test(tc, test_lange_special, 0, 4);
    tcase_add_loop_test(tc, test_absgemm, 0, 4);
    suite_add_tcase(suite, tc);
    add_instances(suite, "avx2", with_avx2);
    add_instances(suite, "no instance", with_library);
    tc = tcase_create("library");
    tcase_add_test(tc, test_precisions);
    tcase_add_test(tc, test_variant_names_sources);
    tcase_add_test(tc, test_registry_is_complete);
    tcase_add_test(tc, test_registry_register);
    tcase_add_test(tc, test_one_blas_thread);
#ifndef __SANITIZE_THREAD__
    tcase_add_test(tc, test_small_stack);
#endif
    tcase_add_test(tc, test_advice);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
