/* Samples: repeated measurements of one thing until their median is stable, and their spread. They also end
 * when the time is used up. */
#ifndef BASE_SAMPLES_H
#define BASE_SAMPLES_H

#include <stdbool.h>

typedef struct Spread {       /* in the unit of the samples */
    double median, low, high; /* 50th, 5th and 95th percentile */
    int count;                /* of samples; 0: not measured */
} Spread;

enum { SAMPLES_MOST = 200 };

typedef struct Samples {
    double values[SAMPLES_MOST];
    int count, least;
    double end; /* seconds, on the clock of samples_now() */
} Samples;

/* At least `least` of them, and then for `seconds` at most. */
void samples_begin(Samples *samples, int least, double seconds);
bool samples_wanted(const Samples *samples); /* one more? */
void samples_add(Samples *samples, double value);
Spread samples_spread(const Samples *samples);

double samples_now(void); /* seconds, since some time in the past */

#endif
