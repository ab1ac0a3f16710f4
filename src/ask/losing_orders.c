/* Directed runs: an order in which a race changes the result, or why none does
 * (ask.h).
 *
 * An access list (access_list.h) has the accesses of the racing instructions as one run made them. Of two
 * accesses of one word by different threads, the first is then held (trace/hold.h) until the second has
 * happened: the other of their two orders. Where no such run changes the result, all of these pairs are
 * reversed at once; and where that does not either, the reason is what a reversed pair found in memory. */
#include "ask/questions.h"
#include "ask/access_list.h"

#include "base/language.h"
#include "metrics/metrics.h"
#include <stdlib.h>
#include <string.h>

enum {
    MOST_SECONDS = 1,           /* of processor time, for all causes */
    MOST_LISTED = 1 << 14,      /* pairs of accesses of a cause */
    MOST_TRIED = FINDING_HOLDS, /* of these */
    WINDOW = 64                 /* accesses of a word between the two of a pair */
};

static const uint32_t WHOLE_WARP = UINT32_MAX;

typedef struct Pair { /* of one word, by different threads */
    const ListedAccess *first, *second;
} Pair;

typedef struct OrderSearch {
    Session *session;
    Findings *hazards;
    int cause;
    uint64_t schedule; /* of its runs */
    AccessList *accesses;
    Pair pairs[MOST_TRIED];
    int pair_count, listed_count; /* to try; in all, as far as they are listed */
    int telling_count;            /* of all, those of which the other order leaves or finds another value */
    Hold reversed[MOST_TRIED];    /* of the pairs that could be reversed */
    int reversed_count;
    const Pair *example; /* one of them, that tells if one does; NULL: none */
    int example_hold;    /* its index in `reversed` */
    TimeLimit limit;
    FindingOrder order;
} OrderSearch;

/* ---- another result ------------------------------------------------------------------------------------ */

/* True if the run in the search's order has another result. The holds get their ends. */
static bool run_order(OrderSearch *search) {
    FindingOrder *order = &search->order;
    const Session *base = search->session;
    Session *other = session_vary(base, &(RunChange){.order = order}, NULL);
    if (!other) return false;
    const Trap *trap = ask_fatal_trap(other->run->trace);
    bool differs = false;
    for (int i = 0; i < order->hold_count; i++) order->holds[i].end = other->run->holds[i].end;
    if (trap) { /* a budget is a limit of this search */
        differs = trap->kind != TRAP_INSTRUCTION_BUDGET;
        snprintf(order->where, sizeof order->where, "the run");
        snprintf(order->result, sizeof order->result, "%s", trap_kind_mark(trap->kind));
        order->instead_of[0] = 0;
    } else {
        differs = ask_difference(base, other, order);
    }
    if (differs && !trap && base->has_result && other->has_result &&
        strcmp(other->result.result_text, base->result.result_text) != 0) {
        snprintf(order->where, sizeof order->where, "%s", tr("the result"));
        snprintf(order->result, sizeof order->result, "%s", other->result.result_text);
        snprintf(order->instead_of, sizeof order->instead_of, "%s", base->result.result_text);
        order->is_right = other->result.correct && !base->result.correct;
    }
    session_free(other);
    return differs;
}

static const PtxProgram *program_of(const OrderSearch *search, int launch) {
    return search->session->run->trace->launches[launch]->program;
}

/* ---- pairs of accesses --------------------------------------------------------------------------------- */

static bool is_atomic(const OrderSearch *search, const ListedAccess *one) {
    TraceKind kind = trace_kind_of(program_of(search, one->launch)->code[one->pc].instruction);
    return kind == TRACE_SHARED_ATOMIC || kind == TRACE_GLOBAL_ATOMIC;
}

static bool is_same_thread(const ListedAccess *a, const ListedAccess *b) {
    return a->block == b->block && a->warp == b->warp && a->lane == b->lane;
}

static bool is_of_cause(const OrderSearch *search, const Finding *finding) {
    return finding->cause == search->cause && finding_is_race(finding);
}

/* The two accesses may come in either order, as far as barriers tell. */
static bool may_race(const OrderSearch *search, const ListedAccess *first, const ListedAccess *second) {
    if (is_same_thread(first, second) || !(first->writes || second->writes)) return false;
    if (first->block == second->block && first->interval != second->interval) return false;
    for (int i = 0; i < search->hazards->error_count; i++) {
        const Finding *finding = &search->hazards->items[i];
        if (is_of_cause(search, finding) && finding->launch == first->launch &&
            finding_has_pair(finding, first->pc, second->pc))
            return true;
    }
    return false;
}

