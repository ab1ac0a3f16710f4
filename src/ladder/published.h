/* Published: compares the ladders of articles with ours, and their statements with measurements
 * (published.def). */
#ifndef LADDER_PUBLISHED_H
#define LADDER_PUBLISHED_H

#include "ladder/ladder.h"

typedef enum ArticleId {
#define ARTICLE(id, title, timed, machine, unit) ARTICLE_##id,
#define STEP(article, number, words, kernel)
#define FIGURE(article, number, unit, n, value)
#define CLAIM(article, sentence, kind, one, two, number)
#include "ladder/published.def"
#undef ARTICLE
#undef STEP
#undef FIGURE
#undef CLAIM
    ARTICLE_COUNT
} ArticleId;

typedef struct Article {
    const char *letter, *title, *timed, *machine, *unit;
} Article;

typedef struct PublishedStep {
    ArticleId article;
    const char *number, *words, *kernel;
} PublishedStep;

const Article *published_article(ArticleId article);
int published_step_count(void);
const PublishedStep *published_step(int index);
/* The article's step that corresponds to our kernel, or NULL. */
const PublishedStep *published_find(ArticleId article, const char *kernel);

/* The step's figure in this unit, at the size nearest to n; *at: that size, 0 if the article does not say.
 * NaN: none. */
double published_figure(const PublishedStep *step, const char *unit, uint64_t n, uint64_t *at);
/* The speedup over the article's first step, from its own figures. */
double published_gain(const PublishedStep *step, uint64_t n);
/* The units of its figures, "ms", "GB/s", ...: index from 0; NULL past the last. */
const char *published_unit(ArticleId article, int index);

/* "A0 C0 H1", the article and its step, without a K; "" where no article has it. */
void published_print_numbers(const char *kernel, char *out, size_t bytes);

typedef enum ClaimVerdict { CLAIM_NOT_KNOWN, CLAIM_REFUTED, CLAIM_HOLDS } ClaimVerdict;
int published_claim_count(void);
/* The article's statement, and the measured value: "A: a shuffle takes 1 cycle", "26 cycles". */
ClaimVerdict published_claim(int index, const Measurements *from, const LadderCounts *counts, char *says,
                             size_t says_bytes, char *measured, size_t bytes);

#endif
