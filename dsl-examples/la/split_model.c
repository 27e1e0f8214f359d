/* Cholesky, QR and products with tiles of two sizes, as chains of tasks. */
#include "split_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MEMORY = 1024, /* times of kernels that are remembered, a power of two */
    AT_ONCE = 8,   /* steps of a product that set out at its beginning (split_gemm.jdf) */
    TOGETHER = 4,  /* steps that set out behind one gate */
    AHEAD = 5      /* steps from the one that opens it to the first of these */
};

typedef struct known {
    dag_kernel_op op;
    double size;        /* of the call: its operations, or bytes where there are none */
    dagi_node_task took;
} known;

/* A piece of a matrix: columns of a tile, or a tile; of QR those of a stack. Of a pack, a copy of a factored tile or
 * stack, col is its tile column. */
typedef struct piece {
    int row, col;       /* col: tile column times pieces of a tile, plus piece */
    int32_t height, width;
} piece;

/* Of tasks of a graph: the classes of its JDF. OWN and UPDATE each on the diagonal and below it. */
enum { FACTOR, SOLVE, OWN, UPDATE = OWN + 2, PACK = UPDATE + 2 };

typedef struct graph {
    const dagi_split_machine *machine;
    const dagi_split_problem *p;
    dagi_split_cut cut;
    int mt, nt, kt;     /* tiles of what is written, and of the depth of a product */
    int C, last;        /* pieces of a tile, of one in the last tile column */
    int pieces, packs;
    piece *all;
    known *memory;
} graph;

static int tiles(int64_t length, int64_t tile)
{
    return (int)((length + tile - 1) / tile);
}

static int32_t extent(int64_t length, int64_t tile, int at)
{
    int64_t left = length - at * tile;
    return (int32_t)(left < tile ? left : tile);
}

/* Pieces of a tile with so many columns. */
static int pieces_of(const dagi_split_cut *cut, int64_t columns)
{
    int64_t narrow = cut->s * cut->b;
    return (int)(columns > narrow ? cut->s + 1 : (columns + cut->b - 1) / cut->b);
}

static int32_t width_of(const dagi_split_cut *cut, int64_t columns, int c)
{
    int64_t left = columns - c * cut->b;
    return (int32_t)(c < cut->s && left > cut->b ? cut->b : left);
}

/* ---- times ---------------------------------------------------------------------------------- */

static void add_call(const graph *g, const dag_kernel_call *call, dagi_node_task *t)
{
    double size = call->flops > 0 ? call->flops : call->bytes;
    uint64_t bits;
    memcpy(&bits, &size, sizeof bits);
    known *k = &g->memory[(bits * UINT64_C(0x9e3779b97f4a7c15) >> 40 ^ (uint64_t)call->op) % MEMORY];
    if (size <= 0)
        return;
    if (k->op != call->op || k->size != size) { /* the very same */
        *k = (known){.op = call->op, .size = size};
        g->machine->kernel(g->machine->arg, call, &k->took);
    }
    t->core += k->took.core;
    t->filled += k->took.filled;
    t->alone = t->alone < 0 || k->took.alone < 0 ? -1 : t->alone + k->took.alone;
}

static void add_kernel(const graph *g, dag_kernel_op op, double muls, dagi_node_task *t)
{
    double flops = (dag_precision_is_complex(g->p->prec) ? 8 : 2) * muls;
    const dag_kernel_call call = {op, g->p->prec, dag_kernel_op_name(op), flops, 0};
    add_call(g, &call, t);
}

/* A kernel that passes over so many elements. */
static void add_pass(const graph *g, dag_kernel_op op, double elements, dagi_node_task *t)
{
    const dag_kernel_call call = {op, g->p->prec, dag_kernel_op_name(op), 0,
                                  elements * (double)dag_precision_size(g->p->prec)};
    add_call(g, &call, t);
}

/* A task that runs nowhere else than where it is expected to end first, or where what it writes belongs. */
static dagi_node_task task_of(const graph *g, int col)
{
    bool fixed = g->p->placement == DAG_SPLIT_STATIC;
    int home = col % g->C < g->cut.s || g->machine->node.devices == 0
                   ? DAGI_NODE_HOST : col / g->C % g->machine->node.devices;
    return (dagi_node_task){.source = {-1, -1}, .home = fixed ? home : DAGI_NODE_ANY};
}

