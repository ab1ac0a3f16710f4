/* Branches: the paths of the warp, a letter for each: which lanes are on it, the source lines and the warp
 * instructions that it executes, which path runs and which waits, where they join, and the issue slots that
 * all of them take. */
#include "ptx/opcodes.h"
#include "tui/panes/pane.h"

#include "base/language.h"
#include "tui/panes/ruler.h"
#include <inttypes.h>
#include <stdio.h>

enum {
    LABEL_COLUMNS = 16,
    NARROW_LABEL_COLUMNS = 13,
    NARROW_COLUMNS = 60,
    NOTE_COLUMNS = 43,
    LINES_COLUMNS = 13,
    COUNT_COLUMNS = 22,
    MOST_BAR_COLUMNS = 24
};

/* Half of a screen of 120 columns has room for the lanes and their number. */
static int label_columns(Rectangle area) {
    return area.columns < NARROW_COLUMNS ? NARROW_LABEL_COLUMNS : LABEL_COLUMNS;
}

/* The split of the event shown: that of its branch, else the one around it; -1: none. */
static int split_shown(const StepContext *context) {
    const Paths *paths = scene_paths(context->scene, context->view->place.block);
    if (context->event_number < 0) return -1;
    int split = paths->split_at[context->event_number], path = paths->of_event[context->event_number];
    return split >= 0 ? split : path >= 0 ? paths->paths[path].split : -1;
}

/* The row that runs; -1: the warp is at the branch. */
static int row_running(const StepContext *context, const BranchRows *rows) {
    const Paths *paths = scene_paths(context->scene, context->view->place.block);
    if (paths->split_at[context->event_number] == rows->split) return -1;
    return branch_rows_find(paths, rows, paths->of_event[context->event_number]);
}

/* The line without the blanks around it; "" if the source is not there. */
static void print_source(const StepContext *context, const PtxCode *code, char *out, size_t bytes) {
    const PtxSourceLine *line = code ? &code->line : NULL;
    const char *text =
        line && line->line && line->file ? scene_source_line(context->scene, line->file, line->line) : NULL;
    snprintf(out, bytes, "%s", text ? text + strspn(text, " \t") : "");
    out[strcspn(out, "\r\n")] = 0;
}

static const PtxCode *code_of_split(const StepContext *context, const BranchRows *rows) {
    const Paths *paths = scene_paths(context->scene, context->view->place.block);
    return scene_code(context->scene, context->view->place.block, paths->splits[rows->split].pc);
}

static void head(const StepContext *context, PaneHead *out) {
    char source[96];
    BranchRows rows;
    Text note = {0};
    bool is_split =
        scene_branch_rows(context->scene, context->view->place.block, split_shown(context), &rows);
    const PtxCode *code = is_split ? code_of_split(context, &rows) : context->code;
    text_print(&note, "w%d", context->event.warp);
    if (is_split) text_add(&note, ": ");
    if (is_split)
        branch_rows_print(&rows, &note);
    else
        text_print(&note, tr(" does not split%s"),
                   context->step_index->step[context->view->place.step].diverges ? tr(", another warp does")
                                                                                 : "");
    pane_note(out, "%s", text_string(&note));
    out->note_role = is_split ? ROLE_WARNING : ROLE_DIM;
    pane_title(out, tr("branch"));
    if (code && code->line.line) pane_add_title(out, tr("  line %d"), code->line.line);
    print_source(context, code, source, sizeof source); /* where there is room for all of it */
    int room = out->columns - canvas_text_columns(out->note) - (int)strlen(out->title);
    if (*source && code && code->line.line && canvas_text_columns(source) + 8 <= room)
        pane_add_title(out, ": %s", source);
    text_done(&note);
}

/* ---- a split ------------------------------------------------------------------------------------------- */

static void draw_letters(const StepContext *context, Canvas *canvas, Rectangle area, int row,
                         const Ruler *ruler, const BranchRows *rows, int index, bool is_dim) {
    uint32_t lanes = rows->rows[index].lanes,
             exists = step_context_existing_lanes(context, context->event.warp);
    ruler_draw_absent(ruler, canvas, area, row, exists);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        int column = ruler_column(ruler, lane);
        if (!(exists >> lane & 1)) continue;
        bool in = lanes >> lane & 1;
        canvas_glyph(canvas, area, column, row, in && !is_dim ? path_role(rows, index) : ROLE_IDLE,
                     in ? (uint32_t)branch_letter(rows, index) : 0xB7);
        if (lane == context->view->selection.lane) canvas_reverse(canvas, area, column, row, 1);
    }
}

