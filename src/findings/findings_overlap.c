/* Arrays of different types that overlap in dynamic shared memory: a pointer is computed from the wrong size.
 * No barrier mends that. */
#include "base/language.h"
#include "findings/findings_sentences.h"
#include "metrics/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 64, MOST_NAMES = 8, MOST_EVENTS = 20000 };

typedef struct
    SharedArray { /* a pointer of the source into dynamic shared memory, and what is accessed through it */
    char name[NAME_BYTES], type[NAME_BYTES];
    uint64_t begin, end; /* bytes within the symbol */
} SharedArray;

static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static const char *line_of(const FindingsBuilder *builder, const char *file, int line) {
    return builder->names.source && file && line > 0
               ? builder->names.source(builder->names.context, file, line)
               : NULL;
}

/* "TYPE *NAME = ..." on an earlier line: the type's last word, and where the value begins; NULL: there is
 * none. */
static const char *pointer_of(const FindingsBuilder *builder, const char *file, int line, const char *name,
                              char *type) {
    size_t length = strlen(name);
    for (int at = line - 1; at > 0; at--) {
        const char *text = line_of(builder, file, at);
        for (const char *c = text; c && (c = strstr(c, name)); c += length) {
            const char *rest = c + length + strspn(c + length, " "), *before = c;
            if ((c > text && is_name(c[-1])) || is_name(c[length]) || *rest != '=' || rest[1] == '=')
                continue;
            while (before > text && (before[-1] == ' ' || before[-1] == '*')) before--;
            if (!memchr(before, '*', (size_t)(c - before))) continue;
            const char *end = before;
            while (before > text && is_name(before[-1])) before--;
            snprintf(type, NAME_BYTES, "%.*s", (int)(end - before), before);
            return rest + 1;
        }
    }
    return NULL;
}

static bool has_word(const char *text, const char *word) {
    size_t length = strlen(word);
    for (const char *c = text; (c = strstr(c, word)); c += length)
        if ((c == text || !is_name(c[-1])) && !is_name(c[length])) return true;
    return false;
}

/* The value leads to the symbol, at once or by way of another pointer. */
static bool leads_to(const FindingsBuilder *builder, const char *file, int line, const char *value,
                     const char *symbol, int depth) {
    char type[NAME_BYTES], word[NAME_BYTES];
    if (has_word(value, symbol)) return true;
    for (const char *c = value; depth && *c && *c != ';'; c++) {
        size_t length = 0;
        while (is_name(c[length])) length++;
        if (!length || length >= NAME_BYTES) continue;
        snprintf(word, sizeof word, "%.*s", (int)length, c);
        const char *next = pointer_of(builder, file, line, word, type);
        if (next && leads_to(builder, file, line, next, symbol, depth - 1)) return true;
        c += length - 1;
    }
    return false;
}

/* The only pointer into `symbol` that the line indexes. */
static bool find_array(const FindingsBuilder *builder, const FindingAccess *access, const char *symbol,
                       SharedArray *array) {
    const char *text = line_of(builder, access->file, access->line);
    int count = 0;
    for (const char *c = text; c && *c && strncmp(c, "//", 2) != 0; c++) {
        size_t length = 0;
        char name[NAME_BYTES], type[NAME_BYTES];
        while (is_name(c[length])) length++;
        if (!length) continue;
        if (length < NAME_BYTES && c[length] == '[') {
            snprintf(name, sizeof name, "%.*s", (int)length, c);
            const char *value = pointer_of(builder, access->file, access->line, name, type);
            if (value && leads_to(builder, access->file, access->line, value, symbol, 2) &&
                (!count || strcmp(array->name, name) != 0)) {
                count++;
                memcpy(array->name, name, sizeof name);
                memcpy(array->type, type, sizeof type);
            }
        }
        c += length - 1;
    }
    return count == 1;
}

/* The bytes that the instructions of the access's line touch. */
static void measure(const FindingsBuilder *builder, const Finding *finding, const FindingAccess *access,
                    SharedArray *array) {
    const TraceLaunch *launch = builder->trace->launches[finding->launch];
    TraceEvent event;
    array->begin = UINT64_MAX;
    array->end = 0;
    for (int b = 0; b < launch->block_count; b++)
        for (int i = 0; i < trace_block_event_count(launch->blocks[b]) && i < MOST_EVENTS; i++) {
            trace_block_read_header(launch->blocks[b], i, &event);
            PtxSourceLine line = metrics_line_of(launch->program, event.pc);
            if (!trace_kind_is_shared(event.kind) || !trace_kind_is_access(event.kind) ||
                line.line != access->line || line.file != access->file)
                continue;
            trace_block_read(launch->blocks[b], i, &event);
            for (uint32_t rest = event.mask; rest; rest &= rest - 1) {
                int lane = __builtin_ctz(rest);
                if (event.buffer[lane] != access->buffer) continue;
                if (event.offset[lane] < array->begin) array->begin = event.offset[lane];
                if (event.offset[lane] + (uint64_t)event.width > array->end)
                    array->end = event.offset[lane] + (uint64_t)event.width;
            }
        }
}