/* ---- Cholesky ------------------------------------------------------------------------------- */

/* Piece (m, J); those of the last tile row are before others of none. */
static int at(const graph *g, int m, int J)
{
    return g->C * (m * (m + 1) / 2) + J;
}

static void potrf_pieces(graph *g)
{
    piece *next = g->all;
    for (int m = 0; m < g->nt; m++)
        for (int J = 0; J < m * g->C + (m < g->nt - 1 ? g->C : g->last); J++)
            *next++ = (piece){m, J, extent(g->p->n, g->cut.nb, m),
                              width_of(&g->cut, extent(g->p->n, g->cut.nb, J / g->C), J % g->C)};
    g->pieces = (int)(next - g->all);
    for (int m = 0; m < g->nt && g->p->update == DAG_SPLIT_BY_TILE; m++)
        for (int k = 0; k < m; k++)
            *next++ = (piece){m, k, (int32_t)g->cut.nb, (int32_t)g->cut.nb};
    g->packs = (int)(next - g->all) - g->pieces;
}

/* A copy of factored tile (m, k). */
static int pack_at(const graph *g, int m, int k)
{
    return g->pieces + m * (m - 1) / 2 + k;
}

/* What is below the square of a piece of a diagonal tile. */
static double below(const graph *g, const piece *x)
{
    return (double)x->height - (double)(x->col % g->C) * (double)g->cut.b - (double)x->width;
}

static void factor(const graph *g, const piece *x, int64_t order, dagi_node_task *t)
{
    double w = x->width, h = x->height;
    if (x->row == x->col / g->C) {
        add_kernel(g, DAG_OP_POTRF, w * w * w / 6, t);
        add_kernel(g, DAG_OP_TRSM, below(g, x) * w * w / 2, t);
        t->priority = (3 * order - 3 * (int64_t)x->col + 1) * order;
    } else {
        add_kernel(g, DAG_OP_TRSM, h * w * w / 2, t);
        t->source[0] = at(g, x->col / g->C, x->col);
        t->kind = SOLVE;
        t->priority = (3 * order - 3 * (int64_t)x->col) * order - x->row;
    }
}

/* By columns K, or by all of tile column K. */
static void update(const graph *g, const piece *x, int K, bool whole, int64_t order, dagi_node_task *t)
{
    int n = x->col / g->C, own = !whole && K / g->C == n;
    t->kind = own ? OWN : UPDATE;
    t->named = !own; /* behind columns of the same tile, the diagonal first */
    t->source[0] = whole ? pack_at(g, x->row, K) : at(g, x->row, K);
    t->source[1] = whole ? pack_at(g, n, K) : at(g, n, K);
    double w = x->width, depth = g->all[t->source[0]].width;
    if (x->row == n) {
        add_kernel(g, DAG_OP_HERK, w * w * depth / 2, t);
        add_kernel(g, DAG_OP_GEMM, below(g, x) * w * depth, t);
    } else {
        add_kernel(g, DAG_OP_GEMM, (double)x->height * w * depth, t);
        t->kind++;
        t->named += !own;
    }
    t->priority = (3 * order - 2 * (int64_t)x->col - (whole ? K * g->C + g->C - 1 : K)) * order - x->row;
}

/* Piece c of the tile joins those before it. */
static bool pack_task(const graph *g, const piece *x, int c, int64_t order, dagi_node_task *t)
{
    if (c == g->C)
        return false;
    int col = x->col * g->C + c;
    *t = task_of(g, col);
    t->kind = PACK;
    t->named = 1;
    t->source[0] = at(g, x->row, col);
    t->fresh = c == 0;
    t->priority = (3 * order - 3 * (int64_t)col) * order - x->row;
    const piece *from = &g->all[t->source[0]];
    add_pass(g, DAG_OP_LACPY, (double)from->height * from->width, t);
    return true;
}

static bool potrf_task(const void *arg, int element, int step, dagi_node_task *t)
{
    const graph *g = arg;
    const piece *x = &g->all[element];
    int64_t order = (int64_t)g->nt * g->C;
    if (element >= g->pieces)
        return pack_task(g, x, step, order, t);
    int tile = x->col / g->C, whole = g->packs > 0 ? tile : 0; /* steps of a tile column each */
    int K = step < whole ? step : step - whole + whole * g->C;
    *t = task_of(g, x->col);
    if (step < whole || K < x->col)
        update(g, x, K, step < whole, order, t);
    else if (K == x->col)
        factor(g, x, order, t);
    return step < whole || K <= x->col;
}

