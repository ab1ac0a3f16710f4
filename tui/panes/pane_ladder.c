/* The ladder screen: times of all rungs by size, and figures at the selected size. The selected rung is
 * described below the table. Each time has a bar that shows how fast it is relative to the best of its size,
 * so that colour is not needed. */

#include "ladder/published.h"
#include "base/language.h"
#include "base/utf8.h"
#include "tui/panes/pane.h"
#include "tui/view/ladder_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_COLUMNS = 25, SIZE_COLUMNS = 8, NARROW = 110, LEAST_SIZES = 4, MORE_SIZES = 6, HEADING_ROWS = 1 };

/* ---- columns ------------------------------------------------------------------------------------------- */

enum { LADDER_COLUMNS = 16 };

typedef struct LadderColumn {
    const char *name;
    int columns; /* with a space before it */
    void (*print)(const struct LadderColumn *column, const Ladder *ladder, const LadderFigures *figures,
                  int row, int size, char *out, size_t bytes);
    ArticleId article;
    bool is_first; /* more useful than another size */
} LadderColumn;

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

/* The columns with a figure in any row, the most useful first; returns their number. figures: of each row, at
 * this size. */
static int list_columns(const Ladder *ladder, const LadderFigures *figures, int size, bool published,
                        LadderColumn columns[LADDER_COLUMNS]) {
    int count = 0;
    if (published) return list_published(columns);
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (says_anything(&ours[i], ladder, figures, size)) columns[count++] = ours[i];
    return count;
}

typedef struct Table {
    Ladder ladder;
    bool is_live;
    LadderFigures figures[LADDER_ROWS]; /* at the selected size */
    int row, size;                      /* selected */
    int first_row, rows;                /* the rows drawn */
    int first_size, sizes;
    LadderColumn columns[LADDER_COLUMNS];
    int column_count;
    int words; /* rows below the table */
} Table;

/* ---- what is drawn ------------------------------------------------------------------------------------- */

static bool table_init(Table *table, const StepContext *context, Rectangle area) {
    const View *view = context->view;
    const SceneTimings *timings = context->scene->borrowed.timings;
    if (!view_ladder_gather(view, context->scene, &table->ladder, &table->is_live)) return false;
    table->row = view->display.ladder.row < table->ladder.row_count ? view->display.ladder.row : 0;
    table->size = ladder_find_size(&table->ladder, view->display.ladder.n ? view->display.ladder.n : 1);
    for (int row = 0; row < table->ladder.row_count; row++)
        ladder_figures(&table->ladder, timings->counts, row, table->size, &table->figures[row]);
    table->column_count = list_columns(&table->ladder, table->figures, table->size,
                                       view->display.ladder.published, table->columns);
    /* Sizes and figures share the width: a few sizes, the most important figures, more sizes, more
     * figures. */
    int count = table->column_count, kept = 0, all = table->ladder.size_count;
    table->sizes = area.columns < NARROW ? LEAST_SIZES : MORE_SIZES;
    int room = area.columns - NAME_COLUMNS - table->sizes * SIZE_COLUMNS;
    for (; room < 0 && table->sizes > 1; table->sizes--) room += SIZE_COLUMNS;
    for (int turn = 0; turn < 2; turn++) {
        for (int i = kept; i < count && (turn || table->columns[i].is_first); i++) {
            if (table->columns[i].columns > room) break;
            room -= table->columns[i].columns;
            kept++;
        }
        for (; table->sizes < all && room >= SIZE_COLUMNS; table->sizes++) room -= SIZE_COLUMNS;
    }
    table->column_count = kept;
    if (table->sizes > all) table->sizes = all;
    table->words = area.rows >= 18 ? 6 : area.rows >= 12 ? 3 : 1;
    table->rows = area.rows - HEADING_ROWS - table->words;
    table->rows = canvas_clamp(table->rows, 0, table->ladder.row_count);
    table->first_row = canvas_first_shown(table->row, table->rows, table->ladder.row_count);
    table->first_size = canvas_first_shown(table->size, table->sizes, table->ladder.size_count);
    return true;
}

/* ---- the head ------------------------------------------------------------------------------------------ */

