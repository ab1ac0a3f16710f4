/* The branch and barrier pane: the lanes that take a branch, and the warps that have arrived. */
#include "tui/panes/pane.h"

#include "base/memory.h"
#include "tui/panes/ruler.h"
#include <stdio.h>
#include <stdlib.h>

enum { LABEL_COLUMNS = 12, NOTE_COLUMNS = 8 };

static void draw_mask(const StepContext *context, Canvas *canvas, Rectangle area, int row, const Ruler *ruler,
                      Role role, const char *label, int warp, uint32_t mask, uint32_t of) {
    canvas_text(canvas, area, 1, row, ROLE_TEXT, label);
    ruler_draw_absent(ruler, canvas, area, row, step_context_existing_lanes(context, warp));
    ruler_draw_mask(ruler, canvas, area, row, role, mask, of, context->view->selection.lane);
    canvas_print(canvas, area, ruler_column(ruler, WARP_LANES) + 1, row, ROLE_TEXT, "%2d/%d",
                 __builtin_popcount(mask), __builtin_popcount(of));
}

static bool diverges(const TraceEvent *event) {
    return event->taken && event->taken != event->mask;
}

static void branch_head(const StepContext *context, PaneHead *out) {
    const StepIndexEntry *step = &context->step_index->step[context->view->place.step];
    snprintf(out->title, sizeof out->title, "branch   w%d", context->event.warp);
    if (context->code && context->code->line.line)
        snprintf(out->title, sizeof out->title, "branch   line %d   w%d", context->code->line.line,
                 context->event.warp);
    snprintf(out->note, sizeof out->note,
             diverges(&context->event) ? "this warp diverges!"
             : step->diverges          ? "another warp diverges"
                                       : "no divergence");
    out->note_role = diverges(&context->event) ? ROLE_WARNING : ROLE_DIM;
}

/* "line 41", or the instruction's number if the line is the same. */
static void print_place(const StepContext *context, int pc, char *out, size_t bytes) {
    const PtxCode *code = scene_code(context->scene, context->view->place.block, pc);
    if (!code)
        snprintf(out, bytes, "the end");
    else if (code->line.line && (!context->code || code->line.line != context->code->line.line))
        snprintf(out, bytes, "line %d", code->line.line);
    else
        snprintf(out, bytes, "PTX %d", pc);
}

/* The target of the branch and the point where its lanes reconverge; returns the columns written. */
static int draw_targets(const StepContext *context, Canvas *canvas, Rectangle area, int row) {
    char place[48];
    int at = 1;
    if (!context->code) return at;
    print_place(context, context->code->target, place, sizeof place);
    at += canvas_print(canvas, area, at, row, ROLE_TEXT, "taken: to %s, reconverge ", place);
    print_place(context, context->code->reconvergence, place, sizeof place);
    bool there = context->code->reconvergence == context->code->target;
    return at + canvas_print(canvas, area, at, row, ROLE_TEXT, there ? "there; " : "at %s; ", place);
}

/* Event `index` of the step, header only. */
static void read_part(const StepContext *context, int index, TraceEvent *out) {
    trace_block_read_header(context->steps->block, context->steps->events[context->step->first + index], out);
}

/* The lanes that take the branch, warp by warp; neighbouring warps that do the same share a row. */
static void draw_warps(const StepContext *context, Canvas *canvas, Rectangle area, int row,
                       const Ruler *ruler) {
    for (int i = 0; i < context->step->count && row < area.rows; row++) {
        TraceEvent event, next;
        char label[16];
        read_part(context, i++, &event);
        int last = event.warp;
        for (; i < context->step->count; i++, last = next.warp) {
            read_part(context, i, &next);
            if (next.warp != last + 1 || next.taken != event.taken || next.mask != event.mask) break;
        }
        snprintf(label, sizeof label, last > event.warp ? "w%d-%d" : "w%d", event.warp, last);
        bool splits = diverges(&event);
        draw_mask(context, canvas, area, row, ruler, splits ? ROLE_WARNING : ROLE_ACTIVE, label, event.warp,
                  event.taken, event.mask);
        if (splits) canvas_glyph(canvas, area, ruler_column(ruler, WARP_LANES) + 6, row, ROLE_WARNING, '!');
    }
}

