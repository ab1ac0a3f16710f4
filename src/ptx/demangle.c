/* Readable names of kernels: the part of the Itanium C++ ABI's mangling that names of kernels use, printed as
 * C++ is written.
 *
 *   _Z6reduceIfLi256EEvPT_S1_j                 reduce<float,256>
 *   _ZN3ops3sumIPKiEEvT_                       ops::sum<const int*>
 *   _ZZ6reduceIfEvPT_jE9warp_sums              warp_sums
 *   _ZN8__main__6reduceB2v1E5ArrayIfLi1E...    reduce
 *   _Z1kIZ4mainEUlfE_EvPKfPfT_                 k<main::{lambda(float)#1}>
 *
 * Nested names, templates with types, values and packs, substitutions, built-in types, pointers, references,
 * qualifiers, arrays, tags, lambdas, functions and pointers to them. The parameters of the function are not
 * printed. Any other name (expressions, operators) stays mangled. Depth and length are limited:
 * substitutions can describe names of exponential length. */
#include "ptx/names.h"

#include <stdlib.h>

enum { DEPTH_LIMIT = 48, NAME_LIMIT = 2048, SUBSTITUTION_LIMIT = 512 };

typedef struct Demangler {
    const char *at, *end;
    char *substitutions[SUBSTITUTION_LIMIT];
    int substitution_count;
    char *arguments[SUBSTITUTION_LIMIT]; /* of the innermost finished template: T_, T0_ */
    int argument_count;
    int depth;
    bool in_lambda; /* T_ is the first auto of the lambda */
} Demangler;

static bool type(Demangler *d, Text *out);
static bool name(Demangler *d, Text *out);

static int peek(const Demangler *d, int ahead) {
    return d->end - d->at > ahead ? (unsigned char)d->at[ahead] : 0;
}

static bool take(Demangler *d, const char *text) {
    size_t length = strlen(text);
    if ((size_t)(d->end - d->at) < length || memcmp(d->at, text, length) != 0) return false;
    d->at += length;
    return true;
}

static bool remember(Demangler *d, const Text *what) {
    if (d->substitution_count == SUBSTITUTION_LIMIT || what->length > NAME_LIMIT) return false;
    d->substitutions[d->substitution_count++] = memory_copy_text(text_string(what));
    return true;
}

static bool enter(Demangler *d) {
    return ++d->depth <= DEPTH_LIMIT;
}
static bool leave(Demangler *d, bool good) {
    d->depth--;
    return good;
}

/* 6reduce: the length of the name; 0: no length, or longer than the text. */
static size_t name_length(Demangler *d) {
    size_t length = 0;
    while (peek(d, 0) >= '0' && peek(d, 0) <= '9' && length < NAME_LIMIT)
        length = length * 10 + (size_t)(*d->at++ - '0');
    return length > NAME_LIMIT || length > (size_t)(d->end - d->at) ? 0 : length;
}

/* Hides the namespaces that compilers invent for internal linkage, and Numba's version tags (B2v1). */
static bool source_name(Demangler *d, Text *out) {
    size_t length = name_length(d);
    if (!length) return false;
    bool hidden = length > 10 && (!memcmp(d->at, "_GLOBAL__N", 10) || !memcmp(d->at, "_INTERNAL_", 10));
    if (!hidden) text_add_bytes(out, d->at, length);
    d->at += length;
    while (take(d, "B")) {
        if (!(length = name_length(d))) return false;
        d->at += length;
    }
    return true;
}

/* S_ S0_ SA_ and the abbreviations of std. */
static bool substitution(Demangler *d, Text *out) {
    static const char *const standard[][2] = {
        {"St", "std"}, {"Sa", "std::allocator"}, {"Sb", "std::basic_string"}, {"Ss", "std::string"}};
    for (size_t i = 0; i < sizeof standard / sizeof *standard; i++)
        if (take(d, standard[i][0])) return text_add(out, standard[i][1]), true;
    if (!take(d, "S")) return false;
    int index = 0;
    for (bool first = true; !take(d, "_"); first = false) {
        int c = peek(d, 0), digit = c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'Z' ? c - 'A' + 10 : -1;
        if (digit < 0 || index > SUBSTITUTION_LIMIT) return false;
        index = (first ? 0 : (index - 1) * 36) + digit + 1;
        d->at++;
    }
    if (index >= d->substitution_count) return false;
    text_add(out, d->substitutions[index]);
    return true;
}

