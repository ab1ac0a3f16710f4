/* Banks: the shown warp's shared access. The 32 columns are the banks, a row is a line of 32 words, a cell
 * contains the lane that accesses the word. The wavefronts of the access light up one after another; tall
 * columns are the conflicts.
 *
 * All of the block's shared memory is shown if it fits, so that the picture does not move from step to step;
 * otherwise only the lines that the access touches. The enlarged pane shows these in large cells, with the
 * values and how long each lane waits; banks that do not fit side by side follow below, or the band with the
 * selected lane's bank is shown. */
#include "tui/panes/banks.h"

#include "base/language.h"
#include "tui/panes/ruler.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WAIT_COLUMNS = 4 }; /* "+31 " */

static const char *access_name(TraceKind kind) {
    return kind == TRACE_SHARED_LOAD ? tr("load") : kind == TRACE_SHARED_STORE ? tr("store") : tr("atomic");
}

/* The number of rows left out because no array of the kernel lies there; "": none. */
static void print_below(const StepContext *context, const Banks *banks, char *out, size_t bytes) {
    uint64_t first = banks_lines_of_arrays(context).first;
    *out = 0;
    if (first && banks->count && banks->rows[0].line >= first)
        snprintf(out, bytes, tr("; words 0-%llu untouched"), (unsigned long long)first * BANK_COUNT - 1);
}

/* The access reaches other blocks of the cluster. */
static bool has_peers(const StepContext *context) {
    PeerBlock peers[PEERS_MOST];
    return peers_list(context, peers) > 0;
}

static void head(const StepContext *context, PaneHead *out) {
    const TraceEvent *event = &context->event;
    if (has_peers(context)) {
        peers_head(context, out);
        return;
    }
    Banks *banks = memory_new(sizeof *banks);
    char symbol[48], width[24] = "", verdict[48], below[48];
    int first = event->mask ? __builtin_ctz(event->mask) : 0;
    bool has_no_legend = banks_fill_rows(context, out->rows) && out->columns >= 90;
    banks_fill(banks, context);
    step_context_print_symbol(context, event->buffer[first], symbol, sizeof symbol);
    if (event->width != BANK_BYTES)
        snprintf(width, sizeof width, tr(" (%d byte%s)"), event->width, event->width == 1 ? "" : "s");
    print_below(context, banks, below, sizeof below);
    bool has_symbol = strcmp(symbol, "shared") != 0;
    pane_title(out, tr("banks  w%d shared %s"), event->warp, access_name(event->kind));
    size_t kept = strlen(out->title);
    pane_add_title(out, "%s%s%s%s%s", has_symbol ? tr(" of ") : "", has_symbol ? symbol : "", width,
                   has_no_legend ? tr("   cells: lanes") : "", has_no_legend ? below : "");
    bool excess = context->cost.wavefronts > context->cost.ideal;
    if (excess)
        snprintf(verdict, sizeof verdict,
                 banks->counts_lanes ? tr("%d lanes in a bank!") : tr("%d-way conflict!"), banks->ways);
    else
        snprintf(verdict, sizeof verdict, "%s",
                 !banks->shared_words || event->kind == TRACE_SHARED_ATOMIC ? tr("no conflict")
                 : out->columns < 90                                        ? tr("broadcast")
                                                                            : tr("broadcast, no conflict"));
    if (banks->is_modelled)
        pane_note(out, tr("wavefront %d of %d, ideal %d   %s"), context->view->place.wavefront + 1,
                  step_context_wavefronts(context), context->cost.ideal, verdict);
    else
        pane_note(out, tr("wavefronts not known"));
    if (banks->is_modelled) out->note_role = excess ? ROLE_CONFLICT : ROLE_GOOD;
    pane_note_trap(context, out);
    if (has_symbol) {
        /* If title and note do not fit beside each other, the title ends after `kept` bytes: the warp and
         * what it does. */
        enum { AROUND_COLUMNS = 7 };
        int room = out->columns - AROUND_COLUMNS;
        if (canvas_text_columns(out->title) + canvas_text_columns(out->note) > room) out->title[kept] = 0;
    }
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

/* ---- cells --------------------------------------------------------------------------------------------- */

/* The value in this word of the lane's access; "" if none, or if it began in the word before. */
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
    /* The text of a number, rounded if it is wider than `columns`: "0.77", "-1e3"; '#' if it does not fit. */
    char *end;
    double value = strtod(out, &end);
    bool is_number = !*end && !strchr(out, 'x'), is_small = fabs(value) < 0.01;
    if ((int)strlen(out) <= columns) return;
    for (int digits = columns; is_number && !is_small && digits > 0; digits--) {
        snprintf(out, bytes, "%.*f", digits, value);
        if ((int)strlen(out) <= columns) return;
    }
    for (int digits = columns; is_number && digits > 0; digits--) {
        snprintf(out, bytes, "%.*e", digits - 1, value);
        char *exponent = strchr(out, 'e'); /* 1.2e+09 becomes 1.2e9 */
        if (exponent) snprintf(exponent + 1, bytes - (size_t)(exponent + 1 - out), "%d", atoi(exponent + 1));
        if ((int)strlen(out) <= columns) return;
    }
    snprintf(out, bytes, "%.*s", columns, "##############");
}

