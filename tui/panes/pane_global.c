/* The global pane: a warp's access by lines of 128 bytes and their sectors of 32. Local memory is shown in
 * the same way. A cell is a word of four bytes and contains the lane that accesses it. Other words of a
 * touched sector are dots, because they are transferred as well; words of other sectors are blank. */
#include "tui/panes/pane.h"

#include "base/language.h"
#include "tui/panes/ruler.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    WORDS = LINE_BYTES / 4,
    SECTOR_WORDS = SECTOR_BYTES / 4,
    LABEL_COLUMNS = 10,
    MOST_WORD_COLUMNS = 4,
    MOST_LARGE_COLUMNS = 6,
    MAX_LINES = WARP_LANES * 2
};

typedef struct MemoryLine {
    int buffer;
    uint64_t line;      /* offset / 128 */
    int8_t lane[WORDS]; /* lowest lane that accesses the word; -1: untouched */
    uint8_t sharers[WORDS];
    uint8_t sectors; /* bitmap of the touched sectors */
} MemoryLine;

typedef struct MemoryPicture {
    MemoryLine lines[MAX_LINES]; /* by buffer and offset */
    int count;
    int sectors, ideal;
    bool shared_words; /* several lanes access the same word */
} MemoryPicture;

static MemoryLine *line_of(MemoryPicture *memory, int buffer, uint64_t line) {
    int at = 0;
    while (at < memory->count && (memory->lines[at].buffer < buffer ||
                                  (memory->lines[at].buffer == buffer && memory->lines[at].line < line)))
        at++;
    if (at < memory->count && memory->lines[at].buffer == buffer && memory->lines[at].line == line)
        return &memory->lines[at];
    if (memory->count == MAX_LINES) return NULL;
    memmove(&memory->lines[at + 1], &memory->lines[at], (size_t)(memory->count - at) * sizeof *memory->lines);
    memory->count++;
    memory->lines[at] = (MemoryLine){.buffer = buffer, .line = line};
    memset(memory->lines[at].lane, -1, sizeof memory->lines[at].lane);
    return &memory->lines[at];
}

static void memory_fill(MemoryPicture *memory, const StepContext *context) {
    const TraceEvent *event = &context->event;
    uint64_t address[WARP_LANES] = {0};
    memset(memory, 0, sizeof *memory);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        if (!(event->mask >> lane & 1)) continue;
        /* Buffers are further apart than any offset, and aligned, so no sector spans two of them. */
        address[lane] = (uint64_t)(event->buffer[lane] + 1) << 40 | event->offset[lane];
        uint64_t first = event->offset[lane] / 4,
                 last = (event->offset[lane] + (uint64_t)event->width - 1) / 4;
        for (uint64_t word = first; word <= last; word++) {
            MemoryLine *line = line_of(memory, event->buffer[lane], word / WORDS);
            int at = (int)(word % WORDS);
            if (!line) break;
            if (line->lane[at] < 0) line->lane[at] = (int8_t)lane;
            if (++line->sharers[at] > 1) memory->shared_words = true;
            line->sectors |= (uint8_t)(1u << at / SECTOR_WORDS);
        }
    }
    memory->sectors = access_global_sectors(event->width, event->mask, address);
    memory->ideal = access_global_sectors_ideal(event->width, event->mask, address);
}

/* Costs of constant and local memory are not modelled. */
static bool is_constant(TraceKind kind) {
    return kind == TRACE_CONSTANT_LOAD;
}

static bool is_local(TraceKind kind) {
    return kind == TRACE_LOCAL_LOAD || kind == TRACE_LOCAL_STORE;
}

static const char *buffer_name(const StepContext *context, int buffer) {
    if (is_local(context->event.kind))
        return buffer < context->launch->symbol_count ? context->launch->symbols[buffer].name : "local";
    return buffer < context->scene->traced.trace->buffer_count
               ? context->scene->traced.trace->buffers[buffer].name
               : "?";
}

static const char *verb(TraceKind kind) {
    switch (kind) {
    case TRACE_GLOBAL_STORE:
    case TRACE_LOCAL_STORE:
        return tr("stores to");
    case TRACE_GLOBAL_ATOMIC:
        return tr("updates");
    default:
        return tr("loads from");
    }
}

