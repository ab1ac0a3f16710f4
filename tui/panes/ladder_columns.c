#include "tui/panes/ladder_columns.h"

#include <math.h>
#include <string.h>

#define PRINT(name)                                                                                          \
    static void name(const LadderColumn *column, const Ladder *ladder, const LadderFigures *figures,         \
                     int row, int size, char *out, size_t bytes)

/* ---- measured ------------------------------------------------------------------------------------------ */

static void print_ratio(double ratio, char *out, size_t bytes) {
    if (isnan(ratio))
        snprintf(out, bytes, "-");
    else
        snprintf(out, bytes, ratio < 99.95 ? "%.2f" : "%.0f", ratio);
}

#define OURS(name, statement)                                                                                \
    PRINT(name) {                                                                                            \
        (void)column, (void)ladder, (void)row, (void)size;                                                   \
        statement;                                                                                           \
    }
OURS(over_first, print_ratio(figures->over_first, out, bytes))
OURS(over_before, print_ratio(figures->over_before, out, bytes))
OURS(limited, limit_print_short(&figures->limit, out, bytes))
OURS(sass, ladder_print_count(figures->sass, out, bytes))
OURS(wavefronts, ladder_print_count(figures->wavefronts, out, bytes))
OURS(sectors, ladder_print_count(figures->sectors, out, bytes))
OURS(barriers, ladder_print_count(figures->barriers, out, bytes))
#undef OURS

PRINT(of_read) {
    (void)column, (void)ladder, (void)row, (void)size;
    if (isnan(figures->read_share))
        snprintf(out, bytes, "-");
    else
        snprintf(out, bytes, "%.*f %%", figures->read_share < 0.0995, figures->read_share * 100);
}

PRINT(rate) {
    (void)column, (void)ladder, (void)row, (void)size;
    if (isnan(figures->gigabytes))
        snprintf(out, bytes, "-");
    else
        snprintf(out, bytes, "%.*f", figures->gigabytes < 99.95, figures->gigabytes);
}

PRINT(launches) {
    (void)column, (void)ladder, (void)row, (void)size;
    if (figures->launches)
        snprintf(out, bytes, "%d", figures->launches);
    else
        snprintf(out, bytes, "-");
}

static const LadderColumn ours[] = {
    {"x K0", 7, over_first, 0, true},    {"x above", 9, over_before, 0, true},
    {"of read", 8, of_read, 0, true},    {"limited by", 17, limited, 0, true},
    {"GB/s", 7, rate, 0, false},         {"SASS", 9, sass, 0, false},
    {"launches", 9, launches, 0, false}, {"wavefronts", 11, wavefronts, 0, false},
    {"sectors", 9, sectors, 0, false},   {"barriers", 9, barriers, 0, false},
};

/* ---- published ----------------------------------------------------------------------------------------- */

PRINT(number) {
    const PublishedStep *step = published_find(column->article, ladder->rows[row].id);
    (void)figures, (void)size;
    snprintf(out, bytes, "%s", step ? step->number : "-");
}

PRINT(figure) {
    const PublishedStep *step = published_find(column->article, ladder->rows[row].id);
    uint64_t at;
    (void)figures;
    if (step)
        snprintf(out, bytes, "%.6g",
                 published_figure(step, published_article(column->article)->unit, ladder->sizes[size], &at));
    else
        snprintf(out, bytes, "-");
}

PRINT(gain) {
    const PublishedStep *step = published_find(column->article, ladder->rows[row].id);
    (void)figures;
    print_ratio(step ? published_gain(step, ladder->sizes[size]) : (double)NAN, out, bytes);
}

/* ---- both ---------------------------------------------------------------------------------------------- */

static bool says_anything(const LadderColumn *column, const Ladder *ladder, const LadderFigures *figures,
                          int size) {
    for (int row = 0; row < ladder->row_count; row++) {
        char text[48];
        column->print(column, ladder, &figures[row], row, size, text, sizeof text);
        if (strcmp(text, "-") != 0) return true;
    }
    return false;
}

static int list_published(LadderColumn columns[LADDER_COLUMNS]) {
    static const char *const letters[ARTICLE_COUNT] = {
#define ARTICLE(id, title, timed, machine, unit) #id,
#define STEP(article, number, words, kernel)
#define FIGURE(article, number, unit, n, value)
#define CLAIM(article, sentence, kind, one, two, number)
#include "ladder/published.def"
#undef ARTICLE
#undef STEP
#undef FIGURE
#undef CLAIM
    };
    int count = 0;
    columns[count++] = ours[0];
    for (int i = 0; i < ARTICLE_COUNT; i++) {
        columns[count++] = (LadderColumn){letters[i], 4, number, (ArticleId)i, true};
        columns[count++] =
            (LadderColumn){published_article((ArticleId)i)->unit, 7, figure, (ArticleId)i, true};
        columns[count++] = (LadderColumn){"gain", 7, gain, (ArticleId)i, true};
    }
    return count;
}

int ladder_columns_list(const Ladder *ladder, const LadderFigures *figures, int size, bool published,
                        LadderColumn columns[LADDER_COLUMNS]) {
    int count = 0;
    if (published) return list_published(columns);
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (says_anything(&ours[i], ladder, figures, size)) columns[count++] = ours[i];
    return count;
}
