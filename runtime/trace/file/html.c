/*
 * A trace as one page of HTML. page.html is the page; where it says DATA stand the tables as JSON
 * and, per row, the events as base64 of numbers in 7-bit groups, mostly differences to the one
 * before: some 15 bytes per task.
 */
#define _GNU_SOURCE /* memmem, open_memstream */
#include "model.h"

#include "../../base/room.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const unsigned char page[] = {
#include "page.inc"
};

/* ---- text --------------------------------------------------------------------------------- */

static void put_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20 || c == '<') /* "</script>" must not appear */
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

/* ---- bytes -------------------------------------------------------------------------------- */

/* Numbers on their way into base64. */
typedef struct bytes {
    unsigned char *data;
    size_t used, capacity;
    bool failed;
} bytes;

static void put_byte(bytes *b, unsigned byte)
{
    if (b->failed || !DAGI_ROOM(b->data, b->used, b->capacity, 1 << 16))
        b->failed = true;
    else
        b->data[b->used++] = (unsigned char)byte;
}

static void put_number(bytes *b, uint64_t n)
{
    for (; n >= 128; n >>= 7)
        put_byte(b, (unsigned)(n & 127) | 128);
    put_byte(b, (unsigned)n);
}

/* JavaScript's numbers hold 53 bits; nothing here needs more. */
static void put_signed(bytes *b, int64_t n)
{
    const int64_t most = INT64_C(1) << 51;
    n = n > most ? most : n < -most ? -most : n;
    put_number(b, n < 0 ? ((uint64_t)-n << 1) - 1 : (uint64_t)n << 1);
}

static void put_base64(FILE *out, const bytes *b)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char line[4096];
    size_t used = 0;
    for (size_t i = 0; i < b->used; i += 3) {
        size_t n = b->used - i;
        unsigned x = (unsigned)b->data[i] << 16 | (n > 1 ? (unsigned)b->data[i + 1] << 8 : 0) |
                     (n > 2 ? b->data[i + 2] : 0u);
        line[used++] = digit[x >> 18];
        line[used++] = digit[x >> 12 & 63];
        line[used++] = n > 1 ? digit[x >> 6 & 63] : '=';
        line[used++] = n > 2 ? digit[x & 63] : '=';
        if (used == sizeof line || n <= 3) {
            fwrite(line, 1, used, out);
            used = 0;
        }
    }
}

/* ---- classes ------------------------------------------------------------------------------ */

/* Classes of the page: those of all ranks, told apart by name and file. */
typedef struct page_class {
    const dagt_class *cls;
    const char *file;
} page_class;

typedef struct page_classes {
    page_class *list;
    int n;
    int **first; /* [rank][program]: of its first class, as the programs list them */
} page_classes;

static int find_program(const page_classes *p, const dagt_program *program)
{
    for (int i = 0; i + program->nclasses <= p->n; i++) {
        int same = program->nclasses > 0;
        for (int c = 0; c < program->nclasses && same; c++)
            same = strcmp(p->list[i + c].file, program->file) == 0 &&
                   strcmp(p->list[i + c].cls->name, program->classes[c].name) == 0;
        if (same)
            return i;
    }
    return -1;
}

static bool add_program(page_classes *p, const dagt_program *program, int *first)
{
    *first = find_program(p, program);
    if (*first >= 0)
        return true;
    *first = p->n;
    size_t n = (size_t)(p->n + program->nclasses) + 1;
    page_class *grown = realloc(p->list, n * sizeof *grown);
    if (!grown)
        return false;
    p->list = grown;
    for (int c = 0; c < program->nclasses; c++)
        p->list[p->n++] = (page_class){&program->classes[c], program->file};
    return true;
}

static void free_classes(const dagt_trace *t, page_classes *p)
{
    for (int r = 0; p->first && r < t->nranks; r++)
        free(p->first[r]);
    free(p->first);
    free(p->list);
}

static bool collect_classes(const dagt_trace *t, page_classes *p)
{
    static char nameless[] = "?";
    static const dagt_class unknown = {.name = nameless};
    p->first = calloc((size_t)t->nranks, sizeof(int *));
    p->list = malloc(sizeof *p->list);
    if (!p->first || !p->list)
        return false;
    p->list[p->n++] = (page_class){&unknown, "?"}; /* number 0 */
    for (int r = 0; r < t->nranks; r++) {
        const dagt_rank *rank = &t->ranks[r];
        p->first[r] = calloc((size_t)rank->nprograms + 1, sizeof(int));
        for (int i = 0; p->first[r] && i < rank->nprograms; i++)
            if (!add_program(p, &rank->programs[i], &p->first[r][i]))
                return false;
        if (!p->first[r])
            return false;
    }
    return p->n < 1 << 16;
}

