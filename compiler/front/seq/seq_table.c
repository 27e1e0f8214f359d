/* The named checks of this folder and the pages that --explain prints. */
#include "seq.h"

#include "diag/pages.h"

const diag_check seq_checks[] = {
{"seq-syntax", FATAL, FATAL, "a sequential nest that is not understood",
"A NAME.seq.c has kernels, each a function under '#pragma dag task' that names its tiles, and one\n"
"function under '#pragma dag graph' that holds the nest:\n"
"\n"
"    #include <dag/sequential.h>\n"
"    #define A(i, j) DAG_AT(A, i, j)\n"
"\n"
"    #pragma dag task in(T) inout(C)\n"
"    static void UPDATE(DAG_TILE(T), DAG_TILE(C))\n"
"    {\n"
"        C[0] += T[0];\n"
"    }\n"
"\n"
"    #pragma dag graph precision(s d c z)\n"
"    static void sums(dag_matrix *A)\n"
"    {\n"
"        for (int k = 1; k < A->mt; k++)\n"
"            UPDATE(A(k - 1, 0), A(k, 0));\n"
"    }\n"
"\n"
"The nest has 'for' with a constant step, 'if', 'else', blocks, definitions of integers, and calls of\n"
"kernels. All else is C: it is copied, or refused inside the nest.\n"},
{"seq-control", FATAL, FATAL, "a nest whose course depends on more than loops and conditions",
"While, break, continue, goto and return make what runs next depend on what ran before. A graph is\n"
"known before it runs: say it with 'for' and 'if', or write it as a .jdf, whose guards may depend on\n"
"data ([dynamic]). A kernel, too, runs to its end: instead of an early return, put the rest of it\n"
"under a condition.\n"},
{"seq-call", FATAL, FATAL, "a call in a nest does not fit its kernel",
"A call hands a tile of a matrix, 'A(i, j)', to each tile that the kernel's pragma names, and any\n"
"expression without side effects to the others. A parameter may have the name of a counter only if\n"
"it gets the value of that counter: in the graph both are one name.\n"},
{"seq-place", FATAL, FATAL, "it is not known where a task of a nest runs",
"A task runs on the rank of the tile that it writes. One that writes several tiles, or none, says at\n"
"which it runs:\n"
"\n"
"    #pragma dag task inout(R, C) at(C)\n"},
{"seq-affine", FATAL, FATAL, "a bound, a condition or a subscript of a nest is not affine",
"Edges are derived for all values of the parameters. That needs bounds, conditions and subscripts that\n"
"are sums of counters, parameters and constants, each times a constant; min, max, ?:, and division and\n"
"remainder by constants are understood, too. '2 * i + n - 1' is affine, 'i * j' and 'n / k' are not. A\n"
"graph that needs more can be written as a .jdf; a nest that needs more can insert its tasks while it runs,\n"
"which 'dagcc --emit=insert' makes a program for.\n"},
{"seq-alias", FATAL, FATAL, "one call of a nest has a tile under two names and writes it",
"In a task each tile is a value of its own. Were one tile given to a call twice, what is written under\n"
"one name would not be seen under the other, as it is when the nest runs serially. Change the bounds so\n"
"that it does not happen, add a kernel for that case, or rule the case out with 'assume'.\n"},
{"seq-unsupported", FATAL, FATAL, "a nest that dagcc does not understand yet",
"Of a tile of which kernels change regions, each part is stored by the task that changed it last; where\n"
"that is the diagonal alone, the region has no name: let a later kernel change LOWER or UPPER instead of\n"
"the strict one. Arrays inside a nest are arrays of tiles, 'DAG_TILES(W, A);', which is said outside of\n"
"loops and conditions.\n"},
{"seq-unwritten", FATAL, FATAL, "a nest reads a tile of an array inside it that no task wrote",
"Tiles of an array that DAG_TILES declares have no memory: each begins in a task that writes it as a\n"
"whole, 'out(W)'. Write it before it is read, change the bounds so that the task of the message is not\n"
"there, rule the case out with 'assume', or make the array a parameter of the graph.\n"},
{"seq-undecided", FATAL, FATAL, "the edges of a nest could not be derived",
"Deriving edges took more work than is allowed (--max-operations), or an edge cannot be written in the\n"
"language. Divide the nest, simplify its subscripts, or write the graph as a .jdf.\n"},
};

const size_t seq_check_count = UTIL_COUNT(seq_checks);