static bool is_by(const ListedAccess *one, const FindingAccess *access) {
    return one->pc == access->pc && one->warp == access->warp && one->lane == access->lane &&
           one->block == access->linear_block;
}

static bool is_example(const OrderSearch *search, const Pair *pair) {
    const Finding *lead = &search->hazards->items[search->hazards->causes[search->cause].lead];
    return is_by(pair->first, &lead->other) && is_by(pair->second, &lead->access);
}

static bool is_same_place(const ListedAccess *a, const ListedAccess *b) {
    return a->launch == b->launch && a->place == b->place;
}

/* The other order leaves or finds another value. What an atomic leaves is not listed: it may. */
static bool tells(const OrderSearch *search, const Pair *pair) {
    const ListedAccess *first = pair->first, *second = pair->second;
    if (is_atomic(search, first) || is_atomic(search, second)) return true;
    if (!second->writes) return first->before != second->before;
    return first->writes ? first->after != second->after : second->after != first->before;
}

/* Some of them, from all over the memory, as far as there is room. */
static void take_spread(OrderSearch *search, const Pair *list, int count) {
    int left = MOST_TRIED - search->pair_count;
    for (int i = 0; i < left && i < count; i++) {
        int at = count <= left || left == 1 ? i : (int)((int64_t)i * (count - 1) / (left - 1));
        search->pairs[search->pair_count++] = list[at];
    }
}

/* The example of the finding, then pairs that tell, then others. Sorts `listed`. */
static void choose_pairs(OrderSearch *search, Pair *listed, int count) {
    Pair *others = memory_new((size_t)(count + 1) * sizeof *others);
    int telling = 0, other = 0, example = -1;
    for (int i = 0; i < count && example < 0; i++)
        if (is_example(search, &listed[i])) example = i;
    for (int i = 0; i < count; i++) {
        bool does = tells(search, &listed[i]);
        search->telling_count += does;
        if (i == example)
            search->pairs[search->pair_count++] = listed[i];
        else if (does)
            listed[telling++] = listed[i];
        else
            others[other++] = listed[i];
    }
    take_spread(search, listed, telling);
    take_spread(search, others, other);
    free(others);
}

static void list_pairs(OrderSearch *search) {
    int count, listed = 0;
    const ListedAccess *all = access_list_sorted(search->accesses, &count), *end = all + count;
    Pair *list = memory_new(MOST_LISTED * sizeof *list);
    for (const ListedAccess *first = all; first < end && listed < MOST_LISTED; first++)
        for (const ListedAccess *second = first + 1;
             second < end && second <= first + WINDOW && is_same_place(first, second) && listed < MOST_LISTED;
             second++)
            if (may_race(search, first, second)) list[listed++] = (Pair){first, second};
    search->listed_count = listed;
    choose_pairs(search, list, listed);
    free(list);
}

static bool list_accesses(OrderSearch *search) {
    access_list_free(search->accesses);
    search->accesses = access_list_new(search->hazards, search->session->run->trace);
    TraceObserver observer = access_list_observer(search->accesses);
    FindingOrder plain = {.schedule = search->schedule};
    Session *run = session_vary(search->session, &(RunChange){.order = &plain, .observer = &observer}, NULL);
    session_free(run);
    if (run) list_pairs(search);
    return run;
}

/* ---- orders -------------------------------------------------------------------------------------------- */

static HoldPlace place_of(const ListedAccess *one) {
    return (HoldPlace){one->block, one->warp, one->lane, one->pc, one->time};
}

/* Lanes that wait at `at` until `until` has happened: the warp, or the other lanes of its own warp. */
static Hold hold(const ListedAccess *at, const ListedAccess *until, bool only_lane) {
    bool same_warp = until && at->block == until->block && at->warp == until->warp;
    Hold hold = {.launch = at->launch, .at = place_of(at), .until = {.pc = PTX_NO_PC}, .lanes = WHOLE_WARP};
    if (until) hold.until = place_of(until);
    if (same_warp) hold.lanes = ~(UINT32_C(1) << until->lane);
    if (only_lane) hold.lanes = UINT32_C(1) << at->lane;
    return hold;
}

/* STARVED: until nothing else can run. */
typedef enum HoldWay { REVERSED, REVERSED_OTHERS, STARVED, WAYS } HoldWay;

