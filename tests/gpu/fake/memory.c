/*
 * Memory of the devices, pinned host memory, and which operations touch what.
 *
 * All devices lie in one reservation of addresses: the first half is what the program sees, device
 * after device, PROT_NONE; the second half maps the same memory for the fake.
 */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "fake.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define GRAIN 512       /* of allocations */
#define PAGE ((size_t)4096)

typedef struct block {
    uintptr_t at;
    size_t size;   /* as asked for */
    unsigned flags;
    int device;    /* pinned: that was current */
    bool allocated; /* pinned: by cudaHostAlloc */
} block;

/* Sorted by address, without overlaps. */
typedef struct blocks {
    block *items;
    size_t count, capacity;
} blocks;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all below */
static blocks memory[FAKE_MAX_DEVICES], pinned;
static size_t used[FAKE_MAX_DEVICES];       /* bytes, in grains */
static uintptr_t next_at[FAKE_MAX_DEVICES]; /* freed addresses come again as late as possible */
static bool peers[FAKE_MAX_DEVICES][FAKE_MAX_DEVICES];
static fake_op *active; /* operations that run, with the ranges they took */

/* Set at the start. */
static uintptr_t arena;
static size_t stride, half; /* of a device, of all */
static int files[FAKE_MAX_DEVICES];

static _Noreturn void no_arena(const char *what)
{
    perror(what);
    fprintf(stderr, "fake CUDA: cannot reserve the devices' memory; lower FAKE_CUDA_MEMORY\n");
    abort();
}

void fake_memory_start(void)
{
    stride = (fake_settings.memory + PAGE - 1) / PAGE * PAGE + PAGE; /* a page between devices */
    half = stride * (size_t)fake_settings.devices;
    if (!half)
        return;
    void *at = mmap(NULL, 2 * half, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        no_arena("mmap");
    arena = (uintptr_t)at;
    for (int d = 0; d < fake_settings.devices; d++) {
        files[d] = memfd_create("fake-cuda-device", MFD_CLOEXEC);
        if (files[d] < 0 || ftruncate(files[d], (off_t)(stride - PAGE)) != 0)
            no_arena("memfd_create");
        char *seen = (char *)at + stride * (size_t)d;
        if (mmap(seen, stride - PAGE, PROT_NONE, MAP_SHARED | MAP_FIXED, files[d], 0) ==
                MAP_FAILED ||
            mmap(seen + half, stride - PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                 files[d], 0) == MAP_FAILED)
            no_arena("mmap");
        next_at[d] = (uintptr_t)seen;
    }
}

/* The device that an address belongs to, or -1. */
static int device_of(uintptr_t at)
{
    return half && at >= arena && at < arena + half ? (int)((at - arena) / stride) : -1;
}

void *fake_shadow(const void *at)
{
    uintptr_t address = (uintptr_t)at;
    return (void *)(device_of(address) >= 0 ? address + half : address);
}

/* ---- sorted blocks ---- */

/* The first block that ends behind `at`. */
static size_t find(const blocks *list, uintptr_t at)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (list->items[middle].at + list->items[middle].size > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void insert(blocks *list, size_t i, block item)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 64;
        list->items = realloc(list->items, list->capacity * sizeof *list->items);
        if (!list->items)
            abort();
    }
    memmove(&list->items[i + 1], &list->items[i], (list->count - i) * sizeof *list->items);
    list->items[i] = item;
    list->count++;
}

static block take_out(blocks *list, size_t i)
{
    block item = list->items[i];
    list->count--;
    memmove(&list->items[i], &list->items[i + 1], (list->count - i) * sizeof *list->items);
    return item;
}

/* The block that begins at `at`, or list->count. */
static size_t find_start(const blocks *list, const void *at)
{
    size_t i = find(list, (uintptr_t)at);
    return i < list->count && list->items[i].at == (uintptr_t)at ? i : list->count;
}

/* ---- where a range lies ---- */

size_t fake_extent(const fake_range *range)
{
    if (!range->width || !range->height)
        return 0;
    return range->height == 1 ? range->width
                              : (range->height - 1) * range->pitch + range->width;
}

