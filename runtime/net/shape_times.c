/* How long broadcasts take, and the choice of a shape that follows from it; see shapes.h. */
#include "shapes.h"

/* Below this many bytes latency decides, and every rank that has the data should help. */
#define CHAIN_BYTES (256 << 10)
#define CHAIN_RANKS 3

/* In a node: up to this many ranks read what the producer has side by side. */
#define STAR_RANKS 7

/* Seconds of a message from which on a producer does not wait for relays. */
#define FAR 0.5e-3

int dagi_tree_segments(int shape, size_t bytes, int64_t most, int ndest)
{
    if (shape == DAG_BCAST_SCATTER)
        return ndest;
    if (shape != DAG_BCAST_CHAIN)
        return 1;
    int64_t want = (int64_t)(bytes / DAGI_SEGMENT_BYTES);
    if (most > DAGI_SEGMENTS_MAX)
        most = DAGI_SEGMENTS_MAX;
    return (int)(want < 1 ? 1 : want > most ? most : want);
}

/* Rounds until n more ranks have what one has, when all that have it help. */
static int rounds(int n)
{
    int count = 0;
    for (; n > 0; n /= 2)
        count++;
    return count;
}

static double message(dagi_tree_link link, double bytes)
{
    return link.alpha + link.beta * bytes;
}

double dagi_tree_seconds(int shape, int group, size_t bytes, int ndest, dagi_tree_link link)
{
    int segments = dagi_tree_segments(shape, bytes, INT64_MAX, ndest);
    if (ndest < 1)
        return 0;
    double whole = message(link, (double)bytes), part = message(link, (double)bytes / segments);
    switch (shape) {
    case DAG_BCAST_CHAIN: return (ndest + segments - 1) * part;
    case DAG_BCAST_RING: /* the second chain begins one message later */
        return (ndest / 2 + 1) * whole;
    case DAG_BCAST_FLAT: return ndest * whole;
    case DAG_BCAST_SCATTER: /* the last piece, the word of the neighbours, and round the ring */
        return ndest == 1 ? whole : (2 * ndest - 1) * part + 2 * link.alpha;
    case DAG_BCAST_HIER: { /* to the groups, then in each */
        int groups = ndest / group; /* beside the producer's */
        return (rounds(groups) + rounds((ndest < group ? ndest + 1 : group) - 1)) * whole;
    }
    default: return rounds(ndest) * whole;
    }
}

/* Between nodes far apart the producer has served everyone before the first of them could have passed
 * anything on. */
static bool is_far(size_t bytes, int ndest, dagi_tree_link link)
{
    const double send = 5e-6, usual = 1e-8; /* seconds, seconds per byte */
    double own = send + (link.beta > 0 ? link.beta : usual) * (double)bytes;
    return !link.near && link.latency >= FAR && ndest <= DAGI_TREE_MAX_CHILDREN &&
           ndest * own + link.latency < rounds(ndest) * (own + link.latency);
}

int dagi_tree_choose(size_t bytes, int ndest, int scatters, dagi_tree_link link)
{
    static const int shapes[] = {DAG_BCAST_BINOMIAL, DAG_BCAST_CHAIN, DAG_BCAST_RING,
                                 DAG_BCAST_SCATTER};
    if (is_far(bytes, ndest, link))
        return DAG_BCAST_FLAT;
    if (link.beta <= 0 && link.near)
        return bytes && ndest <= STAR_RANKS ? DAG_BCAST_FLAT : DAG_BCAST_BINOMIAL;
    if (link.beta <= 0)
        return ndest >= CHAIN_RANKS && bytes >= CHAIN_BYTES ? DAG_BCAST_CHAIN : DAG_BCAST_BINOMIAL;
    int best = shapes[0];
    double least = dagi_tree_seconds(best, 1, bytes, ndest, link);
    for (int i = 1; i < 3 + (scatters != 0); i++) {
        double seconds = dagi_tree_seconds(shapes[i], 1, bytes, ndest, link);
        if (seconds < least) {
            least = seconds;
            best = shapes[i];
        }
    }
    return best;
}

int dagi_tree_settle(int asked, int usual, size_t bytes, int ndest, int scatters, dagi_tree_link link)
{
    if (ndest == 1)
        return DAG_BCAST_BINOMIAL;
    int shape = asked == DAG_BCAST_AUTO ? usual : asked;
    if (shape == DAG_BCAST_AUTO)
        shape = dagi_tree_choose(bytes, ndest, scatters, link);
    return shape == DAG_BCAST_SCATTER && !scatters ? DAG_BCAST_BINOMIAL : shape;
}

uint16_t dagi_tree_group(int32_t group)
{
    return (uint16_t)(group < 1 ? 1 : group > UINT16_MAX ? UINT16_MAX : group);
}
