/* What --invariant prints, as text and as JSON. */
#include "ask/invariant.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { COLUMN = 40 };

/* The buffer whose element shows the worst verdict; NULL: all are the same. */
static const ComparedBuffer *find_worst(const ComparedOrders *orders, SumVerdict *verdict) {
    for (int worst = SUM_VERDICTS - 1; worst > SUM_SAME; worst--)
        for (int i = 0; orders->total[worst] && i < orders->buffer_count; i++) {
            *verdict = (SumVerdict)worst;
            if (orders->buffers[i].counts[worst]) return &orders->buffers[i];
        }
    return NULL;
}

/* ---- values -------------------------------------------------------------------------------------------- */

static int bytes_of(const OrderRun *run, const char *buffer) {
    const Trace *trace = run->session->run->trace;
    for (int i = 0; i < trace->buffer_count; i++)
        if (!strcmp(trace->buffers[i].name, buffer) && trace->buffers[i].type != PTX_NO_TYPE)
            return ptx_type_bytes(trace->buffers[i].type);
    return 1;
}

static bool is_printed(PtxType type) {
    switch (type) {
    case PTX_S8:
    case PTX_U8:
    case PTX_S16:
    case PTX_U16:
    case PTX_S32:
    case PTX_U32:
    case PTX_S64:
    case PTX_U64:
    case PTX_F16:
    case PTX_BF16:
    case PTX_F32:
    case PTX_F64:
        return true;
    default:
        return false;
    }
}

/* "3.5"; "" for a value that is not known. */
static void put_value(const SumNode *node, Text *out) {
    if (is_printed((PtxType)node->type)) plan_element_print((PtxType)node->type, &node->bits, 0, out);
}

/* "in[3]", or of a sum "8 of in[0..224]". */
static void put_elements(const OrderRun *run, const SumTrees *trees, const SumNode *node, Text *out) {
    const char *name = sum_buffer_name(trees, node->buffer);
    uint64_t each = (uint64_t)bytes_of(run, name);
    if (node->weight == 1)
        text_print(out, "%s[%" PRIu64 "]", name, node->first / each);
    else if (node->weight > (node->last - node->first) / each + 1) /* elements are in it several times */
        text_print(out, "a value of %s[%" PRIu64 "..%" PRIu64 "]", name, node->first / each,
                   node->last / each);
    else
        text_print(out, "%" PRIu32 " of %s[%" PRIu64 "..%" PRIu64 "]", node->weight, name, node->first / each,
                   node->last / each);
}

static PtxSourceLine line_of(const OrderRun *run, const SumNode *sum) {
    const Trace *trace = run->session->run->trace;
    if (sum->launch >= trace->launch_count) return (PtxSourceLine){0};
    const PtxProgram *program = trace->launches[sum->launch]->program;
    return sum->pc < program->code_count ? program->code[sum->pc].line : (PtxSourceLine){0};
}

const uint8_t *ask_left_bytes(const OrderRun *run, const char *name, uint64_t offset, PtxType *type) {
    const Plan *plan = &run->session->run->plan;
    for (int i = 0; i < plan->buffer_count; i++) {
        const PlanBuffer *buffer = &plan->buffers[i];
        uint64_t each = (uint64_t)ptx_type_bytes(buffer->type);
        if (strcmp(buffer->name, name) != 0 || !buffer->bytes || offset + each > buffer->count * each)
            continue;
        *type = buffer->type;
        return (const uint8_t *)buffer->bytes + offset;
    }
    return NULL;
}

static void put_bits(const uint8_t *bytes, int count, Text *out) {
    text_add(out, "0x");
    for (int i = count - 1; i >= 0; i--) text_print(out, "%02x", bytes[i]);
}

/* ---- an element of both runs --------------------------------------------------------------------------- */

typedef struct ShownSum {
    const ComparedOrders *orders;
    const char *name;
    uint64_t offset;
    int roots[2];
    int sums[2]; /* where they part; SUM_NONE: nowhere */
} ShownSum;

