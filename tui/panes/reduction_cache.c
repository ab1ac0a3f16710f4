/* Registers that threads keep beside their boxes. */
#include "tui/panes/reduction_row.h"

#include "base/language.h"
#include <stdio.h>

enum { MOST_KEPT_ROWS = 3 };

/* Value number `number` that the box's thread keeps; NULL: none. */
static const ReductionKept *kept_by(const BoxRow *row, int64_t thread, int number) {
    for (int i = 0; i < row->level->kept_count; i++)
        if (row->level->kept[i].thread == thread && number-- == 0) return &row->level->kept[i];
    return NULL;
}

int boxes_kept_rows(const BoxRow *row, int room) {
    int most = 0, limit = room < MOST_KEPT_ROWS ? room : MOST_KEPT_ROWS;
    if (row->is_chain || room <= 0 || !row->level->kept_count) return 0;
    if (row->level->place != PLACE_THREAD) return 1;
    for (int i = 0; i < row->count; i++)
        while (most < limit && kept_by(row, row->first + i, most)) most++;
    return most * row->tall <= room ? most * row->tall : 0;
}

static PtxType type_of(const BoxRow *row, const ReductionKept *kept) {
    return reduction_type(row->reduction, kept->node, row->level->type);
}

/* If boxes are words: "t0 also holds 71 in a register; 3 values are in registers". */
static void draw_sentence(const BoxRow *row, int line) {
    const ReductionKept *first = row->level->kept;
    char value[64];
    step_context_print_typed(row->context, type_of(row, first), first->bits, value, sizeof value);
    int column = 1 + canvas_print(row->canvas, row->area, 1, line, ROLE_TEXT,
                                  tr("t%d also holds %s in a register"), first->thread, value);
    if (row->level->kept_count > 1)
        canvas_print(row->canvas, row->area, column, line, ROLE_DIM, tr("; %d values are in registers"),
                     row->level->kept_count);
}

void boxes_draw_kept(const BoxRow *row, int line, int rows) {
    if (rows && row->level->place != PLACE_THREAD) {
        draw_sentence(row, line);
        return;
    }
    for (int number = 0; number < rows / row->tall; number++) {
        int at = line + number * row->tall;
        canvas_text(row->canvas, row->area, 1, at, ROLE_DIM, tr("also holds"));
        for (int i = 0; i < row->count; i++) {
            const ReductionKept *kept = kept_by(row, row->first + i, number);
            if (!kept) continue;
            boxes_draw_value(row, row->first + i, at, boxes_is_lit(row, kept->node) ? ROLE_LIT : ROLE_TEXT,
                             type_of(row, kept), kept->bits);
        }
    }
}
