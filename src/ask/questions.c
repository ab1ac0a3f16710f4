/* What the questions share: differences between two results, progress, time limits (questions.h). */
#include "ask/questions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double element(const PlanBuffer *buffer, uint64_t index) {
    Text text = {0};
    plan_element_print(buffer->type, buffer->bytes, index, &text);
    double value = strtod(text_string(&text), NULL);
    text_done(&text);
    return value;
}

/* Sums of floats differ slightly from order to order. */
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
    snprintf(to, room, "%s", text_string(&text));
    text_done(&text);
}

bool ask_difference(const Session *session, const Session *other, FindingOrder *order) {
    for (int i = 0; i < session->run->plan.buffer_count; i++) {
        const PlanBuffer *a = &session->run->plan.buffers[i], *b = &other->run->plan.buffers[i];
        uint64_t bytes = a->count * (uint64_t)ptx_type_bytes(a->type);
        if (!a->bytes || !b->bytes || !memcmp(a->bytes, b->bytes, bytes)) continue;
        for (uint64_t k = 0; k < a->count; k++) {
            if (!is_other_value(a, b, k)) continue;
            snprintf(order->where, sizeof order->where, "%s[%llu]", a->name, (unsigned long long)k);
            put_element(a, k, order->instead_of, sizeof order->instead_of);
            put_element(b, k, order->result, sizeof order->result);
            return true;
        }
    }
    return false;
}

const Trap *ask_fatal_trap(const Trace *trace) {
    for (int i = 0; i < trace->trap_count; i++)
        if (trap_kind_is_fatal(trace->traps[i].kind)) return &trace->traps[i];
    return NULL;
}

void ask_show_progress(const Session *session, const char *what, uint64_t done, uint64_t all) {
    SessionProgress *progress = session->options.progress;
    if (!progress) return;
    progress->done = done;
    progress->blocks = all;
    progress->what = what;
}

const char *ask_source_line(void *context, const char *file, int line) {
    return session_source_line(context, file, line);
}

TimeLimit ask_limit_time(double seconds, double usual) {
    TimeLimit limit = {.seconds = seconds > 0 ? seconds : usual};
    limit.end = clock() + (clock_t)(limit.seconds * (double)CLOCKS_PER_SEC);
    return limit;
}

bool ask_time_is_over(const TimeLimit *limit) {
    return clock() >= limit->end;
}
