/* Files that others import: found, read, bound to what the other file has, and parsed as more of it. */
#include "import.h"

#include "diag/checks.h"
#include "expand.h"
#include "front/jdf/parse.h"
#include "tree/unparse.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- what names become ----------------------------------------------------------------------- */

static void rename_to(import_name **list, size_t *n, const char *from, const char *to)
{
    *list = util_realloc(*list, (*n + 1) * sizeof(**list));
    (*list)[(*n)++] = (import_name){from, to};
}

static const char *prefixed(importing *x, const char *name)
{
    return arena_printf(x->file->arena, "%s_%s", x->import->prefix.text, name);
}

/* The word that a property of a global says; `otherwise` where it has none. */
static const char *said(const ast_global *g, const char *property, const char *otherwise)
{
    const ast_prop *p = ast_find_prop(g->props, property);
    const ast_expr *e = p ? p->value : NULL;
    if (e && e->kind == AST_STRING)
        return e->u.string.text;
    return e && e->kind == AST_NAME ? e->u.name : otherwise;
}

/* Is `there`, a global of the imported file, of the type of `here`? */
static void check_type(importing *x, const ast_global *there, const ast_global *here, src_range at)
{
    static const char *const properties[][2] = {{"type", "int"}, {"elem", "none"}};
    for (size_t i = 0, wrong = 0; i < UTIL_COUNT(properties) && !wrong; i++) {
        const char *a = said(there, properties[i][0], properties[i][1]);
        const char *b = said(here, properties[i][0], properties[i][1]);
        wrong = strcmp(a, b) != 0;
        if (wrong)
            import_wrong(x, at, "'%s' of that file has %s '%s', '%s' has '%s'", there->name.text,
                         properties[i][0], a, here->name.text, b);
    }
}

/* [g = value] */
static void bind_to(importing *x, const ast_global *g, const ast_prop *p)
{
    const ast_expr *e = p->value;
    const ast_global *here = e && e->kind == AST_NAME ? ast_find_global(x->file, e->u.name) : NULL;
    if (here) {
        check_type(x, g, here, p->node.range);
        rename_to(&x->globals, &x->n_globals, g->name.text, here->name.text);
        return;
    }
    if (!e || e->kind == AST_NAME || e->kind == AST_STRING || ast_has_inline_c(e) ||
        strchr(said(g, "type", "int"), '*')) {
        import_wrong(x, p->node.range, "'%s' is bound to a global of this file, or, if it is an "
                     "integer, to an expression of globals without inline C", g->name.text);
        return;
    }
    text t = {0};
    text_putc(&t, '(');
    unparse_expr(x->file, e, &t);
    text_putc(&t, ')');
    rename_to(&x->globals, &x->n_globals, g->name.text, text_take(&t, x->file->arena));
}

static void bind_global(importing *x, const ast_global *g)
{
    const char *name = g->name.text;
    const ast_prop *p = ast_find_prop(x->import->props, name);
    const ast_global *here = ast_find_global(x->file, name);
    const ast_prop *hidden = ast_find_prop(g->props, "hidden");
    if (p)
        bind_to(x, g, p);
    else if (g->value || hidden)
        rename_to(&x->globals, &x->n_globals, name, prefixed(x, name));
    else if (here)
        check_type(x, g, here, x->import->node.range);
    else
        import_wrong(x, x->import->node.range, "'%s' of that file is nothing here: declare a global "
                     "of this name, or bind it: [%s = ...]", name, name);
    if (g->value)
        import_wrong(x, x->import->node.range, "'%s' of that file has its value behind '='; write "
                     "[hidden = on default = ...] there", name);
}

/* A class that the imported file names and does not have is one of this file. */
static void bind_class(importing *x, const ast_call *call)
{
    if (!call || call->kind != AST_CALL_TASK || ast_find_class(x->from, call->target.text))
        return;
    const ast_prop *p = ast_find_prop(x->import->props, call->target.text);
    if (p && p->value && p->value->kind == AST_NAME)
        rename_to(&x->classes, &x->n_classes, call->target.text, p->value->u.name);
    else if (p)
        import_wrong(x, p->node.range, "'%s' is a class: it is bound to the name of one",
                     p->name.text);
}

static void bind_classes(importing *x)
{
    for (size_t i = 0; i < x->from->n_classes; i++) {
        const ast_class *c = x->from->classes[i];
        rename_to(&x->classes, &x->n_classes, c->name.text, prefixed(x, c->name.text));
        for (size_t f = 0; f < c->n_flows; f++)
            for (size_t k = 0; k < c->flows[f]->n_deps; k++) {
                bind_class(x, c->flows[f]->deps[k]->yes);
                bind_class(x, c->flows[f]->deps[k]->no);
            }
    }
}

static bool names_class(const importing *x, const char *name)
{
    for (size_t i = 0; i < x->n_classes; i++)
        if (strcmp(x->classes[i].from, name) == 0)
            return !ast_find_class(x->from, name);
    return false;
}

static void check_bindings(importing *x)
{
    const ast_props *props = x->import->props;
    for (size_t i = 0; props && i < props->n; i++) {
        const ast_prop *p = props->items[i];
        if (ast_find_prop(props, p->name.text) != p)
            import_wrong(x, p->node.range, "'%s' is bound twice", p->name.text);
        else if (p->owner.text || (!ast_find_global(x->from, p->name.text) &&
                                   !names_class(x, p->name.text)))
            import_wrong(x, p->node.range, "that file has no global '%s', nor does it name a class "
                         "'%s' of another file", p->name.text, p->name.text);
    }
}

