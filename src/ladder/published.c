#include "ladder/published.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ARTICLE(id, title, timed, machine, unit)
#define STEP(article, number, words, kernel)
#define FIGURE(article, number, unit, n, value)
#define CLAIM(article, sentence, kind, one, two, number)

#undef ARTICLE
#define ARTICLE(id, title, timed, machine, unit) {#id, title, timed, machine, unit},
static const Article articles[ARTICLE_COUNT] = {
#include "ladder/published.def"
};
#undef ARTICLE
#define ARTICLE(id, title, timed, machine, unit)

#undef STEP
#define STEP(article, number, words, kernel) {ARTICLE_##article, number, words, kernel},
static const PublishedStep steps[] = {
#include "ladder/published.def"
};
#undef STEP
#define STEP(article, number, words, kernel)
enum { STEPS = sizeof steps / sizeof *steps };

typedef struct Figure {
    ArticleId article;
    const char *number, *unit;
    uint64_t n;
    double value;
} Figure;
#undef FIGURE
#define FIGURE(article, number, unit, n, value) {ARTICLE_##article, number, unit, n, value},
static const Figure figures[] = {
#include "ladder/published.def"
};
#undef FIGURE
#define FIGURE(article, number, unit, n, value)
enum { FIGURES = sizeof figures / sizeof *figures };

const Article *published_article(ArticleId article) {
    return &articles[article];
}

int published_step_count(void) {
    return STEPS;
}

const PublishedStep *published_step(int index) {
    return &steps[index];
}

const PublishedStep *published_find(ArticleId article, const char *kernel) {
    for (int i = 0; i < STEPS; i++)
        if (steps[i].article == article && !strcmp(steps[i].kernel, kernel)) return &steps[i];
    return NULL;
}

static double distance(uint64_t a, uint64_t b) {
    return fabs(log2((double)(a ? a : 1)) - log2((double)(b ? b : 1)));
}

double published_figure(const PublishedStep *step, const char *unit, uint64_t n, uint64_t *at) {
    const Figure *best = NULL;
    for (int i = 0; i < FIGURES; i++) {
        const Figure *figure = &figures[i];
        if (figure->article == step->article && !strcmp(figure->number, step->number) &&
            !strcmp(figure->unit, unit) && (!best || distance(figure->n, n) < distance(best->n, n)))
            best = figure;
    }
    *at = best ? best->n : 0;
    return best ? best->value : (double)NAN;
}

const char *published_unit(ArticleId article, int index) {
    const char *last = "";
    for (int i = 0; i < FIGURES; i++) {
        bool is_first_step = figures[i].article == article;
        for (int s = 0; s < STEPS && is_first_step; s++)
            if (steps[s].article == article) {
                is_first_step = !strcmp(steps[s].number, figures[i].number);
                break;
            }
        if (!is_first_step || !strcmp(last, figures[i].unit)) continue;
        last = figures[i].unit;
        if (!index--) return last;
    }
    return NULL;
}

double published_gain(const PublishedStep *step, uint64_t n) {
    const char *unit = articles[step->article].unit;
    uint64_t at;
    const PublishedStep *first = step;
    for (int i = STEPS - 1; i >= 0; i--)
        if (steps[i].article == step->article) first = &steps[i];
    double ratio = published_figure(step, unit, n, &at) / published_figure(first, unit, n, &at);
    return !strcmp(unit, "ms") ? 1 / ratio : ratio;
}

void published_print_numbers(const char *kernel, char *out, size_t bytes) {
    size_t length = 0;
    *out = 0;
    for (int i = 0; i < STEPS && length < bytes; i++)
        if (!strcmp(steps[i].kernel, kernel))
            length += (size_t)snprintf(out + length, bytes - length, "%s%s%s", length ? " " : "",
                                       articles[steps[i].article].letter,
                                       steps[i].number + (steps[i].number[0] == 'K'));
}

/* ---- verdicts ------------------------------------------------------------------------------------------ */

typedef struct Claim Claim;
typedef struct Judged {
    const Ladder *ladder;
    const LadderCounts *counts;
    char *out;
    size_t bytes;
} Judged;
struct Claim {
    ArticleId article;
    const char *sentence;
    ClaimVerdict (*judge)(const Claim *claim, const Judged *judged);
    const char *one, *two;
    double number;
};

static double time_of(const Ladder *ladder, const char *kernel, double n) {
    int row = ladder_find_row(ladder, kernel);
    for (int i = 0; row >= 0 && i < ladder->size_count; i++)
        if (ladder->sizes[i] == (uint64_t)n && ladder->rows[row].times[i])
            return ladder->rows[row].times[i]->median;
    return NAN;
}

/* `one`: a latency; `two`: how many of them; `number`: cycles, equal within 25 %. */
static ClaimVerdict judge_CYCLES(const Claim *claim, const Judged *judged) {
    double cycles = NAN;
    const Measurements *from = judged->ladder->from;
    for (int i = 0; i < from->value_count; i++)
        if (!strcmp(from->values[i].unit, "cycles") && !strcmp(from->values[i].name, claim->one))
            cycles = from->values[i].value * atoi(claim->two);
    if (isnan(cycles)) return CLAIM_NOT_KNOWN;
    snprintf(judged->out, judged->bytes, "%.0f cycles", cycles);
    double ratio = cycles / claim->number;
    return ratio > 1.25 || ratio < 0.8 ? CLAIM_REFUTED : CLAIM_HOLDS;
}

