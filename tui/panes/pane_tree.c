/* The tree pane: the reduction so far. A row is a level of the tree; its cells are the lanes of the selected
 * warp with the number of inputs that each holds. The path of one value is lit, from the lane that holds it
 * back to the inputs. Beside the lanes, there is a mark for every warp of the block that is on the path, and
 * a text that says what the lane at the path's end folds. */
#include "tui/panes/pane.h"

#include "base/language.h"
#include "ptx/opcodes.h"
#include <stdio.h>

enum { LABEL_COLUMNS = 15, LARGE_LABEL_COLUMNS = 14, LEAST_TEXT_COLUMNS = 20, FEW_TEXT_COLUMNS = 30 };
enum { MOST_CELL_COLUMNS = 4, MOST_LARGE_COLUMNS = 6, FEW_WARPS = 4, LEGEND_COLUMNS = 100 };

typedef struct Picture {
    Tree *tree;
    const TreePath *path;
    int level;       /* the current level at the view's step */
    const int *now;  /* [thread] */
    int root, warp;  /* the path's value; the warp whose lanes are shown */
    bool is_wrong;   /* the run's result is wrong */
    bool is_result;  /* the path is that of the result; else of what a lane holds now */
    bool is_large;   /* for a projector: large cells, short labels */
    int label;       /* columns left of lane 0 */
    int cell, warps; /* columns per lane, and of all warps together; 0: hidden */
    int warps_each;  /* warps per mark */
    int text;        /* columns for words on the right; 0: they go below */
    int room, first; /* rows for levels; the level in the first row that scrolls */
    int spacing;     /* rows from one level to the next */
    bool keeps;      /* the inputs, from which everything is made, stay visible above */
} Picture;

static const FoldNode *node_at(const Picture *picture, int node) {
    return &picture->tree->folds->nodes[node];
}

static Picture picture_of(const StepContext *context) {
    const View *view = context->view;
    Picture picture = {.tree = scene_tree(context->scene, view->place.block), .root = FOLD_NONE};
    if (!picture.tree) return picture;
    picture.warp =
        view->selection.warp < picture.tree->warp_count ? view->selection.warp : picture.tree->warp_count - 1;
    int thread = picture.warp * WARP_LANES + view->selection.lane;
    picture.level = tree_level_at(picture.tree, view->place.step);
    picture.now = tree_now(picture.tree, view->place.step);
    picture.is_result = view->display.picture == SHOW_RESULT_TREE;
    picture.is_large = view->display.projector;
    picture.is_wrong = context->scene->outcome.verdict == SCENE_WRONG ||
                       context->scene->outcome.verdict == SCENE_WRONG_ON_PURPOSE;
    if (picture.is_result)
        picture.root = tree_result(picture.tree, thread);
    else if (thread < picture.tree->thread_count)
        picture.root = picture.now[thread];
    picture.path = tree_path(picture.tree, picture.root);
    return picture;
}

/* ---- the top line -------------------------------------------------------------------------------------- */

static void print_verdict(const Picture *picture, PaneHead *out) {
    const Tree *tree = picture->tree;
    const TreePath *path = picture->path;
    out->note_role = ROLE_WARNING;
    if (!node_at(picture, picture->root)->is_plain) {
        pane_note(out, tr("not a plain reduction: inputs are used several times"));
        out->note_role = ROLE_DIM;
    } else if (path->twice) {
        bool counts = tree->reaches[picture->root];
        pane_note(out, tr("%d input%s used more than once%s"), path->twice, path->twice > 1 ? "s" : "",
                  counts ? "!" : tr(", but not in a result"));
        if (!counts) out->note_role = ROLE_DIM;
    } else if (picture->is_wrong && tree->shared_count) {
        pane_note(out, tr("%d input%s also in other blocks' results!"), tree->shared_count,
                  tree->shared_count > 1 ? "s" : "");
    } else if (picture->is_result && tree->lost_count) {
        pane_note(out, tr("%d of %d inputs reach no result!"), tree->lost_count, tree->input_count);
    } else {
        pane_note(out, tr("%d input%s, each once"), path->once, path->once > 1 ? "s" : "");
        out->note_role = ROLE_GOOD;
    }
}

