/* Samples: repeated measurements until their median is stable, or time is used up; and their spread. */
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
    double end; /* in seconds, on the clock of clock_seconds() */
} Samples;

/* Takes at least `least` samples, then continues for at most `seconds`. */
void samples_begin(Samples *samples, int least, double seconds);
bool samples_wanted(const Samples *samples); /* true: take another sample */
void samples_add(Samples *samples, double value);
Spread samples_spread(const Samples *samples);

#endif
