/* The tree itself: layers, types, shipped PTX, tidy files, installation and documents. */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int shell(const char *command) {
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* build/obj, or the objects of the program under test. */
static void write_objects_folder(char *out, size_t size) {
    const char *program = getenv("REDVIZ_BIN"), *slash = program ? strrchr(program, '/') : NULL;
    snprintf(out, size, "%.*s/obj", slash ? (int)(slash - program) : 5, slash ? program : "build");
}

static void test_layers_are_kept(void **state) {
    (void)state;
    char objects[512], command[600];
    write_objects_folder(objects, sizeof objects);
    snprintf(command, sizeof command, "tests/check_layers.sh . '%s'", objects);
    assert_int_equal(shell(command), 0);
}

/* Each line, added to its file in a copy of the tree, is one violation, on a line of its own. */
static void test_violations_are_found(void **state) {
    (void)state;
    static const struct {
        const char *file, *include;
    } planted[] = {{"src/base/text.h", "\"ptx/ptx.h\""},
                   {"src/ptx/ptx.h", "\"trace/trace.h\""},
                   {"src/emulator/lower/op.h", "\"metrics/metrics.h\""},
                   {"src/metrics/metrics.h", "\"emulator/emulator.h\""},
                   {"src/instrument/instrument.h", "\"emulator/emulator.h\""},
                   {"src/plan/plan.h", "\"trace/trace.h\""},
                   {"tui/app.h", "\"emulator/emulator.h\""},
                   {"tui/app.h", "\"../src/emulator/emulator.h\""},
                   {"src/main.c", "\"emulator/emulator.h\""},
                   {"src/session/session.h", "\"tui/app.h\""},
                   {"tui/draw/canvas.h", "<ncurses.h>"},
                   {"src/emulator/lanes/lanes.h", "\"emulator/machine/block.h\""},
                   {"src/emulator/machine/machine_block.h", "\"emulator/replay/replay.h\""},
                   {"src/trace/trace.h", "\"tests/tree/test_tree.c\""}};
    Text command = {0};
    text_add(&command, "copy=$(mktemp -d) && cp -R src tui \"$copy\"\n");
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++)
        text_print(&command, "echo '#include %s' >>\"$copy/%s\"\n", planted[i].include, planted[i].file);
    text_add(&command, "tests/check_layers.sh \"$copy\" 2>\"$copy/said\"; status=$?\n");
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++)
        text_print(&command,
                   "grep -F '%s:' \"$copy/said\" | grep -qF '%s' || { status=7; echo '%s in %s' >&2; }\n",
                   planted[i].file, planted[i].include, planted[i].include, planted[i].file);
    text_add(&command, "rm -rf \"$copy\"; exit $status");
    assert_int_equal(shell(text_string(&command)), 1);
    text_done(&command);
}

/* Runs `command` in a new folder, which is $copy, with its standard error in $copy/said; that must contain
 * `said`, or be empty if `said` is NULL. */
static void check_planted(const char *command, const char *said) {
    char whole[4096];
    snprintf(whole, sizeof whole,
             "copy=$(mktemp -d) && { %s; } 2>\"$copy/said\"; status=$?\n"
             "[ $status -le 1 ] && { %s; } && result=8 || result=9\n"
             "[ $result = 8 ] || cat \"$copy/said\" >&2; rm -rf \"$copy\"; exit $result",
             command, said ? "[ $status = 1 ] && grep -qF \"$said\" \"$copy/said\"" : "[ $status = 0 ]");
    setenv("said", said ? said : "", 1);
    int status = shell(whole);
    if (status != 8) fail_msg("%s: status %d, \"%s\" expected", command, status, said ? said : "nothing");
}

static void every_public_function_is_needed(void **state) {
    (void)state;
    char objects[512], command[1024];
    write_objects_folder(objects, sizeof objects);
    snprintf(command, sizeof command, "tests/check_callers.sh . '%s'", objects);
    assert_int_equal(shell(command), 0);
    static const struct {
        const char *text, *said;
    } planted[] = {
        {"int f(void) { return 1; }", "src/base/a.c: the program does not need f: delete it"},
        {"int f(void) { return 1; } int main(void) { return f(); }",
         "only this file needs f: make it static"},
        {"static int f(void) { return 1; } int main(void) { return f(); }", NULL},
    };
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++) {
        snprintf(command, sizeof command,
                 "mkdir -p \"$copy/src/base\" \"$copy/tui\" \"$copy/o/src/base\" && echo '%s' "
                 ">\"$copy/src/base/a.c\" && "
                 "${CC:-cc} -c -o \"$copy/o/src/base/a.o\" \"$copy/src/base/a.c\" && "
                 "{ tests/check_callers.sh \"$copy\" o 2>&1 | grep -v 'take .* out of its list' >&2; %s; }",
                 planted[i].text, planted[i].said ? "false" : "true");
        check_planted(command, planted[i].said);
    }
}

