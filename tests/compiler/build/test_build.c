/* A tree made by the constructors alone, as another front end would: it is checked, proven, lowered
 * and printed like the tree of the same graph in JDF. */
#include "../../common/run_suite.h"

#include "driver/frontend.h"
#include "emit/c/emit.h"
#include "emit/jdf/unparse_file.h"
#include "tree/build.h"
#if HAVE_VERIFY
#include "verify/verify.h"
#endif

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const char in_jdf[] = "D [type = \"dag_vector *\"]\n"
                             "N [type = int]\n"
                             "%assume N >= 1\n"
                             "Link(k)\n"
                             "  k = 0 .. N - 1\n"
                             ": D(k)\n"
                             "RW X <- k == 0 ? D(0) : X Link(k - 1)\n"
                             "     -> k == N - 1 ? D(k) : X Link(k + 1)\n"
                             "BODY\n"
                             "  int *x = X;\n"
                             "  *x += 1;\n"
                             "END\n";

/* The same line by line in words, of which the test is the front end. */
static const char in_words[] = "there is a vector D\n"
                               "and a number N\n"
                               "where N >= 1\n"
                               "each Link\n"
                               "of the N\n"
                               "lives where its element of D lives\n"
                               "takes X of the one before, the first one takes D(0)\n"
                               "gives X to the next one, the last one puts it back\n"
                               "and does\n"
                               "  int *x = X;\n"
                               "  *x += 1;\n"
                               "to it\n";

typedef struct maker {
    ast_file *file;
    src_range at;               /* of the nodes that are made */
} maker;

/* The bytes of line `first` to the end of line `last`. */
static src_range lines(const maker *m, unsigned first, unsigned last)
{
    const src_set *sources = m->file->sources;
    const char *bytes = src_bytes(sources, m->file->file);
    size_t len;
    src_range r = {.file = m->file->file};
    r.begin = (uint32_t)(src_line(sources, r.file, first, &len) - bytes);
    r.end = (uint32_t)(src_line(sources, r.file, last, &len) - bytes + (ptrdiff_t)len + 1);
    return r;
}

static void go_to(maker *m, unsigned line)
{
    m->at = src_point(m->file->file, lines(m, line, line).begin);
}

static ast_ident ident(maker *m, const char *name)
{
    return ast_ident_at(ast_name(m->file, name, strlen(name)), m->at);
}

static ast_expr *name_of(maker *m, const char *name)
{
    return ast_new_name(m->file, m->at, ident(m, name).text);
}

static ast_expr *number(maker *m, int64_t value)
{
    return ast_new_int(m->file, m->at, value);
}

static ast_expr *binary(maker *m, ast_expr *left, ast_op op, ast_expr *right)
{
    return ast_new_binary(m->file, m->at, op, m->at, left, right);
}

static ast_value *value(maker *m, ast_expr *lo, ast_expr *hi)
{
    return ast_new_value(m->file, m->at, NULL, lo, hi, NULL);
}

static ast_call *element(maker *m, ast_expr *index)
{
    return ast_new_call(m->file, m->at, AST_CALL_MEMORY, (ast_ident){0}, ident(m, "D"),
                        ast_list_add(NULL, value(m, index, NULL)), m->at);
}

static ast_call *link(maker *m, ast_expr *index)
{
    return ast_new_call(m->file, m->at, AST_CALL_TASK, ident(m, "X"), ident(m, "Link"),
                        ast_list_add(NULL, value(m, index, NULL)), m->at);
}

static ast_dep *dep(maker *m, ast_dir dir, ast_expr *cond, ast_call *yes, ast_call *no)
{
    ast_dep *d = ast_new_dep(m->file, m->at, cond, yes, no);
    return ast_finish_dep(d, m->at, dir, m->at, NULL, NULL);
}

static void global(maker *m, unsigned line, const char *name, bool is_vector)
{
    static const char vector[] = "dag_vector *";
    go_to(m, line);
    ast_expr *type = is_vector ? ast_new_string(m->file, m->at, vector, strlen(vector))
                               : name_of(m, "int");
    ast_prop *prop = ast_new_prop(m->file, m->at, (ast_ident){0}, ident(m, "type"), type);
    ast_props *props = ast_new_props(m->file, m->at, ast_list_add(NULL, prop));
    ast_add_global(m->file, m->at, ident(m, name), NULL, props);
}

/* Link(k) gives X to Link(k + stride); stride 1 is right. */
static ast_list *flows(maker *m, int64_t stride)
{
    go_to(m, 7);
    ast_ident kind = ident(m, "RW"), name = ident(m, "X");
    src_range at = m->at;
    ast_expr *first = binary(m, name_of(m, "k"), AST_OP_EQ, number(m, 0));
    ast_call *from = link(m, binary(m, name_of(m, "k"), AST_OP_SUB, number(m, 1)));
    ast_list *deps = ast_list_add(NULL, dep(m, AST_IN, first, element(m, number(m, 0)), from));
    go_to(m, 8);
    ast_expr *end = binary(m, name_of(m, "N"), AST_OP_SUB, number(m, 1));
    ast_expr *last = binary(m, name_of(m, "k"), AST_OP_EQ, end);
    ast_call *to = link(m, binary(m, name_of(m, "k"), AST_OP_ADD, number(m, stride)));
    ast_list_add(deps, dep(m, AST_OUT, last, element(m, name_of(m, "k")), to));
    return ast_list_add(NULL, ast_new_flow(m->file, at, kind, name, deps));
}

