/* Shapes of broadcasts: who sends what to whom; see shapes.h. */
#include "shapes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static dag_bcast shape_at(const dag_bcast_tree *tree, int level)
{
    return (dag_bcast)(tree->shapes >> 4 * level & 15);
}

static bool is_last(const dag_bcast_tree *tree, int level)
{
    return level + 1 == DAG_BCAST_LEVELS || !shape_at(tree, level + 1);
}

bool dagi_tree_has(const dag_bcast_tree *tree, dag_bcast shape)
{
    for (int level = 0; level < DAG_BCAST_LEVELS; level++)
        if (shape_at(tree, level) == shape)
            return true;
    return false;
}

bool dagi_tree_pipelined(const dag_bcast_tree *tree)
{
    return dagi_tree_has(tree, DAG_BCAST_CHAIN) || dagi_tree_has(tree, DAG_BCAST_TREES);
}

bool dagi_tree_is_pair(const dag_bcast_tree *tree, int segments)
{
    return segments > 1 && dagi_tree_has(tree, DAG_BCAST_TREES);
}

/* ---- one level --------------------------------------------------------------------------- */

/* Whoever serves a list gives away its second half, again and again: the first child gets most. */
static void halve(const int32_t *list, int n, int32_t *out, uint16_t *count)
{
    while (n > 0) {
        int given = (n + 1) / 2;
        n -= given;
        *out = list[n];
        *count = (uint16_t)given;
        halve(list + n + 1, given - 1, out + 1, count + 1);
        out += given;
        count += given;
    }
}

static void chain(const int32_t *list, int n, int step, int32_t *out, uint16_t *count)
{
    for (int i = 0; i < n; i++) {
        out[i] = list[step * i];
        count[i] = (uint16_t)(n - i);
    }
}

/* A binary tree over n places of a ring of `size`, from `at` on: who stands at an odd place of these serves
 * what is left and what is right of it. So nobody serves in both of two trees, one a place later. */
static void search_tree(const int32_t *list, int size, int at, int n, int32_t *out, uint16_t *count)
{
    int middle = n > 1 ? (n - 1) / 2 | 1 : 0;
    if (n < 1)
        return;
    *out = list[(at + middle) % size];
    *count = (uint16_t)n;
    search_tree(list, size, at, middle, out + 1, count + 1);
    search_tree(list, size, at + middle + 1, n - middle - 1, out + 1 + middle, count + 1 + middle);
}

/* The tree of one shape over a list, which is in the order of the ring from the head on. */
static void lay(dag_bcast shape, enum dagi_tree_half half, const int32_t *list, int n, int32_t *out,
                uint16_t *count)
{
    int up = (n + 1) / 2;
    switch (shape) {
    case DAG_BCAST_CHAIN: chain(list, n, 1, out, count); return;
    case DAG_BCAST_RING: /* the second chain runs downwards */
        chain(list, up, 1, out, count);
        chain(list + n - 1, n - up, -1, out + up, count + up);
        return;
    case DAG_BCAST_FLAT:
    case DAG_BCAST_SCATTER:
        for (int i = 0; i < n; i++) {
            out[i] = list[i];
            count[i] = 1;
        }
        return;
    case DAG_BCAST_TREES: search_tree(list, n, half == DAGI_TREE_SECOND, n, out, count); return;
    default: assert(shape == DAG_BCAST_BINOMIAL); halve(list, n, out, count);
    }
}

/* ---- levels within each other ------------------------------------------------------------ */

typedef struct layout {
    const dag_bcast_tree *tree;
    enum dagi_tree_half half;
    const dagi_nodes *nodes;
    int32_t *scratch; /* seven for each member, of which the levels take their part */
} layout;

/* Members of one node stand together, nodes in the order of their first members; returns in end[] where
 * each group ends. */
static int by_nodes(const layout *l, int32_t *members, int n, int32_t *end, int32_t *aside)
{
    int groups = 0, done = 0;
    while (done < n) {
        int64_t node = dagi_node_of(l->nodes, members[done]);
        int others = 0, begin = done;
        for (int i = begin; i < n; i++) {
            if (dagi_node_of(l->nodes, members[i]) == node)
                members[done++] = members[i];
            else
                aside[others++] = members[i];
        }
        memcpy(members + done, aside, (size_t)others * sizeof *aside);
        end[groups++] = done;
    }
    return groups;
}

static int by_number(int32_t g, int n, int32_t *end)
{
    int groups = 0;
    g = g < 1 ? 1 : g;
    for (int done = 0; done < n;) {
        done += g < n - done ? g : n - done;
        end[groups++] = done;
    }
    return groups;
}

