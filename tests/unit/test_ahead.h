/* What the bodies of ahead_pairs.jdf call. */
#ifndef TESTS_AHEAD_H
#define TESTS_AHEAD_H

void ahead_body(int i, const void *tile);

#endif
