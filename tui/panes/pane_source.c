/* Source: the kernel's own text around the current line, with each line's counts beside it; its PTX beside
 * it, below it or instead of it. Lines that are too long are continued below. Only lines that have events
 * need the gutter's columns; all other text may use them. The sign behind a line's number is of the block's whole
 * run: 'X' is an access of a hazard, '!' a bank conflict. */
#include "tui/panes/pane.h"
#include "tui/panes/syntax.h"
#include <assert.h>
#include <stdio.h>

enum {
    GUTTER_COLUMNS = 13,
    NUMBER_COLUMNS = 6,
    SIGN_COLUMN = 4,
    BESIDE_COLUMNS = 104,
    MOST_ROWS = 200,
    CONTINUED = 4
};
enum { MOST_LINE_BYTES = 1024 }; /* longer lines have no colours */
enum { AROUND_COLUMNS = 7 };     /* of a title and a note: the line and the spaces between them */

typedef struct TextRow { /* a line, or a part of one that is too long */
    int line;
    const char *text;
    const char *line_text; /* all of the line */
    int bytes, column;
    Syntax syntax; /* at the beginning of the line */
    bool first, has_gutter, is_source;
} TextRow;

typedef struct Listing { /* the text around the current line */
    TextRow rows[MOST_ROWS];
    int count, current; /* `current`: first row of the current line */
} Listing;

static bool has_source(const StepContext *context) {
    return context->code && context->code->line.file &&
           scene_source_line_count(context->scene, context->code->line.file) > 0;
}

static void head(const StepContext *context, PaneHead *out) {
    char scope[32];
    if (has_source(context) && context->view->display.source != SOURCE_PTX)
        snprintf(out->title, sizeof out->title, "source  %s", scene_file_name(context->code->line.file));
    else
        snprintf(out->title, sizeof out->title, "ptx  %s", context->launch->name);
    if (context->view->display.gutter == GUTTER_RUN)
        snprintf(scope, sizeof scope, "this block's run");
    else if (context->view->display.gutter == GUTTER_STEP)
        snprintf(scope, sizeof scope, "this step");
    else
        snprintf(scope, sizeof scope, "interval %d", context->step->interval_step + 1);
    snprintf(out->note, sizeof out->note, "%s: lanes, wavefronts", scope);
    if (canvas_text_columns(out->title) + canvas_text_columns(out->note) + AROUND_COLUMNS > out->columns)
        snprintf(out->note, sizeof out->note, "%s: lanes, wf", scope);
}

/* ---- gutter -------------------------------------------------------------------------------------------- */

static const StepIndexSums *gutter_sums(const StepContext *context) {
    const Steps *steps = context->steps;
    int interval = context->step->interval_step;
    switch (context->view->display.gutter) {
    case GUTTER_RUN:
        return step_index_sums(context->step_index, 0, steps->step_count);
    case GUTTER_STEP:
        return step_index_sums(context->step_index, context->view->place.step, 1);
    default:
        return step_index_sums(context->step_index, steps->interval_begin[interval],
                               steps->interval_begin[interval + 1] - steps->interval_begin[interval]);
    }
}

static void add_sums(StepIndexSums *sum, const StepIndexSums *addend) {
    sum->events += addend->events;
    sum->lanes += addend->lanes;
    sum->accesses += addend->accesses;
    sum->wavefronts += addend->wavefronts;
    sum->ideal += addend->ideal;
}

static bool line_has_events(const StepContext *context, const char *file, int line) {
    const PtxProgram *program = context->launch->program;
    for (int pc = 0; pc < program->code_count; pc++) {
        const PtxSourceLine *at = &program->code[pc].line;
        if (context->step_index->has_events[pc] && at->line == line && at->file && !strcmp(at->file, file))
            return true;
    }
    return false;
}

static StepIndexSums sums_of_line(const StepContext *context, const StepIndexSums *sums, const char *file,
                                  int line) {
    const PtxProgram *program = context->launch->program;
    StepIndexSums sum = {0};
    for (int pc = 0; pc < program->code_count; pc++) {
        const PtxSourceLine *at = &program->code[pc].line;
        if (sums[pc].events && at->line == line && at->file && !strcmp(at->file, file))
            add_sums(&sum, &sums[pc]);
    }
    return sum;
}

static void print_mean(double mean, char *out, size_t bytes) {
    snprintf(out, bytes, mean >= 9.95 || mean == (int)mean ? "%.0f" : "%.1f", mean);
}

