/* Findings: a kernel's faults and wrong results first, then what costs most, then what is as good as it gets.
 *
 * A finding about a line is worth a sentence when it concerns a good part of what the line does: the first
 * thread of a block that writes the result always diverges, and nobody should be told so about every
 * kernel. */
#include "metrics/findings.h"

#include "base/memory.h"
#include <stdlib.h>

enum { MOST_PER_KIND = 4 };

const char *count_text(uint64_t count, CountText *buffer) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    char *at = buffer->text; /* cppcheck-suppress ctuuninitvar ; it is filled here */
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) *at++ = ',';
        *at++ = digits[i];
    }
    *at = 0;
    return buffer->text;
}

void sentence_print(Text *out, const char *bullet, const char *sentence) {
    enum { WIDTH = 80 };
    size_t indent = strlen(bullet), most = WIDTH - indent;
    for (const char *at = sentence; *at;) {
        size_t length = strlen(at);
        if (length > most) {
            length = most;
            while (length > most / 2 && at[length] != ' ') length--;
        }
        if (at == sentence)
            text_add(out, bullet);
        else
            text_print(out, "%*s", (int)indent, "");
        text_add_bytes(out, at, length);
        text_add(out, "\n");
        at += length;
        while (*at == ' ') at++;
    }
}

/* Appends and frees it. */
static void add_sentence(Text *out, Text *sentence) {
    sentence_print(out, "- ", text_string(sentence));
    text_done(sentence);
}

bool findings_has_fatal_trap(const Trace *trace) {
    for (int i = 0; i < trace->trap_count; i++)
        if (trace->traps[i].kind != TRAP_UNINITIALIZED) return true;
    return false;
}

/* ---- faults ----------------------------------------------------------------------------------------- */

static void print_trap(const Trace *trace, const Trap *trap, int more, Text *out) {
    Text sentence = {0};
    const TraceLaunch *launch = trap->launch < trace->launch_count ? trace->launches[trap->launch] : NULL;
    if (launch && trap->pc >= 0)
        text_print(&sentence, "line %d: ", metrics_line_of(launch->program, trap->pc).line);
    text_add(&sentence, "TRAP ");
    for (const char *c = trap_kind_text(trap->kind); *c; c++)
        text_add_bytes(&sentence, *c == '_' ? " " : c, 1);
    text_print(&sentence, " in block (%u,%u,%u)", trap->block[0], trap->block[1], trap->block[2]);
    if (trap->lanes) text_print(&sentence, ", warp %d, lanes 0x%08x", trap->warp, trap->lanes);
    if (trap->detail && *trap->detail) text_print(&sentence, ": %s", trap->detail);
    if (more) text_print(&sentence, " (and %d more at this line)", more);
    add_sentence(out, &sentence);
}

/* One sentence for the traps of one kind at one instruction: the first stands for all. */
static void print_traps(const Trace *trace, Text *out) {
    for (int i = 0; i < trace->trap_count; i++) {
        const Trap *trap = &trace->traps[i];
        int before = 0, after = 0;
        for (int k = 0; k < trace->trap_count; k++) {
            const Trap *other = &trace->traps[k];
            if (k == i || other->kind != trap->kind || other->launch != trap->launch || other->pc != trap->pc)
                continue;
            before += k < i;
            after += k > i;
        }
        if (!before) print_trap(trace, trap, after, out);
    }
}

static void print_result(const ReportInput *input, Text *out) {
    if (!input->has_result || input->correct || !input->result) return;
    Text sentence = {0};
    text_print(&sentence, "The result is WRONG: %s, expected %s (absolute error %.6g)", input->result,
               input->expected, input->absolute_error);
    text_add(&sentence, input->trace->trap_count ? "; see the traps above." : ".");
    add_sentence(out, &sentence);
}

static void print_dropped(const Trace *trace, Text *out) {
    uint64_t dropped = 0;
    for (int i = 0; i < trace->launch_count; i++) dropped += trace->launches[i]->dropped;
    if (!dropped) return;
    CountText count;
    Text sentence = {0};
    text_print(&sentence, "%s events did not fit into the trace and are missing from it.",
               count_text(dropped, &count));
    add_sentence(out, &sentence);
}

