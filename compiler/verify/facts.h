/* Proven facts that make the generated code better. Without them the code checks at run time and
 * treats memory in the way that is always right. Filled by the proofs, read by the plan. */
#ifndef DAGCC_VERIFY_FACTS_H
#define DAGCC_VERIFY_FACTS_H

#include <dag/jdf.h>

#include <stdbool.h>

typedef struct verify_facts {
    /* By node id of the ast_flow (ast_file.node_count entries): exactly one input of this data
     * flow is active in every instance. NULL: nothing is proven. */
    const bool *flow_input_proven;
    /* By sema_global.index: what is proven about each collection. DAG_MEM_DEFERRED: nothing. READ
     * and WRITE need no proof and are found by the plan. NULL: nothing is proven. */
    const dag_memory_mode *memory;
    /* By node id of the ast_dep: its store, if it has one, names elements that no other task and no
     * other edge stores to. NULL: nothing is proven. */
    const bool *stored_alone;
} verify_facts;

#endif
