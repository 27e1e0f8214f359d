/* --same: names of the second file in the words of the first. */
#include "same.h"

#include <ctype.h>
#include <string.h>

static const char *intern(const same *s, const char *str, size_t len)
{
    return names_intern(s->names, str, len);
}

/* Splits "CLASS.NAME"; a dot further on belongs to a member. */
static void split_name(const same *s, const char *str, size_t len, same_rename *r, int side)
{
    const char *dot = memchr(str, '.', len);
    const char *arrow = memchr(str, '-', len);
    bool qualified = dot && !arrow;
    if (qualified) {
        r->cls[side] = intern(s, str, (size_t)(dot - str));
        len -= (size_t)(dot - str) + 1;
        str = dot + 1;
    }
    r->name[side] = intern(s, str, len);
}

static bool local_exists(const sema_class *c, const char *name)
{
    for (size_t i = 0; i < c->n_params; i++)
        if (strcmp(c->params[i]->name, name) == 0)
            return true;
    return sema_find_flow(c, name) != NULL;
}

static bool exists(const same_file *f, const char *cls, const char *name)
{
    if (!cls && (sema_find_global(f->sema, name) || lift_find_param(&f->m->poly, name) >= 0))
        return true;
    for (size_t i = 0; i < f->sema->n_classes; i++) {
        const sema_class *c = &f->sema->classes[i];
        bool here = !cls || strcmp(c->name, cls) == 0;
        if ((!cls && strcmp(c->name, name) == 0) || (here && local_exists(c, name)))
            return true;
    }
    return false;
}

bool same_read_renames(same *s)
{
    const verify_same_options *o = s->options;
    s->renames = arena_alloc(s->arena, (o->n_renames + 1) * sizeof(*s->renames));
    for (size_t i = 0; i < o->n_renames; i++) {
        const char *pair = o->renames[i], *equals = strchr(pair, '=');
        same_rename *r = &s->renames[i];
        if (!equals || equals == pair || !equals[1]) {
            diag_report_plain(s->d, DIAG_ERROR, "--rename takes NAME=NAME, of the first file and "
                              "of the second, not '%s'", pair);
            return false;
        }
        split_name(s, pair, (size_t)(equals - pair), r, 0);
        split_name(s, equals + 1, strlen(equals + 1), r, 1);
        for (int side = 0; side < 2; side++)
            if (!exists(&s->file[side], r->cls[side], r->name[side])) {
                diag_report_plain(s->d, DIAG_ERROR, "--rename %s: %s has no class, parameter, flow "
                                  "or global '%s%s%s'", pair, s->file[side].label,
                                  r->cls[side] ? r->cls[side] : "", r->cls[side] ? "." : "",
                                  r->name[side]);
                return false;
            }
    }
    return true;
}

static bool says(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* The rename whose `side` is this name, or NULL. */
static const same_rename *find(const same *s, int side, const char *cls, const char *name)
{
    for (size_t i = 0; i < s->options->n_renames; i++) {
        const same_rename *r = &s->renames[i];
        if (strcmp(r->name[side], name) == 0 && (!r->cls[side] || says(r->cls[side], cls)))
            return r;
    }
    return NULL;
}

const char *same_name(const same *s, const same_file *f, const char *cls, const char *name)
{
    const same_rename *r = f->number ? find(s, 1, cls, name) : NULL;
    if (r)
        return r->name[0];
    /* Something else of the second file took this name: it is nobody's in the first. */
    r = f->number ? find(s, 0, cls ? same_name(s, f, NULL, cls) : NULL, name) : NULL;
    const char *own = r ? arena_printf(s->arena, "%s of %s", name, f->label) : name;
    return intern(s, own, strlen(own));
}

const char *same_param(const same *s, const same_file *f, const char *name)
{
    size_t len = util_word_length(name, NULL);
    if (!name[len] || (f->number && find(s, 1, NULL, name)))
        return same_name(s, f, NULL, name);
    const char *root = same_name(s, f, NULL, intern(s, name, len));
    const char *whole = arena_printf(s->arena, "%s%s", root, name + len);
    bool taken = f->number && find(s, 0, NULL, whole);
    whole = taken ? arena_printf(s->arena, "%s of %s", whole, f->label) : whole;
    return intern(s, whole, strlen(whole));
}

void same_put_text(const same *s, const same_file *f, const char *cls, const char *str, text *out)
{
    while (*str) {
        size_t len = util_word_length(str, NULL);
        if (len == 0) {
            text_putc(out, *str++);
            continue;
        }
        bool number = isdigit((unsigned char)*str);
        const char *word = intern(s, str, len);
        bool after = out->len > 0 && (out->data[out->len - 1] == '.' ||
                                      (out->len > 1 && out->data[out->len - 1] == '>' &&
                                       out->data[out->len - 2] == '-'));
        text_puts(out, number || after ? word : same_name(s, f, cls, word));
        str += len;
    }
}

const verify_class *same_find_class(const same *s, const same_file *f, const char *common)
{
    for (size_t i = 0; i < f->m->n_classes; i++)
        if (same_name(s, f, NULL, f->sema->classes[i].name) == common)
            return &f->m->classes[i];
    return NULL;
}
