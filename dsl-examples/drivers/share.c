/* What cores get beside devices; see share.h. */
#include "share.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MOST = 32 }; /* classes that are told of */

/* For the application thread alone. */
static struct known {
    int swept; /* fixed shares that were tried */
    double seconds[SHARE_STEPS + 1], flops;
    int classes;
    struct one {
        char program[48], name[48];
        dag_core_share got;
    } of[MOST];
} known;

static double share_of(int step)
{
    return (double)step / SHARE_STEPS;
}

void share_begin(void)
{
    known.swept = 0;
}

dag_status share_set(dag_context *ctx, int step)
{
    char text[16] = "auto";
    if (step < SHARE_AUTO)
        (void)snprintf(text, sizeof(text), "%g", share_of(step));
    return driver_agreed(ctx, dag_core_share_set(ctx, text));
}

void share_took(int step, double seconds, double flops)
{
    known.seconds[step] = known.swept > step ? fmin(seconds, known.seconds[step]) : seconds;
    known.swept = step + 1;
    known.flops = flops;
}

void share_keep(const dag_context *ctx)
{
    dag_core_share s;
    known.classes = 0;
    for (int i = 0; known.classes < MOST && dag_core_share_get(ctx, i, &s); i++) {
        struct one *one = &known.of[known.classes++];
        (void)snprintf(one->program, sizeof(one->program), "%s", s.program);
        (void)snprintf(one->name, sizeof(one->name), "%s", s.name);
        one->got = s;
    }
}

/* The step that took least; a sweep has been made. */
static int best(void)
{
    int least = 0;
    for (int i = 1; i < known.swept; i++)
        least = known.seconds[i] < known.seconds[least] ? i : least;
    return least;
}

void share_text(FILE *out, const char *who, double seconds)
{
    for (int i = 0; i < known.swept; i++)
        fprintf(out, "%s: core_share %.2f: %.4g s, %.4g GFlop/s\n", who, share_of(i), known.seconds[i],
                known.flops / known.seconds[i] * 1e-9);
    for (int i = 0; i < known.classes; i++) {
        const struct one *one = &known.of[i];
        fprintf(out, "%s: %s of %s: cores got %.3f of %" PRId64 " tasks", who, one->name, one->program, one->got.used,
                one->got.tasks);
        if (one->got.rates >= 0)
            fprintf(out, ", by the rates %.3f", one->got.rates);
        if (known.swept > 0)
            fprintf(out, ", best fixed share %.2f", share_of(best()));
        fprintf(out, "\n");
    }
    if (known.swept > 0)
        fprintf(out, "%s: core_share auto: %.3f of the rate with the best fixed share\n", who,
                known.seconds[best()] / seconds);
}

static void number(FILE *out, const char *key, double x)
{
    if (isfinite(x))
        fprintf(out, ", \"%s\": %.6g", key, x);
    else
        fprintf(out, ", \"%s\": null", key); /* JSON has no other word for it */
}

void share_json(FILE *out, double seconds)
{
    for (int i = 0; i < known.classes; i++) {
        const struct one *one = &known.of[i];
        fprintf(out, "%s{\"program\": \"%s\", \"class\": \"%s\", \"tasks\": %" PRId64,
                i > 0 ? ", " : ", \"core_share\": [", one->program, one->name, one->got.tasks);
        number(out, "used", one->got.used);
        number(out, "rates", one->got.rates < 0 ? NAN : one->got.rates);
        if (known.swept > 0)
            number(out, "best", share_of(best()));
        fprintf(out, "}");
    }
    if (known.classes > 0)
        fprintf(out, "]");
    for (int i = 0; i < known.swept; i++) {
        fprintf(out, "%s{\"share\": %.2f", i > 0 ? ", " : ", \"sweep_share\": [", share_of(i));
        number(out, "time_s", known.seconds[i]);
        number(out, "gflops", known.flops / known.seconds[i] * 1e-9);
        fprintf(out, "}");
    }
    if (known.swept > 0) {
        fprintf(out, "]");
        number(out, "auto_of_best", known.seconds[best()] / seconds);
    }
}
