/* The parser of nvdisasm's output (nvdisasm.h):
 *
 *          .section  .text.ENTRY,"ax",@progbits
 *  .L_x_1:
 *          //## File "operations.cuh", line 19 inlined at "interleaved.cu", line 23
 *          //## File "interleaved.cu", line 23
 *          //## File ".nv_debug_ptx_txt", line 793
 *          /.02d0./               @!P1 BRA `(.L_x_1) ;
 *
 * A chain of inlined places begins with the innermost. Places apply to all instructions up to the next
 * ones. */
#include "sass/nvdisasm.h"

#include <ctype.h>
#include <stdlib.h>

enum { MOST_INLINED = 32, MOST_NAME = 512 };

typedef struct SassListing {
    SassKernel *kernel;
    const char *entry;
    bool is_inside;      /* in the section of the entry */
    const char *label;   /* label of the next instruction; NULL: none */
    int place, ptx_line; /* those of the next instruction */
    struct {
        char file[MOST_NAME];
        int line;
    } chain[MOST_INLINED]; /* consecutive places, the innermost first */
    int chain_count;
} SassListing;

static bool starts_with(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

static const char *skip_spaces(const char *at) {
    while (*at == ' ' || *at == '\t') at++;
    return at;
}

/* .section .text.ENTRY,"ax": true if the entry's section follows. */
static void take_section(SassListing *listing, const char *at) {
    size_t length = strlen(listing->entry);
    at = skip_spaces(at + strlen(".section"));
    listing->is_inside = starts_with(at, ".text.") && !strncmp(at + 6, listing->entry, length) &&
                         (at[6 + length] == ',' || isspace((unsigned char)at[6 + length]));
}

static bool read_place(const char *at, char file[MOST_NAME], int *line) {
    const char *from = strchr(at, '"'), *to = from ? strchr(from + 1, '"') : NULL;
    if (!to || to - from > MOST_NAME || !starts_with(to, "\", line ")) return false;
    snprintf(file, MOST_NAME, "%.*s", (int)(to - from - 1), from + 1);
    *line = atoi(to + strlen("\", line "));
    return true;
}

static void take_place(SassListing *listing, const char *at) {
    char file[MOST_NAME];
    int line;
    if (!read_place(at, file, &line)) return;
    if (!strcmp(file, ".nv_debug_ptx_txt")) {
        listing->ptx_line = line;
    } else if (listing->chain_count < MOST_INLINED) {
        snprintf(listing->chain[listing->chain_count].file, MOST_NAME, "%s", file);
        listing->chain[listing->chain_count++].line = line;
    }
}

/* From the outermost inwards, so that each place knows where it was inlined. */
static void end_chain(SassListing *listing) {
    if (!listing->chain_count) return;
    int place = -1;
    for (int i = listing->chain_count - 1; i >= 0; i--)
        place = sass_place(listing->kernel, listing->chain[i].file, listing->chain[i].line, place);
    listing->place = place;
    listing->chain_count = 0;
}

/* "@!P1 BRA `(.L_x_1) ;" without the semicolon, the quotes of labels and alignment. */
static const char *clean(Arena *arena, const char *at, const char *end) {
    char *text = arena_new(arena, (size_t)(end - at) + 1), *to = text;
    bool is_quoted = false;
    while (end > at && (isspace((unsigned char)end[-1]) || end[-1] == ';')) end--;
    for (; at < end; at++) {
        if (*at == '`' && at + 1 < end && at[1] == '(') {
            is_quoted = true;
            at++;
        } else if (is_quoted && *at == ')') {
            is_quoted = false;
        } else if (!isspace((unsigned char)*at)) {
            *to++ = *at;
        } else if (to > text && to[-1] != ' ') {
            *to++ = ' ';
        }
    }
    *to = 0;
    return text;
}

static void take_instruction(SassListing *listing, const char *at, const char *end) {
    char *behind;
    unsigned long offset = strtoul(at + 2, &behind, 16);
    if (behind == at + 2 || !starts_with(behind, "*/")) return;
    end_chain(listing);
    SassInstruction instruction = {.offset = (uint32_t)offset,
                                   .place = listing->place,
                                   .ptx_line = listing->ptx_line,
                                   .label = listing->label,
                                   .text = clean(&listing->kernel->arena, skip_spaces(behind + 2), end)};
    sass_add_instruction(listing->kernel, instruction);
    listing->label = NULL;
}

/* ".L_x_1", or the name of a function: compiler-generated code has no lines, so its name is its place. */
static void take_label(SassListing *listing, const char *label) {
    const char *dollar = strrchr(label, '$');
    if (!strcmp(label, listing->entry)) return;
    if (*label != '.') {
        listing->place = sass_place(listing->kernel, dollar ? dollar + 1 : label, 0, -1);
        listing->ptx_line = 0;
        listing->chain_count = 0;
    }
    if (!listing->label || *label != '.') listing->label = label;
}

static void take_line(SassListing *listing, const char *line, const char *end) {
    const char *at = skip_spaces(line);
    if (at >= end) return;
    if (starts_with(at, ".section")) {
        take_section(listing, at);
    } else if (!listing->is_inside) {
        return;
    } else if (starts_with(at, "//## File")) {
        take_place(listing, at);
    } else if (starts_with(at, "/*")) {
        take_instruction(listing, at, end);
    } else if (at == line && end[-1] == ':' && !starts_with(at, ".text.")) {
        take_label(listing, arena_copy_text(&listing->kernel->arena, at, (size_t)(end - at) - 1));
    }
}

/* ---- afterwards ---------------------------------------------------------------------------------------- */

/* Drops what follows the code: a branch to itself, and NOPs. */
static void drop_padding(SassKernel *kernel) {
    int count = kernel->count;
    while (count && !strcmp(kernel->instructions[count - 1].text, "NOP")) count--;
    const SassInstruction *last = count ? &kernel->instructions[count - 1] : NULL;
    if (last && last->label && starts_with(last->text, "BRA ") && !strcmp(last->text + 4, last->label))
        count--;
    kernel->count = count;
}

static bool names_label(const char *text, const char *label) {
    const char *found = strstr(text, label);
    char after = found ? found[strlen(label)] : 'x';
    return found && !isalnum((unsigned char)after) && after != '_';
}

static void drop_labels(SassKernel *kernel) {
    for (int i = 0; i < kernel->count; i++) {
        const char *label = kernel->instructions[i].label;
        bool is_named = false;
        for (int j = 0; label && !is_named && j < kernel->count; j++)
            is_named = names_label(kernel->instructions[j].text, label);
        if (!is_named) kernel->instructions[i].label = NULL;
    }
}

/* The only instruction that calls a label with this prefix; NULL: none, or several. */
static const SassInstruction *find_caller(const SassKernel *kernel, const char *label) {
    const SassInstruction *caller = NULL;
    for (int i = 0; i < kernel->count; i++) {
        const SassInstruction *in = &kernel->instructions[i];
        if (!strstr(in->text, "CALL") || !names_label(in->text, label)) continue;
        if (caller) return NULL;
        caller = in;
    }
    return caller;
}

/* A subroutine called by a single line counts as inlined there. */
static void place_subroutines(SassKernel *kernel) {
    const SassInstruction *caller = NULL;
    for (int i = 0; i < kernel->count; i++) {
        SassInstruction *in = &kernel->instructions[i];
        if (in->place < 0 || kernel->places[in->place].line) continue;
        if (in->label && *in->label != '.') caller = find_caller(kernel, in->label);
        if (!caller || caller->place < 0 || caller->place >= in->place) continue;
        kernel->places[in->place].inlined_at = caller->place;
        in->ptx_line = caller->ptx_line;
    }
}

bool sass_parse(const char *text, const char *entry, SassKernel *kernel, Error *error) {
    SassListing *listing = memory_new(sizeof *listing);
    listing->kernel = kernel;
    listing->entry = entry;
    listing->place = -1;
    for (const char *line = text; *line;) {
        const char *end = line + strcspn(line, "\n");
        take_line(listing, line, end > line && end[-1] == '\r' ? end - 1 : end);
        line = *end ? end + 1 : end;
    }
    free(listing);
    drop_padding(kernel);
    drop_labels(kernel);
    place_subroutines(kernel);
    kernel->entry = arena_copy_string(&kernel->arena, entry);
    for (int i = 1; i < kernel->count; i++)
        if (kernel->instructions[i].offset <= kernel->instructions[i - 1].offset) {
            sass_kernel_done(kernel);
            return error_set(error, "nvdisasm's listing of %s is out of order", entry);
        }
    if (kernel->count) return true;
    sass_kernel_done(kernel);
    return error_set(error, "nvdisasm's listing has no instruction of %s", entry);
}
