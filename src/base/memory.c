#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ARENA_BLOCK_BYTES = 64 * 1024 };

struct ArenaBlock {
    ArenaBlock *next;
    size_t used, capacity;
    max_align_t data[];
};

static void *check(void *pointer, size_t bytes) {
    if (pointer || !bytes) return pointer;
    fprintf(stderr, "redviz: out of memory (%zu bytes requested); use a smaller --n or fewer traced blocks\n",
            bytes);
    exit(1);
}

void *memory_new(size_t bytes) {
    return check(calloc(1, bytes ? bytes : 1), bytes);
}

void *memory_new_aligned(size_t bytes) {
    enum { LINE = 64 };
    size_t whole = (bytes / LINE + 1) * LINE; /* aligned_alloc() requires a multiple */
    return memset(check(aligned_alloc(LINE, whole), whole), 0, whole);
}

void *memory_resize(void *old, size_t bytes) {
    return check(realloc(old, bytes ? bytes : 1), bytes);
}

char *memory_copy_text(const char *text) {
    size_t bytes = strlen(text) + 1;
    return memcpy(memory_new(bytes), text, bytes);
}

uint64_t memory_of_machine(void) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_C(2) << 30;
}

void *arena_new(Arena *arena, size_t bytes) {
    bytes = (bytes + 15) & ~(size_t)15;
    ArenaBlock *block = arena->blocks;
    if (!block || block->capacity - block->used < bytes) {
        size_t capacity = bytes > ARENA_BLOCK_BYTES ? bytes : ARENA_BLOCK_BYTES;
        block = memory_new(sizeof *block + capacity);
        block->capacity = capacity;
        block->next = arena->blocks;
        arena->blocks = block;
    }
    void *result = (char *)block->data + block->used;
    block->used += bytes;
    arena->used_bytes += bytes;
    return result;
}

void *arena_copy(Arena *arena, const void *data, size_t bytes) {
    void *result = arena_new(arena, bytes);
    if (bytes) memcpy(result, data, bytes);
    return result;
}

char *arena_copy_text(Arena *arena, const char *text, size_t length) {
    char *result = arena_new(arena, length + 1);
    if (length) memcpy(result, text, length);
    return result;
}

char *arena_copy_string(Arena *arena, const char *text) {
    return text ? arena_copy_text(arena, text, strlen(text)) : NULL;
}

char *arena_print(Arena *arena, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    char *result = arena_new(arena, (size_t)length + 1);
    va_start(list, format);
    vsnprintf(result, (size_t)length + 1, format, list);
    va_end(list);
    return result;
}

void arena_done(Arena *arena) {
    for (ArenaBlock *block = arena->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    arena->blocks = NULL;
    arena->used_bytes = 0;
}
