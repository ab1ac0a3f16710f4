#include "tui/frame.h"

#include "base/language.h"
#include "base/utf8.h"
#include "tui/scene/headline.h"
#include "tui/view/key_actions.h"
#include "tui/view/launch_view.h"
#include "tui/view/warps_view.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

static uint64_t product(const uint32_t size[3]) {
    return (uint64_t)size[0] * size[1] * size[2];
}

/* Describes the run in as many words as fit into `columns`, always with its source. */
static void print_run(const Scene *scene, const View *view, int columns, char *out, size_t bytes) {
    char n[32], data[96], grid[64] = "", launch[48] = "", launch_short[32] = "";
    step_context_print_count(scene->identity.n, n, sizeof n);
    snprintf(data, sizeof data, "%s%s%s  n %s", scene->identity.dtype, *scene->identity.dtype ? " " : "",
             scene->identity.op, n);
    if (view->place.block < scene->traced.block_count) {
        const TraceLaunch *of = scene_launch(scene, view->place.block);
        snprintf(grid, sizeof grid, "  <<<%" PRIu64 ", %" PRIu64 ">>>", product(of->grid),
                 product(of->block));
        if (scene->traced.trace->launch_count > 1)
            snprintf(launch, sizeof launch, tr("  launch %d of %d"),
                     scene->traced.blocks[view->place.block].launch + 1, scene->traced.trace->launch_count);
    }
    int of_program = launch_view_shown(view, scene);
    if (of_program >= 0) {
        int count = view->display.program->capture->launch_count;
        snprintf(launch, sizeof launch, tr("  launch %d of %d"), of_program + 1, count);
        snprintf(launch_short, sizeof launch_short, "  %d/%d", of_program + 1, count);
    }
    for (int words = 4; words >= 0; words--) {
        snprintf(out, bytes, "%s%s%s   %s   ", words > 2 ? data : "", words > 3 ? grid : "",
                 words > 1   ? launch
                 : words > 0 ? launch_short
                             : "",
                 scene->identity.level);
        if (canvas_text_columns(out) <= columns + (words ? 0 : 2)) return;
    }
    snprintf(out, bytes, " %s  ", scene->identity.level);
}

/* Draws the kernel on the left, with its title if it fits; the run and its verdict on the right. */
static void draw_header(const Scene *scene, const View *view, Canvas *canvas, Rectangle area) {
    static const Role roles[] = {
        [HEADLINE_PLAIN] = ROLE_HEADER, [HEADLINE_GOOD] = ROLE_GOOD, [HEADLINE_WARNING] = ROLE_WARNING};
    enum { LEAST_NAMED = 16 };
    char text[160], right[256], story[256];
    canvas_print(canvas, area, 0, 0, ROLE_HEADER, "%*s", area.columns, "");
    int at = 1 + canvas_print(canvas, area, 1, 0, ROLE_HEADER, "redviz  %s", scene->identity.kernel);
    int room = area.columns - at - 2 - canvas_text_columns(scene->identity.level) - 6;
    Role role = roles[headline_print_verdict(scene, room, text, sizeof text)];
    bool hides = view->transient.hides != 0;
    if (hides) text[0] = 0;
    int text_at = area.columns - canvas_text_columns(text) - 1;
    print_run(scene, view, text_at - at - 3, right, sizeof right);
    int right_at = text_at - canvas_text_columns(right);
    if (!hides && at + 3 + canvas_text_columns(scene->identity.title) + 2 < right_at)
        canvas_print(canvas, area, at + 3, 0, ROLE_HEADER, "%s", scene->identity.title);
    bool cuts_name = right_at <= at && right_at > LEAST_NAMED; /* the source of a run always stands there */
    if (right_at > at || cuts_name) canvas_text(canvas, area, right_at, 0, ROLE_HEADER, right);
    if (cuts_name) canvas_glyph(canvas, area, right_at, 0, ROLE_HEADER, 0x2026);
    if (!hides) canvas_text(canvas, area, text_at, 0, role, text);
    canvas_reverse(canvas, area, 0, 0, area.columns);
    headline_print_story(scene, area.columns - 2, story, sizeof story);
    if (area.rows > 1 && !hides) canvas_text(canvas, area, 1, 1, ROLE_CURRENT, story);
    for (int column = 0; column < area.columns; column++) { /* HEADER is reverse by itself */
        Cell *cell = canvas_cell(canvas, area, column, 0);
        if (cell && cell->role == ROLE_HEADER) cell->reverse = 0;
    }
}

