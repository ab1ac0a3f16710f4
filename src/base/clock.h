/* Clock: the time that passes, for limits, pauses and measurements. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

double clock_seconds(void); /* since an arbitrary time; never goes back */

#endif
