#include "driver_proofs.h"

#include "diag/temp.h"
#include "driver/dagcc_config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char magic[] = "dagcc proofs 1\n";

/* ---- where ----------------------------------------------------------------------------------- */

/* The directory, made if need be; to be freed. NULL: none. */
static char *cache_dir(const driver_options *o)
{
    const char *own = getenv("DAGCC_PROOF_CACHE"), *xdg = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    text t = {0};
    if (o->no_proof_cache || (own && (!*own || strcmp(own, "off") == 0)))
        return NULL;
    if (own)
        text_puts(&t, own);
    else if (xdg && *xdg == '/')
        text_printf(&t, "%s/dagcc/proofs", xdg);
    else if (home && *home == '/')
        text_printf(&t, "%s/.cache/dagcc/proofs", home);
    else
        return NULL;
    char *dir = util_strdup(text_str(&t));
    text_free(&t);
    bool ok = true;
    for (char *slash = strchr(dir + 1, '/'); ok && slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        ok = mkdir(dir, 0700) == 0 || errno == EEXIST;
        *slash = '/';
    }
    if (ok && (mkdir(dir, 0700) == 0 || errno == EEXIST))
        return dir;
    free(dir);
    return NULL;
}

/* Two hashes of 64 bits (FNV-1a from two starts): equal ones by chance are out of the question. */
typedef struct key {
    uint64_t a, b;
} key;

static void add_bytes(key *k, const void *bytes, size_t n)
{
    for (const unsigned char *p = bytes; n > 0; p++, n--) {
        k->a = (k->a ^ *p) * 0x100000001b3u;
        k->b = (k->b ^ (*p + 0x9eu)) * 0x100000001b3u;
    }
}

static void add_word(key *k, const char *word)
{
    add_bytes(k, word, strlen(word) + 1);
}

static void add_number(key *k, uint64_t n)
{
    add_bytes(k, &n, sizeof(n));
}

/* Everything that decides what is found: this program, its options, the text. */
static key key_of(const driver_options *o, const frontend *f, const words *again)
{
    key k = {0xcbf29ce484222325u, 0x84222325cbf29ce4u};
    struct stat self;
    add_word(&k, DAGCC_VERSION);
    if (stat("/proc/self/exe", &self) == 0) {
        add_number(&k, (uint64_t)self.st_dev);
        add_number(&k, (uint64_t)self.st_ino);
        add_number(&k, (uint64_t)self.st_size);
        add_number(&k, (uint64_t)self.st_mtim.tv_sec);
        add_number(&k, (uint64_t)self.st_mtim.tv_nsec);
    }
    add_number(&k, (uint64_t)o->dialect);
    add_number(&k, o->max_operations);
    add_number(&k, o->max_errors);
    for (size_t i = 0; i < diag_check_count(f->diag); i++)
        add_number(&k, (uint64_t)diag_severity_of(f->diag, diag_check_at(f->diag, i)));
    add_number(&k, o->werror);
    for (size_t i = 0; i < o->warnings.n; i++)
        add_word(&k, o->warnings.items[i]);
    for (size_t i = 0; i < again->n; i++)
        add_word(&k, again->items[i]);
    add_word(&k, src_name(f->sources, f->ast->file));
    add_number(&k, src_len(f->sources, f->ast->file));
    add_bytes(&k, src_bytes(f->sources, f->ast->file), src_len(f->sources, f->ast->file));
    for (size_t i = 0; i < f->whole->imports.n_inlined; i++) {
        uint32_t file = f->whole->imports.inlined[i];
        add_number(&k, src_len(f->sources, file));
        add_bytes(&k, src_bytes(f->sources, file), src_len(f->sources, file));
    }
    return k;
}

/* ---- facts as text ---------------------------------------------------------------------------- */

static void put_flags(text *out, const bool *flags, size_t n)
{
    text_printf(out, "%d ", flags != NULL);
    for (size_t i = 0; flags && i < n; i++)
        text_putc(out, flags[i] ? '1' : '0');
    text_putc(out, '\n');
}

static void put_facts(text *out, const frontend *f, const verify_facts *facts)
{
    put_flags(out, facts->flow_input_proven, f->whole->node_count);
    put_flags(out, facts->stored_alone, f->whole->node_count);
    text_printf(out, "%d ", facts->memory != NULL);
    for (size_t i = 0; facts->memory && i < f->sema->n_globals; i++)
        text_putc(out, (char)('a' + (int)facts->memory[i]));
    text_putc(out, '\n');
}

