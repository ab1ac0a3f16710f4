/* Loops of launches, executed as far as numbers and pointers go: `for (int d = 1; d < n; d *= 2) {
 * step<<<blocks, 256>>>(a, b, n, d); std::swap(a, b); }`. */
#include "guess/host_launch.h"
#include "guess/host_number.h"
#include "guess/host_type.h"

#include <ctype.h>
#include <string.h>

enum { MOST_ROUNDS = 64 };

typedef struct HostLoop {
    HostCode *code;
    const HostFunction *function;
    HostSpan init, condition, step, body; /* of while: init and step are empty */
    size_t begin, end;
    HostVisit visit;
    void *context;
    bool is_do;                 /* the condition is looked at after the body */
    bool has_failed, has_ended; /* by a statement that is not understood; by break */
} HostLoop;

static void bind(HostLoop *loop, HostBinding binding) {
    loop->has_failed |= !host_binding_set(&loop->code->values.bindings, &loop->code->text, binding);
}

static const HostBinding *binding_of(const HostLoop *loop, HostSpan name) {
    return host_binding_find(&loop->code->values.bindings, &loop->code->text, name, loop->begin);
}

/* ---- where it is ---------------------------------------------------------------------------------------------- */

static size_t end_of_statement(const HostText *text, size_t at, size_t end) {
    while (at < end && text->text[at] != ';')
        at = strchr("({[", text->text[at]) ? host_skip_brackets(text, at, end) : at + 1;
    return at < end ? at + 1 : end;
}

/* Part `index` of for (a; b; c). */
static HostSpan part_of(const HostText *text, HostSpan head, int index) {
    HostSpan part = {head.begin, head.begin};
    for (int i = 0; i <= index; i++) {
        part.begin = i ? part.end + 1 : head.begin;
        part.end = part.begin;
        while (part.end < head.end && text->text[part.end] != ';')
            part.end = strchr("({[", text->text[part.end]) ? host_skip_brackets(text, part.end, head.end)
                                                           : part.end + 1;
        if (part.end >= head.end && i < index) return (HostSpan){head.end, head.end};
    }
    return host_trim(text, part);
}

/* do { } while (a); */
static bool read_do(const HostText *text, HostSpan word, size_t within, HostLoop *loop) {
    size_t body = host_skip_blanks(text, word.end, text->length);
    if (text->text[body] != '{') return false;
    size_t end = host_skip_brackets(text, body, text->length), open;
    HostSpan next = host_word(text, host_skip_blanks(text, end, text->length));
    open = host_skip_blanks(text, next.end, text->length);
    if (within < body || within >= end || !host_span_is(text, next, "while") || text->text[open] != '(')
        return false;
    loop->condition = (HostSpan){open + 1, host_skip_brackets(text, open, text->length) - 1};
    loop->init = loop->step = (HostSpan){0, 0};
    loop->body = (HostSpan){body, end};
    loop->begin = word.begin;
    loop->end = loop->condition.end + 1;
    loop->is_do = true;
    return true;
}

/* The loop that begins at `at`, if `within` is in its body. */
static bool read_loop(const HostText *text, size_t at, size_t within, HostLoop *loop) {
    HostSpan word = host_word(text, at);
    bool is_for = host_span_is(text, word, "for");
    if (host_span_is(text, word, "do")) return read_do(text, word, within, loop);
    if (!is_for && !host_span_is(text, word, "while")) return false;
    size_t open = host_skip_blanks(text, word.end, text->length);
    if (text->text[open] != '(') return false;
    size_t close = host_skip_brackets(text, open, text->length),
           body = host_skip_blanks(text, close, text->length);
    size_t end = text->text[body] == '{' ? host_skip_brackets(text, body, text->length)
                                         : end_of_statement(text, body, text->length);
    if (within < body || within >= end) return false;
    HostSpan head = {open + 1, close - 1};
    loop->condition = is_for ? part_of(text, head, 1) : head;
    loop->init = is_for ? part_of(text, head, 0) : (HostSpan){0, 0};
    loop->step = is_for ? part_of(text, head, 2) : (HostSpan){0, 0};
    loop->body = (HostSpan){body, end};
    loop->begin = at;
    loop->end = end;
    return true;
}

