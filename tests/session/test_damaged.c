/* Session files with faults: truncated, with flipped bits, from another program, from a newer redviz, and
 * forged (rows that contradict each other under a valid checksum). Each is refused with one line, or opens as
 * a session that answers every question: never a crash, never a hang. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "ask/ask.h"
#include "tests/session/captured_program.h"
#include "trace/store.h"
#include "tui/app.h"
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static char folder[] = "/tmp/redviz-damaged-XXXXXX";
static char whole[64], broken[64]; /* files: a valid session, and its damaged copy */
static char *bytes;                /* of the valid one */
static size_t length;
static Text answers, shorter; /* of the valid one: to all questions; report and events */

/* ---- questions ----------------------------------------------------------------------------------------- */

static Session *open_file(const char *path, Error *error) {
    *error = (Error){0};
    return session_open(&(RunSpec){.saved = path}, error);
}

static void print_events(Session *session, Text *out) {
    FILE *file = tmpfile();
    assert_non_null(file);
    session_events(session, file);
    long size = ftell(file);
    char *text = malloc((size_t)size + 1);
    rewind(file);
    assert_int_equal(fread(text, 1, (size_t)size, file), (size_t)size);
    text_add_bytes(out, text, (size_t)size);
    free(text);
    fclose(file);
}

static void ask_shortly(Session *session, Text *out) {
    ask_report(session, true, out);
    print_events(session, out);
}

/* Reports, events, and every pane at several places. */
static void ask(Session *session, Text *out) {
    static const char *const keys[] = {"", "]]rt", "GRtt", "nzvV", "dzVVVu", "bzs", "P", "e7xi?"};
    ask_shortly(session, out);
    ask_report(session, false, out);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        Error error = {0};
        AppStart start = {.keys = keys[i]};
        if (!app_frame(session, 150, 48, &start, out, &error)) text_add(out, error.message);
    }
    for (int i = 0; i < session_trace(session)->buffer_count; i++) {
        Error error = {0};
        FILE *file = fopen("/dev/null", "w");
        session_dump(session, session_trace(session)->buffers[i].name, file, &error);
        text_add(out, error.message);
        fclose(file);
    }
}

static void write_file(const char *path, const char *data, size_t count) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static void check_message(const Error *error) {
    if (!error->message[0] || strchr(error->message, '\n') || strcmp(error->file, broken) != 0)
        fail_msg("'%s': '%s'", error->file, error->message);
}

static void check_refused(const char *data, size_t count, const char *says) {
    Error error;
    write_file(broken, data, count);
    Session *session = open_file(broken, &error);
    if (session || !strstr(error.message, says)) fail_msg("'%s' instead of '%s'", error.message, says);
    check_message(&error);
}

/* Refused, or answers exactly as before. */
static bool check_harmless(const char *data, size_t count) {
    Error error;
    Text said = {0};
    write_file(broken, data, count);
    Session *session = open_file(broken, &error);
    if (!session) {
        check_message(&error);
        return false;
    }
    ask_shortly(session, &said);
    assert_string_equal(text_string(&said), text_string(&shorter));
    text_done(&said);
    session_free(session);
    return true;
}

static int make_session(void **state) {
    (void)state;
    Error error = {0};
    if (!mkdtemp(folder)) return -1;
    snprintf(whole, sizeof whole, "%s/whole.redviz", folder);
    snprintf(broken, sizeof broken, "%s/broken.redviz", folder);
    RunSpec options = {.kernel = "shuffle_last_warp", .catalog = {.n = 700, .block = 128}, .threads = 1};
    Session *session = session_open(&options, &error);
    if (!session || !ask_save(session, whole, &error)) return -1;
    ask(session, &answers);
    ask_shortly(session, &shorter);
    session_free(session);
    return text_read_file(whole, 1 << 24, &bytes, &length, &error) ? 0 : -1;
}

