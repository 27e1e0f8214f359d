/* The checks of lexer, parser and sema: CHECK(number, name, severity under --std=dag and --std=parsec, one line,
 * explanation). An ERROR can be turned into a warning; FATAL is for what later stages rely on. No include guard: each use
 * defines CHECK, which is taken back. */
/* text and syntax */
CHECK(SYNTAX, "syntax", FATAL, FATAL, "the text does not follow the grammar",
"The message names what stood at the marked place and what could stand there. After a syntax\n"
"error the parser resumes at the next ')' or ']', dependency, definition or BODY, and checks that\n"
"compare different parts of the file are skipped.\n")
CHECK(UNKNOWN_CHARACTER, "unknown-character", ERROR, WARN,
"a character that means nothing in JDF",
"PaRSEC's compiler drops such characters without a word, so that 'k = 0 .. N-1 ~' is accepted.\n"
"Remove it. C belongs between BODY and END or into %{ ... %}; preprocessor lines belong into the\n"
"prologue, extern \"C\" %{ ... %}.\n")
CHECK(SINGLE_OPERATOR, "single-operator", ERROR, WARN, "'&' or '|' where '&&' or '||' is meant",
"JDF has no bitwise and, or: a single '&' has always meant '&&'. Write it that way.\n")
CHECK(INTEGER_OVERFLOW, "integer-overflow", FATAL, FATAL,
"an integer literal does not fit in 64 bits", "Literals go up to 9223372036854775807.\n")
CHECK(WIDE_INTEGER, "wide-integer", OFF, WARN, "an integer literal that PaRSEC cuts to 32 bits",
"PaRSEC's compiler reads 3000000000 as -1294967296. dagcc computes with 64 bits.\n")
CHECK(BAD_NUMBER, "bad-number", FATAL, FATAL, "a number that is no integer",
"Expressions are computed with 64-bit integers. Literals are decimal or hexadecimal (0x1f),\n"
"without suffix. Use inline C for anything else.\n")
CHECK(BAD_STRING, "bad-string", FATAL, FATAL, "a string is not closed on its line",
"Strings end on the line on which they begin; a backslash at the end of the line continues one.\n")
CHECK(UNFINISHED, "unfinished", FATAL, FATAL, "a comment or C text is not closed",
"A comment ends with */ and C text with the first %} behind its %{.\n")
CHECK(MISSING_END, "missing-end", FATAL, WARN, "a body is not closed by END",
"A body ends with the first line that holds nothing but END. BODY at the beginning of a line\n"
"inside a body means that the END of the first one was forgotten.\n")
CHECK(BODY_LINE, "body-line", ERROR, WARN, "text behind BODY on its line",
"Only [properties] and comments may follow BODY on its line; the C text begins on the next.\n")
CHECK(ARROW_COMPARISON, "arrow-comparison", WARN, WARN, "'<-' inside an expression",
"'k<-N' reads like a dependency arrow. Here it is the comparison k < -N; PaRSEC's compiler makes\n"
"the C member access k->N of it. Put a blank between '<' and '-'.\n")
CHECK(UNKNOWN_DIRECTIVE, "unknown-directive", FATAL, FATAL,
"a line begins with an unknown %word", "The directives are %option, %assume, %fact, %import and %precision.\n")
CHECK(MISSING_COLON, "missing-colon", FATAL, FATAL, "a placement without its ':'",
"Between definitions and flows a task class states where its tasks run: ': A(i, j)'.\n")
CHECK(UNKNOWN_KIND, "unknown-kind", FATAL, FATAL, "a flow kind other than RW, READ, WRITE, CTL",
"Without this check 'RWX A <- ...' would declare a flow called RWX.\n")
CHECK(MISSING_KIND, "missing-kind", ERROR, WARN, "a flow without a kind",
"PaRSEC takes such a flow as RW. Write what is meant: RW, READ, WRITE or CTL.\n")
CHECK(TOO_DEEP, "too-deep", FATAL, FATAL, "an expression is nested too deeply",
"Expressions may be nested 1000 levels deep. Use locals for parts of them.\n")
CHECK(FREE_CODE, "free-code", FATAL, FATAL, "C text between globals and task classes",
"C may stand before everything else (prologue) and behind everything else (epilogue).\n")
CHECK(STRING_EXPRESSION, "string-expression", WARN, WARN,
"a string that should hold an expression does not",
"default and size are expressions, quoted or not: [default = \"A->mt - 1\"]. Under --std=parsec\n"
"other text is handed to the C compiler as it is; under --std=dag it is a syntax error.\n")

