/* The description of a machine: the one that is built in, and reading others. */
#include "machine.h"
#include "../base/settings.h"
#include "../data/copies.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Nodes with the processor of docs/performance/cpu.md, of which a rank has two cores, and a network of
 * the usual kind. What does not stand here is as in clear(). */
static const char builtin[] =
    "name = built in\n"
    "workers = 2\n"
    "within = 0.6us 8GB/s copy\n"
    "between = 1.5us 12.5GB/s\n"
    "network = fat-tree 32 2\n"
    "kernel = gemm d 24:21.6 48:45.5 96:54.1 144:55.9 192:56.6 320:55.9 512:52.4\n"
    "kernel = herk d 24:12.6 48:31.1 96:47.7 144:52.1 192:54.0 320:54.1 512:53.0\n"
    "kernel = trsm d 24:15.2 48:36.5 96:48.8 144:51.9 192:53.1 320:53.9 512:52.6\n"
    "kernel = potrf d 17:3.4 33:11.4 67:26.5 100:36.2 133:41.5 222:47.6 355:48.9\n"
    "kernel = getrf d 24:3 96:12 192:22 384:30\n"
    "kernel = getrf_column d 24:2 384:4\n"
    "kernel = geqrt_stack d 24:4 96:16 192:26 384:34\n"
    "kernel = gemqrt_stack d 24:12 96:38 192:46 384:50\n"
    "kernel = tpqrt d 24:3 96:9 192:14\n"
    "kernel = tpmqrt d 24:10 96:30 192:40\n"
    "kernel = * s 24:40 48:70 96:95 192:108\n"
    "kernel = * d 24:15 48:34 96:48 192:53\n"
    "kernel = * c 24:49 48:88 96:98 192:102\n"
    "kernel = * z 24:27 48:44 96:46 192:48\n"
    "kernel = move * 32:4 128:8\n";

/* ---- numbers with units --------------------------------------------------------------------- */

static int parse_count(const char *text, int64_t least, int64_t most, int64_t *count)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    *count = value;
    return errno != 0 || end == text || *end != '\0' || value < least || value > most;
}

/* ---- lines ---------------------------------------------------------------------------------- */

static dag_status wire_line(dagi_sim_machine *m, dagi_sim_wire *wire, char *value, char *why,
                            size_t size)
{
    char *save, *latency = strtok_r(value, " \t", &save), *speed = strtok_r(NULL, " \t", &save);
    char *more = strtok_r(NULL, " \t", &save);
    if (!latency || !speed || dagi_parse_time(latency, &wire->latency) != 0 ||
        dagi_parse_bytes(speed, "B/s", &wire->bandwidth) != 0)
        return dagi_refuse(why, size, "expected latency and bandwidth, as in 1.5us 12.5GB/s");
    if (wire == &m->within)
        m->copies = more && strcmp(more, "copy") == 0;
    if (more && (wire != &m->within || !m->copies || strtok_r(NULL, " \t", &save)))
        return dagi_refuse(why, size, "'%s' is not understood here", more);
    return DAG_SUCCESS;
}

static dag_status sides(dagi_sim_machine *m, int from, char *text, char *why, size_t size)
{
    char *save, *side = strtok_r(text, "x", &save);
    int n = from;
    for (; side && n < DAGI_SIM_DIMENSIONS - 1; side = strtok_r(NULL, "x", &save), n++)
        if (parse_count(side, 1, 1 << 20, &m->extent[n]) != 0)
            return dagi_refuse(why, size, "'%s' is not a number of nodes", side);
    if (side || n == from)
        return dagi_refuse(why, size, "a torus has one to three sides, as in 8x8x4");
    for (; n < DAGI_SIM_DIMENSIONS; n++)
        m->extent[n] = 1;
    return DAG_SUCCESS;
}

