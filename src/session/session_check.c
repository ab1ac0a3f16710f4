#define _POSIX_C_SOURCE 200809L
/* The output of --check. */
#include "session/hazards.h"

#include "findings/remedy.h"
#include <unistd.h>

/* The emulator's memory is sequentially consistent: other blocks see every access at once. */
static bool lacks_fence(const Findings *hazards) {
    for (int i = 0; i < hazards->error_count; i++)
        if (remedy_class(&hazards->items[i]) == REMEDY_BY_FENCE) return true;
    return false;
}

static void print_order(Session *session, const SessionOrder *order, Text *out) {
    if (order->schedule) {
        text_print(out, "With --schedule %llu the result is %s instead of %s",
                   (unsigned long long)order->schedule, order->result, order->instead_of);
        if (order->tried > 1)
            text_print(out, " (schedules 1 to %llu tried)", (unsigned long long)order->tried);
        text_add(out, ".\n");
    } else if (order->tried) {
        text_print(
            out, "The result is the same with schedules 1 to %llu, other orders of warps and blocks%s.\n",
            (unsigned long long)order->tried,
            lacks_fence(session_hazards(session)) ? "; no schedule shows what a missing fence loses" : "");
    } else if (session->findings.orders_searched) {
        text_print(out, "Searched with schedules %d to %d, too, other orders of warps and blocks.\n",
                   session->options.schedule ? 0 : 1, session->findings.orders_searched);
    }
}

static void put_order(Json *json, const SessionOrder *order) {
    if (!order->schedule) {
        json_null(json, "other_order");
        return;
    }
    json_open_object(json, "other_order");
    json_unsigned(json, "schedule", order->schedule);
    json_string(json, "result", order->result);
    json_string(json, "instead_of", order->instead_of);
    json_close_object(json);
}

static void check_json(Session *session, const Findings *hazards, Text *out) {
    Json object = {.out = out};
    json_open_object(&object, NULL);
    json_string(&object, "kernel", session_name(session));
    findings_put_json(hazards, &object);
    put_order(&object, session_bad_order(session));
    json_unsigned(&object, "schedules_tried", session_bad_order(session)->tried);
    json_integer(&object, "schedules_searched", session->findings.orders_searched);
    findings_put_limits(hazards, &object);
    json_close_object(&object);
    text_add(out, "\n");
}

/* Adding a finding finds the causes again, which would lose proofs: call it before proofs are made. */
static void note_deleted(Session *session) {
    Findings *list = session->findings.hazards;
    if (!list || session_is_from_file(session) || session->findings.has_deleted) return;
    session->findings.has_deleted = true;
    findings_note_deleted(list, session->run->trace, session_find_source_line, session);
}

/* A guessed launch may hide hazards that another launch shows. */
static void print_launch(const Session *session, Text *out) {
    if (session->guess.account.read) text_print(out, "Read in the file: %s\n", session->guess.account.read);
    if (session->guess.account.guessed) text_print(out, "Guessed: %s\n", session->guess.account.guessed);
}

void session_check(Session *session, SessionCheckForm form, Text *out) {
    static const Findings none = {.is_complete = false};
    const Findings *hazards = session_hazards(session);
    note_deleted(session);
    session_search_behind(session);
    session_search_orders(session);
    session_prove(session);
    session_find_orders_of_causes(session);
    if (form == CHECK_JSON) {
        check_json(session, hazards, out);
    } else if (form == CHECK_SARIF) {
        char folder[4096];
        findings_put_sarif(hazards ? hazards : &none, getcwd(folder, sizeof folder), out);
    } else if (hazards) {
        findings_print(hazards, session_find_source_line, session, out);
        print_launch(session, out);
        print_order(session, session_bad_order(session), out);
        findings_print_limits(hazards, out);
    } else {
        text_add(out, "Hazards are not known: the saved session has none.\n");
    }
}
