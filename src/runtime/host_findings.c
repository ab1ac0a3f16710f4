/* What a program's host code did wrong (launch_list.h). */
#include "runtime/launch_list.h"

#include "base/memory.h"
#include "runtime/program_messages.h"

#include <stdlib.h>

typedef struct Found {
    CheckTool tool;
    HostFinding *list;
    int count, capacity;
    Arena *arena;
} Found;

static void add(Found *found, HostFinding finding) {
    if (!check_tool_shows(found->tool, finding.tool)) return;
    for (int i = 0; i < found->count; i++) /* in a loop, once */
        if (found->list[i].line == finding.line && !strcmp(found->list[i].text, finding.text)) return;
    array_push(found->list, found->count, found->capacity, finding);
}

static void add_launch(Found *found, const Captured *capture, int index) {
    const CapturedLaunch *launch = &capture->launches[index];
    if (!launch->is_refused) return;
    const char *unchecked = launch->is_checked ? "" : "; the program does not ask for the error";
    add(found, (HostFinding){"refused_launch", TOOL_MEMCHECK, true, launch->file, launch->line, index,
                             arena_print(found->arena, "launch %d of %s is refused: %s%s", index + 1,
                                         launch->name, launch->why, unchecked)});
}

/* Atomic minima and maxima that leave all that the host wrote as it was: one that starts too high, or that
 * compares the bits of floats. (Equal values, and other atomics that change nothing, may be right: flags that
 * nothing clears, sums of zeros.) */
static void add_lost_extremes(Found *found, const Captured *capture, int index) {
    const CapturedLaunch *launch = &capture->launches[index];
    if (!launch->outdone || launch->changes || launch->writes_after_launch || launch->error ||
        launch->repeats >= 0 || !launch->after_count)
        return;
    const CapturedMemory *memory = &capture->memories[launch->changed[0].memory];
    add(found,
        (HostFinding){"lost_extreme", TOOL_NONE, true, launch->extreme.file, launch->extreme.line, index,
                      arena_print(found->arena,
                                  "atomic minima or maxima of launch %d of %s change nothing: %s "
                                  "still holds what the host wrote",
                                  index + 1, launch->name, memory->name)});
}

/* ---- state that a launch leaves to the next one -------------------------------------------------------- */

static const CapturedPage *find_page(const CapturedPage *pages, int count, uint64_t address) {
    for (int i = 0; i < count; i++)
        if (pages[i].address == address) return &pages[i];
    return NULL;
}

static int memory_at(const Captured *capture, const CapturedLaunch *launch, uint64_t address) {
    for (int i = 0; i < launch->memory_count; i++) {
        const CapturedMemory *memory = &capture->memories[launch->memories[i]];
        if (address - memory->address < memory->bytes) return launch->memories[i];
    }
    return -1;
}

/* The variable in which `first` left another value than it found, if `second` finds that and nothing else is
 * new to it; -1: another reason. */
static int find_left_variable(const Captured *capture, const CapturedLaunch *first,
                              const CapturedLaunch *second) {
    int found = -1;
    for (int i = 0; i < second->before_count; i++) {
        const CapturedPage *now = &second->before[i],
                           *then = find_page(first->before, first->before_count, now->address),
                           *left = find_page(first->after, first->after_count, now->address);
        if (!then || page_hash_is_equal(then->hash, now->hash)) continue;
        if (!left || !page_hash_is_equal(left->hash, now->hash)) return -1;
        int memory = memory_at(capture, second, now->address);
        if (memory >= 0 && capture->memories[memory].variable && found < 0) found = memory;
    }
    return found;
}

/* A memory that `first` changed and `second` does not; -1: none. */
static int find_unchanged(const CapturedLaunch *first, const CapturedLaunch *second) {
    for (int i = 0; i < first->changed_count; i++) {
        bool is_in_both = false;
        for (int k = 0; k < second->changed_count; k++)
            is_in_both |= second->changed[k].memory == first->changed[i].memory;
        if (!is_in_both) return first->changed[i].memory;
    }
    return -1;
}

static bool is_same_launch(const CapturedLaunch *a, const CapturedLaunch *b) {
    if (a->device != b->device || a->module != b->module || a->function != b->function ||
        memcmp(a->grid, b->grid, sizeof a->grid) != 0 || memcmp(a->block, b->block, sizeof a->block) != 0)
        return false;
    if (a->parameter_count != b->parameter_count) return false;
    for (int i = 0; i < a->parameter_count; i++)
        if (a->sizes[i] != b->sizes[i] ||
            memcmp(a->parameters + a->offsets[i], b->parameters + b->offsets[i], (size_t)a->sizes[i]) != 0)
            return false;
    return true;
}

