# Parts of runtime/trace.
if(TARGET dag)
    dag_add_unit_test(test_trace SOURCES test_trace.c LIBS dag LABELS sanitize
        INCLUDES "${PROJECT_SOURCE_DIR}/runtime")
endif()