static int class_number(const page_classes *p, const dagt_rank *rank, int r, const dagt_task *task)
{
    if (!dagt_class_of(rank, task))
        return 0;
    return p->first[r][dagt_pool_of(rank, task->pool)->program] + task->cls;
}

/* ---- rows --------------------------------------------------------------------------------- */

static size_t put_tasks(bytes *b, const page_classes *p, const dagt_rank *rank, int r,
                        const dagt_track *t)
{
    int32_t last[256] = {0};
    int64_t time = 0, priority = 0, pool = 0;
    size_t nparams = 0;
    for (size_t i = 0; i < t->ntasks; i++) {
        const dagt_task *task = &t->tasks[i];
        int c = class_number(p, rank, r, task), n = p->list[c].cls->nparams;
        put_number(b, (uint64_t)c << 1 | task->critical);
        put_signed(b, task->begin - time);
        put_number(b, (uint64_t)(task->end - task->begin));
        put_number(b, task->begin > task->ready ? (uint64_t)(task->begin - task->ready) : 0);
        put_signed(b, (int64_t)task->pool - pool);
        put_signed(b, (int64_t)((uint64_t)task->priority - (uint64_t)priority));
        for (int k = 0; k < n; k++) {
            int32_t value = t->params[task->params + (uint32_t)k];
            put_signed(b, (int64_t)value - last[k & 255]);
            last[k & 255] = value;
        }
        nparams += (size_t)n;
        time = task->end;
        pool = task->pool;
        priority = task->priority;
    }
    return nparams;
}

static void put_spans(bytes *b, const dagt_track *t)
{
    int64_t time = 0;
    for (size_t i = 0; i < t->nspans; i++) {
        const dagt_span *s = &t->spans[i];
        put_number(b, s->kind == DAGT_COMM      ? 16u
                      : s->kind == DAGT_OUTSIDE ? 17u
                      : s->kind == DAGT_DRIVE   ? 18u
                                                : (unsigned)(s->cause | s->asleep << 3));
        put_signed(b, s->begin - time);
        put_number(b, s->end > s->begin ? (uint64_t)(s->end - s->begin) : 0);
        time = s->end;
    }
}

static int by_begin(const void *a, const void *b)
{
    const dagt_flight *const *x = a, *const *y = b;
    return ((*x)->begin > (*y)->begin) - ((*x)->begin < (*y)->begin);
}

static size_t put_flights(bytes *b, const dagt_track *t, int out, uint32_t peer)
{
    size_t n = 0;
    const dagt_flight **list = malloc((t->nflights + 1) * sizeof(dagt_flight *));
    if (!list) {
        b->failed = true;
        return 0;
    }
    for (size_t i = 0; i < t->nflights; i++)
        if (t->kind == DAGT_TRACK_COPIES ||
            (t->flights[i].out == out && t->flights[i].peer == peer))
            list[n++] = &t->flights[i];
    qsort(list, n, sizeof(dagt_flight *), by_begin);
    int64_t time = 0;
    for (size_t i = 0; i < n; i++) {
        const dagt_flight *f = list[i];
        put_number(b, (uint64_t)f->critical << 1 | (f->message != 0));
        put_signed(b, f->begin - time);
        put_number(b, f->end > f->begin ? (uint64_t)(f->end - f->begin) : 0);
        put_number(b, f->bytes);
        time = f->begin;
    }
    free(list);
    return n;
}

/* The events of all rows are written first, each into an element of its own; what is known of the
 * rows then, into the table. */
typedef struct row_writer {
    FILE *out, *table; /* table: in memory */
    bytes b;
    int n;
} row_writer;

static void begin_row(row_writer *rows)
{
    rows->b.used = 0;
}

__attribute__((format(printf, 2, 3))) static void end_row(row_writer *rows, const char *format, ...)
{
    va_list args;
    fprintf(rows->out, "<script type=\"text/plain\" id=\"row%d\">", rows->n);
    put_base64(rows->out, &rows->b);
    fputs("</script>\n", rows->out);
    fputs(rows->n++ ? ",\n{" : "\n{", rows->table);
    va_start(args, format);
    vfprintf(rows->table, format, args);
    va_end(args);
    fputs("}", rows->table);
}

static void put_task_row(row_writer *rows, const page_classes *p, const dagt_trace *t, int r,
                         const dagt_track *track)
{
    char label[64];
    begin_row(rows);
    size_t nparams = put_tasks(&rows->b, p, &t->ranks[r], r, track);
    put_spans(&rows->b, track);
    end_row(rows, "\"kind\":\"%s\",\"label\":\"%s\",\"tasks\":%zu,\"spans\":%zu,\"nparams\":%zu",
            track->kind == DAGT_TRACK_WORKER ? "worker" : "stream",
            dagt_label(label, sizeof label, r, track), track->ntasks, track->nspans, nparams);
}

