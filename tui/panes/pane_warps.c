/* Warps in time: what each warp of one multiprocessor waited for, as a GPU measured it: warps as rows, cycles
 * as columns. A cell shows the wait that takes most of it; capital letters are waits for the line of this
 * step. */
#include "tui/panes/pane.h"

#include "base/language.h"
#include "tui/view/warps_view.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    LEAST_COLUMNS = 8, /* of a chart */
    SIDE_COLUMNS = 26, /* of the legend and the table beside the charts */
    SIDE_FROM = 106,   /* the pane's columns from which there is room for it */
    BESIDE_FROM = 160, /* likewise for a second chart */
    GAP = 2,           /* between a chart and what is at its right */
    LEAST_TICK = 12,   /* columns between two numbers of the axis */
    TABLE_HEAD = 2,    /* rows of titles */
    MOST_SIGNS = WARP_STATES + 2
};
static const double LEAST_SHARE = 0.005; /* of a summary */

static const Role state_roles[WARP_STATES] = {
    [WARP_WORKS] = ROLE_IDLE,           [WARP_WAITS_GLOBAL] = ROLE_PATH_A,  [WARP_WAITS_ATOMIC] = ROLE_PATH_B,
    [WARP_WAITS_BARRIER] = ROLE_PATH_D, [WARP_WAITS_FENCE] = ROLE_WARNING,  [WARP_WAITS_COPY] = ROLE_PATH_C,
    [WARP_WAITS_OTHERS] = ROLE_SLOWEST, [WARP_WAITS_SHARED] = ROLE_KEYWORD, [WARP_PASSES_LINE] = ROLE_DIM};

typedef struct WarpChart { /* a timeline on the screen */
    const WarpTimeline *timeline;
    Rectangle area; /* of the warps and the axis, without the title above */
    int labels, columns, rows, first;
    int block_digits;
    bool has_launches;
    uint32_t begin, each;   /* cycles: where it begins, of a column */
    WarpsCursor cursor;     /* line -1: not here */
    const WarpLine *marked; /* waits of this block alone are marked; NULL: of all */
    bool *here;             /* [site] of this step's line */
} WarpChart;

typedef struct Body { /* the pane's parts; a part without rows or columns is not there */
    const SessionWarps *warps;
    int shown; /* the timeline of the first chart */
    WarpChart charts[2];
    int chart_count;
    bool has_titles; /* above the charts */
    Rectangle side;
    int text_columns;
    int doubts, detail, summary, legend; /* rows below the charts; -1: none */
} Body;

/* ---- layout -------------------------------------------------------------------------------------------- */

static int digits_of(uint64_t number) {
    int digits = 1;
    while (number /= 10) digits++;
    return digits;
}

static void chart_open(WarpChart *chart, const StepContext *context, const WarpTimeline *timeline,
                       Rectangle area, WarpsWindow window) {
    uint64_t most = 0;
    int warps = 0;
    *chart = (WarpChart){.timeline = timeline, .area = area, .cursor = {-1, -1}, .rows = area.rows - 1};
    if (area.rows < 3) chart->rows = area.rows; /* no axis */
    chart->has_launches = timeline->launch_count > 1;
    for (int i = 0; i < timeline->line_count; i++) {
        const WarpLine *line = &timeline->lines[i];
        if (line->block > most) most = line->block;
        if ((int)line->warp > warps) warps = (int)line->warp;
    }
    chart->block_digits = digits_of(most);
    chart->labels = 1 + (chart->has_launches ? 1 + digits_of((uint64_t)timeline->launch_count) + 1 : 0) + 4 +
                    chart->block_digits + 2 + digits_of((uint64_t)warps) + 2;
    chart->columns = area.columns - chart->labels;
    if (chart->columns < LEAST_COLUMNS) chart->columns = LEAST_COLUMNS;
    chart->each = (window.span - 1) / (uint32_t)chart->columns + 1;
    chart->begin = window.begin;
    chart->here = memory_new((size_t)timeline->site_count * sizeof *chart->here + 1);
    for (int i = 0; i < timeline->site_count; i++)
        chart->here[i] = warps_view_is_here(context, &timeline->sites[i]);
}

