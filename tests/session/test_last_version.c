/* Reports and session files of the last version stay readable.
 *
 *   tests/data/reports/KERNEL.json      --kernel KERNEL --n 64 --block 64 --backend emulator --report=json
 *
 * They were written by redviz 0.1. Fields may be added, sentences may be worded
 * better, and memory be named as the source names it; slow places are ranked and counted in another way since
 * divergence is counted by its branch; nothing else may change.
 *
 * Each format that is read has a file of its own, made when the format was the current one:
 *
 *   tests/data/sessions/format_N.redviz   SOURCE_DATE_EPOCH=1700000000 redviz --kernel shuffle --n 64 --block
 *                                         64 --backend emulator --save format_N.redviz --report
 *   tests/data/sessions/format_N.json     redviz format_N.redviz --report=json, without what was counted and
 *                                         sampled in blocks of another size, which is not shown any more */
#define _DEFAULT_SOURCE
#include "ask/ask.h"
#include "tests/cli/json_reader.h"
#include "tests/cli/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/text.h"
#include "catalog/catalog.h"
#include "session/state.h"
#include "trace/store.h"
#include <stdlib.h>
#include <string.h>

/* Without a hardware counter, `measured` was null. For kernels with recorded machine code it is now an
 * object, with figures that the last version did not have, but still without a device and without
 * counters. */
static void expect_recorded_machine_code(const char *kernel, char **text) {
    static const char null_measured[] = "\"measured\":null";
    char path[256];
    Error error = {0};
    snprintf(path, sizeof path, "%s.tsv", kernel);
    char *at = strstr(*text, null_measured), place[4096];
    if (!at || !catalog_path("assets/h200/sass", path, place, sizeof place, &error)) return;
    Text changed = {0};
    text_add_bytes(&changed, *text, (size_t)(at - *text));
    text_add(&changed, "\"measured\":{\"device\":null,\"counters\":[]}");
    text_add(&changed, at + strlen(null_measured));
    free(*text);
    *text = changed.data;
}

/* The last version kept three readers of a word: earlier readers are missing from the lanes of a race. */
static void expect_all_lanes(char *text) {
    static const char *const masks[][2] = {{"0x0000ff00", "0xffffff00"}, {"0x000000ff", "0x00ffffff"},
                                           {"0x000000f0", "0xfffffff0"}, {"0x0000000f", "0x0fffffff"},
                                           {"0x0000000c", "0xfffffffc"}, {"0x00000003", "0x3fffffff"}};
    static const char key[] = "\"lanes\":\"";
    for (char *at = strstr(text, key); at; at = strstr(at + 1, key))
        for (size_t i = 0; i < sizeof masks / sizeof *masks; i++)
            if (!strncmp(at + strlen(key), masks[i][0], strlen(masks[i][0]))) {
                memcpy(at + strlen(key), masks[i][1], strlen(masks[i][1]));
                break;
            }
}

/* It printed values of an int without their sign. */
static void expect_signs(char **text) {
    static const char key[] = "\"value\":";
    Text changed = {0};
    const char *from = *text;
    for (char *at, *end; (at = strstr(from, key)); from = end) {
        unsigned long long value = strtoull(at + strlen(key), &end, 10);
        bool has_sign = value > INT32_MAX && value <= UINT32_MAX;
        if (!has_sign) end = at + strlen(key);
        text_add_bytes(&changed, from, (size_t)(end - from));
        if (!has_sign) continue;
        changed.length -= (size_t)(end - at);
        text_print(&changed, "%s%d", key, (int)(int32_t)value);
    }
    text_add(&changed, from);
    free(*text);
    *text = changed.data;
}

/* Removes the slow places: `"efficiency":[...],`. */
static void forget_slow_places(char *text) {
    char *at = strstr(text, "\"efficiency\":["), *end;
    if (!at) return;
    int depth = 0;
    for (end = strchr(at, '['); *end; end++) {
        depth += (*end == '[') - (*end == ']');
        if (!depth) break;
    }
    end += strspn(end, "],");
    memmove(at, end, strlen(end) + 1);
}

