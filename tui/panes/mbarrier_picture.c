/* The mbarriers of a block and its warps, as of a step (mbarrier_picture.h).
 *
 *     >full[0] phase 2, parity 0: 1 of 1 arrived, 1,024 bytes on the way   empty[0] phase 1, ...
 *      warp 0     producer  waits for empty[1], phase 0; not yet: warp 2
 *      warp 1     consumer  line 61 */
#include "tui/panes/mbarrier_picture.h"

#include "base/language.h"
#include "base/sentence.h"
#include "tui/scene/mbarrier_state.h"
#include "tui/scene/scene_copies.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How much is said of an mbarrier: all, bytes as B, numbers only. */
typedef enum Brevity { SAY_ALL, SAY_B, SAY_NUMBERS } Brevity;

enum { NAME_BYTES = 80, ROW_BYTES = 240, GAP = 2, ROWS_OF_WARPS = 2 };

typedef struct MbarrierPicture {
    const StepContext *context;
    const MbarrierState *state;
    char names[MOST_MBARRIERS][NAME_BYTES];
    char rows[MOST_MBARRIERS][ROW_BYTES];
    int name_columns, row_columns; /* of the widest */
    char warps[MOST_MBARRIER_WARPS][ROW_BYTES];
} MbarrierPicture;

/* ---- words --------------------------------------------------------------------------------------------- */

/* ", 1,024 of 2,048 bytes requested", ", 2,048 bytes on the way" */
static void print_bytes(const MbarrierPicture *picture, const TracedMbarrier *mbarrier, Brevity brevity,
                        char *out, size_t bytes) {
    CountText expected, ordered;
    bool is_known = !picture->state->has_unknown_copies && mbarrier->expected >= 0;
    *out = 0;
    if (!mbarrier->expected && !mbarrier->ordered) return;
    count_text((uint64_t)llabs(mbarrier->expected), &expected);
    count_text((uint64_t)mbarrier->ordered, &ordered);
    if (!is_known)
        snprintf(out, bytes, brevity != SAY_ALL ? tr(", %s B") : tr(", expects %s bytes"), expected.text);
    else if (mbarrier->ordered == mbarrier->expected)
        snprintf(out, bytes, brevity != SAY_ALL ? tr(", %s B") : tr(", %s bytes on the way"), expected.text);
    else
        snprintf(out, bytes, brevity != SAY_ALL ? tr(", %s/%s B") : tr(", %s of %s bytes requested"),
                 ordered.text, expected.text);
}

static void print_mbarrier(const MbarrierPicture *picture, const TracedMbarrier *mbarrier, Brevity brevity,
                           char *out, size_t bytes) {
    char copies[80];
    long long arrived = mbarrier->count - mbarrier->pending, count = mbarrier->count;
    unsigned long long phase = mbarrier->phase;
    if (mbarrier_is_between_phases(mbarrier)) {
        snprintf(out, bytes,
                 brevity == SAY_NUMBERS ? tr("phase %llu (%llu) complete")
                                        : tr("phase %llu, parity %llu: complete"),
                 phase - 1, (phase - 1) & 1);
        return;
    }
    print_bytes(picture, mbarrier, brevity, copies, sizeof copies);
    snprintf(out, bytes,
             brevity == SAY_NUMBERS ? tr("phase %llu (%llu) %lld/%lld%s")
                                    : tr("phase %llu, parity %llu: %lld of %lld arrived%s"),
             phase, phase & 1, arrived, count, copies);
}

static void print_warps(uint32_t warps, int count, char *out, size_t bytes) {
    bool chosen[MOST_MBARRIER_WARPS];
    for (int w = 0; w < count; w++) chosen[w] = warps >> w & 1;
    step_context_describe_warps(chosen, count, out, bytes);
}

/* "waits for empty[1], phase 0; not yet: warp 2" */
static void print_wait(const MbarrierPicture *picture, const MbarrierWarp *warp, char *out, size_t bytes) {
    const TracedMbarrier *mbarrier = &picture->state->mbarriers[warp->mbarrier];
    uint32_t missing = mbarrier_missing_warps(mbarrier);
    const char *name = picture->names[warp->mbarrier];
    char warps[80];
    print_warps(missing, picture->state->warp_count, warps, sizeof warps);
    if (missing)
        snprintf(out, bytes, tr("waits for %s, phase %llu; not yet: %s"), name,
                 (unsigned long long)warp->phase, warps);
    else
        snprintf(out, bytes, tr("waits for %s, phase %llu"), name, (unsigned long long)warp->phase);
}