/* The only loop around it. */
static bool find_loop(HostCode *code, const HostLaunch *launch, HostLoop *loop) {
    HostText *text = &code->text;
    int count = 0;
    loop->code = code;
    loop->function = host_text_function_at(text, launch->at);
    if (!loop->function) return false;
    for (size_t at = loop->function->body.begin; at < launch->at;) {
        HostSpan word = host_word(text, at);
        if (word.end > at && (!at || !host_is_word(text->text[at - 1])))
            count += read_loop(text, at, launch->at, loop);
        at = word.end > at ? word.end : at + 1;
    }
    return count == 1;
}

/* ---- statements ------------------------------------------------------------------------------------------------- */

static bool has_word(const HostText *text, HostSpan span, const char *begin) {
    size_t length = strlen(begin);
    for (size_t i = span.begin; i + length <= span.end; i++)
        if (!strncmp(text->text + i, begin, length)) return true;
    return false;
}

static HostNumber value_of(HostLoop *loop, HostSpan span) {
    return host_value(&loop->code->values, span, span.begin);
}

/* The name that an expression only is, after casts; empty: it is more. */
static HostSpan only_name(const HostText *text, HostSpan span) {
    span = host_trim(text, span);
    if (text->text[span.begin] == '(') span.begin = host_skip_brackets(text, span.begin, span.end);
    HostSpan word = host_word(text, host_skip_blanks(text, span.begin, span.end));
    return word.end == span.end ? word : (HostSpan){0, 0};
}

/* The = of an assignment; `end`: there is none. */
static size_t find_equal(const HostText *text, HostSpan item) {
    for (size_t at = item.begin + 1; at < item.end; at++) {
        const char *c = text->text + at;
        bool compares = c[1] == '=' || strchr("=!", c[-1]) || (strchr("<>", c[-1]) && c[-2] != c[-1]);
        if (*c == '=' && !compares) return at;
    }
    return item.end;
}

/* What stands before the operator of an assignment, or in name++: a name; empty: something else. */
static HostSpan assigned_name(const HostText *text, HostSpan item, size_t operator_at) {
    size_t end = host_back_over_blanks(text, operator_at), begin;
    for (begin = end; begin > item.begin && host_is_word(text->text[begin - 1]);) begin--;
    bool is_part = begin > item.begin && strchr(".>", text->text[begin - 1]); /* a.n */
    return is_part || text->text[item.begin] == '*' ? (HostSpan){0, 0} : (HostSpan){begin, end};
}

static void assign_value(HostLoop *loop, HostSpan name, char operation, HostNumber given,
                         bool declares_integer) {
    const HostBinding *old = binding_of(loop, name);
    bool is_integer = declares_integer || (old && old->value.is_known && !old->value.is_float);
    HostNumber value = operation ? host_apply(operation, old ? old->value : host_unknown, given) : given;
    bind(loop, (HostBinding){.name = name, .value = is_integer ? host_to_integer(value) : value});
}

/* name = value, name op= value, name++. */
static void assign(HostLoop *loop, HostSpan item, bool declares_integer) {
    HostText *text = &loop->code->text;
    item = host_trim(text, item);
    size_t equal = find_equal(text, item);
    if (equal == item.end) { /* name++, --name */
        char sign = has_word(text, item, "++") ? '+' : has_word(text, item, "--") ? '-' : 0;
        size_t at = item.begin;
        while (at < item.end && !host_is_word(text->text[at])) at++;
        HostSpan name = host_word(text, at);
        if (sign && name.end > name.begin) assign_value(loop, name, sign, host_number(1), false);
        return;
    }
    char last = text->text[equal - 1], operation = strchr("+-*/%&|^", last) ? last
                                                   : last == '<'            ? 'l'
                                                   : last == '>'            ? 'r'
                                                                            : 0;
    size_t width = operation == 'l' || operation == 'r' ? 2 : operation != 0;
    HostSpan name = assigned_name(text, item, equal - width), value = {equal + 1, item.end},
             from = only_name(text, value);
    if (name.end == name.begin) return;
    const HostBinding *source = from.end > from.begin && !operation ? binding_of(loop, from) : NULL;
    if (source && source->is_pointer)
        bind(loop, (HostBinding){.name = name, .is_pointer = true, .target = source->target});
    else
        assign_value(loop, name, operation, value_of(loop, value), declares_integer);
}

