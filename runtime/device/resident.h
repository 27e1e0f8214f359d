/*
 * Collections whose elements may stay on devices between taskpools (dag_resident_begin()).
 *
 * Elsewhere a value ends with its last holder, and its copies with it. In a resident collection
 * each element that was ever bound has one value of its own, which is kept: without a holder it is
 * parked, with its record, and the next task that binds the element gets it back with all copies
 * that were not evicted meanwhile. So tasks on cores, stores and messages find out by the record, as
 * always, that the content lies elsewhere, and eviction saves what only a device has.
 */
#ifndef DAGI_RESIDENT_H
#define DAGI_RESIDENT_H

#include "../data/data.h"
#include "device.h"

struct dagi_residence;

/*
 * The residence of a collection, in whatever context; NULL = it is not resident. A collection is known
 * by the address of its struct and the number in it together, and a residence does not look into the
 * struct: a copy of it (such as a view), one that was copied back after the end, and one that was
 * initialised anew are not resident. Application thread: a residence begins and ends while no pool
 * names its collection, so tasks find it in their pool (dagi_data_name_residence()).
 */
struct dagi_residence *dagi_residence_of(const dag_collection *c);

/* For bind.c: the value of an element that is not empty, with one more reference; flags of data.h. NULL =
 * the pool has failed, or out of memory. */
dag_value *dagi_resident_bind(dag_taskpool *pool, struct dagi_residence *residence,
                              const dag_element *e, uint32_t flags);
/* The last reference to a value with the flag RESIDENT is gone. */
void dagi_resident_rest(struct dagi_worker *w, dag_value *value);
/* For bind.c: store to an element that has no living home value. Unless it covers the element, what only
 * a device has of it is brought to the host first; the pool is held until then.
 * Nonzero = out of memory. */
int dagi_resident_store(dag_taskpool *pool, struct dagi_residence *residence, const dag_element *e,
                        dag_value *value, dag_region region);
/* 1: what is stored in elements need not come to the host before somebody asks. */
int dagi_resident_stays(const struct dagi_residence *residence);

/* A pool is about to be added: tell its tasks which collections are resident. Memory whose present
 * content may be on a device, as that of another matrix, is refused: not all ranks need see it, so it is
 * an error of the run, not of the call. */
void dagi_residences_name(dag_taskpool *pool);
/* The collection is about to be freed. `content`: its memory lives on, and what devices have of it
 * is brought home. Application thread. */
void dagi_residence_leave(dag_collection *c, int content);
/* The context ends: all collections are left, and brought home. Application thread. */
void dagi_residences_close(dag_context *ctx);

/* For the manager: such a transfer was lost, or cannot be had. */
void dagi_residence_fail(struct dagi_residence *residence);
/* The residence of a parked value; NULL = the value is no such one, or a pool uses it. */
struct dagi_residence *dagi_residence_parked(const dag_value *v);
/* A value that was given to a manager without a pool is parked again. */
void dagi_residence_settled(struct dagi_residence *residence);

#endif
