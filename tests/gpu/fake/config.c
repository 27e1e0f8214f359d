/* The variables FAKE_CUDA_* of the environment. */
#include "fake.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

#define PREFIX "FAKE_CUDA_"

typedef enum key_type { COUNT, BYTES, RATE, MICROSECONDS, FACTOR, FLAG, SEED, FAULT, TEXT } key_type;

typedef struct key {
    const char *name;
    key_type type;
    size_t offset; /* in fake_config */
} key;

#define AT(field) offsetof(fake_config, field)

static const key keys[] = {
    {"DEVICES", COUNT, AT(devices)},
    {"MEMORY", BYTES, AT(memory)},
    {"H2D_BANDWIDTH", RATE, AT(h2d)},
    {"D2H_BANDWIDTH", RATE, AT(d2h)},
    {"P2P_BANDWIDTH", RATE, AT(p2p)},
    {"KERNEL_DELAY", MICROSECONDS, AT(kernel_delay)},
    {"ZERO_TIME", FLAG, AT(zero_time)},
    {"MACHINE", TEXT, AT(machine)},
    {"STRETCH", FACTOR, AT(stretch)},
    {"COMPUTE", FLAG, AT(compute)},
    {"LATE", SEED, AT(seed)},
    {"NO_PEER", FLAG, AT(no_peer)},
    {"POISON", FLAG, AT(poison)},
    {"PARTS", COUNT, AT(parts)},
    {"FAIL_MALLOC", FAULT, AT(fail_malloc)},
    {"FAIL_COPY", FAULT, AT(fail_copy)},
    {"FAIL_LAUNCH", FAULT, AT(fail_launch)},
    {"FAIL_ASYNC", FAULT, AT(fail_async)},
    {"ASYNC_ERROR", COUNT, AT(async_error)},
    {"FAIL_DEVICE", COUNT, AT(fail_device)},
    {"FAIL_RANK", COUNT, AT(fail_rank)},
    {"FAIL_KERNEL", TEXT, AT(fail_kernel)},
    {"REPORT", TEXT, AT(report)},
};

static _Noreturn void refuse(const char *name, const char *value, const char *want)
{
    fprintf(stderr, "fake CUDA: " PREFIX "%s=%s: %s (tests/gpu/fake/README.md)\n", name, value,
            want);
    abort();
}

/* A number with the suffix K, M or G (of 1024) and nothing behind it. */
static double number(const char *name, const char *value, bool suffix)
{
    char *end;
    errno = 0;
    double x = strtod(value, &end);
    const char *suffixes = "KMG", *at;
    if (suffix && *end && (at = strchr(suffixes, *end)) != NULL) {
        x = ldexp(x, 10 * (int)(at - suffixes + 1));
        end++;
    }
    if (end == value || *end || errno || !(x >= 0 && x < 1e18))
        refuse(name, value, suffix ? "not a number, which may end in K, M or G" : "not a number");
    return x;
}

static void parse_fault(const char *name, const char *value, fake_fault *fault)
{
    char *end;
    long n = strtol(value, &end, 10);
    fault->onward = *end == '+';
    if (end == value || n < 1 || end[fault->onward] != '\0')
        refuse(name, value, "must be n for the n-th call, or n+ for all from the n-th on, n >= 1");
    fault->n = n;
}

static void parse(const key *k, const char *value, fake_config *config)
{
    void *field = (char *)config + k->offset;
    switch (k->type) {
    case COUNT: {
        double x = number(k->name, value, false);
        if (x != floor(x) || x > 1e6)
            refuse(k->name, value, "not a small whole number");
        *(long *)field = (long)x;
        break;
    }
    case BYTES:
        *(size_t *)field = (size_t)number(k->name, value, true);
        break;
    case RATE:
        *(double *)field = number(k->name, value, true);
        break;
    case MICROSECONDS:
        *(double *)field = number(k->name, value, false) * 1e-6;
        break;
    case FACTOR:
        *(double *)field = number(k->name, value, false);
        if (*(double *)field < 1 || *(double *)field > 1e6)
            refuse(k->name, value, "must be from 1 to 1000000");
        break;
    case FLAG:
        if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
            refuse(k->name, value, "must be 0 or 1");
        *(bool *)field = *value == '1';
        break;
    case SEED:
        *(uint64_t *)field = (uint64_t)number(k->name, value, false);
        config->late = true;
        break;
    case FAULT:
        parse_fault(k->name, value, field);
        break;
    case TEXT:
        *(const char **)field = value;
        break;
    }
}

/* What a described machine says itself. */
static void check_machine(const fake_config *config)
{
    static const char *const said[] = {"DEVICES", "MEMORY", "H2D_BANDWIDTH", "D2H_BANDWIDTH",
                                       "P2P_BANDWIDTH", "KERNEL_DELAY", "ZERO_TIME"};
    char name[64];
    for (size_t i = 0; config->machine && i < sizeof said / sizeof *said; i++) {
        snprintf(name, sizeof name, PREFIX "%s", said[i]);
        if (getenv(name))
            refuse(said[i], getenv(name), "must not be set beside FAKE_CUDA_MACHINE, which says it");
    }
    if (!config->machine && (getenv(PREFIX "STRETCH") || getenv(PREFIX "COMPUTE")))
        refuse("STRETCH, COMPUTE", "", "are for FAKE_CUDA_MACHINE, which is not set");
}

static int launcher_says(const char *const *names, int otherwise)
{
    for (; *names; names++) {
        const char *value = getenv(*names);
        if (value)
            return atoi(value);
    }
    return otherwise;
}

void fake_config_read(fake_config *config)
{
    static const char *const ranks[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL};
    static const char *const rank[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", NULL};
    *config = (fake_config){.devices = 1,
                            .memory = (size_t)256 << 20,
                            .parts = 1,
                            .stretch = 1,
                            .compute = true,
                            .async_error = cudaErrorLaunchFailure,
                            .fail_device = -1,
                            .fail_rank = -1,
                            .ranks = launcher_says(ranks, 1),
                            .rank = launcher_says(rank, 0)};
    for (char **e = environ; *e; e++) {
        if (strncmp(*e, PREFIX, strlen(PREFIX)) != 0)
            continue;
        const char *name = *e + strlen(PREFIX), *value = strchr(name, '=');
        if (!value)
            continue;
        size_t length = (size_t)(value - name), i = 0;
        const size_t nkeys = sizeof keys / sizeof keys[0];
        while (i < nkeys && (strncmp(name, keys[i].name, length) != 0 || keys[i].name[length]))
            i++;
        if (i == nkeys) {
            fprintf(stderr, "fake CUDA: no setting " PREFIX "%.*s; there are", (int)length, name);
            for (i = 0; i < nkeys; i++)
                fprintf(stderr, " %s", keys[i].name);
            fprintf(stderr, " (tests/gpu/fake/README.md)\n");
            abort();
        }
        parse(&keys[i], value + 1, config);
    }
    check_machine(config);
    fake_model_start(config);
    if (config->devices > FAKE_MAX_DEVICES)
        refuse("DEVICES", "more than 16", "the fake has at most 16 devices");
    if (config->memory < (size_t)1 << 20)
        refuse("MEMORY", "below 1M", "a device has at least 1 MiB");
}
