/*
 * Which tile size, and cut how, which form of the update, and which placement: what a list schedule (split_model.h) says
 * to be fastest on this rank's node.
 *
 * For each placement and form that the settings allow tiles of one size are tried first, then some cuts of tiles of all
 * sizes, but for those of Cholesky and products that take twice as long as the best, then the neighbours of the best,
 * until none is better. Two sizes are taken where they gain more than the schedule may err.
 */
#include "cut.h"
#include "split_choice.h"
#include "split_model.h"

#include <dag/node.h>

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Tasks of a graph that is played to compare, and to predict; of one that has more a smaller one is played. */
static const double compared = 60e3, predicted = 600e3;
static const double gain = 0.98; /* of the best uniform size, below which two sizes have to be */

static const int64_t sizes[] = {64, 96, 128, 192, 256, 320, 384, 448, 512, 576, 640, 768, 896, 1024, 1152, 1280, 1536,
                                1792, 2048, 2560, 3072, 4096}; /* the first two for the panels of QR */
static const int64_t widths[] = {32, 64, 96, 128, 160, 192, 256, 320, 384, 512};
static const struct { int64_t s, b; } coarse[] = {{1, 96}, {2, 96}, {4, 64}, {1, 192}, {2, 192}, {4, 192},
                                                  {1, 32}}; /* the last for panels of QR, of tiles that are far wider */
#define COUNT(array) ((int)(sizeof(array) / sizeof(*(array))))
enum { MOST_TILES = 128, MOST_NARROW = 8 };

typedef struct search {
    const dagi_split_machine *machine;
    dagi_split_problem p;
    dagi_split_cut of;  /* its tiles; nb = 0: to be chosen */
    dagi_split_cut best;
    double seconds;
    double whole[COUNT(sizes)]; /* of tiles of one size; not to be: infinite */
} search;

/* ---- what a cut takes ----------------------------------------------------------------------- */

/* The problem with so many tiles of a side that it has no more than `tasks`, times `share`. */
static dagi_split_problem smaller(const dagi_split_problem *p, const dagi_split_cut *cut, double tasks,
                                  double share)
{
    dagi_split_problem less = *p;
    double by = share * cbrt(tasks / dagi_split_tasks(p, cut));
    int64_t m = (int64_t)(by * (double)p->m / (double)cut->mb), n = (int64_t)(by * (double)p->n / (double)cut->nb);
    int64_t k = (int64_t)(by * (double)p->k / (double)cut->kb);
    less.m = (m > 1 ? m : 1) * cut->mb;
    less.n = (n > 1 ? n : 1) * cut->nb;
    less.k = (k > 1 ? k : 1) * cut->kb;
    return less;
}

/* Behind the problem that is played work goes on at the rate at which the last third of it went. */
static double seconds_of(const dagi_split_machine *machine, const dagi_split_problem *p,
                         const dagi_split_cut *cut, double tasks)
{
    if (dagi_split_tasks(p, cut) <= tasks)
        return dagi_split_play(machine, p, cut).seconds;
    dagi_split_problem less = smaller(p, cut, tasks, 1), least = smaller(p, cut, tasks, 2.0 / 3);
    double some = dagi_split_play(machine, &less, cut).seconds;
    double work = dagi_split_flops(&less), before = dagi_split_flops(&least);
    double rate = (some - dagi_split_play(machine, &least, cut).seconds) / (work - before);
    return work > before ? some + rate * (dagi_split_flops(p) - work) : HUGE_VAL;
}

static bool fits(const search *s, const dagi_split_cut *cut)
{
    return cut->s * cut->b <= cut->nb && (cut->s == 0 || cut->nb > cut->b) &&
           (s->of.nb > 0 || cut->nb <= s->p.n);
}

static double consider(search *s, int64_t nb, int64_t narrow, int64_t b)
{
    dagi_split_cut cut = s->of;
    if (cut.nb == 0)
        cut.mb = cut.nb = cut.kb = nb;
    cut.s = narrow;
    cut.b = narrow > 0 ? b : 0;
    if (!fits(s, &cut))
        return HUGE_VAL;
    double seconds = seconds_of(s->machine, &s->p, &cut, compared);
    if (seconds < s->seconds) {
        s->seconds = seconds;
        s->best = cut;
    }
    return seconds;
}