/* Small sources, compiled to objects of a separate tree; and the output of the check. */
static void test_planted_links_are_found(void **state) {
    (void)state;
    static const struct {
        const char *first, *first_text, *second, *second_text, *limits, *said;
    } planted[] = {
        {"src/ptx/a.c", "int base_f(void); int ptx_f(void) { return base_f(); }", "src/base/b.c",
         "int base_f(void) { return 1; }", "", NULL},
        {"src/base/b.c", "int ptx_f(void); int base_f(void) { return ptx_f(); }", "src/ptx/a.c",
         "int ptx_f(void) { return 1; }", "", "src/base/b.c: base must not need ptx: ptx_f of src/ptx/a.c"},
        {"src/emulator/lanes/a.c", "extern int block; int lane_f(void) { return block; }",
         "src/emulator/machine/b.c", "int block = 1;", "",
         "emulator/lanes must not need emulator/machine: block of src/emulator/machine/b.c"},
        {"src/trace/a.c", "int g(void); int f(void) { return g(); }", "src/trace/b.c",
         "int f(void); int g(void) { return f(); }", "trace: 2", NULL},
        {"src/trace/a.c", "int g(void); int f(void) { return g(); }", "src/trace/b.c",
         "int f(void); int g(void) { return f(); }", "trace: 1",
         "trace: 2 objects need each other in a circle, at most 1 may: src/trace/"},
        {"src/trace/a.c", "int g(void); int f(void) { return g(); }", "src/trace/b.c",
         "int g(void) { return 1; }", "trace: 2", "lower the limit of 2"},
        {"src/trace/a.c", "int f(void) { return 1; }", "src/trace/b.c", NULL, "",
         "no object file of src/trace/b.c"},
    };
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++) {
        char command[2048];
        const char *second = planted[i].second_text;
        snprintf(command, sizeof command,
                 "mkdir -p \"$copy/tui\" && plant() { mkdir -p \"$copy/${1%%/*}\" \"$copy/o/${1%%/*}\" && "
                 "echo \"$2\" >\"$copy/$1\" && { [ -z \"$2\" ] || ${CC:-cc} -c -o \"$copy/o/${1%%.c}.o\" "
                 "\"$copy/$1\"; }; } && plant %s '%s' && plant %s '%s' && "
                 "tests/check_layers.sh \"$copy\" o '%s'",
                 planted[i].first, planted[i].first_text, planted[i].second, second ? second : "",
                 planted[i].limits);
        check_planted(command, planted[i].said);
    }
}

static void test_names_have_one_meaning(void **state) {
    (void)state;
    assert_int_equal(shell("tests/check_names.sh"), 0);
    static const struct {
        const char *one, *two, *said;
    } planted[] = {
        {"typedef struct View View;", "typedef struct View {\nint x;\n} View;", NULL},
        {"typedef struct View {\nint x;\n} View;", "struct View {\nint y;\n};", "View is also defined at"},
        {"typedef enum Slot { A } Slot;", "typedef int Slot;", "Slot is also defined at"},
        {"typedef void (*Run)(int, int *);", "typedef bool Run(void);", "Run is also defined at"},
        {"typedef struct {\nint x;\n} Clock;", "typedef struct Clock {\nint x;\n} Clock;",
         "Clock is also defined at"},
        {"    struct Place { int x; };", "typedef int Place[2];", "Place is also defined at"},
    };
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++) {
        char command[1024];
        snprintf(command, sizeof command,
                 "mkdir -p \"$copy/src\" \"$copy/tui\" && printf '%%b\\n' '%s' >\"$copy/src/a.h\" && "
                 "printf '%%b\\n' '%s' >\"$copy/tui/b.c\" && tests/check_names.sh \"$copy\"",
                 planted[i].one, planted[i].two);
        check_planted(command, planted[i].said);
    }
    check_planted("mkdir -p \"$copy/src/x\" \"$copy/tui\" && echo 'struct A {' >\"$copy/src/x/a.c\" && "
                  "cp \"$copy/src/x/a.c\" \"$copy/tui/a.c\" && tests/check_names.sh \"$copy\"",
                  "two files are called: a.c");
    static const char *const functions[][2] = {
        {"int lecture_open(void);",
         "src/cli/a.h:2: lecture_open begins with lecture, the name of another folder"},
        {"int cli_open(void);\nint lectures_open(int lecture_open);", NULL}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        char command[1024];
        snprintf(command, sizeof command,
                 "mkdir -p \"$copy/src/cli\" \"$copy/src/lecture\" \"$copy/tui\" && "
                 "printf 'struct A {\\n%%b\\n' '%s' >\"$copy/src/cli/a.h\" && tests/check_names.sh \"$copy\"",
                 functions[i][0]);
        check_planted(command, functions[i][1]);
    }
}

