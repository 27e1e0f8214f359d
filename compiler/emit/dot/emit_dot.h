/* The graph of the classes for Graphviz: nodes are classes, edges are dependencies labelled with
 * flow, guard and arguments. Works on what sema found, also where no C can be made. */
#ifndef DAGCC_EMIT_DOT_H
#define DAGCC_EMIT_DOT_H

#include "diag/util.h"
#include "sema/sema.h"

void emit_dot(const sema_info *info, text *out);

#endif