static void chart_set_cursor(WarpChart *chart, const StepContext *context) {
    const SessionBlock *block = &context->scene->traced.blocks[context->view->place.block];
    const WarpTimeline *timeline = chart->timeline;
    chart->cursor = warps_view_cursor(context);
    chart->first = canvas_first_shown(chart->cursor.line, chart->rows, timeline->line_count);
    for (int i = 0; i < timeline->line_count && !chart->marked; i++)
        if (timeline->lines[i].launch == block->launch &&
            timeline->lines[i].block == trace_block_linear(block->block))
            chart->marked = &timeline->lines[chart->cursor.line];
}

/* Why the timelines are not of this run and machine, where that is news; NULL: they are, or there is no
 * GPU. */
static const char *failure_of(const SessionWarps *warps) {
    return warps->has_failed ? warps->why : NULL;
}

static bool has_news(const StepContext *context) {
    return context->scene->borrowed.warps_note || failure_of(warps_view_of(context->scene));
}

static bool has_doubts(const WarpTimeline *timeline) {
    return timeline->is_order_only || timeline->dropped || warp_timeline_is_perturbed(timeline);
}

/* Begins at the first warp that is there in the window. */
static void open_second(WarpChart *chart, const WarpChart *first) {
    int line = 0;
    chart->begin = first->begin; /* one scale: what happens at the same time */
    chart->each = first->each;
    while (line < chart->timeline->line_count && chart->timeline->lines[line].end <= chart->begin) line++;
    chart->first = canvas_scroll(line, chart->rows, chart->timeline->line_count);
}

static void body_open(Body *body, const StepContext *context, Rectangle area) {
    *body = (Body){.warps = warps_view_of(context->scene)};
    const WarpTimeline *timeline = warps_view_timeline(context->scene, context->view, &body->shown);
    WarpsWindow window = warps_view_window(context->view, timeline, warps_view_cursor(context).line);
    int count = body->warps->count, columns = area.columns;
    if (columns >= SIDE_FROM) {
        columns -= SIDE_COLUMNS + GAP;
        body->side = (Rectangle){area.column + columns + GAP, area.row, SIDE_COLUMNS, area.rows};
    }
    body->text_columns = columns;
    /* The rows below the charts: some rows of warps come first. Returns the rows left for the charts. */
    enum { FOR_NEWS = 4, FOR_SUMMARY = 5, FOR_LEGEND = 7, FOR_DETAIL = 8, FOR_DOUBTS = 10 };
    bool has_doubt =
        (has_news(context) && area.rows >= FOR_NEWS) || (has_doubts(timeline) && area.rows >= FOR_DOUBTS);
    int rows = area.rows;
    body->legend = area.rows >= FOR_LEGEND && !body->side.columns ? --rows : -1;
    body->summary = area.rows >= FOR_SUMMARY ? --rows : -1;
    body->doubts = has_doubt ? --rows : -1;
    body->detail = area.rows >= FOR_DETAIL ? --rows : -1;
    body->chart_count = count > 1 && area.columns >= BESIDE_FROM ? 2 : 1;
    body->has_titles = body->chart_count > 1 && rows > 4;
    int each = (columns - (body->chart_count - 1) * GAP) / body->chart_count;
    for (int i = 0; i < body->chart_count; i++) {
        Rectangle at = {area.column + i * (each + GAP), area.row + body->has_titles, each,
                        rows - body->has_titles};
        chart_open(&body->charts[i], context, body->warps->timelines[(body->shown + i) % count], at, window);
    }
    chart_set_cursor(&body->charts[0], context);
    if (body->chart_count > 1) open_second(&body->charts[1], &body->charts[0]);
}

static void body_done(Body *body) {
    for (int i = 0; i < body->chart_count; i++) free(body->charts[i].here);
}

/* ---- words --------------------------------------------------------------------------------------------- */

static const char *state_words(WarpActivity state) {
    return state == WARP_WORKS ? tr("does not wait") : tr(warp_state_name(state));
}

