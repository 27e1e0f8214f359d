/* The grammar of JDF. Actions only build nodes (parse_build.c); meaning is sema's business.
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
    parse_list *list;
}
%destructor { list_free($$); } <list>

%token START_FILE START_EXPR
%token <name> NAME "name" KIND "flow kind"
%token <expr> INTEGER "integer" STRING "string"
%token <boolean> BOOL "on/off"
%token NEW "NEW" NULL "NULL" SIMCOST "SIMCOST"
%token BODY "BODY" BODY_TEXT "body text" EXTERN_C "extern \"C\" %{" INLINE_C "inline C"
%token OPTION "%option" ASSUME "%assume" PRECISION "%precision" BAD_DIRECTIVE "unknown directive"
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
%type <list> names params param_list index_list value_list args prop_list expr_list precisions
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
        add_global(p, global_new(p, @$, ident_at($1, @1), NULL, $2));
    }
    | NAME '=' expr props_opt       { add_global(p, global_new(p, @$, ident_at($1, @1), $3, $4)); }
    | NAME '=' error {
        add_global(p, global_new(p, @$, ident_at($1, @1), NULL, NULL));
    }
    | OPTION prop                   { add_option(p, @$, $2); }
    | OPTION error
    | ASSUME expr                   { add_assume(p, @$, $2); }
    | ASSUME error
    | PRECISION precisions EOL      { add_precision(p, src_join(@1, @2), $2); }
    | BAD_DIRECTIVE                 { p->ast->has_errors = true; }
    | EXTERN_C                      { add_code(p, @$, @1); }
    | INLINE_C                      { add_code(p, @$, @1); }
    | class                         { add_class(p, $1); }
    | error
    ;

precisions
    : %empty                        { $$ = list_new(); }
    | precisions NAME               { $$ = list_add($1, ident_new(p, $2, @2)); }
    ;

/* ---- task classes -------------------------------------------------------------------------- */

class
    : head locals placement flows priority bodies {
        class_finish(p, $1, @$, $2, $3, $4, $6);
        $$ = $1;
    }
    | head placement flows priority bodies {
        class_finish(p, $1, @$, NULL, $2, $3, $5);
        $$ = $1;
    }
    | head locals error bodies {
        class_finish(p, $1, @$, $2, NULL, NULL, $4);
        $$ = $1;
    }
    | NAME params error bodies {
        $$ = p->cls = class_head(p, src_join(@1, @2), ident_at($1, @1), $2);
        class_finish(p, $$, @$, NULL, NULL, NULL, $4);
    }
    | NAME params props error bodies {
        $$ = p->cls = class_head(p, src_join(@1, @2), ident_at($1, @1), $2);
        $$->props = $3;
        class_finish(p, $$, @$, NULL, NULL, NULL, $5);
    }
    ;

head
    : NAME params {
        $$ = p->cls = class_head(p, @$, ident_at($1, @1), $2);
    }
    | NAME params props {
        $$ = p->cls = class_head(p, src_join(@1, @2), ident_at($1, @1), $2);
        $$->props = $3;
    }
    ;

params
    : '(' param_list ')'            { $$ = $2; }
    | '(' error ')'                 { $$ = list_new(); }
    ;

param_list
    : %empty                        { $$ = list_new(); }
    | names
    ;

names
    : NAME                          { $$ = list_add(NULL, ident_new(p, $1, @1)); }
    | names ',' NAME                { $$ = list_add($1, ident_new(p, $3, @3)); }
    ;

locals
    : local                         { $$ = list_add(NULL, $1); }
    | locals local                  { $$ = list_add($1, $2); }
    ;

local
    : NAME '=' value props_opt      { $$ = local_new(p, @$, ident_at($1, @1), $3, $4); }
    | NAME '=' error {
        $$ = local_new(p, src_join(@1, @2), ident_at($1, @1), NULL, NULL);
    }
    | keyword '=' value props_opt   { $$ = NULL; keyword_as_name(p, @1); }
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
        $$ = call_new(p, @$, AST_CALL_MEMORY, (ast_ident){0}, ident_at($1, @1), $2, @2);
        missing_colon(p, $$);
    }
    ;

