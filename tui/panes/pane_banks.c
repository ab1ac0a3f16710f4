/* Banks: the shown warp's shared access. 32 columns are the banks, a row is a line of 32 words, a cell holds
 * the lane that accesses the word. The wavefronts of the access light up one after another; tall columns are
 * the conflict.
 *
 * All of the block's shared memory is shown where it fits, so that the picture does not move from step to
 * step; else the lines that the access touches. */
#include "tui/panes/pane.h"

#include "base/memory.h"
#include "tui/panes/ruler.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    LABEL_COLUMNS = 7,
    MOST_CELL_COLUMNS = 5,
    MAX_ROWS = WARP_LANES * 9
}; /* a 32-byte lane touches at most 9 words */

typedef struct BankRow {
    uint64_t line;               /* word / 32 */
    int8_t lane[BANK_COUNT];     /* lowest lane that accesses the word; -1: untouched */
    uint8_t sharers[BANK_COUNT]; /* lanes that access it */
    uint32_t lit, served;        /* banks served by the current wavefront, by an earlier one */
    uint32_t selected;           /* banks of the selected lane's words */
} BankRow;

typedef struct Banks {
    BankRow rows[MAX_ROWS]; /* ascending */
    int count;
    int words[BANK_COUNT];  /* distinct words per bank, in the current phase */
    int ways;               /* the most of them in any phase */
    bool shared_words;      /* several lanes access the same word */
    int phase, phase_lanes; /* of the current wavefront; lanes per phase */
    bool is_modelled;       /* wavefronts are known (not for atomics) */
} Banks;

static BankRow *row_of_line(Banks *banks, uint64_t line) {
    int at = 0;
    while (at < banks->count && banks->rows[at].line < line) at++;
    if (at < banks->count && banks->rows[at].line == line) return &banks->rows[at];
    if (banks->count == MAX_ROWS) return NULL;
    memmove(&banks->rows[at + 1], &banks->rows[at], (size_t)(banks->count - at) * sizeof *banks->rows);
    banks->count++;
    banks->rows[at] = (BankRow){.line = line};
    memset(banks->rows[at].lane, -1, sizeof banks->rows[at].lane);
    return &banks->rows[at];
}

static void banks_add_lane(Banks *banks, const StepContext *context, int lane) {
    uint64_t first = context->address[lane] / BANK_BYTES;
    uint64_t last = (context->address[lane] + (uint64_t)context->event.width - 1) / BANK_BYTES;
    int wavefront = banks->is_modelled ? context->wavefront_of_lane[lane] : -1;
    for (uint64_t word = first; word <= last; word++) {
        BankRow *row = row_of_line(banks, word / BANK_COUNT);
        int bank = (int)(word % BANK_COUNT);
        if (!row) return;
        if (row->lane[bank] < 0) row->lane[bank] = (int8_t)lane;
        if (++row->sharers[bank] > 1) banks->shared_words = true;
        if (wavefront == context->view->place.wavefront) row->lit |= 1u << bank;
        if (wavefront >= 0 && wavefront < context->view->place.wavefront) row->served |= 1u << bank;
        if (lane == context->view->selection.lane) row->selected |= 1u << bank;
    }
}

/* Distinct words per bank that the lanes of `mask` access. */
static int count_words(const StepContext *context, uint32_t mask, int words[BANK_COUNT]) {
    Banks *part = memory_new(sizeof *part);
    int most = 0;
    for (int lane = 0; lane < WARP_LANES; lane++)
        if (mask & context->event.mask & 1u << lane) banks_add_lane(part, context, lane);
    for (int bank = 0; bank < BANK_COUNT; bank++) {
        words[bank] = 0;
        for (int row = 0; row < part->count; row++) words[bank] += part->rows[row].lane[bank] >= 0;
        if (words[bank] > most) most = words[bank];
    }
    free(part);
    return most;
}

