/* --invariant: derives the runs whose sums are compared from the settings of the first.
 *
 * Its items are those of --compare without a name; block=256,1024 is a setting of each run. args takes the
 * rest of the text, so does launch. */
#include "ask/ask.h"
#include "cli/options.h"

#include <string.h>

static bool is_list(const char *item) {
    return !strncmp(item, "args=", 5) || !strncmp(item, "launch=", 7);
}

/* Items end at a comma before an OPTION=. */
static const char *end_of_item(const char *item) {
    if (is_list(item)) return item + strlen(item);
    const char *comma = strchr(item, ',');
    while (comma && comma[1 + strcspn(comma + 1, ",=")] != '=') comma = strchr(comma + 1, ',');
    return comma ? comma : item + strlen(item);
}

/* Settings whose values may be listed: one number each. */
static bool lists_numbers(const char *value) {
    return !value[strspn(value, "0123456789abcdefABCDEFx^,")];
}

static int count_values(const char *item) {
    const char *value = strchr(item, '=') + 1;
    int count = 1;
    if (!lists_numbers(value)) return 1;
    for (; *value; value++) count += *value == ',';
    return count;
}

/* Copies value `index` of a list, or the only one. */
static char *item_of(Arena *arena, const char *item, int index) {
    int count = count_values(item);
    const char *value = strchr(item, '=') + 1, *from = value;
    if (count == 1) return arena_copy_string(arena, item);
    for (int i = 0; i < index; i++) from = strchr(from, ',') + 1;
    return arena_print(arena, "%.*s%.*s", (int)(value - item), item, (int)strcspn(from, ","), from);
}

static bool set_item(RunSpec *options, const char *item, Error *error) {
    bool is_launch = !strncmp(item, "launch=", 7);
    if (is_list(item)) {
        if (!options->file || !options->launches != !is_launch)
            return error_set(error, "--invariant %s=...: for %s", is_launch ? "launch" : "args",
                             is_launch ? "a run with --launch" : "FILE.cu and FILE.ptx, without --launch");
        *(is_launch ? &options->launches : &options->args) = strchr(item, '=') + 1;
        return true;
    }
    return run_spec_set_item(options, item, error);
}

/* Block and grid of a file that has several dimensions in its first run would be a list here: x separates
 * them. */
static void join_dimensions(char *item) {
    bool is_size = !strncmp(item, "block=", 6) || !strncmp(item, "grid=", 5) || !strncmp(item, "cluster=", 8);
    for (char *at = strchr(item, '='); is_size && *at; at++)
        if (*at == 'x' && at[-1] != '0') *at = ',';
}

bool options_invariant(const Options *options, const RunSpec *first, Arena *arena,
                       AskVariant variants[OPTIONS_VARIANTS], int *count, Error *error) {
    const char *items[OPTIONS_VARIANTS];
    int item_count = 0, values = 1;
    for (const char *at = options->invariant; *at;) {
        const char *end = end_of_item(at);
        if (item_count == OPTIONS_VARIANTS || !memchr(at, '=', (size_t)(end - at)))
            return error_set(error, "--invariant: '%s' is not OPTION=VALUE[,VALUE...], like block=256,1024",
                             at);
        items[item_count] = arena_copy_text(arena, at, (size_t)(end - at));
        int listed = count_values(items[item_count]);
        if (listed > 1 && values > 1 && listed != values)
            return error_set(error, "--invariant %s: lists of %d and %d values; give each run one",
                             options->invariant, values, listed);
        if (listed > values) values = listed;
        item_count++;
        at = *end ? end + 1 : end;
    }
    if (values > OPTIONS_VARIANTS - 1)
        return error_set(error, "--invariant: at most %d runs", OPTIONS_VARIANTS - 1);
    *count = 0;
    if (values == 1) variants[(*count)++] = (AskVariant){"as given", *first};
    for (int i = 0; i < values; i++) {
        AskVariant *variant = &variants[(*count)++];
        variant->options = *first;
        variant->label = "";
        for (int k = 0; k < item_count; k++) {
            char *item = item_of(arena, items[k], i);
            variant->label = arena_print(arena, "%s%s%s", variant->label, k ? "," : "", item);
            join_dimensions(item);
            if (!set_item(&variant->options, item, error)) return false;
        }
    }
    return true;
}
