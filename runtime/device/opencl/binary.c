/*
 * Programs that are kept from run to run, as the driver gives them out. What one is kept by has all that it
 * depends on in full: platform, device, driver, options and text. A driver that does not take back what it gave
 * gets the text again.
 */
#include "opencl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Written when the first device is opened, and the same ever after. */
static const dagi_store *_Atomic kept;

void dagi_opencl_store(const dagi_store *store)
{
    kept = store;
}

static void say_platform(FILE *f, cl_platform_id platform, cl_platform_info what)
{
    char text[256] = "";
    (void)clGetPlatformInfo(platform, what, sizeof text - 1, text, NULL);
    fprintf(f, "%s\n", text);
}

static void say_device(FILE *f, cl_device_id id, cl_device_info what)
{
    char text[256] = "";
    (void)clGetDeviceInfo(id, what, sizeof text - 1, text, NULL);
    fprintf(f, "%s\n", text);
}

char *dagi_opencl_key(const dagi_opencl_device *d, const char *what, const char *options, const char *text)
{
    static const cl_device_info facts[] = {CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DEVICE_VERSION, CL_DRIVER_VERSION,
                                           CL_DEVICE_OPENCL_C_VERSION, CL_DEVICE_EXTENSIONS};
    char *key = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&key, &size);
    if (!f)
        return NULL;
    fprintf(f, "%s %s\n", what, d->single ? "without double precision" : "with double precision");
    say_platform(f, d->platform, CL_PLATFORM_NAME);
    say_platform(f, d->platform, CL_PLATFORM_VERSION);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        say_device(f, d->id, facts[i]);
    fprintf(f, "%s\n%s", options, text);
    if (fclose(f) == 0)
        return key;
    free(key);
    return NULL;
}

void *dagi_opencl_find_kept(const char *key, size_t *bytes)
{
    const dagi_store *store = kept;
    return store && key ? store->find(key, bytes) : NULL;
}

void dagi_opencl_keep(const char *key, const void *content, size_t bytes)
{
    const dagi_store *store = kept;
    if (store && key)
        store->keep(key, content, bytes);
}

cl_program dagi_opencl_program_kept(const dagi_opencl_device *d, const char *key, const char *options)
{
    size_t bytes = 0;
    unsigned char *binary = dagi_opencl_find_kept(key, &bytes);
    if (!binary)
        return NULL;
    const unsigned char *given = binary;
    cl_int error = CL_SUCCESS, status = CL_SUCCESS;
    cl_program made = clCreateProgramWithBinary(d->context, 1, &d->id, &bytes, &given, &status, &error);
    free(binary);
    if (error != CL_SUCCESS)
        return NULL;
    if (status == CL_SUCCESS && clBuildProgram(made, 1, &d->id, options, NULL, NULL) == CL_SUCCESS)
        return made;
    clReleaseProgram(made);
    return NULL;
}

/* Of all devices of the program's context that have one. -1: the device is not among them. */
static int place_of(cl_program program, cl_device_id id, cl_uint n)
{
    cl_device_id ids[DAGI_OPENCL_DEVICES];
    if (clGetProgramInfo(program, CL_PROGRAM_DEVICES, n * sizeof *ids, ids, NULL) != CL_SUCCESS)
        return -1;
    for (cl_uint i = 0; i < n; i++)
        if (ids[i] == id)
            return (int)i;
    return -1;
}

void dagi_opencl_program_keep(const dagi_opencl_device *d, const char *key, cl_program program)
{
    cl_uint n = 0;
    size_t sizes[DAGI_OPENCL_DEVICES] = {0};
    unsigned char *binaries[DAGI_OPENCL_DEVICES] = {0};
    if (!kept || !key ||
        clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof n, &n, NULL) != CL_SUCCESS ||
        n > DAGI_OPENCL_DEVICES ||
        clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, n * sizeof *sizes, sizes, NULL) != CL_SUCCESS)
        return;
    int place = place_of(program, d->id, n);
    if (place < 0 || sizes[place] == 0)
        return;
    binaries[place] = malloc(sizes[place]); /* others are not asked for */
    if (binaries[place] &&
        clGetProgramInfo(program, CL_PROGRAM_BINARIES, n * sizeof *binaries, binaries, NULL) == CL_SUCCESS)
        dagi_opencl_keep(key, binaries[place], sizes[place]);
    free(binaries[place]);
}
