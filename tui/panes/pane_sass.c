/* The SASS pane: machine code under its source lines, with a GPU's counts and samples. Below a line is the
 * reason why its counts differ from those of its PTX. On a narrow screen, the numbers that the text does not
 * contain stay; the address and the share that is predicated off are dropped first. */
#include "tui/panes/sampled_code.h"

#include "base/language.h"
#include "tui/panes/pane.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { AROUND_COLUMNS = 7 }; /* of a title and a note: the line and the spaces between them */
enum { WIDE = 100, MIDDLE = 66, LEAST_ROWS = 6, INDENT = 2, NOTE_BYTES = 2 * ORIGIN_BYTES + 2 };

typedef enum RowKind { ROW_LINE, ROW_REASON, ROW_LABEL, ROW_INSTRUCTION } RowKind;

typedef struct SassRow {
    RowKind kind;
    const SassLine *line;
    int index; /* of the instruction, or of the difference */
} SassRow;

typedef struct SassColumns { /* widths, including the space before them; 0: hidden */
    int at, executed, lanes, off, samples, bar, text;
    bool has_commas;
} SassColumns;

typedef struct SassPage {
    const StepContext *context;
    SampledCode code;
    SassColumns columns;
    uint64_t most_samples; /* of one instruction */
    SassRow *rows;         /* owned */
    int count, capacity;
} SassPage;

/* ---- rows ---------------------------------------------------------------------------------------------- */

static void push(SassPage *listing, RowKind kind, const SassLine *line, int index) {
    SassRow row = {kind, line, index};
    array_push(listing->rows, listing->count, listing->capacity, row);
}

static bool is_of_line(const SassComparison *compared, int index, const SassLine *line) {
    PtxSourceLine own = sass_difference_line(compared, &compared->differences[index]);
    if (!own.file || !line->file) return !own.file && !line->file;
    return own.line == line->line && !strcmp(own.file, line->file);
}

static void list_line(SassPage *listing, const SassLine *line) {
    const SassKernel *kernel = listing->code.sass.kernel;
    const SassComparison *compared = listing->code.sass.compared;
    push(listing, ROW_LINE, line, -1);
    for (int i = 0; compared && i < compared->count; i++)
        if (is_of_line(compared, i, line)) push(listing, ROW_REASON, line, i);
    for (int i = 0; i < kernel->count; i++) {
        if (!sass_is_on_line(kernel, &kernel->instructions[i], line)) continue;
        if (kernel->instructions[i].label) push(listing, ROW_LABEL, line, i);
        push(listing, ROW_INSTRUCTION, line, i);
    }
}

/* False: no machine code. */
static bool listing_open(SassPage *listing, const StepContext *context, int columns) {
    *listing = (SassPage){.context = context};
    if (!sampled_code_open_assembled(context, &listing->code)) return false;
    const SassKernel *kernel = listing->code.sass.kernel;
    /* The text gets the width of the widest number of columns. */
    bool wide = columns >= WIDE, middle = columns >= MIDDLE;
    SassColumns out = {.at = wide ? 6 : 0, .has_commas = wide};
    if (kernel->counted.n) {
        out.executed = wide ? 13 : 6;
        out.lanes = 6;
        out.off = middle ? 6 : 0;
    }
    if (kernel->sampled.n) {
        out.samples = 8;
        out.bar = wide ? 9 : middle ? 2 : 0;
    }
    out.text = columns - 1 - out.at - out.executed - out.lanes - out.off - out.samples - out.bar - 1;
    listing->columns = out;
    for (int i = 0; i < kernel->count; i++) {
        SassSums sums = {.executed = 0};
        sass_add_up(&sums, &kernel->instructions[i]);
        uint64_t samples = sums.all_samples;
        if (samples > listing->most_samples) listing->most_samples = samples;
    }
    for (int i = 0; i < listing->code.line_count; i++) list_line(listing, &listing->code.lines[i]);
    return true;
}

