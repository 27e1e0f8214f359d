/*
 * What was learned, in a file.
 *
 * Text, one record a line, fields separated by tabs, all numbers whole ones (so that no locale gets
 * in the way):
 *   dag kernel times 1
 *   time  <program> <precision> <class> <model> <step of size> <samples> <nanoseconds>
 *   link  <from> <to> <latency in ns> <bytes per second>
 *   end   <number of records>
 */
#include "choice_impl.h"

#include "../base/room.h"
#include "../base/settings.h"

#include <dag/replace.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char header[] = "dag kernel times 1";

enum { FIELDS = 8, LARGEST_FILE = 64 << 20 };

typedef struct record {
    const char *field[FIELDS];
    int count;
} record;

/* The content of a file: its text, cut at tabs and ends of lines, and where the fields begin. */
typedef struct content {
    char *text;
    record *records;
    int count;
} content;

/* ---- reading -------------------------------------------------------------------------------- */

/* A whole number from `least` to `most`; -1 = it is not. */
static int64_t number(const char *text, int64_t least, int64_t most)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    return errno != 0 || end == text || *end != '\0' || value < least || value > most ? -1 : value;
}

static int well_formed(const record *r)
{
    if (strcmp(r->field[0], "time") == 0)
        return r->count == 8 && number(r->field[2], 0, DAG_Z) >= 0 &&
               number(r->field[5], 0, DAGI_SIZES - 1) >= 0 &&
               number(r->field[6], 1, DAGI_SAMPLES) >= 0 &&
               number(r->field[7], 1, INT64_MAX) >= 0;
    if (strcmp(r->field[0], "link") == 0)
        return r->count == 5 && number(r->field[3], 1, INT64_MAX) >= 0 &&
               number(r->field[4], 1, INT64_MAX) >= 0;
    return 0;
}

static record split(char *line)
{
    record r = {.count = 1};
    r.field[0] = line;
    for (char *tab; (tab = strchr(line, '\t')) != NULL; line = tab + 1) {
        *tab = '\0';
        if (r.count == FIELDS) {
            r.count = 0; /* too many */
            return r;
        }
        r.field[r.count++] = tab + 1;
    }
    return r;
}

/* The line that begins at *at, ended; *at becomes the next one. NULL = no whole line is left. */
static char *next_line(char **at)
{
    char *line = *at, *end = strchr(line, '\n');
    if (end == NULL)
        return NULL;
    *end = '\0';
    *at = end + 1;
    return line;
}

/* All records, or 1 when the text is not whole. */
static int parse(content *c, char *at)
{
    char *line;
    int capacity = 0;
    while ((line = next_line(&at)) != NULL) {
        record r = split(line);
        if (r.count == 2 && strcmp(r.field[0], "end") == 0)
            return *at != '\0' || number(r.field[1], 0, INT32_MAX) != c->count;
        if (r.count == 0 || !well_formed(&r))
            return 1;
        if (!DAGI_ROOM(c->records, c->count, capacity, 64))
            return 1;
        c->records[c->count++] = r;
    }
    return 1;
}

static void free_content(content *c)
{
    free(c->records);
    free(c->text);
    *c = (content){0};
}

enum { WHOLE, ABSENT, DAMAGED, FOREIGN };

static int read_content(const char *path, content *c, char *why, size_t size)
{
    *c = (content){0};
    c->text = dag_replace_read(path, LARGEST_FILE);
    if (c->text == NULL && errno == ENOENT)
        return ABSENT;
    if (c->text == NULL) {
        dagi_refuse(why, size, "%s: %s", path, errno == EFBIG ? "not a file of kernel times"
                                                         : strerror(errno));
        return FOREIGN;
    }
    if (c->text[0] == '\0')
        return ABSENT; /* empty, as a temporary file is at first */
    char *at = c->text, *first = next_line(&at);
    if (first == NULL || strcmp(first, header) != 0) {
        dagi_refuse(why, size, "%s: not a file of kernel times of this version; it is left alone", path);
        free_content(c);
        return FOREIGN;
    }
    if (parse(c, at) != 0) {
        dagi_refuse(why, size, "%s: damaged, kernel times are learned anew", path);
        free_content(c);
        return DAMAGED;
    }
    return WHOLE;
}

/* ---- loading -------------------------------------------------------------------------------- */

static int find_model(const dagi_choice *c, const char *name)
{
    for (int i = 0; i < c->nmodels; i++) {
        if (strcmp(c->model[i].name, name) == 0)
            return i;
    }
    return -1;
}

/* Old samples count for less than half of those that matter, so that new ones soon outweigh them. */
static int trusted(int64_t samples)
{
    return samples < DAGI_SAMPLES / 2 ? (int)samples : DAGI_SAMPLES / 2;
}

/* A size that belongs to a step. */
static uint64_t size_of(int step)
{
    return ((uint64_t)(4 + step % DAGI_SIZE_STEPS) << step / DAGI_SIZE_STEPS) >> 2;
}

static int load_time(dagi_choice *c, const record *r)
{
    int model = find_model(c, r->field[4]), place = 0;
    if (model < 0)
        return 0; /* of another machine */
    while (c->model_of[place] != model)
        place++;
    dag_precision prec = (dag_precision)number(r->field[2], 0, DAG_Z);
    dagi_choice_class *cls = dagi_choice_class_of(c, r->field[1], prec, r->field[3]);
    if (cls == NULL)
        return 1;
    uint64_t size = size_of((int)number(r->field[5], 0, DAGI_SIZES - 1));
    double seconds = 1e-9 * (double)number(r->field[7], 1, INT64_MAX);
    for (int i = trusted(number(r->field[6], 1, DAGI_SAMPLES)); i > 0; i--)
        dagi_choice_learn(c, cls, place, size, seconds);
    return 0;
}

