/* Trials with other guesses where the first one gives no known result: of the block of a kernel that is in no
 * catalogue, of the numbers that it is given, of the kernel itself. A result on random numbers that is just
 * what a known function gives is no accident. What was typed, or read in the file, is never changed. */
#include "session/state.h"

#include "expect/expect.h"
#include "guess/uses.h"
#include <string.h>
#include <time.h>

/* ---- one launch instead of a loop, another block ---------------------------------------------------------------- */

/* A fault that another block may not have: an access of a buffer out of bounds is the kernel's own. */
static bool is_other_fault(const Session *session) {
    const Trace *trace = session->trace;
    for (int i = 0; i < trace->trap_count; i++) {
        const Trap *trap = &trace->traps[i];
        bool is_fault = trap_kind_is_fatal(trap->kind) || trap_kind_is_dropped(trap->kind);
        if (is_fault) return !session_is_outside(trap->kind) || session_is_of_shared(trap);
    }
    return false;
}

bool session_leave_loop(Session *session) {
    bool is_right = session->has_result && session->result.correct;
    bool leaves =
        session->kernel.has_loop && !is_right && !session->trial.no_loops && !session->options.expect;
    session->trial.no_loops |= leaves;
    return leaves;
}

bool session_may_try_block(const Session *session) {
    const SessionTrial *trial = &session->trial;
    return !session->kernel.row && session->kernel.block_choices > 1 && !trial->is_settled &&
           !trial->is_copy && !session->options.launches && session->plan.launch_count < 2 &&
           uses_communicate(session->launches.programs[0]->entry);
}

bool session_try_block(Session *session) {
    enum { QUICK = 1 << 23 }; /* warp instructions: a second */
    SessionTrial *trial = &session->trial;
    bool is_right = trial->is_right && !session_has_fault(session->trace);
    if (!session_may_try_block(session) || is_right || session->is_partial) return false;
    bool goes_on =
        trial->block + 1 < session->kernel.block_choices && session_count_instructions(session) <= QUICK;
    int clean = trial->clean ? trial->clean : is_other_fault(session) ? 0 : trial->block + 1;
    int next = goes_on ? trial->block + 1
               : clean ? clean - 1
                       : 0; /* none is right: the likeliest without a fault */
    if (!goes_on && next == trial->block) return false;
    *trial = (SessionTrial){
        .block = next, .clean = clean, .is_settled = !goes_on, .quarterings = trial->quarterings};
    return true;
}

/* ---- other numbers, other kernels ------------------------------------------------------------------------------- */

enum {
    MOST_ENTRIES = 6,
    MOST_OF_ENTRY = 3, /* profiles of each of these */
    QUARTERINGS = 2    /* of n, while it is tried */
};

static bool is_right(const Session *session) {
    return session->has_result && session->result.correct && !session_has_fault(session->trace);
}

bool session_is_dropped(const Session *session) {
    return session->trial.is_candidate && !session->trial.is_copy && !is_right(session);
}

/* A result that is known is compared with it, be it wrong; what was typed is what is shown. */
static bool may_try_others(const Session *session) {
    const SessionOptions *options = &session->options;
    const SessionTrial *trial = &session->trial;
    bool is_typed = options->launches || options->args || options->expect;
    bool is_first = !trial->is_copy && !trial->is_other;
    return is_first && !is_typed && !session->kernel.row && !session->is_partial && !session->has_result &&
           session->filled.buffers && session->plan.launch_count == 1;
}

/* A short run on the emulator, of the PTX that there is already. */
static SessionOptions short_run(const Session *session, const SessionOptions *given) {
    SessionOptions options = *given;
    options.ptx = session->code.text;
    options.backend = BACKEND_EMULATOR;
    options.counters = COUNTERS_NONE;
    options.first_look = options.times_blocks = options.measure_sass = false;
    options.search_races = options.ends_at_interrupt = false;
    options.progress = NULL;
    return options;
}

typedef struct Others { /* what is tried, one after another */
    const Session *session;
    const SessionOptions *given;
    SessionReopen *open;
    SessionOptions options;
    double seconds; /* of processor time, from `begin` on */
    clock_t begin;
} Others;

