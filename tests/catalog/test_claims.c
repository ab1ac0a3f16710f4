/* Sentences that name a cost, and measurements: the claims of claims_*.def hold, and their sentences still
 * exist. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "catalog/catalog.h"
#include "claims.h"
#include "facts.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Row {
    const char *where, *sentence;
} Row;

static const Row rows[] = {
#define CLAIM(where, sentence, holds) {where, sentence},
#include "claims_catalogue.def"
#include "claims_documents.def"
#include "claims_kernels.def"
#undef CLAIM
};

static int failures;

static void complain(const char *what, const char *where, const char *sentence, const char *more) {
    print_error("%s: %s: \"%s\"\n%s", what, where, sentence, more);
    failures++;
}

/* ---- the sentences exist at their places
 * ----------------------------------------------------------------- */

/* Letters and digits only: line breaks, comment marks and quotes do not matter. */
static void keep_letters(const char *text, Text *letters) {
    for (; *text; text++)
        if (isalnum((unsigned char)*text)) text_add_bytes(letters, text, 1);
}

/* "atomic: lesson", a field of the catalogue; NULL: `where` is not such a field. */
static const char *find_field(const char *where) {
    const char *colon = strstr(where, ": ");
    for (int i = 0; colon && i < catalog_count(); i++) {
        const CatalogRow *row = catalog_row(i);
        if (strlen(row->id) != (size_t)(colon - where) || strncmp(row->id, where, strlen(row->id)) != 0)
            continue;
        return !strcmp(colon + 2, "title")    ? row->title
               : !strcmp(colon + 2, "story")  ? row->story
               : !strcmp(colon + 2, "lesson") ? row->lesson
               : !strcmp(colon + 2, "watch")  ? row->watch
                                              : NULL;
    }
    return NULL;
}

static bool stands(const Row *row) {
    Text sentence = {0}, all = {0};
    const char *field = find_field(row->where);
    char *file = NULL;
    size_t length;
    Error error = {0};
    if (!field && !text_read_file(row->where, 1 << 22, &file, &length, &error)) return false;
    keep_letters(row->sentence, &sentence);
    keep_letters(field ? field : file, &all);
    bool found = strstr(text_string(&all), text_string(&sentence)) != NULL;
    text_done(&sentence);
    text_done(&all);
    free(file);
    return found;
}

static void every_claim_has_its_sentence(void **state) {
    (void)state;
    failures = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!stands(&rows[i]))
            complain("no such sentence", rows[i].where, rows[i].sentence,
                     "    it has changed: change its claim\n");
    assert_int_equal(failures, 0);
}

/* ---- the claims hold ----------------------------------------------------------------------------------- */

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

/* A row of the table: the kernel, then three columns for each of three sizes: alone, scalar, warm. Returns
 * how many of them are times. */
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

static int forget(void **state) {
    (void)state;
    claims_done();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_claim_has_its_sentence),    cmocka_unit_test(claims_of_the_catalogue_hold),
        cmocka_unit_test(claims_of_kernels_hold),          cmocka_unit_test(claims_of_documents_hold),
        cmocka_unit_test(the_table_of_times_was_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, forget);
}
