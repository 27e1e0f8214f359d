/* What the tests of the Matrix Market library share: a directory of its own for each, with one file. */
#ifndef TEST_MTX_H
#define TEST_MTX_H

#include <dag/mtx.h>

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "%%MatrixMarket matrix "
#define CRG HEAD "coordinate real general\n"

extern char directory[64];
extern char path[128]; /* of the file under test */

void put_text(const char *text);
char *get_text(void);
/* The error is of this file, with this message behind its path. */
void check_message(const char *error, const char *message);
/* For dag_mtx_each() of a column: the values are those of an array of doubles, to the last bit. */
bool expect_values(void *user, int64_t i, int64_t j, double re, double im);

void add_number_tests(TCase *tc);
void add_write_tests(TCase *tc);

#endif
