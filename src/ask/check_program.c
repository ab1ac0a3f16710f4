/* --check of a program: each distinct launch is searched for hazards, and one verdict is given. */
#define _POSIX_C_SOURCE 200809L
#include "runtime/launch_list.h"
#include "runtime/user_program.h"

#include "base/clock.h"
#include "ask/questions.h"

#include <stdlib.h>

typedef struct Checked { /* what was printed of a launch */
    const char *kernel;
    char *text;
    int launch;
} Checked;

typedef struct ProgramCheck {
    Session *session; /* of the launch that is shown */
    const Program *program;
    const AskCheckScope *scope;
    CheckResults *results;
    Text *out;
    Json json;
    Checked *checked;
    int checked_count, checked_capacity;
    int clean, faulty, left, refused;
    bool unknown, is_none_chosen;
} ProgramCheck;

/* The command whose process made the launch; -1: the only one. NULL: there are several, or none is known. */
static const char *command_of(const Program *program, int launch) {
    const Captured *capture = program->capture;
    int process = launch >= 0 ? capture->launches[launch].device : 0;
    bool is_known = process < capture->process_count && (launch >= 0 || capture->process_count == 1);
    return is_known ? capture->processes[process] : NULL;
}

static void print_head(const ProgramCheck *check, int index, const char *text) {
    const Captured *capture = check->program->capture;
    const CapturedLaunch *launch = &capture->launches[index];
    text_print(check->out, "launch %d, %s", index + 1, launch->name);
    if (launch->place) text_print(check->out, ", %s", launch->place);
    if (capture->process_count > 1) text_print(check->out, ", by %s", command_of(check->program, index));
    text_print(check->out, ": %s\n", text);
}

/* The same kernel with the same findings: the launch before is named. */
static int find_same(const ProgramCheck *check, const char *kernel, const char *text) {
    for (int i = 0; i < check->checked_count; i++)
        if (!strcmp(check->checked[i].kernel, kernel) && !strcmp(check->checked[i].text, text))
            return check->checked[i].launch;
    return -1;
}

static void print_checked(ProgramCheck *check, int index, Session *session, bool has_findings) {
    const char *kernel = check->program->capture->launches[index].name;
    Text text = {0};
    ask_check(session, check->results->tool, CHECK_TEXT, &text);
    int same = find_same(check, kernel, text_string(&text));
    if (same >= 0) {
        char as[64];
        snprintf(as, sizeof as, "as launch %d", same + 1);
        if (has_findings) print_head(check, index, as);
    } else if (has_findings || index == session_spec(check->session)->launch) {
        print_head(check, index, "");
        text_add(check->out, text_string(&text));
    }
    Checked kept = {kernel, memory_copy_text(text_string(&text)), index};
    array_push(check->checked, check->checked_count, check->checked_capacity, kept);
    text_done(&text);
}

static void add_limit(const ProgramCheck *check, int index, const char *why) {
    Text text = {0};
    text_print(&text, "Launch %d of %s was not checked: %s.", index + 1,
               check->program->capture->launches[index].name, why);
    results_add_limit(check->results, text_string(&text));
    results_add_case(check->results, command_of(check->program, index),
                     check->program->capture->launches[index].name, text_string(&text));
    text_done(&text);
}

/* Of a tool only what it shows. */
static bool has_found_errors(const ProgramCheck *check, Session *session) {
    Findings *hazards = ask_hazards(session);
    CheckTool tool = check->results->tool;
    int shown = 0;
    for (int i = 0; hazards && i < hazards->error_count; i++)
        shown += check_tool_shows(tool, finding_tool(&hazards->items[i]));
    return shown || (!tool && ask_failed(session));
}

static void check_one(ProgramCheck *check, int index) {
    RunSpec options = *session_spec(check->session);
    Error error = {0};
    options.launch = index;
    options.search_races = true;
    options.progress = NULL;
    Session *session = session_open(&options, &error);
    if (!session) {
        check->unknown = true;
        if (check->scope->form == CHECK_TEXT) print_head(check, index, error.message);
        add_limit(check, index, error.message);
        return;
    }
    bool has_errors = has_found_errors(check, session);
    check->unknown |= session_is_unsupported(session);
    check->faulty += has_errors;
    check->clean += !has_errors;
    if (check->scope->form == CHECK_TEXT) {
        print_checked(check, index, session, has_errors);
    } else if (check->scope->form == CHECK_JSON) {
        Text text = {0};
        ask_check(session, check->results->tool, CHECK_JSON, &text);
        text_print(check->out, "%s%s", check->clean + check->faulty > 1 ? "," : "", text_string(&text));
        text_done(&text);
    }
    ask_add_results(session, command_of(check->program, index), check->results);
    session_free(session);
}

static bool is_checked(const CapturedLaunch *launch) {
    return launch->repeats < 0 && !launch->is_refused && launch->memories;
}