static void print_percent(double part, double all, char *out, size_t bytes) {
    snprintf(out, bytes, "%.0f%%", all > 0 ? part / all * 100 : 0);
}

static void print_at_once(const WarpTimeline *timeline, bool is_short, char *out, size_t bytes) {
    const char *s = timeline->resident == 1 ? "" : "s";
    if (timeline->resident)
        snprintf(out, bytes, is_short ? tr("%u block%s") : tr("%u block%s at once"), timeline->resident, s);
    else
        snprintf(out, bytes, "%s", is_short ? tr("all blocks") : tr("all blocks at once"));
}

/* "launch +10%, traced blocks live 1.4x" */
static void print_cost(const WarpTimeline *timeline, bool is_short, char *out, size_t bytes) {
    double slower = timeline->traced_us / timeline->plain_us - 1,
           longer = timeline->traced_life / timeline->plain_life;
    size_t used = 0;
    *out = 0;
    if (isfinite(slower)) used = (size_t)snprintf(out, bytes, tr("; launch %+.0f%%"), slower * 100);
    if (isfinite(longer) && used < bytes)
        snprintf(out + used, bytes - used, is_short ? tr(", blocks %.1fx") : tr(", traced blocks live %.1fx"),
                 longer);
}

typedef enum SummaryWords { ALL_SUMMARY, SHORT_SUMMARY, SUMMARY_WITHOUT_CAUSES, SUMMARY_FORMS } SummaryWords;

/* "per scheduler: a warp is ready in 59% of 5,120 cycles; all wait in 38% (global 30, barrier 8); ..." */
static void print_summary(const WarpTimeline *timeline, SummaryWords words, Text *out) {
    bool is_short = words != ALL_SUMMARY;
    const WarpSummary *summary = &timeline->summary;
    char ready[16], wait[16], empty[16], cycles[32];
    double waiting = 0;
    for (int state = 0; state < WARP_STATES; state++) waiting += summary->waiting[state];
    print_percent(summary->ready, summary->cycles, ready, sizeof ready);
    print_percent(waiting, summary->cycles, wait, sizeof wait);
    print_percent(summary->empty, summary->cycles, empty, sizeof empty);
    step_context_print_count(timeline->cycles, cycles, sizeof cycles);
    text_print(out,
               is_short ? tr("per scheduler: ready %s of %s cycles; all wait %s")
                        : tr("per scheduler: a warp is ready in %s of %s cycles; all wait in %s"),
               ready, cycles, wait);
    const char *gap = " (";
    for (int state = WARP_WORKS + 1; state < WARP_STATES; state++) {
        double share = summary->cycles > 0 ? summary->waiting[state] / summary->cycles : 0;
        if (share < LEAST_SHARE || words == SUMMARY_WITHOUT_CAUSES) continue;
        text_print(out, "%s%s %.0f", gap, state_words((WarpActivity)state), share * 100);
        gap = ", ";
    }
    if (*gap == ',') text_add(out, ")");
    if (summary->empty / summary->cycles >= LEAST_SHARE)
        text_print(out, is_short ? tr("; no warp %s") : tr("; none is resident in %s"), empty);
}

/* "> block 3038 w4 waits 383 cycles from 1,054 for a barrier, line 24: __syncthreads();" */
static void print_detail(const WarpChart *chart, const StepContext *context, Text *out) {
    const WarpTimeline *timeline = chart->timeline;
    const WarpLine *line = &timeline->lines[chart->cursor.line];
    char begin[32], length[32];
    text_print(out, tr("> block %llu w%u"), (unsigned long long)line->block, line->warp);
    if (chart->cursor.wait < 0) {
        step_context_print_count(line->end - line->begin, length, sizeof length);
        step_context_print_count(line->begin, begin, sizeof begin);
        text_print(out, tr(" lives %s cycles from %s; this step waits for nothing that is recorded"), length,
                   begin);
        return;
    }
    const WarpWait *wait = &line->waits[chart->cursor.wait];
    const WarpSite *site = &timeline->sites[wait->site];
    const char *source = warps_view_source(context->scene, site);
    step_context_print_count(wait->end - wait->begin, length, sizeof length);
    step_context_print_count(wait->begin, begin, sizeof begin);
    if (site->state == WARP_PASSES_LINE)
        text_print(out, tr(" comes by at %s"), begin);
    else
        text_print(out, tr(" waits %s cycles from %s: %s"), length, begin, state_words(site->state));
    if (site->line)
        text_print(out, tr(", line %d"), site->line);
    else
        text_print(out, ", pc %d", warp_site_pc(site));
    if (source) text_print(out, ": %s", source + strspn(source, " \t"));
}

