/* Numbers the executions of .sync instructions, lane by lane (meetings.h). */
#include "instrument/meetings.h"

#include "base/memory.h"
#include <stdlib.h>

typedef struct MeetingCount { /* of one warp, with one mask and the qualifiers of `like` */
    int warp;
    uint32_t members;
    const PtxInstruction *like;
    uint32_t count[WARP_LANES];
} MeetingCount;

struct Meetings {
    MeetingCount *counts;
    int count, capacity, latest;
};

Meetings *meetings_new(void) {
    return memory_new(sizeof(Meetings));
}

void meetings_free(Meetings *meetings) {
    free(meetings->counts);
    free(meetings);
}

static bool have_same_qualifiers(const PtxInstruction *a, const PtxInstruction *b) {
    bool same =
        a->opcode == b->opcode && a->modifier_count == b->modifier_count && a->type_count == b->type_count;
    for (int i = 0; same && i < a->modifier_count; i++)
        same = !strcmp(a->modifiers[i].text, b->modifiers[i].text);
    for (int i = 0; same && i < a->type_count; i++) same = a->types[i] == b->types[i];
    return same;
}

static MeetingCount *count_of(Meetings *meetings, const Record *record) {
    const PtxInstruction *instruction = record->site->instruction;
    for (int i = 0; i < meetings->count; i++) { /* mostly that of the record before */
        int at = (meetings->latest + i) % meetings->count;
        const MeetingCount *count = &meetings->counts[at];
        if (count->warp != record->warp || count->members != record->extra ||
            !have_same_qualifiers(count->like, instruction))
            continue;
        meetings->latest = at;
        return &meetings->counts[at];
    }
    MeetingCount added = {.warp = record->warp, .members = record->extra, .like = instruction};
    array_push(meetings->counts, meetings->count, meetings->capacity, added);
    meetings->latest = meetings->count - 1;
    return &meetings->counts[meetings->latest];
}

uint32_t meetings_add(Meetings *meetings, const Record *record) {
    MeetingCount *of = count_of(meetings, record);
    uint32_t number = of->count[__builtin_ctz(record->mask)];
    for (uint32_t rest = record->mask; rest; rest &= rest - 1) of->count[__builtin_ctz(rest)]++;
    return number;
}

uint32_t meetings_lanes(Meetings *meetings, const Record *record) {
    const MeetingCount *of = count_of(meetings, record);
    uint32_t lanes = 0;
    for (int lane = 0; lane < WARP_LANES; lane++)
        if (of->count[lane] > record->number) lanes |= UINT32_C(1) << lane;
    return lanes;
}
