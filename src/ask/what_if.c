/* What if: the run with a remedy of a slow finding, and what the remedy changed. A copy of the PTX has the
 * remedy (findings/rewrite.h), or the kernel of the catalogue that does otherwise. */
#include "ask/questions.h"
#include "metrics/totals.h"

#include "base/language.h"
#include "base/sentence.h"
#include "findings/rewrite.h"
#include <assert.h>
#include <string.h>

/* ---- which remedies ------------------------------------------------------------------------------------ */

static const Finding *slow_finding(Session *session, int finding) {
    const Findings *list = ask_verdict(session);
    bool is_slow = finding >= 0 && finding < list->count && list->items[finding].severity == SEVERITY_SLOW;
    return is_slow ? &list->items[finding] : NULL;
}

int ask_remedies(Session *session, int finding, AskRemedy remedies[ASK_REMEDIES]) {
    const Finding *of = slow_finding(session, finding);
    return of ? ask_remedies_of(session, of, remedies) : 0;
}

bool ask_find_remedy(Session *session, AskRemedyKind kind, int *finding, int *number) {
    AskRemedy remedies[ASK_REMEDIES];
    const Findings *list = ask_verdict(session);
    for (*finding = 0; *finding < list->count; ++*finding) {
        int count = ask_remedies(session, *finding, remedies);
        for (*number = 0; *number < count; ++*number)
            if (remedies[*number].kind == kind) return true;
    }
    return false;
}

/* ---- applied ------------------------------------------------------------------------------------------- */

static bool find_layout(const Session *session, const Finding *of, AskRemedyKind remedy, SharedLayout *layout,
                        Error *error) {
    const Trace *trace = session->run->trace;
    LayoutKind kind = remedy == ASK_PAD ? LAYOUT_PADS : LAYOUT_SWIZZLES;
    uint64_t width = rewrite_width(trace, of, error);
    double rest;
    if (!width) return false;
    return layout_find(trace, of, width, kind, layout, &rest) ||
           error_set(error, tr("redviz knows no such remedy for this finding"));
}

static void name_array(Session *session, const Finding *of, char *name, size_t bytes) {
    finding_name_array(session->run->trace, of, (FindingNames){ask_source_line, session}, name, bytes);
}

/* "a word after every 32 in sdata" */
static bool apply_layout(Session *session, const Finding *of, AskRemedyKind kind, Text *ptx,
                         SessionWhatIf *what_if, Arena *arena, Error *error) {
    enum { WORD = 4 };
    SharedLayout layout;
    char name[64];
    if (!find_layout(session, of, kind, &layout, error)) return false;
    name_array(session, of, name, sizeof name);
    int pad = (int)layout.pad / WORD, row = (int)layout.row / WORD;
    if (layout.swizzles)
        what_if->label =
            arena_print(arena, tr("XOR with the number of the row of %d words in %s"), row, name);
    else if (pad == 1)
        what_if->label = arena_print(arena, tr("a word after every %d in %s"), row, name);
    else
        what_if->label = arena_print(arena, tr("%d words after every %d in %s"), pad, row, name);
    return rewrite_layout(session->run->trace, of, &layout, ptx, &what_if->more_shared, error);
}

bool ask_keep_remedy(Session *session, int finding, int number, const char *source, Text *out, Error *error) {
    AskRemedy remedies[ASK_REMEDIES];
    SharedLayout layout;
    char name[64];
    const Finding *of = slow_finding(session, finding);
    int count = ask_remedies(session, finding, remedies);
    if (number < 0 || number >= count || remedies[number].kind == ASK_NEXT)
        return error_set(error, tr("redviz knows no such remedy for this finding"));
    if (!find_layout(session, of, remedies[number].kind, &layout, error)) return false;
    name_array(session, of, name, sizeof name);
    return rewrite_source(session->run->trace, of, &layout, name, source, out, error);
}

