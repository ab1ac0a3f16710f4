/* Without a terminal: the keys of --keys, one frame, a recording. */
#include "tui/app_state.h"

#include "tui/draw/svg.h"
#include "tui/key_script.h"
#include <time.h>

#define ROUNDING_SECONDS 1e-6

static Canvas *app_frame_canvas(App *app, int columns, int rows) {
    int inner_columns = columns, inner_rows = rows;
    app_fit(app, &inner_columns, &inner_rows);
    app_provide(app, inner_columns, inner_rows);
    return app_canvas(app, &app->comparison, columns, rows);
}

/* Of a script: a frame of the recording. */
static void app_record_frame(App *app, int columns, int rows) {
    Canvas *canvas = app_frame_canvas(app, columns, rows);
    cast_add(app->cast, canvas, app_view(app)->display.theme, app->cast_seconds);
    canvas_free(canvas);
}

/* Of a script: the next frame of the recording, and how long it is shown. Where the run plays, it goes on playing
 * meanwhile, frame by frame as on a terminal. */
static void app_record_pause(App *app, double pause, int columns, int rows) {
    if (!app->cast) return;
    app_end_motion(app);
    app_record_frame(app, columns, rows);
    double end = app->cast_seconds + (pause < 0 ? cast_reading_seconds(app->cast) : pause);
    double due = app->cast_seconds + 1 / view_wavefronts_per_second(app_view(app));
    while (app_view(app)->transient.playing && due <= end + ROUNDING_SECONDS) {
        app->cast_seconds = due;
        due += app_play_frame(app);
        app_record_frame(app, columns, rows);
    }
    app->cast_seconds = end;
}

bool app_press_script(App *app, const char *script, int columns, int rows, bool *quit, Error *error) {
    Key key;
    double pause = key_script_pause(&script);
    if (columns) app_record_pause(app, pause, columns, rows);
    while (*script && !*quit && !app->failed) {
        if (!keys_read(&script, &key, error)) return false;
        *quit = app_press(app, key) == VIEW_QUIT;
        pause = key_script_pause(&script);
        if (columns && !*quit && !app->failed) app_record_pause(app, pause, columns, rows);
    }
    if (columns) cast_hold(app->cast, app->cast_seconds);
    if (app->failed && error) *error = app->error;
    return !app->failed;
}

/* The second run of --compare. */
static bool app_start_comparison(App *app, const SessionOptions *options, Error *error) {
    Error reason = {0};
    Session *session = session_open(options, &reason);
    if (!session && reason.file[0]) return error_set(error, "--compare: %s: %s", reason.file, reason.message);
    if (!session) return error_set(error, "--compare: %s", reason.message);
    app_show(app, session, PURPOSE_BESIDE, 1);
    return true;
}

bool app_start(App *app, const AppStart *start, int columns, int rows, bool *quit, Error *error) {
    const char *keys = start->keys ? start->keys : "";
    *quit = false;
    if (!key_script_check(keys, error)) return false;
    if (start->cast) {
        app->cast = cast_open(start->cast, columns ? 0 : (int64_t)time(NULL), error);
        if (!app->cast) return false;
    }
    app->lecture_columns = columns;
    app->lecture_rows = rows;
    if (start->lecture) app_go_to_stop(app, 0);
    if (start->compare && !app_start_comparison(app, start->compare, error)) return false;
    if (start->step > 0) comparison_go_to_step(&app->comparison, start->step - 1);
    return app_press_script(app, keys, columns, rows, quit, error);
}

bool app_frame(Session *session, int columns, int rows, const AppStart *start, Text *out, Error *error) {
    App app;
    bool quit;
    app_init(&app, session, start);
    bool ok = app_start(&app, start, columns, rows, &quit, error);
    if (ok) {
        Canvas *canvas = app_frame_canvas(&app, columns, rows);
        if (start->svg)
            canvas_to_svg(canvas, app_view(&app)->display.theme, out);
        else
            canvas_to_text(canvas, out);
        canvas_free(canvas);
    }
    ok = cast_close(app.cast, ok ? error : NULL) && ok;
    app_done(&app);
    return ok;
}

bool app_record(Session *session, int columns, int rows, const AppStart *start, Error *error) {
    App app;
    bool quit;
    app_init(&app, session, start);
    bool ok = app_start(&app, start, columns, rows, &quit, error);
    ok = cast_close(app.cast, ok ? error : NULL) && ok;
    app_done(&app);
    return ok;
}