static void head(const StepContext *context, PaneHead *out) {
    Picture picture = picture_of(context);
    if (!picture.tree) {
        pane_title(out, tr("tree"));
        return;
    }
    if (picture.is_result)
        pane_title(out, tr("tree   the result, level by level"));
    else
        pane_title(out, tr("tree   what lane %d of w%d holds"), context->view->selection.lane, picture.warp);
    if (picture.root != FOLD_NONE) print_verdict(&picture, out);
}

/* ---- a row --------------------------------------------------------------------------------------------- */

static void print_level(const Picture *picture, int index, char *out, size_t bytes) {
    static const char *const names[TRACE_KIND_COUNT] = {
        [TRACE_SHUFFLE] = "shuffle",    [TRACE_REDUX] = "redux",          [TRACE_SHARED_LOAD] = "shared",
        [TRACE_GLOBAL_LOAD] = "global", [TRACE_SHARED_ATOMIC] = "atomic", [TRACE_GLOBAL_ATOMIC] = "atomic",
        [TRACE_MATRIX] = "mma"};
    const TreeLevel *level = &picture->tree->levels[index];
    const char *name = level->kind == TREE_INPUTS ? "inputs"
                       : names[level->through]    ? names[level->through]
                                                  : "fold";
    bool has_distance = level->distance && level->kind == TREE_FOLD && level->through != TRACE_REDUX &&
                        level->through != TRACE_MATRIX;
    char interval[16] = "";
    if (!picture->is_large) snprintf(interval, sizeof interval, "%u ", level->interval + 1);
    int length = snprintf(out, bytes, "%s%s", interval, tr(name));
    const char *gap = level->interval < 9 || picture->is_large ? " " : ""; /* the column is narrow */
    if (has_distance && length > 0 && (size_t)length < bytes)
        snprintf(out + length, bytes - (size_t)length, level->crosswise ? "%s^%d" : "%s%+d", gap,
                 level->distance);
}

/* If a cell has no room for the number: its digit, or from 10 on a height that grows with the logarithm. */
static uint32_t small_weight(const Picture *picture, uint32_t weight) {
    uint32_t most = picture->path->root == FOLD_NONE ? 1 : node_at(picture, picture->path->root)->weight;
    if (weight < 10) return '0' + weight;
    int bits = 32 - __builtin_clz(most | 16), at = 32 - __builtin_clz(weight); /* 4 bits: 10 to 15 */
    int height = (at - 4) * 4 / (bits - 4);
    return 0x2584 + (uint32_t)(height > 4 ? 4 : height);
}

static Role role_of(const Picture *picture, int level, int node, char *mark) {
    const Tree *tree = picture->tree;
    bool on_path = picture->path->ways[node] > 0;
    if (picture->path->doubles[node]) {
        *mark = '!';
        return ROLE_WARNING;
    }
    if (on_path) return ROLE_LIT;
    if (!tree->reaches[node]) return ROLE_DIM;
    return tree_acts(tree, level, node) ? ROLE_ACTIVE : ROLE_TEXT;
}

/* The value is made or taken in this level, or used later. */
static bool is_alive(const Picture *picture, int level, int node) {
    if (node == FOLD_NONE) return false;
    return tree_acts(picture->tree, level, node) || picture->tree->used_until[node] > level;
}

/* A number that fills its cell would touch the one before, or repeat it: a block is drawn instead. */
static bool is_crowded(const Picture *picture, int level, const int *cells, int thread, int length,
                       bool marked, bool *full) {
    bool crowded = (*full || marked) && length >= picture->cell;
    if (!crowded && length >= picture->cell && thread % WARP_LANES &&
        is_alive(picture, level, cells[thread - 1]))
        crowded = node_at(picture, cells[thread])->weight == node_at(picture, cells[thread - 1])->weight;
    *full = length >= picture->cell && !crowded;
    return crowded;
}

