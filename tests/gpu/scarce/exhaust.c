/*
 * To be preloaded: the host's memory ends. Allocation number EXHAUST_AT that the program's own text makes
 * fails, with EXHAUST_ALL=1 all behind it too; those of libraries do not.
 */
#define _GNU_SOURCE /* dl_iterate_phdr() */
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

/* The C library's own names for them. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *at, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static uintptr_t text, text_end; /* the program's; 0 = not known yet */
static long at;
static int all;
static _Atomic long count;

static int look(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_LOAD || !(header->p_flags & PF_X))
            continue;
        text = info->dlpi_addr + header->p_vaddr;
        text_end = text + header->p_memsz;
    }
    return 1; /* the program comes first */
}

__attribute__((constructor)) static void begin(void)
{
    const char *value = getenv("EXHAUST_AT");
    at = value ? atol(value) : 0;
    all = getenv("EXHAUST_ALL") != NULL;
    dl_iterate_phdr(look, NULL);
}

static int fails(const void *caller)
{
    uintptr_t where = (uintptr_t)caller;
    if (at <= 0 || where < text || where >= text_end)
        return 0;
    long n = atomic_fetch_add(&count, 1) + 1;
    if (all ? n < at : n != at)
        return 0;
    errno = ENOMEM;
    return 1;
}

#define FAILS() fails(__builtin_return_address(0))

void *malloc(size_t size)
{
    return FAILS() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return FAILS() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
    return FAILS() ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return FAILS() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    void *found = FAILS() ? NULL : __libc_memalign(alignment, size);
    if (found)
        *memory = found;
    return found ? 0 : ENOMEM;
}