static void head(const StepContext *context, PaneHead *out) {
    const View *view = context->view;
    const SceneTimings *timings = context->scene->borrowed.timings;
    Ladder ladder;
    bool is_live;
    int all;
    if (!view_ladder_gather(view, context->scene, &ladder, &is_live)) {
        pane_title(out, tr("ladder"));
        return;
    }
    const char *machine = ladder.sample ? scene_machine_name(ladder.sample->machine) : tr("not timed");
    int timed = ladder_timed(&ladder, &all);
    if (is_live && *timings->measuring)
        pane_title(out, tr("ladder  %s %s  %.30s, live: %d of %d, now %.30s"), ladder.of.dtype, ladder.of.op,
                   machine, timed, all, timings->measuring);
    else if (is_live)
        pane_title(out, tr("ladder  %s %s  %.30s, live"), ladder.of.dtype, ladder.of.op, machine);
    else
        pane_title(out, tr("ladder  %s %s  %.30s, recorded %.10s"), ladder.of.dtype, ladder.of.op, machine,
                   ladder.sample && ladder.sample->measured ? ladder.sample->measured : "");
    static const char *const ways[TIMES_WAY_COUNT] = {"L2 cold", "L2 warm", "cold calls", "warm calls"};
    pane_note(out, tr("%s; %s"),
              tr(out->columns < NARROW ? ways[ladder.of.way] : timing_way_name(ladder.of.way)),
              ladder.of.alone ? tr("the kernel alone") : tr("to one number"));
}

/* ---- the table ----------------------------------------------------------------------------------------- */

/* "us   █ best .. ▁ slow": the unit of the times, and the meaning of the bars after them. */
static void draw_bar_key(Canvas *canvas, Rectangle area) {
    int at = canvas_text(canvas, area, 0, 0, ROLE_DIM, "us   ");
    canvas_glyph(canvas, area, at, 0, ROLE_GOOD, 0x2588);
    at += 2 + canvas_text(canvas, area, at + 2, 0, ROLE_DIM, tr("best .."));
    canvas_glyph(canvas, area, at + 1, 0, ROLE_SLOWEST, 0x2581);
    canvas_text(canvas, area, at + 3, 0, ROLE_DIM, tr("slow"));
}

static void draw_heading(const Table *table, Canvas *canvas, Rectangle area) {
    int at = NAME_COLUMNS;
    char name[24];
    ladder_print_size(table->ladder.sizes[table->size], name, sizeof name);
    draw_bar_key(canvas, area);
    for (int i = 0; i < table->sizes; i++, at += SIZE_COLUMNS) {
        bool selected = table->first_size + i == table->size;
        char size[32], shown[48];
        ladder_print_size(table->ladder.sizes[table->first_size + i], size, sizeof size);
        snprintf(shown, sizeof shown, selected ? "[%s]" : "%s", size);
        int end = at + SIZE_COLUMNS - 2 + selected;
        canvas_right(canvas, area, end, 0, selected ? ROLE_CURRENT : ROLE_DIM, shown);
    }
    for (int i = 0; i < table->column_count; i++) {
        const LadderColumn *column = &table->columns[i];
        at += column->columns;
        const char *heading = tr(column->name);
        canvas_right(canvas, area, at, 0, ROLE_DIM, heading);
    }
    bool left = table->first_size > 0, right = table->first_size + table->sizes < table->ladder.size_count;
    if (left) canvas_glyph(canvas, area, NAME_COLUMNS - 1, 0, ROLE_DIM, 0x2190);
    if (right)
        canvas_glyph(canvas, area, NAME_COLUMNS + table->sizes * SIZE_COLUMNS - 1, 0, ROLE_DIM, 0x2192);
}

static void draw_row(const Table *table, Canvas *canvas, Rectangle area, int line, int row) {
    const LadderRow *of = &table->ladder.rows[row];
    bool selected = row == table->row;
    int at = NAME_COLUMNS;
    canvas_print(canvas, area, 0, line, selected ? ROLE_SELECTED : ROLE_DIM, "%s%-2s", selected ? ">" : " ",
                 ladder_number(of));
    canvas_print(canvas, area, 4, line,
                 selected                         ? ROLE_CURRENT
                 : row < table->ladder.rung_count ? ROLE_TEXT
                                                  : ROLE_DIM,
                 "%.*s", NAME_COLUMNS - 5, of->id);
    for (int i = 0; i < table->sizes; i++, at += SIZE_COLUMNS) {
        int size = table->first_size + i;
        static const Role roles[LADDER_SPEEDS] = {ROLE_SLOWEST, ROLE_SLOW, ROLE_TEXT, ROLE_QUICK, ROLE_GOOD};
        static const uint32_t bars[LADDER_SPEEDS] = {0x2581, 0x2582, 0x2584, 0x2586, 0x2588};
        const Timing *timing = table->ladder.rows[row].times[size];
        int speed = ladder_speed(&table->ladder, row, size);
        char time[24];
        ladder_print_time(timing ? timing->median : (double)NAN, time, sizeof time);
        Role role = speed < 0 ? ROLE_DIM : roles[speed];
        canvas_print(canvas, area, at, line, role, "%*s", SIZE_COLUMNS - 2, time);
        if (speed >= 0) {
            if (ladder_is_otherwise(&table->ladder, timing))
                canvas_text(canvas, area, at + SIZE_COLUMNS - 2, line, ROLE_DIM, "*");
            canvas_glyph(canvas, area, at + SIZE_COLUMNS - 1, line, role, bars[speed]);
        }
    }
    for (int i = 0; i < table->column_count; i++) {
        const LadderColumn *column = &table->columns[i];
        char text[48] = "-";
        column->print(column, &table->ladder, &table->figures[row], row, table->size, text, sizeof text);
        at += column->columns;
        canvas_right(canvas, area, at, line,
                     !strcmp(text, "-") ? ROLE_DIM
                     : selected         ? ROLE_CURRENT
                                        : ROLE_TEXT,
                     text);
    }
    if (!selected) return;
    int column = NAME_COLUMNS + (table->size - table->first_size) * SIZE_COLUMNS;
    canvas_reverse(canvas, area, column, line, SIZE_COLUMNS - 2);
}

