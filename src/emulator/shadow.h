/* Shadows: what a replay knows of a value beside its bits, its weight and its producer (emulator.h). Private
 * to the emulator.
 *
 * Every slot of a frame's registers has a Shadow (slots begin at multiples of 64 bytes: shadow = offset /
 * 64), and after these every 4 bytes of its parameters. How shadows flow through an instruction is read off
 * its operands: no handler knows of it. */
#ifndef EMULATOR_SHADOW_H
#define EMULATOR_SHADOW_H

#include "emulator/warp.h"

struct Shadow {
    uint32_t weight[WARP_LANES];
    int32_t producer[WARP_LANES]; /* -1: none */
};

Shadow *shadows_new(const FunctionLayout *layout);
size_t shadows_bytes(const FunctionLayout *layout);

/* The shadow of a register; NULL for a constant. */
static inline Shadow *shadow_of(const Frame *frame, Operand place) {
    return place.constant ? NULL : &frame->shadows[place.offset / 64];
}
/* The shadow of 4 bytes of the parameters. */
static inline Shadow *shadow_of_parameter(const Frame *frame, uint64_t offset) {
    return &frame->shadows[frame->layout->register_bytes / 64 + offset / 4];
}

/* How an OP_LANES instruction moves shadows: from the registers of its source operands to those of its
 * destination. */
typedef struct ShadowRules ShadowRules;
ShadowRules *shadow_rules_new(const LoweredProgram *program);
void shadow_rules_free(ShadowRules *rules);
/* Returns the largest weight of a result. */
uint32_t shadow_lanes(const ShadowRules *rules, const Frame *frame, const Op *op, uint32_t mask);
/* Shadows of its source operands, in order; those of a vector as one. */
int shadow_operand_count(const ShadowRules *rules, const Op *op);
void shadow_read_operand(const ShadowRules *rules, const Frame *frame, const Op *op, int operand,
                         Shadow *out);
/* Other producers of what it gave to the lanes of `mask`. */
void shadow_set_producers(const ShadowRules *rules, const Frame *frame, const Op *op, uint32_t mask,
                          const int32_t producer[WARP_LANES]);
/* A value is passed to or from a function. */
void shadow_pass(const Frame *from, const CallValue *source, const Frame *to, const CallValue *destination,
                 uint32_t mask);

/* Memory: the weight and producer of every element that was stored. A `key` is the address of a byte, made
 * unique over all spaces by the caller; elements do not reach from one key's neighbourhood into another's. */
typedef struct ShadowMemory ShadowMemory;
ShadowMemory *shadow_memory_new(void);
void shadow_memory_free(ShadowMemory *memory);
/* False: nothing was stored there. */
bool shadow_memory_read(const ShadowMemory *memory, uint64_t key, int bytes, uint32_t *weight,
                        int32_t *producer);
void shadow_memory_write(ShadowMemory *memory, uint64_t key, int bytes, uint32_t weight, int32_t producer);

static inline uint32_t weight_sum(uint32_t a, uint32_t b) {
    return a + b < a ? UINT32_MAX : a + b;
}

#endif
