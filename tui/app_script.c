/* Scripts without a terminal: the keys of --keys, one frame, a recording. */
#include "tui/app_state.h"

#include "tui/view/index_view.h"
#include "tui/view/menu.h"
#include <string.h>
#include <time.h>

/* Opens the second run of --compare. */
static bool app_start_comparison(App *app, const RunSpec *options, Error *error) {
    Error reason = {0};
    Session *session = session_open(options, &reason);
    if (!session && reason.file[0]) return error_set(error, "--compare: %s: %s", reason.file, reason.message);
    if (!session) return error_set(error, "--compare: %s", reason.message);
    const char *own = session_spec(app->first)->source;
    bool is_change = session_is_edited(session) && session_row(session) == session_row(app->first) &&
                     !(own && !strcmp(own, options->source));
    if (is_change) snprintf(app->what, sizeof app->what, "%s", scene_file_name(options->source));
    app_show(app, session, is_change ? PURPOSE_EDIT : PURPOSE_BESIDE, 1);
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
    app->above = app_lecture_hears;
    app->lecture_columns = columns;
    app->lecture_rows = rows;
    if (start->lecture) app_begin_lecture(app, start->lecture, start->stop ? start->stop - 1 : 0);
    app_grade(app);
    if (start->compare && !app_start_comparison(app, start->compare, error)) return false;
    for (int i = 0; i < app->comparison.count; i++) app_show_hazards(app, i, false); /* a run opens there */
    if (start->opens_home) menu_open(app_view(app), MENU_HOME, NULL);
    app_view(app)->transient.begins = start->opens_home;
    if (start->step > 0) comparison_go_to_step(&app->comparison, start->step - 1);
    if (start->has_index) view_index_open(app_view(app), start->index[0], start->index[1]);
    if (start->has_what_if && !app_try_kind(app, start->what_if, error)) return false;
    return app_press_script(app, keys, columns, rows, quit, error);
}

bool app_frame(Session *session, int columns, int rows, const AppStart *start, Text *out, Error *error) {
    App app;
    bool quit;
    app_init(&app, session, start);
    if (start->svg && start->keys && key_script_has_pause(start->keys)) app.movie = svg_movie_new();
    bool ok = app_start(&app, start, columns, rows, &quit, error);
    if (ok && app.movie && svg_movie_frames(app.movie)) {
        svg_movie_write(app.movie, out);
    } else if (ok) {
        Canvas *canvas = app_frame_canvas(&app, columns, rows);
        if (start->svg)
            canvas_to_svg(canvas, app_view(&app)->display.theme, out);
        else
            canvas_to_text(canvas, out);
        canvas_free(canvas);
    }
    svg_movie_free(app.movie);
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
