/* Functions that the programs of clients have in their tables, whatever tasks they give. */
#ifndef DAGI_CLIENTS_GIVEN_H
#define DAGI_CLIENTS_GIVEN_H

#include "../task/task.h"

static inline int dagi_always(const void *globals, int32_t *locals)
{
    (void)globals, (void)locals;
    return 1;
}

static inline int64_t dagi_none_beforehand(const void *globals)
{
    (void)globals;
    return 0;
}

static inline int dagi_nothing(struct dag_task *task, const void *globals)
{
    (void)task, (void)globals;
    return DAG_BODY_DONE;
}

/* What tells programs from others goes into their hash, name by name. */
static inline uint64_t dagi_mix_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

#endif
