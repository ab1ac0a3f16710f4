/* What is wrong with a run: the race detector observes it, or runs it again (session.h). */
#include "session/hazards.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

const TraceObserver *session_observer(Session *session) {
    if (!session->options.search_races) return NULL;
    session->findings.detector = race_detector_new();
    session->findings.observer = race_detector_observer(session->findings.detector);
    return &session->findings.observer;
}

/* The same run again, under the race detector. */
static void search_again(Session *session) {
    SessionOptions options = session->options;
    options.search_races = true;
    options.backend = BACKEND_EMULATOR;
    options.first_look = options.keep_inputs = false;
    options.cancel = NULL;
    Session *watched = session_open(&options, NULL);
    if (!watched) return;
    session->findings.detector = watched->findings.detector;
    watched->findings.detector = NULL;
    session_free(watched);
}

const Findings *session_hazards(const Session *session) {
    Session *cache = (Session *)(uintptr_t)session; /* logically const: made at the first question */
    if (session->findings.hazards || session->is_partial || session_is_from_file(session))
        return session->findings.hazards;
    if (!session->findings.detector) search_again(cache);
    if (!session->findings.detector) return NULL;
    FindingResult result = {.is_wrong = session->has_result && !session->result.correct};
    if (result.is_wrong && !session_has_fatal_trap(session->trace)) {
        result.result = session->result.result_text;
        result.expected = session->result.expected_text;
    }
    cache->findings.hazards = findings_new(session->findings.detector, session->trace, &result);
    return session->findings.hazards;
}

/* ---- another order ---------------------------------------------------------------------------------- */

static bool has_race(const Findings *hazards) {
    for (int i = 0; i < hazards->error_count; i++)
        if (hazards->items[i].kind <= FINDING_GLOBAL_RACE) return true;
    return false;
}

static double element(const PlanBuffer *buffer, uint64_t index) {
    Text text = {0};
    plan_element_print(buffer->type, buffer->bytes, index, &text);
    double value = strtod(text_string(&text), NULL);
    text_done(&text);
    return value;
}

/* Sums of floats may come out a little different in any order. */
static bool is_other_value(const PlanBuffer *a, const PlanBuffer *b, uint64_t index) {
    uint64_t bytes = (uint64_t)ptx_type_bytes(a->type);
    const uint8_t *x = a->bytes, *y = b->bytes;
    if (!memcmp(x + index * bytes, y + index * bytes, bytes)) return false;
    if (!ptx_type_is_float(a->type)) return true;
    double p = element(a, index), q = element(b, index), size = fabs(p) > fabs(q) ? fabs(p) : fabs(q);
    return !(fabs(p - q) <= (bytes < 4 ? 1e-2 : 1e-4) * size);
}

static void put_element(const PlanBuffer *buffer, uint64_t index, char *to, size_t room) {
    Text text = {0};
    plan_element_print(buffer->type, buffer->bytes, index, &text);
    snprintf(to, room, "%s[%llu] = %s", buffer->name, (unsigned long long)index, text_string(&text));
    text_done(&text);
}

static bool find_difference(const Session *session, const Session *other, SessionOrder *order) {
    for (int i = 0; i < session->plan.buffer_count; i++) {
        const PlanBuffer *a = &session->plan.buffers[i], *b = &other->plan.buffers[i];
        uint64_t bytes = a->count * (uint64_t)ptx_type_bytes(a->type);
        if (!a->bytes || !b->bytes || !memcmp(a->bytes, b->bytes, bytes)) continue;
        for (uint64_t k = 0; k < a->count; k++) {
            if (!is_other_value(a, b, k)) continue;
            put_element(a, k, order->instead_of, sizeof order->instead_of);
            put_element(b, k, order->result, sizeof order->result);
            return true;
        }
    }
    return false;
}

static bool try_order(const Session *session, uint64_t schedule, SessionOrder *order) {
    SessionOptions options = session->options;
    options.schedule = schedule;
    options.search_races = options.first_look = options.keep_inputs = false;
    options.backend = BACKEND_EMULATOR;
    options.cancel = NULL;
    Session *other = session_open(&options, NULL);
    bool found = other && !session_has_fatal_trap(other->trace) && find_difference(session, other, order);
    if (found && session->has_result && other->has_result &&
        strcmp(other->result.result_text, session->result.result_text) != 0) {
        snprintf(order->result, sizeof order->result, "%s", other->result.result_text);
        snprintf(order->instead_of, sizeof order->instead_of, "%s", session->result.result_text);
    }
    if (found) order->schedule = schedule;
    session_free(other);
    return found;
}

const SessionOrder *session_bad_order(const Session *session) {
    enum { MOST_ORDERS = 64 };
    Session *cache = (Session *)(uintptr_t)session; /* logically const: looked for at the first question */
    const Findings *hazards = session_hazards(session);
    if (session->findings.has_order || !hazards || session_is_from_file(session))
        return &session->findings.order;
    cache->findings.has_order = true;
    if (!has_race(hazards) || session_has_fatal_trap(session->trace)) return &session->findings.order;
    clock_t start = clock();
    for (uint64_t schedule = 1; schedule <= MOST_ORDERS; schedule++) {
        if (schedule != session->options.schedule && try_order(session, schedule, &cache->findings.order))
            break;
        if (clock() - start > 3 * CLOCKS_PER_SEC / 2) break;
    }
    return &session->findings.order;
}

/* ---- --check ---------------------------------------------------------------------------------------- */

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

static const char *source_line(void *context, const char *file, int line) {
    return session_source_line(context, file, line);
}

void session_check(const Session *session, bool json, Text *out) {
    const Findings *hazards = session_hazards(session);
    if (json) {
        Json object = {.out = out};
        json_open_object(&object, NULL);
        json_string(&object, "kernel", session_name(session));
        findings_put_json(hazards, &object);
        put_order(&object, session_bad_order(session));
        json_close_object(&object);
        text_add(out, "\n");
    } else if (hazards) {
        findings_print(hazards, source_line, (void *)(uintptr_t)session, out);
        print_order(session_bad_order(session), out);
    } else {
        text_add(out, "Hazards are not known: the saved session has none.\n");
    }
}
