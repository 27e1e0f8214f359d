/* Which graph a product takes, and on which grid: docs/design/products.md has the formulas. */
#include "plan.h"

#include "la/numbers.h"

#include <math.h>
#include <stdlib.h>

enum {
    USUAL_STEPS = 8, /* of which tiles may be on the way: as in gemm_C */
    FEW = 8,         /* ranks that are all looked at */
    SAMPLE = 3,      /* that are, when there are more */
    SECOND_LOOK = 16 /* that are, before a plan replaces the usual one */
};

/* What a plan has to gain over the usual one, of its time: models are not better than that. */
static const double LEAST_GAIN = 0.05;
/* And so many times its bytes it may receive: other messages want the network, too. */
static const double MOST_BYTES = 1.1;

/* ---- counting ---------------------------------------------------------------------------- */

/* A length cut into tiles, and those of them that lie at place `at` of `of`. */
typedef struct cut {
    int64_t length, tile, count;
    int64_t of, at;
} cut;

static cut rows_of(const product_case *c, int64_t of, int64_t at)
{
    return (cut){c->m, c->mb, c->mt, of, at};
}

static cut columns_of(const product_case *c, int64_t of, int64_t at)
{
    return (cut){c->n, c->nb, c->nt, of, at};
}

static cut inner_of(const product_case *c, int64_t of, int64_t at)
{
    return (cut){c->k, c->kb, c->kt, of, at};
}

/* The first number that is at both places; *step is the least common multiple of the moduli. -1 = there is none.
 * By Euclid's algorithm, but where one modulus divides the other, as in grids of powers of two. */
static int64_t meet(int64_t x_of, int64_t x_at, int64_t y_of, int64_t y_at, int64_t *step)
{
    *step = x_of > y_of ? x_of : y_of;
    if (x_of >= y_of && x_of % y_of == 0)
        return x_at % y_of == y_at ? x_at : -1;
    if (y_of % x_of == 0)
        return y_at % x_of == x_at ? y_at : -1;
    int64_t a = x_of, b = y_of, s = 1, t = 0; /* a = s x_of modulo y_of, b = t x_of */
    while (b != 0) {
        int64_t quotient = a / b, rest = a - quotient * b, next = s - quotient * t;
        a = b, b = rest, s = t, t = next;
    }
    int64_t apart = y_at - x_at, times = y_of / a;
    *step = x_of * times;
    if (apart % a != 0)
        return -1;
    int64_t go = apart / a % times * (s % times) % times;
    return x_at + x_of * (go < 0 ? go + times : go);
}

/* Every `step`-th tile from `first` on, and their elements. */
static inline int64_t every(const cut *x, int64_t first, int64_t step, int64_t *elements)
{
    int64_t behind = x->count - 1 - first;
    *elements = 0;
    if (behind < 0)
        return 0;
    int64_t tiles = behind / step + 1;
    *elements = tiles * x->tile - (behind % step == 0 ? x->count * x->tile - x->length : 0);
    return tiles;
}

static inline int64_t tiles_of(const cut *x, int64_t *elements)
{
    return every(x, x->at, x->of, elements);
}

static inline int64_t elements_of(cut x)
{
    int64_t elements;
    (void)tiles_of(&x, &elements);
    return elements;
}

/* The same of those tiles that are at a place of another number, too. */
static int64_t tiles_also(const cut *x, int64_t of, int64_t at, int64_t *elements)
{
    int64_t first = x->at, step = x->of;
    if (of > 1)
        first = meet(x->of, x->at, of, at, &step);
    if (first >= 0)
        return every(x, first, step, elements);
    *elements = 0;
    return 0;
}

static int64_t elements_also(const cut *x, int64_t of, int64_t at)
{
    int64_t elements;
    (void)tiles_also(x, of, at, &elements);
    return elements;
}

/* Where a rank stands in the grid of an operand; false if it is not in it. */
static int stands(const product_owner *o, int rank, int *i, int *j)
{
    int row = o->turned ? rank % o->down : rank / o->across;
    int column = o->turned ? rank / o->down : rank % o->across;
    *i = row, *j = column;
    return rank < o->down * o->across;
}

/* How many of the `need` elements of an operand that a rank needs it does not own. */
static double missing(const product_owner *o, int rank, const cut *rows, const cut *columns, double need)
{
    int i, j;
    if (!stands(o, rank, &i, &j))
        return need;
    return need - (double)elements_also(rows, o->down, i) * (double)elements_also(columns, o->across, j);
}

