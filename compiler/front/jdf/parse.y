/* The grammar of JDF. Actions only build nodes (tree/build.h); meaning is sema's business.
 *
 * Error recovery: a wrong call is skipped to its ')', a wrong property list to its ']', a wrong
 * dependency or definition to the next one, anything else in a class to its next BODY. */
%code requires {
#include "front/jdf/parse_ctx.h"
}
%code {
#include "front/jdf/lex_words.h"

#define YYLLOC_DEFAULT(cur, rhs, n)                                                             \
    do {                                                                                        \
        if (n)                                                                                  \
            (cur) = (src_range){YYRHSLOC(rhs, 1).file, YYRHSLOC(rhs, 1).begin,                  \
                                YYRHSLOC(rhs, n).end};                                          \
        else                                                                                    \
            (cur) = src_point(YYRHSLOC(rhs, 0).file, YYRHSLOC(rhs, 0).end);                     \
    } while (0)

int lex_lex(PARSE_STYPE *value, src_range *loc, void *scanner);
static int parse_lex(PARSE_STYPE *value, src_range *loc, void *scanner)
{
    return lex_lex(value, loc, scanner);
}
static void parse_error(const src_range *where, parse_ctx *p, void *scanner, const char *message);
}

%define api.prefix {parse_}
%define api.pure full
%define api.token.prefix {TOK_}
%define api.location.type {src_range}
%define parse.error custom
%define parse.lac full
%locations
%parse-param {parse_ctx *p} {void *scanner}
%lex-param {void *scanner}
%initial-action { @$ = src_point(p->file, 0); }

%union {
    const char *name;
    bool boolean;
    ast_expr *expr;
    ast_index *index;
    ast_indices *indices;
    ast_value *value;
    ast_prop *prop;
    ast_props *props;
    ast_call *call;
    ast_dep *dep;
    ast_flow *flow;
    ast_local *local;
    ast_body *body;
    ast_class *cls;
    ast_list *list;
}
%destructor { ast_list_free($$); } <list>

%token START_FILE START_EXPR
%token <name> NAME "name" KIND "flow kind" FUNCTION "min, max or ceildiv"
%token <expr> INTEGER "integer" STRING "string"
%token <boolean> BOOL "on/off"
%token NEW "NEW" NULL "NULL" SIMCOST "SIMCOST"
%token BODY "BODY" BODY_TEXT "body text" EXTERN_C "extern \"C\" %{" INLINE_C "inline C"
%token OPTION "%option" IMPORT "%import" ASSUME "%assume" FACT "%fact" PRECISION "%precision" BAD_DIRECTIVE "unknown directive"
%token EOL "end of line"
%token IN "<-" OUT "->" RANGE ".."
%token AND "&&" OR "||" EQ "==" NE "!=" LE "<=" GE ">=" SHL "<<" SHR ">>"
%token END 0 "end of file"

%right '?' ':'
%left OR
%left AND
%left '^'
%left EQ NE
%left '<' '>' LE GE IN
%left SHL SHR
%left '+' '-'
%left '*' '/' '%'
%precedence UNARY

%type <expr> expr member prop_value
%type <value> value
%type <index> index
%type <indices> indices indices_opt
%type <prop> prop
%type <props> props props_opt
%type <call> call plain_call placement
%type <dep> dep guarded
%type <flow> flow
%type <local> local
%type <body> body
%type <cls> head class
%type <list> names params param_list index_list value_list args prop_list prop_values expr_list precisions
%type <list> locals flows deps deps1 bodies
%type <name> field

%%

start
    : START_FILE items
    | START_EXPR expr               { p->expr = $2; }
    ;

items
    : %empty
    | items item
    ;