static dag_status network_line(dagi_sim_machine *m, char *value, char *why, size_t size)
{
    char *save, *kind = strtok_r(value, " \t", &save);
    char *a = strtok_r(NULL, " \t", &save), *b = strtok_r(NULL, " \t", &save), *end;
    char *more = strtok_r(NULL, " \t", &save);
    if (!kind || more)
        return dagi_refuse(why, size, "expected flat, fat-tree, torus or dragonfly");
    if (strcmp(kind, "flat") == 0 && !a) {
        m->network = DAGI_SIM_FLAT;
        return DAG_SUCCESS;
    }
    if (strcmp(kind, "torus") == 0 && a && !b) {
        m->network = DAGI_SIM_TORUS;
        return sides(m, 0, a, why, size);
    }
    if (strcmp(kind, "fat-tree") == 0 && a) {
        m->network = DAGI_SIM_FAT_TREE;
        m->taper = b ? strtod(b, &end) : 1;
        if (parse_count(a, 1, 1 << 20, &m->extent[0]) != 0 || (b && (*end || !(m->taper > 0))))
            return dagi_refuse(why, size,
                               "expected fat-tree, nodes per switch, taper, as in fat-tree 32 2");
        return DAG_SUCCESS;
    }
    if (strcmp(kind, "dragonfly") == 0 && a && b) {
        m->network = DAGI_SIM_DRAGONFLY;
        if (parse_count(a, 1, 4096, &m->extent[0]) != 0 || parse_count(b, 1, 4096, &m->extent[1]) != 0)
            return dagi_refuse(why, size,
                               "expected dragonfly, routers per group, nodes per router");
        return DAG_SUCCESS;
    }
    return dagi_refuse(why, size,
                       "expected flat, fat-tree NODES [TAPER], torus XxYxZ, or dragonfly "
                       "ROUTERS NODES");
}

typedef dag_status (*file_reader)(dagi_sim_machine *m, const char *path, const char *model, char *why,
                                  size_t size);

/* FILE [MODEL] */
static dag_status file_line(dagi_sim_machine *m, file_reader read, char *value, char *why, size_t size)
{
    char *model = value + strcspn(value, " \t");
    if (*model)
        *model++ = '\0';
    return read(m, value, model + strspn(model, " \t"), why, size);
}

static dag_status count_line(int64_t *count, int64_t least, const char *value, char *why, size_t size)
{
    if (parse_count(value, least, 1 << 24, count) == 0)
        return DAG_SUCCESS;
    return dagi_refuse(why, size, "expected a whole number from %lld to %d", (long long)least,
                       1 << 24);
}

static dag_status time_line(dagi_sim_time *time, const char *value, char *why, size_t size)
{
    return dagi_parse_time(value, time) == 0
               ? DAG_SUCCESS
               : dagi_refuse(why, size, "expected a time, as in 0.5us");
}

static dag_status bytes_line(double *bytes, const char *suffix, const char *value, char *why,
                             size_t size)
{
    return dagi_parse_bytes(value, suffix, bytes) == 0
               ? DAG_SUCCESS
               : dagi_refuse(why, size, "expected bytes%s, as in 16G%s",
                             *suffix ? " per second" : "", suffix);
}

/* LATENCY BANDWIDTH [BANDWIDTH BACK] */
static dag_status link_line(dagi_sim_machine *m, char *value, char *why, size_t size)
{
    char *save, *latency = strtok_r(value, " \t", &save), *speed = strtok_r(NULL, " \t", &save);
    char *back = strtok_r(NULL, " \t", &save);
    dagi_sim_wire *l = &m->devices.link;
    if (!latency || !speed || strtok_r(NULL, " \t", &save) || dagi_parse_time(latency, &l->latency) != 0 ||
        dagi_parse_bytes(speed, "B/s", &l->bandwidth) != 0 ||
        dagi_parse_bytes(back ? back : speed, "B/s", &m->devices.back) != 0)
        return dagi_refuse(why, size, "expected latency, bandwidth to a device and, if it is another one, "
                           "back, as in 10us 6GB/s 5GB/s");
    return DAG_SUCCESS;
}

