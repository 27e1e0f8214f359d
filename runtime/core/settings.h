/*
 * Settings: one table, read through by the configuration file, the environment and the API.
 */
#ifndef DAGI_SETTINGS_H
#define DAGI_SETTINGS_H

#include "core.h"

/* Where the value of a setting came from, weakest first. */
typedef enum dagi_origin {
    DAGI_ORIGIN_DEFAULT,
    DAGI_ORIGIN_FILE,
    DAGI_ORIGIN_ENVIRONMENT,
    DAGI_ORIGIN_API
} dagi_origin;

/*
 * Put together what default, file (DAG_CONFIG), environment and `api` (may be NULL) say.
 * *resolved keeps text and origin of each, for dagi_settings_print_config(); owned by the caller.
 */
dag_status dagi_settings_resolve(const dag_config *api, dag_config **resolved,
                                 dagi_settings *settings, char *why, size_t why_size);
void dagi_settings_print_config(const dag_config *config, FILE *out);
int dagi_settings_get(const dag_config *config, int index, dag_setting *out);
/* The origin of `key`, which must be in the table. */
dagi_origin dagi_settings_origin(const dag_config *config, const char *key);

#endif
