# The floors of the runtime: what docs/architecture.md allows is what includes and symbols do.
find_package(Python3 COMPONENTS Interpreter QUIET)
if(Python3_FOUND AND CMAKE_NM)
    set(check "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/floors/check.py")
    dag_add_script_test(floors LABELS unit
        COMMAND ${check} "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}" "${CMAKE_NM}")
    dag_add_script_test(floors_self_test LABELS unit COMMAND ${check} --self-test)
else()
    dag_leave_out(floors "Python 3 or nm was not found")
endif()
