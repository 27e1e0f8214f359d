/* A file of --std=parsec in the words of --std=dag (--emit=jdf).
 *
 * What only a person can decide is marked where it stands, in comments that begin with DECIDE: types and
 * shapes, how collections are dealt out, what C did with PaRSEC's own interface. All else is rewritten
 * so that it means the same. */
#ifndef DAGCC_MIGRATE_H
#define DAGCC_MIGRATE_H

#include "sema/sema.h"

/* The text of a file in canonical form, without errors. */
void migrate_text(const sema_info *info, text *out);

/* The text of what came of it, with a mark at each collection whose elements are stored and may be
 * fetched after that: PaRSEC's tasks see what is in memory then. `memory` is what is proven, by
 * sema_global.index; NULL: nothing. */
void migrate_doubts(const sema_info *info, const dag_memory_mode *memory, text *out);

#endif
