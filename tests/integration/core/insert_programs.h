/*
 * Random sequential programs for insert.c: their kernels, tasks that are drawn, and the same run serially.
 */
#ifndef INSERT_PROGRAMS_H
#define INSERT_PROGRAMS_H

#include <dag/insert.h>

#include <string.h>

enum { ROWS = 5, COLUMNS = 4, MB = 3, NB = 2, MATRICES = 2 };
enum { STORED = MATRICES * ROWS * COLUMNS, TASKS = 150 };
enum { TILES = STORED + ROWS * COLUMNS }; /* the last ones have no memory */
enum { REDUCED = 4 }; /* tasks contribute to the first ones, which are not released */

/* ---- kernels --------------------------------------------------------------------------------- */

typedef uint64_t number; /* as large as an item of the matrices */

/* What each item of the written tiles becomes, from the same item of those that are read. */
static number combine(number salt, int out, const number *in, int n)
{
    number x = salt + (number)out;
    for (int a = 0; a < n; a++)
        x = (x ^ in[a]) * UINT64_C(0x9e3779b97f4a7c15) + (x >> 7);
    return x;
}

static dag_tile_access access_of(const dag_insert_kernel *k, int a)
{
    return a < k->ntiles ? k->access[a] : k->rest;
}

/* Is the item in the region that the kernel says? */
static int inside(dag_tile_access access, int64_t i, int64_t j)
{
    int region = (access & DAG_TILE_REGIONS) >> DAG_TILE_REGION_AT;
    return !region || (region & (i > j ? DAG_REGION_LOWER_STRICT : i == j ? DAG_REGION_DIAGONAL : DAG_REGION_UPPER_STRICT));
}

static int body(const dag_insert_kernel *k, int ntiles, const void *args, const dag_tile_view *t)
{
    number salt;
    memcpy(&salt, args, sizeof salt);
    for (int64_t j = 0; j < t[0].n; j++) {
        for (int64_t i = 0; i < t[0].m; i++) {
            number in[DAG_INSERT_MOST];
            int n = 0;
            for (int a = 0; a < ntiles; a++) {
                if ((access_of(k, a) & DAG_TILE_READ) && inside(access_of(k, a), i, j))
                    in[n++] = ((const number *)t[a].ptr)[i + j * t[a].ld];
            }
            for (int a = 0; a < ntiles; a++) {
                if ((access_of(k, a) & DAG_TILE_WRITE) && inside(access_of(k, a), i, j))
                    ((number *)t[a].ptr)[i + j * t[a].ld] = combine(salt, a, in, n);
            }
        }
    }
    return 0;
}

static void add(void *into, const void *from, size_t bytes)
{
    for (size_t i = 0; i < bytes / sizeof(number); i++)
        ((number *)into)[i] += ((const number *)from)[i];
}

static void flip(void *into, const void *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)into)[i] ^= ((const unsigned char *)from)[i];
}

#define LIST_KERNEL(NAME, N, MAIN, REDUCE, REST, ...)                                              \
    static int NAME##_body(struct dag_task *task, const void *args, const dag_tile_view *tiles);   \
    static const dag_insert_kernel NAME = {.name = #NAME, .ntiles = N, .main = MAIN,               \
                                           .access = {__VA_ARGS__}, .body = NAME##_body,           \
                                           .reduce = REDUCE, .rest = REST};                        \
    static int NAME##_body(struct dag_task *task, const void *args, const dag_tile_view *tiles)    \
    {                                                                                              \
        return body(&NAME, dag_insert_count(task), args, tiles);                                   \
    }