bool ask_try_remedy(Session *session, int finding, int number, Arena *arena, RunSpec *options, Error *error) {
    AskRemedy remedies[ASK_REMEDIES];
    const Finding *of = slow_finding(session, finding);
    int count = ask_remedies(session, finding, remedies);
    if (session_is_from_file(session)) return error_set(error, tr("a saved session does not run again"));
    if (session_is_partial(session)) return error_set(error, tr("the grid is still being counted"));
    if (number < 0 || number >= count)
        return error_set(error, tr("redviz knows no such remedy for this finding"));
    const AskRemedy *remedy = &remedies[number];
    *options = session->options;
    options->what_if = (SessionWhatIf){.finding = finding, .number = number};
    options->has_events = false;
    Text ptx = {0};
    bool good = true;
    switch (remedy->kind) {
    case ASK_PAD:
    case ASK_SWIZZLE:
        good = apply_layout(session, of, remedy->kind, &ptx, &options->what_if, arena, error);
        break;
    case ASK_NEXT:
        run_spec_choose_kernel(options, remedy->name);
        options->catalog.n = session_n(session);
        return true;
    }
    if (good) options->ptx = arena_copy_string(arena, text_string(&ptx));
    text_done(&ptx);
    return good;
}

/* ---- what it changed ----------------------------------------------------------------------------------- */

typedef struct RunCounts {
    uint64_t wavefronts, ideal_wavefronts, sectors, divergent, barriers, atomics, instructions;
} RunCounts;

static RunCounts counts_of(const Session *session) {
    Totals t = {0};
    metrics_of_run(session->run->trace, &t);
    return (RunCounts){.wavefronts = totals_wavefronts(&t),
                       .ideal_wavefronts = totals_wavefronts_ideal(&t),
                       .sectors = t.global_load_sectors + t.global_store_sectors,
                       .divergent = t.divergent_branches,
                       .barriers = t.barriers,
                       .atomics = t.atomics,
                       .instructions = t.warp_instructions};
}

/* The count that the finding is about. */
static uint64_t count_of(const RunCounts *counts, FindingKind kind, const char **unit) {
    switch (kind) {
    case FINDING_BANK_CONFLICT:
        *unit = "wavefronts";
        return counts->wavefronts;
    case FINDING_UNCOALESCED:
        *unit = "sectors";
        return counts->sectors;
    case FINDING_ATOMIC_CONFLICT:
        *unit = "atomics";
        return counts->atomics;
    case FINDING_IDLE_WARPS:
    case FINDING_NEEDLESS_BARRIER:
        *unit = "barriers";
        return counts->barriers;
    default:
        *unit = "divergent branches";
        return counts->divergent;
    }
}

/* What a clock says changes with every instruction, and the results with it. */
static bool reads_clock(const Session *session) {
    for (int l = 0; l < session->run->trace->launch_count; l++) {
        const PtxProgram *program = session->run->trace->launches[l]->program;
        for (int pc = 0; pc < program->code_count; pc++) {
            const PtxInstruction *in = program->code[pc].instruction;
            for (int i = 0; i < in->operand_count; i++)
                if (in->operands[i].kind == PTX_OPERAND_SPECIAL &&
                    (!strncmp(in->operands[i].name, "%clock", 6) ||
                     !strncmp(in->operands[i].name, "%globaltimer", 12)))
                    return true;
        }
    }
    return false;
}

/* True with a sentence if the run with the remedy has another result. */
static bool is_wrong(const Session *before, const Session *after, bool is_next, Text *why) {
    FindingOrder other = {0};
    if (trace_has_fatal_trap(after->run->trace)) {
        text_add(why, tr("a fault ends the run"));
        return true;
    }
    if (after->has_result && !after->result.correct && (is_next || before->result.correct)) {
        text_print(why, tr("result wrong: %s, expected %s"), after->result.result_text,
                   after->result.expected_text);
        return true;
    }
    if (is_next || reads_clock(before) || !ask_difference(before, after, &other)) return false;
    char result[sizeof other.where + sizeof other.result + 4];
    snprintf(result, sizeof result, "%s = %s", other.where, other.result);
    text_print(why, tr("result wrong: %s instead of %s"), result, other.instead_of);
    return true;
}

