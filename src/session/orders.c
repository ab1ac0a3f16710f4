/* Runs in other orders of warps and blocks: races that only they show, and those in which the result is
 * another (session.h). */
#include "session/hazards.h"

#include "findings/remedy.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* MOST_TRIED: warp instructions of all orders tried (at least one); MOST_SEARCHED: of each order searched. */
enum { MOST_SECONDS = 1, MOST_ORDERS = 64, MOST_TRIED = 1 << 24, MOST_SEARCHED = 1 << 20 };

/* ---- races that another order shows ----------------------------------------------------------------------- */

/* The order in which atomics, fences and the like execute decides which accesses they order: one order may
 * hide a race that another shows. */
static bool depends_on_order(const TraceLaunch *launch) {
    uint64_t blocks = 1, threads = 1;
    for (int i = 0; i < 3; i++) {
        blocks *= launch->grid[i];
        threads *= launch->block[i];
    }
    bool has_warps = blocks > 1 || threads > WARP_LANES;
    for (int pc = 0; has_warps && pc < launch->program->code_count; pc++) {
        const PtxInstruction *in = launch->program->code[pc].instruction;
        if (in->opcode == PTX_atom || in->opcode == PTX_red || in->opcode == PTX_membar ||
            in->opcode == PTX_fence || in->opcode == PTX_mbarrier || ptx_instruction_is_ordered(in))
            return true;
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
    Session *other = session_open_copy(session, NULL, schedule, true);
    const Findings *found = other ? session_hazards(other) : NULL;
    if (found) findings_take_races(list, found, session->run->trace, schedule);
    session_free(other);
    return found;
}

void session_search_orders(Session *session) {
    Findings *list = session_hazards(session);
    if (!list || session->findings.has_orders || session_is_from_file(session)) return;
    session->findings.has_orders = true;
    if (!may_show_more(session)) return;
    session_report_progress(session, "searching other orders of warps and blocks", 0, 0);
    TimeLimit limit = session_limit_time(session->options.order_seconds, MOST_SECONDS);
    uint64_t own = session->options.schedule;
    int orders = 0, given_up = 0; /* filling large buffers may take most of the time */
    for (uint64_t schedule = own ? 0 : 1; schedule <= SESSION_ORDERS_SEARCHED; schedule++) {
        if (schedule == own) continue;
        orders++;
        if (session_time_is_over(&limit))
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

/* ---- behind a fault --------------------------------------------------------------------------------------- */

static bool ended_out_of_bounds(const Trace *trace) {
    for (int i = 0; i < trace->trap_count; i++) {
        TrapKind kind = trace->traps[i].kind;
        if (trap_kind_is_fatal(kind)) return kind == TRAP_OUT_OF_BOUNDS || kind == TRAP_INDEX_OVERFLOW;
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

void session_search_behind(Session *session) {
    Findings *list = session_hazards(session);
    if (!list || session->findings.goes_behind || session_is_from_file(session) ||
        !ended_out_of_bounds(session->run->trace))
        return;
    session->findings.goes_behind = true;
    Session *other = session_open_copy(session, NULL, session->options.schedule, true);
    const Findings *found = other ? session_hazards(other) : NULL;
    if (found) {
        findings_take_behind(list, found, session->run->trace);
        keep_counters(session, other->run->trace);
    }
    session_free(other);
}

/* ---- another result --------------------------------------------------------------------------------------- */

static bool is_race(const Finding *finding) {
    return finding->severity == SEVERITY_ERROR && finding->kind <= FINDING_GLOBAL_RACE;
}

static int count_races(const Findings *hazards) {
    int count = 0;
    for (int i = 0; i < hazards->cause_count; i++) count += is_race(&hazards->items[hazards->causes[i].lead]);
    return count;
}

static double element(const PlanBuffer *buffer, uint64_t index) {
    Text text = {0};
    plan_element_print(buffer->type, buffer->bytes, index, &text);
    double value = strtod(text_string(&text), NULL);
    text_done(&text);
    return value;
}

/* Sums of floats differ slightly from order to order. */
static bool is_other_value(const PlanBuffer *a, const PlanBuffer *b, uint64_t index) {
    uint64_t bytes = (uint64_t)ptx_type_bytes(a->type);
    const uint8_t *x = a->bytes, *y = b->bytes;
    if (!memcmp(x + index * bytes, y + index * bytes, bytes)) return false;
    if (!ptx_type_is_float(a->type)) return true;
    double p = element(a, index), q = element(b, index), size = fabs(p) > fabs(q) ? fabs(p) : fabs(q);
    return !(fabs(p - q) <= (bytes < 4 ? 1e-2 : 1e-4) * size);
}

static void put_element(const PlanBuffer *buffer, uint64_t index, char *to, size_t room) {
    Text text = {0};
    plan_element_print(buffer->type, buffer->bytes, index, &text);
    snprintf(to, room, "%s[%llu] = %s", buffer->name, (unsigned long long)index, text_string(&text));
    text_done(&text);
}

static bool find_difference(const Session *session, const Session *other, SessionOrder *order) {
    for (int i = 0; i < session->run->plan.buffer_count; i++) {
        const PlanBuffer *a = &session->run->plan.buffers[i], *b = &other->run->plan.buffers[i];
        uint64_t bytes = a->count * (uint64_t)ptx_type_bytes(a->type);
        if (!a->bytes || !b->bytes || !memcmp(a->bytes, b->bytes, bytes)) continue;
        for (uint64_t k = 0; k < a->count; k++) {
            if (!is_other_value(a, b, k)) continue;
            put_element(a, k, order->instead_of, sizeof order->instead_of);
            put_element(b, k, order->result, sizeof order->result);
            return true;
        }
    }
    return false;
}

/* `ptx`: a changed copy, which `base` ran in the session's own order; NULL: the session's PTX. */
static bool try_order(const Session *base, const char *ptx, uint64_t schedule, SessionOrder *order) {
    Session *other = session_open_copy(base, ptx, schedule, false);
    bool found = other && !trace_has_fatal_trap(other->run->trace) && find_difference(base, other, order);
    if (found && base->has_result && other->has_result &&
        strcmp(other->result.result_text, base->result.result_text) != 0) {
        snprintf(order->result, sizeof order->result, "%s", other->result.result_text);
        snprintf(order->instead_of, sizeof order->instead_of, "%s", base->result.result_text);
    }
    if (found) order->schedule = schedule;
    session_free(other);
    return found;
}

static void find_order(const Session *base, const char *ptx, uint64_t most, SessionOrder *order) {
    for (uint64_t schedule = 1; schedule <= most && !order->schedule; schedule++) {
        order->tried = schedule;
        session_report_progress(base, "trying other orders of warps and blocks", schedule, most);
        if (schedule != base->options.schedule) try_order(base, ptx, schedule, order);
    }
}

static uint64_t orders_to_try(const Session *session, int shares) {
    uint64_t most = MOST_TRIED / (trace_count_instructions(session->run->trace) + 1);
    if (most > MOST_ORDERS) most = MOST_ORDERS;
    most /= (uint64_t)shares;
    return most ? most : 1;
}

const SessionOrder *session_bad_order(Session *session) {
    const Findings *hazards = session_hazards(session);
    if (session->findings.has_order || !hazards || session_is_from_file(session))
        return &session->findings.order;
    session->findings.has_order = true;
    if (count_races(hazards) && !trace_has_fatal_trap(session->run->trace))
        find_order(session, NULL, orders_to_try(session, 1), &session->findings.order);
    return &session->findings.order;
}

Session *session_open_in_bad_order(const SessionOptions *options, Error *error) {
    SessionOptions wanted = *options;
    wanted.first_look = false;
    wanted.search_races = true;
    wanted.backend = BACKEND_EMULATOR;
    wanted.counters = COUNTERS_NONE;
    wanted.measure_sass = false;
    Session *base = session_open(&wanted, error);
    if (!base) return NULL;
    const Findings *hazards = session_hazards(base);
    const SessionOrder *order = session_bad_order(base);
    wanted.schedule = order->schedule;
    if (!hazards)
        error_set(error, "races could not be searched for");
    else if (!count_races(hazards))
        error_set(error, "there is no race: no order of warps and blocks loses anything");
    else if (!order->tried)
        error_set(error, "a fault ends the run: no order has a result to compare");
    else if (!order->schedule)
        error_set(error, "the result is the same with schedules 1 to %llu", (unsigned long long)order->tried);
    session_free(base);
    return wanted.schedule ? session_open(&wanted, error) : NULL;
}

/* ---- of each cause ---------------------------------------------------------------------------------------- */

/* Makes a copy of the PTX with the proved insertions of all other causes. False if another cause has none. */
static bool mend_others(const Session *session, const Findings *hazards, int cause, Text *ptx) {
    Remedy *all = memory_new(sizeof *all);
    bool good = true;
    for (int i = 0; i < hazards->cause_count && good; i++) {
        const Remedy *one = &session->findings.remedies[i];
        if (i == cause || !is_race(&hazards->items[hazards->causes[i].lead])) continue;
        good = hazards->causes[i].is_proved && all->count + one->count <= REMEDY_MOST_POINTS &&
               (!all->launch || all->launch->program->module == one->launch->program->module);
        for (int k = 0; good && k < one->count; k++) all->points[all->count++] = one->points[k];
        if (good) all->launch = one->launch;
    }
    if (good && all->count) remedy_apply(all, ptx);
    free(all);
    return good && ptx->length;
}

void session_find_orders_of_causes(Session *session) {
    Findings *hazards = session_hazards(session);
    const SessionOrder *order = session_bad_order(session);
    if (!hazards || !session->findings.remedies || !order->schedule) return;
    int races = count_races(hazards);
    for (int i = 0; i < hazards->cause_count; i++) {
        FindingCause *cause = &hazards->causes[i];
        Text ptx = {0};
        if (!is_race(&hazards->items[cause->lead])) continue;
        if (races == 1) {
            cause->schedule = order->schedule;
        } else if (mend_others(session, hazards, i, &ptx)) {
            SessionOrder own = {0};
            Session *base = session_open_copy(session, text_string(&ptx), session->options.schedule, false);
            if (base) find_order(base, text_string(&ptx), orders_to_try(session, races), &own);
            if (own.schedule) {
                cause->schedule = own.schedule;
                cause->order = arena_print(
                    &hazards->arena,
                    "With --schedule %llu and the other findings mended, the result is %s instead of %s.",
                    (unsigned long long)own.schedule, own.result, own.instead_of);
            }
            session_free(base);
        }
        text_done(&ptx);
    }
}
