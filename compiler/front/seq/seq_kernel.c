/* Kernels: functions with a pragma that names their tiles. */
#include "seq_reader.h"

#include <string.h>

bool seq_reads(const seq_reader *r, const seq_token *t, const char *word)
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

/* waits(C, T): of tiles that were named before. */
static bool read_waits(seq_file *f, seq_kernel *k, const seq_clause *c)
{
    for (const seq_token *t = c->open + 1; t < c->close; t++) {
        seq_param *p = t->kind == SEQ_WORD ? seq_find_tile(k, seq_word_of(f, t)) : NULL;
        if (!p || p->access != SEQ_INOUT)
            return seq_error(f, "seq-syntax", t->range,
                             "'waits' stands behind 'inout' and names tiles that are named there");
        p->waits = true;
        if (++t < c->close && !seq_is(f->sources, t, ","))
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
    const char *word = seq_word_of(f, c->name);
    if (strcmp(word, "in") == 0)
        return read_tiles(f, k, c, SEQ_IN);
    if (strcmp(word, "inout") == 0)
        return read_tiles(f, k, c, SEQ_INOUT);
    if (strcmp(word, "out") == 0)
        return read_tiles(f, k, c, SEQ_OUT);
    if (strcmp(word, "waits") == 0)
        return read_waits(f, k, c);
    if (strcmp(word, "at") == 0)
        return one_range(f, c, at);
    if (strcmp(word, "priority") == 0)
        return one_range(f, c, &k->priority);
    if (strcmp(word, "flops") == 0)
        return one_range(f, c, &k->flops);
    if (strcmp(word, "device") == 0)
        return one_range(f, c, &k->device);
    if (strcmp(word, "implements") == 0)
        return one_range(f, c, &k->implements);
    return seq_error(f, "seq-syntax", c->name->range,
                     "a task has the clauses in, inout, out, at, waits, priority and flops, and a "
                     "body for devices has device and implements, not '%s'",
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

bool seq_read_function(const seq_reader *r, const seq_token *pragma, const seq_token *first,
                       seq_function *fn)
{
    const seq_file *f = r->f;
    const seq_token *t = first;
    while (t < r->end && (t->kind == SEQ_WORD || seq_reads(r, t, "*")))
        t++;
    fn->name = t - 1;
    fn->open = t;
    fn->close = seq_reads(r, t, "(") ? seq_match(f->sources, t, r->end) : NULL;
    fn->body = fn->close ? fn->close + 1 : NULL;
    fn->end =
        fn->body && seq_reads(r, fn->body, "{") ? seq_match(f->sources, fn->body, r->end) : NULL;
    if (r->elsewhere && fn->body && seq_reads(r, fn->body, ";"))
        fn->end = fn->body;
    if (fn->name < first || fn->name->kind != SEQ_WORD || !fn->end)
        return seq_error(f, "seq-syntax", pragma->range,
                         "a function with its body has to follow this line");
    return true;
}

bool seq_next_param(const seq_reader *r, const seq_token **t, const seq_function *fn,
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
static seq_param *tile_at(const seq_reader *r, seq_kernel *k, const seq_token *t,
                          const seq_token *stop, const seq_token *name, int *takes)
{
    *takes = 1;
    if (stop - t == 4 && (seq_reads(r, t, "DAG_TILE") || seq_reads(r, t, "DAG_TILE_IN")))
        return seq_find_tile(k, seq_word_of(r->f, t + 2));
    *takes = r->elsewhere ? 1 : 4; /* of arguments in the nest */
    return name->kind == SEQ_WORD ? seq_find_tile(k, seq_word_of(r->f, name)) : NULL;
}

/* T_m, T_n or T_ld of a tile T: the graph knows it, whatever the nest says. */
static bool is_shape(const seq_reader *r, seq_kernel *k, const seq_token *name)
{
    static const char *const ends[] = {"_m", "_n", "_ld"};
    const char *word = seq_word_of(r->f, name);
    size_t n = strlen(word);
    for (size_t i = 0; r->elsewhere && i < UTIL_COUNT(ends); i++) {
        size_t len = strlen(ends[i]);
        if (n > len && strcmp(word + n - len, ends[i]) == 0 &&
            seq_find_tile(k, names_intern(r->f->names, word, n - len)))
            return true;
    }
    return false;
}

/* Orders the parameters as the function has them: tiles were known by the clauses. */
static bool read_params(seq_reader *r, seq_kernel *k, const seq_function *fn)
{
    seq_param *ordered = NULL;
    size_t n = 0;
    bool ok = true;
    const seq_token *stop, *name, *t = fn->open + 1;
    bool none = fn->close == t || (fn->close == t + 1 && seq_reads(r, t, "void"));
    for (; ok && !none && t < fn->close; t = stop + 1) {
        int takes;
        bool named = seq_next_param(r, &t, fn, &stop, &name);
        seq_param *tile = t < stop ? tile_at(r, k, t, stop, name, &takes) : NULL;
        if (!tile && (!named || name == t || seq_reads(r, t, "DAG_TILE"))) {
            ok = seq_error(r->f, "seq-syntax", t->range,
                           seq_reads(r, t, "DAG_TILE") ? "no clause of the pragma names this tile"
                                                       : "this parameter is not understood");
            break;
        }
        ordered = seq_grow(r->f, ordered, n, sizeof(*ordered));
        ordered[n++] = tile ? *tile
                            : (seq_param){.name = seq_word_of(r->f, name),
                                          .where = name->range,
                                          .shape = is_shape(r, k, name),
                                          .type = seq_span(t, name)};
        for (int i = 1; tile && i < takes && stop < fn->close; i++) {
            t = stop + 1;
            seq_next_param(r, &t, fn, &stop, &name);
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

static bool check_body(const seq_reader *r, const seq_function *fn)
{
    for (const seq_token *t = fn->body; t < fn->end; t++) {
        if (seq_reads(r, t, "return"))
            return seq_error(r->f, "seq-control", t->range,
                             "a kernel runs to its end: put the rest under an 'if' instead");
        if (seq_reads(r, t, "END"))
            return seq_error(r->f, "seq-syntax", t->range,
                             "a body may not have the word END: it ends bodies of .jdf");
    }
    return true;
}

bool seq_add_kernel(seq_file *f, seq_kernel *k)
{
    for (size_t i = 0; i < f->n_kernels; i++)
        if (f->kernels[i]->name == k->name)
            return seq_error(f, "seq-syntax", k->where, "kernel '%s' is defined twice", k->name);
    f->kernels = seq_grow(f, f->kernels, f->n_kernels, sizeof(seq_kernel *));
    f->kernels[f->n_kernels++] = k;
    return true;
}

/* What `pragma` says from t on of the function that begins with `first`. */
/* The same words between the parentheses? */
static bool same_parameters(const seq_file *f, src_range a, src_range b)
{
    seq_tokens one = seq_lex(f->sources, a, f->arena), other = seq_lex(f->sources, b, f->arena);
    bool same = one.n == other.n;
    for (size_t i = 0; same && i + 1 < one.n; i++)
        same = seq_word_of(f, &one.items[i]) == seq_word_of(f, &other.items[i]);
    return same;
}

/* A function that is another body of a kernel, for a kind of devices. */
static bool add_variant(seq_file *f, const seq_kernel *variant)
{
    seq_kernel *k = NULL;
    bool whole = !src_range_is_none(variant->device) && !src_range_is_none(variant->implements);
    if (!whole || variant->n_params || src_range_is_none(variant->body))
        return seq_error(f, "seq-syntax", variant->pragma,
                         "a body for devices says 'device(KIND) implements(KERNEL)' and no more");
    for (size_t i = 0; i < f->n_kernels; i++)
        if (seq_same_text(f->sources, variant->implements, f->kernels[i]->name))
            k = f->kernels[i];
    if (!k || k->nothing)
        return seq_error(f, "seq-syntax", variant->implements, "no kernel above has this name");
    if (!same_parameters(f, k->signature, variant->signature)) {
        seq_error(f, "seq-syntax", variant->where,
                  "a body of '%s' has the parameters of '%s', under the same names", k->name,
                  k->name);
        diag_note(f->d, k->where, "defined here");
        return false;
    }
    k->variants = seq_grow(f, k->variants, k->n_variants, sizeof(*k->variants));
    k->variants[k->n_variants++] = (seq_variant){variant->device, variant->body};
    return true;
}

bool seq_read_kernel(seq_reader *r, const seq_token *pragma, const seq_token *t,
                     const seq_token *end, const seq_token *first)
{
    seq_file *f = r->f;
    seq_kernel *k = arena_alloc(f->arena, sizeof(*k));
    k->pragma = pragma->range;
    seq_clause c;
    src_range at = {0};
    bool bad = false;
    while (seq_next_clause(f, &t, end, &c, &bad))
        if (!read_task_clause(f, k, &c, &at))
            return false;
    seq_function fn;
    if (bad || !seq_read_function(r, pragma, first, &fn))
        return false;
    k->name = seq_word_of(f, fn.name);
    k->where = fn.name->range;
    k->signature = seq_span(fn.open + 1, fn.close);
    const seq_token *head = fn.body + 1;
    bool omp = fn.end > fn.body && seq_is_omp_task(f, head);
    if (fn.end > fn.body)
        k->body = seq_between(omp ? head : fn.body, fn.end);
    if (omp && !seq_read_omp_task(f, k, head))
        return false;
    r->t = fn.end + 1;
    if (!src_range_is_none(k->device) || !src_range_is_none(k->implements))
        return check_body(r, &fn) && add_variant(f, k);
    return seq_add_kernel(f, k) && read_params(r, k, &fn) && place_kernel(f, k, at) &&
           check_body(r, &fn);
}
