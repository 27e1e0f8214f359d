/* Bodies of classes: the text of a kernel, or a call of the one that is declared elsewhere, behind
 * the scalars that they need. */
#include "seq_text.h"

#include <string.h>

/* ---- scalars --------------------------------------------------------------------------------- */

/* The body of a kernel that is only declared is a call with the arguments of the nest. */
static bool is_declared_only(const seq_kernel *k)
{
    return src_range_is_none(k->body);
}

/* Does the name mean something in the class already? */
static bool is_taken(const seq_file *f, const seq_call *c, const char *name)
{
    for (size_t i = 0; i < c->n_items; i++)
        if (c->items[i]->name == name)
            return true;
    for (size_t i = 0; i < c->n_temps; i++)
        if (c->temps[i]->name == name)
            return true;
    return seq_find_global(f, name) != NULL;
}

/* Is it an integer expression of the language? */
static bool is_local(const seq_file *f, const seq_call *c, src_range e)
{
    seq_tokens list = seq_lex(f->sources, e, f->arena);
    for (size_t i = 0; i + 1 < list.n; i++) {
        const seq_token *t = &list.items[i];
        const char *name = seq_word_of(f, t);
        const seq_global *g = seq_find_global(f, name);
        bool member = i > 0 && (seq_is(f->sources, t - 1, "->") || seq_is(f->sources, t - 1, "."));
        bool holder = g && (seq_is(f->sources, t + 1, "->") ||
                            (g->by_value && seq_is(f->sources, t + 1, ".")));
        bool known = member || strcmp(name, "min") == 0 || strcmp(name, "max") == 0 || holder ||
                     (g && g->integer);
        for (size_t k = 0; k < c->n_items; k++)
            known = known || c->items[k]->name == name;
        bool number = t->kind == SEQ_NUMBER && !strpbrk(name, ".eEfFuUlL");
        bool reaches = i > 0 && seq_is(f->sources, t, ".");
        if (reaches)
            g = seq_find_global(f, seq_word_of(f, t - 1));
        if (t->kind == SEQ_STRING || (t->kind == SEQ_WORD && !known) ||
            (t->kind == SEQ_NUMBER && !number) ||
            (t->kind == SEQ_PUNCT && strchr("[]{}&|~.", *name) && strcmp(name, "&&") != 0 &&
             strcmp(name, "||") != 0 && !(reaches && g && g->by_value)))
            return false;
    }
    return true;
}

static bool is_int(const seq_file *f, src_range type)
{
    static const char *const integers[] = {"int", "const int", "long", "int64_t", "const int64_t"};
    for (size_t i = 0; i < UTIL_COUNT(integers); i++)
        if (seq_same_text(f->sources, type, integers[i]))
            return true;
    return false;
}

/* What becomes of a scalar: nothing, a local of the class, or a definition in the body. */
typedef enum scalar_place { SCALAR_SAME, SCALAR_LOCAL, SCALAR_BODY } scalar_place;

static scalar_place place_of(const seq_file *f, const seq_call *c, size_t i)
{
    const seq_param *p = &c->kernel->params[i];
    if (p->shape || seq_same_text(f->sources, c->args[i].text, p->name) ||
        !seq_kernel_mentions(f, c->kernel, p->name))
        return SCALAR_SAME;
    return is_int(f, p->type) && is_local(f, c, c->args[i].text) ? SCALAR_LOCAL : SCALAR_BODY;
}

void seq_put_scalars(seq_writer *w, const seq_call *c)
{
    const seq_kernel *k = c->kernel;
    for (size_t i = 0; i < k->n_params; i++) {
        if (k->params[i].tile || place_of(w->f, c, i) != SCALAR_LOCAL)
            continue;
        seq_stand_for(w, c->args[i].text);
        seq_put(w, "  %s = ", k->params[i].name);
        seq_put_source(w, c->args[i].text);
        seq_put(w, "\n");
    }
}

