#define _GNU_SOURCE /* secure_getenv */
#include "setting_value.h"
#include "settings.h"

#include <dag/split.h>

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

extern char **environ;

static const choice bind_choices[] = {{"none", 0}, {"auto", 1}, {NULL, 0}};
static const choice sched_choices[] = {{"local", -1}, {"global", -1}, {NULL, 0}};
static const choice signal_choices[] = {{"none", 0}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2},
                                        {NULL, 0}};
static const choice gpu_mpi_choices[] = {{"off", DAGI_GPU_MPI_OFF}, {"auto", DAGI_GPU_MPI_AUTO},
                                         {"on", DAGI_GPU_MPI_ON},   {"force", DAGI_GPU_MPI_FORCE},
                                         {NULL, 0}};
static const choice split_choices[] = {
    {"auto", DAG_SPLIT_PLACEMENT_AUTO}, {"cost", DAG_SPLIT_COST}, {"static", DAG_SPLIT_STATIC}, {NULL, 0}};
static const choice out_of_core_choices[] = {{"graph", DAG_OUT_OF_CORE_GRAPH},
                                             {"program", DAG_OUT_OF_CORE_PROGRAM},
                                             {"auto", DAG_OUT_OF_CORE_AUTO},
                                             {NULL, 0}};
static const choice split_update_choices[] = {
    {"auto", DAG_SPLIT_UPDATE_AUTO}, {"column", DAG_SPLIT_BY_COLUMN}, {"tile", DAG_SPLIT_BY_TILE}, {NULL, 0}};
static const choice check_choices[] = {{"none", 0}, {"race", 1}, {NULL, 0}};

#define FIELD(name) offsetof(dagi_settings, name)

#define OLD_NAME "old name of " /* so begins the meaning of one */