/* What is said of devices; *known = 0: the key is none of these. */
static dag_status device_line(dagi_sim_machine *m, const char *key, char *value, int *known, char *why,
                              size_t size)
{
    *known = 1;
    if (strcmp(key, "devices") == 0)
        return count_line(&m->devices.count, 0, value, why, size);
    if (strcmp(key, "device_streams") == 0)
        return count_line(&m->devices.streams, 1, value, why, size);
    if (strcmp(key, "device_links") == 0)
        return count_line(&m->devices.links, 1, value, why, size);
    if (strcmp(key, "device_memory") == 0)
        return bytes_line(&m->devices.memory, "", value, why, size);
    if (strcmp(key, "device_link") == 0)
        return link_line(m, value, why, size);
    if (strcmp(key, "device_kernel") == 0)
        return dagi_sim_kernel_line(m, 1, value, why, size);
    *known = 0;
    return DAG_SUCCESS;
}

/* Devices of which not all is said cannot be played. */
static dag_status check_devices(const dagi_sim_machine *m, const char *path, char *why, size_t size)
{
    const char *missing = m->devices.link.bandwidth > 0 ? "device_kernel" : "device_link";
    int kernels = 0;
    for (int i = 0; i < m->curves.count; i++)
        kernels += m->curves.all[i].devices;
    if ((m->devices.count + m->ranks - 1) / m->ranks > DAGI_MAX_DEVICES)
        return dagi_refuse(why, size, "machine: %s: more than %d devices for a rank", path, DAGI_MAX_DEVICES);
    if (m->devices.count == 0 || (kernels > 0 && m->devices.link.bandwidth > 0))
        return DAG_SUCCESS;
    return dagi_refuse(why, size, "machine: %s: it has devices, and no line %s says more of them", path,
                       missing);
}

static dag_status key_line(dagi_sim_machine *m, const char *key, char *value, char *why, size_t size)
{
    if (strcmp(key, "name") == 0) {
        snprintf(m->name, sizeof m->name, "%s", value);
        for (char *c = m->name; *c; c++) /* it is put between quotation marks */
            *c = *c == '"' || *c == '\\' || iscntrl((unsigned char)*c) ? '_' : *c;
        return DAG_SUCCESS;
    }
    if (strcmp(key, "nodes") == 0)
        return count_line(&m->nodes, 1, value, why, size);
    if (strcmp(key, "ranks") == 0)
        return count_line(&m->ranks, 1, value, why, size);
    if (strcmp(key, "workers") == 0)
        return count_line(&m->workers, 1, value, why, size);
    if (strcmp(key, "adapters") == 0)
        return count_line(&m->adapters, 1, value, why, size);
    if (strcmp(key, "memory") == 0)
        return bytes_line(&m->memory, "", value, why, size);
    if (strcmp(key, "copy") == 0)
        return bytes_line(&m->copy, "B/s", value, why, size);
    if (strcmp(key, "within") == 0)
        return wire_line(m, &m->within, value, why, size);
    if (strcmp(key, "between") == 0)
        return wire_line(m, &m->between, value, why, size);
    if (strcmp(key, "network") == 0)
        return network_line(m, value, why, size);
    if (strcmp(key, "share") == 0) {
        m->fair = strcmp(value, "fair") == 0;
        return m->fair || strcmp(value, "fifo") == 0 ? DAG_SUCCESS
                                                     : dagi_refuse(why, size, "expected fair or fifo");
    }
    if (strcmp(key, "hop") == 0)
        return time_line(&m->hop, value, why, size);
    if (strcmp(key, "send") == 0)
        return time_line(&m->send, value, why, size);
    if (strcmp(key, "receive") == 0)
        return time_line(&m->receive, value, why, size);
    if (strcmp(key, "task") == 0)
        return time_line(&m->task, value, why, size);
    if (strcmp(key, "kernel") == 0)
        return dagi_sim_kernel_line(m, 0, value, why, size);
    if (strcmp(key, "class") == 0)
        return dagi_sim_class_line(m, value, why, size);
    if (strcmp(key, "times") == 0)
        return file_line(m, dagi_sim_tile_times, value, why, size);
    if (strcmp(key, "perf_model") == 0)
        return file_line(m, dagi_sim_perf_model, value, why, size);
    int known;
    dag_status status = device_line(m, key, value, &known, why, size);
    if (known)
        return status;
    return dagi_refuse(
        why, size,
        "there is no '%s'; known are name, nodes, ranks, workers, memory, "
        "adapters, within, between, network, share, hop, send, receive, task, copy, kernel, class, "
        "times, perf_model, devices, device_kernel, device_link, device_links, device_memory, "
        "device_streams",
        key);
}

