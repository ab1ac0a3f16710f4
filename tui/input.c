/* Input: decides which part of the interface receives a key. */
#include "tui/input.h"

#include "base/language.h"
#include "base/utf8.h"
#include "tui/actions.h"
#include "tui/differences.h"
#include "tui/view/index_view.h"
#include "tui/view/key_actions.h"
#include "tui/view/ladder_view.h"
#include "tui/view/launch_view.h"
#include "tui/view/menu.h"
#include "tui/view/warps_view.h"
#include <limits.h>
#include <string.h>

/* ---- overlays ------------------------------------------------------------------------------------------ */

static void erase_character(char *text, size_t length) {
    text[length - 1] = 0;
    utf8_drop_half(text);
}

/* Types into a filter; false: the key does something else. */
static bool type_filter(ViewTransient *transient, Key key) {
    size_t length = strlen(transient->filter);
    if (key == SPECIAL_BACKSPACE && length)
        erase_character(transient->filter, length);
    else if (key == SPECIAL_ERASE)
        transient->filter[0] = 0;
    else if (key >= ' ' && key < SPECIAL_KEYS && key != 127 && length + UTF8_BYTES < sizeof transient->filter)
        transient->filter[length + utf8_encode(key, transient->filter + length)] = 0;
    else
        return false;
    return true;
}

/* What vi's users type after a colon. */
static ViewAnswer choose_as_in_vi(View *view, const Scene *scene) {
    static const char *const quits[] = {"q", "q!", "qa", "wq", "x"};
    const char *typed = view->transient.filter;
    if (view->transient.menu != MENU_PALETTE) return VIEW_IGNORED;
    bool quits_now = false, is_end = !strcmp(typed, "$"), is_help = !strcmp(typed, "h");
    for (size_t i = 0; i < sizeof quits / sizeof *quits; i++) quits_now |= !strcmp(typed, quits[i]);
    if (!quits_now && !is_end && !is_help) return VIEW_IGNORED;
    view->transient.overlay = OVERLAY_NONE;
    if (quits_now) return VIEW_QUIT;
    if (is_help) return action_run(ACT_HELP, (Press){view, scene, 1, -1});
    view_jump_to_step(view, scene, INT_MAX);
    return VIEW_CHANGED;
}

static ViewAnswer choose(View *view, const Scene *scene) {
    MenuRow row;
    ViewAnswer command = choose_as_in_vi(view, scene);
    if (command != VIEW_IGNORED) return command;
    bool is_step = menu_choice(view, &row) && row.kind == MENU_STEP;
    ViewAnswer answer = menu_choose(view);
    if (!is_step) return answer;
    view_jump_to_step(view, scene, menu_step(view));
    return VIEW_CHANGED;
}

