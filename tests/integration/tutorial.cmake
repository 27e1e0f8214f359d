# Each tutorial program checks its own result and says so by its exit status; hello has nothing to
# check but its output.
foreach(name IN ITEMS hello chain ring broadcast gather tree stencil custom)
    foreach(np IN ITEMS 1 2 3)
        dag_add_mpi_test(tutorial_${name}_np${np} NP ${np}
            COMMAND $<TARGET_FILE:tutorial_${name}> TIMEOUT 60)
    endforeach()
endforeach()
set_tests_properties(tutorial_hello_np1 tutorial_hello_np2 tutorial_hello_np3 PROPERTIES
    PASS_REGULAR_EXPRESSION "Hello\\(5\\) on rank")
