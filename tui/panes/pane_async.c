/* The pane of asynchronous copies: their groups and the waits for them, mbarriers, bulk copies. */
#include "ptx/opcodes.h"
#include "tui/panes/pane.h"

#include "base/language.h"
#include "tui/panes/mbarrier_picture.h"
#include "tui/panes/ruler.h"
#include "tui/panes/tile_picture.h"
#include "tui/scene/scene_copies.h"
#include <inttypes.h>
#include <stdio.h>

enum { FIRST_ROW = 3, STATE_COLUMNS = 13 };

static const PtxInstruction *instruction_of(const StepContext *context) {
    return context->launch->program->code[context->event.pc].instruction;
}

static bool has(const StepContext *context, PtxModifierKind kind) {
    return ptx_instruction_has(instruction_of(context), kind);
}

/* A bulk copy whose bytes an mbarrier of this block counts. */
static bool completes_on_mbarrier(const StepContext *context) {
    return trace_kind_is_bulk(context->event.kind) && has(context, PTX_MOD_COMPLETE_TX_BYTES) &&
           trace_event_peer(&context->event) < 0;
}

/* The lane whose copy is shown: the selected one, else the first. */
static int shown_lane(const StepContext *context) {
    int lane = context->view->selection.lane;
    return context->event.mask >> lane & 1 ? lane : __builtin_ctz(context->event.mask);
}

static const char *title_of(const StepContext *context) {
    switch (context->event.kind) {
    case TRACE_ASYNC_GROUP:
        return has(context, PTX_MOD_COMMIT_GROUP) ? tr("copies: a group is committed")
                                                  : tr("copies: a wait for groups");
    case TRACE_MBARRIER:
        return "mbarrier";
    default:
        if (has(context, PTX_MOD_TENSOR))
            return has(context, PTX_MOD_REDUCE) ? tr("tensor reduction") : tr("tensor copy");
        return has(context, PTX_MOD_REDUCE) ? tr("bulk reduction") : tr("bulk copy");
    }
}

static void head(const StepContext *context, PaneHead *out) {
    char lanes[64];
    step_context_describe_lanes(context->event.mask, lanes, sizeof lanes);
    pane_title(out, "%s   w%d   %s", title_of(context), context->event.warp, lanes);
}

/* "tile+128", "tile+128 of block 3" */
static const char *place_of(const StepContext *context, const TraceEvent *event, int lane, char *out,
                            size_t bytes) {
    const Trace *trace = context->scene->traced.trace;
    const char *name = trace_kind_is_shared(event->kind) ? context->launch->symbols[event->buffer[lane]].name
                                                         : trace->buffers[event->buffer[lane]].name;
    char owner[24] = "";
    int peer = trace_event_peer(event);
    if (peer >= 0)
        snprintf(
            owner, sizeof owner, tr(" of block %u"),
            trace_cluster_member(context->launch, trace_block_linear(context->steps->block), (uint32_t)peer));
    snprintf(out, bytes, "%s+%" PRIu64 "%s", name, event->offset[lane], owner);
    return out;
}

/* "512 bytes  in+0 -> tile+0", of the lane. `event` is the destination. */
static void print_copy(const StepContext *context, int event, int lane, char *out, size_t bytes) {
    TraceEvent to, from;
    char to_place[80], from_place[80];
    trace_block_read(context->steps->block, event, &to);
    int other = async_copy_other_side(context->launch, context->steps->block, event);
    snprintf(from_place, sizeof from_place, tr("zeros"));
    if (other != NO_EVENT) trace_block_read(context->steps->block, other, &from);
    if (other != NO_EVENT && from.mask >> lane & 1)
        place_of(context, &from, lane, from_place, sizeof from_place);
    uint64_t count = trace_kind_is_bulk(to.kind) ? to.operand[lane] : (uint64_t)to.width;
    snprintf(out, bytes, tr("%llu bytes  %s → %s"), (unsigned long long)count, from_place,
             place_of(context, &to, lane, to_place, sizeof to_place));
}

/* ---- groups -------------------------------------------------------------------------------------------- */

