/* The named checks of this stage and the pages that --explain prints. null-forward, duplicate-edge,
 * missing-side and unused-flow are in the table of the front end: it finds the plain cases by name,
 * this stage the others. */
#include "verify.h"

#include "diag/pages.h"

static const diag_check table[] = {
{"edge-mismatch", ERROR, ERROR, "the two ends of an edge disagree",
"Every edge between tasks is written twice. Seen as relations between instances, what the\n"
"output side sends and what the input side waits for must be the same. Where they differ, a\n"
"value arrives that nobody waits for, or a task waits for ever:\n"
EXAMPLE_N_D
EXAMPLE_CLASS("T(k)", "k = 0 .. N-1", "D(k)")
"    RW X <- (k == 0) ? D(k) : X T(k-1)\n"
"         -> (k < N-2) ? X T(k+1) : D(k)\n"
EXAMPLE_BODY("step(X)")
"With N = 2, T(1) waits for T(0), which stores its value instead: N-2 should be N-1. The message\n"
"shows the smallest instance; the notes show the other end and, if a shift, a swap of two indices\n"
"or a guard would mend it, the text.\n"},
{"input-gap", ERROR, WARN, "a data flow has no active input in some instance",
"Exactly one input of a READ or RW flow must be active in every instance. The note says where\n"
"none is:\n"
EXAMPLE_N_D
EXAMPLE_CLASS("T(k)", "k = 0 .. N-1", "D(k)")
"    RW X <- (k > 0) ? X T(k-1)\n"
"         -> (k < N-1) ? X T(k+1) : D(k)\n"
EXAMPLE_BODY("step(X)")
"Cover that case with another input, or with NULL or NEW if that is meant. Here T(0) reads its\n"
"element: '<- (k == 0) ? D(k) : X T(k-1)'. Under --std=parsec such a flow is NULL.\n"},
{"input-overlap", ERROR, WARN, "a data flow has two active inputs in some instance",
"Exactly one input of a data flow must be active. Here T(1) has two:\n"
EXAMPLE_N_D
EXAMPLE_CLASS("T(k)", "k = 0 .. N-1", "D(k)")
"    RW X <- (k > 0) ? X T(k-1)\n"
"         <- (k < 2) ? D(k)\n"
"         -> (k < N-1) ? X T(k+1) : D(k)\n"
EXAMPLE_BODY("step(X)")
"Make the guards exclude each other; a ternary does it by itself: '<- (k > 0) ? X T(k-1) : D(k)'.\n"
"Under --std=parsec the first one whose guard holds is used.\n"},
{"out-of-space", ERROR, ERROR, "an edge names a task that does not exist",
"The arguments of a task reference must lie in the target's ranges wherever the edge is\n"
"active. An input from a task that does not exist is waited for for ever; an output to one is\n"
"an error here and is dropped without a word by PaRSEC:\n"
EXAMPLE_N_D
EXAMPLE_CLASS("T(k)", "k = 0 .. N-1", "D(k)")
"    RW X <- (k == 0) ? D(k) : X T(k-1)\n"
"         -> X T(k+1)\n"
EXAMPLE_BODY("step(X)")
"T(N-1) sends to T(N). Add the guard that keeps the edge inside: '-> (k < N-1) ? X T(k+1)'.\n"},
{"out-of-bounds", ERROR, ERROR, "a memory reference outside its matrix",
"A(i, j) needs 0 <= i < A->mt and 0 <= j < A->nt, on an edge and in the placement of a class,\n"
"whose tasks run where that element lies:\n"
"\n"
"    A [type = \"dag_matrix *\" elem = double]\n"
EXAMPLE_CLASS("T(k)", "k = 0 .. A->mt-1", "A(k, k)")
"    RW X <- A(k, k)\n"
"         -> A(k, k)\n"
EXAMPLE_BODY("step(X)")
"There is no A(1, 1) in a matrix of 2 by 1 tiles. Correct the range or the index. If the program\n"
"guarantees a relation between sizes, say so; it becomes a check in the constructor:\n"
"\n"
"    %assume A->mt == A->nt\n"},
{"remote-memory", ERROR, WARN, "a task names an element that another rank owns",
"Memory references are fetched and stored by the task itself, so that they have to be on the\n"
"rank where the task runs: same collection (or one declared aligned) with the same index as\n"
"in the placement.\n"
EXAMPLE_N_D
EXAMPLE_CLASS("T(k)", "k = 0 .. N-1", "D(k)")
"    RW X <- D(k+1)\n"
"         -> D(k+1)\n"
EXAMPLE_BODY("step(X)")
"Move the task (': D(k+1)'), or let a task that runs there read the element and send it.\n"},
{"cycle", ERROR, ERROR, "tasks wait for each other in a circle",
"None of these tasks can ever start. The message shows the shortest circle that was found:\n"
EXAMPLE_N_D
EXAMPLE_CLASS("T(k)", "k = 0 .. N-1", "D(k)")
"    CTL in  <- out T(N-1-k)\n"
"    CTL out -> in T(N-1-k)\n"
EXAMPLE_BODY("step(k)")
"T(0) waits for T(N-1), and that for T(0). Drop the edge that is one too many, by guards if it is\n"
"right elsewhere; here '(2*k > N-1) ?' at the input and '(2*k < N-1) ?' at the output.\n"},
{"cycle-undecided", WARN, WARN, "could not show that no tasks wait for each other in a circle",
"There is no affine schedule and no exact closure, and no circle among small sizes either:\n"
EXAMPLE_N_D
EXAMPLE_CLASS("T(k)", "k = 2 .. N", "D(0)")
"    CTL in  <- (k % 2 == 1 && k < N) ? out T(k+1)\n"
"            <- (k % 2 == 0 && k > 3) ? out T(k / 2)\n"
"    CTL out -> (k % 2 == 0 && k > 3) ? in T(k-1)\n"
"            -> (2*k <= N) ? in T(2*k)\n"
EXAMPLE_BODY("step(k)")
"If something grows along every edge that is no affine function of the parameters, such as\n"
"r = (p + 3*k) % 4, make it a local of the class: that is tried, and proven, too. Larger sizes\n"
"can be tried with dagcc --enumerate. -Wno-cycle-undecided accepts the file as it is.\n"},
{"write-race", ERROR, WARN, "two tasks store the same element in no order",
"In one taskpool an element, or a region of it, is stored once; or the stores are ordered by\n"
"a path of edges, then the last one counts. Here neither holds, and the result is that of chance:\n"
EXAMPLE_N_D
"\n"
"    T(i, k)\n"
"      k = 0 .. N-1\n"
"      i = 0 .. 1\n"
"    : D(k)\n"
"    WRITE X -> D(k)\n"
EXAMPLE_BODY("step(X, i)")
"Store from one of the tasks only ('-> (i == 1) ? D(k)'), to different elements, or let the value\n"
"go from one task to the next.\n"},
{"race-undecided", WARN, WARN, "could not show that two stores are ordered",
"Both stores name the same element and no path between them was found for all sizes. Small\n"
"sizes show no race.\n"
EXAMPLE_N_D
"    %assume N >= 2\n"
EXAMPLE_CLASS("Up(k)", "k = 1 .. N", "D(0)")
"    CTL in  <- (2*k <= N) ? out Up(2*k)\n"
"            <- (2*k + 1 <= N) ? out Up(2*k + 1)\n"
"    CTL out -> (k > 1) ? in Up(k / 2)\n"
"    RW X    <- D(0)\n"
"            -> (k == 1 || k == N) ? D(0)\n"
EXAMPLE_BODY("step(X)")
"Up(N) comes before Up(N/2), that before Up(N/4), and so on to Up(1). A CTL edge between the two\n"
"tasks that store settles the question. Larger sizes can be tried with dagcc --enumerate.\n"},
{"dead-class", WARN, WARN, "a task class never has a task",
"Its space is empty for all values of the parameters:\n"
EXAMPLE_N_D
EXAMPLE_CLASS("T(k)", "k = N+1 .. N", "D(k)")
"    RW X <- D(k)\n"
"         -> D(k)\n"
EXAMPLE_BODY("step(X)")
"Correct the range, or remove the class. Counting down needs a step: 'k = N+1 .. N .. -1'.\n"},
{"constant-guard", WARN, OFF, "a guard is always true or never true",
"Within the ranges of the task class the condition has one value, so that an edge is always\n"
"or never active:\n"
EXAMPLE_N_D
EXAMPLE_CLASS("T(k)", "k = 0 .. N-1", "D(k)")
"    RW X <- D(k)\n"
"         -> (k < N) ? D(k)\n"
EXAMPLE_BODY("step(X)")
"Remove the guard, or the edge. Often another bound was meant: 'k < N-1'.\n"},
{"rename", OFF, OFF, "where the runtime may have to copy a value",
"A flow carries a value, and a task that writes to it (RW) works in place only if nobody else\n"
"holds the value; otherwise it writes to a copy. Elements of a collection are modified in\n"
"place only where that is proven to be safe. The list shows the places where neither can be\n"
"taken for granted. It is about memory and time, never about correctness.\n"
EXAMPLE_N_D
EXAMPLE_CLASS("T(k)", "k = 0 .. N-1", "D(k)")
"    READ Y <- D(k)\n"
"    RW   Z <- D(k)\n"
"           -> D(k)\n"
EXAMPLE_BODY("step(Y, Z)")
"The body gets the element twice and changes one of them, so that Z may be a copy. One RW flow\n"
"for both, or READ for what is not written, needs none.\n"},
{"opaque", NOTE, NOTE, "a part of the graph that is not affine",
"Inline C, products of variables, division by variables and steps of unknown sign cannot be\n"
"checked for all sizes. Everything else is.\n"
"\n"
"    N [type = int]\n"
"    M [type = int]\n"
"    D [type = \"dag_collection *\"]\n"
EXAMPLE_CLASS("T(k)", "k = 0 .. N-1", "D(k)")
"    CTL in  <- (k * M > 3) ? out T(k-1)\n"
"    CTL out -> ((k+1) * M > 3 && k < N-1) ? in T(k+1)\n"
EXAMPLE_BODY("step(k)")
"dagcc --enumerate checks such edges, too, for given sizes; the note shows the command. With a\n"
"number in place of M, or a parameter that counts in steps of M, the edge is affine.\n"},
{"undecided", WARN, WARN, "a question took too long",
"The work for each question is bounded, so that compiling never hangs. With\n"
"--max-operations=400 this is too much:\n"
EXAMPLE_N_D
EXAMPLE_CLASS("Leaf(i)", "i = 0 .. N-1", "D(i)")
"    READ X <- D(i)\n"
"           -> Y Node((N + i) / 2)\n"
"    BODY\n"
"      step(X);\n"
"    END\n"
EXAMPLE_CLASS("Node(k)", "k = 1 .. N-1", "D(k)")
"    READ Y <- (2*k >= N) ? X Leaf(2*k - N) : D(k)\n"
EXAMPLE_BODY("step(Y)")
"dagcc --enumerate answers the question for given sizes, a larger --max-operations perhaps for\n"
"all.\n"},
{"empty-assume", ERROR, ERROR, "the assumptions contradict each other",
"No values satisfy all %assume and --assume at once, so that every proof would hold:\n"
EXAMPLE_N_D
"    %assume N > 3\n"
"    %assume N < 2\n"
EXAMPLE_CLASS("T(k)", "k = 0 .. N-1", "D(k)")
"    RW X <- D(k)\n"
"         -> D(k)\n"
EXAMPLE_BODY("step(X)")
"Remove the assumption that is wrong. Of matrices m, n >= 0 and mb, nb >= 1 are known, too.\n"},
{"not-completed", ERROR, ERROR, "--complete could not derive the other side of an edge",
"The other end is no function of the target's parameters that could be written as a line, or as\n"
"one line for each of a few pieces, or the edge is not affine:\n"
EXAMPLE_N_D
"\n"
"    Pair(i, j)\n"
"      i = 0 .. N-1\n"
"      j = 0 .. N-1\n"
"    : D(i)\n"
"    RW X <- D(i)\n"
"         -> Y Sum(i + j)\n"
"    BODY\n"
"      step(X);\n"
"    END\n"
EXAMPLE_CLASS("Sum(s)", "s = 0 .. 2*N-2", "D(s)")
"    READ Y\n"
EXAMPLE_BODY("step(Y)")
"Sum(1) would get two values. Write the other end by hand, with more parameters where needed;\n"
"edge-mismatch checks it.\n"},
{"different", FATAL, FATAL, "two graphs that --same compares differ",
"dagcc --same A.jdf B.jdf proves that two files have the same tasks, the same data edges between\n"
"flows, and read and store the same elements, for all parameters that both files allow. The message\n"
"shows the smallest difference. Classes, parameters, flows and globals are matched by name, and\n"
"--rename NAME=NAME,... says which name of the first file is which of the second (CLASS.NAME for a\n"
"parameter or flow of one class). Classes that only hand on one flow (no body) count as edges, and\n"
"control edges do not count; with --same=control both count as they are written. A parameter that\n"
"one file lacks may have one value, and flows that are always NULL are no flows. --assume narrows\n"
"the question. Bodies, kinds of flows, placements and priorities are not compared.\n"},
{"not-compared", FATAL, FATAL, "whether two graphs are the same could not be decided",
"What is not affine is taken to be the same if both files say it in the same words. Where they do\n"
"not, and nothing else differs, --same has no answer (exit status 3). --assume may fix a value that\n"
"makes the expression affine, --max-operations helps where isl gave up.\n"},
{"wrong-fact", FATAL, FATAL, "a C function gives another value than a %fact says",
"Proofs believe '%fact f(a) = EXPR' and what other facts say (LO .. HI, pure, monotone, inverse(g)).\n"
"--enumerate calls the function wherever inline C does, and compares:\n"
"\n"
"    extern \"C\" %{\n"
"    static int half(int i) { return (i + 1) / 2; }\n"
"    %}\n"
"    N [type = int]\n"
"    D [type = \"dag_vector *\"]\n"
"    %assume N >= 1\n"
"    %fact half(i) = i / 2\n"
EXAMPLE_CLASS("T(k)", "k = 0 .. %{ return half(N); %}", "D(k)")
"    RW X <- D(k)\n"
"         -> D(k)\n"
"    BODY\n"
"    END\n"
"\n"
"With N = 3 the function gives 2, the fact 1.\n"},
{"values", FATAL, FATAL, "parameter values on the command line that cannot be used",
"--enumerate, --count and --emit=dot take NAME=VALUE,... where a name is spelled as in the\n"
"file (NT=5, A->mt=5). N stands for every tile count and free integer that is not named, P\n"
"and Q for the process grid (1 if not given).\n"},
};

const diag_check *const verify_checks = table;
const size_t verify_check_count = sizeof(table) / sizeof(table[0]);