typedef struct RemedyChange {
    AskRemedy remedy;
    const Finding *of;
    RunCounts before, after;
    uint64_t counted[2];
    const char *unit;
    bool is_wrong, helped;
} RemedyChange;

static RemedyChange change_of(Session *before, Session *after, int finding, int number, Text *why) {
    AskRemedy remedies[ASK_REMEDIES] = {0};
    RemedyChange change = {.of = slow_finding(before, finding)};
    assert(change.of); /* it had this remedy */
    ask_remedies(before, finding, remedies);
    change.remedy = remedies[number];
    change.before = counts_of(before);
    change.after = counts_of(after);
    change.counted[0] = count_of(&change.before, change.of->kind, &change.unit);
    change.counted[1] = count_of(&change.after, change.of->kind, &change.unit);
    change.is_wrong = is_wrong(before, after, change.remedy.kind == ASK_NEXT, why);
    change.helped = !change.is_wrong && change.counted[1] < change.counted[0];
    return change;
}

bool ask_remedy_change(Session *before, Session *after, int finding, int number, Text *line) {
    Text why = {0};
    CountText a, b;
    RemedyChange change = change_of(before, after, finding, number, &why);
    const char *label = after->options.what_if.label, *name = label ? label : change.remedy.name;
    if (change.is_wrong)
        text_print(line, tr("%s did not help: %s"), name, text_string(&why));
    else
        text_print(line, change.helped ? tr("%s: %s %s -> %s") : tr("%s did not help: %s %s -> %s"), name,
                   tr(change.unit), count_text(change.counted[0], &a), count_text(change.counted[1], &b));
    text_done(&why);
    return change.helped;
}

static void add_row(Text *out, const char *name, uint64_t before, uint64_t after) {
    CountText a, b, c;
    if (!before && !after) return;
    uint64_t less = before > after ? before - after : after - before;
    text_print(out, "  %-26s %15s %15s %s%s\n", name, count_text(before, &a), count_text(after, &b),
               !less            ? "="
               : before > after ? "-"
                                : "+",
               less ? count_text(less, &c) : "");
}

bool ask_remedy_table(Session *before, Session *after, int finding, int number, Text *out) {
    Text why = {0};
    RemedyChange change = change_of(before, after, finding, number, &why);
    const char *label = after->options.what_if.label;
    text_print(out, "What if: %s\n", label ? label : change.remedy.name);
    char bullet[16];
    snprintf(bullet, sizeof bullet, "  %d. ", finding_number(ask_verdict(before), finding));
    sentence_print(out, bullet, change.of->sentence);
    text_print(out, "  %-26s %15s %15s\n", "", "before", "after");
    add_row(out, "shared wavefronts", change.before.wavefronts, change.after.wavefronts);
    add_row(out, "  ideal", change.before.ideal_wavefronts, change.after.ideal_wavefronts);
    add_row(out, "global sectors", change.before.sectors, change.after.sectors);
    add_row(out, "divergent branches", change.before.divergent, change.after.divergent);
    add_row(out, "barriers (all warps)", change.before.barriers, change.after.barriers);
    add_row(out, "atomics (all warps)", change.before.atomics, change.after.atomics);
    add_row(out, "warp instructions", change.before.instructions, change.after.instructions);
    Text line = {0};
    ask_remedy_change(before, after, finding, number, &line);
    text_add(&line, ".");
    sentence_print(out, "  ", text_string(&line));
    text_done(&line);
    if (change.remedy.kind == ASK_PAD || change.remedy.kind == ASK_SWIZZLE)
        sentence_print(out, "  ",
                       "The copy computes each address anew, in PTX; source that has the index so "
                       "may need fewer instructions.");
    text_done(&why);
    return change.helped;
}
