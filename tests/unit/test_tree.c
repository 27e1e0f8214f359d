/* Shapes of broadcasts: everybody is reached once, by a destination rank or the producer, in as few
 * rounds as the shape promises. And times: the formulas are what a run of all messages takes. */
#include "../common/run_suite.h"
#include "../../runtime/net/shapes.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Loops of millions assert by these: ck_assert() leaves a message behind each time, more than Check reads. */
#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition))                                                                          \
            ck_abort_msg("%s fails", #condition);                                                  \
    } while (0)
#define EXPECT_RELATION(a, relation, b)                                                            \
    do {                                                                                           \
        const double a_ = (double)(a), b_ = (double)(b);                                           \
        if (!(a_ relation b_))                                                                     \
            ck_abort_msg("%s " #relation " %s fails: %g, %g", #a, #b, a_, b_);                     \
    } while (0)

enum { MOST = 1100 };
#define HIER(outer, inner) (DAG_BCAST_##outer | DAG_BCAST_WITHIN(1, DAG_BCAST_##inner))

static int reached[MOST], parent[MOST], served[MOST];
static int depth_seen, most_children;

/* Rank `self`, at `depth`, serves its list. */
static void serve(int self, const int32_t *list, const uint16_t *count, int n, int depth)
{
    int nchildren = 0;
    depth_seen = depth > depth_seen ? depth : depth_seen;
    for (int i = 0; i < n; i += count[i], nchildren++) {
        EXPECT(count[i] >= 1 && i + count[i] <= n);
        reached[list[i]]++;
        parent[list[i]] = self;
        served[self]++;
        serve(list[i], list + i + 1, count + i + 1, count[i] - 1, depth + 1);
    }
    most_children = nchildren > most_children ? nchildren : most_children;
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

/* Everybody is reached once, whoever has been told by whoever has been told before. */
static int plan_half(const dag_bcast_tree *tree, enum dagi_tree_half half, const dagi_nodes *nodes, int size, int root,
                     int step)
{
    static int32_t ranks[MOST], before[MOST];
    static uint16_t count[MOST];
    int n = destinations(ranks, size, root, step), sum = 0;
    memcpy(before, ranks, sizeof ranks);
    if (n > 0)
        dagi_tree_plan(tree, half, nodes, root, ranks, count, n);
    memset(reached, 0, sizeof reached);
    memset(served, 0, sizeof served);
    depth_seen = most_children = 0;
    serve(root, ranks, count, n, 0);
    for (int i = 0; i < n; i++)
        EXPECT_RELATION(reached[before[i]], ==, 1);
    for (int r = 0; r < size; r++)
        sum += reached[r];
    EXPECT_RELATION(sum, ==, n);
    return n;
}

static int plan(const dag_bcast_tree *tree, const dagi_nodes *nodes, int size, int root, int step)
{
    return plan_half(tree, DAGI_TREE_ALONE, nodes, size, root, step);
}

static void check_shape(dag_bcast shape, int size, int root, int step)
{
    const dagi_nodes nodes = {NULL, 1};
    int n = plan(&(dag_bcast_tree){.shapes = shape}, &nodes, size, root, step), log = log2_up(n + 1);
    if (shape == DAG_BCAST_BINOMIAL) {
        EXPECT_RELATION(depth_seen, <=, log);
        EXPECT_RELATION(most_children, <=, log);
    } else if (shape == DAG_BCAST_CHAIN) {
        EXPECT_RELATION(depth_seen, ==, n);
        EXPECT_RELATION(most_children, <=, 1);
    } else if (shape == DAG_BCAST_RING) {
        EXPECT_RELATION(depth_seen, ==, (n + 1) / 2);
        EXPECT_RELATION(most_children, <=, 2);
    } else if (shape == DAG_BCAST_TREES) {
        EXPECT_RELATION(depth_seen, <=, log2_up(n + 1) + 1);
        EXPECT_RELATION(most_children, <=, 2);
        EXPECT_RELATION(served[root], ==, n > 0);
    } else {
        EXPECT_RELATION(depth_seen, ==, n > 0);
        EXPECT_RELATION(most_children, ==, n);
    }
}

START_TEST(everybody_is_reached_once)
{
    static const int sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 33, 100, 1025};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int root = 0; root < sizes[s]; root += 1 + sizes[s] / 5)
            for (int step = 1; step <= 3; step++)
                check_shape((dag_bcast)_i, sizes[s], root, step);
}
END_TEST

