/* Which graph a product takes, and on which grid: docs/design/products.md has the formulas. */
#include "plan.h"

#include <math.h>
#include <stdlib.h>

enum {
    USUAL_STEPS = 8, /* of which tiles may be on the way: as in gemm_C */
    FEW = 8,         /* ranks that are all looked at */
    SAMPLE = 3,      /* that are, when there are more */
    SECOND_LOOK = 16 /* that are, before a plan replaces the usual one */
};

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* What a plan has to gain over the usual one, of its time: models are not better than that. */
static const double LEAST_GAIN = 0.05;
/* And so many times its bytes it may receive: other messages want the network, too. */
static const double MOST_BYTES = 1.1;

/* ---- counting ---------------------------------------------------------------------------- */

/* A length cut into tiles, and those of them that lie at place `at` of `of`. */
typedef struct cut {
    int64_t length, tile;
    int64_t of, at;
} cut;

/* The first number that is at both places, by Euclid's algorithm; *step is the least common multiple of the
 * moduli. -1 = there is none. */
static int64_t meet(cut x, cut y, int64_t *step)
{
    if (x.of % y.of == 0) { /* as a rule: grids of powers of two */
        *step = x.of;
        return x.at % y.of == y.at ? x.at : -1;
    }
    int64_t a = x.of, b = y.of, s = 1, t = 0; /* a = s x.of modulo y.of, b = t x.of */
    while (b != 0) {
        int64_t quotient = a / b, rest = a - quotient * b, next = s - quotient * t;
        a = b, b = rest, s = t, t = next;
    }
    int64_t apart = y.at - x.at, times = y.of / a;
    *step = x.of * times;
    if (apart % a != 0)
        return -1;
    int64_t go = apart / a % times * (s % times) % times;
    return x.at + x.of * (go < 0 ? go + times : go);
}

/* The tiles of both cuts of one length, and their elements. */
static int64_t tiles_of(cut x, cut y, int64_t *elements)
{
    int64_t count = ceil_div(x.length, x.tile), first = x.at, step = x.of;
    if (y.of > 1)
        first = meet(x, y, &step);
    *elements = 0;
    if (first < 0 || first >= count)
        return 0;
    int64_t tiles = (count - 1 - first) / step + 1;
    int has_last = (count - 1 - first) % step == 0;
    *elements = tiles * x.tile - (has_last ? count * x.tile - x.length : 0);
    return tiles;
}

static int64_t elements_of(cut x, cut y)
{
    int64_t elements;
    (void)tiles_of(x, y, &elements);
    return elements;
}

static const cut everywhere = {0, 1, 1, 0};

/* Where a rank stands in the grid of an operand; false if it is not in it. */
static int stands(const product_owner *o, int rank, int *i, int *j)
{
    int row = o->turned ? rank % o->down : rank / o->across;
    int column = o->turned ? rank / o->down : rank % o->across;
    *i = row, *j = column;
    return rank < o->down * o->across;
}

/* Of `need` elements of an operand that a rank needs, those that it does not own. */
static double missing(const product_owner *o, int rank, cut rows, cut columns, double need)
{
    int i, j;
    if (!stands(o, rank, &i, &j))
        return need;
    cut own_rows = {.of = o->down, .at = i}, own_columns = {.of = o->across, .at = j};
    return need -
           (double)elements_of(rows, own_rows) * (double)elements_of(columns, own_columns);
}

/* ---- what a rank receives ---------------------------------------------------------------- */

/* Of partial sums of layers: along the tree, and at the owner of C. `layer` is the rank's. */
static double sums_received(const product_case *c, const dag_gemm_plan *p, int rank, int64_t layer)
{
    int64_t kt = ceil_div(c->k, c->kb), layers = least(p->layers, kt), e;
    int64_t root = (kt - layers) % p->layers, i = rank / p->layers / p->q,
            j = rank / p->layers % p->q;
    int64_t place = (layer - root + p->layers) % p->layers, children = 0;
    int in_grid = rank < p->p * p->q * p->layers, a, b;
    cut rows = {c->m, c->mb, p->p, i}, columns = {c->n, c->nb, p->q, j};
    if (in_grid && place < layers)
        children = (2 * place + 1 < layers) + (2 * place + 2 < layers);
    double tiles = 0;
    if (children > 0)
        tiles = (double)children * (double)tiles_of(rows, everywhere, &e) *
                (double)tiles_of(columns, everywhere, &e);
    if (stands(&c->c, rank, &a, &b)) {
        cut own_rows = {c->m, c->mb, c->c.down, a}, own_columns = {c->n, c->nb, c->c.across, b};
        tiles += (double)tiles_of(own_rows, everywhere, &e) *
                 (double)tiles_of(own_columns, everywhere, &e);
        if (in_grid && place == 0)
            tiles -= (double)tiles_of(rows, own_rows, &e) *
                     (double)tiles_of(columns, own_columns, &e);
    }
    return tiles * (double)c->mb * (double)c->nb; /* partial sums are whole tiles */
}

