/* Devices of a context: found, opened, closed. */
#include "../base/settings.h"
#include "../base/topology.h"
#include "../trace/trace.h"
#include "choice.h"
#include "device_impl.h"
#include "resident.h"

#include <dag/kernels.h>

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Programs without kernels lack it. */
extern bool dag_kernel_register(const dag_kernel *entry) __attribute__((weak));

/* What takes the place of the back ends that would be found, for tests. */
static const dagi_backend *instead[DAG_DEVICE_KIND_COUNT];
static int found_instead;

void dagi_devices_use(const dagi_backend *backend)
{
    found_instead = backend != NULL;
    if (backend)
        instead[backend->kind] = backend;
    else
        memset(instead, 0, sizeof instead);
}

uint8_t dagi_devices_have(const dag_context *ctx, const dag_program *program, const dag_class *cls,
                          dag_precision prec)
{
    const struct dagi_devices *all = dagi_tasks(ctx)->devices;
    if (!all || program->aliased)
        return 0;
    for (int b = 0; b < cls->nbodies; b++) {
        for (int k = DAG_HOST + 1; k < DAG_DEVICE_KIND_COUNT && cls->bodies[b].fn[prec]; k++)
            if (dagi_body_fits(all, &cls->bodies[b], k, prec))
                return 1;
    }
    return 0;
}

/* ---- the application's own devices ------------------------------------------------------------ */

/* The calling thread's of each kind, -1: there is none. */
void dagi_devices_chosen(const struct dagi_devices *all, int chosen[DAG_DEVICE_KIND_COUNT])
{
    for (int k = 0; k < DAG_DEVICE_KIND_COUNT; k++)
        chosen[k] = all->backend[k] ? all->backend[k]->chosen() : -1;
}

static void choose_again(const dagi_backend *const backend[DAG_DEVICE_KIND_COUNT],
                         const int chosen[DAG_DEVICE_KIND_COUNT])
{
    for (int k = 0; k < DAG_DEVICE_KIND_COUNT; k++) {
        if (backend[k])
            backend[k]->choose_again(chosen[k]);
    }
}

void dagi_devices_choose_again(const struct dagi_devices *all,
                               const int chosen[DAG_DEVICE_KIND_COUNT])
{
    choose_again(all->backend, chosen);
}

/* ---- all of them ---------------------------------------------------------------------------- */

static void connect_peers(struct dagi_devices *all)
{
    for (int i = 0; i < all->count; i++) {
        for (int j = 0; j < all->count; j++) {
            const dagi_device *d = all->device[i], *other = all->device[j];
            if (i != j && d->backend == other->backend) /* refused: the back end stages such copies */
                d->backend->peer(d->handle, other->handle);
        }
    }
}

static dag_status make_choice(struct dagi_devices *all)
{
    char cores[256];
    dagi_cores_model("/proc/cpuinfo", cores, sizeof cores);
    dagi_choice_place places[DAGI_MAX_SPACES] = {{cores}};
    for (int i = 0; i < all->count; i++)
        places[i + 1].model = all->device[i]->info.name;
    all->choice = dagi_choice_new(places, all->count + 1);
    if (!all->choice)
        return DAG_ERR_NOMEM;
    if (all->ctx->settings.stretch > 0)
        dagi_choice_slower(all->choice, (double)all->ctx->settings.stretch);
    int beside = dagi_tasks(all->ctx)->nworkers - all->count; /* each device has a manager */
    dagi_choice_portion(all->choice, &all->share, beside > 1 ? beside : 1);
    char reason[1536];
    const char *file = all->ctx->settings.perf_model;
    if (*file && dagi_choice_load(all->choice, file, reason, sizeof reason) != 0)
        dagi_warn(all->ctx, "%s", reason);
    return DAG_SUCCESS;
}

static void destroy(struct dagi_devices *all)
{
    dagi_pins_drop(all);
    dagi_choice_free(all->choice);
    for (int i = 0; i < all->count; i++)
        dagi_device_close(all->device[i]);
    free(all->drivers);
    free(all);
}

