/* Messages with reserved credit, and the tree over all ranks that some of them take. */
#include "remote.h"

#include <string.h>

void dagi_send_control(dagi_comm *c, int dest, const void *head, size_t head_bytes,
                       const void *text, size_t text_bytes)
{
    char *out = c->engine->ops->am_begin(c->engine, dest, 1, head_bytes + text_bytes, 0);
    memcpy(out, head, head_bytes);
    if (text_bytes)
        memcpy(out + head_bytes, text, text_bytes);
    c->engine->ops->am_send(c->engine);
}

void dagi_tree_send_up(dagi_comm *c, const void *data, size_t bytes)
{
    dagi_send_control(c, dagi_tree_parent(c), data, bytes, NULL, 0);
}

void dagi_tree_send_down(dagi_comm *c, const void *data, size_t bytes)
{
    for (int i = 0; i < dagi_tree_nchildren(c); i++)
        dagi_send_control(c, dagi_tree_member(c, i), data, bytes, NULL, 0);
}