/* The hardware gives some value, usually a plausible one: nothing else tells. */
static void print_undefined_shuffles(const LineMetrics *lines, int count, Text *out) {
    for (int i = 0; i < count; i++) {
        if (!lines[i].undefined_shuffles) continue;
        CountText executions;
        Text sentence = {0};
        text_print(
            &sentence,
            "line %d: a shuffle takes a value from an inactive lane, which is undefined (%s execution%s "
            "in the traced blocks).",
            lines[i].line, count_text(lines[i].undefined_shuffles, &executions),
            lines[i].undefined_shuffles == 1 ? "" : "s");
        add_sentence(out, &sentence);
    }
}

/* Those that are neither a trap nor the result, which have been told. */
static void print_hazards(const Hazards *hazards, Text *out) {
    for (int i = 0; i < hazards->wrong_count; i++) {
        const Hazard *hazard = &hazards->items[i];
        if (hazard->kind == HAZARD_FAULT || hazard->kind == HAZARD_WRONG_RESULT) continue;
        Text sentence = {0};
        text_print(&sentence, "%s: %s", hazard_kind_title(hazard->kind), hazard->sentence);
        add_sentence(out, &sentence);
    }
}

/* ---- findings about lines --------------------------------------------------------------------------- */

static uint64_t wavefronts(const Totals *t) {
    return t->shared_load_wavefronts + t->shared_store_wavefronts;
}
static uint64_t wavefronts_ideal(const Totals *t) {
    return t->shared_load_wavefronts_ideal + t->shared_store_wavefronts_ideal;
}
static uint64_t sectors(const Totals *t) {
    return t->global_load_sectors + t->global_store_sectors;
}
static uint64_t sectors_ideal(const Totals *t) {
    return t->global_load_sectors_ideal + t->global_store_sectors_ideal;
}
static uint64_t requests(const Totals *t) {
    return t->global_load_requests + t->global_store_requests;
}

/* What a finding about a line is worth, in a run; 0: no sentence. */
uint64_t finding_worth_of_conflicts(const Totals *t, const Totals *run) {
    (void)run;
    return wavefronts(t) - wavefronts_ideal(t);
}
uint64_t finding_worth_of_sectors(const Totals *t, const Totals *run) {
    (void)run;
    uint64_t excess = sectors(t) - sectors_ideal(t);
    return excess * 10 >= sectors_ideal(t) ? excess : 0; /* the ragged end of an array is no finding */
}
static uint64_t worth_of_divergence(const Totals *t, const Totals *run) {
    (void)run;
    return t->divergent_branches * 8 > t->branches ? t->divergent_branches : 0;
}
/* At most half of the lanes at work, fewer than elsewhere, and a tenth of what the whole run could do lost.
 */
uint64_t finding_worth_of_idle_lanes(const Totals *t, const Totals *run) {
    uint64_t idle = t->warp_instructions * WARP_LANES - t->lane_instructions;
    bool much = idle * 10 >= run->warp_instructions * WARP_LANES;
    double lanes = totals_average_active_lanes(t);
    return much && lanes * 2 <= WARP_LANES && lanes < 0.75 * totals_average_active_lanes(run) ? idle : 0;
}

static void say_conflicts(const LineMetrics *line, const Totals *run, Text *sentence) {
    (void)run;
    CountText taken, ideal;
    if (line->worst_shared > 1) {
        bool always =
            wavefronts(&line->totals) == wavefronts_ideal(&line->totals) * (uint64_t)line->worst_shared;
        text_print(sentence, "%s%d-way bank conflicts", always ? "" : "up to ", line->worst_shared);
    } else {
        text_add(sentence, "bank conflicts");
    }
    text_print(sentence, ": %s wavefronts where %s would do.", count_text(wavefronts(&line->totals), &taken),
               count_text(wavefronts_ideal(&line->totals), &ideal));
}

static void say_sectors(const LineMetrics *line, const Totals *run, Text *sentence) {
    (void)run;
    const Totals *t = &line->totals;
    CountText taken, ideal;
    text_print(sentence, "%.3g sectors a request where %.3g would do: %s instead of %s",
               (double)sectors(t) / (double)requests(t), (double)sectors_ideal(t) / (double)requests(t),
               count_text(sectors(t), &taken), count_text(sectors_ideal(t), &ideal));
    text_add(sentence, sectors(t) >= 2 * sectors_ideal(t) ? "; the addresses of a warp lie far apart." : ".");
}