static ShownSum shown_of(const ComparedOrders *orders, const ComparedBuffer *buffer, SumVerdict verdict) {
    ShownSum shown = {.orders = orders, .name = buffer->name, .sums = {SUM_NONE, SUM_NONE}};
    for (int i = 0; i < 2; i++) {
        const SumPlace *place = &orders->runs[i]->places[buffer->first[verdict][i]];
        shown.roots[i] = place->node;
        shown.offset = place->offset;
    }
    if (verdict != SUM_DIFFERS) return shown;
    for (int i = 0; i < 2 && shown.sums[i] == SUM_NONE; i++) {
        int apart = sum_first_apart(orders->trees, shown.roots[i], shown.roots[!i]);
        if (apart == SUM_NONE) continue;
        shown.sums[i] = apart;
        shown.sums[!i] = sum_counterpart(orders->trees, shown.roots[!i], apart);
        break;
    }
    return shown;
}

/* The operand that both runs have comes first, else the one with the lower elements. */
static void order_operands(const ShownSum *shown, int which, const SumNode *operands[2]) {
    const SumTrees *trees = shown->orders->trees;
    const SumNode *sum = sum_node(trees, shown->sums[which]);
    operands[0] = sum_node(trees, sum->a);
    operands[1] = sum_node(trees, sum->b);
    bool swap = operands[1]->first < operands[0]->first;
    if (shown->sums[!which] != SUM_NONE) {
        const SumNode *other = sum_node(trees, shown->sums[!which]);
        uint64_t a = sum_node(trees, other->a)->value, b = sum_node(trees, other->b)->value;
        bool first = operands[0]->value == a || operands[0]->value == b,
             second = operands[1]->value == a || operands[1]->value == b;
        if (first != second) swap = second;
    }
    if (!swap) return;
    const SumNode *kept = operands[0];
    operands[0] = operands[1];
    operands[1] = kept;
}

/* The values of the operands add up to that of the sum; else the elements were changed before they were
 * added. */
static bool adds_up(const SumNode *sum, const SumNode *const operands[2]) {
    const SumNode *nodes[] = {sum, operands[0], operands[1]};
    double values[3];
    for (int i = 0; i < 3; i++) {
        if (!is_printed((PtxType)nodes[i]->type)) return false;
        values[i] = plan_element((PtxType)nodes[i]->type, &nodes[i]->bits, 0);
    }
    return fabs(values[1] + values[2] - values[0]) <= 1e-2 * (fabs(values[1]) + fabs(values[2]));
}

/* One cell of a row: "  + in[256]" and its value. */
static void put_cell(const ShownSum *shown, int which, int row, Text *out) {
    static const char *const signs[] = {"", "  ", "+ ", "= "};
    const OrderRun *run = shown->orders->runs[which];
    if (shown->sums[which] == SUM_NONE) {
        if (!row) text_add(out, "nothing like it");
        return;
    }
    const SumNode *sum = sum_node(shown->orders->trees, shown->sums[which]), *operands[2];
    PtxSourceLine line = line_of(run, sum);
    order_operands(shown, which, operands);
    if (!row) {
        if (line.line) text_print(out, "line %d", line.line);
        return;
    }
    Text value = {0}, name = {0};
    if (row == 3 || adds_up(sum, operands)) put_value(row == 3 ? sum : operands[row - 1], &value);
    if (row < 3) put_elements(run, shown->orders->trees, operands[row - 1], &name);
    if (row < 3)
        text_print(out, "%s%-22s %s", signs[row], text_string(&name), text_string(&value));
    else if (value.length)
        text_print(out, "%s%-22s %s", signs[row], "", text_string(&value));
    text_done(&value);
    text_done(&name);
}

static void put_result(const ShownSum *shown, int which, Text *out) {
    const OrderRun *run = shown->orders->runs[which];
    PtxType type;
    const uint8_t *bytes = ask_left_bytes(run, shown->name, shown->offset, &type);
    if (!bytes) return;
    Text value = {0};
    plan_element_print(type, bytes, 0, &value);
    text_print(out, "%s  ", text_string(&value));
    put_bits(bytes, ptx_type_bytes(type), out);
    text_done(&value);
}

static bool has_equal_bits(const ShownSum *shown) {
    PtxType type;
    const uint8_t *a = ask_left_bytes(shown->orders->runs[0], shown->name, shown->offset, &type),
                  *b = ask_left_bytes(shown->orders->runs[1], shown->name, shown->offset, &type);
    return a && b && !memcmp(a, b, (size_t)ptx_type_bytes(type));
}

