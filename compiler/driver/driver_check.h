/* dagcc --serial-check NAME.seq.c. */
#ifndef DAGCC_DRIVER_CHECK_H
#define DAGCC_DRIVER_CHECK_H

#include "driver_compile.h"
#include "frontend.h"
#include "plan/plan.h"

/* Makes a program of the nest in o->checked: adds what is known of the parameters of the graph. */
void check_prepare(const driver_options *o, const frontend *f, const plan *p, unit *u);
/* Compiles the graph and that program, and runs it. The exit status: 0 nest and graph agree, 1 they
 * do not, 2 there is no input for them. */
int check_run(const driver_options *o, const unit *u, const char *temp_dir);

#endif