/* Workers that are not bound are nowhere; the application's may be moved. */
static void find_near(struct dagi_devices *all)
{
    const dag_context *ctx = all->ctx;
    for (int w = 0; w < dagi_tasks(ctx)->nworkers; w++)
        all->worker_node[w] = (int16_t)(dagi_tasks(ctx)->workers[w] &&
                                                dagi_thread(dagi_tasks(ctx)->workers[w])->cpu >= 0
                                            ? dagi_topology_worker_node(ctx->topology, w)
                                            : -1);
    const char *bus[DAGI_MAX_DEVICES];
    int node[DAGI_MAX_DEVICES];
    for (int i = 0; i < all->count; i++)
        bus[i] = all->device[i]->info.bus;
    dagi_topology_bus_nodes(ctx->topology, all->count, bus, node);
    for (int i = 0; i < all->count; i++) {
        dagi_device *d = all->device[i];
        int near = 0;
        d->near.node = node[i];
        for (int w = 0; w < dagi_tasks(ctx)->nworkers; w++)
            near += d->near.node >= 0 && all->worker_node[w] == d->near.node;
        d->near.workers = near > 0 && near < dagi_tasks(ctx)->nworkers;
    }
}

static int register_kernels(const dagi_backend *backend)
{
    for (int i = 0; i < backend->nkernels && dag_kernel_register; i++) {
        if (!dag_kernel_register(&backend->kernels[i]))
            return 1;
    }
    return 0;
}

/* A back end that can be used, and its devices. */
typedef struct offer {
    const dagi_backend *backend;
    int there;
} offer;

/* One card may have drivers of two kinds: it is used by the first. */
static int known_otherwise(const struct dagi_devices *all, const dagi_device *d)
{
    for (int i = 0; i < all->count && d->info.bus[0]; i++) {
        const dagi_device *other = all->device[i];
        if (other->backend != d->backend && strcasecmp(other->info.bus, d->info.bus) == 0)
            return 1;
    }
    return 0;
}

/* The devices of one kind, until there are `wanted`; < 0: as many as can be had. */
static dag_status open_kind(struct dagi_devices *all, const offer *o, char *why, size_t size)
{
    dag_context *ctx = all->ctx;
    int wanted = (int)ctx->settings.gpus;
    for (int i = 0; i < o->there && all->count < DAGI_MAX_DEVICES; i++) {
        char reason[512];
        if (wanted >= 0 && all->count >= wanted)
            return DAG_SUCCESS;
        dagi_device *d = dagi_device_open(all, o->backend, i, reason, sizeof reason);
        if (d && known_otherwise(all, d)) {
            dagi_device_close(d);
        } else if (d) {
            all->device[all->count++] = d;
            all->mixed |= all->device[0]->backend != d->backend;
            all->no_double |= (uint32_t)d->info.single << o->backend->kind;
            all->backend[o->backend->kind] = o->backend;
        } else if (wanted > 0) {
            snprintf(why, size, "gpus = %d: %s", wanted, reason);
            return DAG_ERR_DEVICE;
        } else {
            dagi_warn(ctx, "%s; it is not used", reason);
            snprintf(dagi_tasks(ctx)->no_devices.why, sizeof dagi_tasks(ctx)->no_devices.why, "%.*s",
                     (int)sizeof dagi_tasks(ctx)->no_devices.why - 1, reason);
        }
    }
    return DAG_SUCCESS;
}

static dag_status open_all(struct dagi_devices *all, const offer *offers, char *why, size_t size)
{
    dag_status status = DAG_SUCCESS;
    for (int k = 0; k < DAG_DEVICE_KIND_COUNT && status == DAG_SUCCESS; k++)
        status = open_kind(all, &offers[k], why, size);
    if (status == DAG_SUCCESS && all->count > 0)
        status = make_choice(all);
    for (int k = 0; k < DAG_DEVICE_KIND_COUNT && status == DAG_SUCCESS; k++) {
        char reason[512];
        if (!all->backend[k])
            continue;
        if (all->backend[k]->rounds_single && all->backend[k]->rounds_single(reason, sizeof reason)) {
            all->no_single |= UINT32_C(1) << k;
            dagi_warn(all->ctx, "%s", reason);
        }
        if (register_kernels(all->backend[k]) == 0)
            continue;
        snprintf(why, size, "the kernels of the back end %s do not fit this program",
                 all->backend[k]->name);
        status = DAG_ERR_DEVICE;
    }
    return status;
}

/* Whether a list of kinds has this one. */
static int listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncasecmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return 1;
    }
    return 0;
}

int dagi_device_named(const dag_context *ctx, int kind)
{
    return listed(ctx->settings.device_backend, dagi_kinds[kind].prefix);
}

/* 0: `why` says what the setting names that is no kind. */
static int check_kinds(const char *list, char *why, size_t size)
{
    size_t known = strcmp(list, "auto") == 0 ? strlen(list) : 0, used = 0;
    char names[128] = "";
    for (int k = DAG_HOST + 1; k < DAG_DEVICE_KIND_COUNT; k++) {
        const char *name = dagi_kinds[k].prefix;
        if (listed(list, name))
            known += strlen(name) + (known > 0);
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", name);
    }
    if (known == strlen(list) && known > 0)
        return 1;
    snprintf(why, size, "device_backend = %s: must be auto, or a list, with commas, of %s", list, names);
    return 0;
}