/* Whoever serves somebody in one of two trees serves nobody in the other, but for the root. */
START_TEST(nobody_serves_in_both_trees)
{
    static int first[MOST];
    const dag_bcast_tree tree = {.shapes = DAG_BCAST_TREES};
    const dagi_nodes nodes = {NULL, 1};
    for (int size = 2; size < 200; size++)
        for (int root = 0; root < size; root += 1 + size / 5) {
            plan_half(&tree, DAGI_TREE_FIRST, &nodes, size, root, 1);
            memcpy(first, served, sizeof first);
            plan_half(&tree, DAGI_TREE_SECOND, &nodes, size, root, 1);
            for (int r = 0; r < size; r++)
                EXPECT(r == root || !first[r] || !served[r]);
        }
}
END_TEST

START_TEST(halves_have_all_segments)
{
    for (int segments = 2; segments < 300; segments++) {
        dagi_tree_share former = dagi_tree_share_of(DAGI_TREE_FIRST, segments);
        dagi_tree_share latter = dagi_tree_share_of(DAGI_TREE_SECOND, segments);
        EXPECT(former.first == 0 && former.count == latter.first && latter.count > 0);
        EXPECT(latter.first + latter.count == segments && former.count - latter.count < 2);
        EXPECT_RELATION(dagi_tree_share_of(DAGI_TREE_ALONE, segments).count, ==, segments);
    }
}
END_TEST

enum { INNER = 5 };
static const dag_bcast inner_shapes[INNER] = {DAG_BCAST_BINOMIAL, DAG_BCAST_CHAIN, DAG_BCAST_RING,
                                              DAG_BCAST_FLAT, DAG_BCAST_TREES};

/* Which group of a level each member is in, by the words of the language: groups of g successive members. */
static void groups_of(int32_t g, const dagi_nodes *nodes, int size, int root, int step, const int *above,
                      int *group)
{
    for (int r = 0; r < size; r++) {
        int first = r, before = 0;
        group[r] = -1;
        if ((r - root) % step != 0)
            continue;
        for (int o = r - 1; o >= 0; o--) {
            bool member = (o - root) % step == 0 && above[o] == above[r];
            before += member;
            if (member && dagi_node_of(nodes, o) == dagi_node_of(nodes, r))
                first = o;
        }
        group[r] = above[r] * MOST + (g == DAG_BCAST_NODE ? first : before / g);
    }
}

/* A group is entered once, and never by way of another that it would have to be entered from again. */
static void entered_once(const int *group, int size, int root)
{
    for (int r = 0; r < size; r++) {
        int entered = 0;
        for (int o = 0; o < size && reached[r]; o++)
            entered += reached[o] && group[o] == group[r] && group[parent[o]] != group[o];
        if (reached[r])
            EXPECT_RELATION(entered, ==, group[r] != group[root]);
    }
}

