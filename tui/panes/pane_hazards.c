/* The hazards pane: errors, then slow places; the selected one with its accesses, the reason and the advice.
 * f and F step through them and go to where they happen. */
#include "tui/panes/pane.h"

#include "base/language.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    ROWS_FOR_A_LIST = 7,
    KIND_COLUMNS = 17,
    SLOW_ROWS = 1 /* the line between errors and slow findings */
};

static void head(const StepContext *context, PaneHead *out) {
    const Findings *hazards = context->scene->borrowed.hazards;
    pane_title(out, tr("findings"));
    if (!hazards) return;
    int slow = findings_count(hazards, SEVERITY_SLOW), notes = findings_count(hazards, SEVERITY_NOTE);
    if (hazards->error_count) {
        pane_title(out, "hazards  %d", hazards->error_count);
        out->note_role = ROLE_CONFLICT;
    } else if (slow) {
        int selected = context->view->selection.hazard;
        if (selected <= slow) /* the pane may not have room for all of them */
            pane_title(out, tr("slow place %d of %d"), selected ? selected : 1, slow);
        else
            pane_title(out, tr("slow places  %d"), slow);
        slow = 0;
    }
    if (slow) pane_note(out, tr("%d slow"), slow);
    if (notes) {
        size_t used = strlen(out->note);
        pane_add_note(out, tr("%s%d note%s"), used ? tr(", ") : "", notes, notes == 1 ? "" : "s");
    }
}

/* ---- the list ------------------------------------------------------------------------------------------ */

static void draw_item(const Findings *hazards, int index, bool selected, Canvas *canvas, Rectangle area,
                      int row) {
    const Finding *hazard = &hazards->items[index];
    Role role = selected ? ROLE_CURRENT : ROLE_TEXT;
    char kind[40], cost[24], ideal[24], text[96];
    /* "out of bounds" of "out_of_bounds". */
    char *out = kind;
    snprintf(out, sizeof kind, "%s", tr(hazard->kind_text));
    for (; *out; out++)
        if (*out == '_') *out = ' ';
    int at = canvas_print(canvas, area, 0, row, role, "%c%2d ", selected ? '>' : ' ',
                          finding_number(hazards, index));
    canvas_text(canvas, area, at, row, hazard->severity != SEVERITY_ERROR ? role : ROLE_CONFLICT, kind);
    at += KIND_COLUMNS + 2;
    if (hazard->access.line) canvas_print(canvas, area, at, row, role, tr("line %d"), hazard->access.line);
    at += 11;
    if (hazard->what) at += 2 + canvas_text(canvas, area, at, row, role, hazard->what);
    if (hazard->severity == SEVERITY_ERROR || !hazard->cost) return;
    bool is_long = area.columns - at < 2 + canvas_text_columns(tr(", ideal "));
    const char *unit = finding_unit(hazard->kind);
    for (int form = unit ? 0 : 1; form < 3 && !is_long; form++) { /* with the unit; without; 37.0 M */
        if (form == 2)
            step_context_print_short(hazard->cost, cost, sizeof cost);
        else
            step_context_print_count(hazard->cost, cost, sizeof cost);
        if (form == 2)
            step_context_print_short(hazard->ideal, ideal, sizeof ideal);
        else
            step_context_print_count(hazard->ideal, ideal, sizeof ideal);
        if (form)
            snprintf(text, sizeof text, tr("%s, ideal %s"), cost, ideal);
        else
            snprintf(text, sizeof text, tr("%s %s, ideal %s"), cost, tr(unit), ideal);
        if (canvas_text_columns(text) > area.columns - at) continue;
        canvas_text(canvas, area, at, row, ROLE_DIM, text);
        return;
    }
}

/* As many findings as fit into `rows`, around the selected one. Returns the rows used. */
static int draw_list(const Findings *hazards, int selected, Canvas *canvas, Rectangle area, int rows) {
    bool both = hazards->error_count && hazards->error_count < hazards->count;
    int all = hazards->count + (both ? SLOW_ROWS : 0);
    int line = selected + (both && selected >= hazards->error_count ? SLOW_ROWS : 0);
    int first = canvas_first_shown(line, rows, all);
    int row = 0;
    for (; row < rows && first + row < all; row++) {
        int index = first + row;
        if (both && index == hazards->error_count) {
            if (row + 1 == rows) break; /* a title with nothing below it */
            canvas_text(canvas, area, 0, row, ROLE_DIM,
                        findings_count(hazards, SEVERITY_SLOW) ? tr("beyond the ideal (counts, not times):")
                                                               : tr("notes:"));
            continue;
        }
        if (both && index > hazards->error_count) index -= SLOW_ROWS;
        draw_item(hazards, index, index == selected, canvas, area, row);
    }
    return row;
}

/* ---- the selected finding ------------------------------------------------------------------------------ */

static void print_access(const StepContext *context, const Finding *hazard, const FindingAccess *access,
                         Text *out) {
    char text[96];
    if (access->line) text_print(out, tr("line %d, "), access->line);
    text_print(out, "block %" PRIu64, access->linear_block);
    if (access->warp >= 0) text_print(out, tr(", warp %d"), access->warp);
    if (access->lanes) {
        step_context_describe_lanes(access->lanes, text, sizeof text);
        text_print(out, tr(", %s"), text);
    }
    if (access->lane < 0 || access->buffer < 0 || (!access->has_value && !hazard->what)) return;
    text_print(out, tr(": lane %d %s"), access->lane,
               access->is_atomic  ? tr("updates")
               : access->is_store ? tr("stores")
                                  : tr("loads"));
    if (access->has_value) {
        step_context_print_typed(context, access->type, access->value, text, sizeof text);
        text_print(out, " %s", text);
    }
    if (hazard->what)
        text_print(out, "%s %s",
                   access->is_atomic  ? ""
                   : access->is_store ? tr(" to")
                                      : tr(" from"),
                   hazard->what);
}

