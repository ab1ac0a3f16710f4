/* The picture of an access to the shared memory of other blocks (peers.h): a row for each block with its
 * word, an arrow in the direction of the value, the lanes and the values that they load or store. */
#include "tui/panes/banks.h"

#include "base/language.h"
#include <stdio.h>

enum { BLOCK_COLUMN = 1, WORD_COLUMN = 21, ARROW_COLUMN = 42, LANE_COLUMN = 48, VALUE_COLUMN = 66 };

int peers_list(const StepContext *context, PeerBlock peers[PEERS_MOST]) {
    const TraceLaunch *launch = context->launch;
    uint32_t own = trace_block_linear(context->steps->block), seen = 0;
    int by_rank[PEERS_MOST], count = 0, others = 0;
    if (trace_cluster_blocks(launch) == 1 || context->trap || !step_context_is_shared(context->event.kind))
        return 0;
    for (int rank = 0; rank < PEERS_MOST; rank++) by_rank[rank] = -1;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        int number =
            step_index_warp_event(context->step_index, context->view->place.step, context->event.warp, lane);
        TraceEvent event;
        if (number < 0) continue;
        trace_block_read_header(context->steps->block, number, &event);
        int peer = trace_event_peer(&event);
        uint32_t rank = peer < 0 ? trace_cluster_rank(launch, own) : (uint32_t)peer;
        if (!(event.mask >> lane & 1) || !step_context_is_shared(event.kind) || rank >= PEERS_MOST) continue;
        by_rank[rank] = number;
        others += !(seen >> rank & 1) && peer >= 0;
        seen |= UINT32_C(1) << rank;
    }
    for (uint32_t rank = 0; others && rank < PEERS_MOST; rank++) {
        if (by_rank[rank] < 0) continue;
        TraceEvent event;
        trace_block_read_header(context->steps->block, by_rank[rank], &event);
        uint32_t block = trace_cluster_member(launch, own, rank);
        peers[count++] = (PeerBlock){block, block == own, event.mask, by_rank[rank]};
    }
    return count;
}

static const char *verb(TraceKind kind) {
    return kind == TRACE_SHARED_LOAD ? tr("load") : kind == TRACE_SHARED_STORE ? tr("store") : tr("atomic");
}

void peers_head(const StepContext *context, PaneHead *out) {
    const TraceEvent *event = &context->event;
    PeerBlock peers[PEERS_MOST];
    char symbol[48];
    int count = peers_list(context, peers);
    step_context_print_symbol(context, event->buffer[event->mask ? __builtin_ctz(event->mask) : 0], symbol,
                              sizeof symbol);
    if (count == 1)
        pane_title(out, tr("cluster  w%d shared %s: %s of block %u"), event->warp, verb(event->kind), symbol,
                   peers[0].block);
    else
        pane_title(out, tr("cluster  w%d shared %s: %s of %d blocks"), event->warp, verb(event->kind), symbol,
                   count);
    pane_note(out, out->columns < 100 ? tr("wavefronts not modelled")
                                      : tr("wavefronts between blocks are not modelled"));
}

