/* A kernel with its arguments, into a queue. */
#include "opencl.h"

#define NAME_OF(NAME, name) #name,
static const char *const names[OPENCL_KERNELS] = {DAGI_OPENCL_KERNELS(NAME_OF)};

static void take(dagi_opencl_call *c, cl_int error, const char *call)
{
    if (error != CL_SUCCESS && c->result == DAGI_OK)
        c->result = dagi_opencl_result(error, call);
}

/* Behind a refusal nothing is enqueued: what came before would be torn further. */
dagi_opencl_call dagi_opencl_begin(dag_device_queue *q, dag_precision precision, int kernel)
{
    dagi_opencl_call c = {.queue = q, .precision = precision, .name = names[kernel], .result = q->worst};
    cl_kernel *made = &q->kernels[precision][kernel];
    if (!*made && c.result == DAGI_OK) {
        cl_int error = CL_SUCCESS;
        *made = clCreateKernel(q->device->program[precision], c.name, &error);
        if (error != CL_SUCCESS) {
            *made = NULL;
            take(&c, error, "clCreateKernel");
        }
    }
    c.kernel = *made;
    return c;
}

void dagi_opencl_bytes(dagi_opencl_call *c, const void *value, size_t bytes)
{
    if (c->result == DAGI_OK)
        take(c, clSetKernelArg(c->kernel, c->next++, bytes, value), c->name);
}

void dagi_opencl_int(dagi_opencl_call *c, int value)
{
    cl_int item = value;
    dagi_opencl_bytes(c, &item, sizeof item);
}

void dagi_opencl_scalar(dagi_opencl_call *c, dag_dcomplex value)
{
    const double parts[2] = {__real__ value, __imag__ value};
    for (int i = 0; i < 2; i++) {
        float single = (float)parts[i];
        if (c->precision == DAG_S || c->precision == DAG_C)
            dagi_opencl_bytes(c, &single, sizeof single);
        else
            dagi_opencl_bytes(c, &parts[i], sizeof parts[i]);
    }
}

void dagi_opencl_mem(dagi_opencl_call *c, cl_mem buffer)
{
    dagi_opencl_bytes(c, &buffer, sizeof buffer); /* the type of the argument is the handle's */
}

void dagi_opencl_place(dagi_opencl_call *c, const void *at, size_t item)
{
    cl_mem buffer = NULL;
    size_t offset = 0;
    if (c->result == DAGI_OK && !dagi_opencl_find(at, &buffer, &offset)) {
        dagi_opencl_say("a kernel is given an address that is not on an OpenCL device");
        c->result = DAGI_REFUSED;
    }
    cl_long items = (cl_long)(offset / item);
    dagi_opencl_mem(c, buffer);
    dagi_opencl_bytes(c, &items, sizeof items);
}

/* A processor's work items are loops already, and groups of one let all of its threads take part. */
void dagi_opencl_run(dagi_opencl_call *c, size_t wide, size_t high)
{
    const size_t global[2] = {wide, high}, one[2] = {1, 1};
    const dag_device_queue *q = c->queue;
    if (c->result == DAGI_OK)
        take(c, clEnqueueNDRangeKernel(q->queue, c->kernel, 2, NULL, global,
                                       q->device->one_by_one ? one : NULL, 0, NULL, NULL), c->name);
    dagi_opencl_note(c->queue, c->result);
}

/* What used the smaller buffer has it until it is done. */
cl_mem dagi_opencl_room(dag_device_queue *q, int number, size_t bytes)
{
    dagi_opencl_scratch *s = &q->scratch[number];
    cl_int error = CL_SUCCESS;
    if (bytes <= s->bytes && s->buffer)
        return s->buffer;
    size_t wanted = bytes < 4096 ? 4096 : bytes + bytes / 4;
    cl_mem buffer = clCreateBuffer(q->device->context, CL_MEM_READ_WRITE, wanted, NULL, &error);
    if (error != CL_SUCCESS) {
        dagi_opencl_note(q, dagi_opencl_result(error, "clCreateBuffer"));
        return NULL;
    }
    if (s->buffer)
        clReleaseMemObject(s->buffer);
    *s = (dagi_opencl_scratch){buffer, wanted};
    return buffer;
}
