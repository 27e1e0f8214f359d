/* Disorder on purpose: the setting `chaos`. */
#include "base.h"
#include "lock.h"

#include <time.h>

void dagi_chaos_delay(struct dagi_worker *w)
{
    if (!w->ctx->settings.chaos)
        return;
    uint64_t r = dagi_random(w);
    unsigned what = (unsigned)(r % 256);
    if (what == 0) {
        struct timespec t = {0, 20000 + (long)(r >> 8 & 0xffff)};
        nanosleep(&t, NULL);
    } else if (what < 8) {
        sched_yield();
    } else if (what < 32) {
        for (unsigned i = (unsigned)(r >> 8 & 1023); i > 0; i--)
            dagi_pause();
    }
}
