/*
 * What the first calls of kernels would meet, met before: pages of code, of the stack and of the heap, functions of the
 * BLAS library that are bound when they are called, and the memory that it takes.
 */
#define _GNU_SOURCE /* dl_iterate_phdr() */
#include "cpu/cpu.h"

#include <lapacke.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- pages -------------------------------------------------------------------------------- */

#ifdef MADV_POPULATE_READ
/* Of a larger program most is not ours, and to read all of it may take long. */
enum { MOST_CODE = 8 << 20 };

/* Maps the code that lies with *at: in this library, or in the program that it is linked to. */
static int map_code(struct dl_phdr_info *object, size_t size, void *at)
{
    const uintptr_t page = 4096, code = *(uintptr_t *)at;
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t from = (uintptr_t)object->dlpi_addr + part->p_vaddr, end = from + part->p_memsz;
        if (part->p_type != PT_LOAD || code < from || code >= end)
            continue;
        from -= from % page;
        if (end - from <= MOST_CODE)
            (void)madvise((void *)from, end - from, MADV_POPULATE_READ); /* an old kernel refuses: so be it */
        return 1;
    }
    return 0;
}

/* What kernels keep on the stack: copies of panels, and parts of Q. The kernel is asked, and nothing is written: a
 * small stack ends within that range, and what lies behind it is a guard page, or somebody else's. */
static void map_stack(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)4095;
    for (size_t size = 192 << 10; size >= 16 << 10; size /= 2) {
        if (madvise((void *)(here - size), size, MADV_POPULATE_WRITE) == 0)
            return;
    }
}

/* The first call of a routine would meet pages of its code and of its stack one by one: it may be 30 for a matrix of
 * order 50, which then is computed in a tenth of the time. All at once they cost a fraction of that. */
void dagi_map_pages(void)
{
    void (*ours)(void) = map_stack; /* the address of an exported function may be in somebody else's table */
    uintptr_t at;
    memcpy(&at, &ours, sizeof at);
    (void)dl_iterate_phdr(map_code, &at);
    map_stack();
}
#else
void dagi_map_pages(void)
{
}
#endif

/* ---- the library ----------------------------------------------------------------------------- */

/* Halves of a QR factorisation of this order are products, as those of larger ones. All arrays together are what the
 * allocator still takes from its heap, where it keeps them for the next one that asks. */
enum { ORDER = 40, ARRAYS = 5 };

#define DAG_TEMPLATE "warm.inc.c"
#include <dag/each_precision.h>

static void warm_once(void)
{
    /* Maps pages, too. And a library with several threads would wake them all and wait for them. */
    (void)dag_kernels_init(NULL);
    void *room = malloc(sizeof(dag_dcomplex[ARRAYS][ORDER * ORDER]));
    if (room == NULL)
        return;
    warm_s(room);
    warm_d(room);
    warm_c(room);
    warm_z(room);
    free(room);
}

void dag_kernels_warm(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!dag_kernels_modelled()) /* thousands of ranks may be in this process, and none runs a kernel */
        pthread_once(&once, warm_once);
}
