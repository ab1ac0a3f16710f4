/* The whole block above the boxes: a cell for each few threads, high where they add, shaded where their
 * values are read, and the arcs of this level from the threads that made the operands to those that add.
 *
 *   threads       ████████ ████████ ▒▒▒▒▒▒▒▒ ▒▒▒▒▒▒▒▒ ········ ········ ········ ········
 *   t64 → t0      ╰────────╰────────╯────────╯
 */
#include "tui/panes/reduction_row.h"

#include "base/language.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 256, MOST_THREADS = 1024, MOST_WARPS = MOST_THREADS / WARP_LANES, GAP = 2 };

typedef enum CellKind { CELL_ADDS, CELL_UNUSED, CELL_READ, CELL_IDLE, CELL_KINDS } CellKind;

static const struct {
    Role role;
    uint32_t glyph;
    const char *legend;
} cells[CELL_KINDS] = {{ROLE_ACTIVE, 0x2588, "█ adds"},
                       {ROLE_IDLE, 0x25A1, "□ adds, unused"},
                       {ROLE_ARROW, 0x2592, "▒ is read"},
                       {ROLE_IDLE, 0xB7, ""}};

typedef struct Strip {
    const BoxRow *row;
    int line, columns; /* of the cells and the gaps */
    int per_cell;      /* threads, a power of two */
    bool is_parted;    /* a gap after each warp */
    bool has[CELL_KINDS];
    Role roles[MOST_COLUMNS]; /* of the arcs */
    uint32_t glyphs[MOST_COLUMNS];
} Strip;

/* The thread that made the operand; -1: it is the adding thread's own, or of no thread of the block. */
static int maker_of(const BoxRow *row, const ReductionTerm *term) {
    if (term->is_own || term->node == FOLD_NONE) return -1;
    if (term->place == PLACE_THREAD)
        return term->index < boxes_tree(row)->thread_count ? (int)term->index : -1;
    const FoldNode *at = boxes_node(row, term->node);
    return term->place == PLACE_WORD && at->kind == FOLD_MOVE && !tree_is_copied(boxes_tree(row), at->a)
               ? tree_thread(boxes_tree(row), at->a)
               : -1;
}

typedef void TakeArc(Strip *strip, const ReductionTerm *term, int from, void *into);

/* Every operand of the level that another thread made. */
static void each_arc(Strip *strip, TakeArc *take, void *into) {
    const ReductionLevel *level = strip->row->level;
    for (int i = 0; i < level->box_count; i++) {
        const ReductionBox *box = &level->boxes[i];
        for (int t = 0; box->adds && !box->is_idle && t < box->term_count; t++) {
            const ReductionTerm *term = &level->terms[box->first_term + t];
            int from = maker_of(strip->row, term);
            if (from >= 0 && from != term->thread) take(strip, term, from, into);
        }
    }
}

static int column_of(const Strip *strip, int thread) {
    return thread / strip->per_cell + (strip->is_parted ? thread / WARP_LANES : 0);
}

/* The finest cells that fit. */
static void plan(Strip *strip, int room) {
    int threads = boxes_tree(strip->row)->thread_count;
    for (strip->per_cell = 1; strip->per_cell <= WARP_LANES; strip->per_cell *= 2) {
        strip->is_parted = strip->per_cell < WARP_LANES;
        strip->columns = column_of(strip, threads - 1) + 1;
        if (strip->columns <= room && strip->columns <= MOST_COLUMNS) return;
    }
    strip->columns = 0;
}

/* ---- the cells ----------------------------------------------------------------------------------------- */

static void mark_read(Strip *strip, const ReductionTerm *term, int from, void *into) {
    (void)term;
    ((bool *)into)[column_of(strip, from)] = true;
}

/* A thread that adds: with a sum that is used later, or for nothing. */
static void find_used(const BoxRow *row, bool *is_used) {
    for (int i = 0; i < row->level->box_count; i++) {
        const ReductionBox *box = &row->level->boxes[i];
        if (box->adds && box->thread >= 0) is_used[box->thread] |= box->is_live && !box->is_idle;
    }
}

