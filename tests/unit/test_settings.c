/* The settings: sources and their order, parsing, messages. */
#include "../common/run_suite.h"
#include "settings.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static dag_config *resolved;
static dagi_settings settings;
static char why[512];

static dag_status resolve(const dag_config *api)
{
    dag_config_free(resolved);
    resolved = NULL;
    why[0] = '\0';
    return dagi_settings_resolve(api, &resolved, &settings, why, sizeof why);
}

static void setup(void)
{
    unsetenv("DAG_CONFIG");
    unsetenv("DAG_THREADS");
    unsetenv("DAG_CHAOS");
}

static void teardown(void)
{
    dag_config_free(resolved);
    resolved = NULL;
}

/* The setting of this name, as the list of all has it. */
static dag_setting setting(const char *name)
{
    dag_setting s;
    for (int i = 0; dagi_settings_get(resolved, i, &s); i++)
        if (strcmp(s.name, name) == 0)
            return s;
    ck_abort_msg("%s is missing", name);
}

/* A file that the test removes. */
static char path[64];
static void write_file(const char *text)
{
    strcpy(path, "/tmp/dag_settings_XXXXXX");
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    setenv("DAG_CONFIG", path, 1);
}

START_TEST(defaults)
{
    ck_assert_int_eq(resolve(NULL), DAG_SUCCESS);
    ck_assert_int_eq(settings.threads, 0);
    ck_assert_int_eq(settings.bind, 1);
    ck_assert_str_eq(settings.sched, "local");
    ck_assert_int_eq(settings.credit_bytes, 1 << 20);
    ck_assert(settings.stall_time == 1.0);
    ck_assert_int_eq(settings.warnings, 1);
    ck_assert_int_eq(settings.insert_window, 4096);
    ck_assert_str_eq(setting("threads").origin, "default");
}
END_TEST

START_TEST(later_sources_win)
{
    write_file("# a comment\nthreads = 3\n\n  sched=global # another\neager_bytes = 8k\n");
    ck_assert_int_eq(resolve(NULL), DAG_SUCCESS);
    ck_assert_int_eq(settings.threads, 3);
    ck_assert_str_eq(settings.sched, "global");
    ck_assert_int_eq(settings.eager_bytes, 8192);
    setenv("DAG_THREADS", "4", 1);
    ck_assert_int_eq(resolve(NULL), DAG_SUCCESS);
    ck_assert_int_eq(settings.threads, 4);
    ck_assert_str_eq(setting("threads").origin, "environment");
    ck_assert_str_eq(setting("sched").origin, "file");
    dag_config *api = dag_config_new();
    ck_assert_int_eq(dag_config_set(api, "threads", "5", why, sizeof why), DAG_SUCCESS);
    ck_assert_int_eq(resolve(api), DAG_SUCCESS);
    ck_assert_int_eq(settings.threads, 5);
    ck_assert_str_eq(setting("threads").origin, "API");
    dag_config_free(api);
    unlink(path);
}
END_TEST

START_TEST(unknown_keys_are_errors)
{
    setenv("DAG_TREADS", "4", 1);
    ck_assert_int_eq(resolve(NULL), DAG_ERR_SETTING);
    ck_assert_msg(strstr(why, "DAG_TREADS") && strstr(why, "DAG_THREADS"), "%s", why);
    unsetenv("DAG_TREADS");
    setenv("DAG_threads", "4", 1);
    ck_assert_int_eq(resolve(NULL), DAG_ERR_SETTING);
    unsetenv("DAG_threads");
    setenv("DAG_FOO", "4", 1); /* near nothing */
    ck_assert_int_eq(resolve(NULL), DAG_ERR_SETTING);
    ck_assert_msg(strstr(why, "DAG_FOO") && !strstr(why, "mean"), "%s", why);
    unsetenv("DAG_FOO");
    setenv("DAG_CONFG", "4", 1);
    ck_assert_int_eq(resolve(NULL), DAG_ERR_SETTING);
    ck_assert_msg(strstr(why, "did you mean DAG_CONFIG?") != NULL, "%s", why);
    unsetenv("DAG_CONFG");
    dag_config *api = dag_config_new();
    ck_assert_int_eq(dag_config_set(api, "shced", "local", why, sizeof why), DAG_ERR_SETTING);
    ck_assert_msg(strstr(why, "did you mean 'sched'") != NULL, "%s", why);
    dag_config_free(api);
    write_file("threads = 2\nwarning = on\n");
    ck_assert_int_eq(resolve(NULL), DAG_ERR_SETTING);
    ck_assert_msg(strstr(why, ":2:") && strstr(why, "'warnings'"), "%s", why);
    unlink(path);
}
END_TEST

