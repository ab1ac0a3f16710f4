/* Groups errors by their cause (findings.h, FindingCause). */
#include "findings/findings_list.h"
#include "findings/remedy.h"

#include <stdlib.h>

RemedyClass remedy_class(const Finding *finding) {
    bool same_block = finding->access.linear_block == finding->other.linear_block;
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

static bool belong_together(const Finding *a, const Finding *b) {
    RemedyClass class = remedy_class(a);
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
}
