#include "cli/ladder_json.h"

#include "base/json.h"
#include "ladder/published.h"

#include <math.h>
#include <string.h>

static void add_number(Json *json, double number) {
    json_number(json, NULL, number);
}

static void add_figures(Json *json, const LadderFigures *figures) {
    char limit[128];
    Limit verdict = limit_print(&figures->limit, limit, sizeof limit);
    json_open_object(json, "figures");
    json_number(json, "microseconds", figures->microseconds);
    json_number(json, "over_first", figures->over_first);
    json_number(json, "over_before", figures->over_before);
    json_number(json, "gigabytes_per_second", figures->gigabytes);
    json_number(json, "share_of_read", figures->read_share);
    json_number(json, "sass_instructions", figures->sass);
    json_number(json, "shared_wavefronts", figures->wavefronts);
    json_number(json, "global_sectors", figures->sectors);
    json_number(json, "barriers", figures->barriers);
    json_number(json, "launches", figures->launches ? figures->launches : (double)NAN);
    json_string(json, "limited_by", verdict == LIMIT_UNKNOWN ? NULL : limit_name(verdict));
    json_string(json, "limit", limit);
    json_close_object(json);
}

static void add_published(Json *json, const char *kernel) {
    json_open_array(json, "published");
    for (int i = 0; i < published_step_count(); i++) {
        const PublishedStep *step = published_step(i);
        if (strcmp(step->kernel, kernel) != 0) continue;
        json_open_object(json, NULL);
        json_string(json, "article", published_article(step->article)->letter);
        json_string(json, "step", step->number);
        json_close_object(json);
    }
    json_close_array(json);
}

static void add_row(Json *json, const Ladder *ladder, const LadderCounts *counts, int row, int size) {
    const LadderRow *of = &ladder->rows[row];
    LadderFigures figures;
    ladder_figures(ladder, counts, row, size, &figures);
    json_open_object(json, NULL);
    json_string(json, "kernel", of->id);
    json_string(json, "number", *ladder_number(of) ? ladder_number(of) : NULL);
    json_boolean(json, "rung", row < ladder->rung_count);
    add_published(json, of->id);
    json_open_array(json, "microseconds");
    for (int i = 0; i < ladder->size_count; i++)
        add_number(json, of->times[i] ? of->times[i]->median : (double)NAN);
    json_close_array(json);
    add_figures(json, &figures);
    json_close_object(json);
}

void cli_ladder_json(const Ladder *ladder, const LadderCounts *counts, int size, Text *out) {
    Json json = {.out = out};
    json_open_object(&json, NULL);
    json_string(&json, "machine", ladder->sample ? ladder->sample->machine : NULL);
    json_string(&json, "measured", ladder->sample ? ladder->sample->measured : NULL);
    json_string(&json, "dtype", ladder->of.dtype);
    json_string(&json, "op", ladder->of.op);
    json_string(&json, "way", timing_way_name(ladder->of.way));
    json_unsigned(&json, "n", ladder->sizes[size]);
    json_open_array(&json, "sizes");
    for (int i = 0; i < ladder->size_count; i++) json_unsigned(&json, NULL, ladder->sizes[i]);
    json_close_array(&json);
    json_open_array(&json, "rows");
    for (int row = 0; row < ladder->row_count; row++) add_row(&json, ladder, counts, row, size);
    json_close_array(&json);
    json_close_object(&json);
    text_add(out, "\n");
}

void latency_json(const Latencies *latencies, Text *out) {
    Json json = {.out = out};
    const char *group = NULL;
    json_open_object(&json, NULL);
    json_string(&json, "machine", latencies->machine);
    json_string(&json, "measured", latencies->measured);
    json_number(&json, "clock_mhz", latencies->clock);
    json_open_array(&json, "latencies");
    for (int i = 0; i < latencies->count; i++) {
        const LatencyRow *row = &latencies->rows[i];
        if (row->group) group = row->group;
        json_open_object(&json, NULL);
        json_string(&json, "group", group);
        json_string(&json, "name", row->label);
        json_number(&json, "cycles", row->cycles);
        json_number(&json, "nanoseconds", row->nanoseconds);
        json_close_object(&json);
    }
    json_close_array(&json);
    json_close_object(&json);
    text_add(out, "\n");
}
