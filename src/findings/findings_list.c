/* Builds a list of findings (findings_list.h) and holds the texts of finding_kinds.def. */
#include "base/language.h"
#include "findings/findings_sentences.h"
#include "metrics/totals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text, *title;
    Severity severity;
    CheckTool tool;
} kinds[FINDING_KIND_COUNT] = {
#define FINDING(id, text, severity, tool, title) {text, title, SEVERITY_##severity, TOOL_##tool},
#include "findings/races/finding_kinds.def"
#undef FINDING
};

const char *finding_kind_text(FindingKind kind) {
    return kinds[kind].text;
}

FindingKind finding_kind_find(const char *text) {
    int kind = 0;
    while (kind < FINDING_KIND_COUNT && strcmp(text, kinds[kind].text) != 0) kind++;
    return (FindingKind)kind;
}

const char *finding_kind_title(FindingKind kind) {
    return tr(kinds[kind].title);
}

Severity finding_kind_severity(FindingKind kind) {
    return kinds[kind].severity;
}

CheckTool finding_tool(const Finding *finding) {
    return finding->kind == FINDING_FAULT ? trap_kind_tool(trap_kind_find(finding->kind_text))
                                          : kinds[finding->kind].tool;
}

bool finding_has_place(const Finding *finding) {
    return finding->kind != FINDING_IDLE_WARPS && finding->kind != FINDING_NEEDLESS_BARRIER;
}

const char *finding_unit(FindingKind kind) {
    switch (kind) {
    case FINDING_BANK_CONFLICT:
        return "wavefronts";
    case FINDING_UNCOALESCED:
        return "sectors";
    case FINDING_IDLE_LANES:
        return "warp instructions";
    case FINDING_ATOMIC_CONFLICT:
        return "updates";
    case FINDING_IDLE_WARPS:
    case FINDING_NEEDLESS_BARRIER:
        return "barrier executions";
    default:
        return NULL;
    }
}

const char *finding_severity_text(Severity severity) {
    static const char *const texts[] = {"error", "slow", "note"};
    return texts[severity];
}

const char *finding_space_text(PtxSpace space) {
    return space == PTX_SPACE_SHARED   ? "shared"
           : space == PTX_SPACE_GLOBAL ? "global"
           : space == PTX_SPACE_LOCAL  ? "local"
                                       : NULL;
}

bool finding_has_pair(const Finding *finding, int a, int b) {
    bool has = (finding->access.pc == a && finding->other.pc == b) ||
               (finding->access.pc == b && finding->other.pc == a);
    for (int i = 0; i < finding->pair_count && !has; i++) {
        const FindingPair *pair = &finding->pairs[i];
        has = (pair->pc == a && pair->other_pc == b) || (pair->pc == b && pair->other_pc == a);
    }
    return has;
}

int finding_number(const Findings *findings, int index) {
    const Finding *finding = &findings->items[index];
    return finding->cause >= 0 ? finding->cause + 1
                               : findings->cause_count + index - findings->error_count + 1;
}

int findings_find_number(const Findings *findings, int number) {
    int index = number - 1 - findings->cause_count + findings->error_count;
    if (number < 1) return -1;
    if (number <= findings->cause_count) return findings->causes[number - 1].lead;
    return index < findings->count ? index : -1;
}

int findings_first(const Findings *findings) {
    int index = findings ? findings_find_number(findings, 1) : -1;
    return index >= 0 && findings->items[index].severity != SEVERITY_NOTE ? index : -1;
}

/* ---- making a list ---------------------------------------------------------------------------------- */

FindingsBuilder findings_begin(const Trace *trace) {
    return (FindingsBuilder){.list = memory_new(sizeof(Findings)), .trace = trace};
}

Finding *findings_add(Findings *list, int *capacity, FindingKind kind, int launch) {
    Finding finding = {.kind = kind,
                       .severity = kinds[kind].severity,
                       .kind_text = kinds[kind].text,
                       .launch = launch,
                       .access = {.pc = PTX_NO_PC, .lane = -1, .buffer = -1, .event = -1},
                       .other = {.pc = PTX_NO_PC, .lane = -1, .buffer = -1, .event = -1},
                       .cause = -1,
                       .samples = (double)NAN};
    array_push(list->items, list->count, *capacity, finding);
    return &list->items[list->count - 1];
}

