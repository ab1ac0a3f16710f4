/* Results in SARIF 2.1.0 (OASIS), for editors and code hosts. */
#include "findings/results.h"

#include "base/version.h"
#include <string.h>

static const char *level_of(Severity severity) {
    return severity == SEVERITY_ERROR ? "error" : severity == SEVERITY_SLOW ? "warning" : "note";
}

#define FOLDER_NAME "%SRCROOT%" /* the folder's usual name in originalUriBaseIds */

/* Writes characters that a URI may not contain as %XX. */
static void add_path(const char *path, Text *uri) {
    if (*path == '/') text_add(uri, "file://");
    for (const char *c = path; *c; c++) {
        bool is_plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
                        strchr("-._~/", *c);
        if (is_plain)
            text_add_bytes(uri, c, 1);
        else
            text_print(uri, "%%%02X", (unsigned)(unsigned char)*c);
    }
}

/* The part of the path below the folder; NULL: it lies elsewhere. */
static const char *below(const char *file, const char *folder) {
    size_t length = folder ? strlen(folder) : 0;
    while (length && folder[length - 1] == '/') length--;
    return folder && !strncmp(file, folder, length) && file[length] == '/' ? file + length + 1 : NULL;
}

static void put_file(Json *json, const char *file, const char *folder) {
    const char *relative = below(file, folder);
    Text uri = {0};
    add_path(relative ? relative : file, &uri);
    json_open_object(json, "artifactLocation");
    json_string(json, "uri", text_string(&uri));
    if (relative) json_string(json, "uriBaseId", FOLDER_NAME);
    json_close_object(json);
    text_done(&uri);
}

static void put_place(Json *json, const FoundPlace *place, const char *folder) {
    json_open_object(json, "physicalLocation");
    put_file(json, place->file, folder);
    json_open_object(json, "region");
    json_integer(json, "startLine", place->line);
    json_close_object(json);
    json_close_object(json);
}

static void put_text(Json *json, const char *key, const char *text) {
    json_open_object(json, key);
    json_string(json, "text", text);
    json_close_object(json);
}

static void put_location(Json *json, const CheckResult *result, const char *folder) {
    json_open_object(json, NULL);
    if (result->place.file) put_place(json, &result->place, folder);
    if (*result->kernel) {
        json_open_array(json, "logicalLocations");
        json_open_object(json, NULL);
        json_string(json, "name", result->kernel);
        json_string(json, "kind", "function");
        json_close_object(json);
        json_close_array(json);
    }
    json_close_object(json);
}

static void put_related(Json *json, const FoundPlace *place, const char *folder) {
    json_open_object(json, NULL);
    put_text(json, "message", place->what);
    put_place(json, place, folder);
    json_close_object(json);
}

static void put_suppression(Json *json, const char *reason) {
    json_open_array(json, "suppressions");
    json_open_object(json, NULL);
    json_string(json, "kind", "external");
    json_string(json, "status", "accepted");
    json_string(json, "justification", reason);
    json_close_object(json);
    json_close_array(json);
}

static void put_result(Json *json, const CheckResult *result, bool has_baseline, const char *folder) {
    json_open_object(json, NULL);
    json_string(json, "ruleId", result->kind);
    json_string(json, "level", level_of(result->severity));
    put_text(json, "message", result->message);
    json_open_array(json, "locations");
    if (result->place.file || *result->kernel) put_location(json, result, folder);
    json_close_array(json);
    json_open_array(json, "relatedLocations");
    for (int i = 0; i < result->related_count; i++) put_related(json, &result->related[i], folder);
    json_close_array(json);
    json_open_object(json, "partialFingerprints");
    json_string(json, RESULT_FINGERPRINT_NAME, result->fingerprint);
    json_close_object(json);
    if (has_baseline) json_string(json, "baselineState", result->is_known ? "unchanged" : "new");
    if (result->suppressed) put_suppression(json, result->suppressed);
    if (result->program) {
        json_open_object(json, "properties");
        json_string(json, "program", result->program);
        json_close_object(json);
    }
    json_close_object(json);
}

static void put_rule(Json *json, const char *id, const char *title) {
    Text text = {0};
    for (const char *c = title; *c; c++) text_add_bytes(&text, *c == '_' ? " " : c, 1);
    json_open_object(json, NULL);
    json_string(json, "id", id);
    put_text(json, "shortDescription", text_string(&text));
    json_close_object(json);
    text_done(&text);
}

/* Each kind that occurs, once. */
static void put_rules(Json *json, const CheckResults *results) {
    json_open_array(json, "rules");
    for (int i = 0; i < results->count; i++) {
        const CheckResult *result = &results->items[i];
        bool is_new = true;
        for (int k = 0; k < i; k++) is_new &= strcmp(results->items[k].kind, result->kind) != 0;
        if (is_new) put_rule(json, result->kind, result->title);
    }
    json_close_array(json);
}

static void put_notification(Json *json, const char *sentence) {
    json_open_object(json, NULL);
    json_string(json, "level", "note");
    put_text(json, "message", sentence);
    json_close_object(json);
}

/* Limits of the search do not mean that the kernel is wrong. */
static void put_invocation(Json *json, const CheckResults *results) {
    if (!results->limit_count) return;
    json_open_array(json, "invocations");
    json_open_object(json, NULL);
    json_boolean(json, "executionSuccessful", true);
    json_open_array(json, "toolExecutionNotifications");
    for (int i = 0; i < results->limit_count; i++) put_notification(json, results->limits[i]);
    json_close_array(json);
    json_close_object(json);
    json_close_array(json);
}

/* The location of the folder, for readers of the log on other machines. */
static void put_folder(Json *json, const CheckResults *results, const char *folder) {
    bool is_named = false;
    for (int i = 0; i < results->count; i++) {
        const CheckResult *result = &results->items[i];
        is_named |= result->place.file && below(result->place.file, folder);
        for (int k = 0; k < result->related_count; k++)
            is_named |= below(result->related[k].file, folder) != NULL;
    }
    if (!is_named) return;
    Text uri = {0};
    add_path(folder, &uri);
    if (!uri.length || uri.data[uri.length - 1] != '/') text_add(&uri, "/");
    json_open_object(json, "originalUriBaseIds");
    json_open_object(json, FOLDER_NAME);
    json_string(json, "uri", text_string(&uri));
    json_close_object(json);
    json_close_object(json);
    text_done(&uri);
}

void results_put_sarif(const CheckResults *results, const char *folder, Text *out) {
    Json json = {.out = out};
    json_open_object(&json, NULL);
    json_string(&json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    json_string(&json, "version", "2.1.0");
    json_open_array(&json, "runs");
    json_open_object(&json, NULL);
    json_open_object(&json, "tool");
    json_open_object(&json, "driver");
    json_string(&json, "name", "redviz");
    json_string(&json, "version", REDVIZ_VERSION);
    put_rules(&json, results);
    json_close_object(&json);
    json_close_object(&json);
    put_invocation(&json, results);
    put_folder(&json, results, folder);
    json_open_array(&json, "results");
    for (int i = 0; i < results->count; i++)
        put_result(&json, &results->items[i], results->has_baseline, folder);
    json_close_array(&json);
    json_close_object(&json);
    json_close_array(&json);
    json_close_object(&json);
    text_add(out, "\n");
}
