/* Each function answers one question about a setting, with a switch over the kinds of settings. */
#include "tui/view/settings.h"

#include "base/language.h"
#include "base/number.h"
#include "tui/view/step_context.h"
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_BLOCK = 1024, MANY_VALUES = 1024 };
static const int64_t LARGEST_N = (int64_t)1 << 30, LARGEST_FILE_N = (int64_t)1 << 40,
                     LARGEST_GRID = 0x7fffffff;

enum { FILL_COUNT = FILL_FILE }; /* fills without a file come first */

/* The rows of this kernel. */
static int list_kinds(const Settings *settings, SettingKind kinds[SETTING_COUNT]) {
    const CatalogRow *row = settings->row;
    int count = 0;
    kinds[count++] = SETTING_N;
    if (!settings->is_launch) kinds[count++] = SETTING_BLOCK;
    if (row ? row->has_free_grid : !settings->is_launch) kinds[count++] = SETTING_GRID;
    if (row ? row->default_cluster != 0 : !settings->is_launch) kinds[count++] = SETTING_CLUSTER;
    if (!row) kinds[count++] = SETTING_ARGUMENTS;
    if (row) kinds[count++] = SETTING_TYPE;
    if (row) kinds[count++] = SETTING_OPERATION;
    for (int i = 0; row && i < CATALOG_PARAMETERS && row->parameters[i].name; i++)
        kinds[count++] = (SettingKind)(SETTING_PARAMETER + i);
    kinds[count++] = SETTING_FILL;
    kinds[count++] = SETTING_SEED;
    return count;
}

int settings_count(const Settings *settings) {
    SettingKind kinds[SETTING_COUNT];
    return list_kinds(settings, kinds);
}

static SettingKind chosen_kind(const Settings *settings) {
    SettingKind kinds[SETTING_COUNT];
    int count = list_kinds(settings, kinds);
    return kinds[settings->choice < count ? settings->choice : count - 1];
}

static int find_kind(const Settings *settings, SettingKind kind) {
    SettingKind kinds[SETTING_COUNT];
    int count = list_kinds(settings, kinds), at = 0;
    while (at < count && kinds[at] != kind) at++;
    return at < count ? at : 0;
}

/* ---- from a run and to options ------------------------------------------------------------------------- */

void settings_init(Settings *settings, const Scene *scene) {
    const CatalogRun *run = scene->identity.run;
    const RunSpec *options = scene->identity.options;
    const TraceLaunch *launch = scene->traced.trace->launch_count ? scene->traced.trace->launches[0] : NULL;
    *settings = (Settings){.row = scene->identity.row,
                           .value = {[SETTING_N] = (int64_t)scene->identity.n, [SETTING_FILL] = -1}};
    if (options) {
        settings->value[SETTING_SEED] = (int64_t)options->catalog.seed;
        if (options->catalog.has_fill && options->catalog.fill < FILL_FILE)
            settings->value[SETTING_FILL] = (int)options->catalog.fill;
        settings->is_file = options->catalog.has_fill && options->catalog.fill == FILL_FILE;
        settings->prefers_digits = options->catalog.prefers_digits;
        settings->value[SETTING_GRID] = scene->identity.row ? options->catalog.grid : options->grid[0];
        settings->value[SETTING_CLUSTER] = options->cluster[0];
    }
    if (launch) settings->value[SETTING_BLOCK] = launch->block[0];
    for (int i = 0; i < 2; i++)
        settings->block_yz[i] = launch && launch->block[1 + i] ? launch->block[1 + i] : 1;
    if (scene->identity.arguments)
        snprintf(settings->arguments, sizeof settings->arguments, "%s", scene->identity.arguments);
    const char *given = !options ? NULL : options->launches ? options->launches : options->args;
    settings->is_guessed = !given || strlen(given) >= sizeof settings->arguments;
    settings->is_launch = scene->identity.arguments && strstr(scene->identity.arguments, "<<<");
    settings->is_read = scene->identity.reads_arguments;
    if (!run) return;
    if (run->row->parameters[0].name) settings->choice = find_kind(settings, SETTING_PARAMETER);
    settings->value[SETTING_BLOCK] = run->block;
    settings->value[SETTING_CLUSTER] = run->cluster;
    settings->type = run->dtype;
    settings->op = catalog_operation(run->op);
    memcpy(&settings->value[SETTING_PARAMETER], run->parameters, sizeof run->parameters);
}