static void listing_done(SassPage *listing) {
    free(listing->rows);
    sampled_code_done(&listing->code);
}

/* Whether the machine instruction implements the PTX instruction of this step. */
static bool is_of_step(const SassPage *listing, const SassRow *row) {
    const SassComparison *compared = listing->code.sass.compared;
    return row->kind == ROW_INSTRUCTION && compared &&
           compared->owner[row->index] == listing->context->step->pc;
}

/* Keeps the step's line visible with its instructions; for a line without any, the next line that has
 * some. */
static int first_row(const SassPage *listing, int rows) {
    const PtxSourceLine *at = &listing->context->code->line;
    int head = -1, own = -1;
    for (int i = 0; i < listing->count; i++) {
        const SassRow *row = &listing->rows[i];
        bool is_same = row->line == listing->code.current;
        bool is_next = !listing->code.current && row->line && row->line->file && at->file &&
                       !strcmp(row->line->file, at->file) && row->line->line > at->line;
        if (head < 0 && row->kind == ROW_LINE && (is_same || is_next)) head = i;
        if (own < 0 && is_of_step(listing, row)) own = i;
    }
    int first = head > 0 ? head - 1 : 0;
    if (own >= first + rows - 1) first = own - rows / 2;
    return canvas_scroll(first, rows, listing->count);
}

/* ---- drawing ------------------------------------------------------------------------------------------- */

/* Returns the column behind it. */
static int draw_head(Canvas *canvas, Rectangle area, int at, int columns, const char *text) {
    if (columns) canvas_right(canvas, area, at + columns, 0, ROLE_DIM, text);
    return at + columns;
}

static void draw_heads(const SassColumns *c, Canvas *canvas, Rectangle area) {
    int at = draw_head(canvas, area, 1, c->at, tr("at"));
    at = draw_head(canvas, area, at, c->executed, c->has_commas ? tr("executed") : tr("warps"));
    at = draw_head(canvas, area, at, c->lanes, c->off ? tr("lanes") : "on");
    at = draw_head(canvas, area, at, c->off, "off");
    at = draw_head(canvas, area, at, c->samples, tr("samples"));
    canvas_text(canvas, area, at + c->bar + 1, 0, ROLE_DIM, tr("instruction"));
}

static void draw_bar(const SassPage *listing, uint64_t samples, Canvas *canvas, Rectangle area, int at,
                     int row) {
    int columns = listing->columns.bar;
    if (!samples || !listing->most_samples || !columns) return;
    double share = (double)samples / (double)listing->most_samples;
    if (columns == 2) {
        int height = (int)(share * 8 + 0.5);
        canvas_column(canvas, area, at + 1, row, ROLE_BAR, height < 1 ? 1 : height);
        return;
    }
    canvas_row(canvas, area, at + 1, row, (int)(share * (columns - 1) + 0.5), ROLE_BAR, 0x2588);
}

/* The numbers of an instruction or a line; returns the column where the text begins. */
static int draw_numbers(const SassPage *listing, const SassSums *sums, bool has_bar, Canvas *canvas,
                        Rectangle area, int row, Role role) {
    const SassColumns *c = &listing->columns;
    char executed[32] = "", lanes[16] = "", off[PERCENT_BYTES] = "", samples[PERCENT_BYTES] = "";
    int at = 1 + c->at;
    if (c->has_commas)
        step_context_print_count(sums->executed, executed, sizeof executed);
    else
        sampled_code_print_count(sums->executed, executed, sizeof executed);
    /* A column of its own shows how many are off. */
    uint64_t counted = c->off ? sums->threads : sums->acting;
    if (sums->executed) snprintf(lanes, sizeof lanes, "%.1f", (double)counted / (double)sums->executed);
    if (sums->acting < sums->threads)
        sampled_code_print_percent(sampled_code_percent(sums->threads - sums->acting, sums->threads), off);
    if (sums->all_samples) sampled_code_print_percent(sampled_code_samples(&listing->code, sums), samples);
    canvas_print(canvas, area, at, row, role, "%*s%*s%*s%*s", c->executed, c->executed ? executed : "",
                 c->lanes, c->lanes ? lanes : "", c->off, c->off ? off : "", c->samples,
                 c->samples ? samples : "");
    at += c->executed + c->lanes + c->off + c->samples;
    if (has_bar) draw_bar(listing, sums->all_samples, canvas, area, at, row);
    return at + c->bar + 1;
}

