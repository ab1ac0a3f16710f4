#define _GNU_SOURCE
#include "runtime/host_lines.h"

#include "base/memory.h"
#include "base/text.h"
#include "compile/process.h"
#include "ptx/library_files.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

typedef struct Mapped { /* code of a file in a process */
    uint64_t begin, end, offset;
    char *path;
    int process;
} Mapped;

typedef struct HostPlace { /* of an address */
    uint64_t address;
    int process;
    const char *file, *function; /* NULL: not known */
    int line;
    bool allocates;
    int name; /* of what it allocates, in the list of names; -1: not looked for yet */
} HostPlace;

typedef struct MemoryName {
    const char *text;
    int count; /* memories of this name that are not freed */
} MemoryName;

typedef struct HostProcess {
    pid_t id;
    int module_count; /* of its device when its map was read */
} HostProcess;

struct HostLines {
    HostProcess *processes;
    int process_count, process_capacity;
    Mapped *mapped;
    int mapped_count, mapped_capacity;
    HostPlace *places;
    int place_count, place_capacity;
    MemoryName *names;
    int name_count, name_capacity;
};

HostLines *host_lines_new(void) {
    return memory_new(sizeof(HostLines));
}

void host_lines_free(HostLines *lines) {
    for (int i = 0; i < lines->mapped_count; i++) free(lines->mapped[i].path);
    free(lines->mapped);
    free(lines->places);
    free(lines->processes);
    free(lines->names);
    free(lines);
}

/* Extension modules: a line of PyCUDA's C++ says nothing about the user's script. */
static bool is_of_python(const char *path) {
    return strstr(path, "/site-packages/") || strstr(path, "/dist-packages/");
}

static void read_maps(HostLines *lines, int index) {
    char path[64], line[8192], name[4096], mode[8];
    uint64_t begin, end, offset;
    snprintf(path, sizeof path, "/proc/%ld/maps", (long)lines->processes[index].id);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %4095[^\n]", &begin, &end, mode,
                   &offset, name) != 5 ||
            mode[2] != 'x' || *name != '/' || is_of_python(name))
            continue;
        bool is_known = false;
        for (int i = 0; i < lines->mapped_count; i++)
            is_known |= lines->mapped[i].process == index && lines->mapped[i].begin == begin &&
                        !strcmp(lines->mapped[i].path, name);
        Mapped mapped = {begin, end, offset, NULL, index};
        if (is_known) continue;
        mapped.path = memory_copy_text(name);
        array_push(lines->mapped, lines->mapped_count, lines->mapped_capacity, mapped);
    }
    if (file) fclose(file);
}

void host_lines_add_process(HostLines *lines, pid_t process) {
    HostProcess added = {.id = process};
    array_push(lines->processes, lines->process_count, lines->process_capacity, added);
    read_maps(lines, lines->process_count - 1);
}

void host_lines_refresh(HostLines *lines, const Device *device) {
    if (!device || device->index >= lines->process_count ||
        lines->processes[device->index].module_count == device->module_count)
        return;
    lines->processes[device->index].module_count = device->module_count;
    read_maps(lines, device->index);
}

/* ---- addresses to lines -------------------------------------------------------------------------------- */

static HostPlace *find(const HostLines *lines, uint64_t address, int process) {
    for (int i = 0; i < lines->place_count; i++)
        if (lines->places[i].address == address && lines->places[i].process == process)
            return &lines->places[i];
    return NULL;
}

static void ask_for(HostLines *lines, uint64_t address, int process, bool allocates) {
    HostPlace *known = find(lines, address, process),
              place = {.address = address, .process = process, .allocates = allocates, .name = -1};
    if (known)
        known->allocates |= allocates;
    else if (address)
        array_push(lines->places, lines->place_count, lines->place_capacity, place);
}

/* The address within its file of the instruction before a return address. addr2line takes virtual addresses
 * of the file, which in position-independent programs are offsets from where they were loaded. */
