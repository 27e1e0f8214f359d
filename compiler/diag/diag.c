#include "diag.h"

#include "diag_print.h"

#include <stdlib.h>
#include <string.h>

/* What options and reports did to one check. */
typedef struct check_state {
    const diag_check *check;
    bool enabled, disabled, as_error, not_error;    /* options seen; later ones clear earlier */
    unsigned errors, reports;
} check_state;

struct diag {
    const src_set *sources;
    diag_dialect dialect;
    diag_format format;
    diag_color color;
    bool werror;
    unsigned max_errors;

    check_state *checks;
    size_t n_checks;

    arena *arena;
    diag_message **messages;        /* collected since the last flush */
    size_t n_messages, cap_messages;
    diag_message *last;             /* takes notes and fix-its; NULL: they are dropped */
    unsigned errors, warnings;
    bool told_full;
    bool open;                      /* the array of a form for tools has begun */
};

diag *diag_new(const src_set *sources, diag_dialect dialect)
{
    diag *d = util_alloc(sizeof(*d));
    d->sources = sources;
    d->dialect = dialect;
    d->max_errors = 20;
    d->arena = arena_new();
    return d;
}

void diag_free(diag *d)
{
    if (!d)
        return;
    arena_free(d->arena);
    free(d->messages);
    free(d->checks);
    free(d);
}

void diag_register(diag *d, const diag_check *checks, size_t count)
{
    d->checks = util_realloc(d->checks, (d->n_checks + count) * sizeof(*d->checks));
    for (size_t i = 0; i < count; i++)
        d->checks[d->n_checks++] = (check_state){.check = &checks[i]};
}

size_t diag_check_count(const diag *d)
{
    return d->n_checks;
}

const diag_check *diag_check_at(const diag *d, size_t i)
{
    return d->checks[i].check;
}

static check_state *find_state(const diag *d, const char *name)
{
    for (size_t i = 0; i < d->n_checks; i++)
        if (strcmp(d->checks[i].check->name, name) == 0)
            return &d->checks[i];
    return NULL;
}

const diag_check *diag_find(const diag *d, const char *name)
{
    const check_state *s = find_state(d, name);
    return s ? s->check : NULL;
}

diag_dialect diag_get_dialect(const diag *d)
{
    return d->dialect;
}

void diag_set_dialect(diag *d, diag_dialect dialect)
{
    d->dialect = dialect;
}

void diag_set_format(diag *d, diag_format format)
{
    d->format = format;
}

void diag_set_color(diag *d, diag_color color)
{
    d->color = color;
}

void diag_set_max_errors(diag *d, unsigned max)
{
    d->max_errors = max;
}

void diag_set_werror(diag *d, bool on)
{
    d->werror = on;
}

bool diag_apply(diag *d, diag_option option, const char *name)
{
    check_state *s = find_state(d, name);
    if (!s)
        return false;
    switch (option) {
    case DIAG_OPT_ENABLE:
        s->enabled = true, s->disabled = false;
        break;
    case DIAG_OPT_DISABLE:
        s->disabled = true, s->enabled = s->as_error = false;
        break;
    case DIAG_OPT_ERROR:
        s->enabled = s->as_error = true, s->disabled = s->not_error = false;
        break;
    case DIAG_OPT_NO_ERROR:
        s->not_error = true, s->as_error = false;
        break;
    }
    return true;
}

static diag_severity default_severity(const diag *d, const diag_check *check)
{
    return d->dialect == DIALECT_DAG ? check->dag : check->parsec;
}

/* What options make of the severity `sev`. */
static diag_severity state_severity(const diag *d, const check_state *s, diag_severity sev)
{
    if (sev == DIAG_FATAL)
        return sev;
    if (s->disabled)
        return DIAG_OFF;
    if ((sev == DIAG_OFF || sev == DIAG_NOTE) && s->enabled)
        sev = DIAG_WARNING;
    if (sev == DIAG_ERROR && s->not_error)
        sev = DIAG_WARNING;
    if (sev == DIAG_WARNING && (s->as_error || (d->werror && !s->not_error)))
        sev = DIAG_ERROR;
    return sev;
}

static check_state *state_of(const diag *d, const diag_check *check)
{
    for (size_t i = 0; i < d->n_checks; i++)
        if (d->checks[i].check == check)
            return &d->checks[i];
    return NULL;
}

