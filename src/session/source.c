/* Source: a changed copy of the source of a kernel of the catalogue, which runs in its place. */
#include "session/state.h"

#include <stdlib.h>
#include <string.h>

/* "(const int*, int*, unsigned)"; "(3 parameters)" if the name does not contain them. */
static void print_parameters(const PtxFunction *entry, Text *out) {
    Text lines = {0};
    text_add(out, "(");
    if (!ptx_readable_parameters(entry->name, &lines))
        text_print(out, "%d parameters", entry->parameter_count);
    for (const char *at = text_string(&lines); *at;) {
        size_t length = strcspn(at, "\n");
        if (at != text_string(&lines)) text_add(out, ", ");
        text_add_bytes(out, at, length);
        at += length + (at[length] == '\n');
    }
    text_add(out, ")");
    text_done(&lines);
}

static bool has_same_parameters(const PtxFunction *a, const PtxFunction *b) {
    bool same = a->parameter_count == b->parameter_count;
    for (int i = 0; same && i < a->parameter_count; i++)
        same = a->parameters[i]->bytes == b->parameters[i]->bytes;
    return same;
}

/* `own`: the kernel as it ships. */
static bool check_entry(const Session *session, const PtxModule *own, const char *name, Error *error) {
    const char *file = session->options.source;
    const PtxFunction *entry = ptx_module_find_entry(session->code.module, name, NULL),
                      *shipped = ptx_module_find_entry(own, name, NULL);
    if (!entry)
        return error_set_at(
            error, file, 0, 0,
            "there is no kernel %s, which the run of %s launches: keep its name and the instances "
            "at the end of the file",
            name, session->kernel.row->id);
    if (!shipped || has_same_parameters(entry, shipped)) return true;
    Text now = {0}, then = {0};
    print_parameters(entry, &now);
    print_parameters(shipped, &then);
    error_set_at(error, file, 0, 0, "%s takes %s: the run of %s launches it with %s", name, text_string(&now),
                 session->kernel.row->id, text_string(&then));
    text_done(&now);
    text_done(&then);
    return false;
}

bool session_check_source(const Session *session, const Plan *plan, Error *error) {
    if (!session->options.source) return true;
    PtxModule *own = catalog_module(session->kernel.row, error);
    bool good = own != NULL;
    for (int i = 0; good && i < plan->launch_count; i++)
        good = check_entry(session, own, plan->launches[i].entry, error);
    ptx_module_free(own);
    return good;
}

bool session_is_edited(const Session *session) {
    return session->code.is_edited;
}

/* ---- the first change ---------------------------------------------------------------------------------- */

/* The source as it was compiled; of a kernel of the catalogue that was not, the one that ships. The caller's;
 * NULL: it is PTX. */
static char *source_of(const Session *session) {
    char path[PATH_MAX], *text = NULL;
    size_t length;
    const CatalogRow *row = session->kernel.row;
    if (session->options.ptx) return NULL;
    if (session->code.source) return memory_copy_text(session->code.source);
    if (row && catalog_path("kernels", row->source, path, sizeof path, NULL))
        (void)text_read_file(path, PTX_LIMIT_BYTES, &text, &length, NULL);
    return text;
}

static int first_difference(const char *before, const char *after) {
    int line = 1;
    for (; *before && *before == *after; before++, after++) line += *after == '\n';
    return *before == *after ? 0 : line;
}

int session_first_change(const Session *before, const Session *after) {
    char *then = source_of(before), *now = source_of(after);
    int line =
        then && now ? first_difference(then, now) : first_difference(before->code.text, after->code.text);
    free(then);
    free(now);
    return line;
}