void settings_follow(Settings *settings, const Scene *scene) {
    Settings edited = *settings;
    settings_init(settings, scene);
    settings->choice = edited.choice < settings_count(settings) ? edited.choice : 0;
    memcpy(settings->typed, edited.typed, sizeof settings->typed);
    settings->before = edited.before;
    settings->has_changed = edited.has_changed;
}

RunSpec settings_options(const Settings *settings, const RunSpec *made_with, Arena *arena) {
    RunSpec options = *made_with;
    CatalogOptions *catalog = &options.catalog;
    catalog->n = (uint64_t)settings->value[SETTING_N];
    catalog->seed = (uint64_t)settings->value[SETTING_SEED];
    if (settings->value[SETTING_FILL] >= 0) {
        catalog->has_fill = true;
        catalog->fill = (FillKind)settings->value[SETTING_FILL];
    } else if (catalog->fill != FILL_FILE) {
        catalog->has_fill = false;
    }
    if (settings->is_launch) {
        if (!settings->is_guessed) options.launches = arena_copy_string(arena, settings->arguments);
        return options;
    }
    if (!settings->row) {
        options.block[0] = (uint32_t)settings->value[SETTING_BLOCK];
        for (int i = 1; i < 3; i++) options.block[i] = settings->block_yz[i - 1];
        options.grid[0] = (uint32_t)settings->value[SETTING_GRID];
        options.cluster[0] = (uint32_t)settings->value[SETTING_CLUSTER];
        for (int i = 1; i < 3; i++)
            options.cluster[i] = !settings->value[SETTING_CLUSTER] ? 0
                                 : options.cluster[i]              ? options.cluster[i]
                                                                   : 1;
        if (!settings->is_guessed) options.args = arena_copy_string(arena, settings->arguments);
        return options;
    }
    catalog->block = (uint32_t)settings->value[SETTING_BLOCK];
    catalog->grid = (uint32_t)settings->value[SETTING_GRID];
    catalog->cluster = (uint32_t)settings->value[SETTING_CLUSTER];
    catalog->dtype = settings->type;
    catalog->op = settings->op;
    catalog->parameter_count = 0;
    for (int i = 0; i < CATALOG_PARAMETERS && settings->row->parameters[i].name; i++)
        catalog->parameters[catalog->parameter_count++] = arena_print(
            arena, "%s=%" PRId64, settings->row->parameters[i].name, settings->value[SETTING_PARAMETER + i]);
    return options;
}

/* Applies the kernel's own rules; they only look at numbers. */
static bool is_possible(const Settings *settings, Error *error) {
    if (!settings->row) return true;
    Arena arena = {0};
    Plan plan = {0};
    CatalogRun run;
    RunSpec options = settings_options(settings, &(RunSpec){0}, &arena);
    bool possible =
        catalog_resolve(settings->row, &options.catalog, &run, error) && catalog_plan(&run, &plan, error);
    plan_free(&plan);
    arena_done(&arena);
    return possible;
}

static void judge(Settings *settings) {
    Error error = {0};
    settings->error[0] = 0;
    if (!is_possible(settings, &error))
        snprintf(settings->error, sizeof settings->error, "%.190s", error.message);
}

/* ---- values -------------------------------------------------------------------------------------------- */

