/* From records to pieces (pieces.h). */
#include "instrument/pieces.h"

#include "base/memory.h"
#include <stdlib.h>

typedef struct Occurrences { /* of one site and thread, in the interval that it is in */
    uint32_t interval, count;
} Occurrences;

typedef struct Cutter {
    Pieces *pieces;
    uint32_t block;
    uint32_t *interval;        /* [thread] block-wide barriers that it has passed */
    Occurrences **occurrences; /* [pc][thread], made when a pc is first met */
    Spinning *spinning;
    Error *error;
} Cutter;

int field_of(const InstrumentSite *site, InstrumentFieldKind kind, int element) {
    for (int i = 0; i < site->field_count; i++)
        if (site->fields[i].kind == kind && site->fields[i].element == element) return i;
    return -1;
}

static const InstrumentSite *site_of(const Pieces *pieces, const Piece *piece) {
    return pieces->records->records[piece->record].site;
}

uint64_t piece_value(const Pieces *pieces, const Piece *piece, InstrumentFieldKind kind, int element,
                     int lane) {
    int field = field_of(site_of(pieces, piece), kind, element);
    return field < 0 ? 0 : records_value(pieces->records, piece->record, field, lane);
}

uint64_t piece_address(const Pieces *pieces, const Piece *piece, int lane) {
    if (!ptx_matrix_count(site_of(pieces, piece)->instruction))
        return piece_value(pieces, piece, INSTRUMENT_ADDRESS, 0, lane);
    int row = 8 * piece->matrix + lane / 4;
    return piece_value(pieces, piece, INSTRUMENT_ADDRESS, 0, row) + (uint64_t)(4 * (lane % 4));
}

Location piece_location(const Pieces *pieces, const Piece *piece, int lane) {
    Location location = {0};
    locate(pieces->locator, site_of(pieces, piece)->instruction->space, piece_address(pieces, piece, lane),
           &location);
    return location;
}

/* ---- interval, occurrence --------------------------------------------------------------------------- */

static uint32_t *interval_of(const Cutter *cutter, const Piece *piece, int lane) {
    uint32_t warp = cutter->pieces->records->records[piece->record].warp;
    return &cutter->interval[warp * WARP_LANES + (uint32_t)lane];
}

static uint32_t latest_interval(const Cutter *cutter, const Piece *piece) {
    uint32_t latest = 0;
    for (uint32_t rest = piece->mask; rest; rest &= rest - 1) {
        uint32_t interval = *interval_of(cutter, piece, __builtin_ctz(rest));
        if (interval > latest) latest = interval;
    }
    return latest;
}

static Occurrences *occurrences_of(Cutter *cutter, const Piece *piece) {
    Occurrences **of = &cutter->occurrences[piece->pc];
    size_t threads = ((size_t)cutter->pieces->threads + WARP_LANES - 1) / WARP_LANES * WARP_LANES;
    if (!*of) *of = memory_new(threads * sizeof **of);
    return *of + cutter->pieces->records->records[piece->record].warp * (size_t)WARP_LANES;
}

static void count_occurrence(Cutter *cutter, Piece *piece) {
    Occurrences *counts = occurrences_of(cutter, piece);
    int lowest = __builtin_ctz(piece->mask);
    piece->interval = latest_interval(cutter, piece);
    piece->occurrence = counts[lowest].interval == piece->interval ? counts[lowest].count : 0;
    for (uint32_t rest = piece->mask; rest; rest &= rest - 1) {
        Occurrences *of = &counts[__builtin_ctz(rest)];
        if (of->interval != piece->interval) *of = (Occurrences){piece->interval, 0};
        of->count++;
    }
    if (piece->kind != TRACE_BARRIER) return;
    for (uint32_t rest = piece->mask; rest; rest &= rest - 1)
        *interval_of(cutter, piece, __builtin_ctz(rest)) = piece->interval + 1;
}

/* The loop has gone round once more: the later round takes the place of the earlier one in the counts. */
static void drop_round(Cutter *cutter, const int *earlier, const int *later, int period) {
    for (int i = 0; i < period; i++) {
        Piece *old = &cutter->pieces->pieces[earlier[i]], *new = &cutter->pieces->pieces[later[i]];
        old->is_dropped = true;
        new->occurrence = old->occurrence;
        Occurrences *counts = occurrences_of(cutter, old);
        for (uint32_t rest = old->mask; rest; rest &= rest - 1) {
            Occurrences *of = &counts[__builtin_ctz(rest)];
            if (of->interval == old->interval && of->count) of->count--;
        }
    }
}

