#include <hwloc.h>
#include <stdio.h>

int main(void)
{
    unsigned version = hwloc_get_api_version();
    hwloc_topology_t topology;

    if (version >> 16 != HWLOC_API_VERSION >> 16 || hwloc_topology_init(&topology) != 0)
        return 1;
    hwloc_topology_destroy(topology);
    printf("hwloc %u.%u\n", version >> 16, version >> 8 & 0xffu);
    return version >= 0x00020000 ? 0 : 2;
}
