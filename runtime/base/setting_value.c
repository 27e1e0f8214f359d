/* What texts mean for settings. */
#include "setting_value.h"
#include "settings.h"

#include <dag/device_kinds.h>

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

dag_status dagi_refuse(char *why, size_t size, const char *format, ...)
{
    if (why && size > 0) {
        va_list args;
        va_start(args, format);
        vsnprintf(why, size, format, args);
        va_end(args);
    }
    return DAG_ERR_SETTING;
}

char *dagi_trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
    return text;
}

static bool parse_number(const char *text, double *out)
{
    char *end;
    errno = 0;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && errno == 0 && isfinite(*out);
}

static bool parse_count(const char *text, bool bytes, uint64_t *out)
{
    if (!isdigit((unsigned char)text[0]))
        return false;
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0)
        return false;
    int shift = 0;
    if (bytes && *end != '\0') {
        const char *units = "kmg", *unit = strchr(units, tolower((unsigned char)*end));
        if (!unit)
            return false;
        shift = 10 * (int)(unit - units + 1);
        end++;
        if (*end == 'i' || *end == 'I')
            end++;
        if (*end == 'b' || *end == 'B')
            end++;
    }
    if (*end != '\0' || value > UINT64_MAX >> shift)
        return false;
    *out = (uint64_t)value << shift;
    return true;
}

static bool parse_switch(const char *text, int *out)
{
    static const choice words[] = {{"on", 1},  {"yes", 1}, {"true", 1},  {"1", 1},
                                   {"off", 0}, {"no", 0},  {"false", 0}, {"0", 0}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcasecmp(words[i].name, text) == 0) {
            *out = words[i].value;
            return true;
        }
    }
    return false;
}

static dag_status parse_choice(const setting *s, const char *text, void *field, char *why,
                               size_t size)
{
    char names[128] = "";
    for (const choice *c = s->choices; c->name; c++) {
        if (strcasecmp(c->name, text) == 0) {
            if (c->value < 0)
                strcpy(field, c->name);
            else
                *(int *)field = c->value;
            return DAG_SUCCESS;
        }
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", c->name);
    }
    return dagi_refuse(why, size, "%s = %s: must be one of %s", s->name, text, names);
}

/* The number of the kind of devices that `text` begins with, and what stands behind its `=`; -1 = there is none. */
static int parse_device_kind(const char *text, const char **value)
{
#define PREFIX_OF(NAME, number, name, file, kernels) {#name "=", number},
    static const choice prefixes[] = {DAG_DEVICE_KINDS_BESIDE_HOST(PREFIX_OF)};
#undef PREFIX_OF
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        size_t length = strlen(prefixes[i].name);
        if (strncasecmp(prefixes[i].name, text, length) == 0) {
            *value = text + length;
            return prefixes[i].value;
        }
    }
    return -1;
}

/* What kinds are not named keep what they have. A comma ends a value where a kind follows. */
static dag_status parse_each(const setting *s, const char *text, dagi_settings *settings, char *why, size_t size)
{
    dag_status status = DAG_SUCCESS;
    while (*text && status == DAG_SUCCESS) {
        const char *value, *end, *behind;
        char one[1024];
        text += strspn(text, " ");
        int number = parse_device_kind(text, &value);
        if (number < 0)
            return dagi_refuse(why, size, "%s = %s: must be KIND=VALUE, or several with commas, of kinds of devices",
                               s->name, text);
        for (end = strchr(value, ','); end && parse_device_kind(end + 1 + strspn(end + 1, " "), &behind) < 0;)
            end = strchr(end + 1, ',');
        size_t length = end ? (size_t)(end - value) : strlen(value);
        if (length >= sizeof one)
            return dagi_refuse(why, size, "%s: longer than %zu bytes", s->name, sizeof one - 1);
        memcpy(one, value, length);
        one[length] = '\0';
        setting of_kind = *s;
        of_kind.kind = s->kind == KIND_BYTES_EACH ? KIND_BYTES : KIND_TEXT;
        of_kind.offset += (size_t)number * sizeof settings->kind[0];
        status = dagi_setting_parse(&of_kind, one, settings, why, size);
        text = end ? end + 1 : value + length;
    }
    return status;
}

dag_status dagi_setting_parse(const setting *s, const char *text, dagi_settings *settings,
                              char *why, size_t size)
{
    void *field = (char *)settings + s->offset;
    uint64_t count;
    double number;
    switch (s->kind) {
    case KIND_CHOICE:
        return parse_choice(s, text, field, why, size);
    case KIND_BCAST:
        if (!dagi_bcast_parse(text, field))
            return dagi_refuse(why, size, "%s = %s: must be auto, binomial, chain, ring, scatter, flat, trees or "
                               "hier(GROUP, OUTER, INNER), where GROUP is a number of ranks or node, OUTER "
                               "and INNER are such shapes but no scatter, and INNER may be a hier() again",
                               s->name, text);
        return DAG_SUCCESS;
    case KIND_SWITCH:
        if (!parse_switch(text, field))
            return dagi_refuse(why, size, "%s = %s: must be on or off", s->name, text);
        return DAG_SUCCESS;
    case KIND_TEXT:
        if (strlen(text) > (size_t)s->most)
            return dagi_refuse(why, size, "%s: longer than %.0f bytes", s->name, s->most);
        strcpy(field, text);
        return DAG_SUCCESS;
    case KIND_SECONDS:
        if (!parse_number(text, &number) || number < s->least || number > s->most)
            return dagi_refuse(why, size, "%s = %s: must be a number of seconds from %g to %g",
                               s->name, text, s->least, s->most);
        *(double *)field = number;
        return DAG_SUCCESS;
    case KIND_SEED:
        if (!parse_count(text, false, field))
            return dagi_refuse(why, size, "%s = %s: must be a whole number >= 0", s->name, text);
        return DAG_SUCCESS;
    case KIND_BYTES:
    case KIND_COUNT:
        if (s->least < 0 && strcmp(text, "-1") == 0) {
            *(int64_t *)field = -1;
            return DAG_SUCCESS;
        }
        if (!parse_count(text, s->kind == KIND_BYTES, &count) || (double)count < s->least ||
            (double)count > s->most)
            return dagi_refuse(why, size, "%s = %s: must be a whole number from %.0f to %.0f%s",
                               s->name, text, s->least, s->most,
                               s->kind == KIND_BYTES ? " (k, M, G allowed)" : "");
        *(int64_t *)field = (int64_t)count;
        return DAG_SUCCESS;
    case KIND_BYTES_EACH:
    case KIND_TEXT_EACH:
        return parse_each(s, text, settings, why, size);
    }
    return DAG_ERR_INTERNAL;
}
