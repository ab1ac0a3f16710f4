/* The cache of compiled PTX: finds what it keeps, and discards damaged entries. */
#define _XOPEN_SOURCE 700

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compile/cache.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char home[] = "/tmp/redviz-cache-XXXXXX", folder[128];

static const char key[] = "nvcc 12\n/a.cu 5\ncode\n", ptx[] = ".version 7.0\n.entry k\n";

static int set_up(void **state) {
    (void)state;
    if (!mkdtemp(home)) return -1;
    setenv("XDG_CACHE_HOME", home, 1);
    snprintf(folder, sizeof folder, "%s/redviz/ptx", home);
    return 0;
}

static int tear_down(void **state) {
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", home);
    return system(command);
}

/* Files in the folder; the path of the last. */
static int list(char path[512]) {
    int count = 0;
    DIR *files = opendir(folder);
    assert_non_null(files);
    for (struct dirent *file; (file = readdir(files));) {
        if (*file->d_name == '.') continue;
        snprintf(path, 512, "%s/%s", folder, file->d_name);
        count++;
    }
    closedir(files);
    return count;
}

static bool is_found(const char *wanted) {
    Text text = {0};
    bool found = cache_find(wanted, &text);
    assert_string_equal(text_string(&text), found ? ptx : "");
    text_done(&text);
    return found;
}

static void write_bytes(const char *path, const char *bytes, size_t length) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
}

static void what_is_kept_is_found(void **state) {
    char path[512];
    (void)state;
    assert_false(is_found(key));
    cache_keep(key, ptx);
    assert_true(is_found(key));
    assert_false(is_found("nvcc 12\n/a.cu 5\nCode\n"));
    assert_int_equal(list(path), 1);
}

/* Every byte changed, every length; another entry's file; a folder, garbage. */
static void what_is_damaged_goes(void **state) {
    char path[512], other[512], *text;
    size_t length;
    (void)state;
    cache_keep(key, ptx);
    assert_int_equal(list(path), 1);
    assert_true(text_read_file(path, 1 << 20, &text, &length, NULL));
    assert_true(length > 0);
    for (size_t i = 0; length && i < 2 * length; i++) {
        char kept = text[i % length];
        text[i % length] ^= 1;
        write_bytes(path, text, i < length ? length : i - length);
        text[i % length] = kept;
        if (is_found(key)) fail_msg("damaged at %zu of %zu, and found", i, length);
        if (access(path, F_OK) == 0) fail_msg("damaged at %zu of %zu, and kept", i, length);
    }
    cache_keep(key, ptx);
    assert_true(is_found(key));
    cache_keep("another", ptx);
    assert_int_equal(list(other), 2);
    unlink(path);
    list(other);
    assert_int_equal(rename(other, path), 0);
    assert_false(is_found(key));
    mkdir(path, 0700);
    assert_false(is_found(key));
    cache_keep(key, ptx); /* impossible, and harmless */
    assert_int_equal(list(other), 1);
    rmdir(path);
    free(text);
}

static void old_entries_make_room(void **state) {
    char path[512], name[64];
    (void)state;
    for (int i = 0; i < 520; i++) {
        snprintf(name, sizeof name, "entry %d", i);
        cache_keep(name, ptx);
    }
    assert_int_equal(list(path), 500);
    assert_true(is_found("entry 519"));
    assert_false(is_found("entry 0"));
}

/* As for a user without a home, or with a full disk. */
static void there_may_be_no_folder(void **state) {
    (void)state;
    setenv("XDG_CACHE_HOME", "/dev/null", 1);
    cache_keep(key, ptx);
    assert_false(is_found(key));
    setenv("XDG_CACHE_HOME", home, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_is_found),
        cmocka_unit_test(what_is_damaged_goes),
        cmocka_unit_test(old_entries_make_room),
        cmocka_unit_test(there_may_be_no_folder),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