/* ---- what a rank receives ---------------------------------------------------------------- */

/* Elements of partial sums of layers that the rank receives: along the tree, and as the owner of C. `layer` is
 * the rank's. */
static double sums_received(const product_case *c, const dag_gemm_plan *p, int rank, int64_t layer)
{
    int64_t layers = dagi_least(p->layers, c->kt), place = 0, children = 0, e;
    int in_grid = rank < p->p * p->q * p->layers, at = rank / p->layers, a, b;
    cut rows = rows_of(c, p->p, at / p->q), columns = columns_of(c, p->q, at % p->q);
    if (p->layers > 1)
        place = (layer - (c->kt - layers) % p->layers + p->layers) % p->layers;
    if (in_grid && place < layers)
        children = (2 * place + 1 < layers) + (2 * place + 2 < layers);
    double tiles = 0;
    if (children > 0)
        tiles = (double)children * (double)tiles_of(&rows, &e) * (double)tiles_of(&columns, &e);
    if (stands(&c->c, rank, &a, &b)) {
        cut own_rows = rows_of(c, c->c.down, a), own_columns = columns_of(c, c->c.across, b);
        tiles += (double)tiles_of(&own_rows, &e) * (double)tiles_of(&own_columns, &e);
        if (in_grid && place == 0)
            tiles -= (double)tiles_also(&rows, c->c.down, a, &e) * (double)tiles_also(&columns, c->c.across, b, &e);
    }
    return tiles * (double)c->mb * (double)c->nb; /* partial sums are whole tiles */
}

/* Elements of tiles and pieces that the rank receives where groups have relays: a relay gets its tiles, less
 * those that it owns, and everybody else of its group their pieces. `rows` are those of this rank, `length` is
 * that of the sum, `wide` that of a group along which tiles go, j the rank's place there. */
static double along_groups(const product_owner *o, int rank, cut rows, cut length, int64_t j,
                           int64_t wide, int works)
{
    int a, b;
    int64_t count = elements_of(rows);
    cut relayed = {length.length, length.tile, length.count, wide, j % wide};
    double tiles = (double)elements_of(relayed), own = 0;
    double pieces = works ? (double)length.length - tiles : 0;
    if (stands(o, rank, &a, &b)) /* of the whole operand, whichever way it is turned */
        own = (double)elements_also(&rows, o->down, a) * (double)elements_also(&relayed, o->across, b);
    return (double)count * (tiles + pieces) - own;
}

/* The owner of the transpose. */
static product_owner flipped(product_owner o)
{
    return (product_owner){o.across, o.down, !o.turned};
}

static double received_in_groups(const product_case *c, const dag_gemm_plan *p, int rank, double *sums)
{
    int64_t i = rank / p->q, j = rank % p->q;
    int64_t high = p->p / p->groups_p, wide = p->q / p->groups_q;
    int64_t rows = dagi_least(p->p, c->mt), columns = dagi_least(p->q, c->nt);
    cut down = rows_of(c, p->p, i), across = columns_of(c, p->q, j), inner = inner_of(c, 1, 0);
    product_owner b = flipped(c->b);
    double sum = *sums = sums_received(c, p, rank, 0);
    if (rank >= p->p * p->q)
        return sum;
    if (i < rows && j / wide < dagi_ceil_div(columns, wide))
        sum += along_groups(&c->a, rank, down, inner, j, wide, j < columns);
    if (j < columns && i / high < dagi_ceil_div(rows, high))
        sum += along_groups(&b, rank, across, inner, i, high, i < rows);
    return sum;
}

static double received_on_grid(const product_case *c, const dag_gemm_plan *p, int rank, double *sums)
{
    double sum = 0;
    int layer = rank % p->layers, at = rank / p->layers;
    cut rows = rows_of(c, p->p, at / p->q), columns = columns_of(c, p->q, at % p->q);
    cut inner = inner_of(c, p->layers, layer);
    int64_t high, wide;
    int works = rank < p->p * p->q * p->layers && tiles_of(&rows, &high) > 0 && tiles_of(&columns, &wide) > 0;
    if (works) {
        double deep = (double)elements_of(inner);
        sum = missing(&c->a, rank, &rows, &inner, (double)high * deep) +
              missing(&c->b, rank, &inner, &columns, deep * (double)wide);
    }
    if (p->method != DAG_GEMM_STATIONARY_C)
        sum += *sums = sums_received(c, p, rank, layer);
    return sum;
}

