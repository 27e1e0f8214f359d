#include "diag_print.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *diag_severity_name(diag_severity s)
{
    switch (s) {
    case DIAG_OFF:
        return "off";
    case DIAG_NOTE:
        return "note";
    case DIAG_WARNING:
        return "warning";
    case DIAG_ERROR:
    case DIAG_FATAL:
        break;
    }
    return "error";
}

/* ---- text -------------------------------------------------------------------------------- */

static const char color_error[] = "\033[1;31m", color_warning[] = "\033[1;35m",
                  color_note[] = "\033[1;36m", color_bold[] = "\033[1m",
                  color_fixit[] = "\033[32m", color_off[] = "\033[0m";

bool diag_terminal(FILE *out)
{
    const char *term = getenv("TERM");
    if (getenv("NO_COLOR") || !term || strcmp(term, "dumb") == 0)
        return false;
    return isatty(fileno(out));
}

/* Part of a source line that is shown: all of it unless it is very long. */
typedef struct window {
    const char *text;
    size_t len;
    size_t first;                   /* column offset (0-based) of text in the line */
} window;

enum { WINDOW = 160, WINDOW_BEFORE = 100 };

static window choose_window(const char *line, size_t len, size_t col)
{
    if (len <= WINDOW)
        return (window){line, len, 0};
    size_t first = col > WINDOW_BEFORE ? col - WINDOW_BEFORE : 0;
    if (first > len)
        first = len;
    size_t shown = len - first < WINDOW ? len - first : WINDOW;
    return (window){line + first, shown, first};
}

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* Source bytes as they are, control characters made harmless. */
static void put_source(const window *w, FILE *out)
{
    for (size_t i = 0; i < w->len; i++) {
        unsigned char c = (unsigned char)w->text[i];
        putc(c == '\t' || c >= 0x20 ? (c == 0x7f ? '?' : c) : '?', out);
    }
}

/* Blanks as wide as the first n bytes of the window: tabs stay tabs, so that the columns agree
 * whatever the width of a tab. */
static void put_padding(const window *w, size_t n, FILE *out)
{
    for (size_t i = 0; i < n; i++) {
        if (i < w->len && w->text[i] == '\t')
            putc('\t', out);
        else if (i >= w->len || !is_continuation(w->text[i]))
            putc(' ', out);
    }
}

static void put_carets(const window *w, size_t begin, size_t end, FILE *out)
{
    putc('^', out);
    for (size_t i = begin + 1; i < end && i < w->len; i++)
        if (!is_continuation(w->text[i]))
            putc('~', out);
}

/*   12 | source line
 *      |    ^~~~
 *      |    fix          (where a fix-it lies on this line)                                */
static void put_excerpt(const src_set *sources, src_range where, const diag_extra *fixits,
                        const char *color, FILE *out)
{
    src_pos pos = src_begin(sources, where);
    size_t len;
    const char *line = src_line(sources, where.file, pos.line, &len);
    window w = choose_window(line, len, pos.col - 1);
    size_t begin = pos.col - 1 - w.first;
    size_t end = begin + src_range_len(where);

    fprintf(out, "%5u | ", pos.line);
    put_source(&w, out);
    fputs("\n      | ", out);
    put_padding(&w, begin, out);
    fputs(color, out);
    put_carets(&w, begin, end, out);
    fputs(*color ? color_off : "", out);
    putc('\n', out);
    for (const diag_extra *f = fixits; f; f = f->next) {
        src_pos at = src_begin(sources, f->where);
        if (f->where.file != where.file || at.line != pos.line || at.col - 1 < w.first ||
            strchr(f->text, '\n') || !*f->text)
            continue;
        fputs("      | ", out);
        put_padding(&w, at.col - 1 - w.first, out);
        fprintf(out, "%s%s%s\n", *color ? color_fixit : "", f->text, *color ? color_off : "");
    }
}

/* Where something is: in our text, else where another tool says. */
static void put_place(const src_set *sources, src_range where, const diag_place *other, FILE *out)
{
    if (src_range_is_none(where) && other->line) {
        fprintf(out, "%s:%u:", other->file, other->line);
        fprintf(out, other->col ? "%u: " : " ", other->col);
        return;
    }
    if (src_range_is_none(where)) {
        fputs("dagcc: ", out);
        return;
    }
    src_pos pos = src_begin(sources, where);
    fprintf(out, "%s:%u:%u: ", src_name(sources, where.file), pos.line, pos.col);
}

static void put_note(const src_set *sources, const diag_extra *n, src_range parent, bool color,
                     FILE *out)
{
    bool placed = !src_range_is_none(n->where);
    if (color)
        fputs(color_bold, out);
    put_place(sources, placed ? n->where : parent, &n->place, out);
    fprintf(out, "%snote:%s %s\n", color ? color_note : "", color ? color_off : "", n->text);
    if (placed)
        put_excerpt(sources, n->where, NULL, color ? color_note : "", out);
}

void diag_print_text(const src_set *sources, const diag_message *m, bool color, FILE *out)
{
    const char *paint = m->severity == DIAG_NOTE      ? color_note
                        : m->severity == DIAG_WARNING ? color_warning
                                                      : color_error;
    if (color)
        fputs(color_bold, out);
    put_place(sources, m->where, &m->place, out);
    fprintf(out, "%s%s:%s %s%s%s", color ? paint : "", diag_severity_name(m->severity),
            color ? color_off : "", color ? color_bold : "", m->message, color ? color_off : "");
    if (m->check)
        fprintf(out, " [-W%s]", m->check->name);
    putc('\n', out);
    if (!src_range_is_none(m->where))
        put_excerpt(sources, m->where, m->fixits, color ? paint : "", out);
    for (const diag_extra *n = m->notes; n; n = n->next)
        put_note(sources, n, m->where, color, out);
}

