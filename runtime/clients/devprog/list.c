/* Programs as text. */
#include "devprog.h"

#include <inttypes.h>
#include <stdio.h>

/* snprintf() at the end of a text. */
#define ADD(text, size, at, ...)                                                                   \
    ((at) < (size) ? (void)((at) += (size_t)snprintf((text) + (at), (size) - (at), __VA_ARGS__))   \
                   : (void)0)

/* "r2[4x4]", or "A(0:4, 4:8)": from the first row to behind the last. */
static size_t add_part(const dag_devprog *p, const dag_devprog_part *part, int is_register,
                       char *text, size_t size, size_t at)
{
    if (is_register)
        ADD(text, size, at, "r%d[%" PRId64 "x%" PRId64 "]", part->of, part->m, part->n);
    else if (part->of < 0 || part->of >= p->nmatrices)
        ADD(text, size, at, "matrix %d", part->of);
    else
        ADD(text, size, at, "%s(%" PRId64 ":%" PRId64 ", %" PRId64 ":%" PRId64 ")",
            p->matrices[part->of]->super.name, part->i, part->i + part->m, part->j,
            part->j + part->n);
    return at;
}

const char *dagi_devprog_name(const dag_devprog *p, int64_t number, char *text, size_t size)
{
    static const char *const names[] = {
        [LD] = "LD", [ST] = "ST", [EXEC] = "EXEC", [MARK] = "MARK", [BAR] = "BAR"};
    const command *c = &p->commands[number];
    size_t at = 0;
    ADD(text, size, at, "%" PRId64 " %s ", number, names[c->op]);
    if (c->device == DAG_HOST)
        ADD(text, size, at, "host");
    else
        ADD(text, size, at, "d%d", c->device);
    if (c->op == LD || c->op == ST) {
        ADD(text, size, at, " ");
        at = add_part(p, &c->args[0], 1, text, size, at);
        ADD(text, size, at, c->op == LD ? " <- " : " -> ");
        at = add_part(p, &c->args[1], 0, text, size, at);
    } else if (c->op == EXEC && !c->fault) {
        ADD(text, size, at, " %s", p->kernels[c->kernel]->name);
        for (int a = 0; a < c->nargs; a++) {
            ADD(text, size, at, " ");
            at = add_part(p, &c->args[a], c->device != DAG_HOST, text, size, at);
        }
    } else if (c->op == MARK || c->op == BAR) {
        ADD(text, size, at,
            c->queue == DAG_DEVPROG_LD   ? " LD"
            : c->queue == DAG_DEVPROG_ST ? " ST"
                                         : " EXEC");
    }
    return text;
}

dag_status dag_devprog_list(dag_devprog *program, FILE *to)
{
    if (!program || !to)
        return DAG_ERR_ARG;
    dag_status status = dag_devprog_check(program);
    if (status != DAG_SUCCESS) {
        fprintf(to, "%s\n", dag_message(program->ctx));
        return status;
    }
    for (size_t c = 0; c < program->ncommands; c++) {
        char name[1024];
        size_t end =
            c + 1 < program->ncommands ? (size_t)program->commands[c + 1].after : program->ncauses;
        fprintf(to, "%s", dagi_devprog_name(program, (int64_t)c, name, sizeof name));
        for (size_t i = (size_t)program->commands[c].after; i < end; i++) {
            const cause *why = &program->causes[i];
            fprintf(to, i == (size_t)program->commands[c].after ? " after %d:" : " %d:", why->from);
            if (why->what == 'r')
                fprintf(to, "r%d", why->number);
            else
                fprintf(to, "%s",
                        why->what == 'm' ? program->matrices[why->number]->super.name : "order");
        }
        fprintf(to, "\n");
    }
    return ferror(to) ? DAG_ERR_IO : DAG_SUCCESS;
}