static int remove_session(void **state) {
    char command[96];
    (void)state;
    free(bytes);
    text_done(&answers), text_done(&shorter);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* ---- damage -------------------------------------------------------------------------------------------- */

static bool is_slow(void) {
    return getenv("REDVIZ_TEST_QUICK") != NULL;
}

static void the_good_one_answers(void **state) {
    (void)state;
    Error error;
    Text again = {0};
    Session *session = open_file(whole, &error);
    assert_non_null(session);
    ask(session, &again);
    assert_string_equal(text_string(&again), text_string(&answers));
    session_free(session);
    text_done(&again);
}

static void cut_short(void **state) {
    (void)state;
    assert_true(length > 40000);
    check_refused(bytes, 0, "this session is damaged: it ends after 0 bytes");
    check_refused(bytes, 50, "this session is damaged: it ends after 50 bytes");
    check_refused(bytes, 100, "this session is damaged: 100 of its ");
    for (size_t count = 1; count < length; count += count < 300 ? 1 : 997) check_refused(bytes, count, "");
    char *more = calloc(2, length);
    memcpy(more, bytes, length);
    assert_true(check_harmless(more, length + 5000)); /* bytes after the end are not read */
    free(more);
}

/* Single bits, and bytes that change completely. */
static void flipped_bits(void **state) {
    (void)state;
    size_t stride = is_slow() ? 997 : 53;
    int refused = 0, tried = 0;
    for (size_t at = 0; at < length; at += at < 200 ? 1 : stride, tried++) {
        char before = bytes[at];
        bytes[at] = (char)(before ^ (tried % 3 ? 1 << tried % 8 : 0xff));
        refused += !check_harmless(bytes, length);
        bytes[at] = before;
    }
    assert_true(refused > tried / 4); /* the others are holes in pages; text of the PTX is not among them */
}

/* Pages swapped, and duplicated pages. */
static void shuffled_pages(void **state) {
    (void)state;
    enum { PAGE = 4096 };
    size_t pages = length / PAGE;
    char *copy = malloc(length);
    assert_true(pages > 10);
    for (size_t i = 1; i < pages; i += is_slow() ? 13 : 1)
        for (size_t j = 0; j < pages; j += 3) {
            if (i == j) continue;
            memcpy(copy, bytes, length);
            memcpy(copy + i * PAGE, bytes + j * PAGE, PAGE);
            check_harmless(copy, length);
        }
    free(copy);
}

/* ---- files of other programs --------------------------------------------------------------------------- */

static void run_sql(const char *path, const char *sql) {
    sqlite3 *database;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    if (sqlite3_exec(database, sql, NULL, NULL, &message) != SQLITE_OK) fail_msg("%s: %s", sql, message);
    assert_int_equal(sqlite3_close(database), SQLITE_OK);
}

static void check_sql(bool from_good, const char *sql, const char *says) {
    Error error;
    remove(broken);
    if (from_good) write_file(broken, bytes, length);
    run_sql(broken, sql);
    Session *session = open_file(broken, &error);
    if (session || !strstr(error.message, says))
        fail_msg("%s: '%s' instead of '%s'", sql, error.message, says);
    check_message(&error);
}

static void files_of_others(void **state) {
    (void)state;
    static const char ptx[] = ".version 7.0\n.target sm_75\n", magic[] = "SQLite format 3";
    check_refused(ptx, sizeof ptx - 1, "this is not a session of redviz");
    check_refused(magic, sizeof magic, "it ends after 16 bytes");
    check_sql(false, "CREATE TABLE session(id INTEGER PRIMARY KEY, ptx TEXT)",
              "a database, but not a session of redviz");
    char sql[64], says[96];
    snprintf(sql, sizeof sql, "PRAGMA user_version=%d", STORE_VERSION + 1);
    snprintf(says, sizeof says, "a newer redviz saved this session (format %d; this one reads up to %d)",
             STORE_VERSION + 1, STORE_VERSION);
    check_sql(true, sql, says);
    snprintf(says, sizeof says, "an older redviz saved this session (format 1; this one reads 7 to %d)",
             STORE_VERSION);
    check_sql(true, "PRAGMA user_version=1", says);
    check_sql(true, "PRAGMA user_version=7", "its tables are not those of a session");
    check_sql(true, "PRAGMA user_version=0", "it says that its format is 0");
    check_sql(true, "PRAGMA user_version=-1", "a newer redviz");
    check_sql(true, "PRAGMA application_id=7", "a database, but not a session of redviz");
    Error error;
    assert_null(open_file("/tmp", &error));
    assert_non_null(strstr(error.message, "not a regular file"));
    assert_null(open_file("/dev/zero", &error));
    assert_non_null(strstr(error.message, "not a regular file"));
}

/* Only our tables, as we create them: anything added could run when a table is read. */
static void schemas_of_others(void **state) {
    (void)state;
    static const char *const changes[] = {
        "CREATE TRIGGER t AFTER INSERT ON seal BEGIN SELECT 1; END",
        "CREATE VIEW v AS SELECT * FROM session",
        "CREATE INDEX i ON page(events)",
        "CREATE TABLE more(id INTEGER)",
        "DROP TABLE timing",
        "ALTER TABLE session ADD COLUMN more TEXT",
        ("DROP TABLE seal; CREATE VIEW seal AS WITH RECURSIVE n(id) AS (SELECT 0 UNION ALL SELECT id + 1 "
         "FROM n) SELECT id, id AS checksum FROM n"),
        "DROP TABLE seal; CREATE TABLE seal(id INTEGER PRIMARY KEY, checksum INTEGER CHECK(checksum <> 5))",
        "DROP TABLE seal; CREATE TABLE seal(id INTEGER PRIMARY KEY, checksum AS (id + 1))",
        ("DROP TABLE seal; CREATE TABLE seal(id INTEGER PRIMARY KEY, checksum INTEGER NOT NULL DEFAULT "
         "'--\n')"),
        "DROP TABLE seal; CREATE TABLE seal(id INTEGER PRIMARY KEY, checksum INTEGER NOT NULL /*--*/\n)",
        "DROP TABLE seal; CREATE TABLE seal(id INTEGER PRIMARY KEY, checksum INTEGERNOT NULL)",
        "DROP TABLE seal; CREATE TABLE seal(checksum INTEGER NOT NULL, id INTEGER PRIMARY KEY)"};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        check_sql(true, changes[i], "its tables are not those of a session");
    check_sql(true, "PRAGMA encoding='UTF-16'; DELETE FROM seal", "it has no checksum");
    check_sql(true, "DELETE FROM page WHERE id = 0", "this session is damaged");
    check_sql(true, "UPDATE session SET n = n + 1", "its checksum does not fit");
    check_sql(true, "UPDATE session SET ptx_file = 'x'", "its checksum does not fit");
}

/* Comments of a schema are for readers: another version may have other wording. */
static void schemas_with_other_comments(void **state) {
    (void)state;
    Error error;
    write_file(broken, bytes, length);
    run_sql(
        broken,
        "CREATE TABLE copy AS SELECT * FROM seal; DROP TABLE seal; "
        "CREATE TABLE seal ( id INTEGER  PRIMARY KEY, -- it's \"quoted\" /* here\n checksum INTEGER NOT NULL"
        " -- the end\n ); INSERT INTO seal SELECT * FROM copy; DROP TABLE copy");
    Session *session = open_file(broken, &error);
    if (!session) fail_msg("%s", error.message);
    session_free(session);
}

/* Journals beside the file belong to others, and are not rolled back into it; no file is left beside it. */
static void what_lies_beside_it(void **state) {
    (void)state;
    char path[96], command[256];
    Error error;
    static const char *const endings[] = {"-journal", "-wal", "-shm"};
    write_file(broken, bytes, length);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        snprintf(path, sizeof path, "%s%s", broken, endings[i]);
        write_file(path, bytes + 4096, 9000);
    }
    Session *session = open_file(broken, &error);
    if (!session) fail_msg("%s", error.message);
    session_free(session);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        snprintf(path, sizeof path, "%s%s", broken, endings[i]);
        assert_int_equal(remove(path), 0);
    }
    run_sql(broken, "PRAGMA journal_mode=WAL");
    session = open_file(broken, &error);
    if (!session) fail_msg("%s", error.message);
    session_free(session);
    snprintf(command, sizeof command, "ls %s | grep -q 'broken.redviz-'", folder);
    assert_int_not_equal(system(command), 0);
}

