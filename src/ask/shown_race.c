/* A run opened in an order that loses, and its race as a picture shows it: two threads, two runs (ask.h). */
#include "ask/access_list.h"
#include "ask/questions.h"

#include "base/language.h"
#include "metrics/metrics.h"
#include <inttypes.h>
#include <string.h>

enum { WINDOW = 64, MOST_LOOKED_AT = 64 }; /* pairs of a word; pairs whose order is looked up */

typedef struct RaceSearch {
    const Session *base, *other; /* the run, and the run in `order` */
    const Findings *hazards;
    int cause;
    const FindingOrder *order;
    AccessList *lists[RACE_RUNS];
    const ListedAccess *pair[RACE_THREADS]; /* as the run made them; NULL: not listed */
} RaceSearch;

/* ---- the two accesses ---------------------------------------------------------------------------------- */

static AccessList *list_run(const RaceSearch *search, const FindingOrder *order) {
    AccessList *list = access_list_new(search->hazards, search->base->run->trace);
    TraceObserver observer = access_list_observer(list);
    session_free(session_vary(search->base, &(RunChange){.order = order, .observer = &observer}, NULL));
    return list;
}

static bool is_at(const ListedAccess *one, int launch, const HoldPlace *place) {
    return one->launch == launch && one->block == place->block && one->warp == place->warp &&
           one->lane == place->lane && one->pc == place->pc && one->time == place->time;
}

/* The race of the cause between the two instructions, or its first one. */
static const Finding *race_of(const RaceSearch *search, int a, int b) {
    const Finding *first = NULL;
    for (int i = 0; i < search->hazards->error_count; i++) {
        const Finding *finding = &search->hazards->items[i];
        if (finding->cause != search->cause || !finding_is_race(finding)) continue;
        if (finding_has_pair(finding, a, b)) return finding;
        if (!first) first = finding;
    }
    return first;
}

/* The order may be about these two: those that it holds, or a pair of the cause. */
static bool is_of_order(const RaceSearch *search, const ListedAccess *first, const ListedAccess *second) {
    bool is_one = first->block == second->block && first->warp == second->warp && first->lane == second->lane;
    if (is_one || !(first->writes || second->writes)) return false;
    if (search->order->hold_count) {
        const Hold *hold = &search->order->holds[0];
        return is_at(first, hold->launch, &hold->at) &&
               (hold->until.pc == PTX_NO_PC || is_at(second, hold->launch, &hold->until));
    }
    const Finding *race = race_of(search, first->pc, second->pc);
    return race && finding_has_pair(race, first->pc, second->pc);
}

static const ListedAccess *seen_in(const RaceSearch *search, AskRaceRun run, const ListedAccess *one) {
    HoldPlace at = {one->block, one->warp, one->lane, one->pc, one->time};
    return access_list_find(search->lists[run], one->launch, &at, one->place);
}

static bool is_reversed(const RaceSearch *search, const ListedAccess *first, const ListedAccess *second) {
    const ListedAccess *late = seen_in(search, RACE_ORDER, first),
                       *early = seen_in(search, RACE_ORDER, second);
    return early && (!late || early->sequence < late->sequence);
}

/* The first pair that the order reverses; if it reverses none, the first one that it may be about. */
static void find_pair(RaceSearch *search) {
    int count, looked_at = 0;
    const ListedAccess *all = access_list_sorted(search->lists[RACE_RUN], &count), *end = all + count;
    for (const ListedAccess *first = all; first < end; first++)
        for (const ListedAccess *second = first + 1; second < end && second <= first + WINDOW; second++) {
            if (second->launch != first->launch || second->place != first->place) break;
            if (!is_of_order(search, first, second)) continue;
            bool found = is_reversed(search, first, second);
            if (found || !search->pair[0]) search->pair[0] = first, search->pair[1] = second;
            if (found || ++looked_at == MOST_LOOKED_AT) return;
        }
}

/* ---- its words ----------------------------------------------------------------------------------------- */

static const PtxInstruction *instruction_of(const RaceSearch *search, const ListedAccess *one) {
    return search->base->run->trace->launches[one->launch]->program->code[one->pc].instruction;
}

static bool is_shared(const ListedAccess *one) {
    return one->place >> 63;
}

