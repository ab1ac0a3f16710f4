#include "runtime/join_ptx.h"

#include "base/memory.h"

#include <ctype.h>
#include <stdlib.h>

enum { FILES_OF_PART = 1000 };

/* ---- items: what stands at module scope --------------------------------------------------------------- */

typedef enum Linkage { PRIVATE, EXTERN, WEAK, COMMON, VISIBLE } Linkage;

typedef struct PartItem {
    const char *begin, *header_end, *end; /* header: up to a body, an initial value or the semicolon */
    const char *name;                     /* NULL: a directive without one */
    size_t name_length;
    Linkage linkage;
    bool is_function, is_shared, is_defined;
} PartItem;

typedef struct PartItems {
    PartItem *items;
    size_t count, capacity;
} PartItems;

static bool begins(const char *text, const char *word) {
    return !strncmp(text, word, strlen(word));
}

static bool is_word_character(char c) {
    return isalnum((unsigned char)c) || (c && strchr("_$%.", c));
}

static bool is_name(const char *token) {
    return isalpha((unsigned char)*token) || *token == '_' || *token == '$';
}

/* Behind blanks and comments. */
static const char *skip_blanks(const char *at) {
    for (;;) {
        at += strspn(at, " \t\r\n");
        if (begins(at, "//")) {
            at += strcspn(at, "\n");
        } else if (begins(at, "/*")) {
            const char *end = strstr(at + 2, "*/");
            at = end ? end + 2 : at + strlen(at);
        } else {
            return at;
        }
    }
}

/* A word, a string or one character; the empty token is the end of the text. */
static const char *token_end(const char *at) {
    if (*at == '"') {
        at += 1 + strcspn(at + 1, "\"\n");
        return at + (*at == '"');
    }
    if (!is_word_character(*at)) return at + (*at != 0);
    while (is_word_character(*at)) at++;
    return at;
}

static bool is_token(const char *at, const char *word) {
    return begins(at, word) && token_end(at) == at + strlen(word);
}

/* Behind the brace that closes the one at `at`. */
static const char *skip_braces(const char *at) {
    int depth = 0;
    const char *end = at;
    do {
        depth += *at == '{' ? 1 : *at == '}' ? -1 : 0;
        end = token_end(at);
        at = skip_blanks(end);
    } while (*at && depth > 0);
    return end;
}

static bool is_declaration(const char *at) {
    static const char *const words[] = {".extern", ".visible", ".weak",  ".common", ".func",
                                        ".entry",  ".global",  ".const", ".shared", ".tex"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_token(at, words[i])) return true;
    return false;
}

static void note_word(PartItem *item, const char *at) {
    if (is_token(at, ".extern")) item->linkage = EXTERN;
    if (is_token(at, ".weak")) item->linkage = WEAK;
    if (is_token(at, ".common")) item->linkage = COMMON;
    if (is_token(at, ".visible") || is_token(at, ".entry")) item->linkage = VISIBLE;
    item->is_function |= is_token(at, ".func") || is_token(at, ".entry");
    item->is_shared |= is_token(at, ".shared");
    if (item->name || !is_name(at)) return;
    item->name = at;
    item->name_length = (size_t)(token_end(at) - at);
}

static void read_declaration(PartItem *item) {
    const char *at = item->begin;
    int depth = 0;
    for (; *at && !(*at == ';' && !depth); at = skip_blanks(token_end(at))) {
        if (*at == '{' && item->is_function && !depth) {
            item->header_end = at;
            item->end = skip_braces(at);
            item->is_defined = true;
            return;
        }
        if (*at == '=' && !depth) item->header_end = at;
        if (*at && strchr("([{", *at)) depth++;
        if (*at && strchr(")]}", *at) && depth) depth--;
        if (!depth) note_word(item, at);
    }
    if (!item->header_end) item->header_end = at;
    item->end = at + (*at == ';');
    item->is_defined = !item->is_function && item->linkage != EXTERN;
}

static PartItem read_item(const char *at) {
    PartItem item = {.begin = at};
    if (is_declaration(at)) {
        read_declaration(&item);
    } else if (is_token(at, ".section")) {
        item.end = skip_braces(at + strcspn(at, "{"));
    } else {
        item.end = at + strcspn(at, "\n");
    }
    return item;
}

