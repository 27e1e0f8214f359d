/*
 * Settings: one table, read through by the configuration file, the environment and the API.
 */
#ifndef DAGI_SETTINGS_H
#define DAGI_SETTINGS_H

#include "base.h"

/*
 * Put together what default, file (DAG_CONFIG), environment and `api` (may be NULL) say.
 * *resolved keeps text and origin of each, for dagi_settings_get(); owned by the caller.
 */
dag_status dagi_settings_resolve(const dag_config *api, dag_config **resolved,
                                 dagi_settings *settings, char *why, size_t why_size);
int dagi_settings_get(const dag_config *config, int index, dag_setting *out);

#endif
