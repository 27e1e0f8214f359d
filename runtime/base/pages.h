/*
 * Memory that is aligned for what is in it: small blocks to a cache line, those of a huge page and more
 * to huge pages, on which they lie where the system has them. Their first touch then costs one page
 * fault per 2 MiB instead of one per 4 KiB.
 */
#ifndef DAGI_PAGES_H
#define DAGI_PAGES_H

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#define DAGI_HUGE_PAGE ((size_t)2 << 20)

/* `bytes` rounded up to whole pages of this size, and `more` bytes; the sum fits an address. */
static inline size_t dagi_pages_whole(size_t bytes, size_t page, size_t more)
{
    size_t whole = (bytes + page - 1) / page * page + more;
    assert(whole >= bytes && whole >= more);
    return whole;
}

/* NULL = out of memory; free() takes it back. */
static inline void *dagi_pages_alloc(size_t bytes)
{
    enum { ALIGNMENT = 64 };
    void *block; /* aligned_alloc() would want a multiple of the alignment */
    if (posix_memalign(&block, bytes < DAGI_HUGE_PAGE ? ALIGNMENT : DAGI_HUGE_PAGE, bytes) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    if (bytes >= DAGI_HUGE_PAGE) /* a wish: failure does no harm */
        madvise(block, bytes & ~(DAGI_HUGE_PAGE - 1), MADV_HUGEPAGE);
#endif
    return block;
}

#endif
