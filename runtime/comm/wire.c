/* Messages as bytes: what fits into one, and reading them. */
#include "wire.h"

#include "../net/shapes.h"

int64_t dagi_wire_inline_max(int64_t credit_bytes, int64_t eager_bytes)
{
    /* A message with its head is to fit into half a window. */
    int64_t room = credit_bytes / 2 - DAGI_AM_CHARGE - 256;
    int64_t most = eager_bytes < room ? eager_bytes : room;
    return most > 0 ? most : 0;
}

enum dagi_how dagi_wire_how(int64_t bytes, int64_t room)
{
    return bytes <= room ? DAGI_HOW_INLINE : DAGI_HOW_BULK;
}

int dagi_wire_read(const void *data, size_t bytes, dagi_wire_view *view)
{
    const dagi_wire_activate *head = data;
    if (bytes < sizeof *head)
        return 0;
    size_t fixed = dagi_wire_activate_bytes(head->nparams, head->nlist, head->ncargo);
    if (bytes < fixed || head->nparams > DAG_MAX_LOCALS || head->ncargo > DAG_MAX_FLOWS ||
        head->half > DAGI_TREE_SECOND)
        return 0;
    const int32_t *params = (const int32_t *)(head + 1);
    const char *after = (const char *)params + dagi_wire_words(head->nparams, head->nlist);
    view->head = head;
    view->params = params;
    view->list = params + head->nparams;
    view->count = (const uint16_t *)(const void *)(view->list + head->nlist);
    for (int i = 0; i < head->nlist; i++)
        if (view->count[i] < 1 || view->count[i] > head->nlist - i)
            return 0;
    view->cargo = (const dagi_wire_cargo *)(const void *)after;
    view->payload = (const char *)(view->cargo + head->ncargo);
    size_t payload = 0;
    for (int i = 0; i < head->ncargo; i++) {
        const dagi_wire_cargo *c = &view->cargo[i];
        if (c->flow >= DAG_MAX_FLOWS || c->m < 0 || c->n < 0)
            return 0;
        dagi_view v = {NULL, c->m, c->n, c->m, (size_t)c->elem, (dag_region)c->region};
        if (c->how == DAGI_HOW_INLINE)
            payload += dagi_wire_align(dagi_view_bytes(&v));
    }
    return bytes - fixed >= payload;
}