/* ---- in words ------------------------------------------------------------------------------------------ */

static void add_count(Text *text, const char *what, double count) {
    char number[32];
    if (isnan(count)) return;
    ladder_print_count(count, number, sizeof number);
    text_print(text, "%s %s", number, what);
}

static void print_costs(const LadderFigures *figures, Text *text) {
    if (figures->launches)
        text_print(text, tr("%d launch%s"), figures->launches, figures->launches > 1 ? "es" : "");
    if (figures->launches && !isnan(figures->sass)) text_add(text, tr("; "));
    add_count(text, tr("machine instructions"), figures->sass);
    if (!isnan(figures->wavefronts)) {
        text_add(text, tr("; emulated: "));
        add_count(text, tr("wavefronts, "), figures->wavefronts);
        add_count(text, tr("sectors, "), figures->sectors);
        add_count(text, tr("barriers"), figures->barriers);
    }
}

/* Its name in the articles, and their measurements. */
static void print_articles(const Table *table, Text *text) {
    const char *kernel = table->ladder.rows[table->row].id, *gap = tr("in articles: ");
    for (int i = 0; i < ARTICLE_COUNT; i++) {
        const Article *article = published_article((ArticleId)i);
        const PublishedStep *step = published_find((ArticleId)i, kernel);
        uint64_t n = table->ladder.sizes[table->size], at;
        char size[24];
        if (!step) continue;
        double figure = published_figure(step, article->unit, n, &at);
        text_print(text, "%s%s %s: %.6g %s", gap, article->letter, step->number, figure, article->unit);
        gap = tr("; ");
        ladder_print_size(at, size, sizeof size);
        if (at) text_print(text, tr(" at %s"), size);
        text_print(text, tr(", %.2fx its first, on %s"), published_gain(step, n), article->machine);
    }
}

static bool print_claim(int index, const Table *table, const LadderCounts *counts, Text *text) {
    char says[128], measured[160];
    ClaimVerdict verdict =
        published_claim(index, table->ladder.from, counts, says, sizeof says, measured, sizeof measured);
    if (verdict == CLAIM_NOT_KNOWN) return false;
    text_print(text, verdict == CLAIM_REFUTED ? tr("refuted %s: %s") : tr("holds   %s: %s"), says, measured);
    return true;
}

/* If there is room below the table: the articles' text, and the measurements. */
static void draw_claims(const Table *table, const LadderCounts *counts, Canvas *canvas, Rectangle area) {
    int first = HEADING_ROWS + table->rows + 1, end = area.rows - table->words, at = first + 1;
    Text text = {0};
    if (end - first < 3) return;
    canvas_text(canvas, area, 0, first, ROLE_TITLE, tr("what articles say, and what this machine says"));
    for (int i = 0; i < published_claim_count() && at < end; i++) {
        text_clear(&text);
        if (print_claim(i, table, counts, &text))
            canvas_text(canvas, area, 1, at++, ROLE_TEXT, text_string(&text));
    }
    text_done(&text);
}

/* On one line: one after another, as the user steps through the rows. */
static void print_a_claim(const Table *table, const LadderCounts *counts, Text *text) {
    int count = published_claim_count();
    for (int i = 0; i < count; i++)
        if (print_claim((table->row + i) % count, table, counts, text)) return;
}

/* The last row: a message, else the keys. */
static void draw_keys(const View *view, Canvas *canvas, Rectangle area) {
    const char *keys =
        tr("arrows size, rung  Enter open  c compare with the row above  y cold/warm/calls  Y alone  "
           "t type  m machine  a articles  B latencies  ? help  q back");
    const char *few = tr("Enter open  c compare  y way  t type  m GPU  a articles  B cycles  q back");
    const char *message = view->transient.message;
    canvas_text(canvas, area, 0, area.rows - 1, *message ? ROLE_TEXT : ROLE_DIM,
                *message                                    ? message
                : area.columns <= canvas_text_columns(keys) ? few
                                                            : keys);
}

typedef void Say(const Table *table, const StepContext *context, Text *text);

