/* The calls that the layer looks at: objects and questions. Those that enqueue are in enqueue.c. */
#include "calls.h"

#include <string.h>

cl_icd_dispatch layer_calls;

#define DRIVER(call) layer_driver->cl##call

/* ---- questions -------------------------------------------------------------------------------- */

static cl_int CL_API_CALL device_info(cl_device_id id, cl_device_info what, size_t size,
                                      void *value, size_t *returned)
{
    cl_int error = DRIVER(GetDeviceInfo)(id, what, size, value, returned);
    size_t limit = what == CL_DEVICE_GLOBAL_MEM_SIZE ? layer_settings.memory : 0;
    cl_ulong bytes;
    if (what == CL_DEVICE_MAX_MEM_ALLOC_SIZE)
        limit = layer_settings.largest ? layer_settings.largest : layer_settings.memory;
    if (error == CL_SUCCESS && limit && value && size >= sizeof bytes) {
        memcpy(&bytes, value, sizeof bytes);
        bytes = bytes < limit ? bytes : limit;
        memcpy(value, &bytes, sizeof bytes);
    }
    if (error == CL_SUCCESS && what == CL_DEVICE_DOUBLE_FP_CONFIG && layer_settings.single && value)
        memset(value, 0, size);
    return error;
}

/* ---- objects ---------------------------------------------------------------------------------- */

static cl_int fails(const char *call, int device, cl_int error)
{
    pthread_mutex_lock(&layer_lock);
    cl_int result = layer_count(call, device, error);
    pthread_mutex_unlock(&layer_lock);
    return result;
}

/* An object of the driver's becomes known; `fill` is NULL or what else is known of it. */
static void known(layer_kind kind, void *handle, void (*fill)(layer_object *o, const void *from),
                  const void *from)
{
    if (!handle)
        return;
    pthread_mutex_lock(&layer_lock);
    layer_object *o = layer_look(kind, handle);
    if (o) /* a driver may give the same context twice */
        o->holds++;
    else
        o = layer_new(kind, handle);
    if (fill)
        fill(o, from);
    pthread_mutex_unlock(&layer_lock);
}

/* 1 = the driver may be told. */
static int forget(layer_kind kind, void *handle, const char *call)
{
    pthread_mutex_lock(&layer_lock);
    (void)layer_count(call, -1, CL_SUCCESS);
    int there = layer_find(kind, handle, call) != NULL;
    if (there)
        (void)layer_release(kind, handle, call);
    pthread_mutex_unlock(&layer_lock);
    return there;
}

static void set(cl_int *error, cl_int value)
{
    if (error)
        *error = value;
}

static cl_context CL_API_CALL create_context(const cl_context_properties *properties, cl_uint n,
                                             const cl_device_id *ids,
                                             void(CL_CALLBACK *notify)(const char *, const void *,
                                                                       size_t, void *),
                                             void *data, cl_int *error)
{
    cl_int refused = fails("CreateContext", -1, CL_OUT_OF_RESOURCES);
    if (refused) {
        set(error, refused);
        return NULL;
    }
    cl_context made = DRIVER(CreateContext)(properties, n, ids, notify, data, error);
    known(LAYER_CONTEXT, made, NULL, NULL);
    return made;
}

static cl_int CL_API_CALL release_context(cl_context context)
{
    return forget(LAYER_CONTEXT, context, "ReleaseContext") ? DRIVER(ReleaseContext)(context)
                                                            : CL_INVALID_CONTEXT;
}

static void fill_queue(layer_object *o, const void *from)
{
    o->device = layer_device(*(const cl_device_id *)from);
}

static cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id id,
                                                 cl_command_queue_properties properties,
                                                 cl_int *error)
{
    cl_int refused = fails("CreateCommandQueue", -1, CL_OUT_OF_RESOURCES);
    if (refused) {
        set(error, refused);
        return NULL;
    }
    cl_command_queue made = DRIVER(CreateCommandQueue)(context, id, properties, error);
    known(LAYER_QUEUE, made, fill_queue, &id);
    return made;
}

static cl_int CL_API_CALL release_queue(cl_command_queue queue)
{
    return forget(LAYER_QUEUE, queue, "ReleaseCommandQueue") ? DRIVER(ReleaseCommandQueue)(queue)
                                                             : CL_INVALID_COMMAND_QUEUE;
}

static void fill_bytes(layer_object *o, const void *from)
{
    o->bytes = *(const size_t *)from;
    (void)layer_memory(NULL);
}

static cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t bytes,
                                        void *host, cl_int *error)
{
    const layer_config *c = &layer_settings;
    pthread_mutex_lock(&layer_lock);
    cl_int refused = layer_count("CreateBuffer", -1, CL_MEM_OBJECT_ALLOCATION_FAILURE);
    if (!refused && c->memory && layer_memory(NULL) + bytes > c->memory)
        refused = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    pthread_mutex_unlock(&layer_lock);
    if (!refused && c->largest && bytes > c->largest)
        refused = CL_INVALID_BUFFER_SIZE;
    if (refused) {
        set(error, refused);
        return NULL;
    }
    cl_mem made = DRIVER(CreateBuffer)(context, flags, bytes, host, error);
    known(LAYER_BUFFER, made, fill_bytes, &bytes);
    return made;
}

static cl_int CL_API_CALL release_memory(cl_mem memory)
{
    return forget(LAYER_BUFFER, memory, "ReleaseMemObject") ? DRIVER(ReleaseMemObject)(memory)
                                                            : CL_INVALID_MEM_OBJECT;
}

/* Whether a text has the word outside of its comments. */
static int has_doubles(const char *text)
{
    int comment = 0;
    for (const char *c = text; *c; c++) {
        if (comment ? strncmp(c, "*/", 2) == 0 : strncmp(c, "/*", 2) == 0)
            comment = !comment;
        else if (!comment && strncmp(c, "double", 6) == 0)
            return 1;
    }
    return 0;
}

static void fill_doubles(layer_object *o, const void *from)
{
    o->doubles = *(const int *)from;
}

static cl_program CL_API_CALL create_program(cl_context context, cl_uint n, const char **texts,
                                             const size_t *lengths, cl_int *error)
{
    cl_int refused = fails("CreateProgramWithSource", -1, CL_OUT_OF_HOST_MEMORY);
    if (refused) {
        set(error, refused);
        return NULL;
    }
    cl_program made = DRIVER(CreateProgramWithSource)(context, n, texts, lengths, error);
    int doubles = 0;
    for (cl_uint i = 0; i < n && !lengths; i++)
        doubles |= has_doubles(texts[i]);
    known(LAYER_PROGRAM, made, fill_doubles, &doubles);
    return made;
}

static cl_program CL_API_CALL create_binary(cl_context context, cl_uint n, const cl_device_id *ids,
                                            const size_t *lengths, const unsigned char **binaries,
                                            cl_int *status, cl_int *error)
{
    cl_int refused = fails("CreateProgramWithBinary", -1, CL_INVALID_BINARY);
    if (refused) {
        set(error, refused);
        return NULL;
    }
    cl_program made =
        DRIVER(CreateProgramWithBinary)(context, n, ids, lengths, binaries, status, error);
    known(LAYER_PROGRAM, made, NULL, NULL);
    return made;
}

/* Bytes of an item, as the options say them. */
static cl_int CL_API_CALL build_program(cl_program program, cl_uint n, const cl_device_id *ids,
                                        const char *options,
                                        void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
    pthread_mutex_lock(&layer_lock);
    cl_int refused = layer_count("BuildProgram", -1, CL_BUILD_PROGRAM_FAILURE);
    layer_object *o = layer_find(LAYER_PROGRAM, program, "BuildProgram");
    if (o && options)
        o->bytes = (size_t)(strstr(options, "-DREAL=float") ? 4 : 8)
                   << (strstr(options, "-DCPLX=1") != NULL);
    if (o && !refused && layer_settings.single &&
        (o->doubles || (options && strstr(options, "=double"))))
        refused = CL_BUILD_PROGRAM_FAILURE;
    pthread_mutex_unlock(&layer_lock);
    return refused ? refused : DRIVER(BuildProgram)(program, n, ids, options, notify, data);
}

static cl_int CL_API_CALL release_program(cl_program program)
{
    return forget(LAYER_PROGRAM, program, "ReleaseProgram") ? DRIVER(ReleaseProgram)(program)
                                                            : CL_INVALID_PROGRAM;
}

static cl_kernel CL_API_CALL create_kernel(cl_program program, const char *name, cl_int *error)
{
    cl_int refused = fails("CreateKernel", -1, CL_OUT_OF_HOST_MEMORY);
    if (refused) {
        set(error, refused);
        return NULL;
    }
    cl_kernel made = DRIVER(CreateKernel)(program, name, error);
    known(LAYER_KERNEL, made, NULL, NULL);
    pthread_mutex_lock(&layer_lock);
    layer_object *p = layer_find(LAYER_PROGRAM, program, "CreateKernel");
    layer_object *k = made ? layer_look(LAYER_KERNEL, made) : NULL;
    if (k) {
        strncpy(k->name, name, sizeof k->name - 1);
        k->bytes = p ? p->bytes : 0;
    }
    pthread_mutex_unlock(&layer_lock);
    return made;
}