item
    : NAME props_opt {
        parse_global(p, @$, ast_ident_at($1, @1), NULL, $2);
    }
    | NAME '=' expr props_opt       { parse_global(p, @$, ast_ident_at($1, @1), $3, $4); }
    | NAME '=' error {
        parse_global(p, @$, ast_ident_at($1, @1), NULL, NULL);
    }
    | OPTION prop                   { p->option_line = false; ast_add_option(p->ast, @$, $2); }
    | OPTION error
    | ASSUME expr                   { ast_add_assume(p->ast, @$, $2); }
    | ASSUME error
    | FACT NAME params '=' expr     { ast_add_fact(p->ast, @$, ast_ident_at($2, @2), $3, $5, NULL); }
    | FACT NAME params '=' expr RANGE expr {
        ast_add_fact(p->ast, @$, ast_ident_at($2, @2), $3, $5, $7);
    }
    | FACT NAME params NAME {
        ast_add_property(p->ast, @$, ast_ident_at($2, @2), $3, ast_ident_at($4, @4), (ast_ident){0});
    }
    | FACT NAME params NAME '(' NAME ')' {
        ast_add_property(p->ast, @$, ast_ident_at($2, @2), $3, ast_ident_at($4, @4),
                         ast_ident_at($6, @6));
    }
    | FACT error
    | IMPORT NAME STRING props_opt  { parse_import(p, @$, ast_ident_at($2, @2), $3, $4); }
    | IMPORT error
    | PRECISION precisions EOL      { ast_add_precision(p->ast, src_join(@1, @2), $2); }
    | BAD_DIRECTIVE                 { p->ast->has_errors = true; }
    | EXTERN_C                      { parse_code(p, @$, @1); }
    | INLINE_C                      { parse_code(p, @$, @1); }
    | class                         { ast_add_class(p->ast, $1); }
    | error
    ;

precisions
    : %empty                        { $$ = ast_list_new(); }
    | precisions NAME               { $$ = ast_list_add($1, ast_new_ident(p->ast, @2, $2)); }
    ;

/* ---- task classes -------------------------------------------------------------------------- */

class
    : head locals placement flows priority bodies {
        ast_finish_class(p->ast, $1, @$, $2, $3, $4, $6);
        $$ = $1;
    }
    | head placement flows priority bodies {
        ast_finish_class(p->ast, $1, @$, NULL, $2, $3, $5);
        $$ = $1;
    }
    | head locals error bodies {
        ast_finish_class(p->ast, $1, @$, $2, NULL, NULL, $4);
        $$ = $1;
    }
    | NAME params error bodies {
        $$ = p->cls = ast_new_class(p->ast, src_join(@1, @2), ast_ident_at($1, @1), $2);
        ast_finish_class(p->ast, $$, @$, NULL, NULL, NULL, $4);
    }
    | NAME params props error bodies {
        $$ = p->cls = ast_new_class(p->ast, src_join(@1, @2), ast_ident_at($1, @1), $2);
        $$->props = $3;
        ast_finish_class(p->ast, $$, @$, NULL, NULL, NULL, $5);
    }
    ;

head
    : NAME params {
        $$ = p->cls = ast_new_class(p->ast, @$, ast_ident_at($1, @1), $2);
    }
    | NAME params props {
        $$ = p->cls = ast_new_class(p->ast, src_join(@1, @2), ast_ident_at($1, @1), $2);
        $$->props = $3;
    }
    ;

params
    : '(' param_list ')'            { $$ = $2; }
    | '(' error ')'                 { $$ = ast_list_new(); }
    ;

param_list
    : %empty                        { $$ = ast_list_new(); }
    | names
    ;

names
    : NAME                          { $$ = ast_list_add(NULL, ast_new_ident(p->ast, @1, $1)); }
    | names ',' NAME                { $$ = ast_list_add($1, ast_new_ident(p->ast, @3, $3)); }
    ;

locals
    : local                         { $$ = ast_list_add(NULL, $1); }
    | locals local                  { $$ = ast_list_add($1, $2); }
    ;

