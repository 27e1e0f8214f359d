/* What things took of which only the order and the moments are known when somebody looked. */
#include "choice.h"
#include "device_impl.h"

/* Nanoseconds: looks this far apart are no reason to doubt a time. */
enum { LOOK = 20000 };

/* An end came somewhere between two looks, or between the begin and the look: in the middle, as far as
 * anybody knows. To demand that a time be long against the looks would let pass the long ones only, and
 * things would seem slow. */
int64_t dagi_pace_end(dagi_pace *p, uint64_t *begin, uint64_t now, uint64_t away, int count)
{
    if (now - *begin < away)
        away = now - *begin;
    uint64_t end = now - away / 2, doubt = away / 2;
    if (*begin < p->last_end) {
        *begin = p->last_end;
        doubt += p->doubt;
    }
    uint64_t interval = end > *begin ? end - *begin : 0;
    p->last_end = end;
    p->doubt = away / 2;
    if (doubt > LOOK && doubt > interval / 2)
        return -1;
    return (int64_t)(interval / (uint64_t)count);
}

int64_t dagi_stretch_end(dagi_stretch *s, const dagi_stretch *seen, uint64_t now, int more)
{
    enum { ENOUGH = 8 }; /* launches: at either end of a stretch a part of one may be missing */
    int64_t took = -1;
    if (!seen->what || seen->what != s->what || seen->whose != s->whose || seen->size != s->size || s->since == 0 ||
        !more) {
        *s = *seen;
        s->since = more ? now : 0;
        s->count = s->launches = s->late = 0;
        return -1;
    }
    s->count += seen->count;
    s->launches += seen->launches;
    s->late |= seen->late;
    if (s->launches < ENOUGH)
        return -1;
    if (s->late)
        took = (int64_t)((now - s->since) / (uint64_t)s->count);
    s->since = now;
    s->count = s->launches = s->late = 0;
    return took;
}

/* ---- transfers ------------------------------------------------------------------------------ */

/* When what the transfer ran behind was seen to be done; 0 = not before this look, or who knows. */
static uint64_t freed_at(const dagi_lane *lane, const dagi_move *move)
{
    const dagi_lane *other = (const dagi_lane *)(const void *)move->behind.queue;
    if (move->unclear || !dagi_ticket_passed(move->behind) || other->device != lane->device ||
        other->count - move->behind.count >= DAGI_LANE_SLOTS)
        return 0;
    uint64_t at = other->slot[move->behind.count % DAGI_LANE_SLOTS].ended_at;
    return at < lane->device->time.now ? at : 0;
}

/* The latency of a transfer is worth that of so many bytes more, about. */
static double weight(const dagi_move *move)
{
    return move->bytes ? (double)move->bytes + 32768 : 0;
}

void dagi_lane_moved(dagi_lane *lane, uint64_t first, uint64_t last)
{
    const dagi_device *d = lane->device;
    uint64_t begin = 0;
    double sum = 0;
    int clear = 1;
    if (lane != &d->in && lane != &d->out)
        return; /* copies among kernels tell nothing of their link */
    for (uint64_t i = first; i <= last; i++) {
        const dagi_move *move = &lane->slot[i % DAGI_LANE_SLOTS].move;
        if (move->bytes == 0)
            continue;
        uint64_t since = move->since;
        if (move->behind.queue) {
            uint64_t freed = freed_at(lane, move);
            clear &= freed > 0;
            since = freed > since ? freed : since;
        }
        begin = begin == 0 ? since : begin;
        sum += weight(move);
    }
    if (sum <= 0)
        return;
    int64_t took = dagi_pace_end(&lane->pace, &begin, d->time.now, d->time.away, 1);
    double interval = lane->pace.last_end > begin ? (double)(lane->pace.last_end - begin) : 0, gone = 0;
    for (uint64_t i = first; i <= last; i++) {
        const dagi_move *move = &lane->slot[i % DAGI_LANE_SLOTS].move;
        double share = interval * weight(move) / sum;
        if (move->bytes == 0)
            continue;
        if (clear && took > 0)
            dagi_choice_learn_move(d->all->choice, move->from, move->to, move->bytes, share * 1e-9);
        if (d->time.ticks)
            dagi_record_copy(d, move, begin + (uint64_t)gone, begin + (uint64_t)(gone + share));
        gone += share;
    }
}