/* Of tiles and pieces, where groups have relays: a relay gets its tiles, less those that it owns, and
 * everybody else of its group their pieces. `rows` are those of this rank, `length` is that of the sum,
 * `wide` that of a group along which tiles go, j the rank's place there. */
static double along_groups(const product_owner *o, int rank, cut rows, cut length, int64_t j,
                           int64_t wide, int works)
{
    int a, b;
    int64_t count = elements_of(rows, everywhere);
    cut relayed = {length.length, length.tile, wide, j % wide};
    double tiles = (double)elements_of(relayed, everywhere), own = 0;
    double pieces = works ? (double)length.length - tiles : 0;
    if (stands(o, rank, &a, &b)) /* of the whole operand, whichever way it is turned */
        own = (double)elements_of(rows, (cut){.of = o->down, .at = a}) *
              (double)elements_of(relayed, (cut){.of = o->across, .at = b});
    return (double)count * (tiles + pieces) - own;
}

/* The owner of the transpose. */
static product_owner flipped(product_owner o)
{
    return (product_owner){o.across, o.down, !o.turned};
}

static double received_in_groups(const product_case *c, const dag_gemm_plan *p, int rank)
{
    int64_t i = rank / p->q, j = rank % p->q, mt = ceil_div(c->m, c->mb), nt = ceil_div(c->n, c->nb);
    int64_t high = p->p / p->groups_p, wide = p->q / p->groups_q;
    int64_t rows = least(p->p, mt), columns = least(p->q, nt);
    cut down = {c->m, c->mb, p->p, i}, across = {c->n, c->nb, p->q, j}, inner = {c->k, c->kb, 1, 0};
    product_owner b = flipped(c->b);
    double sum = sums_received(c, p, rank, 0);
    if (rank >= p->p * p->q)
        return sum;
    if (i < rows && j / wide < ceil_div(columns, wide))
        sum += along_groups(&c->a, rank, down, inner, j, wide, j < columns);
    if (j < columns && i / high < ceil_div(rows, high))
        sum += along_groups(&b, rank, across, inner, i, high, i < rows);
    return sum;
}

static double received_on_grid(const product_case *c, const dag_gemm_plan *p, int rank)
{
    double sum = 0;
    int64_t layer = rank % p->layers, i = rank / p->layers / p->q, j = rank / p->layers % p->q;
    cut rows = {c->m, c->mb, p->p, i}, columns = {c->n, c->nb, p->q, j};
    cut inner = {c->k, c->kb, p->layers, layer};
    int64_t high, wide;
    int works = rank < p->p * p->q * p->layers && tiles_of(rows, everywhere, &high) > 0 &&
                tiles_of(columns, everywhere, &wide) > 0;
    if (works) {
        double deep = (double)elements_of(inner, everywhere);
        sum = missing(&c->a, rank, rows, inner, (double)high * deep) +
              missing(&c->b, rank, inner, columns, deep * (double)wide);
    }
    if (p->method != DAG_GEMM_STATIONARY_C)
        sum += sums_received(c, p, rank, layer);
    return sum;
}

