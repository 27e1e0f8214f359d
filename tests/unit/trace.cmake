# Parts of runtime/trace.
if(TARGET dag)
    dag_add_unit_test(test_trace SOURCES test_trace.c LIBS dag LABELS sanitize
        INCLUDES "${PROJECT_SOURCE_DIR}/runtime")
    dag_add_unit_test(test_overlap SOURCES test_overlap.c LIBS dag LABELS sanitize
        INCLUDES "${PROJECT_SOURCE_DIR}/runtime")
    if(NOT DAG_NO_TRACE)
        dag_add_unit_test(test_trace_device SOURCES test_trace_device.c graphs.c LIBS dag LABELS sanitize
            INCLUDES "${PROJECT_SOURCE_DIR}/runtime")
    endif()
endif()
