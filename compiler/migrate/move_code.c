/* C of the user: PaRSEC's own interface, which nothing stands for, is marked line by line. */
#include "move.h"

#include <string.h>
#include <strings.h>

typedef struct line {
    const char *begin, *end;
} line;

/* The word belongs to PaRSEC's interface: a flow's copy (_f_X), or what its bodies see. */
static bool is_theirs(const char *word, size_t len)
{
    static const char *const words[] = {"this_task", "es", "gpu_device", "gpu_task", "gpu_stream",
                                        "cuda_stream", "cuda_device"};
    static const char *const starts[] = {"parsec", "__parsec", "dplasma", "_f_"};
    if (UTIL_AMONG(word, len, words))
        return true;
    for (size_t i = 0; i < UTIL_COUNT(starts); i++)
        if (len >= strlen(starts[i]) && strncasecmp(word, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

/* What a word of theirs is called here; NULL: nothing is. */
static const char *ours(const char *word, size_t len)
{
    static const char *const known[][2] = {
        {"PARSEC_HOOK_RETURN_DONE", "DAG_BODY_DONE"}, {"PARSEC_HOOK_RETURN_ERROR", "DAG_BODY_ERROR"},
    };
    for (size_t i = 0; i < UTIL_COUNT(known); i++)
        if (len == strlen(known[i][0]) && strncmp(word, known[i][0], len) == 0)
            return known[i][1];
    return NULL;
}

/* Renames what has a name here; true when something else of theirs is left on the line. */
static bool look_at(mover *m, const char *base, line l)
{
    bool left = false;
    for (const char *c = l.begin; c < l.end;) {
        const char *word = c;
        size_t len = util_word_length(c, l.end);
        c += len;
        const char *name = len ? ours(word, len) : NULL;
        if (name)
            move_replace(m, (src_range){m->ast->file, (uint32_t)(word - base), (uint32_t)(c - base)},
                         "%s", name);
        left = left || (len && !name && is_theirs(word, len));
        c += len == 0;
    }
    return left;
}

static bool is_include(line l)
{
    const char *c = l.begin + strspn(l.begin, " \t");
    if (c >= l.end || *c != '#')
        return false;
    c += 1 + strspn(c + 1, " \t");
    return l.end - c > 7 && strncmp(c, "include", 7) == 0;
}

bool move_counts_tiles(const mover *m, src_range r)
{
    static const char *const words[] = {"mb", "nb", "BLKLDD", "LDA", "lda", "llm", "ldam", "ldak"};
    const char *c = src_text(m->ast->sources, r), *end = c + src_range_len(r);
    while (c < end) {
        size_t len = util_word_length(c, end);
        if (UTIL_AMONG(c, len, words))
            return true;
        c += len ? len : 1;
    }
    return false;
}

void move_code(mover *m, src_range r)
{
    const char *base = src_bytes(m->ast->sources, m->ast->file);
    const char *end = base + r.end;
    bool before = false;                    /* the line before has the mark */
    for (const char *c = base + r.begin; c < end;) {
        const char *stop = memchr(c, '\n', (size_t)(end - c));
        line l = {c, stop ? stop : end};
        bool theirs = look_at(m, base, l);
        src_range at = {m->ast->file, (uint32_t)(l.begin - base), (uint32_t)(l.end - base)};
        bool include = theirs && is_include(l);
        if (include) {
            move_mark_c(m, at.begin, "what is needed of the header that was here");
            move_line_out(m, at);
        } else if (theirs && !before) {
            move_mark_c(m, at.begin, "this is PaRSEC's interface, or its libraries'");
        }
        before = theirs && !include;
        c = l.end + 1;
    }
}