/* A stays: tiles of op(B) come to those who have their rows as columns of op(A), sums to C. */
static double received_where_a_stays(const product_case *c, int rank)
{
    int i, j, a, b;
    double sum = 0;
    int64_t kt = ceil_div(c->k, c->kb), e, parts = c->parts;
    if (stands(&c->a, rank, &i, &j)) {
        cut inner = {c->k, c->kb, c->a.across, j}, columns = {c->n, c->nb, 1, 0};
        cut rows = {c->m, c->mb, c->a.down, i};
        if (tiles_of(rows, everywhere, &e) > 0)
            sum = missing(&c->b, rank, inner, columns,
                          (double)elements_of(inner, everywhere) * (double)c->n);
    }
    if (stands(&c->c, rank, &a, &b)) {
        cut rows = {c->m, c->mb, c->c.down, a}, columns = {c->n, c->nb, c->c.across, b};
        double tiles = (double)tiles_of(rows, everywhere, &e) *
                       (double)tiles_of(columns, everywhere, &e) * (double)parts;
        if (stands(&c->a, rank, &i, &j)) { /* the sums that end here */
            cut own = {c->m, c->mb, c->a.down, i};
            int64_t last = 0;
            for (int64_t k = kt - parts; k < kt; k++)
                last += k % c->a.across == j;
            tiles -= (double)tiles_of(rows, own, &e) * (double)tiles_of(columns, everywhere, &e) *
                     (double)last;
        }
        sum += tiles * (double)c->mb * (double)c->nb;
    }
    return sum;
}

/* Bytes that a rank receives in the course of a plan. */
static double received_by(const product_case *c, const dag_gemm_plan *plan, int rank)
{
    double elements = plan->method == DAG_GEMM_STATIONARY_A ? received_where_a_stays(c, rank)
                    : plan->method == DAG_GEMM_HSUMMA       ? received_in_groups(c, plan, rank)
                                                            : received_on_grid(c, plan, rank);
    return elements * c->elem;
}

/* ---- what a plan takes ------------------------------------------------------------------- */

/* The busiest rank's share: rows and columns of C, and of the sum. */
static void share_of(const product_case *c, const dag_gemm_plan *p, int64_t share[3])
{
    cut rows = {c->m, c->mb, p->p, 0}, columns = {c->n, c->nb, p->q, 0};
    cut inner = {c->k, c->kb, p->layers, 0};
    if (p->method == DAG_GEMM_STATIONARY_A) {
        rows.of = c->a.down;
        columns.of = 1;
        inner.of = c->a.across;
    }
    share[0] = elements_of(rows, everywhere);
    share[1] = elements_of(columns, everywhere);
    share[2] = elements_of(inner, everywhere);
}

/* Elements of others that a rank has at most. */
static double held(const product_case *c, const dag_gemm_plan *p, const int64_t share[3])
{
    double rows = (double)share[0], columns = (double)share[1];
    if (p->method == DAG_GEMM_STATIONARY_A) /* nothing bounds the tiles of B */
        return (double)share[2] * columns +
               rows * columns * (double)ceil_div(c->parts, c->a.across);
    double tiles = (double)p->steps * (rows + columns) * (double)(c->kb + p->inner);
    int sums = p->method == DAG_GEMM_STATIONARY_C ? 0 : p->layers < 3 ? p->layers : 3;
    return tiles + sums * rows * columns;
}

static int log2_of(int64_t ranks)
{
    int levels = 0;
    while (((int64_t)1 << levels) < ranks)
        levels++;
    return levels;
}

/* Ranks that a tile comes through until the last one of a process row or column has it, as broadcasts go. */
static int hops(const product_case *c, int64_t ranks, double tile)
{
    enum { SHORT_CHAIN = 16, CHAIN_BYTES = 64 << 10 };
    return ranks > 2 && ranks <= SHORT_CHAIN && tile * c->elem >= CHAIN_BYTES ? (int)ranks - 1 : log2_of(ranks);
}

/* Until a rank has the first step: its tiles, and at each hop a worker who is through with a task and passes them on.
 * Where A stays, whoever has a tile of B begins with that one. */
static double first_step(const product_case *c, const dag_gemm_plan *p, double rows, double columns, double inner)
{
    double depth = fmin((double)c->kb, inner), task = 2.0 * (double)c->mb * (double)c->nb * (double)c->kb / c->flops;
    int rows_hops = hops(c, p->q, (double)c->mb * (double)c->kb);
    int columns_hops = hops(c, p->p, (double)c->kb * (double)c->nb);
    if (p->method == DAG_GEMM_STATIONARY_A)
        return c->latency + depth * columns * c->elem / c->rate;
    double wait = c->known ? fmax(rows_hops, columns_hops) * task * (c->complex ? 4 : 1) / c->workers : 0;
    return (log2_of(p->p) + log2_of(p->q)) * c->latency + depth * (rows + columns) * c->elem / c->rate + wait;
}