#define KERNEL(NAME, N, MAIN, REDUCE, ...) LIST_KERNEL(NAME, N, MAIN, REDUCE, 0, __VA_ARGS__)
KERNEL(fill, 1, 0, NULL, DAG_TILE_WRITE)
KERNEL(change, 1, 0, NULL, DAG_TILE_RW)
KERNEL(modify, 1, 0, NULL, DAG_TILE_RW) /* the same by another name */
KERNEL(copy, 2, 1, NULL, DAG_TILE_READ, DAG_TILE_WRITE)
KERNEL(update, 3, 2, NULL, DAG_TILE_READ, DAG_TILE_READ, DAG_TILE_RW)
KERNEL(couple, 2, 0, NULL, DAG_TILE_RW, DAG_TILE_RW)
/* Contributions: where what is read lives, where what is written lives, where they are going. */
KERNEL(sum, 2, 0, add, DAG_TILE_READ, DAG_TILE_REDUCE)
KERNEL(sums, 4, 1, add, DAG_TILE_REDUCE, DAG_TILE_RW, DAG_TILE_READ, DAG_TILE_REDUCE)
KERNEL(toggle, 2, 1, flip, DAG_TILE_READ, DAG_TILE_REDUCE)
KERNEL(four, 4, 3, NULL, DAG_TILE_READ, DAG_TILE_WRITE, DAG_TILE_RW, DAG_TILE_RW)
/* As many tiles as a call likes: read into one, all changed, all contributed to. */
LIST_KERNEL(gather, 2, 1, NULL, DAG_TILE_READ, DAG_TILE_READ, DAG_TILE_RW)
LIST_KERNEL(shuffle, 0, 0, NULL, DAG_TILE_RW, 0)
LIST_KERNEL(spread, 1, 0, add, DAG_TILE_REDUCE, DAG_TILE_READ)
/* Regions of tiles. */
#define PART(ACCESS, REGION) DAG_TILE_PART(DAG_TILE_##ACCESS, DAG_REGION_##REGION)
KERNEL(lower, 1, 0, NULL, PART(RW, LOWER))
KERNEL(above, 2, 0, NULL, PART(WRITE, UPPER_STRICT), PART(READ, UPPER))
KERNEL(diagonal, 2, 1, NULL, PART(READ, LOWER_STRICT), PART(RW, DIAGONAL))
KERNEL(parts, 3, 2, NULL, PART(RW, UPPER), PART(WRITE, LOWER_STRICT), PART(RW, UPPER_STRICT))
LIST_KERNEL(column, 1, 0, NULL, PART(READ, LOWER), PART(WRITE, UPPER))
KERNEL(blend, 3, 1, add, PART(READ, DIAGONAL), PART(WRITE, DIAGONAL), DAG_TILE_REDUCE)

KERNEL(apart, 3, 2, NULL, PART(READ, LOWER), PART(READ, UPPER), DAG_TILE_RW)

/* It reads alone, on the rank that the call says, which remembers what it has seen. */
static _Atomic number seen_here;
static number digest(number salt, int n, const dag_tile_view *t)
{
    for (int a = 0; a < n; a++) {
        for (int64_t j = 0; j < t[a].n; j++)
            salt = combine(salt, a, (const number *)t[a].ptr + j * t[a].ld, (int)t[a].m);
    }
    return salt;
}

static int witness_body(struct dag_task *task, const void *args, const dag_tile_view *t)
{
    number salt;
    memcpy(&salt, args, sizeof salt);
    seen_here += digest(salt, dag_insert_count(task), t);
    return 0;
}
static const dag_insert_kernel witness = {
    .name = "witness", .main = DAG_INSERT_WHERE, .rest = DAG_TILE_READ, .body = witness_body};

static const dag_insert_kernel *const kernels[] = {&fill,   &change,  &copy, &update, &couple, &four,  &gather,
                                                   &shuffle, &witness, &sum,  &sums,   &toggle, &spread, &lower, &above,
                                                   &diagonal, &parts, &column, &blend, &apart};
enum { KINDS = sizeof kernels / sizeof kernels[0], PLAIN = 9 /* without contributions */ };

/* ---- programs ---------------------------------------------------------------------------------- */

static uint64_t state;