/* ---- forged files -------------------------------------------------------------------------------------- */

static const char *const table_names[] = {
#define TABLE(name, comment) #name,
#define COLUMN(table, name, type, comment)
#define COLUMN_SINCE(version, table, name, type, comment)
#include "trace/schema.def"
#undef TABLE
#undef COLUMN
#undef COLUMN_SINCE
};
enum { TABLE_COUNT = sizeof table_names / sizeof *table_names, SEAL = TABLE_COUNT - 1 };

static uint64_t random_state;

static uint64_t random_number(uint64_t below) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

static sqlite3_stmt *prepared(sqlite3 *database, const char *format, ...) {
    char sql[256];
    sqlite3_stmt *statement;
    va_list list;
    va_start(list, format);
    vsnprintf(sql, sizeof sql, format, list);
    va_end(list);
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(database));
    return statement;
}

/* One word of the checksum, as in store.c. */
static uint64_t mixed(uint64_t sum, uint64_t word) {
    sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
    return sum ^ sum >> 29;
}

static uint64_t mixed_column(uint64_t sum, sqlite3_stmt *row, int column) {
    const char *type = sqlite3_column_decltype(row, column);
    if (!strcmp(type, "INTEGER")) return mixed(sum, (uint64_t)sqlite3_column_int64(row, column));
    if (!strcmp(type, "REAL")) {
        double value = sqlite3_column_double(row, column);
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        return mixed(sum, sqlite3_column_type(row, column) == SQLITE_NULL ? 0x7ff8000000000000u : bits);
    }
    const void *data = sqlite3_column_blob(row, column);
    size_t count = (size_t)sqlite3_column_bytes(row, column);
    if (!strcmp(type, "TEXT")) sum = mixed(sum, sqlite3_column_type(row, column) != SQLITE_NULL);
    return mixed(sum, store_checksum(count ? data : "", count));
}

