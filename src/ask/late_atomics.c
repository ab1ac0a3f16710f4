/* Late atomics: whether the result waits for every atomic that it needs (ask.h).
 *
 * Atomics do not race, so the race search says nothing of a total that is read while an addition to it is
 * still to come. Here an atomic is held (trace/hold.h) until another warp has read its word: of two
 * instructions that meet at a word, the last such atomic of the reader's block, and of another block. Where
 * the result is then wrong, nothing makes the reader wait. Only a result that is known tells: atomics may
 * give tickets or places, which any order is free to change. */
#include "ask/access_list.h"
#include "ask/questions.h"
#include "ptx/opcodes.h"

#include <stdlib.h>

enum {
    MOST_INSTRUCTIONS = 1 << 18, /* warp instructions of a run that is repeated */
    MOST_PAIRS = 12,             /* one run for each */
    WINDOW = 64                  /* accesses of a word between the two of a pair */
};
static const double MOST_SECONDS = 0.5; /* of processor time */

typedef struct LatePair {
    ListedAccess atomic, reader;
    bool is_same_block;
} LatePair;

typedef struct LateSearch {
    Session *session;
    LatePair pairs[MOST_PAIRS];
    int count, left_out;
} LateSearch;

static const PtxInstruction *instruction_of(const LateSearch *search, const ListedAccess *one) {
    return search->session->run->trace->launches[one->launch]->program->code[one->pc].instruction;
}

static bool is_atomic(TraceKind kind) {
    return kind == TRACE_GLOBAL_ATOMIC || kind == TRACE_SHARED_ATOMIC;
}

static bool is_listed(const PtxInstruction *in) {
    TraceKind kind = trace_kind_of(in);
    bool is_load = kind == TRACE_GLOBAL_LOAD || kind == TRACE_SHARED_LOAD;
    return is_atomic(kind) || (is_load && ptx_instruction_is_ordered(in));
}

static bool may_be_late(const Session *session) {
    const Findings *list = session->findings.hazards;
    bool is_named = session->kernel.row || session->options.expect, has_atomics = false;
    if (!list || list->error_count || !is_named || !session->has_result || !session->result.correct)
        return false;
    if (trace_has_fatal_trap(session->run->trace) ||
        trace_count_instructions(session->run->trace) > MOST_INSTRUCTIONS)
        return false;
    for (int i = 0; i < session->run->trace->launch_count; i++) {
        const PtxProgram *program = session->run->trace->launches[i]->program;
        for (int pc = 0; pc < program->code_count; pc++)
            has_atomics |= is_atomic(trace_kind_of(program->code[pc].instruction));
    }
    return has_atomics;
}

/* ---- pairs --------------------------------------------------------------------------------------------- */

/* The last pair of two instructions stands for the earlier ones. */
static void keep_pair(LateSearch *search, const ListedAccess *atomic, const ListedAccess *reader) {
    LatePair pair = {*atomic, *reader, atomic->block == reader->block};
    for (int i = 0; i < search->count; i++) {
        LatePair *kept = &search->pairs[i];
        if (kept->atomic.launch != atomic->launch || kept->atomic.pc != atomic->pc ||
            kept->reader.pc != reader->pc || kept->is_same_block != pair.is_same_block)
            continue;
        if (reader->sequence > kept->reader.sequence) *kept = pair;
        return;
    }
    if (search->count < MOST_PAIRS)
        search->pairs[search->count++] = pair;
    else
        search->left_out++;
}

/* For an access that reads a word: the last atomic of it by another warp of the block, and by another
 * block. */
static void pair_reader(LateSearch *search, const ListedAccess *first, const ListedAccess *reader) {
    bool has[2] = {false, false};
    if (instruction_of(search, reader)->opcode == PTX_red) return;
    for (const ListedAccess *at = reader - 1; at >= first && at >= reader - WINDOW; at--) {
        bool is_same_block = at->block == reader->block;
        if (at->launch != reader->launch || at->place != reader->place || (has[0] && has[1])) return;
        if (has[is_same_block] || (is_same_block && at->warp == reader->warp)) continue;
        if (!is_atomic(trace_kind_of(instruction_of(search, at)))) continue;
        has[is_same_block] = true;
        keep_pair(search, at, reader);
    }
}

static bool list_pairs(LateSearch *search) {
    Session *session = search->session;
    AccessList *accesses = access_list_new_of(session->run->trace, is_listed);
    TraceObserver observer = access_list_observer(accesses);
    FindingOrder plain = {.schedule = session->options.schedule};
    Session *run = session_vary(session, &(RunChange){.order = &plain, .observer = &observer}, NULL);
    session_free(run);
    int count;
    const ListedAccess *all = access_list_sorted(accesses, &count);
    for (int i = 1; run && i < count; i++) pair_reader(search, all, &all[i]);
    access_list_free(accesses);
    return search->count;
}

/* ---- runs ---------------------------------------------------------------------------------------------- */

static HoldPlace place_of(const ListedAccess *one) {
    return (HoldPlace){one->block, one->warp, one->lane, one->pc, one->time};
}

static FindingAccess as_access(const ListedAccess *one) {
    return (FindingAccess){.pc = one->pc,
                           .warp = one->warp,
                           .lane = one->lane,
                           .lanes = UINT32_C(1) << one->lane,
                           .linear_block = one->block,
                           .buffer = -1,
                           .event = -1};
}

/* True if the result is wrong while the atomic waits for the reader. */
static bool try_pair(const LateSearch *search, const LatePair *pair) {
    Session *session = search->session;
    FindingOrder order = {.schedule = session->options.schedule, .hold_count = 1};
    order.holds[0] = (Hold){.launch = pair->atomic.launch,
                            .at = place_of(&pair->atomic),
                            .until = place_of(&pair->reader),
                            .lanes = UINT32_MAX};
    Session *other = session_vary(session, &(RunChange){.order = &order}, NULL);
    bool is_wrong = other && other->run->holds[0].end == HOLD_MET &&
                    !trace_has_fatal_trap(other->run->trace) && other->has_result && !other->result.correct;
    if (is_wrong) {
        FindingLate late = {.launch = pair->atomic.launch,
                            .atomic = as_access(&pair->atomic),
                            .reader = as_access(&pair->reader),
                            .result = other->result.result_text,
                            .expected = session->result.expected_text};
        findings_add_late(session->findings.hazards, session->run->trace, &late);
    }
    session_free(other);
    return is_wrong;
}

void ask_late_atomics(Session *session) {
    if (session_is_from_file(session) || session->findings.has_late || !ask_hazards(session)) return;
    session->findings.has_late = true;
    if (!may_be_late(session)) return;
    ask_show_progress(session, "delaying atomics", 0, 0);
    LateSearch *search = memory_new(sizeof *search);
    search->session = session;
    TimeLimit limit = ask_limit_time(session->options.order_seconds, MOST_SECONDS);
    int tried = 0;
    bool is_found = !list_pairs(search);
    for (; !is_found && tried < search->count && (!tried || !ask_time_is_over(&limit)); tried++)
        is_found = try_pair(search, &search->pairs[tried]);
    int left = search->count - tried + search->left_out;
    if (!is_found && left) {
        Text sentence = {0};
        text_print(&sentence,
                   "%d pair%s of an atomic and a reader of its word %s not tried in the other order.", left,
                   left == 1 ? "" : "s", left == 1 ? "was" : "were");
        findings_add_limit(session->findings.hazards, &sentence);
    }
    free(search);
}
