/* Shapes of broadcasts: everybody is reached once, by a destination rank or the producer, in as few
 * rounds as the shape promises. */
#include "../common/run_suite.h"
#include "../../runtime/net/shapes.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1100 };

static int reached[MOST];
static int depth_seen, most_children;

/* Rank `self`, at `depth`, serves its list. */
static void serve(int shape, int group, int self, const int32_t *list, int n, int depth)
{
    dagi_tree_child child[DAGI_TREE_MAX_CHILDREN];
    int nchildren = dagi_tree_children(shape, group, self, list, n, child), given = 0;
    ck_assert_int_le(nchildren, DAGI_TREE_MAX_CHILDREN);
    depth_seen = depth > depth_seen ? depth : depth_seen;
    most_children = nchildren > most_children ? nchildren : most_children;
    for (int i = 0; i < nchildren; i++) {
        int32_t first = child[i].first, count = child[i].count;
        ck_assert(first >= 0 && count >= 1 && first + count <= n);
        given += count;
        reached[list[first]]++;
        serve(dagi_tree_relay_shape(shape), group, list[first], list + first + 1, count - 1,
              depth + 1);
    }
    ck_assert_int_eq(given, n);
}

static int log2_up(int n)
{
    int log = 0;
    while (1 << log < n)
        log++;
    return log;
}

/* Every `step`-th rank of `size` but the root, in scrambled order. */
static int destinations(int32_t *ranks, int size, int root, int step)
{
    int n = 0;
    for (int r = 0; r < size; r++)
        if ((r - root) % step == 0 && r != root)
            ranks[n++] = r;
    for (int i = n - 1; i > 0; i--) {
        int j = rand() % (i + 1);
        int32_t t = ranks[i];
        ranks[i] = ranks[j];
        ranks[j] = t;
    }
    return n;
}

static void check_shape(int shape, int group, int size, int root, int step)
{
    static int32_t ranks[MOST], before[MOST];
    int n = destinations(ranks, size, root, step);
    memcpy(before, ranks, sizeof ranks);
    dagi_tree_order(shape, group, root, size, ranks, n);
    memset(reached, 0, sizeof reached);
    depth_seen = most_children = 0;
    serve(shape, group, root, ranks, n, 0);
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(reached[before[i]], 1);
    int sum = 0;
    for (int r = 0; r < size; r++)
        sum += reached[r];
    ck_assert_int_eq(sum, n);
    int log = log2_up(n + 1);
    if (shape == DAG_BCAST_BINOMIAL) {
        ck_assert_int_le(depth_seen, log);
        ck_assert_int_le(most_children, log);
    } else if (shape == DAG_BCAST_CHAIN) {
        ck_assert_int_eq(depth_seen, n);
        ck_assert_int_le(most_children, 1);
    } else if (shape == DAG_BCAST_RING) {
        ck_assert_int_eq(depth_seen, (n + 1) / 2);
        ck_assert_int_le(most_children, 2);
    }
}

START_TEST(everybody_is_reached_once)
{
    int shape = _i;
    static const int sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 33, 100, 1025};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int group = 1; group <= 40; group += 13)
            for (int root = 0; root < sizes[s]; root += 1 + sizes[s] / 5)
                for (int step = 1; step <= 3; step++)
                    check_shape(shape, group, sizes[s], root, step);
}
END_TEST

/* Within a group, data cross its border once. */
START_TEST(groups_are_entered_once)
{
    enum { SIZE = 48, GROUP = 8, ROOT = 13 };
    int32_t ranks[SIZE];
    int entered[SIZE / GROUP] = {0};
    int n = destinations(ranks, SIZE, ROOT, 1);
    dagi_tree_order(DAG_BCAST_HIER, GROUP, ROOT, SIZE, ranks, n);
    struct {
        int self, first, n;
    } todo[SIZE] = {{ROOT, 0, n}};
    for (int at = 0, count = 1; at < count; at++) {
        dagi_tree_child child[DAGI_TREE_MAX_CHILDREN];
        const int32_t *list = ranks + todo[at].first;
        int k = dagi_tree_children(DAG_BCAST_HIER, GROUP, todo[at].self, list, todo[at].n, child);
        for (int i = 0; i < k; i++) {
            int rank = list[child[i].first];
            entered[rank / GROUP] += rank / GROUP != todo[at].self / GROUP;
            todo[count].self = rank;
            todo[count].first = todo[at].first + child[i].first + 1;
            todo[count++].n = child[i].count - 1;
        }
    }
    for (int g = 0; g < SIZE / GROUP; g++)
        ck_assert_int_eq(entered[g], g != ROOT / GROUP);
}
END_TEST

START_TEST(the_choice_knows_small_from_large)
{
    ck_assert_int_eq(dagi_tree_choose(0, 1000), DAG_BCAST_BINOMIAL);
    ck_assert_int_eq(dagi_tree_choose(64 << 20, 2), DAG_BCAST_BINOMIAL);
    ck_assert_int_eq(dagi_tree_choose(64 << 20, 8), DAG_BCAST_CHAIN);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tree");
    TCase *c = tcase_create("tree");
    srand(1);
    tcase_add_loop_test(c, everybody_is_reached_once, DAG_BCAST_BINOMIAL, DAG_BCAST_RING + 1);
    tcase_add_loop_test(c, everybody_is_reached_once, DAG_BCAST_HIER, DAG_BCAST_HIER + 1);
    tcase_add_test(c, groups_are_entered_once);
    tcase_add_test(c, the_choice_knows_small_from_large);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
