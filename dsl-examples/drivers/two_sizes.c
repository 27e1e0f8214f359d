#include "two_sizes.h"

#include "results.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The driver that runs; set once per context, by two_sizes_begin(). */
static struct {
    const char *routine; /* NULL: sizes are not to be chosen */
    int product, qr, solves;
    dag_split_choice choice; /* the last; nb = 0: none yet */
} chosen;

void two_sizes_begin(dag_context *ctx, const driver *d)
{
    dag_split_desc unused;
    int wanted = 0;
    memset(&chosen, 0, sizeof chosen);
    if (!(d->row->options & OPT_BIT(OPT_SPLIT)) || dag_split_settings(ctx, &wanted, &unused) != DAG_SUCCESS ||
        wanted != DAG_SPLIT_AUTO)
        return; /* settings that are wrong are refused where tiles are cut */
    chosen.product = strcmp(d->name, "gemm") == 0;
    chosen.solves = strcmp(d->name, "gels") == 0;
    chosen.qr = chosen.solves || strcmp(d->name, "geqrf") == 0;
    chosen.routine = chosen.product ? "gemm" : chosen.qr ? "geqrf" : "potrf";
}

/* Choose tiles for Cholesky and QR; what is made behind the first matrix, right-hand sides and Q, gets its tiles. */
static dag_status choose(dag_context *ctx, const options *o, int64_t m, int64_t n)
{
    int64_t rows = m > n ? m : n; /* gels factors A or its adjoint, whichever is tall */
    if (!chosen.qr)
        return dag_la_split(ctx, chosen.routine, o->prec, m, m, m, o->nb, &chosen.choice);
    if (chosen.choice.nb > 0)
        return DAG_SUCCESS;
    return dag_la_split(ctx, chosen.routine, o->prec, chosen.solves ? rows : m, chosen.solves ? m + n - rows : n, n,
                        o->nb, &chosen.choice);
}

dag_status two_sizes_tile(dag_context *ctx, const options *o, int64_t m, int64_t n, int64_t *nb, int *has)
{
    int64_t rows = driver_rows(o), k = o->given & OPT_BIT(OPT_K) ? o->k : o->n;
    *has = 0;
    if (chosen.routine == NULL)
        return DAG_SUCCESS;
    dag_status status = chosen.product
                            ? dag_la_split(ctx, chosen.routine, o->prec, rows, o->n, k, o->nb, &chosen.choice)
                            : choose(ctx, o, m, n);
    if (status != DAG_SUCCESS)
        return status;
    *nb = chosen.choice.nb;
    *has = 1;
    return DAG_SUCCESS;
}

static const char *form_of(dag_split_update update)
{
    return update == DAG_SPLIT_BY_TILE ? "tile" : "column";
}

static const char *place_of(dag_split_placement placement)
{
    return placement == DAG_SPLIT_STATIC ? "static" : "cost";
}

/* How it updates, which products have but one way for, and where tasks are. */
static void print_way(dag_split_update update, dag_split_placement placement)
{
    if (!chosen.product)
        printf(", updates by %s", form_of(update));
    printf(", placement %s", place_of(placement));
}

void two_sizes_text(const options *o, const report *r)
{
    const dag_split_choice *c = &chosen.choice;
    if (c->nb == 0)
        return;
    printf("%s: split auto: ", r->routine);
    if (c->s > 0)
        printf("%" PRId64 " narrow tiles of %" PRId64 " in each of %" PRId64, c->s, c->b, c->nb);
    else
        printf("tiles of one size, %" PRId64, c->nb);
    if (c->seconds > 0) {
        print_way(c->update, c->placement);
        printf(", predicted %.4g s; of the best single size, %" PRId64, c->seconds, c->uniform_nb);
        print_way(c->uniform_update, c->uniform_placement);
        printf(", %.4g s", c->uniform_seconds);
    }
    if (c->seconds > 0 && o->report)
        printf("; the run took %.3g times the prediction", r->seconds / c->seconds);
    printf("\n");
}

void two_sizes_json(void)
{
    const dag_split_choice *c = &chosen.choice;
    if (c->nb == 0)
        return;
    printf(", \"split_taken\": \"%" PRId64 ",%" PRId64 "\"", c->s, c->b);
    if (c->seconds > 0) {
        printf(", \"split_form\": \"%s\", \"split_place\": \"%s\"", form_of(c->update), place_of(c->placement));
        results_number("split_predicted_s", c->seconds);
        printf(", \"split_uniform_nb\": %" PRId64 ", \"split_uniform_form\": \"%s\", \"split_uniform_place\": \"%s\"",
               c->uniform_nb, form_of(c->uniform_update), place_of(c->uniform_placement));
        results_number("split_uniform_s", c->uniform_seconds);
    }
}
