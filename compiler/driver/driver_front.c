/* The table of front ends. */
#include "driver_front.h"

#include "driver/dagcc_config.h"
#include "front/seq/seq.h"

#include <string.h>

typedef bool read_fn(const driver_options *o, frontend *f, const char *path, const char **error);

static bool read_jdf(const driver_options *o, frontend *f, const char *path, const char **error)
{
    (void)o;
    return frontend_parse_file(f, path, error);
}

static bool read_nest(const driver_options *o, frontend *f, const char *path, const char **error)
{
#if DAGCC_HAVE_VERIFY
    seq_options so = {.max_operations = o->max_operations, .tile = o->tile,
                      .checked = o->checked, .inserted = o->inserted};
    if (o->kernels && (so.kernels = src_add_file(f->sources, o->kernels, error)) == 0) {
        *error = arena_printf(o->arena, "%s: %s", o->kernels, *error);
        return false;
    }
    uint32_t file = src_add_file(f->sources, path, error);
    if (file == 0)
        return false;
    f->ast = seq_parse(f->sources, file, f->diag, &so);
    return true;
#else
    (void)o, (void)f, (void)path;
    *error = "this dagcc was built without isl, which derives the edges of nests";
    return false;
#endif
}

/* A row for each front end. The first reads what has no extension, the standard input. */
static const struct front {
    const char *extension;
    read_fn *read;
    const diag_check *checks; /* NULL: frontend_init() knows them */
    const size_t *n_checks;
} fronts[] = {
    {.extension = ".jdf", .read = read_jdf},
    {.extension = ".seq.c", .read = read_nest, .checks = seq_checks, .n_checks = &seq_check_count},
};

void driver_register_fronts(diag *d)
{
    for (size_t i = 0; i < UTIL_COUNT(fronts); i++)
        if (fronts[i].checks)
            diag_register(d, fronts[i].checks, *fronts[i].n_checks);
}

static const struct front *front_of(const char *path)
{
    size_t n = strlen(path);
    for (size_t i = 0; i < UTIL_COUNT(fronts); i++) {
        size_t m = strlen(fronts[i].extension);
        if (n >= m && strcmp(path + n - m, fronts[i].extension) == 0)
            return &fronts[i];
    }
    return NULL;
}

bool driver_read(const driver_options *o, frontend *f, const char *path, const char **error)
{
    const struct front *front = front_of(path);
    if (!front)
        front = &fronts[0];
    *error = "only .jdf files can be changed; --emit=jdf prints the graph as one";
    if (front != &fronts[0] && (o->action == ACTION_FORMAT || o->action == ACTION_FIX ||
                                o->action == ACTION_COMPLETE))
        return false;
    return front->read(o, f, path, error);
}

const char *driver_extension(const char *path)
{
    const struct front *front = front_of(path);
    return front ? path + strlen(path) - strlen(front->extension) : NULL;
}

const char *driver_extensions(arena *a)
{
    const char *all = fronts[0].extension;
    for (size_t i = 1; i < UTIL_COUNT(fronts); i++)
        all = arena_printf(a, "%s or %s", all, fronts[i].extension);
    return all;
}
