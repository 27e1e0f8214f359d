# Communication between ranks, without the rest of the runtime: comm/mock.c stands in for it.
if(DAG_HAVE_MPI)
    file(GLOB comm_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/runtime/comm/*.c"
        "${PROJECT_SOURCE_DIR}/runtime/net/*.c" "${PROJECT_SOURCE_DIR}/runtime/net/*/*.c")
    foreach(name IN ITEMS bcast_words setting_value units) # words of files and settings
        list(APPEND comm_sources "${PROJECT_SOURCE_DIR}/runtime/base/${name}.c")
    endforeach()
    add_library(test_comm_alone STATIC ${comm_sources} comm/mock.c)
    target_link_libraries(test_comm_alone PUBLIC dag_headers dag_mpi Threads::Threads
        ${CMAKE_DL_LIBS} m)

    foreach(name IN ITEMS remote protocol flood pingpong)
        add_executable(comm_${name} comm/${name}.c)
        target_link_libraries(comm_${name} PRIVATE test_comm_alone)
    endforeach()
    foreach(np IN ITEMS 1 2 4 6)
        set(labels sanitize)
        if(np EQUAL 4)
            set(labels ${DAG_SANITIZE_FULL})
        endif()
        dag_add_mpi_test(comm_remote_${np} NP ${np} COMMAND comm_remote LABELS ${labels})
        dag_add_mpi_test(comm_protocol_${np} NP ${np} COMMAND comm_protocol LABELS ${labels})
    endforeach()
    if(NOT DAG_SANITIZE) # sanitizers take memory of their own
        foreach(np IN ITEMS 2 4)
            dag_add_mpi_test(comm_flood_${np} NP ${np} COMMAND comm_flood)
        endforeach()
    endif()
    dag_add_mpi_test(comm_pingpong_2 NP 2 COMMAND comm_pingpong)
endif()

# The same flood through the whole runtime.
add_executable(comm_messages)
dag_add_jdf(comm_messages comm/messages.jdf)
if(NOT DAG_SANITIZE)
    foreach(threads IN ITEMS 1 2)
        dag_add_mpi_test(comm_messages_t${threads} NP 2 THREADS ${threads} COMMAND comm_messages)
        dag_add_mpi_test(comm_messages_kib_t${threads} NP 2 THREADS ${threads}
            COMMAND comm_messages 200000 128)
        dag_add_mpi_test(comm_messages_least_t${threads} NP 2 THREADS ${threads}
            COMMAND comm_messages 20000 128 ENVIRONMENT DAG_CREDIT_BYTES=4096)
    endforeach()
endif()

# Ranks that do not do the same end all the same.
add_executable(comm_disagree)
dag_add_jdf(comm_disagree comm/disagree.jdf)
set(sanitized 0) # each mode with one odd rank, and each rank in two modes
foreach(mode IN ITEMS missing late scalar order shape fini)
    foreach(odd IN ITEMS 0 1 2)
        set(labels ${DAG_SANITIZE_FULL})
        if(odd EQUAL sanitized)
            set(labels sanitize)
        endif()
        dag_add_mpi_test(comm_disagree_${mode}_${odd} NP 3 COMMAND comm_disagree ${mode} ${odd}
            LABELS ${labels} ENVIRONMENT DAG_STALL_TIME=0.1 DAG_WARNINGS=0 TIMEOUT 60)
    endforeach()
    math(EXPR sanitized "(${sanitized} + 1) % 3")
endforeach()

# Matrices of which the ranks have different ideas.
if(DAG_HAVE_MPI)
    add_executable(comm_shapes)
    dag_add_jdf(comm_shapes comm/shapes.jdf)
    dag_add_mpi_test(comm_shapes_2 NP 2 COMMAND comm_shapes LABELS sanitize
        ENVIRONMENT DAG_STALL_TIME=0.1 DAG_WARNINGS=0 TIMEOUT 60)
    dag_add_mpi_test(comm_shapes_3 NP 3 THREADS 2 COMMAND comm_shapes
        ENVIRONMENT DAG_STALL_TIME=0.1 DAG_WARNINGS=0 DAG_CHAOS=3 TIMEOUT 60)
endif()

# Scatter broadcasts with many segments, and towards a rank that never adds the pool.
add_executable(comm_scatter)
dag_add_jdf(comm_scatter comm/scatter.jdf)
dag_add_mpi_test(comm_scatter_6 NP 6 COMMAND comm_scatter TIMEOUT 60)
dag_add_mpi_test(comm_scatter_chaos NP 6 COMMAND comm_scatter TIMEOUT 60 ENVIRONMENT DAG_CHAOS=4)
foreach(absent IN ITEMS 0 2)
    dag_add_mpi_test(comm_scatter_missing_${absent} NP 4 COMMAND comm_scatter ${absent}
        LABELS sanitize ENVIRONMENT DAG_STALL_TIME=0.1 DAG_WARNINGS=0 TIMEOUT 60)
endforeach()

# Broadcasts along two trees, the same towards a rank that never adds the pool.
add_executable(comm_trees)
dag_add_jdf(comm_trees comm/trees.jdf)
foreach(np IN ITEMS 4 7)
    set(labels sanitize)
    if(np EQUAL 7)
        set(labels ${DAG_SANITIZE_FULL})
    endif()
    dag_add_mpi_test(comm_trees_${np} NP ${np} COMMAND comm_trees LABELS ${labels} TIMEOUT 60)
endforeach()
set(sanitized 1 4 7)
foreach(np IN ITEMS 1 2 3 4 6 7)
    set(labels ${DAG_SANITIZE_FULL})
    if(np IN_LIST sanitized)
        set(labels sanitize)
    endif()
    dag_add_mpi_test(comm_trees_chaos_${np} NP ${np} THREADS 2 COMMAND comm_trees LABELS ${labels} TIMEOUT 60
        ENVIRONMENT DAG_CHAOS=${np} DAG_CREDIT_BYTES=8192)
endforeach()
foreach(absent IN ITEMS 0 2 4)
    dag_add_mpi_test(comm_trees_missing_${absent} NP 5 COMMAND comm_trees ${absent}
        LABELS sanitize ENVIRONMENT DAG_STALL_TIME=0.1 DAG_WARNINGS=0 TIMEOUT 60)
endforeach()

# Data that MPI sends before anybody has asked for them are no reason to wait for ever.
dag_add_mpi_test(comm_disagree_small NP 3 COMMAND comm_disagree missing 1
    ENVIRONMENT DAG_STALL_TIME=0.1 DAG_WARNINGS=0 DAG_EAGER_BYTES=0 DAG_CHAOS=3 TIMEOUT 60)

add_executable(comm_stores)
dag_add_jdf(comm_stores comm/stores.jdf)
foreach(np IN ITEMS 1 2)
    dag_add_mpi_test(comm_stores_${np} NP ${np} COMMAND comm_stores)
endforeach()

# An element that is stored again while the first value is in use.
add_executable(comm_overwrite)
dag_add_jdf(comm_overwrite comm/overwrite.jdf)
foreach(np IN ITEMS 1 2)
    dag_add_mpi_test(comm_overwrite_${np} NP ${np} THREADS 2 COMMAND comm_overwrite LABELS sanitize
        ENVIRONMENT DAG_CHAOS=${np})
endforeach()

# Two workers of a rank at a time, with as many ranks as processors or more where these are few.
add_executable(comm_helpers)
dag_add_jdf(comm_helpers comm/helpers.jdf)
foreach(np IN ITEMS 2 4)
    dag_add_mpi_test(comm_helpers_${np} NP ${np} THREADS 2 COMMAND comm_helpers LABELS sanitize)
endforeach()

# A cancelled pool has one status on all ranks.
add_executable(comm_cancel)
dag_add_jdf(comm_cancel comm/cancel.jdf)
target_include_directories(comm_cancel PRIVATE "${PROJECT_SOURCE_DIR}/runtime")
target_compile_definitions(comm_cancel PRIVATE _GNU_SOURCE)
target_link_libraries(comm_cancel PRIVATE ${CMAKE_DL_LIBS})
foreach(np IN ITEMS 1 2 3)
    dag_add_mpi_test(comm_cancel_${np} NP ${np} THREADS 2 COMMAND comm_cancel LABELS sanitize)
endforeach()

# The same at random moments, many times.
add_executable(comm_cancels)
dag_add_jdf(comm_cancels comm/cancels.jdf)
dag_add_mpi_test(comm_cancels_3 NP 3 THREADS 1 COMMAND comm_cancels LABELS sanitize)
dag_add_mpi_test(comm_cancels_full NP 3 THREADS 2 COMMAND comm_cancels 10000 LABELS full)

# Several contexts at a time.
add_executable(comm_contexts)
dag_add_jdf(comm_contexts comm/contexts.jdf)
target_compile_definitions(comm_contexts PRIVATE _GNU_SOURCE)
target_link_libraries(comm_contexts PRIVATE dag_mpi Threads::Threads)
if(DAG_HAVE_MPI)
    foreach(np IN ITEMS 1 2 4 6)
        set(labels sanitize)
        if(np EQUAL 4) # as comm_contexts_serialized_4
            set(labels ${DAG_SANITIZE_FULL})
        endif()
        dag_add_mpi_test(comm_contexts_grid_${np} NP ${np} THREADS 2 COMMAND comm_contexts multiple grid 3
            LABELS ${labels})
    endforeach()
    # One thread per rank waits in different orders; MPI is called by it alone; the runtime starts MPI.
    dag_add_mpi_test(comm_contexts_single_4 NP 4 THREADS 1 COMMAND comm_contexts funneled grid 3
        LABELS sanitize)
    dag_add_mpi_test(comm_contexts_serialized_4 NP 4 THREADS 2 COMMAND comm_contexts serialized grid 3
        LABELS sanitize)
    dag_add_mpi_test(comm_contexts_chaos_4 NP 4 THREADS 3 COMMAND comm_contexts serialized grid 2
        ENVIRONMENT DAG_CHAOS=5)
    dag_add_mpi_test(comm_contexts_fail_4 NP 4 THREADS 2 COMMAND comm_contexts multiple fail
        LABELS sanitize)
    dag_add_mpi_test(comm_contexts_orders_2 NP 2 THREADS 3 COMMAND comm_contexts serialized orders 300
        LABELS sanitize)
    dag_add_mpi_test(comm_contexts_threads_4 NP 4 THREADS 2 COMMAND comm_contexts serialized threads
        LABELS sanitize)
    dag_add_mpi_test(comm_contexts_share_2 NP 2 COMMAND comm_contexts multiple share)
    # No sanitizer: it does not see what MPI does between its threads.
    dag_add_mpi_test(comm_contexts_multiple_4 NP 4 THREADS 2 COMMAND comm_contexts multiple threads)
    dag_add_mpi_test(comm_contexts_long_6 NP 6 THREADS 2 COMMAND comm_contexts multiple grid 100
        LABELS full ENVIRONMENT DAG_CHAOS=7)
endif()
foreach(threads IN ITEMS 1 3)
    dag_add_mpi_test(comm_contexts_plain_t${threads} NP 1 THREADS ${threads}
        COMMAND comm_contexts dag plain LABELS sanitize)
endforeach()

if(DAG_HAVE_MPI)
    # More transfers than MPI has tags.
    add_executable(comm_tags)
    dag_add_jdf(comm_tags comm/tags.jdf)
    target_link_libraries(comm_tags PRIVATE dag_mpi)
    dag_add_mpi_test(comm_tags_2 NP 2 THREADS 1 COMMAND comm_tags ENVIRONMENT DAG_EAGER_BYTES=0)
    dag_add_mpi_test(comm_tags_full NP 2 THREADS 1 COMMAND comm_tags 16700 LABELS full
        ENVIRONMENT DAG_EAGER_BYTES=0)

    # Who calls MPI at which of its thread levels.
    add_executable(comm_level comm/level.c)
    target_link_libraries(comm_level PRIVATE dag dag_mpi)
    dag_add_mpi_test(comm_level_single NP 2 THREADS 2 EXIT 0 OUTPUT "one worker instead of 2"
        COMMAND comm_level single)
    foreach(mode IN ITEMS serialized two)
        dag_add_mpi_test(comm_level_${mode} NP 2 THREADS 2 COMMAND comm_level ${mode})
    endforeach()
endif()

# The engine that is asked for, whatever the launcher offers: two jobs of one process each.
dag_add_mpi_test(comm_engine_self NP 2 COMMAND $<TARGET_FILE:tutorial_hello>
    OUTPUT "Hello(5) on rank 0" ENVIRONMENT DAG_ENGINE=self TIMEOUT 60)
dag_add_mpi_test(comm_engine_unknown NP 1 COMMAND $<TARGET_FILE:tutorial_hello>
    EXIT 1 OUTPUT "engine = pigeons: must be auto, or one of those of this build:"
    ENVIRONMENT DAG_ENGINE=pigeons TIMEOUT 60)

# A rank that comes late, cannot start, or has other settings than the others. Sanitizers take memory of their own.
if(DAG_HAVE_MPI AND NOT DAG_SANITIZE)
    add_executable(comm_latency comm/latency.c)
    target_link_libraries(comm_latency PRIVATE dag dag_mpi)
    dag_add_mpi_test(comm_latency NP 3 COMMAND comm_latency TIMEOUT 60 ENVIRONMENT DAG_THREADS=1)
    add_executable(comm_start comm/start.c)
    target_link_libraries(comm_start PRIVATE dag dag_mpi ${CMAKE_DL_LIBS})
    foreach(why IN ITEMS setting memory threads credit eager latency rate told)
        dag_add_mpi_test(comm_start_${why} NP 3 COMMAND comm_start ${why} TIMEOUT 60
            ENVIRONMENT DAG_THREADS=3)
    endforeach()
endif()
