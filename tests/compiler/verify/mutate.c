/* The mutation test: are mistakes in task graphs found at compile time?
 *
 *   mutate [-v] [-n K] [-j JOBS] [-p PART/PARTS] FILE.jdf...
 *
 * Every file must be accepted. Then one place of it is changed at a time: an index of a task edge by
 * one, two indices swapped, a guard dropped or its comparison flipped, one side of an edge dropped,
 * a class removed; an index of a memory reference or of a placement by one, or two swapped.
 * Enumeration for N = 6 on a 2 x 2 grid decides whether a change of a task edge matters (the graph
 * differs) and whether one of the others does (something is out of bounds, remote or racing). At
 * least 98 % of the mutants that matter must be refused. -v lists those that are not. With -n K no
 * more than about K mutants of each file are made, evenly spread.
 *
 * --same must tell every mutant whose graph differs from the file it was made of: it may say that it
 * cannot decide, but not that they are the same. An input that is NULL is none, for --same.
 */
#include "driver/frontend.h"
#include "verify/exhaust.h"
#include "verify/verify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_JOBS 64
#define MOST_PARTS 1000
#define REQUIRED_PERCENT 98
#define TOLD_PERCENT 75      /* trees of QR are not affine; see FEW */
/* The first that a file's assumptions allow. */
static const char *const values[] = {"N=6,P=2,Q=2", "N=6,P=2,Q=2,S->mt=1",
                                     "N=6,P=2,Q=2,S->mt=2", "N=6,P=2,Q=2,left=0",
                                     "N=6,P=2,Q=2,ta=0,tb=0", "N=6,P=2,Q=2,W=3,TREE=1",
                                     "N=6,P=2,Q=2,W=3,TREE=1,SKIP=0",
                                     ("N=6,P=2,Q=2,W=3,TREE=1,TILE=0,LC=1,S->C=2,S->last=1,"
                                      "NARROW=1"),
                                     "N=6,P=2,Q=2,SW=2,down=1,B->nt=1",
                                     "N=6,P=2,Q=2,B->nt=1,X->nt=1,R->nt=1,W->nt=1",
                                     "N=6,P=2,Q=2,S->mt=1,EX=1",
                                     "N=6,P=2,Q=2,S->mt=2,left=0,backward=0",
                                     ("N=3,P=2,Q=2,rows=3,cols=3,down=2,across=2,kt=3,slices=2,"
                                      "lag=1,hold=1,gone=0")};

/* ---- one version of a file ------------------------------------------------------------------- */

typedef struct version {
    frontend f;
    bool enumerated;
    bool bad_memory;            /* enumeration found a reference out of bounds, remote or racing */
    uint64_t *lines;            /* hashes of tasks, edges and references: the graph; */
    size_t n_lines, n_all;      /* behind them those of inputs that are NULL */
} version;

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

static uint64_t mix_name(uint64_t h, const char *name)
{
    while (*name)
        h = mix(h, (unsigned char)*name++);
    return mix(h, 0);
}

static uint64_t hash_task(const concrete_graph *g, uint32_t t)
{
    const sema_class *cls = &g->sema->classes[g->tasks[t].cls];
    uint64_t h = mix_name(1, cls->name);
    for (size_t i = 0; i < cls->n_params; i++)
        h = mix(h, (uint64_t)concrete_at(g, t)[i]);
    return h;
}

