/* Shapes of broadcasts: everybody is reached once, by a destination rank or the producer, in as few
 * rounds as the shape promises. And times: the formulas are what a run of all messages takes. */
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
    } else if (shape == DAG_BCAST_FLAT && n <= DAGI_TREE_MAX_CHILDREN) {
        ck_assert_int_eq(depth_seen, n > 0);
        ck_assert_int_eq(most_children, n);
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

/* ---- how long it takes ------------------------------------------------------------------- */

/*
 * Every message of a broadcast, one by one: `free_at` is when a rank's port has sent what it was given,
 * `has` when a rank has a segment or piece. A message occupies its sender's port for as long as it takes,
 * and ports serve what waits for them in the order in which they could send it.
 */
enum { RANKS = 18 };

typedef struct run {
    dagi_tree_link link;
    double part; /* what a segment or piece takes */
    int segments;
    double free_at[RANKS], last;
} run;

static double send_at(run *r, int rank, double from)
{
    double begin = r->free_at[rank] > from ? r->free_at[rank] : from;
    r->free_at[rank] = begin + r->part;
    r->last = r->free_at[rank] > r->last ? r->free_at[rank] : r->last;
    return r->free_at[rank];
}

/* `self` has segment k at has[k], and serves its list. */
static void walk(run *r, int shape, int group, int self, const int32_t *list, int n,
                 const double *has)
{
    dagi_tree_child child[DAGI_TREE_MAX_CHILDREN];
    int nchildren = dagi_tree_children(shape, group, self, list, n, child);
    for (int i = 0; i < nchildren; i++) {
        double there[DAGI_SEGMENTS_MAX];
        const int32_t *rest = list + child[i].first;
        for (int k = 0; k < r->segments; k++)
            there[k] = send_at(r, self, has[k]);
        walk(r, dagi_tree_relay_shape(shape), group, rest[0], rest + 1, child[i].count - 1, there);
    }
}

/* Producer n, destinations 0..n-1, which know their neighbour to be ready two words after both have
 * their own piece. What can be sent first is sent next; of several, what has come first. */
static void ring(run *r, int n)
{
    static double has[RANKS][RANKS];
    static int sent[RANKS][RANKS];
    double own[RANKS];
    memset(sent, 0, sizeof sent);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            has[i][k] = 1e30;
    for (int i = 0; i < n; i++)
        own[i] = has[i][i] = send_at(r, n, 0);
    for (int left = n * (n - 1); left > 0; left--) {
        int from = -1, piece = -1;
        double first = 1e30, came = 1e30;
        for (int i = 0; i < n; i++) {
            int next = (i + 1) % n;
            double ready = (own[i] > own[next] ? own[i] : own[next]) + 2 * r->link.alpha;
            for (int k = 0; k < n; k++) {
                double at = has[i][k] > ready ? has[i][k] : ready;
                at = at > r->free_at[i] ? at : r->free_at[i];
                if (k != next && !sent[i][k] &&
                    (at < first || (at <= first && has[i][k] < came))) {
                    first = at;
                    came = has[i][k];
                    from = i;
                    piece = k;
                }
            }
        }
        ck_assert_int_ge(from, 0);
        sent[from][piece] = 1;
        has[(from + 1) % n][piece] = send_at(r, from, first);
    }
}

static double played(int shape, int group, size_t bytes, int n, dagi_tree_link link)
{
    int32_t ranks[RANKS];
    double at_root[DAGI_SEGMENTS_MAX] = {0};
    run r = {.link = link, .segments = dagi_tree_segments(shape, bytes, INT64_MAX, n)};
    r.part = link.alpha + link.beta * (double)bytes / r.segments;
    if (shape == DAG_BCAST_SCATTER && n > 1) {
        ring(&r, n);
        return r.last;
    }
    for (int i = 0; i < n; i++)
        ranks[i] = i + 1;
    dagi_tree_order(shape, group, 0, n + 1, ranks, n);
    walk(&r, shape, group, 0, ranks, n, at_root);
    return r.last;
}

static const dagi_tree_link links[] = {
    {1e-6, 1e-10, 0, 0}, {5e-5, 1e-8, 0, 0}, {1e-9, 1e-9, 0, 0}, {0, 1e-11, 1, 0}};
static const size_t sizes_played[] = {0, 8, 4096, 65536, 300 << 10, 1 << 20, 64 << 20};
enum { LINKS = sizeof links / sizeof *links, SIZES = sizeof sizes_played / sizeof *sizes_played };

static void check_seconds(int shape, int group, size_t bytes, int n, dagi_tree_link link)
{
    double said = dagi_tree_seconds(shape, group, bytes, n, link);
    double found = played(shape, group, bytes, n, link);
    ck_assert_msg(said >= found * (1 - 1e-9) && said <= found * (1 + 1e-9),
                  "shape %d, group %d, %zu bytes, %d ranks: %g s, played %g s", shape, group, bytes,
                  n, said, found);
}

START_TEST(times_are_those_of_all_messages)
{
    static const int shapes[] = {DAG_BCAST_BINOMIAL, DAG_BCAST_CHAIN, DAG_BCAST_RING,
                                 DAG_BCAST_SCATTER, DAG_BCAST_FLAT};
    for (int n = 1; n < RANKS; n++)
        for (int k = 0; k < SIZES; k++)
            for (int i = 0; i < 5; i++)
                check_seconds(shapes[i], 1, sizes_played[k], n, links[_i]);
    for (int group = 1; group < 9; group++)
        for (int n = group - 1; n < RANKS; n += group) /* groups that are full */
            for (int k = 0; k < SIZES && n > 0; k++)
                check_seconds(DAG_BCAST_HIER, group, sizes_played[k], n, links[_i]);
}
END_TEST

START_TEST(the_choice_is_the_fastest)
{
    int chosen[DAG_BCAST_HIER] = {0};
    for (int n = 1; n < RANKS; n++)
        for (int k = 0; k < SIZES; k++)
            for (int scatters = 0; scatters < 2; scatters++) {
                int choice = dagi_tree_choose(sizes_played[k], n, scatters, links[_i]);
                double least = 1e30;
                for (int shape = DAG_BCAST_BINOMIAL; shape <= DAG_BCAST_SCATTER; shape++) {
                    double seconds = played(shape, 1, sizes_played[k], n, links[_i]);
                    if ((shape != DAG_BCAST_SCATTER || scatters) && seconds < least)
                        least = seconds;
                }
                ck_assert(scatters || choice != DAG_BCAST_SCATTER);
                ck_assert_double_le(played(choice, 1, sizes_played[k], n, links[_i]),
                                    least * (1 + 1e-9));
                chosen[choice]++;
            }
    ck_assert_int_gt(chosen[DAG_BCAST_BINOMIAL], 0);
    ck_assert_int_gt(chosen[DAG_BCAST_CHAIN], 0);
    ck_assert_int_gt(chosen[DAG_BCAST_SCATTER], 0);
}
END_TEST

START_TEST(the_choice_knows_small_from_large)
{
    const dagi_tree_link unknown = {0};
    ck_assert_int_eq(dagi_tree_choose(0, 1000, 1, unknown), DAG_BCAST_BINOMIAL);
    ck_assert_int_eq(dagi_tree_choose((256 << 10) - 1, 8, 1, unknown), DAG_BCAST_BINOMIAL);
    ck_assert_int_eq(dagi_tree_choose(256 << 10, 2, 1, unknown), DAG_BCAST_BINOMIAL);
    ck_assert_int_eq(dagi_tree_choose(64 << 20, 2, 1, unknown), DAG_BCAST_BINOMIAL);
    ck_assert_int_eq(dagi_tree_choose(256 << 10, 3, 1, unknown), DAG_BCAST_CHAIN);
    ck_assert_int_eq(dagi_tree_choose(64 << 20, 8, 1, unknown), DAG_BCAST_CHAIN);
}
END_TEST

/* Where all ranks are in one node nobody sends in segments, and a few are served at once. */
START_TEST(the_choice_knows_a_node)
{
    const dagi_tree_link node = {.near = 1};
    for (size_t bytes = 8; bytes <= (size_t)64 << 20; bytes *= 8)
        for (int n = 1; n < 100; n++)
            ck_assert_int_eq(dagi_tree_choose(bytes, n, 1, node),
                             n < 8 ? DAG_BCAST_FLAT : DAG_BCAST_BINOMIAL);
    ck_assert_int_eq(dagi_tree_choose(0, 3, 1, node), DAG_BCAST_BINOMIAL);
    ck_assert_int_eq(dagi_tree_settle(DAG_BCAST_AUTO, DAG_BCAST_CHAIN, 1 << 20, 3, 1, node), DAG_BCAST_CHAIN);
    ck_assert_int_eq(dagi_tree_settle(DAG_BCAST_AUTO, DAG_BCAST_AUTO, 1 << 20, 1, 1, node), DAG_BCAST_BINOMIAL);
}
END_TEST

/* Where messages take long the producer serves all, unless its own part is longer; within a node, and where
 * they are short, nothing changes. */
START_TEST(the_choice_knows_what_is_far)
{
    for (int known = 0; known < 2; known++) {
        const dagi_tree_link far = {.beta = known ? 1e-8 : 0, .latency = 20e-3},
                             close = {.latency = 0.4e-3}, node = {.near = 1, .latency = 20e-3};
        ck_assert_int_eq(dagi_tree_choose(0, 3, 1, far), DAG_BCAST_FLAT);
        ck_assert_int_eq(dagi_tree_choose(5000, 64, 1, far), DAG_BCAST_FLAT);
        ck_assert_int_eq(dagi_tree_choose(1 << 20, 3, 1, far), DAG_BCAST_FLAT);
        ck_assert_int_ne(dagi_tree_choose(3 << 20, 3, 1, far), DAG_BCAST_FLAT);
        ck_assert_int_ne(dagi_tree_choose(1 << 20, 63, 1, far), DAG_BCAST_FLAT);
        ck_assert_int_ne(dagi_tree_choose(0, DAGI_TREE_MAX_CHILDREN + 1, 1, far), DAG_BCAST_FLAT);
        ck_assert_int_ne(dagi_tree_choose(0, 2, 1, close), DAG_BCAST_FLAT);
        ck_assert_int_eq(dagi_tree_choose(0, 3, 1, node), DAG_BCAST_BINOMIAL);
    }
}
END_TEST

START_TEST(what_is_asked_for_goes_before_the_setting)
{
    const dagi_tree_link unknown = {0};
    const size_t large = 64 << 20;
    ck_assert_int_eq(dagi_tree_settle(DAG_BCAST_RING, DAG_BCAST_CHAIN, large, 8, 1, unknown), DAG_BCAST_RING);
    ck_assert_int_eq(dagi_tree_settle(DAG_BCAST_AUTO, DAG_BCAST_RING, large, 8, 1, unknown), DAG_BCAST_RING);
    ck_assert_int_eq(dagi_tree_settle(DAG_BCAST_AUTO, DAG_BCAST_AUTO, large, 8, 1, unknown), DAG_BCAST_CHAIN);
    ck_assert_int_eq(dagi_tree_settle(DAG_BCAST_RING, DAG_BCAST_RING, large, 1, 1, unknown), DAG_BCAST_BINOMIAL);
    ck_assert_int_eq(dagi_tree_settle(DAG_BCAST_SCATTER, DAG_BCAST_AUTO, large, 8, 1, unknown),
                     DAG_BCAST_SCATTER);
    ck_assert_int_eq(dagi_tree_settle(DAG_BCAST_SCATTER, DAG_BCAST_AUTO, large, 8, 0, unknown),
                     DAG_BCAST_BINOMIAL);
    ck_assert_int_eq(dagi_tree_group(-1), 1);
    ck_assert_int_eq(dagi_tree_group(4), 4);
    ck_assert_int_eq(dagi_tree_group(1 << 20), UINT16_MAX);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tree");
    TCase *c = tcase_create("tree");
    srand(1);
    tcase_add_loop_test(c, everybody_is_reached_once, DAG_BCAST_BINOMIAL, DAG_BCAST_RING + 1);
    tcase_add_loop_test(c, everybody_is_reached_once, DAG_BCAST_HIER, DAG_BCAST_FLAT + 1);
    tcase_add_test(c, groups_are_entered_once);
    tcase_add_test(c, the_choice_knows_small_from_large);
    tcase_add_test(c, the_choice_knows_a_node);
    tcase_add_test(c, the_choice_knows_what_is_far);
    tcase_add_test(c, what_is_asked_for_goes_before_the_setting);
    tcase_add_loop_test(c, times_are_those_of_all_messages, 0, LINKS);
    tcase_add_loop_test(c, the_choice_is_the_fastest, 0, LINKS);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
