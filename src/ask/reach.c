/* Reach: whether all elements that a kernel loads can decide its result.
 *
 * A maximum over elements of which some are dropped is right whenever the largest is not one of them: most
 * inputs cannot show the fault. So the kernel runs again with equal elements and an extreme at one after
 * another. A result that follows the extreme to most of them, by its value or by its index, is a selection,
 * and one that stays what it is without an extreme drops that element. Only kernels of one input and one
 * result are tried, since others may pass over elements on purpose. */
#include "ask/questions.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_INSTRUCTIONS = 1 << 16, /* warp instructions of a run that is repeated */
    FEWEST = 32,                 /* elements */
    PILOTS = 5                   /* elements that tell whether the result is a selection */
};

typedef struct ReachSearch {
    const Session *session;
    Plan before; /* with its bytes */
    int in, out;
    uint64_t *loaded; /* [loaded_count] elements, in the order in which they are tried */
    uint64_t loaded_count;
    int sign; /* 1: a maximum, -1: a minimum */
    uint64_t tried, followed;
    bool by_index;
    uint64_t dropped;      /* the first element that is */
    double least, extreme; /* all other elements, and the extreme */
    double base, instead;  /* the result without an extreme, and with it at `dropped` */
} ReachSearch;

static double element(const PlanBuffer *buffer, uint64_t i) {
    return plan_element(buffer->type, buffer->bytes, i);
}

static bool is_written_over(const PlanBuffer *buffer) {
    return buffer->fill == FILL_ZERO || buffer->fill == FILL_VALUE || buffer->fill == FILL_UNWRITTEN;
}

/* Marks the elements that loads of the traced blocks touch. */
static void mark_loaded(const ReachSearch *reach, int buffer, bool *marks) {
    const Trace *trace = reach->session->run->trace;
    const PlanBuffer *of = &reach->before.buffers[buffer];
    uint64_t bytes = (uint64_t)ptx_type_bytes(of->type);
    TraceEvent event;
    for (int l = 0; l < trace->launch_count; l++)
        for (int b = 0; b < trace->launches[l]->block_count; b++)
            for (int i = 0; i < trace_block_event_count(trace->launches[l]->blocks[b]); i++) {
                trace_block_read(trace->launches[l]->blocks[b], i, &event);
                if (event.kind != TRACE_GLOBAL_LOAD) continue;
                for (int lane = 0; lane < WARP_LANES; lane++)
                    for (uint64_t at = 0; (event.mask >> lane & 1) && event.buffer[lane] == buffer &&
                                          at < (uint64_t)event.width;
                         at += bytes)
                        if ((event.offset[lane] + at) / bytes < of->count)
                            marks[(event.offset[lane] + at) / bytes] = true;
            }
}

/* Elements far from each other first, so that a few tell something of all. */
static void list_loaded(ReachSearch *reach, const bool *marks, uint64_t count) {
    uint64_t *all = memory_new((size_t)count * sizeof *all), found = 0, step;
    for (uint64_t i = 0; i < count; i++)
        if (marks[i]) all[found++] = i;
    reach->loaded = memory_new((size_t)(found + 1) * sizeof *reach->loaded);
    for (step = found * 5 / 8 + 1; found; step++) { /* coprime to their number */
        uint64_t a = step, b = found;
        while (b) {
            uint64_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1) break;
    }
    for (uint64_t i = 0; i < found; i++) reach->loaded[i] = all[(i + 1) * step % found];
    reach->loaded_count = found;
    free(all);
}

/* The one input that is loaded, and the one element that is written; false: there are others. */
static bool find_buffers(ReachSearch *reach) {
    const Plan *before = &reach->before, *after = &reach->session->run->plan;
    reach->in = reach->out = -1;
    for (int i = 0; i < before->buffer_count; i++) {
        const PlanBuffer *buffer = &before->buffers[i];
        uint64_t bytes = (uint64_t)ptx_type_bytes(buffer->type), changed = 0, count = buffer->count;
        if (!buffer->bytes || !after->buffers[i].bytes || !bytes || count > MOST_INSTRUCTIONS) return false;
        for (uint64_t k = 0; k < count; k++)
            changed += memcmp((const char *)buffer->bytes + k * bytes,
                              (const char *)after->buffers[i].bytes + k * bytes, bytes) != 0;
        bool is_result = is_written_over(buffer) && (changed == 1 || (!changed && count == 1));
        if (changed && !is_result) return false;
        if (is_result && reach->out >= 0) return false;
        if (is_result) reach->out = i;
        if (is_result || is_written_over(buffer)) continue;
        bool *marks = memory_new((size_t)count + 1);
        mark_loaded(reach, i, marks);
        bool is_loaded = memchr(marks, 1, (size_t)count) != NULL, is_second = is_loaded && reach->in >= 0;
        if (is_loaded && !is_second) {
            list_loaded(reach, marks, count);
            reach->in = i;
        }
        free(marks);
        if (is_second) return false;
    }
    return reach->in >= 0 && reach->out >= 0 && reach->loaded_count >= FEWEST;
}

