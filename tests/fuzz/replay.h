/* What a fuzzer does without libFuzzer: the files named on the command line, and all below the
 * directories named there, are given to it once more. */
#ifndef DAG_TESTS_REPLAY_H
#define DAG_TESTS_REPLAY_H

#include "diag/util.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

typedef void replay_fn(const char *path, const char *bytes, size_t len);

static int replay_file(const char *path, replay_fn *one)
{
    FILE *in = fopen(path, "rb");
    if (!in) {
        perror(path);
        return 1;
    }
    text t = {0};
    char buffer[65536];
    for (size_t n; (n = fread(buffer, 1, sizeof(buffer), in)) > 0;)
        text_add(&t, buffer, n);
    fclose(in);
    one(path, text_str(&t), t.len);
    text_free(&t);
    return 0;
}

static int replay(const char *path, replay_fn *one, unsigned *count)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        perror(path);
        return 1;
    }
    if (!S_ISDIR(st.st_mode)) {
        ++*count;
        return replay_file(path, one);
    }
    DIR *dir = opendir(path);
    int failed = dir == NULL;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (e->d_name[0] == '.')
            continue;
        text t = {0};
        text_printf(&t, "%s/%s", path, e->d_name);
        failed |= replay(text_str(&t), one, count);
        text_free(&t);
    }
    if (dir)
        closedir(dir);
    return failed;
}

/* The exit status of a program; that nothing was replayed is a failure. */
static int replay_all(int argc, char **argv, replay_fn *one)
{
    unsigned count = 0;
    int failed = 0;
    for (int i = 1; i < argc; i++)
        failed |= replay(argv[i], one, &count);
    printf("%u inputs\n", count);
    return failed || count == 0;
}

#endif
