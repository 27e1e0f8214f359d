/* The command that checks by enumeration what cannot be proven, and what was given up. */
#include "report.h"
#include "values.h"

#include <ctype.h>
#include <string.h>

/* Must a value be given, unless N stands for all? */
static bool needs_value(const poly_param *p)
{
    static const char *const derived[] = {"m", "n", "lm", "ln", "mb", "nb", "p", "q"};
    if (!p->field)
        return !p->root->init;
    if (p->ranks)
        return false;
    for (size_t i = 0; i < UTIL_COUNT(derived); i++)
        if (strcmp(p->field, derived[i]) == 0)
            return false;
    return !p->aside;
}

/* Values by which all parameters are `value`, or what w says. */
static void put_values(const verify_model *m, const verify_witness *w, int64_t value, text *out)
{
    bool one_for_all = lift_find_param(&m->poly, "N") < 0 && !w;
    if (one_for_all)
        text_printf(out, "N=%lld", (long long)value);
    for (size_t i = 0; i < m->poly.n_params && !one_for_all; i++) {
        bool known = w && w->shown[i];
        if (needs_value(&m->poly.params[i]) || known)
            text_printf(out, "%s%s=%lld", out->len ? "," : "", m->poly.params[i].name,
                        (long long)(known ? w->params[i] : value));
    }
}

/* Values for which all assumptions hold: the least, none of those that are to be given below a few. */
static bool find_sample(verify_model *m, verify_witness *w)
{
    for (int least = 4; least >= 0; least--) {
        isl_set *facts = isl_set_copy(m->facts);
        for (size_t i = 0; least > 0 && i < m->poly.n_params; i++)
            if (needs_value(&m->poly.params[i]))
                facts = isl_set_lower_bound_si(facts, isl_dim_param, (unsigned)i, least);
        verify_begin(m);
        if (verify_smallest(m, isl_set_from_params(facts), w))
            return true;
    }
    return false;
}

static void put_sample(verify_model *m, text *out)
{
    static const int64_t tries[] = {4, 5, 6, 3, 8, 2, 7, 1, 10, 12, 16, 20, 32, 64, 100};
    verify_values v;
    verify_witness w;
    for (size_t i = 0; i < UTIL_COUNT(tries); i++) {
        text list = {0};
        put_values(m, NULL, tries[i], &list);
        bool holds = verify_try_values(m, text_str(&list), &v);
        if (holds)
            text_puts(out, text_str(&list));
        text_free(&list);
        if (holds)
            return;
    }
    bool found = find_sample(m, &w);
    put_values(m, found ? &w : NULL, tries[0], out);
}

/* The word as a shell reads it. */
static void put_word(text *out, const char *word)
{
    bool plain = *word != '\0';
    for (const char *at = word; *at; at++)
        plain = plain && (isalnum((unsigned char)*at) || strchr("_./,=+-:@%", *at));
    if (plain) {
        text_puts(out, word);
    } else if (!strpbrk(word, "\"$`\\!")) {
        text_printf(out, "\"%s\"", word);
    } else {
        text_putc(out, '\'');
        for (; *word; word++)
            *word == '\'' ? text_puts(out, "'\\''") : text_putc(out, *word);
        text_putc(out, '\'');
    }
}

const char *verify_command(verify_model *m)
{
    if (m->command)
        return m->command;
    text t = {0}, values = {0};
    const char *const *again = m->options ? m->options->again : NULL;
    text_puts(&t, "dagcc");
    for (; again && *again; again++) {
        text_putc(&t, ' ');
        put_word(&t, *again);
    }
    text_puts(&t, " --enumerate ");
    put_sample(m, &values);
    put_word(&t, text_str(&values));
    text_putc(&t, ' ');
    put_word(&t, src_name(m->file->sources, m->file->file));
    text_free(&values);
    return m->command = text_take(&t, m->arena);
}

void verify_report_doubts(verify_model *m)
{
    enum { MORE = 16 };
    const verify_doubts *d = m->doubts;
    text more = {0};
    if (d->n > 1)
        text_printf(&more, ", and %zu more questions", d->n - 1);
    if (d->n > 0) {
        diag_report(m->d, verify_check(m, "undecided"), d->where,
                    "could not decide %s%s for all sizes within the bound on operations", d->what,
                    text_str(&more));
        diag_note(m->d, (src_range){0}, "'--max-operations=%lu' goes on; '%s' checks small sizes",
                  MORE * m->operations.most, verify_command(m));
    }
    text_free(&more);
}