static void print_warp(const MbarrierPicture *picture, const MbarrierWarp *warp, char *out, size_t bytes) {
    const StepContext *context = picture->context;
    const TraceBlock *block = context->steps->block;
    bool consumes = warp->waits_for_copies && warp->loads_copied;
    const char *role = warp->orders_copies && consumes ? tr("producer, consumer")
                       : warp->orders_copies           ? tr("producer")
                       : consumes                      ? tr("consumer")
                                                       : "";
    int line = warp->event == NO_MBARRIER ? 0 : async_copy_line(context->launch, block, warp->event);
    char does[160];
    TraceEvent event = {0};
    if (warp->event != NO_MBARRIER) trace_block_read_header(block, warp->event, &event);
    if (warp->activity == WARP_WAITS)
        print_wait(picture, warp, does, sizeof does);
    else if (warp->event == NO_MBARRIER)
        snprintf(does, sizeof does, tr("no event yet"));
    else if (warp->activity == WARP_HAS_ENDED)
        snprintf(does, sizeof does, tr("no event follows line %d"), line);
    else
        snprintf(does, sizeof does,
                 trace_kind_is_bulk(event.kind) ? tr("line %d: orders a copy") : tr("line %d"), line);
    snprintf(out, bytes, "%s%s%s", role, *role ? "  " : "", does);
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

static void print_rows(MbarrierPicture *picture, Brevity brevity) {
    picture->row_columns = 0;
    for (int i = 0; i < picture->state->count; i++) {
        print_mbarrier(picture, &picture->state->mbarriers[i], brevity, picture->rows[i], ROW_BYTES);
        int columns = canvas_text_columns(picture->rows[i]);
        if (columns > picture->row_columns) picture->row_columns = columns;
    }
}

/* Mbarriers beside each other in `rows` rows, in full columns if that is possible. */
static int columns_of(const MbarrierPicture *picture, int columns, int rows) {
    int count = picture->state->count;
    int most = (columns + GAP) / (1 + picture->name_columns + 1 + picture->row_columns + GAP);
    for (int few = most; few > 1; few--)
        if (count % few == 0 && count / few <= rows) return few;
    return most < 1 ? 1 : most;
}

/* Column by column; returns the row below them. If they do not fit, the rows around the step's mbarrier. */
static int draw_mbarriers(MbarrierPicture *picture, Canvas *canvas, Rectangle area, int row) {
    int columns = columns_of(picture, area.columns, area.rows - row - ROWS_OF_WARPS);
    int count = picture->state->count, rows = (count + columns - 1) / columns;
    int width = (area.columns + GAP) / columns, shown = rows, here = 0;
    if (shown > area.rows - row) shown = area.rows - row;
    for (int i = 0; i < count; i++)
        if (picture->state->mbarriers[i].is_here) here = i % rows;
    int first = canvas_first_shown(here, shown, rows);
    for (int i = 0; i < count; i++) {
        int y = i % rows - first, x = i / rows * width;
        bool is_here = picture->state->mbarriers[i].is_here;
        Role role = is_here ? ROLE_LIT : ROLE_TEXT;
        if (y < 0 || y >= shown) continue;
        canvas_text(canvas, area, x, row + y, role, is_here ? ">" : " ");
        canvas_print(canvas, area, x + 1, row + y, role, "%-*s %s", picture->name_columns, picture->names[i],
                     picture->rows[i]);
    }
    return row + shown;
}

/* One row for all warps that do the same. */
static void draw_warps(MbarrierPicture *picture, Canvas *canvas, Rectangle area, int row) {
    const MbarrierState *state = picture->state;
    uint32_t drawn = 0;
    for (int w = 0; w < state->warp_count; w++)
        print_warp(picture, &state->warps[w], picture->warps[w], ROW_BYTES);
    for (int w = 0; w < state->warp_count && row < area.rows; w++) {
        uint32_t same = 0;
        char name[80];
        if (drawn >> w & 1) continue;
        for (int other = w; other < state->warp_count; other++)
            if (!strcmp(picture->warps[w], picture->warps[other])) same |= UINT32_C(1) << other;
        drawn |= same;
        print_warps(same, state->warp_count, name, sizeof name);
        bool waits = state->warps[w].activity == WARP_WAITS;
        int column = 1 + canvas_text(canvas, area, 1, row, ROLE_TEXT, name);
        canvas_text(canvas, area, (column < 10 ? 10 : column) + GAP, row++, waits ? ROLE_WARNING : ROLE_TEXT,
                    picture->warps[w]);
    }
}

void mbarrier_picture_draw(const StepContext *context, int event, Canvas *canvas, Rectangle area, int row) {
    MbarrierPicture *picture = memory_new(sizeof *picture);
    picture->context = context;
    picture->state = scene_mbarriers(context->scene, context->view->place.block, event);
    for (int i = 0; i < picture->state->count; i++) {
        mbarrier_print_name(context->launch, picture->state, i, picture->names[i], NAME_BYTES);
        int columns = canvas_text_columns(picture->names[i]);
        if (columns > picture->name_columns) picture->name_columns = columns;
    }
    int room = area.rows - row - ROWS_OF_WARPS, rows = room + 1;
    for (Brevity brevity = SAY_ALL; brevity <= SAY_NUMBERS && rows > room; brevity++) {
        print_rows(picture, brevity);
        int columns = columns_of(picture, area.columns, room);
        rows = (picture->state->count + columns - 1) / columns;
    }
    row = draw_mbarriers(picture, canvas, area, row);
    if (trace_cluster_blocks(context->launch) > 1)
        canvas_text(canvas, area, 1, row++, ROLE_DIM,
                    tr("arrivals and copies of other blocks of the cluster are not counted"));
    draw_warps(picture, canvas, area, row);
    free(picture);
}
