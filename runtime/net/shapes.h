/*
 * Shapes of broadcasts, and how long they take. Functions of their arguments alone; any thread. A part
 * of dag_pure, the library without state.
 *
 * The producer puts the destinations into the order that its shape wants. Whoever holds a list of
 * ranks still to be served (the producer, then every relay) gives each of its children one run of
 * it: the head of the run is the child, the rest is the child's own list.
 */
#ifndef DAGI_NET_SHAPES_H
#define DAGI_NET_SHAPES_H

#include <dag/jdf.h>

#include <stdbool.h>

/* Most children of one rank for lists of up to 2^31 ranks: two levels of halvings. */
#define DAGI_TREE_MAX_CHILDREN 64

typedef struct dagi_tree_child {
    int32_t first, count; /* child ranks[first], its list ranks[first+1 .. first+count-1] */
} dagi_tree_child;

/*
 * Shapes on the way (dag_bcast, never AUTO):
 *   BINOMIAL  halves the list; about log2 rounds, everyone sends whole data
 *   CHAIN     one child; data in segments, so a relay sends one while it receives the next
 *   RING      two chains without segments, up and down the ring of ranks from the producer: the
 *             producer sends twice, the next neighbours have everything after one hop
 *   SCATTER   every rank is a child with one n-th of the data; the pieces then go round the ring of
 *             the destinations (send.c, recv.c). Lists are not split.
 *   HIER      binomial over groups of `group` consecutive ranks, then binomial within each
 *   FLAT      the producer serves everyone. A list is no longer than a rank may have children; who
 *             makes lists sees to that (comm/fanout.c)
 */

/* Order the n destinations of `root` for a shape, in place. group >= 1. */
void dagi_tree_order(int shape, int group, int root, int size, int32_t *ranks, int n);

/* The children of `self` for its list, in the order in which to serve them; returns how many. */
int dagi_tree_children(int shape, int group, int self, const int32_t *ranks, int n,
                       dagi_tree_child child[DAGI_TREE_MAX_CHILDREN]);

/* The shape that children of the producer go on with. */
int dagi_tree_relay_shape(int shape);

/* ---- how long it takes (shape_times.c) -------------------------------------------------- */

/* What one message of b bytes takes, from when it is sent to when it is there, its sender busy all the
 * while: alpha + beta * b. */
typedef struct dagi_tree_link {
    double alpha; /* seconds */
    double beta;  /* seconds per byte; 0 = it is not known how fast the network is */
    bool near;    /* all ranks are in one node, where whoever receives copies for itself */
    double latency; /* seconds that a message takes while its sender goes on; 0 = not known */
} dagi_tree_link;

/* Aim for this size of a segment of a pipelined transfer, and no more of them than this. */
#define DAGI_SEGMENT_BYTES (128 << 10)
#define DAGI_SEGMENTS_MAX 256

/* Segments in which `bytes` for ndest ranks travel, where they can be cut into `most` >= 1. */
int dagi_tree_segments(int shape, size_t bytes, int64_t most, int ndest);

/* Seconds until the last of ndest ranks has `bytes`, in segments as above. HIER: groups of `group`
 * ranks, all of them destinations but for the producer. */
double dagi_tree_seconds(int shape, int group, size_t bytes, int ndest, dagi_tree_link link);

/* The shape of a broadcast that nobody has asked for a shape: the fastest, of which a scatter may be
 * one where `scatters`. Where it is not known how fast the network is: in one node a star for a few, who
 * copy all at once while the producer does something else, and halves for more; between nodes a chain from
 * 256 KiB and three ranks on, which keeps the producer free for what comes next, and else halves, for
 * latency. Halves as well for messages without `bytes` beside them, which the producer copies. Where a message
 * takes half a millisecond or more, a star as long as that is shorter than halves. */
int dagi_tree_choose(size_t bytes, int ndest, int scatters, dagi_tree_link link);

/* What a broadcast goes by that is `asked` for by the program, where the setting is `usual`, AUTO in
 * either leaving the choice to the next: a scatter only where it can be had. */
int dagi_tree_settle(int asked, int usual, size_t bytes, int ndest, int scatters, dagi_tree_link link);

/* `group` as messages carry it. */
uint16_t dagi_tree_group(int32_t group);

#endif
