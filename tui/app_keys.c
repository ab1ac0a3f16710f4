/* The keys of a script, and the frames of a recording between them. */
#include "tui/app_state.h"
#include "tui/view/key_actions.h"

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
    if (pause <= 0) return;
    do {
        double each = app_place_seconds(app);
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
    double due = app->cast_seconds + app_place_seconds(app);
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

/* ---- a frame with the panel of a lecture --------------------------------------------------------------- */

void app_fit(const App *app, int *columns, int *rows) {
    if (app->lecture.run) view_lecture_panel_area(&app->lecture, columns, rows);
}

static Canvas *canvas_without_panel(const App *app, const Comparison *shown, int columns, int rows) {
    Canvas *canvas = canvas_new(columns, rows, app->ascii);
    Comparison drawn = *shown;
    for (int i = 0; i < drawn.count; i++) view_lecture_tell(&app->lecture, &drawn.view[i]);
    comparison_draw(&drawn, canvas);
    return canvas;
}

Canvas *app_page_canvas(App *app, int columns, int rows) {
    app_end_motion(app);
    app_provide(app, columns, rows);
    Canvas *canvas = canvas_without_panel(app, &app->comparison, columns, rows);
    Overlay overlay = app_view(app)->transient.overlay;
    if (overlay == OVERLAY_NONE)
        canvas_fill(canvas, (Rectangle){0, rows - 1, columns, 1}, ROLE_TEXT);
    else if (overlay_fills_screen(overlay)) /* their hints are inside their frame */
        canvas_fill(canvas, (Rectangle){1, rows - 2, columns - 2, 1}, ROLE_TEXT);
    return canvas;
}

Canvas *app_canvas(App *app, const Comparison *shown, int columns, int rows) {
    int inner_columns = columns, inner_rows = rows;
    app_fit(app, &inner_columns, &inner_rows);
    Canvas *inner = canvas_without_panel(app, shown, inner_columns, inner_rows);
    if (!app->lecture.run) return inner;
    Canvas *whole = canvas_new(columns, rows, app->ascii);
    app->lecture_columns = columns;
    app->lecture_rows = rows;
    app->lecture.cursor = app_view(app)->selection.lane;
    canvas_put(whole, inner, 0, 0);
    view_lecture_panel_draw(&app->lecture, whole, view_lecture_panel_area(&app->lecture, &columns, &rows));
    canvas_free(inner);
    return whole;
}

/* ---- playing ------------------------------------------------------------------------------------------- */

double app_place_seconds(App *app) {
    return view_place_seconds(app_view(app), comparison_scene(&app->comparison));
}

double app_play_frame(App *app) {
    View *view = app_view(app);
    double moving = MOTION_SHARE * view_wavefront_seconds(view);
    int frames = view->display.still ? 1 : motion_frames(moving);
    bool is_on_its_way = ++app->motion < frames;
    if (!is_on_its_way) app->motion = 0;
    if (!is_on_its_way) view->transient.playing = comparison_play(&app->comparison);
    view->transient.phase =
        motion_phase(view->place.wavefront, view_wavefronts(view, comparison_scene(&app->comparison)),
                     app->motion, frames);
    bool has_arrived = app->motion == frames - 1;
    double earlier = moving * (frames - 1) / frames;
    return has_arrived ? app_place_seconds(app) - earlier : moving / frames;
}

void app_end_motion(App *app) {
    app_view(app)->transient.phase = 1;
    app->motion = MOTION_FRAMES_A_SECOND;
}

/* ---- motion -------------------------------------------------------------------------------------------- */

int motion_frames(double seconds) {
    int frames = (int)(seconds * MOTION_FRAMES_A_SECOND + 1e-6);
    return frames < 1 ? 1 : frames;
}

double motion_phase(int wavefront, int wavefronts, int frame, int frames) {
    double phase = (wavefront + (double)(frame + 1) / frames) / wavefronts;
    return phase < 1 ? phase : 1;
}
