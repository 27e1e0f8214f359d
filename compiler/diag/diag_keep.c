/* Messages as text, to be reported again without what found them.
 *
 *   M SEVERITY CHECK PLACE LENGTH     N PLACE LENGTH     F PLACE LENGTH
 *   text                              text               text
 *
 * a message, a note on it, a correction of what stands before it. A place is a file, counted from
 * that of the graph, and a range of bytes; "-" is none.
 */
#include "diag_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void put_place(text *out, uint32_t file, src_range where)
{
    if (src_range_is_none(where))
        text_puts(out, "- 0 0");
    else
        text_printf(out, "%u %u %u", where.file - file, where.begin, where.end);
}

static void put_text(text *out, const char *str)
{
    text_printf(out, " %zu\n%s\n", strlen(str), str);
}

static void put_extra(text *out, uint32_t file, const diag_extra *x, char kind)
{
    for (; x; x = x->next) {
        text_printf(out, "%c ", kind);
        put_place(out, file, x->where);
        put_text(out, x->text);
        put_extra(out, file, x->fixits, 'F');
    }
}

static void put_message(text *out, uint32_t file, const diag_message *m)
{
    text_printf(out, "M %d %s ", (int)m->severity, m->check->name);
    put_place(out, file, m->where);
    put_text(out, m->message);
    put_extra(out, file, m->fixits, 'F');
    put_extra(out, file, m->notes, 'N');
}

static bool is_about(src_range where, uint32_t file)
{
    return src_range_is_none(where) || (where.file >= file && where.file < file + 2);
}

bool diag_save(const diag *d, uint32_t file, size_t mark, text *out)
{
    bool ok = true;
    for (size_t i = mark; i < diag_mark(d) && ok; i++) {
        const diag_message *m = diag_message_at(d, i);
        ok = m && m->check && !m->place.line && is_about(m->where, file);
        for (const diag_extra *n = m->notes; n && ok; n = n->next)
            ok = is_about(n->where, file);
        if (ok)
            put_message(out, file, m);
    }
    return ok;
}

/* ---- reading ---------------------------------------------------------------------------------- */

static bool read_number(const char **at, size_t *n)
{
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    *n = strtoull(*at, &end, 10);
    *at = end + (*end == ' ');
    return true;
}

static bool read_place(const char **at, const src_set *sources, uint32_t file, src_range *where)
{
    size_t n[3] = {0, 0, 0};
    bool none = **at == '-';
    if (none)
        *at += 2;
    for (size_t i = none; i < 3; i++)
        if (!read_number(at, &n[i]))
            return false;
    *where = none ? (src_range){0} : (src_range){file + (uint32_t)n[0], (uint32_t)n[1],
                                                 (uint32_t)n[2]};
    return none || (n[0] < 2 && src_knows(sources, where->file) && n[1] <= n[2] &&
                    n[2] <= src_len(sources, where->file));
}

/* The text, to be freed. */
static char *read_text(const char **at)
{
    size_t n;
    if (!read_number(at, &n) || **at != '\n' || strnlen(*at + 1, n + 1) != n + 1 ||
        (*at)[n + 1] != '\n')
        return NULL;
    char *str = util_alloc(n + 1);
    memcpy(str, *at + 1, n);
    *at += n + 2;
    return str;
}

/* The head of a message: its check and severity. */
static bool read_head(const char **at, diag *d, const diag_check **check, diag_severity *severity)
{
    size_t n;
    if (!read_number(at, &n) || n > DIAG_FATAL)
        return false;
    size_t len = strcspn(*at, " \n");
    char *name = util_alloc(len + 1);
    memcpy(name, *at, len);
    *check = diag_find(d, name);
    free(name);
    *severity = (diag_severity)n;
    *at += len + ((*at)[len] == ' ');
    return *check != NULL;
}

static bool read_one(const char **at, diag *d, const src_set *sources, uint32_t file, bool report,
                     bool *on_note)
{
    char kind = **at;
    const diag_check *check = NULL;
    diag_severity severity = DIAG_OFF;
    src_range where;
    if (!strchr("MNF", kind) || (*at)[1] != ' ')
        return false;
    *at += 2;
    if ((kind == 'M' && !read_head(at, d, &check, &severity)) ||
        !read_place(at, sources, file, &where))
        return false;
    char *str = read_text(at);
    if (!str)
        return false;
    if (report && kind == 'M')
        diag_report_again(d, check, severity, where, str);
    else if (report && kind == 'N')
        diag_note(d, where, "%s", str);
    else if (report)
        (*on_note ? diag_note_fixit : diag_fixit)(d, where, str);
    *on_note = kind == 'N' || (kind == 'F' && *on_note);
    free(str);
    return true;
}

bool diag_load(diag *d, uint32_t file, const char *kept)
{
    const src_set *sources = diag_sources(d);
    /* All of it is read before anything is reported. */
    for (int report = 0; report < 2; report++) {
        bool on_note = false;
        for (const char *at = kept; *at;)
            if (!read_one(&at, d, sources, file, report, &on_note))
                return false;
    }
    return true;
}
