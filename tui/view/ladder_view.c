#include "tui/view/ladder_view.h"

#include "base/language.h"
#include "tui/view/key_actions.h"

#include <stdio.h>
#include <string.h>

/* ---- which timings ------------------------------------------------------------------------------------- */

static bool has_rungs(const Measurements *list) {
    for (int i = 0; list && i < list->timing_count; i++) {
        const CatalogRow *row = catalog_find(list->timings[i].kernel, NULL);
        if (row && row->group == CATALOG_LADDER) return true;
    }
    return false;
}

/* The timings that the screens show: live if this GPU was timed, else recorded; NULL: neither. */
static const Measurements *measurements_from(const View *view, const Scene *scene, bool *is_live) {
    const SceneTimings *timings = scene->borrowed.timings;
    *is_live = timings && !view->display.ladder.recorded && has_rungs(timings->live);
    return !timings ? NULL : *is_live ? timings->live : timings->recorded;
}

bool view_ladder_gather(const View *view, const Scene *scene, Ladder *out, bool *is_live) {
    const Measurements *from = measurements_from(view, scene, is_live);
    LadderOf of = {.dtype = view->display.ladder.dtype,
                   .op = *scene->identity.op ? scene->identity.op : "sum",
                   .way = view->display.times,
                   .alone = view->display.times_alone};
    if (from) ladder_gather(out, from, scene->borrowed.timings->live, &of);
    return from != NULL;
}

void view_ladder_open(View *view, const Scene *scene) {
    Ladder ladder;
    bool is_live;
    ViewLadder *shown = &view->display.ladder;
    view->transient.overlay = OVERLAY_LADDER;
    view->transient.behind = OVERLAY_NONE;
    shown->n = scene->identity.n;
    snprintf(shown->dtype, sizeof shown->dtype, "%s", *scene->identity.dtype ? scene->identity.dtype : "int");
    if (!view_ladder_gather(view, scene, &ladder, &is_live)) return;
    int row = ladder_find_row(&ladder, scene->identity.kernel);
    if (!ladder.row_count) snprintf(shown->dtype, sizeof shown->dtype, "int");
    view_ladder_select(view, &ladder, row < 0 ? 0 : row, ladder_find_size(&ladder, shown->n ? shown->n : 1));
}

void view_ladder_select(View *view, const Ladder *ladder, int row, int size) {
    ViewLadder *shown = &view->display.ladder;
    shown->row = row >= ladder->row_count ? ladder->row_count - 1 : row;
    if (shown->row < 0) shown->row = 0;
    if (size >= ladder->size_count) size = ladder->size_count - 1;
    shown->n = ladder->sizes[size < 0 ? 0 : size];
}

/* ---- keys ---------------------------------------------------------------------------------------------- */

/* Selects the next type that was timed. */
static void next_type(View *view, const Scene *scene, int direction) {
    const char *types[LADDER_TYPES];
    ViewLadder *shown = &view->display.ladder;
    const SceneTimings *timings = scene->borrowed.timings;
    if (!timings || !timings->recorded) return;
    int count = ladder_types(timings->recorded, types), at = 0;
    if (!count) return;
    while (at < count && strcmp(types[at], shown->dtype) != 0) at++;
    at = at == count ? 0 : (at + direction + count) % count;
    snprintf(shown->dtype, sizeof shown->dtype, "%s", types[at]);
}

/* Requests the selected rung, or a comparison with the one above. */
static ViewAnswer choose(View *view, const Ladder *ladder, bool compare) {
    const ViewLadder *shown = &view->display.ladder;
    const LadderRow *row = &ladder->rows[shown->row];
    ViewRung *rung = &view->transient.rung;
    int above = shown->row - 1;
    if (!ladder->row_count || !row->row || (compare && (above < 0 || !ladder->rows[above].row))) {
        view_say(view, "%s",
                 compare ? tr("no kernel of the catalogue is in the row above")
                         : tr("this is no kernel of the catalogue: there is nothing to open"));
        return VIEW_CHANGED;
    }
    *rung = (ViewRung){.n = shown->n};
    snprintf(rung->kernel, sizeof rung->kernel, "%s", compare ? ladder->rows[above].id : row->id);
    if (compare) snprintf(rung->beside, sizeof rung->beside, "%s", row->id);
    snprintf(rung->dtype, sizeof rung->dtype, "%s", ladder->of.dtype);
    view->transient.overlay = OVERLAY_NONE;
    return VIEW_RUNG;
}

