#include "tui/comparison.h"
#include "tui/differences.h"

#include "base/language.h"
#include "tui/input.h"
#include "tui/race.h"
#include <string.h>

void comparison_init(Comparison *comparison, const Scene *scene) {
    *comparison = (Comparison){.scene = {scene, NULL}, .count = 1, .linked = true, .losing = NO_RACE};
    view_init(&comparison->view[0]);
    view_open(&comparison->view[0], scene);
}

View *comparison_view(Comparison *comparison) {
    return &comparison->view[comparison->active];
}
const Scene *comparison_scene(const Comparison *comparison) {
    return comparison->scene[comparison->active];
}

void comparison_put(Comparison *comparison, int index, const Scene *scene) {
    comparison->count = 2;
    comparison->active = !index;
    comparison->linked = true;
    comparison->scene[index] = scene;
    comparison->losing = NO_RACE;
    view_init(&comparison->view[index]);
    comparison_follow(comparison);
}

void comparison_put_race(Comparison *comparison, int index, const AskRace *race) {
    comparison->losing = index;
    comparison->race = *race;
    comparison_follow(comparison);
}

void comparison_put_change(Comparison *comparison, const Scene *after, const char *what) {
    View fresh, *before = &comparison->view[0];
    view_init(&fresh);
    comparison->view[1] = *before;
    before->transient = fresh.transient;
    comparison->scene[1] = after;
    comparison->count = 2;
    comparison->active = 1;
    comparison->linked = true;
    snprintf(comparison->change, sizeof comparison->change, "%s", what);
    keep_place(&comparison->view[1], comparison->scene[0], after);
    comparison_follow(comparison);
}

void comparison_leave(Comparison *comparison) {
    if (comparison->active) {
        comparison->scene[0] = comparison->scene[1];
        comparison->view[0] = comparison->view[1];
    }
    comparison->count = 1;
    comparison->active = 0;
    comparison->exchanged = false;
    comparison->change[0] = 0;
    comparison->losing = NO_RACE;
    comparison->scene[1] = NULL;
    comparison->view[0].display.timeline_steps = 0;
}

/* ---- following by progress ----------------------------------------------------------------------------- */

