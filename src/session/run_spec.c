/* Specifications of runs: copied, compared, and taken over to another kernel, field by field (run_spec.h). */
#include "session/run_spec.h"

#include <string.h>

/* Bits: which changes of the kernel drop the field. */
enum { KEPT = 0, OF_KERNEL = 1, OF_ENTRY = 2, OF_BOTH = 3, OF_COPY = 7, WATCHED = 8, REMEDY = 4 };

enum { BY_VALUE, BY_TEXT, BY_HOLDS };

typedef struct SpecField {
    int kind;
    int of;
    size_t at, bytes;
} SpecField;

#define HOW_FLAG           BY_VALUE
#define HOW_INT            BY_VALUE
#define HOW_COUNT          BY_VALUE
#define HOW_TRIPLE         BY_VALUE
#define HOW_COUNTS         BY_VALUE
#define HOW_WORD           BY_VALUE
#define HOW_REAL           BY_VALUE
#define HOW_LOOSE          BY_VALUE
#define HOW_TEXT           BY_TEXT
#define HOW_HOLDS          BY_HOLDS
#define ROW(how, name, of) {how, of, offsetof(RunSpec, name), sizeof(((RunSpec *)0)->name)},
static const SpecField fields[] = {
#define FIELD(kind, name, of) ROW(HOW_##kind, name, of)
#define TYPED(type, name, of) ROW(BY_VALUE, name, of)
#define PART(type, name)
#define WITHIN(kind, name, of) ROW(HOW_##kind, name, of)
#include "session/run_spec.def"
};
enum { FIELD_COUNT = sizeof fields / sizeof *fields };

static const void *field_of(const RunSpec *spec, const SpecField *field) {
    return (const char *)spec + field->at;
}

/* Parameters beyond their count are not the caller's: they may point anywhere. */
static RunSpec without_rest(const RunSpec *spec) {
    RunSpec copy = *spec;
    for (int i = copy.catalog.parameter_count; i < CATALOG_PARAMETERS; i++) copy.catalog.parameters[i] = NULL;
    return copy;
}

RunSpec run_spec_copy(const RunSpec *spec, Arena *arena) {
    RunSpec copy = without_rest(spec);
    for (const SpecField *field = fields; field < fields + FIELD_COUNT; field++) {
        const char **texts = (const char **)((char *)&copy + field->at);
        for (size_t i = 0; field->kind == BY_TEXT && i < field->bytes / sizeof *texts; i++)
            texts[i] = arena_copy_string(arena, texts[i]);
    }
    if (spec->hold_count)
        copy.holds = arena_copy(arena, spec->holds, (size_t)spec->hold_count * sizeof *spec->holds);
    return copy;
}

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && !strcmp(a, b));
}

static bool is_same_place(const HoldPlace *a, const HoldPlace *b) {
    return a->block == b->block && a->warp == b->warp && a->lane == b->lane && a->pc == b->pc &&
           a->time == b->time;
}

static bool same_holds(const RunSpec *a, const RunSpec *b) {
    bool same = a->hold_count == b->hold_count;
    for (int i = 0; same && i < a->hold_count; i++)
        same = a->holds[i].launch == b->holds[i].launch && a->holds[i].lanes == b->holds[i].lanes &&
               is_same_place(&a->holds[i].at, &b->holds[i].at) &&
               is_same_place(&a->holds[i].until, &b->holds[i].until);
    return same;
}

bool run_spec_equal(const RunSpec *first, const RunSpec *second) {
    RunSpec of_first = without_rest(first), of_second = without_rest(second);
    const RunSpec *a = &of_first, *b = &of_second;
    bool same = same_holds(a, b);
    for (const SpecField *field = fields; same && field < fields + FIELD_COUNT; field++) {
        const void *x = field_of(a, field), *y = field_of(b, field);
        if (field->of == WATCHED) continue;
        if (field->kind == BY_VALUE) same = !memcmp(x, y, field->bytes);
        for (size_t i = 0; field->kind == BY_TEXT && same && i < field->bytes / sizeof(char *); i++)
            same = same_text(((const char *const *)x)[i], ((const char *const *)y)[i]);
    }
    return same;
}

static void drop(RunSpec *spec, int of) {
    for (const SpecField *field = fields; field < fields + FIELD_COUNT; field++)
        if (field->of & of) memset((char *)spec + field->at, 0, field->bytes);
}

void run_spec_drop_remedy(RunSpec *spec) {
    drop(spec, REMEDY);
}

void run_spec_choose_kernel(RunSpec *spec, const char *kernel) {
    const CatalogRow *row = catalog_find(kernel, NULL);
    bool is_other = !spec->kernel || row != catalog_find(spec->kernel, NULL);
    drop(spec, OF_KERNEL);
    spec->kernel = kernel;
    if (!row || !is_other) return; /* session_open() says that there is no such kernel */
    CatalogOptions *catalog = &spec->catalog;
    CatalogRun run;
    catalog->parameter_count = 0;
    memset(catalog->parameters, 0, sizeof catalog->parameters);
    if (!row->has_free_grid) catalog->grid = 0;
    if (!row->default_cluster) catalog->cluster = 0;
    if (!catalog_resolve(row, &(CatalogOptions){.block = catalog->block}, &run, NULL)) catalog->block = 0;
    if (!catalog_resolve(row, &(CatalogOptions){.dtype = catalog->dtype}, &run, NULL))
        catalog->dtype = PTX_NO_TYPE;
    if (!catalog_resolve(row, &(CatalogOptions){.op = catalog->op}, &run, NULL)) catalog->op = NULL;
}

void run_spec_choose_entry(RunSpec *spec, const char *entry) {
    drop(spec, OF_ENTRY);
    spec->entry = entry;
}
