/* Shapes of broadcasts: who sends what to whom; see shapes.h. */
#include "shapes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int dagi_tree_relay_shape(int shape)
{
    if (shape == DAG_BCAST_RING)
        return DAG_BCAST_CHAIN;
    return shape == DAG_BCAST_FLAT ? DAG_BCAST_BINOMIAL : shape;
}

/* ---- order ------------------------------------------------------------------------------ */

/* Sort keys live beside the ranks while sorting. */
typedef struct keyed {
    int64_t key;
    int32_t rank;
} keyed;

static int by_key(const void *a, const void *b)
{
    int64_t x = ((const keyed *)a)->key, y = ((const keyed *)b)->key;
    return (x > y) - (x < y);
}

/* Distance from the root on the ring of all ranks: trees of different roots differ. */
static int64_t ring_key(int root, int size, int rank)
{
    return ((int64_t)rank - root + size) % size;
}

static int64_t group_key(int group, int root, int size, int rank)
{
    int64_t ngroups = (size + (int64_t)group - 1) / group;
    int64_t g = (rank / group - root / group + ngroups) % ngroups;
    int64_t within = (rank % group - root % group + group) % group;
    return g * group + within;
}

static void reverse(int32_t *ranks, int n)
{
    for (int i = 0, j = n - 1; i < j; i++, j--) {
        int32_t t = ranks[i];
        ranks[i] = ranks[j];
        ranks[j] = t;
    }
}

void dagi_tree_order(int shape, int group, int root, int size, int32_t *ranks, int n)
{
    enum { FEW = 128 };
    keyed few[FEW];
    keyed *list = few;
    if (n > FEW && !(list = malloc((size_t)n * sizeof *list)))
        return; /* any order is right, this one would have been better */
    for (int i = 0; i < n; i++) {
        list[i].rank = ranks[i];
        list[i].key = shape == DAG_BCAST_HIER ? group_key(group, root, size, ranks[i])
                                              : ring_key(root, size, ranks[i]);
    }
    if (n > 1)
        qsort(list, (size_t)n, sizeof *list, by_key);
    for (int i = 0; i < n; i++)
        ranks[i] = list[i].rank;
    if (list != few)
        free(list);
    if (shape == DAG_BCAST_RING)
        reverse(ranks + (n + 1) / 2, n / 2); /* the second chain runs downwards from the root */
}

/* ---- children --------------------------------------------------------------------------- */

/* Whoever serves a list gives away its second half, again and again: the first child gets most. */
static int halve(int32_t first, int n, dagi_tree_child *child)
{
    int nchild = 0;
    while (n > 0) {
        int given = (n + 1) / 2;
        n -= given;
        child[nchild++] = (dagi_tree_child){first + n, given};
    }
    return nchild;
}

/* One child each; should there be more, the last has the rest as its list. */
static int serve_all(int n, dagi_tree_child *child)
{
    int nchild = n < DAGI_TREE_MAX_CHILDREN ? n : DAGI_TREE_MAX_CHILDREN;
    for (int i = 0; i < nchild; i++)
        child[i] = (dagi_tree_child){i, 1};
    child[nchild - 1].count = n - nchild + 1;
    return nchild;
}

/* Where group number `index` begins in ranks[from..n), sorted by groups; n when there is none. */
static int group_start(const int32_t *ranks, int from, int n, int group, int index)
{
    int at = from;
    while (at < n && index-- > 0) {
        int32_t g = ranks[at] / group;
        while (at < n && ranks[at] / group == g)
            at++;
    }
    return at;
}

static int hier_children(int group, int self, const int32_t *ranks, int n, dagi_tree_child *child)
{
    int own = 0, nchild = 0, ngroups = 0;
    while (own < n && ranks[own] / group == self / group)
        own++;
    while (group_start(ranks, own, n, group, ngroups) < n)
        ngroups++;
    for (int end = n; ngroups > 0;) {
        ngroups -= (ngroups + 1) / 2;
        int start = group_start(ranks, own, n, group, ngroups);
        child[nchild++] = (dagi_tree_child){start, end - start};
        end = start;
    }
    return nchild + halve(0, own, child + nchild);
}

int dagi_tree_children(int shape, int group, int self, const int32_t *ranks, int n,
                       dagi_tree_child child[DAGI_TREE_MAX_CHILDREN])
{
    if (n == 0)
        return 0;
    switch (shape) {
    case DAG_BCAST_CHAIN:
        child[0] = (dagi_tree_child){0, n};
        return 1;
    case DAG_BCAST_RING:
        child[0] = (dagi_tree_child){0, (n + 1) / 2};
        child[1] = (dagi_tree_child){(n + 1) / 2, n / 2};
        return n > 1 ? 2 : 1;
    case DAG_BCAST_HIER:
        return hier_children(group, self, ranks, n, child);
    case DAG_BCAST_FLAT:
        return serve_all(n, child);
    default:
        assert(shape == DAG_BCAST_BINOMIAL || shape == DAG_BCAST_SCATTER); /* its parts, too */
        return halve(0, n, child);
    }
}