/* The thread loads an input that another block also folds, which makes the result wrong. */
static bool is_shared(const Picture *picture, int thread) {
    return picture->tree->shares[thread] && picture->is_wrong;
}

static void draw_cell(const Picture *picture, Canvas *canvas, Rectangle area, int row, int level, int thread,
                      const int *cells, bool *full) {
    const Tree *tree = picture->tree;
    int node = cells[thread], column = picture->label + thread % WARP_LANES * picture->cell;
    /* Last column of the number; a mark may follow. */
    int last = column + (picture->cell > 1 ? picture->cell - 2 : 0);
    char text[8], mark = ' ';
    if (!is_alive(picture, level, node)) {
        canvas_glyph(canvas, area, last, row, ROLE_IDLE, 0xB7);
        *full = false;
        return;
    }
    Role role = role_of(picture, level, node, &mark);
    if (tree->levels[level].kind == TREE_INPUTS && (tree->loses[thread] || is_shared(picture, thread))) {
        mark = tree->loses[thread] ? '?' : '!';
        role = ROLE_WARNING;
    }
    uint32_t weight = node_at(picture, node)->weight;
    /* At most three characters. */
    if (weight < 1000)
        snprintf(text, sizeof text, "%u", weight);
    else if (weight < 99500)
        snprintf(text, sizeof text, "%uk", (weight + 500) / 1000);
    else if (weight < 950000)
        snprintf(text, sizeof text, ".%uM", (weight + 50000) / 100000);
    else if (weight < 99500000)
        snprintf(text, sizeof text, "%uM", (weight + 500000) / 1000000);
    else
        snprintf(text, sizeof text, "max");
    int length = (int)strlen(text);
    if (picture->cell == 2 && length == 2 && mark == ' ' &&
        !is_crowded(picture, level, cells, thread, length, false, full)) {
        canvas_text(canvas, area, column, row, role, text);
        return;
    }
    if (picture->cell < 3) {
        *full = false;
        canvas_glyph(canvas, area, last, row, role,
                     mark != ' ' ? (uint32_t)mark : small_weight(picture, weight));
        return;
    }
    if (is_crowded(picture, level, cells, thread, length, mark != ' ', full)) {
        canvas_glyph(canvas, area, last, row, role, 0x25A0);
    } else {
        int first = last + 1 - length < column ? column : last + 1 - length;
        canvas_text(canvas, area, first, row, role, text);
    }
    if (mark != ' ') canvas_glyph(canvas, area, column + picture->cell - 1, row, role, (uint32_t)mark);
}

/* ---- the texts ----------------------------------------------------------------------------------------- */

/* Another thread had this operand before the level. */
static bool comes(const Picture *picture, int node, int operand) {
    return tree_thread(picture->tree, tree_origin(picture->tree, node, operand)) !=
           tree_thread(picture->tree, node);
}

/* The value at the end of the path, traced back along the lane's own values to this level; FOLD_NONE: it ends
 * earlier. */
static int spine_at(const Picture *picture, int level) {
    const Tree *tree = picture->tree;
    int node = picture->root;
    while (node != FOLD_NONE) {
        const FoldNode *at = node_at(picture, node);
        int of = tree->level_of_node[node];
        if (of >= 0 && of < level) return FOLD_NONE;
        if (of == level && at->kind == FOLD_JOIN) return node;
        if (of == level && at->kind == FOLD_MOVE && tree->level_of_node[at->a] != level) return node;
        bool other = at->kind == FOLD_JOIN && comes(picture, node, at->a) && !comes(picture, node, at->b);
        node = other ? at->b : at->a;
    }
    return FOLD_NONE;
}