/* "now", "done", "+3": three wavefronts later; returns its role. */
static Role print_wait(const StepContext *context, const Banks *banks, int lane, char *out, size_t bytes) {
    int later = context->wavefront_of_lane[lane] - context->view->place.wavefront;
    *out = 0;
    if (!banks->is_modelled) return ROLE_DIM;
    if (later <= 0) {
        bool is_done = -later >= context->cost.each;
        snprintf(out, bytes, is_done ? tr("done") : tr("now"));
        return is_done ? ROLE_DIM : ROLE_ACTIVE;
    }
    snprintf(out, bytes, "+%d", later);
    return ROLE_WAITING;
}

/* What the enlarged pane adds to the lane: below it, or to its left. */
static void draw_parts(const StepContext *context, const Banks *banks, Canvas *canvas, Rectangle area,
                       int column, int row, const BankGrid *grid, const BankRow *line, int from, int bank) {
    int lane = line->lane[bank], end = column + grid->width - 1;
    char value[48], wait[16];
    if (lane < 0) return;
    Role role = print_wait(context, banks, lane, wait, sizeof wait);
    int columns = grid->is_beside ? grid->width - WAIT_COLUMNS - 4 : grid->width - 1, left = bank;
    while (left > from && line->lane[left - 1] < 0) left--;
    /* Space that no other cell uses. */
    if (!grid->is_beside) columns += (bank - left) * grid->width + (left == from);
    print_word(context, lane, line->line * BANK_COUNT + (uint64_t)bank, columns, value, sizeof value);
    if (grid->is_beside) {
        canvas_text(canvas, area, column, row, role, wait);
        canvas_right(canvas, area, end - 3, row, ROLE_TEXT, value);
        return;
    }
    canvas_right(canvas, area, end, row + 1, ROLE_TEXT, value);
    if (grid->cell_rows > 2) canvas_right(canvas, area, end, row + 2, role, wait);
}

/* `mark`: 0, '~' if lines above are left out, an arrow if rows are hidden. */
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
        if (context->view->display.projector && grid->cell_rows == 1 && line->lane[bank] >= 0) {
            /* On a projector a cell is a block of its colour. */
            Role role = role_of_cell(banks, line, bank);
            int columns = grid->width > 2 ? grid->width - 1 : grid->width;
            if (row + grid->spacing <= area.rows)
                canvas_tile(canvas, (Rectangle){area.column + column, area.row + row, columns, grid->spacing},
                            role);
        }
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
    canvas_text(canvas, area, 1, row, ROLE_DIM, banks->counts_lanes ? "lanes" : "words");
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

/* "wavefront 2 serves lanes 8-15; lanes 16-31 wait" */
static void draw_waits(const StepContext *context, Canvas *canvas, Rectangle area, int row) {
    uint32_t now = 0, later = 0;
    char lanes[96];
    for (int lane = 0; lane < WARP_LANES; lane++) {
        if (!(context->event.mask >> lane & 1)) continue;
        int more = context->wavefront_of_lane[lane] - context->view->place.wavefront;
        if (more <= 0 && -more < context->cost.each) now |= 1u << lane;
        if (more > 0) later |= 1u << lane;
    }
    step_context_describe_lanes(now, lanes, sizeof lanes);
    int at = 1 + canvas_print(canvas, area, 1, row, ROLE_TEXT, tr("wavefront %d of %d serves %s"),
                              context->view->place.wavefront + 1, step_context_wavefronts(context), lanes);
    step_context_describe_lanes(later, lanes, sizeof lanes);
    if (later)
        canvas_print(canvas, area, at, row, ROLE_WAITING, tr("; %s wait%s"), lanes,
                     later & (later - 1) ? "" : "s");
}

static void draw_folded(const StepContext *context, const Banks *banks, const BankGrid *grid, Canvas *canvas,
                        Rectangle area, int row) {
    const char *more = bank_grid_is_enlarged(context)                  ? tr("; . and , go on")
                       : context->view->display.focus == FOCUS_PICTURE ? tr("; z shows more")
                                                                       : "";
    canvas_print(canvas, area, 1, row, ROLE_CURRENT, tr("rows %d-%d of %d%s"), grid->first + 1,
                 grid->first + grid->shown, banks->count, more);
}