/* False: the pair has no such order. */
static bool direct(const Pair *pair, HoldWay way, Hold *out) {
    const ListedAccess *first = pair->first, *second = pair->second;
    bool same_warp = first->block == second->block && first->warp == second->warp;
    switch (way) {
    case REVERSED: /* of its own warp, the lane alone */
        *out = hold(first, second, same_warp);
        return true;
    case REVERSED_OTHERS:
        *out = hold(first, second, false);
        return same_warp;
    default:
        *out = hold(first, NULL, same_warp);
        return true;
    }
}

static bool try_way(OrderSearch *search, const Pair *pair, HoldWay way) {
    search->order = (FindingOrder){.schedule = search->schedule, .hold_count = 1};
    if (!direct(pair, way, &search->order.holds[0])) return false;
    bool found = run_order(search), is_reversed = search->order.holds[0].end == HOLD_MET;
    if (way == REVERSED && is_reversed) {
        if (!search->example || (!tells(search, search->example) && tells(search, pair))) {
            search->example = pair;
            search->example_hold = search->reversed_count;
        }
        search->reversed[search->reversed_count++] = search->order.holds[0];
    }
    return found;
}

/* All pairs that can be reversed at once; then without each hold that is not needed. */
static bool try_together(OrderSearch *search) {
    int count = search->reversed_count;
    if (count < 2) return false;
    search->order = (FindingOrder){.schedule = search->schedule, .hold_count = count};
    memcpy(search->order.holds, search->reversed, (size_t)count * sizeof(Hold));
    if (!run_order(search)) return false;
    for (int i = 0; i < search->order.hold_count;) {
        FindingOrder with = search->order;
        int last = --search->order.hold_count;
        search->order.holds[i] = search->order.holds[last];
        if (run_order(search)) continue;
        search->order = with;
        i++;
    }
    return true;
}

static bool find_order(OrderSearch *search, uint64_t schedule) {
    search->schedule = schedule;
    search->pair_count = search->reversed_count = search->telling_count = 0;
    search->example = NULL;
    search->order = (FindingOrder){.schedule = schedule};
    if (schedule != search->session->options.schedule && run_order(search)) return true;
    if (!list_accesses(search)) return false;
    bool is_first = true;
    for (HoldWay way = 0; way < WAYS; way++)
        for (int i = 0; i < search->pair_count; i++) {
            if (!is_first && ask_time_is_over(&search->limit)) return false;
            is_first = false;
            if (try_way(search, &search->pairs[i], way)) return true;
        }
    return try_together(search);
}

/* ---- sentences ----------------------------------------------------------------------------------------- */

static void add_ordinal(uint64_t number, Text *out) {
    const char *end = number / 10 % 10 == 1 ? "th"
                      : number % 10 == 1    ? "st"
                      : number % 10 == 2    ? "nd"
                      : number % 10 == 3    ? "rd"
                                            : "th";
    if (number > 1) text_print(out, tr(" (the %llu%s time)"), (unsigned long long)number, end);
}

static const char *verb_of(const PtxInstruction *in) {
    TraceKind kind = trace_kind_of(in);
    bool is_store = kind == TRACE_SHARED_STORE || kind == TRACE_GLOBAL_STORE,
         is_load = kind == TRACE_SHARED_LOAD || kind == TRACE_GLOBAL_LOAD;
    return is_store ? tr("store") : is_load ? tr("load") : tr("atomic");
}

/* "line 26"; `names_access`: "the store of line 26", where both places are on one line. */
static void add_line(const OrderSearch *search, const Hold *hold, const HoldPlace *place, Text *out) {
    const PtxProgram *program = program_of(search, hold->launch);
    PtxSourceLine line = metrics_line_of(program, place->pc);
    if (place == &hold->until && hold->until.pc == hold->at.pc) {
        text_add(out, tr("it"));
        add_ordinal(place->time, out);
        return;
    }
    bool has_both = hold->until.pc != PTX_NO_PC && hold->until.pc != hold->at.pc,
         is_one = has_both &&
                  metrics_line_of(program, hold->at.pc).line == metrics_line_of(program, hold->until.pc).line;
    if (!line.line || is_one) text_print(out, tr("its %s"), verb_of(program->code[place->pc].instruction));
    if (line.line) text_print(out, is_one ? tr(" in line %d") : tr("line %d"), line.line);
    if (!line.line) text_print(out, tr(" at pc %d"), place->pc);
    add_ordinal(place->time, out);
}