local
    : NAME '=' value props_opt {
        $$ = ast_new_local(p->ast, @$, ast_ident_at($1, @1), $3, $4);
    }
    | NAME '=' error {
        $$ = ast_new_local(p->ast, src_join(@1, @2), ast_ident_at($1, @1), NULL, NULL);
    }
    | keyword '=' value props_opt   { $$ = NULL; parse_keyword_as_name(p, @1); }
    ;

keyword
    : KIND                          { }
    | NEW
    | NULL
    ;

simcost
    : %empty
    | SIMCOST expr                  { p->cls->simcost = $2; p->cls->simcost_range = @$; }
    ;

placement
    : simcost ':' plain_call        { $$ = $3; }
    | simcost ':' error             { $$ = NULL; }
    | NAME args {
        $$ = ast_new_call(p->ast, @$, AST_CALL_MEMORY, (ast_ident){0}, ast_ident_at($1, @1), $2,
                          @2);
        parse_missing_colon(p, $$);
    }
    ;

priority
    : %empty
    | ';' expr                      { p->cls->priority = $2; }
    | ';' error
    ;

flows
    : %empty                        { $$ = ast_list_new(); }
    | flows flow                    { $$ = ast_list_add($1, $2); }
    ;

flow
    : KIND NAME deps {
        $$ = ast_new_flow(p->ast, @$, ast_ident_at($1, @1), ast_ident_at($2, @2), $3);
    }
    | KIND error deps               { $$ = NULL; ast_list_free($3); }
    | NAME deps1 {
        $$ = parse_flow_without_kind(p, @$, ast_ident_at($1, @1), $2);
    }
    | NAME NAME deps {
        $$ = parse_flow_bad_kind(p, @$, ast_ident_at($1, @1), ast_ident_at($2, @2), $3);
    }
    ;

deps
    : %empty                        { $$ = ast_list_new(); }
    | deps1
    ;

deps1
    : dep                           { $$ = ast_list_add(NULL, $1); if (!$$) $$ = ast_list_new(); }
    | deps1 dep                     { $$ = ast_list_add($1, $2); }
    ;

dep
    : IN indices_opt guarded        { $$ = ast_finish_dep($3, @$, AST_IN, @1, $2, $3->props); }
    | OUT indices_opt guarded       { $$ = ast_finish_dep($3, @$, AST_OUT, @1, $2, $3->props); }
    | IN error                      { $$ = NULL; }
    | OUT error                     { $$ = NULL; }
    ;

guarded
    : plain_call props_opt {
        $$ = ast_new_dep(p->ast, @$, NULL, $1, NULL);
        $$->props = $2;
    }
    | expr '?' call props_opt {
        $$ = ast_new_dep(p->ast, @$, $1, $3, NULL);
        $$->props = $4;
    }
    | expr '?' call props_opt ':' call props_opt {
        $3->props = $4;
        $$ = ast_new_dep(p->ast, @$, $1, $3, $6);
        $$->props = $7;
    }
    ;

call
    : plain_call
    | indices plain_call            { $$ = ast_index_call($2, @$, $1); }
    ;

plain_call
    : NAME NAME args {
        $$ = ast_new_call(p->ast, @$, AST_CALL_TASK, ast_ident_at($1, @1), ast_ident_at($2, @2),
                          $3, @3);
    }
    | NAME args {
        $$ = ast_new_call(p->ast, @$, AST_CALL_MEMORY, (ast_ident){0}, ast_ident_at($1, @1), $2,
                          @2);
    }
    | NEW {
        $$ = ast_new_call(p->ast, @$, AST_CALL_NEW, (ast_ident){0}, ast_ident_at("NEW", @1),
                          ast_list_new(), @1);
    }
    | NULL {
        $$ = ast_new_call(p->ast, @$, AST_CALL_NULL, (ast_ident){0}, ast_ident_at("NULL", @1),
                          ast_list_new(), @1);
    }
    ;

args
    : '(' ')'                       { $$ = ast_list_new(); }
    | '(' value_list ')'            { $$ = $2; }
    | '(' error ')'                 { $$ = ast_list_new(); }
    ;

