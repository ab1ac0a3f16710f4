/* What the warps of a block do between its barriers: warps without work, barriers that order nothing, and
 * atomics on one word of global memory (in shared memory their wavefronts have that cost). Counted in the
 * traced blocks, and scaled to the grid by the executions of the instruction; atomics whose address is the
 * same for all threads have the counts of the grid, whichever blocks are traced.
 *
 * A warp has *work* in a barrier interval if it accesses memory, or exchanges values: branches and barriers
 * alone are none. */
#include "base/language.h"
#include "base/sentence.h"
#include "findings/findings_sentences.h"
#include "metrics/totals.h"
#include "ptx/opcodes.h"

#include <stdlib.h>
#include <string.h>

struct WarpCounts {               /* of a line, over the grid */
    double rounds, idle_rounds;   /* warps at this barrier; those without work before it */
    double barriers, needless;    /* executions; between steps of at most one warp */
    double updates, words, extra; /* atomics: lanes; distinct words; passes beyond one each */
    int most_updates;             /* lanes of a warp on one word */
    int launch;
};

typedef struct WarpRound { /* a warp in a barrier interval */
    int barrier;           /* `barrier`: its pc; PTX_NO_PC: the block's last interval */
    bool has_work;
} WarpRound;

typedef struct BlockRounds {
    WarpRound *rounds; /* [interval][warp] */
    int intervals, warps;
} BlockRounds;

static bool is_work(TraceKind kind) {
    return kind != TRACE_BRANCH && kind != TRACE_BARRIER && kind != TRACE_NAMED_BARRIER &&
           kind != TRACE_WARP_SYNC && kind != TRACE_CONSTANT_LOAD;
}

static BlockRounds find_rounds(const TraceBlock *block) {
    BlockRounds out = {0};
    TraceEvent event;
    int count = trace_block_event_count(block);
    for (int i = 0; i < count; i++) {
        trace_block_read_header(block, i, &event);
        if ((int)event.interval >= out.intervals) out.intervals = (int)event.interval + 1;
        if (event.warp >= out.warps) out.warps = event.warp + 1;
    }
    size_t size = (size_t)out.intervals * (size_t)out.warps;
    if (out.intervals < 3) return (BlockRounds){0}; /* no loop */
    out.rounds = memory_new(size * sizeof *out.rounds);
    for (size_t i = 0; i < size; i++) out.rounds[i].barrier = PTX_NO_PC;
    for (int i = 0; i < count; i++) {
        trace_block_read_header(block, i, &event);
        WarpRound *round = &out.rounds[(size_t)event.interval * (size_t)out.warps + (size_t)event.warp];
        round->has_work |= is_work(event.kind);
        if (event.kind == TRACE_BARRIER) round->barrier = event.pc;
    }
    return out;
}

/* Warps with work in the interval, as their number and the last of them. */
static int workers(const BlockRounds *block, int interval, int *last) {
    int count = 0;
    for (int warp = 0; interval < block->intervals && warp < block->warps; warp++)
        if (block->rounds[interval * block->warps + warp].has_work) {
            *last = warp;
            count++;
        }
    return count;
}

/* `counts` and `scale` by pc. */
static void count_rounds(const TraceBlock *traced, const double *scale, WarpCounts *counts) {
    BlockRounds block = find_rounds(traced);
    for (int interval = 0; interval < block.intervals; interval++) {
        int one = -1, other = -1;
        int here = workers(&block, interval, &one), next = workers(&block, interval + 1, &other);
        bool orders = here > 1 || next > 1 || (here && next && one != other);
        for (int warp = 0; warp < block.warps; warp++) {
            const WarpRound *round = &block.rounds[interval * block.warps + warp];
            if (round->barrier < 0) continue;
            WarpCounts *count = &counts[round->barrier];
            double times = scale[round->barrier];
            bool is_idle = !round->has_work && here;
            count->rounds += times;
            count->barriers += times;
            count->idle_rounds += is_idle ? times : 0;
            count->needless += orders ? 0 : times;
        }
    }
    free(block.rounds);
}

static void count_atomic(const TraceEvent *event, double times, WarpCounts *count) {
    int most = 0, words = 0, lanes = 0;
    for (uint32_t rest = event->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest), same = 0, before = 0;
        for (uint32_t all = event->mask; all; all &= all - 1) {
            int at = __builtin_ctz(all);
            if (event->buffer[at] != event->buffer[lane] || event->offset[at] != event->offset[lane])
                continue;
            same++;
            before += at < lane;
        }
        lanes++;
        words += !before;
        if (same > most) most = same;
    }
    count->updates += times * lanes;
    count->words += times * words;
    count->extra += times * (most > 1 ? most - 1 : 0);
    if (most > count->most_updates) count->most_updates = most;
}