/* Under the lock. */
static fake_place where(const fake_range *range, int *device)
{
    uintptr_t at = (uintptr_t)range->at, end = at + fake_extent(range);
    *device = device_of(at);
    if (*device >= 0) {
        const blocks *list = &memory[*device];
        size_t i = find(list, at);
        bool inside = i < list->count && list->items[i].at <= at &&
                      end <= list->items[i].at + list->items[i].size;
        return inside ? FAKE_DEVICE : FAKE_NOWHERE;
    }
    if (device_of(end - 1) >= 0)
        return FAKE_NOWHERE;
    size_t i = find(&pinned, at);
    if (i == pinned.count || pinned.items[i].at >= end)
        return FAKE_PAGEABLE;
    for (; i < pinned.count && pinned.items[i].at <= at; i++) {
        at = pinned.items[i].at + pinned.items[i].size;
        if (at >= end)
            return FAKE_PINNED;
    }
    return FAKE_NOWHERE;
}

fake_place fake_where(const fake_range *range, int *device)
{
    pthread_mutex_lock(&lock);
    fake_place place = where(range, device);
    pthread_mutex_unlock(&lock);
    return place;
}

/* Does the interval [low, high) meet a column of the range? */
static bool meets(uintptr_t low, uintptr_t high, const fake_range *range)
{
    uintptr_t at = (uintptr_t)range->at;
    if (high <= at || low >= at + fake_extent(range))
        return false;
    if (low <= at || range->height == 1)
        return true;
    size_t column = (low - at) / range->pitch;
    if ((low - at) % range->pitch < range->width)
        return true;
    return column + 1 < range->height && at + (column + 1) * range->pitch < high;
}

bool fake_overlap(const fake_range *a, const fake_range *b)
{
    if (a->triangle && b->triangle && a->triangle != b->triangle)
        return false; /* but for the diagonal, which each leaves to the other */
    uintptr_t at = (uintptr_t)a->at, other = (uintptr_t)b->at;
    size_t extent = fake_extent(a), other_extent = fake_extent(b);
    if (at + extent <= other || other + other_extent <= at)
        return false;
    for (size_t column = 0; column < a->height; column++) {
        uintptr_t low = at + column * a->pitch;
        if (meets(low, low + a->width, b))
            return true;
    }
    return false;
}

/* ---- what operations touch while they run ---- */

static bool may_touch(const fake_op *op, const fake_range *range, int device)
{
    int owner;
    fake_place place = where(range, &owner);
    if (place == FAKE_DEVICE &&
        (op->kind != FAKE_KERNEL || owner == device || peers[device][owner]))
        return true;
    if (op->kind != FAKE_KERNEL && (place == FAKE_PINNED || place == FAKE_PAGEABLE))
        return true;
    fake_misuse(op->call, "on device %d: %s at %p, %zu bytes, %s", device, range->what, range->at,
                fake_extent(range),
                place == FAKE_DEVICE  ? "is memory of a device without peer access"
                : place == FAKE_NOWHERE ? "is not inside of memory that is allocated there now"
                                        : "is host memory");
    return false;
}

/* Two operations at a time, one of them writing: no event keeps them apart. */
static void look_for_race(const fake_op *op, const fake_op *other, int device)
{
    for (int i = 0; i < op->nranges; i++)
        for (int j = 0; j < other->nranges; j++) {
            const fake_range *a = &op->ranges[i], *b = &other->ranges[j];
            if (!(a->written || b->written) || !fake_overlap(a, b))
                continue;
            fake_misuse(op->call, "on device %d: %s %s at %p while %s %s it: no event orders them",
                        device, a->written ? "writes" : "reads", a->what, a->at, other->call,
                        b->written ? "writes" : "reads");
            return;
        }
}

/* What is read and written by one operation is given in one range. */
static void look_for_alias(const fake_op *op)
{
    for (int i = 0; i < op->nranges; i++)
        for (int j = 0; j < i; j++) {
            const fake_range *a = &op->ranges[i], *b = &op->ranges[j];
            if ((a->written || b->written) && fake_overlap(a, b))
                fake_misuse(op->call, "%s at %p and %s at %p overlap", b->what, b->at, a->what,
                            a->at);
        }
}

