#include "checks.h"

#include "pages.h"

const diag_check check_table[CHECK_COUNT] = {
#define CHECK(number, ...) [CHECK_##number] = {__VA_ARGS__},
#include "check_table.h"
};
