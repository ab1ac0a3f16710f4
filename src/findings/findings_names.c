/* Names memory ("sums[3]") and puts accesses into words (findings_sentences.h). */
#include "base/language.h"
#include "findings/findings_sentences.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void findings_locate_symbol(const SharedWindow *window, const TraceLaunch *launch, FindingAccess *access) {
    const TraceSymbol *symbol = NULL;
    for (int i = 0; i < window->count; i++)
        if (window->symbols[i].space == PTX_SPACE_SHARED &&
            access->offset >= window->symbols[i].window_offset)
            symbol = &window->symbols[i];
    if (!symbol) return;
    access->offset -= symbol->window_offset;
    for (int i = 0; i < launch->symbol_count; i++)
        if (launch->symbols[i].space == PTX_SPACE_SHARED && !strcmp(launch->symbols[i].name, symbol->name))
            access->buffer = i;
}

static int element_bytes(const TraceLaunch *launch, int pc) {
    const PtxInstruction *in = launch->program->code[pc].instruction;
    if (ptx_asynchronous(in) == PTX_ASYNC_COPY) return 4;
    return in->type_count ? ptx_type_bytes(in->types[0]) : 1;
}

/* ---- names as the source has them ---------------------------------------------------------------------- */

enum { NAME_BYTES = 64, MOST_NAMES = 8 };

typedef struct SourceNames {
    char text[MOST_NAMES][NAME_BYTES];
    int count;
} SourceNames;

static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Collects the identifiers of a line that are followed by '[', each once. */
static void find_subscripted(const char *line, SourceNames *names) {
    names->count = 0;
    for (const char *c = line; *c && strncmp(c, "//", 2) != 0; c++) {
        const char *begin = c;
        while (is_name(*c)) c++;
        size_t length = (size_t)(c - begin);
        if (c == begin) continue;
        bool is_new = *c == '[' && length < NAME_BYTES && names->count < MOST_NAMES;
        for (int i = 0; is_new && i < names->count; i++)
            is_new = strncmp(names->text[i], begin, length) != 0 || names->text[i][length];
        if (is_new) snprintf(names->text[names->count++], NAME_BYTES, "%.*s", (int)length, begin);
        c--;
    }
}

static const char *line_of(const FindingsBuilder *builder, const char *file, int line) {
    return builder->names.source && file && line > 0
               ? builder->names.source(builder->names.context, file, line)
               : NULL;
}

/* What the nearest earlier line assigns to the pointer, after "NAME =", or "[" of a shared array; NULL: none
 * does. */
static const char *declaration_of(const FindingsBuilder *builder, const char *file, int line,
                                  const char *name) {
    size_t length = strlen(name);
    for (int at = line - 1; at > 0; at--) {
        const char *text = line_of(builder, file, at), *shared = text ? strstr(text, "__shared__") : NULL;
        for (const char *c = text; c && (c = strstr(c, name)); c += length) {
            const char *rest = c + length + strspn(c + length, " ");
            if ((c > text && is_name(c[-1])) || is_name(c[length])) continue;
            if ((*rest == '=' && rest[1] != '=') || (*rest == '[' && shared && shared < c)) return rest;
        }
    }
    return NULL;
}

/* The name points to the start of the memory: it is the array, or was assigned without an offset. */
static bool is_at_begin(const FindingsBuilder *builder, const FindingAccess *access, const char *name) {
    const char *value = declaration_of(builder, access->file, access->line, name);
    if (!value || *value == '[') return value;
    return strcspn(value, "+-&[?") >= strcspn(value, ";");
}

/* The only name that both lines index shared memory by; NULL: none, or it may start elsewhere. */
static const char *name_in_source(const FindingsBuilder *builder, const FindingAccess *access,
                                  const FindingAccess *other, SourceNames *names) {
    const char *line = line_of(builder, access->file, access->line);
    if (!line) return NULL;
    find_subscripted(line, names);
    const char *second = other->pc >= 0 ? line_of(builder, other->file, other->line) : NULL;
    SourceNames others;
    find_subscripted(second ? second : line, &others);
    const char *found = NULL;
    for (int i = 0; i < names->count; i++) {
        bool in_both = false;
        for (int k = 0; k < others.count; k++) in_both |= !strcmp(names->text[i], others.text[k]);
        if (!in_both || !is_at_begin(builder, access, names->text[i])) continue;
        if (found) return NULL;
        found = names->text[i];
    }
    return found;
}