START_TEST(a_directory_is_no_file)
{
    setenv("DAG_CONFIG", "/", 1);
    ck_assert_int_eq(resolve(NULL), DAG_ERR_IO);
    ck_assert_msg(strstr(why, "'/'") != NULL, "%s", why);
}
END_TEST

static const struct bad {
    const char *key, *value;
} bad[] = {
    {"threads", "-1"},     {"threads", "two"},     {"threads", ""},        {"threads", "3x"},
    {"threads", "100000"}, {"sched", "fast"},      {"bind", "maybe"},      {"chaos", "-3"},
    {"chaos", "0x10"},     {"credit_bytes", "1"},  {"credit_bytes", "1z"}, {"stall_time", "soon"},
    {"stall_time", "-1"},  {"stall_time", "nan"},  {"summary", "perhaps"}, {"bcast", "tree"},
    {"credit_bytes", "99999999999G"},              {"threads", "99999999999999999999"},
    {"insert_window", "0"},
};

START_TEST(bad_values_are_errors)
{
    const struct bad *b = &bad[_i];
    dag_config *api = dag_config_new();
    ck_assert_int_eq(dag_config_set(api, b->key, b->value, why, sizeof why), DAG_ERR_SETTING);
    ck_assert_msg(strstr(why, b->key) != NULL, "%s", why);
    ck_assert_int_eq(resolve(api), DAG_SUCCESS); /* nothing was kept */
    dag_config_free(api);
}
END_TEST

