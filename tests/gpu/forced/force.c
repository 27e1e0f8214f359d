/* In place of the choice by times: a task runs on a device wherever its class has a body for one. So
 * each such body runs, however small its matrix. The linker puts this in (--wrap). */
#include "choice.h"

int __wrap_dagi_choice_best(dagi_choice *choice, dagi_choice_class *cls, uint64_t size,
                            dagi_candidate *candidates, int count);

int __wrap_dagi_choice_best(dagi_choice *choice, dagi_choice_class *cls, uint64_t size,
                            dagi_candidate *candidates, int count)
{
    (void)choice;
    (void)cls;
    (void)size;
    int best = 0;
    for (int i = 0; i < count; i++) {
        candidates[i].kernel = 1e-6;
        if (candidates[i].place > candidates[best].place)
            best = i;
    }
    return best;
}