/* Makes the checksum valid again. */
static void seal(sqlite3 *database) {
    uint64_t sum = 0;
    for (int t = 0; t < SEAL; t++) {
        sqlite3_stmt *row = prepared(database, "SELECT * FROM %s ORDER BY id", table_names[t]);
        while (sqlite3_step(row) == SQLITE_ROW)
            for (int i = 1; i < sqlite3_column_count(row); i++) sum = mixed_column(sum, row, i);
        sqlite3_finalize(row);
    }
    sqlite3_stmt *update = prepared(database, "UPDATE seal SET checksum = %lld", (long long)sum);
    assert_int_equal(sqlite3_step(update), SQLITE_DONE);
    sqlite3_finalize(update);
}

/* A file with this change and a valid checksum. */
static void forge(const char *sql) {
    sqlite3 *database;
    write_file(broken, bytes, length);
    run_sql(broken, sql);
    assert_int_equal(sqlite3_open(broken, &database), SQLITE_OK);
    seal(database);
    assert_int_equal(sqlite3_close(database), SQLITE_OK);
}

static int64_t strange_integer(int64_t before) {
    static const int64_t strange[] = {-1,        0,          1,         2,         31,          32,
                                      33,        255,        1024,      65535,     65536,       INT32_MAX,
                                      INT32_MIN, UINT32_MAX, INT64_MAX, INT64_MIN, 0x100000000, 1 << 20,
                                      1 << 30,   4096,       3};
    switch (random_number(4)) {
    case 0:
        return (int64_t)((uint64_t)before + 1);
    case 1:
        return (int64_t)((uint64_t)before - 1);
    case 2:
        return (int64_t)random_number(100);
    default:
        return strange[random_number(sizeof strange / sizeof *strange)];
    }
}

/* Changes bits, bytes and ranges of a text or a blob. */
static void spoil(char *data, size_t count) {
    if (!count) return;
    for (uint64_t i = random_number(4) + 1; i; i--) {
        size_t at = random_number(count), from = random_number(count), run = random_number(16);
        if (at + run > count || from + run > count) run = 0;
        switch (random_number(3)) {
        case 0:
            data[at] = (char)(data[at] ^ (1 << random_number(8)));
            break;
        case 1:
            data[at] = (char)random_number(256);
            break;
        default:
            memmove(data + at, data + from, run);
        }
    }
}

static void bind_strange(sqlite3_stmt *update, sqlite3_stmt *row, int column) {
    int type = sqlite3_column_type(row, column);
    if (type == SQLITE_INTEGER) {
        sqlite3_bind_int64(update, 1, strange_integer(sqlite3_column_int64(row, column)));
    } else if (type == SQLITE_FLOAT || type == SQLITE_NULL) {
        if (random_number(2))
            sqlite3_bind_double(update, 1, random_number(2) ? 1e300 * 1e300 : -5.5);
        else
            sqlite3_bind_text(update, 1, "int", -1, SQLITE_STATIC);
    } else {
        size_t count = (size_t)sqlite3_column_bytes(row, column);
        char *copy = malloc(count + 64);
        memset(copy, 0, count + 64);
        if (count) memcpy(copy, sqlite3_column_blob(row, column), count);
        spoil(copy, count);
        if (!random_number(8)) count = random_number(count + 1);
        if (!random_number(8)) count += random_number(64);
        if (type == SQLITE_TEXT)
            sqlite3_bind_text(update, 1, copy, (int)count, SQLITE_TRANSIENT);
        else
            sqlite3_bind_blob(update, 1, copy, (int)count, SQLITE_TRANSIENT);
        free(copy);
    }
}

