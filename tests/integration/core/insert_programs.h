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

static int body(const dag_insert_kernel *k, const void *args, const dag_tile_view *t)
{
    number salt;
    memcpy(&salt, args, sizeof salt);
    for (int64_t j = 0; j < t[0].n; j++) {
        for (int64_t i = 0; i < t[0].m; i++) {
            number in[DAG_INSERT_TILES];
            int n = 0;
            for (int a = 0; a < k->ntiles; a++) {
                if (k->access[a] & DAG_TILE_READ)
                    in[n++] = ((const number *)t[a].ptr)[i + j * t[a].ld];
            }
            for (int a = 0; a < k->ntiles; a++) {
                if (k->access[a] != DAG_TILE_READ)
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

#define KERNEL(NAME, N, MAIN, REDUCE, ...)                                                         \
    static int NAME##_body(struct dag_task *task, const void *args, const dag_tile_view *tiles);   \
    static const dag_insert_kernel NAME = {.name = #NAME, .ntiles = N, .main = MAIN,               \
                                           .access = {__VA_ARGS__}, .body = NAME##_body,           \
                                           .reduce = REDUCE};                                      \
    static int NAME##_body(struct dag_task *task, const void *args, const dag_tile_view *tiles)    \
    {                                                                                              \
        (void)task;                                                                                \
        return body(&NAME, args, tiles);                                                           \
    }
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
static const dag_insert_kernel *const kernels[] = {&fill, &change, &copy, &update, &couple, &four,
                                                   &sum,  &sums,   &toggle};
enum { KINDS = sizeof kernels / sizeof kernels[0], PLAIN = 6 /* without contributions */ };

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
    int tile[DAG_INSERT_TILES];
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

/* Tiles that are gone are not named any more, and what nobody has written is not read. */
static step draw_step(int kinds, int tiles, char *states)
{
    static int last; /* contributions come one behind the other */
    last = states[TILES] && draw(4) ? last : (int)draw((uint64_t)kinds);
    step s = {.kernel = kernels[last], .salt = draw(UINT64_MAX)};
    states[TILES] = s.kernel->reduce != NULL;
    for (int a = 0; a < s.kernel->ntiles; a++) {
        int fresh;
        do {
            s.tile[a] = (int)draw(s.kernel->access[a] == DAG_TILE_REDUCE ? REDUCED : (uint64_t)tiles);
            fresh = states[s.tile[a]] <= (s.kernel->access[a] == DAG_TILE_WRITE ? UNWRITTEN : THERE);
            for (int b = 0; b < a; b++)
                fresh &= s.tile[b] != s.tile[a];
        } while (!fresh);
    }
    for (int a = 0; a < s.kernel->ntiles; a++)
        states[s.tile[a]] = THERE;
    return s;
}

static void run_serially(const step *s, number (*items)[MB * NB])
{
    number part[DAG_INSERT_TILES][MB * NB];
    dag_tile_view view[DAG_INSERT_TILES];
    for (int a = 0; a < s->kernel->ntiles; a++) {
        int reduced = s->kernel->access[a] == DAG_TILE_REDUCE;
        view[a] = (dag_tile_view){reduced ? part[a] : items[s->tile[a]], MB, MB, NB};
    }
    body(s->kernel, &s->salt, view);
    for (int a = 0; a < s->kernel->ntiles; a++) {
        if (s->kernel->access[a] == DAG_TILE_REDUCE)
            s->kernel->reduce(items[s->tile[a]], part[a], sizeof part[a]);
    }
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