priority
    : %empty
    | ';' expr                      { p->cls->priority = $2; }
    | ';' error
    ;

flows
    : %empty                        { $$ = list_new(); }
    | flows flow                    { $$ = list_add($1, $2); }
    ;

flow
    : KIND NAME deps {
        $$ = flow_new(p, @$, ident_at($1, @1), ident_at($2, @2), $3);
    }
    | KIND error deps               { $$ = NULL; list_free($3); }
    | NAME deps1                    { $$ = flow_without_kind(p, @$, ident_at($1, @1), $2); }
    | NAME NAME deps {
        $$ = flow_bad_kind(p, @$, ident_at($1, @1), ident_at($2, @2), $3);
    }
    ;

deps
    : %empty                        { $$ = list_new(); }
    | deps1
    ;

deps1
    : dep                           { $$ = list_add(NULL, $1); if (!$$) $$ = list_new(); }
    | deps1 dep                     { $$ = list_add($1, $2); }
    ;

dep
    : IN indices_opt guarded props_opt  { $$ = dep_finish($3, @$, AST_IN, @1, $2, $4); }
    | OUT indices_opt guarded props_opt { $$ = dep_finish($3, @$, AST_OUT, @1, $2, $4); }
    | IN error                      { $$ = NULL; }
    | OUT error                     { $$ = NULL; }
    ;

guarded
    : plain_call                    { $$ = dep_new(p, @$, NULL, $1, NULL); }
    | expr '?' call                 { $$ = dep_new(p, @$, $1, $3, NULL); }
    | expr '?' call ':' call        { $$ = dep_new(p, @$, $1, $3, $5); }
    ;

call
    : plain_call
    | indices plain_call            { $$ = call_indexed($2, @$, $1); }
    ;

plain_call
    : NAME NAME args {
        $$ = call_new(p, @$, AST_CALL_TASK, ident_at($1, @1), ident_at($2, @2), $3, @3);
    }
    | NAME args {
        $$ = call_new(p, @$, AST_CALL_MEMORY, (ast_ident){0}, ident_at($1, @1), $2, @2);
    }
    | NEW {
        $$ = call_new(p, @$, AST_CALL_NEW, (ast_ident){0}, ident_at("NEW", @1), list_new(), @1);
    }
    | NULL {
        $$ = call_new(p, @$, AST_CALL_NULL, (ast_ident){0}, ident_at("NULL", @1), list_new(), @1);
    }
    ;

args
    : '(' ')'                       { $$ = list_new(); }
    | '(' value_list ')'            { $$ = $2; }
    | '(' error ')'                 { $$ = list_new(); }
    ;

value_list
    : value                         { $$ = list_add(NULL, $1); }
    | value_list ',' value          { $$ = list_add($1, $3); }
    ;

value
    : expr                          { $$ = value_new(p, @$, $1, NULL, NULL); }
    | expr RANGE expr               { $$ = value_new(p, @$, $1, $3, NULL); }
    | expr RANGE expr RANGE expr    { $$ = value_new(p, @$, $1, $3, $5); }
    | indices expr                  { $$ = value_indexed(p, @$, $1, $2); }
    ;

bodies
    : body                          { $$ = list_add(NULL, $1); }
    | bodies body                   { $$ = list_add($1, $2); }
    ;

body
    : BODY props_opt BODY_TEXT      { $$ = body_new(p, @$, @1, $2, p->body_text); }
    ;

/* ---- index lists and properties ------------------------------------------------------------ */

indices_opt
    : %empty                        { $$ = NULL; }
    | indices
    ;

indices
    : '[' index_list ']'            { $$ = indices_new(p, @$, $2); }
    ;

index_list
    : index                         { $$ = list_add(NULL, $1); }
    | index_list ',' index          { $$ = list_add($1, $3); }
    ;

index
    : NAME '=' expr {
        $$ = index_new(p, @$, ident_at($1, @1), $3, NULL, NULL);
    }
    | NAME '=' expr RANGE expr {
        $$ = index_new(p, @$, ident_at($1, @1), $3, $5, NULL);
    }
    | NAME '=' expr RANGE expr RANGE expr   { $$ = index_new(p, @$, ident_at($1, @1), $3, $5, $7); }
    ;

