/* Memory: the one allocator, arenas and growing arrays. Out of memory ends the program with one line. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Zeroed memory; never NULL. Free with free(). */
void *memory_new(size_t bytes);
/* As above, aligned to a cache line of 64 bytes. */
void *memory_new_aligned(size_t bytes);
void *memory_resize(void *old, size_t bytes);
char *memory_copy_text(const char *text);
uint64_t memory_of_machine(void); /* bytes; 2 GiB where the system does not say */

/* An arena owns everything allocated from it until arena_done(). Zero-initialised is a valid empty arena.
 * Allocations are zeroed and aligned to 16 bytes. */
typedef struct ArenaBlock ArenaBlock;
typedef struct Arena {
    ArenaBlock *blocks;
    size_t used_bytes; /* over all blocks */
} Arena;

void *arena_new(Arena *arena, size_t bytes);
void *arena_copy(Arena *arena, const void *data, size_t bytes);
char *arena_copy_text(Arena *arena, const char *text, size_t length); /* terminated copy */
char *arena_copy_string(Arena *arena, const char *text);              /* as above; NULL for NULL */
char *arena_print(Arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
void arena_done(Arena *arena);

/* array_push(items, count, capacity, value): amortised push onto a malloc'd array of any element type. */
#define array_reserve(items, needed, capacity)                                                               \
    do {                                                                                                     \
        if ((size_t)(needed) > (size_t)(capacity)) {                                                         \
            (capacity) = 2 * (capacity) > (needed) ? 2 * (capacity) : (needed) + 8;                          \
            (items) = memory_resize((items), (size_t)(capacity) * sizeof *(items));                          \
        }                                                                                                    \
    } while (0)
#define array_push(items, count, capacity, value)                                                            \
    do {                                                                                                     \
        array_reserve(items, (count) + 1, capacity);                                                         \
        (items)[(count)++] = (value);                                                                        \
    } while (0)

#endif
