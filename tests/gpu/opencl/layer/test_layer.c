/*
 * The layer finds each mistake that it is there for, and nothing in a program without one. Each program is a
 * process of its own, since the layer speaks at the end.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 4096, MISTAKE = 97, NO_DEVICE = 77, WRONG = 3 };

static const char text[] = "__kernel void pack(__global const double *A, long at, int ld, int m, "
                           "int k, int turned, int form,"
                           " int upper, int unit, int conj, int width, __global double *to) { "
                           "to[get_global_id(0)] = A[at]; }";

static cl_device_id device;
static cl_context context;
static cl_command_queue queue[2];
static cl_mem buffer;
static char host[BYTES];

static void must(cl_int error)
{
    if (error != CL_SUCCESS) {
        fprintf(stderr, "test_layer: error %d\n", (int)error);
        _exit(WRONG);
    }
}

static void begin(void)
{
    cl_platform_id platform;
    cl_uint n = 0;
    cl_int error;
    if (clGetPlatformIDs(1, &platform, &n) != CL_SUCCESS || n == 0 ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, &n) != CL_SUCCESS || n == 0)
        _exit(NO_DEVICE);
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    must(error);
    for (int i = 0; i < 2; i++) {
        queue[i] = clCreateCommandQueue(context, device, 0, &error);
        must(error);
    }
    buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, &error);
    must(error);
}

static void end(void)
{
    for (int i = 0; i < 2; i++) {
        clFinish(queue[i]);
        clReleaseCommandQueue(queue[i]);
    }
    clReleaseMemObject(buffer);
    clReleaseContext(context);
}

/* Eight rows of 64 bytes, 128 apart, in or out. */
static cl_int copy(int which, int out, size_t first)
{
    const size_t at[3] = {first, 0, 0}, origin[3] = {0}, region[3] = {64, 8, 1};
    char *here = host + 2048 * which;
    return out ? clEnqueueReadBufferRect(queue[which], buffer, CL_FALSE, at, origin, region, 128, 0,
                                         0, 0, here, 0, NULL, NULL)
               : clEnqueueWriteBufferRect(queue[which], buffer, CL_FALSE, at, origin, region, 128,
                                          0, 0, 0, here, 0, NULL, NULL);
}

/* The second queue goes on behind the first one. */
static void order(void)
{
    cl_event event;
    must(clEnqueueMarkerWithWaitList(queue[0], 0, NULL, &event));
    must(clEnqueueBarrierWithWaitList(queue[1], 1, &event, NULL));
    clReleaseEvent(event);
}

/* ---- programs --------------------------------------------------------------------------------- */

static void ordered(void)
{
    must(copy(0, 0, 0));
    must(copy(1, 0, 64)); /* beside it, in the same lines */
    order();
    must(copy(1, 1, 0));
}

static void unordered(void)
{
    must(copy(0, 0, 0));
    must(copy(1, 1, 32));
}

static void seen(void)
{
    must(copy(0, 0, 0));
    must(clFinish(queue[0]));
    must(copy(1, 1, 0));
}

static void host_unordered(void)
{
    const size_t zero[3] = {0}, region[3] = {64, 1, 1};
    must(clEnqueueReadBufferRect(queue[0], buffer, CL_FALSE, zero, zero, region, 0, 0, 0, 0, host,
                                 0, NULL, NULL));
    must(clEnqueueReadBufferRect(queue[1], buffer, CL_FALSE, zero, zero, region, 0, 0, 0, 0, host,
                                 0, NULL, NULL));
}

static void outside(void)
{
    (void)copy(0, 0, BYTES - 64); /* the driver refuses it as well */
}

static void leak(void)
{
    cl_event event;
    must(clEnqueueMarkerWithWaitList(queue[0], 0, NULL, &event));
}

static void released(void)
{
    cl_event event;
    must(clEnqueueMarkerWithWaitList(queue[0], 0, NULL, &event));
    must(clFinish(queue[0]));
    must(clReleaseEvent(event));
    (void)clEnqueueBarrierWithWaitList(queue[1], 1, &event, NULL);
}

/* A kernel of the library's, beside a copy that writes what it reads; or behind the end of its operand. */
static void kernel(int late)
{
    const char *source = text;
    const size_t global[2] = {1, 1};
    const cl_long at = 0;
    const cl_int numbers[9] = {16, 8, 8, 0, 0, 0, 0, 0, 8};
    cl_int error;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    cl_mem to = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, &error);
    must(error);
    must(clBuildProgram(program, 1, &device, "-DREAL=double -DCPLX=0", NULL, NULL));
    cl_kernel pack = clCreateKernel(program, "pack", &error);
    must(error);
    must(clSetKernelArg(pack, 0, sizeof buffer, &buffer));
    must(clSetKernelArg(pack, 1, sizeof at, &at));
    for (cl_uint i = 0; i < 9; i++)
        must(clSetKernelArg(pack, 2 + i, sizeof numbers[i], &numbers[i]));
    must(clSetKernelArg(pack, 11, sizeof to, &to));
    if (late)
        clReleaseMemObject(to);
    else
        must(copy(0, 0, 0));
    (void)clEnqueueNDRangeKernel(queue[1], pack, 2, NULL, global, NULL, 0, NULL, NULL);
    clFinish(queue[1]);
    clReleaseKernel(pack);
    clReleaseProgram(program);
    if (!late)
        clReleaseMemObject(to);
}

static void kernel_unordered(void)
{
    kernel(0);
}

static void kernel_released(void)
{
    kernel(1);
}

