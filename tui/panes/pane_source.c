/* The source pane: the text around the current line, with counts and PTX. The PTX is beside it, below it or
 * in its place. A line that is too long is cut; the one of this step, and PTX, continue below. Only lines
 * with events need the gutter's columns; all other text may use them. One scope of the gutter is the samples
 * of the whole kernel on a GPU, with the stall reason of the current line in the last row. The sign after a
 * line's number is of the block's whole run: 'X' is an access of a hazard, '!' a bank conflict or another
 * slow place of the list that f goes through. */
#include "tui/panes/sampled_code.h"
#include "base/language.h"
#include "base/utf8.h"
#include "base/characters.h"
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
    CONTINUED = 4,
    NARROW_CONTINUED = 2
};
enum { MOST_LINE_BYTES = 1024 }; /* longer lines have no colours */
enum { AROUND_COLUMNS = 7 };     /* of a title and a note: the line and the spaces between them */

/* ---- the gutter ---------------------------------------------------------------------------------------- */

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

/* The text of the row ends before the gutter: the line has numbers, here or in other intervals. `code`, here
 * and below: of GUTTER_SAMPLES; NULL: another scope is shown, or the machine code is unknown. */
static bool gutter_has(const StepContext *context, const SampledCode *code, const char *file, int line) {
    const PtxProgram *program = context->launch->program;
    if (code) return sampled_code_line(code, file, line) != NULL;
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
        if (sums[pc].events && at->line == line && at->file && !strcmp(at->file, file)) {
            sum.events += sums[pc].events;
            sum.lanes += sums[pc].lanes;
            sum.accesses += sums[pc].accesses;
            sum.wavefronts += sums[pc].wavefronts;
            sum.ideal += sums[pc].ideal;
        }
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
    canvas_column(canvas, area, at, row, ROLE_BAR, canvas_clamp(height, 1, 8));
    print_mean(lanes, text, sizeof text);
    canvas_print(canvas, area, at + 1, row, ROLE_TEXT, "%5s", text);
    if (!sums->accesses) return;
    bool excess = sums->wavefronts > sums->ideal;
    print_mean((double)sums->wavefronts / (double)sums->accesses, text, sizeof text);
    canvas_print(canvas, area, at + 11 - (int)strlen(text), row, excess ? ROLE_CONFLICT : ROLE_TEXT, "%s%s",
                 text, excess ? "!" : "");
}

/* The share of the kernel's samples, as a bar and as a number, and of its executed machine instructions. */
static void draw_samples(const SampledCode *code, const SassSums *sums, Canvas *canvas, Rectangle area,
                         int row) {
    char text[PERCENT_BYTES];
    int at = area.columns - GUTTER_COLUMNS + 1;
    double most = 0, samples = sampled_code_samples(code, sums);
    for (int i = 0; i < code->line_count; i++) {
        double other = sampled_code_samples(code, &code->lines[i].sums);
        if (other > most) most = other;
    }
    int height = most > 0 ? (int)(samples / most * 8 + 0.5) : 0;
    if (sums->all_samples) {
        canvas_column(canvas, area, at, row, ROLE_BAR, canvas_clamp(height, 1, 8));
        sampled_code_print_percent(samples, text);
        canvas_print(canvas, area, at + 1, row, ROLE_TEXT, "%5s", text);
    }
    if (!sums->executed) return;
    sampled_code_print_percent(sampled_code_executed(code, sums), text);
    canvas_print(canvas, area, at + 6, row, ROLE_DIM, "%6s", text);
}

static void gutter_draw_line(const StepContext *context, const SampledCode *code, const char *file, int line,
                             Canvas *canvas, Rectangle area, int row) {
    if (context->view->transient.hides) return;
    const SassLine *found = code ? sampled_code_line(code, file, line) : NULL;
    if (found) draw_samples(code, &found->sums, canvas, area, row);
    if (context->view->display.gutter == GUTTER_SAMPLES) return;
    StepIndexSums sums = sums_of_line(context, gutter_sums(context), file, line);
    draw_gutter(&sums, canvas, area, row);
}

