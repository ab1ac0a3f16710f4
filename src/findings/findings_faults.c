/* Sentences about faults and wrong results (findings.h). */
#include "base/language.h"
#include "base/sentence.h"
#include "findings/findings_sentences.h"
#include "ptx/opcodes.h"

/* ---- traps ------------------------------------------------------------------------------------------ */

static const char *advice_for_trap(TrapKind kind) {
    switch (kind) {
    case TRAP_OUT_OF_BOUNDS:
    case TRAP_READ_OUTSIDE:
    case TRAP_WRITE_OUTSIDE:
        return tr(
            "compare the index with the number of elements before the access (if (i < n)), and the size "
            "of the array with that of the block");
    case TRAP_INDEX_OVERFLOW:
        return tr(
            "compute the index in 64 bits (size_t i = (size_t)row * columns + column), or compare before "
            "it becomes negative");
    case TRAP_NARROW_INDEX:
        return tr("give the index a wider type (int or size_t)");
    case TRAP_MISALIGNED:
        return tr("align vector accesses to a multiple of their size");
    case TRAP_DIVERGENT_BARRIER:
        return tr("move the barrier out of the branch, so that every thread of the block reaches it");
    case TRAP_DEADLOCK:
        return tr("make sure that what the threads wait for happens: the same barriers on every path, all "
                  "blocks resident at "
                  "once, locks taken by one lane at a time");
    case TRAP_MISSING_LANES:
        return tr(
            "include in the mask only lanes that execute the instruction (__ballot_sync before the branch "
            "gives it), or move the instruction out of the branch");
    case TRAP_MBARRIER:
        return tr("make mbarrier.init's count the number of arrivals of a phase, and expect as many bytes as "
                  "are "
                  "copied");
    case TRAP_TENSOR_COPY:
        return tr("align the tile in shared memory (alignas(1024)), and keep coordinates and map within what "
                  "the copy allows");
    case TRAP_OVERWRITTEN_PADDING:
        return tr("end the rows of the tensor on 16 bytes, or keep nothing behind them");
    case TRAP_LANE_OUTSIDE_MASK:
        return tr("let the mask name every lane that executes the instruction");
    case TRAP_BLOCK_EXITED:
        return tr(
            "end the kernel with a barrier of the cluster (cluster.sync()), so that no block exits before "
            "the "
            "last access of its shared memory");
    case TRAP_UNINITIALIZED:
        return tr("let every thread store its element, or the identity if it has none, before a barrier and "
                  "the first load");
    case TRAP_UNWRITTEN_REGISTER:
        return tr("write the register first, on every path that leads to the read");
    case TRAP_UNWRITTEN:
        return tr(
            "write it first: cudaMemset(), a copy from the host, or a store of an earlier launch; memory "
            "from malloc needs a store");
    case TRAP_ARRAY_OVERRUN:
        return tr("compare the index with the number of elements of the array, or make the array larger");
    case TRAP_HEAP_OVERRUN:
        return tr("compare the index with the size that was passed to malloc");
    case TRAP_USE_AFTER_FREE:
        return tr("free the memory after its last access, in one thread, after a barrier of all threads that "
                  "use it");
    case TRAP_DOUBLE_FREE:
        return tr("let one thread free it, once");
    case TRAP_INSTRUCTION_BUDGET:
        return tr("look for a loop that does not end; --max-instructions raises the limit");
    default:
        return NULL;
    }
}

/* A wrong mask has one cause, however many instructions take it: the same lanes are outside. */
static bool has_same_cause(const Finding *finding, const Trap *trap) {
    if (finding->launch != trap->launch || strcmp(finding->kind_text, trap_kind_text(trap->kind)) != 0)
        return false;
    return finding->access.pc == trap->pc ||
           (trap->kind == TRAP_LANE_OUTSIDE_MASK && finding->access.lanes & trap->lanes);
}

static FindingKind kind_of_trap(TrapKind kind) {
    if (trap_kind_is_note(kind)) return FINDING_OVERWRITTEN_PADDING;
    return kind == TRAP_NOT_EMULATED ? FINDING_NOT_EMULATED : FINDING_FAULT; /* a limit of redviz, an error */
}

static bool count_same_trap(Findings *list, const Trap *trap) {
    for (int i = 0; i < list->count; i++) {
        Finding *same = &list->items[i];
        if (same->kind != kind_of_trap(trap->kind) || !has_same_cause(same, trap)) continue;
        if (trap->kind == TRAP_LANE_OUTSIDE_MASK) return true; /* its sentence names the lines */
        same->count++;
        same->blocks += memcmp(same->access.block, trap->block, sizeof trap->block) != 0;
        return true;
    }
    return false;
}

/* ---- masks ------------------------------------------------------------------------------------------- */