/* Through which of the two an instruction accesses memory: the one that begins where the lowest of its lanes
 * does. */
static const SharedArray *array_at(const SharedArray *a, const SharedArray *b, uint64_t least) {
    return least == a->begin ? a : least == b->begin ? b : NULL;
}

/* A word that was stored through one of them last is loaded through the other, which had stored it, too. */
static bool loads_of_other(const TraceLaunch *launch, const TraceBlock *block, int symbol,
                           const SharedArray *a, const SharedArray *b) {
    uint64_t bytes = a->end > b->end ? a->end : b->end;
    const SharedArray **last = memory_new((bytes + 1) * sizeof(SharedArray *)), **own;
    uint8_t *stored = memory_new(bytes + 1); /* bit 0: through a; bit 1: through b */
    uint64_t *least = memory_new(((size_t)launch->program->code_count + 1) * sizeof *least);
    int count = trace_block_event_count(block);
    TraceEvent event;
    bool found = false;
    own = memory_new(((size_t)launch->program->code_count + 1) * sizeof *own);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < count && i < MOST_EVENTS && !found; i++) {
            trace_block_read(block, i, &event);
            if (!trace_kind_is_shared(event.kind) || !trace_kind_is_access(event.kind)) continue;
            for (uint32_t rest = event.mask; rest; rest &= rest - 1) {
                int lane = __builtin_ctz(rest);
                uint64_t at = event.offset[lane];
                if (event.buffer[lane] != symbol || at >= bytes) continue;
                if (!pass) {
                    if (!least[event.pc] || at + 1 < least[event.pc]) least[event.pc] = at + 1;
                    own[event.pc] = array_at(a, b, least[event.pc] - 1);
                } else if (own[event.pc] && !event.is_load) {
                    last[at] = own[event.pc];
                    stored[at] |= own[event.pc] == a ? 1 : 2;
                } else if (own[event.pc]) {
                    found |= stored[at] == 3 && last[at] != own[event.pc];
                }
            }
        }
    }
    free(last), free(stored), free(least), free(own);
    return found;
}

bool findings_describe_overlap(FindingsBuilder *builder, Finding *finding) {
    const TraceLaunch *launch = builder->trace->launches[finding->launch];
    int symbol = finding->access.buffer;
    SharedArray a, b;
    if (finding->space != PTX_SPACE_SHARED || symbol < 0 || symbol != finding->other.buffer ||
        finding->other.pc < 0 || launch->symbols[symbol].window_offset < launch->static_shared_bytes ||
        finding->access.line == finding->other.line ||
        !find_array(builder, &finding->access, launch->symbols[symbol].name, &a) ||
        !find_array(builder, &finding->other, launch->symbols[symbol].name, &b) || !strcmp(a.name, b.name) ||
        !strcmp(a.type, b.type))
        return false;
    measure(builder, finding, &finding->access, &a);
    measure(builder, finding, &finding->other, &b);
    const SharedArray *first = a.begin < b.begin ? &a : &b, *second = first == &a ? &b : &a;
    if (first->begin >= second->begin || second->begin >= first->end) return false;
    bool is_mixed = false;
    for (int i = 0; i < launch->block_count && !is_mixed; i++)
        is_mixed = loads_of_other(launch, launch->blocks[i], symbol, &a, &b);
    if (!is_mixed) return false;
    const FindingAccess *of = first == &a ? &finding->access : &finding->other;
    const PtxInstruction *in = launch->program->code[of->pc].instruction;
    uint64_t element = in->type_count ? (uint64_t)ptx_type_bytes(in->types[0]) : 1,
             end = first->end < second->end ? first->end : second->end, apart = second->begin - first->begin;
    Text text = {0};
    finding_begin_place(&finding->other, &text);
    text_print(&text,
               tr("`%s` and `%s` overlap in dynamic shared memory by %lld bytes: `%s` begins at `%s + %lld`"),
               first->name, second->name, (long long)(end - second->begin), second->name, first->name,
               (long long)(apart / (element ? element : 1)));
    text_print(&text, tr(", and lines %d and %d use the same words for both"), finding->other.line,
               finding->access.line);
    finding->sentence = findings_finish_sentence(builder->list, &text);
    finding->advice = arena_print(&builder->list->arena,
                                  tr("let `%s` begin behind the last element of `%s`, %lld bytes after its "
                                     "first, and ask for as much more shared memory"),
                                  second->name, first->name, (long long)(first->end - first->begin));
    finding->is_overlap = true;
    return true;
}
