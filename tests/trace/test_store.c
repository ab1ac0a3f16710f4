/* Session files as read and written (trace/store.h): rows by the names of schema.def, in any order; a reader
 * that forgets a column, or confuses two, is stopped. */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/store.h"
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[64], folder[64];

static int make_path(void **state) {
    (void)state;
    snprintf(path, sizeof path, "/tmp/redviz-store-%d.redviz", (int)getpid());
    snprintf(folder, sizeof folder, "/tmp/redviz-store-%d", (int)getpid());
    return mkdir(folder, 0700);
}

static int remove_path(void **state) {
    (void)state;
    return unlink(path) | rmdir(folder);
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

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

/* Without an answer: not everything was read. */
static void store_free_unread(Store *store) {
    Error error = {0};
    if (!store_failed(store)) store_complain(store, "enough");
    assert_false(store_close(store, &error));
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

/* A value out of range is an error of the file, and later reads return the smallest value allowed. */
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

/* ---- files of other programs
 * ----------------------------------------------------------------------------- */

static void change(const char *sql) {
    sqlite3 *database;
    char *message = NULL;
    write_file();
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    if (sqlite3_exec(database, sql, NULL, NULL, &message) != SQLITE_OK) fail_msg("%s: %s", sql, message);
    assert_int_equal(sqlite3_close(database), SQLITE_OK);
}

/* Reads everything that write_file() wrote, and checks that at the end. */
static void expect_complaint(const char *sql, const char *complaint) {
    Error error = {0};
    static const StoreColumn texts[] = {COLUMN_measured_machine, COLUMN_measured_label,
                                        COLUMN_measured_metric, COLUMN_measured_note};
    Arena arena = {0};
    size_t length;
    change(sql);
    Store *store = open_file();
    store_begin_table(store, TABLE_page);
    while (store_next_row(store)) {
        store_integer(store, COLUMN_page_events, 0, 10);
        store_bytes(store, COLUMN_page_bytes, &length);
    }
    store_begin_table(store, TABLE_measured);
    while (store_next_row(store)) {
        store_word(store, COLUMN_measured_launch);
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) store_text(store, texts[i], &arena);
        store_real(store, COLUMN_measured_value);
        store_real(store, COLUMN_measured_predicted);
    }
    bool good = store_close(store, &error);
    arena_done(&arena);
    if (good) fail_msg("%s: it is read", sql);
    assert_string_equal(error.file, path);
    assert_string_equal(error.message, complaint);
}

static void values_of_another_type_are_complained_about(void **state) {
    (void)state;
    static const struct {
        const char *sql, *complaint;
    } cases[] = {
        {"UPDATE page SET events = 'seven'", "column events has another type (table page, row 0)"},
        {"UPDATE page SET events = 0.5", "column events has another type (table page, row 0)"},
        {"UPDATE page SET bytes = 'text'", "column bytes has another type (table page, row 0)"},
        {"UPDATE measured SET label = x'00'", "column label has another type (table measured, row 0)"},
        {"UPDATE measured SET value = x'00'", "column value has another type (table measured, row 0)"},
        {"UPDATE measured SET label = 'a' || char(0) || 'b'",
         "a text has a zero in it (table measured, row 0)"},
        {"UPDATE page SET id = 1", "it is number 1 (table page, row 0)"},
        {"UPDATE page SET events = 8", "its checksum does not fit what is in it (table seal, row 0)"},
        {"UPDATE page SET bytes = x'000103'", "its checksum does not fit what is in it (table seal, row 0)"},
        {"UPDATE measured SET label = 'Wavefronts'",
         "its checksum does not fit what is in it (table seal, row 0)"},
        {"UPDATE measured SET note = ''", "its checksum does not fit what is in it (table seal, row 0)"},
        {"UPDATE measured SET value = 2.25", "its checksum does not fit what is in it (table seal, row 0)"},
        {"UPDATE measured SET predicted = 2.25",
         "its checksum does not fit what is in it (table seal, row 0)"},
        {"DELETE FROM measured", "its checksum does not fit what is in it (table seal, row 0)"},
        {"DELETE FROM seal", "it has no checksum"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char complaint[160];
        snprintf(complaint, sizeof complaint, "this session is damaged: %s", cases[i].complaint);
        expect_complaint(cases[i].sql, complaint);
    }
}

static void expect_refused(const char *from, const char *message) {
    Error error = {0};
    Store *store = store_open(from, &error);
    if (store) fail_msg("%s is opened", from);
    if (strcmp(error.message, message) != 0) fail_msg("'%s' instead of '%s'", error.message, message);
}

static void files_that_cannot_be_read(void **state) {
    (void)state;
    char from[PATH_MAX + 2], message[160], sql[40];
    write_file();
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    for (int cut = 1; cut <= 4096; cut += 4095) {
        write_file();
        assert_int_equal(truncate(path, status.st_size - cut), 0);
        snprintf(message, sizeof message, "this session is damaged: %lld of its %lld bytes are here",
                 (long long)status.st_size - cut, (long long)status.st_size);
        expect_refused(path, message);
    }
    for (int left = 0; left < 100; left += 33) {
        write_file();
        assert_int_equal(truncate(path, left), 0);
        snprintf(message, sizeof message, "this session is damaged: it ends after %d bytes", left);
        expect_refused(path, message);
    }
    expect_refused("/dev/null", "not a regular file");
    expect_refused(folder, "not a regular file");
    snprintf(from, sizeof from, "%s/pipe", folder); /* it has no writer */
    assert_int_equal(mkfifo(from, 0600), 0);
    expect_refused(from, "not a regular file");
    Error error = {0};
    assert_null(store_create(from, 0, &error));
    assert_string_equal(error.message, "cannot save: it is there and is not a regular file");
    assert_int_equal(unlink(from), 0);
    snprintf(from, sizeof from, "%s/none", folder);
    expect_refused(from, "cannot open: No such file or directory");
    memset(from, 'a', sizeof from);
    from[PATH_MAX + 1] = 0;
    expect_refused(from, "the name is too long");
    snprintf(sql, sizeof sql, "PRAGMA user_version=%d", STORE_VERSION + 1);
    change(sql);
    snprintf(message, sizeof message,
             "a newer redviz saved this session (format %d; this one reads up to %d)", STORE_VERSION + 1,
             STORE_VERSION);
    expect_refused(path, message);
    change("PRAGMA user_version=3");
    snprintf(message, sizeof message, "an older redviz saved this session (format 3; this one reads 7 to %d)",
             STORE_VERSION);
    expect_refused(path, message);
    change("PRAGMA user_version=0");
    expect_refused(path, "this session is damaged: it says that its format is 0");
    change("PRAGMA application_id=0");
    expect_refused(path, "this is a database, but not a session of redviz; --save writes one");
    change("CREATE TABLE more(id)");
    expect_refused(path, "this session is damaged: its tables are not those of a session");
}

/* ---- names of files ------------------------------------------------------------------------------------ */

static void put_file(const char *name, mode_t mode) {
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, mode);
    assert_true(file >= 0);
    close(file);
}

static bool is_there(const char *name) {
    struct stat status;
    return !lstat(name, &status);
}

/* Written and read under that name, and no file is left beside it. */
static void check_name(const char *name) {
    Error error = {0};
    Store *store = store_create(name, 0, &error);
    if (!store) fail_msg("%s: %s", name, error.message);
    put_measured(store);
    if (!store_finish(store, &error)) fail_msg("%s: %s", name, error.message);
    assert_true(is_there(name));
    store = store_open(name, &error);
    if (!store) fail_msg("%s: %s", name, error.message);
    store_begin_table(store, TABLE_measured);
    assert_true(store_next_row(store));
    assert_int_equal(store_word(store, COLUMN_measured_launch), 3);
    store_free_unread(store);
    assert_int_equal(unlink(name), 0);
}

static void names_may_hold_any_character(void **state) {
    (void)state;
    static const char *const names[] = {"a",   "with space", "100%",  "%41",      "a?mode=rw", "a#b", "a&b=c",
                                        "a:b", "it's",       "\"q\"", "\xc3\xbc", "[a-z]*",    "-x"};
    char back[PATH_MAX];
    assert_non_null(getcwd(back, sizeof back));
    assert_int_equal(chdir(folder), 0); /* names without a slash */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) check_name(names[i]);
    assert_int_equal(chdir(back), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char whole[160];
        snprintf(whole, sizeof whole, "%s/%s", folder, names[i]);
        check_name(whole);
    }
    assert_int_equal(rmdir(folder), 0); /* it is empty */
    assert_int_equal(mkdir(folder, 0700), 0);
}

