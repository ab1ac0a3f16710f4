#include "tui/panes/source_gutter.h"

#include "base/language.h"
#include <stdio.h>

enum { GUTTER_COLUMNS = SOURCE_GUTTER_COLUMNS, LABEL_COLUMNS = 6 };

static const StepIndexSums *gutter_sums(const StepContext *context) {
    const Steps *steps = context->steps;
    int interval = context->step->interval_step;
    switch (context->view->display.gutter) {
    case GUTTER_RUN:
        return step_index_sums(context->step_index, 0, steps->step_count);
    case GUTTER_STEP:
        return step_index_sums(context->step_index, context->view->place.step, 1);
    default:
        return step_index_sums(context->step_index, steps->interval_begin[interval],
                               steps->interval_begin[interval + 1] - steps->interval_begin[interval]);
    }
}

bool source_gutter_has(const StepContext *context, const SampledCode *code, const char *file, int line) {
    const PtxProgram *program = context->launch->program;
    if (code) return sampled_code_line(code, file, line) != NULL;
    for (int pc = 0; pc < program->code_count; pc++) {
        const PtxSourceLine *at = &program->code[pc].line;
        if (context->step_index->has_events[pc] && at->line == line && at->file && !strcmp(at->file, file))
            return true;
    }
    return false;
}

static StepIndexSums sums_of_line(const StepContext *context, const StepIndexSums *sums, const char *file,
                                  int line) {
    const PtxProgram *program = context->launch->program;
    StepIndexSums sum = {0};
    for (int pc = 0; pc < program->code_count; pc++) {
        const PtxSourceLine *at = &program->code[pc].line;
        if (sums[pc].events && at->line == line && at->file && !strcmp(at->file, file)) {
            sum.events += sums[pc].events;
            sum.lanes += sums[pc].lanes;
            sum.accesses += sums[pc].accesses;
            sum.wavefronts += sums[pc].wavefronts;
            sum.ideal += sums[pc].ideal;
        }
    }
    return sum;
}

static void print_mean(double mean, char *out, size_t bytes) {
    snprintf(out, bytes, mean >= 9.95 || mean == (int)mean ? "%.0f" : "%.1f", mean);
}

/* Mean active lanes, as a bar and as a number, and mean wavefronts. */
static void draw_gutter(const StepIndexSums *sums, Canvas *canvas, Rectangle area, int row) {
    char text[16];
    int at = area.columns - GUTTER_COLUMNS + 1;
    if (!sums->events) return;
    double lanes = (double)sums->lanes / (double)sums->events;
    int height = (int)(lanes * 8 / WARP_LANES + 0.5);
    canvas_glyph(canvas, area, at, row, ROLE_BAR,
                 0x2580 + (uint32_t)(height < 1   ? 1
                                     : height > 8 ? 8
                                                  : height));
    print_mean(lanes, text, sizeof text);
    canvas_print(canvas, area, at + 1, row, ROLE_TEXT, "%5s", text);
    if (!sums->accesses) return;
    bool excess = sums->wavefronts > sums->ideal;
    print_mean((double)sums->wavefronts / (double)sums->accesses, text, sizeof text);
    canvas_print(canvas, area, at + 11 - (int)strlen(text), row, excess ? ROLE_CONFLICT : ROLE_TEXT, "%s%s",
                 text, excess ? "!" : "");
}

/* The share of the kernel's samples, as a bar and as a number, and of its executed machine instructions. */
static void draw_samples(const SampledCode *code, const SassSums *sums, Canvas *canvas, Rectangle area,
                         int row) {
    char text[PERCENT_BYTES];
    int at = area.columns - GUTTER_COLUMNS + 1;
    double most = 0, samples = sampled_code_samples(code, sums);
    for (int i = 0; i < code->line_count; i++) {
        double other = sampled_code_samples(code, &code->lines[i].sums);
        if (other > most) most = other;
    }
    int height = most > 0 ? (int)(samples / most * 8 + 0.5) : 0;
    if (sums->all_samples) {
        canvas_glyph(canvas, area, at, row, ROLE_BAR,
                     0x2580 + (uint32_t)(height < 1   ? 1
                                         : height > 8 ? 8
                                                      : height));
        sampled_code_print_percent(samples, text);
        canvas_print(canvas, area, at + 1, row, ROLE_TEXT, "%5s", text);
    }
    if (!sums->executed) return;
    sampled_code_print_percent(sampled_code_executed(code, sums), text);
    canvas_print(canvas, area, at + 6, row, ROLE_DIM, "%6s", text);
}

void source_gutter_draw_line(const StepContext *context, const SampledCode *code, const char *file, int line,
                             Canvas *canvas, Rectangle area, int row) {
    if (context->view->transient.hides) return;
    const SassLine *found = code ? sampled_code_line(code, file, line) : NULL;
    if (found) draw_samples(code, &found->sums, canvas, area, row);
    if (context->view->display.gutter == GUTTER_SAMPLES) return;
    StepIndexSums sums = sums_of_line(context, gutter_sums(context), file, line);
    draw_gutter(&sums, canvas, area, row);
}

void source_gutter_draw_pc(const StepContext *context, const SampledCode *code, int pc, Canvas *canvas,
                           Rectangle area, int row) {
    if (context->view->transient.hides) return;
    SassSums sums = {.executed = 0};
    if (code) sums = sampled_code_of_pc(code, pc);
    if (code) draw_samples(code, &sums, canvas, area, row);
    if (context->view->display.gutter != GUTTER_SAMPLES)
        draw_gutter(&gutter_sums(context)[pc], canvas, area, row);
}

void source_gutter_draw_stall(const StepContext *context, const SampledCode *code, Canvas *canvas,
                              Rectangle area, int row) {
    if (context->view->transient.hides) return;
    char stall[96], text[MISSING_BYTES], share[PERCENT_BYTES];
    canvas_text(canvas, area, 0, row, ROLE_DIM, tr("waits"));
    const SassLine *line = code->current;
    SassStall top = line ? sass_top_stall(line->sums.samples) : SASS_STALLS;
    sampled_code_print_stall(top, stall, sizeof stall);
    if (!code->sass.kernel) {
        sampled_code_print_missing(code, text);
    } else if (!code->sass.kernel->sampled.n) {
        snprintf(text, sizeof text, tr("not sampled"));
    } else if (top == SASS_STALLS) {
        snprintf(text, sizeof text, tr("line %d: no samples"), context->code->line.line);
    } else {
        sampled_code_print_percent(sampled_code_percent(line->sums.samples[top], line->sums.all_samples),
                                   share);
        snprintf(text, sizeof text, "%s: %s", share, stall);
    }
    sampled_code_draw_cut(canvas, area, LABEL_COLUMNS, row, area.columns - LABEL_COLUMNS,
                          code->sass.kernel ? ROLE_CURRENT : ROLE_DIM, text);
}
