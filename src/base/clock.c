#define _XOPEN_SOURCE 700
#include "base/clock.h"

#include <stdint.h>
#include <sys/resource.h>

double clock_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double seconds_of(struct timeval time) {
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

double clock_processor_seconds(void) {
    struct rusage own, children;
    if (getrusage(RUSAGE_SELF, &own) || getrusage(RUSAGE_CHILDREN, &children)) return 0;
    return seconds_of(own.ru_utime) + seconds_of(own.ru_stime) + seconds_of(children.ru_utime) +
           seconds_of(children.ru_stime);
}

struct timespec clock_later(struct timespec time, double seconds) {
    int64_t nanoseconds = time.tv_nsec + (int64_t)(seconds * 1e9);
    time.tv_sec += nanoseconds / 1000000000;
    time.tv_nsec = nanoseconds % 1000000000;
    return time;
}
