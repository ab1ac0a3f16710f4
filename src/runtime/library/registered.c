/* Registered memory: pages of the program's own that a kernel may use (cudaHostRegister). They move into a
 * pinned allocation and are mapped at their old addresses, too, so that program and kernels see the same
 * bytes. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "runtime/library/client.h"

typedef struct Registered {
    uint64_t host, bytes;  /* as the program gave them */
    uint64_t pages, place; /* the first page, and the allocation that it is in */
    size_t page_bytes;     /* whole pages; 0: they could not be moved, so kernels have no address */
} Registered;

static struct {
    Registered *rows;
    size_t count, capacity;
} list;

static Registered *find(uint64_t address, uint64_t bytes) {
    for (size_t i = 0; i < list.count; i++) {
        Registered *row = &list.rows[i];
        if (address < row->host + row->bytes && row->host < address + bytes) return row;
    }
    return NULL;
}

/* True if the process has the range to itself: memory that a file or another process shares must stay. */
static bool is_private(uint64_t begin, uint64_t end) {
    FILE *maps = fopen("/proc/self/maps", "r");
    uint64_t from, to, node;
    char line[512], rights[5];
    bool is_good = maps != NULL;
    while (is_good && begin < end && fgets(line, sizeof line, maps) != NULL) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*s %*s %" SCNu64, &from, &to, rights, &node) != 4 ||
            to <= begin)
            continue;
        is_good = from <= begin && strncmp(rights, "rw", 2) == 0 && rights[3] == 'p' && node == 0;
        begin = to;
    }
    if (maps != NULL) fclose(maps);
    return is_good && begin >= end;
}

/* A second mapping of shared pages: mremap() from a size of 0. */
static bool move_in(const Registered *row) {
    memcpy(window_alias(row->place), (const void *)row->pages, row->page_bytes);
    return mremap(window_alias(row->place), 0, row->page_bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                  (void *)row->pages) != MAP_FAILED &&
           madvise((void *)row->pages, row->page_bytes, MADV_DOFORK) == 0;
}

static void move_out(const Registered *row) {
    void *fresh = mmap(NULL, row->page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED) abort();
    memcpy(fresh, window_alias(row->place), row->page_bytes);
    if (mremap(fresh, row->page_bytes, row->page_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)row->pages) ==
        MAP_FAILED)
        abort();
}

int memory_register(uint64_t host, size_t bytes) {
    if (host == 0 || bytes == 0) return failed(cudaErrorInvalidValue, host, bytes, "registers no memory");
    if (window_holds(host) || find(host, bytes) != NULL)
        return failed(cudaErrorHostMemoryAlreadyRegistered, host, bytes,
                      "registers memory that is registered or pinned already");
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), begin = host / page * page;
    uint64_t end = (host + bytes + page - 1) / page * page;
    Registered row = {.host = host, .bytes = bytes, .pages = begin};
    bool is_shared_page = find(begin, end - begin) != NULL; /* with another registration */
    if (!is_shared_page && is_private(begin, end)) {
        int error = memory_allocate(&row.place, host + bytes - begin, MEMORY_PINNED);
        if (error != 0) return error;
        row.page_bytes = end - begin;
        if (!move_in(&row)) {
            memory_free(row.place, true, library_caller());
            row.page_bytes = 0;
        }
    }
    if (list.count == list.capacity) {
        list.capacity = list.capacity * 2 + 16;
        list.rows = realloc(list.rows, list.capacity * sizeof *list.rows);
        if (list.rows == NULL) abort();
    }
    list.rows[list.count++] = row;
    return 0;
}

int memory_unregister(uint64_t host) {
    Registered *row = find(host, 1);
    if (row == NULL || row->host != host)
        return failed(cudaErrorHostMemoryNotRegistered, host, 0, "unregisters memory that is not registered");
    int error = device_finish();
    if (error == 0 && row->page_bytes > 0) {
        guards_lift();
        move_out(row);
        error = memory_free(row->place, true, library_caller());
    }
    *row = list.rows[--list.count];
    return error;
}

void memory_unregister_all(void) {
    while (list.count > 0 && memory_unregister(list.rows[0].host) == 0) {
    }
}

uint64_t memory_registered(uint64_t host) {
    const Registered *row = find(host, 1);
    return row != NULL && row->page_bytes > 0 ? row->place + (host - row->pages) : 0;
}