static void draw_peer(const StepContext *context, const PeerBlock *peer, Canvas *canvas, Rectangle area,
                      int row) {
    TraceEvent event;
    char words[64], lanes[64];
    trace_block_read(context->steps->block, peer->event, &event);
    bool has_lane = event.mask >> context->view->selection.lane & 1,
         is_store = event.kind == TRACE_SHARED_STORE;
    const char *arrow = event.kind == TRACE_SHARED_LOAD ? "──▶" : is_store ? "◀──" : "◀─▶";
    /* "block_sum[0]", "sums[0..31]". */
    char symbol[48];
    uint64_t least = UINT64_MAX, most = 0, each = (uint64_t)(event.element_bytes ? event.element_bytes : 1);
    int first = __builtin_ctz(event.mask);
    for (uint32_t rest = event.mask; rest; rest &= rest - 1) {
        uint64_t offset = event.offset[__builtin_ctz(rest)];
        if (offset < least) least = offset;
        if (offset > most) most = offset;
    }
    step_context_print_symbol(context, event.buffer[first], symbol, sizeof symbol);
    if (least == most)
        snprintf(words, sizeof words, "%s[%llu]", symbol, (unsigned long long)(least / each));
    else
        snprintf(words, sizeof words, "%s[%llu..%llu]", symbol, (unsigned long long)(least / each),
                 (unsigned long long)(most / each));
    step_context_describe_lanes(event.mask, lanes, sizeof lanes);
    canvas_print(canvas, area, BLOCK_COLUMN, row, has_lane ? ROLE_CURRENT : ROLE_TEXT, "block %u%s",
                 peer->block, peer->is_own ? tr(" (own)") : "");
    canvas_text(canvas, area, WORD_COLUMN, row, ROLE_TEXT, words);
    canvas_text(canvas, area, ARROW_COLUMN, row, peer->is_own ? ROLE_DIM : ROLE_ACTIVE, arrow);
    canvas_text(canvas, area, LANE_COLUMN, row, has_lane ? ROLE_SELECTED : ROLE_TEXT, lanes);
    int column = VALUE_COLUMN;
    for (uint32_t rest = event.mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        char value[48];
        uint64_t bits = event.has_result ? event.value[0][lane] : event.operand[lane];
        step_context_print_value(context, bits, 0, value, sizeof value);
        if (column + canvas_text_columns(value) + 4 > area.columns) {
            canvas_text(canvas, area, column, row, ROLE_DIM, "...");
            return;
        }
        bool is_selected = lane == context->view->selection.lane;
        column +=
            1 + canvas_print(canvas, area, column, row, is_selected ? ROLE_SELECTED : ROLE_TEXT, "%s", value);
    }
}

void peers_draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    PeerBlock peers[PEERS_MOST];
    int count = peers_list(context, peers), row = 0;
    const char *what = context->event.kind == TRACE_SHARED_LOAD    ? tr("loads")
                       : context->event.kind == TRACE_SHARED_STORE ? tr("stores")
                                                                   : tr("operands, or old values");
    if (count < area.rows) {
        canvas_text(canvas, area, BLOCK_COLUMN, row, ROLE_DIM, tr("shared memory of"));
        canvas_text(canvas, area, WORD_COLUMN, row, ROLE_DIM, "word");
        canvas_print(canvas, area, LANE_COLUMN, row, ROLE_DIM, tr("w%d of block %u"), context->event.warp,
                     trace_block_linear(context->steps->block));
        canvas_text(canvas, area, VALUE_COLUMN, row++, ROLE_DIM, what);
    }
    int room = area.rows - row, shown = count <= room ? count : room - 1;
    for (int i = 0; i < shown; i++) draw_peer(context, &peers[i], canvas, area, row++);
    if (shown < count)
        canvas_print(canvas, area, BLOCK_COLUMN, row, ROLE_DIM, tr("%d more blocks"), count - shown);
}

void peers_explain(const StepContext *context, Text *out) {
    PeerBlock peers[PEERS_MOST];
    int count = peers_list(context, peers), others = 0;
    const char *does = context->event.kind == TRACE_SHARED_LOAD    ? tr("reads")
                       : context->event.kind == TRACE_SHARED_STORE ? tr("writes")
                                                                   : tr("updates");
    for (int i = 0; i < count; i++) others += !peers[i].is_own;
    if (others == 1)
        for (int i = 0; i < count; i++)
            if (!peers[i].is_own)
                text_print(out, tr("w%d %s shared memory of block %u, which belongs to the same cluster."),
                           context->event.warp, does, peers[i].block);
    if (others > 1)
        text_print(out, tr("w%d %s shared memory of %d other blocks of its cluster."), context->event.warp,
                   does, others);
}