static void print_lines(const BranchRow *row, char *out, size_t bytes) {
    if (!row->lines.first && row->shared_line)
        snprintf(out, bytes, tr("shares line %d"), row->shared_line);
    else if (!row->lines.first)
        snprintf(out, bytes, "%s", row->instructions ? "" : tr("nothing"));
    else if (row->lines.first == row->lines.last)
        snprintf(out, bytes, tr("line %d"), row->lines.first);
    else
        snprintf(out, bytes, tr("lines %d-%d"), row->lines.first, row->lines.last);
}

static void draw_count(const BranchRows *rows, int index, Canvas *canvas, Rectangle area, int row, int at) {
    const BranchRow *shown = &rows->rows[index];
    uint64_t most = 1;
    for (int i = 0; i < rows->count; i++)
        if (rows->rows[i].instructions > most) most = rows->rows[i].instructions;
    char count[32];
    step_context_print_count(shown->instructions, count, sizeof count);
    int room = area.columns - at - COUNT_COLUMNS - 2;
    bool is_narrow = room < 4;
    if (is_narrow) room = area.columns - at - (int)strlen(count) - 2;
    if (room > MOST_BAR_COLUMNS) room = MOST_BAR_COLUMNS;
    int columns = room > 0 ? (int)((shown->instructions * (uint64_t)room + most - 1) / most) : 0;
    canvas_row(canvas, area, at, row, columns, path_role(rows, index), 0x2588);
    canvas_print(canvas, area, at + (room > 0 ? room + 1 : 0), row, ROLE_TEXT, "%s%s", count,
                 is_narrow                  ? ""
                 : shown->instructions == 1 ? tr(" warp instruction")
                                            : tr(" warp instructions"));
}

static void draw_row(const StepContext *context, Canvas *canvas, Rectangle area, int row, const Ruler *ruler,
                     const BranchRows *rows, int index, int running) {
    const BranchRow *shown = &rows->rows[index];
    char text[32];
    int count = __builtin_popcount(shown->lanes), at = ruler_column(ruler, WARP_LANES - 1) + 2;
    bool is_dim = running >= 0 && running != index;
    canvas_glyph(canvas, area, 1, row, path_role(rows, index), (uint32_t)branch_letter(rows, index));
    canvas_print(canvas, (Rectangle){area.column, area.row, label_columns(area) - 1, area.rows}, 3, row,
                 running == index ? ROLE_CURRENT : ROLE_TEXT, "%.12s", branch_label(shown));
    draw_letters(context, canvas, area, row, ruler, rows, index, is_dim);
    canvas_print(canvas, area, at, row, ROLE_TEXT, tr("%2d lane%s"), count, count == 1 ? "" : "s");
    print_lines(shown, text, sizeof text);
    canvas_text(canvas, area, at + 10, row, ROLE_TEXT, text);
    if (shown->instructions) draw_count(rows, index, canvas, area, row, at + 10 + LINES_COLUMNS);
}

/* "; they join at line 24", in `room` columns. */
static void print_join(const StepContext *context, const BranchRows *rows, int room, char *out,
                       size_t bytes) {
    const Paths *paths = scene_paths(context->scene, context->view->place.block);
    const PathSplit *split = &paths->splits[rows->split];
    TraceEvent join;
    if (split->join_event < 0) {
        snprintf(out, bytes, tr("; they do not join before they end"));
        return;
    }
    trace_block_read_header(context->steps->block, split->join_event, &join);
    const PtxCode *code = scene_code(context->scene, context->view->place.block, join.pc);
    if (code && code->line.line)
        snprintf(out, bytes, tr("; they join at line %d"), code->line.line);
    else if (code)
        snprintf(out, bytes, tr("; they join at line %d of the PTX"), code->instruction->line);
    else
        *out = 0;
    if (code && code->line.line && canvas_text_columns(out) > room)
        snprintf(out, bytes, tr("; join at line %d"), code->line.line);
}

