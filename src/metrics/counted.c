#include "metrics/counted.h"

#include "metrics/fold.h"
#include "metrics/totals.h"
#include "ptx/opcodes.h"
#include <math.h>
#include <string.h>

typedef struct CountedSums {
    Totals totals;
    uint64_t shared_atomics, global_atomics;
    uint64_t copied_stores; /* the part of totals.shared_stores that cp.async makes */
} CountedSums;

/* Why a counter may differ from its prediction; rows with the same reason share a text. */
static const char ARBITRATION[] =
    "An access that loses arbitration for the data banks is counted again: noise that "
    "only adds (the lowest of five runs is shown).";
static const char CONFLICTS[] =
    "The profiler's bank conflicts include that noise: they are not zero where there "
    "are none.";
static const char SASS[] =
    "Instructions and branches are counted in SASS: ptxas makes fewer or more of them than the PTX "
    "has, and predicates some branches.";

const CountedRow counted_rows[COUNTED_ROWS] = {
#define COUNTED(metric, label, rule, class, prediction, why) {metric, label, COUNTED_##rule, class, why},
#include "metrics/counted.def"
#undef COUNTED
};

static void add_atomics(const TraceLaunch *launch, int pc, CountedSums *sums) {
    const PtxInstruction *in = launch->program->code[pc].instruction;
    const TraceCounter *counter = &launch->counters[pc];
    TraceKind kind = trace_kind_of(in);
    bool is_generic = trace_is_generic(in);
    uint64_t shared = is_generic                    ? counter->shared_requests
                      : kind == TRACE_SHARED_ATOMIC ? counter->requests
                                                    : 0;
    uint64_t global = is_generic                    ? counter->global_requests
                      : kind == TRACE_GLOBAL_ATOMIC ? counter->requests
                                                    : 0;
    if (in->opcode != PTX_atom && in->opcode != PTX_red) return;
    sums->shared_atomics += shared;
    sums->global_atomics += global;
}

static void predict(const CountedSums *s, double out[COUNTED_ROWS]) {
    int row = 0;
#define COUNTED(metric, label, rule, class, prediction, why) out[row++] = (double)(prediction);
#include "metrics/counted.def"
#undef COUNTED
}

/* How the profiler counts cp.async on an H200 (async_copy, n = 2^20, driver 580.159.04). Its reads are loads
 * of global memory, with requests and sectors as predicted (8,192 and 131,072). Its writes are not shared
 * stores: of the kernel's 24,576 stores only the 8,192 of st.shared are counted. Whether their wavefronts are
 * counted is not known: 8,827 of stores, 631,808 by address. */