static void put_row(Text *cells, Text *out) {
    if (cells[0].length || cells[1].length)
        text_print(out, "    %-*s %s", COLUMN, text_string(&cells[0]), text_string(&cells[1]));
    while (out->length && out->data[out->length - 1] == ' ') out->data[--out->length] = 0;
    if (cells[0].length || cells[1].length) text_add(out, "\n");
    for (int i = 0; i < 2; i++) text_clear(&cells[i]);
}

static void print_element(const ShownSum *shown, SumVerdict verdict, Text *out) {
    Text cells[2] = {{0}, {0}};
    uint64_t index = shown->offset / (uint64_t)bytes_of(shown->orders->runs[0], shown->name);
    text_print(out, "\n  %s %s[%" PRIu64 "]:\n",
               verdict == SUM_DIFFERS ? "The first addition that differs, of" : "Such an element,",
               shown->name, index);
    for (int i = 0; i < 2; i++) text_add(&cells[i], shown->orders->runs[i]->label);
    put_row(cells, out);
    for (int row = 0; verdict == SUM_DIFFERS && row < 4; row++) {
        for (int i = 0; i < 2; i++) put_cell(shown, i, row, &cells[i]);
        put_row(cells, out);
    }
    for (int i = 0; verdict == SUM_OTHER && i < 2; i++) {
        if (shown->roots[i] == SUM_NONE)
            text_add(&cells[i], "a constant");
        else
            put_elements(shown->orders->runs[i], shown->orders->trees,
                         sum_node(shown->orders->trees, shown->roots[i]), &cells[i]);
    }
    put_row(cells, out);
    text_print(out, "  and the result, with %s bits:\n", has_equal_bits(shown) ? "equal" : "other");
    for (int i = 0; i < 2; i++) put_result(shown, i, &cells[i]);
    put_row(cells, out);
    for (int i = 0; i < 2; i++) text_done(&cells[i]);
}

/* ---- text ---------------------------------------------------------------------------------------------- */

static void print_buffer(const ComparedOrders *orders, const ComparedBuffer *buffer, Text *out) {
    static const char *const meanings[SUM_VERDICTS] = {
        [SUM_SAME] = "added in the same order",
        [SUM_EXACT] =
            "made of the same elements in another order, which cannot change the result (integers, extremes)",
        [SUM_UNKNOWN] =
            "not followed: a word changes while it is read, or lies in another block's shared memory",
        [SUM_OTHER] = "not made of the same elements",
        [SUM_NO_ORDER] = "added by float atomics: no order is fixed, not even for one shape",
        [SUM_DIFFERS] = "added in another order"};
    int common = 0;
    for (int i = 0; i < SUM_VERDICTS; i++) common += buffer->counts[i];
    for (int i = SUM_VERDICTS - 1; i >= 0; i--)
        if (buffer->counts[i])
            text_print(out, "  %s: %d of %d %s %s\n", buffer->name, buffer->counts[i], common,
                       common == 1 ? "element" : "elements", meanings[i]);
    if (buffer->counts[SUM_DIFFERS])
        text_print(out, "  %s: %d of them %s other bits\n", buffer->name, buffer->differing_bits,
                   buffer->differing_bits == 1 ? "has" : "have");
    for (int i = 0; i < 2; i++)
        if (buffer->alone[i])
            text_print(out, "  %s: %d %s only with %s\n", buffer->name, buffer->alone[i],
                       buffer->alone[i] == 1 ? "element is stored" : "elements are stored",
                       orders->runs[i]->label);
    for (int i = 0; i < 2; i++)
        if (buffer->ways[i] > 1)
            text_print(out, "  %s: with %s, in %d ways: [%" PRIu64 "] is not added like the first\n",
                       buffer->name, orders->runs[i]->label, buffer->ways[i],
                       orders->runs[i]->places[buffer->other_way[i]].offset /
                           (uint64_t)bytes_of(orders->runs[i], buffer->name));
    if (buffer->other_bits)
        text_print(
            out,
            "  %s: %d of the same order have other bits: not by the order, but by a constant, a factor or "
            "the input\n",
            buffer->name, buffer->other_bits);
}