/* ---- QR ------------------------------------------------------------------------------------- */

static int panels_of(const graph *g)
{
    return g->mt < g->nt ? g->mt : g->nt;
}

static void geqrf_pieces(graph *g)
{
    piece *next = g->all;
    int32_t high = (int32_t)g->p->m;
    for (int J = 0; J < (g->nt - 1) * g->C + g->last; J++)
        *next++ = (piece){0, J, high, width_of(&g->cut, extent(g->p->n, g->cut.nb, J / g->C), J % g->C)};
    g->pieces = (int)(next - g->all);
    for (int k = 0; k < panels_of(g); k++)
        *next++ = (piece){0, k, high, (int32_t)g->cut.nb};
    for (int k = 0; k < panels_of(g); k++)
        for (int c = 0; c <= g->C; c++) { /* T of each column, and of all */
            int32_t w = c < g->C ? width_of(&g->cut, g->cut.nb, c) : (int32_t)g->cut.nb;
            *next++ = (piece){0, k, w, w};
        }
    g->packs = (int)(next - g->all) - g->pieces;
}

/* T of column c of panel k; C: of all of it. No task of its own writes it: its readers wait for the column, too. */
static int triangle_at(const graph *g, int k, int c)
{
    return g->pieces + panels_of(g) + k * (g->C + 1) + c;
}

static int pieces_in(const graph *g, int tile)
{
    return tile < g->nt - 1 ? g->C : g->last;
}

/* Rows of a stack from piece c of panel k on. */
static double rows_from(const graph *g, int k, int c)
{
    double rows = (double)(g->p->m - k * g->cut.nb - c * g->cut.b);
    return rows > 0 ? rows : 0;
}

/* By piece c of panel k, or by all of it. */
static void reflect(const graph *g, const piece *x, int k, int c, bool whole, dagi_node_task *t)
{
    t->kind = x->col / g->C == k ? OWN : UPDATE;
    t->named = 1; /* behind the copy of the column */
    t->source[0] = whole ? g->pieces + k : k * g->C + c;
    t->source[1] = triangle_at(g, k, whole ? g->C : c);
    double rows = rows_from(g, k, c), depth = g->all[t->source[0]].width, w = x->width;
    depth = depth < rows ? depth : rows;
    add_kernel(g, DAG_OP_GEMQRT_STACK, 2 * rows * w * depth - w * depth * depth / 2, t);
}

static void only_on_cores(dagi_node_task *t)
{
    t->home = DAGI_NODE_HOST;
    t->alone = -1;
}

/* Piece c of a panel joins those before it, and so does its T. */
static bool join_task(const graph *g, const piece *x, int c, dagi_node_task *t)
{
    int k = x->col;
    if (c == pieces_in(g, k))
        return false;
    *t = task_of(g, k * g->C + c);
    t->kind = PACK;
    t->source[0] = k * g->C + c;
    t->fresh = c == 0;
    t->priority = g->p->update == DAG_SPLIT_BY_TILE ? 3 * ((int64_t)(g->nt - k) * g->C - c) + 1 : 0;
    double w = g->all[t->source[0]].width, before = (double)c * (double)g->cut.b, rows = rows_from(g, k, c);
    double all = x->width, rank = w < rows ? w : rows;
    add_pass(g, DAG_OP_LACPY, c == 0 ? all * all : 0, t); /* T's tile at home is copied before the first piece writes it */
    add_pass(g, DAG_OP_LASET, c == 0 ? all * all : 0, t);
    add_pass(g, DAG_OP_LACPY, x->height * w, t);
    add_pass(g, DAG_OP_LACPY, rank * rank, t);
    add_pass(g, DAG_OP_GEADD, before * rank, t);
    add_kernel(g, DAG_OP_TRMM, before * rank * rank / 2, t);
    add_kernel(g, DAG_OP_GEMM, before * rank * (rows - rank), t);
    add_kernel(g, DAG_OP_TRMM, before * rank * before / 2, t);
    add_kernel(g, DAG_OP_TRMM, before * rank * rank / 2, t);
    only_on_cores(t);
    return true;
}

