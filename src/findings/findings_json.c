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

static void put_access(Json *json, const char *key, const FindingAccess *access) {
    if (access->pc < 0) {
        json_null(json, key);
        return;
    }
    json_open_object(json, key);
    json_string(json, "file", access->file);
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
    put_value(json, access);
    json_string(json, "does", access->is_atomic ? "atomic" : access->is_store ? "store" : "load");
    json_unsigned(json, "interval", access->interval);
    if (access->event >= 0)
        json_integer(json, "event", access->event);
    else
        json_null(json, "event");
    json_close_object(json);
}

static void put_line(Json *json, const char *key, const FindingAccess *access) {
    if (access->pc >= 0 && access->line)
        json_integer(json, key, access->line);
    else
        json_null(json, key);
}

static void put_finding(Json *json, const Finding *finding) {
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
    for (int i = 0; i < findings->count; i++)
        if ((findings->items[i].severity == SEVERITY_SLOW) == is_slow) put_finding(json, &findings->items[i]);
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
        json_integer(json, "hazard", cause->lead);
        json_integer(json, "hazards", cause->count);
        json_string(json, "insert", cause->insert);
        if (cause->proof)
            json_boolean(json, "proved", cause->is_proved);
        else
            json_null(json, "proved");
        json_string(json, "proof", cause->proof);
        if (cause->schedule)
            json_unsigned(json, "schedule", cause->schedule);
        else
            json_null(json, "schedule");
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