/* "sums[16]": the array as the finding names it, or as the trace does. */
static void put_word(const RaceSearch *search, const ListedAccess *one, const Finding *race, char *out,
                     size_t room) {
    const Trace *trace = search->base->run->trace;
    const TraceLaunch *launch = trace->launches[one->launch];
    const PtxInstruction *in = instruction_of(search, one);
    int bytes = in->type_count ? ptx_type_bytes(in->types[0]) : 1;
    const char *name = race && race->what ? race->what : "";
    size_t length = strcspn(name, "[");
    uint64_t offset = one->place & ((UINT64_C(1) << (is_shared(one) ? 18 : 48)) - 1);
    if (is_shared(one)) {
        const TraceSymbol *in_symbol = NULL;
        for (int i = 0; i < launch->symbol_count; i++)
            if (launch->symbols[i].space == PTX_SPACE_SHARED && launch->symbols[i].window_offset <= offset &&
                (!in_symbol || launch->symbols[i].window_offset > in_symbol->window_offset))
                in_symbol = &launch->symbols[i];
        if (in_symbol) offset -= in_symbol->window_offset;
    }
    if (!name[length]) {
        snprintf(out, room, "%s", name); /* "shared memory" */
        return;
    }
    snprintf(out, room, "%.*s[%" PRIu64 "]", (int)length, name, offset / (uint64_t)(bytes ? bytes : 1));
}

/* Values of more than a word are not listed. */
static void put_value(const ListedAccess *one, const Finding *race, char *out, size_t room) {
    PtxType type = !race ? PTX_NO_TYPE : race->other.pc == one->pc ? race->other.type : race->access.type;
    int bytes = ptx_type_bytes(type);
    if (type == PTX_NO_TYPE || !bytes || bytes > 4) return;
    const uint32_t word = one->writes ? one->after : one->before;
    Text text = {0};
    plan_element_print(type, &word, 0, &text);
    snprintf(out, room, "%s", text_string(&text));
    text_done(&text);
}

/* The lane reads what nothing had written. */
static bool is_undefined(const Session *session, const ListedAccess *one) {
    const Trace *trace = session->run->trace;
    for (int i = 0; i < trace->trap_count; i++) {
        const Trap *trap = &trace->traps[i];
        const uint32_t *grid = trace->launches[one->launch]->grid;
        uint64_t linear = trap->block[0] + grid[0] * (trap->block[1] + (uint64_t)grid[1] * trap->block[2]);
        bool is_read = trap->kind == TRAP_UNINITIALIZED || trap->kind == TRAP_UNWRITTEN;
        if (is_read && trap->launch == one->launch && trap->pc == one->pc && trap->warp == one->warp &&
            linear == one->block && trap->lanes >> one->lane & 1)
            return true;
    }
    return false;
}

static void put_access(const RaceSearch *search, AskRaceRun run, int thread, AskRaceAccess *out) {
    const ListedAccess *one = search->pair[thread], *there = seen_in(search, run, one);
    const Finding *race = race_of(search, search->pair[0]->pc, search->pair[1]->pc);
    put_word(search, one, race, out->word, sizeof out->word);
    out->is_seen = there;
    if (!there) return;
    if (!one->writes && is_undefined(run == RACE_RUN ? search->base : search->other, one))
        snprintf(out->value, sizeof out->value, "%s", tr("undefined"));
    else
        put_value(there, race, out->value, sizeof out->value);
}

static const char *verb_of(const PtxInstruction *in) {
    TraceKind kind = trace_kind_of(in);
    return kind == TRACE_SHARED_STORE || kind == TRACE_GLOBAL_STORE ? "st"
           : kind == TRACE_SHARED_LOAD || kind == TRACE_GLOBAL_LOAD ? "ld"
                                                                    : "atom";
}

/* "w4"; beside a thread of its own warp "lane 16", of another block "block 3". */
static void put_thread(const HoldPlace *at, const HoldPlace *beside, char *out, size_t room) {
    if (beside && beside->block != at->block)
        snprintf(out, room, "block %" PRIu64, at->block);
    else if (beside && beside->warp == at->warp)
        snprintf(out, room, "lane %d", at->lane);
    else
        snprintf(out, room, "w%d", at->warp);
}

static void put_place(const RaceSearch *search, int launch, const HoldPlace *at, int thread, AskRace *out) {
    const PtxProgram *program = search->base->run->trace->launches[launch]->program;
    out->line[thread] = metrics_line_of(program, at->pc).line;
    out->verb[thread] = verb_of(program->code[at->pc].instruction);
    out->writes[thread] = strcmp(out->verb[thread], "ld") != 0;
}

static HoldPlace place_of(const ListedAccess *one) {
    return (HoldPlace){one->block, one->warp, one->lane, one->pc, one->time};
}