/* Keeps the first and the last hazard, a race and the wrong result: pairs of accesses of one cause are one
 * hazard now. */
static void join_races(char *text) {
    char *at = strstr(text, "\"hazards\":[{"), *first_end = NULL, *last = NULL;
    int depth = 0;
    if (!at) return;
    for (at = strchr(at, '{'); *at != ']' || depth; at++) {
        if (*at == '{' && !depth++) last = at;
        if (*at == '}' && !--depth && !first_end) first_end = at + 1;
    }
    if (last > first_end) memmove(first_end + 1, last, strlen(last) + 1);
}

static char *read_json(const char *folder, const char *kernel) {
    char path[128], *text;
    size_t length;
    Error error = {0};
    snprintf(path, sizeof path, "tests/data/%s/%s.json", folder, kernel);
    if (!text_read_file(path, 1 << 20, &text, &length, &error)) fail_msg("%s: %s", path, error.message);
    expect_recorded_machine_code(kernel, &text);
    if (!strcmp(kernel, "bug_missing_sync")) {
        expect_signs(&text);
        join_races(text);
    }
    forget_slow_places(text);
    return text;
}

static void check_contains(const char *name, const char *actual, const char *expected,
                           const char *const *prose) {
    char path[256];
    assert_true(json_valid(actual));
    assert_true(json_valid(expected));
    if (!json_contains(actual, expected, prose, path, sizeof path))
        fail_msg("%s: the JSON report has no %s any more, or another value there", name, path);
}

static const char *const KERNELS[] = {"interleaved", "bug_missing_sync", "shuffle", "two_stage"};
enum { KERNEL_COUNT = sizeof KERNELS / sizeof *KERNELS };

static void every_field_of_the_json_report_has_its_value(void **state) {
    (void)state;
    static const char *const prose[] = {"detail", "advice", "place", NULL};
    for (int i = 0; i < KERNEL_COUNT; i++) {
        char *expected = read_json("reports", KERNELS[i]);
        if (!strcmp(KERNELS[i], "bug_missing_sync")) expect_all_lanes(expected);
        Outcome now =
            program_shell("@ --kernel %s --n 64 --block 64 --backend emulator --report=json", KERNELS[i]);
        check_contains(KERNELS[i], now.out, expected, prose);
        program_outcome_done(&now);
        free(expected);
    }
}

/* A change of the format must add a file of it (see above), and every older one must still open. */
static void each_format_has_a_file(void **state) {
    (void)state;
    static const char *const no_prose[] = {NULL};
    for (int version = STORE_OLDEST_VERSION; version <= STORE_VERSION; version++) {
        char name[32], path[128], *bytes;
        size_t length;
        Error error = {0};
        snprintf(name, sizeof name, "format_%d", version);
        snprintf(path, sizeof path, "tests/data/sessions/%s.redviz", name);
        if (!text_read_file(path, 1 << 24, &bytes, &length, &error))
            fail_msg("format %d has no file: %s", version, path);
        assert_true(length > 64);
        assert_int_equal(bytes[63], version); /* the last byte of SQLite's user version */
        free(bytes);
        char *expected = read_json("sessions", name);
        Outcome now = program_shell("@ %s --report=json", path);
        assert_string_equal(now.err, "");
        check_contains(name, now.out, expected, no_prose);
        program_outcome_done(&now);
        free(expected);
    }
}

/* Saved again, they are files of this version with the same contents. */
static void session_files_can_be_saved_again(void **state) {
    (void)state;
    for (int i = STORE_OLDEST_VERSION; i <= STORE_VERSION; i++) {
        Outcome old = program_shell("@ tests/data/sessions/format_%d.redviz --events", i);
        Outcome saved = program_shell(
            "@ tests/data/sessions/format_%d.redviz --save %s/again.redviz --report", i, program_folder());
        Outcome now = program_shell("@ %s/again.redviz --events", program_folder());
        assert_string_equal(saved.err, "");
        assert_string_equal(now.err, "");
        assert_true(strlen(old.out) > 0);
        assert_string_equal(old.out, now.out);
        program_outcome_done(&old);
        program_outcome_done(&saved);
        program_outcome_done(&now);
    }
}

