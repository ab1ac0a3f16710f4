/* Finding an entry by what a person types: its exact name, its readable name, or that without template
 * arguments. */
#include "ptx/names.h"

#include <ctype.h>
#include <stdlib.h>

/* The suffix of a literal, as in 256u, which readable names do not have. */
static bool is_suffix(const char *begin, const char *at) {
    return at > begin && strchr("uUlL", *at) && (isdigit((unsigned char)at[-1]) || is_suffix(begin, at - 1));
}

/* Compares names as C++ does, without regard to spaces. Are the first characters of `b` those of `a`? How
 * many; -1: no. */
static int match_begin(const char *a, size_t a_length, const char *b) {
    const char *a_begin = a, *a_end = a + a_length, *b_begin = b;
    for (;;) {
        while (a < a_end && (*a == ' ' || (*a != *b && is_suffix(a_begin, a)))) a++;
        while (*b == ' ') b++;
        if (a == a_end) return (int)(b - b_begin);
        if (*a++ != *b++) return -1;
    }
}

static bool same_name(const char *a, const char *b, size_t b_length) {
    return match_begin(a, strlen(a), b) == (int)b_length;
}

/* Is `asked` the name without the last template arguments, which have defaults? */
static bool lacks_arguments(const char *asked, const char *readable) {
    const char *end = strrchr(asked, '>');
    int length = end ? match_begin(asked, (size_t)(end - asked), readable) : -1;
    return length > 0 && (readable[length] == ',' || readable[length - 1] == '<');
}

/* How well `asked` names the entry: 2 with its template arguments, 1 without them (or the last of them) or
 * without its namespaces, 0 not at all. */
static int quality(const char *asked, const char *readable) {
    size_t length = strlen(readable), bare = strcspn(readable, "<");
    if (same_name(asked, readable, length)) return 2;
    if (same_name(asked, readable, bare) || lacks_arguments(asked, readable)) return 1;
    const char *last = readable;
    for (const char *c = readable; c + 2 < readable + bare; c++)
        if (c[0] == ':' && c[1] == ':') last = c + 2;
    return same_name(asked, last, length - (size_t)(last - readable)) ||
           same_name(asked, last, bare - (size_t)(last - readable));
}

typedef struct Candidates {
    PtxFunction **items;
    size_t count, capacity;
} Candidates;

static bool report(PtxModule *module, const Candidates *list, const char *problem, const char *asked,
                   Error *error) {
    Text text = {0};
    size_t shown = 0;
    text_print(&text, problem, asked);
    for (; shown < list->count && text.length < 400; shown++) {
        size_t i = shown;
        const char *name = list->items[i]->name, *readable = ptx_readable_name(module, name);
        bool alone = true;
        for (size_t k = 0; k < list->count; k++)
            alone =
                alone && (k == i || strcmp(readable, ptx_readable_name(module, list->items[k]->name)) != 0);
        text_print(&text, "%s%s", i ? ", " : "", alone ? readable : name);
    }
    bool cut = text.length > 440;
    if (cut) text.data[text.length = 440] = 0;
    if (cut || shown < list->count) text_add(&text, ", ...");
    error_set_at(error, module->file, 0, 0, "%s", text_string(&text));
    text_done(&text);
    return false;
}

static void all_entries(const PtxModule *module, Candidates *out) {
    for (int i = 0; i < module->function_count; i++)
        if (module->functions[i]->is_entry && module->functions[i]->has_body)
            array_push(out->items, out->count, out->capacity, module->functions[i]);
}

static PtxFunction *choose(PtxModule *module, const char *name, const Candidates *all, Candidates *matching,
                           Error *error) {
    int best = name ? 1 : 0;
    for (size_t i = 0; i < all->count; i++) {
        int now = name ? quality(name, ptx_readable_name(module, all->items[i]->name)) : 0;
        if (now > best) matching->count = 0;
        if (now > best) best = now;
        if (now == best) array_push(matching->items, matching->count, matching->capacity, all->items[i]);
    }
    if (matching->count == 1) return matching->items[0];
    if (!all->count)
        error_set_at(error, module->file, 0, 0, "this file has no entry");
    else if (!name)
        report(module, all, "this file has several entries; choose one with --entry%s: ", "", error);
    else if (!matching->count)
        report(module, all, "there is no entry '%.100s'; --entry is one of: ", name, error);
    else
        report(module, matching, "several entries are named '%.100s'; choose one with --entry: ", name,
               error);
    return NULL;
}

PtxFunction *ptx_module_find_entry(const PtxModule *module, const char *name, Error *error) {
    PtxFunction *exact = name ? ptx_module_find(module, name) : NULL;
    if (exact && exact->is_entry && exact->has_body) return exact;
    Candidates all = {0}, matching = {0};
    all_entries(module, &all);
    PtxFunction *found =
        choose((PtxModule *)(uintptr_t)module, name, &all, &matching, error); /* keeps readable names */
    free(all.items);
    free(matching.items);
    return found;
}