/* ---- the search ----------------------------------------------------------------------------- */

static bool may_be(const search *s, int64_t nb)
{
    bool panels = s->p.routine == DAGI_SPLIT_GEQRF; /* whose tasks grow with the square of their number */
    return nb < s->p.n && s->p.n / nb <= (panels ? 4 : 1) * MOST_TILES && (nb >= sizes[2] || panels);
}

static void try_uniform(search *s)
{
    for (int i = 0; i < COUNT(sizes) && s->of.nb == 0; i++)
        s->whole[i] = may_be(s, sizes[i]) ? consider(s, sizes[i], 0, 0) : HUGE_VAL;
    if (s->of.nb > 0)
        consider(s, s->of.nb, 0, 0);
    else if (s->p.n <= sizes[COUNT(sizes) - 1])
        consider(s, s->p.n, 0, 0);
}

static void try_coarse(search *s)
{
    /* a tile that is too wide for panels of QR may be best when it is cut */
    bool panels = s->p.routine == DAGI_SPLIT_GEQRF;
    double most = panels ? DBL_MAX : 2 * s->seconds;
    for (int i = 0; i < (s->of.nb == 0 ? COUNT(sizes) : 1); i++) {
        bool wide = (s->of.nb > 0 ? s->of.nb : sizes[i]) >= 192;
        for (int c = 0; c < COUNT(coarse) - !(panels && wide); c++)
            if (s->of.nb > 0 || s->whole[i] <= most)
                consider(s, sizes[i], coarse[c].s, coarse[c].b);
    }
}

static int index_of(const int64_t *list, int count, int64_t value)
{
    int at = 0;
    while (at < count - 1 && list[at] < value)
        at++;
    return at;
}

static void try_neighbours(search *s)
{
    dagi_split_cut from;
    int left = 8;
    do {
        from = s->best;
        int w = index_of(widths, COUNT(widths), from.b), t = index_of(sizes, COUNT(sizes), from.nb);
        for (int by = -1; by <= 1; by += 2) {
            int64_t first = from.nb > widths[2] ? widths[2] : widths[0];
            if (from.s + by >= 1 && from.s + by <= MOST_NARROW)
                consider(s, from.nb, from.s + by, from.b > 0 ? from.b : first);
            if (from.s > 0 && w + by >= 0 && w + by < COUNT(widths))
                consider(s, from.nb, from.s, widths[w + by]);
            if (s->of.nb == 0 && t + by >= 0 && t + by < COUNT(sizes) && may_be(s, sizes[t + by]))
                consider(s, sizes[t + by], from.s, from.b);
        }
    } while (memcmp(&from, &s->best, sizeof from) != 0 && --left > 0);
}

/* What one placement and form take with tiles of one size and with any, whichever is best of each, if that is less. */
static void search_way(const search *from, search *one, search *two)
{
    search s = *from;
    try_uniform(&s);
    search best = s;
    best.seconds = seconds_of(s.machine, &s.p, &s.best, predicted);
    *one = best.seconds < one->seconds ? best : *one;
    try_coarse(&s);
    try_neighbours(&s);
    if (s.best.s > 0)
        s.seconds = seconds_of(s.machine, &s.p, &s.best, predicted);
    else
        s = best;
    *two = s.seconds < two->seconds ? s : *two;
}

