#define _POSIX_C_SOURCE 200809L
#include "base/clock.h"
#include "base/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 10 };
static const double STABLE = 0.01;

void samples_begin(Samples *samples, int least, double seconds) {
    samples->count = 0;
    samples->least = least;
    samples->end = clock_seconds() + seconds;
}

void samples_add(Samples *samples, double value) {
    if (samples->count < SAMPLES_MOST) samples->values[samples->count++] = value;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double percentile(const double *sorted, int count, double part) {
    return sorted[(int)(part * (count - 1) + 0.5)];
}

static Spread spread_of_first(const Samples *samples, int count) {
    double sorted[SAMPLES_MOST] = {0};
    if (!count) return (Spread){0};
    memcpy(sorted, samples->values, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, by_value);
    return (Spread){percentile(sorted, count, 0.5), percentile(sorted, count, 0.05),
                    percentile(sorted, count, 0.95), count};
}

Spread samples_spread(const Samples *samples) {
    return spread_of_first(samples, samples->count);
}

/* The median has changed by at most a hundredth since WINDOW samples ago. */
static bool is_stable(const Samples *samples) {
    if (samples->count < 3 * WINDOW) return false;
    double before = spread_of_first(samples, samples->count - WINDOW).median,
           after = samples_spread(samples).median;
    return fabs(after - before) <= STABLE * after;
}

bool samples_wanted(const Samples *samples) {
    if (samples->count >= SAMPLES_MOST) return false;
    return samples->count < samples->least || (clock_seconds() < samples->end && !is_stable(samples));
}