/* Devices of all kinds that could be opened. Where there are none, the first reason is kept. */
static int find_offers(const dag_context *ctx, offer *offers)
{
    int there = 0;
    char *first = dagi_tasks(ctx)->no_devices.why;
    const char *list = ctx->settings.device_backend;
    int automatic = strcmp(list, "auto") == 0;
    first[0] = '\0';
    for (int k = DAG_HOST + 1; k < DAG_DEVICE_KIND_COUNT; k++) {
        char why[sizeof dagi_tasks(ctx)->no_devices.why] = "";
        int named = !automatic && listed(list, dagi_kinds[k].prefix);
        const dagi_backend *backend = instead[k];
        if (!automatic && !named)
            continue;
        if (!found_instead)
            backend = dagi_plugin_load(ctx, (dag_device_kind)k, named, why, sizeof why);
        if (backend)
            dagi_device_texts(backend);
        if (backend && backend->store)
            backend->store(dagi_store_open(ctx));
        int count = backend ? backend->count(named, why, sizeof why) : 0;
        offers[k] = (offer){backend, count < 0 ? 0 : count};
        there += offers[k].there;
        if (!first[0])
            memcpy(first, why, sizeof why);
    }
    return there;
}

static void summarize(dag_context *ctx)
{
    size_t used = strlen(ctx->summary);
    const struct dagi_devices *all = dagi_tasks(ctx)->devices;
    snprintf(ctx->summary + used, sizeof ctx->summary - used, ", %d device%s (%s)", all->count,
             all->count > 1 ? "s" : "", all->device[0]->info.name);
}

/* Why no device is used, if that is settled beforehand. */
static const char *excluded(const dag_context *ctx)
{
    if (ctx->settings.gpus == 0)
        return "the setting gpus is 0";
    if (ctx->settings.gpus < 0 && ctx->settings.reproducible)
        return "the setting reproducible keeps tasks on cores unless gpus says how many devices there are";
    if (ctx->settings.serial)
        return "the setting serial runs one task at a time, on a core";
    if (ctx->settings.check)
        return "the setting check looks at what bodies do on cores";
    return NULL;
}

/* ---- ports ------------------------------------------------------------------------------------ */

static dag_status come_home(dag_context *ctx, dag_collection *c)
{
    return dagi_residence_of(c) ? dag_resident_drop(ctx, c) : DAG_SUCCESS;
}

static const dagi_layout_port layout_port = {
    .pin = dagi_device_pin,
    .unpin = dagi_device_unpin,
    .leave = dagi_residence_leave,
    .come_home = come_home,
};

static const dagi_value_keeper value_keeper = {
    .rest = dagi_resident_rest,
    .forget = dagi_device_forget,
};

static const dagi_device_port task_port = {
    .have = dagi_devices_have,
    .filter = dagi_device_filter,
    .full = dagi_devices_full,
    .host_ready = dagi_device_host_ready,
    .causes = dagi_device_causes,
    .host_written = dagi_device_host_written,
    .core_ran = dagi_device_core_ran,
    .bind = dagi_resident_bind,
    .store = dagi_resident_store,
    .plans = dagi_device_plans,
};

static const dagi_manager_port worker_port = {
    .wants = dagi_device_wants,
    .progress = dagi_device_progress,
    .leave = dagi_device_leave,
    .manages = dagi_device_manages,
    .busy = dagi_devices_busy,
};

/* From now on the floors below ask for them. */
static dag_status attach(struct dagi_devices *all)
{
    struct dagi_crew *crew = dagi_crew(all->ctx);
    struct dagi_tasks *tasks = &crew->tasks;
    all->drivers = calloc((size_t)tasks->nworkers, sizeof *all->drivers);
    if (!all->drivers) {
        destroy(all);
        return DAG_ERR_NOMEM;
    }
    for (int i = 0; i < tasks->nworkers; i++)
        dagi_runner(tasks->workers[i])->driver = &all->drivers[i];
    atomic_store(&dagi_layout_port_used, &layout_port);
    all->ctx->keeper = &value_keeper;
    dagi_pins_begin(all);
    tasks->devices = all;
    tasks->device = &task_port;
    crew->manager = &worker_port;
    dagi_value_depot_pin(all->ctx->values, all->ctx, dagi_device_pin, dagi_device_unpin);
    summarize(all->ctx);
    return DAG_SUCCESS;
}