static bool template_parameter(Demangler *d, Text *out) { /* T_ T0_ */
    if (!take(d, "T")) return false;
    int index = 0;
    for (; !take(d, "_"); d->at++) {
        int c = peek(d, 0);
        if (c < '0' || c > '9' || index > SUBSTITUTION_LIMIT) return false;
        index = (index ? (index - 1) * 10 : 0) + c - '0' + 1;
    }
    if (d->in_lambda) return text_print(out, "auto:%d", index + 1), true;
    if (index >= d->argument_count) return false;
    text_add(out, d->arguments[index]);
    return true;
}

/* L type value E */
static bool literal(Demangler *d, Text *out) {
    Text kind = {0};
    const char *begin = d->at;
    bool good = peek(d, 0) != '_' && type(d, &kind);
    bool is_bool = !strcmp(text_string(&kind), "bool"),
         is_plain = good && d->at == begin + 1 && strchr("abcstijlmxyhw", *begin) && kind.length;
    const char *digits = d->at + (peek(d, 0) == 'n');
    const char *end = digits;
    while (end < d->end && *end >= '0' && *end <= '9') end++;
    good = good && end > digits && end < d->end && *end == 'E' && strcmp(text_string(&kind), "float") != 0 &&
           strcmp(text_string(&kind), "double") != 0;
    if (good && is_bool) text_add(out, *digits == '0' ? "false" : "true");
    if (good && !is_bool) {
        if (!is_plain) text_print(out, "(%s)", text_string(&kind));
        text_print(out, "%s%.*s", digits > d->at ? "-" : "", (int)(end - digits), digits);
    }
    text_done(&kind);
    if (good) d->at = end + 1;
    return good;
}

static bool argument(Demangler *d, Text *out);

/* The types of parameters up to E; "v" alone: no parameters. */
static bool parameter_list(Demangler *d, Text *out) {
    if (peek(d, 0) == 'v' && peek(d, 1) == 'E') d->at++;
    for (int i = 0; !take(d, "E"); i++) {
        if (i) text_add(out, ",");
        if (!type(d, out) || out->length > NAME_LIMIT) return false;
    }
    return true;
}

/* ad L _Z encoding E E: the address of a function, with its name alone. */
static bool function_address(Demangler *d, Text *out) {
    bool is_expression = take(d, "Xad");
    Text ignored = {0};
    text_add(out, "&");
    bool good = take(d, "L_Z") && name(d, out) && parameter_list(d, &ignored);
    text_done(&ignored);
    return good && (!is_expression || take(d, "E"));
}

static bool pack(Demangler *d, Text *out) { /* J argument... E */
    for (bool first = true; !take(d, "E"); first = false) {
        if (!first) text_add(out, ",");
        if (!argument(d, out)) return false;
    }
    return true;
}

static bool argument(Demangler *d, Text *out) {
    if (!enter(d)) return leave(d, false);
    bool is_function = (peek(d, 0) == 'L' && peek(d, 1) == '_') || peek(d, 0) == 'X';
    bool good = is_function    ? function_address(d, out)
                : take(d, "L") ? literal(d, out)
                : take(d, "J") ? pack(d, out)
                               : type(d, out);
    return leave(d, good && out->length <= NAME_LIMIT);
}

/* I argument... E. The arguments become T_, T0_, ... once it is complete. */
static bool arguments(Demangler *d, Text *out) {
    char *list[64];
    int count = 0;
    bool good = enter(d);
    text_add(out, "<");
    while (good && !take(d, "E")) {
        Text one = {0};
        good = count < 64 && argument(d, &one);
        if (good) {
            if (count && one.length) text_add(out, ",");
            text_add(out, text_string(&one));
            list[count++] = memory_copy_text(text_string(&one));
        }
        text_done(&one);
    }
    text_add(out, ">");
    for (int i = 0; good && i < d->argument_count; i++) free(d->arguments[i]);
    for (int i = 0; i < count; i++) {
        if (good)
            d->arguments[i] = list[i];
        else
            free(list[i]);
    }
    if (good) d->argument_count = count;
    return leave(d, good && out->length <= NAME_LIMIT);
}