/* "A runs, B waits; they join at line 24" */
static void draw_now(const StepContext *context, Canvas *canvas, Rectangle area, int row,
                     const BranchRows *rows, int running) {
    char join[64];
    int at = 3 + canvas_text(canvas, area, 1, row, ROLE_DIM, tr("now"));
    if (running < 0) {
        at += canvas_print(canvas, area, at, row, ROLE_TEXT, tr("the warp splits: %c runs first"),
                           branch_letter(rows, 0));
    } else {
        at += canvas_print(canvas, area, at, row, path_role(rows, running), tr("%c runs"),
                           branch_letter(rows, running));
        for (int i = 0, others = 0; i < rows->count; i++)
            if (i != running)
                at += canvas_print(canvas, area, at, row, ROLE_TEXT, others++ ? " %c" : tr(", %c"),
                                   branch_letter(rows, i));
        at += canvas_text(canvas, area, at, row, ROLE_TEXT, rows->count > 2 ? tr(" wait") : tr(" waits"));
    }
    print_join(context, rows, area.columns - at, join, sizeof join);
    canvas_text(canvas, area, at, row, ROLE_TEXT, join);
}

/* ": A 3 + C 1 + 6 that they share" */
static void print_parts(const BranchRows *rows, Text *out) {
    char count[32];
    uint64_t of_paths = 0;
    const char *gap = tr(": ");
    for (int i = 0; i < rows->count; i++) {
        if (!rows->rows[i].instructions) continue;
        step_context_print_count(rows->rows[i].instructions, count, sizeof count);
        text_print(out, "%s%c %s", gap, branch_letter(rows, i), count);
        gap = " + ";
        of_paths += rows->rows[i].instructions;
    }
    if (rows->issued <= of_paths) return;
    step_context_print_count(rows->issued - of_paths, count, sizeof count);
    text_print(out, tr(" + %s that they share"), count);
}

/* What all paths took, and what one of them alone would take. */
static void draw_cost(Canvas *canvas, Rectangle area, int row, const BranchRows *rows) {
    int longest = 0, busy = 0;
    char all[32], alone[32];
    for (int i = 0; i < rows->count; i++) {
        busy += rows->rows[i].instructions > 0;
        if (rows->rows[i].alone > rows->rows[longest].alone) longest = i;
    }
    step_context_print_count(rows->issued, all, sizeof all);
    step_context_print_count(rows->rows[longest].alone, alone, sizeof alone);
    const char *least = rows->is_counted ? "" : tr("at least ");
    int at = 2 + canvas_text(canvas, area, 1, row, ROLE_DIM, tr("cost"));
    Text parts = {0}, text = {0};
    if (busy > 1) print_parts(rows, &parts);
    if (busy > 1)
        text_print(&text, tr("%s%s issue slots (PTX)%s; %c alone takes %s"), least, all, text_string(&parts),
                   branch_letter(rows, longest), alone);
    else if (busy)
        text_print(&text, tr("%s%s issue slot%s (PTX), with %d of %d lanes on the path"), least, all,
                   rows->issued == 1 ? "" : "s", __builtin_popcount(rows->rows[longest].lanes), WARP_LANES);
    else
        text_add(&text, tr("none: the paths have no instruction of their own"));
    canvas_paragraph(canvas, (Rectangle){area.column + at, area.row, area.columns - at, area.rows}, row,
                     ROLE_TEXT, text_string(&text));
    text_done(&text);
    text_done(&parts);
}

/* Each path has a row of lanes and one below. */
static bool is_large(const StepContext *context, Rectangle area, const BranchRows *rows) {
    return pane_is_large(context->view) && area.rows >= 3 + 2 * rows->count;
}

/* Below the path's lanes, what it executes: how much, and the source lines that have room. */
static void draw_path_lines(const StepContext *context, Canvas *canvas, Rectangle area, int row,
                            const BranchRows *rows, int index, int room) {
    const BranchRow *shown = &rows->rows[index];
    const PtxCode *code = code_of_split(context, rows);
    char text[32];
    int count = __builtin_popcount(shown->lanes), at = LABEL_COLUMNS;
    canvas_print(canvas, area, at, row, ROLE_TEXT, tr("%2d lane%s"), count, count == 1 ? "" : "s");
    print_lines(shown, text, sizeof text);
    canvas_text(canvas, area, at + 10, row, ROLE_TEXT, text);
    if (shown->instructions) draw_count(rows, index, canvas, area, row, at + 10 + LINES_COLUMNS);
    if (!shown->lines.first || !code || !code->line.file) return;
    for (int line = shown->lines.first; line <= shown->lines.last && --room > 0; line++) {
        const char *source = scene_source_line(context->scene, code->line.file, line);
        canvas_print(canvas, area, LABEL_COLUMNS - 5, ++row, ROLE_DIM, "%4d", line);
        canvas_text(canvas, area, LABEL_COLUMNS, row, ROLE_TEXT, source ? source : "");
    }
}

