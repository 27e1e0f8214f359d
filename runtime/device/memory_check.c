/* The invariants of a device's memory, for tests. */
#include "memory_impl.h"

static int on_list(const dagi_block_list *l, const dagi_block *b)
{
    const dagi_block *x = l->first;
    while (x != NULL && x != b)
        x = x->use_next;
    return x != NULL;
}

static int in_bin(const dagi_memory *m, const dagi_block *b)
{
    const dagi_block *x = m->bin[dagi_memory_bin(b->bytes)];
    while (x != NULL && x != b)
        x = x->free_next;
    return x != NULL &&
           (m->filled[dagi_memory_bin(b->bytes) / 64] >> dagi_memory_bin(b->bytes) % 64 & 1);
}

static const char *check_block(const dagi_memory *m, const dagi_block *b)
{
    int lists = 0;
    const dagi_block_list *all[] = {&m->idle[0], &m->idle[1], &m->wanted, &m->retiring};
    for (int i = 0; i < 4; i++)
        lists += on_list(all[i], b);
    if (dagi_block_wall(b))
        return b->pins != 1 || b->value != NULL ? "a wall that is in use" : NULL;
    if (b->bytes % DAGI_BLOCK_GRAIN != 0)
        return "a block that is not a number of grains";
    if (b->state == DAGI_BLOCK_FREE) {
        if (b->above != NULL && b->above->state == DAGI_BLOCK_FREE)
            return "two free neighbours";
        return !in_bin(m, b) ? "a free block that is in no bin" : lists ? "free and listed" : NULL;
    }
    if (in_bin(m, b))
        return "a block in use that is in a bin";
    if (b->state == DAGI_BLOCK_RETIRING)
        return lists != 1 || !on_list(&m->retiring, b) ? "a retiring block that is lost" : NULL;
    if (b->pins < 0)
        return "a block unpinned too often";
    int evictable = dagi_block_evictable(b);
    if (lists != evictable)
        return "a block that is on a wrong number of lists";
    if (evictable && !on_list(all[b->next_use != INT64_MIN ? 2 : b->dirty != 0], b))
        return "a block on the wrong list";
    return NULL;
}

static const char *check_order(const dagi_block_list *l)
{
    for (const dagi_block *b = l->first; b != NULL; b = b->use_next) {
        if (b->use_next != NULL && b->use_next->last_use < b->last_use)
            return "blocks that are not in the order of their last use";
    }
    return NULL;
}

const char *dagi_memory_check(const dagi_memory *m)
{
    size_t at = 0, held = 0, retiring = 0;
    const dagi_block *below = NULL;
    for (const dagi_block *b = m->lowest; b != NULL; below = b, b = b->above) {
        const char *wrong = check_block(m, b);
        if (wrong != NULL)
            return wrong;
        if (b->below != below || (below && !dagi_block_wall(b) && !dagi_block_wall(below) &&
                                  (char *)b->at != (char *)below->at + below->bytes))
            return "blocks do not partition a piece";
        at += b->bytes;
        held += b->state == DAGI_BLOCK_HELD ? b->bytes : 0;
        retiring += b->state == DAGI_BLOCK_RETIRING ? b->bytes : 0;
    }
    if (at != m->bytes)
        return "blocks do not fill the pieces";
    if (held != m->held_bytes || retiring != m->retiring_bytes)
        return "bytes are counted wrongly";
    const char *wrong = check_order(&m->idle[0]);
    return wrong != NULL ? wrong : check_order(&m->idle[1]);
}