/* The range of a number; false: the setting is a word. */
static bool number_range(const Settings *settings, SettingKind kind, int64_t *least, int64_t *most) {
    const CatalogRow *row = settings->row;
    const int64_t ranges[SETTING_PARAMETER][2] = {
        [SETTING_N] = {1, row ? LARGEST_N : LARGEST_FILE_N},
        [SETTING_BLOCK] = {row ? row->minimum_block : 1,
                           row ? row->maximum_block
                               : LARGEST_BLOCK / (settings->block_yz[0] * settings->block_yz[1])},
        [SETTING_GRID] = {0, LARGEST_GRID},
        [SETTING_CLUSTER] = {row != NULL, LAUNCH_CLUSTER_BLOCKS},
        [SETTING_SEED] = {0, INT64_MAX}};
    const CatalogParameter *parameter =
        kind >= SETTING_PARAMETER ? &row->parameters[kind - SETTING_PARAMETER] : NULL;
    *least = parameter ? parameter->minimum : ranges[kind][0];
    *most = parameter ? parameter->maximum : ranges[kind][1];
    return parameter || *most;
}

static int64_t next_power(int64_t value, int direction) {
    int64_t power = 1;
    if (direction < 0 && value <= 1) return 0;
    while (direction > 0 ? power <= value : power * 2 < value) power *= 2;
    return power;
}

static int64_t next_number(SettingKind kind, int64_t value, int direction, int64_t range) {
    bool by_powers = kind == SETTING_N || kind == SETTING_BLOCK || kind == SETTING_GRID ||
                     kind == SETTING_CLUSTER || (kind >= SETTING_PARAMETER && range > MANY_VALUES);
    return by_powers ? next_power(value, direction) : value + direction;
}

/* The next value in this direction that the kernel accepts; if there is none, the value stays. */
static void change_number(Settings *settings, SettingKind kind, int direction) {
    int64_t least, most, before = settings->value[kind];
    number_range(settings, kind, &least, &most);
    for (int64_t value = before;;) {
        if (direction > 0 ? value >= most : value <= least) break;
        value = next_number(kind, value, direction, most - least);
        if (value < least || value > most) break;
        settings->value[kind] = value;
        if (is_possible(settings, NULL)) return;
    }
    settings->value[kind] = before;
}

/* The word `by` places further in a list of words, cyclically. */
static bool next_word(const char *words, const char *word, int by, char *out, size_t bytes) {
    const char *begin[16];
    int count = 0, at = 0;
    size_t length = strlen(word);
    for (const char *here = words; *here && count < 16; here += strspn(here, " ")) {
        begin[count] = here;
        here += strcspn(here, " ");
        if ((size_t)(here - begin[count]) == length && !strncmp(begin[count], word, length)) at = count;
        count++;
    }
    if (!count) return false;
    at = (at + by + count) % count;
    snprintf(out, bytes, "%.*s", (int)strcspn(begin[at], " "), begin[at]);
    return true;
}

static void change_word(Settings *settings, SettingKind kind, int direction) {
    char word[24];
    switch (kind) {
    case SETTING_TYPE:
        if (next_word(settings->row->types, plan_type_name(settings->type), direction, word, sizeof word))
            plan_type_parse(word, &settings->type);
        break;
    case SETTING_OPERATION:
        if (next_word(settings->row->operations, settings->op, direction, word, sizeof word))
            settings->op = catalog_operation(word);
        break;
    case SETTING_ARGUMENTS: /* typed only */
        break;
    default: /* the kernel's default, then each */
        settings->value[SETTING_FILL] =
            (settings->value[SETTING_FILL] + 1 + direction + FILL_COUNT + 1) % (FILL_COUNT + 1) - 1;
    }
}

/* ---- texts --------------------------------------------------------------------------------------------- */

