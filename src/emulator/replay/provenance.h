/* Provenance: the weight and the producer of a value (replay.h). Private to the emulator.
 *
 * Every slot of a frame's registers has a Provenance (slots begin at multiples of 64 bytes: the index is
 * offset / 64), followed by one per 4 bytes of the frame's parameters. The flow of weights and producers
 * through an instruction is derived from its operands: handlers do not deal with them. */
#ifndef EMULATOR_REPLAY_PROVENANCE_H
#define EMULATOR_REPLAY_PROVENANCE_H

#include "emulator/machine/warp.h"

struct Provenance {
    uint32_t weight[WARP_LANES];
    int32_t producer[WARP_LANES]; /* -1: none */
};

/* Gives a frame its provenance: nothing folded, no producers. */
void provenance_begin_frame(Frame *frame);
void provenance_copy_frame(const Frame *to, const Frame *from);
size_t provenance_bytes(const FunctionLayout *layout);

/* The provenance of a register; NULL for a constant. */
static inline Provenance *provenance_of(const Frame *frame, Operand place) {
    return place.constant ? NULL : &frame->provenance[place.offset / 64];
}
/* The provenance of 4 bytes of the parameters. */
static inline Provenance *provenance_of_parameter(const Frame *frame, uint64_t offset) {
    return &frame->provenance[frame->layout->register_bytes / 64 + offset / 4];
}

/* The flow of provenance through an OP_LANES instruction: from the registers of its sources to those of its
 * destination. */
typedef struct ProvenanceRules ProvenanceRules;
ProvenanceRules *provenance_rules_new(const LoweredProgram *program);
void provenance_rules_free(ProvenanceRules *rules);
/* Returns the largest weight of a result. */
uint32_t provenance_lanes(const ProvenanceRules *rules, const Frame *frame, const Op *op, uint32_t mask);
/* The provenance of its source operands, in order; a vector counts as one. */
int provenance_operand_count(const ProvenanceRules *rules, const Op *op);
void provenance_read_operand(const ProvenanceRules *rules, const Frame *frame, const Op *op, int operand,
                             Provenance *out);
/* The registers of a source operand (several for a vector), and the provenance of one. */
int provenance_part_count(const ProvenanceRules *rules, const Op *op, int operand);
const Provenance *provenance_part(const ProvenanceRules *rules, const Frame *frame, const Op *op, int operand,
                                  int part);
/* Replaces the producers of its results in the lanes of `mask`. */
void provenance_set_producers(const ProvenanceRules *rules, const Frame *frame, const Op *op, uint32_t mask,
                              const int32_t producer[WARP_LANES]);
/* A value is passed to or from a function. */
void provenance_pass(const Frame *from, const CallValue *source, const Frame *to,
                     const CallValue *destination, uint32_t mask);

/* Memory: the weight and producer of every stored element. A `key` is a byte address that the caller makes
 * unique over all spaces; no element spans two spaces. */
typedef struct ProvenanceMemory ProvenanceMemory;
ProvenanceMemory *provenance_memory_new(void);
void provenance_memory_free(ProvenanceMemory *memory);
/* False: nothing was stored there. */
bool provenance_memory_read(const ProvenanceMemory *memory, uint64_t key, int bytes, uint32_t *weight,
                            int32_t *producer);
void provenance_memory_write(ProvenanceMemory *memory, uint64_t key, int bytes, uint32_t weight,
                             int32_t producer);

static inline uint32_t weight_sum(uint32_t a, uint32_t b) {
    return a + b < a ? UINT32_MAX : a + b;
}

#endif
