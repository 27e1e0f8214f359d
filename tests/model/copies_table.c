/*
 * Prints what dagi_copies_apply() does to a record of three spaces, and what dagi_copies_check() says
 * of it, as tables for copies.pml: the model has no transitions of its own.
 *
 * A record is one number: its states as digits to the base 5, space 0 first. Index of next and
 * action: (record * 5 + event) * 3 + space.
 *
 * With an argument one transition is wrong, so that a test can see the model find it:
 *   evict-owner  who evicts an owned copy hands its duty over to nobody
 *   fill-owned   the source of a FILL stays as it is
 */
#include "../../runtime/data/copies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPACES = 3, EVENTS = DAGI_COPY_DROP + 1, CODES = 5 * 5 * 5 };

static char memory[1];
static dagi_copies *record;

static void decode(int code)
{
    record->version = code != 0;
    record->nspaces = SPACES;
    record->dropped = 0;
    for (int i = 0; i < SPACES; i++, code /= 5) {
        record->copy[i].state = (uint8_t)(code % 5);
        record->copy[i].version = record->version;
    }
}

static int encode(void)
{
    int code = 0;
    for (int i = SPACES; i-- > 0;)
        code = code * 5 + record->copy[i].state;
    return code;
}

/* The check, after the caller's part: memory where a copy is valid. */
static int legal(void)
{
    for (int i = 1; i < SPACES; i++)
        record->copy[i].memory = record->copy[i].state != DAGI_INVALID ? memory : NULL;
    return dagi_copies_check(record) == NULL;
}

static int apply(int code, int event, int space, const char *wrong, int *action)
{
    int source = -1;
    decode(code);
    int before = record->copy[space].state;
    *action = dagi_copies_apply(record, space, (dagi_copy_event)event, space, &source);
    int after = encode();
    if (strcmp(wrong, "evict-owner") == 0 && event == DAGI_COPY_EVICT && before == DAGI_OWNED) {
        decode(code);
        record->copy[space].state = DAGI_INVALID;
        after = encode();
    }
    if (strcmp(wrong, "fill-owned") == 0 && event == DAGI_COPY_FILL && space != DAGI_HOST &&
        *action == DAGI_COPY_MOVE) {
        decode(code);
        record->copy[space].state = DAGI_SHARED;
        after = encode();
    }
    return after;
}

static void print(const char *name, const int *table, int count)
{
    printf("hidden byte %s[%d] = {", name, count);
    for (int i = 0; i < count; i++)
        printf("%s%d", i == 0 ? "" : i % 24 == 0 ? ",\n    " : ", ", table[i]);
    printf("};\n");
}

int main(int argc, char **argv)
{
    static int next[CODES * EVENTS * SPACES], action[CODES * EVENTS * SPACES], ok[CODES],
        state[CODES * SPACES];
    record = calloc(1, sizeof(*record) + SPACES * sizeof(record->copy[0]));
    if (record == NULL)
        return 1;
    for (int code = 0; code < CODES; code++) {
        decode(code);
        ok[code] = legal();
        for (int space = 0; space < SPACES; space++)
            state[code * SPACES + space] = record->copy[space].state;
        for (int i = 0; i < EVENTS * SPACES; i++)
            next[code * EVENTS * SPACES + i] =
                apply(code, i / SPACES, i % SPACES, argc > 1 ? argv[1] : "",
                      &action[code * EVENTS * SPACES + i]);
    }
    printf("/* Printed by copies_table.c. */\n");
    printf("#define FILL %d\n#define WRITE %d\n#define SAVE %d\n#define EVICT %d\n#define DROP %d\n",
           DAGI_COPY_FILL, DAGI_COPY_WRITE, DAGI_COPY_SAVE, DAGI_COPY_EVICT, DAGI_COPY_DROP);
    printf("#define DONE %d\n#define MOVE %d\n#define SAVE_FIRST %d\n", DAGI_COPY_DONE,
           DAGI_COPY_MOVE, DAGI_COPY_SAVE_FIRST);
    printf("#define HOST_E %d\n#define HOST_M %d\n", DAGI_EXCLUSIVE, DAGI_MODIFIED);
    print("next_of", next, CODES * EVENTS * SPACES);
    print("action_of", action, CODES * EVENTS * SPACES);
    print("legal", ok, CODES);
    print("state_of", state, CODES * SPACES);
    free(record);
    return 0;
}
