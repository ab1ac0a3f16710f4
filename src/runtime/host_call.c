#include "runtime/host_call.h"

#include <ctype.h>
#include <stdlib.h>

/* ---- the text ------------------------------------------------------------------------------------------ */

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* The end of the item that begins at `at`: a comma outside brackets, or the end. */
static const char *item_end(const char *at, const char *end) {
    int depth = 0;
    for (; at < end; at++) {
        if (*at == '(' || *at == '[' || *at == '{' || *at == '<') depth++;
        if (*at == ')' || *at == ']' || *at == '}' || *at == '>') depth--;
        if (*at == ',' && depth <= 0) break;
    }
    return at;
}

static const char *skip_blanks(const char *at, const char *end) {
    while (at < end && isspace((unsigned char)*at)) at++;
    return at;
}

/* Takes `host` off the items. */
static void read_items(Call *call, const char *at, const char *end) {
    static const char host[] = "host ";
    Text items = {0};
    call->is_host = arena_new(&call->arena, strlen(at) + 1);
    for (at = skip_blanks(at, end); at < end; at = skip_blanks(at + 1, end)) {
        const char *stop = item_end(at, end);
        bool is_host = (size_t)(stop - at) > sizeof host && !strncmp(at, host, sizeof host - 1);
        call->is_host[call->argument_count++] = is_host;
        if (is_host) at = skip_blanks(at + sizeof host - 1, stop);
        if (items.length) text_add(&items, ", ");
        text_add_bytes(&items, at, (size_t)(stop - at));
        at = stop;
    }
    call->items = arena_copy_text(&call->arena, text_string(&items), items.length);
    text_done(&items);
}

/* ---- a signature --------------------------------------------------------------------------------------- */

/* The parameter list of the definition of `name`: behind its '('. NULL: there is none. */
static const char *find_parameters(const char *source, const char *name, const char **end) {
    size_t length = strlen(name);
    for (const char *at = source; (at = strstr(at, name)); at += length) {
        const char *open = at + length, *close;
        if ((at > source && is_word(at[-1])) || is_word(*open)) continue;
        open += strspn(open, " \t\r\n");
        if (*open != '(') continue;
        int depth = 1;
        for (close = open + 1; *close && depth; close++) depth += *close == '(' ? 1 : *close == ')' ? -1 : 0;
        const char *behind = close + strspn(close, " \t\r\n");
        *end = close - 1;
        if (*behind == '{') return open + 1;
    }
    return NULL;
}

/* Behind a comment, a literal or a line of the preprocessor at `at`; `at` itself: it is none. */
static const char *skip_no_code(const char *at) {
    if (!strncmp(at, "//", 2) || *at == '#') return at + strcspn(at, "\n");
    if (!strncmp(at, "/*", 2)) {
        const char *end = strstr(at + 2, "*/");
        return end ? end + 2 : at + strlen(at);
    }
    if (*at != '"' && *at != '\'') return at;
    const char *end = at + 1;
    while (*end && *end != *at && *end != '\n') end += *end == '\\' && end[1] ? 2 : 1;
    return *end == *at ? end + 1 : end;
}

static bool has_word(const char *at, size_t length, const char *word);

/* `declaration` begins a definition whose body begins at `body`. False: not a host function, or main. */
static bool add_host_function(const char *declaration, const char *body, Text *names) {
    const char *open = declaration, *end;
    size_t length = (size_t)(body - declaration);
    bool is_device =
        has_word(declaration, length, "__global__") || has_word(declaration, length, "__device__");
    if (is_device && !has_word(declaration, length, "__host__")) return false;
    while (open < body && *open != '(') open++;
    end = open;
    while (end > declaration && isspace((unsigned char)end[-1])) end--;
    const char *begin = end;
    while (begin > declaration && is_word(begin[-1])) begin--;
    if (open == body || begin == end || (end - begin == 4 && !memcmp(begin, "main", 4))) return false;
    text_print(names, "%s%.*s", names->length ? ", " : "", (int)(end - begin), begin);
    return true;
}

