/* The back end @NAME@: its row and its table. */
#include "../../common/run_suite.h"
#include "backend.h"

#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const dagi_backend *backend;

START_TEST(row)
{
#define FILE_OF(NAME, number, name, file, kernels) [number] = file,
    static const char *const files[DAG_DEVICE_KIND_COUNT] = {DAG_DEVICE_KINDS(FILE_OF)};
    ck_assert_msg(strcmp(files[DAG_DEVICE_@NAME@], "libdag_@name@.so") == 0,
                  "include/dag/device_kinds.h: name libdag_@name@.so once it can be used");
}
END_TEST

/* What a back end must have, all in all. */
#define TABLE(X)                                                                                   \
    X(kernels) X(count) X(open) X(close) X(error) X(alloc) X(free) X(pin) X(unpin) X(choose)       \
    X(chosen) X(choose_again) X(peer) X(queue_new) X(queue_free) X(stream) X(copy_in) X(copy_out)  \
    X(copy_within) X(copy_peer) X(launched) X(event_new) X(event_free) X(record) X(wait) X(query)

#define WRITTEN(member)                                                                            \
    START_TEST(has_##member)                                                                       \
    {                                                                                              \
        ck_assert_msg(backend->member != NULL,                                                     \
                      "runtime/device/@name@/plugin.c: write ." #member " of ../backend.h");        \
    }                                                                                              \
    END_TEST
TABLE(WRITTEN)

int main(void)
{
    void *plugin = dlopen(getenv("DAGCC_TEST_@NAME@"), RTLD_NOW | RTLD_LOCAL);
    void *symbol = plugin ? dlsym(plugin, DAGI_BACKEND_SYMBOL) : NULL;
    dagi_backend_getter get = NULL;
    memcpy(&get, &symbol, sizeof get);
    backend = get ? get() : NULL;
    if (!backend || backend->abi != DAGI_BACKEND_ABI || backend->kind != DAG_DEVICE_@NAME@) {
        fprintf(stderr, "no back end @NAME@: %s\n", plugin ? "it is another one" : dlerror());
        return 1;
    }
    Suite *suite = suite_create("@name@");
    TCase *tc = tcase_create("table");
    tcase_add_test(tc, row);
#define ADD(member) tcase_add_test(tc, has_##member);
    TABLE(ADD)
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