static void banks_fill(Banks *banks, const StepContext *context) {
    memset(banks, 0, sizeof *banks);
    banks->is_modelled = context->event.kind != TRACE_SHARED_ATOMIC;
    int phases = context->cost.phases > 0 ? context->cost.phases : 1;
    banks->phase_lanes = WARP_LANES / phases;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        if (!(context->event.mask >> lane & 1)) continue;
        banks_add_lane(banks, context, lane);
        if (banks->is_modelled && context->wavefront_of_lane[lane] == context->view->place.wavefront)
            banks->phase = lane / banks->phase_lanes;
    }
    for (int phase = 0; phase < phases; phase++) {
        uint32_t mask =
            phases == 1 ? 0xffffffffu : ((1u << banks->phase_lanes) - 1) << phase * banks->phase_lanes;
        int words[BANK_COUNT], ways = count_words(context, mask, words);
        if (phase == banks->phase) memcpy(banks->words, words, sizeof words);
        if (ways > banks->ways) banks->ways = ways;
    }
}

static const char *access_name(TraceKind kind) {
    return kind == TRACE_SHARED_LOAD ? "load" : kind == TRACE_SHARED_STORE ? "store" : "atomic";
}

/* The array's name as the source has it; "" for dynamic shared memory, which has no name in the source. */
static void print_symbol(const StepContext *context, char *out, size_t bytes) {
    int first = context->event.mask ? __builtin_ctz(context->event.mask) : 0;
    if (context->launch->static_shared_bytes == 0 && context->launch->dynamic_shared_bytes)
        *out = 0;
    else
        scene_short_name(context->launch->symbols[context->event.buffer[first]].name, out, bytes);
}

static void head(const StepContext *context, PaneHead *out) {
    const TraceEvent *event = &context->event;
    Banks *banks = memory_new(sizeof *banks);
    char symbol[48], width[24] = "", verdict[48];
    banks_fill(banks, context);
    print_symbol(context, symbol, sizeof symbol);
    if (event->width != BANK_BYTES)
        snprintf(width, sizeof width, " (%d byte%s)", event->width, event->width == 1 ? "" : "s");
    snprintf(out->title, sizeof out->title, "banks  w%d shared %s%s%s%s", event->warp,
             access_name(event->kind), *symbol ? " of " : "", symbol, width);
    bool excess = context->cost.wavefronts > context->cost.ideal;
    if (excess)
        snprintf(verdict, sizeof verdict, "%d-way conflict!", banks->ways);
    else
        snprintf(verdict, sizeof verdict, banks->shared_words ? "broadcast, no conflict" : "no conflict");
    if (banks->is_modelled)
        snprintf(out->note, sizeof out->note, "wavefront %d of %d, ideal %d   %s",
                 context->view->place.wavefront + 1, step_context_wavefronts(context), context->cost.ideal,
                 verdict);
    else
        snprintf(out->note, sizeof out->note, "wavefronts of atomics are not modelled");
    if (banks->is_modelled) out->note_role = excess ? ROLE_CONFLICT : ROLE_GOOD;
    free(banks);
}

static Role role_of_cell(const Banks *banks, const BankRow *line, int bank) {
    if (line->lit >> bank & 1) return ROLE_LIT;
    if (line->selected >> bank & 1) return ROLE_SELECTED;
    if (line->served >> bank & 1) return ROLE_DIM;
    return banks->is_modelled && banks->words[bank] > 1 ? ROLE_CONFLICT : ROLE_TEXT;
}

static void draw_cell(const Banks *banks, Canvas *canvas, Rectangle area, int column, int row, int width,
                      const BankRow *line, int bank) {
    if (line->lane[bank] < 0)
        canvas_glyph(canvas, area, column + (width > 3 ? width - 2 : width > 1), row, ROLE_IDLE, 0xB7);
    else
        ruler_draw_lane(canvas, area, column, row, width, role_of_cell(banks, line, bank), line->lane, bank,
                        line->sharers[bank] > 1, line->selected >> bank & 1);
}

static int cell_columns(Rectangle area) {
    int width = (area.columns - LABEL_COLUMNS) / BANK_COUNT;
    return width < 1 ? 1 : width > MOST_CELL_COLUMNS ? MOST_CELL_COLUMNS : width;
}

