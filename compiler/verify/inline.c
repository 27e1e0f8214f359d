/* Inline C for given parameter values.
 *
 * The prologue and one function for each expression go into a shared object. A child process loads
 * it and answers requests over a pair of pipes: the number of the expression and the values of the
 * class's locals and of the indices in scope; the answer is the value. The child has limits on
 * processor time and memory, and the parent waits only so long for an answer, so that no inline C
 * can hang or crash the compiler.
 */
#include "inline.h"

#include "diag/temp.h"
#include "report.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* An answer may take ANSWER_SECONDS of processor time, however busy the machine is; WAIT_MS is for
 * those that sleep. */
enum { MAX_VALUES = 64, CPU_SECONDS = 10, ANSWER_SECONDS = 5, WAIT_MS = 60000 };
static const rlim_t memory_limit = (rlim_t)1 << 30;

typedef struct request {
    uint32_t number;            /* in exprs */
    int64_t values[MAX_VALUES]; /* of its captures, in order */
} request;

struct inline_c {
    verify_model *m;
    const ast_expr **exprs;
    size_t n_exprs;
    int *number;                /* by node id, -1: none */
    const ast_fact **facts;     /* one about each function: requests n_exprs and on */
    size_t n_facts;
    pid_t pid;
    int to_child, from_child;
    const char *dir;
    bool dead;
    void (*old_sigpipe)(int);
};

/* ---- finding the expressions ----------------------------------------------------------------- */

static void find_in(const ast_expr *e, void *arg)
{
    inline_c *c = arg;
    if (!e)
        return;
    if (e->kind == AST_INLINE_C && c->number[e->node.id] < 0 &&
        !concrete_reads_flows(c->m->sema, e)) {
        c->number[e->node.id] = (int)c->n_exprs;
        c->exprs = util_realloc(c->exprs, (c->n_exprs + 1) * sizeof(*c->exprs));
        c->exprs[c->n_exprs++] = e;
    }
    if (e->kind == AST_NAME) {
        sema_ref ref = sema_ref_of(c->m->sema, e);
        if (ref.kind == SEMA_REF_GLOBAL)
            find_in(ref.u.global->init, c);
    }
    ast_each_child(e, find_in, c);
}

static void find_all(inline_c *c, bool with_flops)
{
    for (size_t i = 0; i < c->m->n_classes; i++) {
        const sema_class *cls = c->m->classes[i].sema;
        for (size_t k = 0; k < cls->n_locals; k++)
            ast_each_in_value(cls->locals[k].ast->value, find_in, c);
        ast_each_in_call(cls->ast->placement, find_in, c);
        if (with_flops)
            find_in(cls->flops, c);
    }
    for (size_t i = 0; i < c->m->n_edges; i++) {
        const sema_edge *e = c->m->edges[i].sema;
        ast_each_in_indices(e->dep->indices, find_in, c);
        find_in(e->cond, c);
        ast_each_in_call(e->call, find_in, c);
    }
}

/* Adds a function, which may be NULL or there already, and those that its values are held against. */
static void add_stated(inline_c *c, const ast_fact *f)
{
    bool known = !f || f->kind == AST_FACT_VALUE;
    for (size_t i = 0; !known && i < c->n_facts; i++)
        known = strcmp(c->facts[i]->name.text, f->name.text) == 0;
    if (known)
        return;
    c->facts = util_realloc(c->facts, (c->n_facts + 1) * sizeof(*c->facts));
    c->facts[c->n_facts++] = f;
    for (size_t i = 0; i < c->m->file->facts.n; i++) {
        const ast_fact *inverse = c->m->file->facts.items[i];
        if (inverse->kind == AST_FACT_INVERSE && strcmp(inverse->other.text, f->name.text) == 0)
            add_stated(c, inverse);
    }
}

/* Which functions facts are about that inline C of the graph calls. */
static void find_stated(const ast_expr *e, void *arg)
{
    inline_c *c = arg;
    if (!e)
        return;
    const ast_fact *f = e->kind == AST_CALL_VALUE
                            ? ast_find_fact(c->m->file, e->u.call.name.text, AST_FACT_UNKNOWN) : NULL;
    add_stated(c, f);
    ast_each_child(e, find_stated, c);
}

/* ---- the C text ------------------------------------------------------------------------------ */

static const char *name_of(const sema_ref *ref)
{
    switch (ref->kind) {
    case SEMA_REF_LOCAL:
        return ref->u.local->name;
    case SEMA_REF_INDEX:
        return ref->u.index->name.text;
    default:
        return NULL;
    }
}