static void second_refused(void)
{
    if (copy(0, 0, 0) != CL_SUCCESS || copy(0, 0, 0) != CL_OUT_OF_RESOURCES ||
        copy(0, 0, 0) != CL_SUCCESS)
        _exit(WRONG);
}

static void limited(void)
{
    cl_ulong memory = 0;
    cl_int error;
    must(clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, NULL));
    if (memory != 6144 || clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, &error) ||
        error != CL_MEM_OBJECT_ALLOCATION_FAILURE)
        _exit(WRONG);
}

static void pieces(void)
{
    cl_ulong largest = 0;
    cl_int error;
    must(clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest, &largest, NULL));
    if (largest != 6144 || clCreateBuffer(context, CL_MEM_READ_WRITE, 6145, NULL, &error) ||
        error != CL_INVALID_BUFFER_SIZE)
        _exit(WRONG);
    cl_mem second =
        clCreateBuffer(context, CL_MEM_READ_WRITE, 6144, NULL, &error); /* more than one in all */
    must(error);
    clReleaseMemObject(second);
}

static cl_int compile(const char *source, const char *options)
{
    cl_int error;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    must(error);
    error = clBuildProgram(program, 1, &device, options, NULL, NULL);
    clReleaseProgram(program);
    return error;
}

static void narrow(void)
{
    static const char any[] =
        "/* float or double */ __kernel void set(__global REAL *x) { *x = 1; }";
    cl_device_fp_config doubles = 0;
    must(clGetDeviceInfo(device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof doubles, &doubles, NULL));
    if (doubles || compile(any, "-DREAL=float") != CL_SUCCESS ||
        compile(any, "-DREAL=double") != CL_BUILD_PROGRAM_FAILURE ||
        compile(text, "-DREAL=float -DCPLX=0") != CL_BUILD_PROGRAM_FAILURE)
        _exit(WRONG);
}

/* The second kernel breaks the device: what was before it is there, what is behind it is not. */
static void broken(void)
{
    const char *source = "__kernel void set(__global int *x, int to) { *x = to; }";
    const size_t one = 1, at[3] = {0}, region[3] = {sizeof(cl_int), 1, 1};
    cl_int error, first = 0, status = 0;
    cl_event before, behind;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    must(clBuildProgram(program, 1, &device, "", NULL, NULL));
    cl_kernel set = clCreateKernel(program, "set", &error);
    must(clSetKernelArg(set, 0, sizeof buffer, &buffer));
    for (cl_int to = 1; to <= 2; to++) {
        must(clSetKernelArg(set, 1, sizeof to, &to));
        must(clEnqueueNDRangeKernel(queue[0], set, 1, NULL, &one, NULL, 0, NULL,
                                    to == 1 ? &before : &behind));
        if (to == 1) {
            must(clEnqueueReadBufferRect(queue[0], buffer, CL_FALSE, at, at, region, 0, 0, 0, 0,
                                         host, 0, NULL, NULL));
            must(clFinish(queue[0]));
            memcpy(&first, host, sizeof first);
        }
    }
    int right = first == 1 && clWaitForEvents(1, &before) == CL_SUCCESS &&
                clWaitForEvents(1, &behind) != CL_SUCCESS;
    must(clGetEventInfo(behind, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    if (!right || status >= 0 || copy(0, 1, 0) != CL_DEVICE_NOT_AVAILABLE ||
        copy(1, 0, 0) != CL_DEVICE_NOT_AVAILABLE)
        _exit(WRONG);
    clReleaseEvent(before);
    clReleaseEvent(behind);
    clReleaseKernel(set);
    clReleaseProgram(program);
}

/* ---- all of them ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*run)(void);
    int status;
    const char *setting, *value;
} programs[] = {
    {"ordered", ordered, 0, NULL, NULL},
    {"ordered, late", ordered, 0, "OPENCL_LAYER_LATE", "5"},
    {"unordered", unordered, MISTAKE, NULL, NULL},
    {"seen by the host", seen, 0, NULL, NULL},
    {"host memory, unordered", host_unordered, MISTAKE, NULL, NULL},
    {"outside", outside, MISTAKE, NULL, NULL},
    {"an event is not released", leak, MISTAKE, NULL, NULL},
    {"an event after its release", released, MISTAKE, NULL, NULL},
    {"a kernel, unordered", kernel_unordered, MISTAKE, NULL, NULL},
    {"a kernel's operand after its release", kernel_released, MISTAKE, NULL, NULL},
    {"the second copy is refused", second_refused, 0, "OPENCL_LAYER_FAIL", "EnqueueWrite=2"},
    {"little memory", limited, 0, "OPENCL_LAYER_MEMORY", "6K"},
    {"small allocations", pieces, 0, "OPENCL_LAYER_LARGEST", "6K"},
    {"no double precision", narrow, 0, "OPENCL_LAYER_SINGLE", "1"},
    {"the second kernel breaks the device", broken, 0, "OPENCL_LAYER_LOSE", "2"},
};

static int status_of(size_t i)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (programs[i].setting)
            setenv(programs[i].setting, programs[i].value, 1);
        setenv("OPENCL_LAYER_ERROR", "-5", 1);
        begin();
        programs[i].run();
        end();
        exit(0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : -1;
}

int main(void)
{
    int failures = 0;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        int status = status_of(i);
        if (status == NO_DEVICE) {
            printf("skipped: this machine has no OpenCL device\n");
            return NO_DEVICE;
        }
        if (status != programs[i].status) {
            failures++;
            printf("FAILED: %s: exit status %d instead of %d\n", programs[i].name, status,
                   programs[i].status);
        }
    }
    return failures != 0;
}
