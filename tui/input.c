/* Input: decides which part of the interface receives a key. */
#include "tui/input.h"

#include "base/utf8.h"
#include "tui/actions.h"
#include "tui/differences.h"
#include "tui/panes/pane.h"
#include "tui/view/ladder_view.h"
#include <string.h>

/* ---- overlays ------------------------------------------------------------------------------------------ */

/* Among the kernels that match the filter: the one with that name, else the first whose name begins with it,
 * else the first. */
static int best_choice(const View *view) {
    int begins = 0;
    size_t length = strlen(view->transient.filter);
    MenuRow row;
    for (int i = 0; length && view_menu_row(view, i, &row); i++) {
        if (!strcmp(row.name, view->transient.filter)) return i;
        if (!begins && !strncmp(row.name, view->transient.filter, length)) begins = i + 1;
    }
    return begins ? begins - 1 : 0;
}

static ViewAnswer press_in_menu(View *view, const Scene *scene, KeyPress press) {
    (void)scene;
    size_t length = strlen(view->transient.filter);
    int choice = view->transient.choice, page = 10;
    MenuRow row;
    switch (press.key) {
    case SPECIAL_ESCAPE:
        view->transient.overlay = OVERLAY_NONE;
        return VIEW_CHANGED;
    case SPECIAL_ENTER:
        return view_choose(view);
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
        while (view_menu_row(view, choice, &row)) choice++;
        break;
    case SPECIAL_BACKSPACE:
        if (length) view->transient.filter[length - 1] = 0;
        choice = best_choice(view);
        break;
    default:
        if (press.key < ' ' || press.key > '~' || length + 1 >= sizeof view->transient.filter)
            return VIEW_IGNORED;
        view->transient.filter[length] = (char)press.key;
        view->transient.filter[length + 1] = 0;
        choice = best_choice(view);
    }
    while (choice > 0 && !view_menu_row(view, choice, &row)) choice--;
    view->transient.choice = choice < 0 ? 0 : choice;
    return VIEW_CHANGED;
}

static ViewAnswer press_in_settings(View *view, const Scene *scene, KeyPress press) {
    (void)scene;
    SettingsAnswer answer = settings_press(&view->transient.settings, press.key);
    if (answer != SETTINGS_STAY) view->transient.overlay = OVERLAY_NONE;
    return answer == SETTINGS_APPLY ? VIEW_RERUN : VIEW_CHANGED;
}

int input_overlay_lines(const View *view, const Scene *scene, int columns) {
    StepContext context;
    step_context_init(&context, scene, view);
    for (int i = 0; panes[i]; i++)
        if (panes[i]->line_count && panes[i]->overlay == view->transient.overlay)
            return panes[i]->line_count(&context, columns);
    return differences_line_count();
}

/* The lines that a key scrolls; 0: not a scrolling key. As in less, Space scrolls by a page. */
static int scrolled_lines(KeyPress press) {
    enum { PAGE = 15, HALF = 8, ALL = 1000 };
    switch (press.action) {
    case ACT_LINE:
        return press.direction;
    case ACT_PAGE:
        return press.direction *
               (press.key == SPECIAL_PAGE_UP || press.key == SPECIAL_PAGE_DOWN ? PAGE : HALF);
    case ACT_PLAY:
        return PAGE;
    case ACT_BEGIN:
        return -ALL;
    case ACT_END:
        return ALL;
    default:
        return 0;
    }
}

/* Help, words and differences: ? switches between the first two; a key that does not scroll closes the
 * overlay. */
static ViewAnswer press_in_help(View *view, const Scene *scene, KeyPress press) {
    enum {
        /* width of the narrowest screen: the most lines; tui/comparison.c knows its size */
        LEAST_COLUMNS = 56
    };
    int by = scrolled_lines(press);
    if (by) {
        int most = input_overlay_lines(view, scene, LEAST_COLUMNS), wanted = view->transient.scroll + by;
        view->transient.scroll = wanted < 0 ? 0 : wanted > most ? most : wanted;
        return VIEW_CHANGED;
    }
    if (press.action == ACT_REDRAW) return VIEW_REDRAW;
    view->transient.scroll = 0;
    view->transient.overlay = press.action != ACT_HELP                  ? view->transient.behind
                              : view->transient.overlay == OVERLAY_HELP ? OVERLAY_WORDS
                                                                        : OVERLAY_HELP;
    if (view->transient.overlay == view->transient.behind) view->transient.behind = OVERLAY_NONE;
    return VIEW_CHANGED;
}

/* The ladder and latency screens' own keys, and the other keys that apply there. */
static ViewAnswer press_in_ladder(View *view, const Scene *scene, KeyPress press) {
    ViewAnswer answer = ladder_view_press(view, scene, press);
    KeyAction action = press.action;
    if (answer != VIEW_IGNORED) return answer;
    if (action == ACT_HELP) view->transient.behind = view->transient.overlay;
    return action == ACT_HELP || action == ACT_THEME || action == ACT_REDRAW
               ? action_run(action, (Press){view, scene, press.direction, -1})
               : VIEW_IGNORED;
}

/* ---- text and letters after a key ---------------------------------------------------------------------- */

static void erase_character(char *text, size_t length) {
    text[length - 1] = 0;
    utf8_drop_half(text);
}

static ViewAnswer press_in_search(View *view, const Scene *scene, KeyPress press) {
    Key key = press.key;
    size_t length = strlen(view->selection.search);
    if (key == SPECIAL_ESCAPE || (key == SPECIAL_BACKSPACE && !length)) {
        view->selection.search[0] = 0;
        view->transient.input = INPUT_COMMANDS;
    } else if (key == SPECIAL_ENTER) {
        view->transient.input = INPUT_COMMANDS;
        if (length) return action_search((Press){.view = view, .scene = scene, .direction = 1, .number = -1});
    } else if (key == SPECIAL_BACKSPACE) {
        erase_character(view->selection.search, length);
    } else if (key >= ' ' && key < SPECIAL_KEYS && key != 127 &&
               length + UTF8_BYTES < sizeof view->selection.search) {
        view->selection.search[length + utf8_encode(key, view->selection.search + length)] = 0;
    } else {
        return VIEW_IGNORED;
    }
    return VIEW_CHANGED;
}