/* Old names that each kind of devices has, by its row in dag/device_kinds.h. */
#define OF_KIND(NAME, number, name, file, kernels)                                                 \
    {#name "_memory", KIND_BYTES, FIELD(kind[number].memory), "0", 0, 1e15, NULL,                  \
     OLD_NAME "device_memory = " #name "=BYTES"},                                                   \
    {#name "_plugin", KIND_TEXT, FIELD(kind[number].plugin), "", 0,                                \
     sizeof((dagi_settings *)0)->kind[0].plugin - 1, NULL,                                         \
     OLD_NAME "device_plugin = " #name "=FILE"},

static const setting table[] = {
    {"threads", KIND_COUNT, FIELD(threads), "0", 0, DAGI_MAX_WORKERS, NULL,
     "workers of this process, the calling thread included; 0 = one per core of its share"},
    {"bind", KIND_CHOICE, FIELD(bind), "auto", 0, 0, bind_choices,
     "bind background workers to cores of the inherited cpuset: auto (where each gets one), none"},
    {"sched", KIND_CHOICE, FIELD(sched), "local", 0, 0, sched_choices,
     "ready queues: local (one per worker, stealing from near ones first), global (one for all)"},
    {"engine", KIND_TEXT, FIELD(engine), "auto", 0, sizeof((dagi_settings *)0)->engine - 1, NULL,
     "what carries messages between ranks: auto (mpi where a launcher or the program has started "
     "it, else self: one process), mpi, self"},
    {"eager_bytes", KIND_BYTES, FIELD(eager_bytes), "4096", 0, 1 << 20, NULL,
     "data up to this many bytes travel inside the message that announces them"},
    {"credit_bytes", KIND_BYTES, FIELD(credit_bytes), "1M", 4096, 1e12, NULL,
     "eager bytes that may be under way to one rank before the sender waits"},
    {"bells", KIND_SWITCH, FIELD(bells), "on", 0, 0, NULL,
     "ranks of a node wake each other through shared memory; off: idle ones look now and then"},
    {"bcast", KIND_BCAST, FIELD(bcast), "auto", 0, 0, NULL,
     "shape of all broadcasts: binomial, chain, ring, scatter, flat, trees, hier(GROUP, OUTER, INNER); auto = by "
     "size, receivers and their nodes, or as the JDF says"},
    {"link_latency", KIND_SECONDS, FIELD(link_latency), "0", 0, 1, NULL,
     "seconds that a message between two ranks takes beside its bytes; see link_rate"},
    {"link_rate", KIND_BYTES, FIELD(link_rate), "0", 0, 1e15, NULL,
     "bytes per second between two ranks, from which shapes of broadcasts follow; 0 = not known"},
    {"network", KIND_TEXT, FIELD(network), "", 0, sizeof((dagi_settings *)0)->network - 1, NULL,
     "file by dag_doctor --network that says what messages take, from which shapes of broadcasts follow; "
     "empty = none, link_latency and link_rate go before it"},
    {"node_ranks", KIND_COUNT, FIELD(node_ranks), "0", 0, 1 << 24, NULL,
     "ranks that broadcasts take for one node, numbered node by node; 0 = those that share memory"},
    {"chaos", KIND_SEED, FIELD(chaos), "0", 0, 1.8e19, NULL,
     "seed of random schedules, delays and message orders, for tests; 0 = off"},
    {"stall_time", KIND_SECONDS, FIELD(stall_time), "1", 0, 1e6, NULL,
     "seconds of rest after which several ranks ask each other whether they all wait in vain"},
    {"summary", KIND_SWITCH, FIELD(summary), "off", 0, 0, NULL,
     "print one line about workers and cores to stderr at start"},
    {"warnings", KIND_SWITCH, FIELD(warnings), "on", 0, 0, NULL, "print warnings to stderr"},
    {"report_signal", KIND_CHOICE, FIELD(report_signal), "none", 0, 0, signal_choices,
     "signal upon which a process prints what its workers do and what its tasks wait for"},
    {"task_timeout", KIND_SECONDS, FIELD(task_timeout), "0", 0, 1e6, NULL,
     "seconds after which a running body is reported; 0 = never"},
    {"task_timeout_end", KIND_SWITCH, FIELD(task_timeout_end), "on", 0, 0, NULL,
     "on: a process with such a body ends after the report; off: it goes on"},
    {"check", KIND_CHOICE, FIELD(check), "none", 0, 0, check_choices,
     "race: look for accesses to the same memory that nothing puts in order (slow)"},
    {"serial", KIND_SWITCH, FIELD(serial), "off", 0, 0, NULL,
     "run the tasks of each process one by one, in the same order every time"},
    {"insert_window", KIND_COUNT, FIELD(insert_window), "4096", 1, 1e9, NULL,
     "most unfinished tasks of this rank in a pool that a sequential program inserts, where the program says "
     "nothing; then the inserting thread runs tasks"},
    {"lose", KIND_COUNT, FIELD(lose), "0", 0, 1e15, NULL,
     "number of the message from another rank's task that is dropped, for tests; 0 = none"},
    {"trace", KIND_TEXT, FIELD(trace), "", 0, sizeof((dagi_settings *)0)->trace - 1, NULL,
     "file for a trace of the run: *.html a page, *.json for Perfetto, else for dag_trace"},
    {"trace_bytes", KIND_BYTES, FIELD(trace_bytes), "512M", 65536, 1e15, NULL,
     "most memory per rank for the events of a trace; what comes later is dropped, and said so"},
    {"trace_inputs", KIND_SWITCH, FIELD(trace_inputs), "off", 0, 0, NULL,
     "on: a trace has all that each task waited for, not only the end of the longest chain"},
    {"report", KIND_SWITCH, FIELD(report), "off", 0, 0, NULL,
     "print a report to stderr at the end: speed, critical path, idle time by cause, links"},
    {"overlap", KIND_SWITCH, FIELD(overlap), "off", 0, 0, NULL,
     "keep what happens in memory, for programs that ask how much of the communication was hidden"},
    {"gpus", KIND_COUNT, FIELD(gpus), "-1", -1, 16, NULL,
     "devices that this process uses: -1 all that are there, 0 none, n exactly that many"},
    {"device_backend", KIND_TEXT, FIELD(device_backend), "auto", 0,
     sizeof((dagi_settings *)0)->device_backend - 1, NULL,
     "kinds of devices that are used, as cuda,opencl: auto (CUDA, then OpenCL accelerators), or those named; "
     "processors are OpenCL devices only where opencl is named"},
    {"device_contexts", KIND_COUNT, FIELD(device_contexts), "1", 1, 8, NULL,
     "contexts of this process that share each device: each has that part of its memory"},
    {"device_policy", KIND_TEXT, FIELD(device_policy), "time", 0,
     sizeof((dagi_settings *)0)->device_policy - 1, NULL,
     "where a task with bodies for devices runs: time (where it is expected to end first), near (the "
     "device that has most of its inputs), turn (each device in turn)"},
    {"core_share", KIND_TEXT, FIELD(core_share), "cost", 0, sizeof((dagi_settings *)0)->core_share - 1, NULL,
     "what part of the operations of each class with bodies for cores and devices cores get: cost (whatever "
     "device_policy says), a number from 0 to 1, auto (by measured rates, then by who has more to do)"},
    {"device_always", KIND_SWITCH, FIELD(device_always), "off", 0, 0, NULL,
     "run on devices whatever has a body for them, however slow that is, for tests"},
    {"device_cache", KIND_TEXT, FIELD(device_cache), "", 0, sizeof((dagi_settings *)0)->device_cache - 1, NULL,
     "folder that keeps compiled programs for devices from run to run; empty = dagcc/devices in the user's "
     "folder of caches, off = none"},
    {"perf_model", KIND_TEXT, FIELD(perf_model), "", 0,
     sizeof((dagi_settings *)0)->perf_model - 1, NULL,
     "file that keeps how long kernels took on cores and devices from run to run; empty = none"},
    DAG_DEVICE_KINDS_BESIDE_HOST(OF_KIND)
    {"device_memory", KIND_BYTES_EACH, FIELD(kind[0].memory), "", 0, 1e15, NULL,
     "most bytes of each device that are used, by kind, as cuda=8G,opencl=1G; 0, and for kinds that are not "
     "named = nine tenths of what is free"},
    {"device_plugin", KIND_TEXT_EACH, FIELD(kind[0].plugin), "", 0,
     sizeof((dagi_settings *)0)->kind[0].plugin - 1, NULL,
     "file of the library for devices of a kind, as opencl=FILE; else looked for beside this library"},
    {"device_streams", KIND_COUNT, FIELD(device_streams), "4", 2, 16, NULL,
     "queues for kernels of each device, of which the first is for urgent tasks"},
    {"device_batch", KIND_COUNT, FIELD(device_batch), "16", 1, 64, NULL,
     "tasks with bodies of the property batch whose kernels are launched together, at most; 1: none are"},
    {"gpu_mpi", KIND_CHOICE, FIELD(gpu_mpi), "auto", 0, 0, gpu_mpi_choices,
     "MPI reads memory of devices itself: auto (where it says so and a test at start proves it), "
     "off, on (or the start fails), force (as on, without asking MPI)"},
    {"tile_times", KIND_TEXT, FIELD(tile_times), "", 0,
     sizeof((dagi_settings *)0)->tile_times - 1, NULL,
     "file that keeps times of tile kernels, from which tile sizes follow; empty = in the user's "
     "directory for caches, off = times that are built in"},
    {"split", KIND_TEXT, FIELD(split), "none", 0, sizeof((dagi_settings *)0)->split - 1, NULL,
     "tiles of two sizes, in Cholesky, QR and products: none, or s,b: s narrow ones of width b "
     "in each tile, and a rest, or auto: as a list schedule of the node says"},
    {"split_placement", KIND_CHOICE, FIELD(split_placement), "auto", 0, 0, split_choices,
     "where tasks on such tiles run: cost (where they are expected to end first), static (narrow tiles "
     "on cores, the rest of block column j on device j div Q, modulo their number), auto (with split = auto what "
     "the list schedule says to be faster, else cost)"},
    {"out_of_core", KIND_CHOICE, FIELD(out_of_core), "graph", 0, 0, out_of_core_choices,
     "products, triangular solves, Cholesky with matrices that devices have no memory for: graph (as all "
     "others), program (for devices, whatever the size), auto (a program where that moves less)"},
    {"split_update", KIND_CHOICE, FIELD(split_update), "auto", 0, 0, split_update_choices,
     "how Cholesky and QR with such tiles update what is right of a tile: column (by each column as it is done), "
     "tile (by all columns of it in one product), auto (with split = auto as the list schedule says, else column)"},
    {"simulate", KIND_COUNT, FIELD(simulate), "0", 0, 1 << 24, NULL,
     "ranks that this process plays by itself, with modelled kernels and network; 0 = none: it runs"},
    {"machine", KIND_TEXT, FIELD(machine), "", 0, sizeof((dagi_settings *)0)->machine - 1, NULL,
     "file that describes the machine of a simulated run, or the node by which split = auto chooses; empty = "
     "one that is built in, for simulated runs"},
    {"stretch", KIND_COUNT, FIELD(stretch), "0", 0, 1000000, NULL,
     "kernels on cores compute nothing and sleep that many times as long as `machine` says they take, in "
     "a run that is not simulated otherwise; 0 = they compute"},
    {"reproducible", KIND_SWITCH, FIELD(reproducible), "off", 0, 0, NULL,
     "fix what follows from measured times, workers and devices, and changes the order of sums: tile "
     "sizes, trees, ways of products and solves; devices only where gpus says so"},
    {"direct", KIND_SWITCH, FIELD(direct), "on", 0, 0, NULL,
     "routines with little work run on the calling thread, without tasks, where nobody looks at tasks; off: "
     "all work is done by tasks"},
    {"progress", KIND_SWITCH, FIELD(progress), "off", 0, 0, NULL,
     "show a bar while tasks run, where there is a terminal"},
};
enum { NSETTINGS = sizeof table / sizeof table[0] };

/* Where the value of a setting came from, weakest first. */
typedef enum setting_origin {
    ORIGIN_DEFAULT,
    ORIGIN_RANK_0,
    ORIGIN_FILE,
    ORIGIN_ENVIRONMENT,
    ORIGIN_API
} setting_origin;
static const char *const origin_names[] = {"default", "rank 0", "file", "environment", "API"};

struct dag_config {
    char *text[NSETTINGS]; /* NULL = not given */
    setting_origin origin[NSETTINGS];
};

/* ---- names ------------------------------------------------------------------------------ */

static int find(const char *name)
{
    for (int i = 0; i < NSETTINGS; i++) {
        if (strcasecmp(table[i].name, name) == 0)
            return i;
    }
    return -1;
}

/* Letters to insert, delete, replace or swap to make one of the other; names are short. */
static int edit_distance(const char *a, const char *b)
{
    enum { MOST = 40 };
    int la = (int)strnlen(a, MOST), lb = (int)strnlen(b, MOST);
    int d[MOST + 1][MOST + 1];
    for (int i = 0; i <= la; i++)
        d[i][0] = i;
    for (int j = 0; j <= lb; j++)
        d[0][j] = j;
    for (int i = 1; i <= la; i++) {
        for (int j = 1; j <= lb; j++) {
            int differ = tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]);
            int best = d[i - 1][j - 1] + differ;
            if (d[i - 1][j] + 1 < best)
                best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best)
                best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    }
    return d[la][lb];
}

