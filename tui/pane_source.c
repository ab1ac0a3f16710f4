/* Source: the kernel's own text around the current line, with what each line costs beside it; or its PTX. */
#include "pane.h"

#include <stdio.h>

enum { GUTTER_COLUMNS = 12, NUMBER_COLUMNS = 6, ROOMY_COLUMNS = 90 };

static bool shows_ptx(const Moment *now) {
    return now->view->ptx || !now->code || !now->code->line.file ||
           now->scene->source_line_count(now->scene->context, now->code->line.file) <= 0;
}

static void head(const Moment *now, PaneHead *out) {
    if (shows_ptx(now))
        snprintf(out->title, sizeof out->title, "ptx  %s", now->launch->name);
    else
        snprintf(out->title, sizeof out->title, "source  %s", scene_file_name(now->code->line.file));
    if (now->view->gutter == GUTTER_RUN)
        snprintf(out->note, sizeof out->note, "this block's run:  lanes waves");
    else if (now->view->gutter == GUTTER_STEP)
        snprintf(out->note, sizeof out->note, "this step:  lanes waves");
    else
        snprintf(out->note, sizeof out->note, "interval %d:  lanes waves", now->step->interval_step + 1);
}

static const OutlineSums *gutter_sums(const Moment *now) {
    const Steps *steps = now->steps;
    int interval = now->step->interval_step;
    switch (now->view->gutter) {
    case GUTTER_RUN: return outline_sums(now->outline, 0, steps->step_count);
    case GUTTER_STEP: return outline_sums(now->outline, now->view->step, 1);
    default:
        return outline_sums(now->outline, steps->interval_begin[interval],
                            steps->interval_begin[interval + 1] - steps->interval_begin[interval]);
    }
}

static void print_mean(double mean, char *out, size_t bytes) {
    snprintf(out, bytes, mean >= 9.95 || mean == (int)mean ? "%.0f" : "%.1f", mean);
}

static void draw_gutter(const OutlineSums *sums, Canvas *canvas, Rectangle area, int row) {
    char text[16];
    if (!sums->events) return;
    print_mean((double)sums->lanes / (double)sums->events, text, sizeof text);
    canvas_print(canvas, area, area.columns - GUTTER_COLUMNS, row, ROLE_TEXT, "%5s", text);
    if (!sums->accesses) return;
    bool excess = sums->wavefronts > sums->ideal;
    print_mean((double)sums->wavefronts / (double)sums->accesses, text, sizeof text);
    canvas_print(canvas, area, area.columns - 7, row, excess ? ROLE_CONFLICT : ROLE_TEXT, "%5s%s", text,
                 excess ? "!" : "");
}

/* First line shown of `count` of them, so that the kernel stands still where it fits, and `current` is in sight. */
static int first_line(int begin, int end, int current, int rows) {
    if (end - begin + 1 <= rows) return begin - (rows - (end - begin + 1)) / 2 > 1 ? begin - (rows - (end - begin + 1)) / 2 : 1;
    int first = current - rows / 2;
    if (first > end - rows + 1) first = end - rows + 1;
    return first < begin ? begin : first;
}

static void draw_line(Canvas *canvas, Rectangle area, int row, int number, bool current, const char *text) {
    Rectangle body = {area.column, area.row, area.columns - GUTTER_COLUMNS, area.rows};
    int at = area.columns >= 50 ? NUMBER_COLUMNS : 2;
    if (current) canvas_glyph(canvas, body, 0, row, ROLE_CURRENT, '>');
    if (at == NUMBER_COLUMNS) canvas_print(canvas, body, 1, row, ROLE_DIM, "%4d", number);
    const char *comment = strstr(text, "//");
    size_t indent = strspn(text, " \t");
    bool is_comment = text[indent] == '*' || !strncmp(text + indent, "/*", 2) || comment == text + indent;
    canvas_text(canvas, body, at, row, current ? ROLE_CURRENT : is_comment ? ROLE_COMMENT : ROLE_TEXT, text);
    if (comment && !is_comment) {
        char code[512];
        snprintf(code, sizeof code, "%.*s", (int)(comment - text), text);
        canvas_text(canvas, body, at + canvas_text_columns(code), row, ROLE_COMMENT, comment);
    }
    if (canvas_text_columns(text) > body.columns - at)
        canvas_glyph(canvas, body, body.columns - 1, row, ROLE_DIM, 0x2026);
}