static PartItems items_of(const char *text) {
    PartItems list = {0};
    for (const char *at = skip_blanks(text); *at; at = skip_blanks(list.items[list.count - 1].end))
        array_push(list.items, list.count, list.capacity, read_item(at));
    return list;
}

static bool is_same_name(const PartItem *a, const PartItem *b) {
    return a->name && b->name && a->name_length == b->name_length &&
           !memcmp(a->name, b->name, a->name_length);
}

/* The definition of that name, else a declaration. */
static PartItem *find_item(const PartItems *list, const PartItem *named) {
    PartItem *found = NULL;
    for (size_t i = 0; i < list->count; i++)
        if (is_same_name(&list->items[i], named) && (!found || list->items[i].is_defined))
            found = &list->items[i];
    return found;
}

/* ---- what two parts say of one name -------------------------------------------------------------------- */

static bool is_space(const char *at) {
    return is_token(at, ".global") || is_token(at, ".const") || is_token(at, ".v2") || is_token(at, ".v4");
}

/* The types of parameters and results, or of a variable: state space, bits and dimensions, without names. */
static Text signature_of(const PartItem *item) {
    Text out = {0};
    int depth = 0;
    for (const char *at = item->begin; at < item->header_end; at = skip_blanks(token_end(at))) {
        static const char *const letters[] = {".b", ".u", ".s", ".f"};
        bool is_kept = item->is_function ? depth > 0 : at > item->begin;
        size_t length = (size_t)(token_end(at) - at), is_type = 0;
        if (*at == '(') depth++;
        if (*at == ')') depth--;
        for (size_t i = 0; i < 4; i++) is_type |= begins(at, letters[i]) && isdigit((unsigned char)at[2]);
        if (at == item->name) text_add(&out, "|");
        if (is_token(at, ".align")) {
            at = skip_blanks(token_end(at)); /* its number */
        } else if (is_token(at, ".attribute")) {
            at += strcspn(at, ")");
        } else if (is_kept && is_type) {
            text_add_bytes(&out, at + 2, length - 2);
        } else if (is_kept && (isdigit((unsigned char)*at) || (*at && strchr("[],", *at)) || is_space(at))) {
            text_add_bytes(&out, at, length);
            if (*at == '.') text_add(&out, " ");
        }
    }
    return out;
}

static bool is_same_signature(const PartItem *a, const PartItem *b) {
    if (a->is_function != b->is_function || a->is_shared != b->is_shared) return false;
    if (a->is_shared) return true;
    Text first = signature_of(a), second = signature_of(b);
    const char *one = text_string(&first), *other = text_string(&second);
    /* `x[]` is any number of elements. */
    bool is_open = !a->is_function && (strstr(one, "[]") || strstr(other, "[]"));
    size_t length = strcspn(one, "[");
    bool same = is_open ? length == strcspn(other, "[") && !strncmp(one, other, length) : !strcmp(one, other);
    text_done(&first);
    text_done(&second);
    return same;
}

/* Bits of a variable, of its signature: ".global .v2 32|[4]". */
static double bits_of(const PartItem *item) {
    Text signature = signature_of(item);
    double bits = 1;
    for (const char *at = text_string(&signature); *at; at++) {
        char *end = NULL;
        double factor = isdigit((unsigned char)*at) ? strtod(at, &end) : 1;
        bits *= factor;
        if (end) at = end - 1;
    }
    text_done(&signature);
    return bits;
}

/* A declaration of what its part never names again: ptxas drops it, so that nvlink compares no types. */
static bool is_idle(const char *text, const PartItem *item) {
    if (!item->is_function || item->is_defined || item->linkage != EXTERN) return false;
    for (const char *at = skip_blanks(text); *at; at = skip_blanks(token_end(at))) {
        PartItem word = {.name = at, .name_length = (size_t)(token_end(at) - at)};
        if (at >= item->begin && at < item->end)
            at = item->end - 1;
        else if (is_same_name(&word, item))
            return false;
    }
    return true;
}