props_opt
    : %empty                        { $$ = NULL; }
    | props
    ;

props
    : '[' prop_list ']'             { $$ = props_new(p, @$, $2); }
    | '[' error ']'                 { $$ = props_new(p, @$, list_new()); }
    ;

prop_list
    : %empty                        { $$ = list_new(); }
    | prop_list prop                { $$ = list_add($1, $2); }
    ;

prop
    : NAME {
        $$ = prop_new(p, @$, (ast_ident){0}, ident_at($1, @1), NULL);
    }
    | NAME '=' prop_value           { $$ = prop_new(p, @$, (ast_ident){0}, ident_at($1, @1), $3); }
    | NAME '.' field '=' prop_value {
        $$ = prop_new(p, @$, ident_at($1, @1), ident_at($3, @3), $5);
    }
    ;

prop_value
    : expr
    | NAME '(' expr_list ')'        { $$ = expr_call(p, @$, ident_at($1, @1), $3); }
    ;

expr_list
    : expr                          { $$ = list_add(NULL, $1); }
    | expr_list ',' expr            { $$ = list_add($1, $3); }
    ;

/* ---- expressions --------------------------------------------------------------------------- */

expr
    : INTEGER
    | STRING
    | BOOL                          { $$ = expr_bool(p, @$, $1); }
    | INLINE_C                      { $$ = expr_code(p, @$); }
    | member
    | '(' expr ')'                  { $$ = expr_parens(p, @$, $2); }
    | '-' expr %prec UNARY          { $$ = expr_unary(p, @$, AST_OP_NEG, $2); }
    | '!' expr %prec UNARY          { $$ = expr_unary(p, @$, AST_OP_NOT, $2); }
    | expr OR expr                  { $$ = expr_binary(p, @$, AST_OP_OR, @2, $1, $3); }
    | expr AND expr                 { $$ = expr_binary(p, @$, AST_OP_AND, @2, $1, $3); }
    | expr '^' expr                 { $$ = expr_binary(p, @$, AST_OP_XOR, @2, $1, $3); }
    | expr EQ expr                  { $$ = expr_binary(p, @$, AST_OP_EQ, @2, $1, $3); }
    | expr NE expr                  { $$ = expr_binary(p, @$, AST_OP_NE, @2, $1, $3); }
    | expr '<' expr                 { $$ = expr_binary(p, @$, AST_OP_LT, @2, $1, $3); }
    | expr LE expr                  { $$ = expr_binary(p, @$, AST_OP_LE, @2, $1, $3); }
    | expr '>' expr                 { $$ = expr_binary(p, @$, AST_OP_GT, @2, $1, $3); }
    | expr GE expr                  { $$ = expr_binary(p, @$, AST_OP_GE, @2, $1, $3); }
    | expr IN expr                  { $$ = expr_arrow(p, @$, @2, $1, $3); }
    | expr SHL expr                 { $$ = expr_binary(p, @$, AST_OP_SHL, @2, $1, $3); }
    | expr SHR expr                 { $$ = expr_binary(p, @$, AST_OP_SHR, @2, $1, $3); }
    | expr '+' expr                 { $$ = expr_binary(p, @$, AST_OP_ADD, @2, $1, $3); }
    | expr '-' expr                 { $$ = expr_binary(p, @$, AST_OP_SUB, @2, $1, $3); }
    | expr '*' expr                 { $$ = expr_binary(p, @$, AST_OP_MUL, @2, $1, $3); }
    | expr '/' expr                 { $$ = expr_binary(p, @$, AST_OP_DIV, @2, $1, $3); }
    | expr '%' expr                 { $$ = expr_binary(p, @$, AST_OP_MOD, @2, $1, $3); }
    | expr '?' expr ':' expr        { $$ = expr_cond(p, @$, $1, $3, $5); }
    ;

member
    : NAME                          { $$ = expr_name(p, @$, $1); }
    | member '.' field              { $$ = expr_member(p, @$, $1, ident_at($3, @3), false); }
    | member OUT field              { $$ = expr_member(p, @$, $1, ident_at($3, @3), true); }
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
