/* Findings as JSON, for --check=json and reports. */
#include "findings/findings_sentences.h"
#include <stdio.h>

/* A 16-bit float, and what has no type, is a word. */
static void put_value(Json *json, const FindingAccess *access) {
    if (!access->has_value)
        json_null(json, "value");
    else if (access->type == PTX_F32 || access->type == PTX_F64)
        json_number(json, "value", finding_real_value(access));
    else if (access->type != PTX_NO_TYPE && ptx_type_is_signed(access->type))
        json_integer(json, "value", finding_signed_value(access));
    else
        json_unsigned(json, "value", access->value);
}

/* "or_lines": further candidates for the line; "called_from": where its function was inlined; the latest
 * before it first. */
static void put_places(Json *json, const PtxPlaces *places) {
    json_open_array(json, "or_lines");
    for (int i = 1; places && i < places->line_count; i++) json_integer(json, NULL, places->lines[i].line);
    json_close_array(json);
    json_open_array(json, "called_from");
    for (int i = 0; places && i < places->caller_count; i++) {
        json_open_object(json, NULL);
        json_string(json, "file", places->callers[i].file);
        json_integer(json, "line", places->callers[i].line);
        json_close_object(json);
    }
    json_close_array(json);
}

static void put_access(Json *json, const char *key, const FindingAccess *access) {
    if (access->pc < 0) {
        json_null(json, key);
        return;
    }
    json_open_object(json, key);
    json_string(json, "file", access->file);
    json_integer(json, "line", access->line);
    put_places(json, access->places);
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
    put_value(json, access);
    json_string(json, "does", access->is_atomic ? "atomic" : access->is_store ? "store" : "load");
    json_unsigned(json, "interval", access->interval);
    if (access->event >= 0)
        json_integer(json, "event", access->event);
    else
        json_null(json, "event");
    json_close_object(json);
}

static bool is_on_lines_of(const Finding *a, const Finding *b) {
    return a->kind == b->kind && a->access.line == b->access.line && a->other.line == b->other.line;
}

static void put_line(Json *json, const char *key, const FindingAccess *access) {
    if (access->pc >= 0 && access->line)
        json_integer(json, key, access->line);
    else
        json_null(json, key);
}

/* The lines of the other errors of the cause, each pair once. */
static void put_further(Json *json, const Findings *findings, const Finding *lead) {
    json_open_array(json, "further");
    for (int i = 0; lead->cause >= 0 && i < findings->error_count; i++) {
        const Finding *own = &findings->items[i];
        bool is_new = own != lead && own->cause == lead->cause && !is_on_lines_of(own, lead);
        for (int k = 0; k < i && is_new; k++)
            is_new = findings->items[k].cause != lead->cause || !is_on_lines_of(own, &findings->items[k]);
        if (!is_new) continue;
        json_open_object(json, NULL);
        json_string(json, "kind", own->kind_text);
        put_line(json, "line", &own->access);
        put_line(json, "other_line", &own->other);
        json_close_object(json);
    }
    json_close_array(json);
}

static void put_place(Json *json, const char *key, const HoldPlace *place, const PtxSourceLine *line) {
    if (place->pc < 0) {
        json_null(json, key);
        return;
    }
    json_open_object(json, key);
    json_unsigned(json, "block", place->block);
    json_integer(json, "warp", place->warp);
    json_integer(json, "lane", place->lane);
    json_string(json, "file", line->file);
    json_integer(json, "line", line->line);
    json_integer(json, "pc", place->pc);
    json_unsigned(json, "time", place->time);
    json_close_object(json);
}

/* "order": threads that wait, and what the result is then; "no_order": why there is none. */
static void put_order(Json *json, const FindingCause *cause) {
    const FindingOrder *order = cause->order;
    if (order) {
        json_open_object(json, "order");
        json_string(json, "sentence", order->sentence);
        json_string(json, "where", order->where);
        json_string(json, "result", order->result);
        json_string(json, "instead_of", order->instead_of);
        json_unsigned(json, "schedule", order->schedule);
        json_open_array(json, "holds");
        for (int i = 0; i < order->hold_count; i++) {
            const Hold *hold = &order->holds[i];
            char lanes[16];
            snprintf(lanes, sizeof lanes, "0x%08x", hold->lanes);
            json_open_object(json, NULL);
            json_integer(json, "launch", hold->launch);
            json_string(json, "lanes", lanes);
            put_place(json, "before", &hold->at, &order->at[i]);
            put_place(json, "until", &hold->until, &order->until[i]);
            json_close_object(json);
        }
        json_close_array(json);
        json_close_object(json);
    } else {
        json_null(json, "order");
    }
    json_string(json, "no_order", cause->no_order);
}