static ViewAnswer press_in_menu(View *view, const Scene *scene, KeyPress press) {
    MenuList list;
    ViewTransient *transient = &view->transient;
    int choice = transient->choice, page = 10;
    if (press.key != SPECIAL_ENTER) transient->confirms = false;
    switch (press.key) {
    case SPECIAL_ESCAPE: /* what was typed, then the menu; at the beginning there is nothing behind it */
        if (*transient->filter && transient->menu == MENU_HOME) {
            transient->filter[0] = 0;
            transient->choice = 0;
            return VIEW_CHANGED;
        }
        if (transient->menu == MENU_HOME && transient->begins) return VIEW_QUIT;
        transient->overlay = OVERLAY_NONE;
        return VIEW_CHANGED;
    case SPECIAL_ENTER:
        return choose(view, scene);
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
        choice = MENU_MOST;
        break;
    default:
        if (press.action == ACT_HELP) { /* no name has a question mark */
            transient->behind = OVERLAY_MENU;
            transient->overlay = OVERLAY_HELP;
            transient->filter[0] = 0;
            transient->scroll = 0;
            return VIEW_CHANGED;
        }
        if (press.key == SPECIAL_BACKSPACE && !*transient->filter && transient->menu == MENU_PALETTE)
            transient->overlay = OVERLAY_NONE;
        else if (!type_filter(transient, press.key))
            return VIEW_IGNORED;
        choice = 0;
    }
    menu_list(view, &list);
    if (choice >= list.count) choice = list.count - 1;
    transient->choice = choice < 0 ? 0 : choice;
    return VIEW_CHANGED;
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
    enum { PAGE = 15, HALF = 8, ALL = 1 << 24 };
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

static void scroll_by(View *view, const Scene *scene, int by) {
    enum {
        /* width of the narrowest screen: the most lines; tui/comparison.c knows its size */
        LEAST_COLUMNS = 56
    };
    int most = input_overlay_lines(view, scene, LEAST_COLUMNS), wanted = view->transient.scroll + by;
    view->transient.scroll = canvas_clamp(wanted, 0, most);
}

/* A key that does not scroll closes the overlay. */
static ViewAnswer press_in_differences(View *view, const Scene *scene, KeyPress press) {
    int by = scrolled_lines(press);
    if (press.action == ACT_REDRAW) return VIEW_REDRAW;
    if (by)
        scroll_by(view, scene, by);
    else
        view->transient.overlay = OVERLAY_NONE;
    return VIEW_CHANGED;
}

/* Help and words: ? switches between them, text filters, special keys scroll; Escape closes, and q before any
 * text, as in less. */
static ViewAnswer press_in_help(View *view, const Scene *scene, KeyPress press) {
    ViewTransient *transient = &view->transient;
    bool is_text = press.key >= ' ' && press.key < SPECIAL_KEYS && press.key != 127;
    int by = is_text || press.key == SPECIAL_ENTER ? 0 : scrolled_lines(press);
    if (by) {
        scroll_by(view, scene, by);
        return VIEW_CHANGED;
    }
    if (press.action == ACT_REDRAW) return VIEW_REDRAW;
    transient->scroll = 0;
    if (press.action == ACT_HELP) {
        transient->overlay = transient->overlay == OVERLAY_HELP ? OVERLAY_WORDS : OVERLAY_HELP;
    } else if ((press.key == 'q' && !*transient->filter) || !type_filter(transient, press.key)) {
        if (press.key != 'q' && press.key != SPECIAL_ESCAPE && press.key != SPECIAL_ENTER &&
            press.key != SPECIAL_BACKSPACE)
            return VIEW_IGNORED;
        transient->overlay = transient->behind;
        transient->behind = OVERLAY_NONE;
        transient->filter[0] = 0;
    }
    return VIEW_CHANGED;
}

/* What the program printed: it scrolls; @ goes to the launches. */
static ViewAnswer press_in_output(View *view, const Scene *scene, KeyPress press) {
    int by = scrolled_lines(press);
    if (by)
        scroll_by(view, scene, by);
    else if (press.action == ACT_LAUNCHES && press.direction > 0)
        launch_view_open(view, scene, -1);
    else if (press.key == SPECIAL_ESCAPE || press.key == SPECIAL_ENTER || press.action == ACT_QUIT ||
             press.action == ACT_LAUNCHES)
        view->transient.overlay = OVERLAY_NONE;
    else
        return VIEW_IGNORED;
    return VIEW_CHANGED;
}

/* Enter or k writes what the diff shows. */
static ViewAnswer press_in_diff(View *view, const Scene *scene, KeyPress press) {
    bool writes = press.key == SPECIAL_ENTER || press.key == 'k';
    int by = writes ? 0 : scrolled_lines(press);
    if (press.action == ACT_REDRAW) return VIEW_REDRAW;
    if (by)
        scroll_by(view, scene, by);
    else if (writes || press.key == SPECIAL_ESCAPE || press.action == ACT_QUIT)
        view->transient.overlay = OVERLAY_NONE;
    return writes ? VIEW_KEEP : VIEW_CHANGED;
}

static ViewAnswer press_command(View *view, const Scene *scene, KeyPress press, bool had_message);

/* ---- text and letters after a key ---------------------------------------------------------------------- */

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

static void set_mark(View *view, ViewPosition *mark, char name) {
    *mark = (ViewPosition){view->place.block, view->place.step + 1};
    view_say(view, tr("step %d marked %c; '%c returns to it"), view->place.step + 1, name, name);
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
            view_say(view, tr("no step is marked %c; m%c marks this one"), (char)key, (char)key);
    }
    return VIEW_CHANGED;
}

static ViewAnswer press_copy(View *view, const Scene *scene, KeyPress press) {
    (void)scene;
    view->transient.input = INPUT_COMMANDS;
    return press.key == SPECIAL_ENTER ? VIEW_COPY : VIEW_CHANGED;
}

static ViewAnswer press_editor(View *view, const Scene *scene, KeyPress press) {
    (void)scene;
    view->transient.input = INPUT_COMMANDS;
    return press.key == SPECIAL_ENTER || press.action == ACT_EDIT ? VIEW_EDIT : VIEW_CHANGED;
}

/* Host code runs for this answer alone; every other key but Enter and Escape keeps its usual meaning. */
static ViewAnswer press_program(View *view, const Scene *scene, KeyPress press) {
    view->transient.input = INPUT_COMMANDS;
    if (press.key == 'r') return VIEW_PROGRAM;
    return press.key == SPECIAL_ENTER || press.key == SPECIAL_ESCAPE
               ? VIEW_CHANGED
               : press_command(view, scene, press, true);
}

/* The settings stay until they are closed; every change asks for the run with them. */
static ViewAnswer press_in_settings(View *view, const Scene *scene, KeyPress press) {
    (void)scene;
    SettingsAnswer answer = settings_press(&view->transient.settings, press.key);
    if (press.action == ACT_REDRAW) return VIEW_REDRAW;
    bool closes = answer == SETTINGS_CLOSE || (answer == SETTINGS_RUN && press.key == SPECIAL_ENTER);
    if (closes) view->transient.input = INPUT_COMMANDS;
    return answer == SETTINGS_RUN ? VIEW_RERUN : VIEW_CHANGED;
}

