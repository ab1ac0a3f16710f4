#include "tui/panes/sampled_code.h"

#include "base/language.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static bool open_code(const StepContext *context, SceneSass sass, SampledCode *out) {
    *out = (SampledCode){.sass = sass};
    if (!out->sass.kernel) return false;
    const uint32_t *block = context->launch->block;
    out->block = (uint64_t)block[0] * block[1] * block[2];
    out->lines = sass_by_line(out->sass.kernel, &out->line_count);
    out->all = sass_sums(out->sass.kernel);
    if (context->code && context->code->line.file)
        out->current = sampled_code_line(out, context->code->line.file, context->code->line.line);
    return true;
}

bool sampled_code_open(const StepContext *context, SampledCode *out) {
    return open_code(context, scene_sass(context->scene, context->view->place.block), out);
}

bool sampled_code_open_assembled(const StepContext *context, SampledCode *out) {
    return open_code(context, scene_assembled_sass(context->scene, context->view->place.block), out);
}

void sampled_code_done(SampledCode *code) {
    free(code->lines);
    *code = (SampledCode){.lines = NULL};
}

const SassLine *sampled_code_line(const SampledCode *code, const char *file, int line) {
    for (int i = 0; i < code->line_count; i++)
        if (code->lines[i].line == line && code->lines[i].file && !strcmp(code->lines[i].file, file))
            return &code->lines[i];
    return NULL;
}

SassSums sampled_code_of_pc(const SampledCode *code, int pc) {
    SassSums sums = {.executed = 0};
    const SassComparison *compared = code->sass.compared;
    for (int i = 0; compared && i < code->sass.kernel->count; i++)
        if (compared->owner[i] == pc) sass_add_up(&sums, &code->sass.kernel->instructions[i]);
    return sums;
}

/* ---- numbers ------------------------------------------------------------------------------------------- */

double sampled_code_percent(uint64_t part, uint64_t whole) {
    return whole ? 100 * (double)part / (double)whole : 0;
}

double sampled_code_samples(const SampledCode *code, const SassSums *sums) {
    return sampled_code_percent(sums->all_samples, code->all.all_samples);
}

double sampled_code_executed(const SampledCode *code, const SassSums *sums) {
    return sampled_code_percent(sums->executed, code->all.executed);
}

void sampled_code_print_percent(double percent, char out[PERCENT_BYTES]) {
    if (percent >= 99.5 && percent < 100)
        snprintf(out, PERCENT_BYTES, ">99%%");
    else if (percent >= 9.95 || percent <= 0)
        snprintf(out, PERCENT_BYTES, "%.0f%%", percent);
    else if (percent >= 0.05)
        snprintf(out, PERCENT_BYTES, "%.1f%%", percent);
    else
        snprintf(out, PERCENT_BYTES, "<0.1%%");
}

void sampled_code_print_count(uint64_t count, char *out, size_t bytes) {
    static const char units[] = "kMGT";
    double value = (double)count / 1000;
    int unit = 0;
    if (count < 10000) {
        snprintf(out, bytes, "%" PRIu64, count);
        return;
    }
    for (; value >= 999.5 && unit < (int)sizeof units - 2; unit++) value /= 1000;
    snprintf(out, bytes, "%.*f%c", value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2, value, units[unit]);
}

/* ---- where and how it was measured --------------------------------------------------------------------- */

void sampled_code_print_origin(const SampledCode *code, char out[ORIGIN_BYTES]) {
    const SassKernel *kernel = code->sass.kernel;
    const char *machine = kernel->machine ? scene_machine_name(kernel->machine) : tr("a GPU");
    if (kernel->assembler)
        snprintf(out, ORIGIN_BYTES, tr("by %.40s for %.20s"), kernel->assembler, kernel->architecture);
    else if (code->sass.is_live)
        snprintf(out, ORIGIN_BYTES, tr("live on %.60s"), machine);
    else
        snprintf(out, ORIGIN_BYTES, tr("recorded on %.60s%s%.10s"), machine, kernel->measured ? tr(", ") : "",
                 kernel->measured ? kernel->measured : "");
}

