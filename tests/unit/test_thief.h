/* What the bodies of thief_pairs.jdf call. */
#ifndef TESTS_THIEF_H
#define TESTS_THIEF_H

void pairs_body(int phase);

#endif