/* std::swap(a, b) */
static bool swap(HostLoop *loop, HostSpan statement) {
    HostText *text = &loop->code->text;
    size_t at = statement.begin;
    HostSpan word = host_word(text, at), items[2];
    if (host_span_is(text, word, "std")) word = host_word(text, word.end + 2);
    size_t open = host_skip_blanks(text, word.end, statement.end);
    if (!host_span_is(text, word, "swap") || text->text[open] != '(') return false;
    HostSpan list = {open + 1, host_skip_brackets(text, open, statement.end) - 1};
    for (int i = 0; i < 2; i++) {
        if (!host_list_item(text, list, i, &items[i])) return false;
        items[i] = host_trim(text, items[i]);
    }
    const HostBinding *a = binding_of(loop, items[0]), *b = binding_of(loop, items[1]);
    if (!a || !b) {
        loop->has_failed = true;
        return true;
    }
    HostBinding first = *b, second = *a;
    first.name = items[0];
    second.name = items[1];
    bind(loop, first);
    bind(loop, second);
    return true;
}

static void execute(HostLoop *loop, HostSpan span);

/* if (a) b else c: returns the place behind it. */
static size_t execute_if(HostLoop *loop, size_t at, size_t end) {
    HostText *text = &loop->code->text;
    size_t open = host_skip_blanks(text, host_word(text, at).end, end),
           close = host_skip_brackets(text, open, end);
    if (open >= end || text->text[open] != '(') {
        loop->has_failed = true;
        return end;
    }
    HostNumber condition = value_of(loop, (HostSpan){open + 1, close - 1});
    HostSpan branches[2] = {{0, 0}, {0, 0}};
    size_t after = close;
    for (int i = 0; i < 2; i++) {
        size_t begin = host_skip_blanks(text, after, end);
        HostSpan word = host_word(text, begin);
        if (i && !host_span_is(text, word, "else")) break;
        if (i) begin = host_skip_blanks(text, word.end, end);
        bool is_chain = i && host_span_is(text, host_word(text, begin), "if");
        after = text->text[begin] == '{' ? host_skip_brackets(text, begin, end)
                                         : end_of_statement(text, begin, end);
        if (is_chain) loop->has_failed = true;
        branches[i] = (HostSpan){begin, after};
    }
    bool matters = has_word(text, (HostSpan){at, after}, "=") ||
                   has_word(text, (HostSpan){at, after}, "<<<") ||
                   has_word(text, (HostSpan){at, after}, "break");
    if (!condition.is_known && matters) loop->has_failed = true;
    if (condition.is_known) execute(loop, branches[condition.number == 0]);
    return after;
}

static void execute_statement(HostLoop *loop, HostSpan statement) {
    HostText *text = &loop->code->text;
    HostSpan first = host_word(text, statement.begin), item;
    if (has_word(text, statement, "<<<")) {
        for (int i = 0; i < loop->code->count; i++) {
            const HostLaunch *launch = &loop->code->launches[i];
            bool is_here = launch->at >= statement.begin && launch->at < statement.end;
            if (is_here && !loop->visit(loop->context, launch)) loop->has_failed = true;
        }
        return;
    }
    if (host_span_is(text, first, "break")) loop->has_ended = true;
    bool is_refused = host_span_is(text, first, "return") || host_span_is(text, first, "goto") ||
                      host_span_is(text, first, "continue") || has_word(text, statement, "cudaMem");
    if (is_refused) loop->has_failed = true;
    if (is_refused || loop->has_ended || swap(loop, statement)) return;
    bool declares_integer = host_type_bytes(text->text + first.begin, first.end - first.begin) > 0 &&
                            !host_span_is(text, first, "float") && !host_span_is(text, first, "double");
    for (int i = 0; host_list_item(text, statement, i, &item); i++) assign(loop, item, declares_integer);
}