/* `mark`: 0, '~' where lines above are left out, an arrow where rows are out of sight. */
static void draw_row(const Banks *banks, Canvas *canvas, Rectangle area, int row, int width,
                     const BankRow *line, uint32_t mark) {
    canvas_print(canvas, area, 1, row, line->lit ? ROLE_CURRENT : ROLE_DIM, "%4llu%c",
                 (unsigned long long)line->line * BANK_COUNT, line->lit ? '>' : ' ');
    if (mark) canvas_glyph(canvas, area, 0, row, ROLE_CURRENT, mark);
    for (int bank = 0; bank < BANK_COUNT; bank++)
        draw_cell(banks, canvas, area, LABEL_COLUMNS + bank * width, row, width, line, bank);
}

static void draw_header(Canvas *canvas, Rectangle area, int width) {
    canvas_text(canvas, area, 1, 0, ROLE_DIM, "bank");
    for (int bank = 0; bank < BANK_COUNT; bank++) {
        int column = LABEL_COLUMNS + bank * width + (width > 3 ? width - 3 : 0);
        if (width == 1 && bank % 8 == 0)
            canvas_print(canvas, area, column, 0, ROLE_DIM, "%d", bank);
        else if (width > 2 || (width == 2 && bank % 2 == 0))
            canvas_print(canvas, area, column, 0, ROLE_DIM, "%2d", bank);
    }
}

static void draw_words(const Banks *banks, Canvas *canvas, Rectangle area, int row, int width) {
    canvas_text(canvas, area, 1, row, ROLE_DIM, "words");
    for (int bank = 0; bank < BANK_COUNT; bank++) {
        int column = LABEL_COLUMNS + bank * width + (width > 3 ? width - 3 : 0), words = banks->words[bank];
        Role role = words > 1 && banks->is_modelled ? ROLE_CONFLICT : ROLE_DIM;
        if (!words)
            canvas_glyph(canvas, area, column + (width > 1), row, ROLE_IDLE, '.');
        else if (width == 1)
            canvas_glyph(canvas, area, column, row, role, words > 9 ? '#' : (uint32_t)('0' + words));
        else
            canvas_print(canvas, area, column, row, role,
                         words < 2 || !banks->is_modelled ? "%2d"
                         : width > 2                      ? "%2d!"
                         : words < 10                     ? "%d!"
                                                          : "%2d",
                         words);
    }
}

static void draw_lane_note(const StepContext *context, const Banks *banks, Canvas *canvas, Rectangle area,
                           int row) {
    int lane = context->view->selection.lane;
    unsigned long long word = context->address[lane] / BANK_BYTES;
    char place[96];
    Text text = {0};
    int at = snprintf(place, sizeof place, "word %llu, bank %llu", word, word % BANK_COUNT);
    if (banks->is_modelled)
        snprintf(place + at, sizeof place - (size_t)at, ", in wavefront %d",
                 context->wavefront_of_lane[lane] + 1);
    step_context_describe_access(context, lane, place, &text);
    canvas_text(canvas, area, 1, row, context->event.mask >> lane & 1 ? ROLE_TEXT : ROLE_DIM,
                text_string(&text));
    text_done(&text);
}

/* One line about the selected lane, and what the cells mean. */
static void draw_notes(const StepContext *context, const Banks *banks, Canvas *canvas, Rectangle area,
                       int row) {
    if (row < area.rows) draw_lane_note(context, banks, canvas, area, row++);
    if (row < area.rows && context->cost.phases > 1) {
        int first = banks->phase * banks->phase_lanes;
        canvas_print(canvas, area, 1, row++, ROLE_TEXT,
                     "%d bytes per lane take %d phases; phase %d serves lanes %d-%d%s", context->event.width,
                     context->cost.phases, banks->phase + 1, first, first + banks->phase_lanes - 1,
                     context->cost.is_paired ? "; halved by the pair rule" : "");
    } else if (row < area.rows && context->cost.is_paired) {
        canvas_text(
            canvas, area, 1, row++, ROLE_TEXT,
            "pair rule: each lane's neighbour loads the same address or is inactive: two phases become one");
    }
    const char *cells = banks->shared_words
                            ? "cell: the lane that accesses the word; +: several lanes share it (broadcast)"
                            : "cell: the lane that accesses the word; a bank serves one word per wavefront";
    Rectangle line = {area.column + 1, area.row + row, area.columns - 1, 1};
    if (row < area.rows) canvas_paragraph(canvas, line, 0, ROLE_DIM, cells);
}

