# Unit tests of runtime/data, without the rest of the runtime (data_fake.h).
set(data "${PROJECT_SOURCE_DIR}/runtime/data")
dag_add_unit_test(test_value
    SOURCES test_value.c "${data}/value.c" "${data}/depot.c" "${data}/table.c" "${data}/bind.c"
            "${data}/collection.c"
    LABELS sanitize)
dag_add_unit_test(test_matrix
    SOURCES test_matrix.c "${data}/matrix.c" "${data}/collection.c" "${data}/depot.c"
    LABELS sanitize)
