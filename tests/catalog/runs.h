/* Runs: a catalogue kernel in one call, for the tests of what kernels do. Needs cmocka's headers before it.
 */
#ifndef TESTS_CATALOG_RUNS_H
#define TESTS_CATALOG_RUNS_H

#include "session.h"

/* Runs the kernel to its end; fails the test when the options are refused. Close with session_free(). */
Session *run_kernel(const char *kernel, const CatalogOptions *options);
Session *run_with(const char *kernel, const char *parameter, const char *second); /* "stride=2", or NULL */

Totals run_totals(const Session *session);

/* Line of the kernel's source that holds `text`; fails the test where there is none or more than one. */
int run_line_of(const Session *session, const char *text);

#endif