/* Any shape on either of two levels, for all numbers of ranks that a few nodes have, nodes in any order. */
START_TEST(groups_are_entered_once)
{
    static const int32_t of[][16] = {{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3},
                                     {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3},
                                     {7, 1, 1, 9, 7, 7, 7, 9, 1, 2, 9, 9, 7, 1, 1, 7}};
    static const int32_t groups[] = {1, 2, 3, 4, 5, 16, DAG_BCAST_NODE};
    int group[16], all[16] = {0};
    enum { WAYS = INNER * INNER };
    for (int x = 0; x < WAYS * 7 * 3; x++)
        for (int size = 1; size <= 16; size++)
            for (int root = 0; root < size; root++) {
                int step = 1 + (root + size) % 3;
                const dagi_nodes nodes = {of[x / WAYS % 3], 1};
                const dag_bcast_tree tree = {
                    inner_shapes[x % INNER] | DAG_BCAST_WITHIN(1, inner_shapes[x / INNER % INNER]),
                    {groups[x / WAYS / 3]}};
                plan_half(&tree, (enum dagi_tree_half)(x % 3), &nodes, size, root, step);
                groups_of(groups[x / WAYS / 3], &nodes, size, root, step, all, group);
                entered_once(group, size, root);
            }
}
END_TEST

/* The first member instead of a number that grows with each level. */
static void small_numbers(int *group, int size)
{
    int first[MOST];
    for (int r = 0; r < size; r++)
        for (first[r] = 0; group[first[r]] != group[r];)
            first[r]++;
    for (int r = 0; r < size; r++)
        group[r] = group[r] < 0 ? -1 : first[r];
}

/* Groups within groups within groups. */
START_TEST(groups_may_have_groups)
{
    static const int32_t of[] = {0, 1, 0, 1, 1, 0, 2, 2, 2, 1, 0, 2};
    int group[3][48], all[48] = {0};
    for (int x = 0; x < 64; x++)
        for (int order = 0; order < 3; order++)
            for (int root = 0; root < 48; root += 5) {
                int32_t nodes_of[48];
                for (int r = 0; r < 48; r++)
                    nodes_of[r] = of[r % 12];
                const dagi_nodes nodes = {nodes_of, 1};
                dag_bcast_tree tree = {inner_shapes[x % 4] | DAG_BCAST_WITHIN(1, inner_shapes[x / 4 % 4]) |
                                           DAG_BCAST_WITHIN(2, inner_shapes[x / 16]) |
                                           DAG_BCAST_WITHIN(3, inner_shapes[(x + order) % INNER]),
                                       {12, 5, 2}};
                tree.group[order] = DAG_BCAST_NODE;
                plan(&tree, &nodes, 48, root, 1 + x % 3);
                for (int level = 0; level < 3; level++) {
                    groups_of(tree.group[level], &nodes, 48, root, 1 + x % 3, level ? group[level - 1] : all,
                              group[level]);
                    small_numbers(group[level], 48);
                    entered_once(group[level], 48, root);
                }
            }
}
END_TEST

/* A long list: no table is too small. */
START_TEST(long_lists_have_groups)
{
    const dagi_nodes nodes = {NULL, 7};
    const int32_t groups[] = {1, 2, 31, 1000, 5000, DAG_BCAST_NODE};
    for (int k = 0; k < 6; k++)
        for (int x = 0; x < 16; x++)
            plan(&(dag_bcast_tree){inner_shapes[x % 4] | DAG_BCAST_WITHIN(1, inner_shapes[x / 4]) |
                                       DAG_BCAST_WITHIN(2, DAG_BCAST_BINOMIAL) |
                                       DAG_BCAST_WITHIN(3, DAG_BCAST_FLAT),
                                   {groups[k], groups[(k + 1) % 6], groups[(k + 2) % 6]}},
                 &nodes, 1025, 68 * x, 1);
}
END_TEST

/* ---- who the members are ------------------------------------------------------------------- */