static void the_longest_name_has_room_for_the_other_file(void **state) {
    (void)state;
    Error error = {0};
    for (size_t length = PATH_MAX - 34; length < PATH_MAX - 30; length++) {
        char name[PATH_MAX];
        for (size_t i = 0; i < length; i++) name[i] = i % 100 ? 'x' : '/';
        name[length] = 0;
        assert_null(store_create(name, 0, &error));
        assert_string_equal(error.message, length + 32 < PATH_MAX
                                               ? "cannot save here: No such file or directory"
                                               : "cannot save: the name is too long");
    }
}

/* Files left by a killed program are removed; those of a running program, and files with other names, are
 * not. */
static void left_files_are_removed(void **state) {
    (void)state;
    static const struct {
        const char *ending;
        bool is_left;
    } files[] = {{".saving-abcdef", false}, {".saving-a1B2c3", false}, {".saving-abcde", true},
                 {".saving-abcdefg", true}, {".Saving-abcdef", true},  {"x.saving-abcdef", true},
                 {".saving-locked", true}};
    enum { FILES = sizeof files / sizeof *files };
    char names[FILES][96];
    int locked = -1;
    for (int i = 0; i < FILES; i++) {
        snprintf(names[i], sizeof names[i], "%s%s", path, files[i].ending);
        put_file(names[i], 0600);
        if (strstr(names[i], "locked")) {
            locked = open(names[i], O_RDONLY);
            assert_int_equal(flock(locked, LOCK_EX), 0);
        }
    }
    write_file();
    for (int i = 0; i < FILES; i++) {
        if (is_there(names[i]) != files[i].is_left) fail_msg("%s", names[i]);
        unlink(names[i]);
    }
    close(locked);
}

