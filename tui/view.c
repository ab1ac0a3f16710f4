/* View: what each key does. One handler per row of keys.def, found through one table. */
#include "view.h"

#include "moment.h"
#include "pane.h"
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

static const Steps *current_steps(const View *view, const Scene *scene) {
    return view->view < scene->view_count ? scene->views[view->view].steps : NULL;
}

static int last_step(const View *view, const Scene *scene) {
    const Steps *steps = current_steps(view, scene);
    return steps && steps->step_count ? steps->step_count - 1 : 0;
}

void view_go_to_step(View *view, const Scene *scene, int step) {
    int last = last_step(view, scene);
    view->step = step < 0 ? 0 : step > last ? last : step;
    view->wavefront = 0;
}

void view_init(View *view, const Scene *scene) {
    (void)scene;
    *view = (View){.number = -1};
}

void view_restart(View *view, const Scene *scene) {
    View fresh;
    view_init(&fresh, scene);
    fresh.lane = view->lane;
    fresh.speed = view->speed;
    fresh.values = view->values;
    fresh.gutter = view->gutter;
    fresh.source = view->source;
    fresh.zoom = view->zoom;
    fresh.tree = view->tree;
    fresh.side = view->side;
    *view = fresh;
}

static int wavefronts_here(const View *view, const Scene *scene) {
    Moment now;
    return moment_init(&now, scene, view) ? moment_wavefronts(&now) : 1;
}

bool view_next_wavefront(View *view, const Scene *scene) {
    if (view->wavefront + 1 < wavefronts_here(view, scene)) {
        view->wavefront++;
        return true;
    }
    if (view->step >= last_step(view, scene)) return false;
    view_go_to_step(view, scene, view->step + 1);
    return true;
}

static void previous_wavefront(View *view, const Scene *scene) {
    if (view->wavefront > 0) {
        view->wavefront--;
    } else if (view->step > 0) {
        view_go_to_step(view, scene, view->step - 1);
        view->wavefront = wavefronts_here(view, scene) - 1;
    }
}

double view_wavefronts_per_second(const View *view) {
    return ldexp(4.0, view->speed);
}

/* ---- one function per action
 * --------------------------------------------------------------------------------------- */

typedef struct Press { /* a key, as the handlers see it */
    View *view;
    const Scene *scene;
    int direction; /* 1 or -1 */
    int number;    /* typed before, or -1 */
} Press;

static int repeats(const Press *press) {
    return press->number > 0 ? press->number : 1;
}

static ViewAnswer act_STEP(Press press) {
    view_go_to_step(press.view, press.scene, press.view->step + press.direction * repeats(&press));
    return VIEW_CHANGED;
}

/* To the start of the next group; backwards to the start of this one, or of the one before from there. */
static int group_target(const int *begin, int group, int step, int direction, int times) {
    if (direction < 0 && step > begin[group]) times--;
    group += direction * times;
    return begin[group < 0 ? 0 : group];
}

static ViewAnswer act_LINE(Press press) {
    const Steps *steps = current_steps(press.view, press.scene);
    if (!steps || !steps->step_count) return VIEW_IGNORED;
    int times = repeats(&press), group = steps->steps[press.view->step].line_step;
    if (press.direction > 0 && group + times >= steps->line_step_count)
        times = steps->line_step_count - 1 - group;
    if (press.direction > 0 && times <= 0) return VIEW_IGNORED;
    view_go_to_step(press.view, press.scene,
                    group_target(steps->line_begin, group, press.view->step, press.direction, times));
    return VIEW_CHANGED;
}

static ViewAnswer act_INTERVAL(Press press) {
    const Steps *steps = current_steps(press.view, press.scene);
    if (!steps || !steps->step_count) return VIEW_IGNORED;
    int times = repeats(&press), group = steps->steps[press.view->step].interval_step;
    if (press.direction > 0 && group + times >= steps->interval_step_count)
        times = steps->interval_step_count - 1 - group;
    if (press.direction > 0 && times <= 0) return VIEW_IGNORED;
    view_go_to_step(press.view, press.scene,
                    group_target(steps->interval_begin, group, press.view->step, press.direction, times));
    return VIEW_CHANGED;
}

static ViewAnswer act_WAVEFRONT(Press press) {
    for (int i = 0; i < repeats(&press); i++) {
        if (press.direction > 0)
            view_next_wavefront(press.view, press.scene);
        else
            previous_wavefront(press.view, press.scene);
    }
    return VIEW_CHANGED;
}

static ViewAnswer act_PLAY(Press press) {
    View *view = press.view;
    view->playing = !view->playing;
    if (view->playing && view->step == last_step(view, press.scene) &&
        view->wavefront + 1 >= wavefronts_here(view, press.scene))
        view_go_to_step(view, press.scene, 0); /* at the end: once more */
    return VIEW_CHANGED;
}

