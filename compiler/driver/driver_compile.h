/* The driver's work on generated text. Private to driver*.c. */
#ifndef DAGCC_DRIVER_COMPILE_H
#define DAGCC_DRIVER_COMPILE_H

#include "driver.h"

/* One .jdf file and what was made of it. */
typedef struct unit {
    const char *input;
    bool precisions;            /* a %precision file */
    words inlined;              /* the files that it imports */
    text out;                   /* C, or what --emit and --format print */
    text header;
    const char *wrong_values;   /* of --serial-check: what is wrong with them; NULL */
} unit;

/* Name of the output for an input under the current action; "-" is standard output. */
const char *compile_output(const driver_options *o, const char *input);
const char *compile_temp_path(const driver_options *o, const char *dir, const char *input,
                              const char *extension);
/* False and a message when the base names of two inputs are equal. */
bool compile_names_differ(const driver_options *o, const unit *units, size_t n);
/* False and a message when an output is an input, by whatever name, or another output. */
bool compile_outputs_are_safe(const driver_options *o);
/* The same for the files that u imports. */
bool compile_imports_are_safe(const driver_options *o, const unit *u);
bool compile_write_emitted(const driver_options *o, const unit *u);
/* Headers that the prologue includes lie beside the input. */
void compile_source_dir(const driver_options *o, const unit *u, words *command);
/* Compiles the C of one unit, which it writes to temp_dir, into `object`; the exit status. */
int compile_unit(const driver_options *o, const unit *u, const char *temp_dir, const char *object);
/* -c and linking; returns the exit status. */
int compile_units(const driver_options *o, const unit *units, size_t n, const char *temp_dir);

#endif