static void test_shipped_ptx_is_fresh(void **state) {
    (void)state;
    assert_int_equal(shell("scripts/make_ptx.sh --check"), 0);
}

/* In a copy of the tree, which is fresh: a kernel is edited, an asset is edited, a kernel is added, a kernel
 * is removed. */
static void test_stale_ptx_is_found(void **state) {
    (void)state;
    static const char *const changes[][3] = {
        {"echo >>kernels/strided.cu && cp kernels/strided.cu kernels/new.cu",
         "strided.ptx: kernels/strided.cu has changed", "new.ptx: was never made"},
        {"echo >>kernels/triton_sum.py && cp kernels/triton_sum.py kernels/new.py",
         "triton_sum.ptx: kernels/triton_sum.py has changed", "new.ptx: was never made"},
        {"rm kernels/triton_sum.py kernels/strided.cu", "triton_sum.ptx: kernels/triton_sum.py is missing",
         "strided.ptx: kernels/strided.cu is gone"},
        {"echo >>kernels/operations.cuh && echo >>assets/ptx/strided.ptx",
         "strided.ptx: kernels/operations.cuh has changed",
         "strided.ptx: assets/ptx/strided.ptx has changed"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char command[1024];
        snprintf(command, sizeof command,
                 "copy=$(mktemp -d) && mkdir \"$copy/assets\" && cp -R kernels scripts \"$copy\" && "
                 "cp -R assets/ptx \"$copy/assets\" && cd \"$copy\" && { %s; } && "
                 "{ scripts/make_ptx.sh --check 2>said && status=7 || status=8; } && "
                 "{ grep -qF '%s' said && grep -qF '%s' said || status=9; }; rm -rf \"$copy\"; exit $status",
                 changes[i][0], changes[i][1], changes[i][2]);
        int status = shell(command);
        if (status != 8) fail_msg("%s: status %d", changes[i][0], status);
    }
}

/* ---- files --------------------------------------------------------------------------------------------- */

static char *read_whole(const char *path) {
    char *text;
    size_t length;
    Error error = {0};
    if (!text_read_file(path, 4 << 20, &text, &length, &error)) fail_msg("%s: %s", path, error.message);
    return text;
}

/* What is untidy in a text; NULL: nothing. Lines count from 1. `widest`: the most columns of a line; 0: any
 * number. */
static const char *untidy(const char *text, bool may_have_tabs, int most_lines, int widest, int *line) {
    int width = 0;
    *line = 1;
    for (const char *c = text; *c; c++) {
        width = *c == '\n' ? 0 : width + ((*c & 0xc0) != 0x80); /* not the later bytes of a character */
        if (widest && width > widest) return "a line is too long";
        if (*c == '\r') return "carriage return";
        if (*c == '\t' && !may_have_tabs) return "tab";
        if (*c != '\n') continue;
        if (c > text && (c[-1] == ' ' || c[-1] == '\t')) return "white space at the end of a line";
        if (!c[1]) return *line > most_lines ? "too many lines: one idea a file" : NULL;
        ++*line;
    }
    return "no new line at the end";
}

static void test_untidy_files_are_found(void **state) {
    (void)state;
    int line;
    assert_null(untidy("a\n\nb\n", false, 3, 0, &line));
    assert_string_equal(untidy("a\nb \nc\n", false, 9, 0, &line), "white space at the end of a line");
    assert_int_equal(line, 2);
    assert_non_null(untidy("a\n\tb\n", false, 9, 0, &line));
    assert_null(untidy("a\n\tb\n", true, 9, 0, &line));
    assert_non_null(untidy("a\r\n", false, 9, 0, &line));
    assert_non_null(untidy("a\nb", false, 9, 0, &line));
    assert_non_null(untidy("a\nb\nc\n", false, 2, 0, &line));
    assert_string_equal(untidy("abc\nabcd\n", false, 9, 3, &line), "a line is too long");
    assert_int_equal(line, 2);
    assert_null(untidy("abc\n\xe5\x9d\x97\xe5\x9d\x97\xe5\x9d\x97\n", false, 9, 3, &line));
}

static void test_files_are_tidy(void **state) {
    (void)state;
    enum { MOST_LINES = 750, WIDEST = 110 }; /* better: under 600 lines */
    static const struct {
        const char *pattern;
        bool may_have_tabs;
    } patterns[] = {{"src/*.*", false},    {"src/*/*.*", false},      {"src/*/*/*.*", false},
                    {"tui/*.*", false},    {"tui/*/*.*", false},      {"kernels/*.*", false},
                    {"scripts/*", false},  {"tests/*/*.[ch]", false}, {"tests/*/*/*.[ch]", false},
                    {"tests/*.sh", false}, {".ci/*", false},          {"*.md", false},
                    {"*/*.md", false},     {"Makefile", true}};
    int wrong = 0, count = 0;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        glob_t files;
        assert_int_equal(glob(patterns[i].pattern, 0, NULL, &files), 0);
        for (size_t f = 0; f < files.gl_pathc; f++, count++) {
            int line;
            const char *path = files.gl_pathv[f], *end = strrchr(path, '.');
            char *text = read_whole(path);
            bool is_c = end && (!strcmp(end, ".c") || !strcmp(end, ".h"));
            const char *problem =
                untidy(text, patterns[i].may_have_tabs, MOST_LINES, is_c ? WIDEST : 0, &line);
            if (problem) print_error("%s:%d: %s\n", path, line, problem);
            wrong += problem != NULL;
            free(text);
        }
        globfree(&files);
    }
    assert_true(count > 150);
    assert_int_equal(wrong, 0);
}

