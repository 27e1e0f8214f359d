# Unit tests of the choice of a tile size.
set(la "${PROJECT_SOURCE_DIR}/dsl-examples/la")
dag_add_unit_test(test_tile
    SOURCES test_tile.c "${PROJECT_SOURCE_DIR}/runtime/base/replace.c" "${la}/kept_file.c"
            "${la}/tile_file.c" "${la}/tile_model.c" "${la}/tile_times.c"
    LIBS dag_kernels m
    LABELS asan)

dag_add_unit_test(test_node_model
    SOURCES test_node_model.c "${la}/node_model.c" "${la}/node_queues.c" "${la}/node_choice.c"
    LIBS dag m
    LABELS asan)

dag_add_unit_test(test_grid
    SOURCES test_grid.c "${la}/grid_rule.c"
    LIBS dag m
    LABELS asan)

# What the drivers count against.
if(TARGET dag_driver)
    dag_add_unit_test(test_memory_limits
        SOURCES test_memory_limits.c
        INCLUDES "${PROJECT_SOURCE_DIR}/dsl-examples/drivers"
        LIBS dag_driver m)
endif()
