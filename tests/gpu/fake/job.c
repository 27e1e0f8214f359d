#include "job.h"

#include <cblas.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void job_start(void)
{
#ifdef FAKE_OPENBLAS
    openblas_set_num_threads(1);
#endif
}

void job_bad(job *j, const char *format, ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fake_misuse(j->call, "%s", text);
    j->bad = true;
}

int job_size(job *j, const char *what, int size)
{
    if (size < 0)
        job_bad(j, "%s = %d", what, size);
    return size;
}

void job_array(job *j, const char *what, const void *at, size_t bytes, bool written)
{
    if (!j->bad && bytes)
        j->ranges[j->nranges++] = (fake_range){at, bytes, 1, bytes, written, 0, what};
}

void job_matrix(job *j, const char *what, const void *at, int rows, int cols, int ld, size_t elem,
                bool written, char triangle)
{
    if (j->bad)
        return;
    if (ld < 1 || ld < rows)
        job_bad(j, "the leading dimension of %s is %d, it has %d rows", what, ld, rows);
    else if (rows && cols)
        j->ranges[j->nranges++] =
            (fake_range){at, (size_t)rows * elem, (size_t)cols, (size_t)ld * elem, written,
                         triangle, what};
}

void job_matrices(job *j, int operand, const char *what, int rows, int cols, int ld, size_t elem, bool written,
                  char triangle)
{
    const void *const addresses[] = {j->args.A, j->args.B, j->args.C};
    job_array(j, what, addresses[operand], (size_t)j->args.batch * sizeof(void *), false);
    int before = j->nranges;
    job_matrix(j, what, NULL, rows, cols, ld, elem, written, triangle);
    if (j->nranges > before)
        j->args.each[operand] = j->ranges[--j->nranges];
}

/* Operand `number` of a batch. */
static const void *address_of(const void *array, int number)
{
    const void *address;
    memcpy(&address, (const char *)fake_shadow(array) + (size_t)number * sizeof address, sizeof address);
    return address;
}

blas_args job_of_batch(const blas_args *a, int number)
{
    blas_args one = *a;
    one.A = address_of(a->A, number);
    one.B = a->each[1].what ? address_of(a->B, number) : NULL;
    one.C = (void *)(uintptr_t)address_of(a->C, number);
    return one;
}

static int unfold(const void *args, fake_range *ranges)
{
    const blas_args *a = args;
    int count = 0;
    for (int i = 0; i < a->batch; i++) {
        blas_args one = job_of_batch(a, i);
        const void *const at[] = {one.A, one.B, one.C};
        for (int k = 0; k < 3; k++) {
            if (!a->each[k].what)
                continue;
            ranges[count] = a->each[k];
            ranges[count++].at = at[k];
        }
    }
    return count;
}

/* From the name of the call, as cublasDgemm. */
static fake_work work_of(const job *j)
{
    const blas_args *a = &j->args;
    const char *name = j->call + strlen(strncmp(j->call, "cublas", 6) == 0 ? "cublas" : "cusolverDn");
    fake_work w = {.op = name + 1, .precision = (char)tolower(name[0]), .m = a->m, .n = a->n, .k = a->k, .batch = a->batch,
                   .unfold = a->batch > 0 ? unfold : NULL};
    if (a->side != 0) /* the order of what is on that side */
        w.k = a->side == CblasLeft ? a->m : a->n;
    if (w.m == 0)
        w.m = w.n;
    return w;
}

cudaError_t job_launch(job *j, void (*run)(const void *args))
{
    if (j->bad)
        return fake_error(cudaErrorInvalidValue);
    fake_work work = work_of(j);
    return fake_launch_call(j->stream, j->call, &work, run, &j->args, sizeof j->args, j->ranges,
                            j->nranges);
}
