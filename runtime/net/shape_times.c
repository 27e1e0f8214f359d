/* How long broadcasts take, and the choice of a shape that follows from it; see shapes.h. */
#include "shapes.h"

#include <stdlib.h>
#include <string.h>

/* Below this many bytes latency decides, and every rank that has the data should help. */
#define CHAIN_BYTES (256 << 10)
#define CHAIN_RANKS 3

/* And below this many where a chain is short: what a producer sends once instead of three times frees it for
 * the next of a series. */
#define SHORT_CHAIN_BYTES (64 << 10)
#define SHORT_CHAIN_RANKS 16

/* In a node: up to this many ranks read what the producer has side by side. */
#define STAR_RANKS 7

/* Seconds of a message from which on a producer does not wait for relays. */
#define FAR 0.5e-3

/* ---- members ------------------------------------------------------------------------------ */

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

dagi_tree_census dagi_tree_count(const dagi_nodes *nodes, int root, const int32_t *ranks, int n)
{
    enum { FEW = 128 };
    int64_t few[FEW], *node = few, own = dagi_node_of(nodes, root);
    dagi_tree_census census = {.ndest = n, .nodes = 1, .largest = n + 1, .with = n + 1};
    int others = 0;
    for (int i = 0; i < n; i++)
        others += dagi_node_of(nodes, ranks[i]) != own;
    if (!others)
        return census;
    if (others > FEW && !(node = malloc((size_t)others * sizeof *node)))
        return census;
    for (int i = others = 0; i < n; i++)
        if (dagi_node_of(nodes, ranks[i]) != own)
            node[others++] = dagi_node_of(nodes, ranks[i]);
    qsort(node, (size_t)others, sizeof *node, by_number);
    census.largest = census.with = n + 1 - others;
    for (int i = 0, begin = 0; i < others; i++) {
        begin = i && node[i] == node[i - 1] ? begin : i;
        census.nodes += begin == i;
        census.largest = i + 1 - begin > census.largest ? i + 1 - begin : census.largest;
    }
    if (node != few)
        free(node);
    return census;
}

/* ---- times -------------------------------------------------------------------------------- */

int dagi_tree_segments(const dagi_tree_way *way, size_t bytes, int64_t most, int ndest)
{
    if (dagi_tree_has(&way->tree, DAG_BCAST_SCATTER))
        return ndest;
    int64_t want = (int64_t)(bytes / way->part), least = dagi_tree_has(&way->tree, DAG_BCAST_TREES) ? 2 : 1;
    most = most < DAGI_SEGMENTS_MAX ? most : DAGI_SEGMENTS_MAX;
    want = want < least ? least : want;
    return (int)(want > most ? most : want);
}

typedef struct plan {
    int32_t *ranks;  /* [n] */
    uint16_t *count; /* [n] */
} plan;

/* Members as they were counted: 0 is the root, ranks are numbered node by node. */
typedef struct stage {
    const dagi_tree_link *link;
    size_t bytes;
    int n;
    int32_t *of;          /* [n + 1] */
    plan first, second;   /* the tree, or two */
    double *there, *pace; /* [n + 1]: when the first segment is, and how far apart the next are */
    double *busy, *done;  /* [n + 1]: with a segment of each tree; when it has all, on the way or not */
} stage;

static bool stage_open(stage *s, const dagi_tree_census *census, size_t bytes, const dagi_tree_link *link)
{
    size_t n = (size_t)census->ndest;
    char *room = malloc((n + 1) * (4 * sizeof(double) + 3 * sizeof(int32_t) + 2 * sizeof(uint16_t)));
    if (!room)
        return false;
    *s = (stage){.link = link, .bytes = bytes, .n = census->ndest, .there = (double *)(void *)room};
    s->pace = s->there + n + 1;
    s->busy = s->pace + n + 1;
    s->done = s->busy + n + 1;
    s->of = (int32_t *)(void *)(s->done + n + 1);
    s->first = (plan){s->of + n + 1, (uint16_t *)(void *)(s->of + 3 * (n + 1))};
    s->second = (plan){s->first.ranks + n + 1, s->first.count + n + 1};
    for (int node = 0, next = 0; node < census->nodes; node++) {
        int left = s->n + 1 - next - (census->nodes - node - 1);
        int here = node == 0 ? census->with : census->largest;
        for (here = here < left ? here : left; here > 0; here--)
            s->of[next++] = node;
    }
    return true;
}

