# Each floor with those below it alone. `tests/floors` compares the floors with their table.
foreach(floor IN ITEMS base net layout data trace)
    dag_add_unit_test(test_floor_${floor} SOURCES floors/test_floor_${floor}.c FLOOR ${floor}
        LABELS sanitize)
endforeach()
foreach(floor IN ITEMS task sched worker comm watch sim clients context)
    dag_add_unit_test(test_floor_${floor} SOURCES floors/test_floor_${floor}.c graphs.c
        FLOOR ${floor} LABELS sanitize)
endforeach()
dag_add_unit_test(test_floor_device
    SOURCES floors/test_floor_device.c device/loop_backend.c FLOOR device LABELS sanitize)
dag_add_unit_test(test_crowd SOURCES floors/test_crowd.c FLOOR worker LABELS sanitize)
