# Parts of runtime/net and runtime/comm that are functions of their arguments alone.
dag_add_unit_test(test_view LABELS sanitize
    SOURCES test_view.c "${PROJECT_SOURCE_DIR}/runtime/net/view.c")
dag_add_unit_test(test_tree LABELS sanitize
    SOURCES test_tree.c "${PROJECT_SOURCE_DIR}/runtime/net/shapes.c")
dag_add_unit_test(test_heap LABELS sanitize
    SOURCES test_heap.c "${PROJECT_SOURCE_DIR}/runtime/comm/heap.c")
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    dag_add_unit_test(test_bell LABELS sanitize LIBS Threads::Threads
        SOURCES test_bell.c "${PROJECT_SOURCE_DIR}/runtime/net/bell.c")
endif()