/* "; the same in lines 17 and 19": instructions that lanes of the finding execute outside their mask, too. */
static void add_other_lines(const FindingsBuilder *builder, const Finding *finding, Text *out) {
    enum { MOST_LINES = 8 };
    int lines[MOST_LINES], count = 0;
    for (int i = 0; i < builder->trace->trap_count && count < MOST_LINES; i++) {
        const Trap *trap = &builder->trace->traps[i];
        FindingAccess access = {.pc = trap->pc};
        if (!has_same_cause(finding, trap)) continue;
        finding_put_line(builder->trace->launches[trap->launch], &access);
        bool known = !access.line || access.line == finding->access.line;
        for (int k = 0; k < count; k++) known |= lines[k] == access.line;
        if (!known) lines[count++] = access.line;
    }
    if (count) text_add(out, count > 1 ? tr("; the same in lines ") : tr("; the same in line "));
    for (int i = 0; i < count; i++)
        text_print(out, i == 0 ? "%d" : i + 1 < count ? ", %d" : tr(" and %d"), lines[i]);
}

static bool is_between(const Finding *race, int pc) {
    int a = race->access.pc, b = race->other.pc;
    return a < b ? a <= pc && pc <= b : b <= pc && pc <= a;
}

/* Removes the races of lanes that an instruction with a wrong mask was to order; returns how many. */
static int drop_races(FindingsBuilder *builder, const Trap *wrong) {
    Findings *list = builder->list;
    int kept = 0, dropped = 0;
    for (int i = 0; i < list->count; i++) {
        const Finding *finding = &list->items[i];
        bool follows = finding->kind == FINDING_WARP_RACE && finding->launch == wrong->launch;
        bool is_around = false;
        for (int t = 0; follows && t < builder->trace->trap_count; t++) {
            const Trap *trap = &builder->trace->traps[t];
            is_around |= trap->kind == wrong->kind && trap->launch == wrong->launch &&
                         trap->lanes & wrong->lanes && is_between(finding, trap->pc);
        }
        dropped += is_around;
        if (!is_around) list->items[kept++] = list->items[i];
    }
    list->count = kept;
    return dropped;
}

static void add_outside_mask(FindingsBuilder *builder, const Finding *finding, int races, Text *out) {
    add_other_lines(builder, finding, out);
    if (races)
        text_print(out,
                   races == 1 ? tr("; so %d pair of accesses races") : tr("; so %d pairs of accesses race"),
                   races);
}

/* ---- the list ---------------------------------------------------------------------------------------- */

/* ": it is `kept[3]`", of shared memory that was never written. */
static void add_name(FindingsBuilder *builder, const Trap *trap, Finding *finding, Text *out) {
    const TraceLaunch *launch = builder->trace->launches[trap->launch];
    const TraceSymbol *symbol = NULL;
    const FindingAccess none = {.pc = PTX_NO_PC};
    FindingAccess at = finding->access;
    uint64_t address = trap->lanes ? trap->address[at.lane] : 0;
    if (trap->kind != TRAP_UNINITIALIZED || !trap->lanes || trap->pc < 0 ||
        launch->program->code[trap->pc].instruction->space != PTX_SPACE_SHARED)
        return;
    for (int i = 0; i < launch->symbol_count; i++)
        if (launch->symbols[i].space == PTX_SPACE_SHARED && launch->symbols[i].window_offset <= address &&
            (!symbol || launch->symbols[i].window_offset >= symbol->window_offset))
            symbol = &launch->symbols[at.buffer = i];
    if (!symbol) return;
    at.offset = address - symbol->window_offset;
    finding->what = findings_name_memory(builder, launch, PTX_SPACE_SHARED, &at, &none);
    text_print(out, tr(": it is `%s`"), finding->what);
}

static void add_trap(FindingsBuilder *builder, const Trap *trap) {
    const TraceLaunch *launch = builder->trace->launches[trap->launch];
    if (count_same_trap(builder->list, trap)) return;
    int races = trap->kind == TRAP_LANE_OUTSIDE_MASK ? drop_races(builder, trap) : 0;
    FindingKind kind = kind_of_trap(trap->kind);
    Finding *finding = findings_add(builder->list, &builder->capacity, kind, trap->launch);
    FindingAccess *access = &finding->access;
    finding->kind_text = trap_kind_text(trap->kind);
    finding->count = finding->blocks = 1;
    access->pc = trap->pc;
    memcpy(access->block, trap->block, sizeof access->block);
    access->linear_block =
        ((uint64_t)trap->block[2] * launch->grid[1] + trap->block[1]) * launch->grid[0] + trap->block[0];
    access->warp = trap->warp;
    access->lanes = trap->lanes;
    access->lane = trap->lanes ? __builtin_ctz(trap->lanes) : -1;
    access->is_store = trap->pc >= 0 && launch->program->code[trap->pc].instruction->opcode == PTX_st;
    finding_put_line(launch, access);
    finding->advice = advice_for_trap(trap->kind);
    Text text = {0};
    if (access->line) finding_add_place(access, &text);
    if (access->line) text_add(&text, tr(", "));
    text_print(&text, tr("block %llu"), (unsigned long long)access->linear_block);
    LanesText lanes;
    if (trap->lanes) text_print(&text, tr(", warp %d, %s"), trap->warp, lanes_text(trap->lanes, &lanes));
    text_print(&text, tr(": %s"), trap->detail && *trap->detail ? trap->detail : finding->kind_text);
    if (trap->kind == TRAP_LANE_OUTSIDE_MASK) add_outside_mask(builder, finding, races, &text);
    add_name(builder, trap, finding, &text);
    if (kind == FINDING_NOT_EMULATED)
        text_print(&text, tr("%s the run ends here, and what follows was not examined"),
                   text.data[text.length - 1] == ';' ? "" : ";");
    finding_add_callers(access, NULL, &text);
    finding->sentence = findings_finish_sentence(builder->list, &text);
}

