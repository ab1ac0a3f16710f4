/* --list: the rows of the catalogue, as a table or as JSON. */
#include "cli/list.h"

#include "base/json.h"
#include "catalog/catalog.h"
#include "ladder/published.h"
#include <string.h>

static const char *const GROUPS[] = {[CATALOG_LADDER] = "The ladder: one idea per step",
                                     [CATALOG_NUMERICS] = "Rows, columns and numerics",
                                     [CATALOG_TRITON] = "Compiled by Triton from Python",
                                     [CATALOG_LAB] = "Labs: one lesson each, parameters set by --param",
                                     [CATALOG_BUG] = "Bugs, wrong on purpose"};
static const char *const GROUP_IDS[] = {[CATALOG_LADDER] = "ladder",
                                        [CATALOG_NUMERICS] = "numerics",
                                        [CATALOG_TRITON] = "triton",
                                        [CATALOG_LAB] = "lab",
                                        [CATALOG_BUG] = "bug"};

/* The words of a space-separated list as an array. */
static void add_words(Json *json, const char *key, const char *words) {
    char word[64];
    json_open_array(json, key);
    for (const char *cursor = words ? words : ""; *cursor;) {
        size_t length = strcspn(cursor, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, cursor);
        json_string(json, NULL, word);
        cursor += length;
        cursor += strspn(cursor, " ");
    }
    json_close_array(json);
}

static void add_row(Json *json, const CatalogRow *row) {
    json_open_object(json, NULL);
    json_string(json, "id", row->id);
    add_words(json, "aliases", row->aliases);
    json_open_array(json, "published");
    for (int i = 0; i < published_step_count(); i++) {
        const PublishedStep *step = published_step(i);
        if (strcmp(step->kernel, row->id) != 0) continue;
        json_open_object(json, NULL);
        json_string(json, "article", published_article(step->article)->title);
        json_string(json, "step", step->number);
        json_close_object(json);
    }
    json_close_array(json);
    json_string(json, "group", GROUP_IDS[row->group]);
    json_string(json, "title", row->title);
    json_string(json, "lesson", row->lesson);
    json_string(json, "watch", row->watch);
    json_string(json, "source", row->source);
    add_words(json, "types", row->types);
    add_words(json, "operations", row->operations);
    json_unsigned(json, "default_n", row->default_n);
    json_unsigned(json, "default_block", row->default_block);
    json_unsigned(json, "minimum_block", row->minimum_block);
    json_unsigned(json, "maximum_block", row->maximum_block);
    json_string(json, "block_rule", row->block_rule);
    json_open_array(json, "parameters");
    for (const CatalogParameter *parameter = row->parameters;
         parameter < row->parameters + CATALOG_PARAMETERS && parameter->name; parameter++) {
        json_open_object(json, NULL);
        json_string(json, "name", parameter->name);
        json_integer(json, "minimum", parameter->minimum);
        json_integer(json, "maximum", parameter->maximum);
        json_integer(json, "default", parameter->fallback);
        json_string(json, "meaning", parameter->meaning);
        json_close_object(json);
    }
    json_close_array(json);
    json_close_object(json);
}

/* 1024, but 2^20 and 2^30. */
static void print_limit(int64_t value, Text *out) {
    int power = 0;
    while (power < 62 && (int64_t)1 << power < value) power++;
    if (power >= 16 && value == (int64_t)1 << power)
        text_print(out, "2^%d", power);
    else
        text_print(out, "%lld", (long long)value);
}

static void print_parameter(const CatalogParameter *parameter, Text *out) {
    text_print(out, "      --param %s=%lld..", parameter->name, (long long)parameter->minimum);
    print_limit(parameter->maximum, out);
    text_print(out, " (%lld): %s\n", (long long)parameter->fallback, parameter->meaning);
}

/* Prints its number in our ladder, and its numbers in articles. */
static void print_row(const CatalogRow *row, Text *out) {
    char numbers[64];
    published_print_numbers(row->id, numbers, sizeof numbers);
    text_print(out, "  %-25s %-3s ", row->id, row->aliases ? row->aliases : "");
    if (*numbers)
        text_print(out, "%-39s %s\n", row->title, numbers);
    else
        text_print(out, "%s\n", row->title);
}

static void print_group(CatalogGroup group, Text *out) {
    text_print(out, "%s\n", GROUPS[group]);
    if (group == CATALOG_LADDER)
        text_add(out, "  (after the titles: steps of four articles; --ladder has their figures)\n");
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogRow *row = catalog_row(i);
        if (row->group != group) continue;
        print_row(row, out);
        for (const CatalogParameter *parameter = row->parameters;
             parameter < row->parameters + CATALOG_PARAMETERS && parameter->name; parameter++)
            print_parameter(parameter, out);
    }
}

void list_kernels(bool json, Text *out) {
    if (!json) {
        for (CatalogGroup group = CATALOG_LADDER; group <= CATALOG_BUG; group++) {
            if (group != CATALOG_LADDER) text_add(out, "\n");
            print_group(group, out);
        }
        return;
    }
    Json writer = {.out = out};
    json_open_array(&writer, NULL);
    for (int i = 0; i < catalog_count(); i++) add_row(&writer, catalog_row(i));
    json_close_array(&writer);
    text_add(out, "\n");
}