static uint64_t draw(uint64_t n)
{
    state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = (state ^ (state >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (x ^ (x >> 31)) % n;
}

typedef struct step {
    const dag_insert_kernel *kernel;
    int tile[DAG_INSERT_MOST], n;
    int rank; /* of one that reads alone, among as many as it likes */
    number salt;
} step;

/* What has become of tiles; and behind them: the last task contributed. */
enum { THERE, UNWRITTEN, GONE };

static void begin_states(char *states)
{
    for (int t = 0; t < TILES; t++)
        states[t] = t < STORED ? THERE : UNWRITTEN;
    states[TILES] = 0;
}

/* How many tiles it has: a list names some of those that are there. */
static int draw_count(const dag_insert_kernel *k, int tiles, const char *states)
{
    int there = 0, from = k->ntiles > 0 || k->main < 0 ? k->ntiles : 1;
    for (int t = 0; t < (k->rest == DAG_TILE_REDUCE ? REDUCED : tiles); t++)
        there += states[t] == THERE;
    there = k->rest == DAG_TILE_REDUCE ? 1 + there / 2 : there > DAG_INSERT_MOST ? DAG_INSERT_MOST : there;
    return k->rest && there > from ? from + (int)draw((uint64_t)(there - from + 1)) : from;
}

/* Both name one tile: only readers do. */
static int agree(const dag_insert_kernel *k, int a, int b)
{
    return !((access_of(k, a) | access_of(k, b)) & DAG_TILE_WRITE);
}

/* Tiles that are gone are not named any more, and what nobody has written is not read. */
static step draw_step(int kinds, int tiles, char *states)
{
    static int last; /* contributions come one behind the other */
    last = states[TILES] && draw(4) ? last : (int)draw((uint64_t)kinds);
    step s = {.kernel = kernels[last], .salt = draw(UINT64_MAX)};
    states[TILES] = s.kernel->reduce != NULL;
    s.n = draw_count(s.kernel, tiles, states);
    s.rank = s.kernel->main < 0 ? (int)draw(1000) : -1;
    for (int a = 0; a < s.n; a++) {
        int fresh;
        do {
            s.tile[a] = (int)draw(access_of(s.kernel, a) == DAG_TILE_REDUCE ? REDUCED : (uint64_t)tiles);
            fresh = states[s.tile[a]] <= (access_of(s.kernel, a) == DAG_TILE_WRITE ? UNWRITTEN : THERE);
            for (int b = 0; b < a; b++)
                fresh &= s.tile[b] != s.tile[a] || agree(s.kernel, a, b);
        } while (!fresh);
    }
    for (int a = 0; a < s.n; a++)
        states[s.tile[a]] = THERE;
    return s;
}

/* Returns what a witness has seen. */
static number run_serially(const step *s, number (*items)[MB * NB])
{
    number part[DAG_INSERT_MOST][MB * NB];
    dag_tile_view view[DAG_INSERT_MOST];
    for (int a = 0; a < s->n; a++) {
        int reduced = access_of(s->kernel, a) == DAG_TILE_REDUCE;
        view[a] = (dag_tile_view){reduced ? part[a] : items[s->tile[a]], MB, MB, NB};
    }
    if (s->kernel == &witness)
        return digest(s->salt, s->n, view);
    body(s->kernel, s->n, &s->salt, view);
    for (int a = 0; a < s->n; a++) {
        if (access_of(s->kernel, a) == DAG_TILE_REDUCE)
            s->kernel->reduce(items[s->tile[a]], part[a], sizeof part[a]);
    }
    return 0;
}

/* A tile to release now, while there are others; -1 = none. */
static int draw_release(int tiles, char *states)
{
    int left = 0, t = (int)draw((uint64_t)tiles);
    for (int k = 0; k < tiles; k++)
        left += states[k] == THERE;
    if (draw(8) != 0 || states[t] != THERE || left <= 5 || t < REDUCED)
        return -1;
    states[t] = GONE;
    return t;
}

#endif
