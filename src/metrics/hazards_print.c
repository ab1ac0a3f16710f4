/* Hazards as --check prints them, and as JSON. */
#include "base/json.h"
#include "metrics/findings.h"
#include "metrics/hazards.h"
#include <stdio.h>

/* ---- text ------------------------------------------------------------------------------------------- */

static void print_source(const Hazard *hazard, HazardSource source, void *context, Text *out) {
    const HazardAccess *sides[2] = {&hazard->other, &hazard->access};
    for (int i = 0; i < 2; i++) {
        const HazardAccess *side = sides[i];
        bool twice = i == 0 && side->line == hazard->access.line;
        const char *text = source && side->line && !twice ? source(context, side->file, side->line) : NULL;
        while (text && (*text == ' ' || *text == '\t')) text++;
        if (text && *text) text_print(out, "     %5d  %s\n", side->line, text);
    }
}

static void print_hazard(const Hazard *hazard, int number, HazardSource source, void *context, Text *out) {
    const char *title = hazard->kind == HAZARD_FAULT ? NULL : hazard_kind_title(hazard->kind);
    text_print(out, "%2d. ", number);
    for (const char *c = title ? title : hazard->kind_text; *c; c++)
        text_add_bytes(out, *c == '_' ? " " : c, 1);
    text_add(out, "\n");
    print_source(hazard, source, context, out);
    sentence_print(out, "    ", hazard->sentence);
    if (hazard->count > 1) {
        CountText count, blocks;
        text_print(out, "    %s times, in %s block%s.\n", count_text(hazard->count, &count),
                   count_text(hazard->blocks, &blocks), hazard->blocks == 1 ? "" : "s");
    }
    if (!hazard->advice) return;
    Text advice = {0};
    text_print(&advice, "What to do: %s.", hazard->advice);
    sentence_print(out, "    ", text_string(&advice));
    text_done(&advice);
}

void hazards_print(const Hazards *hazards, HazardSource source, void *context, Text *out) {
    int slow = hazards->count - hazards->wrong_count;
    for (int i = 0; i < hazards->count; i++) {
        if (i == hazards->wrong_count) text_add(out, "Right, but slow:\n");
        print_hazard(&hazards->items[i], i + 1, source, context, out);
    }
    if (!hazards->is_complete) text_add(out, "The search ended before the run did: there may be more.\n");
    if (hazards->wrong_count)
        text_print(out, "%d hazard%s", hazards->wrong_count, hazards->wrong_count == 1 ? "" : "s");
    else
        text_add(out, "No hazard");
    if (slow) text_print(out, "; %d place%s that could be faster", slow, slow == 1 ? "" : "s");
    text_add(out, ".\n");
}

/* ---- JSON ------------------------------------------------------------------------------------------- */

static void put_text(Json *json, const char *key, const char *text) {
    if (text)
        json_string(json, key, text);
    else
        json_null(json, key);
}

static void put_access(Json *json, const char *key, const HazardAccess *access) {
    if (access->pc < 0) {
        json_null(json, key);
        return;
    }
    json_open_object(json, key);
    put_text(json, "file", access->file);
    json_integer(json, "line", access->line);
    json_integer(json, "pc", access->pc);
    json_unsigned(json, "block", access->linear_block);
    json_integer(json, "warp", access->warp);
    char lanes[16];
    snprintf(lanes, sizeof lanes, "0x%08x", access->lanes);
    json_string(json, "lanes", lanes);
    if (access->lane >= 0)
        json_integer(json, "lane", access->lane);
    else
        json_null(json, "lane");
    if (access->buffer >= 0)
        json_unsigned(json, "offset", access->offset);
    else
        json_null(json, "offset");
    if (access->has_value)
        json_unsigned(json, "value", access->value);
    else
        json_null(json, "value");
    json_string(json, "does", access->is_atomic ? "atomic" : access->is_store ? "store" : "load");
    json_unsigned(json, "interval", access->interval);
    if (access->event >= 0)
        json_integer(json, "event", access->event);
    else
        json_null(json, "event");
    json_close_object(json);
}

static void put_line(Json *json, const char *key, const HazardAccess *access) {
    if (access->pc >= 0 && access->line)
        json_integer(json, key, access->line);
    else
        json_null(json, key);
}

static void put_hazard(Json *json, const Hazard *hazard) {
    json_open_object(json, NULL);
    json_string(json, "kind", hazard->kind_text);
    put_line(json, "line", &hazard->access);
    put_line(json, "other_line", &hazard->other);
    json_string(json, "detail", hazard->sentence);
    put_text(json, "advice", hazard->advice);
    json_integer(json, "launch", hazard->launch);
    put_text(json, "space", hazard_space_text(hazard->space));
    put_text(json, "place", hazard->what);
    json_unsigned(json, "count", hazard->count);
    json_unsigned(json, "blocks", hazard->blocks);
    if (hazard->is_slow) {
        json_unsigned(json, "cost", hazard->cost);
        json_unsigned(json, "ideal", hazard->ideal);
        if (hazard->predicted)
            json_unsigned(json, "predicted", hazard->predicted);
        else
            json_null(json, "predicted");
    }
    put_access(json, "access", &hazard->access);
    put_access(json, "other", &hazard->other);
    json_close_object(json);
}

static void put_list(Json *json, const char *key, const Hazards *hazards, bool slow) {
    if (!hazards) {
        json_null(json, key);
        return;
    }
    json_open_array(json, key);
    for (int i = 0; i < hazards->count; i++)
        if (hazards->items[i].is_slow == slow) put_hazard(json, &hazards->items[i]);
    json_close_array(json);
}

void hazards_put_json(const Hazards *hazards, Json *json) {
    put_list(json, "hazards", hazards, false);
    put_list(json, "efficiency", hazards, true);
    if (hazards)
        json_boolean(json, "hazards_complete", hazards->is_complete);
    else
        json_null(json, "hazards_complete");
}
