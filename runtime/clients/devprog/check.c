/* What is wrong with a program is said with the number of the command. */
#include "devprog.h"

#include "../../device/device.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* What a register holds: its first items, so many. */
struct checker {
    const dag_devprog *p;
    int64_t *written;
    int64_t at;
};

__attribute__((format(printf, 2, 3))) static dag_status refuse(const struct checker *k,
                                                               const char *format, ...)
{
    char name[512], text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return dag_error(k->p->ctx, DAG_ERR_ARG, "program %s: command %s: %s", k->p->of->program.name,
                     dagi_devprog_name(k->p, k->at, name, sizeof name), text);
}

/* ---- parts --------------------------------------------------------------------------------- */

static dag_status check_rectangle(const struct checker *k, const dag_devprog_part *part, int one_ld)
{
    if (part->of < 0 || part->of >= k->p->nmatrices)
        return refuse(k, "the program has no matrix %d, but %d", part->of, k->p->nmatrices);
    const dag_matrix *a = k->p->matrices[part->of];
    if (part->m < 1 || part->n < 1 || part->i < 0 || part->j < 0 || part->m > a->m - part->i ||
        part->n > a->n - part->j)
        return refuse(k,
                      "the rectangle is empty, or not within %s, which is %" PRId64 " x %" PRId64,
                      a->super.name, a->m, a->n);
    pieces walk = dagi_devprog_pieces(a, *part);
    piece x;
    int found;
    while ((found = dagi_devprog_piece(&walk, &x)) == 1)
        continue;
    if (found < 0)
        return refuse(k, "a part of the rectangle of %s is not on rank %d, or does not exist",
                      a->super.name, k->p->ctx->rank);
    if (one_ld && !walk.whole)
        return refuse(
            k,
            "the rectangle of %s has several leading dimensions: on the host it lies within "
            "one tile, or the matrix has the layout of LAPACK",
            a->super.name);
    return DAG_SUCCESS;
}

static dag_status check_register(const struct checker *k, const dag_devprog_part *part, int device,
                                 dag_tile_access access)
{
    if (part->of < 0 || (size_t)part->of >= k->p->nregs)
        return refuse(k, "the program has no register %d, but %zu", part->of, k->p->nregs);
    const reg *r = &k->p->regs[part->of];
    if (r->device != device)
        return refuse(k, "register %d is one of device %d", part->of, r->device);
    if (part->m < 1 || part->n < 1 || part->i || part->j)
        return refuse(k, "a part of register %d begins at (0, 0) and is not empty", part->of);
    if (part->m > r->items / part->n)
        return refuse(
            k, "register %d is too small: it has %" PRId64 " items, not %" PRId64 " x %" PRId64,
            part->of, r->items, part->m, part->n);
    int64_t items = part->m * part->n;
    if ((access & DAG_TILE_READ) && k->written[part->of] < items)
        return refuse(k,
                      "register %d is read before it was written: %" PRId64
                      " items, of which it has "
                      "%" PRId64,
                      part->of, items, k->written[part->of]);
    return DAG_SUCCESS;
}

static void writes(struct checker *k, const dag_devprog_part *part)
{
    if (k->written[part->of] < part->m * part->n)
        k->written[part->of] = part->m * part->n;
}

/* ---- commands ------------------------------------------------------------------------------ */

static dag_status check_device(const struct checker *k, int device, int queue)
{
    int count = dag_devices(k->p->ctx);
    if (device < DAG_HOST || device > count)
        return refuse(k, "there is no device %d: this process has %d%s%s", device, count,
                      count ? "" : ", ", count ? "" : dag_devices_reason(k->p->ctx));
    if (queue < DAG_DEVPROG_LD || queue > DAG_DEVPROG_EXEC ||
        (device == DAG_HOST && queue != DAG_DEVPROG_EXEC))
        return refuse(k, "device %d has no queue %d", device, queue);
    return DAG_SUCCESS;
}

static dag_status check_move(struct checker *k, const command *c)
{
    dag_status status =
        check_register(k, &c->args[0], c->device, c->op == ST ? DAG_TILE_READ : DAG_TILE_WRITE);
    if (status == DAG_SUCCESS)
        status = check_rectangle(k, &c->args[1], 0);
    if (status == DAG_SUCCESS && c->op == LD)
        writes(k, &c->args[0]);
    return status;
}

static dag_status check_overlap(const struct checker *k, const command *c, int a)
{
    const dag_tile_access *access = k->p->kernels[c->kernel]->access;
    for (int b = 0; b < a; b++) {
        int same = c->device == DAG_HOST ? parts_overlap(&c->args[a], &c->args[b])
                                         : c->args[a].of == c->args[b].of;
        if (same && ((access[a] | access[b]) & DAG_TILE_WRITE))
            return refuse(k, "arguments %d and %d overlap, and one of them is written", b, a);
    }
    return DAG_SUCCESS;
}

static dag_status check_exec(struct checker *k, const command *c)
{
    if (c->fault)
        return refuse(
            k, "there is no kernel %d, or it has no arguments, or more than %d bytes of scalars",
            c->kernel, DAG_DEVPROG_SCALARS);
    const dag_devprog_kernel *kernel = k->p->kernels[c->kernel];
    int on_host = c->device == DAG_HOST;
    if (on_host ? !kernel->host : !kernel->device)
        return refuse(k, "kernel %s has no function for %s", kernel->name,
                      on_host ? "the host" : "devices");
    dag_status status = DAG_SUCCESS;
    for (int a = 0; a < c->nargs && status == DAG_SUCCESS; a++) {
        status = on_host ? check_rectangle(k, &c->args[a], 1)
                         : check_register(k, &c->args[a], c->device, kernel->access[a]);
        if (status == DAG_SUCCESS)
            status = check_overlap(k, c, a);
    }
    for (int a = 0; a < c->nargs && status == DAG_SUCCESS && !on_host; a++) {
        if (kernel->access[a] & DAG_TILE_WRITE)
            writes(k, &c->args[a]);
    }
    return status;
}