/* "; did you mean 'sched'?" in `text`, or nothing when no setting is near. `upper`: as the name of
 * an environment variable, of which CONFIG is one more. */
static const char *suggestion(char *text, size_t size, const char *name, bool upper)
{
    int most = (int)(strlen(name) / 3), least = (most > 1 ? most : 1) + 1;
    const char *best = NULL;
    for (int i = 0; i < NSETTINGS + upper; i++) {
        const char *known = i < NSETTINGS ? table[i].name : "config";
        int distance = edit_distance(name, known);
        if (distance < least) {
            least = distance;
            best = known;
        }
    }
    text[0] = '\0';
    if (!best)
        return text;
    int at = snprintf(text, size, upper ? "; did you mean DAG_" : "; did you mean '");
    for (const char *c = best; *c && at + 4 < (int)size; c++)
        text[at++] = (char)(upper ? toupper((unsigned char)*c) : *c);
    snprintf(text + at, size - (size_t)at, upper ? "?" : "'?");
    return text;
}

/* ---- configurations --------------------------------------------------------------------- */

dag_config *dag_config_new(void)
{
    return calloc(1, sizeof(dag_config));
}

void dag_config_free(dag_config *config)
{
    if (!config)
        return;
    for (int i = 0; i < NSETTINGS; i++)
        free(config->text[i]);
    free(config);
}

