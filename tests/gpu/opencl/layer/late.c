/* Delays: events that a thread of the layer lets happen a little after they were made. */
#include "layer.h"

#include <stdlib.h>
#include <time.h>

enum { MOST_LATE = 256, MICROSECONDS = 1500 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static struct {
    cl_event event; /* NULL: free */
    struct timespec when;
} late[MOST_LATE];
static pthread_t thread;
static int running, ending;
static uint64_t state;

static int is_over(const struct timespec *when, const struct timespec *now)
{
    return when->tv_sec < now->tv_sec ||
           (when->tv_sec == now->tv_sec && when->tv_nsec <= now->tv_nsec);
}

/* One that is to happen now, or all of them at the end. */
static cl_event take(const struct timespec *now)
{
    for (int i = 0; i < MOST_LATE; i++) {
        cl_event event = late[i].event;
        if (event && (ending || is_over(&late[i].when, now))) {
            late[i].event = NULL;
            return event;
        }
    }
    return NULL;
}

static void *let_happen(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        cl_event event = take(&now);
        if (event) {
            pthread_mutex_unlock(&lock);
            layer_driver->clSetUserEventStatus(event, CL_COMPLETE);
            layer_driver->clReleaseEvent(event);
            pthread_mutex_lock(&lock);
            continue;
        }
        if (ending)
            break;
        now.tv_nsec += 100000;
        now.tv_sec += now.tv_nsec / 1000000000;
        now.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&more, &lock, &now);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static uint64_t draw(void)
{
    state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = state;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Every fourth command waits. */
cl_event layer_later(cl_context context)
{
    cl_event event = NULL;
    int i = 0;
    if (!layer_settings.late)
        return NULL;
    pthread_mutex_lock(&lock);
    if (!running) {
        state = layer_settings.seed;
        running = pthread_create(&thread, NULL, let_happen, NULL) == 0;
    }
    while (i < MOST_LATE && late[i].event)
        i++;
    if (running && i < MOST_LATE && draw() % 4 == 0)
        event = layer_driver->clCreateUserEvent(context, NULL);
    if (event) {
        layer_driver->clRetainEvent(event); /* one reference is the caller's */
        clock_gettime(CLOCK_REALTIME, &late[i].when);
        late[i].when.tv_nsec += (long)(draw() % MICROSECONDS) * 1000;
        late[i].when.tv_sec += late[i].when.tv_nsec / 1000000000;
        late[i].when.tv_nsec %= 1000000000;
        late[i].event = event;
        pthread_cond_signal(&more);
    }
    pthread_mutex_unlock(&lock);
    return event;
}

void layer_late_end(void)
{
    pthread_mutex_lock(&lock);
    int was = running;
    ending = 1;
    pthread_cond_signal(&more);
    pthread_mutex_unlock(&lock);
    if (was)
        pthread_join(thread, NULL);
}
