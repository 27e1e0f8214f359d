# Unit tests of runtime/layout, data and task's binding, on the floors that they need.
foreach(name IN ITEMS test_value test_bind test_check)
    dag_add_unit_test(${name} SOURCES ${name}.c FLOOR task LABELS sanitize)
endforeach()
foreach(name IN ITEMS test_matrix test_copies)
    dag_add_unit_test(${name} SOURCES ${name}.c FLOOR data LABELS sanitize)
endforeach()
dag_add_unit_test(test_array SOURCES test_array.c FLOOR layout LABELS sanitize)
dag_add_unit_test(test_ranges SOURCES test_ranges.c LABELS sanitize)
