/* Compares one lecture in two languages: only the prose may differ. */
#include "lecture/lecture.h"

#include <string.h>

static bool differs(const Lecture *other, LecturePlace place, Error *error, const Lecture *lecture,
                    LecturePlace original, const char *what) {
    return error_set_at(error, other->path, place.line, place.column, "%s line %d of %s", what, original.line,
                        lecture->path);
}

static bool is_same_command(const LectureStop *a, const LectureStop *b) {
    if (a->has_command != b->has_command || a->word_count != b->word_count) return false;
    for (int i = 0; i < a->word_count; i++)
        if (strcmp(a->words[i].text, b->words[i].text) != 0) return false;
    return true;
}

static bool is_same_text(const char *a, const char *b) {
    return (!a && !b) || (a && b && !strcmp(a, b));
}

/* The texts of choices are translated; the index of the right one is the same. */
static int right_choice(const LectureQuestion *question) {
    for (int i = 0; i < question->choice_count; i++)
        if (!strcmp(question->choices[i], question->value)) return i;
    return -1;
}

static bool is_same_question(const LectureQuestion *a, const LectureQuestion *b) {
    if (!a || !b) return a == b;
    return !strcmp(a->answer.text, b->answer.text) && a->choice_count == b->choice_count &&
           a->reason_count == b->reason_count && is_same_text(a->keys, b->keys) &&
           right_choice(a) == right_choice(b) && (a->choice_count || !strcmp(a->value, b->value));
}

static bool is_same_stop(const Lecture *lecture, const LectureStop *stop, const Lecture *other,
                         const LectureStop *its, Error *error) {
    if (!is_same_command(stop, its))
        return differs(other, its->has_command ? its->command_place : its->place, error, lecture,
                       stop->has_command ? stop->command_place : stop->place,
                       "the block ```redviz of this stop is not that of");
    if (!is_same_question(stop->question, its->question))
        return differs(other, its->question ? its->question->place : its->place, error, lecture,
                       stop->question ? stop->question->place : stop->place,
                       "the answer of this stop is not that of");
    if (!is_same_text(stop->exercise, its->exercise))
        return differs(other, its->exercise ? its->exercise_place : its->place, error, lecture,
                       stop->exercise ? stop->exercise_place : stop->place,
                       "the exercise of this stop is not that of");
    for (int i = 0; i < stop->claim_count; i++)
        if (i >= its->claim_count || strcmp(stop->claims[i].text, its->claims[i].text) != 0)
            return differs(other, i < its->claim_count ? its->claims[i].place : its->place, error, lecture,
                           stop->claims[i].place, "this stop lacks the claim in");
    if (its->claim_count > stop->claim_count)
        return error_set_at(error, other->path, its->claims[stop->claim_count].place.line,
                            its->claims[stop->claim_count].place.column,
                            "%s lacks this claim in the stop of line %d", lecture->path, stop->place.line);
    return true;
}

bool lecture_is_same(const Lecture *lecture, const Lecture *other, Error *error) {
    for (int i = 0; i < lecture->stop_count && i < other->stop_count; i++)
        if (!is_same_stop(lecture, &lecture->stops[i], other, &other->stops[i], error)) return false;
    if (lecture->stop_count == other->stop_count) return true;
    const Lecture *longer = lecture->stop_count > other->stop_count ? lecture : other;
    const Lecture *shorter = longer == lecture ? other : lecture;
    LecturePlace place = longer->stops[shorter->stop_count].place;
    return error_set_at(error, longer->path, place.line, place.column, "%s lacks this stop", shorter->path);
}
