/* Whether there may be an OpenCL accelerator: a part of the runtime, not of the plug-in. */
#include "../backend.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

dagi_probe dagi_opencl_probe;

/* Classes of PCI devices: displays, processing accelerators. */
enum { DISPLAY = 0x03, ACCELERATOR = 0x12 };

/*
 * Drivers for OpenCL load a compiler before they tell what there is, hundreds of MiB and tenths of a second
 * even where no device is. So the PCI bus is looked at first. A machine without a list of its bus may have
 * anything.
 */
int dagi_opencl_probe(char *why, size_t size)
{
    static const char list[] = "/sys/bus/pci/devices";
    DIR *bus = opendir(list);
    int there = bus == NULL;
    for (struct dirent *entry; bus && !there && (entry = readdir(bus));) {
        char path[512];
        unsigned code = 0;
        snprintf(path, sizeof path, "%s/%s/class", list, entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
        if (!file)
            continue;
        if (fscanf(file, "%x", &code) == 1)
            there = code >> 16 == DISPLAY || code >> 16 == ACCELERATOR;
        fclose(file);
    }
    if (bus)
        closedir(bus);
    if (!there)
        snprintf(why, size, "this machine has no graphics card or accelerator on its PCI bus");
    return there;
}
