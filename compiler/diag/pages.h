/* For the tables of named checks: their severities, and what the examples on the pages of --explain begin and end with. */
#ifndef DAGCC_PAGES_H
#define DAGCC_PAGES_H

#include "diag.h"

#define OFF DIAG_OFF
#define NOTE DIAG_NOTE
#define WARN DIAG_WARNING
#define ERROR DIAG_ERROR
#define FATAL DIAG_FATAL

#define EXAMPLE_N "    N [type = int]\n"
#define EXAMPLE_D "    D [type = \"dag_collection *\"]\n"
#define EXAMPLE_N_D "\n" EXAMPLE_N EXAMPLE_D
#define EXAMPLE_D_N "\n" EXAMPLE_D EXAMPLE_N
#define EXAMPLE_CLASS(head, range, place) "\n    " head "\n      " range "\n    : " place "\n"
#define EXAMPLE_BODY(call) "    BODY\n      " call ";\n    END\n\n"

#endif