bool seq_check_scalars(const seq_writer *w, const seq_call *c)
{
    const seq_kernel *k = c->kernel;
    for (size_t i = 0; i < k->n_params; i++) {
        const seq_param *p = &k->params[i];
        /* A tile has its name in the body, where the arguments of a call stand beside it. */
        bool kept =
            p->tile || p->shape ? !is_declared_only(k) : place_of(w->f, c, i) == SCALAR_SAME;
        if (kept || !is_taken(w->f, c, p->name))
            continue;
        seq_error(w->f, "seq-call", c->args[i].text,
                  "parameter '%s' of the kernel would be another value than '%s' of the nest: give "
                  "one of them another name",
                  p->name, p->name);
        diag_note(w->f->d, p->where, "the parameter");
        return false;
    }
    return true;
}

/* ---- the body -------------------------------------------------------------------------------- */

/* Do the arguments that stand in the body mention the name? */
static bool is_argument(const seq_file *f, const seq_call *c, const char *name)
{
    const seq_kernel *k = c->kernel;
    for (size_t i = 0; i < k->n_params; i++) {
        const seq_param *p = &k->params[i];
        if (!p->tile && !p->shape && (is_declared_only(k) || seq_kernel_mentions(f, k, p->name)) &&
            seq_mentions(f->sources, c->args[i].text, name))
            return true;
    }
    return false;
}

/* Scalars of the nest that are no integers of the graph, and those that they are made of. */
static void put_temps(seq_writer *w, const seq_call *c)
{
    bool *needed = arena_alloc(w->f->arena, c->n_temps + 1);
    for (size_t i = c->n_temps; i-- > 0;) {
        needed[i] = is_argument(w->f, c, c->temps[i]->name);
        for (size_t k = i + 1; k < c->n_temps; k++)
            needed[i] = needed[i] || (needed[k] && seq_mentions(w->f->sources, c->temps[k]->from,
                                                                c->temps[i]->name));
    }
    for (size_t i = 0; i < c->n_temps; i++) {
        if (!needed[i])
            continue;
        seq_put(w, "    ");
        seq_put_source(w, c->temps[i]->type);
        seq_put(w, " %s = ", c->temps[i]->name);
        seq_put_source(w, c->temps[i]->from);
        seq_put(w, ";\n");
    }
}

static void put_call(seq_writer *w, const seq_call *c)
{
    const seq_kernel *k = c->kernel;
    seq_stand_for(w, c->where);
    seq_put(w, "    %s(", k->name);
    for (size_t i = 0; i < k->n_params; i++) {
        const seq_param *p = &k->params[i];
        seq_put(w, i ? ", " : "");
        if (p->tile || p->shape)
            seq_put(w, "%s", p->name);
        else
            seq_put_source(w, c->args[i].text);
    }
    seq_put(w, ");\n");
}

/* Scalars that are no locals of the class, in front of a body. */
static void put_scalars(seq_writer *w, const seq_call *c)
{
    const seq_kernel *k = c->kernel;
    put_temps(w, c);
    for (size_t i = 0; i < k->n_params; i++) {
        if (k->params[i].tile || place_of(w->f, c, i) != SCALAR_BODY)
            continue;
        seq_put(w, "    ");
        seq_put_source(w, k->params[i].type);
        seq_put(w, " %s = ", k->params[i].name);
        seq_put_source(w, c->args[i].text);
        seq_put(w, ";\n");
    }
}

static void put_text(seq_writer *w, src_range body)
{
    if (seq_blank(w->f->sources, body))
        return;
    seq_put_source(w, seq_trimmed(w->f->sources, body));
    seq_put(w, "\n");
}

void seq_put_body(seq_writer *w, const seq_call *c)
{
    const seq_kernel *k = c->kernel;
    seq_put(w, "BODY\n");
    if (w->f->checked)
        seq_put_enter(w, c);
    put_scalars(w, c);
    if (is_declared_only(k))
        put_call(w, c);
    else
        put_text(w, k->body);
    if (w->f->checked)
        seq_put_leave(w);
    seq_put(w, "END\n");
    for (size_t i = 0; i < k->n_variants && !w->f->checked; i++) {
        seq_put(w, "BODY [type = ");
        seq_put_source(w, k->variants[i].kind);
        seq_put(w, "]\n");
        put_scalars(w, c);
        put_text(w, k->variants[i].body);
        seq_put(w, "END\n");
    }
}