void findings_add_traps(FindingsBuilder *builder) {
    for (int i = 0; i < builder->trace->trap_count; i++) {
        add_trap(builder, &builder->trace->traps[i]);
        builder->list->is_complete &= !trap_kind_is_fatal(builder->trace->traps[i].kind);
    }
}

/* ---- wrong results ---------------------------------------------------------------------------------- */

static void blame_reread(FindingsBuilder *builder, const Reread *reread, Finding *finding, Text *text) {
    const TraceLaunch *launch = builder->trace->launches[finding->launch];
    finding->space = PTX_SPACE_GLOBAL;
    finding->access = reread->access;
    finding->other = reread->other;
    finding_put_line(launch, &finding->access);
    finding_put_line(launch, &finding->other);
    finding_put_type(builder->trace, launch, PTX_SPACE_GLOBAL, &finding->access);
    finding_put_type(builder->trace, launch, PTX_SPACE_GLOBAL, &finding->other);
    finding->what =
        findings_name_memory(builder, launch, PTX_SPACE_GLOBAL, &finding->access, &finding->other);
    text_print(text, tr("; line %d loads %s in block %llu, and line %d loads it again in block %llu"),
               finding->other.line, finding->what, (unsigned long long)finding->other.linear_block,
               finding->access.line, (unsigned long long)finding->access.linear_block);
    if (reread->loads > 1) {
        CountText loads;
        text_print(text, tr(" (and %s more such load%s of a lane)"), count_text(reread->loads - 1, &loads),
                   plural(reread->loads - 1));
    }
    text_add(text, tr(": elements may count twice"));
    finding->advice = tr("match the index to the grid: each element belongs to one thread");
}

/* Where to look: at elements that two blocks load, else at the last store. */
void findings_add_result(FindingsBuilder *builder, const RaceDetector *detector,
                         const FindingResult *result) {
    if (!result || !result->is_wrong || !result->result) return;
    Finding *finding = findings_add(builder->list, &builder->capacity, FINDING_WRONG_RESULT,
                                    builder->trace->launch_count - 1);
    Text text = {0};
    finding->count = finding->blocks = 1;
    text_print(&text, tr("the result is %s, expected %s"), result->result, result->expected);
    if (result->why) text_print(&text, " %s", result->why);
    if (detector && detector->reread.loads) {
        finding->launch = detector->reread_launch;
        blame_reread(builder, &detector->reread, finding, &text);
    } else if (detector && detector->last_store_pc >= 0) {
        finding->launch = detector->last_store_launch;
        finding->access.pc = detector->last_store_pc;
        finding_put_line(builder->trace->launches[finding->launch], &finding->access);
        text_print(&text, tr("; the last store is in line %d"), finding->access.line);
        finding->advice =
            tr("check which thread stores the result, and which value: V shows registers, r how "
               "the result was reduced");
    }
    finding->sentence = findings_finish_sentence(builder->list, &text);
}

/* ---- the device heap ---------------------------------------------------------------------------------- */

void findings_add_leak(FindingsBuilder *builder, const FindingKnown *known) {
    int launch = builder->trace->launch_count - 1;
    if (!known->leaks || launch < 0) return;
    Finding *finding = findings_add(builder->list, &builder->capacity, FINDING_HEAP_LEAK, launch);
    const TraceLaunch *of = builder->trace->launches[launch];
    CountText count, bytes;
    Text text = {0};
    finding->count = known->leaks;
    finding->cost = known->leaked_bytes;
    if (known->leak_pc >= 0 && known->leak_pc < of->program->code_count) {
        finding->access.pc = known->leak_pc;
        finding_put_line(of, &finding->access);
        finding_begin_place(&finding->access, &text);
    }
    text_print(&text, tr("%s allocation%s of the device heap, %s bytes, %s never freed"),
               count_text(known->leaks, &count), plural(known->leaks),
               count_text(known->leaked_bytes, &bytes), known->leaks == 1 ? "is" : "are");
    finding->advice = tr("free() what malloc() returned, in this kernel or a later one");
    finding->sentence = findings_finish_sentence(builder->list, &text);
}