/* Beyond all elements, on the side of `sign`; false: the type has no such number. */
static bool find_extreme(ReachSearch *reach) {
    const PlanBuffer *in = &reach->before.buffers[reach->in];
    double most = element(in, 0);
    uint8_t kept[8];
    reach->least = most;
    for (uint64_t i = 1; i < in->count; i++) {
        if (reach->sign * element(in, i) > reach->sign * most) most = element(in, i);
        if (reach->sign * element(in, i) < reach->sign * reach->least) reach->least = element(in, i);
    }
    double wanted = most + reach->sign * ((most < 0 ? -most : most) + 3);
    plan_element_set(in->type, kept, 0, wanted);
    reach->extreme = plan_element(in->type, kept, 0);
    return reach->sign * reach->extreme > reach->sign * most;
}

/* The result with the extreme at element `at`, or behind the last: at none. False: there is no result. */
static bool run_with(const ReachSearch *reach, uint64_t at, double *result) {
    const PlanBuffer *in = &reach->before.buffers[reach->in];
    size_t bytes = (size_t)in->count * (size_t)ptx_type_bytes(in->type);
    Plan plan;
    plan_copy(&reach->session->run->plan, &plan);
    uint8_t *content = arena_new(&plan.arena, bytes);
    for (uint64_t i = 0; i < in->count; i++)
        plan_element_set(in->type, content, i, i == at ? reach->extreme : reach->least);
    plan.buffers[reach->in].fill = FILL_CONTENT;
    plan.buffers[reach->in].content = content;
    Session *other = session_vary(reach->session, &(RunChange){.plan = &plan}, NULL);
    bool good = other && !trace_has_fault(other->run->trace);
    if (good) *result = element(&other->run->plan.buffers[reach->out], 0);
    session_free(other);
    return good;
}

/* One element; false: it neither decides the result nor is dropped. */
static bool try_element(ReachSearch *reach, uint64_t at) {
    double result;
    if (!run_with(reach, at, &result)) return false;
    bool by_value = result == reach->extreme, by_index = result == (double)at;
    bool follows = reach->followed ? (reach->by_index ? by_index : by_value) : by_value || by_index;
    if (!follows && result != reach->base) return false;
    if (follows && !reach->followed) reach->by_index = !by_value;
    if (!follows && reach->tried == reach->followed) {
        reach->dropped = at;
        reach->instead = result;
    }
    reach->followed += follows;
    reach->tried++;
    return true;
}

static bool is_selection(ReachSearch *reach, int sign) {
    reach->sign = sign;
    reach->tried = reach->followed = 0;
    if (!find_extreme(reach) || !run_with(reach, reach->before.buffers[reach->in].count, &reach->base))
        return false;
    for (uint64_t i = 0; i < PILOTS; i++)
        if (!try_element(reach, reach->loaded[i]) || (i == 1 && !reach->followed)) return false;
    return reach->followed > PILOTS / 2;
}

static void print_number(const PlanBuffer *buffer, double number, char *to, size_t room) {
    uint8_t bytes[8];
    Text text = {0};
    plan_element_set(buffer->type, bytes, 0, number);
    plan_element_print(buffer->type, bytes, 0, &text);
    snprintf(to, room, "%s", text_string(&text));
    text_done(&text);
}

static void keep(Session *session, const ReachSearch *reach) {
    const PlanBuffer *out = &reach->before.buffers[reach->out], *in = &reach->before.buffers[reach->in];
    ExpectResult *result = &session->result;
    Text why = {0};
    double expected = reach->by_index ? (double)reach->dropped : reach->extreme;
    *result = (ExpectResult){.result = reach->instead, .expected = expected, .compared = 1};
    print_number(out, reach->instead, result->result_text, sizeof result->result_text);
    print_number(out, expected, result->expected_text, sizeof result->expected_text);
    result->absolute_error =
        expected > reach->instead ? expected - reach->instead : reach->instead - expected;
    session->has_result = session->guess.verdict.has_result = true;
    text_print(&why, "with the %s at %s[%llu] alone; %llu of %llu elements reach the result",
               reach->sign > 0 ? "maximum" : "minimum", in->name, (unsigned long long)reach->dropped,
               (unsigned long long)reach->followed, (unsigned long long)reach->tried);
    if (reach->tried < reach->loaded_count)
        text_print(&why, " (of %llu that are loaded)", (unsigned long long)reach->loaded_count);
    session->findings.reach = arena_copy_text(&session->arena, text_string(&why), why.length);
    text_done(&why);
}

static bool can_be_tried(const Session *session) {
    const Trace *trace = session->run->trace;
    return !session->has_result && !session->kernel.row && !session_is_from_file(session) &&
           session->run->emulator && !session->run->is_partial && !trace_has_fault(trace) &&
           !session->guess.account.invents_block && trace_count_instructions(trace) <= MOST_INSTRUCTIONS;
}

void ask_reach(Session *session) {
    ReachSearch reach = {.session = session};
    if (session->findings.has_reach || !can_be_tried(session)) return;
    session->findings.has_reach = true;
    plan_copy(&session->run->plan, &reach.before);
    bool good = plan_fill(&reach.before, session->guess.request.seed, NULL) && find_buffers(&reach) &&
                (is_selection(&reach, 1) || is_selection(&reach, -1));
    TimeLimit limit = ask_limit_time(0, 2);
    for (uint64_t i = PILOTS; good && i < reach.loaded_count && !ask_time_is_over(&limit); i++)
        good = try_element(&reach, reach.loaded[i]);
    if (good && reach.followed < reach.tried && reach.followed > reach.tried / 2) keep(session, &reach);
    free(reach.loaded);
    plan_free(&reach.before);
}
