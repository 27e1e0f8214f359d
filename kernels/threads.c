/*
 * One BLAS thread per worker. BLAS libraries are controlled through their own functions, found at
 * run time, because which library is behind the CBLAS interface is decided by the dynamic linker.
 */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dag/kernels.h>

#include "cpu/cpu.h"
#include "kernels_hash.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

typedef enum setter_type { TAKES_INT, TAKES_INT64 } setter_type;

/* How one BLAS library sets and reports its number of threads. */
typedef struct blas_library {
    const char *name;
    const char *setter;
    const char *getter;
    setter_type type;
} blas_library;

static const blas_library libraries[] = {
    {"OpenBLAS", "openblas_set_num_threads", "openblas_get_num_threads", TAKES_INT},
    {"OpenBLAS (64-bit integers)", "openblas_set_num_threads64_", "openblas_get_num_threads64_",
     TAKES_INT},
    {"FlexiBLAS", "flexiblas_set_num_threads", "flexiblas_get_num_threads", TAKES_INT},
    {"MKL", "MKL_Set_Num_Threads", "MKL_Get_Max_Threads", TAKES_INT},
    {"BLIS", "bli_thread_set_num_threads", "bli_thread_get_num_threads", TAKES_INT64},
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool init_ok;
static char init_text[512];
static char advice_text[512];
static char variant_text[1024];
static const char *better_core;
static bool blas_is_narrow; /* it does without vectors that the processor has */

static void append(const char *text)
{
    size_t used = strlen(init_text);
    snprintf(init_text + used, sizeof init_text - used, "%s%s", used > 0 ? "; " : "", text);
}

/* Looks a function up. ISO C has no cast from void * to a function; POSIX prescribes this. */
static dag_kernel_fn find_function(const char *name)
{
    dag_kernel_fn fn = NULL;
    void *symbol = dlsym(RTLD_DEFAULT, name);
    memcpy(&fn, &symbol, sizeof fn);
    return fn;
}

/* Sets one library to one thread; returns what it then says. */
static long set_one_thread(const blas_library *library, dag_kernel_fn set, dag_kernel_fn get)
{
    if (library->type == TAKES_INT) {
        ((void (*)(int))set)(1);
        return ((int (*)(void))get)();
    }
    ((void (*)(int64_t))set)(1);
    return (long)((int64_t (*)(void))get)();
}

/*
 * OpenBLAS chooses its kernels by processor model when it is loaded. If it does not know a new one it
 * takes those of an old one, at a fraction of the speed, or without the widest vectors. The latter somebody
 * may want, who then says so in the environment.
 */
static void check_openblas_core(void)
{
#if defined(__x86_64__)
    static const struct {
        const char *core;
        bool avx2;
    } narrow[] = {{"Prescott", false}, {"Core2", false},       {"Penryn", false},
                  {"Dunnington", false}, {"Nehalem", false},   {"Sandybridge", false},
                  {"Generic", false},  {"Haswell", true},      {"Zen", true}};
    dag_kernel_fn get = find_function("openblas_get_corename");
    const char *core = get != NULL ? ((const char *(*)(void))get)() : NULL;
    bool widest = __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    size_t i = 0, n = sizeof narrow / sizeof narrow[0];
    while (i < n && (core == NULL || strcmp(core, narrow[i].core) != 0))
        i++;
    blas_is_narrow = i < n && (widest || (!narrow[i].avx2 && __builtin_cpu_supports("avx2")));
    if (!blas_is_narrow || (narrow[i].avx2 && getenv("OPENBLAS_CORETYPE") != NULL))
        return;
    better_core = widest ? "SKYLAKEX" : "HASWELL";
    snprintf(advice_text, sizeof advice_text,
             "OpenBLAS does not know this processor and uses its kernels for '%s', which are %s; set "
             "OPENBLAS_CORETYPE=%s in the environment of every rank, or install a newer OpenBLAS",
             core, narrow[i].avx2 ? "up to half as fast as possible, since they do without AVX-512"
                                  : "several times slower than possible", better_core);
#endif
}

static void describe_variant(void)
{
    static const char *const sets[] = {"no vectors", "AVX2", "AVX-512"};
    dag_kernel_fn config = find_function("openblas_get_config");
    dag_kernel_fn core = find_function("openblas_get_corename");
    snprintf(variant_text, sizeof variant_text, "%s, kernels %s, %s %s", sets[dagi_micro_level()], KERNELS_HASH,
             config != NULL ? ((const char *(*)(void))config)() : init_text,
             core != NULL ? ((const char *(*)(void))core)() : "");
}

static void init_once(void)
{
    init_ok = true;
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        const blas_library *library = &libraries[i];
        dag_kernel_fn set = find_function(library->setter), get = find_function(library->getter);
        if (set == NULL || get == NULL)
            continue;
        long threads = set_one_thread(library, set, get);
        char text[128];
        snprintf(text, sizeof text, "%s: %ld thread%s by %s", library->name, threads,
                 threads == 1 ? "" : "s", library->setter);
        append(text);
        init_ok = init_ok && threads == 1;
    }
    if (init_text[0] == '\0') {
        init_ok = false;
        append("no BLAS library with a known thread control is loaded; if it is multithreaded, "
               "set its number of threads to 1 in the environment (OMP_NUM_THREADS=1)");
    }
    check_openblas_core();
    describe_variant();
}