static int draw_access(const StepContext *context, const Finding *hazard, bool other, Canvas *canvas,
                       Rectangle area, int row) {
    const FindingAccess *access = other ? &hazard->other : &hazard->access;
    bool comparison = hazard->other.pc >= 0,
         here = context->view->selection.hazard && context->view->selection.hazard_other == other;
    Text text = {0};
    if (access->pc < 0) return 0;
    text_print(&text, "%s%s", here ? "> " : "  ", !comparison ? "" : other ? tr("first: ") : tr("then: "));
    print_access(context, hazard, access, &text);
    int rows = canvas_paragraph(canvas, area, row, here ? ROLE_CURRENT : ROLE_TEXT, text_string(&text));
    text_done(&text);
    return rows;
}

static void draw_selected(const StepContext *context, const Finding *hazard, Canvas *canvas, Rectangle area,
                          int row) {
    Text text = {0};
    text_add(&text, hazard->sentence);
    if (hazard->severity == SEVERITY_SLOW) finding_print_samples(hazard, &text);
    finding_print_remedies(hazard, &text);
    row += canvas_paragraph(canvas, area, row, ROLE_TEXT, text_string(&text));
    text_clear(&text);
    row += draw_access(context, hazard, true, canvas, area, row);
    row += draw_access(context, hazard, false, canvas, area, row);
    bool is_cut = hazard->advice && row >= area.rows;
    if (hazard->advice) {
        text_print(&text, tr("What to do: %s."), hazard->advice);
        row += canvas_paragraph(canvas, area, row, ROLE_GOOD, text_string(&text));
    }
    if (finding_has_count(hazard)) {
        text_clear(&text);
        finding_print_count(hazard, &text);
        if (*text.data == 'i') *text.data = 'I';
        canvas_print(canvas, area, 0, row++, ROLE_DIM, "%s", text_string(&text));
    }
    if ((is_cut || row > area.rows) && area.rows > 1) {
        canvas_fill(canvas, (Rectangle){area.column, area.row + area.rows - 1, area.columns, 1}, ROLE_TEXT);
        canvas_text(canvas, area, 0, area.rows - 1, ROLE_DIM,
                    hazard->remedies ? tr("z shows what to do, I tries a remedy") : tr("z shows what to do"));
    }
    text_done(&text);
}

/* ---- the pane ------------------------------------------------------------------------------------------ */

static bool is_empty(const StepContext *context) {
    const Findings *hazards = context->scene->borrowed.hazards;
    return !hazards || !hazards->count;
}

void hazards_pane_print_none(const Scene *scene, Text *out) {
    const Findings *hazards = scene->borrowed.hazards;
    const char *note = scene->borrowed.hazards_note;
    if (!hazards) {
        text_add(out, note ? note : tr("hazards are not known"));
        return;
    }
    if (!note && !hazards->is_complete) {
        text_add(out, tr("None up to where the run ended: G goes there."));
        return;
    }
    bool has_below = hazards->below != NULL;
    text_print(out, tr("%s excess wavefronts, no divergence"), note ? tr("No") : tr("No hazard, no"));
    if (has_below) text_print(out, tr(" above %d %%"), FINDINGS_LEAST_PERCENT);
    text_add(out, tr(": c compares"));
    if (note) text_print(out, tr("; %s"), note);
}

/* One line: the finding, and what to do. */
static void draw_empty(const StepContext *context, Canvas *canvas, Rectangle area) {
    const Findings *hazards = context->scene->borrowed.hazards;
    const char *note = context->scene->borrowed.hazards_note;
    Rectangle line = {area.column, area.row, area.columns, 1};
    Text text = {0};
    if (hazards)
        hazards_pane_print_none(context->scene, &text);
    else if (context->scene->outcome.counting)
        text_add(&text, note ? note : tr("searching ..."));
    else
        text_print(&text, tr("redviz --check searches%s%s"), note ? tr("; ") : "", note ? note : "");
    canvas_paragraph(canvas, line, 0, hazards ? ROLE_TEXT : ROLE_DIM, text_string(&text));
    text_done(&text);
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    const Findings *hazards = context->scene->borrowed.hazards;
    int selected = context->view->selection.hazard ? context->view->selection.hazard - 1 : 0, rows = 1;
    if (is_empty(context)) {
        draw_empty(context, canvas, area);
        return;
    }
    if (selected >= hazards->count) selected = hazards->count - 1;
    if (area.rows >= ROWS_FOR_A_LIST) rows = area.rows / 3;
    rows = draw_list(hazards, selected, canvas, area, rows);
    if (area.rows >= 2 * ROWS_FOR_A_LIST) rows++; /* an empty line */
    draw_selected(context, &hazards->items[selected], canvas, area, rows);
}

const Pane pane_hazards = {
    .slot = SLOT_SIDE, .tells = HIDES_ALL & ~HIDES_HERE, .is_empty = is_empty, .head = head, .draw = draw};