static void draw_phases(const StepContext *context, const Banks *banks, Canvas *canvas, Rectangle area,
                        int row) {
    int first = banks->phase * banks->phase_lanes;
    if (context->cost.phases > 1)
        canvas_print(canvas, area, 1, row, ROLE_TEXT,
                     tr("%d bytes per lane take %d phases; phase %d serves lanes %d-%d%s"),
                     context->event.width, context->cost.phases, banks->phase + 1, first,
                     first + banks->phase_lanes - 1,
                     context->cost.is_paired ? tr("; halved by the pair rule") : "");
    else
        canvas_text(canvas, area, 1, row, ROLE_TEXT,
                    tr("pair rule: each lane's neighbour loads the same address or is inactive: two phases "
                       "become one"));
}

/* The meaning of the cells, and where the kernel's arrays begin. */
static void draw_legend(const StepContext *context, const Banks *banks, const BankGrid *grid, Canvas *canvas,
                        Rectangle area, int row) {
    char below[48];
    print_below(context, banks, below, sizeof below);
    Rectangle line = {area.column + 1, area.row + row, area.columns - 1, 1};
    Text text = {0};
    int first = grid->band * grid->banks, last = first + grid->bands * grid->banks - 1;
    if (last - first + 1 < BANK_COUNT)
        text_print(&text, tr("banks %d-%d of %d (x: next lane); "), first, last, BANK_COUNT);
    if (grid->is_beside)
        text_add(&text, tr("cell: wavefronts to wait, value, lane"));
    else if (grid->cell_rows > 2)
        text_add(&text, tr("cell: lane, value, wavefronts to wait"));
    else if (grid->cell_rows > 1)
        text_add(&text, tr("cell: lane, value"));
    else if (banks->counts_lanes)
        text_add(&text, tr("cell: the lane that updates the word; a bank serves one lane at a time"));
    else if (!banks->shared_words && !*below)
        text_add(&text, tr("cell: the lane that accesses the word; a bank serves one word per wavefront"));
    else
        text_add(&text, tr("cell: the lane that accesses the word"));
    if (banks->shared_words)
        text_add(&text, context->event.kind == TRACE_SHARED_ATOMIC
                            ? tr("; +: several lanes update it")
                            : tr("; +: several lanes share it (broadcast)"));
    text_add(&text, below);
    canvas_paragraph(canvas, line, 0, ROLE_DIM, text_string(&text));
    text_done(&text);
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
    if (!(context->view->transient.hides & HIDES_ACCESSES)) draw_words(banks, canvas, area, row, grid, from);
    row++;
    return row;
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    if (has_peers(context)) {
        peers_draw(context, canvas, area);
        return;
    }
    Banks *banks = memory_new(sizeof *banks);
    banks_fill(banks, context);
    BankGrid grid = bank_grid_lay_out(banks, context, area);
    int row = 0;
    for (int band = grid.band; band < grid.band + grid.bands; band++)
        row = draw_band(context, banks, &grid, band, canvas, area, row);
    /* One line about the selected lane, and the meaning of the cells. */
    bool is_phased = context->cost.phases > 1 || context->cost.is_paired;
    if (row < area.rows && grid.shown < banks->count) draw_folded(context, banks, &grid, canvas, area, row++);
    if (row < area.rows) {
        int lane = context->view->selection.lane;
        unsigned long long word = context->address[lane] / BANK_BYTES;
        char place[96];
        Text text = {0};
        int at = snprintf(place, sizeof place, tr("word %llu, bank %llu"), word, word % BANK_COUNT);
        if (banks->is_modelled)
            snprintf(place + at, sizeof place - (size_t)at, tr(", in wavefront %d"),
                     context->wavefront_of_lane[lane] + 1);
        step_context_describe_access(context, lane, place, &text);
        canvas_text(canvas, area, 1, row++, context->event.mask >> lane & 1 ? ROLE_TEXT : ROLE_DIM,
                    text_string(&text));
        text_done(&text);
    }
    if (row < area.rows && bank_grid_is_enlarged(context) && banks->is_modelled)
        draw_waits(context, canvas, area, row++);
    if (row < area.rows && is_phased) draw_phases(context, banks, canvas, area, row++);
    if (row < area.rows) draw_legend(context, banks, &grid, canvas, area, row);
    free(banks);
}

/* Selects the lane that accesses the word. */
static ViewAnswer click(const StepContext *context, Rectangle area, int column, int row, View *view) {
    if (has_peers(context)) return VIEW_CHANGED;
    Banks *banks = memory_new(sizeof *banks);
    banks_fill(banks, context);
    BankGrid grid = bank_grid_lay_out(banks, context, area);
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