/* ---- a chart ------------------------------------------------------------------------------------------- */

static void draw_cell(const WarpChart *chart, const WarpCell *cell, bool is_marked, int column, int at,
                      Canvas *canvas) {
    int site = cell->site, place = chart->labels + column;
    if (site == WARP_CELL_ABSENT) return;
    if (site == WARP_CELL_WORKS) {
        canvas_glyph(canvas, chart->area, place, at, state_roles[WARP_WORKS], '-');
        return;
    }
    bool is_tick = warp_cell_is_tick(cell, chart->each), is_here = is_marked && chart->here[site];
    WarpActivity state = chart->timeline->sites[site].state;
    char letter = warp_state_letter(state);
    canvas_glyph(canvas, chart->area, place, at, state_roles[state],
                 (uint32_t)(unsigned char)(is_tick   ? is_here ? '"' : '\''
                                           : is_here ? toupper((unsigned char)letter)
                                                     : letter));
    if (is_here) canvas_reverse(canvas, chart->area, place, at, 1);
}

static int column_of(const WarpChart *chart, uint32_t cycle) {
    return cycle < chart->begin ? -1 : (int)((cycle - chart->begin) / chart->each);
}

/* The selected wait, however short. */
static void draw_cursor(const WarpChart *chart, const WarpWait *wait, int at, Canvas *canvas) {
    int first = column_of(chart, wait->begin),
        last = column_of(chart, wait->end > wait->begin ? wait->end - 1 : wait->end);
    for (int column = first < 0 ? 0 : first; column <= last && column < chart->columns; column++) {
        Cell *cell = canvas_cell(canvas, chart->area, chart->labels + column, at);
        if (!cell) continue;
        cell->role = ROLE_SELECTED;
        cell->reverse = 1;
    }
}

static void draw_label(const WarpChart *chart, int index, int at, Canvas *canvas) {
    const WarpLine *line = &chart->timeline->lines[index];
    bool is_first = at == 0 || !warp_line_same_block(line, line - 1),
         is_selected = index == chart->cursor.line;
    int column = 1;
    Role role = is_selected ? ROLE_SELECTED : ROLE_DIM;
    if (is_selected) canvas_glyph(canvas, chart->area, 0, at, ROLE_SELECTED, '>');
    if (chart->has_launches) {
        if (is_first) canvas_print(canvas, chart->area, column, at, role, "L%d", line->launch + 1);
        column += 2 + digits_of((uint64_t)chart->timeline->launch_count);
    }
    if (is_first)
        canvas_print(canvas, chart->area, column, at, role, "blk %*" PRIu64, chart->block_digits,
                     line->block);
    canvas_print(canvas, chart->area, column + 4 + chart->block_digits + 1, at, role, "w%u", line->warp);
}

/* `cells`: [columns] of room. */
static void draw_line(const WarpChart *chart, WarpCell *cells, int index, int at, Canvas *canvas) {
    const WarpLine *line = &chart->timeline->lines[index];
    warp_line_cells(line, chart->begin, chart->each, cells, chart->columns);
    bool is_marked = !chart->marked || warp_line_same_block(line, chart->marked);
    draw_label(chart, index, at, canvas);
    for (int i = 0; i < chart->columns; i++) draw_cell(chart, &cells[i], is_marked, i, at, canvas);
    if (index == chart->cursor.line && chart->cursor.wait >= 0)
        draw_cursor(chart, &line->waits[chart->cursor.wait], at, canvas);
}

