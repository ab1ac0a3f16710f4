/* Recursive descent over a claim's text; evaluates as it reads. */
#include "lecture/claim.h"

#include "metrics/metrics.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEEPEST = 64,
    NAME_BYTES = 64,
    STRING_BYTES = 256,
    EVERY_RANGE = CLAIM_TOTAL | CLAIM_LINE | CLAIM_INTERVAL | CLAIM_LEVEL
};

#define TOTAL                       CLAIM_TOTAL
#define LINE                        CLAIM_LINE
#define INTERVAL                    CLAIM_INTERVAL
#define LEVEL                       CLAIM_LEVEL
#define STEP                        CLAIM_STEP
#define WORD(name, scopes, meaning) {#name, (scopes), meaning},
const ClaimWord claim_words[] = {
#include "lecture/claim_words.def"
};
#undef WORD
#undef TOTAL
#undef LINE
#undef INTERVAL
#undef LEVEL
#undef STEP
const int claim_word_count = sizeof claim_words / sizeof *claim_words;

typedef struct ClaimReader {
    const LectureExpression *of;
    const char *path, *at;
    const ClaimWorld *world;
    const char *machine; /* of "on recorded H200" */
    Text *values;        /* NULL: not noted */
    int depth;
    Error *error;
} ClaimReader;

static bool read_sum(ClaimReader *reader, double *value);
static bool read_factor(ClaimReader *reader, double *value);

