/* A lecture: moves between stops, asks questions, and checks claims. */
#include "tui/app_state.h"
#include "tui/view/key_actions.h"

#include "base/language.h"
#include "base/utf8.h"

#include "tui/view/menu.h"
#include "tui/view/place_values.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Presses the keys of the stop or of its question; they are the lecture's own, so it is not left. */
static void press_own(App *app, const char *keys) {
    bool quit = false;
    Error error = {0};
    app->lecture.presses = true;
    bool good = !keys || app_press_script(app, keys, 0, 0, &quit, &error);
    app->lecture.presses = false;
    if (!good && error.message[0]) app_say(app, tr("this stop"), error.message);
}

/* The run is open: apply step and keys. */
static void arrive(App *app) {
    const LectureScreen *screen = view_lecture_screen(&app->lecture);
    app->lecture.opening = STOP_THERE;
    app->lecture.shown = screen->run;
    if (screen->step > 0) comparison_go_to_step(&app->comparison, screen->step - 1);
    press_own(app, screen->keys);
}

/* Resets the run to the state in which it opens: undoes what other keys have changed. */
static void restart(App *app) {
    Comparison *comparison = &app->comparison;
    for (int i = 0; i < comparison->count; i++) {
        ViewDisplay kept = comparison->view[i].display;
        view_init(&comparison->view[i]);
        comparison->view[i].display.theme = kept.theme;
        comparison->view[i].display.still = kept.still;
        comparison->view[i].display.speed = kept.speed;
        comparison->view[i].display.lectures = kept.lectures;
        comparison->view[i].display.exercises = kept.exercises;
        comparison->view[i].display.file = kept.file;
        comparison->view[i].display.home = kept.home;
        comparison->view[i].display.projector = kept.projector;
        comparison->view[i].display.plays_lecture = true;
        view_open(&comparison->view[i], comparison->scene[i]);
    }
    comparison->active = 0;
    comparison->exchanged = false;
    comparison->linked = comparison->count == 2;
    comparison_follow(comparison);
}

/* A jump to a hazard needs the whole search, and a jump to another block or launch its events; everything
 * else is ready once the traced blocks have run. */
static bool needs_all_events(const char *keys) {
    Key key;
    Error error;
    while (keys && keys_read(&keys, &key, &error) && key != KEY_NONE_PRESSED) {
        KeyAction action = keys_decode(key).action;
        if (action == ACT_HAZARD || action == ACT_BLOCK) return true;
    }
    return false;
}

/* Opens its run if it is not on the screen, then presses its keys. */
static void go_to_stop(App *app, int stop) {
    app_abandon_loading(app); /* a reader who goes on does not wait for abandoned sessions */
    app_view(app)->transient.overlay = OVERLAY_NONE;
    app_view(app)->transient.playing = false;
    int from = app->lecture.stop;
    view_lecture_begin_stop(&app->lecture, stop);
    const LectureScreen *screen = view_lecture_screen(&app->lecture);
    LectureView *lecture = &app->lecture;
    bool is_own = lecture->run->screens[lecture->stop].is_set;
    bool is_there = lecture->shown && !strcmp(lecture->shown, screen->run) &&
                    app->comparison.count == (screen->compare ? 2 : 1);
    if (!is_own && from == lecture->stop - 1) return; /* the screen stays as it is */
    if (is_there && !app->loader) {
        restart(app);
        arrive(app);
        return;
    }
    if (app->comparison.count == 2) app_leave_comparison(app);
    lecture->shown = NULL;
    lecture->opening = STOP_OPENS;
    RunSpec options = *screen->session;
    options.first_look = !app->waits && !needs_all_events(screen->keys);
    app_open_at(app, &options, PURPOSE_STOP, view_lecture_stop(&app->lecture)->title, app->comparison.active);
}

static void continue_stop(App *app, Purpose purpose) {
    LectureView *lecture = &app->lecture;
    if (purpose == PURPOSE_KERNEL || purpose == PURPOSE_SETTINGS) lecture->shown = NULL;
    if (purpose == PURPOSE_BESIDE && lecture->opening == STOP_THERE) lecture->shown = NULL;
    if (purpose == PURPOSE_STOP && view_lecture_screen(&app->lecture)->compare) {
        lecture->opening = STOP_OPENS_SECOND;
        app_open_at(app, view_lecture_screen(&app->lecture)->compare, PURPOSE_BESIDE,
                    view_lecture_stop(lecture)->title, 1);
    } else if (purpose == PURPOSE_STOP || lecture->opening == STOP_OPENS_SECOND) {
        restart(app);
        arrive(app);
    }
}

