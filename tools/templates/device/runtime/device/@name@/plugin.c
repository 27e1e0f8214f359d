/* The table of the back end for @NAME@; ../backend.h says what each function does. */
#include "../backend.h"

static const dagi_backend backend = {
    .abi = DAGI_BACKEND_ABI,
    .name = "@name@",
    .kind = DAG_DEVICE_@NAME@,
};

__attribute__((visibility("default"))) const dagi_backend *dagi_backend_get(void);

const dagi_backend *dagi_backend_get(void)
{
    return &backend;
}