START_TEST(members_are_counted_by_node)
{
    static const int32_t of[] = {0, 1, 0, 1, 1, 0, 2, 2};
    const dagi_nodes table = {of, 1}, rows = {NULL, 4}, single = {NULL, 1}, one = {NULL, 8};
    const int32_t ranks[] = {7, 1, 2, 3, 4, 5, 6};
    dagi_tree_census c = dagi_tree_count(&table, 0, ranks, 7);
    EXPECT(c.ndest == 7 && c.nodes == 3 && c.largest == 3 && c.with == 3);
    c = dagi_tree_count(&table, 0, ranks + 5, 1);
    EXPECT(c.ndest == 1 && c.nodes == 1 && c.largest == 2 && c.with == 2);
    c = dagi_tree_count(&rows, 0, ranks, 7);
    EXPECT(c.nodes == 2 && c.largest == 4 && c.with == 4);
    c = dagi_tree_count(&single, 0, ranks, 7);
    EXPECT(c.nodes == 8 && c.largest == 1 && c.with == 1);
    c = dagi_tree_count(&one, 0, ranks, 7);
    EXPECT(c.nodes == 1 && c.largest == 8 && c.with == 8);
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
    dagi_tree_wire wire;
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

/* `self` has segment k at has[k], and serves its list: the root child by child, a relay segment by segment. */
static void walk(run *r, int self, const int32_t *list, const uint16_t *count, int n, const double *has)
{
    const int segments = r->segments;
    double (*there)[segments] = malloc(sizeof *there * (size_t)(n + 1)); /* of the children, which are fewer */
    for (int step = 0, k = 0; self > 0 && k < r->segments; k++, step = 0)
        for (int i = 0; i < n; i += count[i])
            there[step++][k] = send_at(r, self, has[k]);
    for (int i = 0, step = 0; self == 0 && i < n; i += count[i], step++)
        for (int k = 0; k < r->segments; k++)
            there[step][k] = send_at(r, self, has[k]);
    for (int i = 0, step = 0; i < n; i += count[i], step++)
        walk(r, list[i], list + i + 1, count + i + 1, count[i] - 1, there[step]);
    free(there);
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
            double ready = (own[i] > own[next] ? own[i] : own[next]) + 2 * r->wire.busy;
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
        EXPECT_RELATION(from, >=, 0);
        sent[from][piece] = 1;
        has[(from + 1) % n][piece] = send_at(r, from, first);
    }
}

/* Two trees: each has one child of the root, which sends them segments in turns. */
static void play_pair(run *r, const dag_bcast_tree *tree, int n)
{
    const dagi_nodes nodes = {NULL, 1};
    const int segments = r->segments;
    double there[2][DAGI_SEGMENTS_MAX];
    int32_t ranks[RANKS];
    uint16_t count[RANKS];
    for (int k = 0; k < segments; k++)
        there[k % 2][k / 2] = send_at(r, 0, 0);
    for (int half = 0; half < 2; half++) {
        enum dagi_tree_half which = half ? DAGI_TREE_SECOND : DAGI_TREE_FIRST;
        for (int i = 0; i < n; i++)
            ranks[i] = i + 1;
        dagi_tree_plan(tree, which, &nodes, 0, ranks, count, n);
        EXPECT_RELATION(count[0], ==, n);
        r->segments = dagi_tree_share_of(which, segments).count;
        walk(r, ranks[0], ranks + 1, count + 1, n - 1, there[half]);
    }
}

static double played(const dag_bcast_tree *tree, size_t bytes, int n, int segments, dagi_tree_wire wire)
{
    const dagi_nodes nodes = {NULL, 1};
    int32_t ranks[RANKS];
    uint16_t count[RANKS];
    double at_root[DAGI_SEGMENTS_MAX] = {0};
    run r = {.wire = wire, .segments = segments};
    r.part = wire.busy + wire.beta * (double)bytes / r.segments;
    if (tree->shapes == DAG_BCAST_SCATTER && n > 1) {
        ring(&r, n);
        return r.last;
    }
    if (tree->shapes == DAG_BCAST_TREES && segments > 1) {
        play_pair(&r, tree, n);
        return r.last;
    }
    for (int i = 0; i < n; i++)
        ranks[i] = i + 1;
    dagi_tree_plan(tree, DAGI_TREE_ALONE, &nodes, 0, ranks, count, n);
    walk(&r, 0, ranks, count, n, at_root);
    return r.last;
}