/* "1 " or "0 " and, if 1, n characters, then the end of the line. */
static bool read_line(const char **at, size_t n, const char **line)
{
    const char *p = *at;
    if ((*p != '0' && *p != '1') || p[1] != ' ')
        return false;
    bool given = *p == '1';
    p += 2;
    *line = given ? p : NULL;
    for (size_t i = 0; given && i < n; i++, p++)
        if (*p == '\0' || *p == '\n')
            return false;
    *at = p + 1;
    return *p == '\n';
}

static const bool *copy_flags(arena *a, const char *line, size_t n)
{
    if (!line)
        return NULL;
    bool *flags = arena_alloc(a, n + 1);
    for (size_t i = 0; i < n; i++)
        flags[i] = line[i] == '1';
    return flags;
}

static bool read_facts(const char **at, const frontend *f, verify_facts *facts)
{
    const char *inputs, *alone, *memory;
    size_t nodes = f->whole->node_count, globals = f->sema->n_globals;
    if (!read_line(at, nodes, &inputs) || !read_line(at, nodes, &alone) ||
        !read_line(at, globals, &memory))
        return false;
    arena *a = f->sema->arena;
    dag_memory_mode *modes = memory ? arena_alloc(a, (globals + 1) * sizeof(*modes)) : NULL;
    for (size_t i = 0; memory && i < globals; i++)
        modes[i] = (dag_memory_mode)(memory[i] - 'a');
    *facts = (verify_facts){.flow_input_proven = copy_flags(a, inputs, nodes), .memory = modes,
                            .stored_alone = copy_flags(a, alone, nodes)};
    return true;
}

/* ---- entries ---------------------------------------------------------------------------------- */

static bool read_entry(frontend *f, const char *path, verify_facts *facts)
{
    text content = {0};
    bool ok = driver_read_file(path, &content);
    const char *at = text_str(&content);
    ok = ok && strlen(at) == content.len && strncmp(at, magic, strlen(magic)) == 0;
    at += ok ? strlen(magic) : 0;
    verify_facts found = {0};
    ok = ok && read_facts(&at, f, &found) && diag_load(f->diag, f->ast->file, at);
    if (ok)
        *facts = found;
    text_free(&content);
    return ok;
}

bool proofs_find(const driver_options *o, frontend *f, const words *again, verify_facts *facts,
                 proof_entry *e)
{
    *e = (proof_entry){.mark = diag_mark(f->diag)};
    char *dir = f->ast->has_errors ? NULL : cache_dir(o);
    if (!dir)
        return false;
    key k = key_of(o, f, again);
    text t = {0};
    text_printf(&t, "%s/%016llx%016llx", dir, (unsigned long long)k.a, (unsigned long long)k.b);
    e->path = util_strdup(text_str(&t));
    text_free(&t);
    free(dir);
    if (!read_entry(f, e->path, facts))
        return false;
    utimensat(AT_FDCWD, e->path, NULL, 0);      /* it is in use */
    free(e->path);
    e->path = NULL;
    return true;
}

/* Removes what was not used for a month. */
static void sweep(const char *entry)
{
    enum { KEPT = 30 * 24 * 3600, NAME_LEN = 32 };
    char *dir = util_strdup(entry);
    *strrchr(dir, '/') = '\0';
    DIR *d = opendir(dir);
    time_t now = time(NULL);
    for (struct dirent *i; d && (i = readdir(d));) {
        struct stat st;
        if (strlen(i->d_name) >= NAME_LEN && fstatat(dirfd(d), i->d_name, &st, 0) == 0 &&
            S_ISREG(st.st_mode) && now - st.st_mtime > KEPT)
            unlinkat(dirfd(d), i->d_name, 0);
    }
    if (d)
        closedir(d);
    free(dir);
}

/* Quietly: a cache that cannot be written is none. */
static void write_entry(const char *path, const text *content)
{
    char *temp = util_alloc(strlen(path) + 8);
    sprintf(temp, "%s.XXXXXX", path);
    int fd = temp_open(temp);
    if (fd >= 0) {
        bool ok = write(fd, content->data, content->len) == (ssize_t)content->len;
        ok = close(fd) == 0 && ok && rename(temp, path) == 0;
        temp_close(temp, ok);
        sweep(path);
    }
    free(temp);
}

void proofs_keep(frontend *f, const verify_facts *facts, bool good, proof_entry *e)
{
    text t = {0};
    if (e->path && good) {
        text_puts(&t, magic);
        put_facts(&t, f, facts);
        if (diag_save(f->diag, f->ast->file, e->mark, &t))
            write_entry(e->path, &t);
    }
    text_free(&t);
    free(e->path);
    e->path = NULL;
}