/* ---- keys ---------------------------------------------------------------------------------------------- */

static Rectangle panel(const App *app) {
    int columns = app->lecture_columns, rows = app->lecture_rows;
    return view_lecture_panel_area(&app->lecture, &columns, &rows);
}

bool app_press_answer(App *app, const char **keys) {
    Key key;
    if (!*keys) {
        const char *all = view_lecture_stop(&app->lecture)->question->keys;
        *keys = all ? all : "";
        if (app->lecture.question == QUESTION_WAITS) view_lecture_skip(&app->lecture);
    }
    key_script_pause(keys);
    if (!**keys || app->failed || !keys_read(keys, &key, NULL)) return false;
    app->lecture.presses = true;
    app_press(app, key);
    app->lecture.presses = false;
    return true;
}

void app_show_answer(App *app) {
    for (const char *keys = NULL; app_press_answer(app, &keys);) continue;
}

static bool is_opening(const App *app) {
    return app->lecture.opening != STOP_THERE && app->loader;
}

/* To the row at the end of the text that has what is typed, why it is refused, or the answer. */
static void scroll_to_answer(App *app) {
    enum { ALL_ROWS = 10000 };
    view_lecture_panel_scroll_rows(&app->lecture, panel(app), ALL_ROWS);
}

static void go_on(App *app) {
    LectureView *lecture = &app->lecture;
    if (view_lecture_panel_scroll(lecture, panel(app), 1)) return;
    if (lecture->question == QUESTION_WAITS && !is_opening(app)) {
        app_show_answer(app);
        scroll_to_answer(app);
    } else if (lecture->stop + 1 < lecture->run->lecture->stop_count) {
        go_to_stop(app, lecture->stop + 1);
    } else {
        app_say(app, tr("the end"), tr("this is the last stop; q: quit, Home: the first stop"));
    }
}

static void go_back(App *app) {
    LectureView *lecture = &app->lecture;
    if (view_lecture_panel_scroll(lecture, panel(app), -1)) return;
    if (lecture->stop > 0) go_to_stop(app, lecture->stop - 1);
}

static void enter(App *app) {
    LectureView *lecture = &app->lecture;
    if (lecture->question == QUESTION_WAITS && (*lecture->typed || !lecture->has_left)) {
        if (view_lecture_answer(lecture)) app_show_answer(app);
        scroll_to_answer(app);
    } else if (lecture->has_left) {
        go_to_stop(app, lecture->stop);
    } else if (view_lecture_exercise(lecture)) {
        app_open_exercise(app, view_lecture_exercise(lecture));
    } else {
        go_on(app);
    }
}

/* PgDn, Home and digits belong to the overlay. */
static bool has_keys(Overlay overlay) {
    return overlay == OVERLAY_HELP || overlay == OVERLAY_WORDS || overlay == OVERLAY_MENU ||
           overlay == OVERLAY_INDEX;
}

/* The key neither answers nor does anything else. The line of the answer says which keys do. */
static void refuse_key(App *app, Key key) {
    char name[UTF8_BYTES + 1];
    name[utf8_encode(key, name)] = 0;
    app->lecture.is_refused = true;
    scroll_to_answer(app);
    app_say(app, name, tr("this key does not answer the question"));
}

static bool is_meaningless(KeyPress press) {
    bool is_digit = press.key >= '0' && press.key <= '9';
    return press.action == ACT_NONE && press.key > ' ' && press.key < SPECIAL_KEYS && !is_digit;
}

