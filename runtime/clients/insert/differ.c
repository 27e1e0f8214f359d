/*
 * Where programs of ranks differ: each rank marks the hash of what it has inserted every so many tasks. Hashes go on
 * to differ once they do, so the first mark that differs has the first task that does behind the one before.
 */
#include "insert.h"

#include "../../base/room.h"

/* A call takes less than the rest of 1,024 positions. */
enum { EACH = 960 };

void insertion_mark(insertion *s)
{
    for (; s->position >= s->marks.next; s->marks.next += EACH) {
        if (!DAGI_ROOM(s->marks.of, s->marks.n, s->marks.room, 64)) {
            s->marks.next = INT64_MAX; /* what differs is found, but not told as well */
            return;
        }
        if (s->marks.next > 0)
            s->marks.of[s->marks.n++] = (uint16_t)(s->hash ^ s->hash >> 48);
    }
}

/* Every so many of them, as a message has room for. */
void insertion_tell_marks(insertion *s, int64_t tasks)
{
    size_t skip = 1;
    while (s->marks.n / skip > DAGI_DOOR_MARKS)
        skip *= 2;
    for (size_t i = 1; i <= s->marks.n / skip; i++)
        s->marks.of[i - 1] = s->marks.of[i * skip - 1];
    s->door->marks = (struct dagi_door_marks){s->marks.of, (int)(s->marks.n / skip), EACH * (int64_t)skip, tasks};
}

/* ---- what all ranks do once they know that they differ ---------------------------------------------------- */

/* Mark k, from 1 on; behind those that all have, all that is. */
static double mark_of(const insertion *s, int64_t k, int64_t n)
{
    return k <= n ? (double)s->marks.of[k - 1] : (double)(s->hash >> 12);
}

static dag_status meet(const insertion *s, double *values, int count)
{
    return dagi_open_meet(s->pool, "other ranks, to find where programs differ", values, count);
}

/* The lowest rank with the least of the hashes at mark k, and the lowest with another. */
static dag_status find_ranks(const insertion *s, double hash, int ranks[2])
{
    double least[] = {hash};
    dag_status status = meet(s, least, 1);
    double which[] = {hash > least[0] ? s->pool->ctx->size : s->rank, hash > least[0] ? s->rank : s->pool->ctx->size};
    if (status == DAG_SUCCESS)
        status = meet(s, which, 2);
    ranks[0] = (int)(which[0] < which[1] ? which[0] : which[1]);
    ranks[1] = (int)(which[0] < which[1] ? which[1] : which[0]);
    return status;
}

dag_status insertion_differs(const insertion *s)
{
    double fewest[] = {(double)s->marks.n, -(double)s->position}; /* and the longest program so far */
    int ranks[2];
    dag_status status = meet(s, fewest, 2);
    int64_t n = (int64_t)fewest[0], same = 0, differs = n + 1;
    while (status == DAG_SUCCESS && differs - same > 1) {
        int64_t middle = same + (differs - same) / 2;
        double v[] = {mark_of(s, middle, n), -mark_of(s, middle, n)};
        status = meet(s, v, 2);
        if (v[0] == -v[1])
            same = middle;
        else
            differs = middle;
    }
    if (status == DAG_SUCCESS)
        status = find_ranks(s, mark_of(s, differs, n), ranks);
    if (status != DAG_SUCCESS)
        return status;
    dagi_pool_fail(s->pool, DAG_ERR_MISMATCH, DAGI_DOOR_DIFFERS, ranks[0], ranks[1], (long long)(same * EACH),
                   (long long)dagi_door_bound(same * EACH, EACH, (int64_t)-fewest[1]));
    return DAG_ERR_MISMATCH;
}