/* A counter that no one resets: the same launch with the same data does less the second time. */
static void add_left_state(Found *found, const Captured *capture, int index) {
    enum { MOST_PAGES = 4096 };
    const CapturedLaunch *second = &capture->launches[index], *first = NULL;
    if (second->repeats >= 0 || second->error || !second->memories) return;
    for (int i = index - 1; i >= 0 && !first; i--)
        if (is_same_launch(&capture->launches[i], second)) first = &capture->launches[i];
    if (!first || first->repeats >= 0 || first->error || first->before_count > MOST_PAGES ||
        second->before_count > MOST_PAGES)
        return;
    int unchanged = find_unchanged(first, second),
        variable = unchanged >= 0 ? find_left_variable(capture, first, second) : -1;
    if (variable < 0) return;
    CapturedLine line = {second->file, second->line};
    for (int i = 0; i < second->use_count; i++)
        if (second->uses[i].memory == variable) line = second->uses[i].line;
    add(found,
        (HostFinding){"left_state", TOOL_NONE, true, line.file, line.line, index,
                      arena_print(found->arena,
                                  "launch %d of %s does not write %s as launch %d did with the same data: %s "
                                  "begins with what that "
                                  "launch left in it",
                                  index + 1, second->name, capture->memories[unchanged].name,
                                  (int)(first - capture->launches) + 1, capture->memories[variable].name)});
}

/* What a launch that never ends may have waited for, on a GPU. */
static void add_awaited(Found *found, const Captured *capture, int index) {
    const CapturedLaunch *launch = &capture->launches[index];
    bool is_shared = false, has_streams = false;
    if (launch->trap != TRAP_DEADLOCK) return;
    for (int i = 0; i < launch->memory_count; i++)
        is_shared |= capture->memories[launch->memories[i]].kind != MEMORY_DEVICE;
    is_shared &= launch->meets_host;
    for (int i = index + 1; i < capture->launch_count; i++)
        has_streams |=
            capture->launches[i].stream != launch->stream && capture->launches[i].device == launch->device;
    if (!is_shared && !has_streams) return;
    add(found,
        (HostFinding){"awaited", TOOL_NONE, false, launch->file, launch->line, index,
                      arena_print(found->arena,
                                  "launch %d of %s may wait for %s: redviz ends a launch before the next "
                                  "launch, copy or event, whatever its stream",
                                  index + 1, launch->name,
                                  is_shared ? "what the host writes later" : "a launch in another stream")});
}

static const struct {
    const char *kind;
    CheckTool tool;
} fault_kinds[] = {[CAPTURED_CALL_FAILED] = {"failed_call", TOOL_MEMCHECK},
                   [CAPTURED_HOST_ACCESS] = {"host_access", TOOL_MEMCHECK},
                   [CAPTURED_USED_FREED] = {"use_after_free", TOOL_MEMCHECK},
                   [CAPTURED_UNORDERED] = {"unordered_launches", TOOL_RACECHECK},
                   [CAPTURED_STALE] = {"stale_data", TOOL_NONE},
                   [CAPTURED_NOT_CLEARED] = {"not_cleared", TOOL_NONE},
                   [CAPTURED_EARLY] = {"early_access", TOOL_RACECHECK},
                   [CAPTURED_COUNTER] = {"left_counter", TOOL_NONE},
                   [CAPTURED_LACKS] = {"missing_function", TOOL_ANY}};

/* What one launch leaves to another. */
static void add_between_launches(Found *found, const Captured *capture, const CapturedFault *fault) {
    if (fault->after < 1 || fault->after > capture->launch_count || fault->error < 1 ||
        fault->error > capture->launch_count || fault->memory < 0)
        return;
    const CapturedLaunch *later = &capture->launches[fault->after - 1],
                         *earlier = &capture->launches[fault->error - 1];
    const char *name = capture->memories[fault->memory].name, *text = NULL;
    Arena *arena = found->arena;
    if (fault->kind == CAPTURED_UNORDERED)
        text = arena_print(arena,
                           "launch %d of %s and launch %d of %s use %s in two streams that nothing orders: "
                           "let the second stream wait for an event of the first (cudaStreamWaitEvent)",
                           fault->after, later->name, fault->error, earlier->name, name);
    if (fault->kind == CAPTURED_STALE)
        text = arena_print(arena,
                           "launch %d of %s reads more of %s than was written anew: the rest is left from "
                           "launch %d of %s, whose grid was larger",
                           fault->after, later->name, name, fault->error, earlier->name);
    if (fault->kind == CAPTURED_NOT_CLEARED)
        text = arena_print(arena,
                           "launch %d of %s adds to %s, which was not cleared after launch %d: the host has "
                           "read that launch's result there, and the data is the same",
                           fault->after, later->name, name, fault->error);
    if (fault->kind == CAPTURED_COUNTER)
        text = arena_print(arena,
                           "launch %d of %s finds the counter %s as launch %d left it, and writes less than "
                           "that launch: nothing puts the counter back",
                           fault->after, later->name, name, fault->error);
    for (int i = 0; i < found->count; i++) /* told already, with the same data */
        if (fault->kind == CAPTURED_COUNTER && found->list[i].launch == fault->after - 1) return;
    add(found, (HostFinding){fault_kinds[fault->kind].kind, fault_kinds[fault->kind].tool, true, later->file,
                             later->line, fault->after - 1, text});
}

