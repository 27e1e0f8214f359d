# Parts of the device layer that are functions of their arguments alone.
set(base "${PROJECT_SOURCE_DIR}/runtime/base")
set(device "${PROJECT_SOURCE_DIR}/runtime/device")
dag_add_unit_test(test_memory
    SOURCES test_memory.c "${device}/memory.c" "${device}/memory_check.c" "${device}/victims.c" LABELS sanitize)
dag_add_unit_test(test_choice
    SOURCES test_choice.c "${device}/choice.c" "${device}/choice_class.c" "${device}/choice_file.c"
        "${device}/policy.c" "${base}/replace.c" "${base}/setting_value.c" "${base}/bcast_words.c" LIBS m LABELS sanitize)
dag_add_unit_test(test_portion
    SOURCES test_portion.c "${device}/choice.c" "${device}/choice_class.c" "${device}/portion.c" "${device}/policy.c" LIBS m LABELS asan)
dag_add_unit_test(test_slips
    SOURCES test_slips.c "${device}/slip_queue.c" LABELS sanitize)