value_list
    : value                         { $$ = ast_list_add(NULL, $1); }
    | value_list ',' value          { $$ = ast_list_add($1, $3); }
    ;

value
    : expr                          { $$ = ast_new_value(p->ast, @$, NULL, $1, NULL, NULL); }
    | expr RANGE expr               { $$ = ast_new_value(p->ast, @$, NULL, $1, $3, NULL); }
    | expr RANGE expr RANGE expr    { $$ = ast_new_value(p->ast, @$, NULL, $1, $3, $5); }
    | indices expr                  { $$ = ast_new_value(p->ast, @$, $1, $2, NULL, NULL); }
    ;

bodies
    : body                          { $$ = ast_list_add(NULL, $1); }
    | bodies body                   { $$ = ast_list_add($1, $2); }
    ;

body
    : BODY props_opt BODY_TEXT      { $$ = ast_new_body(p->ast, @$, @1, $2, p->body.text); }
    ;

/* ---- index lists and properties ------------------------------------------------------------ */

indices_opt
    : %empty                        { $$ = NULL; }
    | indices
    ;

indices
    : '[' index_list ']'            { $$ = ast_new_indices(p->ast, @$, $2); }
    ;

index_list
    : index                         { $$ = ast_list_add(NULL, $1); }
    | index_list ',' index          { $$ = ast_list_add($1, $3); }
    ;

index
    : NAME '=' expr {
        $$ = ast_new_index(p->ast, @$, ast_ident_at($1, @1), $3, NULL, NULL);
    }
    | NAME '=' expr RANGE expr {
        $$ = ast_new_index(p->ast, @$, ast_ident_at($1, @1), $3, $5, NULL);
    }
    | NAME '=' expr RANGE expr RANGE expr {
        $$ = ast_new_index(p->ast, @$, ast_ident_at($1, @1), $3, $5, $7);
    }
    ;

props_opt
    : %empty                        { $$ = NULL; }
    | props
    ;

props
    : '[' prop_list ']'             { $$ = ast_new_props(p->ast, @$, $2); }
    | '[' error ']'                 { $$ = ast_new_props(p->ast, @$, ast_list_new()); }
    ;

prop_list
    : %empty                        { $$ = ast_list_new(); }
    | prop_list prop                { $$ = ast_list_add($1, $2); }
    ;

prop
    : NAME {
        $$ = parse_prop(p, @$, (ast_ident){0}, ast_ident_at($1, @1), NULL);
    }
    | NAME '=' prop_value {
        $$ = parse_prop(p, @$, (ast_ident){0}, ast_ident_at($1, @1), $3);
    }
    | NAME '.' field '=' prop_value {
        $$ = parse_prop(p, @$, ast_ident_at($1, @1), ast_ident_at($3, @3), $5);
    }
    ;

prop_value
    : expr
    | NAME '(' prop_values ')' {
        $$ = ast_new_call_value(p->ast, @$, ast_ident_at($1, @1), $3);
    }
    ;

prop_values
    : prop_value                    { $$ = ast_list_add(NULL, $1); }
    | prop_values ',' prop_value    { $$ = ast_list_add($1, $3); }
    ;

expr_list
    : expr                          { $$ = ast_list_add(NULL, $1); }
    | expr_list ',' expr            { $$ = ast_list_add($1, $3); }
    ;

/* ---- expressions --------------------------------------------------------------------------- */