static ViewAnswer act_SPEED(Press press) {
    int speed = press.view->speed + press.direction;
    if (speed < SPEED_SLOWEST || speed > SPEED_FASTEST) return VIEW_IGNORED;
    press.view->speed = speed;
    return VIEW_CHANGED;
}

static bool step_conflicts(const OutlineStep *step) {
    return step->conflicts;
}
static bool step_diverges(const OutlineStep *step) {
    return step->diverges;
}

static ViewAnswer jump(Press press, bool (*matches)(const OutlineStep *), const char *what) {
    View *view = press.view;
    const Steps *steps = current_steps(view, press.scene);
    if (!steps) return VIEW_IGNORED;
    const Outline *outline = scene_outline(press.scene, view->view);
    int found = -1, wanted = repeats(&press);
    for (int step = view->step + press.direction; step >= 0 && step < steps->step_count;
         step += press.direction) {
        if (!matches(&outline->step[step])) continue;
        found = step;
        if (--wanted == 0) break;
    }
    if (found < 0)
        snprintf(view->message, sizeof view->message, "no %s %s this step", what,
                 press.direction > 0 ? "after" : "before");
    else
        view_go_to_step(view, press.scene, found);
    return VIEW_CHANGED;
}

static ViewAnswer act_CONFLICT(Press press) {
    return jump(press, step_conflicts, "bank conflict");
}
static ViewAnswer act_DIVERGENCE(Press press) {
    return jump(press, step_diverges, "divergent branch");
}

static ViewAnswer act_BEGIN(Press press) {
    view_go_to_step(press.view, press.scene, press.number > 0 ? press.number - 1 : 0);
    return VIEW_CHANGED;
}

static ViewAnswer act_END(Press press) {
    view_go_to_step(press.view, press.scene,
                    press.number > 0 ? press.number - 1 : last_step(press.view, press.scene));
    return VIEW_CHANGED;
}

/* The next warp that has an event in this step, around the block. */
static ViewAnswer act_WARP(Press press) {
    View *view = press.view;
    if (!current_steps(view, press.scene)) return VIEW_IGNORED;
    const Outline *outline = scene_outline(press.scene, view->view);
    view->wavefront = 0;
    if (press.number >= 0) {
        view->warp = press.number < outline->warp_count ? press.number : outline->warp_count - 1;
        return VIEW_CHANGED;
    }
    for (int i = 1; i <= outline->warp_count; i++) {
        int warp = (view->warp + press.direction * i + 2 * outline->warp_count) % outline->warp_count;
        if (outline_warp_event(outline, view->step, warp, view->lane) < 0) continue;
        view->warp = warp;
        break;
    }
    return VIEW_CHANGED;
}

static ViewAnswer act_LANE(Press press) {
    View *view = press.view;
    if (press.number >= 0)
        view->lane = press.number < WARP_LANES ? press.number : WARP_LANES - 1;
    else
        view->lane = (view->lane + press.direction + WARP_LANES) % WARP_LANES;
    return VIEW_CHANGED;
}

static ViewAnswer act_BLOCK(Press press) {
    View *view = press.view;
    int next = view->view + press.direction * repeats(&press);
    if (next < 0 || next >= press.scene->view_count) {
        snprintf(view->message, sizeof view->message,
                 "no %s traced block or launch; --trace-blocks FIRST-LAST traces more",
                 press.direction > 0 ? "later" : "earlier");
        return VIEW_CHANGED;
    }
    view->view = next;
    view->warp = 0;
    view_go_to_step(view, press.scene, 0);
    return VIEW_CHANGED;
}

static ViewAnswer act_VALUES(Press press) {
    press.view->values = (press.view->values + 1) % VALUE_FORMAT_COUNT;
    return VIEW_CHANGED;
}

static ViewAnswer act_GUTTER(Press press) {
    press.view->gutter = (press.view->gutter + 1) % GUTTER_SCOPE_COUNT;
    return VIEW_CHANGED;
}

static ViewAnswer act_SOURCE(Press press) {
    press.view->source = (press.view->source + 1) % SOURCE_TEXT_COUNT;
    return VIEW_CHANGED;
}

static ViewAnswer act_ZOOM(Press press) {
    press.view->zoom = (Zoom)(((int)press.view->zoom + press.direction + ZOOM_COUNT) % ZOOM_COUNT);
    return VIEW_CHANGED;
}

static ViewAnswer act_TREE(Press press) {
    press.view->tree = (ShownTree)(((int)press.view->tree + press.direction + SHOWN_TREE_COUNT) % SHOWN_TREE_COUNT);
    return VIEW_CHANGED;
}

static ViewAnswer act_SIDE(Press press) {
    int count = pane_side_count();
    press.view->side = (press.view->side + press.direction + count) % count;
    return VIEW_CHANGED;
}

