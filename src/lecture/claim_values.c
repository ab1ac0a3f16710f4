/* Reads values of a claim and requests them from the world. */
#include "lecture/claim_reader.h"

#include "metrics/totals.h"
#include "sass/sass.h"
#include "trace/warp_timeline.h"
#include <ctype.h>
#include <stdarg.h>
#include <string.h>

enum { EVERY_RANGE = CLAIM_TOTAL | CLAIM_LINE | CLAIM_INTERVAL | CLAIM_LEVEL };

#define TOTAL                       CLAIM_TOTAL
#define LINE                        CLAIM_LINE
#define INTERVAL                    CLAIM_INTERVAL
#define LEVEL                       CLAIM_LEVEL
#define STEP                        CLAIM_STEP
#define MACHINE                     CLAIM_OF_MACHINE
#define REASON                      CLAIM_OF_REASON
#define LANE                        CLAIM_OF_LANE
#define WARPS                       CLAIM_OF_WARPS
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
#undef MACHINE
#undef REASON
#undef LANE
#undef WARPS
const int claim_word_count = sizeof claim_words / sizeof *claim_words;

const ClaimWord *claim_word_find(const char *name) {
    for (int i = 0; i < claim_word_count; i++)
        if (!strcmp(claim_words[i].name, name)) return &claim_words[i];
    return NULL;
}

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

/* One of the scopes of a word; 0: unknown word. */
static ClaimScope scope_of_word(const char *name) {
    static const ClaimScope scopes[] = {CLAIM_LEVEL, CLAIM_STEP, CLAIM_LINE, CLAIM_TOTAL};
    const ClaimWord *word = claim_word_find(name);
    for (size_t k = 0; word && k < sizeof scopes / sizeof *scopes; k++)
        if (word->scopes & scopes[k]) return scopes[k];
    return 0;
}

/* True if this scope has a value of this name; otherwise the error suggests a similar name. */
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
        return claim_fail_at(reader, at, "there is no '%s' %s, but one %s", name, scope_text(scope),
                             scope_text(other));
    return claim_fail_at(reader, at,
                         nearest ? "there is no '%s' %s; did you mean %s?" : "there is no '%s' %s%s", name,
                         scope_text(scope), nearest ? nearest : "");
}

