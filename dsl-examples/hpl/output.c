/* HPL's text, to the letter where scripts look at it, and JSON. */
#include "hpl.h"

#include "../drivers/share.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define DOUBLE_LINE "================================================================================\n"
#define LINE "--------------------------------------------------------------------------------\n"

static const char *const factorisations[] = {"Left", "Crout", "Right"};
static const char *const broadcasts[] = {"1ring", "1ringM", "2ring", "2ringM", "Blong", "BlongM"};

/* ---- parameters ---------------------------------------------------------------------------------- */

/* Eight values on a line; `words` by their numbers, or NULL. */
static void print_list(FILE *out, const char *name, const hpl_list *list, const char *const *words)
{
    fprintf(out, "%-7s:", name);
    for (int i = 0; i < list->count; i++) {
        if (i > 0 && i % 8 == 0)
            fprintf(out, "\n        ");
        if (words != NULL)
            fprintf(out, "%8s ", words[list->value[i]]);
        else if (list->value[i] == HPL_AUTO)
            fprintf(out, "%8s ", "auto");
        else
            fprintf(out, "%8" PRId64 " ", list->value[i]);
    }
    fprintf(out, "\n");
}

static void print_parameters(FILE *out, const hpl_input *in)
{
    fprintf(out, "The following parameter values will be used:\n\n");
    print_list(out, "N", &in->n, NULL);
    print_list(out, "NB", &in->nb, NULL);
    fprintf(out, "PMAP   : %s-major process mapping\n", in->pmap ? "Column" : "Row");
    print_list(out, "P", &in->p, NULL);
    print_list(out, "Q", &in->q, NULL);
    print_list(out, "PFACT", &in->pfact, factorisations);
    print_list(out, "NBMIN", &in->nbmin, NULL);
    print_list(out, "NDIV", &in->ndiv, NULL);
    print_list(out, "RFACT", &in->rfact, factorisations);
    print_list(out, "BCAST", &in->bcast, broadcasts);
    print_list(out, "DEPTH", &in->depth, NULL);
    if (in->swap == 2)
        fprintf(out, "SWAP   : Mix (threshold = %" PRId64 ")\n", in->swap_from);
    else
        fprintf(out, "SWAP   : %s\n", in->swap == 0 ? "Binary-exchange" : "Spread-roll (long)");
    fprintf(out, "L1     : %stransposed form\n", in->l1 ? "no-" : "");
    fprintf(out, "U      : %stransposed form\n", in->u ? "no-" : "");
    fprintf(out, "EQUIL  : %s\n", in->equil ? "yes" : "no");
    fprintf(out, "ALIGN  : %" PRId64 " double precision words\n\n", in->align);
}

void hpl_head(FILE *out, const hpl_input *in)
{
    fprintf(out, DOUBLE_LINE "dag_hpl %s: the rules, the matrix and the output of HPLinpack 2.0\n"
            DOUBLE_LINE, dag_version());
    fputs("\nAn explanation of the input/output parameters follows:\n"
          "T/V    : Wall time / encoded variant.\n"
          "N      : The order of the coefficient matrix A.\n"
          "NB     : The partitioning blocking factor.\n"
          "P      : The number of process rows.\n"
          "Q      : The number of process columns.\n"
          "Time   : Time in seconds to solve the linear system.\n"
          "Gflops : Rate of execution for solving the linear system.\n\n", out);
    print_parameters(out, in);
    if (in->threshold >= 0)
        fprintf(out, LINE "\n"
                "- The matrix A is randomly generated for each test.\n"
                "- The following scaled residual check will be computed:\n"
                "      ||Ax-b||_oo / ( eps * ( || x ||_oo * || A ||_oo + || b ||_oo ) * N )\n"
                "- The relative machine precision (eps) is taken to be               %e\n"
                "- Computational tests pass if scaled residuals are less than    %16.1f\n\n",
                0x1p-53, in->threshold);
    if (in->threshold < 0) /* else above each result */
        fputs(DOUBLE_LINE "T/V                N    NB     P     Q               Time                 "
              "Gflops\n" LINE, out);
    fflush(out);
}

/* ---- results ------------------------------------------------------------------------------------- */

/* The letter or digits of a look-ahead. */
static void variant(char *text, size_t size, const hpl_input *in, const hpl_case *c)
{
    static const char letters[] = "LCR";
    char depth[24] = "A";
    if (c->depth != HPL_AUTO)
        (void)snprintf(depth, sizeof(depth), "%" PRId64, c->depth);
    (void)snprintf(text, size, "W%c%s%" PRId64 "%c%" PRId64 "%c%" PRId64, in->pmap ? 'C' : 'R', depth,
                   c->bcast, letters[c->rfact], c->ndiv, letters[c->pfact], c->nbmin);
}