/* "warp 3 of block 2"; beside `known`, in the same block or warp: "warp 3", "lane 8". */
static void add_thread(const OrderSearch *search, int launch, const HoldPlace *place, bool names_lane,
                       const HoldPlace *known, Text *out) {
    const TraceLaunch *of = search->session->run->trace->launches[launch];
    bool has_blocks = (uint64_t)of->grid[0] * of->grid[1] * of->grid[2] > 1,
         has_warps = (uint64_t)of->block[0] * of->block[1] * of->block[2] > WARP_LANES;
    if (known && known->block == place->block) has_blocks = false;
    if (known && known->block == place->block && known->warp == place->warp) has_warps = false;
    if (names_lane) text_print(out, "lane %d", place->lane);
    if (names_lane && (has_warps || has_blocks)) text_add(out, tr(" of "));
    if (has_warps || (!has_blocks && !names_lane)) text_print(out, "warp %d", place->warp);
    if (has_warps && has_blocks) text_add(out, tr(" of "));
    if (has_blocks) text_print(out, "block %llu", (unsigned long long)place->block);
}

/* "every lane of warp 0 but 16" */
static void add_held(const OrderSearch *search, const Hold *hold, Text *out) {
    bool is_whole = hold->lanes == WHOLE_WARP, is_lane = !(hold->lanes & (hold->lanes - 1));
    Text thread = {0};
    add_thread(search, hold->launch, &hold->at, is_lane, NULL, &thread);
    if (is_whole || is_lane)
        text_add(out, text_string(&thread));
    else
        text_print(out, tr("every lane of %s but %d"), text_string(&thread), hold->until.lane);
    text_done(&thread);
}

static void add_hold(const OrderSearch *search, const Hold *hold, Text *out) {
    add_held(search, hold, out);
    text_add(out, tr(" is held before "));
    add_line(search, hold, &hold->at, out);
    text_add(out, tr(" until "));
    if (hold->until.pc == PTX_NO_PC) {
        text_add(out, tr("nothing else can run"));
        return;
    }
    add_thread(search, hold->launch, &hold->until, hold->lanes != WHOLE_WARP, &hold->at, out);
    text_add(out, tr(" has passed "));
    add_line(search, hold, &hold->until, out);
}

static void put_lines(OrderSearch *search) {
    FindingOrder *order = &search->order;
    for (int i = 0; i < order->hold_count; i++) {
        const PtxProgram *program = program_of(search, order->holds[i].launch);
        order->at[i] = metrics_line_of(program, order->holds[i].at.pc);
        if (order->holds[i].until.pc != PTX_NO_PC)
            order->until[i] = metrics_line_of(program, order->holds[i].until.pc);
    }
}

static const char *say_order(OrderSearch *search) {
    const FindingOrder *order = &search->order;
    Text text = {0};
    text_add(&text, order->is_right ? tr("Right if ") : tr("Loses if "));
    for (int i = 0; i < order->hold_count; i++) {
        if (i) text_add(&text, tr(", and "));
        add_hold(search, &order->holds[i], &text);
    }
    if (search->schedule != search->session->options.schedule)
        text_print(&text, "%s--schedule %llu", order->hold_count ? tr(", with ") : tr("it runs with "),
                   (unsigned long long)order->schedule);
    if (order->instead_of[0])
        text_print(&text, tr(": %s is %s instead of %s."), order->where, order->result, order->instead_of);
    else
        text_print(&text, tr(": a fault ends the run (%s)."), order->result);
    const char *sentence = arena_copy_string(&search->hazards->arena, text_string(&text));
    text_done(&text);
    return sentence;
}

/* What is lost is lost in a cache, which the emulator does not have. */
static bool needs_cache(FindingKind kind) {
    return kind == FINDING_STALE_READ || kind == FINDING_READ_ONLY_LOAD || kind == FINDING_PROXY_ORDER;
}

/* How the reversed pair left memory. */
static const char *reason_of_pair(OrderSearch *search) {
    AccessList *after = access_list_new(search->hazards, search->session->run->trace);
    const Pair *pair = search->example;
    const ListedAccess *load = !pair->second->writes  ? pair->second
                               : !pair->first->writes ? pair->first
                                                      : NULL;
    TraceObserver observer = access_list_observer(after);
    FindingOrder order = {
        .schedule = search->schedule, .holds = {search->reversed[search->example_hold]}, .hold_count = 1};
    Session *run = session_vary(search->session, &(RunChange){.order = &order, .observer = &observer}, NULL);
    const char *reason = pair->first->after == pair->second->after
                             ? tr("both leave the same value")
                             : tr("no result depends on which of the two values remains");
    if (is_atomic(search, pair->first) && is_atomic(search, pair->second))
        reason = tr("each update is whole in both; what a scope too narrow loses is lost in a cache");
    if (run && load) {
        HoldPlace place = place_of(load);
        const ListedAccess *then = access_list_find(after, load->launch, &place, load->place);
        reason = then && then->before == load->before ? tr("the load finds the same value in both")
                                                      : tr("no result depends on what the load finds");
    }
    session_free(run);
    access_list_free(after);
    return reason;
}