/* What becomes of an item whose name the module has: the old or the new definition is left out. */
static bool settle(PartItem *old, const PartItem *new, bool *leaves_old, bool *leaves_new, Error *error) {
    int length = (int)(new->name_length < 200 ? new->name_length : 200);
    if (old->linkage == COMMON && new->linkage == COMMON) { /* the largest */
        *leaves_old = bits_of(new) > bits_of(old);
        *leaves_new = !*leaves_old;
        return true;
    }
    if (!is_same_signature(old, new))
        return error_set(error, "'%.*s' is declared differently in two parts: its types differ", length,
                         new->name);
    if (!new->is_defined || !old->is_defined) {
        *leaves_new = !new->is_defined;
        return true;
    }
    if (old->linkage == VISIBLE && new->linkage == VISIBLE)
        return error_set(error, "'%.*s' is defined in two parts; one may be .weak", length, new->name);
    *leaves_new = new->linkage <= old->linkage;
    *leaves_old = !*leaves_new;
    return true;
}

/* ---- private names ------------------------------------------------------------------------------------- */

/* Private names of `own` that `other` has too; all of `other`, or only what is not private there. */
static PartItems names_to_change(const PartItems *own, const PartItems *other, bool also_private) {
    PartItems names = {0};
    for (size_t i = 0; i < own->count; i++) {
        const PartItem *item = &own->items[i], *met = item->name ? find_item(other, item) : NULL;
        bool changes = item->linkage == PRIVATE && met && (also_private || met->linkage != PRIVATE);
        if (changes) array_push(names.items, names.count, names.capacity, *item);
    }
    return names;
}

/* The text with `suffix` behind each of these names. */
static Text renamed(const char *text, const PartItems *names, const char *suffix) {
    Text out = {0};
    const char *copied = text;
    for (const char *at = skip_blanks(text); *at; at = skip_blanks(token_end(at))) {
        PartItem word = {.name = at, .name_length = (size_t)(token_end(at) - at)};
        if (!is_name(at) || !find_item(names, &word)) continue;
        text_add_bytes(&out, copied, (size_t)(at - copied) + word.name_length);
        text_add(&out, suffix);
        copied = at + word.name_length;
    }
    text_add(&out, copied);
    return out;
}

/* Gives each private name that both have another one; returns the changed part. */
static Text part_with_own_names(Text *module, int parts, const char *text) {
    char suffix[32];
    PartItems old = items_of(text_string(module)), new = items_of(text);
    PartItems of_part = names_to_change(&new, &old, true), of_module = names_to_change(&old, &new, false);
    snprintf(suffix, sizeof suffix, "$part%d", parts);
    Text part = renamed(text, &of_part, suffix);
    if (of_module.count) {
        snprintf(suffix, sizeof suffix, "$before%d", parts);
        Text changed = renamed(text_string(module), &of_module, suffix);
        text_done(module);
        *module = changed;
    }
    free(old.items), free(new.items), free(of_part.items), free(of_module.items);
    return part;
}

/* ---- copying ------------------------------------------------------------------------------------------- */

/* The number behind `*at`, plus those of the earlier parts. */
static void shift_number(Text *to, const char **at, int parts) {
    char *end;
    unsigned long number = strtoul(*at, &end, 10);
    text_print(to, " %lu", number + (unsigned long)parts * FILES_OF_PART);
    *at = end;
}

/* Copies a line; labels of .debug_str get the number of the part. */
static void copy_line(Text *to, const char *line, const char *end, int parts) {
    static const char label[] = "$L__info_string", inlined[] = "inlined_at";
    const char *first = line + strspn(line, " \t");
    if (is_token(first, ".file") || is_token(first, ".loc")) {
        const char *at = token_end(first);
        text_add_bytes(to, line, (size_t)(at - line));
        shift_number(to, &at, parts);
        line = at;
    }
    while (line < end) {
        if (begins(line, label)) {
            text_print(to, "$L__info_part%d_", parts);
            line += sizeof label - 1;
        } else if (begins(line, inlined)) {
            text_add(to, inlined);
            line += sizeof inlined - 1;
            shift_number(to, &line, parts);
        } else {
            text_add_bytes(to, line++, 1);
        }
    }
}

