/* Sampled code: sums by source line and shares, for the panes of SASS and samples. It also says where they
 * were measured. */
#ifndef TUI_PANES_SAMPLED_CODE_H
#define TUI_PANES_SAMPLED_CODE_H

#include "sass/sass_lines.h"
#include "tui/view/step_context.h"

typedef struct SampledCode {
    SceneSass sass;
    SassLine *lines; /* [line_count] owned */
    int line_count;
    SassSums all;
    uint64_t block;          /* threads a block, in the run that is shown */
    const SassLine *current; /* of the step's source line; NULL: it has no machine code of its own */
} SampledCode;

/* Of the launch of the view's block. False: it is not known, and only sass.why is set. */
bool sampled_code_open(const StepContext *context, SampledCode *out);
void sampled_code_done(SampledCode *code);

const SassLine *sampled_code_line(const SampledCode *code, const char *file, int line); /* NULL: none */
/* Of the machine instructions that a PTX instruction became, as far as it is known which these are. */
SassSums sampled_code_of_pc(const SampledCode *code, int pc);

/* In percent, 0 of nothing: of the kernel's samples; of its executed instructions. */
double sampled_code_samples(const SampledCode *code, const SassSums *sums);
double sampled_code_executed(const SampledCode *code, const SassSums *sums);
double sampled_code_percent(uint64_t part, uint64_t whole);

enum { PERCENT_BYTES = 16, ORIGIN_BYTES = 160 };
/* "41%", "3.2%", "<0.1%", ">99%" */
void sampled_code_print_percent(double percent, char out[PERCENT_BYTES]);
/* "131k", "8.05M": at most five characters. */
void sampled_code_print_count(uint64_t count, char *out, size_t bytes);
/* "recorded on H200, 2026-11-22", "live on H200" */
void sampled_code_print_origin(const SampledCode *code, char out[ORIGIN_BYTES]);
/* "counts: n = 2^20, samples: n = 2^24"; ", block 256" where this run has another one */
void sampled_code_print_sizes(const SampledCode *code, char out[ORIGIN_BYTES]);
/* How many times as long a launch took while it was sampled: "1.25", "2,340"; "": not known. */
void sampled_code_print_slowdown(const SampledCode *code, char out[PERCENT_BYTES]);
/* "sampled at n = 2^24, every 32 cycles; the launch took 1.25 times as long" */
void sampled_code_print_sampling(const SampledCode *code, char out[ORIGIN_BYTES]);
/* "waits for arithmetic (wait)"; "" where there is no sample. */
void sampled_code_print_stall(SassStall stall, char *out, size_t bytes);
/* What is missing, as a sentence of one line. */
void sampled_code_print_missing(const SampledCode *code, char out[ORIGIN_BYTES]);

/* Why the machine code of a PTX instruction has another count, a sentence without a full stop: "rem.u32 became 18 SASS
 * instructions: 2,304 of the 4,096 executed". False: there is nothing to say. */
bool sampled_code_explain_pc(const SampledCode *code, int pc, Text *out);
/* The same of one difference. */
void sampled_code_explain(const SampledCode *code, const SassDifference *difference, Text *out);

/* Text that does not fit ends in an ellipsis. Returns columns written. */
int sampled_code_draw_cut(Canvas *canvas, Rectangle area, int column, int row, int columns, Role role,
                          const char *text);

#endif