static int64_t size_value(const inline_c *c, const verify_values *v, const sema_global *g,
                          const char *field)
{
    int pos = lift_find_size(&c->m->poly, g, field);
    if (pos >= 0)
        return v->params[pos];
    if (strcmp(field, "p") == 0 || strcmp(field, "q") == 0)
        return *field == 'p' ? v->p : v->q;
    return v->fallback;
}

/* A matrix: an object with the sizes given. Only its sizes can be used. */
static void put_matrix(const inline_c *c, const verify_values *v, const sema_global *g, text *out)
{
    static const char *const fields[] = {"m", "n", "mb", "nb", "mt", "nt", "p", "q"};
    bool ours = strstr(g->c_type, "dag_matrix") != NULL;
    text_printf(out, "static %s dag_sizes_%s = {", ours ? "dag_matrix"
                                                        : "struct { long long m, n, mb, nb, mt, "
                                                          "nt, p, q; }", g->name);
    for (size_t i = 0; i < UTIL_COUNT(fields); i++)
        text_printf(out, "%s.%s = %lld", i ? ", " : "", fields[i],
                    (long long)size_value(c, v, g, fields[i]));
    if (ours)
        text_printf(out, "};\nstatic dag_matrix *const %s = &dag_sizes_%s;\n", g->name, g->name);
    else
        text_printf(out, "};\nstatic __typeof__(dag_sizes_%s) *const %s = &dag_sizes_%s;\n",
                    g->name, g->name, g->name);
}

static void put_global(const inline_c *c, const verify_values *v, const sema_global *g, text *out)
{
    if (g->c_type && strstr(g->c_type, "matrix")) {
        put_matrix(c, v, g, out);
    } else if (g->kind == SEMA_INT && !g->init) {
        int pos = lift_find_param(&c->m->poly, g->name);
        if (pos >= 0)
            text_printf(out, "static const long long %s = %lldLL;\n", g->name,
                        (long long)v->params[pos]);
    } else if (g->kind == SEMA_INT) {
        int64_t value = 0;
        if (verify_value_of(c->m, v, g->init, &value))
            text_printf(out, "static const long long %s = %lldLL;\n", g->name, (long long)value);
    }
}

static void put_line(const inline_c *c, unsigned line, text *out)
{
    text_printf(out, "#line %u ", line);
    text_put_quoted(out, src_name(c->m->file->sources, c->m->file->file));
    text_putc(out, '\n');
}

static void put_function(const inline_c *c, size_t i, text *out)
{
    const ast_expr *e = c->exprs[i];
    src_range body = e->u.code.text;
    src_pos pos = src_begin(c->m->file->sources, body);
    text_printf(out, "long long dag_inline_%zu(const long long *dag_v);\n"
                "long long dag_inline_%zu(const long long *dag_v)\n{\n    (void)dag_v;\n", i, i);
    const sema_ref *refs = sema_captures_of(c->m->sema, e);
    for (size_t k = 0, slot = 0; refs && refs[k].kind != SEMA_REF_NONE; k++)
        if (name_of(&refs[k]))
            text_printf(out, "    const int %s = (int)dag_v[%zu];\n    (void)%s;\n",
                        name_of(&refs[k]), slot++, name_of(&refs[k]));
    put_line(c, pos.line, out);
    text_add(out, src_text(c->m->file->sources, body), src_range_len(body));
    text_puts(out, "\n}\n");
}

/* A function that facts are about. */
static void put_stated(const inline_c *c, size_t i, text *out)
{
    const ast_fact *f = c->facts[i];
    size_t number = c->n_exprs + i;
    text_printf(out, "long long dag_inline_%zu(const long long *dag_v);\n"
                "long long dag_inline_%zu(const long long *dag_v)\n{\n    return (long long)%s(",
                number, number, f->name.text);
    for (size_t k = 0; k < f->n_params; k++)
        text_printf(out, "%s(int)dag_v[%zu]", k ? ", " : "", k);
    text_puts(out, ");\n}\n");
}

static void put_source(const inline_c *c, const verify_values *v, bool prologue, text *out)
{
    if (c->m->sema->dialect == DIALECT_DAG)
        text_puts(out, "#include <dag/matrix.h>\n");
    if (prologue && c->m->file->prologue) {
        src_range r = c->m->file->prologue->text;
        put_line(c, src_begin(c->m->file->sources, r).line, out);
        text_add(out, src_text(c->m->file->sources, r), src_range_len(r));
        text_puts(out, "\n");
    }
    for (size_t i = 0; i < c->m->sema->n_globals; i++)
        put_global(c, v, c->m->sema->globals[i], out);
    for (size_t i = 0; i < c->n_exprs; i++)
        put_function(c, i, out);
    for (size_t i = 0; i < c->n_facts; i++)
        put_stated(c, i, out);
}

