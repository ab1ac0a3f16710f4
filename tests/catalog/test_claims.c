/* Sentences that name a cause or a cost: each has a claim that holds, or a reason why there is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "claims.h"
#include "facts.h"
#include "sentences.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Row { /* of claims_*.def (why NULL) or of no_claims.def */
    const char *where, *sentence, *why;
} Row;

static const Row rows[] = {
#define CLAIM(where, sentence, holds)  {where, sentence, NULL},
#define NO_CLAIM(where, sentence, why) {where, sentence, why},
#include "claims_catalogue.def"
#include "claims_documents.def"
#include "claims_kernels.def"
#include "no_claims.def"
#undef CLAIM
#undef NO_CLAIM
};

static Sentences sentences;
static int failures;

static void complain(const char *what, const char *where, const char *sentence, const char *more) {
    print_error("%s: %s: \"%s\"\n%s", what, where, sentence, more);
    failures++;
}

static const Sentence *find_sentence(const Row *row) {
    for (size_t i = 0; i < sentences.count; i++)
        if (!strcmp(sentences.items[i].where, row->where) && !strcmp(sentences.items[i].text, row->sentence))
            return &sentences.items[i];
    return NULL;
}

static void every_claim_has_its_sentence(void **state) {
    (void)state;
    failures = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!find_sentence(&rows[i]))
            complain("no such sentence", rows[i].where, rows[i].sentence,
                     "    it has changed: change its claim\n");
    assert_int_equal(failures, 0);
}

static void expect(bool holds, const char *where, const char *sentence, const char *expression) {
    Text more = {0};
    text_print(&more, "    %s\n%s", expression, claims_values());
    if (!holds) complain("does not hold", where, sentence, text_string(&more));
    text_done(&more);
}

#define CLAIM(where, sentence, holds)                                                                        \
    claims_begin();                                                                                          \
    expect(holds, where, sentence, #holds);

static void claims_of_the_catalogue_hold(void **state) {
    (void)state;
    failures = 0;
#include "claims_catalogue.def"
    assert_int_equal(failures, 0);
}

static void claims_of_kernels_hold(void **state) {
    (void)state;
    failures = 0;
#include "claims_kernels.def"
    assert_int_equal(failures, 0);
}

static void claims_of_documents_hold(void **state) {
    (void)state;
    failures = 0;
#include "claims_documents.def"
    assert_int_equal(failures, 0);
}
#undef CLAIM

/* A row of the table: the kernel, then three columns for each of three sizes: alone, scalar, warm. Returns how many
 * of them are times. */
static int compare_row(char *line, const char *type) {
    static const int sizes[] = {20, 24, 28};
    char *rest = NULL, *kernel = strtok_r(line, " ", &rest);
    int compared = 0;
    for (int i = 0; i < 9; i++) {
        char *end, *word = strtok_r(NULL, " ", &rest);
        if (!word) fail_msg("%s has %d columns", kernel, i);
        if (!strcmp(word, "-")) continue;
        double shown = strtod(word, &end), half_a_digit = strchr(word, '.') ? 0.0501 : 0.501;
        double time = TIME(kernel, type, sizes[i / 3], i % 3 ? SCALAR : ALONE, i % 3 == 2 ? WARM : COLD);
        if (fabs(time - shown) > half_a_digit)
            complain("another time was recorded", kernel, word, claims_values());
        claims_begin();
        compared++;
    }
    return compared;
}

static void the_table_of_times_was_recorded(void **state) {
    (void)state;
    char *text, *rest = NULL, type[16] = "";
    size_t length;
    int compared = 0;
    Error error = {0};
    if (!text_read_file("assets/h200/README.md", 1 << 20, &text, &length, &error))
        fail_msg("%s", error.message);
    char *table = strstr(text, "```\n"), *end = table ? strstr(table + 4, "```") : NULL;
    if (!end) fail_msg("no table stands in assets/h200/README.md");
    *end = 0;
    failures = 0;
    claims_begin();
    for (char *line = strtok_r(table + 4, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (strstr(line, "n = 2^20"))
            sscanf(line, "%15s", type);
        else if (*line != ' ')
            compared += compare_row(line, type);
    }
    free(text);
    assert_int_equal(failures, 0);
    assert_true(compared > 300);
}

static bool has_row(const Sentence *sentence) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].where, sentence->where) && !strcmp(rows[i].sentence, sentence->text)) return true;
    return false;
}

static void every_sentence_of_a_cost_has_a_claim(void **state) {
    (void)state;
    failures = 0;
    for (size_t i = 0; i < sentences.count; i++) {
        const char *word = sentence_cost_word(&sentences.items[i]);
        Text more = {0};
        text_print(&more, "    it says '%s': give it a row in tests/catalog/claims_*.def\n",
                   word ? word : "");
        if (word && !has_row(&sentences.items[i]))
            complain("no claim", sentences.items[i].where, sentences.items[i].text, text_string(&more));
        text_done(&more);
    }
    assert_int_equal(failures, 0);
}

/* A reason stands for a sentence that needs one. */
static void no_reason_is_idle(void **state) {
    (void)state;
    failures = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Sentence *sentence = rows[i].why ? find_sentence(&rows[i]) : NULL;
        if (sentence && !sentence_cost_word(sentence))
            complain("no word of costs", rows[i].where, rows[i].sentence, "    it needs no reason\n");
    }
    assert_int_equal(failures, 0);
}

static int read_sentences(void **state) {
    (void)state;
    sentences_read(&sentences);
    return 0;
}

static int forget(void **state) {
    (void)state;
    sentences_done(&sentences);
    claims_done();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_claim_has_its_sentence),
        cmocka_unit_test(claims_of_the_catalogue_hold),
        cmocka_unit_test(claims_of_kernels_hold),
        cmocka_unit_test(claims_of_documents_hold),
        cmocka_unit_test(the_table_of_times_was_recorded),
        cmocka_unit_test(every_sentence_of_a_cost_has_a_claim),
        cmocka_unit_test(no_reason_is_idle),
    };
    return cmocka_run_group_tests(tests, read_sentences, forget);
}
