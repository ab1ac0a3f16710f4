#include "tui/view/index_view.h"

#include "base/language.h"
#include "index/index_fit.h"
#include "tui/view/key_actions.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const int widths[] = {1, 2, 4, 8, 16};
enum { WIDTHS = sizeof widths / sizeof *widths, LARGEST_VALUE = 1 << 30, LAST_WARP = 31 };
#define ALL_LANES 0xffffffffu

/* ---- fields -------------------------------------------------------------------------------------------- */

static int fields_of(const ViewIndex *index, IndexField out[INDEX_FIELDS]) {
    int count = 0;
    for (int i = 0; i < 2; i++) {
        IndexNumber numbers[INDEX_NUMBERS];
        int known = index_numbers(index->text[i], numbers);
        for (int number = 0; number < known; number++)
            out[count++] = (IndexField){INDEX_FIELD_NUMBER, i, number};
        if (!known) out[count++] = (IndexField){INDEX_FIELD_TEXT, i, 0};
    }
    for (int kind = INDEX_FIELD_S; kind <= INDEX_FIELD_STORE; kind++)
        out[count++] = (IndexField){.kind = kind};
    if (index->access_mask != ALL_LANES) out[count++] = (IndexField){.kind = INDEX_FIELD_LANES};
    return count;
}

IndexField view_index_field(const ViewIndex *index) {
    IndexField fields[INDEX_FIELDS];
    int count = fields_of(index, fields);
    return fields[index->field < count ? index->field : count - 1];
}

static int place_of_width(int bytes) {
    int place = 0;
    while (place < WIDTHS - 1 && widths[place] != bytes) place++;
    return place;
}

/* False: the field has no values. Widths are counted from 0; a store and all lanes are 1. */
static bool get(const ViewIndex *index, const IndexField *field, int64_t *value, int64_t *last) {
    IndexNumber numbers[INDEX_NUMBERS];
    *last = LARGEST_VALUE;
    switch (field->kind) {
    case INDEX_FIELD_NUMBER:
        if (field->number >= index_numbers(index->text[field->expression], numbers)) return false;
        *value = numbers[field->number].value;
        return true;
    case INDEX_FIELD_S:
        *value = index->of.s;
        return true;
    case INDEX_FIELD_N:
        *value = index->of.n;
        return true;
    case INDEX_FIELD_WARP:
        *value = index->of.warp;
        *last = LAST_WARP;
        return true;
    case INDEX_FIELD_BYTES:
        *value = place_of_width(index->of.bytes);
        *last = WIDTHS - 1;
        return true;
    case INDEX_FIELD_STORE:
        *value = index->of.is_store;
        *last = 1;
        return true;
    case INDEX_FIELD_LANES:
        *value = index->of.mask == ALL_LANES;
        *last = 1;
        return true;
    case INDEX_FIELD_TEXT:
        break;
    }
    return false;
}

static void put(ViewIndex *index, const IndexField *field, int64_t value) {
    IndexNumber numbers[INDEX_NUMBERS];
    switch (field->kind) {
    case INDEX_FIELD_NUMBER:
        if (field->number < index_numbers(index->text[field->expression], numbers))
            index_put_number(index->text[field->expression], &numbers[field->number], value);
        break;
    case INDEX_FIELD_S:
        index->of.s = value;
        break;
    case INDEX_FIELD_N:
        index->of.n = value;
        break;
    case INDEX_FIELD_WARP:
        index->of.warp = value;
        break;
    case INDEX_FIELD_BYTES:
        index->of.bytes = widths[value];
        break;
    case INDEX_FIELD_STORE:
        index->of.is_store = value != 0;
        break;
    case INDEX_FIELD_LANES:
        index->of.mask = value ? ALL_LANES : index->access_mask;
        break;
    case INDEX_FIELD_TEXT:
        break;
    }
}

/* With the last expressions without an error in place of those with one. */
static ViewIndex settled(const ViewIndex *index) {
    ViewIndex out = *index;
    IndexAccess access;
    for (int i = 0; i < 2; i++)
        if (!view_index_access(index, i, false, &access, NULL))
            memcpy(out.text[i], index->good[i], sizeof out.text[i]);
    return out;
}

