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
/* What the file and the environment of this rank say, for others: names and values, each with a zero
 * behind it, and zeros up to the end. */
enum { DAGI_SETTINGS_TOLD = 16 << 10 }; /* all of them have room */
void dagi_settings_tell(const dag_config *resolved, char text[DAGI_SETTINGS_TOLD]);
/* Such a text of rank 0: it stands where this rank has nothing but defaults. */
void dagi_settings_hear(dag_config *resolved, dagi_settings *settings, const char *text);
/* The first setting that was given by an old name, and how it is written now; NULL = none. */
const char *dagi_settings_renamed(const dag_config *config, const char **old);
int dagi_settings_get(const dag_config *config, int index, dag_setting *out);

/* ---- setting_value.c ---------------------------------------------------------------------------- */

/* A sentence into `why`, which may be NULL; DAG_ERR_SETTING. */
dag_status dagi_refuse(char *why, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Cut blanks off both ends, in place. */
char *dagi_trim(char *text);

/* Times in picoseconds, as "1.5us", and bytes, as "12.5GB/s" with the suffix "B/s" and "64G" with ""
 * (units.c); nonzero = the text is none. */
int dagi_parse_time(const char *text, int64_t *time);
int dagi_parse_bytes(const char *text, const char *suffix, double *bytes);

/* Shapes of broadcasts (bcast_words.c): false = the text is none; the name of one, in `text`. */
bool dagi_bcast_parse(const char *text, dag_bcast_tree *tree);
#define DAGI_BCAST_NAME 128 /* bytes of the longest name, with its end */
const char *dagi_bcast_name(const dag_bcast_tree *tree, char *text, size_t size);

#endif
