/* The check @name@: say what it looks for. */
#include "sema_ctx.h"

void sema_check_@name_@(sema *s)
{
    (void)s; /* sema_report(s, CHECK_@NAME@, range, ...), the range of the mistake, a note at its other end */
}