/* Lines that are not accessed, between and around the others, where all of shared memory fits. */
static void add_untouched_rows(Banks *banks, const StepContext *context, int room) {
    uint64_t bytes = context->launch->static_shared_bytes + (uint64_t)context->launch->dynamic_shared_bytes;
    uint64_t lines = (bytes + BANK_COUNT * BANK_BYTES - 1) / (BANK_COUNT * BANK_BYTES);
    if (room < 1 || lines > (uint64_t)room) return;
    for (uint64_t line = 0; line < lines; line++) row_of_line(banks, line);
}

/* First of the rows shown: the one being served stays in sight. */
static int first_row(const Banks *banks, int room) {
    int lit = 0;
    while (lit < banks->count && !banks->rows[lit].lit) lit++;
    if (lit == banks->count) lit = 0;
    int first = banks->count > room ? lit - room / 2 : 0;
    if (first > banks->count - room) first = banks->count - room;
    return first < 0 ? 0 : first;
}

/* Which rows are shown where. */
typedef struct BankGrid {
    int width, room, first; /* columns of a cell, rows for lines, the first line shown */
    int spacing;            /* rows from one line to the next */
} BankGrid;

static BankGrid lay_out(Banks *banks, const StepContext *context, Rectangle area) {
    BankGrid grid = {.width = cell_columns(area),
                     .room = area.rows - 2}; /* the header and the words take a row each */
    if (grid.room > banks->count + 1 || grid.room > 8) grid.room -= 1; /* the lane's line */
    add_untouched_rows(banks, context, grid.room);
    grid.first = first_row(banks, grid.room);
    grid.spacing = context->view->display.projector && banks->count * 2 <= grid.room ? 2 : 1;
    return grid;
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    Banks *banks = memory_new(sizeof *banks);
    banks_fill(banks, context);
    BankGrid grid = lay_out(banks, context, area);
    draw_header(canvas, area, grid.width);
    int row = 1;
    for (int i = grid.first; i < banks->count && i < grid.first + grid.room; i++, row += grid.spacing) {
        bool gap = i > 0 && banks->rows[i - 1].line + 1 != banks->rows[i].line;
        bool above = i == grid.first && i > 0,
             below = i == grid.first + grid.room - 1 && i + 1 < banks->count;
        uint32_t mark = above ? 0x2191 : below ? 0x2193 : gap ? '~' : 0;
        draw_row(banks, canvas, area, row, grid.width, &banks->rows[i], mark);
    }
    draw_words(banks, canvas, area, row++, grid.width);
    draw_notes(context, banks, canvas, area, row);
    free(banks);
}

/* Selects the lane that accesses the word. */
static ViewAnswer click(const StepContext *context, Rectangle area, int column, int row, View *view) {
    Banks *banks = memory_new(sizeof *banks);
    banks_fill(banks, context);
    BankGrid grid = lay_out(banks, context, area);
    int line = grid.first + (row - 1) / grid.spacing, bank = (column - LABEL_COLUMNS) / grid.width;
    bool inside =
        row > 0 && row <= grid.room && line < banks->count && column >= LABEL_COLUMNS && bank < BANK_COUNT;
    if (inside && banks->rows[line].lane[bank] >= 0) view->selection.lane = banks->rows[line].lane[bank];
    free(banks);
    return VIEW_CHANGED;
}

const Pane pane_banks = {
    .slot = SLOT_PICTURE,
    .kinds = 1u << TRACE_SHARED_LOAD | 1u << TRACE_SHARED_STORE | 1u << TRACE_SHARED_ATOMIC,
    .head = head,
    .draw = draw,
    .click = click,
};