static void join(Text *path, const char *part) {
    if (path->length && *part) text_add(path, "::");
    text_add(path, part);
}

/* Ul types E [number] _: a lambda, by its parameters and its number in the function, from 1. */
static bool lambda(Demangler *d, Text *out) {
    bool outer = d->in_lambda;
    if (!take(d, "Ul")) return false;
    d->in_lambda = true;
    text_add(out, "{lambda(");
    bool good = parameter_list(d, out);
    d->in_lambda = outer;
    unsigned long number = 1;
    if (good && peek(d, 0) >= '0' && peek(d, 0) <= '9') {
        unsigned long last = 0;
        for (; peek(d, 0) >= '0' && peek(d, 0) <= '9' && last < 1000000; d->at++)
            last = last * 10 + (unsigned long)(*d->at - '0');
        number = last + 2;
    }
    text_print(out, ")#%lu}", number);
    return good && take(d, "_");
}

static bool name_or_lambda(Demangler *d, Text *out) {
    return peek(d, 0) == 'U' ? lambda(d, out) : source_name(d, out);
}

/* Z encoding E entity [_ number]: a type within a function. */
static bool local_entity(Demangler *d, Text *out) {
    Text ignored = {0}, function = {0}, inner = {0};
    bool good = name(d, &function) && parameter_list(d, &ignored) && name(d, &inner);
    text_print(out, "%s::%s", text_string(&function), text_string(&inner));
    text_done(&ignored);
    text_done(&function);
    text_done(&inner);
    if (good && take(d, "_"))
        while (peek(d, 0) == '_' || (peek(d, 0) >= '0' && peek(d, 0) <= '9')) d->at++;
    return good && out->length <= NAME_LIMIT;
}

/* N [qualifiers] prefix... E */
static bool nested(Demangler *d, Text *out) {
    while (take(d, "K") || take(d, "V") || take(d, "r")) {
    }
    Text path = {0};
    bool good = true;
    while (good && !take(d, "E")) {
        Text part = {0};
        bool known = peek(d, 0) == 'S', is_arguments = take(d, "I");
        good = is_arguments        ? path.length && arguments(d, &part)
               : known             ? substitution(d, &part)
               : peek(d, 0) == 'T' ? template_parameter(d, &part)
                                   : name_or_lambda(d, &part);
        if (is_arguments)
            text_add(&path, text_string(&part));
        else
            join(&path, text_string(&part));
        text_done(&part);
        good = good && path.length <= NAME_LIMIT;
        if (good && !known && peek(d, 0) != 'E') good = remember(d, &path);
    }
    text_add(out, text_string(&path));
    text_done(&path);
    return good;
}

/* A name that is not nested: [St] source-name [arguments], or a substitution with arguments. */
static bool unscoped(Demangler *d, Text *out) {
    Text path = {0};
    bool known = peek(d, 0) == 'S' && peek(d, 1) != 't', good;
    if (take(d, "St")) {
        text_add(&path, "std::");
        good = source_name(d, &path);
    } else {
        good = known ? substitution(d, &path) : name_or_lambda(d, &path);
    }
    if (good && peek(d, 0) == 'I') {
        good = known || remember(d, &path);
        d->at++;
        good = good && arguments(d, &path);
    }
    text_add(out, text_string(&path));
    text_done(&path);
    return good;
}

static bool name(Demangler *d, Text *out) {
    if (!enter(d)) return leave(d, false);
    bool good = take(d, "N") ? nested(d, out) : take(d, "Z") ? local_entity(d, out) : unscoped(d, out);
    return leave(d, good);
}

