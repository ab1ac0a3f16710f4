/* The curve of a parameter as a bar chart (tui/scene/curve.h), with the time of the run. */
#include "tui/panes/pane.h"

#include "base/language.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_BAR_COLUMNS = 6, LEAST_LABEL_COLUMNS = 6, LEAST_CHART_ROWS = 2, EIGHTHS = 8 };

static const char *name_of(const Curve *curve) {
    return curve->run.row->parameters[0].name;
}

void curve_print_title(const Curve *curve, char *out, size_t bytes) {
    const CatalogParameter *of = &curve->run.row->parameters[0];
    CurveCost cost = curve_shown(curve);
    char what[64];
    if (cost != CURVE_COSTS)
        curve_print_cost(cost, NAN, what, sizeof what);
    else
        snprintf(what, sizeof what, tr("costs"));
    snprintf(out, bytes, tr("%s, %s %lld to %lld"), what, of->name, (long long)of->minimum,
             (long long)of->maximum);
}

static const CurvePoint *own_point(const Curve *curve) {
    const CurvePoint *own = &curve->points[0];
    for (int i = 0; i < curve->count; i++)
        if (curve->points[i].value == curve->run.parameters[0]) own = &curve->points[i];
    return own;
}

/* "stride 2: 2 wavefronts of the worst shared access" */
static int draw_own(const Curve *curve, CurveCost cost, Canvas *canvas, Rectangle area) {
    const CurvePoint *own = own_point(curve);
    char text[64];
    int at = canvas_print(canvas, area, 0, 0, ROLE_CURRENT, "%s %" PRId64, name_of(curve), own->value);
    if (!own->is_counted)
        return at + canvas_print(canvas, area, at, 0, ROLE_DIM, tr(": %s"),
                                 own->has_failed ? tr("cannot be run") : tr("counting ..."));
    curve_print_cost(cost, own->cost[cost], text, sizeof text);
    return at + canvas_print(canvas, area, at, 0, ROLE_CURRENT, tr(": %s"), text);
}

static void draw_bar(Canvas *canvas, Rectangle area, int at, int width, double share, Role role) {
    int eighths = (int)(share * area.rows * EIGHTHS + 0.5);
    if (eighths < 1) eighths = 1;
    for (int i = 0; i < (width > 2 ? width - 1 : width); i++)
        canvas_column(canvas, area, at + i, area.rows - 1, role, eighths);
}

/* A number below its bar, unless it touches one that is there. */
static void draw_number(Canvas *canvas, Rectangle area, int at, Role role, const char *text) {
    for (int i = -1; i <= canvas_text_columns(text); i++) {
        const Cell *cell = canvas_cell(canvas, area, at + i, 0);
        if (cell && cell->glyph != ' ') return;
    }
    canvas_text(canvas, area, at, 0, role, text);
}

static void draw_axis(const Curve *curve, int first, int shown, int width, Canvas *canvas, Rectangle area) {
    char text[32];
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < shown; i++) {
            int64_t value = curve->points[first + i].value;
            bool is_own = value == curve->run.parameters[0];
            if (is_own != !pass) continue;
            snprintf(text, sizeof text, is_own ? "^%" PRId64 : "%" PRId64, value);
            draw_number(canvas, area, i * width, is_own ? ROLE_CURRENT : ROLE_DIM, text);
        }
}

/* As many bars as fit, around the run's own. */
static void draw_chart(const Curve *curve, CurveCost cost, Canvas *canvas, Rectangle area) {
    int own = (int)(own_point(curve) - curve->points), label = canvas_text_columns(name_of(curve)) + 1;
    if (label < LEAST_LABEL_COLUMNS) label = LEAST_LABEL_COLUMNS;
    int room = area.columns - label;
    int width = room / curve->count, shown = curve->count;
    if (width > MOST_BAR_COLUMNS) width = MOST_BAR_COLUMNS;
    if (width < 1) width = 1, shown = room;
    int first = canvas_first_shown(own, shown, curve->count);
    double most = 0;
    char text[32];
    for (int i = 0; i < curve->count; i++)
        if (curve->points[i].is_counted && curve->points[i].cost[cost] > most)
            most = curve->points[i].cost[cost];
    Rectangle bars = {area.column + label, area.row, room, area.rows - 1};
    snprintf(text, sizeof text, most == floor(most) ? "%.0f" : "%.1f", most);
    canvas_print(canvas, area, 0, 0, ROLE_DIM, "%*s", label - 1, text);
    for (int i = 0; i < shown; i++) {
        const CurvePoint *point = &curve->points[first + i];
        Role role = first + i == own ? ROLE_ACTIVE : ROLE_DIM;
        if (point->is_counted)
            draw_bar(canvas, bars, i * width, width, point->cost[cost] / most, role);
        else
            canvas_glyph(canvas, bars, i * width, bars.rows - 1, ROLE_IDLE, point->has_failed ? '-' : 0xB7);
    }
    canvas_print(canvas, area, 0, area.rows - 1, ROLE_DIM, "%s", name_of(curve));
    draw_axis(curve, first, shown, width, canvas,
              (Rectangle){bars.column, area.row + area.rows - 1, bars.columns, 1});
}

void curve_draw(const Curve *curve, const char *time, Canvas *canvas, Rectangle area) {
    CurveCost cost = curve_shown(curve);
    if (cost == CURVE_COSTS && curve_next(curve) < 0) {
        canvas_print(canvas, area, 0, 0, ROLE_TEXT,
                     tr("%s changes neither wavefronts nor sectors nor warp instructions"), name_of(curve));
        canvas_text(canvas, area, 0, 1, ROLE_DIM, time);
        return;
    }
    if (cost == CURVE_COSTS) cost = CURVE_INSTRUCTIONS;
    int at = draw_own(curve, cost, canvas, area), row = 1;
    if (at + 2 + canvas_text_columns(time) <= area.columns)
        canvas_text(canvas, area, at + 2, 0, ROLE_DIM, time);
    else if (area.rows > LEAST_CHART_ROWS + 1)
        canvas_text(canvas, area, 0, row++, ROLE_DIM, time);
    if (area.rows - row < LEAST_CHART_ROWS) return;
    draw_chart(curve, cost, canvas, (Rectangle){area.column, area.row + row, area.columns, area.rows - row});
}