int call_list_functions(const char *source, Text *names) {
    const char *declaration = source;
    int depth = 0, count = 0;
    for (const char *at = source; *at;) {
        const char *behind = skip_no_code(at);
        if (behind != at) {
            bool is_before = !depth && (*at == '#' || *at == '/') && skip_blanks(declaration, at) == at;
            at = behind;
            if (is_before) declaration = at;
            continue;
        }
        if (*at == '{' && !depth++) count += add_host_function(declaration, at, names);
        if (*at == '}' && depth) depth--;
        if (!depth && (*at == '}' || *at == ';')) declaration = at + 1;
        at++;
    }
    return count;
}

/* "float" of "const float *input": a type of --args, or NULL. */
static const char *type_of(const char *at, size_t length) {
    static const struct {
        const char *word, *type;
    } types[] = {{"unsigned char", "uchar"}, {"unsigned short", "ushort"},
                 {"unsigned long", "ulong"}, {"unsigned int", "uint"},
                 {"unsigned", "uint"},       {"uint64_t", "ulong"},
                 {"int64_t", "long"},        {"uint32_t", "uint"},
                 {"int32_t", "int"},         {"uint8_t", "uchar"},
                 {"size_t", "ulong"},        {"float", "float"},
                 {"double", "double"},       {"__half", "half"},
                 {"half", "half"},           {"__nv_bfloat16", "bfloat"},
                 {"long", "long"},           {"short", "short"},
                 {"char", "char"},           {"int", "int"},
                 {"bool", "uchar"}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        size_t word = strlen(types[i].word);
        for (size_t k = 0; k + word <= length; k++)
            if (!strncmp(at + k, types[i].word, word) && (!k || !is_word(at[k - 1])) &&
                !is_word(at[k + word]))
                return types[i].type;
    }
    return NULL;
}

static bool has_word(const char *at, size_t length, const char *word) {
    size_t count = strlen(word);
    for (size_t k = 0; k + count <= length; k++)
        if (!strncmp(at + k, word, count) && (!k || !is_word(at[k - 1])) && !is_word(at[k + count]))
            return true;
    return false;
}

/* The last word of a parameter: its name. */
static const char *name_of(Arena *arena, const char *at, const char *end) {
    while (end > at && !is_word(end[-1])) end--;
    const char *begin = end;
    while (begin > at && is_word(begin[-1])) begin--;
    return arena_copy_text(arena, begin, (size_t)(end - begin));
}

bool call_refuse_function(const char *name, const char *source, Error *error) {
    Text names = {0};
    int count = call_list_functions(source, &names);
    if (count)
        error_set(error, "--call %.60s: the file defines no such function; its host function%s %s %.300s",
                  name, count == 1 ? "" : "s", count == 1 ? "is" : "are", text_string(&names));
    else
        error_set(error, "--call %.60s: the file defines no host function; redviz FILE.cu shows a kernel",
                  name);
    text_done(&names);
    return false;
}

/* Proposes an item for each parameter. The last integer is n, others and floats are 1. */
static bool propose(Call *call, const char *source, Error *error) {
    const char *end = NULL, *at = source ? find_parameters(source, call->function, &end) : NULL;
    const char *last_integer = NULL;
    if (!at) return call_refuse_function(call->function, source ? source : "", error);
    for (const char *item = skip_blanks(at, end); item < end;
         item = skip_blanks(item_end(item, end) + 1, end)) {
        size_t length = (size_t)(item_end(item, end) - item);
        const char *type = type_of(item, length);
        if (!memchr(item, '*', length) && type && strcmp(type, "float") != 0 && strcmp(type, "double") != 0)
            last_integer = item;
    }
    Text items = {0};
    bool good = true;
    for (const char *item = skip_blanks(at, end); item < end && good;
         item = skip_blanks(item_end(item, end) + 1, end)) {
        const char *stop = item_end(item, end), *type = type_of(item, (size_t)(stop - item));
        bool is_pointer = memchr(item, '*', (size_t)(stop - item)) != NULL,
             is_input = has_word(item, (size_t)(stop - item), "const");
        const char *name = name_of(&call->arena, item, stop);
        if (items.length) text_add(&items, ", ");
        if (!type)
            good = error_set(error,
                             "--call %s: what '%s' should be is not known; give the list: --call "
                             "'%s(in=float[n]:random, ...)'",
                             call->function, name, call->function);
        else if (is_pointer)
            text_print(&items, "%s=%s[n]%s", name, type, is_input ? ":random" : "");
        else
            text_add(&items, item == last_integer ? "n" : "1");
        if (*stop != ',') break;
    }
    if (good) read_items(call, text_string(&items), text_string(&items) + items.length);
    call->is_proposed = true;
    text_done(&items);
    return good;
}

