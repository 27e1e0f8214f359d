/* Errors that lie in no file. */
#include "driver.h"

static diag *reports;

void driver_complain_to(diag *d)
{
    reports = d;
}

void driver_complain(const char *fmt, ...)
{
    va_list ap;
    text t = {0};
    va_start(ap, fmt);
    text_vprintf(&t, fmt, ap);
    va_end(ap);
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
