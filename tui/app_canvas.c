/* A frame as the app shows it: the interface, with the panel of a lecture beside it. */
#include "tui/app_state.h"

void app_fit(const App *app, int *columns, int *rows) {
    if (app->lecture.run) lecture_panel_area(&app->lecture, columns, rows);
}

static Canvas *canvas_without_panel(const App *app, const Comparison *shown, int columns, int rows) {
    Canvas *canvas = canvas_new(columns, rows, app->ascii);
    Comparison drawn = *shown;
    for (int i = 0; i < drawn.count; i++) drawn.view[i].transient.hides = lecture_view_hides(&app->lecture);
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
    lecture_panel_draw(&app->lecture, whole, lecture_panel_area(&app->lecture, &columns, &rows));
    canvas_free(inner);
    return whole;
}