bool fake_ranges_take(fake_op *op, int device)
{
    bool allowed = true;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < op->nranges && allowed; i++)
        allowed = !fake_extent(&op->ranges[i]) || may_touch(op, &op->ranges[i], device);
    if (allowed) {
        look_for_alias(op);
        for (const fake_op *other = active; other; other = other->active_next)
            look_for_race(op, other, device);
        op->active_next = active;
        active = op;
    }
    pthread_mutex_unlock(&lock);
    return allowed;
}

void fake_ranges_give(fake_op *op)
{
    pthread_mutex_lock(&lock);
    fake_op **at = &active;
    while (*at != op)
        at = &(*at)->active_next;
    *at = op->active_next;
    pthread_mutex_unlock(&lock);
}

/* ---- other libraries ---- */

fake_reading *fake_read_begin(const char *call, const void *at, size_t bytes)
{
    int device = device_of((uintptr_t)at);
    if (device < 0)
        return NULL;
    fake_op *op = fake_op_new(FAKE_COPY, call, NULL, 0);
    op->ranges[0] = (fake_range){.at = at, .width = bytes, .height = 1, .what = "what is sent"};
    op->nranges = 1;
    const char *writer = fake_streams_use(&op->ranges[0], true);
    if (writer)
        fake_misuse(call, "on device %d: what is sent at %p is still to be written by %s", device,
                    at, writer);
    if (!fake_ranges_take(op, device)) {
        free(op);
        fake_unknown(call, "%p, %zu bytes", at, bytes);
    }
    return op;
}

void fake_read_end(fake_reading *reading)
{
    fake_ranges_give(reading);
    free(reading);
}

/* The call that reads a part of the range now, or NULL. */
static const char *reader_of(const fake_range *range)
{
    const char *call = NULL;
    pthread_mutex_lock(&lock);
    for (const fake_op *op = active; op && !call; op = op->active_next) {
        if (op->nranges > 0 && fake_overlap(&op->ranges[0], range))
            call = op->call;
    }
    pthread_mutex_unlock(&lock);
    return call;
}

/* ---- memory of devices ---- */

/* The lowest address from `from` on with `size` bytes free in front of the next block; 0: none. */
static uintptr_t first_fit(int device, uintptr_t from, size_t size)
{
    uintptr_t end = arena + stride * (size_t)device + fake_settings.memory;
    const blocks *list = &memory[device];
    for (size_t i = find(list, from); i < list->count && list->items[i].at < from + size; i++)
        from = (list->items[i].at + list->items[i].size + GRAIN - 1) / GRAIN * GRAIN;
    return from + size <= end ? from : 0;
}

static size_t in_grains(size_t size)
{
    return (size + GRAIN - 1) / GRAIN * GRAIN;
}

/* What the driver keeps for itself: not all of a device can be allocated. */
static size_t reserve(void)
{
    return in_grains(fake_settings.memory / 128);
}

cudaError_t cudaMalloc(void **devPtr, size_t size)
{
    int device = fake_current_device();
    cudaError_t error;
    if (fake_enter(__func__, device, &error))
        return error;
    if (!devPtr || !size) {
        fake_misuse(__func__, "%s", devPtr ? "0 bytes" : "nowhere to put the address");
        return fake_error(cudaErrorInvalidValue);
    }
    if (fake_fails(&fake_settings.fail_malloc, device) || size > fake_settings.memory)
        return fake_error(cudaErrorMemoryAllocation);
    pthread_mutex_lock(&lock);
    uintptr_t at = 0;
    if (used[device] + in_grains(size) <= fake_settings.memory - reserve()) {
        at = first_fit(device, next_at[device], in_grains(size));
        if (!at)
            at = first_fit(device, arena + stride * (size_t)device, in_grains(size));
    }
    if (at) {
        insert(&memory[device], find(&memory[device], at),
               (block){.at = at, .size = size, .device = device});
        next_at[device] = at + in_grains(size);
        used[device] += in_grains(size);
        fake_count_memory(device, used[device]);
    }
    pthread_mutex_unlock(&lock);
    if (!at)
        return fake_error(cudaErrorMemoryAllocation);
    *devPtr = (void *)at;
    if (fake_settings.poison)
        memset(fake_shadow(*devPtr), 0xff, size); /* not a number, as float and as double */
    return cudaSuccess;
}