/* Where columns are few: how far the kernel's body can move left. */
static size_t common_indent(const Moment *now, const char *file, int begin, int end) {
    size_t least = 64;
    for (int line = begin; line <= end; line++) {
        const char *text = now->scene->source_line(now->scene->context, file, line);
        size_t indent = text ? strspn(text, " ") : 0;
        if (text && text[indent] && text[indent] != '}' && indent < least) least = indent;
    }
    return least == 64 ? 0 : least;
}

static void draw_source(const Moment *now, Canvas *canvas, Rectangle area) {
    const PtxSourceLine *line = &now->code->line;
    const PtxProgram *program = now->launch->program;
    const OutlineSums *sums = gutter_sums(now);
    int rows = area.rows > 3 ? area.rows - 1 : area.rows; /* the last row is the instruction's */
    int begin = line->line, end = line->line;
    int count = now->scene->source_line_count(now->scene->context, line->file);
    for (int pc = 0; pc < program->code_count; pc++) {
        const PtxSourceLine *other = &program->code[pc].line;
        if (!other->file || !other->line || strcmp(other->file, line->file) != 0) continue;
        if (other->line < begin) begin = other->line;
        if (other->line > end) end = other->line;
    }
    size_t dedent = area.columns < ROOMY_COLUMNS ? common_indent(now, line->file, begin, end) : 0;
    int first = first_line(begin > 1 ? begin - 1 : 1, end + 1 > count ? count : end + 1, line->line, rows);
    for (int row = 0; row < rows && first + row <= count; row++) {
        const char *text = now->scene->source_line(now->scene->context, line->file, first + row);
        OutlineSums of_line = {0};
        if (!text) continue;
        size_t indent = strspn(text, " ");
        text += indent < dedent ? indent : dedent;
        for (int pc = 0; pc < program->code_count; pc++) {
            if (program->code[pc].line.line != first + row || !sums[pc].events) continue;
            if (strcmp(program->code[pc].line.file, line->file) != 0) continue;
            of_line.events += sums[pc].events;
            of_line.lanes += sums[pc].lanes;
            of_line.accesses += sums[pc].accesses;
            of_line.wavefronts += sums[pc].wavefronts;
            of_line.ideal += sums[pc].ideal;
        }
        draw_line(canvas, area, row, first + row, first + row == line->line, text);
        draw_gutter(&of_line, canvas, area, row);
    }
    if (rows == area.rows) return;
    const char *ptx = now->scene->ptx_line(now->scene->context, now->scene->views[now->view->view].launch, now->step->pc);
    canvas_text(canvas, area, 0, rows, ROLE_DIM, "ptx");
    if (ptx) canvas_text(canvas, area, area.columns >= 50 ? NUMBER_COLUMNS : 4, rows, ROLE_CURRENT, ptx);
}

static void draw_ptx(const Moment *now, Canvas *canvas, Rectangle area) {
    const PtxProgram *program = now->launch->program;
    const OutlineSums *sums = gutter_sums(now);
    int last = program->code_count - 1;
    int first = first_line(0, last, now->step->pc, area.rows);
    if (last < area.rows) first = 0;
    for (int row = 0; row < area.rows && first + row <= last; row++) {
        int pc = first + row;
        const char *text =
            now->scene->ptx_line(now->scene->context, now->scene->views[now->view->view].launch, pc);
        draw_line(canvas, area, row, pc, pc == now->step->pc, text ? text : "");
        draw_gutter(&sums[pc], canvas, area, row);
    }
}

static void draw(const Moment *now, Canvas *canvas, Rectangle area) {
    if (shows_ptx(now))
        draw_ptx(now, canvas, area);
    else
        draw_source(now, canvas, area);
}

const Pane pane_source = {.slot = SLOT_SOURCE, .head = head, .draw = draw};