/* A path in large cells: blocks of its colour with its letter. Uses at most `room` rows; returns how many. */
static int draw_large_row(const StepContext *context, Canvas *canvas, Rectangle area, int row,
                          const Ruler *ruler, const BranchRows *rows, int index, int room) {
    enum { LEAST_TALL = 2, MOST_TALL = 5 };
    const BranchRow *shown = &rows->rows[index];
    int lines = shown->lines.first ? shown->lines.last - shown->lines.first + 2 : 1;
    int running = row_running(context, rows), tall = room - lines - 1;
    tall = room <= LEAST_TALL ? 1 : canvas_clamp(tall, LEAST_TALL, MOST_TALL);
    int used = tall;
    bool is_dim = running >= 0 && running != index;
    canvas_glyph(canvas, area, 1, row, path_role(rows, index), (uint32_t)branch_letter(rows, index));
    canvas_print(canvas, area, 3, row, running == index ? ROLE_CURRENT : ROLE_TEXT, "%.12s",
                 branch_label(shown));
    draw_letters(context, canvas, area, row, ruler, rows, index, is_dim);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        int columns = ruler->width > 1 ? ruler->width - 1 : 1;
        Rectangle tile = {area.column + ruler_column(ruler, lane) - (columns > 1), area.row + row, columns,
                          tall};
        if (shown->lanes >> lane & 1) canvas_tile(canvas, tile, is_dim ? ROLE_DIM : path_role(rows, index));
    }
    if (room <= tall) return used;
    draw_path_lines(context, canvas, area, row + used, rows, index, room - used);
    used += lines < room - used ? lines : room - used;
    return used < room ? used + 1 : used;
}

static void draw_split(const StepContext *context, Canvas *canvas, Rectangle area, const BranchRows *rows) {
    if (is_large(context, area, rows)) {
        Ruler ruler = ruler_make(area, label_columns(area), 1);
        int row = 0, each = (area.rows - 3) / rows->count;
        ruler_draw(&ruler, canvas, area, row++, context->view->selection.lane);
        for (int i = 0; i < rows->count && (row + each <= area.rows - 2 || i == 0); i++)
            row += draw_large_row(context, canvas, area, row, &ruler, rows, i, each);
        draw_now(context, canvas, area, row++, rows, row_running(context, rows));
        draw_cost(canvas, area, row, rows);
        return;
    }
    Ruler ruler = ruler_make(area, label_columns(area), NOTE_COLUMNS);
    int row = 0, running = row_running(context, rows), room = area.rows - 3;
    ruler_draw(&ruler, canvas, area, row++, context->view->selection.lane);
    for (int i = 0; i < rows->count && (i < room || i == 0); i++)
        draw_row(context, canvas, area, row++, &ruler, rows, i, running);
    draw_now(context, canvas, area, row++, rows, running);
    draw_cost(canvas, area, row, rows);
}

/* ---- no split ------------------------------------------------------------------------------------------ */

/* The first line of a way below the branch, past jumps; 0: it goes to the join. */
static int line_of_way(const StepContext *context, int pc) {
    const PtxProgram *program = context->launch->program;
    int join = context->code->reconvergence, own = context->code->line.line;
    for (int left = program->code_count; left > 0 && pc >= 0 && pc < program->code_count; left--) {
        const PtxCode *code = &program->code[pc];
        bool jumps =
            code->instruction->opcode == PTX_bra && code->instruction->guard.kind == PTX_OPERAND_NONE;
        if (pc == join) return 0;
        /* `.loc 1 0 0`: what the compiler made, which has the line of the text before it */
        const PtxFunction *function = program->functions[code->function].function;
        int loc = code->instruction->loc;
        bool is_made = loc < 0 || loc >= function->loc_count || !function->locs[loc].line;
        if (!jumps && !is_made && code->line.line > own) return code->line.line;
        pc = jumps ? code->target : pc + 1;
    }
    return 0;
}