static const char *say_in_vain(const OrderSearch *search, const Pair *pair) {
    Text text = {0};
    Hold of;
    direct(pair, REVERSED, &of);
    text_add(&text, tr("No order of the threads shows it: while "));
    add_held(search, &of, &text);
    text_add(&text, tr(" waits before "));
    add_line(search, &of, &of.at, &text);
    text_add(&text, tr(", "));
    add_thread(search, of.launch, &of.until, of.lanes != WHOLE_WARP, &of.at, &text);
    text_add(&text, tr(" does not come to "));
    add_line(search, &of, &of.until, &text);
    text_add(&text, tr(": the threads wait for each other, but nothing makes memory follow."));
    const char *sentence = arena_copy_string(&search->hazards->arena, text_string(&text));
    text_done(&text);
    return sentence;
}

static const char *say_no_order(OrderSearch *search) {
    if (search->example) {
        Text pairs = {0};
        if (search->listed_count > 1)
            text_print(&pairs, tr(", for %d of %d pairs of threads"), search->reversed_count,
                       search->listed_count);
        bool is_partial =
            search->telling_count > search->reversed_count || search->listed_count == MOST_LISTED;
        const char *sentence = arena_print(
            &search->hazards->arena, tr("No order of the two changes the result%s both were run%s, and %s."),
            is_partial ? tr(" where") : tr(":"), text_string(&pairs), reason_of_pair(search));
        text_done(&pairs);
        return sentence;
    }
    return search->pair_count ? say_in_vain(search, &search->pairs[0]) : NULL;
}

/* ---- causes -------------------------------------------------------------------------------------------- */

static void find_of_cause(Session *session, Findings *hazards, int index, double seconds) {
    FindingCause *cause = &hazards->causes[index];
    const Finding *lead = &hazards->items[cause->lead];
    OrderSearch *search = memory_new(sizeof *search);
    search->session = session;
    search->hazards = hazards;
    search->cause = index;
    search->limit = ask_limit_time(seconds, seconds);
    bool found = find_order(search, session->options.schedule);
    if (!found && !search->pair_count && lead->is_taken) found = find_order(search, lead->schedule);
    if (found) {
        put_lines(search);
        search->order.sentence = say_order(search);
        cause->order = arena_copy(&hazards->arena, &search->order, sizeof search->order);
    } else {
        cause->no_order = say_no_order(search);
    }
    access_list_free(search->accesses);
    free(search);
}

bool ask_has_race(const Findings *hazards, int cause) {
    for (int i = 0; i < hazards->error_count; i++)
        if (hazards->items[i].cause == cause && finding_is_race(&hazards->items[i])) return true;
    return false;
}

void ask_losing_orders(Session *session) {
    Findings *hazards = ask_hazards(session);
    if (!hazards || session->findings.finds_orders || session_is_from_file(session)) return;
    session->findings.finds_orders = true;
    double seconds = session->options.order_seconds > 0 ? session->options.order_seconds : MOST_SECONDS;
    int races = 0;
    for (int i = 0; i < hazards->cause_count; i++) races += ask_has_race(hazards, i);
    for (int i = 0; i < hazards->cause_count; i++) {
        FindingCause *cause = &hazards->causes[i];
        ask_show_progress(session, "looking for orders that lose", (uint64_t)i,
                          (uint64_t)hazards->cause_count);
        if (!ask_has_race(hazards, i)) continue;
        if (trace_has_fatal_trap(session->run->trace))
            cause->no_order = "A fault ends the run: no order of the threads has a result to compare.";
        else if (needs_cache(hazards->items[cause->lead].kind))
            cause->no_order = "No order of the threads shows it: what is lost is lost in a cache.";
        else
            find_of_cause(session, hazards, i, seconds / races);
    }
}

const FindingOrder *ask_bad_order(Session *session) {
    const Findings *hazards = ask_hazards(session);
    ask_losing_orders(session);
    for (int i = 0; hazards && i < hazards->cause_count; i++)
        if (hazards->causes[i].order) return hazards->causes[i].order;
    return NULL;
}