static void put_finding(Json *json, const Findings *findings, const Finding *finding) {
    json_open_object(json, NULL);
    json_string(json, "kind", finding->kind_text);
    json_string(json, "severity", finding_severity_text(finding->severity));
    put_line(json, "line", &finding->access);
    put_line(json, "other_line", &finding->other);
    json_string(json, "detail", finding->sentence);
    json_string(json, "advice", finding->advice);
    json_integer(json, "launch", finding->launch);
    json_string(json, "space", finding_space_text(finding->space));
    json_string(json, "place", finding->what);
    json_unsigned(json, "count", finding->count);
    json_unsigned(json, "blocks", finding->blocks);
    if (finding->cause >= 0)
        json_integer(json, "cause", finding->cause);
    else
        json_null(json, "cause");
    if (finding->is_taken)
        json_unsigned(json, "seen_with_schedule", finding->schedule);
    else
        json_null(json, "seen_with_schedule");
    json_boolean(json, "behind_fault", finding->is_behind);
    if (finding->cause >= 0) put_order(json, &findings->causes[finding->cause]);
    put_further(json, findings, finding);
    if (finding->severity == SEVERITY_SLOW) {
        json_unsigned(json, "cost", finding->cost);
        json_unsigned(json, "ideal", finding->ideal);
        if (finding->predicted)
            json_unsigned(json, "predicted", finding->predicted);
        else
            json_null(json, "predicted");
    }
    put_access(json, "access", &finding->access);
    put_access(json, "other", &finding->other);
    json_close_object(json);
}

static void put_list(Json *json, const char *key, const Findings *findings, bool is_slow) {
    if (!findings) {
        json_null(json, key);
        return;
    }
    json_open_array(json, key);
    for (int i = 0; !is_slow && i < findings->cause_count; i++)
        put_finding(json, findings, &findings->items[findings->causes[i].lead]);
    for (int i = findings->error_count; i < findings->count; i++)
        if ((findings->items[i].severity == SEVERITY_SLOW) == is_slow)
            put_finding(json, findings, &findings->items[i]);
    json_close_array(json);
}

static void put_causes(Json *json, const Findings *findings) {
    if (!findings) {
        json_null(json, "causes");
        return;
    }
    json_open_array(json, "causes");
    for (int i = 0; i < findings->cause_count; i++) {
        const FindingCause *cause = &findings->causes[i];
        json_open_object(json, NULL);
        json_integer(json, "hazard", i);
        json_integer(json, "hazards", cause->count);
        json_string(json, "insert", cause->insert);
        if (cause->proof)
            json_boolean(json, "proved", cause->is_proved);
        else
            json_null(json, "proved");
        json_string(json, "proof", cause->proof);
        json_close_object(json);
    }
    json_close_array(json);
}

void findings_put_json(const Findings *findings, Json *json) {
    put_list(json, "hazards", findings, false);
    put_causes(json, findings);
    put_list(json, "efficiency", findings, true);
    if (findings)
        json_boolean(json, "hazards_complete", findings->is_complete);
    else
        json_null(json, "hazards_complete");
}

static void put_entry(Json *json, const Findings *findings, int index) {
    const Finding *finding = &findings->items[index];
    bool is_slow = finding->severity == SEVERITY_SLOW;
    json_open_object(json, NULL);
    json_integer(json, "number", finding_number(findings, index));
    json_string(json, "kind", finding->kind_text);
    json_string(json, "severity", finding_severity_text(finding->severity));
    json_string(json, "file", finding->access.file);
    if (finding->access.line)
        json_integer(json, "line", finding->access.line);
    else
        json_null(json, "line");
    json_string(json, "detail", finding->sentence);
    json_string(json, "advice", finding->advice);
    json_string(json, "unit", is_slow ? finding_unit(finding->kind) : NULL);
    if (is_slow) {
        json_unsigned(json, "cost", finding->cost);
        json_unsigned(json, "ideal", finding->ideal);
        json_number(json, "share", finding->share);
        json_number(json, "samples", finding->samples);
        json_string(json, "waits_for", finding->waits_for);
        json_string(json, "remedies", finding->remedies);
    }
    json_close_object(json);
}

void findings_put_verdict(const Findings *findings, Json *json) {
    json_open_array(json, "verdict");
    for (int i = 0; i < findings->count; i++) {
        const Finding *finding = &findings->items[i];
        bool leads = finding->cause >= 0 && findings->causes[finding->cause].lead == i;
        if (leads || finding->severity == SEVERITY_SLOW) put_entry(json, findings, i);
    }
    json_close_array(json);
}
