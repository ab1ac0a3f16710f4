/* Options of a run: copied, and taken over to another kernel (session.h). */
#include "session/session.h"

#include <string.h>

SessionOptions session_options_copy(const SessionOptions *options, Arena *arena) {
    SessionOptions copy = *options;
    copy.saved = arena_copy_string(arena, options->saved);
    copy.kernel = arena_copy_string(arena, options->kernel);
    if (copy.hold_count)
        copy.holds = arena_copy(arena, options->holds, (size_t)copy.hold_count * sizeof *copy.holds);
    copy.file = arena_copy_string(arena, options->file);
    copy.ptx = arena_copy_string(arena, options->ptx);
    copy.what_if.label = arena_copy_string(arena, options->what_if.label);
    copy.entry = arena_copy_string(arena, options->entry);
    copy.args = arena_copy_string(arena, options->args);
    copy.launches = arena_copy_string(arena, options->launches);
    copy.expect = arena_copy_string(arena, options->expect);
    copy.compiler = arena_copy_string(arena, options->compiler);
    copy.sources = arena_copy_string(arena, options->sources);
    copy.source = arena_copy_string(arena, options->source);
    copy.ptx = arena_copy_string(arena, options->ptx);
    copy.machine = arena_copy_string(arena, options->machine);
    copy.compile_flags = arena_copy_string(arena, options->compile_flags);
    copy.catalog.op = arena_copy_string(arena, options->catalog.op);
    copy.catalog.fill_path = arena_copy_string(arena, options->catalog.fill_path);
    for (int i = 0; i < copy.catalog.parameter_count; i++)
        copy.catalog.parameters[i] = arena_copy_string(arena, options->catalog.parameters[i]);
    return copy;
}

void session_options_drop_remedy(SessionOptions *options) {
    options->ptx = NULL;
    options->holds = NULL; /* its instructions are of another kernel */
    options->hold_count = 0;
    options->what_if = (SessionWhatIf){0};
}

void session_options_for_kernel(SessionOptions *options, const char *kernel) {
    session_options_drop_remedy(options);
    const CatalogRow *row = catalog_find(kernel, NULL);
    bool is_other = !options->kernel || row != catalog_find(options->kernel, NULL);
    options->kernel = kernel;
    options->saved = options->file = options->entry = options->args = options->expect = NULL;
    options->launches = options->source = options->ptx = NULL;
    options->program = NULL;
    if (!row || !is_other) return; /* session_open() says that there is no such kernel */
    CatalogOptions *catalog = &options->catalog;
    CatalogRun run;
    catalog->parameter_count = 0;
    if (!row->has_free_grid) catalog->grid = 0;
    if (!row->default_cluster) catalog->cluster = 0;
    if (!catalog_resolve(row, &(CatalogOptions){.block = catalog->block}, &run, NULL)) catalog->block = 0;
    if (!catalog_resolve(row, &(CatalogOptions){.dtype = catalog->dtype}, &run, NULL))
        catalog->dtype = PTX_NO_TYPE;
    if (!catalog_resolve(row, &(CatalogOptions){.op = catalog->op}, &run, NULL)) catalog->op = NULL;
}

void session_options_for_entry(SessionOptions *options, const char *entry) {
    session_options_drop_remedy(options);
    options->entry = entry;
    options->program = NULL;
    options->args = options->launches = options->expect = options->ptx = NULL;
    memset(options->grid, 0, sizeof options->grid);
    memset(options->block, 0, sizeof options->block);
    memset(options->cluster, 0, sizeof options->cluster);
    options->shared_bytes = 0;
    options->has_shared = options->cooperative = false;
    options->catalog.block = options->catalog.grid = options->catalog.cluster = 0;
}
