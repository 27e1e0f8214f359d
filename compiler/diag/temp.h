/* Temporary files and directories, and processes that use them. Whatever ends dagcc early, SIGINT,
 * SIGTERM or SIGHUP, ends those processes and removes these files first. */
#ifndef DAGCC_TEMP_H
#define DAGCC_TEMP_H

#include "util.h"

#include <spawn.h>
#include <sys/types.h>

/* A new directory below $TMPDIR or /tmp, in the arena; NULL on failure (errno). */
const char *temp_new_dir(arena *a);
/* A name in a directory of temp_new_dir, in the arena. It is removed with the directory. */
const char *temp_path(arena *a, const char *dir, const char *name);
/* Removes the directory and what temp_path named in it. NULL is allowed. */
void temp_remove(const char *dir);

/* Opens a new file; `name` ends in XXXXXX, which is replaced. It must stay where it is until
 * temp_close, which removes the file unless it was renamed. -1 on failure (errno). */
int temp_open(char *name);
void temp_close(const char *name, bool renamed);

/* posix_spawnp of a process in a group of its own, which ends with dagcc. 0, or an error number. */
int temp_spawn(pid_t *pid, char *const *args, const posix_spawn_file_actions_t *actions);
/* Waits for it; its status as waitpid tells it. */
int temp_wait(pid_t pid);

#endif
