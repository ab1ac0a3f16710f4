/* The addresses, places and values of one partial event in its record (partial_events.h). */
#include "instrument/probe_copies.h"
#include "instrument/probe_tensor.h"
#include "ptx/matrix.h"

/* The field of an instruction's record, or -1 if it has none of that kind. */
static int field_of(const InstrumentSite *site, InstrumentFieldKind kind, int element) {
    for (int i = 0; i < site->field_count; i++)
        if (site->fields[i].kind == kind && site->fields[i].element == element) return i;
    return -1;
}

static const InstrumentSite *site_of(const PartialEvents *partial_events, const PartialEvent *partial) {
    return partial_events->records->records[partial->record].site;
}

uint64_t partial_event_value(const PartialEvents *partial_events, const PartialEvent *partial,
                             InstrumentFieldKind kind, int element, int lane) {
    int field = field_of(site_of(partial_events, partial), kind, element);
    return field < 0 ? 0 : records_value(partial_events->records, partial->record, field, lane);
}

uint32_t partial_event_copied(const PartialEvents *partial_events, const PartialEvent *partial, int lane) {
    const InstrumentSite *site = site_of(partial_events, partial);
    if (!trace_kind_is_bulk(site->kind) && !copies_reads_less(site)) return copies_whole_bytes(site);
    return (uint32_t)partial_event_value(partial_events, partial, INSTRUMENT_OPERAND, 0, lane);
}

const TensorMap *partial_event_map(const PartialEvents *partial_events, const PartialEvent *partial) {
    const InstrumentMemory *memory = partial_events->locator->memory;
    uint64_t digest =
        partial_event_value(partial_events, partial, INSTRUMENT_VALUE, 0, __builtin_ctz(partial->mask));
    for (int i = 0; i < memory->tensor_count; i++)
        if (memory->tensors[i].digest == digest) return &memory->tensors[i].map;
    return NULL;
}

TraceTile partial_event_tile(const PartialEvents *partial_events, const PartialEvent *partial,
                             uint64_t *global) {
    const InstrumentSite *site = site_of(partial_events, partial);
    TileRequest request = {.shape = trace_tile_shape(site->instruction),
                           .is_load = tensor_copy_is_load(site)};
    int lane = __builtin_ctz(partial->mask), rank = tensor_copy_rank(site);
    for (int d = 0; d < rank; d++)
        request.at[d] = (int32_t)partial_event_value(partial_events, partial, INSTRUMENT_OPERAND, d, lane);
    for (int side = 0; side < tensor_copy_offsets(site); side++)
        request.offset[side] =
            (uint16_t)partial_event_value(partial_events, partial, INSTRUMENT_OPERAND, rank + side, lane);
    return trace_tile_of(partial_event_map(partial_events, partial), &request, global);
}

static uint64_t tensor_address(const PartialEvents *partial_events, const PartialEvent *partial, int lane) {
    const InstrumentSite *site = site_of(partial_events, partial);
    uint64_t global;
    if (copies_part_space(site, partial->matrix) == PTX_SPACE_SHARED)
        return partial_event_value(partial_events, partial, INSTRUMENT_ADDRESS, 0, lane);
    TraceTile tile = partial_event_tile(partial_events, partial, &global);
    return trace_tile_is_outside(&tile) ? partial_event_map(partial_events, partial)->address : global;
}

uint64_t partial_event_address(const PartialEvents *partial_events, const PartialEvent *partial, int lane) {
    const InstrumentSite *site = site_of(partial_events, partial);
    if (tensor_copy_is_site(site)) return tensor_address(partial_events, partial, lane);
    if (copies_part_count(site)) {
        CopyPart part =
            copies_part(site, partial->matrix, partial_event_copied(partial_events, partial, lane));
        return partial_event_value(partial_events, partial, INSTRUMENT_ADDRESS, part.address, lane) +
               part.offset;
    }
    uint64_t address = partial_event_value(partial_events, partial, INSTRUMENT_ADDRESS, 0, lane);
    PtxMatrixAccess access;
    if (ptx_matrix_access(site->instruction, &access))
        return address + ptx_matrix_offset(&access, partial->matrix, lane,
                                           partial_events->records->records[partial->record].extra);
    if (!ptx_matrix_count(site->instruction)) return address;
    int row = 8 * partial->matrix + lane / 4;
    return partial_event_value(partial_events, partial, INSTRUMENT_ADDRESS, 0, row) +
           (uint64_t)(4 * (lane % 4));
}

/* A register whose halves the lanes exchanged after a load or before a store: the same exchange undoes it. */
static uint32_t exchanged_back(const PartialEvents *partial_events, const PartialEvent *partial, int index,
                               int lane) {
    uint32_t values[WARP_LANES] = {0};
    for (uint32_t rest = partial->mask; rest; rest &= rest - 1)
        values[__builtin_ctz(rest)] = (uint32_t)partial_event_value(partial_events, partial, INSTRUMENT_VALUE,
                                                                    index, __builtin_ctz(rest));
    ptx_matrix_transpose(values);
    return values[lane];
}

uint64_t partial_event_element(const PartialEvents *partial_events, const PartialEvent *partial, int element,
                               int lane) {
    const PtxInstruction *in = site_of(partial_events, partial)->instruction;
    PtxMatrixAccess access;
    bool is_fragment = ptx_matrix_access(in, &access);
    int index = is_fragment ? ptx_matrix_piece_register(&access, partial->matrix) + element
                            : partial->matrix + element;
    if (is_fragment ? access.is_transposed : ptx_matrix_is_transposed(in))
        return exchanged_back(partial_events, partial, index, lane);
    uint64_t bits = partial_event_value(partial_events, partial, INSTRUMENT_VALUE, index, lane);
    if (!is_fragment || access.pieces_of_register == 1) return bits;
    return ptx_fragment_element(&access.fragment, bits, ptx_matrix_piece_part(&access, partial->matrix));
}

PtxSpace partial_event_space(const PartialEvents *partial_events, const PartialEvent *partial) {
    const InstrumentSite *site = site_of(partial_events, partial);
    return copies_part_count(site) ? copies_part_space(site, partial->matrix) : site->instruction->space;
}

Location partial_event_location(const PartialEvents *partial_events, const PartialEvent *partial, int lane) {
    Location location = {0};
    locate(partial_events->locator, partial_event_space(partial_events, partial),
           partial_event_address(partial_events, partial, lane), &location);
    return location;
}
