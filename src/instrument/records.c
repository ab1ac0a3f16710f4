/* Reads and checks a region, which may be damaged.
 *
 * Lanes that run apart on a GPU write separate records of an instruction that they execute together: a
 * shfl.sync, whose probe follows it, or an aligned barrier, whose probe precedes it. Such records are
 * combined: a warp's next record of the same site belongs to the previous one if its lanes differ, the
 * members are the same, and so is the number of the execution: lanes that met at different sites may both
 * return to one. (A lane that returns writes a new record, and by then all members have recorded the last
 * one: no lane leaves such an instruction before all have arrived.) */
#include "instrument/records.h"

#include "base/memory.h"
#include "instrument/probe_plan.h"
#include "ptx/opcodes.h"
#include <stdlib.h>

/* ---- meetings ------------------------------------------------------------------------------------------ */

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

static Meetings *meetings_new(void) {
    return memory_new(sizeof(Meetings));
}

static void meetings_free(Meetings *meetings) {
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

/* The next record in the order of writing, of an instruction that names its lanes in its extra: returns the
 * number of its execution for its lanes, from 0. */
static uint32_t meetings_add(Meetings *meetings, const Record *record) {
    MeetingCount *of = count_of(meetings, record);
    uint32_t number = of->count[__builtin_ctz(record->mask)];
    for (uint32_t rest = record->mask; rest; rest &= rest - 1) of->count[__builtin_ctz(rest)]++;
    return number;
}

/* After all records: the lanes that this execution meets. */
static uint32_t meetings_lanes(Meetings *meetings, const Record *record) {
    const MeetingCount *of = count_of(meetings, record);
    uint32_t lanes = 0;
    for (int lane = 0; lane < WARP_LANES; lane++)
        if (of->count[lane] > record->number) lanes |= UINT32_C(1) << lane;
    return lanes;
}

/* ---- records ------------------------------------------------------------------------------------------- */

enum { NONE = -1 };

/* ---- reading ---------------------------------------------------------------------------------------- */

typedef struct RecordReader {
    const InstrumentSites *sites;
    const uint8_t *region;
    uint64_t begin, end; /* range of its records */
    uint32_t threads, block;
    Error *error;
} RecordReader;

static bool damaged(const RecordReader *reader, uint64_t at, const char *what) {
    return error_set(
        reader->error,
        "the trace buffer is damaged: block %u, byte %llu: %s; the kernel may have written into it",
        reader->block, (unsigned long long)at, what);
}

static bool read_header(RecordReader *reader, const InstrumentSettings *settings, Records *records) {
    const uint8_t *region = reader->region;
    uint64_t begin = region_records_at(reader->sites, settings->block_threads);
    if (begin > settings->region_bytes) return damaged(reader, 0, "it is too small");
    uint64_t room = settings->region_bytes - begin, used = region_read(region + REGION_USED, 8);
    uint64_t lost_at = region_read(region + REGION_LOST_AT, 8);
    records->dropped = region_read(region + REGION_DROPPED, 8);
    records->left_out = region_read(region + REGION_LEFT_OUT, 8);
    if (!lost_at != !records->dropped)
        return damaged(reader, REGION_DROPPED, "the counts contradict each other");
    if (lost_at && ~lost_at > used) return damaged(reader, REGION_LOST_AT, "more is lost than was written");
    if (lost_at) used = ~lost_at;
    if (used > room || used % 8) return damaged(reader, REGION_USED, "its length is impossible");
    reader->begin = begin;
    reader->end = begin + used;
    return true;
}

/* Lanes of the warp that exist. */
static uint32_t lanes_of_warp(uint32_t threads, uint32_t warp) {
    uint32_t rest = warp * WARP_LANES < threads ? threads - warp * WARP_LANES : 0;
    return rest >= WARP_LANES ? ~UINT32_C(0) : (UINT32_C(1) << rest) - 1;
}

/* Reads the record at *at and advances *at. */
static bool read_record(const RecordReader *reader, uint64_t *at, Record *record) {
    if (reader->end - *at < RECORD_HEADER) return damaged(reader, *at, "a record is cut off");
    const uint8_t *from = reader->region + *at;
    uint32_t site = (uint32_t)region_read(from, 4), mask = (uint32_t)region_read(from + 4, 4);
    uint32_t warp = (uint32_t)region_read(from + 8, 4);
    if (site >= (uint32_t)reader->sites->site_count) return damaged(reader, *at, "there is no such site");
    if (!mask || mask & ~lanes_of_warp(reader->threads, warp))
        return damaged(reader, *at, "there are no such threads");
    *record = (Record){.site = &reader->sites->sites[site],
                       .columns = from + RECORD_HEADER,
                       .mask = mask,
                       .all = mask,
                       .warp = (uint8_t)warp,
                       .extra = (uint32_t)region_read(from + 12, 4),
                       .next = NONE};
    uint32_t bytes = region_record_bytes(record->site, mask);
    if (bytes > reader->end - *at) return damaged(reader, *at, "a record is cut off");
    *at += bytes;
    return true;
}

/* ---- records of one execution ----------------------------------------------------------------------- */

/* It names the lanes that it waits for. */
static bool is_exchange(const InstrumentSite *site) {
    uint32_t constant;
    bool exchanges = site->kind == TRACE_SHUFFLE || site->kind == TRACE_VOTE || site->kind == TRACE_REDUX;
    return exchanges && probe_plan_extra(site, &constant);
}

static bool is_together(const InstrumentSite *site) {
    switch (site->kind) {
    case TRACE_BARRIER:
    case TRACE_NAMED_BARRIER:
        return site->instruction->opcode == PTX_bar ||
               ptx_instruction_has(site->instruction, PTX_MOD_ALIGNED);
    default:
        return is_exchange(site);
    }
}

/* Without the records of spin loops that were left out, numbers say nothing. */
static bool belongs(const Records *records, const Record *first, const Record *record) {
    if (first->all & record->mask || first->extra != record->extra) return false;
    if (!records->left_out && first->number != record->number) return false;
    return !record->site->is_behind || !((first->all | record->mask) & ~record->extra);
}

/* Combines the records of one execution. `latest`: [warp][site], the latest first record. */
static void put_together(Records *records, int number, int *latest) {
    Record *record = &records->records[number];
    record->first = record->last = number;
    if (!is_together(record->site)) return;
    Record *first = *latest == NONE ? NULL : &records->records[*latest];
    if (!first || !belongs(records, first, record)) {
        *latest = number;
        return;
    }
    records->records[first->last].next = number;
    record->first = *latest;
    first->last = number;
    first->all |= record->mask;
}

bool records_read(Records *records, const InstrumentSites *sites, const InstrumentSettings *settings,
                  uint32_t block, const uint8_t *region, Error *error) {
    *records = (Records){0};
    RecordReader reader = {.sites = sites, .region = region, .block = block, .error = error};
    reader.threads = settings->block_threads;
    if (!read_header(&reader, settings, records)) return false;
    size_t warps = (reader.threads + WARP_LANES - 1) / WARP_LANES, count = warps * (size_t)sites->site_count;
    int *latest = memory_new((count + 1) * sizeof *latest);
    for (size_t i = 0; i < count; i++) latest[i] = NONE;
    Meetings *meetings = meetings_new();
    bool good = true;
    for (uint64_t at = reader.begin; good && at < reader.end;) {
        Record record = {0};
        good = read_record(&reader, &at, &record) && record.site;
        if (!good) break;
        if (is_exchange(record.site)) record.number = meetings_add(meetings, &record);
        array_push(records->records, records->count, records->capacity, record);
        put_together(records, records->count - 1,
                     &latest[record.warp * (size_t)sites->site_count + (size_t)(record.site - sites->sites)]);
    }
    for (int i = 0; i < records->count; i++)
        if (is_exchange(records->records[i].site))
            records->records[i].met = meetings_lanes(meetings, &records->records[i]);
    meetings_free(meetings);
    free(latest);
    if (!good) records_done(records);
    return good;
}

void records_done(Records *records) {
    free(records->records);
    *records = (Records){0};
}

uint64_t records_value(const Records *records, int number, int field, int lane) {
    const Record *record = &records->records[number];
    while (!(record->mask >> lane & 1)) record = &records->records[record->next];
    const InstrumentSite *site = record->site;
    size_t active = (size_t)__builtin_popcount(record->mask);
    size_t rank = (size_t)__builtin_popcount(record->mask & ((UINT32_C(1) << lane) - 1));
    bool wide = site->fields[field].wide;
    size_t before = 0; /* columns of the same width */
    for (int i = 0; i < field; i++) before += site->fields[i].wide == wide;
    if (wide) return region_read(record->columns + 8 * (before * active + rank), 8);
    return region_read(record->columns + 8 * (size_t)site->wide_count * active + 4 * (before * active + rank),
                       4);
}