/* Keep `value` for setting `i`. `from` names the place for messages. */
static dag_status keep(dag_config *config, int i, const char *value, setting_origin origin,
                       const char *from, char *why, size_t size)
{
    dagi_settings scratch;
    char detail[256];
    dag_status status = dagi_setting_parse(&table[i], value, &scratch, detail, sizeof detail);
    if (status != DAG_SUCCESS)
        return dagi_refuse(why, size, "%s: %s", from, detail);
    char *copy = strdup(value);
    if (!copy) {
        dagi_refuse(why, size, "out of memory");
        return DAG_ERR_NOMEM;
    }
    free(config->text[i]);
    config->text[i] = copy;
    config->origin[i] = origin;
    return DAG_SUCCESS;
}

dag_status dag_config_set(dag_config *config, const char *key, const char *value, char *why,
                          size_t why_size)
{
    if (!config || !key || !value) {
        dagi_refuse(why, why_size, "dag_config_set: config, key and value must not be NULL");
        return DAG_ERR_ARG;
    }
    char near[64];
    int i = find(key);
    if (i < 0)
        return dagi_refuse(why, why_size, "dag_config_set: there is no setting '%s'%s", key,
                           suggestion(near, sizeof near, key, false));
    return keep(config, i, value, ORIGIN_API, "dag_config_set", why, why_size);
}

