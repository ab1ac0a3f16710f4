/* Fuzz target of lecture files and of claims: the first byte selects which. Refused text gives one line and a
 * place in the file; accepted text is a complete lecture, equal to itself, whose marks, claims and answers
 * can be read to their ends. */
#include "lecture/claim.h"
#include "lecture/lecture.h"
#include "findings/limit.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_error(const Error *error) {
    if (!error->message[0] || strchr(error->message, '\n') || error->line < 1 || error->column < 1) abort();
}

/* Any number will do, including 0 and NaN. */
static bool value_of(void *context, const ClaimQuery *query, double *value, Error *error) {
    (void)context;
    size_t length = strlen(query->name) + (query->run ? strlen(query->run) : 0);
    for (int i = 0; i < query->setting_count; i++)
        if (!strchr(query->settings[i], '=')) abort();
    *value = query->scope == CLAIM_LIMIT ? 1 + (double)(length % (LIMIT_COUNT - 1)) : (double)length - 5;
    return length % 7 || error_set(error, "no %s", query->name);
}

static bool is_long(void *context, const char *text) {
    (void)context;
    return strlen(text) > 8;
}

static void check_claim(const LectureExpression *claim) {
    const ClaimWorld world = {.value = value_of, .shows = is_long};
    ClaimResult result;
    Error error = {0};
    double number;
    bool has_form = claim_evaluate(claim, "fuzz.md", NULL, &result, &error);
    if (!has_form) check_error(&error);
    claim_result_done(&result);
    bool known = claim_evaluate(claim, "fuzz.md", &world, &result, &error);
    if (known && (!has_form || !result.sides.length)) abort();
    claim_result_done(&result);
    if (!claim_number(claim, "fuzz.md", &world, &number, &error)) check_error(&error);
}

static void check_marks(const char *text) {
    LectureSpan span;
    const char *end = text + strlen(text);
    while (lecture_next_span(&text, &span))
        if (!span.length || span.text + span.length > end || text > end) abort();
}

static void check_stop(const LectureStop *stop) {
    if (!*stop->title || stop->place.line < 1) abort();
    for (int i = 0; i < stop->block_count; i++) check_marks(stop->blocks[i].text);
    for (int i = 0; i < stop->word_count; i++)
        if (stop->words[i].place.line <= stop->command_place.line) abort();
    for (int i = 0; i < stop->claim_count; i++) check_claim(&stop->claims[i]);
    if (stop->question) {
        check_marks(stop->question->text);
        check_claim(&stop->question->answer);
    }
}

static void check_lecture(const char *text, size_t size) {
    Error error = {0};
    Lecture *lecture = lecture_parse(text, size, "fuzz.md", &error);
    if (!lecture) {
        check_error(&error);
        return;
    }
    if (lecture->stop_count < 1 || !lecture->language || lecture->minutes < 1) abort();
    for (int i = 0; i < lecture->stop_count; i++) check_stop(&lecture->stops[i]);
    if (!lecture_is_same(lecture, lecture, &error)) abort();
    lecture_free(lecture);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    char *text = malloc(size); /* no byte after it */
    memcpy(text, data + 1, size - 1);
    if (data[0] % 4) {
        check_lecture(text, size - 1);
    } else {
        text[size - 1] = 0;
        check_claim(&(LectureExpression){text, {1, 1}});
    }
    free(text);
    return 0;
}
