# The floors of the runtime: what docs/architecture.md allows is what includes and symbols do.
set(floors "${CMAKE_CURRENT_SOURCE_DIR}/floors")
find_package(Python3 COMPONENTS Interpreter QUIET)
if(Python3_FOUND AND CMAKE_NM)
    dag_add_script_test(floors LABELS unit
        COMMAND "${Python3_EXECUTABLE}" "${floors}/check.py" "${PROJECT_SOURCE_DIR}"
            "${PROJECT_BINARY_DIR}" "${CMAKE_NM}")
    dag_add_script_test(floors_self_test LABELS unit
        COMMAND "${Python3_EXECUTABLE}" "${floors}/check.py" --self-test)
else()
    dag_leave_out(floors "Python 3 or nm was not found")
endif()

# Each floor with those below it alone.
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