static void count_atomics(const TraceBlock *block, const double *scale, WarpCounts *counts) {
    TraceEvent event;
    for (int i = 0; i < trace_block_event_count(block); i++) {
        trace_block_read_header(block, i, &event);
        if (event.kind != TRACE_GLOBAL_ATOMIC) continue;
        trace_block_read(block, i, &event);
        count_atomic(&event, scale[event.pc], &counts[event.pc]);
    }
}

/* All that sets the register is computed from parameters and constants: every thread has the same value. */
static bool is_of_parameters(const PtxProgram *program, int function, const PtxRegister *reg, int depth) {
    bool is_set = false;
    for (int pc = 0; pc < program->code_count; pc++) {
        const PtxInstruction *in = program->code[pc].instruction;
        for (int i = 0; in->operand_count && i < in->operands[0].item_count; i++)
            if (in->operands[0].items[i].reg == reg) return false;
        if (program->code[pc].function != function || !in->operand_count || in->operands[0].reg != reg ||
            in->opcode == PTX_st || in->opcode == PTX_red)
            continue;
        bool is_load = in->opcode == PTX_ld, is_plain = in->opcode == PTX_cvta || in->opcode == PTX_mov ||
                                                        in->opcode == PTX_add || in->opcode == PTX_sub;
        if (in->guard.reg || !depth || is_set || (is_load ? in->space != PTX_SPACE_PARAM : !is_plain))
            return false;
        for (int i = 1; !is_load && i < in->operand_count; i++) {
            const PtxOperand *from = &in->operands[i];
            bool is_constant = from->kind == PTX_OPERAND_INTEGER || from->kind == PTX_OPERAND_VARIABLE;
            if (from->reg ? !is_of_parameters(program, function, from->reg, depth - 1) : !is_constant)
                return false;
        }
        is_set = true;
    }
    return is_set;
}

/* An atomic of global memory, all of whose lanes update one word. */
static bool updates_one_word(const PtxProgram *program, int pc) {
    const PtxInstruction *in = program->code[pc].instruction;
    int address = in->opcode == PTX_red ? 0 : 1;
    if ((in->opcode != PTX_atom && in->opcode != PTX_red) || in->space != PTX_SPACE_GLOBAL ||
        in->operand_count <= address)
        return false;
    const PtxOperand *at = &in->operands[address];
    return at->variable || (at->reg && is_of_parameters(program, program->code[pc].function, at->reg, 4));
}

/* The lanes of the grid, which the traced blocks need not show. */
static void count_one_word(const TraceLaunch *launch, int pc, WarpCounts *count) {
    const TraceCounter *all = &launch->counters[pc];
    if (!all->requests || all->lanes < all->requests || !updates_one_word(launch->program, pc)) return;
    count->updates = (double)all->lanes;
    count->words = (double)all->requests;
    count->extra = (double)(all->lanes - all->requests);
}

/* [pc] The executions over the grid for each traced one; of runs without counters of the grid, 1. */
static double *find_scale(const TraceLaunch *launch) {
    size_t count = (size_t)launch->program->code_count;
    double *scale = memory_new(count * sizeof *scale);
    TraceEvent event;
    for (int b = 0; b < launch->block_count; b++)
        for (int i = 0; i < trace_block_event_count(launch->blocks[b]); i++) {
            trace_block_read_header(launch->blocks[b], i, &event);
            scale[event.pc]++;
        }
    for (size_t pc = 0; pc < count; pc++) {
        double all = (double)launch->counters[pc].requests;
        scale[pc] = scale[pc] > 0 && all > scale[pc] ? all / scale[pc] : 1;
    }
    return scale;
}

static void add_counts(WarpCounts *sum, const WarpCounts *addend, int launch) {
    if (!(addend->rounds + addend->updates > 0)) return;
    if (!(sum->rounds + sum->updates > 0)) sum->launch = launch;
    sum->rounds += addend->rounds;
    sum->idle_rounds += addend->idle_rounds;
    sum->barriers += addend->barriers;
    sum->needless += addend->needless;
    sum->updates += addend->updates;
    sum->words += addend->words;
    sum->extra += addend->extra;
    if (addend->most_updates > sum->most_updates) sum->most_updates = addend->most_updates;
}