diag_severity diag_severity_of(const diag *d, const diag_check *check)
{
    const check_state *s = state_of(d, check);
    return s ? state_severity(d, s, default_severity(d, check)) : DIAG_OFF;
}

static void collect(diag *d, diag_message *m)
{
    UTIL_ROOM(d->messages, d->n_messages, d->cap_messages);
    d->messages[d->n_messages++] = m;
}

/* More errors than the cap were reported: stop looking for more. */
static bool diag_full(const diag *d)
{
    return d->max_errors && d->errors > d->max_errors;
}

/* Counts and keeps a message, unless there were too many errors. */
static void record(diag *d, const diag_check *check, diag_severity sev, src_range where,
                   const char *fmt, va_list ap)
{
    d->last = NULL;
    d->warnings += sev == DIAG_WARNING;
    d->errors += sev == DIAG_ERROR || sev == DIAG_FATAL;
    if (diag_full(d))
        return;
    diag_message *m = arena_alloc(d->arena, sizeof(*m));
    m->check = check;
    m->severity = sev;
    m->where = where;
    m->message = arena_vprintf(d->arena, fmt, ap);
    m->seq = d->n_messages;
    collect(d, m);
    d->last = m;
}

diag_severity diag_vreport(diag *d, const diag_check *check, src_range where, const char *fmt,
                           va_list ap)
{
    return diag_vreport_as(d, check, default_severity(d, check), where, fmt, ap);
}

diag_severity diag_vreport_as(diag *d, const diag_check *check, diag_severity base,
                              src_range where, const char *fmt, va_list ap)
{
    d->last = NULL;
    check_state *s = state_of(d, check);
    diag_severity sev = s ? state_severity(d, s, base) : DIAG_OFF;
    if (sev == DIAG_OFF)
        return sev;
    s->reports++;
    s->errors += sev == DIAG_ERROR || sev == DIAG_FATAL;
    record(d, check, sev, where, fmt, ap);
    return sev;
}

void diag_report_plain(diag *d, diag_severity severity, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    record(d, NULL, severity, (src_range){0}, fmt, ap);
    va_end(ap);
}

diag_severity diag_report(diag *d, const diag_check *check, src_range where, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    diag_severity sev = diag_vreport(d, check, where, fmt, ap);
    va_end(ap);
    return sev;
}

static diag_extra *append_extra(diag *d, diag_extra **list, src_range where, const char *str)
{
    while (*list)
        list = &(*list)->next;
    *list = arena_alloc(d->arena, sizeof(**list));
    **list = (diag_extra){.where = where, .text = str};
    return *list;
}

void diag_note(diag *d, src_range where, const char *fmt, ...)
{
    if (!d->last)
        return;
    va_list ap;
    va_start(ap, fmt);
    append_extra(d, &d->last->notes, where, arena_vprintf(d->arena, fmt, ap));
    va_end(ap);
}

void diag_fixit(diag *d, src_range where, const char *replacement)
{
    if (d->last && !src_is_view(d->sources, where.file))
        append_extra(d, &d->last->fixits, where,
                     arena_strndup(d->arena, replacement, strlen(replacement)));
}

void diag_note_fixit(diag *d, src_range where, const char *replacement)
{
    diag_extra *note = d->last ? d->last->notes : NULL;
    while (note && note->next)
        note = note->next;
    if (note && !src_is_view(d->sources, where.file))
        append_extra(d, &note->fixits, where,
                     arena_strndup(d->arena, replacement, strlen(replacement)));
}

/* ---- kept messages ------------------------------------------------------------------------- */

size_t diag_mark(const diag *d)
{
    return d->n_messages;
}

void diag_forget(diag *d, size_t mark)
{
    while (d->n_messages > mark) {
        const diag_message *m = d->messages[--d->n_messages];
        d->warnings -= m->severity == DIAG_WARNING;
        if (m->check)
            state_of(d, m->check)->reports--;
    }
    d->last = NULL;
}

const diag_message *diag_message_at(const diag *d, size_t i)
{
    return diag_full(d) || i >= d->n_messages ? NULL : d->messages[i];
}

const src_set *diag_sources(const diag *d)
{
    return d->sources;
}