static bool is_over(const Others *others) {
    bool is_cancelled = others->given->cancel && *others->given->cancel;
    return is_cancelled || (double)(clock() - others->begin) / CLOCKS_PER_SEC > others->seconds;
}

/* The whole run with what was right for a smaller n; that itself, where it is not. */
static Session *open_whole(const Others *others, SessionTrial *trial) {
    int shorter = trial->quarterings;
    trial->is_candidate = false;
    trial->quarterings = others->session->trial.quarterings;
    Session *whole = others->open(others->given, trial);
    if (!whole || whole->interrupted || is_right(whole) || shorter == trial->quarterings) return whole;
    session_free(whole);
    trial->quarterings = shorter;
    return others->open(others->given, trial);
}

/* All values that the numbers of one kernel may have. */
static Session *try_profiles(const Others *others, SessionTrial *trial, int profiles) {
    int first = trial->entry == 0 && !trial->no_sides;
    trial->is_other = trial->is_settled = trial->is_candidate = true;
    for (trial->profile = first; trial->profile <= profiles && !is_over(others); trial->profile++) {
        Session *candidate = others->open(&others->options, trial);
        if (!candidate) continue;
        session_free(candidate);
        return open_whole(others, trial);
    }
    return NULL;
}

/* What few elements may give by chance: three other draws of them give it, too. */
static Session *try_few(const Others *others, SessionTrial *trial) {
    enum { DRAWS = 3 };
    if (others->session->options.catalog.n >= EXPECT_FEW) return NULL;
    trial->is_other = trial->is_settled = trial->is_candidate = trial->takes_hints = true;
    Session *hinted = others->open(&others->options, trial);
    if (!hinted) return NULL;
    const char *what = hinted->kernel.looks_like, *of = strstr(what, " of ");
    bool has_several = strchr(what, ';') != NULL; /* outputs: --expect takes one */
    SessionOptions options = others->options;
    if (!has_several)
        options.expect = arena_copy_text(&hinted->arena, what, of ? (size_t)(of - what) : strlen(what));
    bool is_confirmed = true;
    for (int i = 0; i < DRAWS && is_confirmed; i++) {
        options.catalog.seed++;
        Session *other = others->open(&options, trial);
        is_confirmed = other && (!has_several || !strcmp(other->kernel.looks_like, what));
        session_free(other); /* it is dropped where it is not right */
    }
    session_free(hinted);
    return is_confirmed ? open_whole(others, trial) : NULL;
}

Session *session_try_others(const Session *session, const SessionOptions *given, SessionReopen *open) {
    if (!may_try_others(session)) return NULL;
    const SessionKernel *kernel = &session->kernel;
    Others others = {.session = session,
                     .given = given,
                     .open = open,
                     .options = short_run(session, given),
                     .seconds = given->first_look ? 1 : 4,
                     .begin = clock()};
    SessionTrial few = session->trial;
    Session *found = try_few(&others, &few);
    if (found || !kernel->guess) return found;
    bool is_of_file =
        kernel->is_launched && !strstr(kernel->guess, "--args"); /* all of it was read: it is what is meant */
    int entries = is_of_file                             ? 0
                  : kernel->other_entries < MOST_ENTRIES ? kernel->other_entries
                                                         : MOST_ENTRIES;
    int quarterings = session->trial.quarterings + (kernel->may_shrink ? QUARTERINGS : 0);
    SessionTrial same = {
        .block = session->trial.block, .more_sides = session->trial.more_sides, .quarterings = quarterings};
    found = try_profiles(&others, &same, kernel->profiles);
    same.no_sides = true;
    same.more_sides = 0;
    if (!found && kernel->has_sides) found = try_profiles(&others, &same, kernel->profiles);
    for (int entry = 1; entry <= entries && !found; entry++) {
        SessionTrial other = {.entry = entry, .quarterings = quarterings};
        found = try_profiles(&others, &other, MOST_OF_ENTRY);
    }
    return found;
}