/* ---- the child ------------------------------------------------------------------------------- */

typedef long long function(const long long *);

static bool read_all(int fd, void *data, size_t size)
{
    for (char *at = data; size > 0;) {
        ssize_t n = read(fd, at, size);
        if (n <= 0 && errno != EINTR)
            return false;
        if (n > 0)
            at += n, size -= (size_t)n;
    }
    return true;
}

static bool write_all(int fd, const void *data, size_t size)
{
    for (const char *at = data; size > 0;) {
        ssize_t n = write(fd, at, size);
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0)
            at += n, size -= (size_t)n;
    }
    return true;
}

/* The memory counts from what the process has already: the compiler's own, and under a sanitizer
 * terabytes of shadow. A sanitizer hands out small pieces within address space that it reserved
 * before; only the limit on data counts those. */
static void set_limits(void)
{
    struct rlimit cpu = {CPU_SECONDS, CPU_SECONDS};
    unsigned long long space = 0, data = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%llu %*u %*u %*u %*u %llu", &space, &data) != 2)
        space = data = 0;
    if (f)
        fclose(f);
    rlim_t page = (rlim_t)sysconf(_SC_PAGESIZE);
    rlim_t most_space = memory_limit + space * page, most_data = memory_limit + data * page;
    setrlimit(RLIMIT_CPU, &cpu);
    setrlimit(RLIMIT_AS, &(struct rlimit){most_space, most_space});
    setrlimit(RLIMIT_DATA, &(struct rlimit){most_data, most_data});
}

_Noreturn static void serve(const char *object, size_t n, int in, int out)
{
    set_limits();
    void *lib = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    function **functions = util_alloc((n + 1) * sizeof(*functions));
    for (size_t i = 0; lib && i < n; i++) {
        char name[32];
        snprintf(name, sizeof(name), "dag_inline_%zu", i);
        *(void **)&functions[i] = dlsym(lib, name);
    }
    for (request r; read_all(in, &r, sizeof(r));) {
        int64_t answer[2] = {0, 0};
        if (r.number < n && functions[r.number]) {
            setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = ANSWER_SECONDS}, NULL);
            answer[0] = 1;
            answer[1] = functions[r.number]((const long long *)r.values);
        }
        if (!write_all(out, answer, sizeof(answer)))
            break;
    }
    _exit(0);
}

static bool start_child(inline_c *c, const char *object)
{
    int to[2], from[2];
    if (pipe(to) != 0)
        return false;
    if (pipe(from) != 0) {
        close(to[0]);
        close(to[1]);
        return false;
    }
    fflush(NULL);
    c->pid = fork();
    if (c->pid == 0) {
        close(to[1]);
        close(from[0]);
        serve(object, c->n_exprs + c->n_facts, to[0], from[1]);
    }
    close(to[0]);
    close(from[1]);
    c->to_child = to[1];
    c->from_child = from[0];
    /* A dead child is noticed when it does not answer. */
    c->old_sigpipe = signal(SIGPIPE, SIG_IGN);
    return c->pid > 0;
}

/* ---- compiling ------------------------------------------------------------------------------- */

static bool write_source(const inline_c *c, const char *path, const verify_values *v,
                         bool prologue)
{
    text source = {0};
    put_source(c, v, prologue, &source);
    FILE *f = fopen(path, "w");
    bool ok = f && fwrite(source.data, 1, source.len, f) == source.len;
    if (f)
        ok = fclose(f) == 0 && ok;
    text_free(&source);
    return ok;
}