Finding *findings_add_line(FindingsBuilder *builder, FindingKind kind, const LineMetrics *line) {
    Finding *finding = findings_add(builder->list, &builder->capacity, kind, 0);
    finding->access.file = line->file;
    finding->access.line = line->line;
    finding->access.is_elsewhere = builder->trace->launch_count &&
                                   metrics_is_elsewhere(builder->trace->launches[0]->program, line->file);
    finding->count = 1;
    return finding;
}

Finding *findings_add_slow(FindingsBuilder *builder, FindingKind kind, const LineMetrics *line, double lost) {
    double share = builder->passes > 0 ? lost / builder->passes : 0;
    if (!(lost > 0)) return NULL;
    if (share * 100 < FINDINGS_LEAST_PERCENT) {
        Text *below = &builder->below[kind];
        text_print(below, "%s%d", below->length ? ", " : "", line->line);
        return NULL;
    }
    Finding *finding = findings_add_line(builder, kind, line);
    finding->share = share;
    return finding;
}

const char *findings_keep(Findings *list, Text *text) {
    const char *kept = arena_copy_text(&list->arena, text_string(text), text->length);
    text_done(text);
    return kept;
}

const char *findings_finish_sentence(Findings *list, Text *text) {
    text_add(text, tr("."));
    return findings_keep(list, text);
}

void finding_put_line(const TraceLaunch *launch, FindingAccess *access) {
    if (access->pc < 0) return;
    PtxSourceLine line = metrics_line_of(launch->program, access->pc);
    access->file = line.file;
    access->line = line.line;
    access->places = launch->program->code[access->pc].places;
    access->is_elsewhere = metrics_is_elsewhere(launch->program, line.file);
}

static PtxType integer_type(int bytes, bool is_signed) {
    switch (bytes) {
    case 1:
        return is_signed ? PTX_S8 : PTX_U8;
    case 2:
        return is_signed ? PTX_S16 : PTX_U16;
    case 4:
        return is_signed ? PTX_S32 : PTX_U32;
    default:
        return is_signed ? PTX_S64 : PTX_U64;
    }
}

void finding_put_type(const Trace *trace, const TraceLaunch *launch, PtxSpace space, FindingAccess *access) {
    access->type = PTX_NO_TYPE;
    if (access->pc < 0) return;
    const PtxInstruction *in = launch->program->code[access->pc].instruction;
    if (!in->type_count) return;
    access->type = in->types[0];
    int bytes = ptx_type_bytes(access->type), of_integers = 0, of_unsigned = 0;
    if (ptx_type_is_float(access->type) || ptx_type_is_signed(access->type) || bytes > 8) return;
    PtxType only_float = PTX_NO_TYPE;
    for (int i = 0; i < trace->buffer_count; i++) {
        PtxType type = trace->buffers[i].type;
        if (type == PTX_NO_TYPE || ptx_type_bytes(type) != bytes) continue;
        if (space == PTX_SPACE_GLOBAL && i == access->buffer) {
            access->type = type;
            return;
        }
        if (ptx_type_is_float(type)) {
            only_float = type;
            continue;
        }
        of_integers++;
        of_unsigned += !ptx_type_is_signed(type);
    }
    bool is_word = access->type == PTX_B8 || access->type == PTX_B16 || access->type == PTX_B32 ||
                   access->type == PTX_B64;
    access->type = is_word && !of_integers && only_float != PTX_NO_TYPE
                       ? only_float
                       : integer_type(bytes, !of_unsigned || of_unsigned < of_integers);
}

static int compare(const void *a, const void *b) {
    const Finding *x = a, *y = b;
    if (x->severity != y->severity) return (int)x->severity - (int)y->severity;
    if (x->is_rare != y->is_rare) return x->is_rare - y->is_rare;
    if (x->share > y->share || x->share < y->share) return x->share < y->share ? 1 : -1;
    if (x->launch != y->launch) return x->launch - y->launch;
    if (x->access.line != y->access.line) return x->access.line - y->access.line;
    if (x->access.pc != y->access.pc) return x->access.pc - y->access.pc;
    if (x->other.pc != y->other.pc) return x->other.pc - y->other.pc;
    return (int)x->kind - (int)y->kind;
}

Findings *findings_end(FindingsBuilder *builder) {
    Findings *list = builder->list;
    if (list->count) qsort(list->items, (size_t)list->count, sizeof *list->items, compare);
    list->error_count = 0;
    while (list->error_count < list->count && list->items[list->error_count].severity == SEVERITY_ERROR)
        list->error_count++;
    findings_find_causes(list);
    return list;
}

void findings_free(Findings *findings) {
    if (!findings) return;
    free(findings->items);
    arena_done(&findings->arena);
    free(findings);
}