static const dagi_tree_wire wires[] = {{1e-6, 0, 1e-10}, {5e-5, 0, 1e-8}, {1e-9, 0, 1e-9}, {0, 0, 1e-11}};
static const size_t sizes_played[] = {0, 8, 4096, 65536, 300 << 10, 1 << 20, 64 << 20};
enum { LINKS = sizeof wires / sizeof *wires, SIZES = sizeof sizes_played / sizeof *sizes_played };

static dagi_tree_census spread(int n)
{
    return (dagi_tree_census){.ndest = n, .nodes = n + 1, .largest = 1, .with = 1};
}

static dagi_tree_census together(int n)
{
    return (dagi_tree_census){.ndest = n, .nodes = 1, .largest = n + 1, .with = n + 1};
}

/* One segment and several: the formula of the latter takes the slowest relay for all behind it. */
static void check_seconds(dag_bcast_tree tree, size_t bytes, int n, dagi_tree_wire wire)
{
    const dagi_tree_link link = {wire, wire, 0};
    const dagi_tree_census census = spread(n);
    dagi_tree_way way = {.tree = tree, .part = bytes + 1};
    bool scatter = tree.shapes == DAG_BCAST_SCATTER, pair = tree.shapes == DAG_BCAST_TREES;
    dagi_tree_time(&way, bytes, &census, &link);
    double found = played(&tree, bytes, n, scatter ? n : 1 + pair, wire);
    if (!(way.last >= found * (1 - 1e-9) && way.last <= found * (1 + 1e-9)))
        ck_abort_msg("shapes %x, group %d, %zu bytes, %d ranks: %g s, played %g s", tree.shapes, tree.group[0],
                  bytes, n, way.last, found);
    EXPECT(way.mean <= way.last * (1 + 1e-9));
    if (scatter || bytes < 4096)
        return;
    way.part = bytes / 16;
    dagi_tree_time(&way, bytes, &census, &link);
    found = played(&tree, bytes, n, dagi_tree_segments(&way, bytes, INT64_MAX, n), wire);
    if (!(way.last >= found * (1 - 1e-9) && way.last <= found * 1.35))
        ck_abort_msg("shapes %x, group %d, %zu bytes in parts, %d ranks: %g s, played %g s", tree.shapes,
                  tree.group[0], bytes, n, way.last, found);
}

START_TEST(times_are_those_of_all_messages)
{
    for (int n = 1; n < RANKS; n++)
        for (int k = 0; k < SIZES; k++) {
            for (uint32_t shape = DAG_BCAST_BINOMIAL; shape <= DAG_BCAST_TREES; shape++)
                check_seconds((dag_bcast_tree){.shapes = shape}, sizes_played[k], n, wires[_i]);
            for (int x = 0; x < 16; x++)
                check_seconds((dag_bcast_tree){inner_shapes[x % 4] | DAG_BCAST_WITHIN(1, inner_shapes[x / 4]),
                                               {1 + n % 5}}, sizes_played[k], n, wires[_i]);
        }
}
END_TEST