/* Copies, or all that went to one rank or came from it; no row where there is nothing. */
static void put_link_row(row_writer *rows, const dagt_track *track, int out, int peer,
                         const char *label)
{
    begin_row(rows);
    size_t n = put_flights(&rows->b, track, out, (uint32_t)peer);
    if (n)
        end_row(rows, "\"kind\":\"link\",\"label\":\"%s\",\"copies\":%d,\"flights\":%zu", label,
                track->kind == DAGT_TRACK_COPIES, n);
}

static void put_rank(row_writer *rows, const page_classes *p, const dagt_trace *t, int r)
{
    const dagt_rank *rank = &t->ranks[r];
    char label[64];
    for (int k = 0; k < rank->ntracks; k++)
        if (dagt_runs_tasks(&rank->tracks[k]))
            put_task_row(rows, p, t, r, &rank->tracks[k]);
    for (int k = 0; k < rank->ntracks; k++)
        if (rank->tracks[k].kind == DAGT_TRACK_COPIES)
            put_link_row(rows, &rank->tracks[k], 1, 0,
                         dagt_label(label, sizeof label, r, &rank->tracks[k]));
    for (int k = 0; k < rank->ntracks; k++) {
        const dagt_track *track = &rank->tracks[k];
        if (track->kind != DAGT_TRACK_LINKS || !track->nflights)
            continue;
        for (int peer = 0; peer < t->nranks; peer++) {
            for (int out = 1; out >= 0; out--) {
                snprintf(label, sizeof label, "rank %d %s %d", r,
                         out ? "\xe2\x86\x92" : "\xe2\x86\x90", peer);
                put_link_row(rows, track, out, peer, label);
            }
        }
    }
}

/* ---- tables ------------------------------------------------------------------------------- */

static void put_class(FILE *out, const page_class *c, const dagt_class_times *list, size_t n)
{
    const dagt_class_times none = {.least = 0}, *times = &none;
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].name, c->cls->name) == 0 && strcmp(list[i].file, c->file) == 0)
            times = &list[i];
    fputs("{\"name\":", out);
    put_text(out, c->cls->name);
    fputs(",\"file\":", out);
    put_text(out, c->file);
    fprintf(out, ",\"line\":%d,\"params\":[", c->cls->line);
    for (int k = 0; k < c->cls->nparams; k++) {
        fputs(k ? "," : "", out);
        put_text(out, c->cls->params[k]);
    }
    fprintf(out, "],\"count\":%zu,\"total\":%lld,\"least\":%lld,\"most\":%lld,\"wait\":%lld,"
            "\"bins\":[", times->count, (long long)times->total, (long long)times->least,
            (long long)times->most, (long long)times->wait);
    for (int k = 0; k < DAGT_BINS; k++)
        fprintf(out, "%s%zu", k ? "," : "", times->bin[k]);
    fputs("]}", out);
}

static void put_worker(FILE *out, const dagt_trace *t, int r, const dagt_track *track)
{
    char label[64];
    dagt_times w;
    dagt_worker_times(&t->ranks[r], track, &w);
    fprintf(out, "\n{\"label\":\"%s\",\"wall\":%lld,\"bodies\":%lld,\"runtime\":%lld,\"comm\":%lld,"
            "\"drive\":%lld,\"outside\":%lld,\"idle\":[%lld,%lld,%lld,%lld,%lld,%lld],\"tasks\":%zu,"
            "\"steals\":%zu}", dagt_label(label, sizeof label, r, track), (long long)w.wall,
            (long long)w.bodies, (long long)w.runtime, (long long)w.comm, (long long)w.drive,
            (long long)w.outside, (long long)w.idle[0], (long long)w.idle[1], (long long)w.idle[2],
            (long long)w.idle[3], (long long)w.idle[4], (long long)w.idle[5], w.tasks, w.steals);
}

static void put_stream(FILE *out, const dagt_trace *t, int r, const dagt_track *track)
{
    char label[64];
    dagt_busy busy;
    dagt_device_busy(track, &busy);
    fprintf(out, "\n{\"label\":\"%s\",\"wall\":%lld,\"busy\":%lld,\"tasks\":%zu}",
            dagt_label(label, sizeof label, r, track),
            (long long)(t->ranks[r].end - t->ranks[r].begin), (long long)busy.time, busy.count);
}

static void put_tracks(FILE *out, const dagt_trace *t, int kind,
                       void (*put)(FILE *, const dagt_trace *, int, const dagt_track *))
{
    const char *comma = "";
    for (int r = 0; r < t->nranks; r++) {
        for (int k = 0; k < t->ranks[r].ntracks; k++) {
            if (t->ranks[r].tracks[k].kind != kind)
                continue;
            fputs(comma, out);
            put(out, t, r, &t->ranks[r].tracks[k]);
            comma = ",";
        }
    }
}

