/* What cannot be lowered, and the checks that say so. */
#include "plan_impl.h"

const diag_check plan_check_table[PLAN_CHECK_COUNT] = {
    [PLAN_CHECK_REFUSED] = {
        .name = "not-generated", .dag = DIAG_FATAL, .parsec = DIAG_FATAL,
        .brief = "a construct for which no C can be generated",
        .page =
            "Some constructs are checked, drawn and formatted, but no C is made for them: hooks\n"
            "into another runtime, datatype slots of another communication layer, shapes that no\n"
            "edge can carry. The table in the language reference says which.\n",
    },
    [PLAN_CHECK_HEADER] = {
        .name = "header-type", .dag = DIAG_FATAL, .parsec = DIAG_FATAL,
        .brief = "a constructor argument whose type the generated header cannot name",
        .page =
            "The header does not contain the prologue. An argument is passed by value only when\n"
            "its type is a C, stdint or dag type; a pointer to a struct is declared by its tag,\n"
            "and a pointer to anything else is a void * in the header. Pass a pointer instead.\n",
    },
    [PLAN_CHECK_DYNAMIC] = {
        .name = "dynamic", .dag = DIAG_FATAL, .parsec = DIAG_FATAL,
        .brief = "a [dynamic] guard that cannot be sent, or one that lacks the property",
        .page =
            "A [dynamic] guard is evaluated where the producer ran, with the data in sight, and\n"
            "travels as one bit per dependency. So it may read parameters, globals and flows, but\n"
            "no index of a list; a guard on the receiving side may not read flows at all.\n",
    },
    [PLAN_CHECK_ENUMERATE] = {
        .name = "enumerate", .dag = DIAG_OFF, .parsec = DIAG_OFF,
        .brief = "start-up of a class looks at instances of other ranks",
        .page =
            "A rank finds its own tasks by solving the placement for the parameters. Where an\n"
            "index of the placement is not `parameter + constant` with a unit step, it walks all\n"
            "values and asks for the rank of each.\n",
    },
};

const diag_check *const plan_checks = plan_check_table;
const size_t plan_check_count = PLAN_CHECK_COUNT;

void plan_error(builder *b, plan_check_id check, src_range where, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (diag_vreport(b->d, &plan_check_table[check], where, fmt, ap) >= DIAG_ERROR)
        b->errors++;
    va_end(ap);
}

void plan_refuse(builder *b)
{
    for (size_t i = 0; i < b->info->n_refusals; i++)
        plan_error(b, PLAN_CHECK_REFUSED, b->info->refusals[i].where,
                   "no C is generated for %s", b->info->refusals[i].what);
}
