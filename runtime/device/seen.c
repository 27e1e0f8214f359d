/* What drivers show, whether it is used or not: for tools that say why a device is idle. */
#include "device_impl.h"

#include <dag/opencl.h>

int dag_opencl_seen(const dag_context *context, int index, char *text, size_t size)
{
    const dag_device_kind kind = DAG_DEVICE_OPENCL;
    char why[512];
    if (!context || index < 0 || !text || size == 0)
        return 0;
    const struct dagi_devices *all = dagi_tasks(context)->devices;
    int named = dagi_device_named(context, kind);
    const dagi_backend *backend = all ? all->backend[kind] : NULL;
    if (!backend)
        backend = dagi_plugin_load(context, kind, 1, why, sizeof why);
    if (!backend || !backend->seen)
        return 0;
    (void)backend->count(named, why, sizeof why);
    return backend->seen(index, named, text, size);
}
