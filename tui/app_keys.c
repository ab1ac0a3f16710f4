/* The keys of a script, and the frames of a recording between them. */
#include "tui/app_state.h"

#include "tui/key_script.h"

#define ROUNDING_SECONDS 1e-6

Canvas *app_frame_canvas(App *app, int columns, int rows) {
    int inner_columns = columns, inner_rows = rows;
    app_fit(app, &inner_columns, &inner_rows);
    app_provide(app, inner_columns, inner_rows);
    return app_canvas(app, &app->comparison, columns, rows);
}

/* For a script: adds a frame to the recording. */
static void app_record_frame(App *app, int columns, int rows) {
    Canvas *canvas = app_frame_canvas(app, columns, rows);
    cast_add(app->cast, canvas, app_view(app)->display.theme, app->cast_seconds);
    canvas_free(canvas);
}

/* Adds a frame of an animated image for each pause. A playing run advances wavefront by wavefront; nothing
 * moves in between. */
static void add_to_movie(App *app, double pause, int columns, int rows) {
    double each = 1 / view_wavefronts_per_second(app_view(app));
    if (pause <= 0) return;
    do {
        double seconds = app_view(app)->transient.playing && each < pause ? each : pause;
        app_end_motion(app);
        Canvas *canvas = app_frame_canvas(app, columns, rows);
        svg_movie_add(app->movie, canvas, app_view(app)->display.theme, seconds);
        canvas_free(canvas);
        pause -= seconds;
        if (app_view(app)->transient.playing)
            app_view(app)->transient.playing = comparison_play(&app->comparison);
    } while (pause > ROUNDING_SECONDS);
}

static void end_key(App *app, double pause, int columns, int rows) {
    if (app->movie) add_to_movie(app, pause, columns, rows);
    /* For a script: adds the next frame to the recording, with the time it is shown. A playing run goes on
     * meanwhile, frame by frame as on a terminal. */
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
    if (columns) end_key(app, pause, columns, rows);
    while (*script && !*quit && !app->failed) {
        if (!keys_read(&script, &key, error)) return false;
        *quit = app_press(app, key) == VIEW_QUIT;
        pause = key_script_pause(&script);
        if (columns && !*quit && !app->failed) end_key(app, pause, columns, rows);
    }
    if (columns) cast_hold(app->cast, app->cast_seconds);
    if (app->failed && error) *error = app->error;
    return !app->failed;
}