static void head(const StepContext *context, PaneHead *out) {
    MemoryPicture *memory = memory_new(sizeof *memory);
    char name[48];
    memory_fill(memory, context);
    int first = context->event.mask ? __builtin_ctz(context->event.mask) : 0;
    scene_short_name(buffer_name(context, context->event.buffer[first]), name, sizeof name);
    if (is_local(context->event
                     .kind)) { /* interleaved by thread in hardware: offsets do not determine the sectors */
        pane_title(out, tr("local  w%d %s its threads' own memory, %d byte%s per lane"), context->event.warp,
                   verb(context->event.kind), context->event.width, context->event.width == 1 ? "" : "s");
    } else if (is_constant(context->event.kind)) {
        pane_title(out, tr("constant  w%d loads from %s"), context->event.warp, name);
        pane_note(out, tr("cost not modelled"));
    } else {
        pane_title(out, tr("global  w%d %s %s"), context->event.warp, verb(context->event.kind), name);
        if (!context->view->transient.hides)
            pane_add_title(out, tr("   1 request: %d sector%s, ideal %d"), memory->sectors,
                           memory->sectors == 1 ? "" : "s", memory->ideal);
        /* The efficiency of the access: by its sectors; for atomics by how many lanes wait for each other. */
        int addresses, collisions = step_context_collisions(&context->event, &addresses);
        out->note_role = ROLE_GOOD;
        if (context->event.kind == TRACE_GLOBAL_ATOMIC && collisions > 1) {
            pane_note(out, tr("%d lanes update one word!"), collisions);
            out->note_role = ROLE_WARNING;
        } else if (memory->sectors > memory->ideal) {
            pane_note(out, tr("%.3gx the ideal!"), (double)memory->sectors / memory->ideal);
            out->note_role = ROLE_CONFLICT;
        } else {
            pane_note(out, tr("coalesced"));
        }
    }
    pane_note_trap(context, out);
    free(memory);
}

/* Which lines are shown, and where. */
typedef struct MemoryGrid {
    int width, room, first; /* columns of a word; rows for lines, the first line shown */
    int spacing;            /* rows from one line to the next */
} MemoryGrid;

static int word_column(int word, int width) {
    return LABEL_COLUMNS + word * width + word / SECTOR_WORDS;
}

/* A large cell is a block of its colour, with the lane's value below the lane. */
static void draw_large_cell(const StepContext *context, Canvas *canvas, Rectangle area, int column, int row,
                            const MemoryGrid *grid, int lane, Role role) {
    char value[48] = "";
    Rectangle tile = {area.column + column, area.row + row, grid->width > 2 ? grid->width - 1 : grid->width,
                      grid->spacing};
    if (context->event.has_result && context->event.element_bytes <= SECTOR_BYTES / SECTOR_WORDS &&
        context->event.element_count == 1)
        step_context_print_value(context, context->event.value[0][lane], 0, value, sizeof value);
    if ((int)strlen(value) <= tile.columns)
        canvas_text(canvas, area, column + tile.columns - (int)strlen(value), row + 1, ROLE_TEXT, value);
    if (row + grid->spacing <= area.rows) canvas_tile(canvas, tile, role);
}

static void draw_line(const StepContext *context, Canvas *canvas, Rectangle area, int row,
                      const MemoryGrid *grid, const MemoryLine *line, bool wasteful) {
    int width = grid->width;
    canvas_print(canvas, area, 0, row, ROLE_DIM, "%8llu", (unsigned long long)line->line * LINE_BYTES);
    for (int word = 0; word < WORDS; word++) {
        int column = word_column(word, width), lane = line->lane[word];
        bool moved = line->sectors >> word / SECTOR_WORDS & 1,
             selected = lane == context->view->selection.lane;
        if (word % SECTOR_WORDS == 0) canvas_glyph(canvas, area, column - 1, row, ROLE_BORDER, 0x2502);
        Role role = context->trap ? ROLE_WARNING : selected ? ROLE_LIT : ROLE_ACTIVE;
        if (lane >= 0)
            ruler_draw_lane(canvas, area, column, row, width, role, line->lane, word, line->sharers[word] > 1,
                            selected);
        else if (moved)
            canvas_glyph(canvas, area, column + (width > 1), row, wasteful ? ROLE_CONFLICT : ROLE_IDLE, 0xB7);
        if (lane >= 0 && grid->spacing > 1)
            draw_large_cell(context, canvas, area, column, row, grid, lane, role);
    }
    canvas_glyph(canvas, area, word_column(WORDS, width) - 1, row, ROLE_BORDER, 0x2502);
}

static bool shows_lane(const MemoryPicture *memory, const MemoryGrid *grid, int lane) {
    for (int i = grid->first; i < memory->count && i < grid->first + grid->room; i++)
        for (int word = 0; word < WORDS; word++)
            if (memory->lines[i].lane[word] == lane) return true;
    return false;
}

/* Keeps the selected lane visible. */
static MemoryGrid lay_out(const MemoryPicture *memory, const StepContext *context, Rectangle area) {
    bool is_large = pane_is_large(context->view);
    MemoryGrid grid = {.width = is_large ? MOST_LARGE_COLUMNS : MOST_WORD_COLUMNS,
                       .room = area.rows - (area.rows > 4   ? 3
                                            : area.rows > 2 ? 2
                                                            : 1)};
    int lane = context->view->selection.lane;
    while (grid.width > 1 && word_column(WORDS, grid.width) > area.columns) grid.width--;
    grid.spacing = is_large ? pane_cell_rows(memory->count, grid.room) : 1;
    while (context->event.mask >> lane & 1 && grid.room > 0 && memory->count - grid.first > grid.room &&
           !shows_lane(memory, &grid, lane))
        grid.first++;
    return grid;
}