static const char *early_text(Arena *arena, const Captured *capture, const CapturedFault *fault) {
    const char *name = fault->memory >= 0 ? capture->memories[fault->memory].name : "memory";
    if (fault->error < 1 || fault->error > capture->launch_count)
        return arena_print(arena,
                           "the host %ss %s before it has waited for the asynchronous copy to it: call "
                           "cudaStreamSynchronize() between them",
                           fault->call, name);
    return arena_print(arena,
                       "the host %ss %s before it has waited for launch %d of %s, which uses it: call "
                       "cudaDeviceSynchronize() between them",
                       fault->call, name, fault->error, capture->launches[fault->error - 1].name);
}

static void add_fault(Found *found, const Captured *capture, const CapturedFault *fault) {
    const char *text;
    Arena *arena = found->arena;
    switch (fault->kind) {
    case CAPTURED_HOST_ACCESS: {
        const char *name = fault->memory >= 0 ? capture->memories[fault->memory].name : NULL;
        text = arena_print(arena, "the host %ss device memory%s%s%s%s, which ends the program", fault->call,
                           name ? " " : "", name ? name : "", fault->function ? " in " : "",
                           fault->function ? fault->function : "");
        break;
    }
    case CAPTURED_EARLY:
        text = early_text(arena, capture, fault);
        break;
    case CAPTURED_USED_FREED:
        text = arena_print(arena, "launch %d of %s uses %s, which the host freed here", fault->after,
                           capture->launches[fault->after - 1].name, capture->memories[fault->memory].name);
        break;
    case CAPTURED_UNORDERED:
    case CAPTURED_STALE:
    case CAPTURED_NOT_CLEARED:
    case CAPTURED_COUNTER:
        add_between_launches(found, capture, fault);
        return;
    case CAPTURED_LACKS:
        text = arena_print(arena, "%s is not emulated: it returned cudaErrorNotSupported", fault->call);
        break;
    default:
        text = arena_print(arena, "%s failed: %s%s", fault->call, fault->what,
                           fault->is_checked ? "" : "; the program does not ask for the error");
        break;
    }
    add(found, (HostFinding){fault_kinds[fault->kind].kind, fault_kinds[fault->kind].tool,
                             fault->kind != CAPTURED_LACKS, fault->file, fault->line, -1, text});
}

/* A status that means failure, where no CUDA call returned an error that would explain it. */
static void add_end(Found *found, const Program *program) {
    const Captured *capture = program->capture;
    bool has_failed = program->end == PROGRAM_KILLED || (program->end == PROGRAM_EXITED && program->status);
    bool has_error = capture->fault_count > 0;
    for (int i = 0; i < capture->launch_count; i++)
        has_error |= capture->launches[i].error || capture->launches[i].is_refused;
    if (!has_failed || has_error || !capture->launch_count) return;
    Text end = {0};
    program_describe_end(program, &end);
    add(found, (HostFinding){HOST_PROGRAM_END, TOOL_ANY, true, NULL, 0, -1,
                             arena_print(found->arena, "the program %s, though no CUDA call failed",
                                         text_string(&end))});
    text_done(&end);
}

HostFinding *host_findings(const Program *program, CheckTool tool, Arena *arena, int *count) {
    const Captured *capture = program->capture;
    Found found = {.tool = tool, .arena = arena};
    for (int i = 0; i < capture->launch_count; i++) {
        add_launch(&found, capture, i);
        add_lost_extremes(&found, capture, i);
        add_left_state(&found, capture, i);
        add_awaited(&found, capture, i);
    }
    for (int i = 0; i < capture->fault_count; i++) add_fault(&found, capture, &capture->faults[i]);
    add_end(&found, program);
    *count = found.count;
    return found.list;
}

void host_findings_print(const Program *program, CheckTool tool, Text *out) {
    Arena arena = {0};
    int count;
    HostFinding *list = host_findings(program, tool, &arena, &count);
    for (int i = 0; i < count; i++) {
        const char *slash = list[i].file ? strrchr(list[i].file, '/') : NULL,
                   *name = slash ? slash + 1 : list[i].file;
        text_add(out, list[i].is_error ? "error: " : "note: ");
        if (list[i].line) text_print(out, "%s line %d: ", name, list[i].line);
        text_print(out, "%s\n", list[i].text);
    }
    free(list);
    arena_done(&arena);
}

int host_findings_count_errors(const Program *program, CheckTool tool) {
    Arena arena = {0};
    int count, errors = 0;
    HostFinding *list = host_findings(program, tool, &arena, &count);
    for (int i = 0; i < count; i++) errors += list[i].is_error;
    free(list);
    arena_done(&arena);
    return errors;
}
