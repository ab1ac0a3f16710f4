/* Sampled code: samples summed by source line, and where they were measured. For the panes of SASS and
 * stalls. */
#ifndef TUI_PANES_SAMPLED_CODE_H
#define TUI_PANES_SAMPLED_CODE_H

#include "sass/sass.h"
#include "tui/view/step_context.h"

typedef struct SampledCode {
    SceneSass sass;
    SassLine *lines; /* [line_count] owned */
    int line_count;
    SassSums all;
    uint64_t block;          /* threads per block, in the run shown */
    const SassLine *current; /* of the step's source line; NULL: the line has no machine code of its own */
} SampledCode;

/* For the launch of the view's block. False: unknown, and only sass.why is set. */
bool sampled_code_open(const StepContext *context, SampledCode *out);
/* The same; machine code that is not known otherwise is assembled by ptxas. */
bool sampled_code_open_assembled(const StepContext *context, SampledCode *out);
void sampled_code_done(SampledCode *code);

const SassLine *sampled_code_line(const SampledCode *code, const char *file, int line); /* NULL: none */
/* For the machine instructions that a PTX instruction was compiled to, as far as they are known. */
SassSums sampled_code_of_pc(const SampledCode *code, int pc);

/* In percent, 0 if the total is 0: of the kernel's samples; of its executed instructions. */
double sampled_code_samples(const SampledCode *code, const SassSums *sums);
double sampled_code_executed(const SampledCode *code, const SassSums *sums);
double sampled_code_percent(uint64_t part, uint64_t whole);

enum { PERCENT_BYTES = 16, ORIGIN_BYTES = 160, MISSING_BYTES = 400 };
/* "41%", "3.2%", "<0.1%", ">99%" */
void sampled_code_print_percent(double percent, char out[PERCENT_BYTES]);
/* "131k", "8.05M": at most five characters. */
void sampled_code_print_count(uint64_t count, char *out, size_t bytes);
/* "recorded on H200, 2026-11-22", "live on H200", "by ptxas 13.0.88 for sm_90" */
void sampled_code_print_origin(const SampledCode *code, char out[ORIGIN_BYTES]);
/* "counts: n = 2^20, samples: n = 2^24"; ", block 256" if this run has another block size. Of assembled
 * code: "16 registers, 256 bytes shared, no spills; counts need a GPU" */
void sampled_code_print_sizes(const SampledCode *code, char out[ORIGIN_BYTES]);
/* "sampled at n = 2^24, every 32 cycles; the launch took 1.25 times as long" */
void sampled_code_print_sampling(const SampledCode *code, char out[ORIGIN_BYTES]);
/* "waits for arithmetic (wait)"; "" if there are no samples. */
void sampled_code_print_stall(SassStall stall, char *out, size_t bytes);
/* What is missing, as a one-line sentence. */
void sampled_code_print_missing(const SampledCode *code, char out[MISSING_BYTES]);

/* Why the machine code of a PTX instruction has another count, a sentence without a full stop: "rem.u32
 * became 18 SASS instructions: 2,304 of the 4,096 executed". False: nothing to report. */
bool sampled_code_explain_pc(const SampledCode *code, int pc, Text *out);
/* The same for one difference. */
void sampled_code_explain(const SampledCode *code, const SassDifference *difference, Text *out);

/* Text that does not fit ends in an ellipsis. Returns columns written. */
int sampled_code_draw_cut(Canvas *canvas, Rectangle area, int column, int row, int columns, Role role,
                          const char *text);

#endif
