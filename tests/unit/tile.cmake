# Unit tests of the choice of a tile size.
set(la "${PROJECT_SOURCE_DIR}/dsl-examples/la")
dag_add_unit_test(test_tile
    SOURCES test_tile.c "${la}/tile_file.c" "${la}/tile_model.c" "${la}/tile_times.c"
    LIBS dag_kernels m
    LABELS sanitize)