/* Fills in what a plan costs; its method, grid and steps are given. `step`: of the ranks, one in so many is
 * looked at. */
static void cost(const product_case *c, dag_gemm_plan *p, int step)
{
    int64_t share[3];
    share_of(c, p, share);
    double rows = (double)share[0], columns = (double)share[1], inner = (double)share[2];
    double work = 2 * rows * columns * inner * (c->complex ? 4 : 1);
    double lanes = (double)ceil_div(share[0], c->mb) * (double)ceil_div(share[1], c->nb);
    if (p->method == DAG_GEMM_STATIONARY_A)
        lanes *= (double)ceil_div(c->parts, c->a.across);
    lanes = fmax(1, fmin(lanes, c->workers));
    p->compute = work / (c->flops * lanes);
    int looked_at = 0;
    p->received = p->total = 0;
    for (int r = 0; r < c->ranks; r += step, looked_at++) {
        double received = received_by(c, p, r);
        p->received = fmax(p->received, received);
        p->total += received;
    }
    p->total *= (double)c->ranks / looked_at;
    p->memory = held(c, p, share) * c->elem;

    double wire = p->received / c->rate;
    double first = first_step(c, p, rows, columns, inner);
    double last = 0; /* sums, which nothing hides */
    if (p->method == DAG_GEMM_SUMMA || p->method == DAG_GEMM_HSUMMA)
        last = sums_received(c, p, 0, 0) * c->elem / c->rate +
               (1 + log2_of(p->layers)) * c->latency;
    double steps = (double)ceil_div(share[2], p->inner > 0 ? p->inner : c->kb);
    double waits = steps * (log2_of(p->p) + log2_of(p->q)) * c->latency;
    if (c->ranks == 1)
        p->exposed = 0;
    else if (p->steps == 1) /* nothing sets out before the step before it is done */
        p->exposed = wire + waits;
    else
        p->exposed = fmax(fmax(0, wire - last - p->compute) + last, fmin(wire, first + last));
}

/* ---- which there are --------------------------------------------------------------------- */

static double time_of(const dag_gemm_plan *p)
{
    return p->compute + p->exposed;
}

static int compare(const void *a, const void *b)
{
    double x = time_of(a), y = time_of(b), s = ((const dag_gemm_plan *)a)->received,
           t = ((const dag_gemm_plan *)b)->received;
    return x != y ? (x > y) - (x < y) : (s > t) - (s < t);
}

static int usual_step(const product_case *c)
{
    return c->ranks <= FEW ? 1 : (c->ranks + SAMPLE - 1) / SAMPLE;
}

/* What is done without a choice: C or A stays. */
static dag_gemm_plan usual(const product_case *c, int a_stays)
{
    dag_gemm_plan p = {.method = a_stays ? DAG_GEMM_STATIONARY_A : DAG_GEMM_STATIONARY_C,
                       .p = a_stays ? c->a.down : c->c.down,
                       .q = a_stays ? c->a.across : c->c.across,
                       .layers = 1, .steps = USUAL_STEPS, .sums = a_stays ? c->parts : 0};
    cost(c, &p, usual_step(c));
    return p;
}

static dag_gemm_plan on_grid(const product_case *c, const dag_gemm_options *o, int p, int q,
                             int layers)
{
    dag_gemm_plan plan = {.method = DAG_GEMM_SUMMA, .p = p, .q = q, .layers = layers,
                          .steps = o->steps > 0 ? o->steps : USUAL_STEPS};
    cost(c, &plan, usual_step(c));
    while (o->steps == 0 && o->memory > 0 && plan.memory > (double)o->memory && plan.steps > 1) {
        plan.steps /= 2; /* less ahead, less memory */
        cost(c, &plan, usual_step(c));
    }
    return plan;
}

/* The divisor of a number that is nearest to its root: the paper's groups. */
static int nearest_root(int of)
{
    int best = 1;
    for (int d = 1; d * d <= of; d++)
        best = of % d == 0 ? d : best;
    return best;
}

