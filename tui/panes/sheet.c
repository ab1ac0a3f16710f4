#include "tui/panes/sheet.h"

#include "base/language.h"
#include "base/characters.h"
#include "base/memory.h"
#include "tui/scene/scene.h"
#include <stdlib.h>

enum { GAP = 2, MOST_COLUMNS = 4 };

Sheet sheet_open(Canvas *canvas, Rectangle area, int lines, int scroll) {
    if (scroll > lines - area.rows) scroll = lines - area.rows;
    if (scroll < 0) scroll = 0;
    canvas_more(canvas, area, scroll > 0, scroll + area.rows < lines);
    if (lines > area.rows) area.rows--;
    return (Sheet){.canvas = canvas, .area = area, .row = -scroll};
}

void sheet_title(Sheet *sheet, const char *title) {
    if (sheet->canvas) canvas_text(sheet->canvas, sheet->area, 0, sheet->row, ROLE_TITLE, title);
    sheet->row++;
    sheet->has_rows = true;
}

void sheet_space(Sheet *sheet) {
    if (sheet->has_rows) sheet->row++;
}

/* Draws at `column`, `row` of the sheet's area, or only counts; returns the rows that it takes. */
static int put_row(Sheet *sheet, const SheetRow *row, int column, int at, int columns, int term_columns,
                   bool draw) {
    if (draw) canvas_text(sheet->canvas, sheet->area, column, at, row->role, tr(row->term));
    if (!row->text) return 1;
    int term = canvas_text_columns(tr(row->term)), indent = term < term_columns ? term_columns : term + 1,
        rows = 0;
    for (const char *text = tr(row->text); *text; rows++) {
        int bytes = line_break(text, columns - indent);
        if (draw)
            canvas_print(sheet->canvas, sheet->area, column + indent, at + rows, ROLE_TEXT, "%.*s", bytes,
                         text);
        text += bytes;
        while (*text == ' ') text++;
    }
    return rows > 0 ? rows : 1;
}

/* Fills columns of `height` rows with whole blocks; returns the number of columns. heights: [count], the rows
 * of each block. */
static int fill(Sheet *sheet, const SheetRow *rows, const int *heights, int count, int columns,
                int term_columns, int height, bool draw) {
    int column = 0, used = 0;
    for (int first = 0, end; first < count; first = end) {
        int block = 0;
        for (end = first; end < count && (end == first || !rows[end].begins); end++) block += heights[end];
        if (used && used + block > height) {
            column++;
            used = 0;
        }
        for (int i = first; i < end; used += heights[i++])
            if (draw)
                put_row(sheet, &rows[i], column * (columns + GAP), sheet->row + used, columns, term_columns,
                        true);
    }
    return column + 1;
}

bool sheet_keeps(const Sheet *sheet, const SheetRow *row) {
    const char *filter = sheet->filter;
    return !filter || !*filter || scene_text_holds(row->term, filter) ||
           scene_text_holds(row->text, filter) || scene_text_holds(tr(row->term), filter) ||
           scene_text_holds(tr(row->text), filter);
}

/* The rows that the filter keeps, and the titles above them; the caller frees them. */
static SheetRow *kept_rows(const Sheet *sheet, const SheetRow *rows, int *count) {
    SheetRow *kept = memory_new((size_t)(*count + 1) * sizeof *kept);
    int left = 0;
    for (int i = 0; i < *count; i++) {
        if (!rows[i].text) {
            if (left && !kept[left - 1].text) left--; /* a title of nothing */
            kept[left++] = rows[i];
        } else if (sheet_keeps(sheet, &rows[i])) {
            kept[left++] = rows[i];
        }
    }
    if (left && !kept[left - 1].text) left--;
    *count = left;
    return kept;
}

void sheet_section(Sheet *sheet, const SheetRow *all_rows, int count, int least_columns, int term_columns) {
    SheetRow *rows = kept_rows(sheet, all_rows, &count);
    int parts = (sheet->area.columns + GAP) / (least_columns + GAP), all = 0, height;
    if (parts > MOST_COLUMNS) parts = MOST_COLUMNS;
    if (parts < 1) parts = 1;
    int columns = (sheet->area.columns - (parts - 1) * GAP) / parts;
    int *heights = memory_new((size_t)(count + 1) * sizeof *heights);
    for (int i = 0; i < count; i++) {
        heights[i] = put_row(sheet, &rows[i], 0, 0, columns, term_columns, false);
        all += heights[i];
    }
    for (height = all / parts; height < all; height++)
        if (fill(sheet, rows, heights, count, columns, term_columns, height, false) <= parts) break;
    if (sheet->canvas) fill(sheet, rows, heights, count, columns, term_columns, height, true);
    free(heights);
    free(rows);
    sheet->has_rows |= count > 0;
    sheet->row += height;
}