static void draw_cells(Strip *strip) {
    const BoxRow *row = strip->row;
    int threads = boxes_tree(row)->thread_count;
    bool is_read[MOST_COLUMNS] = {false}, is_used[MOST_THREADS] = {false};
    each_arc(strip, mark_read, is_read);
    find_used(row, is_used);
    canvas_text(row->canvas, row->area, 1, strip->line, ROLE_DIM, tr("threads"));
    for (int first = 0; first < threads; first += strip->per_cell) {
        int adding = 0, used = 0, column = column_of(strip, first);
        for (int i = first; i < first + strip->per_cell && i < threads; i++) {
            adding += row->level->adding[i / WARP_LANES] >> i % WARP_LANES & 1;
            used += is_used[i];
        }
        CellKind kind = used ? CELL_ADDS : adding ? CELL_UNUSED : is_read[column] ? CELL_READ : CELL_IDLE;
        uint32_t glyph = cells[kind].glyph;
        if (used) glyph = 0x2580 + (uint32_t)((8 * used + strip->per_cell - 1) / strip->per_cell);
        strip->has[kind] = true;
        canvas_glyph(row->canvas, row->area, LABEL_COLUMNS + column, strip->line, cells[kind].role, glyph);
    }
}

/* ---- the arcs ------------------------------------------------------------------------------------------ */

enum { LINE = 0x2500, LEFT_END = 0x2570, RIGHT_END = 0x256F, BOTH_ENDS = 0x2534 };

static void put_end(Strip *strip, int column, uint32_t glyph, Role role) {
    uint32_t there = strip->glyphs[column];
    strip->glyphs[column] = !there || there == LINE || there == glyph ? glyph : BOTH_ENDS;
    strip->roles[column] = role;
}

/* Arcs of one distance share their line: each has its two ends. */
static void put_arc(Strip *strip, int from, int to, Role role) {
    int a = column_of(strip, from), b = column_of(strip, to);
    int first = a < b ? a : b, last = a < b ? b : a;
    for (int i = first; i <= last; i++) {
        if (!strip->glyphs[i]) strip->glyphs[i] = LINE;
        strip->roles[i] = role;
    }
    put_end(strip, first, LEFT_END, role);
    put_end(strip, last, first == last ? BOTH_ENDS : RIGHT_END, role);
}

typedef struct Chosen {
    const ReductionTerm *term; /* NULL: none */
    int from;
} Chosen;

typedef struct Arcs {
    Chosen of_warp[MOST_WARPS]; /* the longest of the warp's lanes, the first one of several */
    Chosen selected;            /* of the selected thread, else the first */
    int selected_thread, selected_count;
} Arcs;

static void choose(Strip *strip, const ReductionTerm *term, int from, void *into) {
    (void)strip;
    Arcs *arcs = into;
    Chosen *of_warp = &arcs->of_warp[term->thread / WARP_LANES];
    Chosen this = {term, from};
    if (!of_warp->term || abs(from - term->thread) > abs(of_warp->from - of_warp->term->thread))
        *of_warp = this;
    bool is_selected = term->thread == arcs->selected_thread;
    const ReductionTerm *has = arcs->selected.term;
    bool is_better = !has || (is_selected && has->thread != arcs->selected_thread);
    if (is_better) arcs->selected = this, arcs->selected_count = 0;
    arcs->selected_count += term->thread == arcs->selected.term->thread;
}

/* An arc that no other one touches. */
static void put_free(Strip *strip, const ReductionTerm *term, int from, void *into) {
    (void)into;
    int a = column_of(strip, from), b = column_of(strip, term->thread);
    for (int i = a < b ? a : b; i <= a || i <= b; i++)
        if (strip->glyphs[i]) return;
    put_arc(strip, from, term->thread, ROLE_DIM);
}

