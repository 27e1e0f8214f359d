#include <check.h>
#include <stdio.h>

START_TEST(passes)
{
    ck_assert_int_eq(1 + 1, 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("probe");
    TCase *tests = tcase_create("probe");
    SRunner *runner;
    int failed;

    tcase_add_test(tests, passes);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_SILENT);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    printf("check %d.%d.%d\n", check_major_version, check_minor_version, check_micro_version);
    return failed;
}