static void print_fill(const Settings *settings, char *out, size_t bytes) {
    if (settings->value[SETTING_FILL] >= 0)
        snprintf(out, bytes, "%s", plan_fill_name((FillKind)settings->value[SETTING_FILL]));
    else if (settings->is_file || !settings->row)
        snprintf(out, bytes, "%s", settings->is_file ? tr("a file") : tr("as in args"));
    else
        snprintf(out, bytes, tr("%s (default)"),
                 plan_fill_name(catalog_default_fill(settings->row, settings->op, settings->prefers_digits)));
}

static void print_value(const Settings *settings, SettingKind kind, char *out, size_t bytes) {
    switch (kind) {
    case SETTING_TYPE:
        snprintf(out, bytes, "%s", plan_type_name(settings->type));
        break;
    case SETTING_OPERATION:
        snprintf(out, bytes, "%s", settings->op ? settings->op : "");
        break;
    case SETTING_ARGUMENTS:
        snprintf(out, bytes, "%s", settings->arguments);
        break;
    case SETTING_FILL:
        print_fill(settings, out, bytes);
        break;
    case SETTING_BLOCK:
        if (settings->block_yz[1] > 1)
            snprintf(out, bytes, "%" PRId64 ",%" PRIu32 ",%" PRIu32, settings->value[SETTING_BLOCK],
                     settings->block_yz[0], settings->block_yz[1]);
        else if (settings->block_yz[0] > 1)
            snprintf(out, bytes, "%" PRId64 ",%" PRIu32, settings->value[SETTING_BLOCK],
                     settings->block_yz[0]);
        else
            snprintf(out, bytes, "%" PRId64, settings->value[SETTING_BLOCK]);
        break;
    case SETTING_GRID:
        if (settings->value[SETTING_GRID])
            step_context_print_count((uint64_t)settings->value[SETTING_GRID], out, bytes);
        else
            snprintf(out, bytes, tr("automatic"));
        break;
    case SETTING_CLUSTER:
        if (settings->value[SETTING_CLUSTER])
            snprintf(out, bytes, "%" PRId64, settings->value[SETTING_CLUSTER]);
        else
            snprintf(out, bytes, tr("as the entry says"));
        break;
    case SETTING_N:
        step_context_print_count((uint64_t)settings->value[SETTING_N], out, bytes);
        break;
    default: {
        const char *const *names =
            kind >= SETTING_PARAMETER ? settings->row->value_names[kind - SETTING_PARAMETER] : NULL;
        if (names)
            snprintf(out, bytes, "%" PRId64 " (%s)", settings->value[kind], tr(names[settings->value[kind]]));
        else
            snprintf(out, bytes, "%" PRId64, settings->value[kind]);
    }
    }
}

static const char *name_of(const Settings *settings, SettingKind kind) {
    static const char *const names[SETTING_PARAMETER] = {[SETTING_N] = "n",
                                                         [SETTING_BLOCK] = "block",
                                                         [SETTING_GRID] = "grid",
                                                         [SETTING_CLUSTER] = "cluster",
                                                         [SETTING_ARGUMENTS] = "args",
                                                         [SETTING_TYPE] = "type",
                                                         [SETTING_OPERATION] = "op",
                                                         [SETTING_FILL] = "input",
                                                         [SETTING_SEED] = "seed"};
    if (kind == SETTING_ARGUMENTS && settings->is_launch) return tr("launch");
    if (kind < SETTING_PARAMETER) return tr(names[kind]);
    assert(settings->row); /* only kernels of the catalogue have parameters */
    return settings->row->parameters[kind - SETTING_PARAMETER].name;
}

