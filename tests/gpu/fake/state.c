/* Start and end of the fake, the current device, errors, mistakes of the program. */
#include "fake.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EXIT_MISUSE 97

fake_config fake_settings;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pid_t owner; /* a child that never calls CUDA has nothing to report; 0: not started */
static _Atomic int misuses;
static _Atomic int sticky[FAKE_MAX_DEVICES]; /* cudaSuccess -> error, once */
/* Held for reading while an operation is at memory: once an error is sticky the device is at none. */
static pthread_rwlock_t alive[FAKE_MAX_DEVICES] = {
    [0 ... FAKE_MAX_DEVICES - 1] = PTHREAD_RWLOCK_INITIALIZER};

static _Thread_local int current;
static _Thread_local cudaError_t last;
static _Thread_local bool in_host_function;

static void start(void)
{
    fake_config_read(&fake_settings);
    fake_memory_start();
    owner = getpid();
}

/* Streams end before the libraries that their kernels use are taken down. */
__attribute__((destructor)) static void finish(void)
{
    if (owner != getpid())
        return;
    fake_streams_stop();
    int count = atomic_load(&misuses);
    fake_report_write(count);
    if (count) {
        fprintf(stderr, "fake CUDA: %d mistakes of the program, see above: exit status %d\n",
                count, EXIT_MISUSE);
        fflush(NULL);
        _exit(EXIT_MISUSE);
    }
}

void fake_misuse(const char *call, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    atomic_fetch_add(&misuses, 1);
    fprintf(stderr, "fake CUDA: misuse: %s: %s\n", call, text);
}

void fake_unknown(const char *call, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "fake CUDA: %s: %s is not known to the fake: teach it (tests/gpu/fake), or use "
            "what it knows\n", call, text);
    abort();
}

int fake_take_misuse(void)
{
    return atomic_exchange(&misuses, 0);
}

cudaError_t fake_error(cudaError_t error)
{
    if (error != cudaSuccess)
        last = error;
    return error;
}

cudaError_t fake_sticky(int device)
{
    return (cudaError_t)atomic_load(&sticky[device]);
}

void fake_break_device(int device, cudaError_t error)
{
    int none = cudaSuccess;
    pthread_rwlock_wrlock(&alive[device]);
    atomic_compare_exchange_strong(&sticky[device], &none, (int)error);
    pthread_rwlock_unlock(&alive[device]);
}

bool fake_begin_access(int device)
{
    pthread_rwlock_rdlock(&alive[device]);
    if (fake_sticky(device) == cudaSuccess)
        return true;
    pthread_rwlock_unlock(&alive[device]);
    return false;
}

void fake_end_access(int device)
{
    pthread_rwlock_unlock(&alive[device]);
}

void fake_in_host_function(bool in)
{
    in_host_function = in;
}

int fake_current_device(void)
{
    return current;
}

bool fake_enter(const char *call, int device, cudaError_t *error)
{
    pthread_once(&once, start);
    *error = cudaSuccess;
    if (in_host_function) {
        fake_misuse(call, "called from a function of cudaLaunchHostFunc, which may call nothing of "
                          "CUDA");
        *error = cudaErrorNotPermitted;
    } else if (device >= 0) {
        *error = fake_settings.devices ? fake_sticky(device) : cudaErrorNoDevice;
    }
    fake_error(*error);
    return *error != cudaSuccess;
}

bool fake_fails(fake_fault *fault, int device)
{
    if (!fault->n || (fake_settings.fail_device >= 0 && fake_settings.fail_device != device) ||
        (fake_settings.fail_rank >= 0 && fake_settings.fail_rank != fake_settings.rank))
        return false;
    long call = atomic_fetch_add(&fault->calls, 1) + 1;
    bool fails = call == fault->n || (fault->onward && call > fault->n);
    fake_count_failure(fails);
    return fails;
}

/* ---- calls ---- */

static bool bad_device(const char *call, int device)
{
    if (device >= 0 && device < fake_settings.devices)
        return false;
    fake_misuse(call, "there is no device %d", device);
    return true;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    cudaError_t error;
    if (fake_enter(__func__, -1, &error))
        return error;
    *count = (int)fake_settings.devices;
    return fake_error(*count ? cudaSuccess : cudaErrorNoDevice);
}

cudaError_t cudaSetDevice(int device)
{
    cudaError_t error;
    if (fake_enter(__func__, -1, &error))
        return error;
    if (!fake_settings.devices)
        return fake_error(cudaErrorNoDevice);
    if (bad_device(__func__, device))
        return fake_error(cudaErrorInvalidDevice);
    current = device;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    cudaError_t error;
    if (fake_enter(__func__, -1, &error))
        return error;
    *device = current;
    return fake_error(fake_settings.devices ? cudaSuccess : cudaErrorNoDevice);
}