/* The footer is walked for two purposes: to draw it, and to find the key under the mouse. */
typedef struct Footer {
    Canvas *canvas; /* NULL: do not draw */
    bool ascii;
    Rectangle area;
    bool is_dense; /* a low number of columns: only the first key of each hint, one column between hints */
    int sought;    /* the column whose key is wanted; -1: none */
    Key found;
} Footer;

enum { ROOMY_COLUMNS = 160 };

static Key first_key(const char *list) {
    Key key = KEY_NONE_PRESSED;
    keys_read(&list, &key, NULL);
    return key;
}

/* Writes "← → beat" at column `at`; returns its columns. `real`: not only measured. */
static int walk_hint(Footer *footer, int at, const KeyRow *row, bool real) {
    char first[24] = "", second[24] = "";
    keys_show(row->forwards, 0, footer->ascii, first, sizeof first);
    bool two = !footer->is_dense && keys_show(row->backwards, 0, footer->ascii, second, sizeof second);
    bool is_letter = isalpha((unsigned char)first[0]) && !first[1]; /* n N, but ← → as on the keyboard */
    const char *left = two && !is_letter ? second : first, *right = !two ? "" : is_letter ? second : first;
    int right_at = at + canvas_text_columns(left) + 1;
    int name_at = right_at + (two ? canvas_text_columns(right) + 1 : 0);
    int end = name_at + canvas_text_columns(tr(row->name));
    if (real && footer->canvas) {
        canvas_text(footer->canvas, footer->area, at, 0, ROLE_KEY, left);
        canvas_text(footer->canvas, footer->area, right_at, 0, ROLE_KEY, right);
        canvas_text(footer->canvas, footer->area, name_at, 0, ROLE_DIM, tr(row->name));
    }
    if (real && footer->sought >= at && footer->sought < end) {
        bool is_left = footer->sought < right_at, is_right = !is_left && footer->sought < name_at;
        bool backwards = two && (is_letter ? is_right : is_left);
        footer->found = first_key(backwards ? row->backwards : row->forwards);
    }
    return end - at + (footer->is_dense ? 1 : 2);
}

/* Draws the text or the settings being typed, or the message; false: there is none. */
static bool draw_prompt(const Scene *scene, const View *view, Canvas *canvas, Rectangle area) {
    if (view->transient.input == INPUT_SEARCH)
        canvas_print(canvas, area, 1, 0, ROLE_CURRENT,
                     tr("/%s_   Enter: next step that contains it; then n, N: next, previous"),
                     view->selection.search);
    else if (view->transient.input == INPUT_MARK)
        canvas_text(canvas, area, 1, 0, ROLE_CURRENT, tr("mark this step with a letter: a to z"));
    else if (view->transient.input == INPUT_RETURN)
        canvas_text(canvas, area, 1, 0, ROLE_CURRENT,
                    tr("return to a mark: its letter, a to z; or ' to before the last jump"));
    else if (view->transient.input == INPUT_PROGRAM)
        canvas_text(
            canvas, area, 1, 0, ROLE_CURRENT,
            area.columns < 100
                ? tr("this file has a main(): run it?   r: run   Esc: keep the guessed arguments")
                : tr("this file has a main(): run it?   r: compile and run it   Esc: keep this kernel "
                     "with guessed arguments"));
    else if (view->transient.input == INPUT_SETTINGS)
        settings_rows_draw(scene, view, canvas, area);
    else if (view->transient.message[0])
        canvas_text(canvas, area, 1, 0, ROLE_CURRENT, view->transient.message);
    else
        return false;
    return true;
}