/* Everything is installed into a folder that was made, and every folder of assets is installed. */
static void test_install_makes_its_folders(void **state) {
    (void)state;
    assert_int_equal(
        shell("MAKEFLAGS= make -n install PREFIX=/p DESTDIR= >build/install 2>/dev/null || exit 1\n"
              "sed -e ':a' -e '/\\\\$/{N;s/\\\\\\n//;ba' -e '}' build/install | awk '\n"
              "    $1 == \"install\" && $2 == \"-d\" { for (i = 3; i <= NF; i++) made[$i] = 1 }\n"
              "    $1 == \"install\" && $2 == \"-m\" {\n"
              "        folder = $NF; sub(/\\/[^\\/]*$/, \"\", folder)\n"
              "        if (!($NF in made) && !(folder in made)) { print $NF \" is not made\"; bad = 1 }\n"
              "        filled[$NF] = 1\n"
              "    }\n"
              "    END { while ((\"ls assets\" | getline name) > 0)\n"
              "              if (!((\"/p/share/redviz/assets/\" name) in filled) && name !~ /\\./) {\n"
              "                  print \"assets/\" name \" is not installed\"; bad = 1 }\n"
              "          exit bad }' >&2"),
        0);
}

static void test_licence(void **state) {
    (void)state;
    char *licence = read_whole("LICENSE"), *ignored = read_whole(".gitignore");
    assert_int_equal(strncmp(licence, "MIT License\n", 12), 0);
    assert_non_null(strstr(ignored, "/build/\n"));
    free(licence), free(ignored);
}

/* ---- documents ----------------------------------------------------------------------------------------- */

/* The lists of files are what `make map` writes, and each file has a first sentence. */
static void test_map_is_current(void **state) {
    (void)state;
    assert_int_equal(shell("scripts/map.sh --check"), 0);
}

