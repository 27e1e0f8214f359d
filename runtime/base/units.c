/* Times and bytes with their units, as descriptions of machines have them. */
#include "settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int dagi_parse_time(const char *text, int64_t *time)
{
    static const struct { const char *name; double ps; } units[] = {
        {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}};
    char *end;
    double value = strtod(text, &end);
    for (size_t i = 0; end != text && i < sizeof units / sizeof units[0]; i++)
        if (strcmp(end, units[i].name) == 0 && value >= 0 && value * units[i].ps < 1e17) {
            *time = llround(value * units[i].ps);
            return 0;
        }
    return 1;
}

int dagi_parse_bytes(const char *text, const char *suffix, double *bytes)
{
    char *end;
    double value = strtod(text, &end);
    const char *units = "kMGTP", *unit = *end ? strchr(units, *end) : NULL;
    if (end == text || !(value > 0) || !isfinite(value))
        return 1;
    if (unit)
        end++;
    double step = *suffix ? 1e3 : 1024; /* of wires and of memory */
    for (const char *u = units; unit && u <= unit; u++)
        value *= step;
    *bytes = value;
    return strcmp(end, suffix) != 0;
}
