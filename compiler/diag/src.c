#include "src.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct src_file {
    char *name;
    char *bytes;                    /* len bytes and a NUL */
    size_t len;
    uint32_t *lines;                /* offset of each line's first byte; built at first use */
    size_t n_lines;
    uint32_t origin;                /* of a view; 0: the text is its own */
    src_piece *pieces;
    size_t n_pieces;
} src_file;

struct src_set {
    src_file *files;
    size_t n;
};

src_set *src_set_new(void)
{
    return util_alloc(sizeof(src_set));
}

void src_set_free(src_set *set)
{
    if (!set)
        return;
    for (size_t i = 0; i < set->n; i++) {
        free(set->files[i].name);
        free(set->files[i].bytes);
        free(set->files[i].lines);
        free(set->files[i].pieces);
    }
    free(set->files);
    free(set);
}

/* Takes ownership of bytes (len + 1 allocated). */
static uint32_t src_adopt(src_set *set, const char *name, char *bytes, size_t len)
{
    set->files = util_realloc(set->files, (set->n + 1) * sizeof(*set->files));
    set->files[set->n] = (src_file){.name = util_strdup(name), .bytes = bytes, .len = len};
    bytes[len] = '\0';
    return (uint32_t)++set->n;
}

uint32_t src_add(src_set *set, const char *name, const char *bytes, size_t len)
{
    if (len > SRC_MAX_BYTES)
        return 0;
    char *copy = util_alloc(len + 1);
    if (len)
        memcpy(copy, bytes, len);
    return src_adopt(set, name, copy, len);
}

uint32_t src_add_view(src_set *set, uint32_t origin, const char *bytes, size_t len,
                      const src_piece *pieces, size_t n)
{
    uint32_t file = src_add(set, set->files[origin - 1].name, bytes, len);
    if (file == 0)
        return 0;
    src_file *f = &set->files[file - 1];
    f->origin = origin;
    f->n_pieces = n;
    f->pieces = util_alloc(n * sizeof(*pieces) + 1);
    memcpy(f->pieces, pieces, n * sizeof(*pieces));
    return file;
}

static char *read_stream(FILE *in, size_t *len, const char **error)
{
    size_t cap = 64 * 1024;
    char *bytes = util_alloc(cap + 1);
    *len = 0;
    for (;;) {
        size_t got = fread(bytes + *len, 1, cap - *len, in);
        *len += got;
        if (ferror(in))
            *error = strerror(errno);
        else if (*len > SRC_MAX_BYTES)
            *error = "the file is larger than 1 GiB";
        else if (got != 0 || !feof(in)) {
            if (*len == cap)
                bytes = util_realloc(bytes, (cap *= 2) + 1);
            continue;
        } else
            return bytes;
        free(bytes);
        return NULL;
    }
}

uint32_t src_add_file(src_set *set, const char *path, const char **error)
{
    bool standard = strcmp(path, "-") == 0;
    FILE *in = standard ? stdin : fopen(path, "rb");
    if (!in) {
        *error = strerror(errno);
        return 0;
    }
    size_t len;
    char *bytes = read_stream(in, &len, error);
    if (!standard)
        fclose(in);
    return bytes ? src_adopt(set, standard ? "<stdin>" : path, bytes, len) : 0;
}

static src_file *src_get(const src_set *set, uint32_t file)
{
    return &set->files[file - 1];
}

bool src_is_view(const src_set *set, uint32_t file)
{
    return src_knows(set, file) && src_get(set, file)->origin != 0;
}

bool src_knows(const src_set *set, uint32_t file)
{
    return file > 0 && file <= set->n;
}

const char *src_name(const src_set *set, uint32_t file)
{
    return src_get(set, file)->name;
}

const char *src_bytes(const src_set *set, uint32_t file)
{
    return src_get(set, file)->bytes;
}

size_t src_len(const src_set *set, uint32_t file)
{
    return src_get(set, file)->len;
}

const char *src_text(const src_set *set, src_range range)
{
    return src_get(set, range.file)->bytes + range.begin;
}

size_t src_range_len(src_range range)
{
    return range.end - range.begin;
}

bool src_range_is_none(src_range range)
{
    return range.file == 0;
}

static void src_map_lines(src_file *f)
{
    size_t n = 1;
    for (size_t i = 0; i < f->len; i++)
        n += f->bytes[i] == '\n';
    f->lines = util_alloc(n * sizeof(*f->lines));
    f->n_lines = 1;
    for (size_t i = 0; i < f->len; i++)
        if (f->bytes[i] == '\n')
            f->lines[f->n_lines++] = (uint32_t)i + 1;
}

/* The place in the origin that a byte of a view stands for. */
static uint32_t src_place(const src_file *f, uint32_t offset)
{
    size_t lo = 0, hi = f->n_pieces;        /* the piece is in [lo, hi) */
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;
        if (f->pieces[mid].at <= offset)
            lo = mid;
        else
            hi = mid;
    }
    const src_piece *p = &f->pieces[lo];
    return p->verbatim ? p->from + (offset - p->at) : p->from;
}

src_pos src_pos_of(const src_set *set, uint32_t file, uint32_t offset)
{
    src_file *f = src_get(set, file);
    if (f->origin)
        return src_pos_of(set, f->origin, src_place(f, offset));
    if (!f->lines)
        src_map_lines(f);
    size_t lo = 0, hi = f->n_lines;         /* the line is in [lo, hi) */
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;
        if (f->lines[mid] <= offset)
            lo = mid;
        else
            hi = mid;
    }
    return (src_pos){(uint32_t)lo + 1, offset - f->lines[lo] + 1};
}

src_pos src_begin(const src_set *set, src_range range)
{
    return src_pos_of(set, range.file, range.begin);
}

src_pos src_last(const src_set *set, src_range range)
{
    return src_pos_of(set, range.file, range.end > range.begin ? range.end - 1 : range.begin);
}

const char *src_line(const src_set *set, uint32_t file, uint32_t line, size_t *len)
{
    src_file *f = src_get(set, file);
    if (f->origin)
        return src_line(set, f->origin, line, len);
    if (!f->lines)
        src_map_lines(f);
    *len = 0;
    if (line == 0 || line > f->n_lines)
        return "";
    const char *begin = f->bytes + f->lines[line - 1];
    const char *end = line < f->n_lines ? f->bytes + f->lines[line] - 1 : f->bytes + f->len;
    if (end > begin && end[-1] == '\r')
        end--;
    *len = (size_t)(end - begin);
    return begin;
}

src_range src_join(src_range a, src_range b)
{
    if (src_range_is_none(a))
        return b;
    if (src_range_is_none(b) || a.file != b.file)
        return a;
    return (src_range){a.file, a.begin < b.begin ? a.begin : b.begin,
                       a.end > b.end ? a.end : b.end};
}

src_range src_point(uint32_t file, uint32_t offset)
{
    return (src_range){file, offset, offset};
}
