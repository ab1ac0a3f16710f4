/* Finds an entry by what the user types. Lists candidates if several fit or none does. */
#include "ptx/names.h"
#include "ptx/spelling.h"

#include <ctype.h>
#include <stdlib.h>

typedef struct Candidates {
    PtxFunction **items;
    size_t count, capacity;
} Candidates;

enum { MOST_SHOWN = 10, MOST_BYTES = 430 };

typedef struct Near {
    size_t distance, index;
} Near;

static int compare_near(const void *a, const void *b) {
    const Near *one = a, *other = b;
    if (one->distance != other->distance) return one->distance < other->distance ? -1 : 1;
    return one->index < other->index ? -1 : 1;
}

/* How many characters of `asked` are missing in `name`, apart from the longest common run; a run of two is
 * chance. */
static size_t missing_of(const char *asked, const char *name) {
    enum { CHANCE = 2 };
    size_t longest = 0, length = strlen(asked);
    if (length > 100) length = 100;
    for (size_t i = 0; i + longest < length; i++)
        for (const char *at = name; *at; at++) {
            size_t same = 0;
            while (i + same < length && at[same] &&
                   tolower((unsigned char)asked[i + same]) == tolower((unsigned char)at[same]))
                same++;
            if (same > longest) longest = same;
        }
    return longest <= CHANCE ? length : length - longest;
}

/* Its readable name, unless another entry shares it. */
static const char *shown_name(PtxModule *module, const Candidates *list, size_t index) {
    const char *name = list->items[index]->name, *readable = ptx_readable_name(module, name);
    for (size_t i = 0; i < list->count; i++)
        if (i != index && !strcmp(readable, ptx_readable_name(module, list->items[i]->name))) return name;
    return readable;
}

/* Completes `problem` with names, the nearest to `asked` first, their number, and how to list all. */
static bool report(PtxModule *module, const Candidates *list, const char *problem, const char *asked,
                   Error *error) {
    Text text = {0};
    Near *nearest = memory_new(list->count * sizeof *nearest);
    for (size_t i = 0; i < list->count; i++)
        nearest[i] = (Near){
            .distance = *asked ? missing_of(asked, ptx_readable_name(module, list->items[i]->name)) : 0,
            .index = i};
    qsort(nearest, list->count, sizeof *nearest, compare_near);
    text_print(&text, problem, asked);
    size_t shown = 0;
    for (; shown < list->count && shown < MOST_SHOWN; shown++) {
        const char *name = shown_name(module, list, nearest[shown].index);
        if (shown && text.length + strlen(name) > MOST_BYTES) break;
        text_print(&text, "%s%.300s", shown ? ", " : "", name);
    }
    if (shown < list->count) text_print(&text, ", ... (%zu in all: redviz --list FILE)", list->count);
    error_set_at(error, module->file, 0, 0, "%s", text_string(&text));
    text_done(&text);
    free(nearest);
    return false;
}

static void all_entries(const PtxModule *module, Candidates *out) {
    for (int i = 0; i < module->function_count; i++)
        if (module->functions[i]->is_entry && module->functions[i]->has_body)
            array_push(out->items, out->count, out->capacity, module->functions[i]);
}

/* Among several matches, keeps those with the typed parameters. */
static void keep_overload(const char *asked, Candidates *matching) {
    size_t kept = 0;
    Text lines = {0};
    if (matching->count < 2 || !ptx_spelling_has_parameters(asked)) return;
    for (size_t i = 0; i < matching->count; i++) {
        text_clear(&lines);
        if (ptx_readable_parameters(matching->items[i]->name, &lines) &&
            ptx_spelling_fits_parameters(asked, text_string(&lines)))
            matching->items[kept++] = matching->items[i];
    }
    if (kept) matching->count = kept;
    text_done(&lines);
}

static PtxFunction *choose(PtxModule *module, const char *name, const Candidates *all, Candidates *matching,
                           Error *error) {
    SpellingFit best = name ? SPELLING_MAY_FIT : SPELLING_OTHER;
    for (size_t i = 0; i < all->count; i++) {
        SpellingFit now =
            name ? ptx_spelling_fit(name, ptx_readable_name(module, all->items[i]->name)) : SPELLING_OTHER;
        if (now > best) matching->count = 0;
        if (now > best) best = now;
        if (now == best) array_push(matching->items, matching->count, matching->capacity, all->items[i]);
    }
    if (name) keep_overload(name, matching);
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
    /* The cast drops const because readable names are cached in the module. */
    PtxFunction *found = choose((PtxModule *)(uintptr_t)module, name, &all, &matching, error);
    free(all.items);
    free(matching.items);
    return found;
}