static void branch_draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    const TraceEvent *event = &context->event;
    Ruler ruler = ruler_make(area, LABEL_COLUMNS, NOTE_COLUMNS);
    int row = 3, diverging = 0;
    ruler_draw(&ruler, canvas, area, 0, context->view->selection.lane);
    draw_mask(context, canvas, area, 1, &ruler, ROLE_ACTIVE, "taken", event->warp, event->taken, event->mask);
    draw_mask(context, canvas, area, 2, &ruler, ROLE_ACTIVE, "not taken", event->warp,
              event->mask & ~event->taken, event->mask);
    for (int i = 0; i < context->step->count; i++) {
        TraceEvent other;
        read_part(context, i, &other);
        diverging += diverges(&other);
    }
    int at = draw_targets(context, canvas, area, row);
    canvas_print(canvas, area, at, row++, diverging ? ROLE_WARNING : ROLE_TEXT, "%d of %d warps diverge%s%s",
                 diverging, context->step->count, diverging == 1 ? "s" : "", diverging ? "!" : "");
    if (row + 2 < area.rows) canvas_text(canvas, area, 1, ++row, ROLE_DIM, "taken, warp by warp");
    draw_warps(context, canvas, area, row + 1, &ruler);
}

static void barrier_head(const StepContext *context, PaneHead *out) {
    const char *what = context->event.kind == TRACE_BARRIER     ? "block barrier"
                       : context->event.kind == TRACE_WARP_SYNC ? "warp sync"
                                                                : "named barrier";
    snprintf(out->title, sizeof out->title, "%s", what);
    if (context->event.kind == TRACE_NAMED_BARRIER)
        snprintf(out->title, sizeof out->title, "named barrier %u", context->event.participants);
    if (trace_event_is_cluster_wait(&context->event))
        snprintf(out->title, sizeof out->title, "barrier of the cluster of %u blocks",
                 trace_cluster_blocks(context->launch));
    if (context->event.kind == TRACE_BARRIER)
        snprintf(out->note, sizeof out->note, "ends interval %d of %d", context->step->interval_step + 1,
                 context->steps->interval_step_count);
}

static void draw_sync(const StepContext *context, Canvas *canvas, Rectangle area) {
    Ruler ruler = ruler_make(area, LABEL_COLUMNS, NOTE_COLUMNS);
    int row = 1;
    ruler_draw(&ruler, canvas, area, 0, context->view->selection.lane);
    for (int i = 0; i < context->step->count && row < area.rows; i++, row++) {
        TraceEvent other;
        char label[16];
        trace_block_read(context->steps->block, context->steps->events[context->step->first + i], &other);
        snprintf(label, sizeof label, "w%d", other.warp);
        bool named = other.kind == TRACE_NAMED_BARRIER;
        draw_mask(context, canvas, area, row, &ruler, ROLE_ACTIVE, label, other.warp, other.mask,
                  named || !other.participants ? 0xffffffffu : other.participants);
    }
    if (context->event.kind == TRACE_WARP_SYNC && ++row < area.rows)
        canvas_text(canvas, area, 1, row, ROLE_DIM,
                    "each of these lanes now sees what the others wrote before");
}

typedef enum Arrival { COMES, ARRIVES, WAITS, MISSING, ENDED, ARRIVAL_COUNT } Arrival;

static const struct {
    Role role;
    uint32_t glyph;
} arrival_looks[ARRIVAL_COUNT] = {[COMES] = {ROLE_DIM, 0xB7},
                                  [ARRIVES] = {ROLE_ACTIVE, 0x25A0},
                                  [WAITS] = {ROLE_WAITING, 'b'},
                                  [MISSING] = {ROLE_WARNING, '?'},
                                  [ENDED] = {ROLE_EXITED, 'x'}};

static Arrival arrival_of(const StepContext *context, int warp) {
    WarpState state = step_index_warp_state(context->step_index, context->view->place.step, warp);
    if (state.active) return ARRIVES;
    if (state.waiting) return WAITS;
    return (state.exited | state.trapped | state.stopped) == state.exists ? ENDED : MISSING;
}

