/* Contents: pages are kept once, found by their hash, and not beyond the limit. */
#include "runtime/contents.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

static uint8_t page[CONTENTS_PAGE_BYTES];

static void make_page(uint32_t number) {
    memset(page, 0, sizeof page);
    memcpy(page, &number, sizeof number);
    memcpy(page + sizeof page - sizeof number, &number, sizeof number);
}

static PageHash hash_now(size_t bytes) {
    return contents_hash(page, bytes);
}

static void equal_pages_are_kept_once(void **state) {
    (void)state;
    PageContents *contents = contents_new(2 * CONTENTS_PAGE_BYTES);
    for (int i = 0; i < 100; i++) {
        make_page((uint32_t)i % 2);
        assert_true(contents_keep(contents, hash_now(sizeof page), page, sizeof page));
    }
    make_page(1);
    const void *kept = contents_find(contents, hash_now(sizeof page));
    assert_ptr_not_equal(kept, page); /* a copy */
    assert_memory_equal(kept, page, sizeof page);
    contents_free(contents);
}

static void the_limit(void **state) {
    (void)state;
    PageContents *contents = contents_new(10 * CONTENTS_PAGE_BYTES + 100);
    for (uint32_t i = 0; i < 20; i++) {
        make_page(i);
        assert_int_equal(contents_keep(contents, hash_now(sizeof page), page, sizeof page), i < 10);
        assert_int_equal(contents_find(contents, hash_now(sizeof page)) != NULL, i < 10);
    }
    make_page(3); /* one that is there needs no room */
    assert_true(contents_keep(contents, hash_now(sizeof page), page, sizeof page));
    assert_true(contents_keep(contents, hash_now(100), page, 100)); /* what is left */
    assert_false(contents_keep(contents, hash_now(101), page, 101));
    contents_free(contents);
}

/* Over several enlargements of its table. */
static void many_pages(void **state) {
    (void)state;
    enum { COUNT = 5000 };
    PageContents *contents = contents_new(UINT64_C(1) << 40);
    assert_null(contents_find(contents, hash_now(sizeof page)));
    for (uint32_t i = 0; i < COUNT; i++) {
        make_page(i);
        assert_true(contents_keep(contents, hash_now(64), page, 64));
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        make_page(i);
        const uint8_t *kept = contents_find(contents, hash_now(64));
        assert_non_null(kept);
        assert_memory_equal(kept, page, 64);
    }
    contents_free(contents);
    contents_free(NULL);
}

/* Each byte and each length counts; also bytes behind the last 16. */
static void hashes_differ(void **state) {
    (void)state;
    static PageHash seen[1 + 4096 + 64];
    int count = 0;
    memset(page, 0, sizeof page);
    for (size_t bytes = 0; bytes < 64; bytes++) seen[count++] = hash_now(bytes);
    for (size_t i = 0; i < sizeof page; i++) {
        page[i] = 1;
        seen[count++] = hash_now(sizeof page);
        page[i] = 0;
    }
    seen[count++] = hash_now(sizeof page);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++) assert_false(page_hash_is_equal(seen[i], seen[k]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_pages_are_kept_once),
        cmocka_unit_test(the_limit),
        cmocka_unit_test(many_pages),
        cmocka_unit_test(hashes_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
