/* The file: kernels, the function with the nest, and the C around them. */
#include "seq_impl.h"

#include <stdlib.h>
#include <string.h>

typedef struct reader {
    seq_file *f;
    const seq_token *begin, *t, *end; /* end: the token SEQ_END */
    uint32_t free_from;               /* where the C begins that is to be copied */
} reader;

static bool is(const reader *r, const seq_token *t, const char *word)
{
    return t < r->end && seq_is(r->f->sources, t, word);
}

/* ---- clauses --------------------------------------------------------------------------------- */

/* The region behind ':', at *t. */
static bool read_region(const seq_file *f, const seq_token **t, const seq_token *close,
                        seq_param *p)
{
    const seq_token *word = *t + 1;
    p->region = 0;
    for (unsigned r = 1; r <= DAG_REGION_FULL && word < close; r++)
        if (seq_region_name(r) && seq_is(f->sources, word, seq_region_name(r)))
            p->region = r;
    if (!p->region)
        return seq_error(f, "seq-syntax", word->range,
                         "a region is FULL, LOWER, UPPER, LOWER_STRICT or UPPER_STRICT");
    if (p->access == SEQ_OUT && p->region != DAG_REGION_FULL)
        return seq_error(f, "seq-syntax", word->range,
                         "what is out is written as a whole: a region is inout");
    *t = word + 1;
    return true;
}

/* in(T: LOWER, L): adds the tiles, in the order of the clauses. */
static bool read_tiles(seq_file *f, seq_kernel *k, const seq_clause *c, seq_access access)
{
    for (const seq_token *t = c->open + 1; t < c->close; t++) {
        if (t->kind != SEQ_WORD)
            return seq_error(f, "seq-syntax", t->range, "the name of a tile is missing here");
        const char *name = seq_word_of(f, t);
        if (seq_find_tile(k, name))
            return seq_error(f, "seq-syntax", t->range, "tile '%s' is named twice", name);
        k->params = seq_grow(f, k->params, k->n_params, sizeof(*k->params));
        seq_param *p = &k->params[k->n_params++];
        *p = (seq_param){.name = name,
                         .where = t->range,
                         .tile = true,
                         .access = access,
                         .region = DAG_REGION_FULL};
        t++;
        if (t < c->close && seq_is(f->sources, t, ":") && !read_region(f, &t, c->close, p))
            return false;
        if (t < c->close && !seq_is(f->sources, t, ","))
            return seq_error(f, "seq-syntax", t->range, "',' or ')' is missing here");
    }
    return true;
}

static bool one_range(const seq_file *f, const seq_clause *c, src_range *into)
{
    if (!src_range_is_none(*into))
        return seq_error(f, "seq-syntax", c->name->range, "this clause stands here twice");
    if (c->close == c->open + 1)
        return seq_error(f, "seq-syntax", c->name->range, "this clause is empty");
    *into = seq_span(c->open + 1, c->close);
    return true;
}

static bool read_task_clause(seq_file *f, seq_kernel *k, const seq_clause *c, src_range *at)
{
    static const char *const later[] = {"device", "implements"};
    const char *word = seq_word_of(f, c->name);
    for (size_t i = 0; i < UTIL_COUNT(later); i++)
        if (strcmp(word, later[i]) == 0)
            return seq_error(f, "seq-unsupported", c->name->range,
                             "bodies for devices are not understood yet: print the graph with "
                             "--emit=jdf and add them there");
    if (strcmp(word, "in") == 0)
        return read_tiles(f, k, c, SEQ_IN);
    if (strcmp(word, "inout") == 0)
        return read_tiles(f, k, c, SEQ_INOUT);
    if (strcmp(word, "out") == 0)
        return read_tiles(f, k, c, SEQ_OUT);
    if (strcmp(word, "at") == 0)
        return one_range(f, c, at);
    if (strcmp(word, "priority") == 0)
        return one_range(f, c, &k->priority);
    if (strcmp(word, "flops") == 0)
        return one_range(f, c, &k->flops);
    return seq_error(f, "seq-syntax", c->name->range,
                     "a task has the clauses in, inout, out, at, priority and flops, not '%s'",
                     word);
}

