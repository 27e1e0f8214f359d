/* Helpers on views beyond engine.h; pure functions, any thread. */
#ifndef DAGI_COMM_VIEW_H
#define DAGI_COMM_VIEW_H

#include "engine.h"

/* Every item travels (a region without its diagonal counts: see view.c). */
int dagi_view_is_whole(const dagi_view *v);
/* The bytes that travel are one run in memory. */
int dagi_view_is_contiguous(const dagi_view *v);
/* Rows first .. first+count-1 of column j travel. */
void dagi_view_column(const dagi_view *v, int64_t j, int64_t *first, int64_t *count);

/* Most segments a view can be cut into, at least 1; and segment `index` of `count` of them, itself
 * a view. The segments of a view cover its region, each item once. */
int64_t dagi_view_max_segments(const dagi_view *v);
dagi_view dagi_view_segment(const dagi_view *v, int count, int index);

#endif