/* `from` names the place for messages. */
static dag_status read_text(dagi_sim_machine *m, const char *from, FILE *file, char *why, size_t size)
{
    char *line = NULL, detail[512];
    size_t capacity = 0;
    dag_status status = DAG_SUCCESS;
    for (int number = 1; status == DAG_SUCCESS && getline(&line, &capacity, file) >= 0; number++) {
        line[strcspn(line, "#")] = '\0';
        char *key = dagi_trim(line), *equals = strchr(key, '=');
        if (*key == '\0')
            continue;
        detail[0] = '\0';
        if (!equals) {
            status = dagi_refuse(detail, sizeof detail, "expected 'key = value'");
        } else {
            *equals = '\0';
            status = key_line(m, dagi_trim(key), dagi_trim(equals + 1), detail, sizeof detail);
        }
        if (status != DAG_SUCCESS)
            snprintf(why, size, "%s:%d: %s%s%s", from, number, equals ? dagi_trim(key) : "",
                     equals ? ": " : "", detail);
    }
    free(line);
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void clear(dagi_sim_machine *m)
{
    *m = (dagi_sim_machine){
        .name = "without a name",
        .ranks = 1,
        .workers = 1,
        .adapters = 1,
        .within = {600000, 8e9},
        .between = {1500000, 12.5e9},
        .hop = 100000,
        .send = 400000,
        .receive = 600000,
        .task = 250000,
        .copy = 6e9,
        .taper = 1,
        .devices = {.streams = 4, .memory = 16e9},
    };
}

dag_status dagi_sim_machine_read(dagi_sim_machine *m, const char *path, char *why, size_t size)
{
    clear(m);
    FILE *file = fmemopen((void *)(uintptr_t)builtin, sizeof builtin - 1, "r");
    if (!file) {
        snprintf(why, size, "machine: out of memory");
        return DAG_ERR_NOMEM;
    }
    dag_status status = read_text(m, "built in", file, why, size);
    fclose(file);
    if (status != DAG_SUCCESS || !*path)
        return status;
    /* Kernels of which a file does not speak are as on the one that is built in: kernels.c. */
    dagi_sim_curve *curves = m->curves.all;
    int ncurves = m->curves.count;
    clear(m);
    m->curves.all = curves;
    m->curves.count = ncurves;
    m->given = 1;
    file = fopen(path, "re");
    if (!file) {
        snprintf(why, size, "machine: cannot read '%s': %s", path, strerror(errno));
        return DAG_ERR_IO;
    }
    status = read_text(m, path, file, why, size);
    fclose(file);
    return status == DAG_SUCCESS ? check_devices(m, path, why, size) : status;
}

void dagi_sim_machine_fini(dagi_sim_machine *m)
{
    free(m->curves.all);
    free(m->classes);
    dagi_choice_free(m->learned);
    m->learned = NULL;
    m->curves.all = NULL;
    m->classes = NULL;
}

dag_status dagi_sim_machine_fits(const dagi_sim_machine *m, int64_t ranks, char *why, size_t size)
{
    int64_t nodes = m->nodes;
    if (m->network == DAGI_SIM_TORUS) {
        int64_t all = m->extent[0] * m->extent[1] * m->extent[2];
        nodes = nodes > 0 && nodes < all ? nodes : all;
    }
    if (nodes == 0 || ranks <= nodes * m->ranks)
        return DAG_SUCCESS;
    return dagi_refuse(why, size,
                       "machine '%s' has %lld node%s for %lld rank%s each, which is too few for "
                       "%lld ranks",
                       m->name, (long long)nodes, nodes > 1 ? "s" : "", (long long)m->ranks,
                       m->ranks > 1 ? "s" : "", (long long)ranks);
}