static void check_launches(ProgramCheck *check) {
    const Captured *capture = check->program->capture;
    double end = clock_seconds() + check->scope->seconds;
    bool *is_chosen = memory_new((size_t)capture->launch_count + 1);
    if (!launch_choice_apply(&check->scope->launches, capture, is_chosen) && capture->launch_count) {
        check->unknown = check->is_none_chosen = true;
        results_add_limit(check->results, "No launch was checked: --kernel-name, --launch-skip and "
                                          "--launch-count leave none.");
    }
    for (int i = 0; i < capture->launch_count; i++) {
        if (!is_chosen[i] || !is_checked(&capture->launches[i])) continue;
        if (clock_seconds() > end) {
            check->left++;
            add_limit(check, i, "the time limit was reached (--time-limit)");
        } else
            check_one(check, i);
    }
    free(is_chosen);
}

/* `source`: what its fingerprint is made of if it has no line; NULL: nothing. */
static void add_host_result(const Program *program, Session *session, const HostFinding *found,
                            const char *source, CheckResults *results) {
    bool has_line = found->file && found->line;
    CheckResult result = {.kind = found->kind,
                          .title = found->kind,
                          .severity = found->is_error ? SEVERITY_ERROR : SEVERITY_NOTE,
                          .is_sure = true,
                          .program = command_of(program, found->launch),
                          .kernel = found->launch >= 0 ? program->capture->launches[found->launch].name : "",
                          .place = {.file = has_line ? found->file : NULL, .line = found->line},
                          .message = found->text,
                          .source = !has_line ? source
                                    : session ? ask_source_line(session, found->file, found->line)
                                              : NULL};
    results_add(results, &result);
}

void ask_add_host_results(const Program *program, Session *session, CheckResults *results) {
    Arena arena = {0};
    Text end = {0};
    int count;
    HostFinding *list = host_findings(program, results->tool, &arena, &count);
    bool has_end = !program_has_failed(program);
    results_begin(results);
    for (int i = 0; i < count; i++) {
        add_host_result(program, session, &list[i], list[i].launch < 0 ? list[i].text : NULL, results);
        has_end |= !strcmp(list[i].kind, HOST_PROGRAM_END);
    }
    results_add_case(results, command_of(program, -1), "", program->static_runtime);
    text_add(&end, "the program ");
    program_describe_end(program, &end);
    bool is_stopped = program->end == PROGRAM_TIME || program->end == PROGRAM_STOPPED; /* with times */
    HostFinding last = {HOST_PROGRAM_END, TOOL_ANY, true, NULL, 0, -1, text_string(&end)};
    if (!has_end) add_host_result(program, session, &last, is_stopped ? NULL : last.text, results);
    text_done(&end);
    free(list);
    arena_done(&arena);
}

static void print_verdict(const ProgramCheck *check, int host_errors) {
    Text *out = check->out;
    host_findings_print(check->program, check->results->tool, out);
    text_print(out, "%d distinct launch%s of %d: ", check->clean + check->faulty,
               check->clean + check->faulty == 1 ? "" : "es", check->program->capture->launch_count);
    if (check->faulty)
        text_print(out, "%d with errors", check->faulty);
    else
        text_add(out, check->program->is_judged ? "no error found"
                                                : "no error found; what it computes is not checked");
    if (check->is_none_chosen)
        text_add(out, "; none is chosen (--kernel-name, --launch-skip, --launch-count)");
    if (host_errors) text_print(out, "; %d error%s of the program", host_errors, host_errors == 1 ? "" : "s");
    if (check->left)
        text_print(out, "; %d not checked, since the time limit was reached (--time-limit)", check->left);
    text_add(out, "\nprogram ");
    program_describe_end(check->program, out);
    text_add(out, "\n");
}

void ask_check_program(Session *session, const AskCheckScope *scope, CheckResults *results, bool *failed,
                       bool *unknown, Text *out) {
    const Program *program = session_spec(session)->program;
    ProgramCheck check = {
        .session = session, .program = program, .scope = scope, .results = results, .out = out};
    int host_errors = host_findings_count_errors(program, results->tool);
    if (scope->form == CHECK_JSON) {
        Json json = {.out = out};
        json_open_object(&json, NULL);
        launch_list_put_json(program, &json);
        json_open_array(&json, "checked");
        check_launches(&check);
        json_close_array(&json);
        json_close_object(&json);
        text_add(out, "\n");
    } else {
        check_launches(&check);
        if (scope->form == CHECK_TEXT) print_verdict(&check, host_errors);
    }
    ask_add_host_results(program, session, results);
    *failed = check.faulty || host_errors;
    *unknown = check.unknown || check.left;
    for (int i = 0; i < check.checked_count; i++) free(check.checked[i].text);
    free(check.checked);
}