/* Tiles of `of`; those of nb = 0 are chosen, and so are placement and form where p leaves them open. */
static dag_split_choice find(const dagi_split_machine *machine, const dagi_split_problem *p,
                             const dagi_split_cut *of)
{
    search s = {.machine = machine, .p = *p, .of = *of, .seconds = HUGE_VAL}, one = s, two = s;
    for (int placement = DAG_SPLIT_COST; placement <= DAG_SPLIT_STATIC; placement++)
        for (int update = DAG_SPLIT_BY_COLUMN; update <= DAG_SPLIT_BY_TILE; update++) {
            s.p.placement = placement;
            s.p.update = update;
            if ((p->placement == s.p.placement || p->placement == DAG_SPLIT_PLACEMENT_AUTO) &&
                (p->update == s.p.update || p->update == DAG_SPLIT_UPDATE_AUTO))
                search_way(&s, &one, &two);
        }
    if (!(two.seconds < gain * one.seconds) || two.best.s == 0)
        two = one;
    return (dag_split_choice){.nb = two.best.nb, .s = two.best.s, .b = two.best.b, .placement = two.p.placement,
                              .update = two.p.update, .seconds = two.seconds, .uniform_nb = one.best.nb,
                              .uniform_placement = one.p.placement, .uniform_update = one.p.update,
                              .uniform_seconds = one.seconds};
}

/* ---- the machine ---------------------------------------------------------------------------- */

static int64_t picoseconds(double seconds)
{
    return llround(1e12 * seconds);
}

static void described(void *arg, const dag_kernel_call *call, dagi_node_task *t)
{
    double filled, alone = dag_node_kernel(arg, 1, call, &filled);
    t->core = picoseconds(dag_node_kernel(arg, 0, call, NULL));
    t->alone = alone < 0 ? -1 : picoseconds(alone);
    t->filled = picoseconds(filled);
}

/* As text; "" where it has none. */
static const char *setting(const dag_context *ctx, const char *name)
{
    dag_setting s;
    for (int i = 0; dag_setting_get(ctx, i, &s); i++)
        if (strcmp(s.name, name) == 0)
            return s.value;
    return "";
}

static dag_node *open_machine(dag_context *ctx, dagi_split_machine *machine)
{
    dag_node *n = dag_node_new(ctx);
    if (n == NULL)
        return NULL;
    int devices = dag_devices(ctx) < DAGI_NODE_DEVICES ? dag_devices(ctx) : DAGI_NODE_DEVICES;
    *machine = (dagi_split_machine){
        .node = {.workers = dag_workers(ctx), .devices = devices, .streams = n->streams,
                 .queues = atoi(setting(ctx, "device_streams")) - 1, /* the first is for urgent tasks, of which there are none */
                 .links = n->links > 0 && n->links < devices ? n->links : devices, .memory = n->memory,
                 .in = n->in, .out = n->out, .latency = picoseconds(n->latency), .task = picoseconds(n->task)},
        .kernel = described,
        .arg = n};
    return n;
}

/* ---- what was asked before ------------------------------------------------------------------ */

typedef struct question {
    dagi_split_problem p;
    dagi_split_cut of;
    int workers, devices;
    char machine[256];
} question;

enum { REMEMBERED = 16 };
static struct { question q; dag_split_choice choice; } answers[REMEMBERED];
static int nanswers; /* that were ever given; both under `lock` */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool same(const question *a, const question *b)
{
    return a->p.routine == b->p.routine && a->p.prec == b->p.prec && a->p.placement == b->p.placement &&
           a->p.update == b->p.update &&
           a->p.m == b->p.m && a->p.n == b->p.n && a->p.k == b->p.k && a->of.mb == b->of.mb &&
           a->of.nb == b->of.nb && a->of.kb == b->of.kb && a->workers == b->workers &&
           a->devices == b->devices && strcmp(a->machine, b->machine) == 0;
}

static bool recall(const question *q, dag_split_choice *choice)
{
    for (int i = 0; i < nanswers && i < REMEMBERED; i++)
        if (same(&answers[i].q, q)) {
            *choice = answers[i].choice;
            return true;
        }
    return false;
}

static void remember(const question *q, const dag_split_choice *choice)
{
    answers[nanswers % REMEMBERED].q = *q;
    answers[nanswers++ % REMEMBERED].choice = *choice;
}