/* 1, 2 or 5 times a power of ten. */
static uint64_t choose_step(uint64_t least) {
    uint64_t power = 1;
    while (power * 10 <= least) power *= 10;
    return least <= power       ? power
           : least <= 2 * power ? 2 * power
           : least <= 5 * power ? 5 * power
                                : 10 * power;
}

static void draw_chart(const WarpChart *chart, Canvas *canvas) {
    WarpCell *cells = memory_new((size_t)chart->columns * sizeof *cells);
    for (int i = 0; i < chart->rows && chart->first + i < chart->timeline->line_count; i++)
        draw_line(chart, cells, chart->first + i, i, canvas);
    if (chart->rows < chart->area.rows) {
        uint64_t step = choose_step((uint64_t)chart->each * LEAST_TICK);
        char text[32];
        canvas_text(canvas, chart->area, 1, chart->rows, ROLE_DIM, tr("cycles"));
        for (uint64_t cycle = (chart->begin + step - 1) / step * step;; cycle += step) {
            uint64_t column = (cycle - chart->begin) / chart->each;
            step_context_print_count(cycle, text, sizeof text);
            if (column + 1 + strlen(text) > (uint64_t)chart->columns) break;
            canvas_glyph(canvas, chart->area, chart->labels + (int)column, chart->rows, ROLE_DIM, 0x2502);
            canvas_text(canvas, chart->area, chart->labels + (int)column + 1, chart->rows, ROLE_DIM, text);
        }
    }
    free(cells);
}

/* ---- legend and table ---------------------------------------------------------------------------------- */

/* The states that occur: of sites. */
static bool has_state(const WarpTimeline *timeline, WarpActivity state) {
    bool found = state == WARP_WORKS;
    for (int i = 0; i < timeline->site_count; i++) found |= timeline->sites[i].state == state;
    return found;
}

typedef struct Sign {
    Role role;
    char letter;
    bool is_here;
    const char *words;
} Sign;

static int list_signs(const WarpChart *chart, Sign signs[MOST_SIGNS]) {
    const WarpTimeline *timeline = chart->timeline;
    int count = 0;
    for (int i = WARP_WORKS + 1; i <= WARP_STATES; i++) { /* what does not wait comes last */
        WarpActivity state = (WarpActivity)(i % WARP_STATES);
        if (has_state(timeline, state))
            signs[count++] = (Sign){state_roles[state], warp_state_letter(state), false, state_words(state)};
    }
    signs[count++] = (Sign){ROLE_TEXT, '\'', false, tr("a short wait")};
    for (int i = 0; i < timeline->site_count; i++) {
        WarpActivity state = timeline->sites[i].state;
        if (!chart->here[i]) continue;
        signs[count++] = (Sign){state_roles[state], (char)toupper((unsigned char)warp_state_letter(state)),
                                true, tr("for this step's line")};
        break;
    }
    return count;
}

/* In a column at the side, or in a row, as many as fit. */
static void draw_legend(const WarpChart *chart, Canvas *canvas, Rectangle area) {
    Sign signs[MOST_SIGNS];
    int count = list_signs(chart, signs), column = 0;
    for (int i = 0; i < count; i++) {
        bool is_row = area.rows == 1;
        int row = is_row ? 0 : i, end = column + 2 + canvas_text_columns(signs[i].words);
        if (end > area.columns) return;
        canvas_glyph(canvas, area, column, row, signs[i].role, (uint32_t)(unsigned char)signs[i].letter);
        if (signs[i].is_here) canvas_reverse(canvas, area, column, row, 1);
        canvas_text(canvas, area, column + 2, row, ROLE_DIM, signs[i].words);
        if (is_row) column = end + 2;
    }
}

/* The row where the table begins, below the legend; -1: it has no room. */
static int table_row(const Body *body) {
    Sign signs[MOST_SIGNS];
    int count = list_signs(&body->charts[0], signs), rows = TABLE_HEAD + body->warps->count;
    int spare = body->side.rows - count - rows;
    return body->warps->count < 2 || !body->side.columns || spare < 0 ? -1 : count + (spare > 0);
}