static void put_threads(const RaceSearch *search, AskRace *out) {
    const Hold *hold = search->order->hold_count ? &search->order->holds[0] : NULL;
    HoldPlace at[RACE_THREADS] = {{.pc = PTX_NO_PC}, {.pc = PTX_NO_PC}};
    int launch = hold ? hold->launch : 0;
    if (search->pair[0]) {
        launch = search->pair[0]->launch;
        for (int i = 0; i < RACE_THREADS; i++) at[i] = place_of(search->pair[i]);
    } else if (hold) {
        at[0] = hold->at;
        at[1] = hold->until;
    }
    out->has_second = at[1].pc != PTX_NO_PC;
    for (int i = 0; i < RACE_THREADS; i++) {
        if (at[i].pc == PTX_NO_PC) continue;
        put_place(search, launch, &at[i], i, out);
        put_thread(&at[i], at[!i].pc == PTX_NO_PC ? NULL : &at[!i], out->thread[i], sizeof out->thread[i]);
        for (AskRaceRun run = 0; run < RACE_RUNS; run++) {
            out->access[run][i].is_seen = true;
            if (search->pair[0]) put_access(search, run, i, &out->access[run][i]);
        }
    }
}

static AskRace describe(RaceSearch *search) {
    const FindingOrder *order = search->order, plain = {.schedule = search->base->options.schedule};
    const FindingCause *cause = &search->hazards->causes[search->cause];
    AskRace race = {
        .is_held = order->hold_count, .held_count = order->hold_count, .is_right = order->is_right};
    search->lists[RACE_RUN] = list_run(search, &plain);
    search->lists[RACE_ORDER] = list_run(search, order);
    find_pair(search);
    put_threads(search, &race);
    const Finding *of = search->pair[0] ? race_of(search, search->pair[0]->pc, search->pair[1]->pc)
                                        : &search->hazards->items[cause->lead];
    snprintf(race.memory, sizeof race.memory, "%s", of->what ? of->what : "");
    if (search->pair[0]) snprintf(race.memory, sizeof race.memory, "%s", race.access[RACE_RUN][0].word);
    snprintf(race.missing, sizeof race.missing, "%s", cause->insert ? cause->insert : "");
    bool is_result = !strcmp(order->where, tr("the result"));
    snprintf(race.where, sizeof race.where, "%s", is_result ? "" : order->where);
    snprintf(race.result[RACE_RUN], sizeof race.result[0], "%s", order->instead_of);
    snprintf(race.result[RACE_ORDER], sizeof race.result[0], "%s", order->result);
    for (AskRaceRun run = 0; run < RACE_RUNS; run++) access_list_free(search->lists[run]);
    return race;
}

/* ---- the run ------------------------------------------------------------------------------------------- */

AskRacePair ask_race_pair(const Finding *finding) {
    return (AskRacePair){finding->launch, finding->access.pc, finding->other.pc,
                         finding->access.linear_block != finding->other.linear_block};
}

/* The cause to show; -1: there is none. */
static int choose_cause(const Findings *hazards, AskRacePair pair) {
    int race = -1;
    for (int i = 0; hazards && pair.pc != PTX_NO_PC && i < hazards->error_count; i++) {
        const Finding *finding = &hazards->items[i];
        AskRacePair own = ask_race_pair(finding);
        if (finding_is_race(finding) && own.launch == pair.launch && own.pc == pair.pc &&
            own.other_pc == pair.other_pc && own.is_of_blocks == pair.is_of_blocks)
            return finding->cause;
    }
    for (int i = 0; hazards && i < hazards->cause_count; i++) {
        if (hazards->causes[i].order) return i;
        if (ask_has_race(hazards, i) && (race < 0 || !hazards->causes[race].no_order)) race = i;
    }
    return race;
}

static const char *why_no_order(const Findings *hazards, int cause) {
    if (!hazards) return "races could not be searched for";
    if (cause < 0) return "there is no race: no order of warps and blocks loses anything";
    const char *reason = hazards->causes[cause].no_order;
    return reason ? reason : "no order that was tried changes the result";
}

Session *ask_open_in_bad_order(const RunSpec *options, AskRacePair pair, Error *error) {
    RunSpec wanted = *options;
    wanted.first_look = false;
    wanted.search_races = true;
    wanted.backend = BACKEND_EMULATOR;
    wanted.counters = COUNTERS_NONE;
    wanted.measure_sass = false;
    Session *base = session_open(&wanted, error);
    if (!base) return NULL;
    const Findings *hazards = ask_all(base);
    int cause = choose_cause(hazards, pair);
    const FindingOrder *order = cause >= 0 ? hazards->causes[cause].order : NULL;
    Session *session = NULL;
    if (order)
        session = session_vary(base, &(RunChange){.order = order, .is_shown = true}, error);
    else
        error_set(error, "%s", why_no_order(hazards, cause));
    if (session) {
        RaceSearch search = {
            .base = base, .other = session, .hazards = hazards, .cause = cause, .order = order};
        AskRace race = describe(&search);
        session->findings.race = arena_copy(&session->arena, &race, sizeof race);
    }
    session_free(base);
    return session;
}

const AskRace *ask_shown_race(const Session *session) {
    return session->findings.race;
}
