/* The C compiler behind dagcc: which one, with which flags, and running it. */
#include "driver.h"

#include "driver/dagcc_config.h"

#include "diag/temp.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The word, quoted so that a shell would read it as one. */
static void print_word(const char *word)
{
    if (*word && !strpbrk(word, " \t\n'\"\\$`*?[]{}();<>|&~#!")) {
        fputs(word, stderr);
        return;
    }
    putc('\'', stderr);
    for (; *word; word++)
        fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, stderr);
    putc('\'', stderr);
}

static char **exec_args(const words *command)
{
    char **args = util_alloc((command->n + 1) * sizeof(*args));
    for (size_t i = 0; i < command->n; i++)
        args[i] = util_strdup(command->items[i]);
    return args;
}

static void free_args(char **args)
{
    for (size_t i = 0; args[i]; i++)
        free(args[i]);
    free(args);
}

int driver_run(const words *command, bool verbose, const char *log)
{
    for (size_t i = 0; verbose && i < command->n; i++) {
        fputs(i ? " " : "", stderr);
        print_word(command->items[i]);
        fputs(i + 1 == command->n ? "\n" : "", stderr);
    }
    fflush(stdout);
    char **args = exec_args(command);
    pid_t pid;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (log)
        posix_spawn_file_actions_addopen(&actions, 2, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int error = temp_spawn(&pid, args, &actions);
    int status = error ? 0 : temp_wait(pid);
    posix_spawn_file_actions_destroy(&actions);
    if (error)
        driver_complain("cannot run the C compiler %s: %s (DAGCC_CC names another)", args[0],
                        strerror(error));
    else if (WIFSIGNALED(status))
        driver_complain("%s was killed: %s", args[0], strsignal(WTERMSIG(status)));
    free_args(args);
    return error || !WIFEXITED(status) ? 1 : WEXITSTATUS(status);
}

/* The directory above bin/ where this program lies: prefix of an installation or build tree. */
static const char *prefix(arena *a)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (n <= 0)
        return NULL;
    path[n] = '\0';
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(path, '/');
        if (!slash)
            return NULL;
        *slash = '\0';
    }
    return arena_strndup(a, path, strlen(path));
}

static void add_include_dir(const driver_options *o, words *command)
{
    static const char *const dirs[] = {DAGCC_INCLUDEDIR, "include"};
    const char *root = prefix(o->arena);
    for (size_t i = 0; root && i < UTIL_COUNT(dirs); i++) {
        const char *dir = arena_printf(o->arena, "%s/%s", root, dirs[i]);
        if (driver_file_exists(arena_printf(o->arena, "%s/dag/dag.h", dir))) {
            words_add(command, arena_printf(o->arena, "-I%s", dir));
            return;
        }
    }
}

void driver_cc_command(const driver_options *o, words *command)
{
    const char *cc = getenv("DAGCC_CC");
    words_add_split(command, o->arena, cc && *cc ? cc : DAGCC_DEFAULT_CC);
    words_add_split(command, o->arena, DAGCC_CFLAGS);
    for (size_t i = 0; i < o->cc.n; i++)
        words_add(command, o->cc.items[i]);
    add_include_dir(o, command);
}

static bool has_library(const driver_options *o, const char *dir, const char *name, bool *shared)
{
    *shared = driver_file_exists(arena_printf(o->arena, "%s/lib%s.so", dir, name));
    return *shared || driver_file_exists(arena_printf(o->arena, "%s/lib%s.a", dir, name));
}

/* Libraries that are there, users before what they use. */
static void add_libraries(const driver_options *o, const char *dir, bool shared, words *command)
{
    bool ignored;
    words_add(command, arena_printf(o->arena, "-L%s", dir));
    if (shared)
        words_add(command, arena_printf(o->arena, "-Wl,-rpath,%s", dir));
    if (has_library(o, dir, "dag_la", &ignored))
        words_add(command, "-ldag_la");
    bool kernels = has_library(o, dir, "dag_kernels", &ignored);
    if (kernels)
        words_add(command, "-ldag_kernels");
    words_add(command, "-ldag");
    if (kernels)
        words_add_split(command, o->arena, DAGCC_BLAS_LIBS);
    words_add_split(command, o->arena, DAGCC_LINK_LIBS);
}

bool driver_link_flags(const driver_options *o, words *command)
{
    static const char *const dirs[] = {DAGCC_LIBDIR, "lib"};
    const char *root = prefix(o->arena);
    bool shared;
    for (size_t i = 0; root && i < UTIL_COUNT(dirs); i++) {
        const char *dir = arena_printf(o->arena, "%s/%s", root, dirs[i]);
        if (has_library(o, dir, "dag", &shared)) {
            add_libraries(o, dir, shared, command);
            return true;
        }
    }
    driver_complain("the runtime library libdag was not found in %s/%s; -c makes object files "
                    "without it", root ? root : "", DAGCC_LIBDIR);
    return false;
}