static void print_time(FILE *out, const char *what, time_t when)
{
    char text[32] = "";
    struct tm split;
    if (localtime_r(&when, &split) != NULL && strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &split) > 0)
        fprintf(out, "HPL_pdgesv() %-5s time %s\n\n", what, text);
}

static const struct sent_name {
    const char *key, *text;
} sent[HPL_PHASES + 1] = {
    [HPL_PANEL] = {"panel", "panels . . . . . . . ."},
    [HPL_ROWS] = {"rows", "rows and pivots . . . ."},
    [HPL_BACK] = {"back", "back substitution  . ."},
    [HPL_TOGETHER] = {"all", "all of it  . . . . . ."},
};

/* Seconds of a phase in all, hidden, exposed. */
static void print_sent(FILE *out, const char *what, const dag_overlap *s)
{
    if (s->all >= 0)
        fprintf(out, "Communication, %-21.21s : %18.4f %10.4f hidden %10.4f exposed\n", what, s->all,
                s->all - s->exposed, s->exposed);
}

static void print_detail(FILE *out, const hpl_result *r)
{
    static const char line[] =
        "--VVV--VVV--VVV--VVV--VVV--VVV--VVV--VVV--VVV--VVV--VVV--VVV--VVV--VVV--VVV--VVV\n";
    fprintf(out, "%s"
            "Max aggregated wall time rfact . . . : %18.2f\n"
            "+ Max aggregated wall time mxswp . . : %18.2f\n"
            "Max aggregated wall time update  . . : %18.2f\n"
            "+ Max aggregated wall time laswp . . : %18.2f\n"
            "Max aggregated wall time up tr sv  . : %18.2f\n"
            "Wall time of the factorisation . . . : %18.2f\n"
            "Wall time to make the matrix . . . . : %18.2f\n"
            "Wall time to check the solution  . . : %18.2f\n", line, r->most.panel, r->most.search,
            r->most.update, r->most.rows, r->back, r->seconds - r->back, r->fill, r->check);
    for (int i = 0; i <= HPL_PHASES; i++)
        print_sent(out, sent[i].text, &r->sent[i]);
    fputs(line, out);
}

static void print_residual(FILE *out, const hpl_result *r)
{
    fprintf(out, "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)= %16.7f ...... %s\n", r->scaled,
            r->verdict == HPL_PASSED ? "PASSED" : "FAILED");
    if (r->verdict == HPL_PASSED)
        return;
    fprintf(out,
            "||Ax-b||_oo  . . . . . . . . . . . . . . . . . = %18.6f\n"
            "||A||_oo . . . . . . . . . . . . . . . . . . . = %18.6f\n"
            "||A||_1  . . . . . . . . . . . . . . . . . . . = %18.6f\n"
            "||x||_oo . . . . . . . . . . . . . . . . . . . = %18.6f\n"
            "||x||_1  . . . . . . . . . . . . . . . . . . . = %18.6f\n"
            "||b||_oo . . . . . . . . . . . . . . . . . . . = %18.6f\n",
            r->residual, r->a_inf, r->a_one, r->x_inf, r->x_one, r->b_inf);
}

void hpl_row(FILE *out, const hpl_input *in, const hpl_case *c, const hpl_result *r, bool detail)
{
    char code[96];
    variant(code, sizeof(code), in, c);
    if (r->verdict == HPL_SKIPPED) {
        fprintf(out, "%s: N = %" PRId64 ", NB = %" PRId64 ", %d x %d: no memory for A, x and b. Skip.\n",
                code, c->n, c->nb, c->p, c->q);
        fflush(out);
        return;
    }
    if (in->threshold >= 0)
        fputs(DOUBLE_LINE "T/V                N    NB     P     Q               Time                 "
              "Gflops\n" LINE, out);
    fprintf(out, "%s%12" PRId64 " %5" PRId64 " %5d %5d %18.2f %18.3e\n", code, c->n, c->nb, c->p, c->q,
            r->seconds, r->gflops);
    if (r->simulated)
        fputs("dag_hpl: all times of this test are simulated\n", out);
    print_time(out, "start", r->start);
    print_time(out, "end", r->end);
    if (r->step >= 0 && r->step < SHARE_AUTO)
        fprintf(out, "dag_hpl: core_share %.2f\n", (double)r->step / SHARE_STEPS);
    else
        share_text(out, "dag_hpl", r->seconds);
    if (detail)
        print_detail(out, r);
    if (r->verdict != HPL_UNCHECKED) {
        fputs(LINE, out);
        print_residual(out, r);
    }
    fflush(out);
}