static ViewAnswer act_KERNEL(Press press) {
    press.view->overlay = OVERLAY_MENU;
    press.view->playing = false;
    press.view->filter[0] = 0;
    press.view->choice = 0;
    for (int i = 0; view_menu_row(press.view, i) >= 0; i++)
        if (!strcmp(catalog_row(view_menu_row(press.view, i))->id, press.scene->kernel))
            press.view->choice = i;
    return VIEW_CHANGED;
}

static ViewAnswer act_HELP(Press press) {
    press.view->overlay = OVERLAY_HELP;
    press.view->scroll = 0;
    return VIEW_CHANGED;
}

static ViewAnswer act_REDRAW(Press press) {
    (void)press;
    return VIEW_REDRAW;
}

static ViewAnswer act_QUIT(Press press) {
    (void)press;
    return VIEW_QUIT;
}

static ViewAnswer (*const handlers[ACTION_COUNT])(Press) = {
    NULL,
#define KEY(action, forwards, backwards, name, help) act_##action,
#include "keys.def"
#undef KEY
};

/* ---- overlays
 * ------------------------------------------------------------------------------------------------------ */

static bool contains(const char *text, const char *part) {
    size_t length = strlen(part);
    for (; *text; text++)
        if (!strncasecmp(text, part, length)) return true;
    return length == 0;
}

int view_menu_row(const View *view, int index) {
    for (int row = 0; row < catalog_count(); row++) {
        const CatalogRow *kernel = catalog_row(row);
        if (!contains(kernel->id, view->filter) &&
            !contains(kernel->title ? kernel->title : "", view->filter) &&
            !contains(kernel->aliases ? kernel->aliases : "", view->filter))
            continue;
        if (index-- == 0) return row;
    }
    return -1;
}

const char *view_chosen_kernel(const View *view) {
    int row = view_menu_row(view, view->choice);
    return row < 0 ? NULL : catalog_row(row)->id;
}

static ViewAnswer press_in_menu(View *view, Key key) {
    size_t length = strlen(view->filter);
    int choice = view->choice, page = 10;
    switch (key) {
    case SPECIAL_ESCAPE:
        view->overlay = OVERLAY_NONE;
        return VIEW_CHANGED;
    case SPECIAL_ENTER:
        if (!view_chosen_kernel(view)) return VIEW_IGNORED;
        view->overlay = OVERLAY_NONE;
        return VIEW_OPEN;
    case SPECIAL_UP:
        choice--;
        break;
    case SPECIAL_DOWN:
    case SPECIAL_TAB:
        choice++;
        break;
    case SPECIAL_PAGE_UP:
        choice -= page;
        break;
    case SPECIAL_PAGE_DOWN:
        choice += page;
        break;
    case SPECIAL_HOME:
        choice = 0;
        break;
    case SPECIAL_END:
        choice = catalog_count();
        break;
    case SPECIAL_BACKSPACE:
        if (length) view->filter[length - 1] = 0;
        choice = 0;
        break;
    default:
        if (key < ' ' || key > '~' || length + 1 >= sizeof view->filter) return VIEW_IGNORED;
        view->filter[length] = (char)key;
        view->filter[length + 1] = 0;
        choice = 0;
    }
    while (choice > 0 && view_menu_row(view, choice) < 0) choice--;
    view->choice = choice < 0 ? 0 : choice;
    return VIEW_CHANGED;
}

static ViewAnswer press_in_help(View *view, Key key) {
    int direction;
    Action action = keys_find(key, &direction);
    if (action == ACT_LINE || key == SPECIAL_PAGE_UP || key == SPECIAL_PAGE_DOWN) {
        int by = action == ACT_LINE ? direction : key == SPECIAL_PAGE_DOWN ? 10 : -10;
        view->scroll = view->scroll + by < 0              ? 0
                       : view->scroll + by > ACTION_COUNT ? ACTION_COUNT
                                                          : view->scroll + by;
        return VIEW_CHANGED;
    }
    if (action == ACT_REDRAW) return VIEW_REDRAW;
    view->overlay = OVERLAY_NONE;
    return VIEW_CHANGED;
}

ViewAnswer view_press(View *view, const Scene *scene, Key key) {
    if (key == KEY_NONE_PRESSED) return VIEW_IGNORED;
    bool had_message = view->message[0] != 0;
    view->message[0] = 0;
    if (view->overlay == OVERLAY_MENU) return press_in_menu(view, key);
    if (view->overlay == OVERLAY_HELP) return press_in_help(view, key);
    if (key >= '0' && key <= '9') {
        int number = view->number < 0 ? 0 : view->number;
        if (number < 100000000) view->number = number * 10 + (int)(key - '0');
        return VIEW_CHANGED;
    }
    Press press = {.view = view, .scene = scene, .number = view->number};
    Action action = keys_find(key, &press.direction);
    view->number = -1;
    ViewAnswer answer = action == ACT_NONE ? VIEW_IGNORED : handlers[action](press);
    return answer == VIEW_IGNORED && (had_message || press.number >= 0) ? VIEW_CHANGED : answer;
}
