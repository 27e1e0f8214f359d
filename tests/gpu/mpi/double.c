/*
 * A GPU-aware MPI for the fake CUDA: to be preloaded in front of an MPI that knows of no devices.
 *
 * It says that it can read memory of devices, and MPI_Isend() does: of an address of the fake it
 * sends what lies there, at any time up to the completion of the request (the fake's second mapping
 * is handed to MPI). The fake looks after that memory meanwhile. All other calls get addresses as
 * they are, and die of one of those, since nobody can read memory of a device there.
 *
 * FAKE_GPU_MPI: "good" (default); "none": it says that it cannot, and cannot; "wrong", "wrong-long":
 * it sends a wrong byte (of messages that are longer than what MPI sends at once). At the end a line
 * on stderr has the messages and bytes that were read on devices.
 */
#define _GNU_SOURCE /* RTLD_NOLOAD */
#include "fake.h"

#include <mpi.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_AT_ONCE = 65536 };

typedef struct sending {
    struct sending *next;
    MPI_Request request;
    fake_reading *reading;
    void *copy; /* with a wrong byte; NULL = none */
} sending;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all of this */
static sending *under_way;
static long long messages, bytes_read;

static struct {
    void *(*shadow)(const void *at);
    fake_reading *(*begin)(const char *call, const void *at, size_t bytes);
    void (*end)(fake_reading *reading);
} fake;

_Noreturn static void die(const char *what, const char *detail)
{
    fprintf(stderr, "GPU-aware double: %s %s\n", what, detail);
    abort();
}

enum mode { GOOD, NONE, WRONG, WRONG_LONG };

static enum mode mode(void)
{
    static const char *const known[] = {"good", "none", "wrong", "wrong-long"};
    const char *given = getenv("FAKE_GPU_MPI");
    for (int i = GOOD; i <= WRONG_LONG; i++)
        if (!given || strcmp(given, known[i]) == 0)
            return (enum mode)i;
    die("FAKE_GPU_MPI is neither good, none, wrong nor wrong-long:", given);
}

/* The fake is loaded late, by the back end. Without it there is no memory of devices. */
static int have_fake(void)
{
    if (fake.shadow)
        return 1;
    void *library = dlopen("libcudart.so.13", RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return 0;
    fake.begin = (fake_reading * (*)(const char *, const void *, size_t))
        dlsym(library, "fake_read_begin");
    fake.end = (void (*)(fake_reading *))dlsym(library, "fake_read_end");
    fake.shadow = (void *(*)(const void *))dlsym(library, "fake_shadow");
    if (!fake.begin || !fake.end || !fake.shadow)
        die("this is not the fake:", "libcudart.so.13");
    return 1;
}

int MPIX_Query_cuda_support(void);
int MPIX_Query_cuda_support(void)
{
    return mode() != NONE;
}

/* Bytes of a message of a type without gaps, which is all that is known here. */
static size_t bytes_of(int count, MPI_Datatype type)
{
    MPI_Count size;
    MPI_Aint low, extent;
    MPI_Type_size_x(type, &size);
    MPI_Type_get_true_extent(type, &low, &extent);
    if (low != 0 || (MPI_Count)extent != size)
        die("MPI_Isend from memory of a device:", "a type with gaps");
    return (size_t)count * (size_t)size;
}

static void *spoil(const void *from, size_t bytes)
{
    char *copy = malloc(bytes);
    if (!copy)
        die("no memory for", "a wrong message");
    memcpy(copy, from, bytes);
    copy[bytes / 2] ^= 1;
    return copy;
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    sending *s = NULL;
    pthread_mutex_lock(&lock);
    const void *from = have_fake() && mode() != NONE ? fake.shadow(buffer) : buffer;
    if (from != buffer) {
        size_t bytes = bytes_of(count, type);
        s = calloc(1, sizeof *s);
        if (!s)
            die("no memory for", "a request");
        s->reading = fake.begin("MPI_Isend", buffer, bytes);
        if (mode() == WRONG || (mode() == WRONG_LONG && bytes > KEPT_AT_ONCE))
            from = s->copy = spoil(from, bytes);
        messages++;
        bytes_read += (long long)bytes;
    }
    int result = PMPI_Isend(from, count, type, dest, tag, comm, request);
    if (s) {
        s->request = *request;
        s->next = under_way;
        under_way = s;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

/* MPI has sent this one. It may give the same handle to several requests that are complete when they
 * are made: any of those will do. */
static void sent(MPI_Request request)
{
    sending **link = &under_way;
    while (*link && (*link)->request != request)
        link = &(*link)->next;
    sending *s = *link;
    if (!s)
        return;
    *link = s->next;
    fake.end(s->reading);
    free(s->copy);
    free(s);
}

int MPI_Testsome(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[])
{
    enum { FEW = 256 };
    MPI_Request few[FEW], *before = count <= FEW ? few : malloc((size_t)count * sizeof *before);
    if (!before)
        die("no memory for", "MPI_Testsome");
    if (count > 0)
        memcpy(before, requests, (size_t)count * sizeof *before);
    pthread_mutex_lock(&lock);
    int result = PMPI_Testsome(count, requests, done, indices, statuses);
    for (int i = 0; *done != MPI_UNDEFINED && i < *done; i++)
        sent(before[indices[i]]);
    pthread_mutex_unlock(&lock);
    if (before != few)
        free(before);
    return result;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    enum { MOST = 64 };
    MPI_Request before[MOST];
    if (count > MOST)
        die("MPI_Waitall:", "too many requests");
    if (count > 0)
        memcpy(before, requests, (size_t)count * sizeof *before);
    int result = PMPI_Waitall(count, requests, statuses);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < count; i++)
        sent(before[i]);
    pthread_mutex_unlock(&lock);
    return result;
}

int MPI_Finalize(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "GPU-aware double: rank %d: %lld messages, %lld bytes from devices%s\n", rank,
            messages, bytes_read, under_way ? ", and some are not complete" : "");
    return PMPI_Finalize();
}
