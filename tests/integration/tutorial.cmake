# Each tutorial program checks its own result and says so by its exit status; hello has nothing to
# check but its output.
foreach(np IN ITEMS 1 2 3)
    dag_add_mpi_test(tutorial_hello_np${np} NP ${np} COMMAND $<TARGET_FILE:tutorial_hello>
        OUTPUT "Hello(5) on rank" TIMEOUT 60)
    foreach(name IN ITEMS sums chain ring broadcast gather tree stencil custom insert insert_typed gradients)
        dag_add_mpi_test(tutorial_${name}_np${np} NP ${np}
            COMMAND $<TARGET_FILE:tutorial_${name}> TIMEOUT 60)
    endforeach()
endforeach()
dag_add_mpi_test(tutorial_sums_serial NP 1 COMMAND $<TARGET_FILE:tutorial_sums_serial>
    OUTPUT "is 780" TIMEOUT 60)
# The same from Python. The sanitizers have nothing to find there.
find_package(Python3 COMPONENTS Interpreter QUIET)
if(Python3_FOUND AND NOT DAG_SANITIZE)
    foreach(np IN ITEMS 1 2 4)
        dag_add_mpi_test(tutorial_insert_python_np${np} NP ${np} THREADS 2 TIMEOUT 60 OUTPUT "all of L is 1"
            COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/dsl-examples/tutorial/insert.py"
            ENVIRONMENT "LIBDAG=$<TARGET_FILE:tutorial_libdag>")
    endforeach()
endif()