/* names */
CHECK(DUPLICATE_GLOBAL, "duplicate-global", FATAL, FATAL, "two globals of one name",
"Each global is declared once; its place decides the order of the constructor's arguments.\n")
CHECK(DUPLICATE_CLASS, "duplicate-class", FATAL, FATAL, "two task classes of one name",
"Each task class is defined once in a file.\n")
CHECK(DUPLICATE_PARAMETER, "duplicate-parameter", FATAL, FATAL,
"a parameter is listed twice",
"The names in the head of a class are its parameters, each listed once.\n")
CHECK(DUPLICATE_DEFINITION, "duplicate-definition", FATAL, FATAL,
"a parameter or local is defined twice",
"A parameter has one range, a local one value.\n")
CHECK(DUPLICATE_FLOW, "duplicate-flow", FATAL, FATAL, "two flows of one name in a class",
"Dependencies name flows, so that their names differ within a class.\n")
CHECK(DUPLICATE_INDEX, "duplicate-index", FATAL, FATAL,
"two local indices of one name in a list",
"Later items of a list may use earlier ones, so that their names differ.\n")
CHECK(DUPLICATE_PROPERTY, "duplicate-property", ERROR, WARN,
"a property is given twice in one list",
"Only one of them could have an effect.\n")
CHECK(DUPLICATE_OPTION, "duplicate-option", ERROR, WARN,
"an option or %precision is given twice",
"Only one of them could have an effect.\n")
CHECK(RESERVED_NAME, "reserved-name", FATAL, WARN,
"a name that C or the generated code needs",
"Keywords of C, names that begin with dag_, dagi_ or DAG_, the names elem_t real_t CONJ FN, and\n"
"names that end in _ld, _m, _n or _size are taken: a flow C gives its body C_ld, C_m, C_n and\n"
"C_size.\n")
CHECK(FLOW_SHADOWS_GLOBAL, "flow-shadows-global", FATAL, ERROR,
"a flow has the name of a global", "In a body the name could mean either. Rename the flow.\n")
CHECK(FLOW_SHADOWS_LOCAL, "flow-shadows-local", FATAL, FATAL,
"a flow has the name of a parameter or local", "In a body the name could mean either.\n")
CHECK(SHADOW, "shadow", WARN, WARN, "a local or index hides a name further out",
"The inner one is meant wherever the name is used. Rename it if that is not intended.\n")
CHECK(UNDEFINED_PARAMETER, "undefined-parameter", FATAL, FATAL,
"a parameter has no range",
"Every parameter in the head of a class needs one definition: 'k = 0 .. N-1'.\n")
CHECK(UNBOUND_NAME, "unbound-name", FATAL, FATAL, "a name that nothing declares",
"Expressions may use globals, parameters and locals of their class, and local indices in scope.\n"
"Names of C (macros, functions, enumerators) can be used in inline C only.\n")
CHECK(USE_BEFORE_DEFINITION, "use-before-definition", FATAL, FATAL,
"a definition or default uses something that is defined later",
"Definitions are evaluated in the order in which they are written; move the used one up.\n")
CHECK(HEADER_NAME, "header-name", OFF, WARN, "a name that only a header can define",
"PaRSEC copies expressions into C, where macros and enumerators of headers have values. Those that\n"
"the prologue's own text defines are evaluated; of others nothing is known: the file is checked for\n"
"every value, and no C is made of it. Declare a global and hand the value over.\n")
CHECK(UNKNOWN_MEMBER, "unknown-member", ERROR, OFF, "dag_matrix has no member of this name",
"Expressions may use m n (size), mb nb (tile), mt nt (tiles) and p q (grid) of a matrix.\n")
CHECK(UNKNOWN_CLASS, "unknown-class", FATAL, FATAL,
"a dependency names a task class that does not exist",
"A dependency is written 'FLOW Class(arguments)'; the class is defined in the same file.\n")
CHECK(UNKNOWN_FLOW, "unknown-flow", FATAL, FATAL,
"a dependency names a flow that the other class does not have",
"A dependency is written 'FLOW Class(arguments)'; FLOW is a flow of that class.\n")
CHECK(UNDECLARED_COLLECTION, "undeclared-collection", FATAL, WARN,
"a collection is not declared",
"PaRSEC adds an argument in front of the constructor for each undeclared collection, in reverse\n"
"order of use, so that a misspelt name compiles. Declare it: A [type = \"dag_matrix *\"].\n")
CHECK(NOT_A_COLLECTION, "not-a-collection", FATAL, ERROR,
"a global that is no collection is used as one",
"A collection is a pointer to a dag_matrix, a dag_collection, or a struct that begins with one.\n")

