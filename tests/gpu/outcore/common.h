/* What tests of out-of-core programs share: matrices in both storages, references, counts of
 * bytes. */
#ifndef OUTCORE_COMMON_H
#define OUTCORE_COMMON_H

#include "matrices.h"

#include <dag/outcore.h>

#include <inttypes.h>
#include <string.h>

static int failures;

static inline uint64_t draw(void)
{
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return state >> 33;
}

/* In (-1, 1), and imaginary parts where there are some. */
static inline whole whole_random(dag_precision prec, int64_t m, int64_t n)
{
    whole w = whole_new(prec, m, n);
    for (int64_t at = 0; at < m * n; at++) {
        double re = (double)(draw() % 2001) / 1000.5 - 1, im = (double)(draw() % 2001) / 1000.5 - 1;
        put(prec, w.a, (size_t)at, __builtin_complex(re, dag_precision_is_complex(prec) ? im : 0));
    }
    return w;
}

static inline dag_matrix *matrix_like(dag_context *ctx, whole w, int64_t mb, int64_t nb, int slab,
                                      const char *name)
{
    dag_matrix *a =
        matrix_of(ctx, (dag_matrix_desc){.prec = w.prec,
                                         .m = w.m,
                                         .n = w.n,
                                         .mb = mb,
                                         .nb = nb,
                                         .p = 1,
                                         .q = 1,
                                         .name = name,
                                         .layout = slab ? DAG_LAYOUT_SLAB : DAG_LAYOUT_TILE});
    fill_from(a, w);
    return a;
}

static inline dag_dcomplex op_get(whole w, dag_trans trans, int64_t i, int64_t j)
{
    dag_dcomplex x = trans == DAG_NO_TRANS ? whole_get(w, i, j) : whole_get(w, j, i);
    return trans == DAG_CONJ_TRANS ? __builtin_conj(x) : x;
}

/* Bytes that all devices have copied. */
typedef struct bytes {
    int64_t in, out;
} bytes;

static inline bytes bytes_now(const dag_context *ctx)
{
    bytes all = {0, 0};
    dag_device_stats s;
    for (int d = 0; dag_device_stats_get(ctx, d, &s); d++) {
        all.in += s.bytes_in;
        all.out += s.bytes_out;
    }
    return all;
}

static inline double unit_of(dag_precision prec)
{
    return dag_precision_real(prec) == DAG_S ? 0x1p-24 : 0x1p-53;
}

/* Blocks of a length. */
static inline int64_t blocks_in(int64_t length, int64_t block)
{
    return (length + block - 1) / block;
}

/* Where block i of a length begins, by the rule: the last two are of equal size. */
static inline int64_t begin_of(int64_t length, int64_t block, int64_t i)
{
    int64_t count = blocks_in(length, block);
    if (i >= count)
        return length;
    if (i + 1 < count || i == 0 || length % block == 0)
        return i * block;
    return (i - 1) * block + (length - (i - 1) * block + 1) / 2;
}

/* The runtime, or the end of the program: 1 without what it needs, 77 without devices. */
static inline dag_context *outcore_start(int argc)
{
    char why[512] = "";
    dag_context *ctx = NULL;
    if (argc < 2 || dag_init(&ctx, NULL, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "a listing, and perhaps a number of cases; %s\n", why);
        exit(1);
    }
    if (dag_devices(ctx) == 0) {
        printf("skipped: there are no devices: %s\n", dag_devices_reason(ctx));
        dag_fini(ctx);
        exit(77);
    }
    return ctx;
}

/* Runs a program to its end. */
static inline dag_status run_program(dag_context *ctx, dag_devprog *p)
{
    dag_status status = dag_run(ctx, dag_devprog_taskpool(p));
    dag_devprog_free(p);
    return status;
}

/* The size of the workspace, register 6, is the kernel's. */
static inline void mask_workspace(char *text)
{
    for (char *at = text; (at = strstr(at, " r6[")) != NULL; at += 4)
        memmove(at + 4, at + strcspn(at, "]"), strlen(at + strcspn(at, "]")) + 1);
}

/* Blocks of results. */
static inline int stored_by(dag_devprog *p)
{
    char *text = NULL;
    size_t size = 0;
    int count = 0;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL || dag_devprog_list(p, to) != DAG_SUCCESS || fclose(to) != 0)
        abort();
    for (const char *at = text; (at = strstr(at, " ST ")) != NULL; at++)
        count++;
    free(text);
    return count;
}

/* Compares a listing with a file. */
static inline void compare_listing(dag_devprog *p, const char *path)
{
    char *text = NULL, *wanted = NULL;
    size_t size = 0, length = 0;
    FILE *to = open_memstream(&text, &size), *from = fopen(path, "r");
    if (to == NULL || dag_devprog_list(p, to) != DAG_SUCCESS || fclose(to) != 0)
        abort();
    mask_workspace(text);
    if (from == NULL || getdelim(&wanted, &length, EOF, from) < 0 || strcmp(text, wanted) != 0) {
        fprintf(stderr, "the listing is not %s:\n%s", path, text);
        failures++;
    }
    if (from != NULL)
        fclose(from);
    free(text);
    free(wanted);
}

#endif
