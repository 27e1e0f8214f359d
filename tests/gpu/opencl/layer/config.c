/* The variables OPENCL_LAYER_* of the environment. */
#include "layer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

layer_config layer_settings;

static _Noreturn void refuse(const char *variable)
{
    fprintf(stderr, "OpenCL layer: %s is not understood (tests/gpu/opencl/layer/README.md)\n",
            variable);
    abort();
}

static size_t bytes(const char *variable, const char *value)
{
    char *end;
    double x = strtod(value, &end);
    int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (end == value || x < 0 || end[shift != 0])
        refuse(variable);
    return (size_t)x << shift;
}

static long whole(const char *variable, const char *value)
{
    char *end;
    long n = strtol(value, &end, 10);
    if (end == value || *end)
        refuse(variable);
    return n;
}

/* CALL=n, the n-th call of that name, or n+, all from it on. */
static void fault(const char *variable, const char *value)
{
    layer_config *c = &layer_settings;
    const char *equals = strchr(value, '=');
    char *end;
    if (!equals || equals == value || (size_t)(equals - value) >= sizeof c->fail)
        refuse(variable);
    memcpy(c->fail, value, (size_t)(equals - value));
    c->fail_n = strtol(equals + 1, &end, 10);
    c->fail_onward = *end == '+';
    if (end == equals + 1 || c->fail_n < 1 || end[c->fail_onward])
        refuse(variable);
}

static int launcher_says(const char *name, int otherwise)
{
    const char *value = getenv(name);
    return value ? atoi(value) : otherwise;
}

static void setting(const char *variable, const char *name, const char *value)
{
    layer_config *c = &layer_settings;
    if (strcmp(name, "MEMORY") == 0) {
        c->memory = bytes(variable, value);
    } else if (strcmp(name, "LARGEST") == 0) {
        c->largest = bytes(variable, value);
    } else if (strcmp(name, "LATE") == 0) {
        c->seed = (uint64_t)whole(variable, value);
        c->late = 1;
    } else if (strcmp(name, "FAIL") == 0) {
        fault(variable, value);
    } else if (strcmp(name, "ERROR") == 0) {
        c->error = (cl_int)whole(variable, value);
    } else if (strcmp(name, "SINGLE") == 0) {
        c->single = whole(variable, value) == 1;
    } else if (strcmp(name, "LOSE") == 0) {
        c->lose = whole(variable, value);
    } else if (strcmp(name, "FAIL_DEVICE") == 0) {
        c->fail_device = whole(variable, value);
    } else if (strcmp(name, "FAIL_RANK") == 0) {
        c->here = whole(variable, value) == c->rank;
    } else if (strcmp(name, "REPORT") == 0) {
        c->report = value;
    } else {
        refuse(variable);
    }
}

void layer_config_read(void)
{
    static const char prefix[] = "OPENCL_LAYER_";
    layer_settings = (layer_config){.fail_device = -1,
                                    .here = 1,
                                    .rank = launcher_says("OMPI_COMM_WORLD_RANK", 0),
                                    .ranks = launcher_says("OMPI_COMM_WORLD_SIZE", 1)};
    for (char **e = environ; *e; e++) {
        char name[32];
        const char *value = strchr(*e, '=');
        if (strncmp(*e, prefix, sizeof prefix - 1) != 0 || !value)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(value - *e - (int)sizeof prefix + 1),
                 *e + sizeof prefix - 1);
        setting(*e, name, value + 1);
    }
}