static bool compile(const char *const *cc, const char *source, const char *object, bool quiet)
{
    size_t n = 0;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (quiet)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    while (cc[n])
        n++;
    char flags[][16] = {"-shared", "-fPIC", "-w", "-x", "c", "-o"};
    char **args = util_alloc((n + UTIL_COUNT(flags) + 3) * sizeof(*args));
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        args[k++] = util_strdup(cc[i]);
    for (size_t i = 0; i < UTIL_COUNT(flags); i++)
        args[k++] = flags[i];
    char *paths[] = {util_strdup(object), util_strdup(source)};
    args[k++] = paths[0];
    args[k++] = paths[1];
    pid_t pid;
    bool ok = temp_spawn(&pid, args, &actions) == 0;
    int status = ok ? temp_wait(pid) : 1;
    posix_spawn_file_actions_destroy(&actions);
    for (size_t i = 0; i < n; i++)
        free(args[i]);
    free(args);
    free(paths[0]);
    free(paths[1]);
    return ok && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void free_inline(inline_c *c)
{
    free(c->exprs);
    free(c->facts);
    free(c->number);
    free(c);
}

inline_c *inline_start(verify_model *m, const verify_values *v, const char *const *cc,
                       bool with_flops, bool *failed)
{
    static const char *const plain[] = {"cc", NULL};
    inline_c *c = util_alloc(sizeof(*c));
    c->m = m;
    c->number = util_alloc((m->file->node_count + 1) * sizeof(*c->number));
    for (uint32_t i = 0; i < m->file->node_count; i++)
        c->number[i] = -1;
    find_all(c, with_flops);
    for (size_t i = 0; i < c->n_exprs; i++)
        find_stated(c->exprs[i]->u.code.parsed, c);
    *failed = false;
    if (c->n_exprs == 0) {
        free_inline(c);
        return NULL;
    }
    c->dir = temp_new_dir(m->arena);
    bool ok = c->dir != NULL;
    const char *source = ok ? temp_path(m->arena, c->dir, "inline.c") : NULL;
    const char *object = ok ? temp_path(m->arena, c->dir, "inline.so") : NULL;
    cc = cc ? cc : plain;
    ok = ok && ((m->file->prologue && write_source(c, source, v, true) &&
                 compile(cc, source, object, true)) ||
                (write_source(c, source, v, false) && compile(cc, source, object, false))) &&
         start_child(c, object);
    if (!ok) {
        diag_report(m->d, verify_check(m, "values"), c->exprs[0]->node.range,
                    "the inline C of this file could not be compiled by itself");
        temp_remove(c->dir);
        free_inline(c);
        *failed = true;
        return NULL;
    }
    return c;
}

void inline_stop(inline_c *c)
{
    if (!c)
        return;
    close(c->to_child);
    close(c->from_child);
    if (c->dead)
        kill(c->pid, SIGKILL);
    while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    signal(SIGPIPE, c->old_sigpipe);
    temp_remove(c->dir);
    free_inline(c);
}

bool inline_died(const inline_c *c)
{
    return c && c->dead;
}

static int64_t captured(const concrete_env *env, const sema_ref *ref)
{
    if (ref->kind == SEMA_REF_LOCAL)
        return env->locals[ref->u.local->index];
    for (size_t i = env->n_indices; i-- > 0;)
        if (env->indices[i].index == ref->u.index)
            return env->indices[i].value;
    return 0;
}

/* The answer of the child; false: there is none, or it died, which is reported then. */
static bool ask(inline_c *c, const request *r, src_range where, int64_t *value)
{
    int64_t answer[2] = {0, 0};
    struct pollfd wait = {.fd = c->from_child, .events = POLLIN};
    if (c->dead)
        return false;
    if (!write_all(c->to_child, r, sizeof(*r)) || poll(&wait, 1, WAIT_MS) <= 0 ||
        !read_all(c->from_child, answer, sizeof(answer))) {
        c->dead = true;
        diag_report(c->m->d, verify_check(c->m, "values"), where,
                    "this inline C crashed, or took more than its share of time or memory");
        return false;
    }
    *value = answer[1];
    return answer[0] != 0;
}

bool inline_eval(void *arg, const ast_expr *e, const concrete_env *env, int64_t *value)
{
    inline_c *c = arg;
    request r = {.number = (uint32_t)c->number[e->node.id]};
    const sema_ref *refs = sema_captures_of(c->m->sema, e);
    for (size_t k = 0, slot = 0; refs && refs[k].kind != SEMA_REF_NONE && slot < MAX_VALUES; k++)
        if (name_of(&refs[k]))
            r.values[slot++] = captured(env, &refs[k]);
    return c->number[e->node.id] >= 0 && ask(c, &r, e->node.range, value);
}

bool inline_call(void *arg, const char *name, const int64_t *args, int64_t *value)
{
    inline_c *c = arg;
    for (size_t i = 0; i < c->n_facts; i++) {
        if (strcmp(c->facts[i]->name.text, name) != 0)
            continue;
        request r = {.number = (uint32_t)(c->n_exprs + i)};
        memcpy(r.values, args, c->facts[i]->n_params * sizeof(*args));
        return ask(c, &r, c->facts[i]->node.range, value);
    }
    return false;
}
