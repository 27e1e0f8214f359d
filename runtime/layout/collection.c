/* What collections have of their context. */
#include "grid.h"
#include "layout.h"

#include <stdio.h>

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
    dagi_grid_collection(c, context->rank, context->size, ops, nindex, name);
}
