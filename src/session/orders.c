/* Other orders of warps and blocks, in which a race gives another result (session.h). */
#include "session/hazards.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
    Session *other = session_open_copy(session, NULL, schedule, false);
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
