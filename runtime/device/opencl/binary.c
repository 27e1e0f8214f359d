/*
 * Programs that are kept from run to run, as the driver gives them out. What one is kept by has all that it
 * depends on in full: platform, device, driver, options and text. A driver that does not take back what it gave
 * gets the text again.
 */
#include "opencl.h"

#include <stdio.h>
#include <stdlib.h>

/* Written when the first device is opened, and the same ever after. */
static const dagi_store *_Atomic kept;

void dagi_opencl_store(const dagi_store *store)
{
    kept = store;
}

/* A line with a fact of any length; one that the driver does not tell is empty. 0: no memory. */
static int say(FILE *f, const dagi_opencl_device *d, cl_platform_info of_platform, cl_device_info of_device)
{
    size_t size = 0;
    cl_int error = of_platform ? clGetPlatformInfo(d->platform, of_platform, 0, NULL, &size)
                               : clGetDeviceInfo(d->id, of_device, 0, NULL, &size);
    char *text = calloc(1, size + 1);
    if (!text)
        return 0;
    if (error == CL_SUCCESS)
        error = of_platform ? clGetPlatformInfo(d->platform, of_platform, size, text, NULL)
                            : clGetDeviceInfo(d->id, of_device, size, text, NULL);
    fprintf(f, "%s\n", error == CL_SUCCESS ? text : "");
    free(text);
    return 1;
}

char *dagi_opencl_key(const dagi_opencl_device *d, const char *options, const char *text)
{
    static const cl_platform_info platform[] = {CL_PLATFORM_NAME, CL_PLATFORM_VERSION};
    static const cl_device_info device[] = {CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DEVICE_VERSION, CL_DRIVER_VERSION,
                                            CL_DEVICE_OPENCL_C_VERSION, CL_DEVICE_EXTENSIONS};
    char *key = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&key, &size);
    if (!f)
        return NULL;
    fprintf(f, "program %s\n", d->single ? "without double precision" : "with double precision");
    int good = 1;
    for (size_t i = 0; i < sizeof platform / sizeof *platform; i++)
        good = good && say(f, d, platform[i], 0);
    for (size_t i = 0; i < sizeof device / sizeof *device; i++)
        good = good && say(f, d, 0, device[i]);
    fprintf(f, "%s\n%s", options, text);
    if (fclose(f) == 0 && good)
        return key;
    free(key);
    return NULL;
}

cl_program dagi_opencl_program_kept(const dagi_opencl_device *d, const char *key, const char *options)
{
    size_t bytes = 0;
    const dagi_store *store = kept;
    unsigned char *binary = store && key ? store->find(key, &bytes) : NULL;
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
    const dagi_store *store = kept;
    if (!store || !key ||
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
        store->keep(key, binaries[place], sizes[place]);
    free(binaries[place]);
}