static void put_network(FILE *out, const dagt_trace *t)
{
    size_t n;
    char from[40], to[40];
    dagt_link *links = dagt_links(t, &n);
    fputs("],\n\"links\":[", out);
    for (size_t i = 0; links && i < n; i++)
        fprintf(out, "%s{\"from\":\"%s\",\"to\":\"%s\",\"sent\":%llu,\"bytes\":%llu,\"busy\":%lld}",
                i ? "," : "",
                dagt_link_end(from, sizeof from, links[i].from, links[i].from_device),
                dagt_link_end(to, sizeof to, links[i].to, links[i].to_device),
                (unsigned long long)links[i].sent, (unsigned long long)links[i].bytes,
                (long long)links[i].busy);
    free(links);
    fputs("],\n\"overlap\":[", out);
    for (int r = 0; r < t->nranks; r++) {
        dagt_overlap o = {0};
        dagt_overlap_of(&t->ranks[r], &o);
        fprintf(out, "%s{\"comm\":%lld,\"both\":%lld,\"copy\":%lld,\"copyBoth\":%lld}", r ? "," : "",
                (long long)o.comm, (long long)o.both, (long long)o.copy, (long long)o.copy_both);
    }
}

static void put_paths(FILE *out, const dagt_path *paths, size_t n)
{
    fputs("],\n\"pools\":[", out);
    for (size_t i = 0; i < n; i++) {
        const dagt_path *p = &paths[i];
        fprintf(out, "%s{\"id\":%u,\"program\":", i ? ",\n" : "\n", p->pool);
        put_text(out, p->program);
        fprintf(out, ",\"begin\":%lld,\"end\":%lld,\"length\":%lld,\"steps\":%zu,\"copies\":%zu,"
                "\"tasks\":%llu}",
                (long long)p->begin, (long long)p->end, (long long)p->length, p->steps, p->copies,
                (unsigned long long)p->tasks);
    }
}

static void put_tables(FILE *out, const dagt_trace *t, const page_classes *p,
                       const dagt_path *paths, size_t npaths, const char *row_table)
{
    size_t n;
    dagt_class_times *times = dagt_classes(t, &n);
    uint64_t dropped = 0;
    for (int r = 0; r < t->nranks; r++)
        dropped += t->ranks[r].head.dropped;
    fprintf(out, "<script type=\"application/json\" id=\"meta\">\n{\"title\":");
    put_text(out, npaths ? paths[npaths - 1].program : "trace");
    fprintf(out, ",\"ranks\":%d,\"tasks\":%zu,\"begin\":%lld,\"end\":%lld,\"dropped\":%llu,"
            "\n\"classes\":[", t->nranks, t->ntasks, (long long)t->begin, (long long)t->end,
            (unsigned long long)dropped);
    for (int c = 0; c < p->n; c++) {
        fputs(c ? ",\n" : "\n", out);
        put_class(out, &p->list[c], times, times ? n : 0);
    }
    free(times);
    fputs("],\n\"workers\":[", out);
    put_tracks(out, t, DAGT_TRACK_WORKER, put_worker);
    fputs("],\n\"streams\":[", out);
    put_tracks(out, t, DAGT_TRACK_STREAM, put_stream);
    put_network(out, t);
    put_paths(out, paths, npaths);
    fprintf(out, "],\n\"rows\":[%s]}\n</script>\n", row_table);
}

int dagt_write_html(dagt_trace *t, FILE *out)
{
    static const char mark[] = "<!--DATA-->";
    const unsigned char *at = memmem(page, sizeof page, mark, sizeof mark - 1);
    size_t npaths = 0, table_size = 0;
    char *table = NULL;
    page_classes classes = {0};
    dagt_path *paths = dagt_critical(t, &npaths);
    row_writer rows = {.out = out, .table = open_memstream(&table, &table_size)};
    bool ok = at && paths && rows.table && collect_classes(t, &classes);
    if (ok) {
        fwrite(page, 1, (size_t)(at - page), out);
        for (int r = 0; r < t->nranks; r++)
            put_rank(&rows, &classes, t, r);
        ok = fclose(rows.table) == 0 && !rows.b.failed;
        rows.table = NULL;
    }
    if (ok) {
        put_tables(out, t, &classes, paths, npaths, table);
        at += sizeof mark - 1;
        fwrite(at, 1, sizeof page - (size_t)(at - page), out);
    }
    if (rows.table)
        fclose(rows.table);
    free(table);
    free(rows.b.data);
    free(paths);
    free_classes(t, &classes);
    return !ok || fflush(out) != 0 || ferror(out);
}
