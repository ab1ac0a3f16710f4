/* A shared access as lines of 32 words (banks.h). */
#include "tui/panes/banks.h"

#include "base/memory.h"

#include <stdlib.h>

BankRow *banks_row_of_line(Banks *banks, uint64_t line) {
    int at = 0;
    while (at < banks->count && banks->rows[at].line < line) at++;
    if (at < banks->count && banks->rows[at].line == line) return &banks->rows[at];
    if (banks->count == BANKS_MOST_ROWS) return NULL;
    memmove(&banks->rows[at + 1], &banks->rows[at], (size_t)(banks->count - at) * sizeof *banks->rows);
    banks->count++;
    banks->rows[at] = (BankRow){.line = line};
    memset(banks->rows[at].lane, -1, sizeof banks->rows[at].lane);
    return &banks->rows[at];
}

static void add_lane(Banks *banks, const StepContext *context, int lane) {
    uint64_t first = context->address[lane] / BANK_BYTES;
    uint64_t last = (context->address[lane] + (uint64_t)context->event.width - 1) / BANK_BYTES;
    int now = context->view->place.wavefront,
        begin = banks->is_modelled ? context->wavefront_of_lane[lane] : -1;
    bool is_lit = begin >= 0 && begin <= now && now < begin + context->cost.each;
    for (uint64_t word = first; word <= last; word++) {
        BankRow *row = banks_row_of_line(banks, word / BANK_COUNT);
        int bank = (int)(word % BANK_COUNT);
        if (!row) return;
        if (row->lane[bank] < 0 || (is_lit && !(row->lit >> bank & 1))) row->lane[bank] = (int8_t)lane;
        if (++row->sharers[bank] > 1) banks->shared_words = true;
        if (is_lit) row->lit |= 1u << bank;
        if (begin >= 0 && !is_lit && begin < now) row->served |= 1u << bank;
        if (begin > now) row->waits |= 1u << bank;
        if (lane == context->view->selection.lane) row->selected |= 1u << bank;
    }
}

/* Distinct words per bank that the lanes of `mask` access, or these lanes. */
static int count_words(const StepContext *context, uint32_t mask, bool is_of_lanes, int words[BANK_COUNT]) {
    Banks *part = memory_new(sizeof *part);
    int most = 0;
    for (int lane = 0; lane < WARP_LANES; lane++)
        if (mask & context->event.mask & 1u << lane) add_lane(part, context, lane);
    for (int bank = 0; bank < BANK_COUNT; bank++) {
        words[bank] = 0;
        for (int row = 0; row < part->count; row++)
            words[bank] += is_of_lanes ? part->rows[row].sharers[bank] : part->rows[row].lane[bank] >= 0;
        if (words[bank] > most) most = words[bank];
    }
    free(part);
    return most;
}

void banks_fill(Banks *banks, const StepContext *context) {
    memset(banks, 0, sizeof *banks);
    banks->is_modelled = context->cost.each > 0;
    banks->counts_lanes = context->event.kind == TRACE_SHARED_ATOMIC && context->code &&
                          access_atomic_counts_lanes(context->code->atomic_form) &&
                          context->cost.wavefronts > context->cost.ideal;
    banks->is_trap = context->trap != NULL;
    int phases = context->cost.phases > 0 ? context->cost.phases : 1;
    banks->phase_lanes = WARP_LANES / phases;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        if (!(context->event.mask >> lane & 1)) continue;
        add_lane(banks, context, lane);
        if (banks->is_modelled && context->wavefront_of_lane[lane] == context->view->place.wavefront)
            banks->phase = lane / banks->phase_lanes;
    }
    for (int row = 0; row < banks->count; row++) banks->rows[row].served &= ~banks->rows[row].waits;
    for (int phase = 0; phase < phases; phase++) {
        uint32_t mask =
            phases == 1 ? 0xffffffffu : ((1u << banks->phase_lanes) - 1) << phase * banks->phase_lanes;
        int words[BANK_COUNT], ways = count_words(context, mask, banks->counts_lanes, words);
        if (phase == banks->phase) memcpy(banks->words, words, sizeof words);
        if (ways > banks->ways) banks->ways = ways;
    }
}

BankLines banks_lines_of_arrays(const StepContext *context) {
    enum { LINE_BYTES = BANK_COUNT * BANK_BYTES };
    const TraceLaunch *launch = context->launch;
    uint64_t begin = UINT64_MAX, bytes = launch->static_shared_bytes + (uint64_t)launch->dynamic_shared_bytes;
    for (int i = 0; i < launch->symbol_count; i++)
        if (launch->symbols[i].space == PTX_SPACE_SHARED && launch->symbols[i].window_offset < begin)
            begin = launch->symbols[i].window_offset;
    if (begin == UINT64_MAX) begin = 0;
    uint64_t first = begin / LINE_BYTES, end = (begin + bytes + LINE_BYTES - 1) / LINE_BYTES;
    return (BankLines){first, end - first};
}

bool banks_fill_rows(const StepContext *context, int rows) {
    return banks_lines_of_arrays(context).count + 2 == (uint64_t)rows;
}