void view_index_print_field(const ViewIndex *index, char *out, size_t bytes) {
    static const char *const names[] = {[INDEX_FIELD_S] = "s",
                                        [INDEX_FIELD_N] = "n",
                                        [INDEX_FIELD_WARP] = "warp",
                                        [INDEX_FIELD_BYTES] = "bytes",
                                        [INDEX_FIELD_STORE] = "0 load, 1 store",
                                        [INDEX_FIELD_LANES] = "1: all lanes"};
    ViewIndex shown = settled(index);
    IndexField field = view_index_field(&shown);
    int64_t value, last;
    if (field.kind == INDEX_FIELD_NUMBER && get(&shown, &field, &value, &last)) {
        snprintf(out, bytes, "[%" PRId64 "]", value);
    } else {
        snprintf(out, bytes, "%s", names[field.kind] ? tr(names[field.kind]) : "");
    }
}

/* ---- figures ------------------------------------------------------------------------------------------- */

bool view_index_access(const ViewIndex *index, int expression, bool last_good, IndexAccess *out,
                       Error *error) {
    *out = (IndexAccess){0};
    if (expression == 0 && index->has_offsets) {
        for (int lane = 0; lane < WARP_LANES; lane++)
            if (index->of.mask & index->access_mask & 1u << lane) out->offset[lane] = index->offset[lane];
        IndexOf of = index->of;
        of.mask &= index->access_mask;
        index_access_count(&of, out);
        return true;
    }
    return index_access((last_good ? index->good : index->text)[expression], &index->of, out, error);
}

/* Where a number's window of values begins. */
static int64_t first_value(int64_t value, int64_t last) {
    if (last < INDEX_CHART) return 0;
    return value < 1 ? 0 : value <= INDEX_CHART ? 1 : value - INDEX_CHART + 1;
}

void view_index_chart(const ViewIndex *index, IndexChart *out) {
    ViewIndex shown = settled(index);
    IndexField field = view_index_field(&shown);
    int64_t value, last;
    *out = (IndexChart){.now = -1};
    if (!get(&shown, &field, &value, &last)) return;
    int64_t first = first_value(value, last);
    for (int i = 0; i < INDEX_CHART && first + i <= last; i++) {
        ViewIndex other = shown;
        IndexAccess access;
        put(&other, &field, first + i);
        out->value[i] = field.kind == INDEX_FIELD_BYTES ? widths[first + i] : first + i;
        out->count++;
        if (first + i == value) out->now = i;
        if (!view_index_access(&other, field.expression, false, &access, NULL)) continue;
        out->wavefronts[i] = access.shared.wavefronts;
        out->ideal[i] = access.shared.ideal;
        if (out->wavefronts[i] > out->most) out->most = out->wavefronts[i];
    }
}

/* ---- opening ------------------------------------------------------------------------------------------- */

/* The picture of an expression with an error stays the last one without. */
static void keep_good(ViewIndex *index) {
    IndexAccess access;
    for (int i = 0; i < 2; i++)
        if (!*index->text[i] || view_index_access(index, i, false, &access, NULL))
            memcpy(index->good[i], index->text[i], sizeof index->good[i]);
}

static void show(View *view) {
    ViewIndex *index = &view->display.index;
    index->field = 0;
    index->typing = false;
    view->transient.overlay = OVERLAY_INDEX;
    view->transient.behind = OVERLAY_NONE;
    keep_good(index);
}

static void set_texts(ViewIndex *index, const char *a, const char *b) {
    snprintf(index->text[0], sizeof index->text[0], "%s", a);
    snprintf(index->text[1], sizeof index->text[1], "%s", b);
    memset(index->good, 0, sizeof index->good);
}

static const ViewIndex fresh = {.of = {.bytes = 4, .mask = ALL_LANES, .s = 1, .n = 1024},
                                .access_mask = ALL_LANES};

void view_index_open(View *view, const char *a, const char *b) {
    ViewIndex *index = &view->display.index;
    if (a || b || !index->of.bytes) {
        *index = fresh;
        set_texts(index, a ? a : index_presets[0].text, b ? b : a ? "" : index_presets[1].text);
    }
    show(view);
}

