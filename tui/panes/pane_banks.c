/* Banks: the shown warp's shared access. 32 columns are the banks, a row is a line of 32 words, a cell holds
 * the lane that accesses the word. The wavefronts of the access light up one after another; tall columns are
 * the conflict.
 *
 * All of the block's shared memory is shown where it fits, so that the picture does not move from step to
 * step; else the lines that the access touches. The enlarged pane shows these in large cells, with the values and
 * with how long each access waits; banks that do not fit side by side then follow below, or where the selected lane is
 * one of theirs. */
#include "tui/panes/pane.h"

#include "base/memory.h"
#include "tui/panes/ruler.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    LABEL_COLUMNS = 7,
    MOST_CELL_COLUMNS = 5,
    LEAST_LARGE_COLUMNS = 5, /* a value of four digits and a space */
    MOST_LARGE_COLUMNS = 8,
    BESIDE_BANKS = 8, /* of a row whose cells have all their parts side by side */
    LEAST_BESIDE_COLUMNS = 12,
    MOST_BESIDE_COLUMNS = 14,
    LARGE_LABEL_COLUMNS = 8,
    WAIT_COLUMNS = 4, /* "+31 " */
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
    bool is_trap;           /* the access that ended the run */
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
    banks->is_trap = context->trap != NULL;
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

/* The lines of the kernel's arrays. On a GPU they begin behind what the driver reserves. */
typedef struct Lines {
    uint64_t first, count;
} Lines;

static Lines lines_of_arrays(const StepContext *context) {
    enum { LINE_BYTES = BANK_COUNT * BANK_BYTES };
    const TraceLaunch *launch = context->launch;
    uint64_t begin = UINT64_MAX, bytes = launch->static_shared_bytes + (uint64_t)launch->dynamic_shared_bytes;
    for (int i = 0; i < launch->symbol_count; i++)
        if (launch->symbols[i].space == PTX_SPACE_SHARED && launch->symbols[i].window_offset < begin)
            begin = launch->symbols[i].window_offset;
    if (begin == UINT64_MAX) begin = 0;
    uint64_t first = begin / LINE_BYTES, end = (begin + bytes + LINE_BYTES - 1) / LINE_BYTES;
    return (Lines){first, end - first};
}

/* All of shared memory takes every row but those of the header and the words. */
static bool fills(const StepContext *context, int rows) {
    return lines_of_arrays(context).count + 2 == (uint64_t)rows;
}

/* Rows that are left out because no array of the kernel lies there; "": none. */
static void print_below(const StepContext *context, const Banks *banks, char *out, size_t bytes) {
    uint64_t first = lines_of_arrays(context).first;
    *out = 0;
    if (first && banks->count && banks->rows[0].line >= first)
        snprintf(out, bytes, "; words 0-%llu untouched", (unsigned long long)first * BANK_COUNT - 1);
}

/* Of title and note only what fits: the warp, and what the access costs. */
static void drop_symbol(PaneHead *head) {
    enum { AROUND_COLUMNS = 7 };
    int room = head->columns - AROUND_COLUMNS;
    char *symbol = strstr(head->title, " of ");
    if (canvas_text_columns(head->title) + canvas_text_columns(head->note) > room && symbol) *symbol = 0;
}

static void head(const StepContext *context, PaneHead *out) {
    const TraceEvent *event = &context->event;
    Banks *banks = memory_new(sizeof *banks);
    char symbol[48], width[24] = "", verdict[48], below[48];
    int first = event->mask ? __builtin_ctz(event->mask) : 0;
    bool has_no_legend = fills(context, out->rows) && out->columns >= 90;
    banks_fill(banks, context);
    step_context_print_symbol(context, event->buffer[first], symbol, sizeof symbol);
    if (event->width != BANK_BYTES)
        snprintf(width, sizeof width, " (%d byte%s)", event->width, event->width == 1 ? "" : "s");
    print_below(context, banks, below, sizeof below);
    snprintf(out->title, sizeof out->title, "banks  w%d shared %s%s%s%s%s%s", event->warp,
             access_name(event->kind), strcmp(symbol, "shared") ? " of " : "",
             strcmp(symbol, "shared") ? symbol : "", width, has_no_legend ? "   cells: lanes" : "",
             has_no_legend ? below : "");
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
    pane_note_trap(context, out);
    drop_symbol(out);
    free(banks);
}