/* A new file has the default mode, an existing one keeps its own. */
static void modes_are_kept(void **state) {
    (void)state;
    struct stat status;
    mode_t before = umask(027);
    unlink(path);
    write_file();
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0640);
    assert_int_equal(chmod(path, 0604), 0);
    write_file();
    umask(before);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0604);
}

/* In a process of its own, whose limits it may lower; `run` ends it with _exit(). */
static void expect_success_of(void (*run)(const char *name), const char *name) {
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) run(name);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Without space, the old file stays, and no file is left beside it. */
static void fill_the_disk(const char *name) {
    static const char bytes[4096];
    Error error = {0};
    struct rlimit limit = {.rlim_cur = 200000, .rlim_max = 200000};
    signal(SIGXFSZ, SIG_IGN);
    Store *store = store_create(name, 0, &error);
    if (!store || setrlimit(RLIMIT_FSIZE, &limit)) _exit(2);
    for (int i = 0; i < 2000 && !store_failed(store); i++) {
        store_begin_row(store, TABLE_page);
        store_put_bytes(store, COLUMN_page_bytes, bytes, sizeof bytes);
        store_put_integer(store, COLUMN_page_events, i);
        store_end_row(store);
    }
    if (store_finish(store, &error)) _exit(3);
    _exit(strncmp(error.message, "cannot save: ", strlen("cannot save: ")) ? 4 : 0);
}