static void print_value(const StepContext *context, const FoldNode *node, char *out, size_t bytes) {
    step_context_print_typed(context, (PtxType)node->type, node->bits, out, bytes);
}

/* "in[37]", "w4 lane 0", if columns are scarce "w4 l0"; "" for the thread's own value. */
static void print_origin(const StepContext *context, const Picture *picture, int node, int operand, char *out,
                         size_t bytes) {
    const Tree *tree = picture->tree;
    int origin = tree_origin(tree, node, operand), from = tree_thread(tree, origin),
        to = tree_thread(tree, node);
    const FoldNode *at = node_at(picture, origin);
    const char *lane = picture->text && picture->text < FEW_TEXT_COLUMNS ? "l" : "lane ";
    *out = 0;
    if (at->kind == FOLD_INPUT && at->buffer >= FOLD_PEER_BUFFER) {
        step_context_print_input(context, at->buffer, out, bytes);
    } else if (at->kind == FOLD_INPUT) {
        int each = ptx_type_bytes((PtxType)node_at(picture, operand)->type);
        char name[48];
        step_context_print_input(context, at->buffer, name, sizeof name);
        snprintf(out, bytes, "%s[%llu]", name, (unsigned long long)at->bits / (unsigned)(each ? each : 1));
    } else if (from != to && from / WARP_LANES == to / WARP_LANES) {
        snprintf(out, bytes, "%s%d", lane, from % WARP_LANES);
    } else if (from != to) {
        snprintf(out, bytes, "w%d %s%d", from / WARP_LANES, lane, from % WARP_LANES);
    }
}

/* The number of values that a thread folds into one in this level. */
static int count_values(const Picture *picture, int node) {
    enum { MOST_VALUES = 999 };
    const Tree *tree = picture->tree;
    int stack[MOST_VALUES + 1], depth = 0, count = 0;
    stack[depth++] = node;
    while (depth && count + depth < MOST_VALUES) {
        const FoldNode *at = node_at(picture, stack[--depth]);
        int next = stack[depth];
        bool is_sum = at->kind == FOLD_JOIN && tree->level_of_node[next] == tree->level_of_node[node];
        if (is_sum) {
            stack[depth++] = at->b;
            stack[depth++] = at->a;
        }
        count += !is_sum;
    }
    return count + depth;
}

static void print_fold(const StepContext *context, const Picture *picture, int node, char *out,
                       size_t bytes) {
    const FoldNode *at = node_at(picture, node);
    char first[40], second[40], from[80];
    int level = picture->tree->level_of_node[node], values = count_values(picture, node);
    if (at->kind == FOLD_MOVE) {
        print_value(context, at, first, sizeof first);
        print_origin(context, picture, node, node, from, sizeof from);
        snprintf(out, bytes, *from ? tr("%s of %s") : "%s%s", first, from);
    } else if (picture->tree->levels[level].kind == TREE_INPUTS) {
        snprintf(out, bytes, tr("%u inputs of its own"), at->weight);
    } else if (values > 2) {
        snprintf(out, bytes, tr("%d values"), values);
    } else {
        bool swap = comes(picture, node, at->a);
        int own = swap ? at->b : at->a, other = swap ? at->a : at->b;
        print_value(context, node_at(picture, own), first, sizeof first);
        print_value(context, node_at(picture, other), second, sizeof second);
        print_origin(context, picture, node, other, from, sizeof from);
        /* A + -b is hard to read. */
        bool minus = second[0] == '-' && context->view->display.values != VALUE_HEX;
        const char *sign = *context->scene->identity.op && strcmp(context->scene->identity.op, "sum") != 0
                               ? ","
                           : minus ? " -"
                                   : " +";
        const char *number = second + (minus && *sign == ' ');
        snprintf(out, bytes, *from ? tr("%s%s %s of %s") : "%s%s %s%s", first, sign, number, from);
    }
}

static bool has_warpgroup_products(const PtxProgram *program) {
    for (int pc = 0; pc < program->code_count; pc++)
        if (program->code[pc].instruction->opcode == PTX_wgmma) return true;
    return false;
}

