/* What the cores of this machine are called in the file of times. */
#include "device_impl.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

/* The keys of /proc/cpuinfo for one processor: x86, ARM, POWER, RISC-V. What a virtual machine says as the
 * name of the model is often too general, so the numbers behind it count too. */
static const char *const keys[] = {"vendor_id",   "model name", "cpu family",  "model",
                                   "stepping",    "CPU implementer", "CPU part", "CPU variant",
                                   "CPU revision", "cpu",       "uarch"};

/* The value of a line "key   : value\n" with one of the keys, ended; NULL = another line. */
static char *value_of(char *line)
{
    char *colon = strchr(line, ':'), *end = colon;
    if (!colon)
        return NULL;
    while (end > line && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *end = '\0';
    char *value = colon + 1 + strspn(colon + 1, " \t");
    value[strcspn(value, "\t\n")] = '\0';
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (strcmp(line, keys[i]) == 0)
            return *value ? value : NULL;
    }
    return NULL;
}

void dag_cores_model(char *text, size_t size)
{
    dagi_cores_model("/proc/cpuinfo", text, size);
}

void dagi_cores_model(const char *cpuinfo, char *text, size_t size)
{
    char line[512];
    struct utsname machine;
    size_t used = (size_t)snprintf(text, size, "cores");
    FILE *f = fopen(cpuinfo, "re");
    while (f && fgets(line, sizeof line, f) && line[0] != '\n') { /* an empty line: the next one */
        const char *value = value_of(line);
        if (value && used < size)
            used += (size_t)snprintf(text + used, size - used, " %s", value);
    }
    if (f)
        fclose(f);
    if (strcmp(text, "cores") == 0 && uname(&machine) == 0)
        snprintf(text, size, "cores %s", machine.machine);
}
