/* Matrix: the matrix product of a warp, or movmatrix. On the left, which lane holds which elements; on the
 * right, what the selected lane holds. A cell of a map is a group of elements that one lane holds together:
 * those of one register; for D, two columns. Of wgmma, an event has some registers of the warp's 16 rows.
 * The map of a sparse A has what is stored, and the list the columns to which the metadata assign it. */
#include "ptx/opcodes.h"
#include "tui/panes/pane.h"

#include "base/language.h"
#include "ptx/matrix.h"
#include <inttypes.h>
#include <stdio.h>

enum { MOST_CELLS = 32, CELL_COLUMNS = 3, LABEL_COLUMNS = 3, GAP = 2, LIST_COLUMNS = 32, MAP_TOP = 1 };

typedef struct MatrixOperand { /* of the instruction */
    char name;
    PtxFragment fragment;
    const PtxOperand *registers; /* NULL: the values of the event */
    bool is_sparse;              /* what is stored of a sparse A */
} MatrixOperand;

typedef struct MatrixPicture {
    MatrixOperand operands[3]; /* in drawing order */
    int count;
    int m, n, k; /* 0: not a product */
    bool is_of_warpgroup, is_sparse;
} MatrixPicture;

static MatrixPicture picture_of(const PtxInstruction *in) {
    MatrixPicture picture = {0};
    PtxProduct product;
    PtxWarpgroupProduct share;
    if (!in) return picture;
    if (ptx_warpgroup_product(in, &share)) {
        product = share.product;
        picture = (MatrixPicture){.m = product.m,
                                  .n = product.n,
                                  .k = product.a.columns,
                                  .is_of_warpgroup = true,
                                  .is_sparse = share.is_sparse};
        if (share.a_in_registers)
            picture.operands[picture.count++] =
                (MatrixOperand){'A', product.a, &in->operands[1], share.is_sparse};
        picture.operands[picture.count++] = (MatrixOperand){.name = 'D', .fragment = product.d};
        return picture;
    }
    if (ptx_product(in, &product)) {
        picture = (MatrixPicture){.operands = {{'A', product.a, &in->operands[1], false},
                                               {'B', product.b, &in->operands[2], false},
                                               {'D', product.d, NULL, false}},
                                  .count = 3,
                                  .m = product.m,
                                  .n = product.n,
                                  .k = product.k};
    } else if (in->opcode == PTX_movmatrix) {
        picture = (MatrixPicture){.operands = {{'A', ptx_matrix_block(), &in->operands[1], false},
                                               {'D', ptx_matrix_block(), NULL, false}},
                                  .count = 2};
    }
    return picture;
}

/* scale-d is false: what D held is not added. Unknown is true. */
static bool adds_d(const StepContext *context) {
    PtxWarpgroupProduct share;
    RegisterValues values;
    const PtxInstruction *in = context->code->instruction;
    if (!ptx_warpgroup_product(in, &share)) return true;
    const PtxOperand *scale = &in->operands[share.scale_d];
    if (scale->kind == PTX_OPERAND_INTEGER) return scale->integer != 0;
    return !scale->reg || !register_values(context, scale->reg, &values) ||
           (values.bits[0] != 0) != scale->negated;
}

static void head(const StepContext *context, PaneHead *out) {
    const PtxInstruction *in = context->code ? context->code->instruction : NULL;
    MatrixPicture picture = picture_of(in);
    if (picture.is_of_warpgroup)
        pane_title(out,
                   picture.is_sparse
                       ? adds_d(context)
                             ? tr("%s   w%d   D = sparse A * B + D: %d rows, %d columns, sums of %d products")
                             : tr("%s   w%d   D = sparse A * B: %d rows, %d columns, sums of %d products")
                   : adds_d(context)
                       ? tr("%s   w%d   D = A * B + D: %d of 64 rows, %d columns, sums of %d products")
                       : tr("%s   w%d   D = A * B: %d of 64 rows, %d columns, sums of %d products"),
                   in->name, context->event.warp, picture.m, picture.n, picture.k);
    else if (picture.m)
        pane_title(out, tr("%s   w%d   D = A * B + C: %d x %d sums of %d products"), in->name,
                   context->event.warp, picture.m, picture.n, picture.k);
    else
        pane_title(out, tr("%s   w%d   the rows of A become columns"), in ? in->name : tr("matrix"),
                   context->event.warp);
}

/* ---- maps ---------------------------------------------------------------------------------------------- */

typedef struct LaneMap {
    int rows, columns; /* cells */
    int down, across;  /* elements of a cell; one of them is 1 */
    int8_t lane[MOST_CELLS][MOST_CELLS];
} LaneMap;

