/* The limit of a launch: by hand, and against Nsight Compute. */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "findings/limit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void expect(const LimitFigures *figures, Limit limit, const char *text) {
    char got[160];
    assert_int_equal(limit_print(figures, got, sizeof got), limit);
    assert_string_equal(got, text);
}

static void each_limit_has_its_figures(void **state) {
    (void)state;
    LimitFigures figures = limit_figures_unknown();
    expect(&figures, LIMIT_UNKNOWN, "not known: not profiled");
    figures.read_share = 0.08;
    expect(&figures, LIMIT_UNKNOWN, "not known: not profiled; alone 8.0 % of the read peak");
    figures.read_share = 0.97;
    expect(&figures, LIMIT_MEMORY, "memory: 97 % of the read peak");
    figures.issue = 0.55;
    figures.shared_pipe = 0.98;
    expect(&figures, LIMIT_SHARED, "shared memory pipe: 98 % busy");
    figures.issue = 0.99;
    expect(&figures, LIMIT_ISSUE, "issue slots: 99 % busy");
    figures.outside = 0.55;
    figures.launches = 3;
    expect(&figures, LIMIT_LAUNCHES, "launches: 55 % of the time goes to launches 2 to 3");
    figures.launches = 1;
    expect(&figures, LIMIT_LAUNCHES, "launches: 55 % of the time is outside the kernel");
}

static void what_nothing_is_busy_for_waits(void **state) {
    (void)state;
    LimitFigures figures = limit_figures_unknown();
    figures.read_share = figures.issue = figures.shared_pipe = 0.3;
    expect(&figures, LIMIT_UNKNOWN, "not known: not profiled; alone 30 % of the read peak"); /* no stalls */
    figures.stalls[STALL_GLOBAL] = 61;
    figures.stalls[STALL_BARRIER] = 39;
    expect(&figures, LIMIT_LATENCY,
           "latency: 61 % of warp cycles wait for global memory; issue slots 30 % busy");
    figures.ready = 22;
    expect(&figures, LIMIT_LATENCY,
           "latency: 50 % of warp cycles wait for global memory; issue slots 30 % busy");
    figures.stalls[STALL_BARRIER] = 61 * 3 - 22;
    expect(&figures, LIMIT_BARRIERS, "barriers: 66 % of warp cycles; issue slots 30 % busy");
}

static void the_edges(void **state) {
    (void)state;
    LimitFigures figures = limit_figures_unknown();
    figures.issue = 0.6;
    assert_int_equal(limit_of(&figures), LIMIT_ISSUE);
    figures.issue = 0.5999;
    assert_int_equal(limit_of(&figures), LIMIT_UNKNOWN);
    figures.read_share = figures.issue = 0.7; /* memory is named first */
    assert_int_equal(limit_of(&figures), LIMIT_MEMORY);
    figures.outside = 0.5;
    assert_int_equal(limit_of(&figures), LIMIT_MEMORY);
    figures.outside = 0.501;
    assert_int_equal(limit_of(&figures), LIMIT_LAUNCHES);
}

static void short_forms_have_a_figure(void **state) {
    (void)state;
    char text[32];
    LimitFigures figures = limit_figures_unknown();
    limit_print_short(&figures, text, sizeof text);
    assert_string_equal(text, "-");
    figures.shared_pipe = 0.91;
    limit_print_short(&figures, text, sizeof text);
    assert_string_equal(text, "shared pipe 91 %");
    figures.outside = 0.75;
    limit_print_short(&figures, text, sizeof text);
    assert_string_equal(text, "launches 75 %");
}

/* ---- Nsight Compute ------------------------------------------------------------------------------------ */

