/* What is sure of a run whose arguments were guessed (session.h). */
#include "session/hazards.h"

#include <string.h>

/* Guessed arguments decide it: an access of global memory, or code that ends the run on purpose. */
static bool is_of_arguments(const char *trap_text, PtxSpace space) {
    static const TrapKind sure[] = {TRAP_DIVERGENT_BARRIER, TRAP_DEADLOCK, TRAP_MISSING_LANES, TRAP_MBARRIER,
                                    TRAP_LANE_OUTSIDE_MASK};
    for (size_t i = 0; i < sizeof sure / sizeof *sure; i++)
        if (!strcmp(trap_text, trap_kind_text(sure[i]))) return false;
    return space != PTX_SPACE_SHARED;
}

static bool is_sure(const Session *session, const char *trap_text, PtxSpace space) {
    const GuessAccount *account = &session->guess.account;
    /* The contents of guessed buffers do not matter to it. */
    if (account->reads_scalars && !account->invents_block &&
        (!strcmp(trap_text, trap_kind_text(TRAP_NARROW_INDEX)) ||
         !strcmp(trap_text, trap_kind_text(TRAP_UNINITIALIZED)) ||
         !strcmp(trap_text, trap_kind_text(TRAP_UNWRITTEN_REGISTER))))
        return true;
    return !account->invents_arguments || (!account->invents_block && !is_of_arguments(trap_text, space));
}

int session_sure_errors(Session *session) {
    const Findings *hazards = session_hazards(session);
    int count = 0;
    for (int i = 0; hazards && i < hazards->error_count; i++) {
        const Finding *error = &hazards->items[i];
        bool is_race = error->kind != FINDING_FAULT && error->kind != FINDING_WRONG_RESULT;
        if (is_race && strcmp(error->kind_text, trap_kind_text(TRAP_UNWRITTEN)) != 0)
            count += !session->guess.account.invents_arguments || !session->guess.account.invents_block;
        else
            count += is_sure(session, error->kind_text, error->space);
    }
    return count;
}

/* The fault that ended the run, or that a GPU would have ended at. */
static bool has_sure_fault(const Session *session) {
    const Trace *trace = session->run->trace;
    for (int i = 0; i < trace->trap_count; i++) {
        const Trap *trap = &trace->traps[i];
        bool is_fault = trap_kind_is_fatal(trap->kind) || trap_kind_is_dropped(trap->kind);
        if (is_fault && is_sure(session, trap_kind_text(trap->kind), trap->space)) return true;
    }
    return false;
}

bool session_failed(const Session *session) {
    bool is_wrong = session->has_result && !session->result.correct;
    bool has_fault =
        trace_has_fault(session->run->trace) && (!session_is_guess(session) || has_sure_fault(session));
    return !session_is_unsupported(session) && (has_fault || is_wrong);
}