/* Mean active lanes, as a bar and as a number, and mean wavefronts. */
static void draw_gutter(const StepIndexSums *sums, Canvas *canvas, Rectangle area, int row) {
    char text[16];
    int at = area.columns - GUTTER_COLUMNS + 1;
    if (!sums->events) return;
    double lanes = (double)sums->lanes / (double)sums->events;
    int height = (int)(lanes * 8 / WARP_LANES + 0.5);
    canvas_glyph(canvas, area, at, row, ROLE_BAR,
                 0x2580 + (uint32_t)(height < 1   ? 1
                                     : height > 8 ? 8
                                                  : height));
    print_mean(lanes, text, sizeof text);
    canvas_print(canvas, area, at + 1, row, ROLE_TEXT, "%5s", text);
    if (!sums->accesses) return;
    bool excess = sums->wavefronts > sums->ideal;
    print_mean((double)sums->wavefronts / (double)sums->accesses, text, sizeof text);
    canvas_print(canvas, area, at + 11 - (int)strlen(text), row, excess ? ROLE_CONFLICT : ROLE_TEXT, "%s%s",
                 text, excess ? "!" : "");
}

/* ---- signs --------------------------------------------------------------------------------------------- */

enum { SIGN_HAZARD = 'X', SIGN_CONFLICT = '!' };

/* 0: none. */
static char sign_of_pc(const StepContext *context, int pc) {
    if (step_context_is_of_hazard(context, pc)) return SIGN_HAZARD;
    return context->step_index->has_conflicts[pc] ? SIGN_CONFLICT : 0;
}

static char sign_of_line(const StepContext *context, const char *file, int line) {
    const PtxProgram *program = context->launch->program;
    char found = 0;
    for (int pc = 0; pc < program->code_count && found != SIGN_HAZARD; pc++) {
        const PtxSourceLine *at = &program->code[pc].line;
        if (at->line != line || !at->file || strcmp(at->file, file) != 0) continue;
        char sign = sign_of_pc(context, pc);
        if (sign) found = sign;
    }
    return found;
}

static void draw_sign(Canvas *canvas, Rectangle area, int row, char sign) {
    if (sign)
        canvas_glyph(canvas, area, SIGN_COLUMN, row, sign == SIGN_HAZARD ? ROLE_WARNING : ROLE_CONFLICT,
                     (uint32_t)sign);
}

/* ---- listing ------------------------------------------------------------------------------------------- */

/* Appends a line in as many rows as it needs; `columns`: with the gutter's, which only the first row keeps
 * free. `syntax`: at the beginning of the line; NULL: PTX. */
static void listing_add(Listing *listing, int line, const char *text, bool has_gutter, int columns,
                        const Syntax *syntax) {
    int indent = (int)strspn(text, " "), column = 0;
    const char *line_text = text;
    bool first = true;
    do {
        if (listing->count == MOST_ROWS) return;
        int room = columns - column - (first && has_gutter ? GUTTER_COLUMNS : 0);
        int bytes = canvas_text_columns(text) <= room ? (int)strlen(text) : canvas_break(text, room);
        listing->rows[listing->count++] =
            (TextRow){line,  text,       line_text,     bytes, column, syntax ? *syntax : (Syntax){0},
                      first, has_gutter, syntax != NULL};
        text += bytes;
        text += strspn(text, " ");
        column = indent + CONTINUED < columns / 2 ? indent + CONTINUED : 0;
        first = false;
    } while (*text);
}

/* First row shown, so that the kernel does not move where it fits and `current` is in sight. */
static int first_row(const Listing *listing, int rows) {
    if (listing->count <= rows) return 0;
    int first = listing->current - rows / 2;
    if (first > listing->count - rows) first = listing->count - rows;
    if (first < 0) first = 0;
    while (!listing->rows[first].first) first++; /* not from the middle of a line */
    return first;
}

/* The part of the line that this row shows, in the colours of its syntax. */
static void draw_code(Canvas *canvas, Rectangle body, int row, const TextRow *text, bool current) {
    uint8_t roles[MOST_LINE_BYTES];
    char part[MOST_LINE_BYTES];
    assert(text->line_text);
    size_t length = strlen(text->line_text), begin = (size_t)(text->text - text->line_text);
    bool has_roles = text->is_source && length < sizeof roles;
    Syntax syntax = text->syntax;
    Role plain = current ? ROLE_CURRENT : ROLE_TEXT;
    int at = text->column;
    if (has_roles) syntax_line(&syntax, text->line_text, roles);
    for (int from = 0, to; from < text->bytes; from = to) {
        Role role = has_roles ? (Role)roles[begin + (size_t)from] : ROLE_TEXT;
        for (to = from + 1; has_roles && to < text->bytes && roles[begin + (size_t)to] == role;) to++;
        if (!has_roles) to = text->bytes;
        snprintf(part, sizeof part, "%.*s", to - from, text->text + from);
        at += canvas_text(canvas, body, at, row, role == ROLE_TEXT ? plain : role, part);
    }
}