/* What the lane at the end of the path holds, and how it was folded. */
static void draw_value_text(const StepContext *context, const Picture *picture, Canvas *canvas,
                            Rectangle area, int row) {
    char fold[256], value[40];
    if (picture->root == FOLD_NONE) {
        canvas_text(canvas, area, 1, row, ROLE_DIM,
                    has_warpgroup_products(context->launch->program)
                        ? tr("no lane loads what wgmma multiplies: the tree does not follow it")
                    : picture->is_result ? tr("no result includes an input of this block")
                                         : tr("this lane holds no input yet"));
        return;
    }
    const FoldNode *root = node_at(picture, picture->root);
    int level = picture->tree->level_of_node[picture->root], spine = FOLD_NONE;
    if (level < 0) level = picture->tree->level_count - 1;
    while (level >= 0 && spine == FOLD_NONE) spine = spine_at(picture, level--);
    print_value(context, root, value, sizeof value);
    int at = 1 + canvas_print(canvas, area, 1, row, ROLE_TEXT, tr("lane %d of w%d: %u input%s"), root->lane,
                              root->warp, root->weight, root->weight > 1 ? "s" : "");
    if (root->type != PTX_NO_TYPE) at += canvas_print(canvas, area, at, row, ROLE_CURRENT, tr(", %s"), value);
    if (spine == FOLD_NONE) return;
    print_fold(context, picture, spine, fold, sizeof fold);
    if (strcmp(fold, value) != 0) canvas_print(canvas, area, at, row, ROLE_TEXT, " = %s", fold);
}

/* The same, level by level from the end of the path back, if there is room. */
static void draw_path_text(const StepContext *context, const Picture *picture, Canvas *canvas, Rectangle area,
                           int row) {
    char label[32], fold[256];
    for (int level = picture->tree->level_count - 1; level >= 0 && row < area.rows; level--) {
        int spine = spine_at(picture, level);
        if (spine == FOLD_NONE) continue;
        print_level(picture, level, label, sizeof label);
        print_fold(context, picture, spine, fold, sizeof fold);
        canvas_text(canvas, area, 1, row, ROLE_DIM, label);
        canvas_text(canvas, area, LABEL_COLUMNS, row++, ROLE_TEXT, fold);
    }
}

/* ---- the pane ------------------------------------------------------------------------------------------ */

/* The widest cells that leave room for a mark per warp, or a few marks for all warps; on a projector the
 * widest. */
static void choose_columns(Picture *picture, Rectangle area) {
    int warp_count = picture->tree->warp_count, beside = 1 + canvas_clamp(warp_count, 0, FEW_WARPS), room;
    picture->label = picture->is_large ? LARGE_LABEL_COLUMNS : LABEL_COLUMNS;
    picture->cell = picture->is_large ? MOST_LARGE_COLUMNS : MOST_CELL_COLUMNS;
    if (picture->is_large) beside = 0;
    while (picture->cell > 1 && picture->label + picture->cell * WARP_LANES + beside > area.columns)
        picture->cell--;
    room = area.columns - picture->label - picture->cell * WARP_LANES - 1;
    picture->warps_each = 1;
    if (warp_count > 1 && room > 0) {
        while ((warp_count - 1) / picture->warps_each + 1 > room) picture->warps_each *= 2;
        picture->warps = (warp_count - 1) / picture->warps_each + 1;
    }
    picture->text = room - picture->warps - 2;
    if (picture->text < LEAST_TEXT_COLUMNS) picture->text = 0;
}

static bool has_value_text(const Picture *picture, Rectangle area) {
    return area.rows > 4 && picture->tree->level_count != area.rows - 1;
}