/* Each command, in a copy of the tree, makes the map wrong in its folder; with the expected message. */
static void test_wrong_maps_are_found(void **state) {
    (void)state;
    static const char *const planted[][3] = {
        {"src/base", "rm src/base/text.h src/base/text.c",
         "src/MAP.md: the list of files is out of date: make map"},
        {"tui/draw", "echo '/* Widgets: a new file for the list. */' >tui/draw/widgets.h", "widgets"},
        {"src/base", "echo 'int a;' >src/base/a.c",
         "src/base/a.c: the comment at its head has no first sentence"},
        {"src/base", "echo '/* Short. */' >src/base/a.c", "src/base/a.c: the first sentence says too little"},
        {"src/room", "mkdir src/room && echo '/* Rooms: a file in a new folder. */' >src/room/room.h",
         "src/MAP.md: src/room/ has no line"},
        {"tests/html", "rm -r tests/html", "tests/README.md: tests/html/ has no files"},
        {"src/base", "sed -i.old 's/a growing, always/an always/' src/base/text.h", "text"}};
    Text command = {0};
    text_add(&command,
             "tree=$PWD && copy=$(mktemp -d) && mkdir \"$copy/tests\" && cp -R src tui scripts \"$copy\" && "
             "(cd tests && tar cf - --exclude ./data .) | tar xf - -C \"$copy/tests\" && "
             "cd \"$copy\" && scripts/map.sh --check; result=$?\n");
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++)
        text_print(&command,
                   "{ %s; } && ! scripts/map.sh --check >/dev/null 2>said && grep -qF '%s' said || "
                   "{ result=7; echo 'not found: %s' >&2; }\n"
                   "rm -rf %s && { [ ! -d \"$tree/%s\" ] || cp -R \"$tree/%s\" %s; }\n",
                   planted[i][1], planted[i][2], planted[i][2], planted[i][0], planted[i][0], planted[i][0],
                   planted[i][0]);
    text_add(&command, "scripts/map.sh --check || result=7; rm -rf \"$copy\"; exit $result");
    assert_int_equal(shell(text_string(&command)), 0);
    text_done(&command);
}

/* A line "  a, b    purpose" of a list of CONTRIBUTING.md, and a file of scripts. */
static void test_scripts_are_listed(void **state) {
    (void)state;
    assert_int_equal(shell("sed -n '/^scripts\\//,/^```/s/^  \\([a-z_, ]*[a-z_]\\)   *.*/\\1/p' "
                           "CONTRIBUTING.md | tr -d ' ' | tr ',' '\\n' | "
                           "sort >build/listed && ls scripts | grep '\\.' | sed 's/\\..*//' | sort -u | diff "
                           "build/listed - >&2"),
                     0);
}

/* Links of a document lead to files of the tree. */
static void test_links_lead_somewhere(void **state) {
    (void)state;
    static const char *const documents[] = {
        "README.md",    "CONTRIBUTING.md",       "src/README.md", "tui/README.md", "tests/README.md",
        "CHANGELOG.md", "assets/h200/README.md", "docs/myths.md", "docs/gpu.md",   "docs/ci.md"};
    int broken = 0, links = 0;
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        char *text = read_whole(documents[i]), path[512];
        int folder = strrchr(documents[i], '/') ? (int)(strrchr(documents[i], '/') - documents[i]) + 1 : 0;
        for (const char *at = text; (at = strstr(at, "](")); at += 2, links++) {
            if (!strncmp(at + 2, "http", 4)) continue;
            snprintf(path, sizeof path, "%.*s%.*s", folder, documents[i], (int)strcspn(at + 2, ")#"), at + 2);
            if (access(path, R_OK) == 0) continue;
            print_error("%s: there is no %s\n", documents[i], path);
            broken++;
        }
        free(text);
    }
    assert_true(links > 8);
    assert_int_equal(broken, 0);
}

/* The first document is short: at most 80 lines of at most 110 columns. */
static void test_readme_is_short(void **state) {
    (void)state;
    enum { MOST_LINES = 80, MOST = 110 };
    char *text = read_whole("README.md");
    int lines = 0;
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        int columns = 0;
        for (const char *c = line; *c != '\n'; c++) columns += (*c & 0xC0) != 0x80; /* UTF-8 */
        lines++;
        if (columns > MOST) fail_msg("README.md:%d has %d columns, at most %d fit", lines, columns, MOST);
    }
    free(text);
    assert_in_range(lines, 1, MOST_LINES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layers_are_kept),
        cmocka_unit_test(every_public_function_is_needed),
        cmocka_unit_test(test_violations_are_found),
        cmocka_unit_test(test_planted_links_are_found),
        cmocka_unit_test(test_names_have_one_meaning),
        cmocka_unit_test(test_shipped_ptx_is_fresh),
        cmocka_unit_test(test_stale_ptx_is_found),
        cmocka_unit_test(test_untidy_files_are_found),
        cmocka_unit_test(test_files_are_tidy),
        cmocka_unit_test(test_install_makes_its_folders),
        cmocka_unit_test(test_licence),
        cmocka_unit_test(test_map_is_current),
        cmocka_unit_test(test_wrong_maps_are_found),
        cmocka_unit_test(test_scripts_are_listed),
        cmocka_unit_test(test_links_lead_somewhere),
        cmocka_unit_test(test_readme_is_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