/* Of what a level may be, and two levels, nothing is faster; for a chain in as many segments as it takes. */
START_TEST(the_choice_is_the_fastest)
{
    static const dag_bcast_tree nobody = {0};
    int chosen[DAG_BCAST_TREES + 1] = {0}, groups = 0;
    const dagi_tree_link link = {wires[_i], wires[_i], 0};
    for (int n = 1; n < RANKS; n++)
        for (int k = 0; k < SIZES; k++)
            for (int cuts = 0; cuts < 1 << 20; cuts = 2 * cuts + 1) {
                size_t bytes = sizes_played[k];
                dagi_tree_census census = spread(n);
                dagi_tree_way way = dagi_tree_settle(&nobody, &nobody, bytes, &census, cuts, &link);
                int segments = dagi_tree_segments(&way, bytes, INT64_MAX, n);
                /* two trees with levels are not played here: a rank may serve in both */
                bool levels = way.tree.shapes > 15 && dagi_tree_has(&way.tree, DAG_BCAST_TREES);
                double took = levels ? way.last : played(&way.tree, bytes, n, segments, wires[_i]);
                for (uint32_t shape = DAG_BCAST_BINOMIAL; shape <= DAG_BCAST_TREES; shape++) {
                    const dag_bcast_tree tree = {.shapes = shape};
                    bool scatter = shape == DAG_BCAST_SCATTER, pair = shape == DAG_BCAST_TREES;
                    for (int parts = 1 + pair; parts == 1 || (dagi_tree_pipelined(&tree) && parts <= 256 &&
                                                             (size_t)parts <= bytes); parts *= 2)
                        if (cuts >= (scatter ? n : pair ? 2 : 0) && (n > 1 || !pair))
                            EXPECT_RELATION(took, <=, played(&tree, bytes, n, scatter ? n : parts, wires[_i]) *
                                                          (1 + 1e-9));
                }
                EXPECT(cuts >= n || way.tree.shapes != DAG_BCAST_SCATTER);
                EXPECT(cuts > 1 || !dagi_tree_has(&way.tree, DAG_BCAST_TREES));
                chosen[way.tree.shapes & 15]++;
                groups += way.tree.shapes > 15;
            }
    EXPECT_RELATION(chosen[DAG_BCAST_BINOMIAL], >, 0);
    EXPECT_RELATION(chosen[DAG_BCAST_CHAIN] + groups, >, 0);
}
END_TEST

static dagi_tree_way settled(uint32_t asked, uint32_t usual, size_t bytes, dagi_tree_census census,
                             int64_t cuts, dagi_tree_link link)
{
    dag_bcast_tree ask = {.shapes = asked}, use = {.shapes = usual};
    return dagi_tree_settle(&ask, &use, bytes, &census, cuts, &link);
}

static uint32_t chosen(size_t bytes, dagi_tree_census census, dagi_tree_link link)
{
    return settled(0, 0, bytes, census, 1000, link).tree.shapes;
}

START_TEST(the_choice_knows_small_from_large)
{
    const dagi_tree_link unknown = {0};
    EXPECT_RELATION(chosen(0, spread(1000), unknown), ==, DAG_BCAST_BINOMIAL);
    EXPECT_RELATION(chosen((64 << 10) - 1, spread(8), unknown), ==, DAG_BCAST_BINOMIAL);
    EXPECT_RELATION(chosen(256 << 10, spread(2), unknown), ==, DAG_BCAST_BINOMIAL);
    EXPECT_RELATION(chosen(64 << 20, spread(2), unknown), ==, DAG_BCAST_BINOMIAL);
    EXPECT_RELATION(chosen(64 << 10, spread(3), unknown), ==, DAG_BCAST_CHAIN);
    EXPECT_RELATION(chosen((256 << 10) - 1, spread(16), unknown), ==, DAG_BCAST_CHAIN);
    EXPECT_RELATION(chosen((256 << 10) - 1, spread(17), unknown), ==, DAG_BCAST_BINOMIAL);
    EXPECT_RELATION(chosen(256 << 10, spread(17), unknown), ==, DAG_BCAST_CHAIN);
    EXPECT_RELATION(chosen(64 << 20, spread(8), unknown), ==, DAG_BCAST_CHAIN);
    dagi_tree_way way = settled(0, 0, 64 << 20, spread(8), 1000, unknown);
    EXPECT_RELATION(dagi_tree_segments(&way, 1 << 20, 100, 8), ==, 8);
    EXPECT_RELATION(dagi_tree_segments(&way, 1 << 20, 5, 8), ==, 5);
    EXPECT_RELATION(dagi_tree_segments(&way, 100, 5, 8), ==, 1);
    EXPECT_RELATION(dagi_tree_segments(&way, (size_t)1 << 40, 1000, 8), ==, DAGI_SEGMENTS_MAX);
}
END_TEST

