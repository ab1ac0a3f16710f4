/* View: the place, and who gets a key: an overlay, what is being typed, or an action. */
#include "tui/view/view.h"

#include "tui/actions.h"
#include "tui/differences.h"
#include "tui/scene/step_context.h"
#include <math.h>
#include <string.h>

const Steps *view_steps(const View *view, const Scene *scene) {
    return view->view < scene->view_count ? scene->views[view->view].steps : NULL;
}

static int last_step(const View *view, const Scene *scene) {
    const Steps *steps = view_steps(view, scene);
    return steps && steps->step_count ? steps->step_count - 1 : 0;
}

void view_go_to_step(View *view, const Scene *scene, int step) {
    int last = last_step(view, scene);
    view->step = step < 0 ? 0 : step > last ? last : step;
    view->wavefront = 0;
}

void view_jump_to_step(View *view, const Scene *scene, int step) {
    ViewPosition before = {view->view, view->step + 1};
    view_go_to_step(view, scene, step);
    if (view->step + 1 != before.number) view->back = before;
}

void view_init(View *view, const Scene *scene) {
    (void)scene;
    *view = (View){.number = -1};
}

void view_restart(View *view, const Scene *scene) {
    (void)scene;
    view->view = view->step = view->wavefront = view->warp = 0;
    view->hazard = 0;
    view->hazard_waits = false;
    view->playing = false;
    view->overlay = OVERLAY_NONE;
    view->input = INPUT_COMMANDS;
    view->number = -1;
    view->message[0] = 0;
    view->back = (ViewPosition){0};
    memset(view->marks, 0, sizeof view->marks);
}

void view_forget_failure(View *view) {
    view->hazard = 0; /* of the list that was */
    view->failure = (Error){0};
    if (view->overlay == OVERLAY_FAILURE) view->overlay = OVERLAY_NONE;
}

void view_show_alike(View *view, const View *from) {
    View own = *view;
    *view = *from;
    view->view = own.view;
    view->step = own.step;
    view->wavefront = own.wavefront;
    view->warp = own.warp;
    view->lane = own.lane;
    view->back = own.back;
    view->hazard = own.hazard;
    view->hazard_other = own.hazard_other;
    view->hazard_waits = own.hazard_waits;
    memcpy(view->marks, own.marks, sizeof view->marks);
    view->playing = false;
    view->overlay = OVERLAY_NONE;
    view->input = INPUT_COMMANDS;
    view->number = -1;
    view->message[0] = 0;
}

int view_wavefronts(const View *view, const Scene *scene) {
    StepContext now;
    return step_context_init(&now, scene, view) ? step_context_wavefronts(&now) : 1;
}

bool view_next_wavefront(View *view, const Scene *scene) {
    if (view->wavefront + 1 < view_wavefronts(view, scene)) {
        view->wavefront++;
        return true;
    }
    if (view->step >= last_step(view, scene)) return false;
    view_go_to_step(view, scene, view->step + 1);
    return true;
}

void view_previous_wavefront(View *view, const Scene *scene) {
    if (view->wavefront > 0) {
        view->wavefront--;
    } else if (view->step > 0) {
        view_go_to_step(view, scene, view->step - 1);
        view->wavefront = view_wavefronts(view, scene) - 1;
    }
}

bool view_play(View *view, const Scene *scene) {
    const Steps *steps = view_steps(view, scene);
    if (!steps || !steps->step_count) return false;
    View next = *view;
    bool more = view_next_wavefront(&next, scene);
    int interval = steps->steps[view->step].interval_step;
    if (view->loop == LOOP_INTERVAL && (!more || steps->steps[next.step].interval_step != interval))
        view_go_to_step(view, scene, steps->interval_begin[interval]);
    else if (more)
        *view = next;
    else if (view->loop == LOOP_RUN)
        view_go_to_step(view, scene, 0);
    else
        return false;
    return true;
}

double view_wavefronts_per_second(const View *view) {
    return ldexp(4.0, view->speed);
}

void view_print_speed(const View *view, char out[VIEW_SPEED_BYTES]) {
    if (view->speed < 0)
        snprintf(out, VIEW_SPEED_BYTES, "1/%dx", 1 << -view->speed);
    else
        snprintf(out, VIEW_SPEED_BYTES, "%dx", 1 << view->speed);
}

/* ---- hazards ------------------------------------------------------------------------------------------- */