/* The main stall reason of the current line, as a row. `code` is of the step; it may have no kernel. */
static void gutter_draw_stall(const StepContext *context, const SampledCode *code, Canvas *canvas,
                              Rectangle area, int row) {
    if (context->view->transient.hides) return;
    char stall[96], text[MISSING_BYTES], share[PERCENT_BYTES];
    canvas_text(canvas, area, 0, row, ROLE_DIM, tr("waits"));
    const SassLine *line = code->current;
    SassStall top = line ? sass_top_stall(line->sums.samples) : SASS_STALLS;
    sampled_code_print_stall(top, stall, sizeof stall);
    if (!code->sass.kernel) {
        sampled_code_print_missing(code, text);
    } else if (!code->sass.kernel->sampled.n) {
        snprintf(text, sizeof text, tr("not sampled"));
    } else if (top == SASS_STALLS) {
        snprintf(text, sizeof text, tr("line %d: no samples"), context->code->line.line);
    } else {
        sampled_code_print_percent(sampled_code_percent(line->sums.samples[top], line->sums.all_samples),
                                   share);
        snprintf(text, sizeof text, "%s: %s", share, stall);
    }
    sampled_code_draw_cut(canvas, area, NUMBER_COLUMNS, row, area.columns - NUMBER_COLUMNS,
                          code->sass.kernel ? ROLE_CURRENT : ROLE_DIM, text);
}

typedef struct TextRow { /* a line, or a part of one that is too long */
    int line;            /* of a listing of PTX: the pc */
    int number;          /* that is shown */
    const char *text;
    const char *line_text; /* all of the line */
    int bytes, column;
    Syntax syntax;                              /* at the beginning of the line */
    bool first, has_gutter, is_source, is_note; /* a note: not text of the file */
    bool is_cut;                                /* its last column says that the line goes on */
} TextRow;

typedef struct Listing { /* the text around the current line */
    TextRow rows[MOST_ROWS];
    int count, current; /* `current`: first row of the current line */
    Arena notes;        /* their texts */
} Listing;

static bool has_source(const StepContext *context) {
    return context->code && context->code->line.file &&
           scene_source_line_count(context->scene, context->code->line.file) > 0;
}

static bool fits(const PaneHead *head) {
    return canvas_text_columns(head->title) + canvas_text_columns(head->note) + AROUND_COLUMNS <=
           head->columns;
}

static void head(const StepContext *context, PaneHead *out) {
    char scope[32];
    if (has_source(context) && context->view->display.source != SOURCE_PTX)
        pane_title(out, tr("source  %s"), scene_file_name(context->code->line.file));
    else
        pane_title(out, "ptx  %s", context->launch->name);
    if (context->view->transient.hides) return;
    if (context->view->display.gutter == GUTTER_SAMPLES) {
        /* The columns of the gutter, and where the samples come from if there is room. */
        SampledCode code;
        char origin[ORIGIN_BYTES];
        if (sampled_code_open(context, &code)) {
            sampled_code_print_origin(&code, origin);
            pane_note(out, tr("%.120s: samples, SASS"), origin);
        }
        if (!code.sass.kernel || !fits(out)) pane_note(out, tr("whole kernel: samples, SASS"));
        sampled_code_done(&code);
        return;
    }
    if (context->view->display.gutter == GUTTER_RUN)
        snprintf(scope, sizeof scope, tr("block's run"));
    else if (context->view->display.gutter == GUTTER_STEP)
        snprintf(scope, sizeof scope, tr("this step"));
    else
        snprintf(scope, sizeof scope, tr("interval %d"), context->step->interval_step + 1);
    /* "interval 2: lanes, wavefronts"; if there is no room, without the word before the name, then without
     * the names of the columns. */
    char whole[sizeof out->title];
    const char *name = strstr(out->title, "  ");
    snprintf(whole, sizeof whole, "%s", out->title);
    for (int form = 0; form < 4; form++) {
        pane_title(out, "%s", form & 1 && name ? strstr(whole, "  ") + 2 : whole);
        if (form < 2)
            pane_note(out, tr("%s: lanes, wavefronts"), scope);
        else
            pane_note(out, tr("lanes, wavefronts"));
        if (fits(out)) return;
    }
}

/* ---- signs --------------------------------------------------------------------------------------------- */

enum { SIGN_HAZARD = 'X', SIGN_CONFLICT = '!' };

/* 0: none. */
static char sign_of_pc(const StepContext *context, int pc) {
    if (context->view->transient.hides) return 0;
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
    bool is_slow =
        !found && !context->view->transient.hides && step_context_is_slow_line(context, file, line);
    return is_slow ? SIGN_CONFLICT : found;
}

