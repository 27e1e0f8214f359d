/* HPL.dat, line by line, and the order of its cases. */
#include "hpl.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 1024 };

/* What a line has before its comment. */
typedef enum line_kind {
    TEXT,  /* nothing that counts */
    NAME,  /* of a file */
    WHOLE, /* a number */
    REAL,
    COUNT, /* of the values in the lists that follow, until the next count */
    LIST
} line_kind;

typedef struct line_rule {
    line_kind kind;
    const char *meaning;
    size_t offset; /* in hpl_input */
    int64_t least, most;
} line_rule;

#define AT(field) offsetof(hpl_input, field)
#define ORDER_MOST (INT64_C(1) << 31)
/* Rules of lines in the order of the file; the last one is its line 31, what follows is of no interest. */
static const line_rule rules[] = {
    {TEXT, "title", 0, 0, 0},
    {TEXT, "second title", 0, 0, 0},
    {NAME, "name of the output file", AT(out), 0, 0},
    {WHOLE, "device of the output (6 standard output, 7 standard error, else the file)", AT(device), 0, 1 << 30},
    {COUNT, "number of problem sizes", 0, 1, HPL_MOST},
    {LIST, "problem sizes N", AT(n), 0, ORDER_MOST},
    {COUNT, "number of block sizes", 0, 1, HPL_MOST},
    {LIST, "block sizes NB", AT(nb), 1, 1 << 20},
    {WHOLE, "mapping of processes PMAP (0 by rows, 1 by columns)", AT(pmap), 0, 1},
    {COUNT, "number of process grids", 0, 1, HPL_MOST},
    {LIST, "rows of the grids P", AT(p), 1, 1 << 24},
    {LIST, "columns of the grids Q", AT(q), 1, 1 << 24},
    {REAL, "threshold of the residual", AT(threshold), 0, 0},
    {COUNT, "number of panel factorisations", 0, 1, HPL_MOST},
    {LIST, "panel factorisations PFACT (0 left, 1 Crout, 2 right)", AT(pfact), 0, 2},
    {COUNT, "number of recursive stopping criteria", 0, 1, HPL_MOST},
    {LIST, "stopping criteria NBMIN", AT(nbmin), 1, 1 << 20},
    {COUNT, "number of panels in recursion", 0, 1, HPL_MOST},
    {LIST, "panels in recursion NDIV", AT(ndiv), 2, 1 << 20},
    {COUNT, "number of recursive panel factorisations", 0, 1, HPL_MOST},
    {LIST, "recursive panel factorisations RFACT (0 left, 1 Crout, 2 right)", AT(rfact), 0, 2},
    {COUNT, "number of broadcasts", 0, 1, HPL_MOST},
    {LIST, "broadcasts BCAST (0 1rg, 1 1rM, 2 2rg, 3 2rM, 4 Lng, 5 LnM)", AT(bcast), 0, 5},
    {COUNT, "number of look-ahead depths", 0, 1, HPL_MOST},
    {LIST, "look-ahead depths DEPTH", AT(depth), 0, 1 << 20},
    {WHOLE, "exchange of rows SWAP (0 binary exchange, 1 long, 2 mixed)", AT(swap), 0, 2},
    {WHOLE, "threshold of the exchange", AT(swap_from), 0, ORDER_MOST},
    {WHOLE, "form of L1 (0 transposed, 1 not)", AT(l1), 0, 1},
    {WHOLE, "form of U (0 transposed, 1 not)", AT(u), 0, 1},
    {WHOLE, "equilibration (0 no, 1 yes)", AT(equil), 0, 1},
    {WHOLE, "alignment in double words", AT(align), 1, 1 << 20},
};
enum { RULES = sizeof(rules) / sizeof(rules[0]) };

/* The place in the file, and room for what is wrong with it. */
typedef struct reader {
    const char *path;
    int line;    /* from 1 */
    int counted; /* line of the count that holds */
    int64_t count;
    char *why;
    size_t size;
} reader;

__attribute__((format(printf, 2, 3))) static bool complain(const reader *r, const char *format, ...)
{
    va_list more;
    int at = snprintf(r->why, r->size, "%s:%d: %s: ", r->path, r->line, rules[r->line - 1].meaning);
    va_start(more, format);
    if (at > 0 && (size_t)at < r->size)
        (void)vsnprintf(r->why + at, r->size - (size_t)at, format, more);
    va_end(more);
    return false;
}

/* The next word of the line; NULL = there is none. It ends the word with a zero. */
static char *next_word(char **line)
{
    char *word = *line + strspn(*line, " \t\r");
    if (*word == '\0')
        return NULL;
    char *end = word + strcspn(word, " \t\r");
    *line = *end == '\0' ? end : end + 1;
    *end = '\0';
    return word;
}

static bool whole(const reader *r, char **line, int64_t least, int64_t most, int64_t *value)
{
    char *end, *word = next_word(line);
    if (word == NULL)
        return complain(r, "the line has no number");
    errno = 0;
    long long x = strtoll(word, &end, 10);
    if (end == word || *end != '\0')
        return complain(r, "'%.40s' is not a whole number", word);
    if (errno != 0 || x < least || x > most)
        return complain(r, "%.40s is not in %" PRId64 " ... %" PRId64, word, least, most);
    *value = x;
    return true;
}