/* `one` needs more wavefronts than ideal. */
static ClaimVerdict judge_CONFLICTS(const Claim *claim, const Judged *judged) {
    char wavefronts[32], accesses[32];
    const LadderCount *count = ladder_counts_find(judged->counts, claim->one, LADDER_COUNTED_N,
                                                  judged->ladder->of.dtype, judged->ladder->of.op);
    if (!count || count->failed) return CLAIM_NOT_KNOWN;
    ladder_print_count(count->wavefronts, wavefronts, sizeof wavefronts);
    ladder_print_count(count->accesses, accesses, sizeof accesses);
    snprintf(judged->out, judged->bytes, "%s wavefronts for %s shared accesses at 2^20", wavefronts,
             accesses);
    return count->excess > 0 ? CLAIM_HOLDS : CLAIM_REFUTED;
}

/* `one` does not run at `number` elements. */
static ClaimVerdict judge_FAILS(const Claim *claim, const Judged *judged) {
    double time = time_of(judged->ladder, claim->one, claim->number);
    char text[16], size[16];
    if (isnan(time)) return CLAIM_NOT_KNOWN;
    ladder_print_time(time, text, sizeof text);
    ladder_print_size((uint64_t)claim->number, size, sizeof size);
    snprintf(judged->out, judged->bytes, "%s sums %s in %s us", claim->one, size, text);
    return CLAIM_REFUTED;
}

/* `one` and `two` are faster at `number` elements than every other step of the article. */
static ClaimVerdict judge_FASTEST(const Claim *claim, const Judged *judged) {
    const char *best = NULL;
    char size[16];
    double least = INFINITY, one = time_of(judged->ladder, claim->one, claim->number),
           two = time_of(judged->ladder, claim->two, claim->number);
    for (int i = 0; i < STEPS; i++) {
        double time = time_of(judged->ladder, steps[i].kernel, claim->number);
        if (steps[i].article != claim->article || !(time < least)) continue;
        least = time;
        best = steps[i].kernel;
    }
    if (!best || isnan(one) || isnan(two)) return CLAIM_NOT_KNOWN;
    ladder_print_size((uint64_t)claim->number, size, sizeof size);
    snprintf(judged->out, judged->bytes, "at %s %s takes %.1f us, %s %.1f, %s %.1f", size, best, least,
             claim->one, one, claim->two, two);
    return strcmp(best, claim->one) != 0 && strcmp(best, claim->two) != 0 ? CLAIM_REFUTED : CLAIM_HOLDS;
}

/* The step to `one` gains more at `number` elements than every other step of the article. */
static ClaimVerdict judge_GAINS(const Claim *claim, const Judged *judged) {
    const char *best = NULL;
    double most = 0, gain_of_one = NAN;
    for (int i = 1; i < STEPS; i++) {
        if (steps[i].article != claim->article || steps[i - 1].article != claim->article) continue;
        double gain = time_of(judged->ladder, steps[i - 1].kernel, claim->number) /
                      time_of(judged->ladder, steps[i].kernel, claim->number);
        if (!strcmp(steps[i].kernel, claim->one)) gain_of_one = gain;
        if (!(gain > most)) continue;
        most = gain;
        best = steps[i].kernel;
    }
    if (!best || isnan(gain_of_one)) return CLAIM_NOT_KNOWN;
    snprintf(judged->out, judged->bytes, "to %s %.2fx, to %s %.2fx", claim->one, gain_of_one, best, most);
    return strcmp(best, claim->one) ? CLAIM_REFUTED : CLAIM_HOLDS;
}

/* From `one` to `two` it gains less than 2 % at `number` elements. */
static ClaimVerdict judge_NO_GAIN(const Claim *claim, const Judged *judged) {
    double gain = time_of(judged->ladder, claim->one, claim->number) /
                  time_of(judged->ladder, claim->two, claim->number);
    char size[16];
    if (isnan(gain)) return CLAIM_NOT_KNOWN;
    ladder_print_size((uint64_t)claim->number, size, sizeof size);
    snprintf(judged->out, judged->bytes, "%s to %s is %.2fx at %s", claim->one, claim->two, gain, size);
    return gain > 1.02 ? CLAIM_REFUTED : CLAIM_HOLDS;
}

#undef CLAIM
#define CLAIM(article, sentence, kind, one, two, number)                                                     \
    {ARTICLE_##article, sentence, judge_##kind, one, two, number},
static const Claim claims[] = {
#include "ladder/published.def"
};

int published_claim_count(void) {
    return sizeof claims / sizeof *claims;
}

ClaimVerdict published_claim(int index, const Measurements *from, const LadderCounts *counts, char *says,
                             size_t says_bytes, char *measured, size_t bytes) {
    const Claim *claim = &claims[index];
    Ladder ladder;
    Judged judged = {&ladder, counts, measured, bytes};
    LadderOf of = {.dtype = articles[claim->article].timed, .op = "sum"};
    ladder_gather(&ladder, from, NULL, &of);
    snprintf(says, says_bytes, "%s: %s", articles[claim->article].letter, claim->sentence);
    *measured = 0;
    return claim->judge(claim, &judged);
}
