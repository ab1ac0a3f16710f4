/* Runs: a catalogue kernel in one call, for the tests of kernels. Include cmocka's headers first. */
#ifndef TESTS_CATALOG_RUNS_H
#define TESTS_CATALOG_RUNS_H

#include "session/session.h"

/* Runs the kernel to its end; fails the test if the options are refused. Close with session_free(). */
Session *run_kernel(const char *kernel, const CatalogOptions *options);
Session *run_with(const char *kernel, const char *parameter, const char *second); /* "stride=2", or NULL */

/* The sizes and blocks that every kernel is tried with, in all combinations. */
enum { RUN_SIZE_COUNT = 6, RUN_BLOCK_COUNT = 11 };
extern const uint64_t RUN_SIZES[RUN_SIZE_COUNT];
extern const uint32_t RUN_BLOCKS[RUN_BLOCK_COUNT];

/* The largest n to try: $REDVIZ_TEST_LARGEST_N, because the sanitizer runs are slow. */
uint64_t run_limit(void);

/* Whether the row accepts blocks of this size. Read from the rule as it is printed ("a power of two", from 1
 * to 1024), which must agree with the accepted sizes. */
bool run_accepts_block(const CatalogRow *row, uint32_t block);

/* Whether `word` is one of the space-separated `words`. */
bool run_has_word(const char *words, const char *word);

Totals run_totals(Session *session);

/* The line of the kernel's source that contains `text`; fails the test if there is none or more than one. */
int run_line_of(Session *session, const char *text);

#endif