/* The host's memory behind whole pages that are free now. */
static void give_pages(int device, const block *gone)
{
    uintptr_t start = arena + stride * (size_t)device;
    off_t from = (off_t)((gone->at - start + PAGE - 1) / PAGE * PAGE);
    off_t to = (off_t)((gone->at - start + gone->size) / PAGE * PAGE);
    if (to > from)
        fallocate(files[device], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from, to - from);
}

cudaError_t cudaFree(void *devPtr)
{
    int device = device_of((uintptr_t)devPtr);
    cudaError_t error;
    if (fake_enter(__func__, device >= 0 ? device : fake_current_device(), &error))
        return error;
    if (!devPtr)
        return cudaSuccess;
    pthread_mutex_lock(&lock);
    size_t i = device >= 0 ? find_start(&memory[device], devPtr) : 0;
    bool known = device >= 0 && i < memory[device].count;
    size_t size = known ? memory[device].items[i].size : 0;
    fake_range range = {.at = devPtr, .width = size, .height = 1};
    pthread_mutex_unlock(&lock);
    if (!known) {
        fake_misuse(__func__, "%p is not the start of memory that is allocated now", devPtr);
        return fake_error(cudaErrorInvalidValue);
    }
    const char *call = fake_streams_use(&range, false);
    if (!call)
        call = reader_of(&range);
    if (call)
        fake_misuse(__func__, "%p is in use by %s: wait for it first, cudaFree need not", devPtr,
                    call);
    pthread_mutex_lock(&lock);
    i = find_start(&memory[device], devPtr);
    if (i < memory[device].count) {
        block gone = take_out(&memory[device], i);
        used[device] -= in_grains(gone.size);
        fake_count_memory(device, used[device]);
        give_pages(device, &gone);
    }
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
    int device = fake_current_device();
    cudaError_t error;
    if (fake_enter(__func__, device, &error))
        return error;
    pthread_mutex_lock(&lock);
    *free = fake_settings.memory - reserve() - used[device];
    *total = fake_settings.memory;
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

/* ---- pinned host memory ---- */

static cudaError_t pin(const char *call, void *at, size_t size, unsigned flags, bool allocated)
{
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&lock);
    size_t i = find(&pinned, (uintptr_t)at);
    if (i < pinned.count && pinned.items[i].at < (uintptr_t)at + size)
        error = cudaErrorHostMemoryAlreadyRegistered;
    else
        insert(&pinned, i, (block){.at = (uintptr_t)at, .size = size, .flags = flags,
                                   .device = fake_current_device(), .allocated = allocated});
    pthread_mutex_unlock(&lock);
    if (error != cudaSuccess)
        fake_misuse(call, "%p, %zu bytes, is registered already, or a part of it", at, size);
    return fake_error(error);
}