static void note(ClaimReader *reader, const char *begin, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void note(ClaimReader *reader, const char *begin, const char *format, ...) {
    char value[64];
    va_list arguments;
    const char *end = reader->at;
    while (end > begin && isspace((unsigned char)end[-1])) end--;
    va_start(arguments, format);
    vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    if (reader->values) text_print(reader->values, "%.*s = %s\n", (int)(end - begin), begin, value);
}

static bool ask(ClaimReader *reader, const char *begin, ClaimQuery *query, double *value) {
    Error error = {0};
    *value = 1;
    query->machine = reader->machine;
    if (!reader->world) return true;
    if (!reader->world->value(reader->world->context, query, value, &error))
        return claim_fail_at(reader, begin, "%s%s%s", error.file, *error.file ? ": " : "", error.message);
    if (query->scope == CLAIM_LIMIT)
        note(reader, begin, "%s", limit_name((Limit)*value));
    else
        note(reader, begin, "%.10g", *value);
    return true;
}

/* "[block=64, n=2^12]"; a value is a name or a number, and numbers are passed as whole numbers. */
static bool read_settings(ClaimReader *reader, ClaimQuery *query,
                          char texts[CLAIM_SETTINGS][2 * CLAIM_NAME_BYTES]) {
    if (!claim_take(reader, "[")) return true;
    do {
        char name[CLAIM_NAME_BYTES], word[CLAIM_NAME_BYTES];
        int64_t number;
        if (query->setting_count == CLAIM_SETTINGS)
            return claim_fail_at(reader, reader->at, "a run has at most 8 settings");
        if (!claim_read_name(reader, name, "a setting, like n=4096,") || !claim_expect(reader, "="))
            return false;
        char *text = texts[query->setting_count];
        if (claim_name_length(reader)) {
            if (!claim_read_name(reader, word, "a value")) return false;
            snprintf(text, 2 * CLAIM_NAME_BYTES, "%s=%s", name, word);
        } else {
            if (!claim_read_whole(reader, "a setting", 1e15, &number)) return false;
            snprintf(text, 2 * CLAIM_NAME_BYTES, "%s=%lld", name, (long long)number);
        }
        query->settings[query->setting_count++] = text;
    } while (claim_take(reader, ","));
    return claim_expect(reader, "]");
}

typedef struct Reasons { /* what may stand behind a word */
    const char *names[SASS_STALLS];
    size_t count;
    const char *kind, *list; /* for errors: "stall reason"; where they are listed */
} Reasons;

/* After "stalled": a reason, as named by Nsight Compute; after "wait", what a warp waits for. */
static void list_reasons(const ClaimWord *word, Reasons *out) {
    _Static_assert((int)WARP_STATES <= (int)SASS_STALLS, "names[] has room for both");
    bool of_warps = word->scopes & CLAIM_OF_WARPS;
    *out = (Reasons){.kind = of_warps ? "wait of a warp" : "stall reason",
                     .list = of_warps ? "--timeline names the waits" : "--sass=json names the reasons"};
    for (int i = 0; !of_warps && i < SASS_STALLS; i++) out->names[out->count++] = sass_stalls[i].tool_name;
    for (int i = WARP_WORKS + 1; of_warps && i < WARP_STATES; i++)
        out->names[out->count++] = warp_state_name((WarpActivity)i);
}

static bool read_reason(ClaimReader *reader, const ClaimWord *word, ClaimQuery *query, ClaimTexts *texts) {
    Reasons reasons;
    claim_peek(reader);
    const char *at = reader->at;
    if (!claim_read_string(reader, texts->reason)) return false;
    query->reason = texts->reason;
    list_reasons(word, &reasons);
    for (size_t i = 0; i < reasons.count; i++)
        if (!strcmp(reasons.names[i], texts->reason)) return true;
    const char *nearest = text_nearest(texts->reason, reasons.names, reasons.count);
    return claim_fail_at(reader, at, "unknown %s '%.60s'; %s%s%s", reasons.kind, texts->reason,
                         nearest ? "did you mean " : reasons.list, nearest ? nearest : "",
                         nearest ? "?" : "");
}

/* "with 8 blocks": of the timeline with so many at once on a multiprocessor. */
static bool read_resident(ClaimReader *reader, const ClaimWord *word, ClaimQuery *query) {
    int64_t blocks = 0;
    claim_peek(reader);
    const char *at = reader->at;
    if (!claim_take_word(reader, "with")) return true;
    if (!word || !(word->scopes & CLAIM_OF_WARPS))
        return claim_fail_at(reader, at, "'with' stands behind a value of a warp timeline, like ready");
    if (!claim_read_whole(reader, "the number of blocks", 64, &blocks)) return false;
    if (!blocks) return claim_fail_at(reader, at, "without 'with', as many blocks as fit are resident");
    query->resident = (uint32_t)blocks;
    return claim_take_word(reader, blocks == 1 ? "block" : "blocks") ||
           claim_fail_at(reader, reader->at, "'with 1 block' or 'with 8 blocks' is expected here");
}

/* After RUN: "[...].NAME", and where. */
bool claim_read_member(ClaimReader *reader, const char *begin, ClaimTexts *texts, double *value) {
    ClaimQuery query = {.scope = CLAIM_TOTAL, .run = texts->run, .name = texts->name};
    if (!read_settings(reader, &query, texts->settings) || !claim_expect(reader, ".")) return false;
    const char *name_at = reader->at;
    if (!claim_read_name(reader, texts->name, "the name of a value, like shared_loads,")) return false;
    const ClaimWord *word = claim_word_find(texts->name);
    if (word && word->scopes & CLAIM_OF_REASON && !read_reason(reader, word, &query, texts)) return false;
    if (claim_take_word(reader, "at")) {
        query.scope = CLAIM_LINE;
        query.text = texts->text;
        if (!claim_read_string(reader, texts->text)) return false;
    } else if (claim_take_word(reader, "in")) {
        query.scope = claim_take_word(reader, "interval") ? CLAIM_INTERVAL : CLAIM_LEVEL;
        if (query.scope == CLAIM_LEVEL && !claim_take_word(reader, "level"))
            return claim_fail_at(reader, reader->at, "'interval 2' or 'level 2' is expected here");
        if (!claim_read_whole(reader, "its number", 1e6, &query.number)) return false;
    }
    if (!read_resident(reader, word, &query)) return false;
    return check_name(reader, name_at, texts->name, query.scope) && ask(reader, begin, &query, value);
}

static bool read_step(ClaimReader *reader, const char *begin, ClaimTexts *texts, double *value) {
    enum { LAST_LANE = 31 };
    ClaimQuery query = {.scope = CLAIM_STEP, .name = texts->run, .number = -1};
    if (!check_name(reader, begin, texts->run, CLAIM_STEP)) return false;
    if (claim_word_find(texts->run)->scopes & CLAIM_OF_LANE &&
        (!claim_expect(reader, ",") || !claim_read_whole(reader, "a lane", LAST_LANE, &query.number)))
        return false;
    return claim_expect(reader, ")") && ask(reader, begin, &query, value);
}

/* ", float", ", warm", ... */
static bool read_time_words(ClaimReader *reader, ClaimQuery *query, ClaimTexts *texts) {
    while (claim_take(reader, ",")) {
        if (claim_take_word(reader, "warm"))
            query->warm = true;
        else if (claim_take_word(reader, "alone"))
            query->alone = true;
        else if (claim_take_word(reader, "call"))
            query->call = true;
        else if (!claim_read_name(reader, texts->dtype, "a type, or one of warm, alone, call,"))
            return false;
    }
    return true;
}

/* "RUN, N" of a time, with the default type int. */
static bool read_timed(ClaimReader *reader, ClaimQuery *query, ClaimTexts *texts) {
    int64_t n = 0;
    snprintf(texts->dtype, sizeof texts->dtype, "int");
    query->run = texts->run;
    query->dtype = texts->dtype;
    bool good = claim_read_name(reader, texts->run, "a kernel") && claim_expect(reader, ",") &&
                claim_read_whole(reader, "a size", 1e13, &n);
    query->n = (uint64_t)n;
    return good;
}

static bool read_time(ClaimReader *reader, const char *begin, ClaimTexts *texts, double *value) {
    char name[CLAIM_NAME_BYTES];
    ClaimQuery query = {.scope = CLAIM_TIME, .name = name};
    snprintf(name, sizeof name, "%s", texts->run);
    if (!read_timed(reader, &query, texts) || !read_time_words(reader, &query, texts)) return false;
    if (query.alone && !strcmp(name, "launches"))
        return claim_fail_at(reader, begin, "launches are counted down to one number: without 'alone'");
    return claim_expect(reader, ")") && ask(reader, begin, &query, value);
}

bool claim_read_limit(ClaimReader *reader, const char *begin, ClaimTexts *texts, Limit *limit) {
    ClaimQuery query = {.scope = CLAIM_LIMIT, .name = "limit"};
    double value = LIMIT_UNKNOWN;
    if (!read_timed(reader, &query, texts)) return false;
    if (claim_take(reader, ",") && !claim_read_name(reader, texts->dtype, "a type")) return false;
    if (!claim_expect(reader, ")") || !ask(reader, begin, &query, &value)) return false;
    *limit = (Limit)value;
    return true;
}

static bool read_cycles(ClaimReader *reader, const char *begin, ClaimTexts *texts, double *value) {
    ClaimQuery query = {.scope = CLAIM_CYCLES, .name = "cycles", .text = texts->text};
    return claim_read_string(reader, texts->text) && claim_expect(reader, ")") &&
           ask(reader, begin, &query, value);
}

bool claim_read_call(ClaimReader *reader, const char *begin, ClaimTexts *texts, double *value) {
    const char *name = texts->run;
    if (!strcmp(name, "time") || !strcmp(name, "gigabytes") || !strcmp(name, "read_share") ||
        !strcmp(name, "launches"))
        return read_time(reader, begin, texts, value);
    if (!strcmp(name, "limit"))
        return claim_fail_at(reader, begin, "limit(...) is not a number: write limit(RUN, N) is \"memory\"");
    if (!strcmp(name, "cycles")) return read_cycles(reader, begin, texts, value);
    if (claim_take_word(reader, "step")) return read_step(reader, begin, texts, value);
    return claim_fail_at(
        reader, begin,
        "there is no %.40s(...): time, gigabytes, read_share, launches, cycles, min, max, abs, round, or "
        "a value of the step, like lanes(step)",
        name);
}