/* The first step with at least this progress; the last step if there is no such step. */
static int first_step(const double *progress, int count, double wanted) {
    int low = 0, high = count - 1;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (progress[middle] >= wanted)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Steps first .. last have the same progress as the step `at`. */
static void find_plateau(const double *progress, int count, int at, int *first, int *last) {
    *first = first_step(progress, count, progress[at]);
    *last = at;
    while (*last + 1 < count && progress[*last + 1] <= progress[at]) ++*last;
}

/* The steps of two stretches in pairs of one kind, in order: the step of `in` that the step `at` of `of`
 * comes to. */
static int pair_step(const StepIndex *of, int first, int at, const StepIndex *in, int in_first, int in_last) {
    int paired = in_first, from = in_first;
    for (int step = first; step <= at; step++)
        for (int other = from; other <= in_last; other++)
            if (in->step[other].kind == of->step[step].kind) {
                paired = other;
                from = other + 1;
                break;
            }
    return paired;
}

/* The first step with at least the same progress. Between two gains of progress both runs do the same kind of
 * work (a barrier, a condition, two loads), so if both have exactly the same progress, the steps between two
 * gains correspond by their kinds; in long stretches in proportion. */
static int step_beside(const Scene *of, const View *view, const Scene *in, int in_block) {
    enum { PAIRED_STEPS = 64 };
    const double rounding = 1e-9;
    const double *progress = scene_progress(of, view->place.block), *other = scene_progress(in, in_block);
    int count = of->traced.blocks[view->place.block].steps->step_count,
        other_count = in->traced.blocks[in_block].steps->step_count;
    int first, last, other_first, other_last;
    if (!other_count || view->place.step >= count) return 0;
    int found = first_step(other, other_count, progress[view->place.step] - rounding);
    if (other[found] > progress[view->place.step] + rounding) return found;
    find_plateau(progress, count, view->place.step, &first, &last);
    find_plateau(other, other_count, found, &other_first, &other_last);
    if (last == first) return other_first;
    if (last - first < PAIRED_STEPS && other_last - other_first < PAIRED_STEPS)
        return pair_step(scene_step_index(of, view->place.block), first, view->place.step,
                         scene_step_index(in, in_block), other_first, other_last);
    return other_first +
           ((view->place.step - first) * (other_last - other_first) + (last - first) / 2) / (last - first);
}

static int steps_of(const Scene *scene, int block) {
    return block < scene->traced.block_count ? scene->traced.blocks[block].steps->step_count : 0;
}

/* The same kernel, whose values say nothing about progress: then the same visit of the same line
 * corresponds. */
static bool is_alike(const Scene *of, const Scene *in, int block) {
    Reduction *reduction = scene_reduction(of, block);
    bool has_folds = reduction && reduction_fold_count(reduction);
    return !has_folds && !strcmp(of->identity.kernel, in->identity.kernel);
}

static void follow(Comparison *comparison) {
    int other = !comparison->active;
    const View *lead = &comparison->view[comparison->active];
    View *view = &comparison->view[other];
    view_show_alike(view, lead);
    if (!comparison->linked) return;
    const Scene *of = comparison->scene[comparison->active], *in = comparison->scene[other];
    view->selection.warp = lead->selection.warp;
    view->selection.lane = lead->selection.lane;
    if (lead->place.block >= of->traced.block_count || !in->traced.block_count) return;
    if (comparison->change[0] || comparison->losing != NO_RACE || is_alike(of, in, lead->place.block)) {
        View there = *lead;
        keep_place(&there, of, in);
        view->place = there.place;
        return;
    }
    /* The corresponding block: the first traced one of the same launch, or of the last launch if there are
     * fewer. */
    int found = 0;
    for (int i = 0; i < in->traced.block_count; i++) {
        if (in->traced.blocks[i].launch > of->traced.blocks[lead->place.block].launch) break;
        if (in->traced.blocks[i].launch != in->traced.blocks[found].launch) found = i;
    }
    view->place.block = found;
    view_go_to_step(view, in, step_beside(of, lead, in, view->place.block));
}

void comparison_follow(Comparison *comparison) {
    if (comparison->count < 2) return;
    follow(comparison);
    /* Both timelines have the scale of the longer run. */
    int longest = 0;
    for (int i = 0; i < 2; i++) {
        int steps = steps_of(comparison->scene[i], comparison->view[i].place.block);
        if (steps > longest) longest = steps;
    }
    for (int i = 0; i < 2; i++) comparison->view[i].display.timeline_steps = longest;
}

/* Called after a key that may move the active view. */
static void follow_move(Comparison *comparison, const View *before) {
    View *view = comparison_view(comparison);
    if (comparison->count < 2) return;
    if (view->place.block != before->place.block || view->place.step != before->place.step)
        comparison_follow(comparison);
    else
        view_show_alike(&comparison->view[!comparison->active], view);
    if (!comparison->linked) return;
    comparison->view[!comparison->active].selection.warp = view->selection.warp;
    comparison->view[!comparison->active].selection.lane = view->selection.lane;
}

bool comparison_play(Comparison *comparison) {
    View before = *comparison_view(comparison);
    bool moved = view_play(comparison_view(comparison), comparison_scene(comparison));
    follow_move(comparison, &before);
    return moved;
}

void comparison_go_to_step(Comparison *comparison, int step) {
    View before = *comparison_view(comparison);
    view_go_to_step(comparison_view(comparison), comparison_scene(comparison), step);
    follow_move(comparison, &before);
}

/* ---- keys ---------------------------------------------------------------------------------------------- */

static void make_other_active(Comparison *comparison) {
    View *from = comparison_view(comparison);
    bool playing = from->transient.playing;
    from->transient.playing = false;
    comparison->active = !comparison->active;
    comparison_view(comparison)->transient.playing = playing;
}

static ViewAnswer press_alone(Comparison *comparison) {
    View *view = comparison_view(comparison);
    view_say(view, tr("nothing to compare with; c opens a second kernel beside this one"));
    return VIEW_CHANGED;
}

ViewAnswer comparison_press(Comparison *comparison, KeyPress press) {
    View before = *comparison_view(comparison);
    ViewAnswer answer = input_press(comparison_view(comparison), comparison_scene(comparison), press);
    bool is_of_two =
        answer == VIEW_OTHER || answer == VIEW_EXCHANGE || answer == VIEW_LINK || answer == VIEW_ALONE;
    if (press.key == SPECIAL_ESCAPE && answer == VIEW_ALONE && comparison->count < 2) return VIEW_CHANGED;
    if (is_of_two && comparison->count < 2) return press_alone(comparison);
    if (comparison_view(comparison)->transient.overlay == OVERLAY_DIFFERENCES && comparison->count < 2 &&
        !comparison_scene(comparison)->borrowed.before) {
        comparison_view(comparison)->transient.overlay = OVERLAY_NONE;
        return press_alone(comparison);
    }
    switch (answer) {
    case VIEW_OTHER:
        make_other_active(comparison);
        return VIEW_CHANGED;
    case VIEW_EXCHANGE:
        comparison->exchanged = !comparison->exchanged;
        return VIEW_CHANGED;
    case VIEW_LINK:
        comparison->linked = !comparison->linked;
        comparison_follow(comparison);
        return VIEW_CHANGED;
    default:
        follow_move(comparison, &before);
        return answer;
    }
}

/* ---- the screen ---------------------------------------------------------------------------------------- */

/* Where run `index` is drawn. */
static int place_of(const Comparison *comparison, int index) {
    return index ^ (int)comparison->exchanged;
}

/* Where the runs are drawn; returns how many are. Where two do not fit, one may. */
static int lay_out(const Comparison *comparison, int columns, int rows, ComparisonLayout *out) {
    const View *view = &comparison->view[comparison->active];
    ComparisonHead above = comparison->change[0]           ? HEAD_CHANGE
                           : comparison->losing != NO_RACE ? HEAD_RACE
                                                           : HEAD_NONE;
    if (comparison->count > 1 && layout_make_comparison(columns, rows, view, above, out)) return 2;
    LayoutNeeds needs = frame_needs(comparison->scene[comparison->active], view);
    bool fits = layout_make(columns, rows, view, needs, &out->half[0]);
    out->overlay = out->half[0].overlay;
    return fits;
}

static const Layout *layout_of(const Comparison *comparison, const ComparisonLayout *layout, int index) {
    return &layout->half[comparison->count > 1 ? place_of(comparison, index) : 0];
}

static void draw_differences(const Comparison *comparison, Canvas *canvas, const ComparisonLayout *layout) {
    Differences differences;
    int left = place_of(comparison, 0) == 0 || comparison->change[0] ? 0 : 1;
    differences_init(&differences, comparison->scene[left], &comparison->view[left], comparison->scene[!left],
                     &comparison->view[!left], comparison->linked);
    if (comparison->change[0]) {
        differences.name[0] = tr("before");
        differences.name[1] = tr("after");
        change_draw(&differences, comparison->scene, comparison->change, canvas, layout->differences,
                    layout->boxed);
    } else if (comparison->losing != NO_RACE) {
        race_draw(&comparison->race, place_of(comparison, comparison->losing), canvas, layout->differences,
                  layout->boxed);
    } else {
        differences_draw(&differences, canvas, layout->differences, layout->boxed);
    }
    if (comparison->view[left].transient.hides) canvas_hide_figures(canvas, layout->differences);
    const View *view = &comparison->view[comparison->active];
    if (view->transient.overlay == OVERLAY_DIFFERENCES)
        differences_draw_all(&differences, canvas, layout->overlay, view->transient.scroll);
    if (view->transient.overlay == OVERLAY_DIFFERENCES && view->transient.hides)
        canvas_hide_figures(canvas, layout->overlay);
}

void comparison_change(const Comparison *comparison, Differences *out) {
    const Scene *scene = comparison->scene[comparison->active], *before = scene->borrowed.before;
    const View *view = &comparison->view[comparison->active];
    View then = *view;
    keep_place(&then, scene, before);
    differences_init(out, before, &then, scene, view, true);
    out->name[0] = tr("before");
    out->name[1] = tr("after");
    out->settings[0] = 0;
}

void comparison_draw(const Comparison *comparison, Canvas *canvas) {
    const View *view = &comparison->view[comparison->active];
    const Scene *scene = comparison->scene[comparison->active];
    ComparisonLayout layout;
    int count = lay_out(comparison, canvas->columns, canvas->rows, &layout);
    if (count < 2) {
        Differences change;
        frame_draw(scene, view, canvas);
        bool is_asked = view->transient.overlay == OVERLAY_DIFFERENCES && scene->borrowed.before;
        if (!is_asked || count < comparison->count) return;
        comparison_change(comparison, &change); /* what the last edit changed */
        differences_draw_all(&change, canvas, layout.overlay, view->transient.scroll);
        return;
    }
    canvas_clear(canvas);
    StepContext context[2];
    bool has_step[2];
    for (int i = 0; i < 2; i++)
        has_step[i] = step_context_init(&context[i], comparison->scene[i], &comparison->view[i]);
    for (int i = 0; i < 2; i++) {
        const Layout *half = &layout.half[place_of(comparison, i)];
        frame_draw_run(comparison->scene[i], &comparison->view[i], has_step[!i] ? &context[!i] : NULL, half,
                       canvas);
        /* Marks the active run; only its name is bright. */
        bool is_active = i == comparison->active;
        for (int column = 0; !is_active && column < half->header.columns; column++) {
            Cell *cell = canvas_cell(canvas, half->header, column, 0);
            if (cell && cell->role == ROLE_HEADER) cell->role = ROLE_DIM;
            if (cell) cell->reverse = 0;
        }
        Role role = is_active ? ROLE_HEADER : ROLE_DIM;
        if (comparison->change[0]) { /* in the place of "redviz" */
            canvas_text(canvas, half->header, 1, 0, role, "      ");
            canvas_text(canvas, half->header, 1, 0, role, i ? tr("after") : tr("before"));
        }
        if (is_active) canvas_text(canvas, half->header, 0, 0, ROLE_HEADER, ">");
    }
    frame_draw_footer(scene, view, canvas, layout.footer);
    draw_differences(comparison, canvas, &layout);
    frame_draw_overlay(scene, view, layout.overlay, canvas);
}

bool comparison_shows(const Comparison *comparison, int columns, int rows, const Pane *pane) {
    ComparisonLayout layout;
    int count = lay_out(comparison, columns, rows, &layout), active = comparison->active;
    if (count < comparison->count)
        return count && frame_shows(comparison->scene[active], &comparison->view[active], layout.half, pane);
    for (int i = 0; i < count; i++)
        if (frame_shows(comparison->scene[i], &comparison->view[i], layout_of(comparison, &layout, i), pane))
            return true;
    return false;
}

void comparison_fit(Comparison *comparison, int columns, int rows) {
    View *view = comparison_view(comparison);
    ComparisonLayout layout;
    bool fits = lay_out(comparison, columns, rows, &layout) == comparison->count;
    Overlay overlay = view->transient.overlay;
    if (!fits || (overlay != OVERLAY_HELP && overlay != OVERLAY_WORDS && overlay != OVERLAY_DIFFERENCES &&
                  overlay != OVERLAY_OUTPUT && overlay != OVERLAY_DIFF))
        return;
    Rectangle area = layout.overlay;
    int last = input_overlay_lines(view, comparison_scene(comparison), area.columns - 4) - (area.rows - 2);
    if (view->transient.scroll > last) view->transient.scroll = last > 0 ? last : 0;
}

ViewAnswer comparison_click(Comparison *comparison, int columns, int rows, int column, int row) {
    ComparisonLayout layout;
    View before = *comparison_view(comparison);
    if (comparison->count < 2)
        return frame_click(comparison->scene[0], &comparison->view[0], columns, rows, column, row);
    if (lay_out(comparison, columns, rows, &layout) < 2) return VIEW_IGNORED;
    if (before.transient.overlay != OVERLAY_NONE) {
        Layout whole = {.overlay = layout.overlay};
        return frame_click_in(comparison_scene(comparison), comparison_view(comparison), &whole, column, row);
    }
    for (int i = 0; i < 2; i++) {
        const Layout *half = &layout.half[place_of(comparison, i)];
        if (!layout_holds(half->area, column, row)) continue;
        if (i != comparison->active) make_other_active(comparison);
        before = *comparison_view(comparison);
        frame_click_in(comparison->scene[i], comparison_view(comparison), half, column, row);
        follow_move(comparison, &before);
        return VIEW_CHANGED;
    }
    return VIEW_IGNORED;
}

Rectangle comparison_timeline_at(const Comparison *comparison, int columns, int rows, int column, int row) {
    ComparisonLayout layout;
    Rectangle found = {0};
    int count = lay_out(comparison, columns, rows, &layout);
    for (int i = 0; i < count && count == comparison->count && !found.rows; i++)
        found = frame_timeline_at(comparison->scene[i], &comparison->view[i],
                                  layout_of(comparison, &layout, i), column, row);
    return found;
}

ViewAnswer comparison_scrub(Comparison *comparison, int columns, int rows, Rectangle timeline, int column) {
    ViewPosition back = comparison_view(comparison)->place.back;
    int last = timeline.column + timeline.columns - 1;
    column = column < timeline.column ? timeline.column : column > last ? last : column;
    ViewAnswer answer = comparison_click(comparison, columns, rows, column, timeline.row);
    comparison_view(comparison)->place.back = back;
    return answer;
}