bool view_index_open_access(View *view, const StepContext *context) {
    const TraceEvent *event = &context->event;
    ViewIndex *index = &view->display.index;
    bool is_load = event->kind == TRACE_SHARED_LOAD || event->kind == TRACE_GLOBAL_LOAD;
    bool is_store = event->kind == TRACE_SHARED_STORE || event->kind == TRACE_GLOBAL_STORE;
    if ((!is_load && !is_store) || !event->mask) return false;
    bool is_shared = step_context_is_shared(event->kind);
    char fitted[INDEX_TEXT_BYTES] = "", name[48];
    *index = fresh;
    index->of.bytes = event->width > 16 ? 16 : event->width;
    index->of.is_store = is_store;
    index->of.mask = index->access_mask = event->mask;
    index->of.warp = event->warp <= LAST_WARP ? event->warp : LAST_WARP;
    for (int lane = 0; lane < WARP_LANES; lane++)
        if (event->mask >> lane & 1) index->offset[lane] = event->offset[lane];
    index->has_offsets = !index_fit(index->offset, &index->of, fitted);
    set_texts(index, fitted, "");
    snprintf(name, sizeof name, tr("global memory"));
    if (is_shared)
        step_context_print_symbol(context, event->buffer[__builtin_ctz(event->mask)], name, sizeof name);
    if (is_shared && !strcmp(name, "shared")) snprintf(name, sizeof name, tr("shared memory"));
    snprintf(index->about, sizeof index->about, tr("line %d: w%d %s %s"), context->code->line.line,
             event->warp, is_store ? tr("stores to") : tr("loads"), name);
    show(view);
    return true;
}

/* ---- keys ---------------------------------------------------------------------------------------------- */

static void turn(ViewIndex *index, int by) {
    IndexField field = view_index_field(index);
    int64_t value, last;
    if (!get(index, &field, &value, &last)) return;
    value += by;
    put(index, &field, value < 0 ? 0 : value > last ? last : value);
}

static void select_field(ViewIndex *index, int by) {
    IndexField fields[INDEX_FIELDS];
    int count = fields_of(index, fields);
    if (index->field >= count) index->field = count - 1;
    index->field = (index->field + by + count) % count;
}

/* Selects a number of an expression, or else the field of this kind. */
static void select_kind(ViewIndex *index, int expression, int number, int kind) {
    IndexField fields[INDEX_FIELDS];
    int count = fields_of(index, fields);
    for (int i = 0; i < count; i++) {
        bool is_number = fields[i].kind == INDEX_FIELD_NUMBER && fields[i].number == number;
        bool is_of = fields[i].expression == expression && (is_number || fields[i].kind == INDEX_FIELD_TEXT);
        if (number >= 0 ? is_of : (int)fields[i].kind == kind) {
            index->field = i;
            return;
        }
    }
}

static void take_preset(ViewIndex *index, const IndexPreset *preset) {
    int expression = view_index_field(index).expression;
    snprintf(index->text[expression], sizeof index->text[expression], "%s", preset->text);
    if (expression == 0) index->has_offsets = false;
    index->of.bytes = preset->bytes;
    index->of.mask = ALL_LANES;
    select_kind(index, expression, preset->number, INDEX_FIELD_BYTES);
}

/* An empty B begins as A. */
static void begin_typing(ViewIndex *index, bool anew) {
    IndexField field = view_index_field(index);
    char *text = index->text[field.expression];
    if (anew) *text = 0;
    if (!anew && !*text && field.expression == 1) memcpy(text, index->text[0], sizeof index->text[1]);
    if (field.expression == 0) index->has_offsets = false;
    index->typing = true;
    index->cursor = (int)strlen(text);
    select_kind(index, field.expression, 0, 0);
}

static void insert(ViewIndex *index, char character) {
    char *text = index->text[view_index_field(index).expression];
    size_t length = strlen(text);
    if (length + 1 >= INDEX_TEXT_BYTES) return;
    memmove(text + index->cursor + 1, text + index->cursor, length - (size_t)index->cursor + 1);
    text[index->cursor++] = character;
}