/* properties, options, bodies */
CHECK(UNKNOWN_PROPERTY, "unknown-property", ERROR, WARN, "a property nobody knows",
"PaRSEC ignores unknown properties, so that a misspelt one has no effect.\n")
CHECK(MISPLACED_PROPERTY, "misplaced-property", ERROR, WARN,
"a property that has no meaning where it stands",
"The language reference lists the properties of globals, classes, dependencies and bodies.\n")
CHECK(PROPERTY_VALUE, "property-value", ERROR, WARN,
"a property has a value of the wrong kind",
"The language reference says what each property takes.\n")
CHECK(UNKNOWN_OPTION, "unknown-option", ERROR, WARN, "an %option nobody knows",
"PaRSEC ignores unknown options, so that a misspelt or renamed one has no effect.\n")
CHECK(UNKNOWN_DEVICE, "unknown-device", ERROR, WARN, "a body for an unknown type of device",
"PaRSEC compiles such a body out; the class may then have no body at all.\n")
CHECK(UNKNOWN_SHAPE, "unknown-shape", FATAL, OFF,
"a shape that is neither built in nor a global",
"type, type_data and type_remote take FULL, LOWER, UPPER, LOWER_STRICT, UPPER_STRICT or a global\n"
"of type \"dag_shape *\".\n")
CHECK(QUOTED_TYPE, "quoted-type", ERROR, WARN, "a shape in quotes",
"PaRSEC treats a quoted shape as if none were given. Remove the quotes.\n")
CHECK(TYPE_COMBINATION, "type-combination", FATAL, FATAL,
"shape properties that exclude each other",
"type_data is for references to memory and type_remote for references to tasks.\n")
CHECK(PARSEC_ONLY, "parsec-only", FATAL, OFF, "a construct of PaRSEC's own C interface",
"It is understood under --std=parsec, for checking and drawing; see docs/language.md.\n")
CHECK(EXTENSION, "extension", OFF, WARN, "a construct PaRSEC's compiler does not know",
"%precision, %assume, %fact, [dynamic], [bcast], typed flows and elem belong to --std=dag.\n")
CHECK(BAD_PRECISION, "bad-precision", FATAL, FATAL,
"%precision takes some of s d c z, once each",
"The letters are those of LAPACK: s and d are real, c and z complex.\n")
CHECK(MISSING_PRECISION, "missing-precision", FATAL, OFF, "elem_t or real_t without %precision",
"The element type has a meaning only in a file that begins with %precision.\n")
CHECK(SEVERAL_CPU_BODIES, "several-cpu-bodies", FATAL, FATAL,
"several CPU bodies that nothing tells apart",
"All CPU bodies of a class but the last need a property evaluate, which says whether to use it.\n")
CHECK(MISSING_CPU_BODY, "missing-cpu-body", WARN, OFF, "a class has no body for the CPU",
"Its tasks cannot run on a machine without that device.\n")

/* globals */
CHECK(OVERWRITTEN_ARGUMENT, "overwritten-argument", ERROR, WARN,
"a global is an argument and has a default",
"PaRSEC passes the argument and then overwrites it with the default. Add 'hidden = on' if the\n"
"value is computed, or remove the default if it is an argument. Under --std=parsec nothing is\n"
"said about globals that only priorities use.\n")
CHECK(UNINITIALISED_GLOBAL, "uninitialised-global", ERROR, WARN,
"a hidden global without a default",
"It is no argument and has no value. Add a default or remove 'hidden'.\n")
CHECK(HIDDEN_OFF, "hidden-off", OFF, WARN, "hidden = off, which PaRSEC reads as hidden",
"PaRSEC tests only whether the property is there.\n")
CHECK(GLOBAL_CODE, "global-code", FATAL, ERROR, "inline C in the value of a global",
"The value is computed before there is a taskpool. Compute it in the program and pass it.\n")
CHECK(MISSING_ELEM, "missing-elem", ERROR, OFF, "a matrix does not say what its elements are",
"Write A [type = \"dag_matrix *\" elem = double], or make the file a template with %precision.\n")