static void add_piece(Cutter *cutter, Piece piece) {
    Pieces *pieces = cutter->pieces;
    const int *earlier, *later;
    int period;
    count_occurrence(cutter, &piece);
    array_push(pieces->pieces, pieces->count, pieces->capacity, piece);
    if (!spinning_note(cutter->spinning, pieces, pieces->count - 1, &earlier, &later, &period)) return;
    drop_round(cutter, earlier, later, period);
    spinning_forget(cutter->spinning, pieces->records->records[piece.record].warp, period);
}

/* ---- cutting ---------------------------------------------------------------------------------------- */

static bool refuse_address(const Cutter *cutter, const InstrumentSite *site, uint64_t address) {
    return error_set(cutter->error,
                     "the trace buffer, block %u: %s reached the address 0x%llx, which is in no buffer",
                     cutter->block, site->instruction->name, (unsigned long long)address);
}

/* A piece for each place, as the emulator orders them: shared, local, then buffers by their first lane. */
static bool cut_access(Cutter *cutter, Piece piece) {
    const Pieces *pieces = cutter->pieces;
    const InstrumentSite *site = site_of(pieces, &piece);
    Location where[WARP_LANES];
    uint32_t left = piece.mask, in_space[2] = {0};
    for (uint32_t rest = left; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t address = piece_address(pieces, &piece, lane);
        if (!locate(pieces->locator, site->instruction->space, address, &where[lane]))
            return refuse_address(cutter, site, address);
        if (where[lane].space == PTX_SPACE_SHARED) in_space[0] |= UINT32_C(1) << lane;
        if (where[lane].space == PTX_SPACE_LOCAL) in_space[1] |= UINT32_C(1) << lane;
    }
    for (int i = 0; left; i++) {
        uint32_t mask = i < 2 ? in_space[i] : 0;
        int first = __builtin_ctz(mask ? mask : left);
        for (uint32_t rest = i < 2 ? 0 : left; rest; rest &= rest - 1)
            if (where[__builtin_ctz(rest)].buffer == where[first].buffer) mask |= rest & (0 - rest);
        if (!mask) continue;
        left &= ~mask;
        Piece part = piece;
        part.mask = mask;
        part.kind = trace_kind_in_space(site->kind, where[first].space);
        if (site->kind == TRACE_CONSTANT_LOAD) part.kind = TRACE_CONSTANT_LOAD;
        add_piece(cutter, part);
    }
    return true;
}

/* Stands this record for its execution? Of what the probe stands behind, the first does; of barriers the
 * last. */
static bool stands_for_all(const Records *records, int number) {
    const Record *record = &records->records[number];
    const Record *first = &records->records[record->first];
    return number == (record->site->is_behind ? record->first : first->last);
}

static bool cut_record(Cutter *cutter, int number) {
    const Records *records = cutter->pieces->records;
    const PtxProgram *program = cutter->pieces->launch->program;
    const Record *first = &records->records[records->records[number].first];
    const InstrumentSite *site = first->site;
    int function = ptx_program_function(program, program->module->functions[site->function]);
    if (function < 0)
        return error_set(cutter->error,
                         "the trace buffer is damaged: block %u has records of another kernel (%s)",
                         cutter->block, program->module->functions[site->function]->name);
    Piece piece = {.record = records->records[number].first,
                   .pc = program->functions[function].begin + site->place,
                   .mask = first->all,
                   .kind = site->kind};
    if (!trace_kind_is_access(site->kind)) {
        add_piece(cutter, piece);
        return true;
    }
    int matrices = ptx_matrix_count(site->instruction);
    do {
        if (!cut_access(cutter, piece)) return false;
    } while (++piece.matrix < matrices);
    return true;
}

bool pieces_make(Pieces *pieces, uint32_t block, Error *error) {
    size_t warps = (pieces->threads + WARP_LANES - 1) / WARP_LANES;
    size_t codes = (size_t)pieces->launch->program->code_count;
    Cutter cutter = {.pieces = pieces, .block = block, .error = error};
    cutter.interval = memory_new((warps * WARP_LANES + 1) * sizeof *cutter.interval);
    cutter.occurrences = memory_new((codes + 1) * sizeof *cutter.occurrences);
    cutter.spinning = spinning_new((int)warps);
    bool good = true;
    for (int i = 0; good && i < pieces->records->count; i++)
        if (stands_for_all(pieces->records, i)) good = cut_record(&cutter, i);
    for (size_t pc = 0; pc < codes; pc++) free(cutter.occurrences[pc]);
    free(cutter.occurrences);
    free(cutter.interval);
    spinning_free(cutter.spinning);
    return good;
}

void pieces_done(Pieces *pieces) {
    free(pieces->pieces);
    *pieces = (Pieces){0};
}