static const char *builtin(Demangler *d) {
    static const char *const words[][2] = {{"v", "void"},        {"w", "wchar_t"},
                                           {"b", "bool"},        {"c", "char"},
                                           {"a", "signed char"}, {"h", "unsigned char"},
                                           {"s", "short"},       {"t", "unsigned short"},
                                           {"i", "int"},         {"j", "unsigned int"},
                                           {"l", "long"},        {"m", "unsigned long"},
                                           {"x", "long long"},   {"y", "unsigned long long"},
                                           {"n", "__int128"},    {"o", "unsigned __int128"},
                                           {"f", "float"},       {"d", "double"},
                                           {"e", "long double"}, {"DF16_", "_Float16"},
                                           {"DF16b", "__bf16"},  {"Dh", "half"},
                                           {"Di", "char32_t"},   {"Ds", "char16_t"},
                                           {"Du", "char8_t"},    {"Dn", "std::nullptr_t"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (take(d, words[i][0])) return words[i][1];
    return NULL;
}

/* A type that wraps another: `before` precedes plain types, `after` follows. */
static bool wrapped(Demangler *d, const char *before, const char *after, Text *out) {
    Text inner = {0};
    bool good = type(d, &inner);
    bool pointer = inner.length && strchr("*&", inner.data[inner.length - 1]);
    text_print(out, "%s%s%s", pointer ? "" : before, text_string(&inner),
               pointer && *before ? " const" : after);
    text_done(&inner);
    return good;
}

/* F result parameters E: "int (int,int)" */
static bool function_type(Demangler *d, Text *out) {
    Text list = {0};
    bool good = take(d, "F") && type(d, out) && parameter_list(d, &list);
    text_print(out, " (%s)", text_string(&list));
    text_done(&list);
    return good;
}

/* "int (*)(int,int)" */
static bool pointer_to_function(Demangler *d, Text *out) {
    Text function = {0};
    bool good = take(d, "P") && type(d, &function);
    const char *text = text_string(&function), *open = strstr(text, " (");
    if (good && open) text_print(out, "%.*s (*)%s", (int)(open - text), text, open + 1);
    text_done(&function);
    return good && open;
}

static bool compound(Demangler *d, Text *out) {
    if (peek(d, 0) == 'P' && peek(d, 1) == 'F') return pointer_to_function(d, out);
    if (take(d, "P")) return wrapped(d, "", "*", out);
    if (take(d, "R")) return wrapped(d, "", "&", out);
    if (take(d, "O")) return wrapped(d, "", "&&", out);
    if (take(d, "K")) return wrapped(d, "const ", "", out);
    if (take(d, "V")) return wrapped(d, "", " volatile", out);
    if (take(d, "Dp")) return wrapped(d, "", "", out);
    return false;
}

static bool type(Demangler *d, Text *out) {
    if (!enter(d)) return leave(d, false);
    Text text = {0};
    const char *word = NULL;
    int c = peek(d, 0);
    /* A substitution adds no new candidate, unless arguments follow. */
    bool good, again = c == 'S' && peek(d, 1) != 't';
    if (c == 'P' || c == 'R' || c == 'O' || c == 'K' || c == 'V' || (c == 'D' && peek(d, 1) == 'p'))
        good = compound(d, &text);
    else if (c == 'T')
        good = template_parameter(d, &text);
    else if (c == 'F')
        good = function_type(d, &text);
    else if (c == 'N' || c == 'S' || c == 'Z' || (c >= '0' && c <= '9')) {
        const char *begin = d->at;
        good = name(d, &text);
        again = again && good && d->at[-1] == '_' && (d->at - begin) <= 4;
        again = again || (good && c == 'S' && d->at - begin == 2);
    } else if ((word = builtin(d)))
        good = (text_add(&text, word), true);
    else
        good = false;
    if (good && !word && !again) good = remember(d, &text);
    text_add(out, text_string(&text));
    good = good && text.length <= NAME_LIMIT;
    text_done(&text);
    return leave(d, good);
}

/* A variable of a function, _ZZ...E9warp_sums, or ...E9warp_sums_0 if the function has several of that name:
 * its own name is the last one. NULL: none. */
static const char *local_name(const PtxName *known, size_t *length) {
    size_t end = known->length;
    while (end > 0 && known->text[end - 1] >= '0' && known->text[end - 1] <= '9') end--;
    if (end == known->length || known->text[end - 1] != '_')
        end = known->length;
    else
        end--;
    for (size_t at = 3; at + 1 < end; at++) {
        if (known->text[at] != 'E') continue;
        char *name;
        unsigned long count = strtoul(known->text + at + 1, &name, 10);
        size_t rest = (size_t)(known->text + known->length - name), number = known->length - end;
        bool is_last = count > 0 && (count == rest || (count < rest && count == rest - number));
        if (known->text[at + 1] < '1' || known->text[at + 1] > '9' || !is_last) continue;
        *length = count;
        return name;
    }
    return NULL;
}

static Demangler *demangler_new(const char *begin, const char *end) {
    Demangler *d = memory_new(sizeof *d);
    d->at = begin;
    d->end = end;
    take(d, "L"); /* internal linkage */
    return d;
}

static void demangler_free(Demangler *d) {
    for (int i = 0; i < d->substitution_count; i++) free(d->substitutions[i]);
    for (int i = 0; i < d->argument_count; i++) free(d->arguments[i]);
    free(d);
}

/* Numba's tags: B, length, v, number. */
static bool is_numba(const char *mangled) {
    for (const char *at = mangled; (at = strchr(at, 'B')); at++) {
        size_t length = strspn(at + 1, "0123456789");
        size_t number = length && at[1 + length] == 'v' ? strspn(at + length + 2, "0123456789") : 0;
        if (number && strchr("BE", at[length + 2 + number])) return true;
    }
    return false;
}

/* MODULE::FUNCTION::_3clocals_3e::KERNEL: only the last says something. */
static void drop_python_path(Text *name) {
    size_t begin = 0;
    for (size_t i = 0; i + 1 < name->length && name->data[i] != '<'; i++)
        if (name->data[i] == ':' && name->data[i + 1] == ':') begin = i + 2;
    memmove(name->data, name->data + begin, name->length - begin + 1);
    name->length -= begin;
}

const char *ptx_readable_name(PtxModule *module, const char *mangled) {
    PtxName *known = ptx_names_get(module->names, mangled, strlen(mangled));
    if (known->readable) return known->readable;
    known->readable = known->text;
    if (known->length < 4 || memcmp(known->text, "_Z", 2) != 0) return known->readable;
    size_t length;
    const char *local = known->text[2] == 'Z' ? local_name(known, &length) : NULL;
    if (local) return known->readable = arena_copy_text(&module->arena, local, length);
    Demangler *d = demangler_new(known->text + 2, known->text + known->length);
    Text out = {0};
    bool good = name(d, &out);
    if (good && is_numba(known->text)) drop_python_path(&out);
    if (good && out.length && out.length <= NAME_LIMIT)
        known->readable = arena_copy_text(&module->arena, out.data, out.length);
    text_done(&out);
    demangler_free(d);
    return known->readable;
}

/* The parameters after the name; a template's begin with the return type. "v" alone: no parameters. */
static bool parameters(Demangler *d, bool is_template, Text *out) {
    Text result = {0};
    bool good = !is_template || type(d, &result);
    text_done(&result);
    if (good && take(d, "v")) return d->at == d->end;
    for (int i = 0; good && d->at < d->end && *d->at != '.'; i++) {
        text_add(out, i ? "\n" : "");
        good = type(d, out) && out->length <= NAME_LIMIT;
    }
    return good;
}

bool ptx_readable_parameters(const char *mangled, Text *out) {
    size_t length = strlen(mangled);
    if (length < 4 || memcmp(mangled, "_Z", 2) != 0 || mangled[2] == 'Z') return false;
    Demangler *d = demangler_new(mangled + 2, mangled + length);
    Text text = {0}, types = {0};
    bool good = name(d, &text) && text.length && parameters(d, text.data[text.length - 1] == '>', &types);
    if (good) text_add(out, text_string(&types));
    text_done(&text);
    text_done(&types);
    demangler_free(d);
    return good;
}