/* The curve: how many blocks at once it takes to keep the multiprocessor busy. */
static void draw_table(const Body *body, Canvas *canvas, int top) {
    const SessionWarps *warps = body->warps;
    Rectangle area = body->side;
    canvas_text(canvas, area, 0, top, ROLE_DIM, tr("blocks  elements   a warp"));
    canvas_text(canvas, area, 0, top + 1, ROLE_DIM, tr("at once     a us is ready"));
    for (int i = 0; i < warps->count; i++) {
        const WarpTimeline *timeline = warps->timelines[i];
        char blocks[16], speed[32], ready[16];
        int row = top + TABLE_HEAD + i;
        Role role = i == body->shown ? ROLE_SELECTED : ROLE_TEXT;
        if (timeline->resident)
            snprintf(blocks, sizeof blocks, "%u", timeline->resident);
        else
            snprintf(blocks, sizeof blocks, "%s", tr("all"));
        step_context_print_count((uint64_t)((double)timeline->of.n / timeline->plain_us + 0.5), speed,
                                 sizeof speed);
        print_percent(timeline->summary.ready, timeline->summary.cycles, ready, sizeof ready);
        canvas_text(canvas, area, 0, row, role, i == body->shown ? ">" : " ");
        canvas_right(canvas, area, 7, row, role, blocks);
        canvas_print(canvas, area, 7, row, role, "%9s%9s", isfinite(timeline->plain_us) ? speed : "", ready);
    }
}

/* ---- the pane ------------------------------------------------------------------------------------------ */

static bool has_timeline(const StepContext *context) {
    const WarpTimeline *timeline = warps_view_timeline(context->scene, context->view, NULL);
    return timeline && timeline->line_count > 0;
}

/* "n = 2^20 int": what of these two runs differs, of the first of them. */
static void print_size(uint64_t n, const char *dtype, bool has_size, bool has_type, char *out, size_t bytes) {
    char size[32];
    step_context_print_size(n, size, sizeof size);
    snprintf(out, bytes, "%s%s%s", has_size ? size : "", has_size && has_type ? " " : "",
             has_type ? dtype : "");
}

/* "of n = 2^20 int, not 2^12 float": the timeline is of a run of another size or type. False: it is not. */
static bool print_other_run(const StepContext *context, const WarpTimeline *timeline, char *out,
                            size_t bytes) {
    const SceneIdentity *identity = &context->scene->identity;
    char of[64], own[64];
    bool has_size = timeline->of.n != identity->n;
    bool has_type =
        *timeline->of.dtype && *identity->dtype && strcmp(timeline->of.dtype, identity->dtype) != 0;
    print_size(timeline->of.n, timeline->of.dtype, has_size, has_type, of, sizeof of);
    print_size(identity->n, identity->dtype, has_size, has_type, own, sizeof own);
    *out = 0;
    if (has_size || has_type)
        snprintf(out, bytes, has_size ? tr("of n = %s, not %s") : tr("of %s, not %s"), of, own);
    return has_size || has_type;
}

enum TitleWords {
    ORIGIN_WORDS,
    SHORT_WORDS,
    SHORT_COST,
    LONG_COST,
    COST_AND_CYCLES,
    MOST_BUT_MAKER,
    ALL_WORDS
};

static void print_origin(const Body *body, int words, char *out, size_t bytes) {
    const WarpTimeline *timeline = body->charts[0].timeline;
    const char *machine = timeline->of.machine;
    if (words < ALL_WORDS) machine = scene_machine_name(machine);
    int length = (int)(words < MOST_BUT_MAKER ? strcspn(machine, " ") : strlen(machine));
    if (body->warps->is_live)
        snprintf(out, bytes, tr("live on %.*s"), length, machine);
    else if (words >= LONG_COST)
        snprintf(out, bytes, tr("recorded on %.*s, %.10s"), length, machine, timeline->of.measured);
    else
        snprintf(out, bytes, "%.*s, %.10s", length, machine, timeline->of.measured);
}

