/* Session files are portable: they contain no paths of the machine that wrote them, and equal runs give equal
 * bytes. */
#define _XOPEN_SOURCE 700
#include "tests/cli/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session/short_names.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char table[] = ".version 7.0\n"
                            ".file 1 \"/home/me/k.cu\"\n"
                            "\t.file\t2 \"/home/me/old/reduce.h\", 12, 34\n"
                            ".file 3 \"/home/me/common/reduce.h\"\n"
                            ".file 4 \"beside.h\"\n"
                            ".file 5 \"/opt/a/b/same.h\"\n"
                            ".file 6 \"/opt/c/b/same.h\"\n"
                            ".file 7 \"/home/me/k.cu\"\n"
                            ".global .b8 file[3] = {1, 2, 3}; // .file is nothing here, nor \"/x\"\n"
                            ".file";

static void names_are_ends_of_paths(void **state) {
    (void)state;
    ShortNames names;
    Text out = {0};
    names = (ShortNames){0};
    short_names_read(&names, table);
    assert_string_equal(short_names_find(&names, "/home/me/k.cu"), "k.cu");
    assert_string_equal(short_names_find(&names, "/home/me/common/reduce.h"), "reduce.h");
    assert_string_equal(short_names_find(&names, "/home/me/old/reduce.h"), "old/reduce.h");
    assert_string_equal(short_names_find(&names, "/somewhere/else.cu (as PTX)"), "else.cu (as PTX)");
    assert_string_equal(short_names_find(&names, "../beside.h"), "../beside.h");
    assert_null(short_names_find(&names, NULL));
    short_names_write_ptx(&names, table, &out);
    assert_string_equal(text_string(&out),
                        ".version 7.0\n"
                        ".file 1 \"k.cu\"\n"
                        "\t.file\t2 \"old/reduce.h\", 12, 34\n"
                        ".file 3 \"reduce.h\"\n"
                        ".file 4 \"beside.h\"\n"
                        ".file 5 \"b/same.h\"\n"
                        ".file 6 \"same.h\"\n"
                        ".file 7 \"k.cu\"\n"
                        ".global .b8 file[3] = {1, 2, 3}; // .file is nothing here, nor \"/x\"\n"
                        ".file");
    text_done(&out);
    short_names_done(&names);
}

static void arguments_lose_folders(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"in=float[n]:file:/home/me/x.bin, n, file:/y", "in=float[n]:file:x.bin, n, file:y"},
        {"--args 'in=int[n]:file:/home/me/x.bin' --block 64", "--args 'in=int[n]:file:x.bin' --block 64"},
        {"in=int[n]:file:mine/x.bin", "in=int[n]:file:mine/x.bin"},
        {"in=int[n]:file:/", "in=int[n]:file:"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text out = {0};
        short_names_write_arguments(cases[i][0], &out);
        assert_string_equal(text_string(&out), cases[i][1]);
        text_done(&out);
    }
}

static void write_in(const char *folder, const char *name, const char *text) {
    char path[64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    program_write_file(path, text);
}

/* The same kernel in this folder, with absolute paths for it, its source and its input. */
static void save(const char *name, Text *out) {
    char folder[256], text[1024], *bytes;
    size_t length;
    Error error = {0};
    snprintf(folder, sizeof folder, "%s/%s", program_folder(), name);
    assert_int_equal(mkdir(folder, 0700), 0);
    write_in(name, "k.cu", "// one\nout[threadIdx.x] = in[threadIdx.x]; // two\n");
    write_in(name, "numbers", "0123456789abcdef0123456789abcdef");
    snprintf(text, sizeof text,
             ".version 7.0\n.target sm_70\n.address_size 64\n"
             ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
             " .reg .b32 %%r<2>; .reg .b64 %%a<4>;\n .loc 1 2 0\n"
             " ld.param.u64 %%a0, [in]; ld.param.u64 %%a1, [out];\n"
             " mov.u32 %%r0, %%tid.x; mul.wide.u32 %%a2, %%r0, 4; add.u64 %%a0, %%a0, %%a2; add.u64 %%a1, "
             "%%a1, %%a2;\n"
             " ld.global.u32 %%r1, [%%a0]; st.global.u32 [%%a1], %%r1;\n ret;\n}\n"
             ".file 1 \"%s/k.cu\"\n",
             folder);
    write_in(name, "k.ptx", text);
    free(program_output(0,
                        "SOURCE_DATE_EPOCH=1700000000 @ %s/k.ptx --n 8 --block 8 --grid 1 --backend emulator "
                        "--args 'in=int[n]:file:%s/numbers, out=int[n]' --save %s/run.redviz --report",
                        folder, folder, folder));
    snprintf(text, sizeof text, "%s/run.redviz", folder);
    if (!text_read_file(text, 1 << 24, &bytes, &length, &error)) fail_msg("%s", error.message);
    text_add_bytes(out, bytes, length);
    free(bytes);
}

static bool contains(const Text *text, const char *part) {
    size_t length = strlen(part);
    for (size_t at = 0; at + length <= text->length; at++)
        if (!memcmp(text->data + at, part, length)) return true;
    return false;
}

static void files_do_not_say_where_they_were_made(void **state) {
    (void)state;
    Text first = {0}, second = {0};
    save("first", &first);
    save("second", &second);
    assert_true(contains(&first, "2023-11-14T22:13:20Z"));
    assert_true(contains(&first, "file:numbers"));
    assert_false(contains(&first, program_folder()));
    assert_false(contains(&first, "/first"));
    assert_int_equal(first.length, second.length);
    assert_memory_equal(first.data, second.data, first.length);
    text_done(&first);
    text_done(&second);
    /* and sources are found under their new names */
    char *report = program_output(0, "@ %s/first/run.redviz --report", program_folder());
    program_assert_contains(report, "k.cu   ");
    program_assert_contains(report, "    2  out[threadIdx.x] = in[");
    free(report);
}

static void kernels_of_the_catalogue_are_the_same_everywhere(void **state) {
    (void)state;
    const char *folder = program_folder();
    char *same = program_output(
        0,
        "export SOURCE_DATE_EPOCH=1700000000; for i in 1 2; do @ --kernel two_stage --n 1000 --threads $i "
        "--backend emulator --save %s/$i.redviz --report >/dev/null; done; cmp %s/1.redviz %s/2.redviz && "
        "! grep -c -a \"$PWD\" %s/1.redviz",
        folder, folder, folder, folder);
    assert_string_equal(same, "0\n");
    free(same);
    char *later = program_output(
        0,
        "for epoch in -1 1e9 99999999999999999999 ''; do SOURCE_DATE_EPOCH=$epoch @ --kernel shuffle --n 64 "
        "--save %s/now.redviz --report >/dev/null; grep -a -o '20[2-9][0-9]-[01][0-9]-..T' %s/now.redviz; "
        "done",
        folder, folder);
    assert_int_equal(program_line_count(later), 4);
    free(later);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_ends_of_paths),
        cmocka_unit_test(arguments_lose_folders),
        cmocka_unit_test(files_do_not_say_where_they_were_made),
        cmocka_unit_test(kernels_of_the_catalogue_are_the_same_everywhere),
    };
    return cmocka_run_group_tests(tests, program_make_folder, program_remove_folder);
}
