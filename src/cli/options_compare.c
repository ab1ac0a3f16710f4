/* --compare: derives the second run from the settings of the first. */
#include "cli/options.h"

#include <string.h>

/* Items end at a comma before an OPTION=, so block=16,16 is one item. */
static char *next_item(char **cursor) {
    char *item = *cursor, *comma = item ? strchr(item, ',') : NULL;
    while (comma && comma[1 + strcspn(comma + 1, ",=")] != '=') comma = strchr(comma + 1, ',');
    *cursor = comma ? comma + 1 : NULL;
    if (comma) *comma = 0;
    return item;
}

/* The name is another kernel, with the first one's settings, or a file, with its own. */
static void take_second(const RunSpec *first, Options *second, const char *name) {
    if (text_ends_with(name, ".redviz")) {
        second->session = (RunSpec){.saved = name, .threads = first->threads};
    } else if (text_ends_with(name, ".ptx") || text_is_cuda_source(name)) {
        second->session = (RunSpec){.file = name, .threads = first->threads};
        second->session.catalog.n = first->catalog.n;
        second->session.catalog.seed = first->catalog.seed;
    } else {
        run_spec_choose_kernel(&second->session, name);
    }
    second->session.first_look = first->first_look;
}

bool options_compare(Options *options, const RunSpec *first, Error *error) {
    Options second = {.session = *first};
    char *rest = options->compare_items, *item = next_item(&rest);
    if (strchr(item, '=')) { /* no name: the same kernel */
        if (!run_spec_set_item(&second.session, item, error)) return false;
    } else {
        take_second(first, &second, item);
    }
    while ((item = next_item(&rest))) {
        if (second.session.saved)
            return error_set(error, "--compare %s: a saved session has its own settings, not %s",
                             second.session.saved, item);
        if (!run_spec_set_item(&second.session, item, error)) return false;
    }
    options->compare = second.session;
    return true;
}
