#include "expect/expect_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_PARTS = 8, MOST_COMPONENTS = 128 };

typedef struct Split { /* splits an output into `count` parts of `each` elements */
    uint64_t count, each;
    bool is_interleaved; /* part c has elements c, c + count, ...; else the parts follow one another */
} Split;

typedef struct Part { /* searched as the only output of a run */
    Plan filled, done;
    ExpectRun run;
    ExpectTrial trial;
    int8_t *whole;
    bool is_changed, is_found;
} Part;

typedef struct Component { /* of an input: elements first, first + step, ... */
    const void *of;
    uint64_t first, step;
    PlanBuffer buffer;
} Component;

typedef struct Splitting {
    const ExpectTrial *of;
    Split split;
    bool of_components; /* inputs are split, too: part c uses their elements c, c + count, ... */
    Part parts[MOST_PARTS];
    /* Components made so far, kept because totals computed from them are cached. */
    Component components[MOST_COMPONENTS];
    int component_count;
    Arena arena;
} Splitting;

/* ---- views --------------------------------------------------------------------------------------------- */

/* A buffer of the elements first, first + step, ... of another buffer. */
static PlanBuffer view(Arena *arena, const PlanBuffer *from, uint64_t first, uint64_t step, uint64_t count) {
    size_t bytes = (size_t)ptx_type_bytes(from->type);
    PlanBuffer result = *from;
    result.count = count;
    result.bytes = arena_new(arena, (size_t)count * bytes + 1);
    for (uint64_t i = 0; i < count; i++)
        memcpy((char *)result.bytes + i * bytes, (const char *)from->bytes + (first + i * step) * bytes,
               bytes);
    return result;
}

static PlanBuffer part_of(Splitting *splitting, const PlanBuffer *from, uint64_t c) {
    const Split *split = &splitting->split;
    uint64_t first = split->is_interleaved ? c : c * split->each;
    return view(&splitting->arena, from, first, split->is_interleaved ? split->count : 1, split->each);
}

/* Elements c, c + step, ... of an input. False: there are too few, or the size differs. */
static bool component_of(Splitting *splitting, const PlanBuffer *input, uint64_t c, uint64_t step,
                         PlanBuffer *component) {
    if (input->count % step != 0 || input->count / step < 2) return false;
    for (int i = 0; i < splitting->component_count; i++) {
        const Component *known = &splitting->components[i];
        if (known->of != input->bytes || known->first != c || known->step != step) continue;
        *component = known->buffer;
        return true;
    }
    if (splitting->component_count == MOST_COMPONENTS) return false;
    *component = view(&splitting->arena, input, c, step, input->count / step);
    component->name = arena_print(&splitting->arena, "%s[%" PRIu64 "::%" PRIu64 "]", input->name, c, step);
    splitting->components[splitting->component_count++] = (Component){input->bytes, c, step, *component};
    return true;
}

/* Integers among floats, as in {float value; int index}, are denormal or NaN as floats: the bits of -1 are a
 * NaN. Conversely, floats read as integers exceed all indices. */
static PtxType type_of_part(const PlanBuffer *part) {
    int integers = 0, floats = 0, others = 0;
    bool is_double = part->type == PTX_F64, is_float = part->type == PTX_F32 || is_double;
    if (!is_float && part->type != PTX_S32 && part->type != PTX_U32) return part->type;
    for (uint64_t i = 0; i < part->count; i++) {
        uint64_t bits = is_double ? ((const uint64_t *)part->bytes)[i] : ((const uint32_t *)part->bytes)[i];
        if (!bits) continue;
        uint64_t exponent = is_double ? bits >> 52 & 2047 : bits >> 23 & 255;
        bool is_minus_one = bits == (is_double ? UINT64_MAX : UINT32_MAX);
        if (!exponent || is_minus_one)
            integers++;
        else if (exponent >= 96 && exponent < 160)
            floats++;
        else
            others++;
    }
    if (is_float && integers && !floats && !others) return is_double ? PTX_S64 : PTX_S32;
    if (!is_float && floats && !integers && !others) return PTX_F32;
    return part->type;
}

/* ---- one part ------------------------------------------------------------------------------------------ */

