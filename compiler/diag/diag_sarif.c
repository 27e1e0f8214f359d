/* SARIF 2.1.0, the form in which editors and services take what checkers find. */
#include "diag_print.h"

#include <string.h>

void diag_sarif_begin(FILE *out)
{
    fputs("{\"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\", "
          "\"version\": \"2.1.0\", \"runs\": [{\"tool\": {\"driver\": {\"name\": \"dagcc\"}}, "
          "\"columnKind\": \"unicodeCodePoints\", \"results\": [", out);
}

void diag_sarif_end(FILE *out)
{
    fputs("]}]}\n", out);
}

/* The column of a byte counted in characters. */
static unsigned character(const src_set *sources, uint32_t file, src_pos pos)
{
    size_t len;
    const char *line = src_line(sources, file, pos.line, &len);
    unsigned col = 1;
    for (size_t i = 0; i + 1 < pos.col; i++)
        col += i >= len || ((unsigned char)line[i] & 0xc0) != 0x80;
    return col;
}

static diag_region region_of(const src_set *sources, src_range where, diag_place place)
{
    if (place.line)
        return (diag_region){place.file, place.line, place.col, place.line, place.col};
    if (src_range_is_none(where))
        return (diag_region){0};
    src_pos begin = src_begin(sources, where);
    src_pos end = src_pos_of(sources, where.file, where.end);
    return (diag_region){src_name(sources, where.file), begin.line,
                         character(sources, where.file, begin), end.line,
                         character(sources, where.file, end)};
}

/* A relative reference: whatever a URI keeps for itself is escaped. */
static void put_uri(const char *name, FILE *out)
{
    putc('"', out);
    for (const unsigned char *p = (const unsigned char *)name; *p; p++) {
        bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                     (*p >= '0' && *p <= '9') || strchr("-._~/", *p);
        fprintf(out, plain ? "%c" : "%%%02X", *p);
    }
    putc('"', out);
}

static void put_region(const diag_region *r, const char *name, FILE *out)
{
    fprintf(out, "\"%s\": {\"startLine\": %u", name, r->line);
    if (r->col)
        fprintf(out, ", \"startColumn\": %u, \"endLine\": %u, \"endColumn\": %u", r->col,
                r->end_line, r->end_col);
    putc('}', out);
}

static void put_physical(const diag_region *r, FILE *out)
{
    fputs("\"physicalLocation\": {\"artifactLocation\": {\"uri\": ", out);
    put_uri(r->file, out);
    fputs("}, ", out);
    put_region(r, "region", out);
    putc('}', out);
}

static void put_message(const char *str, FILE *out)
{
    fputs("\"message\": {\"text\": ", out);
    diag_json_string(str, out);
    putc('}', out);
}

/* One way to mend the report. */
static void put_fix(const src_set *sources, const diag_extra *fixits, const char *why, bool first,
                    FILE *out)
{
    fputs(first ? "{" : ", {", out);
    fputs("\"description\": {\"text\": ", out);
    diag_json_string(why, out);
    fputs("}, \"artifactChanges\": [{\"artifactLocation\": {\"uri\": ", out);
    put_uri(src_name(sources, fixits->where.file), out);
    fputs("}, \"replacements\": [", out);
    for (const diag_extra *f = fixits; f; f = f->next) {
        diag_region r = region_of(sources, f->where, (diag_place){0});
        fputs(f == fixits ? "{" : ", {", out);
        put_region(&r, "deletedRegion", out);
        fputs(", \"insertedContent\": {\"text\": ", out);
        diag_json_string(f->text, out);
        fputs("}}", out);
    }
    fputs("]}]}", out);
}

static void put_fixes(const src_set *sources, const diag_message *m, FILE *out)
{
    bool first = true;
    if (m->fixits) {
        fputs(", \"fixes\": [", out);
        put_fix(sources, m->fixits, m->message, true, out);
        first = false;
    }
    for (const diag_extra *n = m->notes; n; n = n->next) {
        if (!n->fixits)
            continue;
        fputs(first ? ", \"fixes\": [" : "", out);
        put_fix(sources, n->fixits, n->text, first, out);
        first = false;
    }
    fputs(first ? "" : "]", out);
}

static void put_notes(const src_set *sources, const diag_message *m, FILE *out)
{
    fputs(m->notes ? ", \"relatedLocations\": [" : "", out);
    for (const diag_extra *n = m->notes; n; n = n->next) {
        diag_region r = region_of(sources, n->where, n->place);
        fputs(n == m->notes ? "{" : ", {", out);
        put_message(n->text, out);
        if (r.file) {
            fputs(", ", out);
            put_physical(&r, out);
        }
        putc('}', out);
    }
    fputs(m->notes ? "]" : "", out);
}

void diag_print_sarif(const src_set *sources, const diag_message *m, bool first, FILE *out)
{
    diag_region r = region_of(sources, m->where, m->place);
    fputs(first ? "\n{" : ",\n{", out);
    if (m->check || m->option) {
        fputs("\"ruleId\": ", out);
        diag_json_string(m->check ? m->check->name : m->option, out);
        fputs(", ", out);
    }
    fprintf(out, "\"level\": \"%s\", ", diag_severity_name(m->severity));
    put_message(m->message, out);
    if (r.file) {
        fputs(", \"locations\": [{", out);
        put_physical(&r, out);
        fputs("}]", out);
    }
    put_notes(sources, m, out);
    put_fixes(sources, m, out);
    putc('}', out);
}