static void stage_close(stage *s)
{
    free(s->there);
}

static double occupied(const dagi_tree_wire *wire, double bytes)
{
    return wire->busy + wire->beta * bytes;
}

static double busy_with(const stage *s, int from, int to, double part, double *late)
{
    const dagi_tree_wire *wire = s->of[from] == s->of[to] ? &s->link->within : &s->link->between;
    *late = wire->late;
    return occupied(wire, part);
}

static void lay_out(const stage *s, const dag_bcast_tree *tree, enum dagi_tree_half half, const plan *l)
{
    const dagi_nodes nodes = {s->of, 1};
    for (int i = 0; i < s->n; i++)
        l->ranks[i] = i + 1;
    dagi_tree_plan(tree, half, &nodes, 0, l->ranks, l->count, s->n);
}

/* What a rank is busy with for each segment of a tree comes on top of what it is for another's. */
static void add_busy(stage *s, const plan *l, double part)
{
    double late;
    for (int p = 0; p <= s->n; p++) {
        int self = p ? l->ranks[p - 1] : 0, behind = p ? l->count[p - 1] - 1 : s->n;
        for (int c = p; c < p + behind; c += l->count[c])
            s->busy[self] += busy_with(s, self, l->ranks[c], part, &late);
    }
}

/* One tree with `segments`. The root sends a child all of them, then the next child; a relay sends each on as
 * it comes, to one child after the other. The root of two trees takes turns. */
static void play_tree(stage *s, const plan *l, enum dagi_tree_half half, double part, int segments)
{
    const int turns = half == DAGI_TREE_ALONE ? 1 : 2;
    double late;
    s->there[0] = s->pace[0] = 0;
    for (int p = 0; p <= s->n; p++) {
        int self = p ? l->ranks[p - 1] : 0, behind = p ? l->count[p - 1] - 1 : s->n;
        double free_at = s->there[p], pace = s->busy[self] > s->pace[p] ? s->busy[self] : s->pace[p];
        for (int c = p; c < p + behind; c += l->count[c]) {
            double busy = busy_with(s, self, l->ranks[c], part, &late);
            double lag = !p && half == DAGI_TREE_SECOND ? busy : 0;
            s->there[c + 1] = free_at + lag + busy + late;
            s->pace[c + 1] = p ? pace : turns * busy;
            free_at += p ? busy : turns * segments * busy;
        }
        double all = s->there[p] + (segments - 1) * s->pace[p];
        s->done[self] = all > s->done[self] ? all : s->done[self];
    }
}

static void play(stage *s, dagi_tree_way *way, int segments)
{
    double part = (double)s->bytes / segments, sum = 0;
    bool pair = dagi_tree_is_pair(&way->tree, segments);
    int former = pair ? dagi_tree_share_of(DAGI_TREE_FIRST, segments).count : segments;
    for (int i = 0; i <= s->n; i++)
        s->busy[i] = s->done[i] = 0;
    add_busy(s, &s->first, part);
    if (pair)
        add_busy(s, &s->second, part);
    play_tree(s, &s->first, pair ? DAGI_TREE_FIRST : DAGI_TREE_ALONE, part, former);
    if (pair)
        play_tree(s, &s->second, DAGI_TREE_SECOND, part, segments - former);
    way->last = 0;
    for (int i = 1; i <= s->n; i++) {
        way->last = s->done[i] > way->last ? s->done[i] : way->last;
        sum += s->done[i];
    }
    way->mean = sum / s->n;
}

static void scattered(const stage *s, const dagi_tree_census *census, dagi_tree_way *way)
{
    const dagi_tree_wire *w = census->nodes > 1 ? &s->link->between : &s->link->within;
    double part = occupied(w, (double)s->bytes / s->n);
    /* the last piece, the word of the neighbours, and round the ring */
    way->part = s->bytes / (size_t)s->n + 1;
    way->last = way->mean = s->n == 1 ? part + w->late
                                      : (2 * s->n - 1) * part + s->n * w->late + 2 * (w->busy + w->late);
}