/* Hints in the order of keys.def while they fit; help and quit are always included. */
static void walk_footer(const Scene *scene, const View *view, Footer *footer) {
    int at = 1, kept = walk_hint(footer, 0, &key_rows[ACT_HELP], false) +
                       walk_hint(footer, 0, &key_rows[ACT_QUIT], false);
    if (view->transient.number >= 0) {
        char typed[16];
        snprintf(typed, sizeof typed, "%d_ ", view->transient.number);
        if (footer->canvas) canvas_text(footer->canvas, footer->area, at, 0, ROLE_CURRENT, typed);
        at += canvas_text_columns(typed);
    }
    for (int i = 0; view->display.plays_lecture && i < LECTURE_KEY_COUNT; i++) {
        KeyRow row = lecture_key_rows[i];
        if (i == LECTURE_KEY_RETURN) row.name = view->transient.enter ? view->transient.enter : "";
        if (*row.name) at += walk_hint(footer, at, &row, true);
    }
    bool full = false, of_warps = warps_view_has_keys(view, scene);
    for (int i = 0; of_warps && i < WARPS_KEY_COUNT; i++)
        if (*warps_key_rows[i].name) at += walk_hint(footer, at, &warps_key_rows[i], true);
    for (int action = 1; action < ACTION_COUNT; action++) {
        const KeyRow *row = &key_rows[action];
        bool always = action == ACT_HELP || action == ACT_QUIT;
        int direction;
        if (!*row->name ||
            (of_warps && keys_of_warps(first_key(row->forwards), &direction) != WARPS_KEY_COUNT))
            continue;
        full |= at + walk_hint(footer, 0, row, false) + (always ? 0 : kept) > footer->area.columns + 1;
        if (full && !always) continue;
        at += walk_hint(footer, at, row, true);
    }
}

void frame_draw_footer(const Scene *scene, const View *view, Canvas *canvas, Rectangle area) {
    Footer footer = {.canvas = canvas, .ascii = canvas->ascii, .area = area, .sought = -1};
    footer.is_dense = area.columns < ROOMY_COLUMNS;
    if (!draw_prompt(scene, view, canvas, area))
        walk_footer(scene, view, &footer);
    else if (view->transient.hides && view->transient.input == INPUT_COMMANDS)
        canvas_hide_figures(canvas, area);
}

Key frame_footer_key(const Scene *scene, const View *view, int columns, bool ascii, int column) {
    Footer footer = {.ascii = ascii, .area = {0, 0, columns, 1}, .sought = column};
    footer.is_dense = columns < ROOMY_COLUMNS;
    bool has_hints = view->transient.input == INPUT_COMMANDS && !view->transient.message[0];
    if (has_hints && view->transient.overlay == OVERLAY_NONE) walk_footer(scene, view, &footer);
    return footer.found;
}

/* There is no row to spare for a title. */
static bool is_bare(const Pane *pane, const Layout *layout, Rectangle area) {
    int most = pane->slot == SLOT_EXPLANATION ? 2 : pane->slot == SLOT_LANES ? 1 : 0;
    return !layout->boxed && area.rows <= most;
}

/* The area inside canvas_box and canvas_rule. */
static Rectangle inside_of(const Pane *pane, const Layout *layout, Rectangle area) {
    bool boxed = layout->boxed || pane->slot == SLOT_OVERLAY;
    if (is_bare(pane, layout, area))
        return (Rectangle){area.column + 1, area.row, area.columns - 2, area.rows};
    return boxed ? (Rectangle){area.column + 2, area.row + 1, area.columns - 4, area.rows - 2}
                 : (Rectangle){area.column + 1, area.row + 1, area.columns - 2, area.rows - 1};
}

