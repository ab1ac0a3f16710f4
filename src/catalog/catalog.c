/* Finds a kernel by name, resolves the command line's options for it, and finds its files. */
#define _POSIX_C_SOURCE 200809L
#include "catalog/catalog.h"

#include "base/self.h"
#include "base/number.h"
#include "base/text.h"
#include "catalog/rows.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

enum { MULTIPROCESSORS_H200 = 132, MOST_NAMES = 256, LONGEST_ID = 63, PTX_LIMIT_BYTES = 64 << 20 };
#define LARGEST_N                                                                                            \
    ((uint64_t)1 << 30) /* elements have 32-bit indices in the kernels; leaves room for a stride beyond n */

static const struct {
    const CatalogRow *rows;
    const int *count;
} TABLES[] = {
    {ladder_rows, &ladder_row_count},     {asynchronous_rows, &asynchronous_row_count},
    {numerics_rows, &numerics_row_count}, {triton_rows, &triton_row_count},
    {labs_rows, &labs_row_count},         {bugs_rows, &bugs_row_count},
};
enum { TABLE_COUNT = sizeof TABLES / sizeof *TABLES };

int catalog_count(void) {
    int count = 0;
    for (int i = 0; i < TABLE_COUNT; i++) count += *TABLES[i].count;
    return count;
}

const CatalogRow *catalog_row(int index) {
    for (int i = 0; i < TABLE_COUNT; i++) {
        if (index < *TABLES[i].count) return &TABLES[i].rows[index];
        index -= *TABLES[i].count;
    }
    return NULL;
}

/* True if `word` is one of the space-separated `words`. */
static bool is_among(const char *words, const char *word) {
    size_t length = strlen(word);
    for (const char *at = words; at && *at; at += strspn(at, " ")) {
        size_t here = strcspn(at, " ");
        if (here == length && memcmp(at, word, length) == 0) return true;
        at += here;
    }
    return false;
}

static bool first_word(const char *words, char *word, size_t bytes) {
    size_t length = strcspn(words, " ");
    if (length + 1 > bytes) return false;
    memcpy(word, words, length);
    word[length] = 0;
    return true;
}

/* The likely intended name: the same but for case, else the nearest by edit distance. */
static const char *nearest_name(const char *name) {
    const char *names[MOST_NAMES];
    size_t count = 0;
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogRow *row = catalog_row(i);
        if (count < MOST_NAMES) names[count++] = row->id;
        if (row->aliases && count < MOST_NAMES) names[count++] = row->aliases;
    }
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(names[i], name) == 0) return names[i];
    return text_nearest(name, names, count);
}

/* "row_sum, column_sum" for "sum". */
static void list_names_with(const char *part, Text *names) {
    for (int i = 0; *part && i < catalog_count(); i++)
        if (strstr(catalog_row(i)->id, part))
            text_print(names, "%s%s", names->length ? ", " : "", catalog_row(i)->id);
}

const CatalogRow *catalog_find(const char *name, Error *error) {
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogRow *row = catalog_row(i);
        if (strcmp(row->id, name) == 0 || is_among(row->aliases, name)) return row;
    }
    const char *nearest = nearest_name(name);
    Text similar = {0};
    if (!nearest) list_names_with(name, &similar);
    if (nearest)
        error_set(error, "no kernel '%.80s'; did you mean '%s'? --list shows all", name, nearest);
    else if (similar.length)
        error_set(error, "no kernel '%.80s'; there are %s; --list shows all", name, similar.data);
    else
        error_set(error, "no kernel '%.80s'; --list shows all", name);
    text_done(&similar);
    return NULL;
}

/* ---- options ---------------------------------------------------------------------------------------- */

static bool resolve_block(const CatalogRow *row, uint32_t asked, uint32_t *block, Error *error) {
    *block = asked ? asked : row->default_block;
    if (*block >= row->minimum_block && *block <= row->maximum_block &&
        (!row->accepts_block || row->accepts_block(*block)))
        return true;
    if (row->minimum_block == row->maximum_block)
        return error_set(error, "--block %" PRIu32 ": %s takes %" PRIu32 " threads", *block, row->id,
                         row->minimum_block);
    return error_set(error, "--block %" PRIu32 ": %s takes %s, from %" PRIu32 " to %" PRIu32, *block, row->id,
                     row->block_rule, row->minimum_block, row->maximum_block);
}

