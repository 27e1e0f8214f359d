/*
 * Addresses of buffers: ranges of the process's addresses that nobody can touch. There is one for each
 * piece of memory that the runtime takes of a device, and one for what kernels report, so few that a search
 * from the first is short. All fields of the table are under its lock.
 */
#include "opencl.h"

#include <sys/mman.h>

enum { MOST = 5 * DAGI_OPENCL_DEVICES };

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct range {
    char *at; /* NULL: free */
    size_t bytes;
    cl_mem buffer;
} ranges[MOST];
static int used; /* those from here on are free */

void *dagi_opencl_range_new(cl_mem buffer, size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) {
        dagi_opencl_say("no range of addresses is left for memory of an OpenCL device");
        return NULL;
    }
    int i = 0;
    pthread_rwlock_wrlock(&lock);
    while (i < MOST && ranges[i].at)
        i++;
    if (i < MOST) {
        ranges[i] = (struct range){at, bytes, buffer};
        used = i < used ? used : i + 1;
    }
    pthread_rwlock_unlock(&lock);
    if (i < MOST)
        return at;
    dagi_opencl_say("too many pieces of memory of OpenCL devices");
    munmap(at, bytes);
    return NULL;
}

/* Call it with the lock. */
static struct range *range_of(const void *at)
{
    for (int i = 0; i < used; i++) {
        const char *p = at;
        if (ranges[i].at && p >= ranges[i].at && p < ranges[i].at + ranges[i].bytes)
            return &ranges[i];
    }
    return NULL;
}

cl_mem dagi_opencl_range_end(void *at)
{
    cl_mem buffer = NULL;
    pthread_rwlock_wrlock(&lock);
    struct range *r = range_of(at);
    if (r) {
        buffer = r->buffer;
        munmap(r->at, r->bytes);
        *r = (struct range){NULL, 0, NULL};
    }
    pthread_rwlock_unlock(&lock);
    return buffer;
}

int dagi_opencl_find(const void *at, cl_mem *buffer, size_t *offset)
{
    pthread_rwlock_rdlock(&lock);
    const struct range *r = range_of(at);
    if (r) {
        *buffer = r->buffer;
        *offset = (size_t)((const char *)at - r->at);
    }
    pthread_rwlock_unlock(&lock);
    return r != NULL;
}