static void draw_box(Canvas *canvas, Rectangle area, Role title_role, const PaneHead *head) {
    canvas_box(canvas, area, title_role, head->title, head->note_role, head->note);
    if (*head->foot && area.rows > 1)
        canvas_print(canvas, (Rectangle){area.column + 2, area.row, area.columns - 4, area.rows}, 0,
                     area.rows - 1, ROLE_TEXT, " %s ", head->foot);
}

/* The pane would tell the answer to an open question. */
static bool is_covered(const Pane *pane, unsigned hides) {
    return (pane->tells & hides) || ((hides & HIDES_HERE) && (pane->tells_here & hides));
}

static void draw_pane(const Pane *pane, const StepContext *context, Canvas *canvas, const Layout *layout,
                      Rectangle area, bool focused) {
    Role title_role = focused ? ROLE_SELECTED : ROLE_TITLE;
    Rectangle inside = inside_of(pane, layout, area);
    PaneHead head = {.note_role = ROLE_DIM, .columns = inside.columns, .rows = inside.rows};
    pane->head(context, &head);
    unsigned hides = context->view->transient.hides;
    bool fills = pane == &pane_ladder || pane == &pane_latency; /* tables of figures */
    if (hides && (pane->slot != SLOT_OVERLAY || fills))
        head.note[0] = head.foot[0] = 0; /* "coalesced" tells it, too */
    utf8_drop_half(head.title);
    utf8_drop_half(head.note);
    if (layout->boxed || pane->slot == SLOT_OVERLAY)
        draw_box(canvas, area, title_role, &head);
    else if (!is_bare(pane, layout, area))
        canvas_rule(canvas, area, title_role, head.title, head.note_role, head.note);
    if (inside.rows <= 0 || inside.columns <= 0) return;
    if (is_covered(pane, hides)) {
        const char *text = tr("covered until you answer");
        int column = (inside.columns - canvas_text_columns(text)) / 2;
        canvas_text(canvas, inside, column > 0 ? column : 0, (inside.rows - 1) / 2, ROLE_DIM, text);
        return;
    }
    pane->draw(context, canvas, inside);
    if (hides && fills) canvas_hide_figures(canvas, inside);
}

/* ---- the visible panes --------------------------------------------------------------------------------- */

typedef struct ShownPane {
    const Pane *pane;
    Rectangle area;
    int focus; /* -1: Tab skips it */
} ShownPane;

enum { MOST_SHOWN = SLOT_COUNT + MOST_SIDES };

typedef struct ShownPanes {
    StepContext context;
    StepContext picture; /* context of the step whose picture is shown */
    View picture_view;
    ShownPane panes[MOST_SHOWN];
    int count;
} ShownPanes;

/* The block shown folds something, so that its reduction can be drawn. */
static bool has_reduction(const Scene *scene, const View *view) {
    if (view->place.block >= scene->traced.block_count) return false;
    Reduction *reduction = scene_reduction(scene, view->place.block);
    return reduction && reduction_is_worth_showing(reduction);
}

LayoutNeeds frame_needs(const Scene *scene, const View *view) {
    if (view->place.block >= scene->traced.block_count) return (LayoutNeeds){0};
    const StepIndex *step_index = scene_step_index(scene, view->place.block);
    const TraceLaunch *launch = scene_launch(scene, view->place.block);
    uint64_t bytes = launch->static_shared_bytes + (uint64_t)launch->dynamic_shared_bytes;
    uint64_t lines = (bytes + BANK_COUNT * BANK_BYTES - 1) / (BANK_COUNT * BANK_BYTES);
    bool conflicts = step_index->conflict_from[0] < step_index->steps->step_count;
    return (LayoutNeeds){.folds = has_reduction(scene, view),
                         .warps = step_index->warp_count,
                         .bank_lines = conflicts && lines < WARP_LANES ? (int)lines
                                       : conflicts                     ? WARP_LANES
                                                                       : 0};
}