static void say_times(const Table *table, const StepContext *context, Text *text) {
    (void)context;
    const LadderFigures *figures = &table->figures[table->row];
    char time[24], size[24];
    ladder_print_size(table->ladder.sizes[table->size], size, sizeof size);
    text_print(text, tr("%s at %s: "), table->ladder.rows[table->row].id, size);
    if (isnan(figures->microseconds)) {
        const char *why = table->ladder.rows[table->row].skipped[table->size];
        text_print(text, tr("not timed%s%s"), why ? tr(": ") : "", why ? tr(why) : "");
        return;
    }
    ladder_print_time(figures->microseconds, time, sizeof time);
    text_print(text, tr("%s us, %.*f GB/s"), time, figures->gigabytes < 99.95, figures->gigabytes);
    if (!isnan(figures->read_share))
        text_print(text, tr(", %.*f %% of the read peak"), figures->read_share < 0.0995,
                   figures->read_share * 100);
    if (!isnan(figures->over_first)) text_print(text, tr("; %.2fx K0"), figures->over_first);
    if (!isnan(figures->over_before)) text_print(text, tr(", %.2fx the row before"), figures->over_before);
}

static void say_limit(const Table *table, const StepContext *context, Text *text) {
    char limit[160];
    (void)context;
    limit_print(&table->figures[table->row].limit, limit, sizeof limit);
    if (table->ladder.rows[table->row].row) text_print(text, tr("limit: %s"), limit);
}

static void say_costs(const Table *table, const StepContext *context, Text *text) {
    (void)context;
    print_costs(&table->figures[table->row], text);
}

static void say_articles(const Table *table, const StepContext *context, Text *text) {
    if (context->view->display.ladder.published)
        print_a_claim(table, context->scene->borrowed.timings->counts, text);
    else
        print_articles(table, text);
}

/* A clause ends before this place. */
static bool is_clause_end(const char *at) {
    return !*at || *at == ',' || *at == ';' || !strncmp(at, "，", 3) || !strncmp(at, "；", 3);
}

/* As many clauses as there is room for. */
static void draw_clauses(Canvas *canvas, Rectangle area, int row, Role role, const char *text) {
    char line[256];
    size_t length = strlen(text), cut = length;
    while (cut && (characters_columns(text, cut) > area.columns || !is_clause_end(text + cut))) cut--;
    snprintf(line, sizeof line, "%.*s", (int)(cut ? cut : length), text);
    utf8_drop_half(line);
    canvas_text(canvas, area, 0, row, role, line);
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    Table table = {0};
    if (!table_init(&table, context, area)) {
        canvas_text(canvas, area, 0, 0, ROLE_TEXT, tr("nothing was timed, and no recording is there"));
        return;
    }
    draw_heading(&table, canvas, area);
    for (int i = 0; i < table.rows; i++)
        draw_row(&table, canvas, area, HEADING_ROWS + i, table.first_row + i);
    Rectangle list = {area.column, area.row, area.columns, HEADING_ROWS + table.rows};
    canvas_more(canvas, list, table.first_row > 0, table.first_row + table.rows < table.ladder.row_count);
    draw_claims(&table, context->scene->borrowed.timings->counts, canvas, area);
    /* One line each, as many as there is room for; in the larger form after an empty line. */
    static Say *const say[] = {say_times, say_limit, say_costs, say_articles};
    int first = table.words > 3, lines = table.words - 1 - first;
    draw_keys(context->view, canvas, area);
    for (int i = 0; i < lines && i < (int)(sizeof say / sizeof *say); i++) {
        Text text = {0};
        say[i](&table, context, &text);
        draw_clauses(canvas, area, area.rows - table.words + first + i, i < 3 ? ROLE_TEXT : ROLE_DIM,
                     text_string(&text));
        text_done(&text);
    }
}

/* Selects; a click on the selection opens it. */
static ViewAnswer click(const StepContext *context, Rectangle area, int column, int line, View *view) {
    Table table = {0};
    if (!table_init(&table, context, area) || line >= HEADING_ROWS + table.rows) return VIEW_IGNORED;
    int row = line < HEADING_ROWS ? table.row : table.first_row + line - HEADING_ROWS, size = table.size;
    int at = column < NAME_COLUMNS ? table.sizes : (column - NAME_COLUMNS) / SIZE_COLUMNS;
    if (at < table.sizes) size = table.first_size + at;
    if (line >= HEADING_ROWS && row == table.row && size == table.size)
        return view_ladder_press(view, context->scene, keys_decode(SPECIAL_ENTER));
    view_ladder_select(view, &table.ladder, row, size);
    return VIEW_CHANGED;
}

const Pane pane_ladder = {
    .slot = SLOT_OVERLAY, .overlay = OVERLAY_LADDER, .head = head, .draw = draw, .click = click};