static ViewAnswer press_in_latencies(View *view, const Scene *scene, KeyPress press) {
    switch (press.action) {
    case ACT_LINE:
        view->transient.scroll += press.direction;
        if (view->transient.scroll < 0) view->transient.scroll = 0;
        return VIEW_CHANGED;
    case ACT_LADDER:
        view_ladder_open(view, scene);
        return VIEW_CHANGED;
    default:
        return VIEW_IGNORED;
    }
}

/* Keys that change the contents of the table. */
static bool change_table(View *view, const Scene *scene, const Ladder *before, KeyPress press) {
    Ladder ladder;
    bool is_live;
    ViewDisplay *display = &view->display;
    if (press.key == 'a') {
        display->ladder.published = !display->ladder.published;
    } else if (press.key == 't' || press.key == 'T') {
        next_type(view, scene, press.key == 't' ? 1 : -1);
        if (view_ladder_gather(view, scene, &ladder, &is_live))
            view_ladder_select(view, &ladder, display->ladder.row,
                               ladder_find_size(before, display->ladder.n));
    } else if (press.action == ACT_TIMES && press.direction > 0) {
        display->times = (display->times + 1) % TIMES_WAY_COUNT;
    } else if (press.action == ACT_TIMES) {
        display->times_alone = !display->times_alone;
    } else {
        return false;
    }
    return true;
}

/* Keys that move the selection. */
static bool move(View *view, const Ladder *ladder, KeyPress press) {
    enum { PAGE = 10 };
    int row = view->display.ladder.row, size = ladder_find_size(ladder, view->display.ladder.n);
    switch (press.action) {
    case ACT_LINE:
        row += press.direction;
        break;
    case ACT_BEAT:
        size += press.direction;
        break;
    case ACT_PAGE:
        row += PAGE * press.direction;
        break;
    case ACT_BEGIN:
        row = 0;
        break;
    case ACT_END:
        row = ladder->row_count - 1;
        break;
    default:
        return false;
    }
    view_ladder_select(view, ladder, row, size);
    return true;
}

static ViewAnswer press_in_table(View *view, const Scene *scene, KeyPress press) {
    Ladder ladder;
    bool is_live;
    if (!view_ladder_gather(view, scene, &ladder, &is_live)) return VIEW_IGNORED;
    if (press.key == SPECIAL_ENTER) return choose(view, &ladder, false);
    if (press.action == ACT_COMPARE && press.direction > 0) return choose(view, &ladder, true);
    if (press.action == ACT_LADDER) {
        view->transient.overlay = OVERLAY_LATENCY;
        view->transient.scroll = 0;
        return VIEW_CHANGED;
    }
    return change_table(view, scene, &ladder, press) || move(view, &ladder, press) ? VIEW_CHANGED
                                                                                   : VIEW_IGNORED;
}

ViewAnswer view_ladder_press(View *view, const Scene *scene, KeyPress press) {
    if (press.key == SPECIAL_ESCAPE || press.action == ACT_QUIT) {
        view->transient.overlay = OVERLAY_NONE;
        return VIEW_CHANGED;
    }
    if (press.key == 'm') {
        /* Cycles through the live timings, if any, and each machine's recordings. */
        const SceneTimings *timings = scene->borrowed.timings;
        ViewLadder *shown = &view->display.ladder;
        if (timings && has_rungs(timings->live) && !shown->recorded) {
            shown->recorded = true;
            return VIEW_CHANGED;
        }
        shown->recorded = false;
        return VIEW_MACHINE;
    }
    return view->transient.overlay == OVERLAY_LATENCY ? press_in_latencies(view, scene, press)
                                                      : press_in_table(view, scene, press);
}