/* A stays: tiles of op(B) come to those who have their rows as columns of op(A), sums to C. */
static double received_where_a_stays(const product_case *c, int rank)
{
    int i, j, a, b;
    double sum = 0;
    int64_t e, parts = c->parts;
    if (stands(&c->a, rank, &i, &j)) {
        cut inner = inner_of(c, c->a.across, j), columns = columns_of(c, 1, 0);
        cut rows = rows_of(c, c->a.down, i);
        if (tiles_of(&rows, &e) > 0)
            sum = missing(&c->b, rank, &inner, &columns, (double)elements_of(inner) * (double)c->n);
    }
    if (stands(&c->c, rank, &a, &b)) {
        cut rows = rows_of(c, c->c.down, a), columns = columns_of(c, c->c.across, b);
        double tiles = (double)tiles_of(&rows, &e) * (double)tiles_of(&columns, &e) * (double)parts;
        if (stands(&c->a, rank, &i, &j)) { /* the sums that end here */
            int64_t last = 0;
            for (int64_t k = c->kt - parts; k < c->kt; k++)
                last += k % c->a.across == j;
            tiles -= (double)tiles_also(&rows, c->a.down, i, &e) * (double)tiles_of(&columns, &e) * (double)last;
        }
        sum += tiles * (double)c->mb * (double)c->nb;
    }
    return sum;
}

/* Bytes that a rank receives in the course of a plan. On grids of a product's own *sums is how many elements of
 * partial sums are among them. */
static double received_by(const product_case *c, const dag_gemm_plan *plan, int rank, double *sums)
{
    double elements = plan->method == DAG_GEMM_STATIONARY_A ? received_where_a_stays(c, rank)
                    : plan->method == DAG_GEMM_HSUMMA       ? received_in_groups(c, plan, rank, sums)
                                                            : received_on_grid(c, plan, rank, sums);
    return elements * c->elem;
}

/* ---- what a plan takes ------------------------------------------------------------------- */

/* The busiest rank's share: rows and columns of C, and of the sum. */
static void share_of(const product_case *c, const dag_gemm_plan *p, int64_t share[3])
{
    cut rows = rows_of(c, p->p, 0), columns = columns_of(c, p->q, 0), inner = inner_of(c, p->layers, 0);
    if (p->method == DAG_GEMM_STATIONARY_A) {
        rows.of = c->a.down;
        columns.of = 1;
        inner.of = c->a.across;
    }
    share[0] = elements_of(rows);
    share[1] = elements_of(columns);
    share[2] = elements_of(inner);
}

/* Elements of others that a rank has at most. */
static double held(const product_case *c, const dag_gemm_plan *p, const int64_t share[3])
{
    double rows = (double)share[0], columns = (double)share[1];
    if (p->method == DAG_GEMM_STATIONARY_A) /* nothing bounds the tiles of B */
        return (double)share[2] * columns +
               rows * columns * (double)dagi_ceil_div(c->parts, c->a.across);
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
    double lanes = (double)dagi_ceil_div(share[0], c->mb) * (double)dagi_ceil_div(share[1], c->nb);
    if (p->method == DAG_GEMM_STATIONARY_A)
        lanes *= (double)dagi_ceil_div(c->parts, c->a.across);
    lanes = fmax(1, fmin(lanes, c->workers));
    p->compute = work / (c->flops * lanes);
    int looked_at = 0;
    double sums = 0, others; /* of rank 0 */
    p->received = p->total = 0;
    for (int r = 0; r < c->ranks; r += step, looked_at++) {
        double received = received_by(c, p, r, r ? &others : &sums);
        p->received = fmax(p->received, received);
        p->total += received;
    }
    p->total *= (double)c->ranks / looked_at;
    p->memory = held(c, p, share) * c->elem;

    double wire = p->received / c->rate;
    double first = first_step(c, p, rows, columns, inner);
    double last = 0; /* sums, which nothing hides */
    if (p->method == DAG_GEMM_SUMMA || p->method == DAG_GEMM_HSUMMA)
        last = sums * c->elem / c->rate + (1 + log2_of(p->layers)) * c->latency;
    double steps = (double)dagi_ceil_div(share[2], p->inner > 0 ? p->inner : c->kb);
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
    for (int p = 1; p <= c->ranks && p <= c->mt; p++)
        for (int q = 1; c->ranks % p == 0 && q <= c->ranks / p && q <= c->nt && count < room; q++) {
            if (c->ranks / p % q != 0 || c->ranks / p / q > c->kt)
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
