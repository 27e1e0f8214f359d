/* What dag_info and dag_doctor read of the machine: files of the operating system, and libraries. */
#ifndef MACHINE_H
#define MACHINE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { MACHINE_WORDS = 64, MACHINE_CPUS = MACHINE_WORDS * 64 };

typedef struct machine {
    char host[64], model[128];
    uint64_t allowed[MACHINE_WORDS]; /* cpuset of this process */
    int cpus;                        /* processors of the machine that are online */
    int allowed_cpus, allowed_cores; /* of the cpuset; a core may have several processors (SMT) */
    int packages, nodes;             /* sockets, NUMA nodes */
    char caches[256];                /* "L1 32K, L2 1024K, L3 32M" of processor 0 */
    int64_t memory;                  /* bytes */
} machine;

/* Files are looked for below `root` ("" = the real ones); the cpuset is always the real one, unless
 * root/cpuset holds a list such as 0-3. */
void machine_read(machine *m, const char *root);
/* "0-3,8" */
void machine_list(const uint64_t *set, char *text, size_t size);

typedef struct machine_gpu {
    int devices;       /* device files of NVIDIA's driver */
    int usable;        /* all libraries can be loaded */
    char reason[512];  /* a sentence: what there is, or why there is none */
    char missing[128]; /* the first library that cannot be loaded; "" = none */
} machine_gpu;
void machine_gpus(machine_gpu *gpu, const char *root);

/* A string of JSON, in quotes. */
void machine_json(FILE *out, const char *text);

#endif