static void draw_sign(Canvas *canvas, Rectangle area, int row, char sign) {
    if (sign)
        canvas_glyph(canvas, area, SIGN_COLUMN, row, sign == SIGN_HAZARD ? ROLE_WARNING : ROLE_CONFLICT,
                     (uint32_t)sign);
}

/* ---- listing ------------------------------------------------------------------------------------------- */

/* Bytes of the text for a row of so many columns, with one left for the sign of a cut. */
static int cut_bytes(const char *text, int columns) {
    const char *at = text;
    for (const char *next = at; *next && (columns -= utf8_columns(utf8_next(&next))) >= 1;) at = next;
    return (int)(at - text);
}

/* Bytes of the text for a row of so many columns that goes on below: to a space, parenthesis or comma. */
static int code_break(const char *text, int columns) {
    int end = cut_bytes(text, columns + 1), bytes = end;
    while (bytes > 1 && !strchr(" (,", text[bytes - 1])) bytes--;
    return bytes > 1 ? bytes : end;
}

/* Appends a line in at most `most` rows; `columns`: including the gutter's, which only the first row leaves
 * empty. `syntax`: at the beginning of the line; NULL: PTX. */
static void listing_add(Listing *listing, int line, const char *text, bool has_gutter, int columns, int most,
                        const Syntax *syntax) {
    int indent = (int)strspn(text, " "), column = 0;
    const char *line_text = text;
    for (int count = 0; !count || *text; count++) {
        if (listing->count == MOST_ROWS || count == most) return;
        bool first = !count, fits;
        int room = columns - column - (first && has_gutter ? GUTTER_COLUMNS : 0);
        fits = canvas_text_columns(text) <= room;
        bool is_cut = !fits && count + 1 == most;
        int bytes = fits     ? (int)strlen(text)
                    : is_cut ? cut_bytes(text, room)
                    : syntax ? code_break(text, room)
                             : line_break(text, room);
        listing->rows[listing->count++] = (TextRow){.line = line,
                                                    .number = line,
                                                    .text = text,
                                                    .line_text = line_text,
                                                    .bytes = bytes,
                                                    .column = column,
                                                    .syntax = syntax ? *syntax : (Syntax){0},
                                                    .first = first,
                                                    .has_gutter = has_gutter,
                                                    .is_source = syntax != NULL,
                                                    .is_cut = is_cut};
        text += bytes;
        text += strspn(text, " ");
        bool is_narrow = indent + CONTINUED >= columns / 2;
        if (syntax) is_narrow |= indent + CONTINUED + canvas_text_columns(text) > columns;
        column = !is_narrow ? indent + CONTINUED : syntax ? NARROW_CONTINUED : 0;
    }
}

/* The first row shown: the kernel does not move if it fits, and `current` is visible. */
static int first_row(const Listing *listing, int rows) {
    if (listing->count <= rows) return 0;
    int first = canvas_first_shown(listing->current, rows, listing->count);
    /* Not in the middle of a line. */
    while (first < listing->current && !listing->rows[first].first) first++;
    return first;
}

static void draw_row(Canvas *canvas, Rectangle area, int row, const TextRow *text, bool current) {
    Rectangle body = {area.column + NUMBER_COLUMNS, area.row, area.columns - NUMBER_COLUMNS, area.rows};
    if (text->first) {
        canvas_print(canvas, area, 1, row, current ? ROLE_CURRENT : ROLE_DIM, "%3d", text->number);
        if (text->has_gutter) body.columns -= GUTTER_COLUMNS;
    }
    if (current && text->first) canvas_glyph(canvas, area, 0, row, ROLE_CURRENT, '>');
    /* Draws the part of the line that this row shows, in the colours of its syntax. */
    uint8_t roles[MOST_LINE_BYTES];
    char part[MOST_LINE_BYTES];
    assert(text->line_text);
    size_t length = strlen(text->line_text), begin = (size_t)(text->text - text->line_text);
    bool has_roles = text->is_source && length < sizeof roles;
    Syntax syntax = text->syntax;
    Role plain = text->is_note ? ROLE_COMMENT : current ? ROLE_CURRENT : ROLE_TEXT;
    int at = text->column;
    if (has_roles) syntax_line(&syntax, text->line_text, roles);
    for (int from = 0, to; from < text->bytes; from = to) {
        Role role = has_roles ? (Role)roles[begin + (size_t)from] : ROLE_TEXT;
        for (to = from + 1; has_roles && to < text->bytes && roles[begin + (size_t)to] == role;) to++;
        if (!has_roles) to = text->bytes;
        snprintf(part, sizeof part, "%.*s", to - from, text->text + from);
        at += canvas_text(canvas, body, at, row, role == ROLE_TEXT ? plain : role, part);
    }
    if (text->is_cut) canvas_glyph(canvas, body, at, row, ROLE_DIM, 0x2026);
}