static dag_status answer(dag_context *ctx, const question *q, dag_split_choice *choice)
{
    dagi_split_machine machine;
    dag_node *n = open_machine(ctx, &machine);
    if (n == NULL)
        return DAG_ERR_IO; /* and has said why */
    *choice = find(&machine, &q->p, &q->of);
    dag_node_free(n);
    if (!isfinite(choice->seconds))
        return dag_error(ctx, DAG_ERR_NOMEM, "split = auto: a task of that size does not fit the devices' "
                         "memory, or there is none to find one; give s,b, or none");
    remember(q, choice);
    question given = *q; /* with that tile size the search might end elsewhere */
    given.of = (dagi_split_cut){.mb = choice->nb, .nb = choice->nb, .kb = choice->nb};
    if (q->of.nb == 0)
        remember(&given, choice);
    return DAG_SUCCESS;
}

/* ---- the interface -------------------------------------------------------------------------- */

/* Without devices there is nothing to divide tiles between. */
static dag_status on_cores(dag_context *ctx, const dagi_split_problem *p, const dagi_split_cut *of,
                           dag_split_choice *choice)
{
    dag_tile_choice tile = {.nb = of->nb};
    dag_status status = of->nb == 0 ? dag_la_tile(ctx, p->prec, p->n, &tile) : DAG_SUCCESS;
    *choice = (dag_split_choice){.nb = tile.nb, .uniform_nb = tile.nb};
    return status;
}

dag_status dagi_split_choose(dag_context *ctx, const dagi_cut_of *of, dag_split_choice *choice)
{
    const char *machine = setting(ctx, "machine");
    double side = sqrt((double)dag_size(ctx)); /* a rank has its share of the matrix */
    question q = {.workers = dag_workers(ctx), .devices = dag_devices(ctx)};
    dag_split_desc desc;
    int wanted;
    dag_status status = dag_split_settings(ctx, &wanted, &desc);
    if (status != DAG_SUCCESS)
        return status;
    q.p = (dagi_split_problem){.routine = of->routine, .prec = of->prec, .placement = desc.placement,
                               .update = desc.update,
                               .m = llround(ceil((double)of->m / side)), .n = llround(ceil((double)of->n / side)),
                               .k = of->routine == DAGI_CUT_POTRF ? llround(ceil((double)of->n / side)) : of->k};
    if (of->routine == DAGI_CUT_GEMM) /* has one form */
        q.p.update = DAG_SPLIT_BY_COLUMN;
    q.of = (dagi_split_cut){.mb = of->mb, .nb = of->nb, .kb = of->kb};
    if (dag_devices(ctx) == 0 || q.p.n < 2 || q.p.m < 1 || q.p.k < 1)
        return on_cores(ctx, &(dagi_split_problem){.prec = of->prec, .n = of->n}, &q.of, choice);
    if (machine[0] == '\0' || strlen(machine) >= sizeof q.machine)
        return dag_error(ctx, DAG_ERR_UNSUPPORTED, "split = auto: what kernels take on the devices is not known: "
                         "describe the node in a file and name it by the setting machine, or give s,b, or none");
    strcpy(q.machine, machine);
    pthread_mutex_lock(&lock);
    if (!recall(&q, choice))
        status = answer(ctx, &q, choice);
    pthread_mutex_unlock(&lock);
    return status;
}

dag_status dag_la_split(dag_context *ctx, const char *routine, dag_precision prec, int64_t m, int64_t n,
                        int64_t k, int64_t nb, dag_split_choice *choice)
{
    static const char *const names[] = {[DAGI_CUT_POTRF] = "potrf", [DAGI_CUT_GEMM] = "gemm",
                                        [DAGI_CUT_GEQRF] = "geqrf"};
    int which = 0;
    while (which < COUNT(names) && strcmp(routine, names[which]) != 0)
        which++;
    if (which == COUNT(names))
        return dag_error(ctx, DAG_ERR_ARG, "dag_la_split: there are no tiles of two sizes for %s: use potrf, geqrf or "
                         "gemm", routine);
    if (m < 0 || n < 0 || k < 0 || nb < 0)
        return dag_error(ctx, DAG_ERR_ARG, "dag_la_split: sizes must not be negative");
    const dagi_cut_of of = {.routine = which, .prec = prec, .m = which == DAGI_CUT_POTRF ? n : m, .n = n,
                            .k = which == DAGI_CUT_GEMM ? k : n, .mb = nb, .nb = nb, .kb = nb};
    return dagi_split_choose(ctx, &of, choice);
}