static bool has_picture(const StepIndex *index, int step) {
    TraceKind kind = (TraceKind)index->step[step].kind;
    return index->step[step].diverges || trace_kind_is_access(kind) || kind == TRACE_SHUFFLE ||
           kind == TRACE_VOTE || kind == TRACE_REDUX || kind == TRACE_MATRIX;
}

/* The step whose picture is shown. During a level of the reduction, branches and barriers do not replace the
 * picture of its accesses. */
static int picture_step(const StepContext *context) {
    const Scene *scene = context->scene;
    int step = context->view->place.step, block = context->view->place.block;
    if (has_picture(context->step_index, step) || !has_reduction(scene, context->view)) return step;
    if (context->event.kind == TRACE_BRANCH &&
        scene_paths(scene, block)->of_event[context->event_number] >= 0)
        return step; /* the branch that split the warp */
    Reduction *reduction = scene_reduction(scene, block);
    int level = reduction_level_at(reduction, step), first = reduction_level_first(reduction, level);
    int end = reduction_level_first(reduction, level + 1);
    for (int before = step; before >= first; before--)
        if (has_picture(context->step_index, before)) return before;
    for (int after = step; after < end; after++)
        if (has_picture(context->step_index, after)) return after;
    return step;
}

/* The warp shown splits at this step. */
static bool splits(const StepContext *context) {
    if (context->event_number < 0 || !context->step_index->step[context->view->place.step].diverges)
        return false;
    const Paths *paths = scene_paths(context->scene, context->view->place.block);
    return paths->split_at[context->event_number] >= 0;
}

/* A wait that found the phase of its mbarrier incomplete: the run ends there, or polls. */
static bool waits_in_vain(const TraceEvent *event) {
    return event->kind == TRACE_MBARRIER && event->has_result && event->mask &&
           !event->value[0][__builtin_ctz(event->mask)];
}

/* The pane that draws the picture; the reduction has a place of its own if there is room for both,
 * else it gives its place to a branch that splits the warp, and to a wait for an incomplete phase. */
static bool is_picture(const ShownPanes *shown, const Layout *layout, const Pane *pane) {
    const StepContext *context = &shown->context;
    switch (context->view->display.picture) {
    case SHOW_LANE_TREE:
    case SHOW_RESULT_TREE:
        return pane == &pane_tree;
    case SHOW_GRID:
        return pane == &pane_grid;
    case SHOW_WARPS:
        return pane == &pane_warps;
    case SHOW_REDUCTION:
        if (!layout->slots[SLOT_REDUCTION].rows && !splits(context) && !waits_in_vain(&context->event) &&
            has_reduction(context->scene, context->view))
            return pane == &pane_reduction;
        /* fall through */
    default:
        return pane->slot == SLOT_PICTURE && pane->kinds >> shown->picture.event.kind & 1;
    }
}

static void add_shown(ShownPanes *shown, const Pane *pane, Rectangle area, int focus) {
    shown->panes[shown->count++] = (ShownPane){pane, area, focus};
}

/* The enlarged side pane gets the rows that it uses, the side panes after it those that are left. */
static void add_enlarged_sides(ShownPanes *shown, const Layout *layout, Rectangle area) {
    enum { LEAST_ROWS = 6 };
    for (int i = 0; i < MOST_SIDES && area.rows > 0; i++) {
        const Pane *pane = pane_side(shown->context.view->display.side + i);
        /* The rows that the pane uses of this area, with its frame. */
        Canvas *canvas = canvas_new(area.columns, area.rows, false);
        Rectangle whole = {0, 0, area.columns, area.rows}, inside = inside_of(pane, layout, whole);
        int used = inside.rows;
        canvas_clear(canvas);
        pane->draw(&shown->context, canvas, inside);
        for (bool is_blank = true; is_blank && used > 0; used -= is_blank)
            for (int column = 0; column < inside.columns; column++)
                is_blank &= canvas_cell(canvas, inside, column, used - 1)->glyph == ' ';
        canvas_free(canvas);
        int rows = used + area.rows - inside.rows;
        if (area.rows - rows < LEAST_ROWS || i + 1 == MOST_SIDES) rows = area.rows;
        add_shown(shown, pane, (Rectangle){area.column, area.row, area.columns, rows}, i ? -1 : FOCUS_SIDE);
        area.row += rows;
        area.rows -= rows;
    }
}