/* An argument is a buffer if it is as large as a handle, and there is a buffer with this one. */
static cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint number, size_t size,
                                       const void *value)
{
    pthread_mutex_lock(&layer_lock);
    cl_int refused = layer_count("SetKernelArg", -1, CL_INVALID_ARG_VALUE);
    layer_object *k = layer_find(LAYER_KERNEL, kernel, "SetKernelArg");
    if (k && number < LAYER_ARGUMENTS) {
        layer_argument *a = &k->arguments[number];
        cl_int narrow;
        *a = (layer_argument){NULL, 0};
        if (size == sizeof(cl_mem) && value)
            memcpy(&a->buffer, value, size);
        if (!a->buffer || !layer_look(LAYER_BUFFER, a->buffer))
            a->buffer = NULL;
        if (size == sizeof a->value && value)
            memcpy(&a->value, value, size);
        if (size == sizeof narrow && value) {
            memcpy(&narrow, value, size);
            a->value = narrow;
        }
    }
    pthread_mutex_unlock(&layer_lock);
    return !k        ? CL_INVALID_KERNEL
           : refused ? refused
                     : DRIVER(SetKernelArg)(kernel, number, size, value);
}

static cl_int CL_API_CALL release_kernel(cl_kernel kernel)
{
    return forget(LAYER_KERNEL, kernel, "ReleaseKernel") ? DRIVER(ReleaseKernel)(kernel)
                                                         : CL_INVALID_KERNEL;
}

/* ---- events ----------------------------------------------------------------------------------- */

static cl_int CL_API_CALL retain_event(cl_event event)
{
    pthread_mutex_lock(&layer_lock);
    layer_object *o = layer_find(LAYER_EVENT, event, "RetainEvent");
    if (o)
        o->holds++;
    pthread_mutex_unlock(&layer_lock);
    return o ? DRIVER(RetainEvent)(event) : CL_INVALID_EVENT;
}

static cl_int CL_API_CALL release_event(cl_event event)
{
    return forget(LAYER_EVENT, event, "ReleaseEvent") ? DRIVER(ReleaseEvent)(event)
                                                      : CL_INVALID_EVENT;
}

/* What is known of an event: there, and lost. */
static int ask(cl_event event, const char *call, int *lost)
{
    pthread_mutex_lock(&layer_lock);
    (void)layer_count(call, -1, CL_SUCCESS);
    layer_object *o = layer_find(LAYER_EVENT, event, call);
    *lost = o && o->lost;
    pthread_mutex_unlock(&layer_lock);
    return o != NULL;
}

static void seen(cl_event event)
{
    pthread_mutex_lock(&layer_lock);
    layer_object *o = layer_look(LAYER_EVENT, event);
    if (o)
        layer_join(&layer_host, o->clock);
    pthread_mutex_unlock(&layer_lock);
}

static cl_int CL_API_CALL event_info(cl_event event, cl_event_info what, size_t size, void *value,
                                     size_t *returned)
{
    const cl_int failed = -9999; /* as drivers do where memory was violated */
    int lost;
    cl_int status;
    if (!ask(event, "GetEventInfo", &lost))
        return CL_INVALID_EVENT;
    cl_int error = DRIVER(GetEventInfo)(event, what, size, value, returned);
    if (error != CL_SUCCESS || what != CL_EVENT_COMMAND_EXECUTION_STATUS || !value)
        return error;
    memcpy(&status, value, sizeof status);
    if (lost)
        memcpy(value, &failed, sizeof failed);
    else if (status == CL_COMPLETE)
        seen(event);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL wait_for(cl_uint n, const cl_event *events)
{
    int lost, any = 0;
    for (cl_uint i = 0; i < n; i++) {
        if (!ask(events[i], "WaitForEvents", &lost))
            return CL_INVALID_EVENT;
        any |= lost;
    }
    cl_int error = DRIVER(WaitForEvents)(n, events);
    for (cl_uint i = 0; i < n && error == CL_SUCCESS; i++)
        seen(events[i]);
    return error == CL_SUCCESS && any ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : error;
}

void layer_calls_fill(void)
{
    layer_calls = *layer_driver;
    layer_calls.clGetDeviceInfo = device_info;
    layer_calls.clCreateContext = create_context;
    layer_calls.clReleaseContext = release_context;
    layer_calls.clCreateCommandQueue = create_queue;
    layer_calls.clReleaseCommandQueue = release_queue;
    layer_calls.clCreateBuffer = create_buffer;
    layer_calls.clReleaseMemObject = release_memory;
    layer_calls.clCreateProgramWithSource = create_program;
    layer_calls.clCreateProgramWithBinary = create_binary;
    layer_calls.clBuildProgram = build_program;
    layer_calls.clReleaseProgram = release_program;
    layer_calls.clCreateKernel = create_kernel;
    layer_calls.clSetKernelArg = set_argument;
    layer_calls.clReleaseKernel = release_kernel;
    layer_calls.clRetainEvent = retain_event;
    layer_calls.clReleaseEvent = release_event;
    layer_calls.clGetEventInfo = event_info;
    layer_calls.clWaitForEvents = wait_for;
    layer_enqueue_fill();
}
