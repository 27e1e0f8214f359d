/* Shapes of broadcasts in words, as the setting `bcast` takes them and reports say them. */
#include "settings.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const words[] = {
    [DAG_BCAST_AUTO] = "auto", [DAG_BCAST_BINOMIAL] = "binomial", [DAG_BCAST_CHAIN] = "chain",
    [DAG_BCAST_RING] = "ring", [DAG_BCAST_SCATTER] = "scatter",   [DAG_BCAST_FLAT] = "flat",
    [DAG_BCAST_TREES] = "trees",
};
enum { WORDS = sizeof words / sizeof words[0] };

static void skip_blanks(const char **at)
{
    while (isspace((unsigned char)**at))
        ++*at;
}

/* The word at *at, which moves behind it and the blanks around. */
static void next_word(const char **at, char word[16])
{
    size_t n = 0;
    skip_blanks(at);
    while (isalnum((unsigned char)(*at)[n]) && n < 15) {
        word[n] = (*at)[n];
        n++;
    }
    word[n] = '\0';
    *at += n;
    skip_blanks(at);
}

static bool take(const char **at, char c)
{
    if (**at != c)
        return false;
    ++*at;
    return true;
}

static bool take_shape(const char *word, int least, int level, dag_bcast_tree *tree)
{
    for (int i = least; i < WORDS; i++)
        if (strcasecmp(words[i], word) == 0 && !(level && i == DAG_BCAST_SCATTER)) {
            tree->shapes |= (uint32_t)DAG_BCAST_WITHIN(level, i);
            return true;
        }
    return false;
}

static bool take_group(const char *word, int32_t *group)
{
    char *end;
    long g = strtol(word, &end, 10);
    if (strcasecmp(word, "node") == 0)
        *group = DAG_BCAST_NODE;
    else if (end == word || *end || g < 1 || g > INT32_MAX)
        return false;
    else
        *group = (int32_t)g;
    return true;
}

/* [(g)] or (g, outer, inner) behind a `hier`. */
static bool take_hier(const char **at, int level, dag_bcast_tree *tree)
{
    char word[16];
    bool brief = true;
    if (level + 1 == DAG_BCAST_LEVELS)
        return false;
    tree->group[level] = DAG_BCAST_NODE;
    if (take(at, '(')) {
        next_word(at, word);
        if (!take_group(word, &tree->group[level]))
            return false;
        brief = !take(at, ',');
        if (!brief) {
            next_word(at, word);
            if (strcasecmp(word, "scatter") == 0 || !take_shape(word, DAG_BCAST_BINOMIAL, level, tree) ||
                !take(at, ','))
                return false;
            next_word(at, word);
            if (strcasecmp(word, "hier") == 0 ? !take_hier(at, level + 1, tree)
                                              : !take_shape(word, DAG_BCAST_BINOMIAL, level + 1, tree))
                return false;
        }
        if (!take(at, ')'))
            return false;
        skip_blanks(at);
    }
    if (brief)
        tree->shapes |= (uint32_t)(DAG_BCAST_WITHIN(level, DAG_BCAST_BINOMIAL) |
                                   DAG_BCAST_WITHIN(level + 1, DAG_BCAST_BINOMIAL));
    return true;
}

bool dagi_bcast_parse(const char *text, dag_bcast_tree *tree)
{
    char word[16];
    memset(tree, 0, sizeof *tree);
    next_word(&text, word);
    bool right = strcasecmp(word, "hier") == 0 ? take_hier(&text, 0, tree)
                                               : take_shape(word, DAG_BCAST_AUTO, 0, tree);
    return right && *text == '\0';
}

const char *dagi_bcast_name(const dag_bcast_tree *tree, char *text, size_t size)
{
    size_t used = 0;
    int level = 0;
    text[0] = '\0';
    for (; level + 1 < DAG_BCAST_LEVELS && tree->shapes >> 4 * (level + 1) && used < size; level++) {
        char group[16] = "node";
        if (tree->group[level] != DAG_BCAST_NODE)
            snprintf(group, sizeof group, "%d", tree->group[level]);
        used += (size_t)snprintf(text + used, size - used, "hier(%s, %s, ", group,
                                 words[tree->shapes >> 4 * level & 15]);
    }
    if (used < size)
        snprintf(text + used, size - used, "%s%.*s", words[tree->shapes >> 4 * level & 15], level, ")))");
    return text;
}