bool dag_kernels_init(const char **how)
{
    /* Each routine asks, also those that take a quarter of a microsecond. */
    static _Atomic bool asked;
    if (!atomic_load_explicit(&asked, memory_order_acquire)) {
        pthread_once(&once, init_once);
        if (!dag_kernels_modelled()) /* thousands of ranks may be in this process, and none runs a kernel */
            dagi_map_pages();
        atomic_store_explicit(&asked, true, memory_order_release);
    }
    if (how != NULL)
        *how = init_text;
    return init_ok;
}

const char *dag_kernels_better_core(void)
{
    pthread_once(&once, init_once);
    return better_core;
}

bool dagi_blas_is_narrow(void)
{
    pthread_once(&once, init_once);
    return blas_is_narrow;
}

const char *dag_kernels_variant(void)
{
    pthread_once(&once, init_once);
    return variant_text;
}

const char *dag_kernels_advice(void)
{
    pthread_once(&once, init_once);
    return advice_text[0] != '\0' ? advice_text : NULL;
}

/* ---- memory of OpenBLAS ------------------------------------------------------------------- */

/* Could so much address space be had? */
static bool has_room(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                    -1, 0);
    if (at == MAP_FAILED)
        return false;
    munmap(at, bytes);
    return true;
}

/* OpenBLAS takes a buffer for each thread that calls it at the first call, keeps it, and tries for ever
 * if it does not get one. So all are taken now, each when there is room. */
bool dag_kernels_reserve(int threads, char *why, size_t size)
{
    enum { MOST = 64 };
    const size_t buffer = (size_t)130 << 20; /* 128 MiB and a page; a version for ARM takes less */
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static int kept; /* buffers that were taken before, under the lock */
    struct rlimit limit;
    void *buffers[MOST];
    int wanted = threads < MOST ? threads : MOST, have = 0;
    dag_kernel_fn found = find_function("blas_memory_alloc"), back = find_function("blas_memory_free");
    void *(*take)(int) = (void *(*)(int))found;
    void (*give)(void *) = (void (*)(void *))back;
    if (!take || !give || getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return true;
    pthread_mutex_lock(&lock);
    while (have < wanted && (have < kept || has_room(buffer)))
        buffers[have++] = take(0);
    kept = have > kept ? have : kept;
    for (int i = 0; i < have; i++)
        give(buffers[i]);
    pthread_mutex_unlock(&lock);
    if (have == wanted)
        return true;
    snprintf(why, size, "OpenBLAS needs 128 MiB of address space for each of %d worker%s, and there is "
             "room for %d under the limit of %llu KiB: raise it (ulimit -v), or use fewer workers",
             threads, threads == 1 ? "" : "s", have, (unsigned long long)limit.rlim_cur >> 10);
    return false;
}
