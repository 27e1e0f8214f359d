/* Machines in which each core is as near to each other one: a few small files, where hwloc loads 20 libraries. */
#include "even_cores.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORD_BITS = 64, MOST_PUS = DAGI_CPUSET_WORDS * WORD_BITS, MOST_CACHES = 16 };

typedef enum found { ABSENT, READ, WRONG } found;

/* "0-3,8" as a set. */
static found parse(const char *text, dagi_cpuset *set)
{
    memset(set, 0, sizeof *set);
    while (*text != '\0' && *text != '\n') {
        char *end;
        long first = strtol(text, &end, 10), last = first;
        if (end == text)
            return WRONG;
        if (*end == '-') {
            text = end + 1;
            last = strtol(text, &end, 10);
            if (end == text)
                return WRONG;
        }
        if (first < 0 || last < first || last >= MOST_PUS)
            return WRONG;
        for (long pu = first; pu <= last; pu++)
            set->word[pu / WORD_BITS] |= UINT64_C(1) << pu % WORD_BITS;
        text = *end == ',' ? end + 1 : end;
    }
    return READ;
}

__attribute__((format(printf, 2, 3)))
static found read_list(dagi_cpuset *set, const char *path, ...)
{
    char name[512], text[4096];
    va_list args;
    va_start(args, path);
    int length = vsnprintf(name, sizeof name, path, args);
    va_end(args);
    int file = length > 0 && length < (int)sizeof name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return ABSENT;
    ssize_t n = read(file, text, sizeof text - 1);
    close(file);
    if (n < 0 || n == (ssize_t)sizeof text - 1)
        return WRONG;
    text[n] = '\0';
    return parse(text, set);
}

static bool equal(const dagi_cpuset *a, const dagi_cpuset *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static bool inside(const dagi_cpuset *a, const dagi_cpuset *b)
{
    bool all = true;
    for (int w = 0; w < DAGI_CPUSET_WORDS; w++)
        all = all && (a->word[w] & ~b->word[w]) == 0;
    return all;
}

/* The processors of the core that has this one; older systems have another name for the file. */
static bool read_core(const char *root, int pu, dagi_cpuset *core)
{
    found f = read_list(core, "%s/cpu/cpu%d/topology/core_cpus_list", root, pu);
    if (f == ABSENT)
        f = read_list(core, "%s/cpu/cpu%d/topology/thread_siblings_list", root, pu);
    return f == READ;
}

/* Does this core share nothing with some of the others only? Its package must be known. */
static bool is_even(const char *root, int pu, const dagi_cpuset *core, const dagi_cpuset *all)
{
    static const char *const groups[] = {"die_cpus_list", "cluster_cpus_list"};
    dagi_cpuset set;
    found f = read_list(&set, "%s/cpu/cpu%d/topology/package_cpus_list", root, pu);
    if (f == ABSENT)
        f = read_list(&set, "%s/cpu/cpu%d/topology/core_siblings_list", root, pu);
    if (f != READ || !equal(&set, all))
        return false;
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        f = read_list(&set, "%s/cpu/cpu%d/topology/%s", root, pu, groups[i]);
        if (f == WRONG || (f == READ && !equal(&set, all) && !inside(&set, core)))
            return false;
    }
    for (int i = 0; i < MOST_CACHES; i++) {
        f = read_list(&set, "%s/cpu/cpu%d/cache/index%d/shared_cpu_list", root, pu, i);
        if (f == ABSENT)
            return true;
        if (f == WRONG || (!equal(&set, all) && !inside(&set, core)))
            return false;
    }
    return false;
}

static int find_all(const char *root, const dagi_cpuset *all, dagi_cpuset *cores)
{
    int n = 0;
    for (int pu = 0; pu < MOST_PUS; pu++) {
        bool first = true;
        if (!(all->word[pu / WORD_BITS] >> pu % WORD_BITS & 1))
            continue;
        if (!read_core(root, pu, &cores[n]) || !(cores[n].word[pu / WORD_BITS] >> pu % WORD_BITS & 1))
            return 0;
        for (int i = 0; i < n && first; i++)
            first = !equal(&cores[i], &cores[n]);
        if (!first)
            continue;
        if (!is_even(root, pu, &cores[n], all))
            return 0;
        n++;
    }
    return n;
}

int dagi_even_cores(const char *root, const dagi_cpuset *set, dagi_cpuset **cores)
{
    dagi_cpuset online, nodes, only = {{1}};
    if (read_list(&online, "%s/cpu/online", root) != READ || !equal(&online, set))
        return 0;
    found f = read_list(&nodes, "%s/node/online", root); /* a system without NUMA has no such file */
    if (f == WRONG || (f == READ && !equal(&nodes, &only)))
        return 0;
    int pus = 0;
    for (int w = 0; w < DAGI_CPUSET_WORDS; w++)
        pus += __builtin_popcountll(set->word[w]);
    *cores = malloc(((size_t)pus + 1) * sizeof **cores);
    int n = *cores ? find_all(root, set, *cores) : 0;
    if (n == 0) {
        free(*cores);
        *cores = NULL;
    }
    return n;
}
