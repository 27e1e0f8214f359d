/* The base of collections: closed forms of distributions. */
#include "layout.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

_Atomic(const dagi_layout_port *) dagi_layout_port_used;

dag_status dag_error(dag_context *context, dag_status status, const char *format, ...)
{
    char text[sizeof(context->message)];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (context != NULL)
        dagi_set_message(context, "%s", text);
    return status;
}

void dag_collection_init(dag_collection *c, const dag_context *context,
                         const dag_collection_ops *ops, int nindex, const char *name)
{
    assert(nindex >= 1 && nindex <= DAG_MAX_INDEX);
    *c = (dag_collection){
        .ops = ops,
        .name = name,
        .nindex = nindex,
        .rank = context->rank,
        .size = context->size,
    };
    for (int d = 0; d < DAG_MAX_INDEX; d++)
        c->period[d] = 1;
}

/* Coordinates of this process: digits of its rank, largest stride first. A process outside of the
 * grid gets -1 everywhere, which no element has. */
static void find_mine(dag_collection *c)
{
    int64_t rest = c->rank;
    int done[DAG_MAX_INDEX] = {0};
    for (int k = 0; k < c->nindex; k++) {
        int largest = -1;
        for (int d = 0; d < c->nindex; d++)
            if (!done[d] && (largest < 0 || c->stride[d] > c->stride[largest]))
                largest = d;
        done[largest] = 1;
        int64_t x = c->stride[largest] > 0 ? rest / c->stride[largest] : 0;
        if (x > c->period[largest] - 1)
            x = c->period[largest] - 1;
        c->mine[largest] = x;
        rest -= x * c->stride[largest];
    }
    if (rest != 0)
        for (int d = 0; d < c->nindex; d++)
            c->mine[d] = -1;
}

void dagi_collection_view(dag_collection *c, int rank)
{
    c->rank = rank;
    if (c->cyclic)
        find_mine(c);
}

void dag_collection_set_cyclic(dag_collection *c, const int64_t *period, const int64_t *offset,
                               const int64_t *stride)
{
    int64_t processes = 1;
    for (int d = 0; d < c->nindex; d++) {
        assert(period[d] >= 1 && stride[d] >= 0);
        c->period[d] = period[d];
        c->offset[d] = offset[d];
        c->stride[d] = stride[d];
        processes *= period[d];
    }
    assert(processes <= c->size);
    (void)processes;
    c->cyclic = 1;
    find_mine(c);
}