/* expressions */
CHECK(NOT_AN_INTEGER, "not-an-integer", FATAL, ERROR,
"a value that is no integer in an expression",
"Expressions are computed with 64-bit integers. Strings, floating-point globals, collections and\n"
"flows cannot be used in them.\n")
CHECK(DIVISION_BY_ZERO, "division-by-zero", ERROR, WARN, "a division by the constant 0",
"The constructor or a task would fail at run time.\n")
CHECK(CONSTANT_OVERFLOW, "constant-overflow", ERROR, WARN,
"a constant expression overflows 64 bits",
"Expressions are computed with 64-bit integers.\n")
CHECK(ZERO_STEP, "zero-step", ERROR, ERROR, "a range with step 0",
"A range with step 0 never ends.\n")
CHECK(EMPTY_RANGE, "empty-range", WARN, WARN, "a range that is always empty",
"A range lo .. hi with lo > hi has no values; counting down needs a negative step:\n"
"'k = 9 .. 0 .. -1'.\n")
CHECK(CHAINED_COMPARISON, "chained-comparison", WARN, WARN, "a comparison of a comparison",
"'a < b < c' compares the truth value of a < b with c, as in C. Write 'a < b && b < c'.\n")
CHECK(RANGE_DEFINITION, "range-definition", ERROR, WARN,
"a local that is no parameter has a range",
"Every value of a range makes a task of its own, so that the name must be a parameter.\n")

/* calls and edges */
CHECK(CLASS_ARITY, "class-arity", FATAL, FATAL,
"a task reference with the wrong number of arguments",
"PaRSEC calls this an internal error, compiles the file and ignores the rest.\n")
CHECK(COLLECTION_ARITY, "collection-arity", FATAL, FATAL,
"a collection used with different numbers of indices",
"A matrix has two indices; other collections have the same number everywhere.\n")
CHECK(BAD_PLACEMENT, "bad-placement", FATAL, FATAL,
"a placement that is not one element of a collection",
"': A(i, j)' says on whose rank a task runs: the owner of that element.\n")
CHECK(OUTPUT_KEYWORD, "output-keyword", FATAL, FATAL, "NEW or NULL as an output",
"NEW makes a buffer and NULL is none: both are where a value may come from, not where it goes.\n")
CHECK(RANGE_INPUT, "range-input", FATAL, FATAL, "a data flow with many inputs",
"Only CTL flows gather: a data flow has one active input, or [reduce = f] combines many.\n")
CHECK(BAD_REDUCTION, "bad-reduction", FATAL, OFF, "a reduction that cannot be carried out",
"'RW S <- X Work(0 .. N-1) [reduce = f]' combines what the tasks of a range send by the C\n"
"function void f(void *into, const void *from, size_t bytes). Ranges are among the arguments;\n"
"the others, and the placement of Work, are expressions of the language.\n")
CHECK(BAD_IMPORT, "bad-import", FATAL, FATAL, "a file that cannot be imported as it is said",
"'%import left \"sweep.jdf\" [D = A  N = M - 1]' makes the classes of that file part of this one:\n"
"Class becomes left_Class. Each global of that file is bound in brackets or declared here by the same\n"
"name and type, or hidden there; a class that it names and does not have is one of this file.\n")
CHECK(BAD_FACT, "bad-fact", FATAL, FATAL, "a %fact that proofs cannot use",
"'%fact f(a, b) = EXPR' says what a C function gives, '= LO .. HI' between what it lies, 'pure',\n"
"'monotone' and 'inverse(g)' what it is like. Expressions are made of its parameters, integers and\n"
"operators: what else they need is handed over as one more parameter. A value says all there is to say.\n")
CHECK(MEMORY_RANGE, "memory-range", FATAL, ERROR, "a range in a reference to memory",
"An input reads one element. As an output under --std=dag a range stores to each element.\n")
CHECK(CONTROL_DATA, "control-data", FATAL, FATAL, "a CTL flow connected to data",
"CTL flows order tasks and carry nothing: their other end is a CTL flow of a task.\n")
CHECK(WRITE_INPUT, "write-input", FATAL, ERROR, "a WRITE flow with an input other than NEW",
"A WRITE flow gets a fresh buffer. Use RW to change a value that comes from elsewhere.\n")
CHECK(MISSING_INPUT, "missing-input", FATAL, FATAL, "a READ or RW flow without an input",
"Say where the value comes from: '<- A(i, j)', '<- FLOW Class(...)' or '<- NEW'.\n")
CHECK(MISSING_OUTPUT, "missing-output", WARN, WARN, "a flow is written and goes nowhere",
"Nobody will see what the body writes: only '-> A(i, j)' changes an element.\n")
CHECK(UNREACHABLE_INPUT, "unreachable-input", ERROR, WARN,
"an input behind one that always applies",
"A data flow has exactly one active input; this one can never be it.\n")
CHECK(NULL_FORWARD, "null-forward", FATAL, WARN, "a flow that is NULL is forwarded or stored",
"NULL means that there is no data; there is nothing to send or to store:\n"
EXAMPLE_D_N
EXAMPLE_CLASS("T(k)", "k = 0 .. N-1", "D(k)")
"    RW X <- (k > 0) ? D(k) : NULL\n"
"         -> D(k)\n"
EXAMPLE_BODY("step(X)")
"Guard the output, so that it is not active where the input is NULL: '-> (k > 0) ? D(k)'.\n")
CHECK(UNTYPED_BUFFER, "untyped-buffer", ERROR, OFF, "a fresh buffer of unknown shape",
"A WRITE flow, or NEW, makes a buffer shaped like the element it is stored to. If it is not\n"
"stored, in every instance, say what it looks like: <- NEW [type = ...].\n")
CHECK(TYPE_CONFLICT, "type-conflict", ERROR, OFF, "an edge connects different element types",
"The type of a flow follows from the collections that its value comes from and goes to.\n")
CHECK(DUPLICATE_EDGE, "duplicate-edge", ERROR, WARN, "the same dependency is written twice",
"The task would get the same value twice:\n"
EXAMPLE_D_N
EXAMPLE_CLASS("S(k)", "k = 0 .. N-1", "D(k)")
"    RW X <- D(k)\n"
"         -> Y R(k)\n"
"         -> (k == 0) ? Y R(0)\n"
"    BODY\n"
"      step(X);\n"
"    END\n"
EXAMPLE_CLASS("R(k)", "k = 0 .. N-1", "D(k)")
"    READ Y <- X S(k)\n"
EXAMPLE_BODY("step(Y)")
"R(0) gets it by both lines. Remove one of the two, or let their guards and ranges exclude each\n"
"other.\n")
CHECK(MISSING_SIDE, "missing-side", ERROR, ERROR, "an edge is written on one side only",
"Every edge between tasks is written twice: as '->' at the task that produces the value, and as\n"
"'<-' at the task that consumes it. The message shows the line that is missing:\n"
EXAMPLE_D_N
EXAMPLE_CLASS("S(k)", "k = 0 .. N-1", "D(k)")
"    RW X <- D(k)\n"
"         -> Y R(k)\n"
"    BODY\n"
"      step(X);\n"
"    END\n"
EXAMPLE_CLASS("R(k)", "k = 0 .. N-1", "D(k)")
"    READ Y <- D(k)\n"
EXAMPLE_BODY("step(Y)")
"Y of R needs '<- X S(k)'. dagcc --complete writes such lines.\n")