static void draw_group(const StepContext *context, Canvas *canvas, Rectangle area) {
    AsyncCopiesOnTheirWay on;
    int lane = shown_lane(context), row = FIRST_ROW;
    bool waits = !has(context, PTX_MOD_COMMIT_GROUP);
    async_copies_before(context->launch, context->steps->block, context->event_number, lane, &on);
    if (!waits)
        canvas_print(canvas, area, 1, row++, ROLE_TEXT, tr("lane %d ends its group %d"), lane, on.groups);
    else if (!context->event.participants)
        canvas_print(canvas, area, 1, row++, ROLE_TEXT, tr("lane %d waits for all of its groups"), lane);
    else
        canvas_print(canvas, area, 1, row++, ROLE_TEXT,
                     tr("lane %d waits for all of its groups but the last %u"), lane,
                     context->event.participants);
    for (int i = 0; i < on.count && row < area.rows; i++, row++) {
        char copy[240];
        bool in_group = on.copies[i].group < on.groups;
        print_copy(context, on.copies[i].event, lane, copy, sizeof copy);
        const char *state = on.copies[i].arrives ? tr("arrives here")
                            : waits              ? tr("on its way")
                            : in_group           ? tr("on its way")
                                                 : tr("joins");
        Role role = on.copies[i].arrives ? ROLE_LIT : ROLE_TEXT;
        int line = async_copy_line(context->launch, context->steps->block, on.copies[i].event);
        int at = 1 + canvas_print(canvas, area, 1, row, role, tr("line %-4d group %d  "), line,
                                  on.copies[i].group);
        canvas_text(canvas, area, at, row, role, state);
        canvas_text(canvas, area, at + STATE_COLUMNS, row, ROLE_TEXT, copy);
    }
    if (!on.count && row < area.rows)
        canvas_text(canvas, area, 1, row, ROLE_DIM, tr("no copy of this lane is on its way"));
}

/* ---- mbarriers ----------------------------------------------------------------------------------------- */

static void draw_mbarrier(const StepContext *context, Canvas *canvas, Rectangle area) {
    const TraceEvent *event = &context->event;
    int lane = shown_lane(context), row = 0;
    char place[80];
    unsigned long long operand = event->operand[lane];
    place_of(context, event, lane, place, sizeof place);
    bool waits = has(context, PTX_MOD_TRY_WAIT) || has(context, PTX_MOD_TEST_WAIT);
    if (has(context, PTX_MOD_INIT))
        canvas_print(canvas, area, 1, row, ROLE_TEXT, tr("%s: a phase takes %llu arrival%s"), place, operand,
                     operand == 1 ? "" : "s");
    else if (has(context, PTX_MOD_INVAL))
        canvas_print(canvas, area, 1, row, ROLE_TEXT, tr("%s is an mbarrier no more"), place);
    else if (waits && has(context, PTX_MOD_PARITY))
        canvas_print(canvas, area, 1, row, ROLE_TEXT, tr("%s: lane %d asks for the phase of parity %llu: %s"),
                     place, lane, operand & 1, event->value[0][lane] ? tr("complete") : tr("not complete"));
    else if (waits)
        canvas_print(canvas, area, 1, row, ROLE_TEXT, tr("%s: lane %d asks for the phase of its state: %s"),
                     place, lane, event->value[0][lane] ? tr("complete") : tr("not complete"));
    else if (has(context, PTX_MOD_EXPECT_TX))
        canvas_print(canvas, area, 1, row, ROLE_TEXT, tr("%s: %s the phase expects %llu bytes more"), place,
                     has(context, PTX_MOD_ARRIVE) ? tr("an arrival, and") : "", operand);
    else if (has(context, PTX_MOD_COMPLETE_TX))
        canvas_print(canvas, area, 1, row, ROLE_TEXT, tr("%s: %llu bytes have arrived"), place, operand);
    else if (instruction_of(context)->opcode == PTX_cp)
        canvas_print(canvas, area, 1, row, ROLE_TEXT,
                     tr("%s: each lane arrives when its copies so far have arrived"), place);
    else
        canvas_print(canvas, area, 1, row, ROLE_TEXT, tr("%s: each lane arrives"), place);
    mbarrier_picture_draw(context, context->event_number, canvas, area, row + 1);
}

/* ---- bulk copies --------------------------------------------------------------------------------------- */

