/* The setting @name@: its row, and what it changes. */
#include "../common/run_suite.h"
#include "settings.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static char why[512];

START_TEST(row)
{
    dag_config *resolved = NULL;
    dagi_settings settings;
    setenv("DAG_@NAME@", "1", 1);
    ck_assert_msg(dagi_settings_resolve(NULL, &resolved, &settings, why, sizeof why) == DAG_SUCCESS,
                  "%s", why);
    ck_assert_int_eq(settings.@name@, 1);
    dag_setting s = {0};
    for (int i = 0; dagi_settings_get(resolved, i, &s) && strcmp(s.name, "@name@") != 0; i++)
        continue;
    ck_assert_str_eq(s.origin, "environment");
    ck_assert_msg(*s.meaning, "runtime/base/settings.c: say what @name@ means");
    dag_config_free(resolved);
}
END_TEST

START_TEST(effect)
{
    ck_abort_msg("tests/unit/test_setting_@name@.c: show what @name@ changes");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("setting_@name@");
    TCase *tc = tcase_create("@name@");
    tcase_add_test(tc, row);
    tcase_add_test(tc, effect);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
