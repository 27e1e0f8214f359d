/*
 * Shapes of broadcasts, and how long they take. Functions of their arguments alone; any thread. A part
 * of dag_pure, the library without state.
 *
 * The producer lays out the tree. Who serves whom is in the list: ranks in the order in which each stands
 * before those it serves, with the number of ranks that each stands for, itself included. Whoever holds a
 * list (the producer, then every relay) serves ranks[0], ranks[count[0]], and so on, and gives each the
 * entries behind it as its own list. So relays need not know the shape, nor where the nodes are.
 */
#ifndef DAGI_NET_SHAPES_H
#define DAGI_NET_SHAPES_H

#include <dag/jdf.h>

#include <stdbool.h>

/* Which ranks share a node: of[rank] is the number of its node; without a table the first `ranks` do, the
 * next, and so on. */
typedef struct dagi_nodes {
    const int32_t *of;
    int64_t ranks; /* >= 1 */
} dagi_nodes;

static inline int64_t dagi_node_of(const dagi_nodes *nodes, int rank)
{
    return nodes->of ? nodes->of[rank] : rank / nodes->ranks;
}

/*
 * Shapes on the way (dag_bcast, never AUTO):
 *   BINOMIAL  halves the list; about log2 rounds, everyone sends whole data
 *   CHAIN     one child; data in segments, so a relay sends one while it receives the next
 *   RING      two chains without segments, up and down the ring of ranks from the producer: the
 *             producer sends twice, the next neighbours have everything after one hop
 *   SCATTER   every rank is a child with one n-th of the data; the pieces then go round the ring of
 *             the destinations (send.c, recv.c). Lists are not split.
 *   FLAT      the producer serves everyone
 *   TREES     two binary trees, each with half of the segments of all data; whoever serves others in
 *             one serves nobody in the other, so that nobody sends more than he gets. Each is a list of
 *             its own, and travels with messages of its own. What cannot be cut goes along the first.
 * Members are the producer and the destinations, in the order of their ranks. A level with group g splits
 * those of the level above into groups of g successive members, the last one maybe smaller, or by nodes.
 * In each group one member has the value from outside: the producer in its own, elsewhere who has its
 * place there. Its shape joins these, and what is within says how the others of a group get it. Who serves
 * other groups and its own serves the others first.
 */

/* Which of two trees; ALONE where there is no second. */
enum dagi_tree_half { DAGI_TREE_ALONE, DAGI_TREE_FIRST, DAGI_TREE_SECOND };

/* Lay out a tree of `root` and n destinations, in place. On lack of memory the tree is flat. */
void dagi_tree_plan(const dag_bcast_tree *tree, enum dagi_tree_half half, const dagi_nodes *nodes, int root,
                    int32_t *ranks, uint16_t *count, int n);
/* For qsort() and bsearch(): ranks in ascending order. */
int dagi_tree_by_rank(const void *a, const void *b);

/* The shapes of a tree have this one among them. */
bool dagi_tree_has(const dag_bcast_tree *tree, dag_bcast shape);
/* Data travel in segments along it. */
bool dagi_tree_pipelined(const dag_bcast_tree *tree);
/* Is it two trees, where each flow is cut into so many segments at least? */
bool dagi_tree_is_pair(const dag_bcast_tree *tree, int segments);

/* The segments of a flow that travel along a tree, of so many in all. */
typedef struct dagi_tree_share {
    int first, count;
} dagi_tree_share;

static inline dagi_tree_share dagi_tree_share_of(enum dagi_tree_half half, int segments)
{
    int former = half == DAGI_TREE_ALONE ? segments : (segments + 1) / 2;
    return half == DAGI_TREE_SECOND ? (dagi_tree_share){former, segments - former} : (dagi_tree_share){0, former};
}

/* ---- how long it takes (shape_times.c) -------------------------------------------------- */

/* A message of b bytes keeps its sender for busy + beta * b seconds, and is there `late` seconds after
 * that. */
typedef struct dagi_tree_wire {
    double busy, late; /* seconds */
    double beta;       /* seconds per byte; 0 = it is not known how fast the network is */
} dagi_tree_wire;