static int first_table; /* to be changed, of those before the seal */

/* Changes one column of one row, or deletes or duplicates a row. */
static void change(sqlite3 *database) {
    const char *table = table_names[first_table + (int)random_number((uint64_t)(SEAL - first_table))];
    sqlite3_stmt *row = prepared(database, "SELECT * FROM %s ORDER BY random() LIMIT 1", table);
    if (sqlite3_step(row) == SQLITE_ROW) {
        int64_t id = sqlite3_column_int64(row, 0);
        int column = 1 + (int)random_number((uint64_t)sqlite3_column_count(row) - 1);
        sqlite3_stmt *update =
            random_number(16) ? prepared(database, "UPDATE %s SET \"%s\" = ? WHERE id = %lld", table,
                                         sqlite3_column_name(row, column), (long long)id)
                              : prepared(database, "DELETE FROM %s WHERE id >= %lld", table, (long long)id);
        if (sqlite3_bind_parameter_count(update)) bind_strange(update, row, column);
        sqlite3_step(update); /* NOT NULL may refuse it */
        sqlite3_finalize(update);
    }
    sqlite3_finalize(row);
}

/* Every launch of the program that the file holds, if it holds one. */
static void open_launches(Session *session, Text *out) {
    const Program *program = session_spec(session)->program;
    for (int i = 0; program && i < program->capture->launch_count && i < 8; i++) {
        Error error = {0};
        RunSpec options = {.program = program, .launch = i, .threads = 1, .instruction_budget = 100000};
        Session *opened = session_open(&options, &error);
        if (!opened && (!error.message[0] || strchr(error.message, '\n'))) fail_msg("'%s'", error.message);
        if (opened) ask_report(opened, true, out);
        session_free(opened);
    }
}