static bool geqrf_task(const void *arg, int element, int step, dagi_node_task *t)
{
    const graph *g = arg;
    const piece *x = &g->all[element];
    if (element >= g->pieces)
        return element < triangle_at(g, 0, 0) && join_task(g, x, step, t);
    bool by_tile = g->p->update == DAG_SPLIT_BY_TILE;
    int tile = x->col / g->C, panel = tile < panels_of(g), left = panel ? tile : panels_of(g);
    int updates = by_tile ? left : left * g->C, own = step - updates; /* column of its own panel */
    if (own > (panel ? x->col % g->C : -1))
        return false;
    *t = task_of(g, x->col);
    t->priority = 3 * ((int64_t)g->nt * g->C - x->col);
    if (own < 0 && by_tile) {
        reflect(g, x, step, 0, true, t);
    } else if (own < 0) {
        reflect(g, x, step / g->C, step % g->C, false, t);
    } else if (own < x->col % g->C) {
        reflect(g, x, tile, own, false, t);
    } else {
        double m = rows_from(g, tile, own), n = x->width, least = m < n ? m : n;
        add_kernel(g, DAG_OP_GEQRT_STACK, least * (2 * m * n - least * (m + n) + 2 * least * least / 3), t);
        t->priority++;
        only_on_cores(t);
    }
    return true;
}

/* ---- products ------------------------------------------------------------------------------- */

static int32_t width_at(const graph *g, int J)
{
    return width_of(&g->cut, extent(g->p->n, g->cut.nb, J / g->C), J % g->C);
}

/* Those of op(A), of op(B), and of C. */
static void gemm_pieces(graph *g)
{
    piece *next = g->all;
    int across = (g->nt - 1) * g->C + g->last;
    for (int m = 0; m < g->mt; m++)
        for (int k = 0; k < g->kt; k++)
            *next++ = (piece){m, k, extent(g->p->m, g->cut.mb, m), extent(g->p->k, g->cut.kb, k)};
    for (int k = 0; k < g->kt; k++)
        for (int J = 0; J < across; J++)
            *next++ = (piece){k, J, extent(g->p->k, g->cut.kb, k), width_at(g, J)};
    for (int J = 0; J < across; J++)
        for (int m = 0; m < g->mt; m++)
            *next++ = (piece){m, J, extent(g->p->m, g->cut.mb, m), width_at(g, J)};
    g->pieces = (int)(next - g->all);
}

/* Gates of a row or column of C. */
static int gates_in(const graph *g)
{
    return g->kt > AT_ONCE ? (g->kt - 1) / TOGETHER - 1 : 0;
}

/* 1 + the gate of tile row m, or of column J behind all rows, for step k and those that set out with it. */
static int row_gate(const graph *g, int m, int k)
{
    return 1 + m * gates_in(g) + (k - AT_ONCE) / TOGETHER;
}

static int column_gate(const graph *g, int J, int k)
{
    return row_gate(g, g->mt + J, k);
}

/* How many products open it: all of the row, or of the column, of that step. */
static int keys(const void *arg, int gate)
{
    const graph *g = arg;
    return gate / gates_in(g) < g->mt ? (g->nt - 1) * g->C + g->last : g->mt;
}

/* A piece of op(A) or op(B) sets out; four steps one after the other. Those of later steps are held back until the
 * product is near them. `before`: elements between two of its row or column. */
static void set_out(const graph *g, int element, int k, int before, int gate, dagi_node_task *t)
{
    *t = (dagi_node_task){.source = {-1, -1}, .home = DAGI_NODE_HOST, .priority = g->kt - k, .named = 1};
    if (k % TOGETHER != 0)
        t->source[0] = element - before;
    else if (k >= AT_ONCE)
        t->gate = gate;
}