/* False: there is no step to show. */
static bool list_shown(ShownPanes *shown, const Scene *scene, const View *view, const Layout *layout) {
    static const int focus_of_slot[SLOT_COUNT] = {
        [SLOT_SOURCE] = FOCUS_SOURCE, [SLOT_LANES] = FOCUS_LANES, [SLOT_PICTURE] = FOCUS_PICTURE,
        [SLOT_REDUCTION] = -1,        [SLOT_EXPLANATION] = -1,    [SLOT_TIMELINE] = -1};
    shown->count = 0;
    if (!step_context_init(&shown->context, scene, view)) return false;
    shown->picture_view = *view;
    shown->picture_view.place.step = picture_step(&shown->context);
    if (shown->picture_view.place.step != view->place.step) {
        shown->picture_view.place.wavefront = 0;
        shown->picture_view.transient.phase = 1;
    }
    step_context_init(&shown->picture, scene, &shown->picture_view);
    for (int i = 0; panes[i]; i++) {
        const Pane *pane = panes[i];
        if (pane->slot >= SLOT_COUNT) continue;
        bool is_shown_in_picture = is_picture(shown, layout, pane);
        PaneSlot slot = is_shown_in_picture ? SLOT_PICTURE : pane->slot;
        if (slot == SLOT_SOURCE && (pane == &pane_sass) != (view->display.source == SOURCE_SASS)) continue;
        if (layout->slots[slot].rows <= 0 || (slot == SLOT_PICTURE && !is_shown_in_picture)) continue;
        if (slot == SLOT_REDUCTION && !has_reduction(scene, view)) continue;
        add_shown(shown, pane, layout->slots[slot], focus_of_slot[slot]);
    }
    if (view->display.zoomed && view->display.focus == FOCUS_SIDE && layout->side_count) {
        add_enlarged_sides(shown, layout, layout->sides[0]);
        return true;
    }
    Rectangle sides[MOST_SIDES];
    memcpy(sides, layout->sides, sizeof sides);
    /* A side pane with only one sentence leaves its rows to the one below, or above. */
    int least = (layout->boxed ? 2 : 1) + 1;
    for (int i = 0; i < layout->side_count; i++) {
        const Pane *pane = pane_side(shown->context.view->display.side + i);
        int spare = sides[i].rows - least;
        if (layout->side_count < 2 || spare <= 0 || !pane->is_empty || !pane->is_empty(&shown->context))
            continue;
        sides[i].rows = least;
        if (i + 1 < layout->side_count) {
            sides[i + 1].row -= spare;
            sides[i + 1].rows += spare;
        } else {
            sides[i].row += spare;
            sides[i - 1].rows += spare;
        }
    }
    for (int i = 0; i < layout->side_count && i < pane_side_count(); i++)
        add_shown(shown, pane_side(view->display.side + i), sides[i], i ? -1 : FOCUS_SIDE);
    return true;
}

/* The context that a pane draws: all panes but the picture show the view's own step. */
static const StepContext *context_of(const ShownPanes *shown, const Pane *pane) {
    bool is_own = pane == &pane_tree || pane == &pane_grid || pane == &pane_warps;
    return pane->slot == SLOT_PICTURE && !is_own ? &shown->picture : &shown->context;
}

