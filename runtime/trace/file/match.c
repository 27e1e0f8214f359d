/* Both ends of each message are told of each other. */
#include "model.h"

#include <stdbool.h>
#include <stdlib.h>

/* Messages of a pair of ranks are handled in the order in which they were sent, so the k-th sent is
 * the k-th received: give both ends both times. */
typedef struct cursor {
    dagt_flight **of; /* by peer */
    size_t *count;
} cursor;

static bool by_peer(const dagt_rank *rank, int out, int nranks, cursor *c)
{
    size_t total = 0;
    c->count = calloc((size_t)nranks + 1, sizeof *c->count);
    for (int pass = 0; c->count && pass < 2; pass++) {
        for (int k = 0; k < rank->ntracks; k++) {
            const dagt_track *t = &rank->tracks[k];
            for (size_t i = 0; t->kind == DAGT_TRACK_LINKS && i < t->nflights; i++) {
                dagt_flight *f = &t->flights[i];
                if (!f->message || f->out != out || f->peer >= (uint32_t)nranks)
                    continue;
                if (pass == 0)
                    c->count[f->peer + 1]++, total++;
                else
                    c->of[c->count[f->peer]++] = f;
            }
        }
        if (pass == 1)
            break;
        for (int p = 0; p < nranks; p++)
            c->count[p + 1] += c->count[p];
        c->of = calloc(total + 1, sizeof(dagt_flight *));
        if (!c->of)
            break;
    }
    return c->count && c->of; /* count[p]: now the end of those of p */
}

static void match(const cursor *out, int from, const cursor *in, int to)
{
    size_t o = to ? out->count[to - 1] : 0, i = from ? in->count[from - 1] : 0;
    for (; o < out->count[to] && i < in->count[from]; o++, i++) {
        int64_t begin = out->of[o]->begin, end = in->of[i]->begin;
        if (end < begin)
            end = begin; /* clocks are not that exact */
        out->of[o]->end = in->of[i]->end = end;
        in->of[i]->begin = begin;
    }
}

int dagt_match_messages(dagt_trace *t)
{
    cursor *out = calloc((size_t)t->nranks, sizeof *out), *in = calloc((size_t)t->nranks, sizeof *in);
    bool ok = out && in;
    for (int r = 0; ok && r < t->nranks; r++)
        ok = by_peer(&t->ranks[r], 1, t->nranks, &out[r]) &&
             by_peer(&t->ranks[r], 0, t->nranks, &in[r]);
    for (int a = 0; ok && a < t->nranks; a++)
        for (int b = 0; b < t->nranks; b++)
            match(&out[a], a, &in[b], b);
    for (int r = 0; r < t->nranks; r++) {
        for (int k = 0; k < 2; k++) {
            cursor *c = k ? in : out;
            if (c) {
                free(c[r].of);
                free(c[r].count);
            }
        }
    }
    free(out);
    free(in);
    return ok;
}
