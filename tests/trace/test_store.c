/* Session files as their readers and writers meet them (trace/store.h): rows by the names of schema.def,
 * in any order, and whoever forgets a column, or takes one for another, is stopped. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/store.h"
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[64];

static int make_path(void **state) {
    (void)state;
    snprintf(path, sizeof path, "/tmp/redviz-store-%d.redviz", (int)getpid());
    return 0;
}

static int remove_path(void **state) {
    (void)state;
    return unlink(path);
}

/* ---- rows ------------------------------------------------------------------------------------------------ */

static Store *create(void) {
    Error error = {0};
    Store *store = store_create(path, 0, &error);
    if (!store) fail_msg("%s", error.message);
    return store;
}

static void put_measured(Store *store) { /* not in the order of the table */
    store_begin_row(store, TABLE_measured);
    store_put_real(store, COLUMN_measured_predicted, (double)NAN);
    store_put_text(store, COLUMN_measured_label, "wavefronts");
    store_put_text(store, COLUMN_measured_metric, "l1tex");
    store_put_text(store, COLUMN_measured_note, NULL);
    store_put_real(store, COLUMN_measured_value, 2.5);
    store_put_text(store, COLUMN_measured_machine, "NVIDIA H200");
    store_put_integer(store, COLUMN_measured_launch, 3);
    store_end_row(store);
}

static void write_file(void) {
    Error error = {0};
    Store *store = create();
    store_begin_row(store, TABLE_page);
    store_put_bytes(store, COLUMN_page_bytes, "\0\1\2", 3);
    store_put_integer(store, COLUMN_page_events, 7);
    store_end_row(store);
    put_measured(store);
    if (!store_finish(store, &error)) fail_msg("%s", error.message);
}

static Store *open_file(void) {
    Error error = {0};
    Store *store = store_open(path, &error);
    if (!store) fail_msg("%s", error.message);
    return store;
}

static void rows_are_read_by_name(void **state) {
    (void)state;
    Error error = {0};
    Arena arena = {0};
    size_t length;
    write_file();
    Store *store = open_file();
    store_begin_table(store, TABLE_page);
    assert_true(store_next_row(store));
    assert_int_equal(store_integer(store, COLUMN_page_events, 0, 10), 7);
    const uint8_t *bytes = store_bytes(store, COLUMN_page_bytes, &length);
    assert_int_equal(length, 3);
    assert_memory_equal(bytes, "\0\1\2", 3);
    assert_false(store_next_row(store));
    store_begin_table(store, TABLE_measured);
    assert_true(store_next_row(store));
    assert_string_equal(store_name(store, COLUMN_measured_machine, &arena), "NVIDIA H200");
    assert_null(store_name(store, COLUMN_measured_note, &arena));
    assert_true(store_real(store, COLUMN_measured_value) == 2.5);
    assert_true(isnan(store_real(store, COLUMN_measured_predicted)));
    assert_int_equal(store_word(store, COLUMN_measured_launch), 3);
    assert_string_equal(store_text(store, COLUMN_measured_label, &arena), "wavefronts");
    assert_string_equal(store_text(store, COLUMN_measured_metric, &arena), "l1tex");
    assert_false(store_next_row(store));
    if (!store_close(store, &error)) fail_msg("%s", error.message);
    arena_done(&arena);
}

/* What is out of range is an error of the file, and what is read from then on the least that is allowed. */
static void wrong_values_are_complained_about(void **state) {
    (void)state;
    Error error = {0};
    Arena arena = {0};
    size_t length;
    write_file();
    Store *store = open_file();
    store_begin_table(store, TABLE_page);
    assert_true(store_next_row(store));
    assert_int_equal(store_integer(store, COLUMN_page_events, 1, 6), 1);
    assert_true(store_failed(store));
    store_bytes(store, COLUMN_page_bytes, &length);
    assert_int_equal(length, 0);
    store_begin_table(store, TABLE_measured);
    assert_false(store_next_row(store));
    assert_string_equal(store_name(store, COLUMN_measured_label, &arena), "");
    assert_false(store_close(store, &error));
    assert_non_null(strstr(error.message, "column events is 7 (table page, row 0)"));
    arena_done(&arena);
}

/* ---- mistakes of ours ----------------------------------------------------------------------------------- */

static void forget_a_column(void) {
    Store *store = create();
    store_begin_row(store, TABLE_page);
    store_put_integer(store, COLUMN_page_events, 7);
    store_end_row(store);
}

static void put_into_another_table(void) {
    Store *store = create();
    store_begin_row(store, TABLE_page);
    store_put_integer(store, COLUMN_block_events, 7);
}

static void put_another_type(void) {
    Store *store = create();
    store_begin_row(store, TABLE_page);
    store_put_text(store, COLUMN_page_events, "7");
}

static void forget_to_read(void) {
    Store *store = open_file();
    store_begin_table(store, TABLE_page);
    store_next_row(store);
    store_integer(store, COLUMN_page_events, 0, 10);
    store_next_row(store);
}

static void read_from_another_table(void) {
    Store *store = open_file();
    store_begin_table(store, TABLE_page);
    store_next_row(store);
    store_integer(store, COLUMN_block_events, 0, 10);
}

/* In a process of its own, which an assertion must end. */
static bool is_stopped(void (*mistake)(void)) {
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        if (!freopen("/dev/null", "w", stderr)) _exit(2);
        signal(SIGABRT, SIG_DFL);
        mistake();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void forgotten_columns_are_found(void **state) {
    (void)state;
    write_file();
    assert_true(is_stopped(forget_a_column));
    assert_true(is_stopped(forget_to_read));
    assert_true(is_stopped(put_into_another_table));
    assert_true(is_stopped(read_from_another_table));
    assert_true(is_stopped(put_another_type));
    assert_false(is_stopped(write_file));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_read_by_name),
        cmocka_unit_test(wrong_values_are_complained_about),
        cmocka_unit_test(forgotten_columns_are_found),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
