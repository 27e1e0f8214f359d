/* What messages take, from a description of a machine, of which all other lines are left alone. */
#include "shapes.h"

#include "../base/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* "1.5us 12.5GB/s", and maybe a word behind it. */
static bool read_wire(char *value, dagi_tree_wire *wire)
{
    char *save, *latency = strtok_r(value, " \t", &save), *rate = strtok_r(NULL, " \t", &save);
    int64_t time;
    double bytes;
    if (!latency || !rate || dagi_parse_time(latency, &time) != 0 || dagi_parse_bytes(rate, "B/s", &bytes) != 0)
        return false;
    *wire = (dagi_tree_wire){.late = 1e-12 * (double)time, .beta = 1 / bytes};
    return true;
}

static bool read_line(char *line, dagi_tree_link *link, double *send)
{
    line[strcspn(line, "#")] = '\0';
    char *equals = strchr(line, '='), *key = dagi_trim(line);
    if (!equals)
        return *key == '\0';
    *equals = '\0';
    key = dagi_trim(line);
    char *value = dagi_trim(equals + 1);
    if (strcmp(key, "within") == 0)
        return read_wire(value, &link->within);
    if (strcmp(key, "between") == 0)
        return read_wire(value, &link->between);
    int64_t time;
    if (strcmp(key, "send") != 0)
        return true;
    if (dagi_parse_time(value, &time) != 0)
        return false;
    *send = 1e-12 * (double)time;
    return true;
}

/* The part of a message's latency that its sender is busy for; all of it where that is not said. */
static void divide(dagi_tree_wire *wire, double send)
{
    wire->busy = send >= 0 && send < wire->late ? send : wire->late;
    wire->late -= wire->busy;
}

dag_status dagi_network_read(const char *path, dagi_tree_link *link, char *why, size_t size)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t capacity = 0;
    double send = -1;
    int number = 0;
    bool right = true;
    if (!file) {
        dagi_refuse(why, size, "the setting network: cannot read '%s': %s", path, strerror(errno));
        return DAG_ERR_IO;
    }
    link->within = link->between = (dagi_tree_wire){0};
    while (right && getline(&line, &capacity, file) >= 0) {
        number++;
        right = read_line(line, link, &send);
    }
    free(line);
    fclose(file);
    if (!right)
        return dagi_refuse(why, size, "%s:%d: expected lines as dag_doctor --network prints them, as in "
                           "between = 1.5us 12.5GB/s, or send = 0.4us", path, number);
    if (link->within.beta <= 0 && link->between.beta <= 0)
        return dagi_refuse(why, size, "the setting network: '%s' has neither a line 'within' nor one 'between'",
                           path);
    if (link->within.beta <= 0)
        link->within = link->between;
    if (link->between.beta <= 0)
        link->between = link->within;
    divide(&link->within, send);
    divide(&link->between, send);
    return DAG_SUCCESS;
}