/* Where its tasks run: at the tile that `at` names, else at the only one that they write. */
static bool place_kernel(seq_file *f, seq_kernel *k, src_range at)
{
    size_t n_written = 0;
    k->at = -1;
    for (size_t i = 0; i < k->n_params; i++) {
        seq_param *p = &k->params[i];
        n_written += p->tile && p->access != SEQ_IN;
        if (!p->tile ||
            (src_range_is_none(at) ? p->access == SEQ_IN : !seq_same_text(f->sources, at, p->name)))
            continue;
        k->at = k->at < 0 ? (int)i : k->at;
    }
    if (k->at < 0 && !src_range_is_none(at))
        return seq_error(f, "seq-place", at, "this is no tile of the kernel");
    if (k->at < 0)
        return seq_error(f, "seq-place", k->pragma,
                         "this task writes no tile: 'at(T)' has to say where it runs");
    if (src_range_is_none(at) && n_written > 1)
        return seq_error(f, "seq-place", k->pragma,
                         "this task writes several tiles: 'at(T)' has to say where it runs");
    return true;
}

/* ---- functions ------------------------------------------------------------------------------- */

/* TYPE NAME ( params ) { body } */
typedef struct function {
    const seq_token *name, *open, *close, *body, *end;
} function;

static bool read_function(const reader *r, const seq_token *pragma, const seq_token *first,
                          function *fn)
{
    const seq_file *f = r->f;
    const seq_token *t = first;
    while (t < r->end && (t->kind == SEQ_WORD || is(r, t, "*")))
        t++;
    fn->name = t - 1;
    fn->open = t;
    fn->close = is(r, t, "(") ? seq_match(f->sources, t, r->end) : NULL;
    fn->body = fn->close ? fn->close + 1 : NULL;
    fn->end = fn->body && is(r, fn->body, "{") ? seq_match(f->sources, fn->body, r->end) : NULL;
    if (fn->name < first || fn->name->kind != SEQ_WORD || !fn->end)
        return seq_error(f, "seq-syntax", pragma->range,
                         "a function with its body has to follow this line");
    return true;
}

/* The type of a parameter as one text, "dag_matrix *". */
static const char *type_text(const seq_file *f, const seq_token *begin, const seq_token *end)
{
    text t = {0};
    for (; begin < end; begin++) {
        if (t.len)
            text_putc(&t, ' ');
        text_add(&t, src_text(f->sources, begin->range), src_range_len(begin->range));
    }
    const char *copy = arena_strndup(f->arena, text_str(&t), t.len);
    text_free(&t);
    return copy;
}

/* The next parameter: [*t, stop), and its name, the last word. */
static bool next_param(const reader *r, const seq_token **t, const function *fn,
                       const seq_token **stop, const seq_token **name)
{
    *stop = seq_seek(r->f->sources, *t, fn->close, ",");
    if (!*stop)
        *stop = fn->close;
    *name = *stop - 1;
    if (*t >= *stop)
        return false;
    return (*name)->kind == SEQ_WORD;
}

/* Does the text from t on say DAG_TILE(T), or elem_t *T, int T_m, int T_n, int T_ld? The tile,
 * and how many parameters of C it takes. */
static seq_param *tile_at(const reader *r, seq_kernel *k, const seq_token *t, const seq_token *stop,
                          const seq_token *name, int *takes)
{
    *takes = 1;
    if (stop - t == 4 && (is(r, t, "DAG_TILE") || is(r, t, "DAG_TILE_IN")))
        return seq_find_tile(k, seq_word_of(r->f, t + 2));
    *takes = 4;
    return name->kind == SEQ_WORD ? seq_find_tile(k, seq_word_of(r->f, name)) : NULL;
}

/* Orders the parameters as the function has them: tiles were known by the clauses. */
static bool read_params(reader *r, seq_kernel *k, const function *fn)
{
    seq_param *ordered = NULL;
    size_t n = 0;
    bool ok = true;
    const seq_token *stop, *name, *t = fn->open + 1;
    bool none = fn->close == t || (fn->close == t + 1 && is(r, t, "void"));
    for (; ok && !none && t < fn->close; t = stop + 1) {
        int takes;
        bool named = next_param(r, &t, fn, &stop, &name);
        seq_param *tile = t < stop ? tile_at(r, k, t, stop, name, &takes) : NULL;
        if (!tile && (!named || name == t || is(r, t, "DAG_TILE"))) {
            ok = seq_error(r->f, "seq-syntax", t->range,
                           is(r, t, "DAG_TILE") ? "no clause of the pragma names this tile"
                                                : "this parameter is not understood");
            break;
        }
        ordered = seq_grow(r->f, ordered, n, sizeof(*ordered));
        ordered[n++] = tile ? *tile
                            : (seq_param){.name = seq_word_of(r->f, name),
                                          .where = name->range,
                                          .type = seq_span(t, name)};
        for (int i = 1; tile && i < takes && stop < fn->close; i++) {
            t = stop + 1;
            next_param(r, &t, fn, &stop, &name);
        }
    }
    size_t n_tiles = 0;
    for (size_t i = 0; i < n; i++)
        n_tiles += ordered[i].tile;
    if (ok && n_tiles != k->n_params)
        ok = seq_error(r->f, "seq-syntax", k->where,
                       "the pragma names tiles that the function does not have");
    k->params = ordered;
    k->n_params = n;
    return ok;
}