static void older_formats_are_refused(void **state) {
    (void)state;
    char path[300], *bytes;
    size_t length;
    Error error = {0};
    assert_true(text_read_file("tests/data/sessions/format_7.redviz", 1 << 24, &bytes, &length, &error));
    bytes[63] = STORE_OLDEST_VERSION - 1;
    snprintf(path, sizeof path, "%s/older.redviz", program_folder());
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
    free(bytes);
    assert_null(session_open(&(RunSpec){.saved = path}, &error));
    assert_string_equal(error.message,
                        "an older redviz saved this session (format 6; this one reads 7 to 13)");
}

static Session *open_saved(const char *path) {
    Error error = {0};
    Session *session = session_open(&(RunSpec){.saved = path}, &error);
    if (!session) fail_msg("%s: %s", path, error.message);
    return session;
}

/* A column that format 7 lacks: empty there, and kept from then on. */
static void new_columns_are_empty_in_old_files(void **state) {
    (void)state;
    char path[128];
    Error error = {0};
    Session *session = open_saved("tests/data/sessions/format_7.redviz");
    assert_null(session->guess.verdict.looks_like);
    session->guess.verdict.looks_like = "sum(in)";
    snprintf(path, sizeof path, "%s/alike.redviz", program_folder());
    assert_true(ask_save(session, path, &error));
    session_free(session);
    session = open_saved(path);
    assert_string_equal(session->guess.verdict.looks_like, "sum(in)");
    session_free(session);
}

/* The comparison above is strict: a different value, a missing field and a missing item are found. */
static void differences_are_found(void **state) {
    (void)state;
    static const char *const prose[] = {"said", NULL};
    static const char expected[] = "{\"a\":1,\"list\":[{\"b\":\"x\",\"said\":\"now\"},2]}";
    static const char *const cases[][2] = {
        {"{\"a\":1,\"list\":[{\"b\":\"x\",\"said\":\"then\"},2]}", NULL},
        {"{\"new\":[], \"list\":[{\"said\":\"\", \"b\":\"x\"}, 2], \"a\":1}", NULL},
        {"{\"a\":10,\"list\":[{\"b\":\"x\",\"said\":\"now\"},2]}", "a"},
        {"{\"list\":[{\"b\":\"x\",\"said\":\"now\"},2]}", "a"},
        {"{\"a\":1,\"list\":[{\"b\":\"y\",\"said\":\"now\"},2]}", "list.0.b"},
        {"{\"a\":1,\"list\":[{\"b\":\"x\",\"said\":null},2]}", "list.0.said"},
        {"{\"a\":1,\"list\":[{\"b\":\"x\"},2]}", "list.0.said"},
        {"{\"a\":1,\"list\":[{\"b\":\"x\",\"said\":\"now\"}]}", "list.1"},
        {"{\"a\":1,\"list\":[{\"b\":\"x\",\"said\":\"now\"},2,3]}", "list"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[64];
        bool same = json_contains(cases[i][0], expected, prose, path, sizeof path);
        assert_int_equal(same, !cases[i][1]);
        if (!same) assert_string_equal(path, cases[i][1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_of_the_json_report_has_its_value),
        cmocka_unit_test(each_format_has_a_file),
        cmocka_unit_test(session_files_can_be_saved_again),
        cmocka_unit_test(older_formats_are_refused),
        cmocka_unit_test(new_columns_are_empty_in_old_files),
        cmocka_unit_test(differences_are_found),
    };
    return cmocka_run_group_tests(tests, program_make_folder, program_remove_folder);
}