static void draw_row(Canvas *canvas, Rectangle area, int row, const TextRow *text, bool current) {
    Rectangle body = {area.column + NUMBER_COLUMNS, area.row, area.columns - NUMBER_COLUMNS, area.rows};
    if (text->first) {
        canvas_print(canvas, area, 1, row, current ? ROLE_CURRENT : ROLE_DIM, "%3d", text->line);
        if (text->has_gutter) body.columns -= GUTTER_COLUMNS;
    }
    if (current && text->first) canvas_glyph(canvas, area, 0, row, ROLE_CURRENT, '>');
    draw_code(canvas, body, row, text, current);
}

/* How far a kernel's body can move left: what comes before it has no indentation. Python's has to stay. */
static size_t common_indent(const StepContext *context, const char *file, int begin, int end) {
    const char *ending = file ? strrchr(file, '.') : NULL;
    if (ending && !strcmp(ending, ".py")) return 0;
    size_t least = 64;
    for (int line = begin; line <= end; line++) {
        const char *text = scene_source_line(context->scene, file, line);
        size_t indent = text ? strspn(text, " ") : 0;
        if (indent && text[indent] && indent < least) least = indent;
    }
    return least == 64 ? 0 : least;
}

/* Lines of the file that this launch has instructions of: the kernel, without what comes before and after. */
static void find_kernel(const StepContext *context, int *begin, int *end) {
    const PtxSourceLine *line = &context->code->line;
    const PtxProgram *program = context->launch->program;
    int count = scene_source_line_count(context->scene, line->file);
    *begin = *end = line->line;
    for (int pc = 0; pc < program->code_count; pc++) {
        const PtxSourceLine *other = &program->code[pc].line;
        if (!other->file || !other->line || strcmp(other->file, line->file) != 0) continue;
        if (other->line < *begin) *begin = other->line;
        if (other->line > *end) *end = other->line;
    }
    *begin -= *begin > 1;
    *end = *end + 1 > count ? count : *end + 1;
}

/* What lines 1 to `line` - 1 leave open. */
static Syntax syntax_before(const StepContext *context, const char *file, int line) {
    Syntax syntax = {.is_python = syntax_is_python(file)};
    for (int number = 1; number < line; number++) {
        const char *text =
            context->scene->questions.source_line(context->scene->questions.context, file, number);
        if (text) syntax_line(&syntax, text, NULL);
    }
    return syntax;
}

static void list_source(const StepContext *context, int rows, int columns, Listing *listing) {
    const PtxSourceLine *line = &context->code->line;
    int begin, end;
    find_kernel(context, &begin, &end);
    size_t dedent = common_indent(context, line->file, begin, end);
    if (end - begin + 1 < rows) begin -= (rows - (end - begin + 1)) / 2; /* the lines above it */
    if (begin < line->line - MOST_ROWS / 2) begin = line->line - MOST_ROWS / 2;
    if (begin < 1) begin = 1;
    Syntax syntax = syntax_before(context, line->file, begin);
    for (int number = begin; number <= end; number++) {
        const char *text = scene_source_line(context->scene, line->file, number);
        size_t indent = text ? strspn(text, " ") : 0;
        if (number == line->line) listing->current = listing->count;
        listing_add(listing, number, text ? text + (indent < dedent ? indent : dedent) : "",
                    line_has_events(context, line->file, number), columns, &syntax);
        if (text) syntax_line(&syntax, text, NULL);
    }
}

static void draw_source(const StepContext *context, Canvas *canvas, Rectangle area) {
    const PtxSourceLine *line = &context->code->line;
    const StepIndexSums *sums = gutter_sums(context);
    Listing listing = {.count = 0};
    list_source(context, area.rows, area.columns - NUMBER_COLUMNS, &listing);
    int first = first_row(&listing, area.rows);
    for (int row = 0; row < area.rows && first + row < listing.count; row++) {
        const TextRow *text = &listing.rows[first + row];
        draw_row(canvas, area, row, text, text->line == line->line);
        if (!text->first) continue;
        draw_sign(canvas, area, row, sign_of_line(context, line->file, text->line));
        StepIndexSums of_line = sums_of_line(context, sums, line->file, text->line);
        draw_gutter(&of_line, canvas, area, row);
    }
}