static bool may_count_copies(const CountedRow *row) {
    return !strcmp(row->metric, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum") ||
           !strcmp(row->metric, "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared.sum");
}

static bool is_loop(const TraceLaunch *launch, int pc) {
    PtxAtomicForm form = launch->program->code[pc].atomic_form;
    return form == PTX_ATOMIC_COMPARED_HALF || form >= PTX_ATOMIC_SPUN;
}

static bool is_copy(const TraceLaunch *launch, int pc) {
    return ptx_asynchronous(launch->program->code[pc].instruction) == PTX_ASYNC_COPY;
}

static bool executes(const TraceLaunch *launch, bool (*is_such)(const TraceLaunch *launch, int pc)) {
    for (int pc = 0; pc < launch->program->code_count; pc++)
        if (launch->counters[pc].wavefronts && is_such(launch, pc)) return true;
    return false;
}

void counted_predict(const TraceLaunch *launch, const bool *waits, double predicted[COUNTED_ROWS],
                     double waiting[COUNTED_ROWS]) {
    CountedSums sums[2] = {{.shared_atomics = 0}};
    for (int pc = 0; pc < launch->program->code_count; pc++) {
        CountedSums *sum = &sums[waits && waits[pc]];
        fold_instruction(launch, pc, &sum->totals);
        add_atomics(launch, pc, sum);
        if (is_copy(launch, pc)) sum->copied_stores += launch->counters[pc].shared_requests;
    }
    predict(&sums[0], predicted);
    predict(&sums[1], waiting);
    bool copies = executes(launch, is_copy);
    for (int i = 0; copies && i < COUNTED_ROWS; i++)
        if (may_count_copies(&counted_rows[i])) predicted[i] = (double)NAN;
}

/* On an H100 a histogram of floats took 1,333 wavefronts, not the 920 of warps that run alone. */
bool counted_is_least(const TraceLaunch *launch, int row) {
    SassClass class = counted_rows[row].class;
    return (class == SASS_SHARED_LOAD || class == SASS_SHARED_ATOMIC) && executes(launch, is_loop);
}

const CountedRow *counted_find(const char *metric) {
    for (int i = 0; i < COUNTED_ROWS; i++)
        if (!strcmp(counted_rows[i].metric, metric)) return &counted_rows[i];
    return NULL;
}

CountedAgreement counted_agreement(const MeasuredCounter *counter) {
    static const double NOISE = 0.1; /* up to 0.064 on an H200 */
    const CountedRow *row = counted_find(counter->metric);
    double more = counter->value - counter->predicted;
    if (!row || row->rule == COUNTED_OTHER || isnan(more)) return COUNTED_NOT_COMPARED;
    if (more == 0) return COUNTED_EQUAL;
    if (counter->note) return COUNTED_NOT_COMPARED;
    bool is_noise = row->rule == COUNTED_NOISY && more > 0 && more <= NOISE * counter->predicted;
    return is_noise ? COUNTED_WITHIN_NOISE : COUNTED_DIFFERS;
}

const char *counted_agreement_text(CountedAgreement agreement) {
    static const char *const texts[] = {"equal", "noise", "differs", ""};
    return texts[agreement];
}

/* ---- finds the reason for a counter's difference in the machine code ----------------------------------- */

/* The change of the count: additional or missing machine instructions, times their executions. */
static double weight_of(const SassComparison *comparison, const SassDifference *difference) {
    const SassKernel *kernel = comparison->kernel;
    int more = difference->sass_count - difference->ptx_count;
    double times = 1;
    for (int i = 0; kernel->counted.n && i < kernel->count; i++)
        if (comparison->owner[i] == difference->pc && (double)kernel->instructions[i].executed > times)
            times = (double)kernel->instructions[i].executed;
    return (more < 0 ? -more : more ? more : 0.5) * times;
}

/* Copies on several paths are executed as often as a single one; an unrolled loop has fewer branches. */
static bool is_about(const SassDifference *difference, SassClass class) {
    bool is_unrolled = difference->reason == SASS_UNROLLED;
    if (difference->reason == SASS_COPIED) return false;
    if (class == SASS_OTHER) return true;
    return is_unrolled ? class == SASS_BRANCH : difference->class == class;
}

static const SassDifference *find_heaviest(const SassComparison *comparison, SassClass class) {
    const SassDifference *found = NULL;
    double most = -1;
    for (int i = 0; i < comparison->count; i++) {
        double weight = weight_of(comparison, &comparison->differences[i]);
        if (!is_about(&comparison->differences[i], class) || weight <= most) continue;
        found = &comparison->differences[i];
        most = weight;
    }
    return found;
}

bool counted_reason(const MeasuredCounter *counter, const SassComparison *comparison, Text *out) {
    const CountedRow *row = counted_find(counter->metric);
    if (!row || !comparison || counter->note || row->class == SASS_CLASSES ||
        counter->value == counter->predicted || counted_agreement(counter) == COUNTED_WITHIN_NOISE)
        return false;
    const SassDifference *found = find_heaviest(comparison, row->class);
    if (!found) return false;
    PtxSourceLine line = sass_difference_line(comparison, found);
    const char *slash = line.file ? strrchr(line.file, '/') : NULL;
    text_print(out, "%s: ", row->label + strspn(row->label, " "));
    if (line.file) text_print(out, "%s:%d: ", slash ? slash + 1 : line.file, line.line);
    sass_difference_print(comparison, found, out);
    text_add(out, ".");
    return true;
}