static void load_link(dagi_choice *c, const record *r)
{
    int from = find_model(c, r->field[1]), to = find_model(c, r->field[2]);
    if (from < 0 || to < 0)
        return;
    dagi_link *l = &c->link[from * c->nmodels + to];
    double latency = 1e-9 * (double)number(r->field[3], 1, INT64_MAX);
    double rate = (double)number(r->field[4], 1, INT64_MAX);
    dagi_series_add(&l->small, latency);
    dagi_series_add(&l->large, rate);
    atomic_store_explicit(&l->latency, latency, memory_order_relaxed);
    atomic_store_explicit(&l->rate, rate, memory_order_relaxed);
}

int dagi_choice_load(dagi_choice *c, const char *path, char *why, size_t size)
{
    content old;
    int state = read_content(path, &old, why, size), failed = 0;
    for (int i = 0; i < old.count && !failed; i++) {
        if (old.records[i].field[0][0] == 't')
            failed = load_time(c, &old.records[i]);
        else
            load_link(c, &old.records[i]);
    }
    free_content(&old);
    if (failed)
        dagi_refuse(why, size, "%s: out of memory", path);
    return failed || state == DAMAGED || state == FOREIGN;
}

/* ---- saving --------------------------------------------------------------------------------- */

/* Whether a name can be a field. */
static int printable(const char *name)
{
    return strpbrk(name, "\t\n") == NULL;
}

static int64_t whole(double x)
{
    return x < 1 ? 1 : x < 9e18 ? (int64_t)x : INT64_MAX;
}

static int save_class(const dagi_choice *c, dagi_choice_class *cls, FILE *f)
{
    int count = 0;
    if (!printable(cls->program) || !printable(cls->name))
        return 0;
    for (int i = 0; i < c->nmodels * DAGI_SIZES; i++) {
        const dagi_times *t = atomic_load_explicit(&cls->times[i], memory_order_acquire);
        const char *model = c->model[i / DAGI_SIZES].name;
        int known = t != NULL ? atomic_load_explicit(&t->known, memory_order_relaxed) : 0;
        if (known == 0 || !printable(model))
            continue;
        fprintf(f, "time\t%s\t%d\t%s\t%s\t%d\t%d\t%" PRId64 "\n", cls->program, (int)cls->prec,
                cls->name, model, i % DAGI_SIZES, known,
                whole(1e9 * atomic_load_explicit(&t->estimate, memory_order_relaxed)));
        count++;
    }
    return count;
}

static int save_links(const dagi_choice *c, FILE *f)
{
    int count = 0;
    for (int i = 0; i < c->nmodels * c->nmodels; i++) {
        const dagi_link *l = &c->link[i];
        const char *from = c->model[i / c->nmodels].name, *to = c->model[i % c->nmodels].name;
        if (l->small.count + l->large.count == 0 || !printable(from) || !printable(to))
            continue;
        fprintf(f, "link\t%s\t%s\t%" PRId64 "\t%" PRId64 "\n", from, to, whole(1e9 * l->latency),
                whole(l->rate));
        count++;
    }
    return count;
}

/* Whether this process knows something in the place of a record of the old file. */
static int known_here(dagi_choice *c, const record *r)
{
    int model = find_model(c, r->field[r->field[0][0] == 't' ? 4 : 1]);
    if (model < 0)
        return 0;
    if (r->field[0][0] != 't') {
        int to = find_model(c, r->field[2]);
        const dagi_link *l = to >= 0 ? &c->link[model * c->nmodels + to] : NULL;
        return l != NULL && l->small.count + l->large.count > 0;
    }
    dag_precision prec = (dag_precision)number(r->field[2], 0, DAG_Z);
    dagi_choice_class *cls = dagi_choice_class_of(c, r->field[1], prec, r->field[3]);
    int at = model * DAGI_SIZES + (int)number(r->field[5], 0, DAGI_SIZES - 1);
    const dagi_times *t =
        cls != NULL ? atomic_load_explicit(&cls->times[at], memory_order_acquire) : NULL;
    return t != NULL && atomic_load_explicit(&t->known, memory_order_relaxed) > 0;
}

static int save_old(dagi_choice *c, const content *old, FILE *f)
{
    int count = 0;
    for (int i = 0; i < old->count; i++) {
        const record *r = &old->records[i];
        if (known_here(c, r))
            continue;
        for (int k = 0; k < r->count; k++)
            fprintf(f, "%s%s", k > 0 ? "\t" : "", r->field[k]);
        fputc('\n', f);
        count++;
    }
    return count;
}

static void save_all(dagi_choice *c, const content *old, FILE *f)
{
    int count = 0;
    fprintf(f, "%s\n", header);
    count += save_old(c, old, f); /* first: what is known here does not change meanwhile */
    for (int i = 0; i < DAGI_CLASS_LISTS; i++) {
        dagi_choice_class *cls = atomic_load_explicit(&c->classes[i], memory_order_acquire);
        for (; cls != NULL; cls = cls->next)
            count += save_class(c, cls, f);
    }
    count += save_links(c, f);
    fprintf(f, "end\t%d\n", count);
}

int dagi_choice_save(dagi_choice *c, const char *path, char *why, size_t size)
{
    content old;
    if (read_content(path, &old, why, size) == FOREIGN)
        return 1;
    dag_replacement file;
    bool done = dag_replace_begin(&file, path);
    if (done) {
        save_all(c, &old, file.stream);
        done = dag_replace_end(&file, true);
    }
    if (!done)
        dagi_refuse(why, size, "%s: kernel times could not be written: %s", path, strerror(errno));
    free_content(&old);
    return !done;
}
