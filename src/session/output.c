/* The printing of a session's report, events and buffers (session.h). */
#include "plan/npy.h"
#include "report/report_sass.h"
#include "session/file.h"
#include "session/hazards.h"
#include "session/state.h"

#include "runtime/launch_list.h"

#include <stdlib.h>
#include <string.h>

static const char *report_source(void *context, const char *file, int line) {
    return session_source_line(context, file, line);
}

typedef struct SassList { /* of all launches */
    const SassKernel *sass[PLAN_LAUNCHES];
    const SassComparison *compared[PLAN_LAUNCHES];
    const char *why[PLAN_LAUNCHES];
} SassList;

static void list_sass(Session *session, SassList *list) {
    *list = (SassList){.sass = {NULL}};
    for (int i = 0; i < session->run->launches.count && i < PLAN_LAUNCHES; i++) {
        list->sass[i] = session_sass(session, i, &list->why[i]);
        list->compared[i] = session_compared_sass(session, i);
    }
}

void session_print_sass(Session *session, bool json, Text *out) {
    SassList list;
    for (int i = 0; i < session->run->launches.count; i++) session_assemble_sass(session, i, 60);
    list_sass(session, &list);
    ReportSass input = {.kernel = session_name(session),
                        .launch_count = session->run->launches.count,
                        .sass = list.sass,
                        .compared = list.compared,
                        .why = list.why,
                        .source_text = report_source,
                        .context = session};
    (json ? report_sass_json : report_sass_text)(&input, out);
}

static uint64_t count_blocks(const Session *session) {
    uint64_t blocks = 0;
    for (int i = 0; i < session->run->plan.launch_count; i++)
        blocks += launch_volume(session->run->plan.launches[i].grid);
    return blocks;
}

/* The launches of the program before the one that is reported. */
static void print_program(const Session *session, Text *out) {
    enum { MOST_ROWS = 40 };
    const SessionOptions *options = &session->options;
    const Captured *capture = options->program->capture;
    const char *place = capture->launches[options->launch].place;
    launch_list_print(options->program, MOST_ROWS, out);
    text_print(out, "\nlaunch %d of %d%s%s\n", options->launch + 1, capture->launch_count, place ? ", " : "",
               place ? place : "");
}

static void put_program(void *context, Json *json) {
    const Session *session = context;
    json_integer(json, "launch", session->options.launch + 1);
    launch_list_put_json(session->options.program, json);
}

void session_report(Session *session, bool json, Text *out) {
    SassList list;
    if (session->options.program && !json) print_program(session, out);
    list_sass(session, &list);
    const TraceLaunch *first = session->run->trace->launches[0];
    /* what the catalogue says of a kernel need not be true of a changed copy */
    const CatalogRow *as_ships = session->code.is_edited ? NULL : session->kernel.row;
    const char *readable = as_ships ? as_ships->title : NULL;
    bool known = json && (session->run->detector || session->options.is_from_file);
    if (known) session_hazards(session); /* which may find the result wrong */
    ReportInput input = {
        .guess = session->guess.account.guessed,
        .unopened = session_unopened_source(session),
        .other_size = session_other_size(session),
        .compiled_by = session->code.refusal,
        .read = session->guess.account.read,
        .looks_like = session->guess.verdict.looks_like,
        .changes_nothing = session->guess.verdict.changes_nothing,
        .put_more = session->options.program ? put_program : NULL,
        .put_context = session,
        .is_guess = session_is_guess(session),
        .program = session->guess.account.has_program ? session->options.file : NULL,
        .kernel = session_name(session),
        .title = readable,
        .lesson = as_ships ? as_ships->lesson : NULL,
        .backend = session->run->trace->producer,
        .device = session->machine.device,
        .counted_by = session->options.has_trace_blocks ? session->run->trace->producer : "emulator",
        .dropped = session_dropped_events(session),
        .unprobed = session->machine.unprobed,
        .n = session->kernel.n,
        .block = (uint32_t)launch_volume(first->block),
        .grid = (uint32_t)launch_volume(first->grid),
        .dtype = session->kernel.dtype,
        .op = session->kernel.op,
        .has_result = session->has_result,
        .narrowed = session->options.has_trace_blocks,
        .interrupted = session_is_interrupted(session),
        .blocks_done = session->run->blocks_done,
        .blocks = count_blocks(session),
        .trace = session->run->trace,
        .registers = session->run->launches.registers,
        .occupancy = session->run->launches.occupancy,
        .occupancy_of = "an H200",
        .measured = &session->machine.measured,
        .timeline = session_own_grid(session),
        .timeline_is_live = session_grid(session)->is_live,
        .recorded = session_recorded(session),
        .unmeasured = session_uncounted(session),
        .counts_only = !json,
        .hazards = known ? session_hazards(session) : NULL,
        .verdict_list = json ? session_verdict(session) : session_counted_findings(session),
        .sass = list.sass,
        .compared_sass = list.compared,
        .no_sass = list.why,
        .source_text = report_source,
        .context = session,
    };
    if (session->has_result) {
        input.correct = session->result.correct;
        input.result = trace_has_fatal_trap(session->run->trace) ? NULL : session->result.result_text;
        input.expected = session->result.expected_text;
        input.absolute_error = session->result.absolute_error;
        input.relative_error = session->result.relative_error;
        input.bound = session->result.bound;
        input.verdict = session->result.verdict;
        input.compared = session->result.compared;
        input.index = session->result.index;
    }
    (json ? report_json : report_text)(&input, out);
}

