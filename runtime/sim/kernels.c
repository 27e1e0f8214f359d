/* How long kernels take on a machine, by name, precision and size. */
#include "machine.h"
#include "../base/settings.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- reading -------------------------------------------------------------------------------- */

/* Room for the curve of a kernel: that of the same name and precision is replaced. NULL = no memory. */
static dagi_sim_curve *curve_for(dagi_sim_machine *m, const char *name, int precision, int devices)
{
    for (int i = 0; i < m->curves.count; i++)
        if (strcmp(m->curves.all[i].name, name) == 0 && m->curves.all[i].precision == precision &&
            m->curves.all[i].devices == devices)
            return &m->curves.all[i];
    dagi_sim_curve *grown = realloc(m->curves.all, ((size_t)m->curves.count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    m->curves.all = grown;
    return &m->curves.all[m->curves.count++];
}

/* A file's line for all kernels stands for those of which it does not speak, too. */
static void forget_built_in(dagi_sim_machine *m, int precision)
{
    int kept = 0;
    for (int i = 0; i < m->curves.count; i++) {
        const dagi_sim_curve *c = &m->curves.all[i];
        int gone = !c->given && !c->devices && strcmp(c->name, "move") != 0 &&
                   (precision < 0 || c->precision == precision);
        if (!gone)
            m->curves.all[kept++] = *c;
    }
    m->curves.count = kept;
}

static dag_status keep_curve(dagi_sim_machine *m, const dagi_sim_curve *c, char *why, size_t size)
{
    if (m->given && !c->devices && strcmp(c->name, "*") == 0)
        forget_built_in(m, c->precision);
    dagi_sim_curve *to = curve_for(m, c->name, c->precision, c->devices);
    if (!to) {
        snprintf(why, size, "out of memory");
        return DAG_ERR_NOMEM;
    }
    *to = *c;
    to->given = m->given;
    return DAG_SUCCESS;
}

/* NAME PRECISION ORDER:RATE ... */
dag_status dagi_sim_kernel_line(dagi_sim_machine *m, int devices, char *value, char *why, size_t size)
{
    char *save, *name = strtok_r(value, " \t", &save), *prec = strtok_r(NULL, " \t", &save);
    dagi_sim_curve c = {.precision = -1, .devices = devices};
    dag_precision p = DAG_D;
    if (!name || !prec || strlen(name) >= sizeof c.name ||
        (strcmp(prec, "*") != 0 && (prec[1] || !dag_precision_parse(prec[0], &p))))
        return dagi_refuse(why, size,
                           "expected the name of a kernel, s, d, c, z or *, and ORDER:RATE");
    if (prec[0] != '*')
        c.precision = (int)p;
    snprintf(c.name, sizeof c.name, "%s", name);
    for (char *point; (point = strtok_r(NULL, " \t", &save)) != NULL; c.count++) {
        char *colon, *end;
        if (c.count == DAGI_SIM_POINTS)
            return dagi_refuse(why, size, "more than %d points", DAGI_SIM_POINTS);
        c.order[c.count] = strtod(point, &colon);
        c.rate[c.count] = *colon == ':' ? strtod(colon + 1, &end) : 0;
        if (*colon != ':' || *end || !(c.order[c.count] > 0) || !(c.rate[c.count] > 0) ||
            !isfinite(c.rate[c.count]) || !isfinite(c.order[c.count]) ||
            (c.count > 0 && c.order[c.count] <= c.order[c.count - 1]))
            return dagi_refuse(why, size,
                               "'%s' is not ORDER:RATE with an order above the one before", point);
    }
    if (c.count == 0)
        return dagi_refuse(why, size, "no ORDER:RATE follows %s", name);
    return keep_curve(m, &c, why, size);
}

/* PROGRAM NAME TIME */
dag_status dagi_sim_class_line(dagi_sim_machine *m, char *value, char *why, size_t size)
{
    char *save, *program = strtok_r(value, " \t", &save), *name = strtok_r(NULL, " \t", &save);
    char *time = strtok_r(NULL, " \t", &save);
    dagi_sim_class c;
    if (!time || strtok_r(NULL, " \t", &save) || strlen(program) >= sizeof c.program ||
        strlen(name) >= sizeof c.name || dagi_parse_time(time, &c.time) != 0)
        return dagi_refuse(why, size,
                           "expected a program, a class of it, and a time, as in ring Link 2us");
    snprintf(c.program, sizeof c.program, "%s", program);
    snprintf(c.name, sizeof c.name, "%s", name);
    dagi_sim_class *grown = realloc(m->classes, ((size_t)m->nclasses + 1) * sizeof *grown);
    if (!grown) {
        snprintf(why, size, "out of memory");
        return DAG_ERR_NOMEM;
    }
    m->classes = grown;
    m->classes[m->nclasses++] = c;
    return DAG_SUCCESS;
}

/* ---- files of tile times -------------------------------------------------------------------- */

enum { TILE_KERNELS = 4, TILE_SIZES = 9 };

/* As dsl-examples/la/tile_file.c writes them: nanoseconds, kernel by kernel. */
static dag_status tile_line(dagi_sim_machine *m, dag_precision prec, char *numbers, char *why,
                            size_t size)
{
    static const char *const names[TILE_KERNELS] = {"gemm", "herk", "trsm", "potrf"};
    static const double sizes[TILE_SIZES] = {24, 48, 96, 144, 192, 240, 264, 320, 512};
    static const double flops[TILE_KERNELS] = {2, 1, 1, 1.0 / 3}; /* of n^3 */
    double complex_factor = dag_precision_is_complex(prec) ? 4 : 1;
    char *save, *number = strtok_r(numbers, "\t", &save);
    for (int k = 0; k < TILE_KERNELS; k++) {
        dagi_sim_curve c = {.precision = (int)prec, .count = TILE_SIZES};
        snprintf(c.name, sizeof c.name, "%s", names[k]);
        for (int i = 0; i < TILE_SIZES; i++, number = strtok_r(NULL, "\t", &save)) {
            double ns = number ? strtod(number, NULL) : 0, cube = sizes[i] * sizes[i] * sizes[i];
            if (!(ns >= 1))
                return dagi_refuse(why, size, "a line for precision %c has not %d times",
                                   dag_precision_letter(prec), TILE_KERNELS * TILE_SIZES);
            c.order[i] = cbrt(flops[k] * cube / 2);
            c.rate[i] = complex_factor * flops[k] * cube / ns;
        }
        dag_status status = keep_curve(m, &c, why, size);
        if (status != DAG_SUCCESS)
            return status;
    }
    return DAG_SUCCESS;
}

static dag_status tile_lines(dagi_sim_machine *m, FILE *file, const char *model, char *why, size_t size)
{
    char *line = NULL;
    size_t capacity = 0;
    int seen[DAG_PRECISION_COUNT] = {0}, any = 0;
    dag_status status = DAG_SUCCESS;
    while (status == DAG_SUCCESS && getline(&line, &capacity, file) >= 0) {
        dag_precision prec;
        line[strcspn(line, "\n")] = '\0';
        char *name = line + 2, *numbers = line[0] ? strchr(name, '\t') : NULL;
        if (!numbers || line[1] != '\t' || !dag_precision_parse(line[0], &prec))
            continue; /* the first line and the last */
        *numbers++ = '\0';
        if (*model && strcmp(model, name) != 0)
            continue;
        if (seen[prec]++)
            status = dagi_refuse(why, size,
                                 "it has times of several machines: name one of them behind it, "
                                 "as in times = FILE %s",
                                 name);
        else
            status = tile_line(m, prec, numbers, why, size);
        any = 1;
    }
    free(line);
    if (status == DAG_SUCCESS && !any)
        status = dagi_refuse(why, size, "it has no times%s%s", *model ? " of " : "", model);
    return status;
}

dag_status dagi_sim_tile_times(dagi_sim_machine *m, const char *path, const char *model, char *why,
                               size_t size)
{
    char header[32] = "", detail[512];
    FILE *file = fopen(path, "re");
    if (!file) {
        snprintf(why, size, "cannot read '%s': %s", path, strerror(errno));
        return DAG_ERR_IO;
    }
    dag_status status = DAG_ERR_SETTING;
    if (!fgets(header, sizeof header, file) || strcmp(header, "dag tile times 1\n") != 0)
        snprintf(detail, sizeof detail, "it is not a file of tile times");
    else
        status = tile_lines(m, file, model, detail, sizeof detail);
    fclose(file);
    if (status != DAG_SUCCESS)
        snprintf(why, size, "%s: %s", path, detail);
    return status;
}

/* ---- times of classes that devices have learned ---------------------------------------------- */

dag_status dagi_sim_perf_model(dagi_sim_machine *m, const char *path, const char *model, char *why,
                               size_t size)
{
    char here[512], detail[512] = "";
    dag_cores_model(here, sizeof here);
    const dagi_choice_place place = {*model ? model : here};
    dagi_choice_free(m->learned);
    m->learned = dagi_choice_new(&place, 1);
    if (!m->learned) {
        snprintf(why, size, "out of memory");
        return DAG_ERR_NOMEM;
    }
    if (access(path, R_OK) != 0)
        return dagi_refuse(why, size, "cannot read '%s': %s", path, strerror(errno));
    if (dagi_choice_load(m->learned, path, detail, sizeof detail) != 0)
        return dagi_refuse(why, size, "%s", detail);
    return DAG_SUCCESS;
}

dagi_sim_time dagi_sim_learned_time(const dagi_sim_machine *m, const char *program, dag_precision prec,
                                    const char *name, uint64_t bytes)
{
    if (!m->learned)
        return -1;
    dagi_choice_class *cls = dagi_choice_class_of(m->learned, program, prec, name);
    double seconds = dagi_choice_kernel(m->learned, cls, 0, bytes);
    return seconds == DAGI_CHOICE_UNKNOWN ? -1 : llround(seconds * (double)DAGI_SIM_SECOND);
}

/* ---- looking up ----------------------------------------------------------------------------- */

static const dagi_sim_curve *curve_named(const dagi_sim_machine *m, int devices, const char *name,
                                         dag_precision prec)
{
    const dagi_sim_curve *any = NULL;
    for (int i = 0; i < m->curves.count; i++) {
        if (m->curves.all[i].devices != devices || strcmp(m->curves.all[i].name, name) != 0)
            continue;
        if (m->curves.all[i].precision == (int)prec)
            return &m->curves.all[i];
        if (m->curves.all[i].precision < 0)
            any = &m->curves.all[i];
    }
    return any;
}

/* NULL: devices do not have it. Cores have all, since the machine that is built in has lines for all. */
static const dagi_sim_curve *curve_of(dagi_sim_machine *m, int devices, const dag_kernel_call *call)
{
    _Atomic(const dagi_sim_curve *) *found = &m->found[devices][call->op][call->precision];
    const dagi_sim_curve *c = atomic_load_explicit(found, memory_order_relaxed);
    if (!c)
        c = curve_named(m, devices, call->name, call->precision);
    if (!c)
        c = curve_named(m, devices, call->flops > 0 ? "*" : "move", call->precision);
    atomic_store_explicit(found, c, memory_order_relaxed);
    return c;
}

static double rate_at(const dagi_sim_curve *c, double order)
{
    int at = 0;
    if (order <= c->order[0])
        return c->rate[0] * (order > 1 ? order : 1) / c->order[0];
    while (at + 1 < c->count && c->order[at + 1] < order)
        at++;
    if (at + 1 == c->count)
        return c->rate[at];
    double share = (order - c->order[at]) / (c->order[at + 1] - c->order[at]);
    return c->rate[at] + share * (c->rate[at + 1] - c->rate[at]);
}

/* Its time at that rate; of work without operations, in GB/s. */
static dagi_sim_time time_at(const dag_kernel_call *call, double rate)
{
    return llround(1e3 * (call->flops > 0 ? call->flops : call->bytes) / rate);
}

/* The size by which curves are looked up; 0 = nothing is to be done. */
static double order_of(const dag_kernel_call *call)
{
    double real = dag_precision_is_complex(call->precision) ? 8 : 2;
    double size = (double)dag_precision_size(call->precision);
    if (call->flops <= 0 && call->bytes <= 0)
        return 0;
    return call->flops > 0 ? cbrt(call->flops / real) : sqrt(call->bytes / size);
}

dagi_sim_time dagi_sim_kernel_time(dagi_sim_machine *m, const dag_kernel_call *call)
{
    double order = order_of(call);
    return order > 0 ? time_at(call, rate_at(curve_of(m, 0, call), order)) : 0;
}

int dagi_sim_device_time(dagi_sim_machine *m, const dag_kernel_call *call, dagi_sim_time *alone,
                         dagi_sim_time *filled)
{
    double order = order_of(call), highest = 0;
    const dagi_sim_curve *c = order > 0 ? curve_of(m, 1, call) : NULL;
    *alone = *filled = 0;
    if (order <= 0 || !c)
        return order > 0;
    for (int i = 0; i < c->count; i++)
        highest = fmax(highest, c->rate[i]);
    *alone = time_at(call, rate_at(c, order));
    *filled = time_at(call, highest);
    return 0;
}

dagi_sim_time dagi_sim_class_time(const dagi_sim_machine *m, const char *program, const char *name)
{
    for (int i = 0; i < m->nclasses; i++)
        if (strcmp(m->classes[i].program, program) == 0 && strcmp(m->classes[i].name, name) == 0)
            return m->classes[i].time;
    return -1;
}
