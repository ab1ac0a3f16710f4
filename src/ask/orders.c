/* Runs in other orders of warps and blocks, or behind a fault: races that only they show (ask.h). */
#include "ask/questions.h"
#include "ptx/opcodes.h"

#include <stdlib.h>

enum { MOST_SECONDS = 1, MOST_SEARCHED = 1 << 20 }; /* warp instructions of a run that is searched */

/* ---- races that another order shows -------------------------------------------------------------------- */

/* The order in which atomics, fences and the like execute decides which accesses they order: one order may
 * hide a race that another shows. A wait for an mbarrier may give up, also in a warp that is alone. */
static bool depends_on_order(const TraceLaunch *launch) {
    uint64_t blocks = 1, threads = 1;
    for (int i = 0; i < 3; i++) {
        blocks *= launch->grid[i];
        threads *= launch->block[i];
    }
    bool has_warps = blocks > 1 || threads > WARP_LANES;
    for (int pc = 0; pc < launch->program->code_count; pc++) {
        const PtxInstruction *in = launch->program->code[pc].instruction;
        bool orders = in->opcode == PTX_atom || in->opcode == PTX_red || in->opcode == PTX_membar ||
                      in->opcode == PTX_fence || ptx_instruction_is_ordered(in);
        if ((orders && has_warps) || in->opcode == PTX_mbarrier) return true;
    }
    return false;
}

static bool may_show_more(const Session *session) {
    bool depends = false;
    for (int i = 0; i < session->run->trace->launch_count; i++)
        depends |= depends_on_order(session->run->trace->launches[i]);
    return depends && !trace_has_fatal_trap(session->run->trace) &&
           trace_count_instructions(session->run->trace) <= MOST_SEARCHED;
}

/* False if the run fails. */
static bool search_order(const Session *session, Findings *list, uint64_t schedule) {
    Session *other = session_vary(session, &(RunChange){.schedule = &schedule, .searches_races = true}, NULL);
    const Findings *found = other ? ask_hazards(other) : NULL;
    if (found) findings_take_races(list, found, session->run->trace, schedule);
    session_free(other);
    return found;
}

void ask_other_orders(Session *session) {
    Findings *list = ask_hazards(session);
    if (!list || session->findings.has_orders || session_is_from_file(session)) return;
    session->findings.has_orders = true;
    if (!may_show_more(session)) return;
    ask_show_progress(session, "searching other orders of warps and blocks", 0, 0);
    TimeLimit limit = ask_limit_time(session->options.order_seconds, MOST_SECONDS);
    uint64_t own = session->options.schedule;
    int orders = 0, given_up = 0; /* filling large buffers may take most of the time */
    for (uint64_t schedule = own ? 0 : 1; schedule <= ASK_ORDERS; schedule++) {
        if (schedule == own) continue;
        orders++;
        if (ask_time_is_over(&limit))
            given_up++;
        else if (search_order(session, list, schedule))
            session->findings.orders_searched = (int)schedule;
    }
    Text sentence = {0};
    if (!given_up) return;
    text_print(&sentence, "The limit of %g s for other orders was reached: %d of %d %s not searched.",
               limit.seconds, given_up, orders, given_up == 1 ? "was" : "were");
    findings_add_limit(list, &sentence);
}

/* ---- behind a fault ------------------------------------------------------------------------------------ */

static bool ended_out_of_bounds(const Trace *trace) {
    for (int i = 0; i < trace->trap_count; i++) {
        TrapKind kind = trace->traps[i].kind;
        if (trap_kind_is_fatal(kind))
            return kind == TRAP_OUT_OF_BOUNDS || kind == TRAP_INDEX_OVERFLOW || kind == TRAP_NARROW_INDEX;
    }
    return false;
}

/* Keeps the counters of the instructions behind the fault. */
static void keep_counters(Session *session, const Trace *other) {
    const Trace *own = session->run->trace;
    if (other->launch_count < own->launch_count) return;
    session->findings.behind =
        arena_new(&session->arena, (size_t)own->launch_count * sizeof *session->findings.behind);
    for (int i = 0; i < own->launch_count; i++) {
        TraceLaunch *launch = &session->findings.behind[i];
        *launch = *own->launches[i];
        launch->counters = arena_copy(&session->arena, other->launches[i]->counters,
                                      (size_t)launch->program->code_count * sizeof *launch->counters);
    }
}

void ask_behind(Session *session) {
    Findings *list = ask_hazards(session);
    if (!list || session->findings.goes_behind || session_is_from_file(session) ||
        !ended_out_of_bounds(session->run->trace))
        return;
    session->findings.goes_behind = true;
    Session *other = session_vary(session, &(RunChange){.searches_races = true}, NULL);
    const Findings *found = other ? ask_hazards(other) : NULL;
    if (found) {
        findings_take_behind(list, found, session->run->trace);
        keep_counters(session, other->run->trace);
    }
    session_free(other);
}
