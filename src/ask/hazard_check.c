#define _POSIX_C_SOURCE 200809L
/* The output of --check. */
#include "base/sentence.h"
#include "ask/questions.h"
#include "runtime/user_program.h"

static void check_json(Session *session, const Findings *hazards, Text *out) {
    Json object = {.out = out};
    json_open_object(&object, NULL);
    json_string(&object, "kernel", session_name(session));
    findings_put_json(hazards, &object);
    json_integer(&object, "schedules_searched", session->findings.orders_searched);
    findings_put_limits(hazards, &object);
    json_string(&object, "other_size", ask_other_size(session));
    json_close_object(&object);
    text_add(out, "\n");
}

/* Adding a finding finds the causes again, which would lose proofs: call it before proofs are made. */
static void note_deleted(Session *session) {
    Findings *list = session->findings.hazards;
    if (!list || session_is_from_file(session) || session->findings.has_deleted) return;
    session->findings.has_deleted = true;
    findings_note_deleted(list, session->run->trace, ask_source_line, session);
}

/* A guessed launch may hide hazards that another launch shows, and have hazards that no other has. */
static void print_launch(Session *session, const Findings *hazards, Text *out) {
    const GuessAccount *account = &session->guess.account;
    report_print_guess(account->guessed, account->has_program ? session->options.file : NULL, out);
    if (account->read) text_print(out, "Read in the file: %s\n", account->read);
    if (account->invents_arguments && hazards->error_count > ask_sure_errors(session))
        text_add(out, "With guessed arguments:\n");
}

/* The result beside --expect, with what it may be off by; or that nobody named it. A wrong one is a
 * finding. */
static void print_result(const Session *session, Text *out) {
    bool is_over = !trace_has_fatal_trap(session->run->trace);
    const ExpectResult *result = session->has_result && session->result.correct ? &session->result : NULL;
    const char *what = session->guess.verdict.looks_like;
    Text line = {0};
    if (result && what && is_over) {
        text_print(&line, "The result is %s, expected %s: %s", result->result_text, result->expected_text,
                   result->verdict ? result->verdict : "ok");
        if (result->is_rounding && result->absolute_error > 0)
            text_print(&line, ", off by %.2g, all of it rounding", result->absolute_error);
        else if (result->absolute_error > 0)
            text_print(&line, ", off by %.2g (%.2g allowed)", result->absolute_error, result->bound);
        text_print(&line, ", by %s", what);
        if (session->findings.other_input)
            text_print(&line, "; it is right %s, too.", session->findings.other_input);
        else if (result->bound > 0 && !result->is_rounding)
            text_print(&line, "; a fault that changes it by less than %.2g would not show.", result->bound);
        else
            text_add(&line, ".");
        sentence_print(out, "", text_string(&line));
    }
    text_done(&line);
    bool is_judged = session->options.program && session->options.program->is_judged;
    if (!session->kernel.row && !session->has_result && is_over && !is_judged)
        text_add(out, "The result is not checked; --expect can name what it should be.\n");
}

const Findings *ask_all(Session *session) {
    const Findings *hazards = ask_hazards(session);
    note_deleted(session);
    ask_behind(session);
    ask_other_orders(session);
    ask_late_atomics(session);
    ask_proofs(session);
    ask_losing_orders(session);
    return hazards;
}

/* All that is known of the run's hazards, and the tool shows; NULL: nothing is. */
static const Findings *search_all(Session *session, CheckTool tool) {
    const Findings *hazards = ask_all(session);
    if (hazards) findings_keep_tool(session->findings.hazards, tool);
    return hazards;
}

void ask_add_results(Session *session, const char *program, CheckResults *results) {
    const Findings *hazards = search_all(session, results->tool);
    ResultOrigin origin = {.program = program,
                           .trace = session->run->trace,
                           .source = ask_source_line,
                           .is_sure = ask_is_sure,
                           .context = session};
    if (hazards) results_add_findings(results, hazards, &origin);
}

void ask_check(Session *session, CheckTool tool, AskCheckForm form, Text *out) {
    const Findings *hazards = search_all(session, tool);
    if (form == CHECK_JSON) {
        check_json(session, hazards, out);
    } else if (hazards) {
        print_launch(session, hazards, out);
        findings_print(hazards, ask_source_line, session, out);
        print_result(session, out);
        if (ask_first_nan(session)) sentence_print(out, "", ask_first_nan(session));
        if (session->findings.orders_searched && !ask_bad_order(session))
            text_print(out, "Searched with schedules %d to %d, too, other orders of warps and blocks.\n",
                       session->options.schedule ? 0 : 1, session->findings.orders_searched);
        findings_print_limits(hazards, out);
        if (ask_other_size(session)) sentence_print(out, "", ask_other_size(session));
    } else {
        text_add(out, "Hazards are not known: the saved session has none.\n");
    }
}
