/* --list FILE: the entries of a file, with their parameters and launches. Nothing is run. */
#include "guess/guess_state.h"

#include "base/json.h"
#include <stdlib.h>
#include <string.h>

typedef struct Entries {
    Guess guess;
    HostCode *code; /* NULL: PTX */
    Json json;
} Entries;

static PtxFunction *next_entry(const PtxModule *module, int *index) {
    while (*index < module->function_count) {
        PtxFunction *function = module->functions[(*index)++];
        if (function->is_entry && function->has_body) return function;
    }
    return NULL;
}

/* "const float*" as C++ has it, ".u64" as PTX has it where the name does not say; an array of bytes is a
 * structure. */
static void print_parameter(const PtxFunction *entry, int index, const char *lines, Text *out) {
    const PtxVariable *parameter = entry->parameters[index];
    for (int i = 0; lines && i < index; i++) {
        lines = strchr(lines, '\n');
        lines += lines != NULL;
    }
    if (lines && *lines)
        text_add_bytes(out, lines, strcspn(lines, "\n"));
    else if (parameter->bytes > (uint64_t)ptx_type_bytes(parameter->type))
        text_print(out, "%llu bytes", (unsigned long long)parameter->bytes);
    else
        text_print(out, ".%s", ptx_type_text(parameter->type));
}

/* Types of the mangled name; NULL: it says none, or not as many as there are. */
static const char *parameter_types(const PtxFunction *entry, Text *lines) {
    int count = 1;
    if (!ptx_readable_parameters(entry->name, lines) || !lines->length) return NULL;
    for (const char *at = text_string(lines); *at; at++) count += *at == '\n';
    return count == entry->parameter_count ? text_string(lines) : NULL;
}

static void print_size(const uint32_t size[3], Text *out) {
    int count = size[2] > 1 ? 3 : size[1] > 1 ? 2 : 1;
    for (int i = 0; i < count; i++) text_print(out, "%s%u", i ? "," : "", size[i]);
}

/* As a number, else as the file spells it, in one line. */
static void print_expression(Entries *entries, const char *expression, Text *out) {
    uint32_t size[3];
    if (host_code_size(entries->code, expression, NULL, size)) {
        print_size(size, out);
        return;
    }
    for (const char *at = expression; *at; at++) text_add_bytes(out, strchr("\t\r\n", *at) ? " " : at, 1);
}

/* "<<<n / 256, 256>>>" */
static void print_launch(Entries *entries, const HostLaunch *launch, Text *out) {
    text_add(out, "<<<");
    print_expression(entries, launch->grid, out);
    text_add(out, ", ");
    print_expression(entries, launch->block, out);
    if (*launch->shared) {
        text_add(out, ", ");
        print_expression(entries, launch->shared, out);
    }
    text_add(out, ">>>");
}

static void add_size(Json *json, const char *key, const uint32_t size[3]) {
    if (!size[0]) {
        json_null(json, key);
        return;
    }
    json_open_array(json, key);
    for (int i = 0; i < 3; i++) json_unsigned(json, NULL, size[i] ? size[i] : 1);
    json_close_array(json);
}

static void add_entry(Entries *entries, const PtxFunction *entry, const HostLaunch *launch) {
    Json *json = &entries->json;
    Text lines = {0}, text = {0};
    const char *types = parameter_types(entry, &lines);
    json_open_object(json, NULL);
    json_string(json, "name", ptx_readable_name(entries->guess.request.module, entry->name));
    json_string(json, "mangled", entry->name);
    json_open_array(json, "parameters");
    for (int i = 0; i < entry->parameter_count; i++) {
        text_clear(&text);
        print_parameter(entry, i, types, &text);
        json_string(json, NULL, text_string(&text));
    }
    json_close_array(json);
    add_size(json, "required_block", entry->required_threads);
    add_size(json, "maximum_block", entry->maximum_threads);
    add_size(json, "required_cluster", entry->required_cluster);
    text_clear(&text);
    if (launch) print_launch(entries, launch, &text);
    json_string(json, "launch", launch ? text_string(&text) : NULL);
    if (launch)
        json_integer(json, "line", launch->line);
    else
        json_null(json, "line");
    json_close_object(json);
    text_done(&lines);
    text_done(&text);
}

static void print_entry(Entries *entries, const PtxFunction *entry, const HostLaunch *launch, Text *out) {
    Text lines = {0};
    const char *types = parameter_types(entry, &lines);
    text_print(out, "%s(", ptx_readable_name(entries->guess.request.module, entry->name));
    for (int i = 0; i < entry->parameter_count; i++) {
        text_add(out, i ? ", " : "");
        print_parameter(entry, i, types, out);
    }
    text_add(out, ")");
    static const char *const words[] = {"  block ", "  block at most ", "  cluster "};
    const uint32_t *const sizes[] = {entry->required_threads, entry->maximum_threads,
                                     entry->required_cluster};
    for (int i = 0; i < 3; i++) {
        if (!sizes[i][0]) continue;
        text_add(out, words[i]);
        print_size(sizes[i], out);
    }
    if (launch) {
        text_add(out, "  ");
        print_launch(entries, launch, out);
        text_print(out, " (line %d)", launch->line);
    }
    text_add(out, "\n");
    text_done(&lines);
}

void guess_list_entries(const GuessRequest *request, bool json, Text *out) {
    Entries entries = {guess_begin(request), guess_host_code(request), {.out = out}};
    PtxFunction *entry;
    if (json) json_open_array(&entries.json, NULL);
    for (int i = 0; (entry = next_entry(request->module, &i));) {
        const HostLaunch *launch = guess_find_launch(&entries.guess, entries.code, entry);
        if (json)
            add_entry(&entries, entry, launch);
        else
            print_entry(&entries, entry, launch, out);
    }
    if (json) json_close_array(&entries.json);
    text_add(out, json ? "\n" : "");
    host_code_free(entries.code);
    guess_done(&entries.guess);
}