WarpCounts *findings_count_warps(const Trace *trace, const LineMetrics *lines, int count, double *extra) {
    WarpCounts *sums = memory_new((size_t)(count ? count : 1) * sizeof *sums);
    for (int l = 0; l < trace->launch_count; l++) {
        const TraceLaunch *launch = trace->launches[l];
        int code_count = launch->program->code_count;
        WarpCounts *counts = memory_new((size_t)code_count * sizeof *counts);
        double *scale = find_scale(launch);
        for (int b = 0; b < launch->block_count; b++) {
            count_rounds(launch->blocks[b], scale, counts);
            count_atomics(launch->blocks[b], scale, counts);
        }
        for (int pc = 0; pc < code_count; pc++) {
            count_one_word(launch, pc, &counts[pc]);
            PtxSourceLine at = metrics_line_of(launch->program, pc);
            for (int i = 0; i < count && counts[pc].rounds + counts[pc].updates > 0; i++)
                if (lines[i].line == at.line &&
                    (lines[i].file == at.file ||
                     (at.file && lines[i].file && !strcmp(at.file, lines[i].file))))
                    add_counts(&sums[i], &counts[pc], l);
        }
        free(scale);
        free(counts);
    }
    *extra = 0;
    for (int i = 0; i < count; i++) *extra += sums[i].extra;
    return sums;
}

/* ---- findings --------------------------------------------------------------------------------------- */

static uint64_t rounded(double value) {
    return (uint64_t)(value + 0.5);
}

static void set(FindingsBuilder *builder, Finding *finding, int launch, double cost, double ideal,
                Text *text) {
    finding->launch = launch;
    finding->cost = rounded(cost);
    finding->ideal = rounded(ideal);
    finding->sentence = findings_keep(builder->list, text);
}

static void add_idle_warps(FindingsBuilder *builder, const LineMetrics *line, const WarpCounts *count) {
    Finding *finding = count->idle_rounds > 0
                           ? findings_add_slow(builder, FINDING_IDLE_WARPS, line, count->idle_rounds)
                           : NULL;
    CountText idle, all;
    Text text = {0};
    if (!finding) return;
    finding_begin_place(&finding->access, &text);
    text_print(&text, tr("%.0f %% of warps reach the barrier without work (%s of %s)."),
               100 * count->idle_rounds / count->rounds, count_text(rounded(count->idle_rounds), &idle),
               count_text(rounded(count->rounds), &all));
    set(builder, finding, count->launch, count->rounds, count->rounds - count->idle_rounds, &text);
}

static void add_barriers(FindingsBuilder *builder, const LineMetrics *line, const WarpCounts *count) {
    Finding *finding = count->needless > 0
                           ? findings_add_slow(builder, FINDING_NEEDLESS_BARRIER, line, count->needless)
                           : NULL;
    CountText needless, all;
    Text text = {0};
    if (!finding) return;
    finding_begin_place(&finding->access, &text);
    text_print(&text, tr("%.0f %% of barriers order the work of one warp only (%s of %s)."),
               100 * count->needless / count->barriers, count_text(rounded(count->needless), &needless),
               count_text(rounded(count->barriers), &all));
    set(builder, finding, count->launch, count->barriers, count->barriers - count->needless, &text);
}

static void add_atomics(FindingsBuilder *builder, const LineMetrics *line, const WarpCounts *count) {
    Finding *finding =
        count->extra > 0 ? findings_add_slow(builder, FINDING_ATOMIC_CONFLICT, line, count->extra) : NULL;
    CountText updates, words;
    Text text = {0};
    if (!finding) return;
    finding_begin_place(&finding->access, &text);
    if (count->most_updates)
        text_print(&text, tr("up to %d lanes of a warp update one word: "), count->most_updates);
    else
        text_add(&text, tr("the lanes of a warp update one word: "));
    text_print(&text, tr("%s updates, ideal %s."), count_text(rounded(count->updates), &updates),
               count_text(rounded(count->words), &words));
    set(builder, finding, count->launch, count->updates, count->words, &text);
}

void findings_add_warps(FindingsBuilder *builder, const LineMetrics *lines, int count,
                        const WarpCounts *sums) {
    for (int i = 0; i < count; i++) {
        add_idle_warps(builder, &lines[i], &sums[i]);
        add_barriers(builder, &lines[i], &sums[i]);
        add_atomics(builder, &lines[i], &sums[i]);
    }
}
