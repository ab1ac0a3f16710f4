/* Local memory of a warp's lanes (local_memory.h). */
#include "emulator/machine/local_memory.h"

enum { LOCAL_LIMIT = 512 << 10 };

bool local_reserve(Block *block, Warp *warp, uint64_t bytes) {
    bytes = (bytes + 15) / 16 * 16;
    if (bytes <= warp->local_bytes) return true;
    if (bytes > LOCAL_LIMIT) {
        raise_trap(block, TRAP_STACK_OVERFLOW, warp, PTX_NO_PC, 0, NULL,
                   "a thread needs more than %d KB of local memory; recursion too deep?", LOCAL_LIMIT >> 10);
        return false;
    }
    size_t room = warp->local_bytes * 2 > bytes ? warp->local_bytes * 2 : bytes;
    if (room > LOCAL_LIMIT) room = LOCAL_LIMIT;
    size_t old = warp->local_bytes * WARP_LANES, now = room * WARP_LANES;
    warp->local = memory_resize(warp->local, now);
    warp->local_written = memory_resize(warp->local_written, now / 8);
    memset(warp->local + old, 0xa5, now - old);
    memset((uint8_t *)warp->local_written + old / 8, 0, (now - old) / 8);
    warp->local_bytes = room;
    return true;
}

uint8_t *local_at(const Warp *warp, int lane, uint64_t offset) {
    return offset < warp->local_bytes ? warp->local + local_offset(offset, lane) : NULL;
}
