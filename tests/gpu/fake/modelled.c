/* Modelled devices: what a kernel or a copy takes on the machine that FAKE_CUDA_MACHINE describes, and when it
 * ends on a stretched clock. */
#include "fake.h"

#include "model.h"
#include "sim/machine.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static dagi_sim_machine machine;
static _Thread_local dag_kernel_call told;

/* Until when each is taken: the directions of copies of each device; the places for kernels that run beside each
 * other on it, and all of them together. */
enum { MOST_AT_ONCE = 16 };
static double taken[2 * FAKE_MAX_DEVICES], places[FAKE_MAX_DEVICES][MOST_AT_ONCE], together[FAKE_MAX_DEVICES];
static pthread_mutex_t taken_lock = PTHREAD_MUTEX_INITIALIZER;

static void keep_call(void *arg, const dag_kernel_call *call)
{
    (void)arg;
    told = *call;
}

void fake_model_start(fake_config *config)
{
    char why[1024];
    if (!config->machine)
        return;
    if (dagi_sim_machine_read(&machine, config->machine, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "fake CUDA: FAKE_CUDA_MACHINE: %s (docs/design/simulation.md)\n", why);
        abort();
    }
    dag_kernels_model(keep_call, NULL);
    double bandwidth = machine.devices.link.bandwidth / config->stretch;
    config->devices = (machine.devices.count + machine.ranks - 1) / machine.ranks;
    config->memory = (size_t)machine.devices.memory;
    config->h2d = config->d2h = config->p2p = bandwidth;
    config->latency = (double)machine.devices.link.latency / (double)DAGI_SIM_SECOND * config->stretch;
}

/* Real symmetric updates are what Hermitian ones are called on cores; QR has another name there. */
static const char *name_on_cores(const char *op, char precision)
{
    if (strcmp(op, "gemmBatched") == 0 || strcmp(op, "trsmBatched") == 0)
        return op[0] == 'g' ? "gemm" : "trsm";
    bool real = precision == 's' || precision == 'd';
    if (real && strcmp(op, "syrk") == 0)
        return "herk";
    if (real && strcmp(op, "syr2k") == 0)
        return "her2k";
    return strcmp(op, "geqrf") == 0 ? "geqrt" : op;
}

/* What it tells; what has no operations is moved. */
static void tell(const fake_work *work)
{
    dag_precision precision = DAG_D;
    (void)dag_precision_parse(work->precision, &precision);
    const char *name = name_on_cores(work->op, work->precision);
    int op = 0;
    while (op < DAG_OP_COUNT && (!dag_kernel_op_name((dag_kernel_op)op) ||
                                 strcmp(dag_kernel_op_name((dag_kernel_op)op), name) != 0))
        op++;
    if (op < DAG_OP_COUNT)
        dagi_modelled((dag_kernel_op)op, precision, work->m, work->n, work->k);
    else
        told = (dag_kernel_call){.op = DAG_OP_LACPY, .precision = precision, .name = "move",
                                 .bytes = (double)work->m * work->n *
                                          (double)dag_precision_size(precision)};
}

fake_times fake_model_kernel(const fake_work *work, const fake_range *ranges, int nranges)
{
    if (!fake_settings.machine)
        return (fake_times){0, 0};
    told = (dag_kernel_call){.op = DAG_OP_LACPY, .precision = DAG_D, .name = "move"};
    if (work)
        tell(work);
    for (int i = 0; !work && i < nranges; i++)
        told.bytes += ranges[i].written ? (double)(ranges[i].width * ranges[i].height) : 0;
    dagi_sim_time alone, filled;
    if (dagi_sim_device_time(&machine, &told, &alone, &filled) != 0) {
        fprintf(stderr, "fake CUDA: machine '%s' has no line device_kernel for %s\n", machine.name, told.name);
        abort();
    }
    /* Those of one launch fill the device as far as they are enough to. */
    fake_times one = {(double)alone / (double)DAGI_SIM_SECOND, (double)filled / (double)DAGI_SIM_SECOND};
    double all = work && work->batch > 1 ? work->batch * one.filled : one.filled;
    return (fake_times){all > one.alone ? all : one.alone, all};
}

/* As the simulator has it: so many at once, together no faster than the highest rate of their curves. */
static double kernel_end(int device, const fake_op *op, double ready)
{
    int64_t streams = machine.devices.streams < MOST_AT_ONCE ? machine.devices.streams : MOST_AT_ONCE;
    double *place = places[device];
    for (int64_t i = 1; i < streams; i++)
        place = places[device][i] < *place ? &places[device][i] : place;
    double begin = *place > ready ? *place : ready;
    together[device] = (together[device] > begin ? together[device] : begin) + op->filled;
    return *place = begin + op->seconds > together[device] ? begin + op->seconds : together[device];
}

double fake_model_end(int device, const fake_op *op, double ready)
{
    if (op->kind != FAKE_KERNEL && op->engine < 0)
        return ready + op->seconds; /* within a device, which takes none, or between two */
    double end;
    pthread_mutex_lock(&taken_lock);
    if (op->kind == FAKE_KERNEL)
        end = kernel_end(device, op, ready);
    else
        end = taken[op->engine] = (taken[op->engine] > ready ? taken[op->engine] : ready) + op->seconds;
    pthread_mutex_unlock(&taken_lock);
    return end;
}

bool fake_model_computes(const fake_op *op)
{
    if (!fake_settings.machine || fake_settings.compute)
        return true;
    size_t bytes = 0;
    for (int i = 0; i < op->nranges; i++)
        bytes += op->ranges[i].width * op->ranges[i].height;
    return op->kind == FAKE_COPY && bytes <= 2 * FAKE_MODEL_REPORT;
}

void fake_sleep_until(double moment)
{
    struct timespec t = {.tv_sec = (time_t)moment};
    t.tv_nsec = (long)(1e9 * (moment - (double)t.tv_sec));
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}