bool call_read(const char *text, const char *source, Call *call, Error *error) {
    const char *open = strchr(text, '('), *end = text + strlen(text);
    *call = (Call){0};
    while (end > text && isspace((unsigned char)end[-1])) end--;
    const char *name_end = open ? open : end;
    while (name_end > text && isspace((unsigned char)name_end[-1])) name_end--;
    call->function = arena_copy_text(&call->arena, text, (size_t)(name_end - text));
    if (!*call->function) return error_set(error, "--call: '%s' is not NAME(ITEMS)", text);
    if (!strcmp(call->function, "main"))
        return error_set(error, "--call main: redviz --run FILE.cu runs the main() of a file");
    if (!open) return propose(call, source, error);
    if (end[-1] != ')') return error_set(error, "--call: ')' is missing in '%s'", text);
    read_items(call, open + 1, end - 1);
    return true;
}

void call_done(Call *call) {
    arena_done(&call->arena);
    *call = (Call){0};
}

/* ---- the plan ------------------------------------------------------------------------------------------ */

bool call_plan(const Call *call, uint64_t n, Plan *plan, Error *error) {
    /* Numbers are doubles until the compiler gives them the type of the parameter. */
    PtxVariable number = {.type = PTX_F64, .bytes = 8, .alignment = 8, .count = 1};
    PtxVariable **parameters = memory_new(((size_t)call->argument_count + 1) * sizeof(PtxVariable *));
    for (int i = 0; i < call->argument_count; i++) parameters[i] = &number;
    PtxFunction entry = {
        .name = call->function, .parameters = parameters, .parameter_count = call->argument_count};
    PlanTyped typed = {.option = "--call", .text = call->items, .length = strlen(call->items)};
    PlanVariables variables = {n, 1, 1};
    *plan = (Plan){0};
    PlanLaunch *launch = plan_add_launch(plan, call->function);
    for (int d = 0; d < 3; d++) launch->grid[d] = launch->block[d] = 1;
    bool good = plan_parse_typed(plan, launch, &entry, &typed, &variables, error);
    free(parameters);
    if (!good) plan_free(plan);
    return good;
}

bool call_fills(const Call *call, const char *buffer) {
    size_t length = strlen(buffer);
    const char *end = call->items + strlen(call->items);
    for (const char *item = call->items; item < end; item = skip_blanks(item_end(item, end) + 1, end)) {
        size_t whole = (size_t)(item_end(item, end) - item);
        if (!strncmp(item, buffer, length) && item[length] == '=')
            return memchr(item, ':', whole) || item[length + 1] == '@';
    }
    return false;
}

/* ---- the program --------------------------------------------------------------------------------------- */

/* It stands before the file, whose macros it does not see; every name of it that the file sees begins with
 * redviz_. */
static const char head[] =
    "#include <cstdio>\n#include <cstdlib>\n#include <cuda_runtime.h>\n"
    "struct redviz_pointer { void *at; template <class T> operator T *() const { return (T *)at; } };\n"
    "struct redviz_number { const char *word; template <class T> operator T() const { return (T)strtod(word, "
    "NULL); } };\n"
    "static void *redviz_read(const char *path, size_t bytes, bool host) {\n"
    "    void *at = malloc(bytes + 1);\n"
    "    FILE *file = *path ? fopen(path, \"rb\") : NULL;\n"
    "    if (file && fread(at, 1, bytes, file) != bytes) exit(125);\n"
    "    if (file) fclose(file);\n"
    "    if (!file && host) for (size_t i = 0; i < bytes; i++) ((unsigned char *)at)[i] = 0xA5;\n"
    "    return at;\n"
    "}\n"
    "static void redviz_write(const char *path, const void *at, size_t bytes) {\n"
    "    FILE *file = fopen(path, \"wb\");\n"
    "    if (!file || fwrite(at, 1, bytes, file) != bytes || fclose(file)) exit(125);\n"
    "}\n"
    "static int redviz_fails(cudaError_t error) {\n"
    "    if (error) fprintf(stderr, \"%s\\n\", cudaGetErrorString(error));\n"
    "    return error;\n"
    "}\n";