/* As many levels as fit, around the current one. */
static void choose_rows(Picture *picture, Rectangle area) {
    const Tree *tree = picture->tree;
    int count = tree->level_count, level = picture->level < 0 ? 0 : picture->level;
    picture->room = area.rows - 1 - has_value_text(picture, area);
    picture->spacing = picture->is_large && 2 * count <= picture->room ? 2 : 1;
    picture->keeps = count > picture->room && picture->room > 2 && tree->levels[0].kind == TREE_INPUTS;
    picture->first =
        canvas_clamp(level - picture->room + 2, 0, count > picture->room ? count - picture->room : 0);
}

/* The level in a row of the pane; -1: none. */
static int level_in_row(const Picture *picture, int row) {
    int index = (row - 1) / picture->spacing;
    if (row < 1 || row > picture->room || (row - 1) % picture->spacing) return -1;
    if (picture->first + index >= picture->tree->level_count) return -1;
    return index == 0 && picture->keeps ? 0 : picture->first + index;
}

static void draw_header(const StepContext *context, const Picture *picture, Canvas *canvas, Rectangle area) {
    canvas_text(canvas, area, 1, 0, ROLE_DIM, picture->is_large ? "lane" : "interval lane");
    for (int lane = 0; lane < WARP_LANES; lane++) {
        int column = picture->label + lane * picture->cell;
        Role role = lane == context->view->selection.lane ? ROLE_SELECTED : ROLE_DIM;
        if (picture->cell > 2)
            canvas_print(canvas, area, column + picture->cell - 3, 0, role, "%2d", lane);
        else if (lane % 8 == 0 || (lane % 2 == 0 && picture->cell > 1))
            canvas_print(canvas, area, column, 0, role, "%d", lane);
    }
    if (picture->warps >= 5)
        canvas_text(canvas, area, picture->label + WARP_LANES * picture->cell + 1, 0, ROLE_DIM, tr("warps"));
}

static void draw_level(const StepContext *context, const Picture *picture, Canvas *canvas, Rectangle area,
                       int row, int level) {
    Tree *tree = picture->tree;
    char label[32], fold[160];
    bool current = level == picture->level, future = level > picture->level && !picture->is_result;
    print_level(picture, level, label, sizeof label);
    canvas_print(canvas, area, 0, row, current ? ROLE_CURRENT : ROLE_DIM, "%c%s", current ? '>' : ' ', label);
    if (future) return;
    const int *cells = current && !picture->is_result
                           ? picture->now
                           : &tree->cells[(size_t)level * (size_t)tree->thread_count];
    bool full = false;
    for (int thread = picture->warp * WARP_LANES; thread < (picture->warp + 1) * WARP_LANES; thread++)
        if (thread < tree->thread_count) draw_cell(picture, canvas, area, row, level, thread, cells, &full);
    /* A mark for each warp (or for several): whether it is on the path, and whether it folds in this
     * level. */
    int column = picture->label + WARP_LANES * picture->cell + 1;
    for (int group = 0; group < picture->warps; group++) {
        bool lit = false, acts = false;
        for (int i = 0; i < picture->warps_each * WARP_LANES; i++) {
            int thread = group * picture->warps_each * WARP_LANES + i;
            if (thread >= picture->tree->thread_count || cells[thread] == FOLD_NONE) continue;
            acts |= tree_acts(picture->tree, level, cells[thread]);
            lit |= picture->path->ways[cells[thread]] && is_alive(picture, level, cells[thread]);
        }
        bool shown = picture->warp / picture->warps_each == group;
        Role role = lit ? ROLE_ACTIVE : shown ? ROLE_SELECTED : ROLE_IDLE;
        canvas_glyph(canvas, area, column + group, row, role, lit ? 0x25A0 : acts ? 0x25A1 : 0xB7);
    }
    int spine = picture->text ? spine_at(picture, level) : FOLD_NONE;
    if (spine == FOLD_NONE) return;
    print_fold(context, picture, spine, fold, sizeof fold);
    canvas_text(canvas, area, area.columns - picture->text, row, ROLE_TEXT, fold);
}