static void print_title(const StepContext *context, const Body *body, int words, PaneHead *out) {
    const WarpTimeline *timeline = body->charts[0].timeline;
    char at_once[48] = "", origin[96] = "", cost[64] = "";
    if (body->warps->count > 1) print_at_once(timeline, words < LONG_COST, at_once, sizeof at_once);
    if (words > SHORT_WORDS) print_cost(timeline, words < LONG_COST, cost, sizeof cost);
    print_origin(body, words, origin, sizeof origin);
    if (words == ORIGIN_WORDS)
        pane_title(out, "%s", origin);
    else
        pane_title(out, tr("warps on SM %u%s%s  %s%s%s"), timeline->multiprocessor, *at_once ? tr(", ") : "",
                   at_once, origin, cost, warp_timeline_is_perturbed(timeline) && *cost ? "!" : "");
    /* "cycles 0 .. 3,385, 30 a column", behind the size of another run. */
    const WarpChart *chart = &body->charts[0];
    WarpsWindow window = warps_view_window(context->view, chart->timeline, chart->cursor.line);
    char begin[32], end[32], of[60], cycles[90] = "";
    bool is_other = print_other_run(context, chart->timeline, of, sizeof of);
    step_context_print_count(window.begin, begin, sizeof begin);
    step_context_print_count((uint64_t)window.begin + window.span, end, sizeof end);
    if (words >= COST_AND_CYCLES)
        snprintf(cycles, sizeof cycles, tr("cycles %s .. %s, %u a column"), begin, end, chart->each);
    pane_note(out, "%s%s%s", of, is_other && *cycles ? "; " : "", cycles);
    out->note_role = is_other ? ROLE_WARNING : ROLE_DIM;
}

static void head(const StepContext *context, PaneHead *out) {
    enum { AROUND = 6 }; /* the lines and spaces around the two texts */
    Body body;
    pane_title(out, tr("warps in time"));
    if (!has_timeline(context)) return;
    body_open(&body, context, (Rectangle){0, 0, out->columns, out->rows});
    for (int words = ALL_WORDS; words >= ORIGIN_WORDS; words--) {
        print_title(context, &body, words, out);
        if (canvas_text_columns(out->title) + canvas_text_columns(out->note) + AROUND <= out->columns) break;
    }
    body_done(&body);
}

static void draw_text(const Body *body, Canvas *canvas, Rectangle area, int row, Role role, Text *text) {
    Rectangle at = {area.column, area.row + row, body->text_columns, 1};
    if (row >= 0) canvas_sentences(canvas, at, 0, role, text_string(text), PART_CLAUSE);
    text_clear(text);
}

