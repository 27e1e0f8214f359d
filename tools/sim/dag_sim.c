/*
 * dag_sim: runs a program of this library on ranks that it does not have. The program is started once, and
 * its own copy of the library plays all ranks (docs/design/simulation.md): what is set here are settings.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_USAGE = 3, EXIT_NOT_STARTED = 127 };

static const char help[] =
    "Usage: dag_sim -np RANKS [--machine FILE] [--threads N] PROGRAM [ARGUMENT ...]\n"
    "\n"
    "Predicts how long PROGRAM would take on RANKS ranks. It runs in one process; its tasks, their\n"
    "order and what they send are real, kernels compute nothing, time is simulated.\n"
    "\n"
    "  -np RANKS       ranks of the job\n"
    "  --machine FILE  description of the machine; without it one that is built in\n"
    "  --threads N     workers of each rank; without it as the machine's description says\n"
    "  --help          this text\n"
    "\n"
    "Drivers write \"simulated\" into what they print; --report adds a few lines on stderr.\n";

static int complain(const char *what, const char *word)
{
    fprintf(stderr, "dag_sim: %s%s%s\n", what, word ? ": " : "", word ? word : "");
    return EXIT_USAGE;
}

static bool is_count(const char *text)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && value >= 1;
}

/* The program as given, or beside this one if it is a bare name that is there. */
static const char *locate(const char *program, char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (strchr(program, '/') || length <= 0)
        return program;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    if (!slash || (size_t)(slash - path) + strlen(program) + 2 > size)
        return program;
    strcpy(slash + 1, program);
    return access(path, X_OK) == 0 ? path : program;
}

int main(int argc, char **argv)
{
    static const struct { const char *option, *variable; bool counts; } options[] = {
        {"-np", "DAG_SIMULATE", true},
        {"--machine", "DAG_MACHINE", false},
        {"--threads", "DAG_THREADS", true},
    };
    enum { OPTIONS = sizeof options / sizeof options[0] };
    bool given[OPTIONS] = {false};
    char path[4096];
    int at = 1;
    for (; at < argc && argv[at][0] == '-'; at += 2) {
        int k = 0;
        if (strcmp(argv[at], "--help") == 0)
            return fputs(help, stdout) < 0;
        while (k < OPTIONS && strcmp(argv[at], options[k].option) != 0)
            k++;
        if (k == OPTIONS)
            return complain("there is no such option (--help shows those there are)", argv[at]);
        if (at + 1 == argc)
            return complain("a value is missing behind", argv[at]);
        if (options[k].counts && !is_count(argv[at + 1]))
            return complain("this is not a number of at least 1", argv[at + 1]);
        if (setenv(options[k].variable, argv[at + 1], 1) != 0)
            return complain("out of memory", NULL);
        given[k] = true;
    }
    if (!given[0])
        return complain("how many ranks? Give -np RANKS", NULL);
    if (at == argc)
        return complain("which program? It comes behind the options", NULL);
    /* What is played lies scattered over all memory: large pages spare a fifth of the time. */
    if (setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", 0) != 0)
        return complain("out of memory", NULL);
    const char *program = locate(argv[at], path, sizeof path);
    execvp(program, argv + at);
    fprintf(stderr, "dag_sim: cannot start %s: %s\n", argv[at], strerror(errno));
    return EXIT_NOT_STARTED;
}