static void print_line(const SassPage *listing, const SassLine *line, Text *out) {
    const PtxSourceLine *at = &listing->context->code->line;
    if (!line->file) {
        text_add(out, tr("without a source line"));
        return;
    }
    if (!line->line) {
        text_print(out, tr("%s, called from several lines"), line->file);
        return;
    }
    const char *text = scene_source_line(listing->context->scene, line->file, line->line);
    if (!at->file || strcmp(at->file, line->file) != 0) text_print(out, "%s:", scene_file_name(line->file));
    text_print(out, "%d  %s", line->line, text ? text + strspn(text, " \t") : "");
}

/* " (operations.cuh:8)": the origin of inlined code; the line that it was inlined at is above it. */
static void print_chain(const SassKernel *kernel, int place, Text *out) {
    const char *before = "  (";
    for (; place >= 0 && kernel->places[place].inlined_at >= 0; place = kernel->places[place].inlined_at) {
        const SassPlace *at = &kernel->places[place];
        text_print(out, "%s%s", before, scene_file_name(at->file));
        if (at->line) text_print(out, ":%d", at->line);
        before = " in ";
    }
    if (*before == ' ' && before[1] == 'i') text_add(out, ")");
}

static void draw_instruction(const SassPage *listing, const SassRow *row, Canvas *canvas, Rectangle area,
                             int at_row) {
    const SassKernel *kernel = listing->code.sass.kernel;
    const SassInstruction *instruction = &kernel->instructions[row->index];
    bool is_own = is_of_step(listing, row);
    SassSums sums = {.executed = 0};
    Text chain = {0};
    sass_add_up(&sums, instruction);
    Role role = is_own ? ROLE_CURRENT : ROLE_TEXT;
    if (listing->columns.at)
        canvas_print(canvas, area, 1, at_row, ROLE_DIM, "%*" PRIx32, listing->columns.at,
                     instruction->offset);
    int at = draw_numbers(listing, &sums, true, canvas, area, at_row, role) + INDENT,
        room = area.columns - at;
    int columns = sampled_code_draw_cut(canvas, area, at, at_row, room, role, instruction->text);
    print_chain(kernel, instruction->place, &chain);
    if (columns + canvas_text_columns(text_string(&chain)) <= room)
        canvas_text(canvas, area, at + columns, at_row, ROLE_COMMENT, text_string(&chain));
    if (is_own) canvas_glyph(canvas, area, 0, at_row, ROLE_CURRENT, '>');
    text_done(&chain);
}

static void draw_row(const SassPage *listing, const SassRow *row, Canvas *canvas, Rectangle area,
                     int at_row) {
    const SassColumns *c = &listing->columns;
    int at = 1 + c->at + c->executed + c->lanes + c->off + c->samples + c->bar + 1;
    bool is_current = row->line == listing->code.current;
    Text text = {0};
    if (is_current) canvas_glyph(canvas, area, 0, at_row, ROLE_CURRENT, row->kind == ROW_LINE ? '>' : 0x2502);
    switch (row->kind) {
    case ROW_LINE:
        print_line(listing, row->line, &text);
        at = draw_numbers(listing, &row->line->sums, false, canvas, area, at_row, ROLE_TITLE);
        sampled_code_draw_cut(canvas, area, at, at_row, area.columns - at, ROLE_TITLE, text_string(&text));
        break;
    case ROW_REASON:
        text_add(&text, "* ");
        sampled_code_explain(&listing->code, &listing->code.sass.compared->differences[row->index], &text);
        sampled_code_draw_cut(canvas, area, 2, at_row, area.columns - 2, ROLE_COMMENT, text_string(&text));
        break;
    case ROW_LABEL:
        text_print(&text, "%s:", listing->code.sass.kernel->instructions[row->index].label);
        canvas_text(canvas, area, at, at_row, ROLE_DIM, text_string(&text));
        break;
    case ROW_INSTRUCTION:
        draw_instruction(listing, row, canvas, area, at_row);
    }
    text_done(&text);
}