static bool is_on_host(const Call *call, const PlanLaunch *launch, int buffer) {
    bool is_host = false;
    for (int i = 0; i < launch->argument_count; i++)
        is_host |= launch->arguments[i].buffer == buffer && call->is_host[i];
    return is_host;
}

/* Each buffer takes three arguments of the program: bytes, the file that fills it or "", the file for what it
 * holds afterwards. The variable that is allocated gives the memory its name. */
static void write_begin(const Call *call, const Plan *plan, Text *out) {
    text_print(out, "static char *redviz_host[%d], *redviz_at[%d];\n", plan->buffer_count + 1,
               plan->buffer_count + 1);
    text_add(out, "static int redviz_begin(char **redviz_words) {\n    size_t redviz_bytes;\n");
    for (int b = 0; b < plan->buffer_count; b++) {
        const char *name = plan->buffers[b].name;
        bool is_host = is_on_host(call, &plan->launches[0], b);
        text_print(out, "    redviz_bytes = strtoull(redviz_words[%d], NULL, 10);\n", 1 + 3 * b);
        text_print(out, "    redviz_host[%d] = (char *)redviz_read(redviz_words[%d], redviz_bytes, %d);\n", b,
                   2 + 3 * b, is_host);
        if (is_host) {
            text_print(out, "    redviz_at[%d] = redviz_host[%d];\n", b, b);
            continue;
        }
        text_print(out,
                   "    { void *%s; if (redviz_fails(cudaMalloc(&%s, redviz_bytes))) return 1; "
                   "redviz_at[%d] = (char *)%s; }\n",
                   name, name, b, name);
        text_print(out,
                   "    if (*redviz_words[%d] && redviz_fails(cudaMemcpy(redviz_at[%d], redviz_host[%d], "
                   "redviz_bytes, cudaMemcpyHostToDevice))) return 1;\n",
                   2 + 3 * b, b, b);
    }
    text_add(out, "    return 0;\n}\n");
}

static void write_end(const Call *call, const Plan *plan, Text *out) {
    text_add(out, "static int redviz_end(char **redviz_words) {\n    size_t redviz_bytes;\n"
                  "    if (redviz_fails(cudaDeviceSynchronize())) return 1;\n");
    for (int b = 0; b < plan->buffer_count; b++) {
        text_print(out, "    redviz_bytes = strtoull(redviz_words[%d], NULL, 10);\n", 1 + 3 * b);
        if (!is_on_host(call, &plan->launches[0], b))
            text_print(out,
                       "    if (redviz_fails(cudaMemcpy(redviz_host[%d], redviz_at[%d], redviz_bytes, "
                       "cudaMemcpyDeviceToHost))) return 1;\n",
                       b, b);
        text_print(out, "    redviz_write(redviz_words[%d], redviz_host[%d], redviz_bytes);\n", 3 + 3 * b, b);
    }
    text_add(out, "    return 0;\n}\n");
}

/* A main() of the file gets another name. */
static void write_call(const Call *call, const Plan *plan, const char *path, Text *out) {
    const PlanLaunch *launch = &plan->launches[0];
    text_print(out, "#define main redviz_main_of_the_file\n#include \"%s\"\n#undef main\n", path);
    text_print(out,
               "int main(int, char **redviz_words) {\n    if (redviz_begin(redviz_words)) return 1;\n    %s(",
               call->function);
    for (int i = 0, number = 1 + 3 * plan->buffer_count; i < launch->argument_count; i++) {
        int b = launch->arguments[i].buffer;
        if (i) text_add(out, ", ");
        if (b >= 0)
            text_print(out, "redviz_pointer{redviz_at[%d] + %llu}", b,
                       (unsigned long long)launch->arguments[i].offset);
        else
            text_print(out, "redviz_number{redviz_words[%d]}", number++);
    }
    text_add(out, ");\n    return redviz_end(redviz_words);\n}\n");
}

void call_write_main(const Call *call, const Plan *plan, const char *path, Text *before, Text *out) {
    text_add(before, head);
    write_begin(call, plan, out);
    write_end(call, plan, out);
    write_call(call, plan, path, out);
}
