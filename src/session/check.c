/* What --check prints. */
#include "session/hazards.h"

static void print_order(const SessionOrder *order, Text *out) {
    if (!order->schedule) return;
    text_print(out, "With --schedule %llu the result is %s instead of %s.\n",
               (unsigned long long)order->schedule, order->result, order->instead_of);
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

void session_check(const Session *session, bool json, Text *out) {
    const Findings *hazards = session_hazards(session);
    session_prove(session);
    if (json) {
        Json object = {.out = out};
        json_open_object(&object, NULL);
        json_string(&object, "kernel", session_name(session));
        findings_put_json(hazards, &object);
        put_order(&object, session_bad_order(session));
        json_close_object(&object);
        text_add(out, "\n");
    } else if (hazards) {
        findings_print(hazards, session_find_source_line, (void *)(uintptr_t)session, out);
        print_order(session_bad_order(session), out);
    } else {
        text_add(out, "Hazards are not known: the saved session has none.\n");
    }
}