void hpl_end(FILE *out, const hpl_input *in, const int64_t count[HPL_VERDICTS])
{
    int64_t all = 0;
    for (int i = 0; i < HPL_VERDICTS; i++)
        all += count[i];
    fprintf(out, DOUBLE_LINE "\nFinished %6" PRId64 " tests with the following results:\n", all);
    if (in->threshold < 0)
        fprintf(out, "         %6" PRId64 " tests completed without checking,\n", count[HPL_UNCHECKED]);
    else
        fprintf(out, "         %6" PRId64 " tests completed and passed residual checks,\n"
                "         %6" PRId64 " tests completed and failed residual checks,\n",
                count[HPL_PASSED], count[HPL_FAILED]);
    fprintf(out, "         %6" PRId64 " tests skipped because of illegal input values.\n" LINE
            "\nEnd of Tests.\n" DOUBLE_LINE, count[HPL_SKIPPED]);
    fflush(out);
}

static void print_number(FILE *out, const char *key, double x)
{
    if (isfinite(x))
        fprintf(out, ", \"%s\": %.12g", key, x);
    else
        fprintf(out, ", \"%s\": null", key);
}

static void print_communication(FILE *out, const hpl_result *r)
{
    for (int i = 0; i <= HPL_PHASES; i++)
        fprintf(out, "%s\"%s\": {\"seconds\": %.9g, \"hidden\": %.9g, \"exposed\": %.9g}",
                i > 0 ? ", " : ", \"communication\": {", sent[i].key, r->sent[i].all,
                r->sent[i].all - r->sent[i].exposed, r->sent[i].exposed);
    fprintf(out, "}");
}

void hpl_json(FILE *out, const hpl_input *in, const hpl_case *c, const hpl_result *r, int ranks,
              bool detail)
{
    static const char *const words[] = {"passed", "failed", "unchecked", "skipped"};
    char code[96];
    variant(code, sizeof(code), in, c);
    fprintf(out, "{\"variant\": \"%s\", \"n\": %" PRId64 ", \"nb\": %" PRId64 ", \"grid\": \"%dx%d\", "
            "\"pmap\": \"%s\", \"depth\": %" PRId64 ", \"ranks\": %d, \"verdict\": \"%s\"", code, c->n, c->nb,
            c->p, c->q, in->pmap ? "column" : "row", c->depth, ranks, words[r->verdict]);
    if (r->simulated)
        fputs(", \"simulated\": true", out);
    if (r->verdict != HPL_SKIPPED) {
        print_number(out, "time_s", r->seconds);
        print_number(out, "gflops", r->gflops);
        print_number(out, "back_substitution_s", r->back);
        fprintf(out, ", \"start\": %" PRId64 ", \"end\": %" PRId64, (int64_t)r->start, (int64_t)r->end);
    }
    if (r->verdict == HPL_PASSED || r->verdict == HPL_FAILED) {
        print_number(out, "scaled_residual", r->scaled);
        print_number(out, "residual", r->residual);
        print_number(out, "a_inf", r->a_inf);
        print_number(out, "a_one", r->a_one);
        print_number(out, "x_inf", r->x_inf);
        print_number(out, "x_one", r->x_one);
        print_number(out, "b_inf", r->b_inf);
    }
    if (r->step >= 0 && r->step < SHARE_AUTO)
        fprintf(out, ", \"share\": %.2f", (double)r->step / SHARE_STEPS);
    else if (r->verdict != HPL_SKIPPED)
        share_json(out, r->seconds);
    if (detail && r->verdict != HPL_SKIPPED && r->sent[HPL_TOGETHER].all >= 0)
        print_communication(out, r);
    fprintf(out, "}\n");
    fflush(out);
}

/* ---- notes --------------------------------------------------------------------------------------- */

void hpl_notes(const hpl_input *in)
{
    static const char *const notes[] = {
        "PFACT, RFACT, NBMIN, NDIV: panels are factored in halves on one process row, by columns on several",
        "BCAST: what several ranks need travels in the shape that is best for its size (setting link_rate)",
        "SWAP and its threshold: rows are exchanged in the one way that the factorisation has",
        "L1, U: both are kept as they lie in the matrix",
        "EQUIL: the exchange has no phase that could be levelled",
        "ALIGN: storage begins at a boundary of at least 64 bytes",
    };
    (void)in;
    for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
        fprintf(stderr, "dag_hpl: note: printed, but without effect: %s\n", notes[i]);
}
