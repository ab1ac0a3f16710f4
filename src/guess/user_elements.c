/* Other elements for the inputs of a run: exchanged, another draw, or both mixed (user_alike.c). */
#include "guess/user_launch.h"

#include "plan/loops.h"
#include <stdlib.h>
#include <string.h>

bool user_is_drawn(const PlanBuffer *buffer) {
    return (buffer->fill == FILL_RANDOM || buffer->fill == FILL_DIGITS) && buffer->count > 1;
}

uint64_t user_count_elements(const Plan *plan) {
    uint64_t most = 0;
    for (int i = 0; i < plan->buffer_count; i++)
        if (user_is_drawn(&plan->buffers[i]) && plan->buffers[i].count > most) most = plan->buffers[i].count;
    return most;
}

/* All inputs alike: what stands at one place stays together. */
static void exchange(const PlanBuffer *buffer, uint64_t group, uint64_t seed) {
    size_t bytes = (size_t)group * (size_t)ptx_type_bytes(buffer->type);
    uint8_t *all = buffer->bytes, *kept = memory_new(bytes);
    for (uint64_t i = buffer->count / group - 1; i > 0; i--) {
        uint64_t k = loops_random_bits(seed, i) % (i + 1);
        memcpy(kept, all + i * bytes, bytes);
        memmove(all + i * bytes, all + k * bytes, bytes);
        memcpy(all + k * bytes, kept, bytes);
    }
    free(kept);
}

static void mix(const PlanBuffer *buffer, const uint8_t *others, const GuessElements *elements) {
    size_t bytes = (size_t)elements->group * (size_t)ptx_type_bytes(buffer->type);
    for (uint64_t i = 0; i < buffer->count / elements->group; i++)
        if ((loops_random_bits(elements->seed, i) >> 63) != elements->is_rest)
            memcpy((uint8_t *)buffer->bytes + i * bytes, others + i * bytes, bytes);
}

static bool take_others(Plan *plan, int index, const GuessElements *elements, uint64_t seed, Error *error) {
    PlanBuffer *buffer = &plan->buffers[index];
    void *own = buffer->bytes;
    buffer->bytes = NULL;
    bool good = plan_fill_buffer(plan, index, ~seed, error);
    void *others = buffer->bytes;
    buffer->bytes = elements->kind == ELEMENTS_OTHER && good ? others : own;
    if (others && good && elements->kind == ELEMENTS_MIXED) mix(buffer, others, elements);
    free(buffer->bytes == own ? others : own);
    return good;
}

bool guess_change_elements(Plan *plan, const GuessElements *elements, uint64_t seed, Error *error) {
    uint64_t count = elements->kind == ELEMENTS_OWN ? 0 : user_count_elements(plan);
    for (int i = 0; i < plan->buffer_count; i++) {
        const PlanBuffer *buffer = &plan->buffers[i];
        if (!count || !user_is_drawn(buffer) || buffer->count != count) continue;
        if (elements->kind == ELEMENTS_EXCHANGED)
            exchange(buffer, elements->group, elements->seed);
        else if (!take_others(plan, i, elements, seed, error))
            return false;
    }
    return true;
}
