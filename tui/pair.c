#include "pair.h"

#include "place.h"

void pair_init(Pair *pair, const Scene *scene) {
    *pair = (Pair){.scene = {scene, NULL}, .count = 1, .linked = true};
    view_init(&pair->view[0], scene);
}

View *pair_view(Pair *pair) {
    return &pair->view[pair->active];
}
const Scene *pair_scene(const Pair *pair) {
    return pair->scene[pair->active];
}

void pair_put(Pair *pair, int index, const Scene *scene) {
    pair->count = 2;
    pair->active = !index;
    pair->linked = true;
    pair->scene[index] = scene;
    view_init(&pair->view[index], scene);
    pair_follow(pair);
}

void pair_leave(Pair *pair) {
    if (pair->active) {
        pair->scene[0] = pair->scene[1];
        pair->view[0] = pair->view[1];
    }
    pair->count = 1;
    pair->active = 0;
    pair->exchanged = false;
    pair->scene[1] = NULL;
}

/* ---- following by progress ----------------------------------------------------------------------------- */

/* The launch that corresponds: the same, or the last where there are fewer; its first traced block. */
static int view_beside(const Scene *of, int view, const Scene *in) {
    int found = 0;
    for (int i = 0; i < in->view_count; i++) {
        if (in->views[i].launch > of->views[view].launch) break;
        if (in->views[i].launch != in->views[found].launch) found = i;
    }
    return found;
}

/* The first step with at least this progress; the last step where there is none. */
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

/* Steps first .. last have come as far as the step `at`. */
static void find_plateau(const double *progress, int count, int at, int *first, int *last) {
    *first = first_step(progress, count, progress[at]);
    *last = at;
    while (*last + 1 < count && progress[*last + 1] <= progress[at]) ++*last;
}

/* The first step that has come as far. Between two gains of progress both runs do the same kind of work (a
 * barrier, a condition, two loads), so where both have come exactly as far, the steps in between go in
 * proportion. */
static int step_beside(const Scene *of, const View *view, const Scene *in, int in_view) {
    const double rounding = 1e-9;
    const double *progress = scene_progress(of, view->view), *other = scene_progress(in, in_view);
    int count = of->views[view->view].steps->step_count, other_count = in->views[in_view].steps->step_count;
    int first, last, other_first, other_last;
    if (!other_count || view->step >= count) return 0;
    int found = first_step(other, other_count, progress[view->step] - rounding);
    if (other[found] > progress[view->step] + rounding) return found;
    find_plateau(progress, count, view->step, &first, &last);
    find_plateau(other, other_count, found, &other_first, &other_last);
    if (last == first) return other_first;
    return other_first +
           ((view->step - first) * (other_last - other_first) + (last - first) / 2) / (last - first);
}

void pair_follow(Pair *pair) {
    if (pair->count < 2) return;
    int other = !pair->active;
    const View *lead = &pair->view[pair->active];
    View *view = &pair->view[other];
    view_show_alike(view, lead);
    if (!pair->linked) return;
    const Scene *of = pair->scene[pair->active], *in = pair->scene[other];
    view->warp = lead->warp;
    view->lane = lead->lane;
    if (lead->view >= of->view_count || !in->view_count) return;
    view->view = view_beside(of, lead->view, in);
    view_go_to_step(view, in, step_beside(of, lead, in, view->view));
}

/* After the active view was asked to move. */
static void follow_move(Pair *pair, const View *before) {
    View *view = pair_view(pair);
    if (pair->count < 2) return;
    if (view->view != before->view || view->step != before->step)
        pair_follow(pair);
    else
        view_show_alike(&pair->view[!pair->active], view);
    if (!pair->linked) return;
    pair->view[!pair->active].warp = view->warp;
    pair->view[!pair->active].lane = view->lane;
}

bool pair_play(Pair *pair) {
    View before = *pair_view(pair);
    bool moved = view_play(pair_view(pair), pair_scene(pair));
    follow_move(pair, &before);
    return moved;
}

void pair_go_to_step(Pair *pair, int step) {
    View before = *pair_view(pair);
    view_go_to_step(pair_view(pair), pair_scene(pair), step);
    follow_move(pair, &before);
}

/* ---- keys ---------------------------------------------------------------------------------------------- */

static void make_other_active(Pair *pair) {
    View *from = pair_view(pair);
    bool playing = from->playing;
    from->playing = false;
    pair->active = !pair->active;
    pair_view(pair)->playing = playing;
}

static ViewAnswer press_alone(Pair *pair) {
    View *view = pair_view(pair);
    snprintf(view->message, sizeof view->message,
             "nothing to compare with: c puts a second kernel beside this one");
    return VIEW_CHANGED;
}

ViewAnswer pair_press(Pair *pair, Key key) {
    View before = *pair_view(pair);
    ViewAnswer answer = view_press(pair_view(pair), pair_scene(pair), key);
    bool is_of_two =
        answer == VIEW_OTHER || answer == VIEW_EXCHANGE || answer == VIEW_LINK || answer == VIEW_ALONE;
    if (is_of_two && pair->count < 2) return press_alone(pair);
    if (pair_view(pair)->overlay == OVERLAY_DIFFERENCES && pair->count < 2 && !pair_scene(pair)->before) {
        pair_view(pair)->overlay = OVERLAY_NONE;
        return press_alone(pair);
    }
    switch (answer) {
    case VIEW_OTHER:
        make_other_active(pair);
        return VIEW_CHANGED;
    case VIEW_EXCHANGE:
        pair->exchanged = !pair->exchanged;
        return VIEW_CHANGED;
    case VIEW_LINK:
        pair->linked = !pair->linked;
        pair_follow(pair);
        return VIEW_CHANGED;
    default:
        follow_move(pair, &before);
        return answer;
    }
}

