# Unit tests of runtime/data, without the rest of the runtime (data_fake.h).
set(data "${PROJECT_SOURCE_DIR}/runtime/data")
foreach(name IN ITEMS test_value test_bind)
    dag_add_unit_test(${name}
        SOURCES ${name}.c "${data}/value.c" "${data}/depot.c" "${data}/table.c" "${data}/bind.c"
                "${data}/collection.c"
        LABELS sanitize)
endforeach()
dag_add_unit_test(test_matrix
    SOURCES test_matrix.c "${data}/matrix.c" "${data}/collection.c" "${data}/depot.c"
    LABELS sanitize)