void diag_report_again(diag *d, const diag_check *check, diag_severity severity, src_range where,
                       const char *message)
{
    check_state *s = state_of(d, check);
    s->reports++;
    s->errors += severity >= DIAG_ERROR;
    diag_report_plain(d, severity, "%s", message);
    if (d->last) {
        d->last->check = check;
        d->last->where = where;
    }
}

/* ---- other tools --------------------------------------------------------------------------- */

static diag_place own_place(diag *d, diag_place at)
{
    at.file = at.line ? arena_strndup(d->arena, at.file, strlen(at.file)) : NULL;
    return at;
}

void diag_report_foreign(diag *d, diag_severity severity, diag_place at, const char *option,
                         const char *message)
{
    diag_report_plain(d, severity, "%s", message);
    if (!d->last)
        return;
    d->last->place = own_place(d, at);
    d->last->option = option ? arena_strndup(d->arena, option, strlen(option)) : NULL;
}

void diag_note_foreign(diag *d, diag_place at, const char *message)
{
    if (d->last)
        append_extra(d, &d->last->notes, (src_range){0},
                     arena_strndup(d->arena, message, strlen(message)))->place = own_place(d, at);
}

/* ---- corrections --------------------------------------------------------------------------- */

void diag_mend(const diag *d, uint32_t file, text *out)
{
    diag_mend_messages(d->sources, d->messages, d->n_messages, file, out);
}

/* ---- counts and output --------------------------------------------------------------------- */

unsigned diag_errors(const diag *d)
{
    return d->errors;
}

unsigned diag_warnings(const diag *d)
{
    return d->warnings;
}

unsigned diag_errors_of(const diag *d, const diag_check *check)
{
    const check_state *s = state_of(d, check);
    return s ? s->errors : 0;
}

unsigned diag_reports_of(const diag *d, const diag_check *check)
{
    const check_state *s = state_of(d, check);
    return s ? s->reports : 0;
}

static int compare_messages(const void *a, const void *b)
{
    const diag_message *x = *(diag_message *const *)a, *y = *(diag_message *const *)b;
    if (x->where.file != y->where.file)
        return x->where.file < y->where.file ? -1 : 1;
    if (x->where.begin != y->where.begin)
        return x->where.begin < y->where.begin ? -1 : 1;
    return x->seq < y->seq ? -1 : 1;
}

static bool same_message(const diag_message *a, const diag_message *b)
{
    return a->check == b->check && a->where.file == b->where.file &&
           a->where.begin == b->where.begin && a->where.end == b->where.end &&
           a->place.line == b->place.line && a->place.col == b->place.col &&
           strcmp(a->message, b->message) == 0;
}

static void print_message(diag *d, const diag_message *m, bool color, FILE *out)
{
    switch (d->format) {
    case DIAG_TEXT:
        diag_print_text(d->sources, m, color, out);
        break;
    case DIAG_JSON:
        fputs(d->open ? ",\n" : "[", out);
        diag_print_json(d->sources, m, out);
        break;
    case DIAG_SARIF:
        if (!d->open)
            diag_sarif_begin(out);
        diag_print_sarif(d->sources, m, !d->open, out);
        break;
    }
    d->open = true;
}

void diag_flush(diag *d, FILE *out)
{
    if (d->n_messages)
        qsort(d->messages, d->n_messages, sizeof(*d->messages), compare_messages);
    bool color = d->color == DIAG_COLOR_ALWAYS ||
                 (d->color == DIAG_COLOR_AUTO && diag_terminal(out));
    for (size_t i = 0; i < d->n_messages; i++)
        if (i == 0 || !same_message(d->messages[i - 1], d->messages[i]))
            print_message(d, d->messages[i], color, out);
    d->n_messages = 0;
    d->last = NULL;
    if (d->format == DIAG_TEXT && diag_full(d) && !d->told_full) {
        fprintf(out, "dagcc: more than %u errors; --max-errors=0 shows all\n", d->max_errors);
        d->told_full = true;
    }
}

void diag_finish(diag *d, FILE *out)
{
    diag_flush(d, out);
    if (d->format == DIAG_JSON)
        fputs(d->open ? "]\n" : "[]\n", out);
    if (d->format == DIAG_SARIF && !d->open)
        diag_sarif_begin(out);
    if (d->format == DIAG_SARIF)
        diag_sarif_end(out);
}
