/* Inputs of either kind: .jdf files, and sequential nests. */
#include "driver_nest.h"

#include "driver/dagcc_config.h"
#if DAGCC_HAVE_VERIFY
#include "front/seq/seq.h"
#endif

static bool read_nest(const driver_options *o, frontend *f, const char *path, const char **error)
{
#if DAGCC_HAVE_VERIFY
    *error = "only .jdf files can be changed; --emit=jdf prints the graph as one";
    if (o->action == ACTION_FORMAT || o->action == ACTION_FIX || o->action == ACTION_COMPLETE)
        return false;
    seq_options so = {.max_operations = o->max_operations, .tile = o->tile};
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

bool driver_read(const driver_options *o, frontend *f, const char *path, const char **error)
{
    return driver_is_nest(path) ? read_nest(o, f, path, error)
                                : frontend_parse_file(f, path, error);
}