static dag_status read_line(dag_config *config, const char *path, int number, char *line,
                            int *seen_at, char *why, size_t size)
{
    char *comment = strchr(line, '#');
    if (comment)
        *comment = '\0';
    char *key = dagi_trim(line);
    if (*key == '\0')
        return DAG_SUCCESS;
    char *equals = strchr(key, '=');
    if (!equals)
        return dagi_refuse(why, size, "%s:%d: expected 'key = value'", path, number);
    *equals = '\0';
    key = dagi_trim(key);
    char near[64];
    int i = find(key);
    if (i < 0)
        return dagi_refuse(why, size, "%s:%d: there is no setting '%s'%s", path, number, key,
                           suggestion(near, sizeof near, key, false));
    if (seen_at[i])
        return dagi_refuse(why, size, "%s:%d: '%s' is given twice, first in line %d", path, number,
                           key, seen_at[i]);
    seen_at[i] = number;
    char from[PATH_MAX + 16];
    snprintf(from, sizeof from, "%s:%d", path, number);
    return keep(config, i, dagi_trim(equals + 1), ORIGIN_FILE, from, why, size);
}

static dag_status read_file(dag_config *config, const char *path, char *why, size_t size)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        dagi_refuse(why, size, "DAG_CONFIG: cannot read '%s': %s", path, strerror(errno));
        return DAG_ERR_IO;
    }
    int seen_at[NSETTINGS] = {0};
    char *line = NULL;
    size_t capacity = 0;
    dag_status status = DAG_SUCCESS;
    for (int number = 1; status == DAG_SUCCESS && getline(&line, &capacity, file) >= 0; number++)
        status = read_line(config, path, number, line, seen_at, why, size);
    if (status == DAG_SUCCESS && ferror(file)) {
        dagi_refuse(why, size, "DAG_CONFIG: cannot read '%s': %s", path, strerror(errno));
        status = DAG_ERR_IO;
    }
    free(line);
    fclose(file);
    return status;
}

static dag_status read_environment(dag_config *config, char *why, size_t size)
{
    for (char **entry = environ; entry && *entry; entry++) {
        const char *equals = strchr(*entry, '=');
        char name[64];
        if (strncmp(*entry, "DAG_", 4) != 0 || !equals)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(equals - *entry), *entry);
        /* A program with rights that its user lacks obeys its caller only: files that are named here
         * are loaded and written with these rights. */
        if (strcmp(name, "DAG_CONFIG") == 0 || !secure_getenv(name))
            continue;
        int i = find(name + 4);
        for (const char *c = name + 4; *c; c++) {
            if (islower((unsigned char)*c))
                i = -1;
        }
        if (i < 0) {
            char near[64];
            return dagi_refuse(why, size, "environment: there is no setting %s%s", name,
                               suggestion(near, sizeof near, name + 4, true));
        }
        char from[80];
        snprintf(from, sizeof from, "environment, %s", name);
        dag_status status = keep(config, i, equals + 1, ORIGIN_ENVIRONMENT, from, why, size);
        if (status != DAG_SUCCESS)
            return status;
    }
    return DAG_SUCCESS;
}

/* Whether rank 0 hands this on. */
static bool is_told(const dag_config *config, int i)
{
    return config->origin[i] == ORIGIN_FILE || config->origin[i] == ORIGIN_ENVIRONMENT;
}

