/* What the search for races finds in a small kernel. */
#ifndef TESTS_FINDINGS_RACE_CHECK_H
#define TESTS_FINDINGS_RACE_CHECK_H

#include "findings/findings.h"
#include "findings/races/race_detector.h"
#include "tests/emulator/core.h"
#include <string.h>

/* Runs the kernel and expects these errors, then notes: "kind access other", one per line; "" is none. */
static inline void check(const char *name, CoreKernel kernel, const char *expected) {
    RaceDetector *detector = race_detector_new();
    TraceObserver observer = race_detector_observer(detector);
    kernel.options.observer = &observer;
    CoreRun run = core_run_well(kernel);
    Findings *hazards = findings_new(detector, run.trace, NULL, &(FindingKnown){.leak_pc = PTX_NO_PC});
    assert_true(hazards->is_complete);
    Text found = {0};
    for (int i = 0; i < hazards->count; i++) {
        if (hazards->items[i].severity == SEVERITY_SLOW) continue;
        text_print(&found, "%s%s ", found.length ? "\n" : "", hazards->items[i].kind_text);
        core_add_name(&run, hazards->items[i].access.pc, &found);
        text_add(&found, " ");
        core_add_name(&run, hazards->items[i].other.pc, &found);
    }
    if (strcmp(text_string(&found), expected) != 0)
        fail_msg("expected '%s', found '%s': %s", expected, text_string(&found), name);
    text_done(&found);
    findings_free(hazards);
    race_detector_free(detector);
    core_done(&run);
}

#endif