static void say_divergence(const LineMetrics *line, const Totals *run, Text *sentence) {
    (void)run;
    const Totals *t = &line->totals;
    CountText divergent, all;
    if (t->divergent_branches == t->branches) {
        text_print(sentence, "every branch diverges (%s)", count_text(t->branches, &all));
    } else {
        text_print(sentence, "%.0f %% of the branches diverge (%s of %s)",
                   100.0 * (double)t->divergent_branches / (double)t->branches,
                   count_text(t->divergent_branches, &divergent), count_text(t->branches, &all));
    }
    text_add(sentence, ".");
}

static void say_idle_lanes(const LineMetrics *line, const Totals *run, Text *sentence) {
    const Totals *t = &line->totals;
    text_print(sentence, "%.1f of 32 lanes are active, in %.0f %% of the instructions.",
               totals_average_active_lanes(t),
               100.0 * (double)t->warp_instructions / (double)run->warp_instructions);
}

typedef struct LineFinding {
    const char *none_left; /* sentence for the lines beyond MOST_PER_KIND */
    const char *remark;    /* said once, after the sentences; NULL: none */
    uint64_t (*worth)(const Totals *line, const Totals *run);
    void (*say)(const LineMetrics *line, const Totals *run, Text *sentence);
} LineFinding;

static const LineFinding line_findings[] = {
    {"bank conflicts", NULL, finding_worth_of_conflicts, say_conflicts},
    {"more sectors than needed", NULL, finding_worth_of_sectors, say_sectors},
    {"divergent branches", "On hardware the compiler may use predication instead of a branch.",
     worth_of_divergence, say_divergence},
    {"idle lanes", NULL, finding_worth_of_idle_lanes, say_idle_lanes},
};

/* The lines with the most, at most MOST_PER_KIND of them, the rest in one sentence. */
static void print_line_finding(const LineFinding *finding, const Totals *run, const LineMetrics *lines,
                               int count, Text *out) {
    uint64_t limit = UINT64_MAX; /* worths already told are at or above it */
    int last = -1, told = 0, left = 0;
    for (int i = 0; i < count; i++) left += finding->worth(&lines[i].totals, run) > 0;
    for (; told < MOST_PER_KIND && left > 0; told++, left--) {
        uint64_t most = 0;
        int best = -1;
        for (int i = 0; i < count; i++) {
            uint64_t worth = finding->worth(&lines[i].totals, run);
            bool told_before = worth > limit || (worth == limit && i <= last);
            if (told_before || worth <= most) continue;
            most = worth;
            best = i;
        }
        if (best < 0) break;
        limit = most;
        last = best;
        Text sentence = {0};
        text_print(&sentence, "line %d: ", lines[best].line);
        finding->say(&lines[best], run, &sentence);
        add_sentence(out, &sentence);
    }
    if (left > 0)
        text_print(out, "- %d more line%s with %s.\n", left, left == 1 ? "" : "s", finding->none_left);
    if (told && finding->remark) sentence_print(out, "- ", finding->remark);
}

/* ---- what is as good as it gets --------------------------------------------------------------------- */

static void print_good(const Totals *totals, Text *out) {
    if (wavefronts(totals) && wavefronts(totals) == wavefronts_ideal(totals))
        text_add(out, "- No shared access has a bank conflict.\n");
    if (sectors(totals) && sectors(totals) == sectors_ideal(totals))
        text_add(out, "- Every global request touches the minimum of sectors.\n");
    if (totals->branches && !totals->divergent_branches) text_add(out, "- No branch diverges.\n");
}

static void print_lanes(const ReportInput *input, const Totals *totals, Text *out) {
    double lanes = totals_average_active_lanes(totals);
    if (input->narrowed || !totals->warp_instructions || lanes >= 31.95) return;
    text_print(out, "- On average %.1f of 32 lanes are active.\n", lanes);
}

void findings_print(const ReportInput *input, const Totals *totals, const LineMetrics *lines, int line_count,
                    Text *out) {
    print_traps(input->trace, out);
    print_result(input, out);
    if (input->hazards)
        print_hazards(input->hazards, out);
    else
        print_undefined_shuffles(lines, line_count, out);
    print_dropped(input->trace, out);
    for (size_t i = 0; i < sizeof line_findings / sizeof *line_findings; i++)
        print_line_finding(&line_findings[i], totals, lines, line_count, out);
    print_lanes(input, totals, out);
    if (!findings_has_fatal_trap(input->trace)) print_good(totals, out);
}
