#include "slip_queue.h"

enum { NEXT = DAGI_SLIP_NEXT, RUN_START = 256 };

void dagi_slip_queue_fini(dagi_slip_queue *q)
{
    free(q->run);
    dagi_ready_heap_fini(&q->heap);
    *q = (dagi_slip_queue){.nnext = 0};
}

static dagi_ready_entry *run_at(const dagi_slip_queue *q, uint32_t i)
{
    return &q->run[i & q->mask];
}

/* Room for one more in the ring; nonzero = out of memory. */
static int run_room(dagi_slip_queue *q)
{
    if (q->run && q->end - q->first <= q->mask)
        return 0;
    uint64_t capacity = q->run ? 2 * ((uint64_t)q->mask + 1) : RUN_START;
    dagi_ready_entry *run = capacity <= UINT32_C(1) << 31 ? malloc(capacity * sizeof *run) : NULL;
    if (!run)
        return 1;
    for (uint32_t i = q->first; i != q->end; i++)
        run[i & (capacity - 1)] = *run_at(q, i);
    free(q->run);
    q->run = run;
    q->mask = (uint32_t)(capacity - 1);
    return 0;
}

static void insert_next(dagi_slip_queue *q, const dagi_ready_entry *e)
{
    int at = q->nnext++;
    for (; at > 0 && dagi_ready_before(e, &q->next[at - 1]); at--)
        q->next[at] = q->next[at - 1];
    q->next[at] = *e;
}

int dagi_slip_queue_push(dagi_slip_queue *q, int64_t priority, struct dagi_slip *slip)
{
    const dagi_ready_entry e = {priority, q->arrivals, slip};
    if (q->nnext == NEXT) {
        int better = dagi_ready_before(&e, &q->next[NEXT - 1]);
        int in_order = q->first == q->end || !dagi_ready_before(&e, run_at(q, q->end - 1));
        if (better || in_order ? run_room(q) != 0 : dagi_ready_heap_push(&q->heap, e) != 0)
            return 1;
        if (better) /* what it displaces is before all of the others */
            *run_at(q, --q->first) = q->next[--q->nnext];
        else if (in_order)
            *run_at(q, q->end++) = e;
    }
    q->arrivals++;
    if (q->nnext < NEXT)
        insert_next(q, &e);
    return 0;
}

struct dagi_slip *dagi_slip_queue_take(dagi_slip_queue *q, int i)
{
    if (i >= q->nnext)
        return NULL;
    struct dagi_slip *slip = q->next[i].what;
    q->nnext--;
    for (; i < q->nnext; i++)
        q->next[i] = q->next[i + 1];
    if (q->first != q->end &&
        (q->heap.count == 0 || dagi_ready_before(run_at(q, q->first), &q->heap.entry[0])))
        q->next[q->nnext++] = *run_at(q, q->first++);
    else if (q->heap.count > 0)
        q->next[q->nnext++] = dagi_ready_heap_pop(&q->heap);
    return slip;
}

int dagi_slip_queue_best(const dagi_slip_queue *q, struct dagi_slip **slips, int most)
{
    int n = 0;
    for (; n < q->nnext && n < most; n++)
        slips[n] = q->next[n].what;
    size_t in_run = q->end - q->first;
    for (size_t i = 0; n < most && (i < in_run || i < q->heap.count); i++) {
        if (i < in_run)
            slips[n++] = run_at(q, q->first + (uint32_t)i)->what;
        if (i < q->heap.count && n < most)
            slips[n++] = q->heap.entry[i].what;
    }
    return n;
}

const char *dagi_slip_queue_check(const dagi_slip_queue *q)
{
    const dagi_ready_entry *last = q->nnext > 0 ? &q->next[q->nnext - 1] : NULL;
    if ((q->first != q->end || q->heap.count > 0) && q->nnext < NEXT)
        return "the next ones are not all there";
    for (int i = 1; i < q->nnext; i++) {
        if (dagi_ready_before(&q->next[i], &q->next[i - 1]))
            return "the next ones are out of order";
    }
    for (uint32_t i = q->first; i != q->end; i++) {
        if (dagi_ready_before(run_at(q, i), i == q->first ? last : run_at(q, i - 1)))
            return "the run is out of order";
    }
    if (!dagi_ready_heap_check(&q->heap))
        return "the heap is out of order";
    if (q->heap.count > 0 && dagi_ready_before(&q->heap.entry[0], last))
        return "the heap is before the next ones";
    return NULL;
}