/* Where each lane's access lies, as many as fit. */
static void draw_lanes(const StepContext *context, Canvas *canvas, Rectangle area) {
    enum { EACH = 36, LEAST_ROWS = 2 };
    int across = area.columns / EACH, at = 0;
    if (across < 1 || area.rows < LEAST_ROWS) return;
    int down = (WARP_LANES + across - 1) / across;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        char value[48] = "";
        if (!(context->event.mask >> lane & 1)) continue;
        unsigned long long byte = context->event.offset[lane];
        if (context->event.has_result)
            step_context_print_value(context, context->event.value[0][lane], 0, value, sizeof value);
        canvas_print(canvas, (Rectangle){area.column + at / down * EACH, area.row, EACH - 1, area.rows}, 1,
                     at % down, lane == context->view->selection.lane ? ROLE_SELECTED : ROLE_DIM,
                     tr("lane %2d: byte %llu, sector %llu: %s"), lane, byte, byte / SECTOR_BYTES, value);
        at++;
    }
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    MemoryPicture *memory = memory_new(sizeof *memory);
    memory_fill(memory, context);
    MemoryGrid grid = lay_out(memory, context, area);
    canvas_text(canvas, area, 0, 0, ROLE_DIM, tr("    byte"));
    for (int sector = 0; sector < WORDS / SECTOR_WORDS; sector++)
        canvas_print(canvas, area, word_column(sector * SECTOR_WORDS, grid.width), 0, ROLE_DIM,
                     grid.width > 1 ? tr("+%d, sector %d") : "+%d", sector * SECTOR_BYTES, sector);
    int row = 1;
    for (int i = grid.first; i < memory->count && i < grid.first + grid.room; i++, row += grid.spacing)
        draw_line(context, canvas, area, row, &grid, &memory->lines[i], memory->sectors > memory->ideal);
    if (row < area.rows) {
        int lane = context->view->selection.lane;
        char name[48], place[96];
        Text text = {0};
        scene_short_name(buffer_name(context, context->event.buffer[lane]), name, sizeof name);
        snprintf(place, sizeof place, tr("%s, byte %llu"), name,
                 (unsigned long long)context->event.offset[lane]);
        step_context_describe_access(context, lane, place, &text);
        canvas_text(canvas, area, 1, row, context->event.mask >> lane & 1 ? ROLE_TEXT : ROLE_DIM,
                    text_string(&text));
        text_done(&text);
    }
    if (memory->count > grid.room && row < area.rows)
        canvas_print(canvas, area, area.columns - 20, row, ROLE_DIM, tr("lines %d-%d of %d"), grid.first + 1,
                     grid.first + grid.room, memory->count);
    row++;
    if (row < area.rows)
        canvas_print(
            canvas, area, 1, row, ROLE_DIM,
            memory->shared_words
                ? tr("cell: the lane that accesses the 4 bytes; +: several; %s: transferred, not accessed")
                : tr("cell: the lane that accesses the 4 bytes; %s: transferred, not accessed"),
            canvas->ascii ? "." : "·");
    row += 2;
    if (pane_is_large(context->view) && row < area.rows)
        draw_lanes(context, canvas, (Rectangle){area.column, area.row + row, area.columns, area.rows - row});
    free(memory);
}

/* Selects the lane that accesses the word. */
static ViewAnswer click(const StepContext *context, Rectangle area, int column, int row, View *view) {
    MemoryPicture *memory = memory_new(sizeof *memory);
    memory_fill(memory, context);
    MemoryGrid grid = lay_out(memory, context, area);
    int line = grid.first + (row - 1) / grid.spacing, word = WORDS - 1;
    while (word >= 0 && word_column(word, grid.width) > column) word--;
    bool inside = row > 0 && line < memory->count && line < grid.first + grid.room && word >= 0 &&
                  column < word_column(WORDS, grid.width);
    if (inside && memory->lines[line].lane[word] >= 0) view->selection.lane = memory->lines[line].lane[word];
    free(memory);
    return VIEW_CHANGED;
}

const Pane pane_global = {
    .slot = SLOT_PICTURE,
    .kinds = 1u << TRACE_GLOBAL_LOAD | 1u << TRACE_GLOBAL_STORE | 1u << TRACE_GLOBAL_ATOMIC |
             1u << TRACE_LOCAL_LOAD | 1u << TRACE_LOCAL_STORE | 1u << TRACE_CONSTANT_LOAD,
    .head = head,
    .draw = draw,
    .click = click,
};