static void execute(HostLoop *loop, HostSpan span) {
    HostText *text = &loop->code->text;
    for (size_t at = span.begin; !loop->has_failed && !loop->has_ended;) {
        at = host_skip_blanks(text, at, span.end);
        if (at >= span.end) return;
        HostSpan word = host_word(text, at);
        if (text->text[at] == '{') {
            size_t close = host_skip_brackets(text, at, span.end);
            execute(loop, (HostSpan){at + 1, close - 1});
            at = close;
        } else if (host_span_is(text, word, "if")) {
            at = execute_if(loop, at, span.end);
        } else if (host_span_is(text, word, "for") || host_span_is(text, word, "while") ||
                   host_span_is(text, word, "do") || host_span_is(text, word, "switch")) {
            loop->has_failed = true;
        } else {
            size_t end = end_of_statement(text, at, span.end);
            HostSpan statement = host_trim(text, (HostSpan){at, end - (text->text[end - 1] == ';')});
            if (statement.end > statement.begin) execute_statement(loop, statement);
            at = end;
        }
    }
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

/* Every name in the loop has the value that it has before it; pointers of launches are themselves. */
static void bind_names(HostLoop *loop) {
    HostText *text = &loop->code->text;
    for (size_t at = loop->begin; at < loop->end && !loop->has_failed;) {
        HostSpan name = host_word(text, at);
        if (name.end == at) {
            at++;
            continue;
        }
        at = name.end;
        if (isdigit((unsigned char)text->text[name.begin]) || binding_of(loop, name)) continue;
        char next = text->text[host_skip_blanks(text, name.end, text->length)];
        HostDefinition definition = host_text_define(text, name, loop->begin);
        if (next == '(' || definition.kind == HOST_UNDEFINED || definition.kind == HOST_MACRO) continue;
        HostNumber value = host_value(&loop->code->values, name, loop->begin);
        if (value.is_known) bind(loop, (HostBinding){.name = name, .value = value});
    }
    for (int i = 0; i < loop->code->count; i++) {
        const HostLaunch *launch = &loop->code->launches[i];
        for (int k = 0; launch->at >= loop->begin && launch->at < loop->end && k < launch->item_count; k++) {
            HostSpan item = {launch->places[k], launch->places[k] + strlen(launch->items[k])};
            HostSpan name = only_name(text, item);
            const HostBinding *bound = name.end > name.begin ? binding_of(loop, name) : NULL;
            HostPointer pointer = host_code_pointer(loop->code, launch, k);
            if (name.end > name.begin && !(bound && bound->value.is_known && !pointer.bytes.is_known) &&
                pointer.identity)
                bind(loop, (HostBinding){.name = name, .is_pointer = true, .target = name});
        }
    }
}

bool host_code_find_loop(HostCode *code, const HostLaunch *launch, size_t *begin, size_t *end) {
    HostLoop loop = {0};
    if (!find_loop(code, launch, &loop)) return false;
    *begin = loop.begin;
    *end = loop.end;
    return true;
}

bool host_code_repeat(HostCode *code, const HostLaunch *launch, HostVisit visit, void *context) {
    HostLoop loop = {.visit = visit, .context = context};
    HostValues *values = &code->values;
    if (!find_loop(code, launch, &loop)) return false;
    values->bindings.count = 0;
    values->bindings.within = (HostSpan){loop.begin, loop.function->body.end};
    values->bindings.from = loop.begin;
    bind_names(&loop);
    if (loop.init.end > loop.init.begin) execute_statement(&loop, loop.init);
    for (int round = 0; !loop.has_failed && !loop.has_ended; round++) {
        HostNumber condition = value_of(&loop, loop.condition);
        if (loop.is_do && !round) condition = host_number(1);
        if (condition.is_known && condition.number == 0) return true;
        if (!condition.is_known || round == MOST_ROUNDS) return false;
        execute(&loop, loop.body);
        if (!loop.has_failed && !loop.has_ended && loop.step.end > loop.step.begin)
            execute_statement(&loop, loop.step);
    }
    return !loop.has_failed;
}

void host_code_forget_loop(HostCode *code) {
    code->values.bindings.count = 0;
    code->values.bindings.within = (HostSpan){0, 0};
}
