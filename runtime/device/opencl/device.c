/* Devices and memory. */
#include "opencl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLATFORMS = 16 };

/*
 * The devices that can be used, found once: those of one platform, so that events and copies pass between
 * them. Graphics cards and other accelerators come first, processors behind them, since they are asked
 * for by name only. Written by the first count(), which comes before all else.
 */
static struct {
    pthread_mutex_t lock;
    int looked;
    cl_platform_id platform;
    cl_device_id id[DAGI_OPENCL_DEVICES];
    int accelerators, all;
    cl_context context;
    int users; /* devices that are open */
} found = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int has_doubles(cl_device_id id)
{
    cl_device_fp_config doubles = 0;
    clGetDeviceInfo(id, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof doubles, &doubles, NULL);
    return doubles != 0;
}

static int usable(cl_device_id id)
{
    cl_bool available = CL_FALSE, compiler = CL_FALSE;
    clGetDeviceInfo(id, CL_DEVICE_AVAILABLE, sizeof available, &available, NULL);
    clGetDeviceInfo(id, CL_DEVICE_COMPILER_AVAILABLE, sizeof compiler, &compiler, NULL);
    return available && compiler;
}

/* Those with double precision, or those without. */
static int devices_of(cl_platform_id platform, cl_device_type type, int doubles, cl_device_id *into, int room)
{
    cl_device_id ids[DAGI_OPENCL_DEVICES];
    cl_uint n = 0;
    int count = 0;
    if (room <= 0 || clGetDeviceIDs(platform, type, DAGI_OPENCL_DEVICES, ids, &n) != CL_SUCCESS)
        return 0;
    for (cl_uint i = 0; i < n && i < DAGI_OPENCL_DEVICES && count < room; i++)
        if (usable(ids[i]) && has_doubles(ids[i]) == doubles)
            into[count++] = ids[i];
    return count;
}

static int platforms_there(cl_platform_id *platforms)
{
    cl_uint n = 0;
    if (clGetPlatformIDs(PLATFORMS, platforms, &n) != CL_SUCCESS)
        n = 0;
    return n < PLATFORMS ? (int)n : PLATFORMS;
}

/* The platform with the most accelerators, else the one with the most processors. */
static void look_for(int doubles)
{
    cl_platform_id platforms[PLATFORMS];
    int n = platforms_there(platforms);
    for (int i = 0; i < n; i++) {
        cl_device_id ids[DAGI_OPENCL_DEVICES];
        int accelerators = devices_of(platforms[i], CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR, doubles, ids,
                                      DAGI_OPENCL_DEVICES);
        int all = accelerators + devices_of(platforms[i], CL_DEVICE_TYPE_CPU, doubles, ids + accelerators,
                                            DAGI_OPENCL_DEVICES - accelerators);
        if (all == 0 || accelerators < found.accelerators ||
            (accelerators == found.accelerators && all <= found.all))
            continue;
        found.platform = platforms[i];
        found.accelerators = accelerators;
        found.all = all;
        memcpy(found.id, ids, sizeof ids);
    }
}

/* Devices without double precision serve s and c, where there are no others. Holding the lock. Whoever asks for
 * processors too may get others than who does not: `looked` says for whom. */
static void look(int processors)
{
    found.platform = NULL;
    found.all = found.accelerators = 0;
    look_for(1);
    if ((processors ? found.all : found.accelerators) == 0)
        look_for(0);
    found.looked = 1 + processors;
}

int dagi_opencl_count(int processors, char *why, size_t size)
{
    pthread_mutex_lock(&found.lock);
    if (!found.looked || (found.looked != 1 + processors && found.users == 0))
        look(processors);
    int count = processors ? found.all : found.accelerators;
    pthread_mutex_unlock(&found.lock);
    if (count == 0)
        snprintf(why, size, "%s", found.all > 0
                     ? "the OpenCL devices of this machine are processors, which are used where "
                       "device_backend names opencl"
                     : "this machine has no OpenCL device with a compiler");
    return count;
}

