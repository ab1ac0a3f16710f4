/* What the buffers of a run hold at its end: the same bits in every order of warps and blocks? (ask.h) */
#include "ask/questions.h"

#include <string.h>

static const PlanBuffer *buffer_named(const Session *session, const char *name, size_t length) {
    int index = plan_find_buffer(&session->run->plan, name, length);
    return index < 0 ? NULL : &session->run->plan.buffers[index];
}

/* The first element that both have and whose bits differ; false: there is none. */
static bool find_other_bits(const PlanBuffer *a, const PlanBuffer *b, uint64_t *index) {
    size_t bytes = (size_t)ptx_type_bytes(a->type);
    uint64_t count = a->count < b->count ? a->count : b->count;
    for (*index = 0; *index < count; ++*index)
        if (memcmp((const char *)a->bytes + *index * bytes, (const char *)b->bytes + *index * bytes, bytes) !=
            0)
            return true;
    return false;
}

static bool print_two(const PlanBuffer *a, const PlanBuffer *b, uint64_t index, Text *one, Text *other) {
    text_print(one, "%s[%llu] = ", a->name, (unsigned long long)index);
    plan_element_print(a->type, a->bytes, index, one);
    text_print(other, "%s[%llu] = ", b->name, (unsigned long long)index);
    plan_element_print(b->type, b->bytes, index, other);
    return false;
}

bool ask_same_bits(const Session *session, const char *first, const char *second, bool tries_orders,
                   SameBits *found) {
    const PlanBuffer *a = buffer_named(session, first, strlen(first)),
                     *b = buffer_named(session, second, strlen(second));
    bool is_known = a && b && a->bytes && b->bytes && a->type == b->type;
    uint64_t index;
    *found = (SameBits){0};
    if (!is_known) return false;
    if (find_other_bits(a, b, &index)) return print_two(a, b, index, &found->one, &found->other);
    found->is_order = true;
    for (uint64_t schedule = 1; tries_orders && schedule <= ASK_ORDERS; schedule++) {
        Session *again = session_vary(session, &(RunChange){.schedule = &schedule}, NULL);
        const PlanBuffer *changed = again ? buffer_named(again, second, strlen(second)) : NULL;
        bool differs = changed && changed->bytes && find_other_bits(b, changed, &index);
        if (differs) print_two(b, changed, index, &found->one, &found->other);
        session_free(again);
        if (differs) return false;
    }
    return true;
}

bool ask_finds_unwritten(const Session *session, const char *name, size_t length, uint64_t *index) {
    static const unsigned char unwritten[] = {0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5};
    const PlanBuffer *buffer = buffer_named(session, name, length);
    if (!buffer || !buffer->bytes) return false;
    size_t bytes = (size_t)ptx_type_bytes(buffer->type);
    for (*index = 0; *index < buffer->count; ++*index)
        if (!memcmp((const char *)buffer->bytes + *index * bytes, unwritten, bytes)) return true;
    return false;
}

void ask_same_bits_done(SameBits *found) {
    text_done(&found->one), text_done(&found->other);
}