/* The tile of a tensor copy; false: it is another copy. */
static bool find_tile(const StepContext *context, int lane, TilePicture *picture) {
    const TraceEvent *at = &context->event;
    TraceEvent other;
    int number = async_copy_other_side(context->launch, context->steps->block, context->event_number);
    if (!trace_kind_is_bulk(at->kind) || number == NO_EVENT || !trace_tile_read(at, lane, &picture->tile))
        return false;
    trace_block_read(context->steps->block, number, &other);
    const TraceEvent *shared = trace_kind_is_shared(at->kind) ? at : &other,
                     *global = shared == at ? &other : at;
    const TraceBuffer *array = &context->scene->traced.trace->buffers[global->buffer[lane]];
    const TraceSymbol *symbol = &context->launch->symbols[shared->buffer[lane]];
    picture->array = array->name;
    picture->array_bytes = array->bytes;
    picture->offset = global->offset[lane];
    picture->shared = symbol->name;
    picture->shared_offset = shared->offset[lane];
    picture->shared_address = symbol->window_offset + shared->offset[lane];
    picture->loads = global->is_load;
    return true;
}

static void draw_arrival(const StepContext *context, Canvas *canvas, Rectangle area, int row, int destination,
                         int lane) {
    int wait = async_copy_wait(context->launch, context->steps->block, destination, lane);
    if (wait != NO_EVENT)
        canvas_print(canvas, area, 1, row, ROLE_TEXT, tr("arrives at the wait on line %d"),
                     async_copy_line(context->launch, context->steps->block, wait));
    else if (!has(context, PTX_MOD_BULK_GROUP))
        canvas_text(canvas, area, 1, row, ROLE_TEXT, tr("arrives with the phase of its mbarrier"));
    else
        canvas_text(canvas, area, 1, row, ROLE_WARNING, tr("no wait of this lane follows"));
}

static void draw_bulk(const StepContext *context, Canvas *canvas, Rectangle area) {
    const TraceBlock *block = context->steps->block;
    bool completes = completes_on_mbarrier(context);
    int event = context->event_number, lane = shown_lane(context), row = completes ? 0 : FIRST_ROW;
    bool written = context->event.kind == trace_written_kind_of(instruction_of(context));
    int destination = written ? event : async_copy_other_side(context->launch, block, event);
    char copy[240];
    if (destination == NO_EVENT) return;
    print_copy(context, destination, lane, copy, sizeof copy);
    canvas_print(canvas, area, 1, row++, ROLE_TEXT, "lane %d  %s", lane, copy);
    if (completes)
        mbarrier_picture_draw(context, destination, canvas, area, row);
    else
        draw_arrival(context, canvas, area, row, destination, lane);
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    const TraceEvent *event = &context->event;
    TilePicture picture = {0};
    if (!event->mask) return;
    if (find_tile(context, shown_lane(context), &picture)) {
        tile_picture_draw(&picture, canvas, area);
        return;
    }
    if (event->kind == TRACE_MBARRIER || completes_on_mbarrier(context)) {
        if (event->kind == TRACE_MBARRIER)
            draw_mbarrier(context, canvas, area);
        else
            draw_bulk(context, canvas, area);
        return;
    }
    Ruler ruler = ruler_make(area, RULER_LABEL, 0);
    uint32_t exists = step_context_existing_lanes(context, event->warp);
    ruler_draw(&ruler, canvas, area, 0, context->view->selection.lane);
    canvas_text(canvas, area, 1, 1, ROLE_DIM, tr("active"));
    ruler_draw_absent(&ruler, canvas, area, 1, exists);
    ruler_draw_mask(&ruler, canvas, area, 1, ROLE_ACTIVE, event->mask, exists, context->view->selection.lane);
    if (event->kind == TRACE_ASYNC_GROUP)
        draw_group(context, canvas, area);
    else
        draw_bulk(context, canvas, area);
}

/* The picture of mbarriers has no ruler. */
static ViewAnswer click(const StepContext *context, Rectangle area, int column, int row, View *view) {
    if (context->event.kind == TRACE_MBARRIER || completes_on_mbarrier(context)) return VIEW_IGNORED;
    return ruler_click(context, area, column, row, view);
}

const Pane pane_async = {.slot = SLOT_PICTURE,
                         .tells_here = HIDES_LANES,
                         .kinds = 1u << TRACE_ASYNC_GROUP | 1u << TRACE_MBARRIER |
                                  1u << TRACE_GLOBAL_BULK_READ | 1u << TRACE_SHARED_BULK_READ |
                                  1u << TRACE_GLOBAL_BULK_WRITE | 1u << TRACE_SHARED_BULK_WRITE,
                         .head = head,
                         .draw = draw,
                         .click = click};