bool frame_shows(const Scene *scene, const View *view, const Layout *layout, const Pane *pane) {
    ShownPanes shown;
    if (!list_shown(&shown, scene, view, layout)) return false;
    while (shown.count > 0 && shown.panes[shown.count - 1].pane != pane) shown.count--;
    return shown.count > 0;
}

/* `with_time`: no row of its own has the time. */
static void draw_nothing(const Scene *scene, bool with_time, Canvas *canvas, Rectangle area) {
    char own[256];
    int row = 1;
    area.column += 2;
    area.columns -= 4;
    row += canvas_paragraph(
        canvas, area, row, ROLE_TEXT,
        tr("This run recorded no events of a traced block: there is nothing to step through."));
    if (!scene->traced.trace->trap_count) return;
    Text text = {0};
    text_print(&text, "%s: %s", trap_kind_mark(scene->traced.trace->traps[0].kind),
               scene->traced.trace->traps[0].detail);
    row += 1 + canvas_paragraph(canvas, area, row + 1, ROLE_WARNING, text_string(&text));
    text_done(&text);
    if (with_time && times_print_own(scene, (int)sizeof own - 1, own, sizeof own))
        canvas_paragraph(canvas, area, row + 1, ROLE_TEXT, own);
}

static const Pane *find_overlay(const View *view) {
    for (int i = 0; panes[i]; i++)
        if (panes[i]->slot == SLOT_OVERLAY && panes[i]->overlay == view->transient.overlay) return panes[i];
    return NULL;
}

/* Says in the picture's last row, if it is free, why this block has no picture of its reduction. */
static void draw_no_boxes(const StepContext *context, Canvas *canvas, Rectangle inside) {
    char why[96];
    ShownPicture picture = context->view->display.picture;
    if (picture != SHOW_INSTRUCTION && picture != SHOW_REDUCTION) return;
    if (!scene_print_too_large(context->scene, context->view->place.block, why, sizeof why)) return;
    for (int column = 0; column < inside.columns; column++) {
        const Cell *cell = canvas_cell(canvas, inside, column, inside.rows - 1);
        if (!cell || cell->glyph != ' ') return;
    }
    canvas_print(canvas, inside, 1, inside.rows - 1, ROLE_DIM, tr("no boxes: %s; take fewer elements (p)"),
                 why);
}

static void draw_panes(const ShownPanes *shown, const Layout *layout, Canvas *canvas) {
    for (int i = 0; i < shown->count; i++) {
        const ShownPane *at = &shown->panes[i];
        draw_pane(at->pane, context_of(shown, at->pane), canvas, layout, at->area,
                  at->focus == (int)shown->context.view->display.focus);
        if (at->pane->slot == SLOT_PICTURE && !shown->context.view->transient.hides)
            draw_no_boxes(&shown->context, canvas, inside_of(at->pane, layout, at->area));
    }
}

/* Draws the run's time if no pane shows it. */
static void draw_times(const Scene *scene, const View *view, Canvas *canvas, Rectangle area) {
    char text[256];
    if (area.rows <= 0) return;
    times_print_line(scene, !view->display.times_alone, view->display.times, area.columns - 8, text,
                     sizeof text);
    int at = 1 + canvas_text(canvas, area, 1, 0, ROLE_TITLE, tr("time"));
    canvas_text(canvas, area, at + 1, 0, ROLE_TEXT, text);
}

void frame_draw_run(const Scene *scene, const View *view, const StepContext *beside, const Layout *layout,
                    Canvas *canvas) {
    ShownPanes shown;
    Rectangle middle = layout->area;
    middle.row += layout->header.rows;
    middle.rows -= layout->header.rows + layout->footer.rows;
    draw_header(scene, view, canvas, layout->header);
    if (!view->transient.hides) draw_times(scene, view, canvas, layout->times);
    bool has_panes = list_shown(&shown, scene, view, layout);
    shown.context.beside = shown.picture.beside = beside;
    if (has_panes)
        draw_panes(&shown, layout, canvas);
    else
        draw_nothing(scene, layout->times.rows == 0, canvas, middle);
}