/* unused things */
CHECK(UNUSED_GLOBAL, "unused-global", WARN, OFF, "a global that nothing uses",
"Remove it; every global that is not hidden is an argument of the constructor.\n")
CHECK(UNUSED_DEFINITION, "unused-definition", WARN, OFF, "a local that nothing uses",
"No expression and no body uses it.\n")
CHECK(UNUSED_INDEX, "unused-index", WARN, OFF, "a local index that nothing uses",
"The dependency is repeated for each of its values, which makes equal edges.\n")
CHECK(UNUSED_FLOW, "unused-flow", WARN, OFF,
"a data flow that no body reads and no task receives",
"The task waits for the value and does nothing with it:\n"
EXAMPLE_D_N
EXAMPLE_CLASS("T(k)", "k = 0 .. N-1", "D(k)")
"    RW X <- D(k)\n"
"         -> D(k)\n"
"    READ Y <- D(k)\n"
EXAMPLE_BODY("step(X)")
"Remove the flow. A CTL flow waits without data.\n")
CHECK(UNASKED_ROUNDS, "unasked-rounds", WARN, OFF, "rounds for which no task asks",
"With %option rounds = E the graph runs again when a task of the round has called\n"
"dag_task_again(dag_task). Where no body does that, and none hands dag_task on, one round runs.\n")
CHECK(EMPTY_FILE, "empty-file", WARN, WARN, "a file without task classes",
"Nothing would run.\n")
#undef CHECK
