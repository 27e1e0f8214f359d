/* The named checks of this stage and the pages that --explain prints. null-forward, duplicate-edge,
 * missing-side and unused-flow are in the table of the front end: it finds the plain cases by name,
 * this stage the others. */
#include "verify.h"

#define OFF DIAG_OFF
#define NOTE DIAG_NOTE
#define WARN DIAG_WARNING
#define ERROR DIAG_ERROR
#define FATAL DIAG_FATAL

static const diag_check table[] = {
{"edge-mismatch", ERROR, ERROR, "the two ends of an edge disagree",
"Every edge between tasks is written twice. Seen as relations between instances, what the\n"
"output side sends and what the input side waits for must be the same. Where they differ, a\n"
"value arrives that nobody waits for, or a task waits for ever.\n"
"\n"
"    T1(k)                          T2(k)\n"
"      k = 0 .. N-1                   k = 0 .. N-1\n"
"    RW X <- A(k)                   RW Y <- (k > 5) ? X T1(k-1) : B(k)\n"
"         -> (k < N-1) ? Y T2(k+1)\n"
"\n"
"T1(0) sends to T2(1), which reads B(1) instead. The message shows the smallest instance; the\n"
"notes show the other end and, if a shift, a swap of two indices or a guard would mend it,\n"
"the text.\n"},
{"input-gap", ERROR, WARN, "a data flow has no active input in some instance",
"Exactly one input of a READ or RW flow must be active in every instance. The note says where\n"
"none is. Cover that case with another input, or with NULL or NEW if that is meant:\n"
"\n"
"    RW C <- (k > 0) ? C Step(m, k-1)         k == 0 has no input\n"
"    RW C <- (k == 0) ? A(m, k) : C Step(m, k-1)\n"
"\n"
"Under --std=parsec such a flow is NULL.\n"},
{"input-overlap", ERROR, WARN, "a data flow has two active inputs in some instance",
"Exactly one input of a data flow must be active. Make the guards exclude each other; a\n"
"ternary does it by itself. Under --std=parsec the first one whose guard holds is used.\n"},
{"out-of-space", ERROR, ERROR, "an edge names a task that does not exist",
"The arguments of a task reference must lie in the target's ranges wherever the edge is\n"
"active. An input from a task that does not exist is waited for for ever; an output to one is\n"
"an error here and is dropped without a word by PaRSEC. Add the guard that keeps the edge\n"
"inside:\n"
"\n"
"    -> X T(k+1)                    k = N-1 sends to T(N)\n"
"    -> (k < N-1) ? X T(k+1)\n"},
{"out-of-bounds", ERROR, ERROR, "a memory reference outside its matrix",
"A(i, j) needs 0 <= i < A->mt and 0 <= j < A->nt, on an edge and in the placement of a class,\n"
"whose tasks run where that element lies. If the program guarantees a relation\n"
"between sizes, say so; it becomes a check in the constructor:\n"
"\n"
"    %assume A->mt == A->nt\n"},
{"remote-memory", ERROR, WARN, "a task names an element that another rank owns",
"Memory references are fetched and stored by the task itself, so that they have to be on the\n"
"rank where the task runs: same collection (or one declared aligned) with the same index as\n"
"in the placement. Move the task, or let a task that runs there read the element and send it.\n"},
{"cycle", ERROR, ERROR, "tasks wait for each other in a circle",
"None of these tasks can ever start. The message shows the shortest circle that was found.\n"},
{"cycle-undecided", WARN, WARN, "could not show that no tasks wait for each other in a circle",
"There is no affine schedule and no exact closure, and no circle among small sizes either.\n"
"If something grows along every edge that is no affine function of the parameters, such as\n"
"r = (p + 3*k) % 4, make it a local of the class: that is tried, and proven, too. Larger sizes\n"
"can be tried with dagcc --enumerate.\n"},
{"write-race", ERROR, WARN, "two tasks store the same element in no order",
"In one taskpool an element, or a region of it, is stored once; or the stores are ordered by\n"
"a path of edges, then the last one counts. Here neither holds.\n"},
{"race-undecided", WARN, WARN, "could not show that two stores are ordered",
"Both stores name the same element and no path between them was found for all sizes. Small\n"
"sizes show no race. A CTL edge between the two tasks settles the question.\n"},
{"dead-class", WARN, WARN, "a task class never has a task",
"Its space is empty for all values of the parameters.\n"},
{"constant-guard", WARN, OFF, "a guard is always true or never true",
"Within the ranges of the task class the condition has one value, so that an edge is always\n"
"or never active. Remove the guard, or the edge.\n"},
{"rename", OFF, OFF, "where the runtime may have to copy a value",
"A flow carries a value, and a task that writes to it (RW) works in place only if nobody else\n"
"holds the value; otherwise it writes to a copy. Elements of a collection are modified in\n"
"place only where that is proven to be safe. The list shows the places where neither can be\n"
"taken for granted. It is about memory and time, never about correctness.\n"},
{"opaque", NOTE, NOTE, "a part of the graph that is not affine",
"Inline C, products of variables, division by variables and steps of unknown sign cannot be\n"
"checked for all sizes. Everything else is. dagcc --enumerate checks such edges, too, for\n"
"given sizes.\n"},
{"undecided", WARN, WARN, "a question took too long",
"The work for each question is bounded, so that compiling never hangs. dagcc --enumerate\n"
"answers the question for given sizes.\n"},
{"empty-assume", ERROR, ERROR, "the assumptions contradict each other",
"No values satisfy all %assume and --assume at once, so that every proof would hold.\n"},
{"not-completed", ERROR, ERROR, "--complete could not derive the other side of an edge",
"The other end is no function of the target's parameters that could be written as one line,\n"
"or the edge is not affine. Write it by hand; edge-mismatch checks it.\n"},
{"values", FATAL, FATAL, "parameter values on the command line that cannot be used",
"--enumerate, --count and --emit=dot take NAME=VALUE,... where a name is spelled as in the\n"
"file (NT=5, A->mt=5). N stands for every tile count and free integer that is not named, P\n"
"and Q for the process grid (1 if not given).\n"},
};

const diag_check *const verify_checks = table;
const size_t verify_check_count = sizeof(table) / sizeof(table[0]);