/* Where all lanes go, in words of an `if` whose ways begin below it; else in PTX's. */
static const char *way_of(const StepContext *context) {
    char source[96];
    const PtxCode *code = context->code;
    bool taken = context->event.taken != 0;
    if (!code || !code->line.line || !context->launch->program->function_count)
        return taken ? tr("jump") : tr("fall through");
    print_source(context, code, source, sizeof source);
    int here = line_of_way(context, taken ? code->target : context->event.pc + 1),
        other = line_of_way(context, taken ? context->event.pc + 1 : code->target);
    bool is_if = !strncmp(source, "if", 2) && (here > code->line.line || other > code->line.line) &&
                 (!here || here > code->line.line) && (!other || other > code->line.line);
    if (!is_if) return taken ? tr("jump") : tr("fall through");
    return !here ? tr("skip") : !other || here < other ? tr("enter") : tr("else");
}

static void draw_together(const StepContext *context, Canvas *canvas, Rectangle area) {
    const TraceEvent *event = &context->event;
    Ruler ruler = ruler_make(area, label_columns(area), NOTE_COLUMNS);
    int splitting = 0, count = __builtin_popcount(event->mask);
    ruler_draw(&ruler, canvas, area, 0, context->view->selection.lane);
    canvas_text(canvas, area, 1, 1, ROLE_TEXT, way_of(context));
    ruler_draw_absent(&ruler, canvas, area, 1, step_context_existing_lanes(context, event->warp));
    ruler_draw_mask(&ruler, canvas, area, 1, ROLE_ACTIVE, event->mask,
                    step_context_existing_lanes(context, event->warp), context->view->selection.lane);
    canvas_print(canvas, area, ruler_column(&ruler, WARP_LANES - 1) + 2, 1, ROLE_TEXT, tr("%2d lane%s"),
                 count, count == 1 ? "" : "s");
    for (int i = 0; i < context->step->count; i++) {
        TraceEvent other;
        trace_block_read_header(context->steps->block, context->steps->events[context->step->first + i],
                                &other);
        splitting += other.taken && other.taken != other.mask;
    }
    char text[160];
    snprintf(text, sizeof text, tr("All these lanes go the same way; %d of %d warps here split."), splitting,
             context->step->count);
    canvas_paragraph(canvas, (Rectangle){area.column + 1, area.row, area.columns - 1, area.rows}, 3,
                     splitting ? ROLE_WARNING : ROLE_TEXT, text);
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    BranchRows rows;
    if (scene_branch_rows(context->scene, context->view->place.block, split_shown(context), &rows))
        draw_split(context, canvas, area, &rows);
    else
        draw_together(context, canvas, area);
}

static ViewAnswer click(const StepContext *context, Rectangle area, int column, int row, View *view) {
    BranchRows rows;
    (void)row;
    bool is_split =
        scene_branch_rows(context->scene, context->view->place.block, split_shown(context), &rows);
    int note = is_split && is_large(context, area, &rows) ? 1 : NOTE_COLUMNS;
    return ruler_select(ruler_make(area, label_columns(area), note), column, view);
}

const Pane pane_branch = {.slot = SLOT_PICTURE,
                          .tells = HIDES_LANES,
                          .kinds = 1u << TRACE_BRANCH,
                          .head = head,
                          .draw = draw,
                          .click = click};

/* ---- signs of paths ------------------------------------------------------------------------------------ */

Role path_role(const BranchRows *rows, int row) {
    return (Role)(ROLE_PATH_A + (rows->first_letter + row) % PATH_ROLES);
}

bool path_rows_of(const StepContext *context, BranchRows *out) {
    return scene_branch_rows(context->scene, context->view->place.block, split_shown(context), out);
}

void path_signs_of(const StepContext *context, int event, PathSigns *out) {
    int block = context->view->place.block;
    const Paths *paths = scene_paths(context->scene, block);
    *out = (PathSigns){.letter = {0}};
    if (event < 0) return;
    int at = paths->split_at[event], path = paths->of_event[event];
    if (at < 0 && path < 0) return;
    BranchRows rows;
    TraceEvent header;
    branch_rows_of(paths, context->launch->program, at >= 0 ? at : paths->paths[path].split, &rows);
    trace_block_read_header(context->steps->block, event, &header);
    int running = branch_rows_find(paths, &rows, path);
    for (int i = 0; i < rows.count; i++) {
        uint32_t lanes = at >= 0 ? rows.rows[i].lanes & header.mask : i == running ? header.mask : 0;
        for (int lane = 0; lane < WARP_LANES; lane++)
            if (lanes >> lane & 1) {
                out->letter[lane] = branch_letter(&rows, i);
                out->role[lane] = path_role(&rows, i);
            }
    }
}