/* Which levels are shown if not all fit; returns its columns. */
static int draw_range(const Picture *picture, Canvas *canvas, Rectangle area) {
    int count = picture->tree->level_count,
        first = picture->first + 1 + (picture->keeps && picture->first > 0);
    char text[64];
    if (count <= picture->room) return 0;
    snprintf(text, sizeof text, tr("levels %s%d-%d of %d"), first > picture->first + 1 ? "1, " : "", first,
             picture->first + picture->room, count);
    canvas_right(canvas, area, area.columns, area.rows - 1, ROLE_DIM, text);
    return canvas_text_columns(text) + 1;
}

static void draw_nothing(const StepContext *context, Canvas *canvas, Rectangle area) {
    const TraceBlock *block = context->steps->block;
    const Scene *scene = context->scene;
    bool can_replay = scene_can_replay(scene, context->view->place.block);
    const Folds *folds = scene_folds(scene, context->view->place.block);
    Text text = {0};
    if (folds)
        text_print(&text,
                   tr("Block %u folds more than %d values, too many for the tree. Fewer elements or a larger "
                      "grid (p) make its blocks smaller."),
                   trace_block_linear(block), FOLD_LIMIT);
    else if (can_replay)
        text_add(&text, tr("It is not known which elements were folded: this block cannot be replayed."));
    else
        text_print(&text,
                   tr("Block %u has %d events; the tree is shown for blocks of up to %d. Fewer elements or a "
                      "larger grid (p) make its blocks smaller."),
                   trace_block_linear(block), trace_block_event_count(block), SCENE_MOST_EVENTS);
    canvas_paragraph(canvas, area, 0, ROLE_DIM, text_string(&text));
    text_done(&text);
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    Picture picture = picture_of(context);
    if (!picture.tree) {
        draw_nothing(context, canvas, area);
        return;
    }
    choose_columns(&picture, area);
    choose_rows(&picture, area);
    draw_header(context, &picture, canvas, area);
    int row = 1;
    for (int i = 1; i <= picture.room; i++) {
        int level = level_in_row(&picture, i);
        if (level >= 0) draw_level(context, &picture, canvas, area, i, level);
        if (level >= 0) row = i + picture.spacing;
    }
    Rectangle below = area;
    below.columns -= draw_range(&picture, canvas, area);
    if (has_value_text(&picture, area)) draw_value_text(context, &picture, canvas, below, row++);
    if (row < area.rows) {
        canvas_print(canvas, area, 1, area.rows - 1, ROLE_DIM,
                     tr("%slit: part of this value; ! input used twice; ? input in no result"),
                     area.columns > LEGEND_COLUMNS ? tr("cell: inputs held by the lane; ") : "");
    }
    below.rows--;
    if (!picture.text && row + 1 < below.rows) draw_path_text(context, &picture, canvas, below, row + 1);
}

/* A click on a lane, a warp's mark or a level's name goes to its first step. */
static ViewAnswer click(const StepContext *context, Rectangle area, int column, int row, View *view) {
    Picture picture = picture_of(context);
    if (!picture.tree) return VIEW_IGNORED;
    choose_columns(&picture, area);
    choose_rows(&picture, area);
    int lanes_end = picture.label + WARP_LANES * picture.cell, group = column - lanes_end - 1;
    int level = level_in_row(&picture, row);
    if (column >= picture.label && column < lanes_end)
        view->selection.lane = (column - picture.label) / picture.cell;
    else if (group >= 0 && group < picture.warps)
        view->selection.warp = group * picture.warps_each;
    else if (level >= 0 && column < picture.label)
        view_jump_to_step(view, context->scene, picture.tree->levels[level].first);
    return VIEW_CHANGED;
}

const Pane pane_tree = {.slot = SLOT_PICTURE,
                        .tells = HIDES_COUNTS,
                        .tells_here = HIDES_VALUES,
                        .head = head,
                        .draw = draw,
                        .click = click};
