/* Arguments and results of calls, between the frames of two functions (call_values.h). */
#include "emulator/machine/call_values.h"

#include "emulator/machine/shadow.h"
#include "emulator/machine/undefined.h"

#include <stdlib.h>

void call_value_read(const Warp *warp, const Frame *frame, const CallValue *value, int lane, void *to,
                     size_t bytes) {
    memset(to, 0, bytes);
    if (bytes > value->bytes) bytes = value->bytes;
    if (value->in_memory) {
        memcpy(to, frame->parameters + (size_t)lane * frame->layout->parameter_bytes + value->offset, bytes);
        return;
    }
    const uint8_t *file = value->place.constant ? warp->base.at[IN_CONSTANTS] : frame->registers;
    for (size_t at = 0, part = value->part_bytes; at < bytes; at += part)
        memcpy((uint8_t *)to + at, file + call_value_part(value, (uint32_t)at).offset + (size_t)lane * part,
               bytes - at < part ? bytes - at : part);
}

void call_value_write(const Frame *frame, const CallValue *value, int lane, const void *from, size_t bytes) {
    if (!value->present) return;
    if (bytes > value->bytes) bytes = value->bytes;
    if (value->in_memory) {
        memcpy(frame->parameters + (size_t)lane * frame->layout->parameter_bytes + value->offset, from,
               bytes);
        return;
    }
    for (size_t at = 0, part = value->part_bytes; at < bytes; at += part)
        memcpy(frame->registers + call_value_part(value, (uint32_t)at).offset + (size_t)lane * part,
               (const uint8_t *)from + at, bytes - at < part ? bytes - at : part);
}

void call_values_pass(const Warp *warp, uint32_t mask, const Frame *from, const CallValue *source, Frame *to,
                      const CallValue *destination, int count) {
    for (int i = 0; i < count; i++) {
        size_t bytes = source[i].bytes < destination[i].bytes ? source[i].bytes : destination[i].bytes;
        uint8_t small[64], *buffer = bytes <= sizeof small ? small : memory_new(bytes);
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            int lane = __builtin_ctz(rest);
            call_value_read(warp, from, &source[i], lane, buffer, bytes);
            call_value_write(to, &destination[i], lane, buffer, bytes);
        }
        if (warp->block->follows) undefined_pass(from, &source[i], to, &destination[i], mask);
        if (warp->block->grid->shadow) shadow_pass(warp, from, &source[i], to, &destination[i], mask);
        if (warp->block->hooks) warp->block->hooks->after_pass(from, &source[i], to, &destination[i], mask);
        if (buffer != small) free(buffer);
    }
}

void call_values_return(const Warp *warp, const Frame *frame, uint32_t mask) {
    if (!frame->call) return;
    call_values_pass(warp, mask, frame, frame->layout->results, frame->parent, frame->results,
                     frame->result_count);
}