void sampled_code_print_sizes(const SampledCode *code, char out[ORIGIN_BYTES]) {
    const SassKernel *kernel = code->sass.kernel;
    char counted[32], sampled[32];
    if (kernel->assembler) {
        const SassResources *resources = &kernel->resources;
        char shared[32], spilled[32], spills[64];
        uint64_t bytes = resources->spill_store_bytes + resources->spill_load_bytes;
        step_context_print_count(resources->shared_bytes, shared, sizeof shared);
        step_context_print_count(bytes, spilled, sizeof spilled);
        snprintf(spills, sizeof spills, bytes ? tr("spills: %s bytes") : tr("no spills"), spilled);
        if (kernel->has_resources)
            snprintf(out, ORIGIN_BYTES, tr("%d registers, %s bytes shared, %s; counts need a GPU"),
                     resources->registers, shared, spills);
        else
            snprintf(out, ORIGIN_BYTES, tr("counts need a GPU"));
        return;
    }
    step_context_print_size(kernel->counted.n, counted, sizeof counted);
    step_context_print_size(kernel->sampled.n, sampled, sizeof sampled);
    if (kernel->counted.n && kernel->sampled.n)
        snprintf(out, ORIGIN_BYTES, tr("counts: n = %s, samples: n = %s"), counted, sampled);
    else if (kernel->counted.n)
        snprintf(out, ORIGIN_BYTES, tr("counts: n = %s, not sampled"), counted);
    else if (kernel->sampled.n)
        snprintf(out, ORIGIN_BYTES, tr("not counted, samples: n = %s"), sampled);
    else
        snprintf(out, ORIGIN_BYTES, tr("neither counted nor sampled"));
    uint32_t block = kernel->counted.n ? kernel->counted.block : kernel->sampled.block;
    size_t length = strlen(out);
    if ((kernel->counted.n || kernel->sampled.n) && block != code->block)
        snprintf(out + length, ORIGIN_BYTES - length, tr(", block %u"), block);
}

/* The slowdown of a launch while it was sampled: "1.25", "2,340"; "": unknown. */
static void print_slowdown(const SampledCode *code, char out[PERCENT_BYTES]) {
    double times = 1 + code->sass.kernel->sampled.overhead;
    *out = 0;
    if (!isfinite(times)) return;
    if (times < 999.5)
        snprintf(out, PERCENT_BYTES, "%.3g", times);
    else
        step_context_print_count((uint64_t)(times + 0.5), out, PERCENT_BYTES);
}

void sampled_code_print_sampling(const SampledCode *code, char out[ORIGIN_BYTES]) {
    const SassMeasured *sampled = &code->sass.kernel->sampled;
    char size[32], slowdown[PERCENT_BYTES], period[48] = "", overhead[64] = "";
    step_context_print_size(sampled->n, size, sizeof size);
    if (sampled->period) snprintf(period, sizeof period, tr(", every %u cycles"), sampled->period);
    print_slowdown(code, slowdown);
    if (*slowdown) snprintf(overhead, sizeof overhead, tr("; the launch took %s times as long"), slowdown);
    snprintf(out, ORIGIN_BYTES, tr("sampled at n = %s%s%s"), size, period, overhead);
}

void sampled_code_print_stall(SassStall stall, char *out, size_t bytes) {
    if (stall == SASS_STALLS)
        *out = 0;
    else
        snprintf(out, bytes, "%s (%s)", tr(sass_stalls[stall].words), sass_stalls[stall].tool_name);
}

void sampled_code_print_missing(const SampledCode *code, char out[MISSING_BYTES]) {
    snprintf(out, MISSING_BYTES, tr("Not known: %.*s."), MISSING_BYTES - 14,
             code->sass.why ? code->sass.why : tr("no machine code of this kernel is recorded"));
}

/* ---- why counts differ --------------------------------------------------------------------------------- */

void sampled_code_explain(const SampledCode *code, const SassDifference *difference, Text *out) {
    char some[32], all[32];
    sass_difference_print(code->sass.compared, difference, out);
    if (difference->reason != SASS_EXPANDED || !code->sass.kernel->counted.n) return;
    SassSums sums = sampled_code_of_pc(code, difference->pc);
    if (!sums.executed) return;
    step_context_print_count(sums.executed, some, sizeof some);
    step_context_print_count(code->all.executed, all, sizeof all);
    text_print(out, tr(": %s of the %s executed"), some, all);
}

bool sampled_code_explain_pc(const SampledCode *code, int pc, Text *out) {
    const SassComparison *compared = code->sass.compared;
    bool any = false;
    for (int i = 0; compared && i < compared->count; i++) {
        if (compared->differences[i].pc != pc) continue;
        if (any) text_add(out, "; ");
        sampled_code_explain(code, &compared->differences[i], out);
        any = true;
    }
    return any;
}

/* ---- drawing ------------------------------------------------------------------------------------------- */

int sampled_code_draw_cut(Canvas *canvas, Rectangle area, int column, int row, int columns, Role role,
                          const char *text) {
    Rectangle part = {area.column + column, area.row + row, columns, 1};
    if (column + columns > area.columns) part.columns = area.columns - column;
    if (row >= area.rows || part.columns <= 0) return 0;
    int written = canvas_text(canvas, part, 0, 0, role, text);
    if (canvas_text_columns(text) > part.columns)
        canvas_glyph(canvas, part, part.columns - 1, 0, role, 0x2026);
    return written;
}