static void print_hint(const Settings *settings, SettingKind kind, char *out, size_t bytes) {
    const CatalogRow *row = settings->row;
    const CatalogParameter *parameter =
        kind >= SETTING_PARAMETER ? &row->parameters[kind - SETTING_PARAMETER] : NULL;
    switch (kind) {
    case SETTING_N:
        snprintf(out, bytes, tr("elements, up to 2^%d"), row ? 30 : 40);
        break;
    case SETTING_BLOCK:
        if (row && row->minimum_block == row->maximum_block)
            snprintf(out, bytes, tr("threads per block: %u"), row->minimum_block);
        else if (row)
            snprintf(out, bytes, tr("threads per block: %s, %u to %u"), tr(row->block_rule),
                     row->minimum_block, row->maximum_block);
        else
            snprintf(out, bytes, tr("threads per block"));
        break;
    case SETTING_GRID:
        snprintf(out, bytes, tr("blocks"));
        break;
    case SETTING_CLUSTER:
        snprintf(out, bytes, tr("blocks in each cluster, up to %d"), LAUNCH_CLUSTER_BLOCKS);
        break;
    case SETTING_ARGUMENTS:
        if (settings->is_launch) {
            snprintf(out, bytes, "%sKERNEL<<<GRID, BLOCK>>>(ARGUMENTS); ...",
                     !settings->is_guessed ? ""
                     : settings->is_read   ? tr("read in the file; type to change. ")
                                           : tr("guessed; type to change. "));
            break;
        }
        snprintf(out, bytes,
                 tr("%sNAME=TYPE[COUNT]:FILL for a pointer, a number or an expression of n, block, grid"),
                 !settings->is_guessed ? ""
                 : settings->is_read   ? tr("read in the file; type to change. ")
                                       : tr("guessed; type to change. "));
        break;
    case SETTING_TYPE:
        snprintf(out, bytes, "%s", row->types);
        break;
    case SETTING_OPERATION:
        snprintf(out, bytes, "%s", row->operations);
        break;
    case SETTING_FILL:
        snprintf(out, bytes, tr("zero ones iota random digits (0 to 9)"));
        break;
    case SETTING_SEED:
        snprintf(out, bytes, tr("of random input and digits"));
        break;
    default:
        snprintf(out, bytes, tr("%s, %lld to %lld"), tr(parameter->meaning), (long long)parameter->minimum,
                 (long long)parameter->maximum);
    }
}

void settings_print(const Settings *settings, int index, SettingText *out) {
    SettingKind kinds[SETTING_COUNT];
    list_kinds(settings, kinds);
    /* cppcheck-suppress ctuuninitvar ; it is filled here */
    snprintf(out->name, sizeof out->name, "%s", name_of(settings, kinds[index]));
    print_hint(settings, kinds[index], out->hint, sizeof out->hint);
    if (index == settings->choice && settings->typed[0])
        snprintf(out->value, sizeof out->value, "%s_", settings->typed);
    else
        print_value(settings, kinds[index], out->value, sizeof out->value);
}

/* Both have the rows of one kernel. */
void settings_print_differences(const Scene *left, const Scene *right, char *out, size_t bytes) {
    Settings of[2];
    SettingKind kinds[SETTING_COUNT];
    size_t at = 0;
    settings_init(&of[0], left);
    settings_init(&of[1], right);
    out[0] = 0;
    if (of[0].row != of[1].row) return;
    int count = list_kinds(&of[0], kinds);
    for (int i = 0; i < count && at < bytes; i++) {
        char value[2][sizeof of->arguments];
        for (int side = 0; side < 2; side++)
            print_value(&of[side], kinds[i], value[side], sizeof value[side]);
        if (strcmp(value[0], value[1]) != 0)
            at += (size_t)snprintf(out + at, bytes - at, "%s%s %s : %s", at ? ", " : "",
                                   name_of(&of[0], kinds[i]), value[0], value[1]);
    }
}

/* ---- keys ---------------------------------------------------------------------------------------------- */

/* The typed number becomes the value. False: it is invalid, and `error` says why. */
static bool take_typed(Settings *settings) {
    SettingKind kind = chosen_kind(settings);
    int64_t least, most;
    uint64_t value;
    if (!settings->typed[0] || !number_range(settings, kind, &least, &most)) return true;
    if (!number_parse(settings->typed, (uint64_t)least, (uint64_t)most, &value)) {
        snprintf(settings->error, sizeof settings->error, tr("%s: %s is not a number from %lld to %lld"),
                 name_of(settings, kind), settings->typed, (long long)least, (long long)most);
        return false;
    }
    settings->typed[0] = 0;
    settings->value[kind] = (int64_t)value;
    judge(settings);
    return true;
}