static bool press_lecture(App *app, KeyPress press) {
    LectureView *lecture = &app->lecture;
    View *view = app_view(app);
    if (lecture->presses) return false;
    int direction;
    LectureKey key = keys_of_lecture(press.key, &direction);
    bool goes = key == LECTURE_KEY_STOP || key == LECTURE_KEY_FIRST;
    bool leaves = press.key == SPECIAL_ESCAPE || press.action == ACT_QUIT;
    bool solves = key == LECTURE_KEY_RETURN && view_lecture_exercise(lecture);
    if (is_opening(app) && !goes && !leaves && !solves)
        return true; /* the screen is still that of the stop before */
    /* An overlay that the stop opened is part of it; one that the reader opened has its own Enter and
     * figures. */
    bool is_own = view->transient.overlay == OVERLAY_NONE || !lecture->has_left;
    if (!is_own && has_keys(view->transient.overlay)) return false;
    if (view->transient.input != INPUT_COMMANDS || (!is_own && key == LECTURE_KEY_RETURN)) return false;
    bool asks = is_own && lecture->question == QUESTION_WAITS;
    if (asks) view->transient.message[0] = 0; /* of the key before */
    if (asks && view_lecture_type(lecture, press.key, view->selection.lane, view->transient.number >= 0)) {
        scroll_to_answer(app);
        return true;
    }
    if (asks && is_meaningless(press)) {
        refuse_key(app, press.key);
        return true;
    }
    if (press.key == SPECIAL_ESCAPE && view->transient.overlay == OVERLAY_NONE && !lecture->has_left) {
        app_say(app, tr("the lecture"), tr("PgDn goes on, ~ leaves it for the home screen, q quits"));
        return true;
    }
    switch (key) {
    case LECTURE_KEY_STOP:
        (direction > 0 ? go_on : go_back)(app);
        return true;
    case LECTURE_KEY_FIRST:
        go_to_stop(app, 0);
        return true;
    case LECTURE_KEY_RETURN:
        enter(app);
        return true;
    case LECTURE_KEY_MARK: /* the question does not ask for lanes: the key plays */
    case LECTURE_KEY_COUNT:
        break;
    }
    lecture->has_left = true;
    return false;
}

static void play_from(App *app, int stop) {
    app->above = app_lecture_hears;
    for (int i = 0; i < 2; i++) app->comparison.view[i].display.plays_lecture = true;
    go_to_stop(app, stop);
}

static void open_chosen_lecture(App *app) {
    Error error = {0};
    MenuRow chosen;
    if (!menu_choice(app_view(app), &chosen)) return;
    int index = chosen.index;
    const LectureRun *run = app->loader ? NULL : app->lectures->open(app->lectures->context, index, &error);
    if (!run) {
        app_say(app, app->lectures->rows.names[index],
                app->loader ? "a run is still being opened" : error.message);
        return;
    }
    view_lecture_done(&app->lecture);
    app->lecture.run = run;
    play_from(app, 0);
}

void app_begin_lecture(App *app, const LectureRun *run, int stop) {
    int last = run->lecture->stop_count - 1;
    app->lecture.run = run;
    app->lecture.shown = run->screens->compare ? NULL : run->screens->run;
    play_from(app, stop < last ? stop : last);
}

bool app_lecture_hears(App *app, AppEvent event) {
    if (event.kind == APP_LECTURE_CHOSEN) open_chosen_lecture(app);
    if (event.kind == APP_OPENED && app->lecture.run) continue_stop(app, event.purpose);
    return event.kind == APP_KEY && app->lecture.run && press_lecture(app, event.press);
}

bool app_stand_at_stop(App *app, int stop, Error *error) {
    const Lecture *lecture = app->lecture.run->lecture;
    go_to_stop(app, stop);
    return !app->failed || lecture_refuse(lecture, lecture->stops[stop].command_place, &app->error, error);
}

/* ---- the mouse ----------------------------------------------------------------------------------------- */

static bool is_on_panel(const App *app, int column, int row) {
    Rectangle area = panel(app);
    return app->lecture.run && row >= area.row && row < area.row + area.rows && column >= area.column &&
           column < area.column + area.columns;
}

bool app_scroll_lecture(App *app, int column, int row, int direction) {
    if (!is_on_panel(app, column, row)) return false;
    view_lecture_panel_scroll_rows(&app->lecture, panel(app), direction);
    return true;
}

bool app_click_lecture(App *app, int column, int row) {
    if (!is_on_panel(app, column, row)) return false;
    if (view_lecture_panel_goes_on(&app->lecture, panel(app), column, row)) go_on(app);
    return true;
}

/* ---- the check ----------------------------------------------------------------------------------------- */

enum { CHECKED_COLUMNS = 80, CHECKED_ROWS = 24 };

typedef struct Check {
    App *app;
    const LectureRun *lecture;
    PlaceValues values;
    Text *out;
    int claims, answers, failed;
    Error *error;
} Check;

static void complain(Check *check, LecturePlace place, const char *text, const char *why) {
    text_print(check->out, "%s:%d:%d: %s\n    %s\n", check->lecture->lecture->path, place.line, place.column,
               text, why);
    check->failed++;
}

static void stand(Check *check) {
    App *app = check->app;
    int active = app->comparison.active;
    bool two = app->comparison.count == 2;
    Session *here = app->slots[active].current.session;
    check->values.scene = comparison_scene(&app->comparison);
    check->values.view = app_view(app);
    check->values.session = here;
    claim_runs_stand_at(check->values.runs, here, two ? app->slots[!active].current.session : NULL);
}