static bool resolve_type(const CatalogRow *row, PtxType asked, PtxType *type, Error *error) {
    char first[16];
    if (asked == PTX_NO_TYPE)
        return first_word(row->types, first, sizeof first) && plan_type_parse(first, type);
    if (!is_among(row->types, plan_type_name(asked)))
        return error_set(error, "--dtype %s: %s takes one of: %s", plan_type_name(asked), row->id,
                         row->types);
    *type = asked;
    return true;
}

bool catalog_plan(const CatalogRun *run, Plan *plan, Error *error) {
    if (run->row->plan_if) return run->row->plan_if(run, plan, error);
    run->row->plan(run, plan);
    return true;
}

const char *catalog_operation(const char *op) {
    static const char *const known[] = {"sum", "min", "max", "argmax"};
    for (size_t i = 0; op && i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i], op) == 0) return known[i];
    return NULL;
}

static bool resolve_operation(const CatalogRow *row, const char *asked, const char **op, Error *error) {
    char first[16];
    if (!asked)
        return first_word(row->operations, first, sizeof first) && (*op = catalog_operation(first)) != NULL;
    if (!is_among(row->operations, asked) || !catalog_operation(asked))
        return error_set(error, "--op %.40s: %s takes one of: %s", asked, row->id, row->operations);
    *op = catalog_operation(asked);
    return true;
}

static int parameter_count(const CatalogRow *row) {
    int count = 0;
    while (count < CATALOG_PARAMETERS && row->parameters[count].name) count++;
    return count;
}

static bool unknown_parameter(const CatalogRow *row, const char *asked, size_t length, Error *error) {
    Text names = {0};
    for (int i = 0; i < parameter_count(row); i++)
        text_print(&names, "%s%s", i ? ", " : "", row->parameters[i].name);
    if (names.length)
        error_set(error, "--param %.*s: %s has no such parameter; it has: %s", (int)length, asked, row->id,
                  names.data);
    else
        error_set(error, "--param %.*s: %s has no parameters", (int)length, asked, row->id);
    text_done(&names);
    return false;
}

static bool resolve_parameter(const CatalogRow *row, const char *asked, int64_t *values, Error *error) {
    size_t length = strcspn(asked, "=");
    int index = 0;
    for (; index < parameter_count(row); index++)
        if (strlen(row->parameters[index].name) == length &&
            memcmp(row->parameters[index].name, asked, length) == 0)
            break;
    if (index == parameter_count(row)) return unknown_parameter(row, asked, length > 60 ? 60 : length, error);
    const CatalogParameter *parameter = &row->parameters[index];
    uint64_t value;
    if (!asked[length] ||
        !number_parse(asked + length + 1, (uint64_t)parameter->minimum, (uint64_t)parameter->maximum, &value))
        return error_set(error, "--param %.80s: %s is a whole number from %" PRId64 " to %" PRId64, asked,
                         parameter->name, parameter->minimum, parameter->maximum);
    values[index] = (int64_t)value;
    return true;
}

FillKind catalog_default_fill(const CatalogRow *row, const char *op, bool prefers_digits) {
    if (row->fill) return row->fill;
    return prefers_digits && op && strcmp(op, "sum") == 0 ? FILL_DIGITS : FILL_RANDOM;
}

