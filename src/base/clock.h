/* Clock: the time that passes, for pauses and measurements; and processor time, for limits. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <time.h>

double clock_seconds(void); /* since an arbitrary time; never goes back */
/* Processor time that this process has used, and those of its children that have ended. */
double clock_processor_seconds(void);
struct timespec clock_later(struct timespec time, double seconds); /* the time, that many seconds later */

#endif
