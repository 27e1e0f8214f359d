/* dag_trace: summarises, compares and converts the traces that programs write. */
#include "summary.h"

#include <dag/config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char usage[] =
    "usage: dag_trace [summary] [--workers] FILE   where the time of a run went\n"
    "       dag_trace path FILE                    the tasks of its critical paths\n"
    "       dag_trace compare FILE FILE            two runs side by side\n"
    "       dag_trace html FILE [-o PAGE.html]     a page for the browser (FILE.html)\n"
    "       dag_trace json FILE [-o OUT.json]      for ui.perfetto.dev (FILE.json)\n"
    "\n"
    "Programs of dagcc write FILE when they run with DAG_TRACE=FILE, drivers with --trace FILE.\n"
    "\n"
    "exit status: 0 all went well, 1 a file could not be read or written, 3 bad command line\n";

enum { DONE = 0, FAILED = 1, USAGE = 3 };

typedef struct arguments {
    const char *command;
    const char *file[2];
    int nfiles;
    const char *out;
    int workers;
} arguments;

static int complain(const char *format, const char *what)
{
    fputs("dag_trace: ", stderr);
    fprintf(stderr, format, what);
    fputs("\ndag_trace: --help tells how it is used\n", stderr);
    return USAGE;
}

static dagt_trace *open_trace(const char *path)
{
    char why[256] = "";
    FILE *in = fopen(path, "rb");
    if (!in) {
        fprintf(stderr, "dag_trace: cannot read '%s': %s\n", path, strerror(errno));
        return NULL;
    }
    dagt_trace *t = dagt_read(in, why, sizeof why);
    fclose(in);
    if (!t)
        fprintf(stderr, "dag_trace: cannot read '%s': %s\n", path, why);
    return t;
}

static int print(const arguments *a)
{
    dagt_trace *t[2] = {open_trace(a->file[0]), NULL};
    int compares = strcmp(a->command, "compare") == 0;
    if (t[0] && compares)
        t[1] = open_trace(a->file[1]);
    int ok = t[0] && (!compares || t[1]);
    if (ok && compares)
        print_comparison(t[0], t[1], a->file[0], a->file[1], stdout);
    else if (ok && strcmp(a->command, "path") == 0)
        print_path(t[0], stdout);
    else if (ok)
        print_summary(t[0], a->workers, stdout);
    dagt_free(t[0]);
    dagt_free(t[1]);
    if (fflush(stdout) != 0) {
        fprintf(stderr, "dag_trace: cannot write to standard output: %s\n", strerror(errno));
        return FAILED;
    }
    return ok ? DONE : FAILED;
}

static int convert(const arguments *a)
{
    char name[4096];
    const char *path = a->out;
    int failed = 1;
    struct stat info;
    if (!path && snprintf(name, sizeof name, "%s.%s", a->file[0], a->command) < (int)sizeof name)
        path = name;
    dagt_trace *t = path ? open_trace(a->file[0]) : NULL;
    if (!t)
        return FAILED;
    FILE *out = strcmp(path, "-") == 0 ? stdout : fopen(path, "wb");
    int regular = out && out != stdout && fstat(fileno(out), &info) == 0 && S_ISREG(info.st_mode);
    if (out) {
        failed = strcmp(a->command, "html") == 0 ? dagt_write_html(t, out) : dagt_write_json(t, out);
        int error = errno;
        failed |= out != stdout && fclose(out) != 0;
        errno = error ? error : errno;
    }
    if (failed) {
        fprintf(stderr, "dag_trace: cannot write '%s': %s\n", path, strerror(errno));
        if (regular)
            remove(path); /* a part of it helps nobody */
    }
    dagt_free(t);
    return failed ? FAILED : DONE;
}

/* -1 to go on, or the exit status. */
static int parse(arguments *a, int argc, char **argv)
{
    static const char *const commands[] = {"summary", "path", "compare", "html", "json"};
    int i = 1;
    for (size_t k = 0; argc > 1 && k < sizeof commands / sizeof commands[0]; k++) {
        if (strcmp(argv[1], commands[k]) == 0) {
            a->command = commands[k];
            i = 2;
        }
    }
    for (; i < argc; i++) {
        const char *word = argv[i];
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            fputs(usage, stdout);
            return fflush(stdout) == 0 ? DONE : FAILED;
        } else if (strcmp(word, "--version") == 0) {
            puts("dag_trace " DAG_VERSION_STRING);
            return fflush(stdout) == 0 ? DONE : FAILED;
        } else if (strcmp(word, "--workers") == 0) {
            a->workers = 1;
        } else if (strcmp(word, "-o") == 0) {
            if (++i == argc)
                return complain("-o needs the name of a file%s", "");
            a->out = argv[i];
        } else if (word[0] == '-' && word[1] != '\0') {
            return complain("unknown option %s", word);
        } else if (a->nfiles == 2) {
            return complain("too many files: '%s'", word);
        } else {
            a->file[a->nfiles++] = word;
        }
    }
    int wanted = strcmp(a->command, "compare") == 0 ? 2 : 1;
    int converts = strcmp(a->command, "html") == 0 || strcmp(a->command, "json") == 0;
    if (a->nfiles != wanted)
        return complain(wanted == 2 ? "%s takes two files" : "%s takes one file", a->command);
    if (a->out && !converts)
        return complain("-o means nothing to %s", a->command);
    if (a->workers && strcmp(a->command, "summary") != 0)
        return complain("--workers means nothing to %s", a->command);
    return -1;
}

int main(int argc, char **argv)
{
    arguments a = {.command = "summary"};
    int end = parse(&a, argc, argv);
    if (end >= 0)
        return end;
    return strcmp(a.command, "html") == 0 || strcmp(a.command, "json") == 0 ? convert(&a)
                                                                            : print(&a);
}