/* Where all ranks are in one node nobody sends in segments, and a few are served at once. */
START_TEST(the_choice_knows_a_node)
{
    const dagi_tree_link unknown = {0};
    for (size_t bytes = 8; bytes <= (size_t)64 << 20; bytes *= 8)
        for (int n = 1; n < 100; n++)
            EXPECT_RELATION(chosen(bytes, together(n), unknown), ==,
                             n < 8 && n > 1 ? DAG_BCAST_FLAT : DAG_BCAST_BINOMIAL);
    EXPECT_RELATION(chosen(0, together(3), unknown), ==, DAG_BCAST_BINOMIAL);
}
END_TEST

/* A node that has several members gets the value once, whatever is known of the network and however fast it
 * is. */
START_TEST(the_choice_enters_a_node_once)
{
    static const dagi_tree_wire slow = {1e-3, 0, 1e-8}, quick = {1e-7, 0, 1e-11};
    const dagi_tree_link all[] = {{.latency = 0}, {.latency = 1e-2}, {slow, slow, 0}, {quick, slow, 0},
                                  {slow, quick, 1e-2}};
    for (size_t bytes = 0; bytes <= (size_t)64 << 20; bytes = 8 * bytes + 1)
        for (int nodes = 2; nodes < 8; nodes++)
            for (int each = 2; each < 9; each++)
                for (int k = 0; k < 5; k++) {
                    dagi_tree_census c = {.ndest = nodes * each - 1, .nodes = nodes, .largest = each,
                                          .with = each};
                    dag_bcast_tree tree = settled(0, 0, bytes, c, 1000, all[k]).tree;
                    EXPECT(tree.shapes > 15 && tree.shapes < 256 && tree.group[0] == DAG_BCAST_NODE);
                }
    const dagi_tree_census two = {.ndest = 7, .nodes = 2, .largest = 4, .with = 4};
    EXPECT_RELATION(chosen(80000, two, all[0]), ==, HIER(BINOMIAL, FLAT));
    EXPECT_RELATION(chosen(0, two, all[0]), ==, HIER(BINOMIAL, BINOMIAL));
}
END_TEST

/* Where messages take long the producer serves all, unless its own part is longer; within a node, and where
 * they are short, nothing changes. */
START_TEST(the_choice_knows_what_is_far)
{
    for (int known = 0; known < 2; known++) {
        const dagi_tree_wire wire = {.beta = known ? 1e-8 : 0};
        const dagi_tree_link far = {wire, wire, 20e-3}, close = {.latency = 0.4e-3},
                             node = {.latency = 20e-3};
        EXPECT_RELATION(chosen(0, spread(3), far), ==, DAG_BCAST_FLAT);
        EXPECT_RELATION(chosen(5000, spread(64), far), ==, DAG_BCAST_FLAT);
        EXPECT_RELATION(chosen(1 << 20, spread(3), far), ==, DAG_BCAST_FLAT);
        EXPECT_RELATION(chosen(3 << 20, spread(3), far), !=, DAG_BCAST_FLAT);
        EXPECT_RELATION(chosen(1 << 20, spread(63), far), !=, DAG_BCAST_FLAT);
        EXPECT_RELATION(chosen(0, spread(2), close), !=, DAG_BCAST_FLAT);
        EXPECT_RELATION(chosen(0, together(3), node), ==, DAG_BCAST_BINOMIAL);
    }
}
END_TEST