static const char *ptx_text(const StepContext *context, int pc) {
    const char *text = scene_ptx_line(context->scene, context->view->place.block, pc);
    return text ? text : "";
}

static void draw_ptx(const StepContext *context, Canvas *canvas, Rectangle area) {
    const PtxProgram *program = context->launch->program;
    const StepIndexSums *sums = gutter_sums(context);
    Listing listing = {.count = 0};
    int begin = context->step->pc - area.rows, end = context->step->pc + area.rows;
    if (begin > program->code_count - area.rows) begin = program->code_count - area.rows;
    for (int pc = begin < 0 ? 0 : begin; pc < program->code_count && pc <= end; pc++) {
        if (pc == context->step->pc) listing.current = listing.count;
        listing_add(&listing, pc, ptx_text(context, pc), context->step_index->has_events[pc],
                    area.columns - NUMBER_COLUMNS, NULL);
    }
    int first = first_row(&listing, area.rows);
    for (int row = 0; row < area.rows && first + row < listing.count; row++) {
        const TextRow *text = &listing.rows[first + row];
        draw_row(canvas, area, row, text, text->line == context->step->pc);
        if (!text->first) continue;
        draw_sign(canvas, area, row, sign_of_pc(context, text->line));
        draw_gutter(&sums[text->line], canvas, area, row);
    }
}

/* Source beside its PTX, or above it where columns are few. */
static void draw_both(const StepContext *context, Canvas *canvas, Rectangle area) {
    Rectangle source = area, ptx = area;
    if (area.columns >= BESIDE_COLUMNS) {
        source.columns = area.columns / 2 - 1;
        ptx.column += area.columns / 2 + 2;
        ptx.columns -= area.columns / 2 + 2;
        for (int row = 0; row < area.rows; row++)
            canvas_glyph(canvas, area, area.columns / 2, row, ROLE_BORDER, 0x2502);
    } else {
        source.rows = (area.rows - 1) / 2;
        ptx.row += source.rows + 1;
        ptx.rows -= source.rows + 1;
        for (int column = 0; column < area.columns; column++)
            canvas_glyph(canvas, area, column, source.rows, ROLE_BORDER, 0x2500);
    }
    draw_source(context, canvas, source);
    draw_ptx(context, canvas, ptx);
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    if (!has_source(context) || context->view->display.source == SOURCE_PTX) {
        draw_ptx(context, canvas, area);
    } else if (context->view->display.source == SOURCE_BOTH) {
        draw_both(context, canvas, area);
    } else {
        int rows = area.rows;
        if (rows > 3) { /* the last row is the instruction's */
            rows--;
            canvas_text(canvas, area, 0, rows, ROLE_DIM, "ptx");
            canvas_text(canvas, area, NUMBER_COLUMNS, rows, ROLE_CURRENT,
                        ptx_text(context, context->step->pc));
        }
        draw_source(context, canvas, (Rectangle){area.column, area.row, area.columns, rows});
    }
}

/* To the next step of the line that was clicked, from the start again where there is none. */
static ViewAnswer click(const StepContext *context, Rectangle area, int column, int row, View *view) {
    Listing listing = {.count = 0};
    (void)column;
    if (!has_source(context) || view->display.source != SOURCE_CODE) return VIEW_IGNORED;
    int rows = area.rows > 3 ? area.rows - 1 : area.rows;
    list_source(context, rows, area.columns - NUMBER_COLUMNS, &listing);
    int at = first_row(&listing, rows) + row, count = context->steps->step_count;
    if (row >= rows || at >= listing.count) return VIEW_IGNORED;
    for (int i = 1; i <= count; i++) {
        int step = (view->place.step + i) % count;
        const PtxCode *code = scene_code(context->scene, view->place.block, context->steps->steps[step].pc);
        if (!code->line.file || code->line.line != listing.rows[at].line) continue;
        if (strcmp(code->line.file, context->code->line.file) != 0) continue;
        view_jump_to_step(view, context->scene, step);
        return VIEW_CHANGED;
    }
    return VIEW_IGNORED;
}

const Pane pane_source = {.slot = SLOT_SOURCE, .head = head, .draw = draw, .click = click};