/* Whether the file was accepted. */
static bool deceive(uint64_t seed) {
    Error error;
    sqlite3 *database;
    random_state = seed * 0x9e3779b97f4a7c15u + 1;
    write_file(broken, bytes, length);
    assert_int_equal(sqlite3_open(broken, &database), SQLITE_OK);
    sqlite3_exec(database, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN", NULL, NULL, NULL);
    for (uint64_t i = random_number(3) + 1; i; i--) change(database);
    seal(database);
    sqlite3_exec(database, "COMMIT", NULL, NULL, NULL);
    assert_int_equal(sqlite3_close(database), SQLITE_OK);
    Session *session = open_file(broken, &error);
    if (!session) {
        check_message(&error);
        return false;
    }
    Text said = {0};
    ask(session, &said);
    open_launches(session, &said);
    assert_true(said.length > 0);
    text_done(&said);
    session_free(session);
    return true;
}

/* The checksum of the test is that of redviz: an unchanged file still opens. */
static void the_seal_can_be_made(void **state) {
    (void)state;
    Error error;
    forge("UPDATE session SET n = 77; UPDATE result SET bound = 0.25");
    Session *session = open_file(broken, &error);
    if (!session) fail_msg("%s", error.message);
    assert_int_equal(session_n(session), 77);
    session_free(session);
}

/* A forged grid on the machine (this file has none) is refused: another format, other launches. */
static void a_grid_that_cannot_be(void **state) {
    (void)state;
    static const char launch[] = "launch\tk\t7\t1\t1\t32\t1\t1\t-\t1\t1\t7\t0\t9\t1\t1\t0\t0\t1\t1\n"
                                 "blocks\t1\nb\t0,0,9 0,0,9 0,0,9 0,0,9 0,0,9 0,0,9 0,0,9\n";
    static const char head[] = "grid\tk\t7\tint\tsum\tGPU\t-\t-\t4\t1\t-\t1\n";
    const struct {
        const char *first, *second, *complaint;
    } cases[] = {{"nonsense", "", "'nonsense' is not a kind of line"},
                 {head, "", "the grid above has 0 of its 1 launches"},
                 {head, launch, "it is of other launches"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Error error;
        char *sql = sqlite3_mprintf("UPDATE session SET \"grid\" = '%q%q'", cases[i].first, cases[i].second);
        forge(sql);
        sqlite3_free(sql);
        assert_null(open_file(broken, &error));
        if (!strstr(error.message, "its grid on the machine: ") || !strstr(error.message, cases[i].complaint))
            fail_msg("'%s' does not say '%s'", error.message, cases[i].complaint);
    }
}

/* PTX that fits the events but needs more memory than exists: events can be read, values cannot. */
static void a_block_that_cannot_be(void **state) {
    (void)state;
    Error error;
    Text said = {0};
    forge("UPDATE session SET ptx = replace(replace(ptx, '.reg .pred', '.shared .align 4 .b8 "
          "big[2000000000]; .reg .pred'), '%tid.x;', 'big;')");
    Session *session = open_file(broken, &error);
    if (!session) fail_msg("%s", error.message);
    bool named = false;
    for (int pc = 0; session_ptx_line(session, 0, pc); pc++)
        named |= strstr(session_ptx_line(session, 0, pc), "big") != NULL;
    assert_true(named);
    alarm(300);
    ask(session, &said);
    assert_true(session_progress(session, 0, 0) < 0);
    assert_null(session_folds(session, 0));
    alarm(0);
    text_done(&said);
    session_free(session);
}

/* An array that is said to be larger than it can be: memory is taken for its accesses, not for its size. */
static void an_array_that_cannot_be(void **state) {
    (void)state;
    Error error;
    Text said = {0};
    struct rusage before, after;
    forge("UPDATE symbol SET bytes = 2000000000 WHERE name <> 'local'");
    Session *session = open_file(broken, &error);
    if (!session) fail_msg("%s", error.message);
    getrusage(RUSAGE_SELF, &before);
    ask(session, &said);
    getrusage(RUSAGE_SELF, &after);
    assert_in_range(after.ru_maxrss - before.ru_maxrss, 0, 1000000); /* KB */
    text_done(&said);
    session_free(session);
}

static void rows_that_contradict_each_other(void **state) {
    (void)state;
    /* FIRST-LAST: a longer search, of a session of $REDVIZ_KERNEL. */
    const char *seeds = getenv("REDVIZ_SEEDS");
    unsigned long first = 0, last = is_slow() ? 60 : 400, believed = 0;
    if (seeds) sscanf(seeds, "%lu-%lu", &first, &last);
    for (unsigned long seed = first; seed < last; seed++) {
        if (seeds) print_message("seed %lu, %lu believed\n", seed, believed);
        believed += deceive(seed);
    }
    assert_true(believed * 20 > last - first); /* otherwise the test tried nothing */
    assert_true(believed < last - first);
}

/* The same of the tables of a program. */
static void rows_of_a_program_that_contradict(void **state) {
    Error error = {0};
    Program *program = captured_program_new();
    Session *session = session_open(&(RunSpec){.program = program, .launch = 1, .threads = 1}, &error);
    char *kept = bytes;
    size_t kept_length = length;
    if (!session || !ask_save(session, broken, &error)) fail_msg("%s", error.message);
    session_free(session);
    program_free(program);
    assert_true(text_read_file(broken, 1 << 24, &bytes, &length, &error));
    while (strcmp(table_names[first_table], "program") != 0) first_table++;
    rows_that_contradict_each_other(state);
    first_table = 0;
    free(bytes);
    bytes = kept;
    length = kept_length;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_good_one_answers),
        cmocka_unit_test(cut_short),
        cmocka_unit_test(flipped_bits),
        cmocka_unit_test(shuffled_pages),
        cmocka_unit_test(files_of_others),
        cmocka_unit_test(schemas_of_others),
        cmocka_unit_test(schemas_with_other_comments),
        cmocka_unit_test(what_lies_beside_it),
        cmocka_unit_test(the_seal_can_be_made),
        cmocka_unit_test(a_grid_that_cannot_be),
        cmocka_unit_test(a_block_that_cannot_be),
        cmocka_unit_test(an_array_that_cannot_be),
        cmocka_unit_test(rows_that_contradict_each_other),
        cmocka_unit_test(rows_of_a_program_that_contradict),
    };
    return cmocka_run_group_tests(tests, make_session, remove_session);
}