static Role role_of_cell(const Banks *banks, const BankRow *line, int bank) {
    if (banks->is_trap) return ROLE_WARNING;
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

/* ---- where everything goes ----------------------------------------------------------------------------- */

/* Banks side by side make a band: a header, the lines, the words. */
typedef struct BankGrid {
    int label, width, banks; /* columns left of the cells, columns of a cell, cells of a row */
    int band, bands;         /* the first band shown, and how many */
    int room, first, shown;  /* rows for lines, the first line shown, how many */
    int cell_rows;           /* 1: the lane; 2: and its value; 3: and how long it waits */
    bool is_beside;          /* all of it in one row */
    int spacing;             /* rows from one line to the next */
    int band_rows;
} BankGrid;

static bool is_enlarged(const StepContext *context) {
    return context->view->display.zoomed && context->view->display.focus == FOCUS_PICTURE;
}

static int cell_columns(Rectangle area, int label, int banks, int most) {
    int width = (area.columns - label) / banks;
    return width < 1 ? 1 : width > most ? most : width;
}

/* Lines that are not accessed, between and around the others, where all of shared memory fits. */
static void add_untouched_rows(Banks *banks, const StepContext *context, int room) {
    Lines lines = lines_of_arrays(context);
    if (room < 1 || lines.count > (uint64_t)room) return;
    for (uint64_t line = 0; line < lines.count; line++) row_of_line(banks, lines.first + line);
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

static BankGrid finish(const Banks *banks, BankGrid grid) {
    grid.first = first_row(banks, grid.room);
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
    bool is_full = fills(context, area.rows);
    if (!is_full && (grid.room > banks->count + 1 || grid.room > 8)) grid.room -= 1; /* the lane's line */
    add_untouched_rows(banks, context, grid.room);
    if (banks->count > grid.room && grid.room > 2) grid.room -= 1; /* how many are out of sight */
    grid.spacing = context->view->display.projector && banks->count * 2 <= grid.room ? 2 : 1;
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

/* Large cells with all their parts, before all banks, before all lines. */
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
    if (banks->count > grid.room && grid.room > 2) grid.room -= 1; /* how many are out of sight */
    return finish(banks, grid);
}

static BankGrid lay_out(Banks *banks, const StepContext *context, Rectangle area) {
    return is_enlarged(context) ? lay_out_large(banks, context, area) : lay_out_plain(banks, context, area);
}

/* ---- cells --------------------------------------------------------------------------------------------- */

/* The text of a number, rounded where it has more than `columns`: "0.77", "-1e3"; '#' where it cannot be. */
static void shorten(char *text, size_t bytes, int columns) {
    char *end;
    double value = strtod(text, &end);
    bool is_number = !*end && !strchr(text, 'x'), is_small = fabs(value) < 0.01;
    if ((int)strlen(text) <= columns) return;
    for (int digits = columns; is_number && !is_small && digits > 0; digits--) {
        snprintf(text, bytes, "%.*f", digits, value);
        if ((int)strlen(text) <= columns) return;
    }
    for (int digits = columns; is_number && digits > 0; digits--) {
        snprintf(text, bytes, "%.*e", digits - 1, value);
        char *exponent = strchr(text, 'e'); /* 1.2e+09 is 1.2e9 */
        if (exponent) snprintf(exponent + 1, bytes - (size_t)(exponent + 1 - text), "%d", atoi(exponent + 1));
        if ((int)strlen(text) <= columns) return;
    }
    snprintf(text, bytes, "%.*s", columns, "##############");
}

/* The value in this word of the lane's; "" where there is none, or where it began in the word before. */
static void print_word(const StepContext *context, int lane, uint64_t word, int columns, char *out,
                       size_t bytes) {
    const TraceEvent *event = &context->event;
    uint64_t begin = word * BANK_BYTES, address = context->address[lane];
    int element = 0, size = event->element_bytes ? event->element_bytes : BANK_BYTES;
    *out = 0;
    if (begin > address) {
        if ((begin - address) % (uint64_t)size) return;
        element = (int)((begin - address) / (uint64_t)size);
    }
    if (!event->has_result || element >= event->element_count) return;
    step_context_print_value(context, event->value[element][lane], 0, out, bytes);
    shorten(out, bytes, columns);
}

/* "now", "done", "+3": by three wavefronts later; returns its role. */
static Role print_wait(const StepContext *context, const Banks *banks, int lane, char *out, size_t bytes) {
    int later = context->wavefront_of_lane[lane] - context->view->place.wavefront;
    *out = 0;
    if (!banks->is_modelled) return ROLE_DIM;
    if (later <= 0) {
        snprintf(out, bytes, later ? "done" : "now");
        return later ? ROLE_DIM : ROLE_ACTIVE;
    }
    snprintf(out, bytes, "+%d", later);
    return ROLE_WAITING;
}

static void draw_right(Canvas *canvas, Rectangle area, int end, int row, Role role, const char *text) {
    canvas_text(canvas, area, end - canvas_text_columns(text), row, role, text);
}

/* What the enlarged pane adds to the lane: below it, or on its left. */
static void draw_parts(const StepContext *context, const Banks *banks, Canvas *canvas, Rectangle area,
                       int column, int row, const BankGrid *grid, const BankRow *line, int from, int bank) {
    int lane = line->lane[bank], end = column + grid->width - 1;
    char value[48], wait[16];
    if (lane < 0) return;
    Role role = print_wait(context, banks, lane, wait, sizeof wait);
    int columns = grid->is_beside ? grid->width - WAIT_COLUMNS - 4 : grid->width - 1, left = bank;
    while (left > from && line->lane[left - 1] < 0) left--;
    if (!grid->is_beside)
        columns += (bank - left) * grid->width + (left == from); /* room that nobody else uses */
    print_word(context, lane, line->line * BANK_COUNT + (uint64_t)bank, columns, value, sizeof value);
    if (grid->is_beside) {
        canvas_text(canvas, area, column, row, role, wait);
        draw_right(canvas, area, end - 3, row, ROLE_TEXT, value);
        return;
    }
    draw_right(canvas, area, end, row + 1, ROLE_TEXT, value);
    if (grid->cell_rows > 2) draw_right(canvas, area, end, row + 2, role, wait);
}

/* `mark`: 0, '~' where lines above are left out, an arrow where rows are out of sight. */
static void draw_row(const StepContext *context, const Banks *banks, Canvas *canvas, Rectangle area, int row,
                     const BankGrid *grid, int from, const BankRow *line, uint32_t mark) {
    unsigned long long word = (unsigned long long)line->line * BANK_COUNT + (unsigned)from;
    canvas_print(canvas, area, 1, row, line->lit ? ROLE_CURRENT : ROLE_DIM, "%4llu%c", word,
                 line->lit ? '>' : ' ');
    if (grid->cell_rows > 1) canvas_print(canvas, area, 0, row + 1, ROLE_DIM, "%5lluB", word * BANK_BYTES);
    if (mark) canvas_glyph(canvas, area, 0, row, ROLE_CURRENT, mark);
    for (int bank = from; bank < from + grid->banks; bank++) {
        int column = grid->label + (bank - from) * grid->width;
        draw_cell(banks, canvas, area, column, row, grid->width, line, bank);
        if (grid->cell_rows > 1 || grid->is_beside)
            draw_parts(context, banks, canvas, area, column, row, grid, line, from, bank);
    }
}

static void draw_header(Canvas *canvas, Rectangle area, int row, const BankGrid *grid, int from) {
    int width = grid->width;
    canvas_text(canvas, area, 1, row, ROLE_DIM, "bank");
    for (int bank = from; bank < from + grid->banks; bank++) {
        int column = grid->label + (bank - from) * width + (width > 3 ? width - 3 : 0);
        if (width == 1 && bank % 8 == 0)
            canvas_print(canvas, area, column, row, ROLE_DIM, "%d", bank);
        else if (width > 2 || (width == 2 && bank % 2 == 0))
            canvas_print(canvas, area, column, row, ROLE_DIM, "%2d", bank);
    }
}

static void draw_words(const Banks *banks, Canvas *canvas, Rectangle area, int row, const BankGrid *grid,
                       int from) {
    int width = grid->width;
    canvas_text(canvas, area, 1, row, ROLE_DIM, "words");
    for (int bank = from; bank < from + grid->banks; bank++) {
        int column = grid->label + (bank - from) * width + (width > 3 ? width - 3 : 0);
        int words = banks->words[bank];
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

/* ---- notes --------------------------------------------------------------------------------------------- */

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

/* "wavefront 2 serves lanes 8-15; lanes 16-31 wait" */
static void draw_waits(const StepContext *context, Canvas *canvas, Rectangle area, int row) {
    uint32_t now = 0, later = 0;
    char lanes[96];
    for (int lane = 0; lane < WARP_LANES; lane++) {
        if (!(context->event.mask >> lane & 1)) continue;
        if (context->wavefront_of_lane[lane] == context->view->place.wavefront) now |= 1u << lane;
        if (context->wavefront_of_lane[lane] > context->view->place.wavefront) later |= 1u << lane;
    }
    step_context_describe_lanes(now, lanes, sizeof lanes);
    int at = 1 + canvas_print(canvas, area, 1, row, ROLE_TEXT, "wavefront %d of %d serves %s",
                              context->view->place.wavefront + 1, step_context_wavefronts(context), lanes);
    step_context_describe_lanes(later, lanes, sizeof lanes);
    if (later)
        canvas_print(canvas, area, at, row, ROLE_WAITING, "; %s wait%s", lanes,
                     later & (later - 1) ? "" : "s");
}

static void draw_folded(const StepContext *context, const Banks *banks, const BankGrid *grid, Canvas *canvas,
                        Rectangle area, int row) {
    const char *more = is_enlarged(context)                            ? "; . and , go on"
                       : context->view->display.focus == FOCUS_PICTURE ? "; z shows more"
                                                                       : "";
    canvas_print(canvas, area, 1, row, ROLE_CURRENT, "rows %d-%d of %d%s", grid->first + 1,
                 grid->first + grid->shown, banks->count, more);
}

static void draw_phases(const StepContext *context, const Banks *banks, Canvas *canvas, Rectangle area,
                        int row) {
    int first = banks->phase * banks->phase_lanes;
    if (context->cost.phases > 1)
        canvas_print(canvas, area, 1, row, ROLE_TEXT,
                     "%d bytes per lane take %d phases; phase %d serves lanes %d-%d%s", context->event.width,
                     context->cost.phases, banks->phase + 1, first, first + banks->phase_lanes - 1,
                     context->cost.is_paired ? "; halved by the pair rule" : "");
    else
        canvas_text(
            canvas, area, 1, row, ROLE_TEXT,
            "pair rule: each lane's neighbour loads the same address or is inactive: two phases become one");
}

/* What the cells mean, and from where on the kernel's arrays lie. */
static void draw_legend(const StepContext *context, const Banks *banks, const BankGrid *grid, Canvas *canvas,
                        Rectangle area, int row) {
    char below[48];
    print_below(context, banks, below, sizeof below);
    Rectangle line = {area.column + 1, area.row + row, area.columns - 1, 1};
    Text text = {0};
    int first = grid->band * grid->banks, last = first + grid->bands * grid->banks - 1;
    if (last - first + 1 < BANK_COUNT)
        text_print(&text, "banks %d-%d of %d (x: next lane); ", first, last, BANK_COUNT);
    if (grid->is_beside)
        text_add(&text, "cell: wavefronts to wait, value, lane");
    else if (grid->cell_rows > 2)
        text_add(&text, "cell: lane, value, wavefronts to wait");
    else if (grid->cell_rows > 1)
        text_add(&text, "cell: lane, value");
    else if (!banks->shared_words && !*below)
        text_add(&text, "cell: the lane that accesses the word; a bank serves one word per wavefront");
    else
        text_add(&text, "cell: the lane that accesses the word");
    if (banks->shared_words) text_add(&text, "; +: several lanes share it (broadcast)");
    text_add(&text, below);
    canvas_paragraph(canvas, line, 0, ROLE_DIM, text_string(&text));
    text_done(&text);
}

/* One line about the selected lane, and what the cells mean. */
static void draw_notes(const StepContext *context, const Banks *banks, const BankGrid *grid, Canvas *canvas,
                       Rectangle area, int row) {
    bool is_phased = context->cost.phases > 1 || context->cost.is_paired;
    if (row < area.rows && grid->shown < banks->count) draw_folded(context, banks, grid, canvas, area, row++);
    if (row < area.rows) draw_lane_note(context, banks, canvas, area, row++);
    if (row < area.rows && is_enlarged(context) && banks->is_modelled)
        draw_waits(context, canvas, area, row++);
    if (row < area.rows && is_phased) draw_phases(context, banks, canvas, area, row++);
    if (row < area.rows) draw_legend(context, banks, grid, canvas, area, row);
}

/* ---- the pane ------------------------------------------------------------------------------------------ */

static int draw_band(const StepContext *context, const Banks *banks, const BankGrid *grid, int band,
                     Canvas *canvas, Rectangle area, int row) {
    int from = band * grid->banks;
    draw_header(canvas, area, row++, grid, from);
    for (int i = grid->first; i < grid->first + grid->shown; i++, row += grid->spacing) {
        bool gap = i > 0 && banks->rows[i - 1].line + 1 != banks->rows[i].line;
        bool above = i == grid->first && i > 0,
             below = i == grid->first + grid->shown - 1 && i + 1 < banks->count;
        uint32_t mark = above ? 0x2191 : below ? 0x2193 : gap ? '~' : 0;
        draw_row(context, banks, canvas, area, row, grid, from, &banks->rows[i], mark);
    }
    draw_words(banks, canvas, area, row++, grid, from);
    return row;
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    Banks *banks = memory_new(sizeof *banks);
    banks_fill(banks, context);
    BankGrid grid = lay_out(banks, context, area);
    int row = 0;
    for (int band = grid.band; band < grid.band + grid.bands; band++)
        row = draw_band(context, banks, &grid, band, canvas, area, row);
    draw_notes(context, banks, &grid, canvas, area, row);
    free(banks);
}

/* Selects the lane that accesses the word. */
static ViewAnswer click(const StepContext *context, Rectangle area, int column, int row, View *view) {
    Banks *banks = memory_new(sizeof *banks);
    banks_fill(banks, context);
    BankGrid grid = lay_out(banks, context, area);
    int band = row / grid.band_rows, inside = row % grid.band_rows - 1;
    int line = grid.first + inside / grid.spacing, cell = (column - grid.label) / grid.width;
    int bank = (grid.band + band) * grid.banks + cell;
    bool is_cell = band < grid.bands && inside >= 0 && line < grid.first + grid.shown &&
                   column >= grid.label && cell < grid.banks;
    if (is_cell && banks->rows[line].lane[bank] >= 0) view->selection.lane = banks->rows[line].lane[bank];
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