static uint64_t in_file(const HostLines *lines, const Mapped *mapped, uint64_t address) {
    uint64_t base = 0;
    for (int i = 0; i < lines->mapped_count; i++)
        if (&lines->mapped[i] == mapped) base = mapped->begin - mapped->offset;
    bool is_fixed = mapped->begin < (UINT64_C(1) << 32) && mapped->begin >= 0x400000 && base == 0x400000;
    return address - 1 - (is_fixed ? 0 : base);
}

/* Without what the compiler adds to the copy of a function: "sum(int const*) [clone .constprop.0]". */
static size_t name_length(const char *function) {
    const char *added = strstr(function, " [clone ");
    return added ? (size_t)(added - function) : strlen(function);
}

/* For each address its number, then two lines a frame, the innermost first: function, file:line. The
 * innermost frame outside the toolkit counts. */
static void take_answers(HostLines *lines, Captured *capture, const int *asked, int count, char *text) {
    HostPlace *place = NULL;
    int next = 0;
    for (char *line; text && (line = strsep(&text, "\n")) && (*line || text);) {
        if (!strncmp(line, "0x", 2)) {
            place = next < count ? &lines->places[asked[next++]] : NULL;
            continue;
        }
        char *where = strsep(&text, "\n"), *colon = where ? strrchr(where, ':') : NULL;
        if (!place || !where) return;
        bool is_known = colon && *where != '?' && atoi(colon + 1) > 0;
        if (place->file && !ptx_is_library_file(place->file)) continue;
        if (*line != '?') place->function = arena_copy_text(&capture->arena, line, name_length(line));
        if (!is_known) continue;
        place->line = atoi(colon + 1);
        *colon = 0;
        place->file = arena_copy_string(&capture->arena, where);
    }
}

/* Asks for all addresses of one file at once. */
static void resolve(HostLines *lines, Captured *capture, const Mapped *mapped) {
    enum { AT_ONCE = 200 };
    const char *arguments[AT_ONCE + 8] = {"addr2line", "-f", "-C", "-i", "-a", "-e", mapped->path};
    char numbers[AT_ONCE][24];
    int asked[AT_ONCE], count = 0, status;
    for (int i = 0; i < lines->place_count && count < AT_ONCE; i++) {
        const HostPlace *place = &lines->places[i];
        if (place->process != mapped->process || place->address < mapped->begin ||
            place->address >= mapped->end)
            continue;
        snprintf(numbers[count], sizeof *numbers, "0x%" PRIx64, in_file(lines, mapped, place->address));
        arguments[7 + count] = numbers[count];
        asked[count++] = i;
    }
    Text said = {0};
    if (count && process_run(arguments, NULL, 20, NULL, &said, &status, NULL) && !status && said.data)
        take_answers(lines, capture, asked, count, said.data);
    text_done(&said);
}

/* ---- names --------------------------------------------------------------------------------------------- */

/* "d_in" of "cudaMalloc((void **)&d_in, bytes)" or "cuMemAlloc(&d_in, bytes)": what is behind the first & of
 * an argument list. */
static const char *name_in_call(Arena *arena, const char *text) {
    const char *call = strstr(text, "lloc"), *at = call ? strchr(call, '&') : NULL;
    if (!at) return NULL;
    at++;
    while (*at == ' ' || *at == '(') at++;
    size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.->[]");
    while (length && !isalnum((unsigned char)at[length - 1]) && at[length - 1] != '_' &&
           at[length - 1] != ']')
        length--;
    return length ? arena_copy_text(arena, at, length) : NULL;
}

static const char *line_of_file(Arena *arena, const char *path, int line) {
    char *text;
    size_t length;
    if (!text_read_file(path, 16 << 20, &text, &length, NULL)) return NULL;
    const char *at = text;
    for (int i = 1; i < line && at; i++) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    const char *copy = at ? arena_copy_text(arena, at, strcspn(at, "\n")) : NULL;
    free(text);
    return copy;
}

