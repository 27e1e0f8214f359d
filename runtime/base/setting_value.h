/* The rows of the table of settings, and the meaning of texts for them. */
#ifndef DAGI_SETTING_VALUE_H
#define DAGI_SETTING_VALUE_H

#include "base.h"

typedef enum kind {
    KIND_COUNT,
    KIND_BYTES,
    KIND_SEED,
    KIND_SECONDS,
    KIND_SWITCH,
    KIND_CHOICE,
    KIND_BCAST, /* a dag_bcast_tree */
    KIND_TEXT,       /* into a char[]; `most` is its length */
    KIND_BYTES_EACH, /* cuda=VALUE,opencl=VALUE, into the fields of these kinds of devices */
    KIND_TEXT_EACH
} kind;

typedef struct choice {
    const char *name;
    int value;
} choice;

typedef struct setting {
    const char *name;
    kind kind;
    size_t offset; /* of its field in dagi_settings */
    const char *fallback;
    double least, most; /* of numbers */
    const choice *choices; /* KIND_CHOICE: into an int; with value -1 the name itself is kept */
    const char *meaning;
} setting;

/* Parse `text` into the field of `s`. */
dag_status dagi_setting_parse(const setting *s, const char *text, dagi_settings *settings,
                              char *why, size_t size);

#endif