/* During play, the warps that arrive at the barrier appear one after another. */
static Arrival arrival_shown(const StepContext *context, int warp) {
    int before = 0, all = 0;
    if (arrival_of(context, warp) != ARRIVES) return arrival_of(context, warp);
    for (int other = 0; other < context->step_index->warp_count; other++) {
        bool arrives = arrival_of(context, other) == ARRIVES;
        before += arrives && other < warp;
        all += arrives;
    }
    return before < view_phase(context->view) * all ? ARRIVES : COMES;
}

/* One cell per warp; returns the row below them. */
static int draw_arrivals(const StepContext *context, Canvas *canvas, Rectangle area, int row) {
    int count = context->step_index->warp_count, each = count > 10 ? 7 : 6, per_row = area.columns / each;
    for (int warp = 0; warp < count; warp++) {
        int column = 1 + warp % per_row * each;
        if (warp && warp % per_row == 0) row += 2;
        if (row + 3 >= area.rows) return area.rows - 3;
        Arrival arrival = arrival_shown(context, warp);
        canvas_print(canvas, area, column, row, ROLE_DIM, "w%d", warp);
        canvas_glyph(canvas, area, column + each - 3, row, arrival_looks[arrival].role,
                     arrival_looks[arrival].glyph);
    }
    return row + 2;
}

/* "■ warps 1-7 arrive now"; nothing if there are none. */
static int draw_group(const StepContext *context, Canvas *canvas, Rectangle area, int row, Arrival arrival,
                      const char *one, const char *several) {
    int count = context->step_index->warp_count, found = 0;
    bool *group = memory_new((size_t)count);
    char names[64];
    for (int warp = 0; warp < count; warp++) found += group[warp] = arrival_of(context, warp) == arrival;
    step_context_describe_warps(group, count, names, sizeof names);
    free(group);
    if (!found || row <= 0) return row;
    canvas_glyph(canvas, area, 1, row, arrival_looks[arrival].role, arrival_looks[arrival].glyph);
    canvas_print(canvas, area, 3, row, ROLE_TEXT, "%s %s", names, found == 1 ? one : several);
    return row + 1;
}

static void barrier_draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    if (context->event.kind != TRACE_BARRIER) {
        draw_sync(context, canvas, area);
        return;
    }
    int arrived = 0, alive = 0;
    for (int warp = 0; warp < context->step_index->warp_count; warp++) {
        Arrival arrival = arrival_shown(context, warp);
        arrived += arrival == ARRIVES || arrival == WAITS;
        alive += arrival != ENDED;
    }
    canvas_print(canvas, area, 1, 0, arrived == alive ? ROLE_GOOD : ROLE_TEXT,
                 "%d of %d warps have arrived%s", arrived, alive, arrived == alive ? ": all proceed" : "");
    int row = draw_arrivals(context, canvas, area, 2);
    row = draw_group(context, canvas, area, row, ARRIVES, "arrives now", "arrive now");
    row = draw_group(context, canvas, area, row, WAITS, "is waiting", "are waiting");
    draw_group(context, canvas, area, row, MISSING, "has not arrived", "have not arrived");
}

static ViewAnswer click(const StepContext *context, Rectangle area, int column, int row, View *view) {
    Ruler ruler = ruler_make(area, LABEL_COLUMNS, NOTE_COLUMNS);
    int lane = ruler_lane_at(&ruler, column);
    (void)context, (void)row;
    if (lane >= 0) view->selection.lane = lane;
    return VIEW_CHANGED;
}

const Pane pane_branch = {.slot = SLOT_PICTURE,
                          .kinds = 1u << TRACE_BRANCH,
                          .head = branch_head,
                          .draw = branch_draw,
                          .click = click};
const Pane pane_barrier = {
    .slot = SLOT_PICTURE,
    .kinds = 1u << TRACE_BARRIER | 1u << TRACE_NAMED_BARRIER | 1u << TRACE_WARP_SYNC,
    .head = barrier_head,
    .draw = barrier_draw,
};
