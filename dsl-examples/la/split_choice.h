/* How tiles are to be cut where the setting `split` leaves that to a list schedule. */
#ifndef LA_SPLIT_CHOICE_H
#define LA_SPLIT_CHOICE_H

#include "cut.h"

#include <dag/la.h>

/* nb = 0: the tile size is chosen, too. The same question gets the answer that it got before in this process. */
dag_status dagi_split_choose(dag_context *ctx, const dagi_cut_of *of, dag_split_choice *choice);

#endif