static void copy_lines(Text *to, const char *at, const char *end, int parts) {
    while (at < end) {
        const char *line = at;
        at += strcspn(at, "\n");
        at = at < end ? at + 1 : end;
        copy_line(to, line, at, parts);
    }
}

static bool is_header(const PartItem *item) {
    return is_token(item->begin, ".version") || is_token(item->begin, ".target") ||
           is_token(item->begin, ".address_size");
}

/* Of two .version or .target lines the one with the higher number. */
static const PartItem *newer(const PartItem *item, const PartItems *part) {
    for (size_t i = 0; i < part->count; i++) {
        const PartItem *other = &part->items[i];
        const char *word = token_end(item->begin);
        if (word - item->begin != token_end(other->begin) - other->begin ||
            memcmp(item->begin, other->begin, (size_t)(word - item->begin)) != 0)
            continue;
        double mine = strtod(item->begin + strcspn(item->begin, "0123456789\n"), NULL);
        double its = strtod(other->begin + strcspn(other->begin, "0123456789\n"), NULL);
        return its > mine ? other : item;
    }
    return item;
}

/* The module without what the part replaces, then the part without what the module has. */
static Text put_together(const char *module, const PartItems *old, const bool *leaves_old,
                         const PartItems *new, const bool *leaves_new, int parts) {
    Text out = {0};
    const char *from = module;
    for (size_t i = 0; i < old->count; i++) {
        const PartItem *item = &old->items[i], *kept = is_header(item) ? newer(item, new) : item;
        text_add_bytes(&out, from, (size_t)(item->begin - from));
        if (!leaves_old[i]) text_add_bytes(&out, kept->begin, (size_t)(kept->end - kept->begin));
        from = item->end;
    }
    text_add(&out, from);
    text_add(&out, "\n");
    for (size_t i = 0; i < new->count; i++) {
        if (leaves_new[i]) continue;
        copy_lines(&out, new->items[i].begin, new->items[i].end, parts);
        text_add(&out, "\n");
    }
    return out;
}

bool join_ptx(Text *module, int parts, const char *text, Error *error) {
    if (!parts) {
        text_add(module, text);
        return true;
    }
    Text part = part_with_own_names(module, parts, text);
    PartItems old = items_of(text_string(module)), new = items_of(text_string(&part));
    bool *leaves_old = memory_new(old.count + 1), *leaves_new = memory_new(new.count + 1), good = true;
    for (size_t i = 0; good && i < new.count; i++) {
        const PartItem *item = &new.items[i];
        PartItem *met = item->name && item->linkage != PRIVATE ? find_item(&old, item) : NULL;
        leaves_new[i] = is_header(item);
        if (met && !is_same_signature(met, item)) {
            leaves_new[i] = is_idle(text_string(&part), item);
            leaves_old[met - old.items] = !leaves_new[i] && is_idle(text_string(module), met);
            if (leaves_new[i] || leaves_old[met - old.items]) continue;
        }
        if (met) good = settle(met, item, &leaves_old[met - old.items], &leaves_new[i], error);
    }
    if (good) {
        Text joined = put_together(text_string(module), &old, leaves_old, &new, leaves_new, parts);
        text_done(module);
        *module = joined;
    }
    free(old.items), free(new.items), free(leaves_old), free(leaves_new);
    text_done(&part);
    return good;
}

void join_ptx_finish(Text *module) {
    PartItems list = items_of(text_string(module));
    Text out = {0};
    const char *from = text_string(module);
    for (size_t i = 0; i < list.count; i++) {
        const PartItem *item = &list.items[i];
        bool is_declaration = item->linkage == EXTERN && item->name && !item->is_shared;
        const PartItem *definition = is_declaration ? find_item(&list, item) : NULL;
        if (!definition || !definition->is_defined) continue;
        text_add_bytes(&out, from, (size_t)(item->begin - from));
        /* ptxas wants to see a function before its calls. */
        if (item->is_function) text_add(&out, definition->linkage == WEAK ? ".weak" : ".visible");
        from = item->is_function ? item->begin + strlen(".extern") : item->end;
    }
    text_add(&out, from);
    text_done(module);
    *module = out;
    free(list.items);
}