static cudaError_t unpin(const char *call, void *at, bool allocated)
{
    pthread_mutex_lock(&lock);
    size_t i = find_start(&pinned, at);
    bool known = i < pinned.count && pinned.items[i].allocated == allocated;
    fake_range range = {.at = at, .width = known ? pinned.items[i].size : 0, .height = 1};
    pthread_mutex_unlock(&lock);
    if (!known) {
        fake_misuse(call, "%p is not what %s returned or took", at,
                    allocated ? "cudaHostAlloc" : "cudaHostRegister");
        return fake_error(allocated ? cudaErrorInvalidValue : cudaErrorHostMemoryNotRegistered);
    }
    const char *user = fake_streams_use(&range, false);
    if (user)
        fake_misuse(call, "%p is in use by %s", at, user);
    pthread_mutex_lock(&lock);
    i = find_start(&pinned, at);
    if (i < pinned.count)
        take_out(&pinned, i);
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

cudaError_t cudaHostRegister(void *ptr, size_t size, unsigned int flags)
{
    cudaError_t error;
    if (fake_enter(__func__, fake_current_device(), &error))
        return error;
    if (flags & ~(unsigned)(cudaHostRegisterPortable | cudaHostRegisterMapped))
        fake_unknown(__func__, "flag %#x", flags);
    if (!ptr || !size || device_of((uintptr_t)ptr) >= 0) {
        fake_misuse(__func__, "%p, %zu bytes, is no host memory", ptr, size);
        return fake_error(cudaErrorInvalidValue);
    }
    return pin(__func__, ptr, size, flags, false);
}

cudaError_t cudaHostUnregister(void *ptr)
{
    cudaError_t error;
    if (fake_enter(__func__, fake_current_device(), &error))
        return error;
    return unpin(__func__, ptr, false);
}

cudaError_t cudaHostAlloc(void **pHost, size_t size, unsigned int flags)
{
    cudaError_t error;
    if (fake_enter(__func__, fake_current_device(), &error))
        return error;
    if (flags & ~(unsigned)(cudaHostAllocPortable | cudaHostAllocMapped))
        fake_unknown(__func__, "flag %#x", flags);
    if (!pHost || !size) {
        fake_misuse(__func__, "0 bytes, or nowhere to put the address");
        return fake_error(cudaErrorInvalidValue);
    }
    void *at = aligned_alloc(PAGE, (size + PAGE - 1) / PAGE * PAGE);
    if (!at)
        return fake_error(cudaErrorMemoryAllocation);
    *pHost = at;
    return pin(__func__, at, size, flags, true);
}

cudaError_t cudaFreeHost(void *ptr)
{
    cudaError_t error;
    if (fake_enter(__func__, fake_current_device(), &error))
        return error;
    if (!ptr)
        return cudaSuccess;
    error = unpin(__func__, ptr, true);
    if (error == cudaSuccess)
        free(ptr);
    return error;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *ptr)
{
    cudaError_t error;
    if (fake_enter(__func__, fake_current_device(), &error))
        return error;
    if (!attributes || !ptr) {
        fake_misuse(__func__, "a null pointer");
        return fake_error(cudaErrorInvalidValue);
    }
    fake_range range = {.at = ptr, .width = 1, .height = 1};
    int device;
    pthread_mutex_lock(&lock);
    fake_place place = where(&range, &device);
    if (place == FAKE_PINNED)
        device = pinned.items[find(&pinned, (uintptr_t)ptr)].device;
    pthread_mutex_unlock(&lock);
    *attributes = (struct cudaPointerAttributes){.device = device};
    if (place == FAKE_DEVICE) {
        attributes->type = cudaMemoryTypeDevice;
        attributes->devicePointer = (void *)(uintptr_t)ptr;
    } else {
        attributes->type =
            place == FAKE_PINNED ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered;
        attributes->hostPointer = (void *)(uintptr_t)ptr;
        attributes->devicePointer = place == FAKE_PINNED ? attributes->hostPointer : NULL;
    }
    return cudaSuccess;
}

/* ---- peers ---- */

cudaError_t cudaDeviceCanAccessPeer(int *canAccessPeer, int device, int peerDevice)
{
    cudaError_t error;
    if (fake_enter(__func__, -1, &error))
        return error;
    if (device < 0 || device >= fake_settings.devices || peerDevice < 0 ||
        peerDevice >= fake_settings.devices) {
        fake_misuse(__func__, "there is no device %d or %d", device, peerDevice);
        return fake_error(cudaErrorInvalidDevice);
    }
    *canAccessPeer = device != peerDevice && !fake_settings.no_peer;
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags)
{
    int device = fake_current_device();
    cudaError_t error;
    if (fake_enter(__func__, device, &error))
        return error;
    if (flags || peerDevice < 0 || peerDevice >= fake_settings.devices || peerDevice == device ||
        fake_settings.no_peer) {
        fake_misuse(__func__, "device %d cannot access device %d, or flags %#x are not 0", device,
                    peerDevice, flags);
        return fake_error(flags ? cudaErrorInvalidValue : cudaErrorInvalidDevice);
    }
    pthread_mutex_lock(&lock);
    bool already = peers[device][peerDevice];
    peers[device][peerDevice] = true;
    pthread_mutex_unlock(&lock);
    return fake_error(already ? cudaErrorPeerAccessAlreadyEnabled : cudaSuccess);
}
