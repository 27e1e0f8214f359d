/* Cases are points of a product of factors; a few of them in which every pair of values of two factors
 * occurs. */
#ifndef PAIRS_H
#define PAIRS_H

#include <stdbool.h>

enum { PAIRS_FACTORS = 8, PAIRS_VALUES = 48 };

typedef struct test_case {
    int at[PAIRS_FACTORS]; /* which value of each factor */
} test_case;

/* `count` factors, with so many values each; PAIRS_VALUES together at most. */
typedef struct factors {
    int count, values[PAIRS_FACTORS];
} factors;

static inline int pairs_product(const factors *f)
{
    int product = 1;
    for (int k = 0; k < f->count; k++)
        product *= f->values[k];
    return product;
}

/* Those that make sense, into `cases`, which has room for all. */
static inline int pairs_enumerate(const factors *f, test_case *cases,
                                  bool (*makes_sense)(const test_case *c, const void *arg),
                                  const void *arg)
{
    int count = 0;
    for (int k = 0; k < pairs_product(f); k++) {
        test_case c = {{0}};
        for (int i = f->count - 1, rest = k; i >= 0; i--) {
            c.at[i] = rest % f->values[i];
            rest /= f->values[i];
        }
        if (makes_sense(&c, arg))
            cases[count++] = c;
    }
    return count;
}

/* Pairs of (factor, value) that a case has and that `seen` lacks; marks them if asked. */
static inline int pairs_new(const factors *f, const test_case *c,
                            char seen[PAIRS_VALUES][PAIRS_VALUES], bool mark)
{
    int count = 0, id[PAIRS_FACTORS];
    for (int i = 0, first = 0; i < f->count; first += f->values[i++])
        id[i] = first + c->at[i];
    for (int i = 0; i < f->count; i++)
        for (int j = i + 1; j < f->count; j++) {
            count += !seen[id[i]][id[j]];
            if (mark)
                seen[id[i]][id[j]] = 1;
        }
    return count;
}

/* Greedy: always the case with most new pairs. Moves the chosen ones to the front. */
static inline int pairs_choose(const factors *f, test_case *cases, int count)
{
    char seen[PAIRS_VALUES][PAIRS_VALUES] = {{0}};
    int chosen = 0;
    for (;;) {
        int best = -1, most = 0;
        for (int k = chosen; k < count; k++) {
            int pairs = pairs_new(f, &cases[k], seen, false);
            if (pairs > most) {
                most = pairs;
                best = k;
            }
        }
        if (best < 0)
            return chosen;
        pairs_new(f, &cases[best], seen, true);
        test_case c = cases[best];
        cases[best] = cases[chosen];
        cases[chosen++] = c;
    }
}

#endif