static void draw_texts(const Body *body, const StepContext *context, Canvas *canvas, Rectangle area) {
    const WarpTimeline *timeline = body->charts[0].timeline;
    Text text = {0};
    if (body->detail >= 0) {
        Rectangle row = {area.column, area.row + body->detail, body->text_columns, 1};
        print_detail(&body->charts[0], context, &text);
        canvas_paragraph(canvas, row, 0, ROLE_TEXT, text_string(&text));
        text_clear(&text);
    }
    const char *note = context->scene->borrowed.warps_note,
               *failure = failure_of(warps_view_of(context->scene));
    if (note) text_print(&text, "%s  ", note);
    if (failure && !note) text_print(&text, tr("Not measured: %s. "), failure);
    if (timeline->is_order_only)
        text_add(&text, tr("So many probes: only the order of waits means something, not their lengths. "));
    if (warp_timeline_is_perturbed(timeline)) text_add(&text, tr("! The probes change what they measure. "));
    if (timeline->dropped)
        text_print(&text, tr("%llu waits had no room. "), (unsigned long long)timeline->dropped);
    draw_text(body, canvas, area, body->doubts, ROLE_WARNING, &text);
    for (int words = 0; words < SUMMARY_FORMS; words++) {
        text_clear(&text);
        print_summary(timeline, (SummaryWords)words, &text);
        if (canvas_text_columns(text_string(&text)) <= body->text_columns) break;
    }
    draw_text(body, canvas, area, body->summary, ROLE_TEXT, &text);
    text_done(&text);
    if (body->legend >= 0)
        draw_legend(&body->charts[0], canvas,
                    (Rectangle){area.column, area.row + body->legend, area.columns, 1});
    if (!body->side.columns) return;
    draw_legend(&body->charts[0], canvas, body->side);
    if (table_row(body) >= 0) draw_table(body, canvas, table_row(body));
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    Body body;
    if (!has_timeline(context)) {
        const SessionWarps *warps = warps_view_of(context->scene);
        const char *note = context->scene->borrowed.warps_note;
        Text text = {0};
        if (note)
            text_add(&text, note);
        else
            text_print(&text, tr("Not known: %s."), warps && warps->why ? warps->why : tr("not measured"));
        if (!note && !(warps && warps->has_failed))
            text_print(&text, " %s", tr("On a machine with a GPU, redviz --timeline measures it."));
        canvas_paragraph(canvas, area, 0, ROLE_DIM, text_string(&text));
        text_done(&text);
        return;
    }
    body_open(&body, context, area);
    for (int i = 0; i < body.chart_count; i++) {
        char title[48];
        const WarpChart *chart = &body.charts[i];
        Rectangle above = {chart->area.column, area.row, chart->area.columns, 1};
        print_at_once(chart->timeline, false, title, sizeof title);
        if (body.has_titles)
            canvas_text(canvas, above, chart->labels, 0, i ? ROLE_DIM : ROLE_SELECTED, title);
        draw_chart(chart, canvas);
    }
    draw_texts(&body, context, canvas, area);
    body_done(&body);
}

/* ---- clicks -------------------------------------------------------------------------------------------- */

/* The wait that decides the cell; -1: none. */
static int wait_at(const WarpChart *chart, const WarpLine *line, int column) {
    uint64_t begin = chart->begin + (uint64_t)column * chart->each, end = begin + chart->each, longest = 0;
    int found = -1;
    for (int i = 0; i < line->wait_count && line->waits[i].begin < end; i++) {
        const WarpWait *wait = &line->waits[i];
        uint64_t from = wait->begin > begin ? wait->begin : begin, to = wait->end < end ? wait->end : end;
        if (to <= from || to - from < longest) continue;
        longest = to - from;
        found = i;
    }
    return found;
}

static ViewAnswer click_chart(const Body *body, int index, const StepContext *context, int column, int row,
                              View *view) {
    const WarpChart *chart = &body->charts[index];
    int line = chart->first + row - chart->area.row, at = column - chart->area.column - chart->labels;
    if (row < chart->area.row || row - chart->area.row >= chart->rows || line >= chart->timeline->line_count)
        return VIEW_IGNORED;
    if (index) warps_view_choose(view, context->scene, body->shown + index);
    int wait = at >= 0 && at < chart->columns ? wait_at(chart, &chart->timeline->lines[line], at) : -1;
    warps_view_select(view, context->scene, line, wait);
    return VIEW_CHANGED;
}

/* A wait: its step; a row of the table: that number of blocks at once. */
static ViewAnswer click(const StepContext *context, Rectangle area, int column, int row, View *view) {
    Body body;
    ViewAnswer answer = VIEW_IGNORED;
    if (!has_timeline(context)) return VIEW_IGNORED;
    body_open(&body, context, (Rectangle){0, 0, area.columns, area.rows});
    for (int i = 0; i < body.chart_count && answer == VIEW_IGNORED; i++)
        if (column >= body.charts[i].area.column &&
            column < body.charts[i].area.column + body.charts[i].area.columns)
            answer = click_chart(&body, i, context, column, row, view);
    int top = table_row(&body) < 0 ? -1 : table_row(&body) + TABLE_HEAD;
    if (top >= 0 && column >= body.side.column && row >= top && row < top + body.warps->count) {
        warps_view_choose(view, context->scene, row - top);
        answer = VIEW_CHANGED;
    }
    body_done(&body);
    return answer;
}

const Pane pane_warps = {
    .slot = SLOT_PICTURE, .tells = HIDES_TIMES, .head = head, .draw = draw, .click = click};
