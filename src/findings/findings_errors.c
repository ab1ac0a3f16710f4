/* Turns what the race detector found into findings (findings.h). */
#include "base/language.h"
#include "findings/findings_list.h"
#include "findings/findings_sentences.h"

static void add_instructions(FindingsBuilder *builder, Finding *finding, const RacePair *pair) {
    FindingPair *pairs = arena_new(&builder->list->arena, (size_t)(finding->pair_count + 1) * sizeof *pairs);
    if (finding->pair_count) memcpy(pairs, finding->pairs, (size_t)finding->pair_count * sizeof *pairs);
    pairs[finding->pair_count++] = (FindingPair){pair->access.pc, pair->other.pc};
    finding->pairs = pairs;
}

/* Unrolled code has many pairs of instructions on the same two lines that access one variable: one
 * finding. */
static bool add_to_same_lines(FindingsBuilder *builder, const RaceDetector *detector, const RacePair *pair,
                              const TraceLaunch *launch) {
    FindingAccess access = pair->access, other = pair->other;
    if (pair->space == PTX_SPACE_SHARED)
        findings_locate_symbol(&detector->windows[pair->launch], launch, &access);
    finding_put_line(launch, &access);
    finding_put_line(launch, &other);
    for (int i = 0; i < builder->list->count; i++) {
        Finding *earlier = &builder->list->items[i];
        bool same =
            earlier->kind == pair->kind && earlier->launch == pair->launch &&
            earlier->access.buffer == access.buffer && earlier->access.line == access.line &&
            earlier->other.line == other.line &&
            (pair->kind == FINDING_MISSING_ACQUIRE || /* one lock guards all its accesses */
             (earlier->access.is_store == access.is_store && earlier->other.is_store == other.is_store));
        if (!same) continue;
        add_instructions(builder, earlier, pair);
        earlier->count += pair->count;
        if (earlier->blocks < pair->blocks) earlier->blocks = pair->blocks;
        return true;
    }
    return false;
}

static void add_pair(FindingsBuilder *builder, const RaceDetector *detector, const RacePair *pair) {
    const TraceLaunch *launch = builder->trace->launches[pair->launch];
    if (add_to_same_lines(builder, detector, pair, launch)) return;
    Finding *finding = findings_add(builder->list, &builder->capacity, pair->kind, pair->launch);
    finding->space = pair->space;
    finding->access = pair->access;
    finding->other = pair->other;
    finding->count = pair->count;
    finding->blocks = pair->blocks;
    if (pair->other.pc >= 0) add_instructions(builder, finding, pair);
    finding_put_line(launch, &finding->access);
    finding_put_line(launch, &finding->other);
    if (pair->kind == FINDING_UNDEFINED_SHUFFLE)
        findings_describe_undefined(builder, pair, finding);
    else if (pair->kind == FINDING_EARLY_RESULT)
        findings_describe_early_result(builder, finding);
    else if (pair->kind == FINDING_WRAPPED_INDEX)
        findings_describe_wrapped_index(builder, finding);
    else if (pair->kind == FINDING_PASSED_BY)
        findings_describe_passed_by(builder, pair, finding);
    else if (pair->kind == FINDING_PARTIAL_BARRIER)
        findings_describe_partial_barrier(builder, pair, finding);
    else if (pair->kind == FINDING_SPLIT_BARRIER)
        findings_describe_split_barrier(builder, finding);
    else if (pair->kind == FINDING_COPY_NOT_COMMITTED || pair->kind == FINDING_COPY_NOT_AWAITED)
        findings_describe_left(builder, finding);
    else
        findings_describe_race(builder, detector, pair, finding);
}

/* An error of the same two instructions, or a missing acquire that loses values of that memory, makes the
 * note redundant. */
static bool is_said_by_error(const RaceDetector *detector, const RacePair *pair) {
    if (pair->kind != FINDING_MISSING_ACQUIRE) return false;
    for (int i = 0; i < detector->pair_count; i++) {
        const RacePair *other = &detector->pairs[i];
        if (other->kind == FINDING_STALE_READ && other->launch == pair->launch &&
            other->access.buffer == pair->access.buffer)
            return true;
        if (finding_kind_severity(other->kind) == SEVERITY_ERROR && other->launch == pair->launch &&
            other->access.pc == pair->access.pc && other->other.pc == pair->other.pc)
            return true;
    }
    return false;
}

/* " (total[0] in line 7, ...)" */
static void name_unseen(FindingsBuilder *builder, const RaceDetector *detector, Text *out) {
    const FindingsUnseen *unseen = &detector->unseen;
    for (int i = 0; i < unseen->named_count; i++) {
        const UnseenPlace *place = &unseen->named[i];
        const TraceLaunch *launch = builder->trace->launches[place->launch];
        FindingAccess write = place->write;
        if (place->space == PTX_SPACE_SHARED)
            findings_locate_symbol(&detector->windows[place->launch], launch, &write);
        finding_put_line(launch, &write);
        text_print(out, "%s%s", i ? ", " : " (",
                   findings_name_memory(builder, launch, place->space, &write, &write));
        if (write.line) text_print(out, tr(" in line %d"), write.line);
    }
    if (unseen->named_count == UNSEEN_NAMED && unseen->places > UNSEEN_NAMED) text_add(out, ", ...");
    if (unseen->named_count) text_add(out, ")");
}

void findings_add_races(FindingsBuilder *builder, RaceDetector *detector) {
    race_detector_finish(detector);
    builder->list->is_complete = detector->is_complete;
    Text names = {0};
    name_unseen(builder, detector, &names);
    findings_set_unseen(builder->list, &detector->unseen, text_string(&names));
    text_done(&names);
    for (int i = 0; i < detector->pair_count; i++)
        if (!is_said_by_error(detector, &detector->pairs[i]))
            add_pair(builder, detector, &detector->pairs[i]);
}
