/* Parses a claim by recursive descent, and evaluates it at the same time. */
#include "lecture/claim_reader.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { DEEPEST = 64 };

static bool read_sum(ClaimReader *reader, double *value);
static bool read_factor(ClaimReader *reader, double *value);

/* "a)" or "a, 2)": rounds to a whole number, or to this many decimals. */
static bool read_round(ClaimReader *reader, double *value) {
    enum { MOST_DECIMALS = 9 };
    int64_t decimals = 0;
    if (!read_sum(reader, value)) return false;
    if (claim_take(reader, ",") &&
        !claim_read_whole(reader, "the number of decimals", MOST_DECIMALS, &decimals))
        return false;
    double scale = pow(10, (double)decimals);
    *value = round(*value * scale) / scale;
    return claim_expect(reader, ")");
}

static bool read_pair(ClaimReader *reader, const char *name, double *value) {
    double other = 0;
    if (!read_sum(reader, value)) return false;
    if (!strcmp(name, "abs")) {
        *value = fabs(*value);
        return claim_expect(reader, ")");
    }
    if (!claim_expect(reader, ",") || !read_sum(reader, &other)) return false;
    *value = !strcmp(name, "min") ? fmin(*value, other) : fmax(*value, other);
    return claim_expect(reader, ")");
}

static bool read_value(ClaimReader *reader, double *value) {
    ClaimTexts texts;
    const char *begin = reader->at;
    if (!claim_read_name(reader, texts.run, "a value")) return false;
    if (claim_take(reader, "(")) {
        const char *name = texts.run;
        if (!strcmp(name, "min") || !strcmp(name, "max") || !strcmp(name, "abs"))
            return read_pair(reader, name, value);
        if (!strcmp(name, "round")) return read_round(reader, value);
        return claim_read_call(reader, begin, &texts, value);
    }
    if (claim_peek(reader) == '.' || *reader->at == '[')
        return claim_read_member(reader, begin, &texts, value);
    return claim_fail_at(reader, begin,
                         "'%.40s' is not a value: write RUN.NAME, like interleaved.shared_loads", texts.run);
}

/* ---- arithmetic ---------------------------------------------------------------------------------------- */

/* "(", "-" or a value, which may contain another sum. */
static bool read_nested(ClaimReader *reader, double *value) {
    char next = *reader->at;
    if (isalpha((unsigned char)next)) return read_value(reader, value);
    reader->at++;
    if (next == '(') return read_sum(reader, value) && claim_expect(reader, ")");
    if (!read_factor(reader, value)) return false;
    *value = -*value;
    return true;
}

static bool read_factor(ClaimReader *reader, double *value) {
    char next = claim_peek(reader);
    if (isdigit((unsigned char)next) || next == '.') return claim_read_number(reader, value);
    if (!isalpha((unsigned char)next) && next != '(' && next != '-')
        return claim_fail_at(reader, reader->at,
                             next ? "a number, a value or '(' is expected here"
                                  : "something is missing here");
    if (++reader->depth > DEEPEST) return claim_fail_at(reader, reader->at, "nested too deeply");
    bool good = read_nested(reader, value);
    reader->depth--;
    return good;
}

static bool read_product(ClaimReader *reader, double *value) {
    if (!read_factor(reader, value)) return false;
    for (char next = claim_peek(reader); next == '*' || next == '/'; next = claim_peek(reader)) {
        double right = 0;
        const char *at = reader->at++;
        if (!read_factor(reader, &right)) return false;
        if (next == '/' && right == 0 && reader->world) return claim_fail_at(reader, at, "division by zero");
        *value = next == '*' ? *value * right : *value / right;
    }
    return true;
}

static bool read_sum(ClaimReader *reader, double *value) {
    if (!read_product(reader, value)) return false;
    for (char next = claim_peek(reader); next == '+' || next == '-'; next = claim_peek(reader)) {
        double right = 0;
        reader->at++;
        if (!read_product(reader, &right)) return false;
        *value = next == '+' ? *value + right : *value - right;
    }
    return true;
}

/* ---- comparisons --------------------------------------------------------------------------------------- */

static const char *const relations[] = {"==", "!=", "<=", ">=", "<", ">"};
enum { RELATIONS = sizeof relations / sizeof *relations };

static int take_relation(ClaimReader *reader) {
    for (int i = 0; i < RELATIONS; i++)
        if (claim_take(reader, relations[i])) return i;
    return -1;
}

static bool holds(int relation, double left, double right) {
    switch (relation) {
    case 0:
        return left == right;
    case 1:
        return left != right;
    case 2:
        return left <= right;
    case 3:
        return left >= right;
    case 4:
        return left < right;
    default:
        return left > right;
    }
}

/* After "limit(": RUN, N) is "memory", or is not "memory" */
static bool read_limit(ClaimReader *reader, const char *begin, ClaimResult *result) {
    ClaimTexts texts;
    Limit limit = LIMIT_UNKNOWN;
    if (!claim_read_limit(reader, begin, &texts, &limit)) return false;
    if (!claim_take_word(reader, "is"))
        return claim_fail_at(reader, reader->at, "'is \"memory\"' is expected here");
    bool isnt = claim_take_word(reader, "not");
    claim_peek(reader);
    const char *at = reader->at;
    if (!claim_read_string(reader, texts.text)) return false;
    Limit named = limit_find(texts.text);
    if (named == LIMIT_UNKNOWN)
        return claim_fail_at(reader, at,
                             "this limits no kernel: memory, issue slots, shared memory pipe, barriers, "
                             "latency or launches do");
    result->holds = result->holds && (limit == named) == !isnt;
    text_print(&result->sides, "%s%s is %s%s", result->sides.length ? " and " : "", limit_name(limit),
               isnt ? "not " : "", texts.text);
    return true;
}