/* ---- the pane ------------------------------------------------------------------------------------------ */

/* The row of column heads, and the row of origin if the title has no room for it. */
typedef struct SassParts {
    bool has_heads, has_origin;
} SassParts;

/* Where, when and at which sizes the numbers were measured; false: not all of it fits in the pane's top
 * line. */
static bool print_note(const SampledCode *code, int columns, char out[NOTE_BYTES]) {
    char origin[ORIGIN_BYTES], sizes[ORIGIN_BYTES];
    sampled_code_print_origin(code, origin);
    sampled_code_print_sizes(code, sizes);
    snprintf(out, NOTE_BYTES, tr("%s; %s"), origin, sizes);
    if ((int)strlen("sass") + canvas_text_columns(out) + AROUND_COLUMNS <= columns) return true;
    snprintf(out, NOTE_BYTES, "%s", origin);
    return false;
}

static SassParts parts_of(const SampledCode *code, Rectangle area) {
    char note[NOTE_BYTES];
    return (SassParts){.has_heads = area.rows >= 4,
                       .has_origin = area.rows >= LEAST_ROWS && !print_note(code, area.columns, note)};
}

static void head(const StepContext *context, PaneHead *out) {
    SampledCode code;
    char note[NOTE_BYTES];
    pane_title(out, "sass");
    if (sampled_code_open_assembled(context, &code)) {
        print_note(&code, out->columns, note);
        pane_note(out, "%.*s", (int)sizeof out->note - 1, note);
    }
    sampled_code_done(&code);
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    SassPage listing;
    char text[MISSING_BYTES];
    if (!listing_open(&listing, context, area.columns)) {
        sampled_code_print_missing(&listing.code, text);
        canvas_paragraph(canvas, area, 0, ROLE_DIM, text);
        return;
    }
    SassParts parts = parts_of(&listing.code, area);
    Rectangle body = {area.column, area.row + parts.has_heads, area.columns,
                      area.rows - parts.has_heads - parts.has_origin};
    if (parts.has_heads) draw_heads(&listing.columns, canvas, area);
    int first = first_row(&listing, body.rows);
    for (int i = 0; i < body.rows && first + i < listing.count; i++)
        draw_row(&listing, &listing.rows[first + i], canvas, body, i);
    if (parts.has_origin) {
        sampled_code_print_sizes(&listing.code, text);
        sampled_code_draw_cut(canvas, area, 0, area.rows - 1, area.columns, ROLE_DIM, text);
    }
    listing_done(&listing);
}

/* Goes to the next step of the clicked line. */
static ViewAnswer click(const StepContext *context, Rectangle area, int column, int row, View *view) {
    SassPage listing;
    int step = -1;
    (void)column;
    if (!listing_open(&listing, context, area.columns)) return VIEW_IGNORED;
    SassParts parts = parts_of(&listing.code, area);
    int rows = area.rows - parts.has_heads - parts.has_origin, in_body = row - parts.has_heads;
    int at = first_row(&listing, rows) + in_body;
    const SassLine *line =
        in_body >= 0 && in_body < rows && at < listing.count ? listing.rows[at].line : NULL;
    if (line && line->file) step = step_context_next_step_of(context, line->file, line->line);
    listing_done(&listing);
    if (step < 0) return VIEW_IGNORED;
    view_jump_to_step(view, context->scene, step);
    return VIEW_CHANGED;
}

const Pane pane_sass = {
    .slot = SLOT_SOURCE, .tells = HIDES_ALL & ~HIDES_HERE, .head = head, .draw = draw, .click = click};