/* list = the members behind `at` on their ring, which is all but that one. */
static void ring_from(const int32_t *members, int n, int at, int32_t *list)
{
    memcpy(list, members + at + 1, (size_t)(n - at - 1) * sizeof *list);
    memcpy(list + n - at - 1, members, (size_t)at * sizeof *list);
}

static void grow(const layout *l, int level, int32_t *members, int n, int at, int32_t *out,
                 uint16_t *count);

/*
 * The groups of a level: heads[k], an index into members[], is who has the value in group k. The tree of
 * the heads is laid out over the numbers of the groups; then each head is put down, the heads it serves
 * behind it, and behind those the others of its group.
 */
static void grow_groups(const layout *l, int level, int32_t *members, const int32_t *end, int groups,
                        int own, int place, int32_t *out, uint16_t *count)
{
    int32_t *list = l->scratch, *order = list + groups, *open = order + groups, *at = open + groups;
    uint16_t *serves = (uint16_t *)(void *)(at + groups);
    layout below = {l->tree, l->half, l->nodes, at + groups + (groups + 1) / 2};
    int nopen = 0, put = 0;
    for (int k = 0; k < groups; k++)
        list[k] = (own + 1 + k) % groups;
    lay(shape_at(l->tree, level), l->half, list, groups - 1, order, serves);
    for (int k = -1; k < groups; k++) {
        /* groups whose heads serve no further ones */
        while (nopen > 0 && (k == groups - 1 ||
                             (open[nopen - 1] >= 0 && k >= open[nopen - 1] + serves[open[nopen - 1]]))) {
            int head = open[--nopen], group = head < 0 ? own : order[head];
            int begin = group ? end[group - 1] : 0, members_of = end[group] - begin;
            int with = place < members_of ? place : members_of - 1;
            grow(&below, level + 1, members + begin, members_of, with, out + put, count + put);
            put += members_of - 1;
            if (head >= 0)
                count[at[head]] = (uint16_t)(put - at[head]);
        }
        if (k == groups - 1)
            return;
        if (k >= 0) {
            int begin = order[k] ? end[order[k] - 1] : 0, members_of = end[order[k]] - begin;
            at[k] = put;
            out[put++] = members[begin + (place < members_of ? place : members_of - 1)];
        }
        open[nopen++] = k;
    }
}

/* The tree from members[at] to the other n - 1 of a level. */
static void grow(const layout *l, int level, int32_t *members, int n, int at, int32_t *out,
                 uint16_t *count)
{
    if (n < 2)
        return;
    int32_t *end = l->scratch, *aside = end + n;
    if (is_last(l->tree, level)) {
        ring_from(members, n, at, end);
        lay(shape_at(l->tree, level), l->half, end, n - 1, out, count);
        return;
    }
    int32_t root = members[at];
    int groups = l->tree->group[level] == DAG_BCAST_NODE ? by_nodes(l, members, n, end, aside)
                                                         : by_number(l->tree->group[level], n, end);
    for (at = 0; members[at] != root;)
        at++;
    int own = 0;
    while (end[own] <= at)
        own++;
    layout below = {l->tree, l->half, l->nodes, end + groups};
    grow_groups(&below, level, members, end, groups, own, at - (own ? end[own - 1] : 0), out, count);
}

int dagi_tree_by_rank(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

void dagi_tree_plan(const dag_bcast_tree *tree, enum dagi_tree_half half, const dagi_nodes *nodes, int root,
                    int32_t *ranks, uint16_t *count, int n)
{
    /* of a level with n members: the ends of groups, and for each group its list, order, open, at, and half
     * of one for serves; the next level has as many members at most */
    enum { FEW = 64, WORDS = 1 + DAG_BCAST_LEVELS * 6 };
    int32_t few[FEW * WORDS], *room = few;
    count[0] = 1;
    if (n < 2)
        return;
    if (n + 1 > FEW && !(room = malloc((size_t)(n + 1) * WORDS * sizeof *room))) {
        for (int i = 0; i < n; i++)
            count[i] = 1;
        return;
    }
    int32_t *members = room, *at;
    memcpy(members, ranks, (size_t)n * sizeof *ranks);
    members[n] = root;
    qsort(members, (size_t)n + 1, sizeof *members, dagi_tree_by_rank);
    at = bsearch(&root, members, (size_t)n + 1, sizeof *members, dagi_tree_by_rank);
    layout l = {tree, half, nodes, members + n + 1};
    grow(&l, 0, members, n + 1, (int)(at - members), ranks, count);
    if (room != few)
        free(room);
}
