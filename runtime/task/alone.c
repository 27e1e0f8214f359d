#include "task.h"

#include <assert.h>

/* Questions in a row at which nobody else was at work, after which a worker is alone. Whoever comes then has the kernel
 * put a fence into it, which takes both some microseconds, so after a time alone that was no longer than `SHORT`
 * questions it waits twice as long, until one lasts for `LONG`. */
enum { FIRST_QUIET = 8, MOST_VAIN = 9, SHORT = 64, LONG = 512 };
/* While others work it looks after so many questions again: to look takes a line from each of them. */
enum { PAUSE = 8 };

static bool others_work(const struct dagi_worker *w)
{
    const struct dagi_tasks *tasks = dagi_tasks(w->ctx);
    for (int i = 0; i < tasks->nworkers; i++) {
        const struct dagi_worker *other = tasks->workers[i];
        if (other != w && atomic_load_explicit(&dagi_runner(other)->at_work, memory_order_acquire))
            return true;
    }
    return false;
}

void dagi_work_begin(struct dagi_worker *w)
{
    struct dagi_runner *r = dagi_runner(w);
    if (!dagi_tasks(w->ctx)->alone.possible)
        return;
    dagi_owned_lock *l = &dagi_tasks(w->ctx)->alone.lock;
    atomic_store_explicit(&r->at_work, 1, memory_order_relaxed);
    dagi_full_fence();
    dagi_chaos_delay(w);
    /* Who ends the state for somebody else still waits for the one that was alone as long as `word` is held. */
    int alone = atomic_load_explicit(&l->alone, memory_order_acquire);
    if (alone == dagi_alone_number(w) || (alone == 0 && !atomic_load_explicit(&l->word, memory_order_acquire)))
        return;
    dagi_lock(&l->word);
    alone = atomic_load_explicit(&l->alone, memory_order_relaxed);
    if (alone != 0 && alone != dagi_alone_number(w))
        dagi_owned_end(l);
    dagi_unlock(&l->word);
}

void dagi_work_end(struct dagi_worker *w)
{
    atomic_store_explicit(&dagi_runner(w)->at_work, 0, memory_order_release);
}

static void begin(struct dagi_worker *w)
{
    dagi_owned_lock *l = &dagi_tasks(w->ctx)->alone.lock;
    dagi_owned_begin(l, dagi_alone_number(w));
    dagi_full_fence();
    dagi_chaos_delay(w);
    if (others_work(w))
        dagi_owned_give_up(l, dagi_alone_number(w));
    else if (dagi_owned_is_alone(l))
        dagi_runner(w)->direct = DAGI_DIRECT_ALONE;
}

void dagi_alone_seek(struct dagi_worker *w)
{
    struct dagi_runner *r = dagi_runner(w);
    if (!dagi_tasks(w->ctx)->alone.possible)
        return;
    assert(atomic_load_explicit(&r->at_work, memory_order_relaxed));
    if (dagi_owned_is_alone(&dagi_tasks(w->ctx)->alone.lock)) {
        if (r->quest.lasted < LONG)
            r->quest.lasted++;
        return;
    }
    if (r->quest.lasted > 0) { /* somebody has come */
        if (r->quest.lasted >= LONG)
            r->quest.vain = 0;
        else if (r->quest.lasted <= SHORT && r->quest.vain < MOST_VAIN)
            r->quest.vain++;
        r->quest.lasted = r->quest.quiet = 0;
    }
    if (r->quest.quiet < 0) {
        r->quest.quiet++;
        return;
    }
    if (others_work(w)) {
        r->quest.quiet = w->ctx->settings.chaos ? 0 : -PAUSE;
        return;
    }
    if (++r->quest.quiet < FIRST_QUIET << r->quest.vain && !w->ctx->settings.chaos)
        return;
    r->quest.quiet = 0;
    begin(w);
}