typedef struct dagi_tree_link {
    dagi_tree_wire between, within; /* nodes */
    double latency; /* seconds that a message takes while its sender goes on; 0 = not known */
} dagi_tree_link;

/* Without a model: aim for this size of a segment of a pipelined transfer. And no more of them than this. */
#define DAGI_SEGMENT_BYTES (128 << 10)
#define DAGI_SEGMENTS_MAX 256

/* A way of a broadcast, and what it takes: 0 where it is not known how fast the network is. */
typedef struct dagi_tree_way {
    dag_bcast_tree tree;
    size_t part;  /* bytes of a segment; at least those of the data = one */
    double last;  /* seconds until the last rank has all of it, */
    double mean;  /* and on the average of the destinations */
} dagi_tree_way;

/* What a choice depends on: the number of members, and how they are spread over nodes. */
typedef struct dagi_tree_census {
    int32_t ndest;
    int32_t nodes;   /* with members */
    int32_t largest; /* most members of a node */
    int32_t with;    /* members on the node of the root, itself included */
} dagi_tree_census;

dagi_tree_census dagi_tree_count(const dagi_nodes *nodes, int root, const int32_t *ranks, int n);

/* Segments in which `bytes` travel by a way, where they can be cut into `most` >= 1; a scatter has one for
 * each of ndest ranks, a pair of trees at least two. */
int dagi_tree_segments(const dagi_tree_way *way, size_t bytes, int64_t most, int ndest);

/* What a broadcast of `bytes` along a tree takes, members spread as they were counted, nodes as full as
 * the largest. `way->tree` and `way->part` are given, `part` 0: what is best. */
void dagi_tree_time(dagi_tree_way *way, size_t bytes, const dagi_tree_census *census,
                    const dagi_tree_link *link);

/*
 * The way of a broadcast that is `asked` for by the program, where the setting is `usual`, AUTO in either
 * leaving the choice to the next. Each flow can be cut into `cuts` pieces (0: there is nothing to cut); a
 * scatter needs one for each destination, two trees one for each. Nobody having asked, each node gets
 * the value once, and of what is left the fastest by the model is taken, groups in powers of two. Where it
 * is not known how fast the network is: between nodes a chain from three ranks and 256 KiB on (64 KiB up to
 * 16 ranks), which keeps the producer free for what comes next, and else halves, for latency; in a node a star for a few, who copy
 * all at once while the producer does something else, and halves for more, and for messages without
 * `bytes` beside them, which the producer copies. Where a message takes half a millisecond or more, and
 * no two destinations share a node, a star as long as that is shorter than halves.
 */
dagi_tree_way dagi_tree_settle(const dag_bcast_tree *asked, const dag_bcast_tree *usual, size_t bytes,
                               const dagi_tree_census *census, int64_t cuts, const dagi_tree_link *link);

/* What messages take, by a file (network_file.c, no part of dag_pure). DAG_ERR_IO, DAG_ERR_SETTING with `why`. */
dag_status dagi_network_read(const char *path, dagi_tree_link *link, char *why, size_t size);

/* The same, and what was settled before is remembered: a choice by a model takes some microseconds. Zeroed
 * at first. */
typedef struct dagi_tree_memo {
    struct dagi_tree_known {
        dag_bcast_tree asked;
        dagi_tree_census census;
        size_t bytes;
        int64_t cuts;
        bool used;
        dagi_tree_way way;
    } known[64];
} dagi_tree_memo;
const dagi_tree_way *dagi_tree_settled(dagi_tree_memo *memo, const dag_bcast_tree *asked,
                                       const dag_bcast_tree *usual, size_t bytes,
                                       const dagi_tree_census *census, int64_t cuts,
                                       const dagi_tree_link *link);

/* All that the trees of a job's broadcasts go by. */
typedef struct dagi_tree_guide {
    dagi_nodes nodes;
    dagi_tree_link link;
    dagi_tree_memo ways;
} dagi_tree_guide;

#endif