/* ---- passing on a key ---------------------------------------------------------------------------------- */

/* Escape closes what was opened, one thing at a time: a search, a number, the grid or the warps, the enlarged
 * pane, the side pane, the comparison. */
static ViewAnswer close_something(View *view) {
    if (view->selection.search[0] || view->selection.traced) {
        view->selection.search[0] = 0;
        view->selection.traced = 0;
    } else if (view->transient.number >= 0) {
        view->transient.number = -1;
    } else if (picture_is_of_machine(view->display.picture)) {
        view->display.picture = view->display.behind_grid;
    } else if (view->display.zoomed) {
        view->display.zoomed = false;
    } else if (view->display.focus == FOCUS_SIDE) { /* on a small screen it took the picture's place */
        view->display.focus = FOCUS_PICTURE;
    } else {
        return VIEW_ALONE;
    }
    return VIEW_CHANGED;
}

/* Digits before a key, Escape, and the actions of keys.def. `had_message`: the key removed one. */
static ViewAnswer press_command(View *view, const Scene *scene, KeyPress press, bool had_message) {
    if (press.key >= '0' && press.key <= '9') {
        int number = view->transient.number < 0 ? 0 : view->transient.number;
        if (number < 100000000) view->transient.number = number * 10 + (int)(press.key - '0');
        return VIEW_CHANGED;
    }
    if (press.key == SPECIAL_ESCAPE) return close_something(view);
    if (warps_view_has_keys(view, scene)) {
        ViewAnswer answer = warps_view_press(view, scene, press, view->transient.number);
        if (answer != VIEW_IGNORED) {
            view->transient.number = -1;
            return answer;
        }
    }
    if (press.action == ACT_NONE && press.key > ' ' && press.key < SPECIAL_KEYS) {
        char key[UTF8_BYTES + 1];
        key[utf8_encode(press.key, key)] = 0;
        view->transient.number = -1;
        view_say(view, tr("%s is no key here; ? lists the keys, : finds an action by its name"), key);
        return VIEW_CHANGED;
    }
    int number = view->transient.number;
    view->transient.number = -1;
    ViewAnswer answer = action_run(press.action, (Press){view, scene, press.direction, number});
    return answer == VIEW_IGNORED && (had_message || number >= 0) ? VIEW_CHANGED : answer;
}

typedef ViewAnswer Receiver(View *view, const Scene *scene, KeyPress press);

ViewAnswer input_press(View *view, const Scene *scene, KeyPress press) {
    if (press.key == KEY_NONE_PRESSED) return VIEW_IGNORED;
    if (press.key == SPECIAL_F10) return VIEW_QUIT; /* as in htop, everywhere */
    bool had_message = view->transient.message[0] != 0;
    view->transient.message[0] = 0;
    view->is_opening = false;
    if (view->transient.overlay == OVERLAY_FAILURE) { /* any key but Escape keeps its usual meaning */
        view->transient.overlay = OVERLAY_NONE;
        if (press.key == SPECIAL_ESCAPE) return VIEW_CHANGED;
    }
    /* The receiver of every key while it is open; NULL: keys are commands. */
    static Receiver *const overlays[OVERLAY_COUNT] = {
        [OVERLAY_HELP] = press_in_help,
        [OVERLAY_WORDS] = press_in_help,
        [OVERLAY_DIFFERENCES] = press_in_differences,
        [OVERLAY_DIFF] = press_in_diff,
        [OVERLAY_MENU] = press_in_menu,
        [OVERLAY_LADDER] = view_ladder_press,
        [OVERLAY_LATENCY] = view_ladder_press,
        [OVERLAY_INDEX] = view_index_press,
        [OVERLAY_LAUNCHES] = launch_view_press,
        [OVERLAY_OUTPUT] = press_in_output,
    };
    static Receiver *const inputs[INPUT_COUNT] = {
        [INPUT_SEARCH] = press_in_search,     [INPUT_MARK] = press_mark,
        [INPUT_RETURN] = press_mark,          [INPUT_COPY] = press_copy,
        [INPUT_EDITOR] = press_editor,        [INPUT_PROGRAM] = press_program,
        [INPUT_SETTINGS] = press_in_settings,
    };
    Receiver *overlay = overlays[view->transient.overlay];
    Receiver *open = overlay ? overlay : inputs[view->transient.input];
    if (!open) return press_command(view, scene, press, had_message);
    ViewAnswer answer = open(view, scene, press);
    KeyAction action = press.action; /* these apply on every screen that fills the terminal */
    bool is_everywhere = action == ACT_HELP || action == ACT_THEME || action == ACT_REDRAW;
    if (answer != VIEW_IGNORED || !is_everywhere || !overlay_fills_screen(view->transient.overlay))
        return answer;
    if (action == ACT_HELP) view->transient.behind = view->transient.overlay;
    return action_run(action, (Press){view, scene, press.direction, -1});
}
