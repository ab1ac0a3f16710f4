/* A shared access as lines of 32 words (banks.h). */
#include "tui/panes/banks.h"

#include <stdlib.h>

/* The row of this line of 32 words, added if missing; NULL: no room. */
static BankRow *banks_row_of_line(Banks *banks, uint64_t line) {
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

/* ---- places on the screen ------------------------------------------------------------------------------ */

enum {
    LABEL_COLUMNS = 7,
    MOST_CELL_COLUMNS = 5,
    LEAST_LARGE_COLUMNS = 5, /* a value of four digits and a space */
    MOST_LARGE_COLUMNS = 8,
    BESIDE_BANKS = 8, /* banks per row whose cells show all their parts side by side */
    LEAST_BESIDE_COLUMNS = 12,
    MOST_BESIDE_COLUMNS = 14,
    LARGE_LABEL_COLUMNS = 8
};

bool bank_grid_is_enlarged(const StepContext *context) {
    return context->view->display.zoomed && context->view->display.focus == FOCUS_PICTURE;
}

static int cell_columns(Rectangle area, int label, int banks, int most) {
    int width = (area.columns - label) / banks;
    return canvas_clamp(width, 1, most);
}

/* Adds lines that are not accessed, between and around the others, if all of shared memory fits. */
static void add_untouched_rows(Banks *banks, const StepContext *context, int room) {
    BankLines lines = banks_lines_of_arrays(context);
    if (room < 1 || lines.count > (uint64_t)room) return;
    for (uint64_t line = 0; line < lines.count; line++) banks_row_of_line(banks, lines.first + line);
}

static BankGrid finish(const Banks *banks, BankGrid grid) {
    /* The first row shown: the row being served stays visible. */
    int lit = 0;
    while (lit < banks->count && !banks->rows[lit].lit) lit++;
    if (lit == banks->count) lit = 0;
    int first = banks->count > grid.room ? lit - grid.room / 2 : 0;
    if (first > banks->count - grid.room) first = banks->count - grid.room;
    grid.first = first < 0 ? 0 : first;
    grid.shown = banks->count - grid.first < grid.room ? banks->count - grid.first : grid.room;
    grid.band_rows = 2 + grid.shown * grid.spacing;
    return grid;
}

static BankGrid lay_out_plain(Banks *banks, const StepContext *context, Rectangle area) {
    BankGrid grid = {.label = LABEL_COLUMNS,
                     .width = cell_columns(area, LABEL_COLUMNS, BANK_COUNT, MOST_CELL_COLUMNS),
                     .banks = BANK_COUNT,
                     .bands = 1,
                     .cell_rows = 1,
                     .room = area.rows - 2}; /* the header and the words take a row each */
    bool is_full = banks_fill_rows(context, area.rows);
    /* The selected lane's line. */
    if (!is_full && (grid.room > banks->count + 1 || grid.room > 8)) grid.room -= 1;
    add_untouched_rows(banks, context, grid.room);
    if (banks->count > grid.room && grid.room > 2) grid.room -= 1; /* the number of hidden lines */
    grid.spacing = context->view->display.projector ? pane_cell_rows(banks->count, grid.room) : 1;
    return finish(banks, grid);
}

/* The bank of the selected lane's word, or of any word. */
static int bank_in_sight(const Banks *banks) {
    int any = BANK_COUNT;
    for (int i = 0; i < banks->count; i++) {
        if (banks->rows[i].selected) return __builtin_ctz(banks->rows[i].selected);
        for (int bank = 0; bank < any; bank++)
            if (banks->rows[i].lane[bank] >= 0) any = bank;
    }
    return any < BANK_COUNT ? any : 0;
}

/* Prefers large cells with all their parts, then all banks, then all lines. */
static BankGrid lay_out_large(const Banks *banks, const StepContext *context, Rectangle area) {
    enum { NOTE_ROWS = 3 };
    bool is_phased = context->cost.phases > 1 || context->cost.is_paired;
    int rows = area.rows - NOTE_ROWS - is_phased, count = BANK_COUNT;
    while (count > BESIDE_BANKS &&
           cell_columns(area, LARGE_LABEL_COLUMNS, count, MOST_LARGE_COLUMNS) < LEAST_LARGE_COLUMNS)
        count /= 2;
    int all = BANK_COUNT / count;
    for (int turn = 0; turn < 4; turn++) {
        BankGrid grid = {.label = LARGE_LABEL_COLUMNS,
                         .width = cell_columns(area, LARGE_LABEL_COLUMNS, count, MOST_LARGE_COLUMNS),
                         .banks = count,
                         .cell_rows = turn % 2 || !banks->is_modelled ? 2 : 3,
                         .room = banks->count};
        grid.spacing = grid.cell_rows;
        grid = finish(banks, grid);
        grid.bands = rows / grid.band_rows < all ? rows / grid.band_rows : all;
        if (grid.bands < (turn < 2 ? all : 1)) continue;
        grid.band = bank_in_sight(banks) / count;
        if (grid.band > all - grid.bands) grid.band = all - grid.bands;
        return grid;
    }
    count = BESIDE_BANKS;
    while (count > 1 && cell_columns(area, LABEL_COLUMNS, count, MOST_BESIDE_COLUMNS) < LEAST_BESIDE_COLUMNS)
        count /= 2;
    BankGrid grid = {.label = LABEL_COLUMNS,
                     .width = cell_columns(area, LABEL_COLUMNS, count, MOST_BESIDE_COLUMNS),
                     .banks = count,
                     .band = bank_in_sight(banks) / count,
                     .bands = 1,
                     .cell_rows = 1,
                     .is_beside = true,
                     .spacing = 1,
                     .room = rows > 3 ? rows - 2 : 1};
    if (banks->count > grid.room && grid.room > 2) grid.room -= 1; /* the number of hidden lines */
    return finish(banks, grid);
}

BankGrid bank_grid_lay_out(Banks *banks, const StepContext *context, Rectangle area) {
    return bank_grid_is_enlarged(context) ? lay_out_large(banks, context, area)
                                          : lay_out_plain(banks, context, area);
}
