# The library without state alone, and a part of runtime/comm that is a function of its arguments.
foreach(name IN ITEMS test_view test_tree)
    dag_add_unit_test(${name} SOURCES ${name}.c LIBS dag_pure LABELS sanitize)
endforeach()
dag_add_unit_test(test_heap SOURCES test_heap.c LABELS sanitize)
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    dag_add_unit_test(test_bell SOURCES test_bell.c FLOOR net LABELS sanitize)
endif()
