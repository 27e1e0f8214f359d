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

/* From the name of the call, as cublasDgemm. */
static fake_work work_of(const job *j)
{
    const blas_args *a = &j->args;
    const char *name = j->call + strlen(strncmp(j->call, "cublas", 6) == 0 ? "cublas" : "cusolverDn");
    fake_work w = {.op = name + 1, .precision = (char)tolower(name[0]), .m = a->m, .n = a->n, .k = a->k};
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
