/* The glossary on the screen (glossary.def). */
#include "base/language.h"
#include "tui/panes/pane.h"
#include "tui/panes/sheet.h"

#include <stdio.h>

enum { TERM_COLUMNS = 20, LEAST_COLUMNS = 70 };

static const SheetRow words[] = {
#define WORD(word, meaning) {.term = word, .role = ROLE_CURRENT, .text = meaning, .begins = true},
#include "tui/panes/glossary.def"
#undef WORD
};

static void head(const StepContext *context, PaneHead *out) {
    snprintf(out->title, sizeof out->title, tr("words: %s_"), context->view->transient.filter);
    snprintf(out->note, sizeof out->note, "%s", tr("type to filter, ?: keys, Esc closes"));
}

static int put(const StepContext *context, Sheet sheet) {
    sheet.filter = context->view->transient.filter;
    sheet_section(&sheet, words, sizeof words / sizeof *words, LEAST_COLUMNS, TERM_COLUMNS);
    return sheet.row;
}

static int line_count(const StepContext *context, int columns) {
    return put(context, (Sheet){.area = {.columns = columns}}) + 1;
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    put(context,
        sheet_open(canvas, area, line_count(context, area.columns), context->view->transient.scroll));
}

const Pane pane_words = {
    .slot = SLOT_OVERLAY, .overlay = OVERLAY_WORDS, .head = head, .draw = draw, .line_count = line_count};