/* Why a device of a platform is not used. */
static const char *unused(cl_platform_id platform, cl_device_id id, int processor, int processors)
{
    int known = 0;
    for (int i = 0; i < (processors ? found.all : found.accelerators); i++)
        known |= found.id[i] == id;
    if (known)
        return "can be used";
    if (!usable(id))
        return "is not used: it is not available, or has no compiler";
    if (processor && !processors)
        return "is not used: processors are where device_backend names opencl";
    if (platform != found.platform && found.platform)
        return "is not used: all devices are of one platform, the one with the most accelerators";
    return has_doubles(id) ? "is not used: there are too many"
                           : "is not used: it has no double precision, and others have";
}

int dagi_opencl_seen(int i, int processors, char *text, size_t size)
{
    cl_platform_id platforms[PLATFORMS];
    int n = platforms_there(platforms);
    for (int p = 0; p < n; p++) {
        char platform[128] = "", name[128] = "";
        cl_device_id ids[DAGI_OPENCL_DEVICES];
        cl_device_type type = 0;
        cl_ulong memory = 0;
        cl_uint count = 0;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, DAGI_OPENCL_DEVICES, ids, &count) != CL_SUCCESS)
            count = 0;
        count = count > DAGI_OPENCL_DEVICES ? DAGI_OPENCL_DEVICES : count;
        clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, sizeof platform - 1, platform, NULL);
        if (i == 0 && count == 0) {
            snprintf(text, size, "%s: has no devices", platform);
            return 1;
        }
        if (i >= (int)(count ? count : 1)) {
            i -= (int)(count ? count : 1);
            continue;
        }
        clGetDeviceInfo(ids[i], CL_DEVICE_NAME, sizeof name - 1, name, NULL);
        clGetDeviceInfo(ids[i], CL_DEVICE_TYPE, sizeof type, &type, NULL);
        clGetDeviceInfo(ids[i], CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, NULL);
        int processor = (type & CL_DEVICE_TYPE_CPU) != 0;
        snprintf(text, size, "%s: %s (%s, %.1f GiB%s) %s", platform, name, processor ? "processor" : "accelerator",
                 (double)memory / (1 << 30), has_doubles(ids[i]) ? "" : ", no double precision",
                 unused(platforms[p], ids[i], processor, processors));
        return 1;
    }
    return 0;
}

/* The addresses on the PCI bus that two vendors tell, each by an extension of its own. */
static void find_bus(cl_device_id id, char *bus, size_t size)
{
    enum { KHRONOS_BUS = 0x410f, NVIDIA_BUS = 0x4008, NVIDIA_SLOT = 0x4009, NVIDIA_DOMAIN = 0x400a };
    cl_uint khronos[4], nvidia_bus, nvidia_slot, domain = 0; /* domain, bus, device, function */
    bus[0] = '\0';
    if (clGetDeviceInfo(id, KHRONOS_BUS, sizeof khronos, khronos, NULL) == CL_SUCCESS)
        snprintf(bus, size, "%04x:%02x:%02x.%x", khronos[0], khronos[1], khronos[2], khronos[3]);
    else if (clGetDeviceInfo(id, NVIDIA_DOMAIN, sizeof domain, &domain, NULL) != CL_SUCCESS)
        domain = 0;
    if (!bus[0] && clGetDeviceInfo(id, NVIDIA_BUS, sizeof nvidia_bus, &nvidia_bus, NULL) == CL_SUCCESS &&
             clGetDeviceInfo(id, NVIDIA_SLOT, sizeof nvidia_slot, &nvidia_slot, NULL) == CL_SUCCESS)
        snprintf(bus, size, "%04x:%02x:%02x.%x", domain, nvidia_bus, nvidia_slot >> 3, nvidia_slot & 7);
}

static void describe(const dagi_opencl_device *d, dagi_backend_info *info)
{
    cl_ulong memory = 0, largest = 0;
    memset(info, 0, sizeof *info);
    clGetDeviceInfo(d->id, CL_DEVICE_NAME, sizeof info->name - 1, info->name, NULL);
    clGetDeviceInfo(d->id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, NULL);
    clGetDeviceInfo(d->id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest, &largest, NULL);
    info->memory = (size_t)memory;
    info->memory_free = (size_t)memory;
    info->largest = (size_t)(largest < memory ? largest : 0);
    info->single = !has_doubles(d->id);
    find_bus(d->id, info->bus, sizeof info->bus);
}