static void type(Settings *settings, Key key) {
    int64_t least, most;
    size_t length = strlen(settings->typed);
    if (!number_range(settings, chosen_kind(settings), &least, &most)) return;
    if (key == SPECIAL_BACKSPACE) {
        if (length) settings->typed[length - 1] = 0;
    } else if (length + 1 < sizeof settings->typed) {
        settings->typed[length] = (char)key;
        settings->typed[length + 1] = 0;
    }
    judge(settings);
}

static void choose(Settings *settings, int by) {
    int count = settings_count(settings);
    if (!take_typed(settings)) return;
    settings->choice = (settings->choice + by + count) % count;
}

static void change(Settings *settings, int direction) {
    int64_t least, most;
    SettingKind kind = chosen_kind(settings);
    if (!take_typed(settings)) return;
    if (number_range(settings, kind, &least, &most))
        change_number(settings, kind, direction);
    else
        change_word(settings, kind, direction);
    judge(settings);
}

/* Handles keys of a setting that holds a text: characters are appended, Ctrl-U clears it. False: not such a
 * setting or key. */
static bool type_text(Settings *settings, Key key) {
    size_t length = strlen(settings->arguments);
    bool is_character = key >= ' ' && key < 127;
    if (chosen_kind(settings) != SETTING_ARGUMENTS) return false;
    if (is_character && length + 1 < sizeof settings->arguments) {
        settings->arguments[length] = (char)key;
        settings->arguments[length + 1] = 0;
    } else if (key == SPECIAL_ERASE) {
        settings->arguments[0] = 0;
    } else if (key == SPECIAL_BACKSPACE && length) {
        settings->arguments[length - 1] = 0;
    } else if (!is_character) {
        return false;
    }
    settings->is_guessed = false;
    settings->is_edited = true;
    return true;
}

static bool same_values(const Settings *a, const Settings *b) {
    return a->type == b->type && a->op == b->op && !memcmp(a->value, b->value, sizeof a->value);
}

static SettingsAnswer press(Settings *settings, Key key) {
    switch (key) {
    case SPECIAL_ESCAPE:
    case 'q':
    case 'p':
        return SETTINGS_CLOSE;
    case SPECIAL_ENTER:
        return take_typed(settings) && !settings->error[0] ? SETTINGS_CLOSE : SETTINGS_STAY;
    case SPECIAL_LEFT:
    case SPECIAL_BACK_TAB:
    case 'h':
        choose(settings, -1);
        return SETTINGS_STAY;
    case SPECIAL_RIGHT:
    case SPECIAL_TAB:
    case 'l':
        choose(settings, 1);
        return SETTINGS_STAY;
    case SPECIAL_DOWN:
    case 'j':
    case '-':
        change(settings, -1);
        return SETTINGS_STAY;
    case SPECIAL_UP:
    case 'k':
    case '+':
    case ' ':
        change(settings, 1);
        return SETTINGS_STAY;
    default:
        if ((key >= '0' && key <= '9') || key == '^' || key == SPECIAL_BACKSPACE) type(settings, key);
        return SETTINGS_STAY;
    }
}

SettingsAnswer settings_press(Settings *settings, Key key) {
    Settings before = *settings;
    if (type_text(settings, key)) return SETTINGS_STAY;
    SettingsAnswer answer = press(settings, key);
    bool has_changed = settings->is_edited || !same_values(settings, &before);
    bool gives_up = answer == SETTINGS_CLOSE && key != SPECIAL_ENTER;
    if (gives_up || settings->error[0] || !has_changed) return answer;
    settings->is_edited = false;
    return SETTINGS_RUN;
}