/* Attributes that are told both ways. */
enum { MULTIPROCESSORS = 4, MAJOR = 9, MINOR = 0, ENGINES = 2, BUS = 0xf0, L2 = 1 << 20 };

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
    cudaError_t error;
    if (fake_enter(__func__, -1, &error))
        return error;
    if (bad_device(__func__, device))
        return fake_error(cudaErrorInvalidDevice);
    *prop = (struct cudaDeviceProp){.totalGlobalMem = fake_settings.memory,
                                    .major = MAJOR,
                                    .minor = MINOR,
                                    .multiProcessorCount = MULTIPROCESSORS,
                                    .canMapHostMemory = 1,
                                    .concurrentKernels = 1,
                                    .pciBusID = BUS + device,
                                    .asyncEngineCount = ENGINES,
                                    .unifiedAddressing = 1,
                                    .memoryBusWidth = 64,
                                    .l2CacheSize = L2,
                                    .streamPrioritiesSupported = 1,
                                    .canUseHostPointerForRegisteredMem = 1,
                                    .hostRegisterSupported = 1,
                                    .hostNumaId = -1};
    snprintf(prop->name, sizeof prop->name, "fake CUDA device");
    prop->uuid[0] = (unsigned char)device;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device)
{
    cudaError_t error;
    if (fake_enter(__func__, -1, &error))
        return error;
    if (bad_device(__func__, device))
        return fake_error(cudaErrorInvalidDevice);
    switch (attr) {
    case cudaDevAttrMultiProcessorCount:
        *value = MULTIPROCESSORS;
        break;
    case cudaDevAttrL2CacheSize:
        *value = L2;
        break;
    case cudaDevAttrAsyncEngineCount:
        *value = ENGINES;
        break;
    case cudaDevAttrComputeCapabilityMajor:
        *value = MAJOR;
        break;
    case cudaDevAttrComputeCapabilityMinor:
        *value = MINOR;
        break;
    case cudaDevAttrPciBusId:
        *value = BUS + device;
        break;
    case cudaDevAttrHostNumaId:
        *value = -1;
        break;
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
    case cudaDevAttrHostRegisterSupported:
        *value = 1;
        break;
    case cudaDevAttrIntegrated:
    case cudaDevAttrComputeMode:
    case cudaDevAttrPciDeviceId:
    case cudaDevAttrPciDomainId:
    case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrGPUDirectRDMASupported:
        *value = 0;
        break;
    default:
        fake_unknown(__func__, "attribute %d", (int)attr);
    }
    return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *pciBusId, int len, int device)
{
    cudaError_t error;
    if (fake_enter(__func__, -1, &error))
        return error;
    if (bad_device(__func__, device))
        return fake_error(cudaErrorInvalidDevice);
    if (!pciBusId || len < 13) {
        fake_misuse(__func__, "the name needs 13 bytes");
        return fake_error(cudaErrorInvalidValue);
    }
    snprintf(pciBusId, (size_t)len, "0000:%02X:00.0", (unsigned)(BUS + device) & 0xff);
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *runtimeVersion)
{
    cudaError_t error;
    if (fake_enter(__func__, -1, &error))
        return error;
    *runtimeVersion = DAGI_CUDA_MAJOR * 1000;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *driverVersion)
{
    cudaError_t error;
    if (fake_enter(__func__, -1, &error))
        return error;
    *driverVersion = fake_settings.devices ? DAGI_CUDA_MAJOR * 1000 : 0; /* 0: no driver */
    return cudaSuccess;
}

/* A sticky error stays; others are forgotten when they were asked for. */
cudaError_t cudaGetLastError(void)
{
    cudaError_t error = cudaPeekAtLastError();
    last = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    cudaError_t error;
    fake_enter(__func__, -1, &error);
    error = fake_settings.devices ? fake_sticky(current) : cudaSuccess;
    return error != cudaSuccess ? error : last;
}

#define ERRORS(X)                                                                                  \
    X(cudaSuccess, "no error")                                                                     \
    X(cudaErrorInvalidValue, "invalid argument")                                                   \
    X(cudaErrorMemoryAllocation, "out of memory")                                                  \
    X(cudaErrorInvalidPitchValue, "invalid pitch argument")                                        \
    X(cudaErrorNoDevice, "no CUDA-capable device is detected")                                     \
    X(cudaErrorInvalidDevice, "invalid device ordinal")                                            \
    X(cudaErrorInvalidResourceHandle, "invalid resource handle")                                   \
    X(cudaErrorNotReady, "device not ready")                                                       \
    X(cudaErrorIllegalAddress, "an illegal memory access was encountered")                         \
    X(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled")                         \
    X(cudaErrorHostMemoryAlreadyRegistered, "part or all of the memory is already registered")     \
    X(cudaErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory")      \
    X(cudaErrorLaunchFailure, "unspecified launch failure")                                        \
    X(cudaErrorNotPermitted, "operation not permitted")                                            \
    X(cudaErrorUnknown, "unknown error")

const char *cudaGetErrorName(cudaError_t error)
{
#define NAME(code, text)                                                                           \
    case code:                                                                                     \
        return #code;
    switch (error) {
        ERRORS(NAME)
    default:
        return "unrecognized error code";
    }
}

const char *cudaGetErrorString(cudaError_t error)
{
#define STRING(code, text)                                                                         \
    case code:                                                                                     \
        return "fake: " text;
    switch (error) {
        ERRORS(STRING)
    default:
        return "unrecognized error code";
    }
}