static void check_precision(importing *x)
{
    const ast_precision *a = x->from->precision, *b = x->file->precision;
    bool same = !a == !b && (!a || a->n == b->n);
    for (size_t i = 0; same && a && i < a->n; i++)
        same = strcmp(a->items[i].text, b->items[i].text) == 0;
    if (!same)
        import_wrong(x, x->import->node.range, "that file and this one say different things of "
                     "%%precision");
    if (x->from->n_options > 0)
        import_wrong(x, x->import->node.range, "that file has an %%option; those of this file count "
                     "for all");
    if (x->from->imports.n > 0)
        import_wrong(x, x->import->node.range, "that file imports another one; import both here");
}

/* ---- the prologue ---------------------------------------------------------------------------- */

static void put_code(const src_set *sources, const ast_code *code, text *out)
{
    if (!code)
        return;
    const char *name = src_name(sources, code->text.file);
    if (!strpbrk(name, "\"\\\n"))
        text_printf(out, "\n#line %u \"%s\"\n", src_begin(sources, code->text).line, name);
    text_add(out, src_text(sources, code->text), src_range_len(code->text));
    text_putc(out, '\n');
}

/* The prologues of the imported file and of what there was, as one. */
static void join_prologue(importing *x)
{
    if (!x->from->prologue)
        return;
    text t = {0};
    put_code(x->sources, x->from->prologue, &t);
    put_code(x->sources, x->file->prologue, &t);
    src_piece all = {.from = x->import->node.range.begin};
    uint32_t file = src_add_view(x->sources, x->import->node.range.file, text_str(&t), t.len, &all, 1);
    src_range r = {file, 0, (uint32_t)t.len};
    if (file)
        x->file->prologue = ast_add_code(x->file, r, r);
    x->failed = x->failed || !file;
    text_free(&t);
}

/* ---- one file -------------------------------------------------------------------------------- */

/* The path, as one from where the importing file lies. */
static const char *path_of(const importing *x)
{
    const char *path = x->import->path->u.string.text;
    const char *name = src_name(x->sources, x->import->node.range.file);
    const char *slash = *path == '/' ? NULL : strrchr(name, '/');
    return slash ? arena_printf(x->file->arena, "%.*s/%s", (int)(slash - name), name, path) : path;
}

/* The text: one that is known by this name, or what the file has. */
static uint32_t read_text(importing *x)
{
    const char *path = path_of(x), *error = "no regular file";
    for (uint32_t i = 1; src_knows(x->sources, i); i++)
        if (!src_is_view(x->sources, i) && strcmp(src_name(x->sources, i), path) == 0)
            return i;
    struct stat st;
    bool regular = stat(path, &st) != 0 || S_ISREG(st.st_mode);
    uint32_t file = regular ? src_add_file(x->sources, path, &error) : 0;
    if (!file)
        import_wrong(x, x->import->path->node.range, "cannot read '%s': %s", path, error);
    return file;
}

static bool imported_before(const ast_file *file, uint32_t source)
{
    for (size_t i = 0; i < file->imports.n_inlined; i++)
        if (file->imports.inlined[i] == source)
            return true;
    return false;
}

/* What is said about the imported file and what it becomes part of: all that its classes are. */
static void take_file(importing *x, uint32_t source)
{
    if (!x->from->has_errors)
        check_precision(x);
    for (size_t i = 0; i < x->from->n_globals; i++)
        bind_global(x, x->from->globals[i]);
    bind_classes(x);
    check_bindings(x);
    uint32_t file = x->failed ? 0 : import_text(x);
    if (!file || x->from->n_classes == 0) {
        if (!x->failed)
            import_wrong(x, x->import->path->node.range, "that file has no classes");
        return;
    }
    ast_code *prologue = x->file->prologue; /* its inline C is read by its own definitions */
    x->file->prologue = x->from->prologue;
    x->failed = !parse_more(x->file, file, x->d);
    x->file->prologue = prologue;
    if (imported_before(x->file, source))
        return;
    join_prologue(x);
    ast_note_inlined(x->file, source);
}

static bool import_one(ast_file *file, src_set *sources, diag *d, const ast_import *import)
{
    importing x = {.file = file, .sources = sources, .d = d, .import = import};
    unsigned errors = diag_errors(d);
    uint32_t source = read_text(&x);
    ast_file *from = source ? parse_file(sources, source, d) : NULL;
    x.from = from;
    if (from && diag_errors(d) == errors)
        take_file(&x, source);
    free(x.globals);
    free(x.classes);
    ast_free(from);
    return !x.failed && diag_errors(d) == errors;
}

ast_file *expand_imports(ast_file *file, src_set *sources, diag *d)
{
    if (file->imports.n == 0)
        return file;
    if (file->has_errors)
        return NULL;
    ast_file *joined = ast_share(file);
    bool ok = true;
    for (size_t i = 0; i < file->n_classes; i++)
        ast_add_class(joined, file->classes[i]);
    for (size_t i = 0; i < file->imports.n; i++)
        ok = import_one(joined, sources, d, file->imports.items[i]) && ok;
    if (ok)
        return joined;
    ast_free_shared(joined);
    return NULL;
}