static void a_full_disk_changes_nothing(void **state) {
    (void)state;
    char name[96];
    snprintf(name, sizeof name, "%s/full", folder);
    put_file(name, 0600);
    expect_success_of(fill_the_disk, name);
    struct stat old;
    assert_int_equal(stat(name, &old), 0);
    assert_int_equal(old.st_size, 0);
    assert_int_equal(unlink(name), 0);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(mkdir(folder, 0700), 0);
}

/* At the limit of open files, the old file stays, and no file is left beside it. */
static void open_with_few_files(const char *name) {
    Error error = {0};
    int next = dup(0);
    struct rlimit limit = {.rlim_cur = (rlim_t)next + 1, .rlim_max = (rlim_t)next + 1};
    if (next < 0 || close(next) || setrlimit(RLIMIT_NOFILE, &limit)) _exit(2);
    if (store_create(name, 0, &error)) _exit(3);
    _exit(error.message[0] ? 0 : 4);
}

static void a_file_that_cannot_be_opened_leaves_none(void **state) {
    (void)state;
    char name[96];
    snprintf(name, sizeof name, "%s/full", folder);
    put_file(name, 0600);
    expect_success_of(open_with_few_files, name);
    assert_int_equal(unlink(name), 0);
    assert_int_equal(rmdir(folder), 0); /* it is empty */
    assert_int_equal(mkdir(folder, 0700), 0);
}

/* Large files have large pages. */
static void pages_are_as_large_as_the_file(void **state) {
    (void)state;
    static const uint64_t sizes[] = {0, 8 << 20, (8 << 20) + 1};
    for (int i = 0; i < 3; i++) {
        Error error = {0};
        uint8_t header[18];
        Store *store = store_create(path, sizes[i], &error);
        assert_non_null(store);
        put_measured(store);
        assert_true(store_finish(store, &error));
        FILE *file = fopen(path, "rb");
        assert_int_equal(fread(header, 1, sizeof header, file), sizeof header);
        fclose(file);
        assert_int_equal(header[16] << 8 | header[17], i < 2 ? 4096 : 1); /* 1: 65536 */
        store_free_unread(open_file());
    }
}

/* Files of earlier versions must still fit. */
static void checksums_stay_what_they_are(void **state) {
    (void)state;
    static const char text[] = "0123456789abcdefg";
    for (size_t a = 0; a < sizeof text; a++)
        for (size_t b = 0; b < a; b++) assert_true(store_checksum(text, a) != store_checksum(text, b));
    static const uint64_t expected[] = {UINT64_C(0x0000000000000000), UINT64_C(0xbc1f19efac362fd4),
                                        UINT64_C(0x7783de9614daa85d), UINT64_C(0xb65212fa21d06c82),
                                        UINT64_C(0xe1b29a52abfb7be2), UINT64_C(0xaaf54918f7dc7821)};
    static const size_t lengths[] = {0, 1, 7, 8, 9, 17};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        if (store_checksum(text, lengths[i]) != expected[i])
            fail_msg("%zu bytes: 0x%016llx", lengths[i],
                     (unsigned long long)store_checksum(text, lengths[i]));
}

/* ---- errors of the program
 * ------------------------------------------------------------------------------- */

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
        cmocka_unit_test(values_of_another_type_are_complained_about),
        cmocka_unit_test(files_that_cannot_be_read),
        cmocka_unit_test(names_may_hold_any_character),
        cmocka_unit_test(the_longest_name_has_room_for_the_other_file),
        cmocka_unit_test(left_files_are_removed),
        cmocka_unit_test(modes_are_kept),
        cmocka_unit_test(a_full_disk_changes_nothing),
        cmocka_unit_test(a_file_that_cannot_be_opened_leaves_none),
        cmocka_unit_test(pages_are_as_large_as_the_file),
        cmocka_unit_test(checksums_stay_what_they_are),
        cmocka_unit_test(forgotten_columns_are_found),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
