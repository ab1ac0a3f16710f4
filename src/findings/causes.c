/* Groups errors by their cause (findings.h, FindingCause). */
#include "findings/findings_list.h"
#include "findings/remedy.h"

#include <stdlib.h>
#include <string.h>

RemedyClass remedy_class(const Finding *finding) {
    bool same_block = finding->access.linear_block == finding->other.linear_block;
    if (finding->is_overlap) return REMEDY_BY_NOTHING;
    switch (finding->kind) {
    case FINDING_WARP_RACE:
    case FINDING_SHARED_RACE:
        return same_block ? REMEDY_BY_BARRIER : REMEDY_BY_NOTHING;
    case FINDING_GLOBAL_RACE:
        return same_block ? REMEDY_BY_BARRIER : REMEDY_BY_FENCE;
    case FINDING_ORDER:
        return same_block ? REMEDY_BY_NOTHING : REMEDY_BY_FENCE;
    default:
        return REMEDY_BY_NOTHING;
    }
}

static FindingPair pair_at(const Finding *finding, int index) {
    if (finding->pair_count) return finding->pairs[index];
    return (FindingPair){finding->access.pc, finding->other.pc};
}

/* The code ranges between the two instructions of each pair intersect. */
static bool overlap(FindingPair a, FindingPair b) {
    int a_first = a.pc < a.other_pc ? a.pc : a.other_pc, a_last = a.pc + a.other_pc - a_first;
    int b_first = b.pc < b.other_pc ? b.pc : b.other_pc, b_last = b.pc + b.other_pc - b_first;
    return a_first <= b_last && b_first <= a_last;
}

/* Unrolled code repeats the same statements. */
static bool are_on_same_lines(const Finding *a, const Finding *b) {
    return a->access.line && a->access.line == b->access.line && a->other.line == b->other.line;
}

static bool is_of_copies(const Finding *finding) {
    return finding->kind == FINDING_ASYNC_READ || finding->kind == FINDING_ASYNC_WRITE ||
           finding->kind == FINDING_COPY_NOT_COMMITTED || finding->kind == FINDING_COPY_NOT_AWAITED;
}

static bool has_pc(const Finding *finding, int pc) {
    for (int i = 0; i < (finding->pair_count ? finding->pair_count : 1); i++)
        if (pair_at(finding, i).pc == pc || pair_at(finding, i).other_pc == pc) return true;
    return false;
}

/* One instruction of one takes part in the other. */
static bool share_instruction(const Finding *a, const Finding *b) {
    for (int i = 0; i < (a->pair_count ? a->pair_count : 1); i++) {
        FindingPair pair = pair_at(a, i);
        if (has_pc(b, pair.pc) || (pair.other_pc >= 0 && has_pc(b, pair.other_pc))) return true;
    }
    return false;
}

/* One wait is for all copies into an array. */
static bool share_copies(const Finding *a, const Finding *b) {
    bool same_array = a->access.buffer >= 0 && a->space == b->space && a->access.buffer == b->access.buffer;
    return same_array || share_instruction(a, b);
}

/* Nothing tells them apart: the members of a structure that is copied in one line. */
static bool are_same_to_a_reader(const Finding *a, const Finding *b) {
    return a->kind == FINDING_FAULT && b->kind == FINDING_FAULT && are_on_same_lines(a, b) && a->sentence &&
           b->sentence && !strcmp(a->sentence, b->sentence);
}

/* A load that comes too early reads memory that was never written. */
static bool is_early_load(const Finding *fault, const Finding *finding) {
    return fault->kind == FINDING_FAULT && fault->access.pc >= 0 &&
           !strcmp(fault->kind_text, trap_kind_text(TRAP_UNINITIALIZED)) &&
           (is_of_copies(finding) || remedy_class(finding) == REMEDY_BY_BARRIER) &&
           has_pc(finding, fault->access.pc);
}

static bool belong_together(const Finding *a, const Finding *b) {
    RemedyClass class = remedy_class(a);
    if (a->launch == b->launch && is_of_copies(a) && is_of_copies(b) && share_copies(a, b)) return true;
    if (a->launch == b->launch && are_same_to_a_reader(a, b)) return true;
    if (a->launch == b->launch && (is_early_load(a, b) || is_early_load(b, a))) return true;
    if (a->launch == b->launch && a->is_overlap && b->is_overlap && a->access.buffer == b->access.buffer)
        return true;
    if (class == REMEDY_BY_NOTHING || class != remedy_class(b) || a->launch != b->launch) return false;
    if (are_on_same_lines(a, b)) return true;
    for (int i = 0; i < (a->pair_count ? a->pair_count : 1); i++)
        for (int k = 0; k < (b->pair_count ? b->pair_count : 1); k++)
            if (overlap(pair_at(a, i), pair_at(b, k))) return true;
    return false;
}

/* Gives the cause of items[from] to every error connected to it, directly or through others. */
static void spread(Findings *list, int from) {
    for (int i = 0; i < list->error_count; i++) {
        if (list->items[i].cause >= 0 || !belong_together(&list->items[from], &list->items[i])) continue;
        list->items[i].cause = list->items[from].cause;
        list->causes[list->items[i].cause].count++;
        spread(list, i);
    }
}

/* What says most about the cause: what is read too early, before what else happens to the memory. */
static int rank(const Finding *finding) {
    switch (finding->kind) {
    case FINDING_ASYNC_READ:
        return 0;
    case FINDING_ASYNC_WRITE:
        return 2;
    case FINDING_COPY_NOT_COMMITTED:
    case FINDING_COPY_NOT_AWAITED:
        return 3;
    case FINDING_FAULT:
        return 4;
    default:
        return 1;
    }
}

static void choose_leads(Findings *list) {
    for (int i = 0; i < list->error_count; i++) {
        FindingCause *cause = &list->causes[list->items[i].cause];
        if (rank(&list->items[i]) < rank(&list->items[cause->lead])) cause->lead = i;
    }
}

void findings_find_causes(Findings *list) {
    list->causes = arena_new(&list->arena, (size_t)(list->error_count + 1) * sizeof *list->causes);
    list->cause_count = 0;
    for (int i = 0; i < list->count; i++) list->items[i].cause = -1;
    for (int i = 0; i < list->error_count; i++) {
        if (list->items[i].cause >= 0) continue;
        list->items[i].cause = list->cause_count;
        list->causes[list->cause_count++] = (FindingCause){.lead = i, .count = 1};
        spread(list, i);
    }
    choose_leads(list);
}

void findings_join_causes(Findings *list, int into, int from) {
    for (int i = 0; i < list->error_count; i++)
        if (list->items[i].cause == from)
            list->items[i].cause = into;
        else if (list->items[i].cause > from)
            list->items[i].cause--;
    list->causes[into].count += list->causes[from].count;
    for (int i = from + 1; i < list->cause_count; i++) list->causes[i - 1] = list->causes[i];
    list->cause_count--;
}

int findings_part_cause(Findings *list, int error, int into) {
    if (into < 0) {
        into = list->cause_count++;
        list->causes[into] = (FindingCause){.lead = error};
    }
    list->causes[list->items[error].cause].count--;
    list->items[error].cause = into;
    list->causes[into].count++;
    return into;
}