static void open_part(Splitting *splitting, uint64_t c) {
    const ExpectRun *run = splitting->of->run;
    uint64_t parts = splitting->split.count;
    int out = splitting->of->changed.buffer, inputs = 0;
    Part *part = &splitting->parts[c];
    size_t bytes = ((size_t)run->filled->buffer_count + 1) * sizeof(PlanBuffer);
    PlanBuffer *filled = arena_new(&splitting->arena, bytes), *done = arena_new(&splitting->arena, bytes);
    for (int i = 0; i < run->filled->buffer_count; i++) {
        PlanBuffer input = run->filled->buffers[i];
        if (i == out || !expect_is_input(run, i)) continue;
        if (splitting->of_components && !component_of(splitting, &run->filled->buffers[i], c, parts, &input))
            continue;
        filled[inputs] = done[inputs] = input;
        inputs++;
    }
    filled[inputs] = part_of(splitting, &run->filled->buffers[out], c);
    done[inputs] = part_of(splitting, &run->done->buffers[out], c);
    filled[inputs].type = done[inputs].type = type_of_part(&done[inputs]);
    *part = (Part){.filled = *run->filled, .done = *run->done, .run = *run};
    part->filled.buffers = filled;
    part->done.buffers = done;
    part->filled.buffer_count = part->done.buffer_count = inputs + 1;
    part->run.filled = &part->filled;
    part->run.done = &part->done;
    part->run.variables = 0;
    part->run.results = NULL;
    part->whole = arena_new(&splitting->arena, (size_t)inputs + 1);
    memset(part->whole, 0, (size_t)inputs + 1);
    part->trial = (ExpectTrial){.run = &part->run,
                                .out = &done[inputs],
                                .changed = expect_changes(&part->run, inputs),
                                .is_guess = true,
                                .is_component = true,
                                .explains_all = true,
                                .totals = splitting->of->totals,
                                .whole = part->whole,
                                .work = splitting->of->work,
                                .epsilon = EXPECT_EPSILON};
    part->is_changed = part->trial.changed.count > 0;
}

static bool is_place(const ExpectTrial *places, const ExpectTrial *value, uint64_t i) {
    long double place = expect_element(places->out, i), most = expect_element(value->out, i);
    if (!(place >= 0 && place < (long double)value->length) || place != truncl(place)) return false;
    return expect_element(value->a, (uint64_t)place) == most;
}

bool expect_try_places(ExpectTrial *places, const ExpectTrial *value) {
    const char *of = value->function->name;
    const char *name = !strcmp(of, "max") ? "argmax" : !strcmp(of, "min") ? "argmin" : NULL;
    uint64_t count = value->partials ? value->partials : 1;
    if (!name || value->b || !value->run->compares || places->out->count < count ||
        places->changed.end > count || ptx_type_is_float(places->out->type))
        return false;
    uint64_t best = 0;
    for (uint64_t i = 0; i < count; i++) {
        long double x = expect_element(value->out, i), most = expect_element(value->out, best);
        if (!is_place(places, value, i)) return false;
        if (value->function->fold == EXPECT_MAX ? x > most : x < most) best = i;
    }
    long double place = expect_element(places->out, best);
    places->result = (ExpectResult){0};
    reference_judge(&places->result, places->out->type, 0, place, place, 0);
    places->function = expect_function_named(name, strlen(name));
    places->a = value->a;
    places->b = places->weight = places->bias = NULL;
    places->length = value->length;
    places->columns = 0;
    places->partials = value->partials;
    return true;
}

/* True if `input` has result r somewhere in row r, at the position of the extreme. */
static bool is_carried(ExpectTrial *carried, const ExpectTrial *value, const PlanBuffer *input,
                       uint64_t columns) {
    uint64_t rows = value->length / columns, found = 0;
    bool *has = memory_new((size_t)rows + 1);
    for (uint64_t i = 0; i < rows * columns; i++) {
        uint64_t row = i / columns;
        if (has[row] || expect_element(value->a, i) != expect_element(value->out, row)) continue;
        has[row] = expect_element(input, i) == expect_element(carried->out, row);
        found += has[row];
    }
    free(has);
    carried->result = (ExpectResult){0};
    for (uint64_t row = 0; found == rows && row < rows; row++) {
        long double got = expect_element(carried->out, row);
        reference_judge(&carried->result, carried->out->type, row, got, got, 0);
    }
    return found == rows;
}

