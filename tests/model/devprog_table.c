/*
 * Prints what link.c makes of all small programs for devices, as a table for devprog.pml in C: the model has no edges of
 * its own. Of the arguments it looks for -DCOMMANDS=n, the length of the programs. With the argument `circle` the first
 * command waits for the last one, which the model has to find.
 *
 * Sets of commands, and of registers, are bits. Programs that look alike here are there once.
 */
#include "small_programs.h"

#include <stdlib.h>
#include <string.h>

/* Of a command: its device (0: a core runs it), its queue there, registers that it uses, those whose last user it is,
 * what it has data from, what controls it, what it has to follow the end of. */
enum { DEVICE, LANE, USES, LAST, DATA, CONTROL, FOLLOWS, FIELDS };
typedef struct row {
    unsigned char home[SMALL_REGISTERS],
        of[SMALL_MOST][FIELDS]; /* home: device of a register, 0 = there is none */
} row;

static row *rows;
static size_t nrows, room;
static int circle;

static void fill_edges(row *r, const dag_devprog *p)
{
    for (size_t e = 0; e < p->nedges; e++) {
        const edge *x = &p->edges[e];
        int source_data = p->of->classes[p->commands[x->from].cls].ndata;
        r->of[x->to][x->edge.source_flow < source_data ? DATA : CONTROL] |=
            (unsigned char)(1U << x->from);
    }
}

static void fill_registers(row *r, const set *s, const step *list, int n)
{
    for (int number = 0; number < s->registers; number++) {
        int last = -1;
        r->home[number] = (unsigned char)small_device_of(s, number);
        for (int c = 0; c < n; c++) {
            if (!small_reads_register(&list[c], number) && !small_writes_register(&list[c], number))
                continue;
            r->of[c][USES] |= (unsigned char)(1U << number);
            last = c;
        }
        if (last >= 0)
            r->of[last][LAST] |= (unsigned char)(1U << number);
    }
}

static int take(dag_context *ctx, const set *s, const step *list, int n, dag_devprog *p)
{
    row r = {{0}, {{0}}};
    rows = dagi_devprog_grow(rows, nrows, &room, sizeof *rows);
    if (!rows || dag_devprog_check(p) != DAG_SUCCESS) {
        fprintf(stderr, "devprog_table: %s\n", dag_message(ctx));
        exit(1);
    }
    fill_edges(&r, p);
    fill_registers(&r, s, list, n);
    for (int c = 0; c < n; c++) {
        int there = list[c].device != DAG_HOST && list[c].op <= EXEC;
        r.of[c][DEVICE] = (unsigned char)(there ? list[c].device : 0);
        r.of[c][LANE] = (unsigned char)(there ? small_queue_of(&list[c]) : 0);
        for (int before = 0; before < c; before++)
            r.of[c][FOLLOWS] |= (unsigned char)(small_follows(s, list, before, c) << before);
    }
    if (circle && n > 1)
        r.of[0][CONTROL] |= (unsigned char)(1U << (n - 1));
    rows[nrows++] = r;
    return 0;
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(row));
}

static void print(int n)
{
    printf("static const struct {\n"
           "    unsigned char home[%d];\n"
           "    struct { unsigned char device, lane, uses, last, data, control, follows; } "
           "of[%d];\n} programs[] = {\n",
           SMALL_REGISTERS, n);
    size_t count = 0;
    for (size_t i = 0; i < nrows; i++) {
        if (i > 0 && compare(&rows[i], &rows[i - 1]) == 0)
            continue;
        printf("    {{%d, %d}, {", rows[i].home[0], rows[i].home[1]);
        for (int c = 0; c < n; c++) {
            for (int f = 0; f < FIELDS; f++)
                printf("%s%d", f ? ", " : c ? ", {" : "{", rows[i].of[c][f]);
            printf("}");
        }
        printf("}},\n");
        count++;
    }
    printf("};\nenum { PROGRAMS = %zu };\n", count);
}

int main(int argc, char **argv)
{
    static const char length[] = "-DCOMMANDS=";
    int n = 3;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], length, sizeof length - 1) == 0)
            n = atoi(argv[i] + sizeof length - 1);
        circle |= strcmp(argv[i], "circle") == 0;
    }
    if (n < 1 || n > SMALL_MOST)
        return 2;
    dag_matrix *A = NULL;
    dag_context *ctx = small_start(&A);
    small_programs(ctx, A, n, take);
    qsort(rows, nrows, sizeof *rows, compare);
    print(n);
    free(rows);
    dag_matrix_free(A);
    dag_fini(ctx);
    return 0;
}