/* A group of one rank gets whole tiles. */
static dag_gemm_plan in_groups(const product_case *c, const dag_gemm_options *o)
{
    dag_gemm_plan plan = {.method = DAG_GEMM_HSUMMA, .layers = 1, .steps = o->steps > 0 ? o->steps : 2,
                          .p = o->p > 0 ? o->p : c->c.down, .q = o->p > 0 ? o->q : c->c.across};
    plan.groups_p = o->groups_p > 0 ? o->groups_p : nearest_root(plan.p);
    plan.groups_q = o->groups_q > 0 ? o->groups_q : nearest_root(plan.q);
    int alone = plan.groups_p == plan.p && plan.groups_q == plan.q;
    plan.inner = o->inner > 0 && !alone ? o->inner : c->kb;
    cost(c, &plan, usual_step(c));
    return plan;
}

/* Grids on which all ranks have something to do, within the limit of memory. */
static int grids(const product_case *c, const dag_gemm_options *o, dag_gemm_plan *plans, int room)
{
    int count = 0;
    int64_t mt = ceil_div(c->m, c->mb), nt = ceil_div(c->n, c->nb), kt = ceil_div(c->k, c->kb);
    for (int p = 1; p <= c->ranks && p <= mt; p++)
        for (int q = 1; c->ranks % p == 0 && q <= c->ranks / p && q <= nt && count < room; q++) {
            if (c->ranks / p % q != 0 || c->ranks / p / q > kt)
                continue;
            plans[count] = on_grid(c, o, p, q, c->ranks / p / q);
            count += o->memory <= 0 || plans[count].memory <= (double)o->memory;
        }
    return count;
}

/* Where the network is known: the fastest by the model. Else:
 * it sends half of what the usual one does at most, and is not predicted to take longer. */
static int looks_better(const product_case *c, const dag_gemm_plan *p, const dag_gemm_plan *usual_one)
{
    if (c->known)
        return time_of(p) < (1 - LEAST_GAIN) * time_of(usual_one) &&
               p->received <= MOST_BYTES * usual_one->received;
    return 2 * p->received <= usual_one->received && time_of(p) <= 1.02 * time_of(usual_one);
}

/* The same once more ranks are looked at, which is done for those alone that a few of them speak for. The odd step
 * does not keep to a column of a grid. */
static int replaces(const product_case *c, dag_gemm_plan *p, dag_gemm_plan *usual_one)
{
    if (!looks_better(c, p, usual_one))
        return 0;
    int step = c->ranks <= SECOND_LOOK ? 1 : c->ranks / SECOND_LOOK | 1;
    cost(c, p, step);
    cost(c, usual_one, step);
    return looks_better(c, p, usual_one);
}

/* Puts plans[at] first, the others behind it in their order. */
static void take(dag_gemm_plan *plans, int at)
{
    dag_gemm_plan taken = plans[at];
    for (; at > 0; at--)
        plans[at] = plans[at - 1];
    plans[0] = taken;
}

static int of_the_library(const product_case *c, const dag_gemm_options *o, dag_gemm_plan *plans,
                          int count)
{
    int at = 0, fits;
    plans[count] = usual(c, c->a_stays);
    fits = o->memory <= 0 || plans[count].memory <= (double)o->memory;
    while (at < count && fits && !replaces(c, &plans[at], &plans[count]))
        at++;
    take(plans, at);
    return count + 1;
}

int dagi_product_plans(const product_case *c, const dag_gemm_options *o, dag_gemm_plan *plans,
                       int room)
{
    int all = o->method == DAG_GEMM_AUTO && o->p == 0 && o->steps == 0, count = 0;
    int both = all && c->known && c->ranks > 1 && c->parts > 0 && room > 2;
    if (o->method == DAG_GEMM_STATIONARY_A || o->method == DAG_GEMM_STATIONARY_C) {
        plans[0] = usual(c, o->method == DAG_GEMM_STATIONARY_A);
        return 1;
    }
    if (o->method == DAG_GEMM_HSUMMA) {
        plans[0] = in_groups(c, o);
        return 1;
    }
    if (o->p > 0) {
        plans[0] = on_grid(c, o, o->p, o->q, o->layers);
        return 1;
    }
    if (!all || c->ranks > 1)
        count = grids(c, o, plans, room - all - both);
    if (both) {
        plans[count] = usual(c, !c->a_stays);
        count += o->memory <= 0 || plans[count].memory <= (double)o->memory;
    }
    qsort(plans, (size_t)count, sizeof(*plans), compare);
    return all ? of_the_library(c, o, plans, count) : count;
}