static void warn_of_old_name(const dag_context *ctx)
{
    const char *old, *now = ctx->rank == 0 ? dagi_settings_renamed(ctx->config, &old) : NULL;
    if (now)
        dagi_warn(ctx, "the setting %s is an old name: it is %s now", old, now);
}

/* Who offers devices, and which device of its the application has chosen. */
static void note_chosen(struct dagi_devices *all, const offer *offers, const dagi_backend **offered)
{
    for (int k = 0; k < DAG_DEVICE_KIND_COUNT; k++) {
        offered[k] = offers[k].there > 0 ? offers[k].backend : NULL;
        all->before[k] = offered[k] ? offered[k]->chosen() : -1;
    }
}

dag_status dagi_devices_init(dag_context *ctx, char *why, size_t size)
{
    struct dagi_tasks *tasks = dagi_tasks(ctx);
    warn_of_old_name(ctx);
    const char *reason = excluded(ctx), *name = ctx->settings.device_policy;
    char names[64];
    const dagi_policy *policy = dagi_policy_named(*name ? name : "time", names, sizeof names);
    if (!policy) {
        snprintf(why, size, "device_policy = %s: must be one of %s", name, names);
        return DAG_ERR_SETTING;
    }
    dagi_portion share;
    if (!dagi_portion_read(ctx->settings.core_share, policy, &share, why, size) ||
        !check_kinds(ctx->settings.device_backend, why, size))
        return DAG_ERR_SETTING;
    offer offers[DAG_DEVICE_KIND_COUNT] = {{NULL, 0}};
    int there = 0, wanted = (int)ctx->settings.gpus;
    if (reason)
        snprintf(tasks->no_devices.why, sizeof tasks->no_devices.why, "%s", reason);
    else
        there = find_offers(ctx, offers);
    if (wanted > 0 && there < wanted && !reason) {
        snprintf(why, size, "gpus = %d, but %d device%s can be used%s%s", wanted, there,
                 there == 1 ? "" : "s", there ? "" : ": ", there ? "" : tasks->no_devices.why);
        return DAG_ERR_DEVICE;
    }
    if (there == 0)
        return DAG_SUCCESS;
    struct dagi_devices *all = calloc(1, sizeof *all);
    if (!all)
        return DAG_ERR_NOMEM;
    *all = (struct dagi_devices){
        .ctx = ctx, .policy = policy, .share = share, .lanes = (int)ctx->settings.device_streams,
        .batch = (int)ctx->settings.device_batch,
        .ahead = DAGI_AHEAD * (ctx->settings.stretch > 0 ? ctx->settings.stretch : 1)};
    const dagi_backend *offered[DAG_DEVICE_KIND_COUNT];
    note_chosen(all, offers, offered);
    dag_status status = open_all(all, offers, why, size);
    if (status == DAG_SUCCESS && wanted > 0 && all->count < wanted) { /* a card may have been offered twice */
        snprintf(why, size, "gpus = %d, but %d device%s can be used", wanted, all->count,
                 all->count == 1 ? "" : "s");
        status = DAG_ERR_DEVICE;
    }
    if (status != DAG_SUCCESS || all->count == 0) {
        int before[DAG_DEVICE_KIND_COUNT];
        memcpy(before, all->before, sizeof before);
        destroy(all);
        choose_again(offered, before);
        return status;
    }
    atomic_store(&all->alive, all->count);
    connect_peers(all);
    find_near(all);
    if (DAGI_TRACE(ctx))
        dagi_record_tracks(all);
    tasks->no_devices.why[0] = '\0';
    return attach(all);
}

void dagi_devices_fini(dag_context *ctx)
{
    struct dagi_devices *all = dagi_tasks(ctx)->devices;
    char reason[1536];
    const char *file = ctx->settings.perf_model;
    if (all && *file && dagi_choice_save(all->choice, file, reason, sizeof reason) != 0)
        dagi_warn(ctx, "%s", reason);
    if (all) {
        int chosen[DAG_DEVICE_KIND_COUNT];
        const dagi_backend *backend[DAG_DEVICE_KIND_COUNT];
        memcpy(backend, all->backend, sizeof backend);
        dagi_devices_chosen(all, chosen);
        destroy(all);
        choose_again(backend, chosen);
    }
    dagi_tasks(ctx)->devices = NULL;
    dagi_tasks(ctx)->device = NULL;
    dagi_crew(ctx)->manager = NULL;
}

void dagi_devices_started(const dag_context *ctx)
{
    const struct dagi_devices *all = dagi_tasks(ctx)->devices;
    if (all)
        dagi_devices_choose_again(all, all->before);
}
