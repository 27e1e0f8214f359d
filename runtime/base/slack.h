/*
 * Linux ends short sleeps up to 50 us late to save energy, many times what a message takes; not so
 * between these two. The thread may be the application's, so its setting is put back.
 */
#ifndef DAGI_SLACK_H
#define DAGI_SLACK_H

#ifdef __linux__
#include <sys/prctl.h>
#endif

/* A value for dagi_slack_restore() after the sleep. */
static inline int dagi_slack_off(void)
{
#ifdef __linux__
    int slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    return slack;
#else
    return 0;
#endif
}

static inline void dagi_slack_restore(int slack)
{
#ifdef __linux__
    if (slack > 0)
        prctl(PR_SET_TIMERSLACK, slack, 0, 0, 0);
#else
    (void)slack;
#endif
}

#endif