void frame_draw_overlay(const Scene *scene, const View *view, Rectangle area, Canvas *canvas) {
    StepContext context;
    Layout layout = {.overlay = area};
    const Pane *overlay = find_overlay(view);
    if (!overlay) return;
    step_context_init(&context, scene, view);
    canvas_fill(canvas, area, ROLE_TEXT);
    draw_pane(overlay, &context, canvas, &layout, area, false);
}

/* Says that this size is needed. */
static void draw_too_small(Canvas *canvas, int columns, int rows) {
    char text[96];
    snprintf(text, sizeof text, tr("redviz needs %d columns and %d rows; this screen has %d and %d."),
             columns, rows, canvas->columns, canvas->rows);
    canvas_paragraph(canvas, (Rectangle){0, 0, canvas->columns, canvas->rows}, 0, ROLE_TEXT, text);
}

void frame_draw(const Scene *scene, const View *view, Canvas *canvas) {
    Layout layout;
    canvas_clear(canvas);
    if (!layout_make(canvas->columns, canvas->rows, view, frame_needs(scene, view), &layout)) {
        draw_too_small(canvas, SMALLEST_COLUMNS, SMALLEST_ROWS);
        return;
    }
    frame_draw_run(scene, view, NULL, &layout, canvas);
    frame_draw_footer(scene, view, canvas, layout.footer);
    frame_draw_overlay(scene, view, layout.overlay, canvas);
}

/* ---- clicks -------------------------------------------------------------------------------------------- */

static ViewAnswer click_pane(const Pane *pane, const StepContext *context, Rectangle inside, int column,
                             int row, View *view) {
    if (!pane->click || !layout_holds(inside, column, row)) return VIEW_IGNORED;
    return pane->click(context, inside, column - inside.column, row - inside.row, view);
}

ViewAnswer frame_click_in(const Scene *scene, View *view, const Layout *layout, int column, int row) {
    ShownPanes shown;
    View before = *view; /* panes read this one and change the other */
    const Pane *overlay = find_overlay(view);
    list_shown(&shown, scene, &before, layout);
    view->transient.message[0] = 0;
    if (view->transient.overlay != OVERLAY_NONE && !layout_holds(layout->overlay, column, row)) {
        view->transient.overlay = OVERLAY_NONE;
        return VIEW_CHANGED;
    }
    if (overlay)
        return click_pane(overlay, &shown.context, inside_of(overlay, layout, layout->overlay), column, row,
                          view);
    for (int i = 0; i < shown.count; i++) {
        const ShownPane *at = &shown.panes[i];
        if (!layout_holds(at->area, column, row)) continue;
        if (at->focus >= 0) view->display.focus = (Focus)at->focus;
        if (at->pane->click_title && row == at->area.row)
            return at->pane->click_title(context_of(&shown, at->pane), view);
        click_pane(at->pane, context_of(&shown, at->pane), inside_of(at->pane, layout, at->area), column, row,
                   view);
        return VIEW_CHANGED;
    }
    return VIEW_IGNORED;
}

Rectangle frame_timeline_at(const Scene *scene, const View *view, const Layout *layout, int column, int row) {
    ShownPanes shown;
    bool has_panes = view->transient.overlay == OVERLAY_NONE && list_shown(&shown, scene, view, layout);
    for (int i = 0; has_panes && i < shown.count; i++) {
        Rectangle inside = inside_of(shown.panes[i].pane, layout, shown.panes[i].area);
        if (shown.panes[i].pane == &pane_timeline && layout_holds(inside, column, row)) return inside;
    }
    return (Rectangle){0};
}

ViewAnswer frame_click(const Scene *scene, View *view, int columns, int rows, int column, int row) {
    Layout layout;
    return layout_make(columns, rows, view, frame_needs(scene, view), &layout)
               ? frame_click_in(scene, view, &layout, column, row)
               : VIEW_IGNORED;
}