static void time_of(stage *s, const dagi_tree_census *census, dagi_tree_way *way)
{
    if (dagi_tree_has(&way->tree, DAG_BCAST_SCATTER)) {
        scattered(s, census, way);
        return;
    }
    lay_out(s, &way->tree, DAGI_TREE_ALONE, &s->first); /* as the first of two */
    if (dagi_tree_has(&way->tree, DAG_BCAST_TREES))
        lay_out(s, &way->tree, DAGI_TREE_SECOND, &s->second);
    if (way->part || !dagi_tree_pipelined(&way->tree)) {
        way->part = way->part ? way->part : s->bytes + 1;
        play(s, way, dagi_tree_segments(way, s->bytes, INT64_MAX, s->n));
        return;
    }
    dagi_tree_way best = {.tree = way->tree};
    const int least = dagi_tree_has(&way->tree, DAG_BCAST_TREES) ? 2 : 1;
    for (int segments = least; segments <= DAGI_SEGMENTS_MAX; segments *= 2) {
        way->part = s->bytes / (size_t)segments;
        if (way->part == 0)
            break;
        play(s, way, segments);
        if (segments == least || way->last < best.last)
            best = *way;
    }
    *way = best;
    if (!way->part) /* no bytes */
        play(s, way, (int)(way->part = 1));
}

void dagi_tree_time(dagi_tree_way *way, size_t bytes, const dagi_tree_census *census,
                    const dagi_tree_link *link)
{
    stage s;
    if (link->between.beta > 0 && stage_open(&s, census, bytes, link)) {
        time_of(&s, census, way);
        stage_close(&s);
        return;
    }
    way->last = way->mean = 0;
    if (!way->part)
        way->part = dagi_tree_pipelined(&way->tree) ? DAGI_SEGMENT_BYTES : bytes + 1;
}

/* ---- the choice --------------------------------------------------------------------------- */

/* Rounds until n more ranks have what one has, when all that have it help. */
static int rounds(int n)
{
    int count = 0;
    for (; n > 0; n /= 2)
        count++;
    return count;
}

/* Between nodes far apart the producer has served everyone before the first of them could have passed
 * anything on. */
static bool is_far(size_t bytes, int ndest, const dagi_tree_link *link)
{
    const double send = 5e-6, usual = 1e-8; /* seconds, seconds per byte */
    double own = send + (link->between.beta > 0 ? link->between.beta : usual) * (double)bytes;
    return ndest > 0 && link->latency >= FAR &&
           ndest * own + link->latency < rounds(ndest) * (own + link->latency);
}

static bool wants_chain(size_t bytes, int n)
{
    return n >= CHAIN_RANKS && bytes >= (n <= SHORT_CHAIN_RANKS ? SHORT_CHAIN_BYTES : CHAIN_BYTES);
}

enum { LEVEL_SHAPES = 5 };

/* Shapes among n others of a level that may be the best; returns how many. */
static int shapes_between(size_t bytes, int n, const dagi_tree_link *link, dag_bcast shapes[LEVEL_SHAPES])
{
    static const dag_bcast all[] = {DAG_BCAST_BINOMIAL, DAG_BCAST_CHAIN, DAG_BCAST_RING, DAG_BCAST_FLAT,
                                    DAG_BCAST_TREES};
    if (is_far(bytes, n, link)) {
        shapes[0] = DAG_BCAST_FLAT;
    } else if (link->between.beta <= 0) {
        shapes[0] = wants_chain(bytes, n) ? DAG_BCAST_CHAIN : DAG_BCAST_BINOMIAL;
    } else {
        memcpy(shapes, all, sizeof all);
        return LEVEL_SHAPES;
    }
    return 1;
}

static int shapes_within(size_t bytes, int n, const dagi_tree_link *link, dag_bcast shapes[LEVEL_SHAPES])
{
    if (link->between.beta > 0)
        return shapes_between(bytes, 0, link, shapes);
    shapes[0] = bytes && n <= STAR_RANKS ? DAG_BCAST_FLAT : DAG_BCAST_BINOMIAL;
    return 1;
}

typedef struct search {
    stage stage;
    const dagi_tree_census *census;
    bool timed;
    int64_t cuts;
    dagi_tree_way best;
} search;

