/* Errors that lie in no file. */
#include "driver.h"

static diag *reports;

void driver_complain_to(diag *d)
{
    reports = d;
}

void driver_complain(const char *fmt, ...)
{
    text t = {0};
    TEXT_PRINT_ARGUMENTS(&t, fmt);
    if (reports) {
        diag_report_plain(reports, DIAG_ERROR, "%s", text_str(&t));
        diag_flush(reports, stderr);
    } else {
        fprintf(stderr, "dagcc: error: %s\n", text_str(&t));
    }
    text_free(&t);
}

diag *driver_reports(void)
{
    return reports;
}
