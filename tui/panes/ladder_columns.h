/* Ladder columns: the figures beside the times of the ladder screen: measured by redviz, or published in
 * articles. */
#ifndef TUI_PANES_LADDER_COLUMNS_H
#define TUI_PANES_LADDER_COLUMNS_H

#include "ladder/published.h"

enum { LADDER_COLUMNS = 16 };

typedef struct LadderColumn {
    const char *name;
    int columns; /* with a space before it */
    void (*print)(const struct LadderColumn *column, const Ladder *ladder, const LadderFigures *figures,
                  int row, int size, char *out, size_t bytes);
    ArticleId article;
    bool is_first; /* more useful than another size */
} LadderColumn;

/* The columns with a figure in any row, the most useful first; returns their number. figures: of each row, at
 * this size. */
int ladder_columns_list(const Ladder *ladder, const LadderFigures *figures, int size, bool published,
                        LadderColumn columns[LADDER_COLUMNS]);

#endif
