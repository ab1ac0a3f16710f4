/* Runs a file whose size was not asked for with one that is no multiple of the block.
 *
 * A size that is a multiple of the block hides every missing guard. What another size shows is no finding of
 * this run, and the kernel may be meant for such sizes only: one sentence says it. */
#include "ask/questions.h"

enum { LEAST_SIZE = 64, LESS = 5, MOST_INSTRUCTIONS = 4 << 20 };

static bool can_be_tried(const Session *session) {
    const Trace *trace = session->run->trace;
    return session->invents_n && !session->options.program && !session_is_from_file(session) &&
           !session->run->is_partial && !session->run->interrupted && !trace_has_fault(trace) &&
           session->guess.account.n >= LEAST_SIZE && trace_count_instructions(trace) <= MOST_INSTRUCTIONS &&
           !(session->has_result && !session->result.correct);
}

static bool fills_blocks(const Trace *trace, uint64_t n) {
    bool fills = false;
    for (int i = 0; i < trace->launch_count && !fills; i++) {
        const uint32_t *block = trace->launches[i]->block;
        uint32_t threads = block[0] * block[1] * block[2];
        fills = threads > 1 && n % threads == 0;
    }
    return fills;
}

/* The size is nowhere in the run's arguments where all buffers stay as they were. */
static bool is_the_same(const Session *session, const Session *other) {
    const Plan *a = &session->run->plan, *b = &other->run->plan;
    bool same = a->buffer_count == b->buffer_count;
    for (int i = 0; same && i < a->buffer_count; i++) same = a->buffers[i].count == b->buffers[i].count;
    return same;
}

/* False: nothing is wrong with the other size. */
static bool print_difference(const Session *session, const Session *other, Text *out) {
    const Trap *trap = ask_fatal_trap(other->run->trace);
    bool is_wrong = session->has_result && other->has_result && !other->result.correct;
    if (!trap && !is_wrong) return false;
    text_print(out, "With --n %llu, which is no multiple of the block",
               (unsigned long long)other->guess.account.n);
    if (!trap) {
        text_print(out, ", the result is wrong: %s, expected %s.", other->result.result_text,
                   other->result.expected_text);
        return true;
    }
    const TraceLaunch *launch = other->run->trace->launches[trap->launch];
    for (const char *at = trap_kind_text(trap->kind), *gap = ": "; *at; at++, gap = "")
        text_print(out, "%s%c", gap, *at == '_' ? ' ' : *at);
    if (trap->pc != PTX_NO_PC && launch->program->code[trap->pc].line.line)
        text_print(out, " in line %d", launch->program->code[trap->pc].line.line);
    text_print(out, ", %s.", trap->detail);
    return true;
}

const char *ask_other_size(Session *session) {
    SessionFindings *findings = &session->findings;
    if (findings->has_other_size || !can_be_tried(session)) return findings->other_size;
    findings->has_other_size = true;
    uint64_t n = session->guess.account.n - LESS;
    while (n > 1 && fills_blocks(session->run->trace, n)) n--;
    Session *other = session_vary(session, &(RunChange){.n = n}, NULL);
    Text sentence = {0};
    if (other && !is_the_same(session, other) && print_difference(session, other, &sentence))
        findings->other_size = arena_copy_text(&session->arena, text_string(&sentence), sentence.length);
    text_done(&sentence);
    session_free(other);
    return findings->other_size;
}
