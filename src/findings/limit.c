#include "findings/limit.h"

#include "base/language.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double BUSY = 0.60, MOST = 0.50;

static const struct {
    const char *word, *ours;
} stalls[STALL_COUNT] = {
#define STALL(id, word, ours) {word, ours},
#include "findings/limit_stalls.def"
#undef STALL
};

const char *stall_word(Stall stall) {
    return stalls[stall].word;
}

const char *stall_words(Stall stall) {
    return stalls[stall].ours;
}

const char *limit_name(Limit limit) {
    static const char *const names[] = {[LIMIT_UNKNOWN] = "-",         [LIMIT_MEMORY] = "memory",
                                        [LIMIT_ISSUE] = "issue slots", [LIMIT_SHARED] = "shared memory pipe",
                                        [LIMIT_BARRIERS] = "barriers", [LIMIT_LATENCY] = "latency",
                                        [LIMIT_LAUNCHES] = "launches"};
    return names[limit];
}

Limit limit_find(const char *name) {
    for (int limit = LIMIT_UNKNOWN + 1; limit < LIMIT_COUNT; limit++)
        if (!strcmp(limit_name((Limit)limit), name)) return (Limit)limit;
    return LIMIT_UNKNOWN;
}

LimitFigures limit_figures_unknown(void) {
    LimitFigures figures = {
        .read_share = NAN, .issue = NAN, .shared_pipe = NAN, .outside = NAN, .ready = NAN};
    for (int i = 0; i < STALL_COUNT; i++) figures.stalls[i] = NAN;
    return figures;
}

Stall limit_main_stall(const LimitFigures *figures, double *share) {
    double sum = figures->ready > 0 ? figures->ready : 0;
    Stall most = STALL_COUNT;
    for (int i = 0; i < STALL_COUNT; i++) {
        if (!(figures->stalls[i] > 0)) continue;
        sum += figures->stalls[i];
        if (most == STALL_COUNT || figures->stalls[i] > figures->stalls[most]) most = (Stall)i;
    }
    *share = most == STALL_COUNT ? (double)NAN : figures->stalls[most] / sum;
    return most;
}

/* Comparisons with NaN are false. */
static Limit busiest(const LimitFigures *figures) {
    Limit found = LIMIT_UNKNOWN;
    double most = -INFINITY;
    const double busy[] = {figures->read_share, figures->shared_pipe, figures->issue};
    static const Limit limits[] = {LIMIT_MEMORY, LIMIT_SHARED, LIMIT_ISSUE};
    for (int i = 0; i < 3; i++)
        if (busy[i] >= BUSY && busy[i] > most) {
            most = busy[i];
            found = limits[i];
        }
    return found;
}

Limit limit_of(const LimitFigures *figures) {
    double share;
    if (figures->outside > MOST) return LIMIT_LAUNCHES;
    Limit busy = busiest(figures);
    if (busy != LIMIT_UNKNOWN) return busy;
    Stall most = limit_main_stall(figures, &share);
    if (most == STALL_COUNT || isnan(figures->issue)) return LIMIT_UNKNOWN;
    return most == STALL_BARRIER ? LIMIT_BARRIERS : LIMIT_LATENCY;
}

Limit limit_print(const LimitFigures *figures, char *out, size_t bytes) {
    double share;
    Limit limit = limit_of(figures);
    Stall most = limit_main_stall(figures, &share);
    switch (limit) {
    case LIMIT_MEMORY:
        snprintf(out, bytes, tr("memory: %.0f %% of the read peak"), figures->read_share * 100);
        break;
    case LIMIT_ISSUE:
        snprintf(out, bytes, tr("issue slots: %.0f %% busy"), figures->issue * 100);
        break;
    case LIMIT_SHARED:
        snprintf(out, bytes, tr("shared memory pipe: %.0f %% busy"), figures->shared_pipe * 100);
        break;
    case LIMIT_BARRIERS:
        snprintf(out, bytes, tr("barriers: %.0f %% of warp cycles; issue slots %.0f %% busy"), share * 100,
                 figures->issue * 100);
        break;
    case LIMIT_LATENCY:
        snprintf(out, bytes, tr("latency: %.0f %% of warp cycles wait for %s; issue slots %.0f %% busy"),
                 share * 100, tr(stalls[most].ours), figures->issue * 100);
        break;
    case LIMIT_LAUNCHES:
        if (figures->launches > 1)
            snprintf(out, bytes, tr("launches: %.0f %% of the time goes to launches 2 to %d"),
                     figures->outside * 100, figures->launches);
        else
            snprintf(out, bytes, tr("launches: %.0f %% of the time is outside the kernel"),
                     figures->outside * 100);
        break;
    case LIMIT_UNKNOWN:
        if (isnan(figures->read_share))
            snprintf(out, bytes, tr("not known: not profiled"));
        else
            snprintf(out, bytes, tr("not known: not profiled; alone %.*f %% of the read peak"),
                     figures->read_share < 0.0995, figures->read_share * 100);
        break;
    }
    return limit;
}

void limit_print_short(const LimitFigures *figures, char *out, size_t bytes) {
    double share = NAN;
    Limit limit = limit_of(figures);
    limit_main_stall(figures, &share);
    const double of[] = {[LIMIT_UNKNOWN] = NAN,
                         [LIMIT_MEMORY] = figures->read_share,
                         [LIMIT_ISSUE] = figures->issue,
                         [LIMIT_SHARED] = figures->shared_pipe,
                         [LIMIT_BARRIERS] = share,
                         [LIMIT_LATENCY] = share,
                         [LIMIT_LAUNCHES] = figures->outside};
    if (limit == LIMIT_UNKNOWN)
        snprintf(out, bytes, "-");
    else
        snprintf(out, bytes, "%s %.0f %%", limit == LIMIT_SHARED ? tr("shared pipe") : tr(limit_name(limit)),
                 of[limit] * 100);
}