static bool fail_at(ClaimReader *reader, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool fail_at(ClaimReader *reader, const char *at, const char *format, ...) {
    char message[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    size_t offset = (size_t)(at - reader->of->text);
    error_set_at(reader->error, reader->path, reader->of->place.line, reader->of->place.column + (int)offset,
                 "%s", message);
    if (reader->error) {
        error_show_line(reader->error, reader->of->text, strlen(reader->of->text));
        reader->error->caret = reader->error->caret ? reader->error->caret : (int)offset + 1;
    }
    return false;
}

/* ---- words --------------------------------------------------------------------------------------------- */

static char peek(ClaimReader *reader) {
    while (isspace((unsigned char)*reader->at)) reader->at++;
    return *reader->at;
}

static bool take(ClaimReader *reader, const char *sign) {
    peek(reader);
    size_t length = strlen(sign);
    if (strncmp(reader->at, sign, length) != 0) return false;
    reader->at += length;
    return true;
}

static bool is_letter(char character) {
    return isalnum((unsigned char)character) || character == '_';
}

/* The name at the cursor, which stays; its length. */
static size_t name_length(ClaimReader *reader) {
    peek(reader);
    size_t length = 0;
    if (isalpha((unsigned char)*reader->at) || *reader->at == '_')
        while (is_letter(reader->at[length])) length++;
    return length;
}

static bool take_word(ClaimReader *reader, const char *word) {
    size_t length = name_length(reader);
    if (length != strlen(word) || memcmp(reader->at, word, length) != 0) return false;
    reader->at += length;
    return true;
}

static bool read_name(ClaimReader *reader, char out[NAME_BYTES], const char *what) {
    size_t length = name_length(reader);
    if (!length) return fail_at(reader, reader->at, "%s is expected here", what);
    if (length >= NAME_BYTES) return fail_at(reader, reader->at, "no name is so long");
    memcpy(out, reader->at, length);
    out[length] = 0;
    reader->at += length;
    return true;
}

static bool read_string(ClaimReader *reader, char out[STRING_BYTES]) {
    const char *begin = reader->at;
    const char *closing = peek(reader) == '"' ? strchr(reader->at + 1, '"') : NULL;
    if (!closing) return fail_at(reader, begin, "a text in double quotes is expected here");
    size_t length = (size_t)(closing - reader->at - 1);
    if (length >= STRING_BYTES) return fail_at(reader, reader->at, "no line or row holds so long a text");
    memcpy(out, reader->at + 1, length);
    out[length] = 0;
    reader->at = closing + 1;
    return true;
}

/* 4096, 0x10, 1.7, 1e-6 */
static bool read_digits(ClaimReader *reader, double *value) {
    char digits[NAME_BYTES] = "";
    size_t length = 0;
    const char *begin = reader->at;
    if (!isdigit((unsigned char)*begin) && *begin != '.')
        return fail_at(reader, begin, "a number is expected here");
    while (length < sizeof digits - 1) {
        char next = *reader->at;
        bool exponent =
            (next == '-' || next == '+') && length && strchr("eE", digits[length - 1]) && digits[1] != 'x';
        if (!is_letter(next) && next != '.' && !exponent) break;
        digits[length++] = next;
        reader->at++;
    }
    digits[length] = 0;
    char *stop;
    *value = strtod(digits, &stop);
    return (!*stop && isfinite(*value)) || fail_at(reader, begin, "this is no number: 4096, 2^20, 0x10, 1.7");
}

/* The same, or one of them to the power of another: 2^20. */
static bool read_number(ClaimReader *reader, double *value) {
    double power = 0;
    peek(reader);
    const char *begin = reader->at;
    if (!read_digits(reader, value)) return false;
    if (*reader->at != '^') return true;
    reader->at++;
    if (!read_digits(reader, &power)) return false;
    *value = pow(*value, power);
    return isfinite(*value) || fail_at(reader, begin, "this number is too large");
}

static bool read_whole(ClaimReader *reader, const char *what, double most, int64_t *value) {
    double number = 0;
    peek(reader);
    const char *begin = reader->at;
    if (!read_number(reader, &number)) return false;
    *value = (int64_t)(number <= most ? number : 0);
    if (number <= most && (double)*value == number) return true;
    return fail_at(reader, begin, "%s is a whole number up to %.0f", what, most);
}

static bool expect(ClaimReader *reader, const char *sign) {
    return take(reader, sign) || fail_at(reader, reader->at, "'%s' is expected here", sign);
}

/* ---- values -------------------------------------------------------------------------------------------- */

static const char *scope_text(ClaimScope scope) {
    switch (scope) {
    case CLAIM_LINE:
        return "of a line";
    case CLAIM_INTERVAL:
        return "of an interval";
    case CLAIM_LEVEL:
        return "of a level";
    case CLAIM_STEP:
        return "of a step";
    default:
        return "of a run";
    }
}

/* One of the scopes that a word has; 0: there is no such word. */
static ClaimScope scope_of_word(const char *name) {
    static const ClaimScope scopes[] = {CLAIM_LEVEL, CLAIM_STEP, CLAIM_LINE, CLAIM_TOTAL};
    for (int i = 0; i < claim_word_count; i++)
        for (size_t k = 0; k < sizeof scopes / sizeof *scopes; k++)
            if (!strcmp(claim_words[i].name, name) && (claim_words[i].scopes & scopes[k])) return scopes[k];
    return 0;
}

/* Is there a value of this name in this scope? Else the error says which name is near. */
static bool check_name(ClaimReader *reader, const char *at, const char *name, ClaimScope scope) {
    const char *near[METRIC_COUNT + 64];
    size_t count = 0;
    for (int i = 0; i < claim_word_count; i++) {
        if (!(claim_words[i].scopes & scope)) continue;
        if (!strcmp(claim_words[i].name, name)) return true;
        near[count++] = claim_words[i].name;
    }
    for (int i = 0; i < METRIC_COUNT && (scope & EVERY_RANGE); i++) {
        if (!strcmp(metric_infos[i].name, name)) return true;
        near[count++] = metric_infos[i].name;
    }
    const char *nearest = text_nearest(name, near, count);
    ClaimScope other = scope_of_word(name);
    if (!nearest && other)
        return fail_at(reader, at, "there is no '%s' %s, but one %s", name, scope_text(scope),
                       scope_text(other));
    return fail_at(reader, at, nearest ? "there is no '%s' %s; did you mean %s?" : "there is no '%s' %s%s",
                   name, scope_text(scope), nearest ? nearest : "");
}

static void note(ClaimReader *reader, const char *begin, double value) {
    const char *end = reader->at;
    while (end > begin && isspace((unsigned char)end[-1])) end--;
    if (reader->values) text_print(reader->values, "%.*s = %.10g\n", (int)(end - begin), begin, value);
}

static bool ask(ClaimReader *reader, const char *begin, ClaimQuery *query, double *value) {
    Error error = {0};
    *value = 1;
    query->machine = reader->machine;
    if (!reader->world) return true;
    if (!reader->world->value(reader->world->context, query, value, &error))
        return fail_at(reader, begin, "%s%s%s", error.file, *error.file ? ": " : "", error.message);
    note(reader, begin, *value);
    return true;
}

/* "[block=64, n=2^12]"; a value is a name or a number, and numbers are passed as whole numbers. */
static bool read_settings(ClaimReader *reader, ClaimQuery *query,
                          char texts[CLAIM_SETTINGS][2 * NAME_BYTES]) {
    if (!take(reader, "[")) return true;
    do {
        char name[NAME_BYTES], word[NAME_BYTES];
        int64_t number;
        if (query->setting_count == CLAIM_SETTINGS)
            return fail_at(reader, reader->at, "a run has at most 8 settings");
        if (!read_name(reader, name, "a setting, like n=4096,") || !expect(reader, "=")) return false;
        char *text = texts[query->setting_count];
        if (name_length(reader)) {
            if (!read_name(reader, word, "a value")) return false;
            snprintf(text, 2 * NAME_BYTES, "%s=%s", name, word);
        } else {
            if (!read_whole(reader, "a setting", 1e15, &number)) return false;
            snprintf(text, 2 * NAME_BYTES, "%s=%lld", name, (long long)number);
        }
        query->settings[query->setting_count++] = text;
    } while (take(reader, ","));
    return expect(reader, "]");
}

typedef struct QueryTexts { /* what a query points into */
    char run[NAME_BYTES], name[NAME_BYTES], dtype[NAME_BYTES], text[STRING_BYTES];
    char settings[CLAIM_SETTINGS][2 * NAME_BYTES];
} QueryTexts;

/* Behind RUN: "[...].NAME", and where. */
static bool read_member(ClaimReader *reader, const char *begin, QueryTexts *texts, double *value) {
    ClaimQuery query = {.scope = CLAIM_TOTAL, .run = texts->run, .name = texts->name};
    if (!read_settings(reader, &query, texts->settings) || !expect(reader, ".")) return false;
    const char *name_at = reader->at;
    if (!read_name(reader, texts->name, "the name of a value, like shared_loads,")) return false;
    if (take_word(reader, "at")) {
        query.scope = CLAIM_LINE;
        query.text = texts->text;
        if (!read_string(reader, texts->text)) return false;
    } else if (take_word(reader, "in")) {
        query.scope = take_word(reader, "interval") ? CLAIM_INTERVAL : CLAIM_LEVEL;
        if (query.scope == CLAIM_LEVEL && !take_word(reader, "level"))
            return fail_at(reader, reader->at, "'interval 2' or 'level 2' is expected here");
        if (!read_whole(reader, "its number", 1e6, &query.number)) return false;
    }
    return check_name(reader, name_at, texts->name, query.scope) && ask(reader, begin, &query, value);
}

static bool read_step(ClaimReader *reader, const char *begin, QueryTexts *texts, double *value) {
    enum { LAST_LANE = 31 };
    ClaimQuery query = {.scope = CLAIM_STEP, .name = texts->run, .number = -1};
    bool has_lane = !strcmp(texts->run, "value");
    if (!check_name(reader, begin, texts->run, CLAIM_STEP)) return false;
    if (has_lane && (!expect(reader, ",") || !read_whole(reader, "a lane", LAST_LANE, &query.number)))
        return false;
    return expect(reader, ")") && ask(reader, begin, &query, value);
}

/* ", float", ", warm", ... */
static bool read_time_words(ClaimReader *reader, ClaimQuery *query, QueryTexts *texts) {
    while (take(reader, ",")) {
        if (take_word(reader, "warm"))
            query->warm = true;
        else if (take_word(reader, "alone"))
            query->alone = true;
        else if (take_word(reader, "call"))
            query->call = true;
        else if (!read_name(reader, texts->dtype, "a type, or one of warm, alone, call,"))
            return false;
    }
    return true;
}

static bool read_time(ClaimReader *reader, const char *begin, QueryTexts *texts, double *value) {
    char name[NAME_BYTES];
    int64_t n;
    snprintf(name, sizeof name, "%s", texts->run);
    snprintf(texts->dtype, sizeof texts->dtype, "int");
    ClaimQuery query = {.scope = CLAIM_TIME, .name = name, .run = texts->run, .dtype = texts->dtype};
    if (!read_name(reader, texts->run, "a kernel") || !expect(reader, ",") ||
        !read_whole(reader, "a size", 1e13, &n) || !read_time_words(reader, &query, texts) ||
        !expect(reader, ")"))
        return false;
    query.n = (uint64_t)n;
    return ask(reader, begin, &query, value);
}

static bool read_cycles(ClaimReader *reader, const char *begin, QueryTexts *texts, double *value) {
    ClaimQuery query = {.scope = CLAIM_CYCLES, .name = "cycles", .text = texts->text};
    return read_string(reader, texts->text) && expect(reader, ")") && ask(reader, begin, &query, value);
}

static bool read_pair(ClaimReader *reader, const char *name, double *value) {
    double other = 0;
    if (!read_sum(reader, value)) return false;
    if (!strcmp(name, "abs")) {
        *value = fabs(*value);
        return expect(reader, ")");
    }
    if (!expect(reader, ",") || !read_sum(reader, &other)) return false;
    *value = !strcmp(name, "min") ? fmin(*value, other) : fmax(*value, other);
    return expect(reader, ")");
}

static bool read_call(ClaimReader *reader, const char *begin, QueryTexts *texts, double *value) {
    const char *name = texts->run;
    if (!strcmp(name, "time") || !strcmp(name, "gigabytes") || !strcmp(name, "read_share"))
        return read_time(reader, begin, texts, value);
    if (!strcmp(name, "cycles")) return read_cycles(reader, begin, texts, value);
    if (!strcmp(name, "min") || !strcmp(name, "max") || !strcmp(name, "abs"))
        return read_pair(reader, name, value);
    if (take_word(reader, "step")) return read_step(reader, begin, texts, value);
    return fail_at(
        reader, begin,
        "there is no %.40s(...): time, gigabytes, read_share, cycles, min, max, abs, or a value of the step, "
        "like lanes(step)",
        name);
}

static bool read_value(ClaimReader *reader, double *value) {
    QueryTexts texts;
    const char *begin = reader->at;
    if (!read_name(reader, texts.run, "a value")) return false;
    if (take(reader, "(")) return read_call(reader, begin, &texts, value);
    if (peek(reader) == '.' || *reader->at == '[') return read_member(reader, begin, &texts, value);
    return fail_at(reader, begin, "'%.40s' is no value: write RUN.NAME, like interleaved.shared_loads",
                   texts.run);
}

/* ---- arithmetic ---------------------------------------------------------------------------------------- */

/* "(", "-" or a value, which may hold another sum. */
static bool read_nested(ClaimReader *reader, double *value) {
    char next = *reader->at;
    if (isalpha((unsigned char)next)) return read_value(reader, value);
    reader->at++;
    if (next == '(') return read_sum(reader, value) && expect(reader, ")");
    if (!read_factor(reader, value)) return false;
    *value = -*value;
    return true;
}

static bool read_factor(ClaimReader *reader, double *value) {
    char next = peek(reader);
    if (isdigit((unsigned char)next) || next == '.') return read_number(reader, value);
    if (!isalpha((unsigned char)next) && next != '(' && next != '-')
        return fail_at(reader, reader->at,
                       next ? "a number, a value or '(' is expected here" : "something is missing here");
    if (++reader->depth > DEEPEST) return fail_at(reader, reader->at, "nested too deeply");
    bool good = read_nested(reader, value);
    reader->depth--;
    return good;
}

static bool read_product(ClaimReader *reader, double *value) {
    if (!read_factor(reader, value)) return false;
    for (char next = peek(reader); next == '*' || next == '/'; next = peek(reader)) {
        double right = 0;
        const char *at = reader->at++;
        if (!read_factor(reader, &right)) return false;
        if (next == '/' && right == 0 && reader->world) return fail_at(reader, at, "division by zero");
        *value = next == '*' ? *value * right : *value / right;
    }
    return true;
}

static bool read_sum(ClaimReader *reader, double *value) {
    if (!read_product(reader, value)) return false;
    for (char next = peek(reader); next == '+' || next == '-'; next = peek(reader)) {
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
        if (take(reader, relations[i])) return i;
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

/* "a == b within 3 %", "1.9 < a / b < 2.1" */
static bool read_comparison(ClaimReader *reader, ClaimResult *result) {
    double left = 0, right = 0;
    int relation, count = 0;
    bool all = true;
    if (!read_sum(reader, &left)) return false;
    text_print(&result->sides, "%s%.10g", result->sides.length ? " and " : "", left);
    for (double last = left; (relation = take_relation(reader)) >= 0; last = right, count++) {
        if (!read_sum(reader, &right)) return false;
        text_print(&result->sides, " %s %.10g", relations[relation], right);
        const char *at = reader->at;
        if (take_word(reader, "within")) {
            double share = 0;
            if (relation || count) return fail_at(reader, at, "'within' stands behind one ==");
            if (!read_number(reader, &share) || !expect(reader, "%")) return false;
            text_print(&result->sides, " within %.10g %%", share);
            all = fabs(last - right) <= share / 100 * fabs(right);
            count++;
            break;
        }
        all = all && holds(relation, last, right);
    }
    result->holds = result->holds && all;
    return count > 0 || fail_at(reader, reader->at, "a comparison is missing: == != < <= > >=");
}

/* "on recorded H200", at the end: found before the rest is read. Returns where it begins, or the end. */
static const char *find_machine(ClaimReader *reader, char machine[NAME_BYTES]) {
    static const char ON[] = " on recorded ";
    const char *on = NULL, *at = reader->of->text;
    machine[0] = 0;
    for (bool quoted = false; *at && !on; at++) {
        if (*at == '"') quoted = !quoted;
        if (!quoted && !strncmp(at, ON, sizeof ON - 1)) on = at;
    }
    if (!on) return at;
    at = on + sizeof ON - 1;
    for (size_t i = 0; at[i] && !isspace((unsigned char)at[i]) && i < NAME_BYTES - 1; i++) {
        machine[i] = (char)tolower((unsigned char)at[i]);
        machine[i + 1] = 0;
    }
    reader->machine = machine;
    return on;
}

bool claim_evaluate(const LectureExpression *claim, const char *path, const ClaimWorld *world,
                    ClaimResult *result, Error *error) {
    char machine[NAME_BYTES];
    *result = (ClaimResult){.holds = true};
    ClaimReader reader = {.of = claim,
                          .path = path,
                          .at = claim->text,
                          .world = world,
                          .values = &result->values,
                          .error = error};
    const char *end = find_machine(&reader, machine);
    if (!read_comparison(&reader, result)) return false;
    while (take_word(&reader, "and"))
        if (!read_comparison(&reader, result)) return false;
    if (take_word(&reader, "on")) {
        char word[NAME_BYTES];
        if (reader.at - 3 < end || !take_word(&reader, "recorded") ||
            !read_name(&reader, word, "a machine, like H200,"))
            return fail_at(&reader, reader.at, "'on recorded H200' ends a claim");
    }
    return !peek(&reader) || fail_at(&reader, reader.at, "'and', a comparison or the end is expected here");
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
           (!peek(&reader) || fail_at(&reader, reader.at, "an operator is expected here"));
}