/* How many allocations stand before this one in its line: "cudaMalloc(&a, n); cudaMalloc(&b, n);". */
static int count_before(const HostLines *lines, const HostPlace *place) {
    int count = 0;
    for (int i = 0; i < lines->place_count; i++) {
        const HostPlace *other = &lines->places[i];
        count += other->allocates && other->process == place->process && other->address < place->address &&
                 other->file && other->line == place->line && !strcmp(other->file, place->file);
    }
    return count;
}

/* Behind so many calls with a & in the line; its begin, if it has not as many. */
static const char *skip_calls(const char *line, int count) {
    const char *at = line;
    for (int i = 0; i < count && at; i++) {
        at = strstr(at, "lloc");
        at = at ? strchr(at, '&') : NULL;
    }
    return at && strstr(at, "lloc") ? at : line;
}

/* The index of a name in the list. */
static int add_name(HostLines *lines, const char *text) {
    for (int i = 0; i < lines->name_count; i++)
        if (!strcmp(lines->names[i].text, text)) return i;
    MemoryName name = {.text = text};
    array_push(lines->names, lines->name_count, lines->name_capacity, name);
    return lines->name_count - 1;
}

static int name_at(HostLines *lines, Arena *arena, HostPlace *place) {
    if (place && place->name >= 0) return place->name;
    const char *text = place && place->file ? line_of_file(arena, place->file, place->line) : NULL;
    if (text) text = skip_calls(text, count_before(lines, place));
    const char *name = text ? name_in_call(arena, text) : NULL;
    int index = add_name(lines, name ? name : "memory");
    if (place) place->name = index;
    return index;
}

/* Memory without a name, and each further one of a name, gets a number. */
static void name_memories(HostLines *lines, Captured *capture) {
    Arena *arena = &capture->arena;
    for (int i = 0; i < capture->memory_count; i++) {
        CapturedMemory *memory = &capture->memories[i];
        if (memory->variable && !memory->base) continue;
        int index = memory->variable ? add_name(lines, memory->base)
                                     : name_at(lines, arena, find(lines, memory->caller, memory->device));
        MemoryName *name = &lines->names[index];
        if (!memory->variable) {
            memory->base = name->text;
            memory->name = name->count ? arena_print(arena, "%s%d", name->text, name->count + 1) : name->text;
        }
        name->count += !memory->is_freed;
    }
}

static const char *short_place(Arena *arena, const HostPlace *place) {
    const char *slash = strrchr(place->file, '/');
    return arena_print(arena, "%s:%d", slash ? slash + 1 : place->file, place->line);
}

void host_lines_name(HostLines *lines, Captured *capture) {
    for (int i = 0; i < capture->memory_count; i++)
        ask_for(lines, capture->memories[i].caller, capture->memories[i].device, true);
    for (int i = 0; i < capture->launch_count; i++)
        ask_for(lines, capture->launches[i].caller, capture->launches[i].device, false);
    for (int i = 0; i < capture->fault_count; i++)
        for (int c = 0; c < capture->faults[i].caller_count; c++)
            ask_for(lines, capture->faults[i].callers[c], capture->faults[i].device, false);
    for (int i = 0; i < lines->mapped_count; i++) resolve(lines, capture, &lines->mapped[i]);
    name_memories(lines, capture);
    for (int i = 0; i < capture->launch_count; i++) {
        CapturedLaunch *launch = &capture->launches[i];
        const HostPlace *place = find(lines, launch->caller, launch->device);
        if (!place || !place->file) continue;
        launch->file = place->file;
        launch->line = place->line;
        launch->place = short_place(&capture->arena, place);
    }
    for (int i = 0; i < capture->fault_count; i++) {
        CapturedFault *fault = &capture->faults[i];
        for (int c = 0; c < fault->caller_count && !fault->file; c++) {
            const HostPlace *place = find(lines, fault->callers[c], fault->device);
            if (!place || !place->file) continue;
            fault->file = place->file;
            fault->line = place->line;
            fault->function = place->function;
        }
    }
}