/* What is told has room in one message. */
static dag_status all_told(const dag_config *config, char *why, size_t size)
{
    size_t used = 1;
    for (int i = 0; i < NSETTINGS; i++)
        used += is_told(config, i) ? strlen(table[i].name) + strlen(config->text[i]) + 2 : 0;
    if (used <= DAGI_SETTINGS_TOLD)
        return DAG_SUCCESS;
    return dagi_refuse(why, size, "the settings of the environment and of the file have %zu bytes together; "
                       "%d are allowed", used, (int)DAGI_SETTINGS_TOLD);
}

dag_status dagi_settings_resolve(const dag_config *api, dag_config **resolved,
                                 dagi_settings *settings, char *why, size_t why_size)
{
    dag_config *config = dag_config_new();
    if (!config)
        return DAG_ERR_NOMEM;
    memset(settings, 0, sizeof *settings);
    dag_status status = DAG_SUCCESS;
    for (int i = 0; i < NSETTINGS && status == DAG_SUCCESS; i++)
        status = keep(config, i, table[i].fallback, ORIGIN_DEFAULT, "default", why, why_size);
    const char *path = secure_getenv("DAG_CONFIG");
    if (status == DAG_SUCCESS && path && *path)
        status = read_file(config, path, why, why_size);
    if (status == DAG_SUCCESS)
        status = read_environment(config, why, why_size);
    for (int i = 0; i < NSETTINGS && status == DAG_SUCCESS && api; i++) {
        if (api->text[i])
            status = keep(config, i, api->text[i], ORIGIN_API, "dag_config", why, why_size);
    }
    if (status == DAG_SUCCESS)
        status = all_told(config, why, why_size);
    /* An old name of a setting writes the same field: what comes from nearer to the program is read last. */
    for (int origin = ORIGIN_DEFAULT; origin <= ORIGIN_API; origin++)
        for (int i = 0; i < NSETTINGS && status == DAG_SUCCESS; i++)
            if ((int)config->origin[i] == origin)
                status = dagi_setting_parse(&table[i], config->text[i], settings, why, why_size);
    if (status != DAG_SUCCESS) {
        dag_config_free(config);
        return status;
    }
    *resolved = config;
    return DAG_SUCCESS;
}

void dagi_settings_tell(const dag_config *resolved, char text[DAGI_SETTINGS_TOLD])
{
    size_t used = 0;
    memset(text, 0, DAGI_SETTINGS_TOLD);
    for (int i = 0; i < NSETTINGS; i++) {
        if (!is_told(resolved, i))
            continue;
        size_t name = strlen(table[i].name) + 1, value = strlen(resolved->text[i]) + 1;
        assert(used + name + value < DAGI_SETTINGS_TOLD);
        memcpy(text + used, table[i].name, name);
        memcpy(text + used + name, resolved->text[i], value);
        used += name + value;
    }
}

void dagi_settings_hear(dag_config *resolved, dagi_settings *settings, const char *text)
{
    for (const char *name = text; *name;) {
        const char *value = name + strlen(name) + 1;
        int i = find(name);
        if (i >= 0 && resolved->origin[i] == ORIGIN_DEFAULT &&
            keep(resolved, i, value, ORIGIN_RANK_0, "rank 0", NULL, 0) == DAG_SUCCESS)
            dagi_setting_parse(&table[i], value, settings, NULL, 0);
        name = value + strlen(value) + 1;
    }
    /* What this rank has itself stands, also where rank 0 calls the same by its old name. */
    for (int origin = ORIGIN_RANK_0 + 1; origin <= ORIGIN_API; origin++)
        for (int i = 0; i < NSETTINGS; i++)
            if ((int)resolved->origin[i] == origin)
                dagi_setting_parse(&table[i], resolved->text[i], settings, NULL, 0);
}

const char *dagi_settings_renamed(const dag_config *config, const char **old)
{
    const size_t length = sizeof OLD_NAME - 1;
    for (int i = 0; i < NSETTINGS; i++) {
        if (config->origin[i] != ORIGIN_DEFAULT && strncmp(table[i].meaning, OLD_NAME, length) == 0) {
            *old = table[i].name;
            return table[i].meaning + length;
        }
    }
    return NULL;
}

int dagi_settings_get(const dag_config *config, int index, dag_setting *out)
{
    if (index < 0 || index >= NSETTINGS)
        return 0;
    *out = (dag_setting){.name = table[index].name,
                             .value = config->text[index],
                             .origin = origin_names[config->origin[index]],
                             .meaning = table[index].meaning};
    return 1;
}
