/* Barriers: the warps that have arrived, and the lanes of a warp that synchronize. */
#include "tui/panes/pane.h"

#include "base/language.h"
#include "tui/panes/ruler.h"
#include <stdio.h>
#include <stdlib.h>

enum { LABEL_COLUMNS = 12, NOTE_COLUMNS = 8 };

static void barrier_head(const StepContext *context, PaneHead *out) {
    const char *what = context->event.kind == TRACE_BARRIER     ? tr("block barrier")
                       : context->event.kind == TRACE_WARP_SYNC ? tr("warp sync")
                                                                : tr("named barrier");
    pane_title(out, "%s", what);
    if (context->event.kind == TRACE_NAMED_BARRIER)
        pane_title(out, tr("named barrier %u"), context->event.participants);
    if (trace_event_is_cluster_wait(&context->event))
        pane_title(out, tr("barrier of the cluster of %u blocks"), trace_cluster_blocks(context->launch));
    if (context->event.kind == TRACE_BARRIER)
        pane_note(out, tr("ends interval %d of %d"), context->step->interval_step + 1,
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
        uint32_t of = named || !other.participants ? 0xffffffffu : other.participants;
        canvas_text(canvas, area, 1, row, ROLE_TEXT, label);
        ruler_draw_absent(&ruler, canvas, area, row, step_context_existing_lanes(context, other.warp));
        ruler_draw_mask(&ruler, canvas, area, row, ROLE_ACTIVE, other.mask, of,
                        context->view->selection.lane);
        canvas_print(canvas, area, ruler_column(&ruler, WARP_LANES) + 1, row, ROLE_TEXT, "%2d/%d",
                     __builtin_popcount(other.mask), __builtin_popcount(of));
    }
    if (context->event.kind == TRACE_WARP_SYNC && ++row < area.rows)
        canvas_text(canvas, area, 1, row, ROLE_DIM,
                    tr("each of these lanes now sees what the others wrote before"));
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
                 tr("%d of %d warps have arrived%s"), arrived, alive,
                 arrived == alive ? tr(": all proceed") : "");
    int row = draw_arrivals(context, canvas, area, 2);
    row = draw_group(context, canvas, area, row, ARRIVES, tr("arrives now"), tr("arrive now"));
    row = draw_group(context, canvas, area, row, WAITS, tr("is waiting"), tr("are waiting"));
    draw_group(context, canvas, area, row, MISSING, tr("has not arrived"), tr("have not arrived"));
}

const Pane pane_barrier = {
    .slot = SLOT_PICTURE,
    .kinds = 1u << TRACE_BARRIER | 1u << TRACE_NAMED_BARRIER | 1u << TRACE_WARP_SYNC,
    .head = barrier_head,
    .draw = barrier_draw,
};