static bool check_body(const reader *r, const function *fn)
{
    for (const seq_token *t = fn->body; t < fn->end; t++) {
        if (is(r, t, "return"))
            return seq_error(r->f, "seq-control", t->range,
                             "a kernel runs to its end: put the rest under an 'if' instead");
        if (is(r, t, "END"))
            return seq_error(r->f, "seq-syntax", t->range,
                             "a body may not have the word END: it ends bodies of .jdf");
    }
    return true;
}

/* What `pragma` says from t on of the function that begins with `first`. */
static bool read_kernel(reader *r, const seq_token *pragma, const seq_token *t,
                        const seq_token *end, const seq_token *first)
{
    seq_file *f = r->f;
    seq_kernel *k = arena_alloc(f->arena, sizeof(*k));
    k->pragma = pragma->range;
    f->kernels = seq_grow(f, f->kernels, f->n_kernels, sizeof(seq_kernel *));
    f->kernels[f->n_kernels++] = k;
    seq_clause c;
    src_range at = {0};
    bool bad = false;
    while (seq_next_clause(f, &t, end, &c, &bad))
        if (!read_task_clause(f, k, &c, &at))
            return false;
    function fn;
    if (bad || !read_function(r, pragma, first, &fn))
        return false;
    k->name = seq_word_of(f, fn.name);
    k->where = fn.name->range;
    const seq_token *head = fn.body + 1;
    bool omp = seq_is_omp_task(f, head);
    k->body = seq_between(omp ? head : fn.body, fn.end);
    if (omp && !seq_read_omp_task(f, k, head))
        return false;
    for (size_t i = 0; i + 1 < f->n_kernels; i++)
        if (f->kernels[i]->name == k->name)
            return seq_error(f, "seq-syntax", k->where, "kernel '%s' is defined twice", k->name);
    r->t = fn.end + 1;
    return read_params(r, k, &fn) && place_kernel(f, k, at) && check_body(r, &fn);
}

/* ---- the graph ------------------------------------------------------------------------------- */

static bool read_aligned(seq_file *f, const seq_clause *c)
{
    const seq_token *t = c->open + 1;
    bool form = c->close - t == 3 && t->kind == SEQ_WORD && seq_is(f->sources, t + 1, ",") &&
                t[2].kind == SEQ_WORD;
    if (!form)
        return seq_error(f, "seq-syntax", c->name->range, "write aligned(B, A)");
    for (size_t i = 0; i < f->n_globals; i++)
        if (f->globals[i].name == seq_word_of(f, t)) {
            f->globals[i].aligned = seq_word_of(f, t + 2);
            return true;
        }
    return seq_error(f, "seq-syntax", t->range, "this is no parameter of the graph");
}

/* lookahead(k, 8) */
static bool read_ahead(seq_file *f, const seq_clause *c)
{
    const seq_token *t = c->open + 1;
    bool form = c->close - t == 3 && t->kind == SEQ_WORD && seq_is(f->sources, t + 1, ",") &&
                t[2].kind == SEQ_NUMBER;
    f->steps = form ? strtol(src_text(f->sources, t[2].range), NULL, 10) : 0;
    if (!form || f->steps < 1 || f->steps > 1000000 || !src_range_is_none(f->ahead))
        return seq_error(f, "seq-syntax", c->name->range, "write lookahead(k, 8), once");
    f->ahead = c->name->range;
    f->ahead_of = seq_word_of(f, t);
    return true;
}

static bool read_graph_clause(seq_file *f, const seq_clause *c)
{
    const char *word = seq_word_of(f, c->name);
    src_range inside = seq_span(c->open + 1, c->close);
    if (strcmp(word, "precision") == 0) {
        text t = {0};
        for (const seq_token *p = c->open + 1; p < c->close; p++)
            if (p->kind == SEQ_WORD)
                text_printf(&t, "%s%s", t.len ? " " : "", seq_word_of(f, p));
        f->precisions = arena_strndup(f->arena, text_str(&t), t.len);
        text_free(&t);
        return true;
    }
    if (strcmp(word, "assume") == 0) {
        f->assumes = seq_grow(f, f->assumes, f->n_assumes, sizeof(src_range));
        f->assumes[f->n_assumes++] = inside;
        return true;
    }
    if (strcmp(word, "aligned") == 0)
        return read_aligned(f, c);
    if (strcmp(word, "lookahead") == 0)
        return read_ahead(f, c);
    return seq_error(f, "seq-syntax", c->name->range,
                     "a graph has the clauses precision, assume, aligned and lookahead, not '%s'",
                     word);
}

