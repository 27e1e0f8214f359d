/* The table of engines, and the choice of one. */
#include "engine.h"

#include <dag/config.h>

#include <stdio.h>
#include <string.h>

/* A row for each engine of this build. Where none is asked for, the first that is offered is taken. */
static const dagi_engine_kind *const engines[] = {
#if DAG_HAVE_MPI
    &dagi_engine_mpi,
#endif
    &dagi_engine_self,
};
enum { ENGINES = sizeof engines / sizeof *engines };

int dagi_engine_is_up(void)
{
    for (int i = 0; i < ENGINES; i++)
        if (engines[i]->is_up())
            return 1;
    return 0;
}

static dag_status unknown(const char *name, char *why, size_t why_size)
{
    char names[128] = "";
    for (int i = 0; i < ENGINES; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", engines[i]->name);
    }
    snprintf(why, why_size, "engine = %s: must be auto, or one of those of this build: %s", name,
             names);
    return DAG_ERR_SETTING;
}

dag_status dagi_engine_new(const dagi_engine_options *options, dagi_engine **out, char *why,
                           size_t why_size)
{
    const char *name = options->engine && *options->engine ? options->engine : "auto";
    int any = strcmp(name, "auto") == 0;
    for (int i = 0; i < ENGINES; i++)
        if (any ? engines[i]->offered(options) : strcmp(name, engines[i]->name) == 0)
            return engines[i]->make(options, out, why, why_size);
    if (!any)
        return unknown(name, why, why_size);
    snprintf(why, why_size, "a communicator was given, but this build has no MPI");
    return DAG_ERR_UNSUPPORTED;
}