/* How far a kernel's body can move left: the text before it is not indented. Python must keep its
 * indentation. */
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

/* Lines of the file that have instructions of this launch: the kernel, without what comes before and
 * after. */
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

/* The state of the syntax after lines 1 to `line` - 1. */
static Syntax syntax_before(const StepContext *context, const char *file, int line) {
    Syntax syntax = {.is_python = syntax_is_python(file)};
    for (int number = 1; number < line; number++) {
        const char *text =
            context->scene->questions.source_line(context->scene->questions.session, file, number);
        if (text) syntax_line(&syntax, text, NULL);
    }
    return syntax;
}

static void list_source(const StepContext *context, const SampledCode *code, int rows, int columns,
                        Listing *listing) {
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
                    gutter_has(context, code, line->file, number), columns,
                    number == line->line ? MOST_ROWS : 1, &syntax);
        if (text) syntax_line(&syntax, text, NULL);
    }
}

/* What the head of a kernel says of it may be the answer to an open question. */
static bool is_comment(const TextRow *row) {
    const char *text = row->line_text + strspn(row->line_text, " \t");
    return !strncmp(text, "//", 2) || !strncmp(text, "/*", 2) || row->syntax.in_comment;
}

static void draw_source(const StepContext *context, const SampledCode *code, Canvas *canvas, Rectangle area) {
    const PtxSourceLine *line = &context->code->line;
    Listing listing = {.count = 0};
    list_source(context, code, area.rows, area.columns - NUMBER_COLUMNS, &listing);
    int first = first_row(&listing, area.rows);
    for (int row = 0; row < area.rows && first + row < listing.count; row++) {
        const TextRow *text = &listing.rows[first + row];
        if (context->view->transient.hides && is_comment(text)) continue;
        draw_row(canvas, area, row, text, text->line == line->line);
        if (!text->first) continue;
        draw_sign(canvas, area, row, sign_of_line(context, line->file, text->line));
        gutter_draw_line(context, code, line->file, text->line, canvas, area, row);
    }
}

static const char *ptx_text(const StepContext *context, int pc) {
    const char *text = scene_ptx_line(context->scene, context->view->place.block, pc);
    return text ? text : "";
}

/* Each instruction, and below it its machine code if that is not one instruction. */
static void list_ptx(const StepContext *context, const SampledCode *sass, int rows, int columns,
                     Listing *listing) {
    const PtxProgram *program = context->launch->program;
    Text note = {0};
    int begin = context->step->pc - rows, end = context->step->pc + rows;
    bool samples = context->view->display.gutter == GUTTER_SAMPLES;
    if (begin > program->code_count - rows) begin = program->code_count - rows;
    for (int pc = begin < 0 ? 0 : begin; pc < program->code_count && pc <= end; pc++) {
        bool has_gutter =
            samples ? sampled_code_of_pc(sass, pc).executed > 0 : context->step_index->has_events[pc];
        if (pc == context->step->pc) listing->current = listing->count;
        int row = listing->count;
        listing_add(listing, pc, ptx_text(context, pc), has_gutter, columns, MOST_ROWS, NULL);
        /* a file of PTX, whose lines messages name */
        if (!has_source(context) && row < listing->count)
            listing->rows[row].number = program->code[pc].instruction->line;
        text_clear(&note);
        text_add(&note, "* ");
        if (sampled_code_explain_pc(sass, pc, &note)) {
            /* Notes below a PTX instruction what it was compiled to. */
            const char *text = text_string(&note);
            int first = listing->count;
            listing_add(listing, pc, arena_copy_string(&listing->notes, text), false, columns - CONTINUED,
                        MOST_ROWS, NULL);
            for (int i = first; i < listing->count; i++) {
                listing->rows[i].first = false;
                listing->rows[i].is_note = true;
                listing->rows[i].column += CONTINUED;
            }
        }
    }
    text_done(&note);
}

