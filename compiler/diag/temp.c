#include "temp.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* What there is to be removed, and the process to be ended. The handler reads them, so they change
 * only while the signals are blocked. */
enum { MAX_NAMES = 1024 };
static const char *files[MAX_NAMES], *dirs[MAX_NAMES];
static size_t n_files, n_dirs;
static volatile pid_t child;

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

static void remove_all(void)
{
    for (size_t i = 0; i < n_files; i++)
        if (files[i])
            unlink(files[i]);
    for (size_t i = 0; i < n_dirs; i++)
        if (dirs[i])
            rmdir(dirs[i]);
}

static bool dirs_are_left(void)
{
    for (size_t i = 0; i < n_dirs; i++)
        if (dirs[i] && access(dirs[i], F_OK) == 0)
            return true;
    return false;
}

/* Calls nothing that is not safe in a handler. */
static void end_early(int sig)
{
    enum { TRIES = 100, PAUSE_NS = 10000000 };
    if (child > 0) {
        kill(-child, sig);
        waitpid(child, NULL, 0);
    }
    remove_all();
    /* A process of the group may have had a last file to write. */
    for (int i = 0; i < TRIES && child > 0 && dirs_are_left(); i++) {
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
        remove_all();
    }
    struct sigaction plain = {.sa_handler = SIG_DFL};
    sigset_t this_one;
    sigaction(sig, &plain, NULL);
    sigemptyset(&this_one);
    sigaddset(&this_one, sig);
    raise(sig);
    sigprocmask(SIG_UNBLOCK, &this_one, NULL);
}

/* Blocks the signals, and installs the handler first where none of ours is and they are not
 * ignored. */
static void enter(sigset_t *old)
{
    static bool installed;
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < UTIL_COUNT(signals); i++)
        sigaddset(&set, signals[i]);
    sigprocmask(SIG_BLOCK, &set, old);
    for (size_t i = 0; !installed && i < UTIL_COUNT(signals); i++) {
        struct sigaction action = {.sa_handler = end_early, .sa_mask = set}, was;
        if (sigaction(signals[i], NULL, &was) == 0 && was.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
    }
    installed = true;
}

static void leave(const sigset_t *old)
{
    sigprocmask(SIG_SETMASK, old, NULL);
}

static bool add(const char **list, size_t *n, const char *name)
{
    for (size_t i = 0; i < *n; i++)
        if (!list[i]) {
            list[i] = name;
            return true;
        }
    if (*n < MAX_NAMES)
        list[(*n)++] = name;
    return *n < MAX_NAMES;
}

static void drop(const char **list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == name)
            list[i] = NULL;
}

const char *temp_new_dir(arena *a)
{
    const char *base = getenv("TMPDIR");
    sigset_t old;
    char *dir = arena_printf(a, "%s/dagcc-XXXXXX", base && *base ? base : "/tmp");
    enter(&old);
    bool ok = mkdtemp(dir) != NULL;
    if (ok)
        add(dirs, &n_dirs, dir);
    leave(&old);
    return ok ? dir : NULL;
}

const char *temp_path(arena *a, const char *dir, const char *name)
{
    char *path = arena_printf(a, "%s/%s", dir, name);
    sigset_t old;
    bool known = false;
    enter(&old);
    for (size_t i = 0; i < n_files; i++)
        known = known || (files[i] && strcmp(files[i], path) == 0);
    if (!known)
        add(files, &n_files, path);
    leave(&old);
    return path;
}

void temp_remove(const char *dir)
{
    if (!dir)
        return;
    sigset_t old;
    size_t len = strlen(dir);
    enter(&old);
    for (size_t i = 0; i < n_files; i++)
        if (files[i] && strncmp(files[i], dir, len) == 0 && files[i][len] == '/') {
            unlink(files[i]);
            files[i] = NULL;
        }
    rmdir(dir);
    drop(dirs, n_dirs, dir);
    leave(&old);
}

int temp_open(char *name)
{
    sigset_t old;
    enter(&old);
    int fd = mkstemp(name);
    if (fd >= 0)
        add(files, &n_files, name);
    leave(&old);
    return fd;
}

void temp_close(const char *name, bool renamed)
{
    sigset_t old;
    enter(&old);
    if (!renamed)
        unlink(name);
    drop(files, n_files, name);
    leave(&old);
}

int temp_spawn(pid_t *pid, char *const *args, const posix_spawn_file_actions_t *actions)
{
    sigset_t old;
    posix_spawnattr_t attr;
    enter(&old);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigmask(&attr, &old);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    int error = posix_spawnp(pid, args[0], actions, &attr, args, environ);
    posix_spawnattr_destroy(&attr);
    child = error ? 0 : *pid;
    leave(&old);
    return error;
}

int temp_wait(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    child = 0;
    return status;
}
