/* Source gutter: the numbers beside a line of source or PTX: active lanes and wavefronts in an interval, the
 * block's run or a step; or, for the whole kernel on a GPU, the shares of its samples and of its executed
 * machine instructions. */
#ifndef TUI_PANES_SOURCE_GUTTER_H
#define TUI_PANES_SOURCE_GUTTER_H

#include "tui/panes/sampled_code.h"

enum { SOURCE_GUTTER_COLUMNS = 13 };

/* `code`, here and below: of GUTTER_SAMPLES; NULL: another scope is shown, or the machine code is unknown. */

/* The text of the row ends before the gutter: the line has numbers, here or in other intervals. */
bool source_gutter_has(const StepContext *context, const SampledCode *code, const char *file, int line);
void source_gutter_draw_line(const StepContext *context, const SampledCode *code, const char *file, int line,
                             Canvas *canvas, Rectangle area, int row);
void source_gutter_draw_pc(const StepContext *context, const SampledCode *code, int pc, Canvas *canvas,
                           Rectangle area, int row);
/* The main stall reason of the current line, as a row. `code` is of the step; it may have no kernel. */
void source_gutter_draw_stall(const StepContext *context, const SampledCode *code, Canvas *canvas,
                              Rectangle area, int row);

#endif