static void draw_arcs(Strip *strip, const Arcs *arcs) {
    const BoxRow *row = strip->row;
    const Chosen *selected = &arcs->selected;
    int line = strip->line + 1, to = selected->term->thread;
    bool is_lane = row->level->through == TRACE_SHUFFLE;
    for (int w = 0; w < MOST_WARPS; w++)
        if (arcs->of_warp[w].term)
            put_arc(strip, arcs->of_warp[w].from, arcs->of_warp[w].term->thread, ROLE_DIM);
    each_arc(strip, put_free, NULL);
    put_arc(strip, selected->from, to, ROLE_ARROW);
    for (int i = 0; i < strip->columns; i++)
        if (strip->glyphs[i])
            canvas_glyph(row->canvas, row->area, LABEL_COLUMNS + i, line, strip->roles[i], strip->glyphs[i]);
    char others[16] = "";
    int lanes = is_lane ? WARP_LANES : MOST_THREADS;
    if (arcs->selected_count > 1) snprintf(others, sizeof others, " +%d", arcs->selected_count - 1);
    canvas_print(row->canvas, row->area, 1, line, ROLE_ARROW, "%s%d%s → %s%d", is_lane ? "lane " : "t",
                 selected->from % lanes, others, is_lane ? "" : "t", to % lanes);
    double phase = view_phase(row->context->view);
    if (!boxes_is_now(row, selected->term) || phase >= 1) return;
    int a = column_of(strip, selected->from), b = column_of(strip, to);
    canvas_glyph(row->canvas, row->area, LABEL_COLUMNS + a + (int)lround((b - a) * phase), line, ROLE_LIT,
                 0x25A0);
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

/* Right of the strip, where there is room. */
static void draw_words(const Strip *strip, bool counts) {
    const BoxRow *row = strip->row;
    const ReductionLevel *level = row->level;
    char words[96];
    int column = LABEL_COLUMNS + strip->columns + GAP, end = row->area.columns;
    if (counts)
        snprintf(words, sizeof words, tr("%d of %d threads %s"), level->adder_count,
                 boxes_tree(row)->thread_count, reduction_verb(level, level->adder_count == 1));
    else
        snprintf(words, sizeof words, strip->per_cell > 1 ? tr("a cell: %d threads") : tr("a cell: a thread"),
                 strip->per_cell);
    if (column + canvas_text_columns(words) <= end)
        canvas_text(row->canvas, row->area, column, strip->line, ROLE_DIM, words);
    for (int kind = 0; kind < CELL_IDLE; kind++) {
        const char *legend = tr(cells[kind].legend);
        if (!strip->has[kind] || column + canvas_text_columns(legend) > end) continue;
        canvas_text(row->canvas, row->area, column, strip->line + 1, cells[kind].role, legend);
        column += canvas_text_columns(legend) + GAP;
    }
}

/* The level's strip, and what its arcs are; false: it has none. */
static bool make(const BoxRow *row, Strip *strip, Arcs *arcs) {
    const ReductionLevel *level = row->level;
    bool has_adders = level->kind == TREE_FOLD && level->adding && !row->is_chain && level->adder_count;
    int threads = boxes_tree(row)->thread_count;
    *strip = (Strip){.row = row};
    if (!has_adders || threads > MOST_THREADS) return false;
    plan(strip, row->area.columns - LABEL_COLUMNS);
    if (!strip->columns) return false;
    *arcs = (Arcs){.selected_thread =
                       row->context->view->selection.warp * WARP_LANES + row->context->view->selection.lane};
    each_arc(strip, choose, arcs);
    return arcs->selected.term != NULL;
}

int boxes_strip_rows(const BoxRow *row) {
    Strip strip;
    Arcs arcs;
    return make(row, &strip, &arcs) ? 2 : 0;
}

void boxes_draw_strip(const BoxRow *row, int line, bool counts) {
    Strip strip;
    Arcs arcs;
    if (!make(row, &strip, &arcs)) return;
    strip.line = line;
    draw_cells(&strip);
    draw_arcs(&strip, &arcs);
    draw_words(&strip, counts);
}
