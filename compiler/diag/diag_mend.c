/* The corrections that messages carry, applied. */
#include "diag_print.h"

#include <stdlib.h>
#include <string.h>

static const diag_extra *fixits_of(const diag_message *m)
{
    const diag_extra *fixits = m->fixits;
    for (const diag_extra *n = m->notes; n && !fixits; n = n->next)
        fixits = n->fixits;
    return fixits;
}

/* May the correction stand beside those taken so far? What is inserted at one place is inserted in
 * order. */
static bool fits(const diag_extra *const *taken, size_t n, const diag_extra *f)
{
    for (size_t i = 0; i < n; i++) {
        src_range a = taken[i]->where, b = f->where;
        bool same = a.begin == b.begin && a.end == b.end;
        if (same && strcmp(taken[i]->text, f->text) == 0)
            return false;
        if (a.begin < b.end && b.begin < a.end)
            return false;
        if (same && a.begin != a.end)
            return false;
    }
    return true;
}

void diag_mend_messages(const src_set *sources, diag_message *const *messages, size_t n_messages,
                        uint32_t file, text *out)
{
    size_t n = 0, cap = 0;
    for (size_t i = 0; i < n_messages; i++)
        for (const diag_extra *f = fixits_of(messages[i]); f; f = f->next)
            cap++;
    const diag_extra **taken = util_alloc((cap + 1) * sizeof(*taken));
    for (size_t i = 0; i < n_messages; i++) {
        const diag_extra *first = fixits_of(messages[i]);
        bool ok = first != NULL;
        for (const diag_extra *f = first; f && ok; f = f->next)
            ok = f->where.file == file && fits(taken, n, f);
        for (const diag_extra *f = first; f && ok; f = f->next)
            taken[n++] = f;
    }
    for (size_t i = 1; i < n; i++)          /* stable, and few */
        for (size_t k = i; k > 0 && taken[k - 1]->where.begin > taken[k]->where.begin; k--) {
            const diag_extra *swap = taken[k];
            taken[k] = taken[k - 1];
            taken[k - 1] = swap;
        }
    const char *bytes = src_bytes(sources, file);
    size_t done = 0;
    for (size_t i = 0; i < n; i++) {
        text_add(out, bytes + done, taken[i]->where.begin - done);
        text_puts(out, taken[i]->text);
        done = taken[i]->where.end;
    }
    text_add(out, bytes + done, src_len(sources, file) - done);
    free(taken);
}