/* Without cells if it has too many columns. */
static LaneMap map_of(const PtxFragment *fragment) {
    LaneMap map = {.down = 1, .across = 1};
    if (fragment->columns > 2 * MOST_CELLS) return map;
    bool is_c = fragment->role == PTX_MATRIX_C;
    bool is_vertical = is_c ? fragment->is_turned : fragment->role == PTX_MATRIX_B;
    *(is_vertical ? &map.down : &map.across) = is_c ? 2 : fragment->parts;
    map.rows = fragment->rows / map.down;
    map.columns = fragment->columns / map.across;
    for (int lane = 0; lane < WARP_LANES; lane++)
        for (int r = 0; r < fragment->distinct; r++)
            for (int part = 0; part < fragment->parts; part++) {
                PtxMatrixPlace place = ptx_fragment_place(fragment, lane, r, part);
                map.lane[place.row / map.down][place.column / map.across] = (int8_t)lane;
            }
    return map;
}

static int map_columns(const LaneMap *map) {
    return LABEL_COLUMNS + map->columns * CELL_COLUMNS;
}

/* The first row drawn: the lane's rows are in the middle if there is no room for all. */
static int first_row(const LaneMap *map, int lane, int visible) {
    int row = 0;
    for (int r = map->rows - 1; r >= 0; r--)
        for (int c = 0; c < map->columns; c++)
            if (map->lane[r][c] == lane) row = r;
    return canvas_first_shown(row, visible, map->rows);
}

static void draw_map(const StepContext *context, Canvas *canvas, Rectangle area, int column,
                     const MatrixOperand *operand, const LaneMap *map) {
    int lane = context->view->selection.lane, visible = area.rows - MAP_TOP;
    int first = first_row(map, lane, visible);
    canvas_print(canvas, area, column, 0, ROLE_DIM, "%c %dx%d %s%s", operand->name, operand->fragment.rows,
                 operand->fragment.columns, ptx_type_text(operand->fragment.type),
                 operand->is_sparse ? tr(" stored") : "");
    for (int row = first; row < map->rows && row - first < visible; row++) {
        canvas_print(canvas, area, column, MAP_TOP + row - first, ROLE_DIM, "%2d", row * map->down);
        for (int c = 0; c < map->columns; c++) {
            int at = column + LABEL_COLUMNS + c * CELL_COLUMNS, holder = map->lane[row][c];
            bool is_own = holder == lane;
            canvas_print(canvas, area, at, MAP_TOP + row - first, is_own ? ROLE_CURRENT : ROLE_TEXT, "%2d",
                         holder);
            if (is_own) canvas_reverse(canvas, area, at, MAP_TOP + row - first, 2);
        }
    }
}

/* ---- the lane's values --------------------------------------------------------------------------------- */

static const PtxRegister *register_of(const MatrixOperand *operand, int index) {
    const PtxOperand *of = operand->registers;
    if (!of) return NULL;
    const PtxOperand *item = of->kind == PTX_OPERAND_VECTOR ? &of->items[index] : of;
    return item->kind == PTX_OPERAND_REGISTER ? item->reg : NULL;
}

static bool is_written(const StepContext *context, const PtxRegister *reg) {
    const PtxOperand *d = &context->code->instruction->operands[0];
    for (int i = 0; i < d->item_count; i++)
        if (d->items[i].reg == reg) return true;
    return d->kind == PTX_OPERAND_REGISTER && d->reg == reg;
}

/* False: unknown, or overwritten by the result. */
static bool find_bits(const StepContext *context, const MatrixOperand *operand, int index, int lane,
                      uint64_t *bits) {
    RegisterValues values;
    if (!operand->registers) {
        index -= context->code->instruction->opcode == PTX_wgmma ? (int)context->event.participants : 0;
        if (!context->event.has_result || index < 0 || index >= context->event.element_count) return false;
        *bits = context->event.value[index][lane];
        return true;
    }
    const PtxRegister *reg = register_of(operand, index);
    if (!reg || is_written(context, reg) || !register_values(context, reg, &values)) return false;
    *bits = values.bits[lane];
    return true;
}

/* The columns of stored elements from `first` on, as "1 3"; "-": unknown. */
static void print_stored_columns(const StepContext *context, PtxMatrixPlace first, int count, char *text,
                                 size_t size) {
    PtxWarpgroupProduct share;
    PtxStoredColumns columns;
    RegisterValues values;
    uint32_t metadata[WARP_LANES];
    const PtxInstruction *in = context->code->instruction;
    snprintf(text, size, "-");
    if (!ptx_warpgroup_product(in, &share)) return;
    const PtxRegister *reg = in->operands[share.metadata].reg;
    if (!reg || is_written(context, reg) || !register_values(context, reg, &values)) return;
    for (int lane = 0; lane < WARP_LANES; lane++) metadata[lane] = (uint32_t)values.bits[lane];
    if (ptx_stored_columns(&share, metadata, &columns) >= 0) return;
    for (int i = 0, length = 0; i < count; i++)
        length += snprintf(text + length, size - (size_t)length, i ? " %d" : "%d",
                           columns.of[first.row][first.column + i]);
}