/* "a == b within 3 %", "1.9 < a / b < 2.1" */
static bool read_comparison(ClaimReader *reader, ClaimResult *result) {
    double left = 0, right = 0;
    int relation, count = 0;
    bool all = true;
    claim_peek(reader);
    const char *begin = reader->at;
    if (claim_take_word(reader, "limit") && claim_take(reader, "(")) return read_limit(reader, begin, result);
    reader->at = begin;
    if (!read_sum(reader, &left)) return false;
    text_print(&result->sides, "%s%.10g", result->sides.length ? " and " : "", left);
    for (double last = left; (relation = take_relation(reader)) >= 0; last = right, count++) {
        if (!read_sum(reader, &right)) return false;
        text_print(&result->sides, " %s %.10g", relations[relation], right);
        const char *at = reader->at;
        if (claim_take_word(reader, "within")) {
            double share = 0;
            if (relation || count) return claim_fail_at(reader, at, "'within' stands behind one ==");
            if (!claim_read_number(reader, &share) || !claim_expect(reader, "%")) return false;
            text_print(&result->sides, " within %.10g %%", share);
            all = fabs(last - right) <= share / 100 * fabs(right);
            count++;
            break;
        }
        all = all && holds(relation, last, right);
    }
    result->holds = result->holds && all;
    return count > 0 || claim_fail_at(reader, reader->at, "a comparison is missing: == != < <= > >=");
}

/* "on recorded H200", at the end: found before the rest is parsed. Returns its start, or the end. */
static const char *find_machine(ClaimReader *reader, char machine[CLAIM_NAME_BYTES]) {
    static const char ON[] = " on recorded ";
    const char *on = NULL, *at = reader->of->text;
    machine[0] = 0;
    for (bool quoted = false; *at && !on; at++) {
        if (*at == '"') quoted = !quoted;
        if (!quoted && !strncmp(at, ON, sizeof ON - 1)) on = at;
    }
    if (!on) return at;
    at = on + sizeof ON - 1;
    for (size_t i = 0; at[i] && !isspace((unsigned char)at[i]) && i < CLAIM_NAME_BYTES - 1; i++) {
        machine[i] = (char)tolower((unsigned char)at[i]);
        machine[i + 1] = 0;
    }
    reader->machine = machine;
    return on;
}

const char *claim_shown_text(const LectureExpression *claim) {
    static const char SHOWS[] = "shows:";
    size_t length = sizeof SHOWS - 1;
    if (strncmp(claim->text, SHOWS, length) != 0) return NULL;
    return claim->text + length + strspn(claim->text + length, " ");
}

static bool read_shown(ClaimReader *reader, const char *text, ClaimResult *result) {
    const ClaimWorld *world = reader->world;
    if (!*text) return claim_fail_at(reader, text, "a text of the screen is expected here: shows: w0-1");
    if (!world) return true;
    if (!world->shows)
        return claim_fail_at(reader, reader->at, "'shows:' is about the screen of a lecture's stop");
    result->holds = world->shows(world->context, text);
    text_print(&result->sides, "the screen %s \"%s\"", result->holds ? "shows" : "does not show", text);
    return true;
}

bool claim_evaluate(const LectureExpression *claim, const char *path, const ClaimWorld *world,
                    ClaimResult *result, Error *error) {
    char machine[CLAIM_NAME_BYTES];
    const char *shown = claim_shown_text(claim);
    *result = (ClaimResult){.holds = true};
    ClaimReader reader = {.of = claim,
                          .path = path,
                          .at = claim->text,
                          .world = world,
                          .values = &result->values,
                          .error = error};
    if (shown) return read_shown(&reader, shown, result);
    const char *end = find_machine(&reader, machine);
    if (!read_comparison(&reader, result)) return false;
    while (claim_take_word(&reader, "and"))
        if (!read_comparison(&reader, result)) return false;
    if (claim_take_word(&reader, "on")) {
        char word[CLAIM_NAME_BYTES];
        if (reader.at - 3 < end || !claim_take_word(&reader, "recorded") ||
            !claim_read_name(&reader, word, "a machine, like H200,"))
            return claim_fail_at(&reader, reader.at, "'on recorded H200' ends a claim");
    }
    return !claim_peek(&reader) ||
           claim_fail_at(&reader, reader.at, "'and', a comparison or the end is expected here");
}

void claim_result_done(ClaimResult *result) {
    text_done(&result->sides);
    text_done(&result->values);
}

bool claim_number(const LectureExpression *expression, const char *path, const ClaimWorld *world,
                  double *value, Error *error) {
    ClaimReader reader = {
        .of = expression, .path = path, .at = expression->text, .world = world, .error = error};
    return read_sum(&reader, value) &&
           (!claim_peek(&reader) || claim_fail_at(&reader, reader.at, "an operator is expected here"));
}