bool expect_try_carried(ExpectTrial *carried, const ExpectTrial *value) {
    static const char *const names[][2] = {
        {"max", "argmax"}, {"min", "argmin"}, {"rowmax", "rowargmax"}, {"rowmin", "rowargmin"}};
    const Plan *filled = value->run->filled;
    const char *name = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(value->function->name, names[i][0])) name = names[i][1];
    uint64_t columns = value->columns    ? value->columns
                       : value->partials ? value->length / value->partials
                                         : value->length;
    if (!name || value->b || !value->run->compares || !columns || value->length % columns != 0 ||
        carried->changed.end > value->length / columns || carried->out->count < value->length / columns)
        return false;
    const ExpectFunction *function = expect_function_named(name, strlen(name));
    for (int i = 0; i < filled->buffer_count; i++) {
        const PlanBuffer *input = &filled->buffers[i];
        if (!expect_is_input(value->run, i) || input == value->a || input->count < value->length ||
            input->type != carried->out->type || !is_carried(carried, value, input, columns))
            continue;
        ExpectTrial was = *carried;
        *carried = *value;
        carried->function = function;
        carried->carried = input;
        carried->out = was.out;
        carried->changed = was.changed;
        carried->result = was.result;
        return true;
    }
    return false;
}

/* ---- all parts ----------------------------------------------------------------------------------------- */

void expect_merge(ExpectResult *all, const ExpectResult *part, uint64_t index) {
    ExpectResult sum = *all;
    bool is_first = !all->compared;
    double of_all = all->absolute_error / (all->bound > 0 ? all->bound : 1),
           of_part = part->absolute_error / (part->bound > 0 ? part->bound : 1);
    if (is_first || of_part > of_all) {
        sum = *part;
        sum.index = index;
    }
    sum.compared = all->compared + part->compared;
    sum.inexact = all->inexact + part->inexact;
    sum.correct = part->correct && (is_first || all->correct);
    *all = sum;
}

static const char *arrangement(const Split *split) {
    if (split->each == 1) return "one element each";
    if (!split->is_interleaved) return "one after the other";
    return split->count == 2 ? "as pairs" : split->count == 3 ? "as triples" : NULL;
}

/* "sum(in) and sumsq(in) of 4096 partial results, as pairs" */
static void describe(const Splitting *splitting, Text *what) {
    const Split *split = &splitting->split;
    uint64_t left = 0, first = split->count;
    bool is_same = true;
    for (uint64_t c = split->count; c-- > 0;)
        if (splitting->parts[c].is_found) left++, first = c;
    for (uint64_t c = first; c < split->count; c++)
        if (splitting->parts[c].is_found)
            is_same &= splitting->parts[c].trial.partials == splitting->parts[first].trial.partials;
    for (uint64_t c = first; c < split->count; c++) {
        const ExpectTrial *trial = &splitting->parts[c].trial;
        if (!splitting->parts[c].is_found) continue;
        if (c != first) text_add(what, left > 1 ? ", " : " and ");
        left--;
        expect_print_name(trial, what);
        if (trial->partials && (!is_same || !left))
            text_print(what, " of %" PRIu64 " partial results", trial->partials);
    }
    const char *as = arrangement(split);
    if (as)
        text_print(what, ", %s", as);
    else
        text_print(what, ", in groups of %" PRIu64, split->count);
}

/* True if it is the place of an extreme found beside it. */
static bool is_place_of_other(Splitting *splitting, uint64_t c) {
    bool found = false;
    for (uint64_t k = 0; k < splitting->split.count && !found; k++)
        found = splitting->parts[k].is_found &&
                expect_try_places(&splitting->parts[c].trial, &splitting->parts[k].trial);
    return found;
}

