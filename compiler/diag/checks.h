/* The named checks of lexer, parser and sema: one table for --list-checks, --explain and -W. */
#ifndef DAGCC_CHECKS_H
#define DAGCC_CHECKS_H

#include "diag.h"

typedef enum check_id {
#define CHECK(number, ...) CHECK_##number,
#include "check_table.h"
    CHECK_COUNT
} check_id;

extern const diag_check check_table[CHECK_COUNT];

#endif
