/*
 * Programs: the library's kernels, compiled for each precision when a device is opened, and those that the
 * application has named by dag_opencl_program(). What was compiled once is kept (binary.c).
 */
#include "opencl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char source[] = {
#include "tile.cl.inc"
#include "triangle.cl.inc"
    0};

/* Those at the first start: contexts that are made later may run beside others. */
static const dagi_text *texts;
static int ntexts;

void dagi_opencl_texts(const dagi_text *given, int n)
{
    static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&once);
    if (!texts) {
        ntexts = n < DAGI_OPENCL_TEXTS ? n : DAGI_OPENCL_TEXTS;
        texts = given;
    }
    pthread_mutex_unlock(&once);
}

/* The first lines of what the compiler says. */
static void say_log(cl_program program, cl_device_id id, const char *name)
{
    char text[512];
    size_t size = 0;
    clGetProgramBuildInfo(program, id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    char *log = calloc(1, size + 1);
    if (log)
        clGetProgramBuildInfo(program, id, CL_PROGRAM_BUILD_LOG, size, log, NULL);
    snprintf(text, sizeof text, "the OpenCL program %s does not compile: %.400s", name,
             log && *log ? log : "the driver does not say why");
    free(log);
    dagi_opencl_say(text);
}

static dagi_result compile(const dagi_opencl_device *d, const char *name, const char *key, const char *text,
                           const char *options, cl_program *program, int *faulty)
{
    cl_int error = CL_SUCCESS;
    cl_program made = clCreateProgramWithSource(d->context, 1, &text, NULL, &error);
    if (error != CL_SUCCESS)
        return dagi_opencl_result(error, "clCreateProgramWithSource");
    error = clBuildProgram(made, 1, &d->id, options, NULL, NULL);
    if (error == CL_SUCCESS) {
        dagi_opencl_program_keep(d, key, made);
        *program = made;
        return DAGI_OK;
    }
    dagi_result result = dagi_opencl_result(error, "clBuildProgram");
    if (error == CL_BUILD_PROGRAM_FAILURE)
        say_log(made, d->id, name);
    if (faulty)
        *faulty = error == CL_BUILD_PROGRAM_FAILURE;
    clReleaseProgram(made);
    return result;
}

/* *faulty, if it is asked for: 1 = the compiler does not take the text. */
static dagi_result build(const dagi_opencl_device *d, const char *name, const char *text,
                         const char *options, cl_program *program, int *faulty)
{
    char *key = dagi_opencl_key(d, options, text);
    *program = dagi_opencl_program_kept(d, key, options);
    dagi_result result = *program ? DAGI_OK : compile(d, name, key, text, options, program, faulty);
    free(key);
    return result;
}

/* Without double precision a text that has doubles does not compile. It is for tasks that do not come to
 * such a device, so the device lacks the text, and others are not kept from it. */
static dagi_result build_own(dagi_opencl_device *device, int number)
{
    int faulty = 0;
    dagi_result result =
        build(device, texts[number].name, texts[number].text, "", &device->own[number], &faulty);
    return faulty && device->single ? DAGI_OK : result;
}

dagi_result dagi_opencl_compile(dagi_opencl_device *device)
{
    dagi_result result = DAGI_OK;
    char options[256];
    for (int p = 0; p < DAG_PRECISION_COUNT && result == DAGI_OK; p++) {
        const dagi_opencl_shape *s = &device->shape[p];
        int narrow = p == DAG_S || p == DAG_C;
        if (!narrow && device->single)
            continue;
        snprintf(options, sizeof options,
                 "-DREAL=%s -DCPLX=%d -DVW=%d -DMV=%d -DNR=%d -DJB=%d -DSLAB=%d -DSMALL=%d -DPIVOTS=%d",
                 narrow ? "float" : "double", dag_precision_is_complex((dag_precision)p), s->vector,
                 s->vectors, s->columns, s->strip, OPENCL_SLAB, OPENCL_SMALL, OPENCL_PIVOTS);
        result = build(device, "of kernels on tiles", source, options, &device->program[p], NULL);
    }
    for (int i = 0; i < ntexts && result == DAGI_OK; i++)
        result = build_own(device, i);
    return result;
}

void dagi_opencl_programs_drop(dagi_opencl_device *device)
{
    for (int p = 0; p < DAG_PRECISION_COUNT; p++) {
        if (device->program[p])
            clReleaseProgram(device->program[p]);
    }
    for (int i = 0; i < ntexts; i++) {
        if (device->own[i])
            clReleaseProgram(device->own[i]);
    }
}

/* ---- kernels of bodies' own ---------------------------------------------------------------------- */

struct dagi_opencl_own {
    struct dagi_opencl_own *next;
    int program;
    char name[64];
    cl_kernel kernel;
};

static int program_named(const char *name)
{
    for (int i = 0; i < ntexts; i++) {
        if (strcmp(texts[i].name, name) == 0)
            return i;
    }
    return -1;
}

void *dagi_opencl_own_kernel(void *queue, const char *program, const char *kernel)
{
    dag_device_queue *q = queue;
    int number = program_named(program);
    cl_int error = CL_INVALID_KERNEL_NAME;
    if (number < 0 || strlen(kernel) >= sizeof ((struct dagi_opencl_own *)0)->name) {
        (void)dagi_opencl_result(error, "dag_opencl_kernel");
        return NULL;
    }
    if (!q->device->own[number]) {
        dagi_opencl_say("dag_opencl_kernel: the program does not compile for a device without "
                        "double precision");
        return NULL;
    }
    for (struct dagi_opencl_own *o = q->own; o; o = o->next) {
        if (o->program == number && strcmp(o->name, kernel) == 0)
            return o->kernel;
    }
    struct dagi_opencl_own *o = calloc(1, sizeof *o);
    if (!o)
        return NULL;
    o->kernel = clCreateKernel(q->device->own[number], kernel, &error);
    if (dagi_opencl_result(error, "clCreateKernel") != DAGI_OK) {
        free(o);
        return NULL;
    }
    snprintf(o->name, sizeof o->name, "%s", kernel);
    o->program = number;
    o->next = q->own;
    q->own = o;
    return o->kernel;
}

void dagi_opencl_own_drop(dag_device_queue *queue)
{
    while (queue->own) {
        struct dagi_opencl_own *o = queue->own;
        queue->own = o->next;
        clReleaseKernel(o->kernel);
        free(o);
    }
}