/* ---- the screen ---------------------------------------------------------------------------------------- */

/* Where run `index` is drawn. */
static int place_of(const Pair *pair, int index) {
    return index ^ (int)pair->exchanged;
}

static bool make_layout(const Pair *pair, int columns, int rows, PairLayout *layout) {
    return layout_make_pair(columns, rows, &pair->view[pair->active], layout);
}

/* The one that has the keys is marked, and its name alone is bright. */
static void mark_active(const Pair *pair, int index, Canvas *canvas, Rectangle header) {
    bool is_active = index == pair->active;
    for (int column = 0; !is_active && column < header.columns; column++) {
        Cell *cell = canvas_cell(canvas, header, column, 0);
        if (cell && cell->role == ROLE_HEADER) *cell = (Cell){.glyph = cell->glyph, .role = ROLE_DIM};
        if (cell) cell->reverse = 0;
    }
    if (is_active) canvas_text(canvas, header, 0, 0, ROLE_HEADER, ">");
}

static void draw_differences(const Pair *pair, Canvas *canvas, const PairLayout *layout) {
    Differences differences;
    int left = place_of(pair, 0) == 0 ? 0 : 1;
    differences_init(&differences, pair->scene[left], &pair->view[left], pair->scene[!left],
                     &pair->view[!left], pair->linked);
    differences_draw(&differences, canvas, layout->differences, layout->boxed);
    const View *view = &pair->view[pair->active];
    if (view->overlay == OVERLAY_DIFFERENCES)
        differences_draw_all(&differences, canvas, layout->overlay, view->scroll);
}

void pair_change(const Pair *pair, Differences *out) {
    const Scene *scene = pair->scene[pair->active], *before = scene->before;
    const View *view = &pair->view[pair->active];
    View then = *view;
    place_keep(&then, scene, before);
    differences_init(out, before, &then, scene, view, true);
    out->name[0] = "before";
    out->name[1] = "now";
    out->settings[0] = 0;
}

/* One run; on demand what its last edit changed. */
static void draw_one(const Pair *pair, Canvas *canvas) {
    Layout layout;
    Differences change;
    const View *view = &pair->view[0];
    frame_draw(pair->scene[0], view, canvas);
    if (view->overlay != OVERLAY_DIFFERENCES || !pair->scene[0]->before) return;
    if (!layout_make(canvas->columns, canvas->rows, view, &layout)) return;
    pair_change(pair, &change);
    differences_draw_all(&change, canvas, layout.overlay, view->scroll);
}

void pair_draw(const Pair *pair, Canvas *canvas) {
    const View *view = &pair->view[pair->active];
    const Scene *scene = pair->scene[pair->active];
    PairLayout layout;
    if (pair->count < 2) {
        draw_one(pair, canvas);
        return;
    }
    canvas_clear(canvas);
    if (!make_layout(pair, canvas->columns, canvas->rows, &layout)) {
        frame_draw_too_small(canvas, PAIR_SMALLEST_COLUMNS, PAIR_SMALLEST_ROWS);
        return;
    }
    for (int i = 0; i < 2; i++) {
        const Layout *half = &layout.half[place_of(pair, i)];
        frame_draw_run(pair->scene[i], &pair->view[i], half, canvas);
        mark_active(pair, i, canvas, half->header);
    }
    frame_draw_footer(view, canvas, layout.footer);
    draw_differences(pair, canvas, &layout);
    frame_draw_overlay(scene, view, layout.overlay, canvas);
}

bool pair_shows(const Pair *pair, int columns, int rows, const Pane *pane) {
    PairLayout both;
    Layout one;
    if (pair->count < 2)
        return layout_make(columns, rows, &pair->view[0], &one) &&
               frame_shows(pair->scene[0], &pair->view[0], &one, pane);
    if (!make_layout(pair, columns, rows, &both)) return false;
    return frame_shows(pair->scene[0], &pair->view[0], &both.half[place_of(pair, 0)], pane) ||
           frame_shows(pair->scene[1], &pair->view[1], &both.half[place_of(pair, 1)], pane);
}

void pair_fit(Pair *pair, int columns, int rows) {
    View *view = pair_view(pair);
    PairLayout both;
    Layout one;
    bool fits =
        pair->count < 2 ? layout_make(columns, rows, view, &one) : make_layout(pair, columns, rows, &both);
    if (!fits || (view->overlay != OVERLAY_HELP && view->overlay != OVERLAY_DIFFERENCES)) return;
    int last = view_overlay_lines(view) - ((pair->count < 2 ? one.overlay : both.overlay).rows - 2);
    if (view->scroll > last) view->scroll = last > 0 ? last : 0;
}

ViewAnswer pair_click(Pair *pair, int columns, int rows, int column, int row) {
    PairLayout layout;
    View before = *pair_view(pair);
    if (pair->count < 2) return frame_click(pair->scene[0], &pair->view[0], columns, rows, column, row);
    if (!make_layout(pair, columns, rows, &layout)) return VIEW_IGNORED;
    if (before.overlay != OVERLAY_NONE) {
        Layout whole = {.overlay = layout.overlay};
        return frame_click_in(pair_scene(pair), pair_view(pair), &whole, column, row);
    }
    for (int i = 0; i < 2; i++) {
        const Layout *half = &layout.half[place_of(pair, i)];
        if (!layout_holds(half->area, column, row)) continue;
        if (i != pair->active) make_other_active(pair);
        before = *pair_view(pair);
        frame_click_in(pair->scene[i], pair_view(pair), half, column, row);
        follow_move(pair, &before);
        return VIEW_CHANGED;
    }
    return VIEW_IGNORED;
}