/*
 * Registers: of 32 vectors a block of a product takes 24, of 16 it takes 12. Of complex items it takes 16 and 8: with 24,
 * PoCL (LLVM 14) reaches 0.6 to 0.7 of the rate of OpenBLAS in single precision on Zen 5, one vector of rows by 8 columns
 * 0.8, two by 4 0.9.
 */
static void choose_shapes(dagi_opencl_device *d)
{
    cl_uint doubles = 1, floats = 1;
    clGetDeviceInfo(d->id, CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, sizeof doubles, &doubles, NULL);
    clGetDeviceInfo(d->id, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, sizeof floats, &floats, NULL);
    for (int p = 0; p < DAG_PRECISION_COUNT; p++) {
        int narrow = p == DAG_S || p == DAG_C, complex = p == DAG_C || p == DAG_Z;
        int width = (int)(narrow ? floats : doubles), many = doubles >= 8;
        dagi_opencl_shape *s = &d->shape[p];
        s->vector = width < 2 ? 4 : width > 16 ? 16 : width;
        s->vectors = width < 2 ? 1 : !complex ? 3 : many ? 2 : 1;
        s->columns = width < 2 || complex ? 4 : many ? 8 : 4;
        s->strip = width < 2 ? s->columns : 64;
    }
}

static dagi_result share_context(dagi_opencl_device *d)
{
    cl_int error = CL_SUCCESS;
    pthread_mutex_lock(&found.lock);
    if (!found.context) {
        const cl_context_properties properties[] = {
            CL_CONTEXT_PLATFORM, (cl_context_properties)(void *)found.platform, 0};
        found.context = clCreateContext(properties, (cl_uint)found.all, found.id, NULL, NULL, &error);
    }
    d->context = error == CL_SUCCESS ? found.context : NULL;
    found.users += d->context != NULL;
    pthread_mutex_unlock(&found.lock);
    return dagi_opencl_result(error, "clCreateContext");
}

static void leave_context(const dagi_opencl_device *d)
{
    pthread_mutex_lock(&found.lock);
    if (d->context && --found.users == 0) {
        clReleaseContext(found.context);
        found.context = NULL;
    }
    pthread_mutex_unlock(&found.lock);
}

dagi_result dagi_opencl_open(int index, void **device, dagi_backend_info *info)
{
    dagi_opencl_device *d = calloc(1, sizeof *d);
    if (!d)
        return DAGI_NOMEM;
    d->index = index;
    d->platform = found.platform;
    d->id = found.id[index];
    describe(d, info);
    cl_device_type type = 0;
    clGetDeviceInfo(d->id, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    d->one_by_one = (type & CL_DEVICE_TYPE_CPU) != 0;
    info->copies_itself = d->one_by_one;
    d->single = info->single;
    choose_shapes(d);
    dagi_result result = share_context(d);
    if (result == DAGI_OK)
        result = dagi_opencl_compile(d);
    if (result == DAGI_OK)
        *device = d;
    else
        dagi_opencl_close(d);
    return result;
}

void dagi_opencl_close(void *device)
{
    dagi_opencl_device *d = device;
    dagi_opencl_events_drop(d);
    dagi_opencl_programs_drop(d);
    leave_context(d);
    free(d);
}

dagi_result dagi_opencl_alloc(void *device, size_t bytes, void **at)
{
    const dagi_opencl_device *d = device;
    cl_int error = CL_SUCCESS;
    cl_mem buffer = clCreateBuffer(d->context, CL_MEM_READ_WRITE, bytes, NULL, &error);
    if (error != CL_SUCCESS)
        return dagi_opencl_result(error, "clCreateBuffer");
    *at = dagi_opencl_range_new(buffer, bytes);
    if (*at)
        return DAGI_OK;
    clReleaseMemObject(buffer);
    return DAGI_NOMEM;
}

void dagi_opencl_free(void *device, void *at)
{
    (void)device;
    cl_mem buffer = dagi_opencl_range_end(at);
    if (buffer)
        clReleaseMemObject(buffer);
}

/* All are of one platform, and in one context. */
dagi_result dagi_opencl_peer(void *device, void *other)
{
    (void)device, (void)other;
    return DAGI_OK;
}