void session_events(const Session *session, FILE *to) {
    Text line = {0};
    TraceEvent event;
    for (int i = 0; i < session->view_count; i++) {
        const SessionBlock *view = &session->views[i].shown;
        const TraceLaunch *launch = session->run->trace->launches[view->launch];
        bool captured = session_is_captured(session) && session->machine.device;
        fprintf(to, "# launch %d %s block %u: %d events%s%s\n", view->launch, launch->name,
                trace_block_linear(view->block), trace_block_event_count(view->block), captured ? " of " : "",
                captured ? session->machine.device : "");
        if (launch->dropped)
            fprintf(to, "# %llu events found no room\n", (unsigned long long)launch->dropped);
        for (int j = 0; j < trace_block_event_count(view->block); j++) {
            trace_block_read(view->block, j, &event);
            text_clear(&line);
            trace_event_print(session->run->trace, launch, view->block, &event, &line);
            fprintf(to, "%s\n", text_string(&line));
        }
    }
    text_done(&line);
}

bool session_dump(Session *session, const char *spec, FILE *to, Error *error) {
    size_t length = strcspn(spec, ":");
    int index = plan_find_buffer(&session->run->plan, spec, length);
    const PlanBuffer *found = index < 0 ? NULL : &session->run->plan.buffers[index];
    if (!found) {
        Text names = {0};
        const PlanBuffer *buffers = session->run->plan.buffers;
        for (int i = 0; buffers && i < session->run->plan.buffer_count; i++)
            text_print(&names, "%s%s", i ? ", " : "", buffers[i].name);
        error_set(error, "--dump: no buffer '%.*s'; %s%s", (int)length, spec,
                  names.length ? "there are: " : "the kernel has none", text_string(&names));
        text_done(&names);
        return false;
    }
    uint64_t count = found->count;
    const char *npy = spec[length] && spec[length + 1] == '@' ? spec + length + 2 : NULL;
    if (spec[length] && !npy) {
        char *end;
        count = strtoull(spec + length + 1, &end, 0);
        if (spec[length + 1] < '0' || spec[length + 1] > '9' || *end)
            return error_set(error, "--dump: '%s' is not a count; write BUFFER:COUNT", spec + length + 1);
        if (count > found->count) count = found->count;
    }
    if (!found->bytes && !session_fill_buffer(session, index, error)) return false;
    if (npy) return npy_write(npy, found->type, found->bytes, count, error);
    Text value = {0};
    for (uint64_t i = 0; i < count; i++) {
        text_clear(&value);
        plan_element_print(found->type, found->bytes, i, &value);
        fprintf(to, "%s\n", text_string(&value));
    }
    text_done(&value);
    return true;
}