static bool read_list(const reader *r, char **line, const line_rule *rule, hpl_list *list)
{
    list->count = 0;
    for (int i = 0; i < (int)r->count; i++) {
        if ((*line)[strspn(*line, " \t\r")] == '\0')
            return complain(r, "line %d announces %" PRId64 " of them, but here %s %d", r->counted,
                            r->count, i == 1 ? "is" : "are", i);
        if (!whole(r, line, rule->least, rule->most, &list->value[i]))
            return false;
        list->count++;
    }
    return true;
}

static bool read_real(const reader *r, char **line, double *value)
{
    char *end, *word = next_word(line);
    if (word == NULL)
        return complain(r, "the line has no number");
    *value = strtod(word, &end);
    if (end == word || *end != '\0' || !isfinite(*value))
        return complain(r, "'%.40s' is not a finite number", word);
    return true;
}

static bool read_line(reader *r, hpl_input *in, char *line)
{
    const line_rule *rule = &rules[r->line - 1];
    void *to = (char *)in + rule->offset;
    const char *word;
    switch (rule->kind) {
    case TEXT: return true;
    case WHOLE: return whole(r, &line, rule->least, rule->most, to);
    case REAL: return read_real(r, &line, to);
    case LIST: return read_list(r, &line, rule, to);
    case COUNT:
        r->counted = r->line;
        return whole(r, &line, rule->least, rule->most, &r->count);
    case NAME: break;
    }
    word = next_word(&line);
    if (word == NULL)
        word = "HPL.out"; /* as HPL has it */
    if (strlen(word) >= sizeof(in->out))
        return complain(r, "it has more than %zu characters", sizeof(in->out) - 1);
    memcpy(to, word, strlen(word) + 1);
    return true;
}

static bool read_all(reader *r, hpl_input *in, FILE *file)
{
    char line[LINE];
    for (r->line = 1; r->line <= RULES; r->line++) {
        if (fgets(line, sizeof(line), file) == NULL)
            return complain(r, ferror(file) ? "%s" : "the file ends before this line",
                            strerror(errno));
        size_t length = strlen(line);
        if (length == sizeof(line) - 1 && line[length - 1] != '\n')
            return complain(r, "the line has more than %d characters", LINE - 2);
        line[strcspn(line, "\n")] = '\0';
        if (!read_line(r, in, line))
            return false;
    }
    return true;
}

bool hpl_read(hpl_input *in, const char *path, char *why, size_t size)
{
    reader r = {.path = path, .why = why, .size = size};
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        (void)snprintf(why, size, "%s: %s", path, strerror(errno));
        return false;
    }
    memset(in, 0, sizeof(*in)); /* padding too: ranks compare what they have read */
    bool good = read_all(&r, in, file);
    fclose(file);
    return good;
}

/* ---- options in place of a file ------------------------------------------------------------------ */

static hpl_list only(int64_t value)
{
    return (hpl_list){.count = 1, .value = {value}};
}

void hpl_defaults(hpl_input *in)
{
    memset(in, 0, sizeof(*in));
    in->n = only(1000);
    in->nb = only(0);
    in->p = in->q = only(0);
    in->pfact = only(2);
    in->nbmin = only(4);
    in->ndiv = only(2);
    in->rfact = in->bcast = only(1);
    in->depth = only(HPL_AUTO);
    in->swap = 2;
    in->swap_from = 64;
    in->equil = 1;
    in->align = 8;
    in->threshold = 16;
    in->device = 6;
}

bool hpl_numbers(hpl_list *list, const char *text, int64_t least, int64_t most)
{
    hpl_list found = {0};
    for (;; text++) {
        char *end;
        errno = 0;
        long long x = strtoll(text, &end, 10);
        if (end == text || errno != 0 || x < least || x > most || found.count == HPL_MOST)
            return false;
        found.value[found.count++] = x;
        text = end;
        if (*text == '\0')
            break;
        if (*text != ',')
            return false;
    }
    *list = found;
    return true;
}

/* ---- cases --------------------------------------------------------------------------------------- */

/* A value of the list, and what is left of the number for slower ones. */
static int64_t turn(int64_t *at, const hpl_list *list)
{
    int64_t value = list->value[*at % list->count];
    *at /= list->count;
    return value;
}

bool hpl_nth(const hpl_input *in, int64_t at, hpl_case *c)
{
    c->ndiv = turn(&at, &in->ndiv);
    c->nbmin = turn(&at, &in->nbmin);
    c->pfact = turn(&at, &in->pfact);
    c->rfact = turn(&at, &in->rfact);
    c->bcast = turn(&at, &in->bcast);
    c->depth = turn(&at, &in->depth);
    c->nb = turn(&at, &in->nb);
    c->n = turn(&at, &in->n);
    if (at >= in->p.count)
        return false;
    c->p = (int)in->p.value[at];
    c->q = (int)in->q.value[at];
    return true;
}

int64_t hpl_ranks(const hpl_input *in)
{
    int64_t most = 1;
    for (int i = 0; i < in->p.count; i++)
        if (in->p.value[i] * in->q.value[i] > most)
            most = in->p.value[i] * in->q.value[i];
    return most;
}