static bool value_of(void *context, const ClaimQuery *query, double *value, Error *error) {
    Check *check = context;
    return place_values_value(&check->values, query, value, error);
}

/* The text is on the smallest screen that a lecture is made for, without what the lecture itself says. */
static bool is_shown(void *context, const char *text) {
    Check *check = context;
    int columns = CHECKED_COLUMNS, rows = CHECKED_ROWS;
    Text frame = {0};
    app_fit(check->app, &columns, &rows);
    Canvas *canvas = app_page_canvas(check->app, columns, rows);
    canvas_to_text(canvas, &frame);
    bool shown = strstr(text_string(&frame), text) != NULL;
    text_done(&frame);
    canvas_free(canvas);
    return shown;
}

static void check_claim(Check *check, const LectureExpression *claim) {
    const ClaimWorld world = {check, value_of, is_shown};
    ClaimResult result;
    Error error = {0};
    bool known = claim_evaluate(claim, check->lecture->lecture->path, &world, &result, &error);
    check->claims++;
    if (!known)
        complain(check, claim->place, claim->text, error.message);
    else if (!result.holds) {
        complain(check, claim->place, claim->text, "does not hold:");
        text_print(check->out, "    %s\n", text_string(&result.sides));
        for (const char *line = text_string(&result.values); *line; line += strcspn(line, "\n") + 1)
            text_print(check->out, "      %.*s\n", (int)strcspn(line, "\n"), line);
    }
    claim_result_done(&result);
}

/* Those of the screen, or all others. */
static void check_claims(Check *check, const LectureStop *stop, bool of_screen) {
    for (int i = 0; i < stop->claim_count; i++)
        if ((claim_shown_text(&stop->claims[i]) != NULL) == of_screen) check_claim(check, &stop->claims[i]);
}

static void check_answer(Check *check, const LectureQuestion *question) {
    const ClaimWorld world = {check, value_of, is_shown};
    const LectureExpression *answer = &question->answer;
    double value, wanted = strtod(question->value, NULL);
    char why[64];
    Error error = {0};
    if (!*answer->text) return;
    check->answers++;
    if (!claim_number(answer, check->lecture->lecture->path, &world, &value, &error)) {
        complain(check, answer->place, answer->text, error.message);
    } else if (fabs(value - wanted) > 1e-9 * fabs(wanted)) {
        snprintf(why, sizeof why, "is %.10g, not %.10g", value, wanted);
        complain(check, answer->place, answer->text, why);
    }
}

/* What a stop says about its screen holds once its question has been answered. */
static bool check_stop(Check *check, int index) {
    App *app = check->app;
    const LectureStop *stop = &check->lecture->lecture->stops[index];
    if (!app_stand_at_stop(app, index, check->error)) return false;
    stand(check);
    check_claims(check, stop, false);
    if (stop->question) {
        app_show_answer(app);
        stand(check);
        check_answer(check, stop->question);
    }
    check_claims(check, stop, true);
    return true;
}

static const char *plural(int count) {
    return count == 1 ? "" : "s";
}

static bool check_stops(Check *check) {
    const Lecture *lecture = check->lecture->lecture;
    for (int i = 0; i < lecture->stop_count; i++)
        if (!check_stop(check, i)) return false;
    text_print(check->out, "%s: %d stop%s, %d claim%s, %d answer%s: ", lecture->path, lecture->stop_count,
               plural(lecture->stop_count), check->claims, plural(check->claims), check->answers,
               plural(check->answers));
    if (check->failed)
        text_print(check->out, "%d do%s not hold\n", check->failed, check->failed == 1 ? "es" : "");
    else
        text_add(check->out, "all hold\n");
    return true;
}

bool app_check_lecture(const LectureRun *lecture, const char *machine, bool live, Text *out, int *failed,
                       Error *error) {
    App app;
    AppStart start = {.machine = machine, .still = true};
    RunSpec whole = *lecture->screens[0].session;
    whole.first_look = false;
    Error why = {0};
    Session *first = session_open(&whole, &why);
    if (!first)
        return lecture_refuse(lecture->lecture, lecture->lecture->stops[0].command_place, &why, error);
    app_init(&app, first, &start);
    Check check = {.app = &app,
                   .lecture = lecture,
                   .values.runs = claim_runs_new(&(ClaimRunsOptions){.machine = machine, .live = live}),
                   .out = out,
                   .error = error};
    app_begin_lecture(&app, lecture, 0);
    bool good = check_stops(&check);
    claim_runs_free(check.values.runs);
    place_values_done(&check.values);
    app_done(&app);
    session_free(first);
    *failed = check.failed;
    return good;
}