static dag_status check_bar(const struct checker *k, const command *c)
{
    if (c->fault)
        return refuse(k, "it waits for %d commands that are not given", c->non);
    for (int i = 0; i < c->non; i++) {
        if (c->on[i] < 0 || c->on[i] >= k->at)
            return refuse(k, "it waits for command %" PRId64 ", which is not before it", c->on[i]);
    }
    return DAG_SUCCESS;
}

static dag_status check_command(struct checker *k)
{
    const command *c = &k->p->commands[k->at];
    dag_status status = check_device(k, c->device, c->queue);
    if (status != DAG_SUCCESS)
        return status;
    switch ((enum op)c->op) {
    case LD:
    case ST:
        return check_move(k, c);
    case EXEC:
        return check_exec(k, c);
    case BAR:
        return check_bar(k, c);
    case MARK:
        break;
    }
    return DAG_SUCCESS;
}

/* ---- memory -------------------------------------------------------------------------------- */

/* Beside its registers a device has the order of each queue. */
static dag_status check_memory(const dag_devprog *p)
{
    const char *name = p->of->program.name;
    for (int d = 1; d <= dag_devices(p->ctx); d++) {
        dag_device_stats stats;
        size_t bytes = LANES * dagi_device_rounded(item_bytes(p));
        int count = 0;
        if (!dag_device_stats_get(p->ctx, d - 1, &stats))
            continue;
        for (size_t r = 0; r < p->nregs; r++) {
            if (p->regs[r].device != d)
                continue;
            size_t room = (size_t)stats.memory - bytes, elem = item_bytes(p);
            if (bytes > (size_t)stats.memory || (uint64_t)p->regs[r].items > room / elem ||
                dagi_device_rounded((size_t)p->regs[r].items * elem) > room)
                return dag_error(p->ctx, DAG_ERR_NOMEM,
                                 "program %s: register %zu, of %" PRId64 " items, does "
                                 "not fit device %d (%s) beside the %d before it: it has %" PRId64
                                 " bytes "
                                 "for data",
                                 name, r, p->regs[r].items, d, stats.name, count, stats.memory);
            bytes += dagi_device_rounded((size_t)p->regs[r].items * elem);
            count++;
        }
    }
    return DAG_SUCCESS;
}

static dag_status check_registers(const dag_devprog *p)
{
    for (size_t r = 0; r < p->nregs; r++) {
        if (p->regs[r].items < 1 || p->regs[r].device <= DAG_HOST ||
            p->regs[r].device > dag_devices(p->ctx))
            return dag_error(p->ctx, DAG_ERR_ARG,
                             "program %s: register %zu, of %" PRId64 " items on device "
                             "%d: it is empty, or there is no such device: this process has %d%s%s",
                             p->of->program.name, r, p->regs[r].items, p->regs[r].device,
                             dag_devices(p->ctx), dag_devices(p->ctx) ? "" : ", ",
                             dag_devices_reason(p->ctx));
    }
    return DAG_SUCCESS;
}

dag_status dag_devprog_check(dag_devprog *program)
{
    if (!program)
        return DAG_ERR_ARG;
    if (program->linked)
        return DAG_SUCCESS;
    dag_context *ctx = program->ctx;
    struct checker k = {.p = program, .written = calloc(program->nregs + 1, sizeof *k.written)};
    dag_status status = ctx->simulated ? DAG_ERR_UNSUPPORTED : DAG_SUCCESS;
    if (status != DAG_SUCCESS)
        dag_error(ctx, status, "program %s: programs for devices are not simulated",
                  program->of->program.name);
    else if (program->short_of_memory || !k.written)
        status =
            dag_error(ctx, DAG_ERR_NOMEM, "program %s: out of memory", program->of->program.name);
    if (status == DAG_SUCCESS)
        status = check_registers(program);
    for (; status == DAG_SUCCESS && (size_t)k.at < program->ncommands; k.at++)
        status = check_command(&k);
    if (status == DAG_SUCCESS)
        status = check_memory(program);
    if (status == DAG_SUCCESS && dagi_devprog_link(program) != 0)
        status =
            dag_error(ctx, DAG_ERR_NOMEM, "program %s: out of memory", program->of->program.name);
    free(k.written);
    return status;
}

/* ---- as a taskpool ------------------------------------------------------------------------- */

dag_taskpool *dag_devprog_taskpool(dag_devprog *program)
{
    if (!program)
        return NULL;
    dag_context *ctx = program->ctx;
    dag_status status = dag_devprog_check(program);
    dag_taskpool *pool = dag_pool_new(ctx, &program->of->program, program->prec);
    if (!pool)
        return NULL;
    program->fixed = 1;
    *(const dag_devprog **)dag_pool_globals(pool) = program;
    for (int m = 0; m < program->nmatrices; m++)
        dag_pool_matrix(pool, m, program->matrices[m], (int)program->prec);
    pool = dag_pool_ready(pool);
    if (!pool)
        return NULL;
    if (status != DAG_SUCCESS)
        dagi_pool_fail(pool, status, "%s",
                       dag_message(ctx)); /* the other ranks have to hear of it */
    dagi_device_bare(pool);
    dagi_device_queue(pool, CLASS_LD, 1);
    dagi_device_queue(pool, CLASS_ST, 2);
    for (int k = 0; k < program->nkernels; k++)
        dagi_device_queue(pool, class_of_kernel(k, 0), 3);
    return pool;
}