static ViewAnswer press_after_colon(View *view, const Scene *scene, KeyPress press) {
    Key key = press.key;
    char *typed = view->transient.colon;
    size_t length = strlen(typed);
    if (key == SPECIAL_ENTER) {
        view->transient.input = INPUT_COMMANDS;
        return action_command((Press){.view = view, .scene = scene, .direction = 1, .number = -1}, typed);
    }
    if (key == SPECIAL_ESCAPE || (key == SPECIAL_BACKSPACE && !length)) {
        view->transient.input = INPUT_COMMANDS;
    } else if (key == SPECIAL_BACKSPACE) {
        typed[length - 1] = 0;
    } else if (key == SPECIAL_ERASE) {
        typed[0] = 0;
    } else if (key >= ' ' && key <= '~' && length + 1 < sizeof view->transient.colon) {
        typed[length] = (char)key;
        typed[length + 1] = 0;
    } else {
        return VIEW_IGNORED;
    }
    return VIEW_CHANGED;
}

static void set_mark(View *view, ViewPosition *mark, char name) {
    *mark = (ViewPosition){view->place.block, view->place.step + 1};
    snprintf(view->transient.message, sizeof view->transient.message, "step %d marked %c; '%c returns to it",
             view->place.step + 1, name, name);
}

static void go_to(View *view, const Scene *scene, ViewPosition place) {
    ViewPosition before = {view->place.block, view->place.step + 1};
    if (place.block >= scene->traced.block_count) return;
    view->place.block = place.block;
    view_go_to_step(view, scene, place.number - 1);
    view->place.back = before;
}

/* The letter after m names this place, the letter after ' says where to go; '' returns to where the last jump
 * began. */
static ViewAnswer press_mark(View *view, const Scene *scene, KeyPress press) {
    Key key = press.key;
    KeyInput input = view->transient.input;
    view->transient.input = INPUT_COMMANDS;
    if (input == INPUT_RETURN && key == '\'' && view->place.back.number) {
        go_to(view, scene, view->place.back);
    } else if (key >= 'a' && key <= 'z') {
        ViewPosition *mark = &view->selection.marks[key - 'a'];
        if (input == INPUT_MARK)
            set_mark(view, mark, (char)key);
        else if (mark->number)
            go_to(view, scene, *mark);
        else
            snprintf(view->transient.message, sizeof view->transient.message,
                     "no step is marked %c; m%c marks this one", (char)key, (char)key);
    }
    return VIEW_CHANGED;
}

/* ---- passing on a key
 * --------------------------------------------------------------------------------------- */

/* Digits before a key, Escape, and the actions of keys.def. `had_message`: the key removed one. */
static ViewAnswer press_command(View *view, const Scene *scene, KeyPress press, bool had_message) {
    if (press.key >= '0' && press.key <= '9') {
        int number = view->transient.number < 0 ? 0 : view->transient.number;
        if (number < 100000000) view->transient.number = number * 10 + (int)(press.key - '0');
        return VIEW_CHANGED;
    }
    if (press.key == SPECIAL_ESCAPE && (view->selection.search[0] || view->selection.traced)) {
        view->selection.search[0] = 0;
        view->selection.traced = 0;
        return VIEW_CHANGED;
    }
    int number = view->transient.number;
    view->transient.number = -1;
    ViewAnswer answer = action_run(press.action, (Press){view, scene, press.direction, number});
    return answer == VIEW_IGNORED && (had_message || number >= 0) ? VIEW_CHANGED : answer;
}

typedef ViewAnswer Receiver(View *view, const Scene *scene, KeyPress press);

/* The receiver of every key while it is open; NULL: keys are commands. */
static Receiver *receiver(const View *view) {
    static Receiver *const overlays[OVERLAY_COUNT] = {
        [OVERLAY_HELP] = press_in_help,         [OVERLAY_WORDS] = press_in_help,
        [OVERLAY_DIFFERENCES] = press_in_help,  [OVERLAY_MENU] = press_in_menu,
        [OVERLAY_SETTINGS] = press_in_settings, [OVERLAY_LADDER] = press_in_ladder,
        [OVERLAY_LATENCY] = press_in_ladder,
    };
    static Receiver *const inputs[INPUT_COUNT] = {
        [INPUT_SEARCH] = press_in_search,
        [INPUT_COLON] = press_after_colon,
        [INPUT_MARK] = press_mark,
        [INPUT_RETURN] = press_mark,
    };
    Receiver *overlay = overlays[view->transient.overlay];
    return overlay ? overlay : inputs[view->transient.input];
}

ViewAnswer input_press(View *view, const Scene *scene, KeyPress press) {
    if (press.key == KEY_NONE_PRESSED) return VIEW_IGNORED;
    if (press.key == SPECIAL_F10) return VIEW_QUIT; /* as in htop, everywhere */
    bool had_message = view->transient.message[0] != 0;
    view->transient.message[0] = 0;
    if (view->transient.overlay == OVERLAY_FAILURE) { /* any key but Escape keeps its usual meaning */
        view->transient.overlay = OVERLAY_NONE;
        if (press.key == SPECIAL_ESCAPE) return VIEW_CHANGED;
    }
    Receiver *open = receiver(view);
    return open ? open(view, scene, press) : press_command(view, scene, press, had_message);
}