bool catalog_resolve(const CatalogRow *row, const CatalogOptions *options, CatalogRun *run, Error *error) {
    *run = (CatalogRun){
        .row = row,
        .n = options->n ? options->n : row->default_n,
        .grid = options->grid,
        .cluster = options->cluster ? options->cluster : row->default_cluster,
        .whole_numbers = options->whole_numbers,
        .fill_path = options->fill_path,
        .seed = options->seed,
        .multiprocessors = options->multiprocessors ? options->multiprocessors : MULTIPROCESSORS_H200,
    };
    if (run->n > LARGEST_N)
        return error_set(error, "--n %" PRIu64 ": the catalogue's kernels take up to %" PRIu64, run->n,
                         LARGEST_N);
    if (options->cluster && !row->default_cluster)
        return error_set(error, "--cluster: %s is not launched in clusters", row->id);
    if (run->grid && !row->has_free_grid)
        return error_set(error, "--grid: the grid of %s follows from n and the block size", row->id);
    for (int i = 0; i < parameter_count(row); i++) run->parameters[i] = row->parameters[i].fallback;
    for (int i = 0; i < options->parameter_count; i++)
        if (!resolve_parameter(row, options->parameters[i], run->parameters, error)) return false;
    if (!resolve_block(row, options->block, &run->block, error) ||
        !resolve_type(row, options->dtype, &run->dtype, error) ||
        !resolve_operation(row, options->op, &run->op, error))
        return false;
    run->fill =
        options->has_fill ? options->fill : catalog_default_fill(row, run->op, options->prefers_digits);
    return true;
}

/* ---- files ------------------------------------------------------------------------------------------ */

#ifndef REDVIZ_SHARE_DIR
#define REDVIZ_SHARE_DIR "/usr/local/share/redviz"
#endif

static bool try_path(const char *root, const char *folder, const char *name, char *path, size_t path_bytes) {
    int length = snprintf(path, path_bytes, "%s/%s/%s", root, folder, name);
    return length > 0 && (size_t)length < path_bytes && access(path, R_OK) == 0;
}

static bool has_kernels(const char *root) {
    char path[PATH_MAX];
    return try_path(root, "kernels", "operations.cuh", path, sizeof path);
}

/* Searches upwards from the executable: build/redviz lies two levels below the root of the tree, a test of
 * the sanitizer build five; an installed bin/redviz lies beside share/redviz. */
static bool try_above(const char *folder, const char *name, char *path, size_t path_bytes) {
    char root[PATH_MAX], share[PATH_MAX];
    if (!self_path(root, sizeof root)) return false;
    for (int up = 0; up < 6; up++) {
        char *slash = strrchr(root, '/');
        if (!slash || slash == root) return false;
        *slash = 0;
        if (has_kernels(root) && try_path(root, folder, name, path, path_bytes)) return true;
        int written = snprintf(share, sizeof share, "%s/share/redviz", root);
        if (written < (int)sizeof share && has_kernels(share) &&
            try_path(share, folder, name, path, path_bytes))
            return true;
    }
    return false;
}

bool catalog_path(const char *folder, const char *name, char *path, size_t path_bytes, Error *error) {
    const char *share = getenv("REDVIZ_SHARE");
    if (share && *share) {
        if (try_path(share, folder, name, path, path_bytes)) return true;
        return error_set(error, "%s/%s is not in REDVIZ_SHARE=%s", folder, name, share);
    }
    if (try_above(folder, name, path, path_bytes) ||
        try_path(REDVIZ_SHARE_DIR, folder, name, path, path_bytes))
        return true;
    return error_set(error,
                     "%s/%s is neither beside the program nor in %s: set REDVIZ_SHARE to the folder that has "
                     "kernels and assets",
                     folder, name, REDVIZ_SHARE_DIR);
}

bool catalog_ptx_path(const CatalogRow *row, char *path, size_t path_bytes, Error *error) {
    char name[128];
    snprintf(name, sizeof name, "%.*s.ptx", (int)strcspn(row->source, "."), row->source);
    return catalog_path("assets/ptx", name, path, path_bytes, error);
}

PtxModule *catalog_module(const CatalogRow *row, Error *error) {
    char path[4096], *text;
    size_t length;
    if (!catalog_ptx_path(row, path, sizeof path, error) ||
        !text_read_file(path, PTX_LIMIT_BYTES, &text, &length, error))
        return NULL;
    PtxModule *module = ptx_module_parse(text, length, path, error);
    if (module) module->has_library_headers = true;
    free(text);
    return module;
}