static int view_of_block(const Scene *scene, int launch, uint64_t linear) {
    for (int i = 0; i < scene->view_count; i++)
        if (scene->views[i].launch == launch && trace_block_linear(scene->views[i].block) == linear) return i;
    return -1;
}

/* The step of the access, else the first of its instruction; -1: this block has none. */
static int step_of_access(const Steps *steps, const FindingAccess *access) {
    if (access->event >= 0 && access->event < trace_block_event_count(steps->block)) {
        int step = steps->step_of_event[access->event];
        if (steps->steps[step].pc == access->pc)
            return step; /* what a GPU recorded may be in another order */
    }
    for (int step = 0; step < steps->step_count; step++)
        if (steps->steps[step].pc == access->pc) return step;
    return -1;
}

ViewAnswer view_go_to_hazard(View *view, const Scene *scene) {
    const Finding *hazard = &scene->hazards->items[view->hazard - 1];
    const FindingAccess *access = view->hazard_other ? &hazard->other : &hazard->access;
    int found = view_of_block(scene, hazard->launch, access->linear_block);
    bool had_waited = view->hazard_waits;
    view->hazard_waits = false;
    if (access->pc < 0) return VIEW_CHANGED;
    if (found < 0) {
        view->hazard_waits = !had_waited;
        view->block = (uint32_t)access->linear_block;
        return had_waited ? VIEW_CHANGED : VIEW_TRACE;
    }
    int step = step_of_access(scene->views[found].steps, access);
    ViewPosition before = {view->view, view->step + 1};
    view->view = found;
    if (step >= 0) view_go_to_step(view, scene, step);
    view->back = before;
    if (access->warp >= 0) view->warp = access->warp;
    for (int lane = 0; lane < WARP_LANES && access->lane < 0; lane++)
        if (access->lanes >> lane & 1) view->lane = lane;
    if (access->lane >= 0) view->lane = access->lane;
    return VIEW_CHANGED;
}

/* ---- overlays ------------------------------------------------------------------------------------------ */

int view_menu_row(const View *view, int index) {
    for (int row = 0; row < catalog_count(); row++) {
        const CatalogRow *kernel = catalog_row(row);
        if (!scene_text_holds(kernel->id, view->filter) &&
            !scene_text_holds(kernel->title ? kernel->title : "", view->filter) &&
            !scene_text_holds(kernel->aliases ? kernel->aliases : "", view->filter))
            continue;
        if (index-- == 0) return row;
    }
    return -1;
}

const char *view_chosen_kernel(const View *view) {
    int row = view_menu_row(view, view->choice);
    return row < 0 ? NULL : catalog_row(row)->id;
}

/* Where the filter leaves several: the one of that name, else the first whose name begins so, else the first.
 */
static int best_choice(const View *view) {
    int begins = 0;
    size_t length = strlen(view->filter);
    for (int i = 0; length && view_menu_row(view, i) >= 0; i++) {
        const char *name = catalog_row(view_menu_row(view, i))->id;
        if (!strcmp(name, view->filter)) return i;
        if (!begins && !strncmp(name, view->filter, length)) begins = i + 1;
    }
    return begins ? begins - 1 : 0;
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
        return view->beside ? VIEW_BESIDE : VIEW_OPEN;
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
        choice = best_choice(view);
        break;
    default:
        if (key < ' ' || key > '~' || length + 1 >= sizeof view->filter) return VIEW_IGNORED;
        view->filter[length] = (char)key;
        view->filter[length + 1] = 0;
        choice = best_choice(view);
    }
    while (choice > 0 && view_menu_row(view, choice) < 0) choice--;
    view->choice = choice < 0 ? 0 : choice;
    return VIEW_CHANGED;
}

static ViewAnswer press_in_settings(View *view, Key key) {
    SettingsAnswer answer = settings_press(&view->settings, key);
    if (answer != SETTINGS_STAY) view->overlay = OVERLAY_NONE;
    return answer == SETTINGS_APPLY ? VIEW_REMAKE : VIEW_CHANGED;
}

int view_overlay_lines(const View *view) {
    return view->overlay == OVERLAY_HELP ? ACTION_COUNT - 1 : differences_line_count();
}