/* Returns the number of parts found. Integers come last: they may be places of earlier parts. */
static uint64_t find_all(Splitting *splitting, uint64_t *changed) {
    enum { FLOATS, INTEGERS, PLACES, ROUNDS };
    uint64_t found = 0;
    *changed = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (uint64_t c = 0; c < splitting->split.count; c++) {
            Part *part = &splitting->parts[c];
            bool is_integer = !ptx_type_is_float(part->trial.out->type);
            if (!part->is_changed || part->is_found || is_integer != (round > FLOATS)) continue;
            *changed += round != PLACES;
            part->is_found = is_place_of_other(splitting, c) ||
                             (round != PLACES && expect_search(&part->trial, EXPECT_PASS_ALL));
            found += part->is_found;
        }
    return found;
}

static bool is_mixed(const Splitting *splitting) {
    for (uint64_t c = 0; c < splitting->split.count; c++)
        if (splitting->parts[c].is_changed && splitting->parts[c].trial.out->type != splitting->of->out->type)
            return true;
    return false;
}

/* Tries the inputs as they are, then their components. */
static ExpectParts try_split(Splitting *splitting, bool is_explained, ExpectResult *result, Text *what) {
    const Split *split = &splitting->split;
    ExpectParts best = EXPECT_NO_PARTS;
    for (int of_components = 0; of_components < 2 && best != EXPECT_ALL_PARTS; of_components++) {
        uint64_t changed = 0, found = 0;
        splitting->of_components = of_components;
        for (uint64_t c = 0; c < split->count; c++) open_part(splitting, c);
        bool is_structure = is_mixed(splitting);
        bool is_due = !is_explained || is_structure || of_components;
        if (is_due) found = find_all(splitting, &changed);
        if (found && (!is_explained || is_structure)) best = EXPECT_SOME_PARTS;
        if (found && found == changed && (changed > 1 || of_components)) {
            best = EXPECT_ALL_PARTS;
            describe(splitting, what);
        }
        for (uint64_t c = 0; c < split->count && best == EXPECT_ALL_PARTS; c++) {
            const Part *part = &splitting->parts[c];
            uint64_t index = part->trial.result.index;
            index = split->is_interleaved ? index * split->count + c : index + c * split->each;
            if (part->is_found) expect_merge(result, &part->trial.result, index);
        }
    }
    return best;
}

/* Returns the number of splits: first structures of a few members for each block, then one element per part,
 * then pairs, triples and groups of four. */
static int list_splits(const ExpectTrial *trial, bool is_explained, Split *splits) {
    uint64_t end = trial->changed.end, blocks = launch_volume(trial->run->done->launches[0].grid);
    int count = 0;
    for (uint64_t k = 2; k <= MOST_PARTS; k++) {
        uint64_t each = (end + k - 1) / k;
        if (each != blocks && each != 1) continue;
        if (each * k > trial->out->count || end <= (k - 1) * (each > 1)) continue;
        if (each == 1 && end != k) continue;
        splits[count++] = (Split){k, each, true};
        if (each > 1) splits[count++] = (Split){k, each, false};
    }
    for (uint64_t k = 2; k <= 4 && !is_explained; k++) {
        uint64_t each = end / k;
        if (end % k != 0 || each < 2 || each == blocks || each * 2 > trial->run->n) continue;
        splits[count++] = (Split){k, each, true};
        if (trial->out->count == end) splits[count++] = (Split){k, each, false};
    }
    return count;
}

ExpectParts expect_find_parts(const ExpectTrial *trial, bool is_found, ExpectResult *result, Text *what) {
    Split splits[4 * MOST_PARTS];
    const ExpectChanged *changed = &trial->changed;
    ExpectParts best = EXPECT_NO_PARTS;
    if (changed->end < 2 || changed->count * 4 < changed->end * 3) return best;
    bool is_explained = is_found && trial->partials == changed->end;
    Splitting *splitting = memory_new(sizeof *splitting);
    int count = list_splits(trial, is_explained, splits);
    int known = trial->totals ? trial->totals->count : 0;
    splitting->of = trial;
    for (int i = 0; i < count && best != EXPECT_ALL_PARTS; i++) {
        splitting->split = splits[i];
        ExpectParts parts = try_split(splitting, is_explained, result, what);
        if (parts > best) best = parts;
    }
    /* The components are freed; new ones may reuse their addresses. */
    if (trial->totals) trial->totals->count = known;
    arena_done(&splitting->arena);
    free(splitting);
    return best;
}