static bool gemm_task(const void *arg, int element, int step, dagi_node_task *t)
{
    const graph *g = arg;
    const piece *x = &g->all[element];
    int across = (g->nt - 1) * g->C + g->last, left = g->mt * g->kt, read = left + g->kt * across;
    if (step == (element < read ? 1 : g->kt))
        return false;
    if (element < left) {
        set_out(g, element, x->col, 1, row_gate(g, x->row, x->col), t);
        return true;
    }
    if (element < read) {
        set_out(g, element, x->row, across, column_gate(g, x->col, x->row), t);
        return true;
    }
    *t = task_of(g, x->col);
    t->source[0] = x->row * g->kt + step;
    t->source[1] = left + step * across + x->col;
    t->priority = g->kt - step;
    if (step % TOGETHER == TOGETHER - 1 && step < g->kt - AHEAD) {
        t->opens[0] = row_gate(g, x->row, step + AHEAD);
        t->opens[1] = column_gate(g, x->col, step + AHEAD);
    }
    add_kernel(g, DAG_OP_GEMM, (double)x->height * x->width * g->all[t->source[0]].width, t);
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static int64_t bytes(const void *arg, int element)
{
    const graph *g = arg;
    const piece *x = &g->all[element];
    return (int64_t)x->height * x->width * (int64_t)dag_precision_size(g->p->prec);
}

/* Of a factored tile, or stack. */
static bool is_copy(const void *arg, int element)
{
    return element >= ((const graph *)arg)->pieces;
}

double dagi_split_flops(const dagi_split_problem *p)
{
    double each = dag_precision_is_complex(p->prec) ? 8 : 2, m = (double)p->m, n = (double)p->n, least = m < n ? m : n;
    if (p->routine == DAGI_SPLIT_GEQRF)
        return each * least * (2 * m * n - least * (m + n) + 2 * least * least / 3);
    return each * (p->routine == DAGI_SPLIT_POTRF ? n * n * n / 6 : (double)p->m * n * (double)p->k);
}

double dagi_split_tasks(const dagi_split_problem *p, const dagi_split_cut *cut)
{
    double nt = tiles(p->n, cut->nb), C = pieces_of(cut, cut->nb);
    if (p->routine == DAGI_SPLIT_GEQRF)
        return nt * nt / 2 * C * (p->update == DAG_SPLIT_BY_TILE ? 1 : C) + nt * C * C;
    if (p->routine == DAGI_SPLIT_POTRF && p->update == DAG_SPLIT_BY_TILE)
        return nt * nt * nt / 6 * C + nt * nt * C * C / 2;
    if (p->routine == DAGI_SPLIT_POTRF)
        return nt * nt * nt / 6 * C * C + nt * nt * C;
    return C * nt * tiles(p->m, cut->mb) * tiles(p->k, cut->kb);
}

typedef struct kind {
    void (*pieces)(graph *g);
    bool (*task)(const void *arg, int element, int step, dagi_node_task *task);
    bool gates;
} kind;

dagi_node_run dagi_split_play(const dagi_split_machine *machine, const dagi_split_problem *p,
                              const dagi_split_cut *cut)
{
    graph g = {.machine = machine, .p = p, .cut = *cut};
    dagi_node_run run = {.seconds = HUGE_VAL};
    g.mt = tiles(p->m, cut->mb);
    g.nt = tiles(p->n, cut->nb);
    g.kt = tiles(p->k, cut->kb);
    g.C = pieces_of(cut, cut->nb);
    g.last = pieces_of(cut, p->n - (g.nt - 1) * cut->nb);
    static const kind of[] = {[DAGI_SPLIT_POTRF] = {potrf_pieces, potrf_task, false},
                              [DAGI_SPLIT_GEMM] = {gemm_pieces, gemm_task, true},
                              [DAGI_SPLIT_GEQRF] = {geqrf_pieces, geqrf_task, false}};
    const kind *k = &of[p->routine];
    size_t across = (size_t)g.nt * (size_t)g.C, mt = (size_t)g.mt, kt = (size_t)g.kt;
    g.all = calloc(p->routine == DAGI_SPLIT_POTRF ? (across + mt) * (mt + 1) : (across + mt) * (mt + kt),
                   sizeof *g.all);
    g.memory = calloc(MEMORY, sizeof *g.memory);
    if (g.all && g.memory) {
        k->pieces(&g);
        int gates = k->gates ? (g.mt + (g.nt - 1) * g.C + g.last) * gates_in(&g) : 0;
        const dagi_node_graph chains = {&g, g.pieces + g.packs, gates, keys, bytes, is_copy, k->task};
        run = dagi_node_play(&machine->node, &chains);
    }
    free(g.all);
    free(g.memory);
    return run;
}