static void draw_ptx(const StepContext *context, const SampledCode *sass, Canvas *canvas, Rectangle area) {
    const SampledCode *code =
        context->view->display.gutter == GUTTER_SAMPLES && sass->sass.kernel ? sass : NULL;
    Listing listing = {.count = 0};
    list_ptx(context, sass, area.rows, area.columns - NUMBER_COLUMNS, &listing);
    int first = first_row(&listing, area.rows);
    for (int row = 0; row < area.rows && first + row < listing.count; row++) {
        const TextRow *text = &listing.rows[first + row];
        draw_row(canvas, area, row, text, text->line == context->step->pc);
        if (!text->first) continue;
        draw_sign(canvas, area, row, sign_of_pc(context, text->line));
        if (!context->view->transient.hides) {
            SassSums sums = {.executed = 0};
            if (code) sums = sampled_code_of_pc(code, text->line);
            if (code) draw_samples(code, &sums, canvas, area, row);
            if (context->view->display.gutter != GUTTER_SAMPLES)
                draw_gutter(&gutter_sums(context)[text->line], canvas, area, row);
        }
    }
    arena_done(&listing.notes);
}

/* Source beside its PTX, or above it if columns are scarce. */
static void draw_both(const StepContext *context, const SampledCode *sass, const SampledCode *gutter,
                      Canvas *canvas, Rectangle area) {
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
    draw_source(context, gutter, canvas, source);
    draw_ptx(context, sass, canvas, ptx);
}

/* Rows at the bottom: the line's stall reason, the instruction of the step. */
static void cut_notes(const StepContext *context, Rectangle *area, bool *has_stall, bool *has_instruction) {
    bool only_source = has_source(context) && context->view->display.source == SOURCE_CODE;
    *has_stall = context->view->display.gutter == GUTTER_SAMPLES && area->rows > 2;
    area->rows -= *has_stall;
    *has_instruction = only_source && area->rows > 3;
    area->rows -= *has_instruction;
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    SampledCode code;
    bool has_stall, has_instruction, shows_ptx = context->view->display.source != SOURCE_CODE;
    Rectangle body = area;
    cut_notes(context, &body, &has_stall, &has_instruction);
    bool samples = context->view->display.gutter == GUTTER_SAMPLES;
    if (samples || shows_ptx || !has_source(context))
        sampled_code_open(context, &code);
    else
        code = (SampledCode){.lines = NULL};
    const SampledCode *gutter = samples && code.sass.kernel ? &code : NULL;
    if (!has_source(context) || context->view->display.source == SOURCE_PTX)
        draw_ptx(context, &code, canvas, body);
    else if (context->view->display.source == SOURCE_BOTH)
        draw_both(context, &code, gutter, canvas, body);
    else
        draw_source(context, gutter, canvas, body);
    if (has_stall) gutter_draw_stall(context, &code, canvas, area, body.rows);
    if (has_instruction) {
        canvas_text(canvas, area, 0, area.rows - 1, ROLE_DIM, "ptx");
        canvas_text(canvas, area, NUMBER_COLUMNS, area.rows - 1, ROLE_CURRENT,
                    ptx_text(context, context->step->pc));
    }
    sampled_code_done(&code);
}

/* Goes to the next step of the clicked line, cyclically. */
static ViewAnswer click(const StepContext *context, Rectangle area, int column, int row, View *view) {
    Listing listing = {.count = 0};
    SampledCode code = {.lines = NULL};
    Rectangle body = area;
    bool has_stall, has_instruction;
    (void)column;
    if (!has_source(context) || view->display.source != SOURCE_CODE) return VIEW_IGNORED;
    cut_notes(context, &body, &has_stall, &has_instruction);
    bool samples = view->display.gutter == GUTTER_SAMPLES && sampled_code_open(context, &code);
    list_source(context, samples ? &code : NULL, body.rows, area.columns - NUMBER_COLUMNS, &listing);
    sampled_code_done(&code);
    int at = first_row(&listing, body.rows) + row;
    if (row >= body.rows || at >= listing.count) return VIEW_IGNORED;
    int step = step_context_next_step_of(context, context->code->line.file, listing.rows[at].line);
    if (step < 0) return VIEW_IGNORED;
    view_jump_to_step(view, context->scene, step);
    return VIEW_CHANGED;
}

const Pane pane_source = {.slot = SLOT_SOURCE, .head = head, .draw = draw, .click = click};