static bool add_global(reader *r, const seq_token *t, const seq_token *name)
{
    static const char *const integers[] = {"int",     "long",      "int32_t",
                                           "int64_t", "const int", "const int64_t"};
    seq_file *f = r->f;
    seq_global g = {.name = seq_word_of(f, name), .where = name->range};
    const seq_token *type = is(r, t, "const") && is(r, name - 1, "*") ? t + 1 : t;
    g.type = type_text(f, type, name);
    g.matrix = strcmp(g.type, "dag_matrix *") == 0;
    for (size_t i = 0; i < UTIL_COUNT(integers); i++)
        g.integer = g.integer || strcmp(g.type, integers[i]) == 0;
    f->globals = seq_grow(f, f->globals, f->n_globals, sizeof(g));
    f->globals[f->n_globals++] = g;
    return true;
}

static bool read_graph(reader *r, const seq_token *pragma, const seq_token *t, const seq_token *end)
{
    seq_file *f = r->f;
    if (!src_range_is_none(f->graph))
        return seq_error(f, "seq-syntax", pragma->range, "a file has one graph");
    f->graph = pragma->range;
    f->n_before = f->n_free_code;
    function fn;
    if (!read_function(r, pragma, pragma + 1, &fn))
        return false;
    f->graph_name = fn.name->range;
    const seq_token *stop, *name, *p = fn.open + 1;
    bool none = fn.close == p || (fn.close == p + 1 && is(r, p, "void"));
    for (; !none && p < fn.close; p = stop + 1) {
        if (!next_param(r, &p, &fn, &stop, &name) || name == p)
            return seq_error(f, "seq-syntax", p->range, "this parameter is not understood");
        add_global(r, p, name);
    }
    seq_clause c;
    bool bad = false;
    while (seq_next_clause(f, &t, end, &c, &bad))
        if (!read_graph_clause(f, &c))
            return false;
    r->t = fn.end + 1;
    return !bad && seq_read_nest(f, fn.body, fn.end + 1);
}

/* ---- the file -------------------------------------------------------------------------------- */

/* The C up to `to` is to be copied. */
static void keep_code(reader *r, uint32_t to)
{
    seq_file *f = r->f;
    if (to <= r->free_from)
        return;
    f->free_code = seq_grow(f, f->free_code, f->n_free_code, sizeof(src_range));
    f->free_code[f->n_free_code++] = (src_range){f->file, r->free_from, to};
}

/* A task of OpenMP at the head of a function makes a kernel of it. */
static bool read_omp_kernel(reader *r, const seq_token *pragma)
{
    const seq_token *first = seq_omp_function(r->f, r->begin, pragma);
    if (!first)
        return true;
    keep_code(r, first->range.begin);
    if (!read_kernel(r, pragma, pragma, pragma, first))
        return false;
    r->free_from = r->t[-1].range.end;
    return true;
}

static bool read_part(reader *r, const seq_token *pragma)
{
    const char *word;
    const seq_token *end, *t = seq_pragma_of(r->f, pragma, "dag", &word, &end);
    r->t = pragma + 1;
    if (!t)
        return !seq_is_omp_task(r->f, pragma) || read_omp_kernel(r, pragma);
    keep_code(r, pragma->range.begin);
    bool ok;
    if (strcmp(word, "task") == 0)
        ok = read_kernel(r, pragma, t, end, pragma + 1);
    else if (strcmp(word, "graph") == 0)
        ok = read_graph(r, pragma, t, end);
    else
        ok = seq_error(r->f, "seq-syntax", pragma->range,
                       "'#pragma dag' is followed by 'task' or 'graph'");
    if (ok)
        r->free_from = r->t[-1].range.end;
    return ok;
}

bool seq_read(seq_file *f)
{
    src_range all = {f->file, 0, (uint32_t)src_len(f->sources, f->file)};
    seq_tokens list = seq_lex(f->sources, all, f->arena);
    reader r = {.f = f, .begin = list.items, .t = list.items, .end = list.items + list.n - 1};
    while (r.t < r.end) {
        if (r.t->kind == SEQ_DIRECTIVE) {
            if (!read_part(&r, r.t))
                return false;
        } else {
            r.t++;
        }
    }
    keep_code(&r, all.end);
    if (src_range_is_none(f->graph))
        return seq_error(f, "seq-syntax", src_point(f->file, 0),
                         "no function of this file stands under '#pragma dag graph'");
    return true;
}
