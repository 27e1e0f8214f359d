/* Proofs are kept by what they are about, so that a file is proven once. */
#ifndef DAGCC_DRIVER_PROOFS_H
#define DAGCC_DRIVER_PROOFS_H

#include "driver.h"

#include "verify/facts.h"

/* The findings about one file, on their way from or to the cache. */
typedef struct proof_entry {
    char *path;                 /* NULL: nothing is kept */
    size_t mark;                /* messages that were there before */
} proof_entry;

/* Looks the parsed file up: true when it was proven before; its facts and messages are then as if it
 * had been now. `again`: words of the command line that decide what the file means. */
bool proofs_find(const driver_options *o, frontend *f, const words *again, verify_facts *facts,
                 proof_entry *e);
/* Keeps what was found if `good`, and ends the entry. What cannot be written is not kept. */
void proofs_keep(frontend *f, const verify_facts *facts, bool good, proof_entry *e);

#endif