static void look_at(search *s, dag_bcast_tree tree)
{
    dagi_tree_way way = {.tree = tree};
    if (s->cuts < 2 && dagi_tree_has(&tree, DAG_BCAST_TREES))
        return;
    if (s->timed)
        time_of(&s->stage, s->census, &way);
    else
        dagi_tree_time(&way, s->stage.bytes, s->census, s->stage.link);
    if (!s->best.tree.shapes || way.last < s->best.last)
        s->best = way;
}

/* Two levels, where groups are of a size for which it makes a difference. */
static void look_at_groups(search *s)
{
    static const dag_bcast shapes[] = {DAG_BCAST_BINOMIAL, DAG_BCAST_CHAIN, DAG_BCAST_RING, DAG_BCAST_TREES};
    for (int32_t g = 2; 2 * g <= s->census->ndest + 1; g *= 2)
        for (int x = 0; x < 16; x++)
            look_at(s, (dag_bcast_tree){shapes[x / 4] | DAG_BCAST_WITHIN(1, shapes[x % 4]), {g}});
}

static dagi_tree_way choose(size_t bytes, const dagi_tree_census *census, int64_t cuts,
                            const dagi_tree_link *link)
{
    dag_bcast outer[LEVEL_SHAPES] = {0}, inner[LEVEL_SHAPES] = {0};
    int nouter = 1, ninner = 1;
    search s = {.census = census, .cuts = cuts, .stage = {.link = link, .bytes = bytes}};
    s.timed = link->between.beta > 0 && stage_open(&s.stage, census, bytes, link);
    if (census->nodes > 1)
        nouter = shapes_between(bytes, census->nodes - 1, link, outer);
    if (census->largest > 1)
        ninner = shapes_within(bytes, census->largest - 1, link, inner);
    for (int x = 0; x < nouter; x++)
        for (int y = 0; y < ninner; y++) {
            if (outer[x] && inner[y])
                look_at(&s, (dag_bcast_tree){outer[x] | DAG_BCAST_WITHIN(1, inner[y]), {DAG_BCAST_NODE}});
            else
                look_at(&s, (dag_bcast_tree){.shapes = outer[x] | inner[y]});
        }
    bool spread = census->nodes == 1 || census->largest == 1; /* no way enters a node twice */
    if (s.timed && spread && nouter * ninner > 1) {
        if (cuts >= census->ndest && census->ndest > 1)
            look_at(&s, (dag_bcast_tree){.shapes = DAG_BCAST_SCATTER});
        look_at_groups(&s);
    }
    if (s.timed)
        stage_close(&s.stage);
    return s.best;
}

dagi_tree_way dagi_tree_settle(const dag_bcast_tree *asked, const dag_bcast_tree *usual, size_t bytes,
                               const dagi_tree_census *census, int64_t cuts, const dagi_tree_link *link)
{
    dagi_tree_way way = {.tree = asked->shapes ? *asked : *usual};
    if (census->ndest == 1 || (way.tree.shapes == DAG_BCAST_SCATTER && cuts < census->ndest))
        way.tree = (dag_bcast_tree){.shapes = DAG_BCAST_BINOMIAL};
    if (!way.tree.shapes)
        return choose(bytes, census, cuts, link);
    dagi_tree_time(&way, bytes, census, link);
    return way;
}

const dagi_tree_way *dagi_tree_settled(dagi_tree_memo *memo, const dag_bcast_tree *asked,
                                       const dag_bcast_tree *usual, size_t bytes,
                                       const dagi_tree_census *census, int64_t cuts,
                                       const dagi_tree_link *link)
{
    enum { PLACES = sizeof memo->known / sizeof *memo->known };
    uint64_t hash = (bytes * 31 + (uint64_t)census->ndest) * 31 + (uint64_t)census->nodes;
    hash = (hash * 31 + asked->shapes) * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    struct dagi_tree_known *k = &memo->known[hash % PLACES];
    if (!k->used || k->bytes != bytes || k->cuts != cuts ||
        memcmp(&k->census, census, sizeof *census) != 0 || memcmp(&k->asked, asked, sizeof *asked) != 0) {
        *k = (struct dagi_tree_known){.asked = *asked, .census = *census, .bytes = bytes,
                                      .cuts = cuts, .used = true};
        k->way = dagi_tree_settle(asked, usual, bytes, census, cuts, link);
    }
    return &k->way;
}