/* ---- JSON, in the schema of gcc -fdiagnostics-format=json ---------------------------------- */

/* Bytes of the UTF-8 character that begins at p; 0 when none does. */
static size_t utf8_length(const unsigned char *p)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = *p < 0x80 ? 1 : *p >> 5 == 6 ? 2 : *p >> 4 == 14 ? 3 : *p >> 3 == 30 ? 4 : 0;
    if (n <= 1)
        return n;
    uint32_t c = *p & (0x7fU >> n);
    for (size_t i = 1; i < n; i++) {
        if (!is_continuation((char)p[i]))
            return 0;
        c = c << 6 | (p[i] & 0x3fU);
    }
    return c < smallest[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : n;
}

/* JSON is UTF-8: any other byte is shown as the text \xNN. */
void diag_json_string(const char *str, FILE *out)
{
    putc('"', out);
    for (const unsigned char *p = (const unsigned char *)str; *p; p++) {
        size_t n = utf8_length(p);
        if (n == 0) {
            fprintf(out, "\\\\x%02x", *p);
        } else if (n > 1) {
            fwrite(p, 1, n, out);
            p += n - 1;
        } else if (*p == '"' || *p == '\\')
            fprintf(out, "\\%c", *p);
        else if (*p == '\n')
            fputs("\\n", out);
        else if (*p == '\t')
            fputs("\\t", out);
        else if (*p < 0x20 || *p == 0x7f)
            fprintf(out, "\\u%04x", *p);
        else
            putc(*p, out);
    }
    putc('"', out);
}

/* Columns: tabs go to the next multiple of eight in display-column, as gcc counts them. */
static unsigned display_column(const src_set *sources, uint32_t file, src_pos pos)
{
    size_t len;
    const char *line = src_line(sources, file, pos.line, &len);
    unsigned col = 0;
    for (size_t i = 0; i + 1 < pos.col; i++) {
        if (i < len && line[i] == '\t')
            col = col / 8 * 8 + 8;
        else if (i >= len || !is_continuation(line[i]))
            col++;
    }
    return col + 1;
}

static void put_json_pos(const src_set *sources, uint32_t file, src_pos pos, FILE *out)
{
    fputs("{\"file\": ", out);
    diag_json_string(src_name(sources, file), out);
    fprintf(out, ", \"line\": %u, \"display-column\": %u, \"byte-column\": %u, \"column\": %u}",
            pos.line, display_column(sources, file, pos), pos.col, pos.col);
}

static void put_json_locations(const src_set *sources, src_range where, diag_place place, FILE *out)
{
    fputs("\"locations\": [", out);
    if (place.line) {
        fputs("{\"caret\": {\"file\": ", out);
        diag_json_string(place.file, out);
        fprintf(out, ", \"line\": %u, \"display-column\": %u, \"byte-column\": %u, "
                "\"column\": %u}}", place.line, place.col, place.col, place.col);
    } else if (!src_range_is_none(where)) {
        fputs("{\"caret\": ", out);
        put_json_pos(sources, where.file, src_begin(sources, where), out);
        if (src_range_len(where) > 1) {
            fputs(", \"finish\": ", out);
            put_json_pos(sources, where.file, src_last(sources, where), out);
        }
        putc('}', out);
    }
    putc(']', out);
}

static void put_json_fixits(const src_set *sources, const diag_extra *fixits, FILE *out)
{
    if (!fixits)
        return;
    fputs(", \"fixits\": [", out);
    for (const diag_extra *f = fixits; f; f = f->next) {
        fputs(f == fixits ? "{\"start\": " : ", {\"start\": ", out);
        put_json_pos(sources, f->where.file, src_begin(sources, f->where), out);
        fputs(", \"next\": ", out);
        put_json_pos(sources, f->where.file,
                     src_pos_of(sources, f->where.file, f->where.end), out);
        fputs(", \"string\": ", out);
        diag_json_string(f->text, out);
        putc('}', out);
    }
    putc(']', out);
}

void diag_print_json(const src_set *sources, const diag_message *m, FILE *out)
{
    fprintf(out, "{\"kind\": \"%s\", \"message\": ", diag_severity_name(m->severity));
    diag_json_string(m->message, out);
    if (m->check)
        fprintf(out, ", \"option\": \"-W%s\"", m->check->name);
    if (m->option) {
        fputs(", \"option\": ", out);
        diag_json_string(m->option, out);
    }
    fputs(", \"column-origin\": 1, \"escape-source\": false, ", out);
    put_json_locations(sources, m->where, m->place, out);
    put_json_fixits(sources, m->fixits, out);
    fputs(", \"children\": [", out);
    for (const diag_extra *n = m->notes; n; n = n->next) {
        fputs(n == m->notes ? "" : ", ", out);
        fputs("{\"kind\": \"note\", \"message\": ", out);
        diag_json_string(n->text, out);
        fputs(", \"column-origin\": 1, \"escape-source\": false, ", out);
        bool placed = n->place.line || !src_range_is_none(n->where);
        put_json_locations(sources, placed ? n->where : m->where, placed ? n->place : m->place, out);
        put_json_fixits(sources, n->fixits, out);
        putc('}', out);
    }
    fputs("]}", out);
}