START_TEST(what_is_asked_for_goes_before_the_setting)
{
    const dagi_tree_link unknown = {0};
    const size_t large = 64 << 20;
    enum { AUTO = DAG_BCAST_AUTO, RING = DAG_BCAST_RING, CHAIN = DAG_BCAST_CHAIN, SCATTER = DAG_BCAST_SCATTER,
           TREES = DAG_BCAST_TREES };
    EXPECT_RELATION(settled(RING, CHAIN, large, spread(8), 8, unknown).tree.shapes, ==, RING);
    EXPECT_RELATION(settled(AUTO, RING, large, spread(8), 8, unknown).tree.shapes, ==, RING);
    EXPECT_RELATION(settled(AUTO, AUTO, large, spread(8), 8, unknown).tree.shapes, ==, CHAIN);
    EXPECT_RELATION(settled(AUTO, CHAIN, 1 << 20, together(3), 1, unknown).tree.shapes, ==, CHAIN);
    EXPECT_RELATION(settled(RING, RING, large, spread(1), 1, unknown).tree.shapes, ==, DAG_BCAST_BINOMIAL);
    EXPECT_RELATION(settled(SCATTER, AUTO, large, spread(8), 8, unknown).tree.shapes, ==, SCATTER);
    EXPECT_RELATION(settled(SCATTER, AUTO, large, spread(8), 7, unknown).tree.shapes, ==, DAG_BCAST_BINOMIAL);
    EXPECT_RELATION(settled(TREES, CHAIN, large, spread(8), 2, unknown).tree.shapes, ==, TREES);
    dagi_tree_way way = settled(TREES, CHAIN, large, spread(8), 2, unknown);
    EXPECT_RELATION(dagi_tree_segments(&way, 100, 50, 8), ==, 2);
    EXPECT_RELATION(dagi_tree_segments(&way, 100, 1, 8), ==, 1);
}
END_TEST

/* What is remembered is what would be settled. */
START_TEST(a_memo_changes_nothing)
{
    static dagi_tree_memo memo;
    static const dagi_tree_wire wire = {1e-6, 0, 1e-10};
    const dagi_tree_link link = {wire, wire, 0};
    const dag_bcast_tree usual = {0};
    for (int i = 0; i < 3000; i++) {
        dag_bcast_tree asked = {rand() % 3 ? 0 : HIER(CHAIN, RING), {1 + rand() % 4}};
        dagi_tree_census census = rand() % 2 ? spread(1 + rand() % 9) : together(1 + rand() % 9);
        size_t bytes = (size_t)(1 + rand() % 3) << 18;
        int cuts = rand() % 9;
        dagi_tree_way right = dagi_tree_settle(&asked, &usual, bytes, &census, cuts, &link);
        const dagi_tree_way *kept = dagi_tree_settled(&memo, &asked, &usual, bytes, &census, cuts, &link);
        EXPECT(memcmp(&kept->tree, &right.tree, sizeof right.tree) == 0 && kept->part == right.part);
        EXPECT(kept->last <= right.last && kept->last >= right.last && kept->mean <= right.mean);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tree");
    TCase *c = tcase_create("tree");
    srand(1);
    tcase_add_loop_test(c, everybody_is_reached_once, DAG_BCAST_BINOMIAL, DAG_BCAST_TREES + 1);
    tcase_add_test(c, nobody_serves_in_both_trees);
    tcase_add_test(c, halves_have_all_segments);
    tcase_add_test(c, groups_are_entered_once);
    tcase_add_test(c, groups_may_have_groups);
    tcase_add_test(c, long_lists_have_groups);
    tcase_add_test(c, members_are_counted_by_node);
    tcase_add_test(c, the_choice_knows_small_from_large);
    tcase_add_test(c, the_choice_knows_a_node);
    tcase_add_test(c, the_choice_enters_a_node_once);
    tcase_add_test(c, the_choice_knows_what_is_far);
    tcase_add_test(c, what_is_asked_for_goes_before_the_setting);
    tcase_add_test(c, a_memo_changes_nothing);
    tcase_add_loop_test(c, times_are_those_of_all_messages, 0, LINKS);
    tcase_add_loop_test(c, the_choice_is_the_fastest, 0, LINKS);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