static const char *name_of(const FindingsBuilder *builder, const TraceLaunch *launch, PtxSpace space,
                           const FindingAccess *access, const FindingAccess *other, SourceNames *names) {
    if (space == PTX_SPACE_GLOBAL) return builder->trace->buffers[access->buffer].name;
    const TraceSymbol *symbol = &launch->symbols[access->buffer];
    bool is_dynamic = symbol->window_offset >= launch->static_shared_bytes; /* shared by several */
    const char *name = is_dynamic ? name_in_source(builder, access, other, names) : NULL;
    return name ? name : symbol->name;
}

const char *findings_name_memory(const FindingsBuilder *builder, const TraceLaunch *launch, PtxSpace space,
                                 const FindingAccess *access, const FindingAccess *other) {
    SourceNames names;
    if (access->buffer < 0) return space == PTX_SPACE_GLOBAL ? tr("global memory") : tr("shared memory");
    uint64_t bytes = (uint64_t)element_bytes(launch, access->pc);
    return arena_print(&builder->list->arena, "%s[%" PRIu64 "]",
                       name_of(builder, launch, space, access, other, &names), access->offset / bytes);
}

const char *findings_name_array(const FindingsBuilder *builder, const TraceLaunch *launch,
                                const FindingAccess *access) {
    SourceNames names;
    const FindingAccess none = {.pc = PTX_NO_PC};
    return arena_print(&builder->list->arena, "%s",
                       name_of(builder, launch, PTX_SPACE_SHARED, access, &none, &names));
}

void finding_name_array(const Trace *trace, const Finding *finding, FindingNames names, char *out,
                        size_t bytes) {
    const FindingsBuilder builder = {.trace = trace, .names = names};
    const FindingAccess none = {.pc = PTX_NO_PC};
    SourceNames found;
    snprintf(out, bytes, "%s",
             name_of(&builder, trace->launches[finding->launch], PTX_SPACE_SHARED, &finding->access, &none,
                     &found));
}

/* ---- accesses in words --------------------------------------------------------------------------------- */

void findings_add_thread(const FindingAccess *access, bool names_block, Text *out) {
    if (names_block) text_print(out, tr("block %llu "), (unsigned long long)access->linear_block);
    text_print(out, tr("warp %d lane %d"), access->warp, access->lane);
}

int64_t finding_signed_value(const FindingAccess *access) {
    int unused = 64 - 8 * ptx_type_bytes(access->type);
    return (int64_t)(access->value << unused) >> unused;
}

double finding_real_value(const FindingAccess *access) {
    float single;
    double number;
    memcpy(&single, &access->value, sizeof single);
    memcpy(&number, &access->value, sizeof number);
    return access->type == PTX_F32 ? (double)single : number;
}

void findings_add_value(const FindingAccess *access, Text *out) {
    if (!access->has_value || access->is_atomic) return;
    if (access->type == PTX_F32 || access->type == PTX_F64)
        text_print(out, tr(" (%g)"), finding_real_value(access));
    else if (access->type == PTX_NO_TYPE || ptx_type_is_float(access->type))
        text_print(out, tr(" (0x%llx)"), (unsigned long long)access->value);
    else if (ptx_type_is_signed(access->type))
        text_print(out, tr(" (%lld)"), (long long)finding_signed_value(access));
    else
        text_print(out, tr(" (%llu)"), (unsigned long long)access->value);
}

void findings_add_access(const FindingAccess *access, bool names_block, const char *what, Text *out) {
    findings_add_thread(access, names_block, out);
    if (what)
        text_print(out,
                   access->is_atomic  ? tr(" updates (atomically) %s")
                   : access->is_store ? tr(" stores %s")
                                      : tr(" loads %s"),
                   what);
    else
        text_add(out, access->is_atomic  ? tr(" updates (atomically) it")
                      : access->is_store ? tr(" stores it")
                                         : tr(" loads it"));
    findings_add_value(access, out);
}
