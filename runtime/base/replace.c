/* Replacing a file: a temporary beside it, and rename(). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_CLOEXEC, realpath(), fchmod() */
#endif
#include <dag/replace.h>

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what a signal removes --------------------------------------------------------------- */

enum { SLOTS = 8, NAME_MOST = 4096 };
enum { FREE, TAKEN, ENTERED, REMOVED };

/* The name belongs to the replacement that has moved the state from FREE to TAKEN, until that moves it
 * from ENTERED to FREE again; or, once a handler has moved it from ENTERED to REMOVED, to that for good. */
static struct slot {
    atomic_int state;
    char name[NAME_MOST];
} slots[SLOTS];

/* The number of a slot; -1: the name is too long, or a ninth. */
static int enter(const char *name)
{
    for (int i = 0; i < SLOTS && strlen(name) < NAME_MOST; i++) {
        int state = FREE;
        if (atomic_compare_exchange_strong(&slots[i].state, &state, TAKEN)) {
            strcpy(slots[i].name, name);
            atomic_store(&slots[i].state, ENTERED);
            return i;
        }
    }
    return -1;
}

/* Once nothing has the name any more. */
static void leave(int slot)
{
    int state = ENTERED;
    if (slot >= 0)
        (void)atomic_compare_exchange_strong(&slots[slot].state, &state, FREE);
}

char *dag_replace_read(const char *path, size_t most)
{
    struct stat st;
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return NULL;
    char *text = NULL;
    int error = EFBIG;
    if (fstat(fileno(f), &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size <= most) {
        text = malloc((size_t)st.st_size + 1);
        error = ENOMEM;
    }
    if (text != NULL) {
        text[fread(text, 1, (size_t)st.st_size, f)] = '\0';
        if (ferror(f)) {
            error = errno;
            free(text);
            text = NULL;
        }
    }
    fclose(f);
    errno = text != NULL ? 0 : error;
    return text;
}

void dag_replace_remove_all(void)
{
    for (int i = 0; i < SLOTS; i++) {
        int state = ENTERED;
        if (atomic_compare_exchange_strong(&slots[i].state, &state, REMOVED))
            (void)unlink(slots[i].name);
    }
}

/* ------------------------------------------------------------------------------------------ */

/* open(), unlike mkstemp(), gives a new file the permissions that the user wants. What replaces another
 * has those of that file, and until then no more than its owner's. */
static int create(dag_replacement *r, const struct stat *old)
{
    size_t size = strlen(r->target) + 64;
    r->temporary = malloc(size);
    if (!r->temporary)
        return -1;
    int fd = -1;
    for (int attempt = 0; fd < 0 && attempt < 1000; attempt++) {
        snprintf(r->temporary, size, "%s.tmp-%ld-%d", r->target, (long)getpid(), attempt);
        r->slot = enter(r->temporary); /* a signal in between finds it */
        fd = open(r->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, old ? 0600 : 0666);
        if (fd < 0)
            leave(r->slot);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd >= 0 && old)
        (void)fchmod(fd, old->st_mode & 0777); /* a file system without modes has none to keep */
    return fd;
}

static void forget(dag_replacement *r)
{
    free(r->temporary);
    free(r->target);
    *r = (dag_replacement){0};
}

bool dag_replace_begin(dag_replacement *r, const char *path)
{
    struct stat old, link;
    *r = (dag_replacement){0};
    bool exists = stat(path, &old) == 0;
    if (!exists && errno != ENOENT)
        return false;
    bool is_link = lstat(path, &link) == 0 && S_ISLNK(link.st_mode);
    r->target = is_link ? realpath(path, NULL) : strdup(path);
    if (!r->target)
        return false;
    int fd = create(r, exists ? &old : NULL);
    r->stream = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (r->stream)
        return true;
    int error = errno;
    if (fd >= 0) {
        close(fd);
        unlink(r->temporary);
        leave(r->slot);
    }
    forget(r);
    errno = error;
    return false;
}

bool dag_replace_end(dag_replacement *r, bool good)
{
    if (!r->stream)
        return true;
    bool lost = ferror(r->stream) != 0; /* then errno is no more what it was */
    bool done = good && !lost && fflush(r->stream) == 0 && fsync(fileno(r->stream)) == 0;
    int error = lost ? EIO : errno;
    if (fclose(r->stream) != 0 && done) {
        error = errno;
        done = false;
    }
    if (done && rename(r->temporary, r->target) != 0) {
        error = errno;
        done = false;
    }
    if (!done)
        unlink(r->temporary);
    leave(r->slot);
    forget(r);
    errno = error;
    return done || !good;
}