static void task_class(maker *m, int64_t stride)
{
    go_to(m, 4);
    src_range head = m->at;
    ast_list *params = ast_list_add(NULL, ast_new_ident(m->file, m->at, ident(m, "k").text));
    ast_class *c = ast_new_class(m->file, head, ident(m, "Link"), params);
    go_to(m, 5);
    ast_expr *end = binary(m, name_of(m, "N"), AST_OP_SUB, number(m, 1));
    ast_local *k = ast_new_local(m->file, m->at, ident(m, "k"), value(m, number(m, 0), end), NULL);
    go_to(m, 6);
    ast_call *placement = element(m, name_of(m, "k"));
    ast_list *flow_list = flows(m, stride);
    go_to(m, 9);
    ast_body *body = ast_new_body(m->file, m->at, m->at, NULL, lines(m, 10, 11));
    ast_finish_class(m->file, c, lines(m, 4, 12), ast_list_add(NULL, k), placement, flow_list,
                     ast_list_add(NULL, body));
    ast_add_class(m->file, c);
}

static ast_file *make_ring(const src_set *sources, uint32_t text_number, int64_t stride)
{
    maker m = {.file = ast_file_new(sources, text_number)};
    global(&m, 1, "D", true);
    global(&m, 2, "N", false);
    go_to(&m, 3);
    m.at.begin += (uint32_t)strlen("where ");       /* generated code quotes it */
    m.at.end = m.at.begin + (uint32_t)strlen("N >= 1");
    ast_add_assume(m.file, m.at, binary(&m, name_of(&m, "N"), AST_OP_GE, number(&m, 1)));
    task_class(&m, stride);
    return m.file;
}

/* What is done with a tree, whoever made it: C and header, one behind the other. */
static void translate(frontend *f, text *out)
{
    verify_facts facts = {0};
    frontend_analyse(f);
    ck_assert_uint_eq(diag_errors(f->diag), 0);
#if HAVE_VERIFY
    diag_register(f->diag, verify_checks, verify_check_count);
    ck_assert(verify_file(f->ast, f->sema, f->diag, NULL, &facts));
#endif
    diag_register(f->diag, plan_checks, plan_check_count);
    plan *p = plan_build(f->sema, &facts, "ring", f->diag);
    ck_assert_ptr_nonnull(p);
    emit_options o = {.c_path = "ring.c", .h_base = "ring.h", .hash = unparse_hash(f->ast, f->ast)};
    emit_c(p, &o, out);
    emit_header(p, out);
    plan_free(p);
}

START_TEST(the_same_c)
{
    frontend jdf, words;
    const char *error;
    text from_jdf = {0}, from_words = {0};
    frontend_init(&jdf, DIALECT_DAG);
    frontend_init(&words, DIALECT_DAG);
    ck_assert(frontend_parse(&jdf, "ring", in_jdf, strlen(in_jdf), &error));
    uint32_t number = src_add(words.sources, "ring", in_words, strlen(in_words));
    words.ast = make_ring(words.sources, number, 1);
    translate(&jdf, &from_jdf);
    translate(&words, &from_words);
    ck_assert_str_eq(text_str(&from_jdf), text_str(&from_words));
    text_free(&from_jdf);
    text_free(&from_words);
    frontend_free(&jdf);
    frontend_free(&words);
}
END_TEST

START_TEST(the_same_canonical_form)
{
    text form = {0};
    src_set *sources = src_set_new();
    ast_file *file = make_ring(sources, src_add(sources, "ring", in_words, strlen(in_words)), 1);
    unparse_file(file, &form);
    ck_assert_str_eq(text_str(&form), in_jdf);
    text_free(&form);
    ast_free(file);
    src_set_free(sources);
}
END_TEST

#if HAVE_VERIFY
/* A mistake is found by the same proof, and said to be where that front end's text has it. */
START_TEST(the_same_mistake)
{
    frontend f;
    char *said = NULL;
    size_t len = 0;
    frontend_init(&f, DIALECT_DAG);
    diag_register(f.diag, verify_checks, verify_check_count);
    f.ast = make_ring(f.sources, src_add(f.sources, "ring", in_words, strlen(in_words)), 2);
    frontend_analyse(&f);
    ck_assert(!verify_file(f.ast, f.sema, f.diag, NULL, NULL));
    FILE *out = open_memstream(&said, &len);
    diag_finish(f.diag, out);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(said, "ring:8:1: error:"));
    ck_assert_ptr_nonnull(strstr(said, "[-Wedge-mismatch]"));
    free(said);
    frontend_free(&f);
}
END_TEST
#endif

START_TEST(too_deep)
{
    src_set *sources = src_set_new();
    maker m = {.file = ast_file_new(sources, src_add(sources, "deep", "x\n", 2))};
    go_to(&m, 1);
    ast_expr *e = number(&m, 1);
    for (int i = 0; i < AST_MAX_DEPTH; i++)
        e = ast_new_unary(m.file, m.at, AST_OP_NEG, e);
    ck_assert_int_eq(e->kind, AST_UNARY);
    ck_assert(!m.file->has_errors);
    e = ast_new_unary(m.file, m.at, AST_OP_NEG, e);
    ck_assert_int_eq(e->kind, AST_BAD);
    ck_assert(m.file->has_errors);
    ck_assert(!src_range_is_none(m.file->too_deep));
    ast_free(m.file);
    src_set_free(sources);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("build");
    TCase *tc = tcase_create("constructors");
    tcase_add_test(tc, the_same_c);
    tcase_add_test(tc, the_same_canonical_form);
#if HAVE_VERIFY
    tcase_add_test(tc, the_same_mistake);
#endif
    tcase_add_test(tc, too_deep);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