static ViewAnswer press_in_help(View *view, Key key) {
    int direction;
    KeyAction action = keys_find(key, &direction);
    if (action == ACT_LINE || key == SPECIAL_PAGE_UP || key == SPECIAL_PAGE_DOWN) {
        int by = action == ACT_LINE ? direction : key == SPECIAL_PAGE_DOWN ? 10 : -10;
        int most = view_overlay_lines(view);
        view->scroll = view->scroll + by < 0 ? 0 : view->scroll + by > most ? most : view->scroll + by;
        return VIEW_CHANGED;
    }
    if (action == ACT_REDRAW) return VIEW_REDRAW;
    view->overlay = OVERLAY_NONE;
    return VIEW_CHANGED;
}

/* ---- what is being typed ------------------------------------------------------------------------------- */

static ViewAnswer press_in_search(View *view, const Scene *scene, Key key) {
    size_t length = strlen(view->search);
    if (key == SPECIAL_ESCAPE || (key == SPECIAL_BACKSPACE && !length)) {
        view->search[0] = 0;
        view->input = INPUT_COMMANDS;
    } else if (key == SPECIAL_ENTER) {
        view->input = INPUT_COMMANDS;
        if (length) return action_search((Press){.view = view, .scene = scene, .direction = 1, .number = -1});
    } else if (key == SPECIAL_BACKSPACE) {
        view->search[length - 1] = 0;
    } else if (key >= ' ' && key <= '~' && length + 1 < sizeof view->search) {
        view->search[length] = (char)key;
        view->search[length + 1] = 0;
    } else {
        return VIEW_IGNORED;
    }
    return VIEW_CHANGED;
}

static void set_mark(View *view, ViewPosition *mark, char name) {
    *mark = (ViewPosition){view->view, view->step + 1};
    snprintf(view->message, sizeof view->message, "step %d is marked %c; '%c comes back to it",
             view->step + 1, name, name);
}

static void go_to(View *view, const Scene *scene, ViewPosition place) {
    ViewPosition before = {view->view, view->step + 1};
    if (place.view >= scene->view_count) return;
    view->view = place.view;
    view_go_to_step(view, scene, place.number - 1);
    view->back = before;
}

/* After m a letter names this place, after ' a letter says where to go; '' goes back to where the last jump
 * began. */
static ViewAnswer press_mark(View *view, const Scene *scene, Key key) {
    KeyInput input = view->input;
    view->input = INPUT_COMMANDS;
    if (input == INPUT_RETURN && key == '\'' && view->back.number) {
        go_to(view, scene, view->back);
    } else if (key >= 'a' && key <= 'z') {
        ViewPosition *mark = &view->marks[key - 'a'];
        if (input == INPUT_MARK)
            set_mark(view, mark, (char)key);
        else if (mark->number)
            go_to(view, scene, *mark);
        else
            snprintf(view->message, sizeof view->message, "no step is marked %c; m%c marks this one",
                     (char)key, (char)key);
    }
    return VIEW_CHANGED;
}

ViewAnswer view_press(View *view, const Scene *scene, Key key) {
    if (key == KEY_NONE_PRESSED) return VIEW_IGNORED;
    bool had_message = view->message[0] != 0;
    view->message[0] = 0;
    if (view->overlay == OVERLAY_MENU) return press_in_menu(view, key);
    if (view->overlay == OVERLAY_SETTINGS) return press_in_settings(view, key);
    if (view->overlay == OVERLAY_FAILURE) { /* any key but Escape means what it always does */
        view->overlay = OVERLAY_NONE;
        if (key == SPECIAL_ESCAPE) return VIEW_CHANGED;
    }
    if (view->overlay != OVERLAY_NONE) return press_in_help(view, key);
    if (view->input == INPUT_SEARCH) return press_in_search(view, scene, key);
    if (view->input != INPUT_COMMANDS) return press_mark(view, scene, key);
    if (key >= '0' && key <= '9') {
        int number = view->number < 0 ? 0 : view->number;
        if (number < 100000000) view->number = number * 10 + (int)(key - '0');
        return VIEW_CHANGED;
    }
    if (key == SPECIAL_ESCAPE && (view->search[0] || view->traced)) {
        view->search[0] = 0;
        view->traced = 0;
        return VIEW_CHANGED;
    }
    Press press = {.view = view, .scene = scene, .number = view->number};
    KeyAction action = keys_find(key, &press.direction);
    view->number = -1;
    ViewAnswer answer = action_run(action, press);
    return answer == VIEW_IGNORED && (had_message || press.number >= 0) ? VIEW_CHANGED : answer;
}
