/* Findings in SARIF 2.1.0 (OASIS), for editors and code hosts: one result for each cause of errors and for
 * each other finding with a line. */
#include "findings/findings.h"

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

static void put_place(Json *json, const FindingAccess *access, const char *folder) {
    json_open_object(json, "physicalLocation");
    put_file(json, access->file, folder);
    json_open_object(json, "region");
    json_integer(json, "startLine", access->line);
    json_close_object(json);
    json_close_object(json);
}

static void put_location(Json *json, const FindingAccess *access, const char *folder) {
    if (!access->file || access->line < 1) return;
    json_open_object(json, NULL);
    put_place(json, access, folder);
    json_close_object(json);
}

static void put_related(Json *json, const FindingAccess *access, bool is_first, const char *folder) {
    if (access->pc < 0 || !access->file || access->line < 1) return;
    json_open_object(json, NULL);
    json_open_object(json, "message");
    json_string(json, "text", is_first ? "the access before" : "the access");
    json_close_object(json);
    put_place(json, access, folder);
    json_close_object(json);
}

static void put_message(Json *json, const Finding *finding, const FindingCause *cause) {
    Text text = {0};
    if (cause && cause->insert) text_print(&text, "%s. ", cause->insert);
    if (text.length && *text.data == 'i') *text.data = 'I';
    text_add(&text, finding->sentence);
    if (cause && cause->count > 1) text_print(&text, " %d such errors.", cause->count);
    if (cause && cause->proof) text_print(&text, " %s", cause->proof);
    if (finding->advice && !(cause && cause->is_proved))
        text_print(&text, " What to do: %s.", finding->advice);
    json_open_object(json, "message");
    json_string(json, "text", text_string(&text));
    json_close_object(json);
    text_done(&text);
}

static void put_result(Json *json, const Findings *findings, int index, const char *folder) {
    const Finding *finding = &findings->items[index];
    const FindingCause *cause = finding->cause >= 0 ? &findings->causes[finding->cause] : NULL;
    if ((cause && cause->lead != index) || !finding_has_place(finding)) return;
    json_open_object(json, NULL);
    json_string(json, "ruleId", finding->kind_text);
    json_string(json, "level", level_of(finding->severity));
    put_message(json, finding, cause);
    json_open_array(json, "locations");
    put_location(json, &finding->access, folder);
    json_close_array(json);
    json_open_array(json, "relatedLocations");
    for (int i = cause ? 0 : index; i < (cause ? findings->error_count : index + 1); i++) {
        if (findings->items[i].cause != finding->cause) continue;
        put_related(json, &findings->items[i].other, true, folder);
        if (i != index) put_related(json, &findings->items[i].access, false, folder);
    }
    json_close_array(json);
    json_close_object(json);
}

static void put_rule(Json *json, const char *id, const char *title) {
    Text text = {0};
    for (const char *c = title; *c; c++) text_add_bytes(&text, *c == '_' ? " " : c, 1);
    json_open_object(json, NULL);
    json_string(json, "id", id);
    json_open_object(json, "shortDescription");
    json_string(json, "text", text_string(&text));
    json_close_object(json);
    json_close_object(json);
    text_done(&text);
}

/* Each kind that occurs, once. */
static void put_rules(Json *json, const Findings *findings) {
    json_open_array(json, "rules");
    for (int i = 0; i < findings->count; i++) {
        const Finding *finding = &findings->items[i];
        bool is_new = true;
        for (int k = 0; k < i; k++) is_new &= strcmp(findings->items[k].kind_text, finding->kind_text) != 0;
        if (is_new && finding_has_place(finding))
            put_rule(json, finding->kind_text,
                     finding->kind == FINDING_FAULT ? finding->kind_text : finding_kind_title(finding->kind));
    }
    json_close_array(json);
}

static void put_notification(Json *json, const char *sentence) {
    json_open_object(json, NULL);
    json_string(json, "level", "note");
    json_open_object(json, "message");
    json_string(json, "text", sentence);
    json_close_object(json);
    json_close_object(json);
}

/* Limits of the search do not mean that the kernel is wrong. */
static void put_invocation(Json *json, const Findings *findings) {
    if (!findings->limit_count) return;
    json_open_array(json, "invocations");
    json_open_object(json, NULL);
    json_boolean(json, "executionSuccessful", true);
    json_open_array(json, "toolExecutionNotifications");
    for (int i = 0; i < findings->limit_count; i++) put_notification(json, findings->limits[i]);
    json_close_array(json);
    json_close_object(json);
    json_close_array(json);
}

/* The location of the folder, for readers of the log on other machines. */
static void put_folder(Json *json, const Findings *findings, const char *folder) {
    bool is_named = false;
    for (int i = 0; i < findings->count; i++) {
        const Finding *finding = &findings->items[i];
        is_named |= finding->access.file && below(finding->access.file, folder);
        is_named |= finding->other.file && below(finding->other.file, folder);
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

void findings_put_sarif(const Findings *findings, const char *folder, Text *out) {
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
    put_rules(&json, findings);
    json_close_object(&json);
    json_close_object(&json);
    put_invocation(&json, findings);
    put_folder(&json, findings, folder);
    json_open_array(&json, "results");
    for (int i = 0; i < findings->count; i++) put_result(&json, findings, i, folder);
    json_close_array(&json);
    json_close_object(&json);
    json_close_array(&json);
    json_close_object(&json);
    text_add(out, "\n");
}