/* "A 5, 2..3   0.5 -1.25"; of a sparse A "A 5, 1 3    0.5 -1.25" */
static void draw_register(const StepContext *context, Canvas *canvas, Rectangle area, int row,
                          const MatrixOperand *operand, int index) {
    const PtxFragment *fragment = &operand->fragment;
    int lane = context->view->selection.lane, column = operand->is_sparse && fragment->parts == 4 ? 19 : 12;
    int room = area.columns < LIST_COLUMNS ? area.columns : LIST_COLUMNS - 1;
    PtxMatrixPlace from = ptx_fragment_place(fragment, lane, index, 0),
                   to = ptx_fragment_place(fragment, lane, index, fragment->parts - 1);
    char rows[16], columns[24], text[40];
    snprintf(rows, sizeof rows, to.row > from.row ? "%d..%d" : "%d", from.row, to.row);
    snprintf(columns, sizeof columns, to.column > from.column ? "%d..%d" : "%d", from.column, to.column);
    if (operand->is_sparse) print_stored_columns(context, from, fragment->parts, columns, sizeof columns);
    canvas_print(canvas, area, 0, row, ROLE_DIM, "%c %s, %s", operand->name, rows, columns);
    uint64_t bits;
    if (!find_bits(context, operand, index, lane, &bits)) {
        canvas_text(canvas, area, column, row, ROLE_DIM, "-");
        return;
    }
    for (int part = 0; part < fragment->parts; part++) {
        PtxType type = fragment->type == PTX_TF32 ? PTX_F32 : fragment->type;
        step_context_print_typed(context, type, ptx_fragment_element(fragment, bits, part), text,
                                 sizeof text);
        bool fits = column + canvas_text_columns(text) + (part + 1 < fragment->parts ? 3 : 0) <= room;
        column += canvas_text(canvas, area, column, row, ROLE_TEXT, fits ? text : "..") + 1;
        if (!fits) return;
    }
}

/* ---- the picture --------------------------------------------------------------------------------------- */

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    MatrixPicture picture = picture_of(context->code ? context->code->instruction : NULL);
    int room = area.columns - LIST_COLUMNS - GAP, column = 0;
    for (int i = 0; i < picture.count; i++) {
        LaneMap map = map_of(&picture.operands[i].fragment);
        if (!map.columns || column + map_columns(&map) > room) continue;
        draw_map(context, canvas, area, column, &picture.operands[i], &map);
        column += map_columns(&map) + GAP;
    }
    Rectangle list = area;
    list.column += column;
    list.columns -= column;
    /* D first: the result of the instruction. Further matrices are beside the first if there is room. */
    canvas_print(canvas, list, 0, 0, ROLE_CURRENT, tr("lane %d   row, column"),
                 context->view->selection.lane);
    int number = 0, rows = list.rows - MAP_TOP;
    for (int i = 0; i < picture.count; i++) {
        const MatrixOperand *operand = &picture.operands[(i + picture.count - 1) % picture.count];
        for (int r = 0; r < operand->fragment.distinct; r++, number++) {
            Rectangle at = list;
            at.column += number / rows * LIST_COLUMNS;
            at.columns -= number / rows * LIST_COLUMNS;
            if (at.columns >= LIST_COLUMNS - GAP)
                draw_register(context, canvas, at, MAP_TOP + number % rows, operand, r);
        }
    }
}

/* Selects the lane of the cell. */
static ViewAnswer click(const StepContext *context, Rectangle area, int column, int row, View *view) {
    MatrixPicture picture = picture_of(context->code ? context->code->instruction : NULL);
    int room = area.columns - LIST_COLUMNS - GAP, begin = 0;
    for (int i = 0; i < picture.count; i++) {
        LaneMap map = map_of(&picture.operands[i].fragment);
        if (!map.columns || begin + map_columns(&map) > room) continue;
        int cell = (column - begin - LABEL_COLUMNS) / CELL_COLUMNS;
        int at = row - MAP_TOP + first_row(&map, view->selection.lane, area.rows - MAP_TOP);
        bool is_here =
            column >= begin + LABEL_COLUMNS && cell < map.columns && row >= MAP_TOP && at < map.rows;
        if (is_here) view->selection.lane = map.lane[at][cell];
        if (is_here) return VIEW_CHANGED;
        begin += map_columns(&map) + GAP;
    }
    return VIEW_CHANGED;
}

const Pane pane_matrix = {.slot = SLOT_PICTURE,
                          .tells_here = HIDES_VALUES,
                          .kinds = 1u << TRACE_MATRIX,
                          .head = head,
                          .draw = draw,
                          .click = click};