START_TEST(good_values)
{
    dag_config *api = dag_config_new();
    const struct bad good[] = {{"threads", "1"},   {"chaos", "18446744073709551615"},
                               {"stall_time", "0.25"}, {"summary", "YES"},
                               {"bcast", "ring"},  {"credit_bytes", "2MiB"}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        ck_assert_int_eq(dag_config_set(api, good[i].key, good[i].value, why, sizeof why),
                         DAG_SUCCESS);
    ck_assert_int_eq(resolve(api), DAG_SUCCESS);
    ck_assert_int_eq(settings.threads, 1);
    ck_assert(settings.chaos == UINT64_MAX);
    ck_assert(settings.stall_time == 0.25);
    ck_assert_int_eq(settings.summary, 1);
    ck_assert_int_eq(settings.bcast.shapes, DAG_BCAST_RING);
    ck_assert_int_eq(settings.credit_bytes, 2 << 20);
    dag_config_free(api);
}
END_TEST

/* Shapes of broadcasts, as they are written and as they are said. */
START_TEST(shapes_in_words)
{
    static const struct bad words[] = {
        {"auto", "auto"}, {" Flat ", "flat"}, {"scatter", "scatter"}, {"hier", "hier(node, binomial, binomial)"},
        {"hier(4)", "hier(4, binomial, binomial)"}, {"hier(node,chain,flat)", "hier(node, chain, flat)"},
        {"HIER( 8 , ring, hier(node, flat, hier(2, chain, binomial) ) )",
         "hier(8, ring, hier(node, flat, hier(2, chain, binomial)))"}};
    static const char *const wrong[] = {"", "tree", "hier(", "hier()", "hier(0)", "hier(4, chain)", "hier(-2)",
        "hier(node, scatter, flat)", "hier(node, flat, scatter)", "hier(2, auto, flat)", "hier(2, flat, auto)",
        "hier(2, hier(2, flat, flat), flat)", "hier(4) 2", "chain ring", "hier(99999999999)",
        "hier(2, flat, hier(2, flat, hier(2, flat, hier(2))))", "hier(2, flat, flat"};
    char text[DAGI_BCAST_NAME];
    dag_bcast_tree tree, again;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        ck_assert_msg(dagi_bcast_parse(words[i].key, &tree), "%s", words[i].key);
        ck_assert_str_eq(dagi_bcast_name(&tree, text, sizeof text), words[i].value);
        ck_assert(dagi_bcast_parse(text, &again) && memcmp(&tree, &again, sizeof tree) == 0);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(!dagi_bcast_parse(wrong[i], &tree), "%s", wrong[i]);
    ck_assert(dagi_bcast_parse("hier(2147483647, binomial, hier(2147483647, binomial, "
                               "hier(2147483647, binomial, binomial)))", &tree));
    ck_assert_uint_lt(strlen(dagi_bcast_name(&tree, text, sizeof text)), sizeof text - 1);
}
END_TEST

START_TEST(bad_files)
{
    write_file("threads\n");
    ck_assert_int_eq(resolve(NULL), DAG_ERR_SETTING);
    ck_assert_msg(strstr(why, "key = value") != NULL, "%s", why);
    unlink(path);
    write_file("threads = 1\nthreads = 2\n");
    ck_assert_int_eq(resolve(NULL), DAG_ERR_SETTING);
    ck_assert_msg(strstr(why, "twice") != NULL, "%s", why);
    unlink(path);
    ck_assert_int_eq(resolve(NULL), DAG_ERR_IO);
}
END_TEST

START_TEST(list_has_every_setting)
{
    ck_assert_int_eq(resolve(NULL), DAG_SUCCESS);
    const char *names[] = {"threads", "bind", "sched", "eager_bytes", "credit_bytes", "bells",
                           "bcast", "chaos", "stall_time", "summary", "warnings"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        dag_setting s = setting(names[i]);
        ck_assert_ptr_nonnull(s.value);
        ck_assert_str_eq(s.origin, "default");
        ck_assert_str_ne(s.meaning, "");
    }
}
END_TEST

/* An old name writes the same field; who is nearer to the program wins, by whichever name. */
START_TEST(old_names_have_their_place)
{
    dag_config *api = dag_config_new();
    setenv("DAG_DEVICE_MEMORY", "cuda=8G, opencl=2G", 1);
    ck_assert_int_eq(dag_config_set(api, "cuda_memory", "4G", why, sizeof why), DAG_SUCCESS);
    ck_assert_int_eq(resolve(api), DAG_SUCCESS);
    ck_assert(settings.kind[1].memory == INT64_C(4) << 30);
    ck_assert(settings.kind[2].memory == INT64_C(2) << 30);
    static const char told[] = "cuda_memory\0" "1G\0" "opencl_memory\0" "1G\0";
    dag_config_free(api);
    ck_assert_int_eq(resolve(NULL), DAG_SUCCESS);
    dagi_settings_hear(resolved, &settings, told);
    ck_assert(settings.kind[1].memory == INT64_C(8) << 30);
    unsetenv("DAG_DEVICE_MEMORY");
    ck_assert_int_eq(resolve(NULL), DAG_SUCCESS);
    dagi_settings_hear(resolved, &settings, told);
    ck_assert(settings.kind[1].memory == INT64_C(1) << 30);
}
END_TEST

START_TEST(too_long_to_be_told)
{
    static char text[DAGI_SETTINGS_TOLD];
    char *end = text;
    while (end + 8 < text + sizeof text) {
        strcpy(end, "cuda=1,");
        end += 7;
    }
    strcpy(end - 1, "");
    setenv("DAG_DEVICE_MEMORY", text, 1);
    ck_assert_int_eq(resolve(NULL), DAG_ERR_SETTING);
    ck_assert_ptr_nonnull(strstr(why, "bytes together"));
    unsetenv("DAG_DEVICE_MEMORY");
}
END_TEST

START_TEST(null_arguments)
{
    dag_config *api = dag_config_new();
    ck_assert_int_eq(dag_config_set(NULL, "threads", "1", NULL, 0), DAG_ERR_ARG);
    ck_assert_int_eq(dag_config_set(api, NULL, "1", NULL, 0), DAG_ERR_ARG);
    ck_assert_int_eq(dag_config_set(api, "threads", NULL, NULL, 0), DAG_ERR_ARG);
    ck_assert_int_eq(dag_config_set(api, "nonsense", "1", NULL, 0), DAG_ERR_SETTING);
    dag_config_free(api);
    dag_config_free(NULL);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("settings");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, defaults);
    tcase_add_test(t, later_sources_win);
    tcase_add_test(t, unknown_keys_are_errors);
    tcase_add_test(t, a_directory_is_no_file);
    tcase_add_loop_test(t, bad_values_are_errors, 0, (int)(sizeof bad / sizeof bad[0]));
    tcase_add_test(t, good_values);
    tcase_add_test(t, shapes_in_words);
    tcase_add_test(t, bad_files);
    tcase_add_test(t, list_has_every_setting);
    tcase_add_test(t, old_names_have_their_place);
    tcase_add_test(t, too_long_to_be_told);
    tcase_add_test(t, null_arguments);
    Suite *s = suite_create("settings");
    suite_add_tcase(s, t);
    return run_suite(s);
}