static void erase(ViewIndex *index) {
    char *text = index->text[view_index_field(index).expression] + index->cursor;
    if (!index->cursor) return;
    memmove(text - 1, text, strlen(text) + 1);
    index->cursor--;
}

static bool is_of_expression(Key key) {
    return key < 128 && (isalnum((int)key) || (key && strchr("+-*/%&|^<>()_ ", (int)key)));
}

static ViewAnswer press_while_typing(ViewIndex *index, Key key) {
    int expression = view_index_field(index).expression;
    char *text = index->text[expression];
    switch (key) {
    case SPECIAL_ESCAPE:
        memcpy(text, index->good[expression], sizeof index->text[expression]);
        index->typing = false;
        break;
    case SPECIAL_ENTER:
        index->typing = false;
        break;
    case SPECIAL_LEFT:
        index->cursor -= index->cursor > 0;
        break;
    case SPECIAL_RIGHT:
        index->cursor += index->cursor < (int)strlen(text);
        break;
    case SPECIAL_HOME:
        index->cursor = 0;
        break;
    case SPECIAL_END:
        index->cursor = (int)strlen(text);
        break;
    case SPECIAL_BACKSPACE:
        erase(index);
        break;
    case SPECIAL_ERASE:
        *text = 0;
        index->cursor = 0;
        break;
    default:
        if (!is_of_expression(key)) return VIEW_IGNORED;
        insert(index, (char)key);
    }
    /* The numbers before those of B have changed with A's text. */
    select_kind(index, expression, 0, 0);
    return VIEW_CHANGED;
}

static ViewAnswer press_while_turning(View *view, KeyPress press) {
    ViewIndex *index = &view->display.index;
    if (press.key >= '1' && press.key < '1' + INDEX_PRESETS) {
        take_preset(index, &index_presets[press.key - '1']);
        return VIEW_CHANGED;
    }
    switch (press.key) {
    case SPECIAL_LEFT:
        turn(index, -1);
        return VIEW_CHANGED;
    case SPECIAL_RIGHT:
        turn(index, 1);
        return VIEW_CHANGED;
    case SPECIAL_UP:
    case SPECIAL_BACK_TAB:
        select_field(index, -1);
        return VIEW_CHANGED;
    case SPECIAL_DOWN:
    case SPECIAL_TAB:
        select_field(index, 1);
        return VIEW_CHANGED;
    case SPECIAL_ENTER:
    case SPECIAL_BACKSPACE:
        begin_typing(index, false);
        if (press.key == SPECIAL_BACKSPACE) erase(index);
        return VIEW_CHANGED;
    case 'm':
        return VIEW_MACHINE;
    default:
        break;
    }
    if (press.key == SPECIAL_ESCAPE || press.action == ACT_QUIT) {
        view->transient.overlay = OVERLAY_NONE;
        return VIEW_CHANGED;
    }
    /* An operator continues the expression; a name or a parenthesis begins another. */
    bool continues = press.key < 128 && press.key && strchr("+-*/%&|^<>)", (int)press.key);
    if (!continues && (press.key >= 128 || !press.key || !strchr("tlwisn(", (int)press.key)))
        return VIEW_IGNORED;
    begin_typing(index, !continues);
    insert(index, (char)press.key);
    return VIEW_CHANGED;
}

ViewAnswer view_index_press(View *view, const Scene *scene, KeyPress press) {
    (void)scene;
    ViewIndex *index = &view->display.index;
    bool leaves = press.key == SPECIAL_TAB || press.key == SPECIAL_BACK_TAB || press.key == SPECIAL_UP ||
                  press.key == SPECIAL_DOWN;
    if (index->typing && leaves) index->typing = false;
    ViewAnswer answer =
        index->typing ? press_while_typing(index, press.key) : press_while_turning(view, press);
    if (answer == VIEW_CHANGED) keep_good(index);
    return answer;
}

bool view_index_of_access(const StepContext *context, bool *is_store, char out[INDEX_TEXT_BYTES]) {
    View view = {0};
    if (!view_index_open_access(&view, context)) return false;
    *is_store = view.display.index.of.is_store;
    snprintf(out, INDEX_TEXT_BYTES, "%s", view.display.index.text[0]);
    return *out != 0;
}