void ask_print_orders(const ComparedOrders *orders, Text *out) {
    text_print(out, "%sOrder of the sums of %s, %s beside %s\n", out->length ? "\n" : "",
               session_name(orders->runs[0]->session), orders->runs[0]->label, orders->runs[1]->label);
    if (!orders->buffer_count) text_add(out, "  No result depends on an element of the input.\n");
    for (int i = 0; i < orders->buffer_count; i++) print_buffer(orders, &orders->buffers[i], out);
    SumVerdict verdict;
    const ComparedBuffer *worst = find_worst(orders, &verdict);
    if (!worst || verdict == SUM_EXACT || verdict == SUM_UNKNOWN) return;
    ShownSum shown = shown_of(orders, worst, verdict);
    print_element(&shown, verdict, out);
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static void put_node(const ShownSum *shown, int which, const char *key, const SumNode *node, Json *json) {
    Text text = {0};
    json_open_object(json, key);
    put_elements(shown->orders->runs[which], shown->orders->trees, node, &text);
    json_string(json, "elements", text_string(&text));
    text_clear(&text);
    put_value(node, &text);
    json_string(json, "value", text.length ? text_string(&text) : NULL);
    json_close_object(json);
    text_done(&text);
}

static void put_run(const ShownSum *shown, int which, Json *json) {
    const OrderRun *run = shown->orders->runs[which];
    PtxType type;
    const uint8_t *bytes = ask_left_bytes(run, shown->name, shown->offset, &type);
    json_open_object(json, NULL);
    json_string(json, "run", run->label);
    if (shown->sums[which] == SUM_NONE) {
        json_null(json, "addition");
    } else {
        const SumNode *sum = sum_node(shown->orders->trees, shown->sums[which]), *operands[2];
        PtxSourceLine line = line_of(run, sum);
        order_operands(shown, which, operands);
        json_open_object(json, "addition");
        json_integer(json, "launch", sum->launch);
        json_string(json, "file", line.line ? line.file : NULL);
        if (line.line)
            json_integer(json, "line", line.line);
        else
            json_null(json, "line");
        put_node(shown, which, "left", operands[0], json);
        put_node(shown, which, "right", operands[1], json);
        put_node(shown, which, "sum", sum, json);
        json_close_object(json);
    }
    Text text = {0};
    if (bytes) plan_element_print(type, bytes, 0, &text);
    json_string(json, "result", bytes ? text_string(&text) : NULL);
    text_clear(&text);
    if (bytes) put_bits(bytes, ptx_type_bytes(type), &text);
    json_string(json, "bits", bytes ? text_string(&text) : NULL);
    text_done(&text);
    json_close_object(json);
}

void ask_put_orders(const ComparedOrders *orders, Json *json) {
    static const char *const names[SUM_VERDICTS] = {
        [SUM_SAME] = "same",         [SUM_EXACT] = "exact",
        [SUM_UNKNOWN] = "unknown",   [SUM_OTHER] = "other_elements",
        [SUM_NO_ORDER] = "no_order", [SUM_DIFFERS] = "differs"};
    json_open_object(json, NULL);
    json_open_array(json, "runs");
    for (int i = 0; i < 2; i++) json_string(json, NULL, orders->runs[i]->label);
    json_close_array(json);
    json_open_array(json, "buffers");
    for (int i = 0; i < orders->buffer_count; i++) {
        const ComparedBuffer *buffer = &orders->buffers[i];
        json_open_object(json, NULL);
        json_string(json, "name", buffer->name);
        for (int k = 0; k < SUM_VERDICTS; k++) json_integer(json, names[k], buffer->counts[k]);
        json_open_array(json, "only_in_one");
        for (int k = 0; k < 2; k++) json_integer(json, NULL, buffer->alone[k]);
        json_close_array(json);
        json_integer(json, "differs_with_other_bits", buffer->differing_bits);
        json_integer(json, "same_with_other_bits", buffer->other_bits);
        json_open_array(json, "ways");
        for (int k = 0; k < 2; k++) json_integer(json, NULL, buffer->ways[k]);
        json_close_array(json);
        json_close_object(json);
    }
    json_close_array(json);
    SumVerdict verdict;
    const ComparedBuffer *worst = find_worst(orders, &verdict);
    if (!worst) {
        json_null(json, "first");
    } else {
        ShownSum shown = shown_of(orders, worst, verdict);
        json_open_object(json, "first");
        json_string(json, "kind", names[verdict]);
        json_string(json, "buffer", shown.name);
        json_unsigned(json, "element", shown.offset / (uint64_t)bytes_of(orders->runs[0], shown.name));
        json_open_array(json, "runs");
        for (int i = 0; i < 2; i++) put_run(&shown, i, json);
        json_close_array(json);
        json_close_object(json);
    }
    json_close_object(json);
}