static uint64_t hash_ref(const concrete_graph *g, const concrete_ref *r)
{
    uint64_t h = mix(hash_task(g, r->task), r->edge->dir + 2u);
    h = mix_name(h, r->edge->flow->name);
    h = mix_name(h, r->edge->call->target.text);
    if (r->edge->end == SEMA_END_TASK)
        h = mix_name(h, r->edge->target_flow->name);
    for (size_t i = 0; i < r->edge->call->n_args; i++)
        h = mix(h, (uint64_t)g->values[r->first_value + i]);
    return r->edge->dir == AST_IN ? h | 1 : h & ~(uint64_t)1; /* lines_differ() tells them apart */
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void describe_graph(version *v, const concrete_graph *g)
{
    v->lines = util_alloc((g->n_tasks + g->n_refs + 1) * sizeof(*v->lines));
    for (uint32_t t = 0; t < g->n_tasks; t++)
        v->lines[v->n_all++] = hash_task(g, t);
    for (int nulls = 0; nulls < 2; nulls++) {
        for (size_t i = 0; i < g->n_refs; i++)
            if ((g->refs[i].edge->end == SEMA_END_NULL) == nulls)
                v->lines[v->n_all++] = hash_ref(g, &g->refs[i]);
        if (!nulls)
            v->n_lines = v->n_all;
    }
    qsort(v->lines, v->n_lines, sizeof(*v->lines), compare_hashes);
    qsort(v->lines + v->n_lines, v->n_all - v->n_lines, sizeof(*v->lines), compare_hashes);
}

static unsigned errors_of(const diag *d, const char *check)
{
    return diag_errors_of(d, diag_find(d, check));
}

/* The graph for the values; checks of memory references. */
static void enumerate(version *v)
{
    verify_model *m = verify_lift(v->f.whole, v->f.sema, v->f.diag, NULL, NULL);
    verify_values vv;
    bool read = false;
    for (size_t i = 0; i < UTIL_COUNT(values) && !read; i++)
        read = verify_read_values(m, values[i], &vv);
    if (read) {
        concrete_graph g = {.sema = v->f.sema, .model = m, .params = vv.params,
                            .max_tasks = 100000, .max_refs = 1000000};
        concrete_build(&g);
        v->enumerated = !g.failed;
        if (!g.failed) {
            describe_graph(v, &g);
            unsigned before = errors_of(v->f.diag, "out-of-bounds") +
                              errors_of(v->f.diag, "remote-memory") +
                              errors_of(v->f.diag, "write-race");
            exhaust x = {.m = m, .g = &g, .values = &vv};
            exhaust_check(&x);
            v->bad_memory = before < errors_of(v->f.diag, "out-of-bounds") +
                                         errors_of(v->f.diag, "remote-memory") +
                                         errors_of(v->f.diag, "write-race");
        }
        concrete_free(&g);
    }
    verify_model_free(m);
}

static void read_version(frontend *f, const char *name, const char *bytes, size_t len)
{
    const char *error;
    frontend_init(f, DIALECT_DAG);
    diag_register(f->diag, verify_checks, verify_check_count);
    diag_set_max_errors(f->diag, 0);
    if (!frontend_parse(f, name, bytes, len, &error))
        exit(2);
    frontend_analyse(f);
}

static void version_make(version *v, const char *name, const char *bytes, size_t len)
{
    *v = (version){0};
    read_version(&v->f, name, bytes, len);
    if (diag_errors(v->f.diag) == 0)
        enumerate(v);
}

/* By the front end or the proofs? */
static bool is_refused(const char *name, const char *bytes, size_t len, FILE *show)
{
    frontend f;
    read_version(&f, name, bytes, len);
    if (diag_errors(f.diag) == 0)
        verify_file(f.whole, f.sema, f.diag, NULL, NULL);
    bool refused = diag_errors(f.diag) > 0;
    if (show && refused)
        diag_flush(f.diag, show);
    frontend_free(&f);
    return refused;
}

static void version_free(version *v)
{
    free(v->lines);
    frontend_free(&v->f);
}

/* ---- mutants ----------------------------------------------------------------------------------- */

typedef enum kind {
    SHIFT_INDEX, SWAP_INDICES, DROP_GUARD, FLIP_COMPARISON, DROP_SIDE, REMOVE_CLASS,
    SHIFT_MEMORY, SWAP_MEMORY, SHIFT_PLACEMENT, SWAP_PLACEMENT, N_KINDS
} kind;

static const char *const kind_names[] = {
    "index +-1", "indices swapped", "guard dropped", "comparison flipped", "side dropped",
    "class removed", "memory index +-1", "memory indices swapped",
    "placement index +-1", "placement indices swapped",
};

typedef struct count {
    unsigned made, matter, refused;
    unsigned other, told;       /* graphs that differ; --same says so */
    unsigned taken;             /* --same says that they do not */
} count;

typedef struct campaign {
    const char *name;
    const char *source;
    size_t len;
    version base;
    count counts[N_KINDS];
    bool verbose;
    unsigned jobs, job;         /* processes that share the mutants, and which of them this is */
    unsigned parts, part;       /* they make the mutants of this part, counted from 0 */
    unsigned chosen;            /* mutants made so far, by any of them and in any part */
    unsigned most;              /* about as many mutants are made; 0: all */
    unsigned every, passed;     /* one of so many is made, none if 0; passed by so far */
} campaign;

static bool matters(const campaign *c, const version *v, kind k)
{
    if (!v->enumerated)
        return true;            /* no graph at all: refused by the front end, or infinite */
    if (k >= SHIFT_MEMORY)
        return v->bad_memory;
    return v->n_lines != c->base.n_lines || v->n_all != c->base.n_all ||
           memcmp(v->lines, c->base.lines, v->n_all * sizeof(*v->lines)) != 0;
}

/* Have they other lines, inputs however often each? One that holds twice makes no other graph, only one to be refused. */
static bool lines_differ(const version *v, const version *w)
{
    size_t i = 0, j = 0;
    while (i < v->n_lines && j < w->n_lines && v->lines[i] == w->lines[j]) {
        uint64_t line = v->lines[i++];
        j++;
        while ((line & 1) != 0 && i < v->n_lines && v->lines[i] == line)
            i++;
        while ((line & 1) != 0 && j < w->n_lines && w->lines[j] == line)
            j++;
    }
    return i < v->n_lines || j < w->n_lines;
}

/* Is it another graph, and does --same say so? */
static void compare_graphs(const campaign *c, const version *v, count *n)
{
    bool other = lines_differ(v, &c->base);
    if (!v->enumerated || !other)
        return;
    enum { FEW = 20000 };       /* of a few mutants what is hard to tell may stay open */
    verify_same_options o = {.control = true, .max_operations = c->most ? FEW : 0};
    verify_sameness same = verify_same(c->base.f.sema, v->f.sema, v->f.diag, &o);
    n->other++;
    n->told += same == VERIFY_DIFFERENT;
    n->taken += same == VERIFY_SAME;
}

/* Replaces [begin, end) by `with`, and [begin2, end2), further on, by with2. */
static void mutate(campaign *c, kind k, src_range at, const char *with, src_range at2,
                   const char *with2)
{
    bool made = c->every && c->passed % c->every == 0;
    c->passed++;
    if (!made || c->chosen++ % (c->jobs * c->parts) != c->part * c->jobs + c->job)
        return;
    text t = {0};
    text_add(&t, c->source, at.begin);
    text_puts(&t, with);
    if (at2.file) {
        text_add(&t, c->source + at.end, at2.begin - at.end);
        text_puts(&t, with2);
        at.end = at2.end;
    }
    text_add(&t, c->source + at.end, c->len - at.end);
    version v;
    version_make(&v, c->name, t.data, t.len);
    c->counts[k].made++;
    unsigned taken = c->counts[k].taken;
    compare_graphs(c, &v, &c->counts[k]);
    if (c->counts[k].taken > taken) {
        src_pos pos = src_begin(c->base.f.sources, at);
        printf("%s:%u:%u: --same does not tell: %s: '%s'\n", c->name, pos.line, pos.col,
               kind_names[k], with);
    }
    if (matters(c, &v, k)) { /* proofs of the others would show nothing, and take longest */
        bool refused = is_refused(c->name, t.data, t.len, NULL);
        c->counts[k].matter++;
        c->counts[k].refused += refused;
        if (!refused && c->verbose) {
            src_pos pos = src_begin(c->base.f.sources, at);
            printf("%s:%u:%u: not refused: %s: '%.*s' -> '%s'\n", c->name, pos.line, pos.col,
                   kind_names[k], (int)src_range_len(at2.file ? (src_range){at.file, at.begin,
                   at2.end} : at), c->source + at.begin, with);
        }
    }
    version_free(&v);
    text_free(&t);
}

static const src_range nowhere;

static void shift_expr(campaign *c, kind k, const ast_expr *e)
{
    static const char *const shifts[] = {" + 1", " - 1"};
    for (size_t i = 0; e && i < UTIL_COUNT(shifts); i++) {
        text t = {0};
        text_putc(&t, '(');
        text_add(&t, c->source + e->node.range.begin, src_range_len(e->node.range));
        text_printf(&t, ")%s", shifts[i]);
        mutate(c, k, e->node.range, text_str(&t), nowhere, NULL);
        text_free(&t);
    }
}

static void mutate_indices(campaign *c, const ast_call *call, kind shift, kind swap)
{
    for (size_t i = 0; i < call->n_args; i++) {
        shift_expr(c, shift, call->args[i]->lo);
        shift_expr(c, shift, call->args[i]->hi);
    }
    for (size_t i = 0; i < call->n_args; i++) {
        for (size_t k = i + 1; k < call->n_args; k++) {
            src_range a = call->args[i]->node.range, b = call->args[k]->node.range;
            text ta = {0}, tb = {0};
            text_add(&ta, c->source + a.begin, src_range_len(a));
            text_add(&tb, c->source + b.begin, src_range_len(b));
            if (strcmp(text_str(&ta), text_str(&tb)) != 0)
                mutate(c, swap, a, text_str(&tb), b, text_str(&ta));
            text_free(&ta);
            text_free(&tb);
        }
    }
}

static void mutate_call(campaign *c, const ast_call *call)
{
    bool memory = call->kind == AST_CALL_MEMORY;
    mutate_indices(c, call, memory ? SHIFT_MEMORY : SHIFT_INDEX,
                   memory ? SWAP_MEMORY : SWAP_INDICES);
}

static void flip(const ast_expr *e, void *arg)
{
    static const struct { ast_op op; const char *to[2]; } flips[] = {
        {AST_OP_EQ, {"!=", ">="}}, {AST_OP_NE, {"==", NULL}}, {AST_OP_LT, {">=", "<="}},
        {AST_OP_LE, {">", "<"}}, {AST_OP_GT, {"<=", ">="}}, {AST_OP_GE, {"<", ">"}},
    };
    campaign *c = arg;
    for (size_t i = 0; e->kind == AST_BINARY && i < UTIL_COUNT(flips); i++)
        for (size_t k = 0; flips[i].op == e->u.binary.op && k < 2 && flips[i].to[k]; k++)
            mutate(c, FLIP_COMPARISON, e->u.binary.op_range, flips[i].to[k], nowhere, NULL);
    ast_each_child(e, flip, c);
}

static bool goes_to_task(const ast_dep *d)
{
    return d->yes->kind == AST_CALL_TASK || (d->no && d->no->kind == AST_CALL_TASK);
}

static void mutate_dep(campaign *c, const ast_dep *d)
{
    mutate_call(c, d->yes);
    if (d->no)
        mutate_call(c, d->no);
    if (d->cond) {
        src_range guard = {d->cond->node.range.file, d->cond->node.range.begin,
                           d->yes->node.range.begin};
        src_range rest = d->no ? (src_range){guard.file, d->yes->node.range.end,
                                             d->no->node.range.end} : nowhere;
        mutate(c, DROP_GUARD, guard, "", rest, "");
        flip(d->cond, c);
    }
    if (goes_to_task(d))
        mutate(c, DROP_SIDE, d->node.range, "", nowhere, NULL);
}

static void mutate_class(campaign *c, const ast_class *cls)
{
    mutate_indices(c, cls->placement, SHIFT_PLACEMENT, SWAP_PLACEMENT);
    for (size_t f = 0; f < cls->n_flows; f++)
        for (size_t i = 0; i < cls->flows[f]->n_deps; i++)
            mutate_dep(c, cls->flows[f]->deps[i]);
}

static void mutate_file(campaign *c, const ast_file *ast)
{
    for (size_t i = 0; i < ast->n_classes; i++) {
        mutate_class(c, ast->classes[i]);
        if (ast->n_classes > 1) /* without tasks there is nothing to be refused */
            mutate(c, REMOVE_CLASS, ast->classes[i]->node.range, "", nowhere, NULL);
    }
}

static void add(count *to, const count *from)
{
    to->made += from->made;
    to->matter += from->matter;
    to->refused += from->refused;
    to->other += from->other;
    to->told += from->told;
    to->taken += from->taken;
}

/* ---- by several processes ---------------------------------------------------------------------- */

/* What c->jobs processes count, each its share of the file's mutants. False: one of them died. */
static bool mutate_shared(campaign *c)
{
    count (*counts)[N_KINDS] = mmap(NULL, c->jobs * sizeof(*counts), PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool ok = counts != MAP_FAILED;
    unsigned started = 0;
    pid_t pids[MOST_JOBS];
    fflush(stdout); /* or each of them would print it again */
    while (ok && started < c->jobs) {
        pid_t pid = fork();
        if (pid == 0) {
            c->job = started;
            mutate_file(c, c->base.f.ast);
            memcpy(counts[started], c->counts, sizeof(c->counts));
            _exit(fflush(stdout) != 0);
        }
        ok = pid > 0;
        if (ok)
            pids[started++] = pid;
    }
    if (!ok)
        perror("mutate: cannot share the mutants");
    for (unsigned job = 0; job < started; job++) {
        int status = 1;
        while (waitpid(pids[job], &status, 0) < 0 && errno == EINTR)
            ;
        if (status != 0)
            fprintf(stderr, "mutate: process %u of %u for %s failed\n", job, c->jobs, c->name);
        ok = ok && status == 0;
        for (size_t k = 0; k < N_KINDS; k++)
            add(&c->counts[k], &counts[job][k]);
    }
    if (counts != MAP_FAILED)
        munmap(counts, c->jobs * sizeof(*counts));
    return ok;
}

/* ---- the table --------------------------------------------------------------------------------- */

static bool run(campaign *c, const char *path)
{
    src_set *set = src_set_new();
    const char *error;
    uint32_t file = src_add_file(set, path, &error);
    if (!file) {
        fprintf(stderr, "mutate: cannot read %s: %s\n", path, error);
        src_set_free(set);
        return false;
    }
    c->name = path;
    c->source = src_bytes(set, file);
    c->len = src_len(set, file);
    version_make(&c->base, path, c->source, c->len);
    bool ok = c->base.enumerated && !is_refused(path, c->source, c->len, stderr);
    if (!ok)
        fprintf(stderr, "mutate: %s is refused as it is\n", path);
    if (ok && c->most) {
        mutate_file(c, c->base.f.ast); /* counts them: none is made */
        c->every = (c->passed / c->most) | 1; /* odd: of +1 and -1 not always the same */
        c->passed = 0;
    } else {
        c->every = 1;
    }
    if (ok && c->jobs > 1)
        ok = mutate_shared(c);
    else if (ok)
        mutate_file(c, c->base.f.ast);
    version_free(&c->base);
    src_set_free(set);
    return ok;
}

static double percent(const count *c)
{
    return c->matter ? 100.0 * c->refused / c->matter : 100.0;
}

static void put_row(const char *name, const count *c)
{
    printf("%-44s %7u %7u %7u %7.1f %7u %7u\n", name, c->made, c->matter, c->refused, percent(c),
           c->other, c->told);
}

/* Takes the option at argv[*i], which may have a value behind it. False: a file is there. */
static bool take_option(campaign *c, char **argv, int *i)
{
    const char *option = argv[*i];
    if (strcmp(option, "-v") == 0) {
        c->verbose = true;
        return true;
    }
    if (option[0] != '-' || option[1] == '\0' || !strchr("njp", option[1]))
        return false;
    const char *value = argv[++*i];
    unsigned n = 0;
    bool ok = value && sscanf(value, "%u", &n) == 1 && n > 0;
    if (option[1] == 'n')
        c->most = n;
    else if (option[1] == 'j')
        ok = (c->jobs = n) <= MOST_JOBS && ok;
    else
        ok = ok && sscanf(value, "%u/%u", &n, &c->parts) == 2 && n <= c->parts && c->parts <= MOST_PARTS;
    c->part = option[1] == 'p' ? n - 1 : c->part;
    if (!ok) {
        fprintf(stderr, "mutate: %s takes %s, not '%s'\n", option,
                option[1] == 'p' ? "PART/PARTS, such as 1/4" : "a number above 0", value ? value : "");
        exit(2);
    }
    return true;
}

int main(int argc, char **argv)
{
    campaign all = {.jobs = 1, .parts = 1};
    count total = {0};
    bool ok = true;
    printf("%-44s %7s %7s %7s %7s %7s %7s\n", "", "mutants", "matter", "refused", "%", "other",
           "told");
    for (int i = 1; i < argc; i++) {
        if (take_option(&all, argv, &i))
            continue;
        campaign c = {.verbose = all.verbose, .most = all.most, .jobs = all.jobs,
                      .parts = all.parts, .part = all.part};
        count sum = {0};
        ok = run(&c, argv[i]) && ok;
        for (size_t k = 0; k < N_KINDS; k++) {
            add(&sum, &c.counts[k]);
            add(&all.counts[k], &c.counts[k]);
        }
        const char *slash = strrchr(argv[i], '/');
        put_row(slash ? slash + 1 : argv[i], &sum);
        add(&total, &sum);
    }
    printf("\n");
    for (size_t k = 0; k < N_KINDS; k++)
        put_row(kind_names[k], &all.counts[k]);
    printf("\n");
    put_row("all", &total);
    if (percent(&total) < REQUIRED_PERCENT) {
        printf("fewer than %d %% of the mutants that matter are refused\n", REQUIRED_PERCENT);
        ok = false;
    }
    if (total.taken > 0 || total.told * 100.0 < total.other * TOLD_PERCENT) {
        printf("--same takes %u other graphs for the same, and tells fewer than %d %%\n", total.taken,
               TOLD_PERCENT);
        ok = false;
    }
    return !ok;
}