expr
    : INTEGER
    | STRING
    | BOOL                          { $$ = ast_new_bool(p->ast, @$, $1); }
    | INLINE_C                      { $$ = parse_inline_c(p, @$); }
    | member
    | FUNCTION '(' expr_list ')' {
        $$ = ast_new_call_value(p->ast, @$, ast_ident_at($1, @1), $3);
    }
    | '(' expr ')'                  { $$ = ast_parenthesise(p->ast, @$, $2); }
    | '-' expr %prec UNARY          { $$ = ast_new_unary(p->ast, @$, AST_OP_NEG, $2); }
    | '!' expr %prec UNARY          { $$ = ast_new_unary(p->ast, @$, AST_OP_NOT, $2); }
    | expr OR expr                  { $$ = ast_new_binary(p->ast, @$, AST_OP_OR, @2, $1, $3); }
    | expr AND expr                 { $$ = ast_new_binary(p->ast, @$, AST_OP_AND, @2, $1, $3); }
    | expr '^' expr                 { $$ = ast_new_binary(p->ast, @$, AST_OP_XOR, @2, $1, $3); }
    | expr EQ expr                  { $$ = ast_new_binary(p->ast, @$, AST_OP_EQ, @2, $1, $3); }
    | expr NE expr                  { $$ = ast_new_binary(p->ast, @$, AST_OP_NE, @2, $1, $3); }
    | expr '<' expr                 { $$ = ast_new_binary(p->ast, @$, AST_OP_LT, @2, $1, $3); }
    | expr LE expr                  { $$ = ast_new_binary(p->ast, @$, AST_OP_LE, @2, $1, $3); }
    | expr '>' expr                 { $$ = ast_new_binary(p->ast, @$, AST_OP_GT, @2, $1, $3); }
    | expr GE expr                  { $$ = ast_new_binary(p->ast, @$, AST_OP_GE, @2, $1, $3); }
    | expr IN expr                  { $$ = parse_arrow(p, @$, @2, $1, $3); }
    | expr SHL expr                 { $$ = ast_new_binary(p->ast, @$, AST_OP_SHL, @2, $1, $3); }
    | expr SHR expr                 { $$ = ast_new_binary(p->ast, @$, AST_OP_SHR, @2, $1, $3); }
    | expr '+' expr                 { $$ = ast_new_binary(p->ast, @$, AST_OP_ADD, @2, $1, $3); }
    | expr '-' expr                 { $$ = ast_new_binary(p->ast, @$, AST_OP_SUB, @2, $1, $3); }
    | expr '*' expr                 { $$ = ast_new_binary(p->ast, @$, AST_OP_MUL, @2, $1, $3); }
    | expr '/' expr                 { $$ = ast_new_binary(p->ast, @$, AST_OP_DIV, @2, $1, $3); }
    | expr '%' expr                 { $$ = ast_new_binary(p->ast, @$, AST_OP_MOD, @2, $1, $3); }
    | expr '?' expr ':' expr        { $$ = ast_new_cond(p->ast, @$, $1, $3, $5); }
    ;

member
    : NAME                          { $$ = ast_new_name(p->ast, @$, $1); }
    | member '.' field {
        $$ = ast_new_member(p->ast, @$, $1, ast_ident_at($3, @3), false);
    }
    | member OUT field {
        $$ = ast_new_member(p->ast, @$, $1, ast_ident_at($3, @3), true);
    }
    ;

field
    : NAME
    | KIND
    ;

%%

static void parse_error(const src_range *where, parse_ctx *p, void *scanner, const char *message)
{
    (void)scanner;
    (void)message;              /* the only one bison passes: its stack reached the limit */
    parse_report(p, CHECK_TOO_DEEP, *where, "this is nested too deeply");
    p->ast->has_errors = true;
}

static int yyreport_syntax_error(const yypcontext_t *ctx, parse_ctx *p, void *scanner)
{
    (void)scanner;
    yysymbol_kind_t kinds[YYNTOKENS];
    const char *words[YYNTOKENS];
    int n = yypcontext_expected_tokens(ctx, kinds, YYNTOKENS);
    if (n < 0)
        return n;
    for (int i = 0; i < n; i++)
        words[i] = yysymbol_name(kinds[i]);
    parse_syntax_error(p, *yypcontext_location(ctx), yysymbol_name(yypcontext_token(ctx)), words,
                       (size_t)n);
    return 0;
}
