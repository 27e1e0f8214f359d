/* Arrays that grow. */
#ifndef DAGI_ROOM_H
#define DAGI_ROOM_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* `items`: where the pointer lies. False = there is no memory, and it stays. */
static inline bool dagi_grow(void *items, size_t bytes)
{
    void *old, *grown;
    memcpy(&old, items, sizeof old);
    grown = realloc(old, bytes);
    if (grown)
        memcpy(items, &grown, sizeof grown);
    return grown != NULL;
}

/* Has the array, which malloc() gave or NULL, room for one more item? `count` of `capacity` are in use; it
 * doubles, from `first` on. False = there is no memory, and all is as it was. */
#define DAGI_ROOM(items, count, capacity, first)                                                   \
    ((count) < (capacity) ||                                                                       \
     (dagi_grow(&(items), (size_t)((capacity) ? 2 * (capacity) : (first)) * sizeof *(items)) &&    \
      ((capacity) = (capacity) ? 2 * (capacity) : (first), true)))

#endif