typedef struct Judged {
    const char *kernel, *n;
    Limit limit;
} Judged;
static const Judged judged[] = {
    {"interleaved", "2^20", LIMIT_ISSUE},   {"strided", "2^20", LIMIT_SHARED},
    {"sequential", "2^20", LIMIT_ISSUE},    {"first_add", "2^20", LIMIT_LATENCY},
    {"shuffle", "2^20", LIMIT_LATENCY},     {"multi_add", "2^20", LIMIT_LATENCY},
    {"grid_stride", "2^20", LIMIT_LATENCY}, {"two_stage", "2^20", LIMIT_LATENCY},
    {"interleaved", "2^24", LIMIT_ISSUE},   {"strided", "2^24", LIMIT_SHARED},
    {"sequential", "2^24", LIMIT_SHARED},   {"shuffle", "2^24", LIMIT_LATENCY},
    {"multi_add", "2^24", LIMIT_MEMORY},    {"grid_stride", "2^24", LIMIT_LATENCY},
};

/* The section's "Memory Throughput" is that of its busiest part; if the memory itself is less busy, it is the
 * pipe to shared memory. */
static LimitFigures figures_of(double issue, double memory, double dram, const char *stalls) {
    LimitFigures figures = limit_figures_unknown();
    figures.issue = issue / 100;
    figures.read_share = dram / 100;
    figures.shared_pipe = memory > dram + 1 ? memory / 100 : 0;
    for (int i = 0; i < STALL_COUNT; i++) {
        const char *at = strstr(stalls, stall_word((Stall)i));
        if (at) figures.stalls[i] = strtod(at + strlen(stall_word((Stall)i)) + 1, NULL);
    }
    return figures;
}

/* Its own rule: latency if neither compute nor memory reaches 60 %. */
static bool agrees(Limit limit, double compute, double memory) {
    bool is_busy = compute >= 59.5 || memory >= 59.5;
    if (!is_busy) return limit == LIMIT_LATENCY || limit == LIMIT_BARRIERS;
    return compute > memory ? limit == LIMIT_ISSUE : limit == LIMIT_MEMORY || limit == LIMIT_SHARED;
}

static void the_rule_on_what_nsight_compute_measured(void **state) {
    (void)state;
    char *text, *line, *rest;
    size_t length;
    Error error = {0};
    int rows = 0, found = 0, agreed = 0;
    if (!text_read_file("tests/data/ladder_sass.csv", 1 << 20, &text, &length, &error))
        fail_msg("%s", error.message);
    rest = text;
    while ((line = strtok_r(rest, "\n", &rest))) {
        char kernel[32], n[8], stalls[256];
        double issue, compute, memory, dram;
        if (sscanf(line, "%31[^,],%7[^,],%*[^,],%*[^,],%*[^,],%*[^,],%*[^,],%lf,%lf,%lf,%lf,%255[^\n]",
                   kernel, n, &issue, &compute, &memory, &dram, stalls) != 7)
            continue;
        LimitFigures figures = figures_of(issue, memory, dram, stalls);
        Limit limit = limit_of(&figures);
        rows++;
        agreed += agrees(limit, compute, memory);
        for (size_t i = 0; i < sizeof judged / sizeof *judged; i++) {
            if (strcmp(judged[i].kernel, kernel) != 0 || strcmp(judged[i].n, n) != 0) continue;
            found++;
            if (limit != judged[i].limit)
                fail_msg("%s at %s: %s, not %s", kernel, n, limit_name(limit), limit_name(judged[i].limit));
        }
    }
    free(text);
    printf("# summary: the rule agrees with Nsight Compute's section in %d of %d launches\n", agreed, rows);
    assert_int_equal(found, sizeof judged / sizeof *judged);
    assert_true(agreed >= rows - 1); /* sequential at 2^20: 60.0 % of the issue slots, 49.7 % of memory */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_limit_has_its_figures),
        cmocka_unit_test(what_nothing_is_busy_for_waits),
        cmocka_unit_test(the_edges),
        cmocka_unit_test(short_forms_have_a_figure),
        cmocka_unit_test(the_rule_on_what_nsight_compute_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
