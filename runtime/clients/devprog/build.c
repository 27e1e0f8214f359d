/* Making of programs: they are described, and commands appended. */
#include "devprog.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 1024 /* kernels, matrices */, REGISTERS = 4096 };

void *dagi_devprog_grow(void *array, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return array;
    size_t more = *room ? 2 * *room : 64;
    void *grown = realloc(array, more * size);
    if (grown)
        *room = more;
    return grown;
}

static dag_status check_kernels(dag_context *ctx, const dag_devprog_desc *d)
{
    for (int k = 0; k < d->nkernels; k++) {
        const dag_devprog_kernel *kernel = d->kernels[k];
        bool fits = kernel && kernel->name && (kernel->device || kernel->host) &&
                    kernel->nargs >= 1 && kernel->nargs <= DAG_DEVPROG_ARGS;
        for (int a = 0; fits && a < kernel->nargs; a++)
            fits = kernel->access[a] >= DAG_TILE_READ && kernel->access[a] <= DAG_TILE_RW;
        if (!fits)
            return dag_error(ctx, DAG_ERR_ARG,
                             "dag_devprog_new: %s: kernel %d needs a name, a function, "
                             "and 1 to %d arguments with their access",
                             d->name, k, DAG_DEVPROG_ARGS);
    }
    return DAG_SUCCESS;
}

static dag_status check_desc(dag_context *ctx, const dag_devprog_desc *d)
{
    if (d->nkernels < 0 || d->nkernels > MOST || d->nmatrices < 0 || d->nmatrices > MOST ||
        d->prec < DAG_S || d->prec > DAG_Z)
        return dag_error(ctx, DAG_ERR_ARG,
                         "dag_devprog_new: %s: a program has a precision, and at most "
                         "%d kernels and matrices",
                         d->name, MOST);
    for (int i = 0; i < d->nmatrices; i++) {
        if (!d->matrices[i] || d->matrices[i]->prec != d->prec)
            return dag_error(ctx, DAG_ERR_ARG,
                             "dag_devprog_new: %s: matrix %d is NULL or has another "
                             "precision than the program",
                             d->name, i);
        for (int j = 0; j < i; j++) {
            if (dag_collection_whole(&d->matrices[i]->super) ==
                dag_collection_whole(&d->matrices[j]->super))
                return dag_error(ctx, DAG_ERR_ARG,
                                 "dag_devprog_new: %s: matrices %d and %d share their "
                                 "memory",
                                 d->name, j, i);
        }
    }
    return check_kernels(ctx, d);
}

dag_status dag_devprog_new(dag_context *context, const dag_devprog_desc *desc,
                           dag_devprog **program)
{
    if (!context || !desc || !program || !desc->name)
        return DAG_ERR_ARG;
    dag_status status = check_desc(context, desc);
    if (status != DAG_SUCCESS)
        return status;
    dag_devprog *p = calloc(1, sizeof *p);
    if (p) {
        p->of = dagi_devprog_describe(desc);
        p->matrices = calloc((size_t)desc->nmatrices + 1, sizeof *p->matrices);
        p->kernels = calloc((size_t)desc->nkernels + 1, sizeof(const dag_devprog_kernel *));
    }
    if (!p || !p->of || !p->matrices || !p->kernels) {
        dag_devprog_free(p);
        return dag_error(context, DAG_ERR_NOMEM, "dag_devprog_new: %s: out of memory", desc->name);
    }
    p->ctx = context;
    p->prec = desc->prec;
    p->nmatrices = desc->nmatrices;
    p->nkernels = desc->nkernels;
    for (int i = 0; i < p->nmatrices; i++)
        p->matrices[i] = desc->matrices[i];
    for (int k = 0; k < p->nkernels; k++)
        p->kernels[k] = desc->kernels[k];
    *program = p;
    return DAG_SUCCESS;
}

void dag_devprog_free(dag_devprog *program)
{
    if (!program)
        return;
    for (size_t c = 0; c < program->ncommands; c++) {
        free(program->commands[c].args);
        free(program->commands[c].scalars);
        free(program->commands[c].on);
    }
    free(program->commands);
    free(program->regs);
    free(program->edges);
    free(program->causes);
    free((void *)program->matrices);
    free((void *)program->kernels);
    free(program);
}

int dag_devprog_register(dag_devprog *program, int device, int64_t items)
{
    reg *regs = dagi_devprog_grow(program->regs, program->nregs, &program->regs_room, sizeof *regs);
    if (!regs || program->fixed || program->nregs == REGISTERS) {
        program->short_of_memory |= !program->fixed;
        return -1;
    }
    program->regs = regs;
    program->linked = 0;
    regs[program->nregs] = (reg){device, items};
    return (int)program->nregs++;
}

/* ---- commands ------------------------------------------------------------------------------ */

static void *copy_of(dag_devprog *p, const void *from, size_t bytes)
{
    void *copy = malloc(bytes ? bytes : 1);
    if (copy && bytes)
        memcpy(copy, from, bytes);
    p->short_of_memory |= !copy;
    return copy;
}

static int64_t append(dag_devprog *p, const command *c)
{
    command *commands =
        p->fixed || p->ncommands >= INT32_MAX
            ? NULL
            : dagi_devprog_grow(p->commands, p->ncommands, &p->commands_room, sizeof *commands);
    if (!commands) {
        p->short_of_memory |= !p->fixed;
        free(c->args);
        free(c->scalars);
        free(c->on);
        return -1;
    }
    p->commands = commands;
    p->linked = 0;
    commands[p->ncommands] = *c;
    return (int64_t)p->ncommands++;
}

static int64_t move(dag_devprog *p, enum op op, int number, dag_devprog_part part)
{
    const dag_devprog_part both[2] = {{.of = number, .m = part.m, .n = part.n}, part};
    int known = number >= 0 && (size_t)number < p->nregs;
    return append(p, &(command){.op = (uint8_t)op,
                                .nargs = 1,
                                .device = known ? p->regs[number].device : 1,
                                .queue = op == LD ? DAG_DEVPROG_LD : DAG_DEVPROG_ST,
                                .args = copy_of(p, both, sizeof both)});
}

int64_t dag_devprog_ld(dag_devprog *program, int number, dag_devprog_part from)
{
    return move(program, LD, number, from);
}

int64_t dag_devprog_st(dag_devprog *program, int number, dag_devprog_part to)
{
    return move(program, ST, number, to);
}

int64_t dag_devprog_exec(dag_devprog *program, int device, int kernel, const void *scalars,
                         size_t size, const dag_devprog_part *args)
{
    command c = {.op = EXEC, .queue = DAG_DEVPROG_EXEC, .device = device, .kernel = kernel};
    c.fault = kernel < 0 || kernel >= program->nkernels || size > DAG_DEVPROG_SCALARS || !args;
    if (!c.fault) {
        c.nargs = program->kernels[kernel]->nargs;
        c.args = copy_of(program, args, (size_t)c.nargs * sizeof *args);
        c.scalars = copy_of(program, scalars, size);
    }
    return append(program, &c);
}

int64_t dag_devprog_mark(dag_devprog *program, int device, dag_devprog_queue queue)
{
    return append(program, &(command){.op = MARK, .queue = (uint8_t)queue, .device = device});
}

int64_t dag_devprog_bar(dag_devprog *program, int device, dag_devprog_queue queue,
                        const int64_t *on, int count)
{
    command c = {.op = BAR, .queue = (uint8_t)queue, .device = device, .non = count};
    c.fault = count < 0 || (count > 0 && !on);
    if (!c.fault)
        c.on = copy_of(program, on, (size_t)count * sizeof *on);
    return append(program, &c);
}
